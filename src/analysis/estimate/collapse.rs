//! Where the rate of random writes collapses (in I/Os and in bytes) and how deep.
//!
//! The place is the best split of ln(rate) in two levels (`analysis/cliff`). Its interval is that of a likelihood ratio: all
//! splits that leave at most `exp(χ²/n)` times the best one's squares, χ² = 3.84 (95 %, one degree of freedom), and one sample
//! more on each side, as the fall lies somewhere within its sample. Below it may lie
//! lower by what the volatile memory took.

use super::super::measured::Found;
use super::super::rho::{Point, mean_rate};
use super::super::words::grouped;
use super::{Input, load, resample};
use crate::model::approx::{f64_of, f64_of_len, u64_of};
use crate::model::estimate::{Estimate, Quantity};

/// 95 % point of χ² with one degree of freedom.
const CHI_SQUARE: f64 = 3.84;

/// Intervals after the first that tell what it has too much.
const STEADY: usize = 10;

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    of_fall(input).unwrap_or_default()
}

fn of_fall(input: &Input<'_>) -> Option<Vec<Estimate>> {
    let Found { phase, cliff, .. } = input.measured.found()?;
    let facts = input.measured.phases.get(phase)?;
    let workload = facts.workload()?;
    let points = facts.write_points();
    let split = split_at(points, cliff.at_ios);
    let (first, last) = alike(points, split);
    let before = |index: usize| f64_of(points[..index].iter().map(|point| point.ios).sum());
    let memory = memory_ios(points);
    let ios = (f64_of(cliff.at_ios), (before(first) - memory).max(0.0), before(last));
    let bytes_each = f64_of(facts.writes.bytes.0) / f64_of(facts.writes.ios.max(1));
    let depth = resample::ratio(&points[split..], &points[..split], input.plan.randseed).unwrap_or((
        cliff.ratio,
        cliff.ratio,
        cliff.ratio,
    ));
    let how = format!(
        "Where ln(rate) of {} writes is best split in two levels; the interval holds every split that fits nearly as well, \
         less {} writes that the drive's memory took at the start.",
        grouped(facts.writes.ios),
        grouped(u64_of(memory))
    );
    let depth_how = "Mean rate after that place over the mean before it; bootstrap over blocks of time.";
    let rate = resample::rate(&points[..split], input.plan.randseed)?;
    let found = [
        Estimate::new(
            Quantity::BeforeCliffIops,
            rate,
            "I/Os over time before the collapse; bootstrap over blocks of time.",
        ),
        Estimate::new(Quantity::CliffIos, ios, how.clone()),
        Estimate::new(Quantity::CliffBytes, resample::scaled(ios, bytes_each), how),
        Estimate::new(Quantity::CliffRatio, depth, depth_how),
    ];
    let of = load(workload, "random writes");
    let told = |figure: Estimate| {
        figure.of(of.clone()).at(workload.bs, workload.in_flight()).from_phases([facts.phase.name.clone()])
    };
    Some(found.into_iter().flatten().map(told).collect())
}

/// Writes that the volatile memory took at the start of a phase: what its first interval has more than the ten that follow.
pub fn memory_ios(points: &[Point]) -> f64 {
    let Some((first, later)) = points.split_first() else { return 0.0 };
    let steady = mean_rate(&later[..later.len().min(STEADY)]);
    if later.len() < STEADY { 0.0 } else { (f64_of(first.ios) - steady * first.seconds).max(0.0) }
}

/// Index of the first point after `ios` I/Os.
fn split_at(points: &[Point], ios: u64) -> usize {
    let mut seen = 0;
    points
        .iter()
        .take_while(|point| {
            seen += point.ios;
            seen <= ios
        })
        .count()
        .clamp(1, points.len().saturating_sub(1).max(1))
}

/// First and last split that fit nearly as well as `best`.
fn alike(points: &[Point], best: usize) -> (usize, usize) {
    let logs: Vec<f64> =
        points.iter().map(|point| (f64_of(point.ios).max(0.5) / point.seconds.max(1e-9)).ln()).collect();
    let count = f64_of_len(logs.len());
    let (mut total, mut squares) = (0.0, 0.0);
    for log in &logs {
        total += log;
        squares += log * log;
    }
    let mut left = 0.0;
    let lefts: Vec<f64> = logs
        .iter()
        .map(|log| {
            left += log;
            left
        })
        .collect();
    let rest = |split: usize| {
        let (left, right) = (lefts[split - 1], total - lefts[split - 1]);
        let explained = left * left / f64_of_len(split) + right * right / f64_of_len(logs.len() - split);
        (squares - explained).max(1e-9)
    };
    let limit = rest(best) * (CHI_SQUARE / count).exp();
    let mut first = best;
    while first > 1 && rest(first - 1) <= limit {
        first -= 1;
    }
    let mut last = best;
    while last + 1 < logs.len() && rest(last + 1) <= limit {
        last += 1;
    }
    (first.saturating_sub(1), (last + 1).min(logs.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sharp_fall_is_known_to_a_sample_and_a_blurred_one_is_not() {
        let rate = |ios| Point { ios, seconds: 1.0 };
        let mut sharp = vec![rate(3_000); 100];
        sharp.extend(vec![rate(10); 100]);
        assert_eq!(split_at(&sharp, 300_000), 100);
        assert_eq!(alike(&sharp, 100), (99, 101));
        let blurred: Vec<_> = (0..200).map(|s| rate(if (s * 7) % 200 < s { 60 } else { 100 })).collect();
        let (first, last) = alike(&blurred, 100);
        assert!(last - first > 5, "{first}..{last}");
    }
}
