//! `rebuild`: what a resilver asks of a drive.

use super::definition::Definition;
use super::making::{Making, phase};
use super::words::FLOOR_S;
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::{Bytes, GIB, KIB};
use crate::model::workload::{Rw, SizeShare};

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "rebuild",
    question: "How long would a RAID or ZFS rebuild onto this drive take?",
    description: "Writes runs of 24 to 128 KiB in order with gaps between them, as a resilver does (openzfs #10214), \
                  past any known cache. Its rate towards the end tells how long a rebuild takes. Overwrites the region.",
    writes: Some(true),
    parameters: &[FLOOR_S, REBUILD_BYTES, REBUILD_S, GAP, DEPTH],
    phases,
};

/// Four times the largest cache known, 48.3 GiB (science §2.1), so that the rate after it is seen for long.
const PAST_ANY_CACHE: u64 = 200 * GIB;

const REBUILD_BYTES: Parameter = Parameter {
    name: "rebuild_bytes",
    alias: None,
    kind: Kind::Bytes { min: 1 << 20, max: 1 << 50 },
    default: "200g, at most what fits the region with its gaps",
    help: "Bytes to write: past any known cache of a drive-managed disk.",
};
const REBUILD_S: Parameter = Parameter {
    name: "rebuild_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 30 * 86_400 },
    default: "14400",
    help: "Longest time it may take.",
};
const GAP: Parameter = Parameter {
    name: "gap_bytes",
    alias: None,
    kind: Kind::Bytes { min: 0, max: 1 << 30 },
    default: "32k",
    help: "Bytes left out after each write; a multiple of the logical block.",
};
const DEPTH: Parameter = Parameter {
    name: "iodepth",
    alias: None,
    kind: Kind::Integer { min: 1, max: 64 },
    default: "3",
    help: "I/Os in flight; ZFS has 3 for a resilver at most by default.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    if !making.needs(4 << 20) {
        return Vec::new();
    }
    let block = making.region.block;
    let gap = making.reader.bytes(&GAP).map_or_else(|| making.block_of(32 * KIB), |bytes| bytes.0);
    if !gap.is_multiple_of(block) {
        let problem = format!("is {gap}, must be a multiple of the logical block of {block} bytes");
        making.reader.refuse(GAP.name, problem);
    }
    let depth = making.depth(3);
    let sizes = [24, 48, 96, 128].map(|kib: u64| SizeShare { bs: Bytes(making.block_of(kib * KIB)), percent: 25 });
    let mut workload = making.whole(Rw::Write, sizes[3].bs.0, depth, making.seed(1));
    workload.bssplit = sizes.to_vec();
    workload.skip_bytes = Bytes(gap);
    let mean = workload.mean_bs().0;
    // One pass over the region and no second one: a rebuild writes each place once.
    let pass = making.region.size / (mean + gap).max(1) * mean;
    let bytes = making.reader.bytes(&REBUILD_BYTES).map_or(PAST_ANY_CACHE.min(pass), |bytes| bytes.0);
    if bytes > making.region.size {
        let problem = format!("is {bytes}, more than the region of {} bytes", making.region.size);
        making.reader.refuse(REBUILD_BYTES.name, problem);
    }
    workload.io_size_bytes = Some(Bytes(bytes));
    workload.runtime_s = Some(making.number(&REBUILD_S, 14_400));
    if bytes < PAST_ANY_CACHE {
        making.notes.push(format!(
            "{} are written: a drive-managed disk may take as much into its cache, and a rebuild would be longer.",
            Bytes(bytes)
        ));
    }
    vec![
        making.floor(1, PhaseRole::Floor),
        phase(
            "rebuild",
            format!("Runs of 24 to 128 KiB in order with gaps of {}, as a resilver writes", Bytes(gap)),
            PhaseRole::Bench,
            Action::Io(workload),
        ),
    ]
}
