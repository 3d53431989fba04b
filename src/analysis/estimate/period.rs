//! Long writes that come regularly: a drive that writes down its map every so many (ST8000AS0002: each 240th write takes 0.8 to
//! 1.0 s, digitised from aicodix/smr).
//!
//! From the longest write of each interval: its autocorrelation has a peak at the period. Told only where that peak stands out of
//! chance (4 standard errors, `1/√n`, for many lags are looked at) and its second multiple does too.

use super::resample::Z95;
use super::{Input, load};
use crate::model::approx::{f64_of, f64_of_len};
use crate::model::estimate::{Estimate, Quantity};

/// Standard errors above chance.
const STANDS_OUT: f64 = 4.0;
/// A correlation below this is no signature, however long the series.
const LEAST: f64 = 0.2;
/// A period below so many intervals cannot be seen.
const SHORTEST: usize = 3;
/// Periods are counted over so many of them at most, to place the peak finely.
const MULTIPLES: usize = 4;
/// The longest series that is looked at: an hour of seconds shows any period that counts.
const LONGEST: usize = 3_600;

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let mut list = Vec::new();
    for (index, facts, workload) in input.phases().filter(|(_, facts, _)| facts.is_watched()) {
        let fell = input.measured.found().filter(|found| found.phase == index).map(|found| found.cliff.t);
        let before = input.samples(index).filter(|sample| fell.is_none_or(|t| sample.t < t)).take(LONGEST);
        let samples: Vec<_> = before.filter(|sample| sample.write.ios > 0).collect();
        let longest: Vec<f64> = samples.iter().map(|sample| f64_of(sample.write.max.0).max(1.0).ln()).collect();
        let Some((lag, error)) = period(&longest) else { continue };
        let count = f64_of_len(samples.len());
        let seconds = samples.iter().map(|sample| sample.duration.as_secs_f64()).sum::<f64>() / count;
        let ios = samples.iter().map(|sample| f64_of(sample.write.ios)).sum::<f64>() / count;
        let at = |each: f64| (lag * each, (lag - error) * each, (lag + error) * each);
        let how = "Peak of the autocorrelation of each interval's longest write, before any collapse.";
        let of = load(workload, "random writes");
        let figures = [
            Estimate::new(Quantity::CheckpointIos, at(ios), how),
            Estimate::new(Quantity::CheckpointS, at(seconds), how),
        ];
        let told = |figure: Estimate| {
            figure.of(of.clone()).at(workload.bs, workload.in_flight()).from_phases([facts.phase.name.clone()])
        };
        list.extend(figures.into_iter().flatten().map(told));
    }
    list
}

/// The period of `series` in its own steps, and half of its 95 % interval.
fn period(series: &[f64]) -> Option<(f64, f64)> {
    let count = f64_of_len(series.len());
    let mean = series.iter().sum::<f64>() / count.max(1.0);
    let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let power: f64 = centred.iter().map(|value| value * value).sum();
    let chance = (STANDS_OUT / count.sqrt()).max(LEAST);
    let correlation =
        |lag: usize| centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>() / power.max(1e-12);
    // Four periods at least must fit, or it is no period.
    let lags: Vec<f64> = (0..series.len() / 4 + 1).map(correlation).collect();
    let peaks = (SHORTEST..lags.len().saturating_sub(1))
        .filter(|lag| lags[*lag] > chance && lags[*lag] >= lags[lag - 1] && lags[*lag] >= lags[lag + 1]);
    // The first that stands out nearly as far as the highest: its multiples do too.
    let peaks: Vec<usize> = peaks.collect();
    let highest = peaks.iter().map(|lag| lags[*lag]).fold(0.0, f64::max);
    let first = peaks.into_iter().find(|lag| lags[*lag] >= 0.7 * highest)?;
    let near = |expected: f64, reach: usize| {
        let middle = crate::model::approx::usize_of(expected);
        let range = middle.saturating_sub(reach).max(1)..(middle + reach + 1).min(lags.len());
        range.max_by(|a, b| lags[*a].total_cmp(&lags[*b]))
    };
    // Each multiple places the period more finely.
    let mut lag = f64_of_len(first);
    let mut seen = 1;
    for multiple in 2..=MULTIPLES {
        let Some(at) = near(lag * f64_of_len(multiple), 1 + multiple / 2).filter(|at| lags[*at] > chance) else {
            break;
        };
        lag = f64_of_len(at) / f64_of_len(multiple);
        seen = multiple;
    }
    // A peak lies within half a step of the truth: uniform, so a standard error of 1/√12 of a step, over the multiple.
    (seen >= 2).then(|| (lag, Z95 / 12_f64.sqrt() / f64_of_len(seen)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_each_five_seconds_is_found_and_noise_has_none() {
        // 240 writes at 47 a second.
        let noise = |nth: usize| f64_of_len((nth * 7_919) % 101) / 101.0;
        let series: Vec<f64> = (0..300_usize)
            .map(|second| {
                let long = (f64_of_len(second) / 5.1).fract() < 1.0 / 5.1;
                if long { 20.6 + 0.1 * noise(second) } else { 17.0 + noise(second) }
            })
            .collect();
        let (lag, error) = period(&series).unwrap();
        assert!((lag - 5.1).abs() <= error.max(0.15), "{lag} ± {error}");
        let random: Vec<f64> = (0..300_u64)
            .map(|nth| {
                let mixed = (nth + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                f64_of((mixed ^ (mixed >> 29)) % 1_000)
            })
            .collect();
        assert_eq!(period(&random), None);
        assert_eq!(period(&[]), None);
    }
}
