//! Somebody else who uses the same drive.

use super::noise::Noise;
use crate::model::Nanos;
use crate::model::approx::{f64_of, u64_of};

/// What they ask for: random reads all over the drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompetitorParams {
    /// Reads per second, on average.
    pub reads_per_s: f64,
    /// Bytes of each.
    pub len: u64,
}

/// Them, at work.
#[derive(Debug, Clone)]
pub struct Competitor {
    params: CompetitorParams,
    next: Nanos,
}

impl Competitor {
    /// From the beginning of time.
    #[must_use]
    pub fn new(params: CompetitorParams) -> Self {
        Self { params, next: Nanos(0) }
    }

    /// When the next read comes.
    #[must_use]
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// The next read: when, where and how many bytes of a drive of `capacity`. They come independently of each other.
    pub fn take(&mut self, noise: &mut Noise, capacity: u64) -> (Nanos, u64, u64) {
        let CompetitorParams { reads_per_s, len } = self.params;
        let at = self.next;
        let wait_s = -(1.0 - noise.uniform()).ln() / reads_per_s.max(1e-3);
        self.next = at + Nanos(u64_of(wait_s * 1e9).max(1));
        let blocks = (capacity / len.max(1)).max(1);
        let block = u64_of(noise.uniform() * f64_of(blocks)).min(blocks - 1);
        (at, block * len, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_as_often_as_they_are_told_and_stay_inside() {
        let mut competitor = Competitor::new(CompetitorParams { reads_per_s: 20.0, len: 4096 });
        let mut noise = Noise::new(1);
        for _ in 0..20_000 {
            let (_, offset, len) = competitor.take(&mut noise, 1 << 20);
            assert!(offset + len <= 1 << 20 && offset % 4096 == 0);
        }
        let seconds = competitor.next().as_secs_f64();
        assert!((seconds / 1_000.0 - 1.0).abs() < 0.03, "{seconds}");
    }
}
