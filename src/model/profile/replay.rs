//! `replay`: a load that was recorded elsewhere.

use super::definition::Definition;
use super::making::{MAX_BUFFER_BYTES, Making, phase};
use super::words::IODEPTH;
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::Bytes;
use crate::model::workload::{Recorded, RecordedOp, Rw, Workload, fitted, parse_recording};

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "replay",
    question: "How would it do under a load that was recorded elsewhere?",
    description: "The I/Os of a fio iolog (version 2 or 3) or of blkparse's text, at their own times, faster, slower, or as \
                  fast as they go. A recording of a larger drive is scaled down to the region. Overwrites whatever \
                  the recording wrote.",
    writes: None,
    parameters: &[LOG, SCALE, NO_STALL, Parameter { default: "32", ..IODEPTH }],
    phases,
};

const LOG: Parameter = Parameter {
    name: "log",
    alias: Some("read_iolog"),
    // A request has at most 64 KiB.
    kind: Kind::Text { max: 60_000 },
    default: "required",
    help: "The text of the recording itself, with its line ends: through the API.",
};
const SCALE: Parameter = Parameter {
    name: "replay_time_scale",
    alias: None,
    kind: Kind::Integer { min: 1, max: 100_000 },
    default: "100",
    help: "Percent of the recorded rate: 200 is twice as fast, 50 half as fast.",
};
const NO_STALL: Parameter = Parameter {
    name: "replay_no_stall",
    alias: None,
    kind: Kind::Flag,
    default: "false",
    help: "true: as fast as they go, in their order, whatever their times.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let Some(recorded) = making.reader.parsed(&LOG, parse_recording) else {
        making.reader.refuse(LOG.name, "is required: the text of a fio iolog of version 2 or 3, or of blkparse");
        return Vec::new();
    };
    let region = making.region;
    let end = recorded.iter().map(|io| io.offset + u64::from(io.len)).max().unwrap_or(0);
    if end > region.size {
        making.notes.push(format!(
            "The recording reaches to {}; its places are scaled down to the region of {}.",
            Bytes(end),
            Bytes(region.size)
        ));
    }
    let scale = making.number(&SCALE, 100);
    let no_stall = making.reader.flag(&NO_STALL).unwrap_or(false);
    let mut ios = fitted(&recorded, region.offset, region.size, region.block);
    for io in &mut ios {
        let scaled = u128::from(io.at_us) * 100 / u128::from(scale);
        io.at_us = if no_stall { 0 } else { u64::try_from(scaled).unwrap_or(u64::MAX) };
    }
    let depth = making.depth(32);
    let workload = described(making, ios, depth);
    let bytes = workload.bs.0.saturating_mul(u64::from(depth));
    if bytes > MAX_BUFFER_BYTES {
        let problem = format!(
            "times the largest I/O of {} is {bytes} bytes; at most {MAX_BUFFER_BYTES} are allowed",
            workload.bs
        );
        making.reader.refuse(IODEPTH.name, problem);
    }
    let speed = match (no_stall, scale) {
        (true, _) => "as fast as they go".to_owned(),
        (false, 100) => "at their own times".to_owned(),
        (false, scale) => format!("at {scale} % of their rate"),
    };
    let purpose = format!("{} recorded I/Os, {speed}", workload.replay.len());
    vec![phase("replay", purpose, PhaseRole::Bench, Action::Io(workload))]
}

/// A workload whose words describe the recording as well as they can.
fn described(making: &Making<'_>, ios: Vec<Recorded>, depth: u32) -> Workload {
    let has = |ops: &[RecordedOp]| ios.iter().any(|io| ops.contains(&io.op));
    let rw = match (has(&[RecordedOp::Read]), has(&[RecordedOp::Write]), has(&[RecordedOp::Trim])) {
        (_, false, false) => Rw::RandRead,
        (false, true, _) => Rw::RandWrite,
        (false, false, true) => Rw::RandTrim,
        _ => Rw::RandRw,
    };
    let with_data = ios.iter().filter(|io| rw == Rw::RandTrim || io.op != RecordedOp::Trim);
    let bs = with_data.map(|io| u64::from(io.len)).max().unwrap_or(0).max(making.region.block);
    let moved = ios.iter().filter(|io| io.len > 0).count();
    let mut workload = making.whole(rw, bs, depth, making.randseed);
    // For estimate and progress: flushes are not among the I/Os that a limit counts.
    workload.number_ios = Some(u64::try_from(moved).unwrap_or(u64::MAX).max(1));
    workload.replay = ios;
    workload
}

#[cfg(test)]
mod tests {
    use super::super::{Pace, Profile, Target, build};
    use super::*;
    use serde_json::{Value, json};

    const LOG_V3: &str = "fio version 3 iolog\n0 f write 4096 8192\n1000000 f read 0 4096\n1000001 f sync 0 0\n";

    fn built(parameters: Value, capacity: u64) -> Result<(Workload, Vec<String>), String> {
        let Value::Object(given) = parameters else { panic!("an object") };
        let target = Target { capacity: Bytes(capacity), logical_block: 512, pace: Pace::DISK, zones: None };
        let built = build(Profile::Replay, &given, target).map_err(|errors| format!("{errors:?}"))?;
        assert_eq!(built.phases[0].bytes_to_write, Some(Bytes(8192)));
        match built.phases.into_iter().next().unwrap().action {
            Action::Io(workload) => Ok((workload, built.notes)),
            Action::Idle { .. } => panic!("no I/O"),
        }
    }

    #[test]
    fn a_recording_runs_at_its_own_a_scaled_or_full_speed() {
        let times = |parameters: Value| -> Vec<u64> {
            built(parameters, 1 << 20).unwrap().0.replay.iter().map(|io| io.at_us).collect()
        };
        assert_eq!(times(json!({ "log": LOG_V3 })), [0, 1_000_000, 1_000_001]);
        assert_eq!(times(json!({ "log": LOG_V3, "replay_time_scale": 200 })), [0, 500_000, 500_000]);
        assert_eq!(times(json!({ "log": LOG_V3, "replay_no_stall": true })), [0, 0, 0]);
    }

    #[test]
    fn it_is_fitted_to_the_region_and_says_so() {
        let (workload, notes) = built(json!({ "log": LOG_V3, "offset": 512, "size": 8192 }), 1 << 20).unwrap();
        assert!(workload.replay.iter().all(|io| io.len == 0 || (512..=8704 - u64::from(io.len)).contains(&io.offset)));
        assert_eq!((workload.rw, workload.bs, notes.len()), (Rw::RandRw, Bytes(8192), 1));
    }

    #[test]
    fn a_broken_recording_is_refused_with_its_line() {
        assert!(built(json!({}), 1 << 20).unwrap_err().contains("required"));
        assert!(built(json!({ "log": "fio version 2 iolog\nf write 1\n" }), 1 << 20).unwrap_err().contains("line 2"));
        assert!(built(json!({ "log": "hello" }), 1 << 20).unwrap_err().contains("has no I/O"));
    }
}
