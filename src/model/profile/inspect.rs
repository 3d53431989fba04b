//! `inspect`: reads only.

use super::definition::Definition;
use super::making::{Making, SMALL, phase};
use super::words::{FLOOR_S, PLACES};
use crate::model::approx::{f64_of, u64_of};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::{Bytes, GIB, MIB};
use crate::model::workload::Rw;

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "inspect",
    question: "How fast does it read, at every place, and how fast can its head move?",
    description: "Random 4 KiB reads one at a time and 32 at a time, the same within a short span, whose times tell one \
                  turn of the platter, then sequential reads at places from the outer to the inner edge. Writes nothing, so it may run on a drive in use.",
    writes: Some(false),
    parameters: &[FLOOR_S, PLACES],
    phases,
};

/// A seek over a thousandth of the stroke takes √(1/1000) of what a whole one takes, half a millisecond: little against a turn.
const SHORT: u64 = 1_000;
/// More than any drive's memory holds, so that reads come from the platter.
const LEAST_SHORT: u64 = GIB / 2;
const MOST_SHORT: u64 = 4 * GIB;

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let mut phases = vec![making.floor(1, PhaseRole::Floor), making.floor(32, PhaseRole::FloorDeep)];
    phases.extend(short_stroke(making));
    let region = making.region;
    let places = making.number(&PLACES, 17);
    let bs = making.block_of(MIB);
    // Two seconds at 128 MiB/s: long enough to outlast a drive's read-ahead.
    let length = (256 * MIB).min(region.size / places.max(1)).max(bs);
    let length = length - length % bs;
    for place in 0..places {
        let last_start = region.size.saturating_sub(length);
        let start = if places == 1 {
            0
        } else {
            u64::try_from(u128::from(last_start) * u128::from(place) / u128::from(places - 1)).unwrap_or(0)
        };
        let start = start - start % region.block;
        let at_percent = u64_of(f64_of(start) / f64_of(region.size.max(1)) * 100.0);
        let mut workload = making.whole(Rw::Read, bs, 4, making.randseed);
        workload.offset_bytes = Bytes(region.offset + start);
        workload.size_bytes = Bytes(length);
        workload.io_size_bytes = Some(Bytes(length));
        workload.runtime_s = Some(60);
        phases.push(phase(
            format!("read-at-{at_percent}%"),
            format!("Sequential read at {at_percent} % of the region"),
            PhaseRole::ZoneProfile,
            Action::Io(workload),
        ));
    }
    phases
}

/// Random reads within so little of the drive that its arm hardly moves.
fn short_stroke(making: &Making<'_>) -> Option<Phase> {
    let region = making.region;
    let span = (region.size / SHORT).min(MOST_SHORT);
    let span = span - span % region.block;
    if span < LEAST_SHORT {
        return None;
    }
    let middle = region.size / 2;
    let mut workload = making.whole(Rw::RandRead, making.block_of(SMALL), 1, making.seed(1));
    workload.offset_bytes = Bytes(region.offset + (middle - middle % region.block));
    workload.size_bytes = Bytes(span);
    workload.runtime_s = Some(making.number(&FLOOR_S, 30));
    let purpose = "How fast the platter turns: random reads so near to one another that the arm hardly moves";
    Some(phase("short-stroke", purpose, PhaseRole::ShortStroke, Action::Io(workload)))
}
