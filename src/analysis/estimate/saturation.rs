//! How big a block must be: `BW(bs) = R·bs / (bs + s0)`, half of R at s0 and nine tenths at 9·s0 (science §4).
//!
//! Least squares of ln(rate), so that a small block counts as much as a large one. For a given s0 the best R has a closed form; s0 is
//! found by halving an interval of its logarithm in the golden section. Refits with the residuals give the interval.

use super::{Input, resample};
use crate::model::approx::{f64_of, f64_of_len};
use crate::model::estimate::{Estimate, Quantity};
use crate::model::profile::Profile;

/// Fewer sizes do not tell a curve from a line.
const FEWEST: usize = 4;
/// s0 is looked for from 512 bytes to 4 GiB.
const S0: (f64, f64) = (512.0, 4_294_967_296.0);
/// Steps of the golden section: 0.618^48 of the logarithm's range is below any measurement.
const STEPS: usize = 48;

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    if input.plan.profile != Profile::BlockSizeSweep {
        return Vec::new();
    }
    let mut points = Vec::new();
    let mut phases = Vec::new();
    let mut of = None;
    for (_, facts, workload) in input.phases() {
        let bytes = facts.reads.bytes.0 + facts.writes.bytes.0;
        if bytes > 0 {
            points.push((f64_of(workload.bs.0), f64_of(bytes) / facts.seconds));
            phases.push(facts.phase.name.clone());
            of.get_or_insert_with(|| (workload.rw.as_str(), workload.in_flight()));
        }
    }
    let (Some((rw, depth)), Some(curve)) = (of, Curve::fit(&points)) else { return Vec::new() };
    let residuals: Vec<f64> = points.iter().map(|(bs, rate)| (rate / curve.at(*bs)).ln()).collect();
    let ends = resample::refits(&residuals, input.plan.randseed, |factors| {
        let drawn: Vec<_> = points.iter().zip(factors).map(|((bs, _), factor)| (*bs, curve.at(*bs) * factor)).collect();
        Curve::fit(&drawn).map(|curve| [curve.rate, curve.half])
    });
    let Some([rate, half]) = ends else { return Vec::new() };
    let how =
        format!("R·bs/(bs + s0) fitted to {} block sizes, in logarithms; refits with what is left over.", points.len());
    let of = if depth == 1 { format!("{rw}, one at a time") } else { format!("{rw}, {depth} at a time") };
    let half = (curve.half, half.0, half.1);
    [
        Estimate::new(Quantity::SaturationBytesPerS, (curve.rate, rate.0, rate.1), how.clone()),
        Estimate::new(Quantity::HalfRateBytes, half, how.clone()),
        Estimate::new(Quantity::NinetyPercentBytes, resample::scaled(half, 9.0), how),
    ]
    .into_iter()
    .flatten()
    .map(|figure| figure.of(of.clone()).from_phases(phases.clone()))
    .collect()
}

/// A saturating rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// `R`, bytes per second.
    pub rate: f64,
    /// `s0`, bytes.
    pub half: f64,
}

impl Curve {
    /// The rate of blocks of `bs` bytes.
    #[must_use]
    pub fn at(&self, bs: f64) -> f64 {
        self.rate * bs / (bs + self.half)
    }

    /// The best through `(bytes of a block, bytes per second)`.
    #[must_use]
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < FEWEST || points.iter().any(|(bs, rate)| *bs <= 0.0 || *rate <= 0.0) {
            return None;
        }
        let best = |ln_half: f64| {
            let half = ln_half.exp();
            let logs: Vec<f64> = points.iter().map(|(bs, rate)| (rate * (bs + half) / bs).ln()).collect();
            let mean = logs.iter().sum::<f64>() / f64_of_len(logs.len());
            (logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>(), mean.exp())
        };
        let (mut low, mut high) = (S0.0.ln(), S0.1.ln());
        let golden = (5_f64.sqrt() - 1.0) / 2.0;
        for _ in 0..STEPS {
            let width = golden * (high - low);
            if best(high - width).0 < best(low + width).0 { high = low + width } else { low = high - width }
        }
        let middle = f64::midpoint(low, high);
        Some(Self { rate: best(middle).1, half: middle.exp() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sweep_of_2006_saturates_as_was_fitted() {
        // MB/s of one write at a time to a raw disk (ZFS discussion, 2006); R 51 MB/s and s0 0.25 MiB were fitted without logarithms.
        let kib = |kib: f64| kib * 1024.0;
        let table = [
            (16.0, 2.0),
            (32.0, 4.0),
            (64.0, 8.0),
            (128.0, 15.0),
            (256.0, 25.0),
            (512.0, 36.0),
            (1024.0, 46.0),
            (2048.0, 46.4),
            (4096.0, 46.8),
            (8192.0, 47.0),
        ];
        let points: Vec<_> = table.iter().map(|(size, rate)| (kib(*size), rate * 1e6)).collect();
        let curve = Curve::fit(&points).unwrap();
        println!("{curve:?}");
        assert!((curve.rate / 51e6 - 1.0).abs() < 0.1, "{curve:?}");
        assert!((curve.half / kib(256.0) - 1.0).abs() < 0.5, "{curve:?}");
    }

    #[test]
    fn an_exact_curve_is_found_exactly() {
        let truth = Curve { rate: 180e6, half: 1.2e6 };
        let points: Vec<_> = (12..30).map(|power| (2_f64.powi(power), truth.at(2_f64.powi(power)))).collect();
        let found = Curve::fit(&points).unwrap();
        assert!(
            (found.rate / truth.rate - 1.0).abs() < 1e-4 && (found.half / truth.half - 1.0).abs() < 1e-3,
            "{found:?}"
        );
        assert_eq!(Curve::fit(&points[..3]), None);
    }
}
