//! What only the drive itself can tell: pages that the kernel does not show, or did not ask for.
//!
//! ```text
//!  scan ──▶ Inventory ──▶ Cache::merge_into ──▶ Inventory with what the drives answered
//!                              │      ▲
//!                 first seen:  ▼      │ next scan
//!                 one thread a drive: open read-only, ask, leave the answers (deadline 3 s)
//! ```
//! A scan opens no device and waits for nobody. A drive that is seen for the first time is asked beside it, and what it
//! answers is in the next scan. Its incarnation (device number and disk sequence number) is the key of the answers, so
//! a rescan costs nothing, and another disk under the same name is asked anew.
//!
//! | file | what |
//! |---|---|
//! | `desk` | threads with a deadline, each question once at a time |
//! | `line` | an open device: commands out, bytes or reasons back |
//! | `questions` | which pages are asked for |
//! | `merge` | pure: answers into a drive's facts, declaration and pages |
//! | `told` | pure: answers as facts with their source |
//! | `temperature` | hwmon, which is a question to the drive as well |

mod desk;
mod line;
mod merge;
mod questions;
mod temperature;
mod told;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use desk::{Desk, Standing};
use temperature::Temperature;

use super::sysfs::SysRoot;
use crate::model::drive::{DeviceKind, Drive, Inventory, Reading, Transport, Unknown};
use crate::model::page::{PageId, Pages};

pub(super) use line::{Line, why_not};

/// How long a drive may take before it counts as one that does not answer.
pub const DEADLINE: Duration = Duration::from_secs(3);
/// A drive that could not be opened is tried again after this long: at hot-plug the rights of its node come later than
/// the node.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// Which appearance of which device.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    number: String,
    sequence: Option<u64>,
    /// Before Linux 5.15 there are no sequence numbers; another disk is then at least likely to be of another size.
    capacity: u64,
}

/// A drive to be asked, with what sysfs knows of it.
#[derive(Debug, Clone)]
struct Target {
    path: PathBuf,
    number: String,
    kind: DeviceKind,
    transport: Transport,
    removable: bool,
    zoned: bool,
    namespace: Option<u32>,
    pages: Pages,
}

impl Target {
    fn known(&self, page: PageId) -> Option<&[u8]> {
        self.pages.get(page).map(|(page, _)| page.bytes.as_slice())
    }
}

/// One question and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// The page.
    pub page: PageId,
    /// The command, as the source of facts.
    pub source: String,
    /// The bytes, or why there are none; `Absent` when the drive says that it does not have the page.
    pub answer: Reading<Vec<u8>>,
}

/// All that one drive answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Why nothing could be asked.
    pub refused: Option<Unknown>,
    /// Each question.
    pub asked: Vec<Asked>,
}

/// What the drives of this host answered, by their incarnation.
#[derive(Debug)]
pub struct Cache {
    answers: Desk<Key, Answers>,
    temperatures: Desk<Key, Temperature>,
    deadline: Duration,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(DEADLINE)
    }
}

impl Cache {
    /// An empty cache; a drive that takes longer than `deadline` counts as one that does not answer.
    #[must_use]
    pub fn new(deadline: Duration) -> Self {
        Self { answers: Desk::new(deadline), temperatures: Desk::new(deadline), deadline }
    }

    /// Adds what is known to the drives of a scan, and has those asked that were not yet. Waits for none.
    pub fn merge_into(&self, root: &SysRoot, inventory: &mut Inventory) {
        let mut here = HashSet::new();
        for drive in &mut inventory.drives {
            if !matches!(drive.kind, DeviceKind::Disk | DeviceKind::NvmeNamespace) || drive.simulated {
                continue;
            }
            let Some(key) = key(root, drive) else { continue };
            self.merge_answers(root, drive, &key);
            temperature::merge(&self.temperatures, root, drive, &key);
            here.insert(key);
        }
        self.answers.retain(|key| here.contains(key));
        self.temperatures.retain(|key| here.contains(key));
    }

    fn merge_answers(&self, root: &SysRoot, drive: &mut Drive, key: &Key) {
        match self.answers.standing(key) {
            Standing::Answered(answers, age) => {
                if answers.refused.is_some() && age > TRY_AGAIN {
                    self.ask(root, drive, key);
                }
                merge::merge(drive, &answers);
            }
            Standing::Waiting(before) => {
                if let Some(answers) = before {
                    merge::merge(drive, &answers);
                }
            }
            Standing::Late => {
                let why = format!("no answer from the drive within {} s", self.deadline.as_secs());
                merge::merge(drive, &Answers { refused: Some(Unknown::NotReadable(why)), asked: Vec::new() });
            }
            Standing::Unasked => self.ask(root, drive, key),
        }
    }

    fn ask(&self, root: &SysRoot, drive: &Drive, key: &Key) {
        let target = target(root, drive, key);
        self.answers.ask(key, move || questions::interrogate(&target));
    }

    /// Waits until every drive that is being asked has answered, or is past its deadline. For a program that scans once.
    pub fn settle(&self) {
        self.answers.settle();
        self.temperatures.settle();
    }
}

fn key(root: &SysRoot, drive: &Drive) -> Option<Key> {
    let number = root.text(&format!("/sys/block/{}/dev", drive.name)).into_known()?;
    let sequence = root.number(&format!("/sys/block/{}/diskseq", drive.name)).into_known();
    Some(Key { number, sequence, capacity: drive.capacity_bytes.get() })
}

fn target(root: &SysRoot, drive: &Drive, key: &Key) -> Target {
    let namespace = match drive.kind {
        DeviceKind::NvmeNamespace => root.number(&format!("/sys/block/{}/nsid", drive.name)).into_known(),
        _ => None,
    };
    let queue_zoned = drive.declared.queue_zoned.known().is_some_and(|zoned| zoned != "none");
    Target {
        path: drive.path.clone(),
        number: key.number.clone(),
        kind: drive.kind,
        transport: drive.transport,
        removable: drive.removable,
        zoned: queue_zoned || drive.declared.nvme_csi.known() == Some(&2),
        namespace: namespace.and_then(|number| u32::try_from(number).ok()),
        pages: drive.pages.clone(),
    }
}

#[cfg(test)]
mod tests;
