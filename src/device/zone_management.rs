//! Zones of a claimed drive: asked for, reset, opened, closed, finished. All of it blocks until the drive has answered.

use std::io;

use nix::errno::Errno;

use super::claim::{Claimed, ClaimedDrive};
use super::ioctl::{self, ZoneAction};
use super::zones::zone;
use crate::model::units::Bytes;
use crate::model::zone::{Zone, ZoneOp};

/// The zones from the one that holds byte `from` on, as many as one question brings (4096).
///
/// # Errors
/// What the kernel said.
pub fn report_from(claim: &Claimed, from: Bytes) -> io::Result<Vec<Zone>> {
    let found = ioctl::report_zones(claim.file(), claim.path(), from.get() / 512).map_err(|error| error.source)?;
    Ok(found.iter().map(zone).collect())
}

/// Does `op` to the zone that begins at byte `start`. A report is [`report_from`]'s, and is refused here.
///
/// # Errors
/// What the kernel said, see [`ioctl`]; `EOPNOTSUPP` for what the kernel does not have as a zoned device.
pub fn manage(claim: &ClaimedDrive, op: ZoneOp, start: Bytes) -> io::Result<()> {
    let action = match op {
        ZoneOp::Reset => ZoneAction::Reset,
        ZoneOp::Open => ZoneAction::Open,
        ZoneOp::Close => ZoneAction::Close,
        ZoneOp::Finish => ZoneAction::Finish,
        ZoneOp::Report => return Err(Errno::EINVAL.into()),
    };
    let size = match ioctl::zone_geometry(claim.file()) {
        Some((size, count)) if size > 0 && count > 0 => u64::from(size),
        _ => return Err(Errno::EOPNOTSUPP.into()),
    };
    let (sector, end) = (start.get() / 512, claim.capacity().get() / 512);
    // A range beyond one zone would do it to that one too. The last zone may be shorter.
    if !start.get().is_multiple_of(512) || !sector.is_multiple_of(size) || sector >= end {
        return Err(Errno::EINVAL.into());
    }
    ioctl::manage_zones(claim.file(), claim.path(), action, sector, size.min(end - sector))
        .map_err(|error| error.source)
}
