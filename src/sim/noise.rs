//! The seeded chance of one simulated drive.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What makes a mechanism take much longer now and then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hiccups {
    /// How many of all movements meet one, 0 to 1.
    pub share: f64,
    /// The shortest, ms.
    pub least_ms: f64,
    /// The longest, ms.
    pub most_ms: f64,
}

impl Hiccups {
    /// A healthy disk's recalibrations. One in 100 000, so that ten hours at 490 IOPS show a few; the longest of 17.6 million
    /// writes to a WD140EMFZ took 371.5 ms (fio list 2020, "testing for SMR").
    pub const RECALIBRATION: Self = Self { share: 1e-5, least_ms: 100.0, most_ms: 370.0 };
    /// Sectors that are read again and again and then put elsewhere, of a disk that fails (syn).
    pub const REALLOCATION: Self = Self { share: 0.01, least_ms: 500.0, most_ms: 2_000.0 };
    /// A disk that stands still for a tenth of a second, for no reason that the host knows: one movement in 200 (syn).
    pub const STALLS: Self = Self { share: 0.005, least_ms: 100.0, most_ms: 100.0 };
}

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

    /// Extra milliseconds of a hiccup; almost always 0.
    pub fn hiccup_ms(&mut self, of: Hiccups) -> f64 {
        if self.chance(of.share) { of.least_ms + (of.most_ms - of.least_ms) * self.uniform() } else { 0.0 }
    }

    /// Uniform in `0..below`; 0 if that is empty.
    pub fn index(&mut self, below: usize) -> usize {
        if below == 0 { 0 } else { self.0.random_range(0..below) }
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
