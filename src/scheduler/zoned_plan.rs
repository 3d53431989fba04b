//! What a plan has to know of a drive's zones: asked for when a run needs them, before anything is claimed.

use crate::backend::Backend;
use crate::model::drive::{Content, Drive};
use crate::model::parameters::FieldError;
use crate::model::plan::{Action, Phase};
use crate::model::profile::{Profile, TargetZones};
use crate::model::run::RunRequest;
use crate::model::units::Bytes;
use crate::model::workload::{Workload, Zbd};
use crate::model::zone::{ZoneReport, ZoneType, usable};

/// The zones of `drive`, if the run that is asked for needs them. Blocking, for as long as the drive takes.
///
/// # Errors
/// Why there are none, as a mistake in what asked for them.
pub fn report(backend: &Backend, drive: &Drive, request: &RunRequest) -> Result<Option<ZoneReport>, Vec<FieldError>> {
    let zonemode = request.parameters.get("zonemode").and_then(|value| value.as_str()) == Some("zbd");
    let field = match request.profile {
        Profile::Zones => "profile",
        Profile::Custom if zonemode => "parameters.zonemode",
        _ => return Ok(None),
    };
    let report = backend.writable_zones(drive);
    report.map(Some).map_err(|why| vec![FieldError::new(field, format!("needs zones: {why}"))])
}

/// What a profile needs to know of them; `None` if none takes writes at its pointer.
#[must_use]
pub fn zones_of(drive: &Drive, report: &ZoneReport) -> Option<TargetZones> {
    let taking = || usable(&report.zones, Bytes(0), drive.capacity_bytes, u32::MAX);
    let first = taking().next()?;
    let limits = [report.max_open_zones, report.max_active_zones];
    // 0 is no limit.
    let limit = limits.into_iter().flatten().filter(|limit| *limit > 0).min();
    let physical = drive.physical_block_bytes.unwrap_or(drive.logical_block_bytes);
    Some(TargetZones {
        usable: u32::try_from(taking().count()).unwrap_or(u32::MAX),
        zone_bytes: first.length_bytes,
        zone_capacity_bytes: first.capacity_bytes,
        first_bytes: first.start_bytes,
        max_open: limit.and_then(|limit| u32::try_from(limit).ok()),
        write_block: physical.max(drive.logical_block_bytes),
        only_at_pointers: first.zone_type == ZoneType::SequentialWriteRequired,
    })
}

/// What is in the zones that the phases will reset or write on: it will be lost.
///
/// # Errors
/// When a phase has no zone to write to.
pub fn losses(drive: &Drive, report: &ZoneReport, phases: &[Phase]) -> Result<Option<Content>, Vec<FieldError>> {
    let workloads = phases.iter().filter_map(|phase| match &phase.action {
        Action::Io(workload) => workload.zbd.map(|zbd| (workload, zbd)),
        Action::Idle { .. } => None,
    });
    // All phases of one plan use the same region; the one that uses most zones uses those of all.
    let Some((workload, zbd)) = workloads.max_by_key(|(_, zbd)| zbd.zones) else { return Ok(None) };
    let used: Vec<_> = zones_used(report, workload, zbd).collect();
    if used.is_empty() {
        let (offset, size) = (workload.offset_bytes.0, workload.size_bytes.0);
        let problem = format!(
            "leaves no zone: none that takes writes at its pointer lies wholly within the {size} bytes from byte {offset}"
        );
        return Err(vec![FieldError::new("parameters.size_bytes", problem)]);
    }
    let written: Vec<Bytes> = used.iter().map(|zone| zone.written_bytes()).filter(|bytes| bytes.0 > 0).collect();
    if written.is_empty() {
        return Ok(None);
    }
    let bytes: Bytes = written.iter().copied().sum();
    let what =
        format!("{} of {} zones with data, {} up to their write pointers", written.len(), used.len(), bytes.binary());
    Ok(Some(Content { device: drive.name.clone(), what, label: None }))
}

fn zones_used<'a>(
    report: &'a ZoneReport,
    workload: &Workload,
    zbd: Zbd,
) -> impl Iterator<Item = &'a crate::model::zone::Zone> {
    usable(&report.zones, workload.offset_bytes, workload.size_bytes, zbd.zones)
}
