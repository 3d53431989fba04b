//! Platters, heads and their arm: where they are, and how long it takes to be elsewhere.

use super::noise::{Hiccups, Noise};
use crate::model::Nanos;
use crate::model::approx::{f64_of, u64_of};

/// `ms` milliseconds as a duration; negative becomes 0.
#[must_use]
pub fn millis(ms: f64) -> Nanos {
    Nanos(u64_of(ms * 1e6))
}

/// How much a drive gains by choosing among `q` waiting commands: `T(q) = t0 + (T1 - t0)·q^-α`.
///
/// Two exponents, because choosing saves more of the near part (settling and rotation) than of the long way:
/// fitted so that a WD140EDFZ gives both 66 → 233 IOPS over its whole span and 175 → 717 IOPS within
/// 1 GiB from QD1 to QD32 (document "shoal").
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueGain {
    /// Never faster than this, ms.
    pub t0_ms: f64,
    /// Exponent for settling and rotation.
    pub alpha_near: f64,
    /// Exponent for the way across the platter.
    pub alpha_far: f64,
}

impl QueueGain {
    fn apply(self, near_ms: f64, far_ms: f64, queue: u64) -> f64 {
        if queue <= 1 {
            return near_ms + far_ms;
        }
        let q = f64_of(queue);
        let near = (near_ms - self.t0_ms).max(0.0) * q.powf(-self.alpha_near);
        self.t0_ms.min(near_ms) + near + far_ms * q.powf(-self.alpha_far)
    }
}

/// The constants of one disk assembly.
#[derive(Debug, Clone, PartialEq)]
pub struct MediaParams {
    /// Capacity, bytes.
    pub capacity: u64,
    /// Transfer rate in MB/s (10^6) at fractions of the capacity, outer edge first; linear between, level outside.
    pub rates: Vec<(f64, f64)>,
    /// Shortest seek `a`, ms.
    pub seek_settle_ms: f64,
    /// `b` of `a + b·√d`, ms for the full stroke.
    pub seek_stroke_ms: f64,
    /// One revolution, ms: `60000 / rpm`.
    pub revolution_ms: f64,
    /// Electronics, ms per positioning.
    pub overhead_ms: f64,
    /// Gain by queued commands that are reads.
    pub read_gain: QueueGain,
    /// Gain when the write cache is emptied: the drive then chooses among all it holds.
    pub drain_gain: QueueGain,
    /// Standard deviation of ln(service time).
    pub noise_sd: f64,
    /// What makes a movement take much longer now and then.
    pub hiccups: Hiccups,
    /// Arms that move by themselves, each over an equal part of the capacity (`independent_access_ranges`).
    pub actuators: usize,
}

impl MediaParams {
    /// The mean time to get from anywhere to anywhere, ms: the root of the distance of two places is 8/15 on average.
    #[must_use]
    pub fn mean_position_ms(&self) -> f64 {
        self.seek_settle_ms + self.revolution_ms / 2.0 + self.overhead_ms + self.seek_stroke_ms * 8.0 / 15.0
    }
}

/// The moving parts of one drive.
#[derive(Debug, Clone)]
pub struct Media {
    params: MediaParams,
    /// The byte that would pass under the heads of each arm next.
    heads: Vec<u64>,
    noise: Noise,
}

impl Media {
    /// At rest over the outer edge.
    #[must_use]
    pub fn new(params: MediaParams, noise: Noise) -> Self {
        let heads = (0..params.actuators.max(1)).map(|arm| arm_begins(&params, arm)).collect();
        Self { params, heads, noise }
    }

    /// How many arms it has.
    #[must_use]
    pub fn actuators(&self) -> usize {
        self.heads.len()
    }

    /// The arm that reaches byte `at`.
    #[must_use]
    pub fn actuator_of(&self, at: u64) -> usize {
        let last = self.heads.len() - 1;
        if last == 0 {
            return 0;
        }
        let part = (self.params.capacity / (u64::try_from(last).unwrap_or(0) + 1)).max(1);
        usize::try_from(at / part).map_or(last, |arm| arm.min(last))
    }

    /// Its constants.
    #[must_use]
    pub fn params(&self) -> &MediaParams {
        &self.params
    }

    /// The drive's chance, for the layers above.
    pub fn noise(&mut self) -> &mut Noise {
        &mut self.noise
    }

    /// Brings the head to `at` over `len` bytes. Returns milliseconds of positioning; 0 when the head is there already.
    ///
    /// Within a track nothing moves and the wait is the turn to that sector, so that a block written again and again takes a
    /// revolution each time (8.35 ms, document "shoal"). Elsewhere the angle on arrival is as good as random.
    pub fn position(&mut self, at: u64, len: u64, queue: u64, gain: QueueGain) -> f64 {
        let arm = self.actuator_of(at);
        let from = std::mem::replace(&mut self.heads[arm], at.saturating_add(len));
        if from == at {
            return 0.0;
        }
        let params = &self.params;
        let distance = f64_of(from.abs_diff(at));
        let track = self.rate(at) * 1e3 * params.revolution_ms;
        let (near, far) = if distance < track {
            let turn = distance / track;
            let turn = if at > from { turn } else { 1.0 - turn };
            (params.revolution_ms * turn + params.overhead_ms, 0.0)
        } else {
            let stroke = (distance / f64_of(params.capacity.max(1))).min(1.0);
            let near = params.seek_settle_ms + params.revolution_ms * self.noise.uniform() + params.overhead_ms;
            (near, params.seek_stroke_ms * stroke.sqrt())
        };
        let factor = self.noise.factor(params.noise_sd);
        gain.apply(near, far, queue) * factor + self.noise.hiccup_ms(params.hiccups)
    }

    /// Milliseconds to transfer `len` bytes at place `at`.
    #[must_use]
    pub fn transfer(&self, at: u64, len: u64) -> f64 {
        f64_of(len) / (self.rate(at) * 1e3)
    }

    /// Positions for a read, as one of `queue` waiting commands, and transfers. Milliseconds.
    pub fn read(&mut self, at: u64, len: u64, queue: u64) -> f64 {
        self.position(at, len, queue, self.params.read_gain) + self.transfer(at, len)
    }

    /// Positions for a write chosen among `queue` cached ones, and transfers. Milliseconds.
    pub fn write(&mut self, at: u64, len: u64, queue: u64) -> f64 {
        self.position(at, len, queue, self.params.drain_gain) + self.transfer(at, len)
    }

    /// Leaves the head before `at`: the time it took is already in another figure.
    pub fn park(&mut self, at: u64) {
        let arm = self.actuator_of(at);
        self.heads[arm] = at;
    }

    /// MB/s (10^6 bytes) under the head at byte `at`.
    #[must_use]
    pub fn rate(&self, at: u64) -> f64 {
        let x = f64_of(at) / f64_of(self.params.capacity.max(1));
        let rates = &self.params.rates;
        let Some(&(last_x, last_rate)) = rates.last() else { return 100.0 };
        if x >= last_x {
            return last_rate;
        }
        for pair in rates.windows(2) {
            let ((x0, r0), (x1, r1)) = (pair[0], pair[1]);
            if x < x1 {
                return r0 + (r1 - r0) * ((x - x0) / (x1 - x0)).clamp(0.0, 1.0);
            }
        }
        last_rate
    }
}

/// Where the part of an arm begins.
fn arm_begins(params: &MediaParams, arm: usize) -> u64 {
    let arms = u64::try_from(params.actuators.max(1)).unwrap_or(1);
    params.capacity / arms * u64::try_from(arm).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::preset;

    fn media() -> Media {
        let preset::Inside::Disk { media, .. } = preset::cmr_14tb().inside else { panic!("a disk") };
        Media::new(media, Noise::new(1))
    }

    #[test]
    fn where_the_head_is_already_nothing_has_to_move() {
        let mut media = media();
        media.read(1 << 40, 4096, 1);
        assert_eq!(media.position((1 << 40) + 4096, 4096, 1, media.params.read_gain), 0.0);
    }

    #[test]
    fn a_block_written_again_and_again_takes_a_revolution_each_time() {
        let mut media = media();
        media.write(1 << 40, 4096, 1);
        let mean = (0..1_000).map(|_| media.write(1 << 40, 4096, 1)).sum::<f64>() / 1_000.0;
        assert!((mean / 8.35 - 1.0).abs() < 0.03, "{mean} ms");
    }

    #[test]
    fn each_of_two_arms_stays_where_it_was_while_the_other_moves() {
        let preset::Inside::Disk { mut media, .. } = preset::cmr_14tb().inside else { panic!("a disk") };
        media.actuators = 2;
        let half = media.capacity / 2;
        let mut media = Media::new(media, Noise::new(1));
        assert_eq!((media.actuator_of(half - 1), media.actuator_of(half), media.actuator_of(u64::MAX)), (0, 1, 1));
        media.read(4096, 4096, 1);
        media.read(half + (1 << 40), 4096, 1);
        assert_eq!(media.position(8192, 4096, 1, media.params.read_gain), 0.0);
    }

    #[test]
    fn the_rate_falls_from_the_outer_edge_to_the_inner() {
        let media = media();
        let capacity = media.params.capacity;
        let rates: Vec<_> = (0..=10).map(|tenth| media.rate(capacity / 10 * tenth)).collect();
        assert!(rates.windows(2).all(|pair| pair[0] > pair[1]), "{rates:?}");
        assert!((rates[0] / rates[10] - 2.1).abs() < 0.2, "{rates:?}");
        assert_eq!(media.rate(u64::MAX), 100.0);
    }
}
