//! Time to clean one band while a writer waits.
//!
//! One at a time, a slow write is a band that is cleaned: its mean time is the answer. Several at a time wait for one another;
//! then `t = m / rate`, with `m = 1 + N·B/span` blocks that one cleaning frees: the oldest one, and those of the N cached blocks
//! that happen to lie in its band of B bytes (science §4). B was read as 15 to 40 MiB, shrinking inward (Aghayev & Desnoyers,
//! FAST'15); their ends give the interval, the mean of their logarithms the value.

use super::super::measured::Found;
use super::{Input, bimodal, load, resample};
use crate::model::approx::f64_of;
use crate::model::estimate::{Estimate, Quantity};
use crate::model::units::MIB;

/// Bands as they were read, MiB.
const BAND_MIB: (u64, u64) = (15, 40);

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    of_fall(input).into_iter().collect()
}

fn of_fall(input: &Input<'_>) -> Option<Estimate> {
    let Found { phase, cliff, .. } = input.measured.found()?;
    let facts = input.measured.phases.get(phase)?;
    let workload = facts.workload()?;
    let told = |figure: Estimate| {
        figure
            .of(load(workload, "random writes"))
            .at(workload.bs, workload.in_flight())
            .from_phases([facts.phase.name.clone()])
    };
    if workload.in_flight() == 1
        && let Some(modes) = input.total(phase).and_then(|total| bimodal::modes(&total.write.lat))
    {
        let seconds = resample::scaled(modes.slow_ms, 1e-3);
        let how = "Mean time of a slow write, one at a time: each waits for one band.";
        return Estimate::new(Quantity::BandCleanS, seconds, how).map(told);
    }
    let (rate, low, high) = resample::rate(facts.settled_writes(), input.plan.randseed)?;
    let (smallest, largest) = (f64_of(BAND_MIB.0 * MIB), f64_of(BAND_MIB.1 * MIB));
    let blocks_to_a_byte = f64_of(cliff.at_ios) / f64_of(workload.size_bytes.0.max(1));
    let freed = |band: f64| 1.0 + blocks_to_a_byte * band;
    let seconds = (freed((smallest * largest).sqrt()) / rate, freed(smallest) / high, freed(largest) / low);
    let how = format!(
        "Blocks that one cleaning frees, over writes per second after the collapse; with bands of {} to {} MiB, as read of such \
         disks.",
        BAND_MIB.0, BAND_MIB.1
    );
    Estimate::new(Quantity::BandCleanS, seconds, how).map(told)
}
