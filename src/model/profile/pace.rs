//! What is assumed of a target's speed before anything was measured.

use crate::model::approx::{f64_of, u64_of};
use crate::model::plan::{Action, Phase};
use crate::model::units::Bytes;
use crate::model::workload::{Rw, Workload};

/// What is assumed of a target's speed for an estimate before anything was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Random I/Os per second.
    pub random_iops: f64,
    /// Sequential bytes per second.
    pub sequential_bytes_per_s: f64,
    /// Seconds of one flush.
    pub flush_s: f64,
}

impl Pace {
    /// A disk: 250 random writes and 150 MB per second, between the figures of science §3; a flush waits for about one
    /// revolution (8 to 11 ms).
    pub const DISK: Self = Self { random_iops: 250.0, sequential_bytes_per_s: 150e6, flush_s: 0.01 };
    /// Flash or memory: modest figures of a SATA SSD.
    pub const FLASH: Self = Self { random_iops: 20_000.0, sequential_bytes_per_s: 400e6, flush_s: 0.001 };

    /// Fills in how long `phase` takes and how much it writes, as far as can be said before.
    #[must_use]
    pub fn estimate(self, mut phase: Phase) -> Phase {
        match &phase.action {
            Action::Idle { runtime_s } => {
                phase.estimated_s = *runtime_s;
                phase.bytes_to_write = Some(Bytes(0));
            }
            Action::Io(workload) => {
                phase.estimated_s = self.seconds(workload);
                phase.bytes_to_write = workload.max_write_bytes();
            }
        }
        phase
    }

    fn seconds(self, workload: &Workload) -> u64 {
        let ios =
            [workload.number_ios, workload.io_size_bytes.map(|bytes| bytes.0.div_ceil(workload.mean_bs().0.max(1)))]
                .into_iter()
                .flatten()
                .min();
        let by_work = ios.map(|ios| u64_of((f64_of(ios) * self.seconds_per_io(workload)).ceil()).max(1));
        let limit = [by_work, workload.runtime_s].into_iter().flatten().min().unwrap_or(0);
        let recorded_s = workload.replay.last().map_or(0, |last| last.at_us.div_ceil(1_000_000));
        limit.max(recorded_s).saturating_add(workload.ramp_time_s)
    }

    fn seconds_per_io(self, workload: &Workload) -> f64 {
        let bs = f64_of(workload.mean_bs().0);
        // A trim moves no data; what a drive does with it is anybody's guess.
        let moved = if matches!(workload.rw, Rw::Trim | Rw::RandTrim) { 0.0 } else { bs };
        let positioning = if workload.rw.is_random() { 1.0 / self.random_iops } else { 0.0 };
        let flushes: f64 = [workload.fsync, workload.fdatasync]
            .iter()
            .filter(|every| **every > 0)
            .map(|every| 1.0 / f64::from(*every))
            .sum();
        let thinking = f64_of(workload.thinktime_us) / 1e6 / f64::from(workload.thinktime_blocks.max(1));
        let own = positioning + moved / self.sequential_bytes_per_s + flushes * self.flush_s + thinking;
        let rates = [
            workload.rate_iops.map(|rate| 1.0 / f64_of(rate.max(1))),
            workload.rate_bytes_per_s.map(|rate| bs / f64_of(rate.0.max(1))),
        ];
        rates.into_iter().flatten().fold(own, f64::max)
    }
}
