//! The seeded chance of one simulated drive.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One I/O in so many meets a recalibration (100–370 ms). Chosen so that ten hours at 490 IOPS show a
/// few; the longest of 17.6 million writes to a WD140EMFZ took 371.5 ms (fio list 2020, "testing for SMR").
const RECALIBRATION_ONE_IN: u32 = 100_000;

/// A drive's own generator. The same seed gives the same draws on every platform.
#[derive(Debug, Clone)]
pub struct Noise(Xoshiro256PlusPlus);

impl Noise {
    /// From a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in `0.0..1.0`.
    pub fn uniform(&mut self) -> f64 {
        self.0.random::<f64>()
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// A log-normal factor with mean 1 and standard deviation `sd` of its logarithm. Drives in one
    /// state were seen with 0.05 (WD140EMFZ) to 0.12 (ST8000AS0022 after its cliff).
    pub fn factor(&mut self, sd: f64) -> f64 {
        // Twelve uniforms less six are normal enough here; four, scaled by √3, too, and cheaper.
        let normal = (0..4).map(|_| self.uniform()).sum::<f64>() - 2.0;
        (sd * normal * 3.0_f64.sqrt() - sd * sd / 2.0).exp()
    }

    /// Extra milliseconds of a rare recalibration; almost always 0.
    pub fn recalibration_ms(&mut self) -> f64 {
        if self.0.random_range(0..RECALIBRATION_ONE_IN) == 0 { 100.0 + 270.0 * self.uniform() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_noise_does_not_shift_the_mean() {
        let mut noise = Noise::new(7);
        let mean = (0..100_000).map(|_| noise.factor(0.12)).sum::<f64>() / 100_000.0;
        assert!((mean - 1.0).abs() < 0.002, "{mean}");
    }
}
