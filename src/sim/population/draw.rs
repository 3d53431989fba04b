//! Draws from ranges, for one specimen.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The chance of one specimen.
#[derive(Debug)]
pub struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// Of the specimen `index` of the population `seed`. Neighbours have nothing in common.
    pub fn of(index: u64, seed: u64) -> Self {
        let population: u64 = SplitMix64::seed_from_u64(seed).random();
        let specimen: u64 = SplitMix64::seed_from_u64(population ^ index).random();
        Self(Xoshiro256PlusPlus::seed_from_u64(specimen))
    }

    /// `0.0..1.0`.
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Uniform between two values.
    pub fn between(&mut self, (least, most): (f64, f64)) -> f64 {
        least + (most - least) * self.uniform()
    }

    /// Between two values, each factor of two as likely as the next one: for what spans orders of magnitude.
    pub fn log(&mut self, (least, most): (f64, f64)) -> f64 {
        self.between((least.ln(), most.ln())).exp()
    }

    /// One of some values.
    pub fn one_of(&mut self, values: &[f64]) -> f64 {
        let nth = self.0.random_range(0..values.len().max(1));
        values.get(nth).copied().unwrap_or(0.0)
    }
}
