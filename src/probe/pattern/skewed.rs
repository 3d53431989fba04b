//! Random blocks of which some come up more often.

use rand::{Rng, RngExt};

use crate::model::approx::{f64_of, u64_of};
use crate::model::workload::{Distribution, Pareto, Zipf};

/// fio's 64-bit hash multiplier: 2^64 divided by the golden ratio, as in the Linux kernel.
const GOLDEN_RATIO_64: u64 = 0x61c8_8646_80b5_83eb;
/// A draw of a normal distribution that falls outside is drawn again so often; then it is clipped.
const REDRAWS: u32 = 16;

/// Draws block numbers of `0..blocks`.
#[derive(Debug, Clone)]
pub struct Skewed {
    blocks: u64,
    /// Where fio's hash puts the hottest block.
    offset: u64,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Zipf(Zipf),
    Pareto(Pareto),
    Normal {
        deviation: f64,
    },
    /// `(percent of accesses up to here, first block, blocks)`, the first column rising.
    Zoned(Vec<(f64, u64, u64)>),
}

impl Skewed {
    /// `None` for a uniform distribution. The generator decides where the hot blocks lie.
    #[must_use]
    pub fn new(distribution: &Distribution, blocks: u64, rng: &mut impl Rng) -> Option<Self> {
        let blocks = blocks.max(1);
        let kind = match distribution {
            Distribution::Random => return None,
            Distribution::Zipf(theta) => Kind::Zipf(Zipf::new(blocks, *theta)),
            Distribution::Pareto(h) => Kind::Pareto(Pareto::new(blocks, *h)),
            Distribution::Normal(percent) => Kind::Normal { deviation: f64_of(blocks) * percent / 100.0 },
            Distribution::Zoned(zones) => {
                let (mut accesses, mut size) = (0.0, 0.0);
                let mut parts = Vec::with_capacity(zones.len());
                for zone in zones {
                    let first = u64_of(f64_of(blocks) * size / 100.0).min(blocks - 1);
                    accesses += zone.accesses;
                    size += zone.size;
                    let end = u64_of(f64_of(blocks) * size / 100.0).clamp(first + 1, blocks);
                    parts.push((accesses, first, end - first));
                }
                Kind::Zoned(parts)
            }
        };
        Some(Self { blocks, offset: rng.next_u64() % blocks, kind })
    }

    /// The next block.
    pub fn next_block(&self, rng: &mut impl Rng) -> u64 {
        match &self.kind {
            Kind::Zipf(zipf) => self.scattered(zipf.rank(rng.random())),
            Kind::Pareto(pareto) => self.scattered(pareto.rank(rng.random())),
            Kind::Normal { deviation } => {
                let middle = f64_of(self.blocks) / 2.0;
                for _ in 0..REDRAWS {
                    let at = (middle + deviation * normal(rng)).floor();
                    if at >= 0.0 && at < f64_of(self.blocks) {
                        return u64_of(at).min(self.blocks - 1);
                    }
                }
                self.blocks / 2
            }
            Kind::Zoned(parts) => {
                let percent = rng.random::<f64>() * 100.0;
                let part = parts.iter().find(|(up_to, ..)| percent < *up_to).or_else(|| parts.last());
                part.map_or(0, |(_, first, blocks)| first + rng.random_range(0..*blocks))
            }
        }
    }

    /// As fio scatters its ranks: by a hash, so that a few of them share a block and a few blocks stay cold.
    fn scattered(&self, rank: u64) -> u64 {
        rank.wrapping_mul(GOLDEN_RATIO_64).wrapping_add(self.offset) % self.blocks
    }
}

/// A standard normal draw (Box and Muller 1958), whose stream no library's version can change.
fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn draws(distribution: &str, blocks: u64, count: usize) -> Vec<u64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let skewed = Skewed::new(&distribution.parse().unwrap(), blocks, &mut rng).unwrap();
        (0..count).map(|_| skewed.next_block(&mut rng)).collect()
    }

    #[test]
    fn hot_blocks_lie_scattered_over_the_whole_region() {
        for distribution in ["zipf:1.1", "pareto:0.2"] {
            let blocks = 1 << 40;
            let mut tenths = [0_u32; 10];
            for block in draws(distribution, blocks, 20_000) {
                tenths[usize::try_from(block / blocks.div_ceil(10)).unwrap()] += 1;
            }
            assert!(tenths.iter().all(|count| *count > 200), "{distribution}: {tenths:?}");
        }
    }

    #[test]
    fn a_normal_distribution_crowds_around_the_middle() {
        let within = draws("normal:10", 1 << 33, 10_000);
        let middle = |block: &&u64| block.abs_diff(1 << 32) < (1 << 33) / 10;
        let share = within.iter().filter(middle).count();
        assert!((6_600..7_050).contains(&share), "{share} of 10 000 within one deviation, 6 827 expected");
        assert!(draws("normal:100", 3, 1_000).iter().all(|block| *block < 3));
    }

    #[test]
    fn zones_get_their_share_of_the_accesses() {
        let found = draws("zoned:50/5:30/15:20/", 1_000_000, 20_000);
        let share = |range: std::ops::Range<u64>| found.iter().filter(|block| range.contains(block)).count();
        for (range, expected) in [(0..50_000, 10_000), (50_000..200_000, 6_000), (200_000..1_000_000, 4_000)] {
            let got = share(range);
            assert!(got.abs_diff(expected) < 300, "{got} against {expected}");
        }
        // More zones than blocks must not reach outside.
        assert!(draws("zoned:40/1:30/1:30/98", 2, 1_000).iter().all(|block| *block < 2));
    }
}
