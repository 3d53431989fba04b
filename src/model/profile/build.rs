//! From a profile and its parameters to ordered phases. Pure.

use serde_json::{Map, Value};

use super::making::{Making, region};
use super::words::{INTERVAL_MS, RANDSEED};
use super::{Pace, Profile};
use crate::model::parameters::{FieldError, Reader};
use crate::model::plan::{Action, Phase};
use crate::model::units::Bytes;
use crate::model::workload::{VerifyStep, Workload};

/// What a profile needs to know of its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// How large it is.
    pub capacity: Bytes,
    /// Every offset and length is a multiple of this.
    pub logical_block: u32,
    /// For estimates.
    pub pace: Pace,
    /// Its zones, if they were asked for and the host can write at their pointers.
    pub zones: Option<TargetZones>,
}

/// What a profile needs to know of a target's zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetZones {
    /// Zones that take writes at their pointers.
    pub usable: u32,
    /// From one zone's start to the next one's.
    pub zone_bytes: Bytes,
    /// What the first usable one can hold.
    pub zone_capacity_bytes: Bytes,
    /// Where the first usable one begins.
    pub first_bytes: Bytes,
    /// Most zones that may be open (or active, if that is less); `None` if there is no limit or none is told.
    pub max_open: Option<u32>,
    /// Writes into zones are multiples of this: the physical block (ZBC-2 §4.4.3).
    pub write_block: u32,
    /// Host-managed or ZNS: a plain write would fail.
    pub only_at_pointers: bool,
}

/// A profile made concrete.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// In order.
    pub phases: Vec<Phase>,
    /// The region: first byte.
    pub offset: Bytes,
    /// The region: length.
    pub size: Bytes,
    /// Length of one interval, milliseconds.
    pub interval_ms: u64,
    /// Seed.
    pub randseed: u64,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Makes the phases of `profile` for `target`.
///
/// # Errors
/// Every parameter that is unknown, out of range, or does not fit the target, each by name.
pub fn build(profile: Profile, given: &Map<String, Value>, target: Target) -> Result<Built, Vec<FieldError>> {
    let definition = profile.definition();
    let known = definition.all_parameters();
    let mut reader = Reader::new(given, &known);
    let region = region(&mut reader, target);
    let randseed = reader.integer(&RANDSEED).unwrap_or(1);
    let interval_ms = reader.integer(&INTERVAL_MS).unwrap_or(1_000);
    let mut making = Making { reader, region, zones: target.zones, randseed, notes: Vec::new() };
    let phases = (definition.phases)(&mut making);
    let Making { mut reader, notes, .. } = making;
    if !reader.has_errors() {
        check(&phases, &mut reader);
    }
    reader.finish()?;
    let phases = phases.into_iter().map(|phase| target.pace.estimate(phase)).collect();
    Ok(Built { phases, offset: Bytes(region.offset), size: Bytes(region.size), interval_ms, randseed, notes })
}

/// What must hold for any list of phases, whichever profile made it.
fn check(phases: &[Phase], reader: &mut Reader<'_>) {
    let workloads: Vec<&Workload> = phases
        .iter()
        .filter_map(|phase| match &phase.action {
            Action::Io(workload) => Some(workload),
            Action::Idle { .. } => None,
        })
        .collect();
    for (index, writer) in workloads.iter().enumerate() {
        let Some(verify) = writer.verify.filter(|verify| verify.step == VerifyStep::Write) else { continue };
        let rest = &workloads[index + 1..];
        let check = rest.iter().position(|later| {
            later.verify.is_some_and(|found| found.step == VerifyStep::Check && found.generation == verify.generation)
        });
        let between = &rest[..check.unwrap_or(rest.len())];
        if between.iter().any(|other| other.rw.writes() && overlap(writer, other)) {
            reader.refuse("verify", "would be overwritten by another phase before it is checked");
        }
    }
}

fn overlap(a: &Workload, b: &Workload) -> bool {
    let end = |workload: &Workload| workload.offset_bytes + workload.size_bytes;
    a.offset_bytes < end(b) && b.offset_bytes < end(a)
}

#[cfg(test)]
mod tests {
    use super::super::making::phase;
    use super::*;
    use crate::model::plan::PhaseRole;
    use crate::model::units::{GIB, MIB};
    use crate::model::workload::{Rw, Verify};
    use serde_json::json;

    fn errors(profile: Profile, parameters: Value, capacity: u64) -> Vec<FieldError> {
        let Value::Object(given) = parameters else { panic!("an object") };
        let target = Target { capacity: Bytes(capacity), logical_block: 512, pace: Pace::DISK, zones: None };
        build(profile, &given, target).err().unwrap_or_default()
    }

    #[test]
    fn every_profile_with_its_defaults_stays_inside_any_target() {
        for profile in Profile::ALL {
            let required = match profile {
                Profile::Custom => json!({ "rw": "randwrite" }),
                Profile::Replay => {
                    json!({ "log": "fio version 2 iolog\nf write 99999999999999 65536\nf wait 9 0\nf read 0 512\n" })
                }
                _ => json!({}),
            };
            let Value::Object(given) = required else { panic!("an object") };
            let zones = TargetZones {
                usable: 8,
                zone_bytes: Bytes(4 * MIB),
                zone_capacity_bytes: Bytes(3 * MIB),
                first_bytes: Bytes(4 * MIB),
                max_open: None,
                write_block: 4096,
                only_at_pointers: false,
            };
            for (capacity, logical_block) in
                [(64 * MIB, 512), (3 * GIB + 512 * 7, 512), (14_000_519_643_136, 4096), (24_000_277_250_048, 512)]
            {
                let zones = (profile == Profile::Zones).then_some(zones);
                let target = Target { capacity: Bytes(capacity), logical_block, pace: Pace::DISK, zones };
                let built = build(profile, &given, target)
                    .unwrap_or_else(|errors| panic!("{profile:?} on {capacity}: {errors:?}"));
                assert!(!built.phases.is_empty());
                for phase in &built.phases {
                    assert!(phase.estimated_s > 0 && !phase.purpose.is_empty(), "{phase:?}");
                    let Action::Io(workload) = &phase.action else { continue };
                    let end = workload.offset_bytes.0 + workload.size_bytes.0;
                    let place = format!("{profile:?} {} on {capacity}: {workload:?}", phase.name);
                    assert!(end <= capacity && workload.size_bytes >= workload.bs, "{place}");
                    assert!(workload.offset_bytes.0 % u64::from(logical_block) == 0, "{place}");
                    assert!(workload.smallest_bs().0 % u64::from(logical_block) == 0, "{place}");
                    assert!(workload.bs.0 * u64::from(workload.in_flight()) <= GIB, "{place}");
                    assert!(workload.in_flight() <= 1_024, "{place}");
                    let limits = [workload.number_ios, workload.runtime_s, workload.io_size_bytes.map(|b| b.0)];
                    assert!(limits.iter().flatten().all(|limit| *limit > 0), "{place}");
                    assert!(limits.iter().any(Option::is_some), "it would run for ever: {place}");
                }
                let mut names: Vec<_> = built.phases.iter().map(|phase| &phase.name).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), built.phases.len(), "{profile:?}: two phases of one name");
                let destroys = built.phases.iter().any(Phase::destroys);
                assert!(profile.writes().is_none_or(|writes| writes == destroys), "{profile:?}");
            }
        }
    }

    #[test]
    fn a_write_into_data_that_is_still_to_be_checked_is_refused() {
        let step = |step, size| {
            let mut workload = Workload::new(Rw::Write, Bytes(512), Bytes(0), Bytes(size));
            workload.verify = step;
            phase("p", "p", PhaseRole::Custom, Action::Io(workload))
        };
        let write = Some(Verify { step: VerifyStep::Write, generation: 1 });
        let check = Some(Verify { step: VerifyStep::Check, generation: 1 });
        let mut beside = step(None, 512);
        if let Action::Io(workload) = &mut beside.action {
            workload.offset_bytes = Bytes(4096);
        }
        let refused = |between: Phase| {
            let given = Map::new();
            let mut reader = Reader::new(&given, &[]);
            super::check(&[step(write, 4096), between, step(check, 4096)], &mut reader);
            reader.has_errors()
        };
        assert!(refused(step(None, 512)));
        assert!(!refused(beside));
    }

    #[test]
    fn a_range_is_named_when_a_parameter_is_outside_it() {
        let found = errors(Profile::SmrFull, json!({ "random_s": 0 }), GIB);
        assert_eq!((found[0].field.as_str(), found[0].detail.contains("must be")), ("parameters.random_s", true));
        let found = errors(Profile::BlockSizeSweep, json!({ "sizes": "4k,513" }), GIB);
        assert!(found[0].field == "parameters.sizes" && found[0].detail.contains("512"), "{found:?}");
        let found = errors(Profile::BlockSizeSweep, json!({ "sizes": "1g" }), MIB);
        assert!(found[0].detail.contains("1048576"), "{found:?}");
        let found = errors(Profile::BlockSizeSweep, json!({ "sizes": "512m", "iodepth": 3 }), GIB);
        assert!(found[0].detail.contains("1610612736 bytes of buffers"), "{found:?}");
        let found = errors(Profile::QueueDepthSweep, json!({ "distributions": "zipf:1.1,zipf:1" }), GIB);
        assert_eq!(found[0].field, "parameters.distributions");
        let found = errors(Profile::StreamSweep, json!({ "streams": "1,2000" }), GIB);
        assert!(found[0].detail.contains("1 to 1024"), "{found:?}");
        let found = errors(Profile::ObjectBench, json!({ "objects": 1_000_000 }), GIB);
        assert!(found[0].field == "parameters.objects" && found[0].detail.contains("256"), "{found:?}");
    }
}
