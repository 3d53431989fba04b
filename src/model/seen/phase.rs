//! What was seen over a whole phase, and what became of its requests.

use serde::{Deserialize, Serialize};

use super::DeviceCount;
use crate::model::approx::f64_of;
use crate::model::interval::Interval;
use crate::model::split::Split;
use crate::model::units::{Bytes, Nanos};

/// What was asked in a phase and what the device was seen to do in the same time. Without the phase's ramp.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseSeen {
    /// Intervals it is of.
    pub intervals: u64,
    /// Of these, intervals whose threads waited for a CPU too long (`spoilt`).
    pub spoilt_intervals: u64,
    /// Reads and writes that the engine saw complete.
    pub asked_ios: u64,
    /// Bytes of these.
    pub asked_bytes: Bytes,
    /// Intervals for which the block layer's count is known; what follows is of these alone, like `asked_*`.
    pub device_intervals: u64,
    /// The block layer's count of reads and writes.
    pub device_ios: u64,
    /// Bytes of these.
    pub device_bytes: Bytes,
    /// Discards.
    pub device_discard_ios: u64,
    /// Flushes.
    pub device_flush_ios: u64,
    /// Requests merged into another.
    pub device_merges: u64,
    /// Time of all requests from issue to completion, milliseconds.
    pub device_queue_ms: u64,
    /// Time with a request in flight, milliseconds.
    pub device_busy_ms: u64,
    /// How long threads waited for a CPU, all together.
    pub run_delay_ns: Nanos,
    /// The highest temperature, degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_max_celsius: Option<f64>,
    /// What became of the requests on their way to the device; `null` when that cannot be told.
    pub split: Option<Split>,
}

impl PhaseSeen {
    /// Adds one interval of the phase. Whether it counted.
    pub fn add(&mut self, interval: &Interval) -> bool {
        let Some(seen) = interval.seen.as_deref().filter(|_| !interval.ramp) else { return false };
        self.intervals += 1;
        self.spoilt_intervals += u64::from(seen.is_spoilt(interval.duration));
        self.run_delay_ns = self.run_delay_ns + seen.run_delay.unwrap_or_default().total;
        let hotter = |celsius: f64| self.temperature_max_celsius.map_or(celsius, |max| max.max(celsius));
        self.temperature_max_celsius = seen.temperature_celsius.map(hotter).or(self.temperature_max_celsius);
        if let Some(device) = &seen.device {
            self.device_intervals += 1;
            self.asked_ios = self.asked_ios.saturating_add(interval.read.ios).saturating_add(interval.write.ios);
            self.asked_bytes = self.asked_bytes + interval.read.bytes + interval.write.bytes;
            self.add_device(device);
        }
        true
    }

    fn add_device(&mut self, device: &DeviceCount) {
        self.device_ios = self.device_ios.saturating_add(device.ios());
        self.device_bytes += device.bytes();
        for (mine, other) in [
            (&mut self.device_discard_ios, device.discard_ios),
            (&mut self.device_flush_ios, device.flush_ios),
            (&mut self.device_merges, device.merges),
            (&mut self.device_queue_ms, device.queue_ms),
            (&mut self.device_busy_ms, device.busy_ms),
        ] {
            *mine = mine.saturating_add(other);
        }
    }

    /// Mean size of what was asked, bytes; `None` when nothing was.
    #[must_use]
    pub fn asked_mean_bytes(&self) -> Option<f64> {
        (self.asked_ios > 0).then(|| f64_of(self.asked_bytes.0) / f64_of(self.asked_ios))
    }

    /// Mean size of what reached the device, bytes; `None` when nothing was counted.
    #[must_use]
    pub fn device_mean_bytes(&self) -> Option<f64> {
        (self.device_ios > 0).then(|| f64_of(self.device_bytes.0) / f64_of(self.device_ios))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seen::{RunDelay, Seen};

    #[test]
    fn a_ramp_and_what_nobody_saw_count_for_nothing() {
        let mut phase = PhaseSeen::default();
        let second = Nanos::from_secs(1);
        let mut interval = Interval::empty(1, 0, second, second);
        assert!(!phase.add(&interval));
        interval.write.ios = 2;
        interval.write.bytes = Bytes(2 << 20);
        let device = DeviceCount { write_ios: 8, write_bytes: Bytes(2 << 20), ..DeviceCount::default() };
        let run_delay = Some(RunDelay { total: Nanos::from_millis(500), threads: 1 });
        interval.seen = Some(Box::new(Seen { device: Some(device), run_delay, temperature_celsius: Some(41.0) }));
        interval.ramp = true;
        assert!(!phase.add(&interval));
        interval.ramp = false;
        assert!(phase.add(&interval) && phase.add(&interval));
        assert_eq!((phase.intervals, phase.spoilt_intervals, phase.device_ios), (2, 2, 16));
        assert_eq!((phase.asked_mean_bytes(), phase.device_mean_bytes()), (Some(1_048_576.0), Some(262_144.0)));
    }
}
