//! One turn of the platter, from how long random reads within a short span wait.
//!
//! Within a thousandth of the drive the arm hardly moves, so what differs between two reads is the angle: their times are spread
//! evenly over one turn. `T = (p90 − p10) / 0.8`, with nothing of the tails where a retry or a read-ahead hit lies. Both points
//! move by chance; of n times spread evenly over T their distance has the standard error `0.4·T / √n`, so `T / (2·√n)` is left of T.
//! What a drive says of its rotation is not asked: a WD140EDFZ, sold as of "5400 rpm class", turns in 8.35 ms.

use super::Input;
use super::resample::Z95;
use crate::model::approx::f64_of;
use crate::model::estimate::{Estimate, Quantity};
use crate::model::histogram::LatencyHistogram;
use crate::model::plan::PhaseRole;
use crate::model::workload::{Rw, Workload};

/// Fewer reads say nothing.
const FEWEST: u64 = 200;
/// A span of at most this part of the region is short: a seek over it takes √(1/1000) of what one over all of it takes.
const SHORT: u64 = 1_000;
/// Turns that are believed, ms: 15 000 rpm and some to 4 200 rpm and some. Anything else is no platter.
const BELIEVED_MS: (f64, f64) = (3.5, 16.0);
/// Rotations that disks are sold with, per minute.
const SOLD: [f64; 6] = [4_200.0, 5_400.0, 5_900.0, 7_200.0, 10_000.0, 15_000.0];

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let short = input.phases().filter(|(_, facts, workload)| is_short(input, facts.phase.role, workload));
    short
        .filter_map(|(index, facts, _)| {
            let turn = turn_ms(&input.total(index)?.read.lat)?;
            let rpm = 60_000.0 / turn.0;
            let nearest = SOLD.into_iter().min_by(|a, b| (a - rpm).abs().total_cmp(&(b - rpm).abs()))?;
            let how = format!(
                "Random reads within a short span are spread evenly over one turn: (p90 − p10) / 0.8. That is {rpm:.0} turns a \
                 minute; the nearest that is sold is {nearest:.0}."
            );
            Some(Estimate::new(Quantity::RevolutionMs, turn, how)?.from_phases([facts.phase.name.clone()]))
        })
        .take(1)
        .collect()
}

fn is_short(input: &Input<'_>, role: PhaseRole, workload: &Workload) -> bool {
    let short = workload.size_bytes.0.saturating_mul(SHORT) <= input.plan.size_bytes.0;
    let role = matches!(role, PhaseRole::ShortStroke | PhaseRole::Sweep);
    role && short
        && workload.rw == Rw::RandRead
        && workload.in_flight() == 1
        && workload.random_distribution.is_uniform()
}

/// One turn in milliseconds, if there is one.
fn turn_ms(latencies: &LatencyHistogram) -> Option<(f64, f64, f64)> {
    if latencies.count() < FEWEST {
        return None;
    }
    let at = |percent| Some(f64_of(latencies.percentile(percent)?.0) / 1e6);
    let (low, middle, high) = (at(10.0)?, at(50.0)?, at(90.0)?);
    let turn = (high - low) / 0.8;
    // Evenly spread, the median lies in the middle; where it does not, most reads were answered by something else.
    let even = ((middle - low) / (high - low) - 0.5).abs() < 0.1;
    let error = Z95 * turn / (2.0 * f64_of(latencies.count()).sqrt());
    let believed = turn >= BELIEVED_MS.0 && turn <= BELIEVED_MS.1;
    (even && believed).then_some((turn, turn - error, turn + error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::histogram::Precision;
    use crate::model::units::Nanos;

    #[test]
    fn evenly_spread_reads_tell_the_turn_and_others_tell_none() {
        let of = |ns: &dyn Fn(u64) -> u64| {
            let mut latencies = LatencyHistogram::new(Precision::Phase);
            (0..2_000).for_each(|nth| latencies.record(Nanos(ns(nth))));
            turn_ms(&latencies)
        };
        let (turn, low, high) = of(&|nth| 1_700_000 + nth * 8_350_000 / 2_000).unwrap();
        assert!((turn / 8.35 - 1.0).abs() < 0.01 && low < turn && turn < high, "{turn}");
        assert_eq!(of(&|nth| 80_000 + nth % 50), None, "flash");
        assert_eq!(of(&|nth| if nth % 5 == 0 { 10_000_000 } else { 200_000 }), None, "a cache");
    }
}
