//! Zones of a drive, asked for now: by the kernel's report where it has the drive as a zoned device, else by the drive's.

use std::time::{SystemTime, UNIX_EPOCH};

use super::command::Command;
use super::identity::zoned;
use super::interrogate::{Line, why_not};
use super::ioctl::{self, BlkZone};
use super::sysfs::SysRoot;
use crate::model::drive::{Drive, Reading, Unknown, ZonedField};
use crate::model::units::Bytes;
use crate::model::zone::{NoZones, Zone, ZoneCondition, ZoneReport, ZoneType, runs, summary};

/// Zones asked of the drive itself at once: 64 KiB of answer, which every adapter takes.
const AT_ONCE: u16 = 1023;
/// More zones than any drive has; a drive whose report does not end is not followed for ever.
const MOST_ZONES: usize = 4_000_000;

/// Whether the drive has zones that a host can see, by what it declares.
#[must_use]
pub fn is_zoned(drive: &Drive) -> bool {
    kernel_has_it(drive) || sees_itself(drive)
}

/// The kernel has it as a zoned device.
#[must_use]
pub fn kernel_has_it(drive: &Drive) -> bool {
    drive.declared.queue_zoned.known().is_some_and(|zoned| zoned != "none")
}

/// The drive says that it is, whatever the kernel makes of it: host-aware disks since Linux 6.8, and all zoned disks on
/// a kernel without CONFIG_BLK_DEV_ZONED.
fn sees_itself(drive: &Drive) -> bool {
    let declared = &drive.declared;
    let host_aware = Some(ZonedField::HostAware);
    declared.device_type.known() == Some(&0x14)
        || declared.vpd_b1.known().and_then(|b1| b1.zoned) == host_aware
        || declared.ata_zoned.known().copied() == host_aware
        || declared.ata_log_zoned.known().copied() == host_aware
        || declared.vpd_b6.known().is_some_and(|b6| b6.extension == 1)
        || declared.zoned_cap.known().is_some_and(|cap| cap == "host-aware" || cap == "host-managed")
}

/// Asks for all zones. Blocks for as long as the drive takes; opens it for reading, changes nothing.
///
/// # Errors
/// [`NoZones`] when it has none, may not be asked, or does not answer.
pub fn report(root: &SysRoot, drive: &Drive) -> Result<ZoneReport, NoZones> {
    if !is_zoned(drive) {
        let label = drive.recording.state.label();
        return Err(NoZones::NotZoned(format!("{} has no zones that a host can see ({label})", drive.title())));
    }
    if drive.simulated || root.is_recorded() {
        return Err(NoZones::NotZoned(format!(
            "{} is not attached to this host: there is nothing to ask",
            drive.title()
        )));
    }
    let number = root.text(&format!("/sys/block/{}/dev", drive.name)).into_known();
    let number = number.ok_or_else(|| NoZones::Failed(format!("{} is gone", drive.name)))?;
    let mut line = Line::open(&drive.path, &number).map_err(|why| refused(&why))?;
    let (source, zones) = if kernel_has_it(drive) {
        ("BLKREPORTZONE", from_kernel(&line, drive)?)
    } else {
        ("SG_IO REPORT ZONES", from_drive(&mut line, drive)?)
    };
    Ok(report_of(source, drive, zones))
}

/// The report that `zones` of `drive` are, asked for now in the way that `source` names.
#[must_use]
pub fn report_of(source: &str, drive: &Drive, zones: Vec<Zone>) -> ZoneReport {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    ZoneReport {
        source: source.to_owned(),
        asked_at_ms: i64::try_from(now).unwrap_or(i64::MAX),
        summary: summary(&zones),
        max_open_zones: drive.limits.max_open_zones,
        max_active_zones: drive.limits.max_active_zones,
        runs: runs(&zones),
        zones,
    }
}

fn refused(why: &Unknown) -> NoZones {
    match why {
        Unknown::NotPermitted => NoZones::NotPermitted(
            "this process may not open the drive: run the service as root or in the group disk, and with CAP_SYS_RAWIO"
                .to_owned(),
        ),
        Unknown::Absent => NoZones::Failed("the drive refuses to report zones".to_owned()),
        Unknown::NotTrusted(detail) | Unknown::NotReadable(detail) => NoZones::Failed(detail.clone()),
    }
}

/// How many zones the kernel says there are bounds the number of questions.
fn from_kernel(line: &Line, drive: &Drive) -> Result<Vec<Zone>, NoZones> {
    let most = match ioctl::zone_geometry(line.file()) {
        Some((_, count)) if count > 0 => usize::try_from(count).unwrap_or(MOST_ZONES),
        _ => MOST_ZONES,
    };
    let mut zones = Vec::new();
    let mut sector = 0;
    let end = drive.capacity_bytes.get() / 512;
    while sector < end && zones.len() < most.min(MOST_ZONES) {
        let found = ioctl::report_zones(line.file(), &drive.path, sector).map_err(|error| refused(&why_not(&error)))?;
        let Some(last) = found.last() else { break };
        let next = last.start.saturating_add(last.len);
        zones.extend(found.iter().map(zone));
        if next <= sector {
            break;
        }
        sector = next;
    }
    Ok(zones)
}

/// A zone of the kernel's report.
pub(super) fn zone(zone: &BlkZone) -> Zone {
    Zone::new(
        Bytes::from_sectors(zone.start),
        Bytes::from_sectors(zone.len),
        Bytes::from_sectors(zone.capacity),
        Bytes::from_sectors(zone.wp),
        ZoneType::from_value(zone.zone_type),
        ZoneCondition::from_value(zone.cond),
    )
}

fn from_drive(line: &mut Line, drive: &Drive) -> Result<Vec<Zone>, NoZones> {
    let block = u64::from(drive.logical_block_bytes.max(1));
    let mut zones: Vec<Zone> = Vec::new();
    let mut next = 0;
    while zones.len() < MOST_ZONES {
        let answer = line.scsi(&Command::report_zones(next, AT_ONCE));
        let (found, last_block) = match answer.and_then(|data| zoned::report(&data, drive.logical_block_bytes)) {
            Reading::Known(report) => report,
            Reading::Unknown(why) => return Err(refused(&why)),
        };
        let Some(last) = found.last() else { break };
        let after = (last.start_bytes + last.length_bytes).get() / block;
        zones.extend(&found);
        if after <= next || after > last_block {
            break;
        }
        next = after;
    }
    Ok(zones)
}
