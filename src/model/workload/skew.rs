//! The mathematics of skewed access: which rank of hotness a uniform number falls on. Rank 0 is the hottest.

use crate::model::approx::{f64_of, u64_of};

/// Terms of a zeta sum that are added one by one; the rest is integrated.
const SUMMED: u64 = 10_000;

/// fio's zipf: the approximation of Gray et al. ("Quickly generating billion-record synthetic databases", 1994).
///
/// It takes constant memory and one power per draw. The exact distribution (as in `rand_distr`) differs by
/// half a percent in the share of the hottest tenth, and fio's published tables are of this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zipf {
    blocks: u64,
    theta: f64,
    zeta: f64,
    eta: f64,
}

impl Zipf {
    /// Over `blocks` ranks; `theta` is above 0 and not 1.
    #[must_use]
    pub fn new(blocks: u64, theta: f64) -> Self {
        let blocks = blocks.max(1);
        let zeta = zeta(blocks, theta);
        let first_two = 1.0 + 0.5_f64.powf(theta);
        let eta = (1.0 - (2.0 / f64_of(blocks)).powf(1.0 - theta)) / (1.0 - first_two / zeta);
        Self { blocks, theta, zeta, eta }
    }

    /// The rank for a uniform number of 0 to 1.
    #[must_use]
    pub fn rank(&self, uniform: f64) -> u64 {
        let at = uniform * self.zeta;
        let rank = if at < 1.0 {
            0
        } else if at < 1.0 + 0.5_f64.powf(self.theta) {
            1
        } else {
            let base = self.eta * uniform - self.eta + 1.0;
            u64_of((f64_of(self.blocks) * base.powf(1.0 / (1.0 - self.theta))).floor())
        };
        rank.min(self.blocks - 1)
    }

    /// Share of all accesses, 0 to 1, that the hottest `share` of the blocks take.
    #[must_use]
    pub fn hits_of_hottest(&self, share: f64) -> f64 {
        let hottest = u64_of(f64_of(self.blocks) * share.clamp(0.0, 1.0));
        if hottest == 0 { 0.0 } else { zeta(hottest, self.theta) / self.zeta }
    }
}

/// `Σ k^-theta` for k of 1 to `n`, in bounded time: the tail by the Euler–Maclaurin formula.
fn zeta(n: u64, theta: f64) -> f64 {
    let summed: f64 = (1..=n.min(SUMMED)).map(|k| f64_of(k).powf(-theta)).sum();
    if n <= SUMMED {
        return summed;
    }
    let (a, b) = (f64_of(SUMMED), f64_of(n));
    let integral = (b.powf(1.0 - theta) - a.powf(1.0 - theta)) / (1.0 - theta);
    summed + integral + (b.powf(-theta) - a.powf(-theta)) / 2.0
}

/// fio's pareto: with h = 0.2, a fifth of the blocks takes four fifths of the accesses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pareto {
    blocks: u64,
    power: f64,
}

impl Pareto {
    /// Over `blocks` ranks; `h` is between 0 and 1.
    #[must_use]
    pub fn new(blocks: u64, h: f64) -> Self {
        Self { blocks: blocks.max(1), power: h.ln() / (1.0 - h).ln() }
    }

    /// The rank for a uniform number of 0 to 1.
    #[must_use]
    pub fn rank(&self, uniform: f64) -> u64 {
        u64_of((f64_of(self.blocks) * uniform.powf(self.power)).floor()).min(self.blocks - 1)
    }

    /// Share of all accesses, 0 to 1, that the hottest `share` of the blocks take.
    #[must_use]
    pub fn hits_of_hottest(&self, share: f64) -> f64 {
        share.clamp(0.0, 1.0).powf(1.0 / self.power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zeta_sum_is_the_sum() {
        for theta in [0.5, 1.1, 2.0] {
            let added: f64 = (1..=1_000_000_u64).map(|k| f64_of(k).powf(-theta)).sum();
            assert!((zeta(1_000_000, theta) / added - 1.0).abs() < 1e-9, "{theta}");
        }
    }

    #[test]
    fn ranks_stay_inside_however_many_blocks_there_are() {
        for blocks in [1, 2, 3, 1_000, 1 << 40] {
            for uniform in [0.0, 0.1, 0.5, 0.999_999_999, 1.0] {
                for theta in [0.2, 0.99, 1.1, 3.0] {
                    assert!(Zipf::new(blocks, theta).rank(uniform) < blocks, "{blocks} {theta} {uniform}");
                }
                assert!(Pareto::new(blocks, 0.2).rank(uniform) < blocks);
            }
        }
    }

    #[test]
    fn pareto_of_a_fifth_is_the_eighty_twenty_rule() {
        assert!((Pareto::new(1 << 20, 0.2).hits_of_hottest(0.2) - 0.8).abs() < 1e-9);
    }

    #[test]
    fn the_shares_told_are_those_that_are_drawn() {
        let (zipf, pareto) = (Zipf::new(1 << 32, 1.1), Pareto::new(1 << 32, 0.2));
        let hottest = (1_u64 << 32) / 10;
        let draws = 100_000;
        let share = |rank: &dyn Fn(f64) -> u64| {
            let hits = (0..draws).filter(|n| rank((f64_of(*n) + 0.5) / f64_of(draws)) < hottest).count();
            f64_of(u64::try_from(hits).unwrap()) / f64_of(draws)
        };
        assert!((share(&|u| zipf.rank(u)) - zipf.hits_of_hottest(0.1)).abs() < 0.01);
        assert!((share(&|u| pareto.rank(u)) - pareto.hits_of_hottest(0.1)).abs() < 0.01);
    }
}
