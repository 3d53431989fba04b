//! A drive's temperature, from hwmon.
//!
//! Reading `temp1_input` is no look into the kernel's memory: drivetemp sends the drive a command for it, and the nvme
//! driver asks for a log. A drive that hangs hangs the reader, and on some drives (WD120EFAX, by the kernel's
//! documentation of drivetemp) each reading restarts the timer after which it would spin down. So it is read on a
//! thread of its own, and again only when the drive has been busy anyway since the last time.

use std::time::Duration;

use super::{Desk, Key, Standing};
use crate::device::hwmon;
use crate::device::sysfs::SysRoot;
use crate::model::drive::Drive;

/// It is not read more often than this.
const AT_MOST_EVERY: Duration = Duration::from_secs(30);

/// What was read, and the drive's I/O counts at that time.
#[derive(Debug, Clone, PartialEq)]
pub struct Temperature {
    sensor: hwmon::Sensor,
    counts: Option<String>,
}

/// Adds the temperature as last read to a drive, and has it read anew when that is due.
pub fn merge(desk: &Desk<Key, Temperature>, root: &SysRoot, drive: &mut Drive, key: &Key) {
    let counts = || root.text(&format!("/sys/block/{}/stat", drive.name)).into_known();
    let known = match desk.standing(key) {
        Standing::Unasked => {
            ask(desk, root, drive, key, counts());
            None
        }
        Standing::Waiting(before) => before,
        Standing::Late => None,
        Standing::Answered(last, age) => {
            if age >= AT_MOST_EVERY {
                let now = counts();
                if now != last.counts {
                    ask(desk, root, drive, key, now);
                }
            }
            Some(last)
        }
    };
    if let Some(known) = known {
        hwmon::note(&known.sensor, drive);
    }
}

fn ask(desk: &Desk<Key, Temperature>, root: &SysRoot, drive: &Drive, key: &Key, counts: Option<String>) {
    let (root, name) = (root.clone(), drive.name.clone());
    desk.ask(key, move || Temperature { sensor: hwmon::read(&root, &name), counts });
}
