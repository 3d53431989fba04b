//! Writes of two speeds: how many are slow, and how slow.
//!
//! The latencies of a phase are split in two classes of ln(latency) at the threshold that leaves least within the classes (Otsu
//! 1979), each latency weighing as much as it lasts: after a cliff the few slow writes take nearly all the time. Two speeds are
//! told only where the classes are apart: Ashman's D above 2 (Ashman, Bird & Zepf 1994), a factor of five between their means,
//! and a twentieth of the time in the slow one. Hartigan's dip test asks only whether, not where.

use super::resample::{Ranged, Z95, scaled};
use super::{Input, load};
use crate::model::approx::f64_of;
use crate::model::estimate::{Estimate, Quantity};
use crate::model::histogram::LatencyHistogram;

/// Ashman's D of two classes that are apart.
const APART: f64 = 2.0;
/// Slow against fast, at least.
const LEAST_FACTOR: f64 = 5.0;
/// Share of all time that the slow ones take, at least.
const LEAST_TIME: f64 = 0.05;
/// Fewer slow ones say nothing of their mean.
const FEWEST: u64 = 10;

/// The two speeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Writes of the slow class.
    pub slow: u64,
    /// All writes.
    pub all: u64,
    /// Mean time of a slow one, milliseconds.
    pub slow_ms: Ranged,
}

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let mut list = Vec::new();
    for (index, facts, workload) in input.phases().filter(|(_, facts, _)| facts.is_watched()) {
        let Some(modes) = input.total(index).and_then(|total| modes(&total.write.lat)) else { continue };
        // Before a collapse there are none.
        let before = input.measured.found().filter(|found| found.phase == index).map_or(0, |found| found.cliff.at_ios);
        let slow = f64_of(modes.slow);
        let of = f64_of(modes.all.saturating_sub(before)).max(slow);
        let share = slow / of;
        // Wilson's interval of a share.
        let centre = share + Z95 * Z95 / (2.0 * of);
        let reach = Z95 * (share * (1.0 - share) / of + Z95 * Z95 / (4.0 * of * of)).sqrt();
        let scale = 1.0 + Z95 * Z95 / of;
        let how = "Latencies split in two classes, each weighing as much as it lasts; slow ones against all after the collapse, \
                   if there was one.";
        let ends = (((centre - reach) / scale).min(share), ((centre + reach) / scale).max(share));
        // Of several at a time all wait for the slow one.
        let share =
            (workload.in_flight() == 1).then(|| Estimate::new(Quantity::SlowRatio, (share, ends.0, ends.1), how));
        let figures = [
            share.flatten(),
            Estimate::new(Quantity::SlowMs, modes.slow_ms, "Mean of the slow class, and its standard error."),
        ];
        let told = |figure: Estimate| {
            let of = load(workload, "random writes");
            figure.of(of).at(workload.bs, workload.in_flight()).from_phases([facts.phase.name.clone()])
        };
        list.extend(figures.into_iter().flatten().map(told));
    }
    list
}

/// The two speeds of `latencies`, if they have two.
pub fn modes(latencies: &LatencyHistogram) -> Option<Modes> {
    // ln(latency), time, count; from the fastest on.
    let classes: Vec<(f64, f64, u64)> = latencies
        .buckets()
        .map(|(low, high, count)| {
            let middle = (f64_of(low.0) + f64_of(high.0)).max(2.0) / 2.0;
            (middle.ln(), middle * f64_of(count), count)
        })
        .collect();
    let sums = |classes: &[(f64, f64, u64)]| {
        let time: f64 = classes.iter().map(|(_, time, _)| time).sum();
        let mean = classes.iter().map(|(ln, time, _)| ln * time).sum::<f64>() / time.max(1e-9);
        let squares: f64 = classes.iter().map(|(ln, time, _)| (ln - mean) * (ln - mean) * time).sum();
        (time, mean, squares)
    };
    let (all_time, all_mean, _) = sums(&classes);
    let (mut time, mut weighted) = (0.0, 0.0);
    let mut best = (0.0, 0);
    for (index, (ln, each, _)) in classes.iter().enumerate().take(classes.len().saturating_sub(1)) {
        time += each;
        weighted += ln * each;
        let rest = all_time - time;
        let (left, right) = (weighted / time, (all_mean * all_time - weighted) / rest);
        let between = time * rest * (left - right) * (left - right);
        if between > best.0 {
            best = (between, index + 1);
        }
    }
    let (fast, slow) = classes.split_at(best.1);
    let ((fast_time, fast_mean, fast_squares), (slow_time, slow_mean, slow_squares)) = (sums(fast), sums(slow));
    let spread = ((fast_squares / fast_time.max(1e-9) + slow_squares / slow_time.max(1e-9)) / 2.0).sqrt();
    let counted: u64 = slow.iter().map(|(_, _, count)| count).sum();
    let apart = slow_mean - fast_mean > LEAST_FACTOR.ln().max(APART * spread);
    if best.1 == 0 || counted < FEWEST || !apart || slow_time < LEAST_TIME * all_time {
        return None;
    }
    let count = f64_of(counted);
    let mean = slow_time / count;
    let variance: f64 = slow
        .iter()
        .map(|(_, time, count)| {
            let each = f64_of(*count);
            (time / each - mean) * (time / each - mean) * each
        })
        .sum::<f64>()
        / count;
    let error = Z95 * (variance / count).sqrt();
    let slow_ms = scaled((mean, mean - error, mean + error), 1e-6);
    Some(Modes { slow: counted, all: latencies.count(), slow_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::histogram::Precision;
    use crate::model::units::Nanos;

    #[test]
    fn slow_writes_among_fast_ones_are_told_and_one_speed_is_not_taken_for_two() {
        // ST8000AS0002 after its cliff (digitised): 1.43 s for a slow write of 1 MiB, 21 ms for a fast one.
        let mut two = LatencyHistogram::new(Precision::Phase);
        for nth in 0..600_u64 {
            let ms = if nth % 2 == 0 { 1_430 + nth % 50 } else { 20 + nth % 3 };
            two.record(Nanos::from_millis(ms));
        }
        let modes = modes(&two).unwrap();
        assert_eq!((modes.slow, modes.all), (300, 600));
        let (slow, low, high) = modes.slow_ms;
        assert!((slow / 1_455.0 - 1.0).abs() < 0.02 && low < slow && slow < high, "{modes:?}");
        // A seek of 1.5 to 27 ms, all alike.
        let mut one = LatencyHistogram::new(Precision::Phase);
        (0..2_000_u64).for_each(|nth| one.record(Nanos(1_500_000 + nth * 12_750)));
        assert_eq!(super::modes(&one), None);
        assert_eq!(super::modes(&LatencyHistogram::new(Precision::Phase)), None);
    }
}
