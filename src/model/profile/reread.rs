//! Four steps that `smr-quick` and `smr-full` share: is a scattered region still at home?

use super::making::{LARGE, Making, SMALL, phase};
use crate::model::plan::{Action, Gate, Phase, PhaseRole};
use crate::model::units::{Bytes, KIB, MIB};
use crate::model::workload::Rw;

/// The region that is scattered and read back: long enough for a second of sequential reading.
const SCATTER_REGION: u64 = 256 * MIB;
/// Blocks scattered over the region: one per 64 KiB, so each read of the region meets many.
const SCATTER_WRITES: u64 = SCATTER_REGION / (64 * KIB);

/// Positive evidence of writing in place, or of an indirection (science §1.2, test 2).
pub fn reread(making: &Making<'_>) -> Vec<Phase> {
    let region = making.region;
    let bs = making.block_of(LARGE);
    let length = SCATTER_REGION.min(region.size / 4);
    let length = length - length % bs;
    let middle = region.size / 2;
    let start = region.offset + (middle - middle % region.block);
    let ordered = |rw: Rw| {
        let mut workload = making.whole(rw, bs, 1, making.randseed);
        workload.offset_bytes = Bytes(start);
        workload.size_bytes = Bytes(length);
        workload.io_size_bytes = Some(Bytes(length));
        workload.runtime_s = Some(1_800);
        Action::Io(workload)
    };
    let mut scatter = making.whole(Rw::RandWrite, making.block_of(SMALL), 8, making.seed(4));
    scatter.offset_bytes = Bytes(start);
    scatter.size_bytes = Bytes(length);
    scatter.number_ios = Some(SCATTER_WRITES.min(length / (64 * KIB)).max(1));
    scatter.runtime_s = Some(1_800);
    let steps = [
        ("region-fill", "A region is written in order", PhaseRole::RegionFill, ordered(Rw::Write)),
        ("region-read-before", "The region is read in order", PhaseRole::RegionReadBefore, ordered(Rw::Read)),
        (
            "region-scatter",
            "Blocks of the region are rewritten in random order",
            PhaseRole::RegionScatter,
            Action::Io(scatter),
        ),
        (
            "region-read-after",
            "Do the rewritten blocks read back from their own place?",
            PhaseRole::RegionReadAfter,
            ordered(Rw::Read),
        ),
    ];
    steps
        .into_iter()
        .map(|(name, purpose, role, action)| {
            let mut step = phase(name, purpose, role, action);
            step.gate = Gate::UnlessCliff;
            step
        })
        .collect()
}
