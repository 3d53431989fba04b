//! `smr-full`: the whole protocol of the fio list's "testing for SMR" (2020), days long.

use super::definition::Definition;
use super::making::{LARGE, Making, SMALL, phase};
use super::reread::reread;
use super::smr_quick::{SMALLEST_SMR_TARGET, note_small_region};
use super::words::FLOOR_S;
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Gate, Phase, PhaseRole};
use crate::model::units::{Bytes, KIB, MIB};
use crate::model::workload::Rw;

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "smr-full",
    question: "Is it shingled, even if it needs a full drive and ten hours to show?",
    description: "Spin-up, a baseline, the whole region filled in order, random 1 MiB writes, ten hours of random 4 KiB \
                  writes one at a time, a rest, and the baseline again: before against after. A log-structured disk \
                  shows no collapse before its spare space is used, which is what the fill is for. Overwrites the region.",
    writes: Some(true),
    parameters: &[FLOOR_S, BASELINE_S, FILL_BS, LARGE_S, RANDOM_S, IDLE_S],
    phases,
};

const BASELINE_S: Parameter = Parameter {
    name: "baseline_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 86_400 },
    default: "300",
    help: "Seconds of each baseline, before and after.",
};
const FILL_BS: Parameter = Parameter {
    name: "fill_bs",
    alias: None,
    kind: Kind::Bytes { min: 4 * KIB, max: 256 * MIB },
    default: "16m",
    help: "Bytes per write of the fill, four in flight. The kernel splits what is larger than the drive's limit.",
};
const LARGE_S: Parameter = Parameter {
    name: "large_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 30 * 86_400 },
    default: "3600",
    help: "Seconds of random 1 MiB writes, four in flight: past any known cache (64 GiB) at 20 MB/s.",
};
const RANDOM_S: Parameter = Parameter {
    name: "random_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 30 * 86_400 },
    default: "36000",
    help: "Seconds of random 4 KiB writes, one at a time.",
};
const IDLE_S: Parameter = Parameter {
    name: "idle_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 86_400 },
    default: "600",
    help: "Seconds of rest before the second baseline: a disk may be heard emptying its cache for minutes.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    if !making.needs(SMALLEST_SMR_TARGET) {
        return Vec::new();
    }
    let fill_bs = making.block_size(&FILL_BS, 16 * MIB);
    making.check_buffers(&FILL_BS, fill_bs, 4);
    let mut spin_up = making.whole(Rw::Read, making.block_of(LARGE), 4, making.randseed);
    spin_up.runtime_s = Some(10);
    let mut fill = making.whole(Rw::Write, fill_bs, 4, making.seed(5));
    fill.io_size_bytes = Some(Bytes(making.region.size));
    let mut large = making.whole(Rw::RandWrite, making.block_of(LARGE), 4, making.seed(2));
    large.runtime_s = Some(making.number(&LARGE_S, 3_600));
    let mut small = making.whole(Rw::RandWrite, making.block_of(SMALL), 1, making.seed(1));
    small.runtime_s = Some(making.number(&RANDOM_S, 36_000));
    let idle_s = making.number(&IDLE_S, 600);

    let mut phases = vec![
        phase("spin-up", "The drive is woken and warmed by reading in order", PhaseRole::Prepare, Action::Io(spin_up)),
        making.floor(1, PhaseRole::Floor),
        making.large_floor(4),
    ];
    phases.extend(baseline(making, "before", 6));
    phases.push(phase(
        "fill",
        "The whole region is written in order once, so that no spare space is left to hide in",
        PhaseRole::Prepare,
        Action::Io(fill),
    ));
    phases.push(phase(
        "random-1m",
        "Does the rate of large writes all over the drive collapse?",
        PhaseRole::RandomLarge,
        Action::Io(large),
    ));
    phases.push(phase(
        "random-4k",
        "Does the rate of small writes all over the drive collapse, now or in hours?",
        PhaseRole::RandomSmall,
        Action::Io(small),
    ));
    // Here the four steps are worth their seconds also after a collapse.
    phases.extend(reread(making).into_iter().map(|step| Phase { gate: Gate::Always, ..step }));
    phases.push(phase("idle", "The drive is left alone", PhaseRole::Idle, Action::Idle { runtime_s: idle_s }));
    phases.extend(baseline(making, "after", 8));
    note_small_region(making);
    phases
}

/// The rates of both block sizes for a few minutes.
fn baseline(making: &Making<'_>, when: &str, seed: u64) -> [Phase; 2] {
    let of = |bs: u64, depth: u32, size: &str, seed: u64| {
        let mut workload = making.whole(Rw::RandWrite, making.block_of(bs), depth, making.seed(seed));
        workload.runtime_s = Some(making.number(&BASELINE_S, 300));
        phase(
            format!("{when}-{size}"),
            format!("Random {size} writes {when} all this, to compare"),
            PhaseRole::Baseline,
            Action::Io(workload),
        )
    };
    [of(SMALL, 1, "4k", seed), of(LARGE, 4, "1m", seed + 1)]
}
