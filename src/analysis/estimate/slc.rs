//! The cliff of an SSD: its fast cells are full. Told apart from shingling by the reads, which no head makes wait.
//!
//! The fall is far smaller than a shingled disk's (3 to 6 times, or hidden behind the link), so the CUSUM of `analysis/cliff` does
//! not fire. The best split of ln(rate) in two levels is taken if the levels differ by eight standard errors and a tenth.

use super::super::rho::{Point, mean_rate};
use super::{Input, load, resample};
use crate::model::approx::{f64_of, f64_of_len};
use crate::model::estimate::{Estimate, Quantity};

/// Levels that differ by chance do not differ by so many standard errors.
const STANDARD_ERRORS: f64 = 8.0;
/// Nor is a fall of less than this one of cells.
const LEAST_FALL: f64 = 0.9;
/// Fewer samples on a side are no level.
const FEWEST: usize = 10;

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    if input.measured.is_still() != Some(true) {
        return Vec::new();
    }
    // What was written just before has gone into the same cells.
    let mut before = 0.0;
    let mut named: Vec<String> = Vec::new();
    for (_, facts, workload) in input.phases() {
        if facts.writes.ios == 0 || facts.reads.ios > 0 {
            before = 0.0;
            named.clear();
            continue;
        }
        named.push(facts.phase.name.clone());
        let points = facts.write_points();
        if let Some(split) = fall(points) {
            let each = f64_of(facts.writes.bytes.0) / f64_of(facts.writes.ios);
            let upto = |split: usize| before + each * f64_of(points[..split].iter().map(|point| point.ios).sum());
            let bytes = (upto(split), upto(split - 1), upto((split + 1).min(points.len())));
            let ratio = resample::ratio(&points[split..], &points[..split], input.plan.randseed);
            let how = "Bytes written in a row until the rate falls to another level, on a drive whose reads wait for no head.";
            let figures = [
                Estimate::new(Quantity::SlcBytes, bytes, how),
                ratio.and_then(|ratio| {
                    Estimate::new(Quantity::SlcRatio, ratio, "Rate after it over the rate before it; bootstrap.")
                }),
            ];
            let of = load(workload, workload.rw.as_str());
            let told = |figure: Estimate| {
                figure.of(of.clone()).at(workload.bs, workload.in_flight()).from_phases(named.clone())
            };
            return figures.into_iter().flatten().map(told).collect();
        }
        before += f64_of(facts.writes.bytes.0);
    }
    Vec::new()
}

/// First point of the lower level, if the rate falls from one to another.
fn fall(points: &[Point]) -> Option<usize> {
    let logs: Vec<f64> = points.iter().map(|point| mean_rate(&[*point]).max(1e-9).ln()).collect();
    // Sums up to each point, so that a week of seconds is one pass.
    let mut sums = vec![(0.0, 0.0)];
    let (mut sum, mut squares) = (0.0, 0.0);
    for log in &logs {
        sum += log;
        squares += log * log;
        sums.push((sum, squares));
    }
    let level = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        let mean = sum / f64_of_len(to - from);
        (mean, (squares - sum * mean).max(0.0))
    };
    let count = logs.len();
    let left_over = |split: &usize| level(0, *split).1 + level(*split, count).1;
    let range = FEWEST..count.checked_sub(FEWEST)?;
    let split = range.min_by(|a, b| left_over(a).total_cmp(&left_over(b)))?;
    let ((high, above), (low, below)) = (level(0, split), level(split, count));
    let (left, right) = (f64_of_len(split), f64_of_len(logs.len() - split));
    let error = ((above + below) / (left + right - 2.0) * (1.0 / left + 1.0 / right)).sqrt();
    (high - low > STANDARD_ERRORS * error && low - high < LEAST_FALL.ln()).then_some(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_by_a_third_is_found_and_unrest_is_not() {
        let level = |rate: u64, seconds: u64| (0..seconds).map(move |s| Point { ios: rate + s % 9, seconds: 1.0 });
        let cells: Vec<_> = level(534, 54).chain(level(370, 100)).collect();
        assert_eq!(fall(&cells), Some(54));
        let unrest: Vec<_> = (0..150_u64).map(|s| Point { ios: 300 + (s * 7_919) % 100, seconds: 1.0 }).collect();
        assert_eq!(fall(&unrest), None);
        assert_eq!(fall(&cells[..5]), None);
    }
}
