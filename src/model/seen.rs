//! What others than the engine saw of a period: the block layer's count of I/Os, the time that threads waited for a CPU,
//! the drive's temperature.
//!
//! An engine can only tell what it asked and when it was answered. Whether a request of 512 MiB reached the drive as one or
//! as 2048, and whether a slow second was the drive's or the host's, only these can tell.

mod pack;
mod phase;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::approx::f64_of;
use super::units::{Bytes, Nanos};

pub use pack::PackError;
pub use phase::PhaseSeen;

/// A period whose threads waited for a CPU for more than this share of it is spoilt: it says as much of the host as of the
/// drive. At queue depth 1 a share of a tenth lowers the rate by a tenth, which is what the rate of a steady drive
/// varies by itself from window to window (sd of ln rate 0.05 to 0.12, see `analysis::cliff`).
pub const SPOILT_ABOVE: f64 = 0.1;

/// The block layer's count of one device, `/sys/block/X/stat` (Documentation/block/stat.rst), over a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceCount {
    /// Reads that completed.
    pub read_ios: u64,
    /// Bytes read.
    pub read_bytes: Bytes,
    /// Writes that completed.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: Bytes,
    /// Discards that completed.
    pub discard_ios: u64,
    /// Bytes discarded.
    pub discard_bytes: Bytes,
    /// Flushes that completed.
    pub flush_ios: u64,
    /// Requests that were merged into another before they reached the device.
    pub merges: u64,
    /// Time that all requests together spent from their issue to their completion, milliseconds: above the length
    /// of the period where more than one is in flight.
    pub queue_ms: u64,
    /// Time with at least one request in flight, milliseconds (`io_ticks`).
    pub busy_ms: u64,
    /// Requests in flight at the end of the period.
    pub in_flight: u64,
}

impl DeviceCount {
    /// Reads and writes.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.read_ios.saturating_add(self.write_ios)
    }

    /// Bytes read and written.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.read_bytes + self.write_bytes
    }

    /// Adds the count of the period that follows.
    pub fn extend(&mut self, next: &Self) {
        for (mine, other) in [
            (&mut self.read_ios, next.read_ios),
            (&mut self.write_ios, next.write_ios),
            (&mut self.discard_ios, next.discard_ios),
            (&mut self.flush_ios, next.flush_ios),
            (&mut self.merges, next.merges),
            (&mut self.queue_ms, next.queue_ms),
            (&mut self.busy_ms, next.busy_ms),
        ] {
            *mine = mine.saturating_add(other);
        }
        self.read_bytes += next.read_bytes;
        self.write_bytes += next.write_bytes;
        self.discard_bytes += next.discard_bytes;
        self.in_flight = next.in_flight;
    }

    /// Adds its fields to a JSON object; of what most periods have none of, only what there was.
    fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("device_ios", &self.ios())?;
        map.serialize_entry("device_bytes", &self.bytes())?;
        map.serialize_entry("device_read_ios", &self.read_ios)?;
        map.serialize_entry("device_read_bytes", &self.read_bytes)?;
        map.serialize_entry("device_write_ios", &self.write_ios)?;
        map.serialize_entry("device_write_bytes", &self.write_bytes)?;
        for (name, count) in [
            ("device_discard_ios", self.discard_ios),
            ("device_discard_bytes", self.discard_bytes.0),
            ("device_flush_ios", self.flush_ios),
            ("device_merges", self.merges),
        ] {
            if count > 0 {
                map.serialize_entry(name, &count)?;
            }
        }
        map.serialize_entry("device_queue_ms", &self.queue_ms)?;
        map.serialize_entry("device_busy_ms", &self.busy_ms)
    }
}

/// How long threads were ready to run and waited for a CPU, over a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunDelay {
    /// All threads together.
    pub total: Nanos,
    /// How many threads they are: the engine's own, and its workers.
    pub threads: u32,
}

impl RunDelay {
    /// The share of `duration` that a thread waited, on average. 0 for an empty duration.
    #[must_use]
    pub fn share_of(&self, duration: Nanos) -> f64 {
        let time = f64_of(duration.0) * f64::from(self.threads.max(1));
        if time > 0.0 { f64_of(self.total.0) / time } else { 0.0 }
    }
}

/// What was seen in a period. What is `None` is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seen {
    /// The block layer's count.
    pub device: Option<DeviceCount>,
    /// The threads' wait for a CPU.
    pub run_delay: Option<RunDelay>,
    /// The drive's temperature as last read, degrees Celsius; of several periods the highest.
    pub temperature_celsius: Option<f64>,
}

impl Seen {
    /// Whether nothing is known at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a period of this length says as much of the host as of the drive.
    #[must_use]
    pub fn is_spoilt(&self, duration: Nanos) -> bool {
        self.run_delay.is_some_and(|delay| delay.share_of(duration) > SPOILT_ABOVE)
    }

    /// Adds what was seen in the period that follows. What one of the two does not know the sum does not.
    pub fn extend(&mut self, next: &Self) {
        self.device = self.device.zip(next.device).map(|(mut sum, next)| {
            sum.extend(&next);
            sum
        });
        self.run_delay = self
            .run_delay
            .zip(next.run_delay)
            .map(|(mine, next)| RunDelay { total: mine.total + next.total, threads: mine.threads.max(next.threads) });
        let hotter = |mine: f64, next: f64| mine.max(next);
        self.temperature_celsius = match (self.temperature_celsius, next.temperature_celsius) {
            (Some(mine), Some(next)) => Some(hotter(mine, next)),
            (mine, next) => mine.or(next),
        };
    }
}

/// What was seen, in a period of this length: as the API has it. What is not known is left out.
pub struct SeenFigures<'a>(pub &'a Seen, pub Nanos);

impl Serialize for SeenFigures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(seen, duration) = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(device) = &seen.device {
            device.serialize_into(&mut map)?;
            map.serialize_entry("device_in_flight", &device.in_flight)?;
        }
        if let Some(delay) = &seen.run_delay {
            map.serialize_entry("run_delay_ns", &delay.total)?;
            map.serialize_entry("run_delay_threads", &delay.threads)?;
            map.serialize_entry("spoilt", &seen.is_spoilt(*duration))?;
        }
        if let Some(celsius) = seen.temperature_celsius {
            map.serialize_entry("temperature_celsius", &celsius)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_held_against_the_time_of_all_threads() {
        let second = Nanos::from_secs(1);
        let waited = |total_ms, threads| Seen {
            run_delay: Some(RunDelay { total: Nanos::from_millis(total_ms), threads }),
            ..Seen::default()
        };
        assert!(!waited(100, 1).is_spoilt(second) && waited(101, 1).is_spoilt(second));
        assert!(!waited(101, 2).is_spoilt(second), "two threads share it");
        assert!(!Seen::default().is_spoilt(second), "unknown is no accusation");
    }

    #[test]
    fn a_sum_knows_no_more_than_each_of_its_parts() {
        let device = |read_ios| DeviceCount { read_ios, in_flight: read_ios, ..DeviceCount::default() };
        let known = |ios| Seen { device: Some(device(ios)), temperature_celsius: Some(40.0), ..Seen::default() };
        let mut sum = known(3);
        sum.extend(&Seen { temperature_celsius: Some(38.5), ..known(4) });
        assert_eq!(sum.device.map(|device| (device.read_ios, device.in_flight)), Some((7, 4)));
        assert_eq!(sum.temperature_celsius, Some(40.0));
        sum.extend(&Seen::default());
        assert_eq!(sum.device, None);
    }

    #[test]
    fn json_carries_units_in_its_names_and_leaves_out_what_is_not_known() {
        let seen = Seen {
            device: Some(DeviceCount { write_ios: 2048, write_bytes: Bytes(1 << 29), ..DeviceCount::default() }),
            ..Seen::default()
        };
        let json = serde_json::to_value(SeenFigures(&seen, Nanos::from_secs(1))).unwrap();
        assert_eq!((&json["device_ios"], &json["device_bytes"]), (&2048.into(), &(1 << 29).into()));
        assert_eq!((json.get("run_delay_ns"), json.get("device_merges")), (None, None));
    }
}
