//! A request made into a plan. Blocking: it looks at the target.

use super::zoned_plan::{self, zones_of};
use crate::backend::{Backend, ResolveError};
use crate::model::drive::{DeviceKind, Drive, Inventory};
use crate::model::options::RunOptions;
use crate::model::parameters::FieldError;
use crate::model::plan::{Phase, Plan};
use crate::model::profile::{Built, Pace, Target, build};
use crate::model::run::{RefusedReason, RunRequest};
use crate::model::tunable::{Tunable, Tunables};
use crate::model::units::Bytes;

/// A request that could be made into a plan.
#[derive(Debug)]
pub struct Planned {
    /// The target.
    pub drive: Drive,
    /// The plan.
    pub plan: Plan,
    /// Why it may not run now; empty if it may.
    pub refused: Vec<RefusedReason>,
    /// When it may go, and what it may use up.
    pub options: RunOptions,
    /// Which appearance of a target without a name of its own is meant.
    pub appearance: Option<String>,
}

/// A request that could not.
#[derive(Debug)]
pub enum PlanError {
    /// There is no such target.
    Target(ResolveError),
    /// Its parameters are wrong.
    Parameters(Vec<FieldError>),
}

/// Resolves the target, builds the phases, and asks whether it may be written.
///
/// # Errors
/// When there is no such target or its parameters are wrong.
pub fn plan(backend: &Backend, inventory: &Inventory, request: &RunRequest) -> Result<Planned, PlanError> {
    let drive = backend.resolve(inventory, &request.drive).map_err(PlanError::Target)?;
    let report = zoned_plan::report(backend, &drive, request).map_err(PlanError::Parameters)?;
    let target = Target {
        capacity: drive.capacity_bytes,
        logical_block: drive.logical_block_bytes,
        pace: assumed_pace(&drive),
        zones: report.as_ref().and_then(|report| zones_of(&drive, report)),
    };
    let mut built = build(request.profile, &request.parameters, target).map_err(PlanError::Parameters)?;
    backend.check_tunables(&drive, &request.tunables).map_err(PlanError::Parameters)?;
    leave_out_unsettable(&mut built, &backend.tunables(&drive));
    let destructive = built.phases.iter().any(Phase::destroys);
    refuse_for_readers(&request.tunables, destructive).map_err(PlanError::Parameters)?;
    let refused = backend.check(&drive, &built.phases);
    let zone_losses = match &report {
        Some(report) => zoned_plan::losses(&drive, report, &built.phases).map_err(PlanError::Parameters)?,
        None => None,
    };
    let mut losses =
        if destructive && refused.is_empty() { backend.losses(&drive, built.offset, built.size) } else { Vec::new() };
    losses.extend(zone_losses.filter(|_| refused.is_empty()));
    let bytes_to_write = built.phases.iter().map(|phase| phase.bytes_to_write).sum::<Option<Bytes>>();
    let mut notes = built.notes;
    if let Some(limit) = request.options.max_written_bytes
        && bytes_to_write.is_none_or(|bytes| bytes > limit)
    {
        notes.push(format!("It ends when it has written {limit}, which may be before it has its answer."));
    }
    let plan = Plan {
        profile: request.profile,
        drive: drive.id,
        path: drive.path.clone(),
        destructive,
        bytes_to_write,
        estimated_s: built.phases.iter().map(|phase| phase.estimated_s).sum(),
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: built.interval_ms,
        randseed: built.randseed,
        losses,
        confirm_phrase: if destructive { drive.confirm_phrase() } else { None },
        notes,
        phases: built.phases,
        tunables: request.tunables.clone(),
    };
    let appearance = backend.appearance(&drive);
    Ok(Planned { drive, plan, refused, options: request.options.clone(), appearance })
}

/// A run that only reads may have others beside it, whose data a cache that is switched on could cost.
fn refuse_for_readers(tunables: &Tunables, destructive: bool) -> Result<(), Vec<FieldError>> {
    if destructive || !tunables.contains_key(&Tunable::CacheType) {
        return Ok(());
    }
    let problem = "is changed only by a run that writes, which has the drive to itself";
    Err(vec![FieldError::new("tunables.cache_type", problem)])
}

/// Leaves out the phases that need a setting which the target does not have, and says so.
fn leave_out_unsettable(built: &mut Built, available: &[Tunable]) {
    let mut lacking: Vec<(&str, Vec<String>)> = Vec::new();
    built.phases.retain(|phase| {
        let Some(tunable) = phase.tunables.keys().find(|tunable| !available.contains(tunable)) else { return true };
        match lacking.iter_mut().find(|(name, _)| *name == tunable.as_str()) {
            Some((_, phases)) => phases.push(phase.name.clone()),
            None => lacking.push((tunable.as_str(), vec![phase.name.clone()])),
        }
        false
    });
    built.notes.extend(lacking.into_iter().map(|(name, phases)| {
        format!("Left out: {}. This target has no {name} that a run can set.", phases.join(", "))
    }));
}

/// What is assumed of a target before it was measured: a disk, unless the kernel makes the device
/// itself or the drive declares flash. Wrong at worst in the estimate.
fn assumed_pace(drive: &Drive) -> Pace {
    use DeviceKind::{File, Loop, Mmc, Nbd, NullBlk, NvmeNamespace, Ram, VirtualDisk, Zram};
    match drive.kind {
        File | Loop | Mmc | Nbd | NullBlk | NvmeNamespace | Ram | VirtualDisk | Zram => Pace::FLASH,
        _ if drive.rotational == Some(false) => Pace::FLASH,
        _ => Pace::DISK,
    }
}
