//! Figures of a run, each with its 95 % interval: pure functions over samples, sums of phases, and what was measured in
//! each. A figure whose phases did not run, or ran for too short, is not there.
//!
//! ```text
//!   Plan + Samples ─▶ Measured ─┐
//!   sums of phases ─────────────┴─▶ Input ─▶ one function a file ─▶ [Estimate] ─▶ stored with the run ─▶ suitability
//! ```
//! | file | what |
//! |---|---|
//! | `resample` | bootstraps over blocks of time, and over what a fit leaves |
//! | `collapse` | where the rate of random writes collapses, and how deep |
//! | `rates` | random reads, settled writes, writes in order, a rebuild's writes, rho |
//! | `limits` | blocks against bytes: `min(C, N·bs)` through cliffs of several block sizes |
//! | `band` | time to clean one band |
//! | `recovery` | what a rest brought |
//! | `period` | long writes that come regularly |
//! | `bimodal` | writes of two speeds |
//! | `zone_profile` | rates from the outer to the inner edge, radii, and a cap of the way |
//! | `revolution` | one turn of the platter |
//! | `saturation` | block size |
//! | `queue_depth` | I/Os in flight |
//! | `write_cache` | the volatile cache, and flushes |
//! | `slc` | an SSD's fast cells |
//! | `contention` | what the host spoilt |
//! | `zones` | open zones, and what zone operations cost |

mod band;
mod bimodal;
mod collapse;
mod contention;
pub mod limits;
mod period;
mod queue_depth;
mod rates;
mod recovery;
mod resample;
mod revolution;
mod saturation;
mod slc;
mod write_cache;
mod zone_profile;
mod zones;

#[cfg(test)]
mod tests;

use super::measured::{Measured, PhaseFacts};
use super::words::block;
use crate::model::estimate::Estimate;
use crate::model::interval::{Interval, Sample};
use crate::model::plan::Plan;
use crate::model::units::Bytes;
use crate::model::workload::Workload;

/// What estimates are made from.
pub struct Input<'a> {
    /// What was carried out.
    pub plan: &'a Plan,
    /// What was measured in each phase.
    pub measured: &'a Measured,
    /// The samples, in order.
    pub samples: &'a [Sample],
    /// The sums of each phase, as far as they are known.
    pub totals: &'a [Interval],
}

impl<'a> Input<'a> {
    /// The phases that did I/O, with what they were to do.
    fn phases(&self) -> impl Iterator<Item = (usize, &'a PhaseFacts, &'a Workload)> {
        let measured = self.measured;
        let phases = measured.phases.iter().enumerate().filter(|(_, facts)| facts.seconds > 0.0);
        phases.filter_map(|(index, facts)| Some((index, facts, facts.workload()?)))
    }

    /// The sums of a phase.
    fn total(&self, index: usize) -> Option<&'a Interval> {
        self.totals.iter().find(|total| usize::try_from(total.phase) == Ok(index))
    }

    /// The samples of a phase without its ramp.
    fn samples(&self, index: usize) -> impl Iterator<Item = &'a Sample> {
        let of_phase = move |sample: &&Sample| usize::try_from(sample.phase) == Ok(index) && !sample.ramp;
        self.samples.iter().filter(of_phase)
    }
}

/// Every figure of a run of `plan` that gave `samples`, in order, and `totals`, the sums of its phases. A run that was
/// ended early gives those it came to.
#[must_use]
pub fn estimates(plan: &Plan, samples: &[Sample], totals: &[Interval]) -> Vec<Estimate> {
    let mut measured = Measured::new(plan);
    for sample in samples {
        measured.observe(sample);
    }
    measured.finish();
    let input = Input { plan, measured: &measured, samples, totals };
    let of: [fn(&Input<'_>) -> Vec<Estimate>; 15] = [
        rates::estimate,
        collapse::estimate,
        limits::estimate,
        band::estimate,
        recovery::estimate,
        period::estimate,
        bimodal::estimate,
        zone_profile::estimate,
        revolution::estimate,
        saturation::estimate,
        queue_depth::estimate,
        write_cache::estimate,
        slc::estimate,
        zones::estimate,
        contention::estimate,
    ];
    of.iter().flat_map(|estimate| estimate(&input)).collect()
}

/// A load in words: `random writes of 4 KiB, 8 at a time`.
fn load(workload: &Workload, what: &str) -> String {
    let depth = workload.in_flight();
    let bs = block(Bytes(workload.mean_bs().0));
    if depth == 1 { format!("{what} of {bs}, one at a time") } else { format!("{what} of {bs}, {depth} at a time") }
}
