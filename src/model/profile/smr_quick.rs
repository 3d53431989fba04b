//! `smr-quick`: is it shingled? As soon as that is clear.

use super::definition::Definition;
use super::making::{LARGE, Making, SMALL, phase, short};
use super::reread::reread;
use super::words::{FLOOR_S, IDLE_S, IODEPTH, LARGE_BYTES, PHASE_LIMIT_S, WRITES};
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Gate, Phase, PhaseRole};
use crate::model::units::{Bytes, GIB, MIB};
use crate::model::workload::Rw;

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "smr-quick",
    question: "Is it shingled, although it does not say so?",
    description: "Measures how fast the head can move, then writes 1 MiB blocks all over the drive until the \
                  rate collapses or every known cache would be full; then 4 KiB blocks, until every known map would be; then \
                  reads freshly scattered blocks back in order. Stops as soon as the answer is clear. Overwrites the region.",
    writes: Some(true),
    parameters: &[FLOOR_S, WRITES, SMALL_BS, LARGE_BYTES, Parameter { default: "8", ..IODEPTH }, IDLE_S, PHASE_LIMIT_S],
    phases,
};

const SMALL_BS: Parameter = Parameter {
    name: "small_bs",
    alias: None,
    kind: Kind::Bytes { min: 512, max: MIB },
    default: "4k",
    help: "Bytes of each small write. Runs with several sizes, a night apart, tell the map of a shingled disk's cache from its bytes.",
};

/// Below this a region for every phase cannot be laid out.
pub const SMALLEST_SMR_TARGET: u64 = 16 * MIB;

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    if !making.needs(SMALLEST_SMR_TARGET) {
        return Vec::new();
    }
    let region = making.region;
    let depth = making.depth(8);
    let limit_s = making.number(&PHASE_LIMIT_S, 7_200);
    let large_bytes = making
        .reader
        .bytes(&LARGE_BYTES)
        .map_or_else(|| (64 * GIB).min(region.size.saturating_mul(2)), |bytes| bytes.0);
    let idle_s = making.number(&IDLE_S, 120);

    let small_bs = making.block_size(&SMALL_BS, SMALL);
    let mut small = making.whole(Rw::RandWrite, small_bs, depth, making.seed(1));
    small.number_ios = Some(making.number(&WRITES, 600_000));
    small.runtime_s = Some(limit_s);
    let mut large = making.whole(Rw::RandWrite, making.block_of(LARGE), depth, making.seed(2));
    large.io_size_bytes = Some(Bytes(large_bytes));
    large.runtime_s = Some(limit_s);
    let recoveries = [("recovery-1m", &large, 2_000), ("recovery-4k", &small, 20_000)].map(|(name, like, ios)| {
        let mut workload = like.clone();
        workload.randseed = making.seed(3);
        workload.number_ios = Some(ios);
        workload.io_size_bytes = None;
        workload.runtime_s = Some(30);
        (name, workload)
    });

    let mut phases = vec![making.floor(1, PhaseRole::Floor)];
    if depth != 1 {
        phases.push(making.floor(depth, PhaseRole::FloorDeep));
    }
    phases.push(making.large_floor(depth));
    let mut random_small = phase(
        format!("random-{}", short(small_bs)),
        "Does the rate collapse after so many small writes all over the drive?",
        PhaseRole::RandomSmall,
        Action::Io(small),
    );
    random_small.early_stop = true;
    random_small.gate = Gate::UnlessCliff;
    let mut random_large =
        phase("random-1m", "Does the rate collapse after so many bytes?", PhaseRole::RandomLarge, Action::Io(large));
    random_large.early_stop = true;
    // Bytes first: 64 GiB fill most caches in minutes, while a drive that takes 20 ms to log each small write needs hours to
    // fill its map.
    phases.extend([random_large, random_small]);
    phases.extend(reread(making));
    if idle_s > 0 {
        let mut idle = phase("idle", "The drive is left alone", PhaseRole::Idle, Action::Idle { runtime_s: idle_s });
        idle.gate = Gate::IfCliff;
        phases.push(idle);
        for (name, workload) in recoveries {
            let mut again = phase(
                name,
                "Did it free some of its cache while it was left alone? Only with blocks of the size that filled it.",
                PhaseRole::Recovery,
                Action::Io(workload),
            );
            again.gate = Gate::IfCliff;
            phases.push(again);
        }
    }
    note_small_region(making);
    phases
}

/// What a region that is small against a disk's cache cannot show.
pub fn note_small_region(making: &mut Making<'_>) {
    let region = making.region;
    if region.size < 100 * GIB {
        making.notes.push(format!(
            "The region is {}: a drive-managed disk may hide a cache larger than that, so the absence of a \
             cliff will say little.",
            Bytes(region.size)
        ));
    } else if region.size < (1024 * GIB).min(region.capacity / 10 * 9) {
        making.notes.push(format!(
            "The region is {}: over less than 1 TiB a drive-managed disk cleans many blocks at once and may keep \
             up, so the absence of a cliff will not prove a conventional disk.",
            Bytes(region.size)
        ));
    }
}
