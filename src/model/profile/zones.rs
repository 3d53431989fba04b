//! `zones`: how does it take writes at the write pointers?

use super::block_size_sweep::once_each;
use super::build::TargetZones;
use super::definition::Definition;
use super::making::{Making, phase, short};
use super::queue_depth_sweep::count;
use super::words::{BS, PHASE_S};
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::{Bytes, MIB};
use crate::model::workload::{Rw, Workload, Zbd, ZoneOpening, ZoneTask};

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "zones",
    question: "How many zones does it take side by side, and what do opening, closing, finishing and resetting cost?",
    description: "For host-aware, host-managed and ZNS drives: reports; writes at the write pointers of 1, 2, 4 … zones side by \
                  side until past the drive's limit, each number once with zones that the first write opens and once with \
                  OPEN and CLOSE; on host-aware drives also blind to zones, in order and at random; then finishes and \
                  resets. Each kind of operation is timed. Overwrites the zones it uses.",
    writes: Some(true),
    parameters: &[
        Parameter { default: "1m", ..BS },
        OPEN_ZONES,
        MAX_OPEN_ZONES,
        ZONES,
        REPORTS,
        Parameter { default: "30", ..PHASE_S },
    ],
    phases,
};

const OPEN_ZONES: Parameter = Parameter {
    name: "open_zones",
    alias: None,
    kind: Kind::Text { max: 1_024 },
    default: "1, 2, 4 … up to the drive's limit, and one more",
    help: "Numbers of zones that are written side by side, with commas, 1 to 1024 each.",
};
const MAX_OPEN_ZONES: Parameter = Parameter {
    name: "max_open_zones",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1_024 },
    default: "one more than the drive's limit, at most 256; 32 if it has none",
    help: "The largest number of zones side by side where open_zones does not name them.",
};
const ZONES: Parameter = Parameter {
    name: "zones",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1_000_000 },
    default: "twice the largest number side by side, at least 32",
    help: "Only the first so many zones of the region that take writes at their pointers are used.",
};
const REPORTS: Parameter = Parameter {
    name: "reports",
    alias: None,
    kind: Kind::Integer { min: 1, max: 100_000 },
    default: "20",
    help: "Reports of up to 4096 zones each that are timed.",
};

/// Zones side by side on a drive that names no limit.
const UNLIMITED: u32 = 32;
/// More than any drive known takes (128), with room to go past it.
const MOST: u32 = 256;
/// Zones are finished when this much of them is written, percent: enough to be open, and little to wait for.
const FINISH_PERCENT: u8 = 10;

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let Some(zones) = making.zones else {
        making.reader.refuse("profile", "needs a drive with zones that the host can write; this one has none");
        return Vec::new();
    };
    let bs = making.zone_block_size(MIB, zones);
    let side_by_side = numbers(making, zones);
    let most = side_by_side.iter().copied().max().unwrap_or(1);
    making.check_buffers(&BS, bs, most);
    let used = u32::try_from(making.number(&ZONES, u64::from((2 * most).max(32)))).unwrap_or(u32::MAX);
    let seconds = making.number(&PHASE_S, 30);
    let step = |name: String, purpose: String, workload: Workload| {
        phase(name, purpose, PhaseRole::Sweep, Action::Io(workload))
    };
    let write = |making: &Making<'_>, rw, zbd: Zbd| {
        let mut workload = making.whole(rw, bs, zbd.max_open_zones, making.randseed);
        workload.runtime_s = Some(seconds);
        workload.zbd = Some(zbd);
        workload
    };

    let mut report = write(making, Rw::Read, Zbd { task: ZoneTask::Report, ..Zbd::write(used, 1) });
    report.number_ios = Some(making.number(&REPORTS, 20));
    let mut phases = vec![step("report".to_owned(), "How long does it take to tell its zones?".to_owned(), report)];
    for count in side_by_side {
        let zones = if count == 1 { "one zone".to_owned() } else { format!("{count} zones side by side") };
        let implicit = Zbd::write(used, count);
        let purpose = format!("{} blocks into {zones}, opened by the first write", short(bs));
        phases.push(step(format!("implicit-{count}"), purpose, write(making, Rw::Write, implicit)));
        let explicit = Zbd { opening: ZoneOpening::Explicit, ..implicit };
        let purpose = format!("{} blocks into {zones}, opened by OPEN ZONE and closed by CLOSE ZONE", short(bs));
        phases.push(step(format!("explicit-{count}"), purpose, write(making, Rw::Write, explicit)));
    }
    if !zones.only_at_pointers {
        phases.extend(blind(making, zones, used, write(making, Rw::RandWrite, Zbd::write(used, 1))));
    }
    let finish = Zbd { fill_percent: FINISH_PERCENT, finish: true, ..Zbd::write(used, 1) };
    let purpose = format!("Zones filled to {FINISH_PERCENT} percent, then finished");
    phases.push(step("finish".to_owned(), purpose, write(making, Rw::Write, finish)));
    let mut reset = write(making, Rw::Write, Zbd { task: ZoneTask::Reset, ..Zbd::write(used, 1) });
    reset.number_ios = Some(u64::from(used));
    phases.push(step("reset".to_owned(), "Every zone that is not empty is reset".to_owned(), reset));
    once_each(making, &OPEN_ZONES, phases)
}

/// How many zones side by side.
fn numbers(making: &mut Making<'_>, zones: TargetZones) -> Vec<u32> {
    let past_the_limit = zones.max_open.map_or(UNLIMITED, |limit| limit.saturating_add(1).min(MOST));
    let most = u32::try_from(making.number(&MAX_OPEN_ZONES, u64::from(past_the_limit))).unwrap_or(MOST);
    let most = most.min(zones.usable.max(1));
    let mut numbers: Vec<u32> = (0..32).map(|power| 1_u32 << power).take_while(|number| *number < most).collect();
    // The limit itself, too, where it is no power of two.
    numbers.extend(zones.max_open.filter(|limit| *limit < most));
    numbers.push(most);
    numbers.sort_unstable();
    numbers.dedup();
    let default: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let numbers = making.list(&OPEN_ZONES, &default.join(","), count);
    if let Some(number) = numbers.iter().find(|number| **number > zones.usable) {
        let problem = format!("has {number}: the drive has {} zones that take writes at their pointers", zones.usable);
        making.reader.refuse(OPEN_ZONES.name, problem);
    }
    numbers
}

/// The same zones without regard to them, against writing at the pointers of zones that are chosen at random.
fn blind(making: &Making<'_>, zones: TargetZones, used: u32, aware: Workload) -> Vec<Phase> {
    let zone = zones.zone_bytes.0.max(1);
    let region = making.region;
    // Where those zones lie, if there is no gap between them.
    let from = region.offset.max(zones.first_bytes.0).div_ceil(zone).saturating_mul(zone);
    let end = from.saturating_add(zone.saturating_mul(u64::from(used))).min(region.offset + region.size);
    let bs = aware.bs.0;
    if end.saturating_sub(from) < bs {
        return Vec::new();
    }
    let plain = |rw| Workload {
        rw,
        offset_bytes: Bytes(from),
        size_bytes: Bytes(end - from),
        norandommap: true,
        zbd: None,
        ..aware.clone()
    };
    let step =
        |name: &str, purpose: &str, workload: Workload| phase(name, purpose, PhaseRole::Sweep, Action::Io(workload));
    vec![
        step("blind-write", "The same zones in order, as if there were none", plain(Rw::Write)),
        step("aware-randwrite", "One zone after the other in random order, each from its start", aware.clone()),
        step("blind-randwrite", "Blocks at random across the same zones, as if there were none", plain(Rw::RandWrite)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{Pace, Profile, Target, TargetZones, build};
    use super::*;
    use crate::model::parameters::FieldError;
    use serde_json::{Value, json};

    fn target(zones: Option<TargetZones>) -> Target {
        Target { capacity: Bytes(15_000_173_281_280), logical_block: 512, pace: Pace::DISK, zones }
    }

    fn managed() -> TargetZones {
        TargetZones {
            usable: 55_356,
            zone_bytes: Bytes(256 * MIB),
            zone_capacity_bytes: Bytes(256 * MIB),
            first_bytes: Bytes(524 * 256 * MIB),
            max_open: Some(14),
            write_block: 4096,
            only_at_pointers: true,
        }
    }

    fn built(zones: Option<TargetZones>, parameters: Value) -> Result<Vec<Phase>, Vec<FieldError>> {
        let Value::Object(given) = parameters else { panic!("an object") };
        Ok(build(Profile::Zones, &given, target(zones))?.phases)
    }

    fn names(phases: &[Phase]) -> Vec<&str> {
        phases.iter().map(|phase| phase.name.as_str()).collect()
    }

    #[test]
    fn a_host_managed_drive_is_never_offered_a_plain_write() {
        let phases = built(Some(managed()), json!({})).unwrap();
        let opened = ["1", "2", "4", "8", "14", "15"].map(|n| [format!("implicit-{n}"), format!("explicit-{n}")]);
        let mut expected = vec!["report".to_owned()];
        expected.extend(opened.into_iter().flatten());
        expected.extend(["finish".to_owned(), "reset".to_owned()]);
        assert_eq!(names(&phases), expected);
        for phase in &phases {
            let Action::Io(workload) = &phase.action else { panic!("{phase:?}") };
            assert!(workload.zbd.is_some(), "{phase:?}");
            assert_eq!(workload.rw.writes(), phase.name != "report");
        }
    }

    #[test]
    fn a_host_aware_drive_is_written_blindly_too_and_only_where_its_zones_are() {
        let zones = TargetZones { only_at_pointers: false, max_open: Some(128), ..managed() };
        let phases = built(Some(zones), json!({ "open_zones": "1", "zones": 8 })).unwrap();
        let expected = [
            "report",
            "implicit-1",
            "explicit-1",
            "blind-write",
            "aware-randwrite",
            "blind-randwrite",
            "finish",
            "reset",
        ];
        assert_eq!(names(&phases), expected);
        let Action::Io(blind) = &phases[5].action else { panic!("I/O") };
        assert_eq!((blind.zbd, blind.offset_bytes, blind.size_bytes.0), (None, zones.first_bytes, 8 * 256 * MIB));
    }

    #[test]
    fn what_does_not_fit_the_zones_is_refused_by_name() {
        let refused = |zones, parameters: Value| built(zones, parameters).unwrap_err()[0].field.clone();
        assert_eq!(refused(None, json!({})), "parameters.profile");
        assert_eq!(
            refused(Some(managed()), json!({ "bs": 512 })),
            "parameters.bs",
            "its zones are written in 4096 bytes"
        );
        assert_eq!(refused(Some(managed()), json!({ "open_zones": "1,1" })), "parameters.open_zones");
        let few = TargetZones { usable: 3, ..managed() };
        assert_eq!(refused(Some(few), json!({ "open_zones": "4" })), "parameters.open_zones");
        assert_eq!(names(&built(Some(few), json!({})).unwrap())[5], "implicit-3", "no more than there are");
    }
}
