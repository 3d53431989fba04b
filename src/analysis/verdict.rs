//! The verdict of one run.
//!
//! Order: what spoils it; whether a head moves at all; a collapse below the head's own rate; the signs that
//! are not enough; and last, whether enough was written and read back to call the drive conventional.
//!
//! | state | needs | confidence |
//! |---|---|---|
//! | `drive-managed` | a cliff, and ρ ≤ 0.3 with its whole 95 % interval | share of bootstrap resamples with ρ ≤ 0.3, times 0.9 if the floor was carried over from another block size or depth, 0.75 if it was assumed; at most 0.99 |
//! | `cmr` | no cliff, ρ ≥ 0.8 with its whole interval, writing past every known map and cache, a region ≥ 1 TiB or the whole of a smaller drive (of 100 GiB at least), and scattered blocks that read back at ≥ 0.5 of full speed | 0.9 (a tenth is kept for caches larger than any known) times the smallest share of resamples with ρ ≥ 0.8 |
//! | `ssd` | declared, and no head movement in random reads | 0.99 |
//! | `not-shown` | no sign of shingling, and something of the above is missing | 0.6 times the mean share of what `cmr` needs |
//! | `undecided` | signs both ways, or a spoilt run | 0.5 times the share of resamples on the leading side |

mod conclude;
mod table;

use super::array::of_volume;
use super::combine::beside;
use super::declared::classify;
use super::measured::Measured;
use crate::model::drive::Drive;
use crate::model::interval::Sample;
use crate::model::plan::Plan;
use crate::model::recording::{Basis, Recording};

/// The most any measured verdict claims.
pub const MOST_SURE: f64 = 0.99;
/// A drive that says it does not rotate and still takes this long contradicts itself.
pub const SURELY_MOVES_NS: u64 = 3_000_000;
/// More small writes than the largest map known holds: 368 795 (ST8000DM004, csurbhi) and 5 %.
pub const ENOUGH_WRITES: u64 = 387_235;
/// More bytes than the largest cache known holds: 48.3 GiB (the same) and 5 %.
pub const ENOUGH_BYTES: u64 = 54_452_702_413;
/// In a smaller region each band holds so many cached blocks that cleaning one frees them all at once, and a shingled disk
/// looks fast: after the cliff it writes `N·B / span / t_band` blocks a second, which for ST8000DM004 (N 368 795, B 20 MiB, t 0.158 s)
/// stays below 0.3 of its head's 140 only over more than 1.1 TB. A whole smaller drive will do.
pub const ENOUGH_REGION: u64 = 1 << 40;
/// A region below this, even a whole drive, may lie in a cache altogether.
pub const LEAST_REGION: u64 = 100 << 30;
/// A scattered region that reads at least this fast, against before, lies at home.
pub const AT_HOME: f64 = 0.5;
/// One that reads at most this fast does not.
pub const ELSEWHERE: f64 = 0.2;
/// More failed I/Os than this share spoil a run.
pub const SPOILT_BY_ERRORS: f64 = 0.01;

/// The verdict on `drive` of a run of `plan` that gave `samples`, in order. A run that was ended early is judged by
/// what there is. `drive` gives the declaration of the time of the run.
#[must_use]
pub fn verdict(drive: &Drive, plan: &Plan, samples: &[Sample]) -> Recording {
    let declared = classify(drive);
    let mut measured = Measured::new(plan);
    for sample in samples {
        measured.observe(sample);
    }
    measured.finish();
    let run = of_volume(drive, conclude::conclude(drive, &declared, plan, &measured));
    let mut answer = match (declared.basis, run.basis) {
        (Basis::Declared, Basis::None) => {
            Recording { sentence: format!("{} Of this run: {}", declared.sentence, run.sentence), ..declared.clone() }
        }
        (Basis::Declared, _) => beside(&declared, &run),
        _ => run,
    };
    answer.evidence = declared.evidence;
    answer.evidence.extend(table::evidence(plan, &measured));
    answer
}

#[cfg(test)]
mod tests;
