//! The block layer's count of a drive that does not exist.
//!
//! The host of a simulated drive is simulated too: its kernel splits what is larger than the link's largest transfer (see
//! [`InterfaceParams`](super::interface::InterfaceParams)), and merges nothing. So the
//! count is what `/sys/block/X/stat` would show, in the drive's own time. What this process
//! waits for a CPU changes nothing in that time, and is not counted.

use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Nanos;
use crate::model::seen::{DeviceCount, Seen};
use crate::model::units::Bytes;
use crate::probe::engine::{Io, Op};
use crate::probe::witness::Witness;

/// Counts requests as they end. Cheap to clone: all clones are one count.
#[derive(Debug, Clone)]
pub struct Counts(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    /// Of the time since the last look.
    count: DeviceCount,
    max_transfer: u64,
    /// Requests in flight, after the split.
    in_flight: u64,
    busy_since: Nanos,
    /// Not yet whole milliseconds.
    queue_ns: u64,
    busy_ns: u64,
}

impl Counts {
    /// Of a link that takes `max_transfer` bytes at once.
    #[must_use]
    pub fn new(max_transfer: u64) -> Self {
        Self(Arc::new(Mutex::new(Open {
            count: DeviceCount::default(),
            max_transfer: max_transfer.max(1),
            in_flight: 0,
            busy_since: Nanos(0),
            queue_ns: 0,
            busy_ns: 0,
        })))
    }

    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An I/O is handed over.
    pub fn begin(&self, io: &Io, now: Nanos) {
        self.with(|open| {
            if open.in_flight == 0 {
                open.busy_since = now;
            }
            open.in_flight += open.parts(io);
        });
    }

    /// It has ended; `moved` unless with an error.
    pub fn end(&self, io: &Io, moved: bool, issued: Nanos, now: Nanos) {
        self.with(|open| {
            let parts = open.parts(io);
            open.in_flight = open.in_flight.saturating_sub(parts);
            if open.in_flight == 0 {
                open.busy_ns += (now - open.busy_since).0;
            }
            if !moved {
                return;
            }
            open.queue_ns = open.queue_ns.saturating_add((now - issued).0.saturating_mul(parts));
            let bytes = Bytes(u64::from(io.len));
            let count = &mut open.count;
            match io.op {
                Op::Read => (count.read_ios, count.read_bytes) = (count.read_ios + parts, count.read_bytes + bytes),
                Op::Write => {
                    (count.write_ios, count.write_bytes) = (count.write_ios + parts, count.write_bytes + bytes)
                }
                Op::Trim => {
                    (count.discard_ios, count.discard_bytes) = (count.discard_ios + parts, count.discard_bytes + bytes);
                }
                Op::Flush { .. } => count.flush_ios += parts,
                Op::Zone(_) => {}
            }
        });
    }
}

impl Open {
    /// A flush moves nothing and is one request; the link's limit is none for a discard.
    fn parts(&self, io: &Io) -> u64 {
        match io.op {
            Op::Read | Op::Write => u64::from(io.len).div_ceil(self.max_transfer).max(1),
            Op::Trim | Op::Flush { .. } | Op::Zone(_) => 1,
        }
    }

    fn look(&mut self, now: Nanos) -> DeviceCount {
        if self.in_flight > 0 {
            self.busy_ns += (now - self.busy_since).0;
            self.busy_since = now.max(self.busy_since);
        }
        let whole = |ns: &mut u64| {
            let ms = *ns / 1_000_000;
            *ns %= 1_000_000;
            ms
        };
        let mut count = std::mem::take(&mut self.count);
        count.queue_ms = whole(&mut self.queue_ns);
        count.busy_ms = whole(&mut self.busy_ns);
        count.in_flight = self.in_flight;
        count
    }
}

impl Witness for Counts {
    fn look(&mut self, now: Nanos) -> Seen {
        let device = Some(self.with(|open| open.look(now)));
        Seen { device, run_delay: None, temperature_celsius: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::{KIB, MIB};

    #[test]
    fn a_large_request_is_as_many_as_the_link_makes_of_it() {
        let mut counts = Counts::new(256 * KIB);
        let write = Io { op: Op::Write, offset: 0, len: u32::try_from(512 * MIB).unwrap() };
        counts.begin(&write, Nanos(0));
        let device = counts.look(Nanos::from_secs(1)).device.unwrap();
        assert_eq!((device.write_ios, device.in_flight, device.busy_ms), (0, 2_048, 1_000));
        counts.end(&write, true, Nanos(0), Nanos::from_secs(3));
        let device = counts.look(Nanos::from_secs(4)).device.unwrap();
        assert_eq!((device.write_ios, device.write_bytes), (2_048, Bytes(512 * MIB)));
        assert_eq!((device.in_flight, device.busy_ms, device.queue_ms), (0, 2_000, 2_048 * 3_000));
    }
}
