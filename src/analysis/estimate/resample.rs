//! Intervals by resampling: no assumption about how a drive's times are spread (science: two speeds, long tails).

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::rho::{FEWEST_BLOCKS, Point, RESAMPLES, blocks, mean_rate, resampled};
use crate::model::approx::{f64_of_len, usize_of};

/// A value and its 95 % interval.
pub type Ranged = (f64, f64, f64);

/// A normal distribution's 97.5 % point: what both tails of a 95 % interval leave out.
pub const Z95: f64 = 1.96;

/// The 2.5 % and 97.5 % points of resampled values; `None` when there are none.
pub fn tails(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    let last = f64_of_len(values.len().checked_sub(1)?);
    Some((*values.get(usize_of(0.025 * last))?, *values.get(usize_of(0.975 * last))?))
}

/// The rate of `points` with a bootstrap over blocks of time; with too few blocks the interval is that of the single
/// samples, and of one sample it is the value itself.
pub fn rate(points: &[Point], seed: u64) -> Option<Ranged> {
    let value = mean_rate(points);
    if points.is_empty() || value <= 0.0 {
        return None;
    }
    let blocks = blocks(points);
    if blocks.len() < FEWEST_BLOCKS {
        let each = points.iter().filter(|point| point.seconds > 0.0).map(|point| mean_rate(&[*point]));
        let (low, high) = each.fold((value, value), |(low, high), rate| (low.min(rate), high.max(rate)));
        return Some((value, low, high));
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (low, high) = tails((0..RESAMPLES).map(|_| resampled(&blocks, &mut random)).collect())?;
    Some((value, low, high))
}

/// The rate of `points` over that of `against`, both resampled.
pub fn ratio(points: &[Point], against: &[Point], seed: u64) -> Option<Ranged> {
    let value = mean_rate(points) / mean_rate(against);
    let (points, against) = (blocks(points), blocks(against));
    if points.len() < FEWEST_BLOCKS || against.len() < FEWEST_BLOCKS || !value.is_finite() {
        return None;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn = (0..RESAMPLES).map(|_| resampled(&points, &mut random) / resampled(&against, &mut random)).collect();
    let (low, high) = tails(drawn)?;
    Some((value, low, high))
}

/// Refits with what `fit` left over, drawn anew at each point: `residuals` are ln(measured / fitted) in the order of the
/// points, `fit` makes figures of factors on the points. The tails of each figure.
pub fn refits<const N: usize>(
    residuals: &[f64],
    seed: u64,
    fit: impl Fn(&[f64]) -> Option<[f64; N]>,
) -> Option<[(f64, f64); N]> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); N];
    for _ in 0..RESAMPLES {
        let factors: Vec<f64> =
            residuals.iter().map(|_| residuals[random.random_range(0..residuals.len())].exp()).collect();
        let Some(figures) = fit(&factors) else { continue };
        for (values, figure) in drawn.iter_mut().zip(figures) {
            values.push(figure);
        }
    }
    let ends: Option<Vec<(f64, f64)>> = drawn.into_iter().map(tails).collect();
    ends?.try_into().ok()
}

/// The value scaled, and its interval with it.
pub fn scaled((value, low, high): Ranged, factor: f64) -> Ranged {
    (value * factor, low * factor, high * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_narrow_and_a_stuttering_one_wide() {
        let steady: Vec<_> = (0..600).map(|s| Point { ios: 490 + s % 7, seconds: 1.0 }).collect();
        let stutter: Vec<_> =
            (0..600).map(|s| Point { ios: if s % 97 == 0 { 9_000 } else { 1 }, seconds: 1.0 }).collect();
        let (value, low, high) = rate(&steady, 1).unwrap();
        assert!(low <= value && value <= high && high / low < 1.01);
        let (value, low, high) = rate(&stutter, 1).unwrap();
        assert!(low < value && value < high && high / low > 1.5);
        let (value, low, high) = rate(&steady[..1], 1).unwrap();
        assert_eq!((value, low, high), (490.0, 490.0, 490.0));
        assert_eq!(rate(&[], 1), None);
    }
}
