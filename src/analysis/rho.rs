//! ρ: how fast a drive writes in the end, against how fast its own head can move.
//!
//! `ρ = writes per second, settled or after a cliff / random reads per second` at the same block size and queue depth.
//! It needs no constant of any vendor. From the published measurements: conventional disks 1 (HUS726040ALE614, cache on and
//! synced) to 7.4 (WD140EMFZ); drive-managed ones 0.02 (Toshiba Canvio, ST8000AS0002, csurbhi's 4 KiB and zipf loads) to 0.08
//! (csurbhi, 1 MiB uniform). One order of magnitude lies between the classes.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::approx::{f64_of, f64_of_len, u64_of, usize_of};
use crate::model::interval::Sample;

/// At or below this a drive is slower than its head: shingled.
pub const SHINGLED_AT_MOST: f64 = 0.3;
/// At or above this it is as fast as its head, or faster: nothing has to be rewritten.
pub const CONVENTIONAL_AT_LEAST: f64 = 0.8;

/// Resamples of a bootstrap: the 2.5 % tails then rest on 12 of them.
pub(super) const RESAMPLES: usize = 500;
/// Blocks of a bootstrap: not fewer (if there are so many samples), not more.
const BLOCKS: (usize, usize) = (10, 60);
/// Seconds of one block where there is time enough: longer than the longest stall that is common.
const BLOCK_S: f64 = 60.0;
/// Fewer blocks than this say nothing about spread.
pub(super) const FEWEST_BLOCKS: usize = 3;

/// I/Os of one sample and the seconds they took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Completions.
    pub ios: u64,
    /// Length, seconds.
    pub seconds: f64,
}

impl Point {
    /// Writes of a sample.
    #[must_use]
    pub fn writes(sample: &Sample) -> Self {
        Self { ios: sample.write.ios, seconds: sample.duration.as_secs_f64() }
    }

    /// Reads of a sample.
    #[must_use]
    pub fn reads(sample: &Sample) -> Self {
        Self { ios: sample.read.ios, seconds: sample.duration.as_secs_f64() }
    }
}

/// All I/Os over all time: the only mean that a drive of two speeds does not falsify.
#[must_use]
pub fn mean_rate(points: &[Point]) -> f64 {
    let seconds: f64 = points.iter().map(|point| point.seconds).sum();
    let ios: u64 = points.iter().map(|point| point.ios).sum();
    if seconds > 0.0 { f64_of(ios) / seconds } else { 0.0 }
}

/// ρ with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rho {
    /// The ratio.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Share of resamples at or below [`SHINGLED_AT_MOST`].
    pub share_shingled: f64,
    /// Share of resamples at or above [`CONVENTIONAL_AT_LEAST`].
    pub share_conventional: f64,
}

/// ρ of `writes` against `floor`, whose rate is first multiplied by `scale` (1 where it was measured at the same block
/// size and depth). Bootstrap over blocks of equal time; `None` when there are too few blocks or the floor is nil.
#[must_use]
pub fn rho(writes: &[Point], floor: &[Point], scale: f64, seed: u64) -> Option<Rho> {
    let value = mean_rate(writes) / (mean_rate(floor) * scale);
    let (writes, floor) = (blocks(writes), blocks(floor));
    if writes.len() < FEWEST_BLOCKS || floor.len() < FEWEST_BLOCKS || !value.is_finite() {
        return None;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| resampled(&writes, &mut random) / (resampled(&floor, &mut random) * scale))
        .filter(|ratio| ratio.is_finite())
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let count = f64_of_len(ratios.len());
    let at = |share: f64| ratios.get(usize_of(share * (count - 1.0))).copied();
    let share = |test: fn(f64) -> bool| f64_of_len(ratios.iter().filter(|ratio| test(**ratio)).count()) / count;
    Some(Rho {
        value,
        low: at(0.025)?,
        high: at(0.975)?,
        share_shingled: share(|ratio| ratio <= SHINGLED_AT_MOST),
        share_conventional: share(|ratio| ratio >= CONVENTIONAL_AT_LEAST),
    })
}

/// The rate of as many blocks as there are, drawn with replacement.
pub(super) fn resampled(blocks: &[Point], random: &mut Xoshiro256PlusPlus) -> f64 {
    let drawn: Vec<Point> = (0..blocks.len()).map(|_| blocks[random.random_range(0..blocks.len())]).collect();
    mean_rate(&drawn)
}

/// Neighbouring samples joined to blocks of about equal time.
pub(super) fn blocks(points: &[Point]) -> Vec<Point> {
    let total: f64 = points.iter().map(|point| point.seconds).sum();
    let wanted = usize::try_from(u64_of(total / BLOCK_S)).unwrap_or(usize::MAX).clamp(BLOCKS.0, BLOCKS.1);
    let length = total / f64_of_len(wanted);
    let mut blocks = Vec::with_capacity(wanted + 1);
    let mut block = Point { ios: 0, seconds: 0.0 };
    for point in points {
        block.ios += point.ios;
        block.seconds += point.seconds;
        if block.seconds >= length * 0.999 {
            blocks.push(std::mem::replace(&mut block, Point { ios: 0, seconds: 0.0 }));
        }
    }
    // A short rest would weigh as much as a whole block.
    if block.seconds >= length * 0.5 {
        blocks.push(block);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(rate: u64, seconds: usize) -> Vec<Point> {
        (0..seconds).map(|second| Point { ios: rate + u64::from(second % 3 == 0), seconds: 1.0 }).collect()
    }

    #[test]
    fn a_conventional_disk_lies_far_above_one_and_surely() {
        // WD140EMFZ 490 writes, sibling 66 reads: 7.4.
        let rho = rho(&steady(490, 600), &steady(66, 30), 1.0, 1).unwrap();
        assert!((rho.value - 7.4).abs() < 0.1 && rho.low > 7.0 && rho.high < 8.0, "{rho:?}");
        assert_eq!((rho.share_conventional, rho.share_shingled), (1.0, 0.0));
    }

    #[test]
    fn a_mean_is_taken_over_time_and_not_over_rates() {
        // Two speeds, as ST8000AS0002 after its cliff: a mean of rates would say 24, time says less than 1.
        let mut points = vec![Point { ios: 48, seconds: 1.0 }];
        points.push(Point { ios: 7, seconds: 59.0 });
        assert!(mean_rate(&points) < 1.0);
    }

    #[test]
    fn the_interval_is_wide_when_the_drive_stutters() {
        let stutter: Vec<_> = (0..60).map(|s| Point { ios: if s % 20 == 0 { 900 } else { 1 }, seconds: 1.0 }).collect();
        let wide = rho(&stutter, &steady(66, 30), 1.0, 1).unwrap();
        let narrow = rho(&steady(46, 60), &steady(66, 30), 1.0, 1).unwrap();
        assert!(wide.high - wide.low > 3.0 * (narrow.high - narrow.low), "{wide:?} {narrow:?}");
    }

    #[test]
    fn nothing_is_said_from_too_little() {
        assert_eq!(rho(&steady(10, 2), &steady(66, 30), 1.0, 1), None);
        assert_eq!(rho(&steady(10, 60), &[], 1.0, 1), None);
        assert_eq!(rho(&steady(10, 60), &steady(0, 1), 1.0, 1), None);
    }
}
