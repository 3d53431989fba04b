//! The link between host and drive: how many commands, how fast, in which pieces.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::media::millis;
use crate::model::Nanos;
use crate::model::approx::f64_of;

/// The constants of one link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterfaceParams {
    /// Most bytes per second that cross it.
    pub bytes_per_s: f64,
    /// Largest single transfer, bytes; the kernel splits what is larger.
    pub max_transfer: u64,
    /// Commands it can carry at once: USB bulk-only 1, SATA NCQ 32.
    pub queue_depth: usize,
    /// Per transfer, ms.
    pub overhead_ms: f64,
}

impl InterfaceParams {
    /// USB 3 mass storage, bulk-only: the WD140EMFZ of the fio list (2020) moved 157 MiB/s in pieces
    /// of 256 KiB. Overhead: its mean submission latency was 41 µs; 30 µs leaves the rest to the host.
    pub const USB3_BOT: Self =
        Self { bytes_per_s: 160.0 * 1_048_576.0, max_transfer: 256 << 10, queue_depth: 1, overhead_ms: 0.03 };
    /// SATA at 6 Gbit/s with native command queueing: 32 commands (SATA 3), 560 MB/s net (syn).
    pub const SATA: Self = Self { bytes_per_s: 560e6, max_transfer: 1_280 << 10, queue_depth: 32, overhead_ms: 0.02 };
    /// SAS at 12 Gbit/s: 128 commands, 1 100 MB/s net, 1 MiB at once (syn).
    pub const SAS: Self = Self { bytes_per_s: 1_100e6, max_transfer: 1_024 << 10, queue_depth: 128, overhead_ms: 0.02 };
    /// NVMe: 1024 commands; 2997 MiB/s of reads in order (zonedstorage.io), 128 KiB at once and 5 µs a command (syn).
    pub const NVME: Self =
        Self { bytes_per_s: 3_600e6, max_transfer: 128 << 10, queue_depth: 1_024, overhead_ms: 0.005 };
}

/// One link in use.
#[derive(Debug, Clone)]
pub struct Interface {
    params: InterfaceParams,
    outstanding: BinaryHeap<Reverse<Nanos>>,
    link_free: Nanos,
}

impl Interface {
    /// Idle.
    #[must_use]
    pub fn new(params: InterfaceParams) -> Self {
        Self { params, outstanding: BinaryHeap::new(), link_free: Nanos(0) }
    }

    /// Its constants.
    #[must_use]
    pub fn params(&self) -> InterfaceParams {
        self.params
    }

    /// When a command handed over at `now` reaches the drive, and among how many (itself included) it then is.
    pub fn admit(&mut self, now: Nanos) -> (Nanos, u64) {
        let mut start = now;
        while let Some(&Reverse(done)) = self.outstanding.peek() {
            if done > start && self.outstanding.len() < self.params.queue_depth {
                break;
            }
            start = start.max(done);
            self.outstanding.pop();
        }
        (start, u64::try_from(self.outstanding.len()).unwrap_or(u64::MAX).saturating_add(1))
    }

    /// Moves `len` bytes over the link, beginning at `from` at the earliest. Returns when the last
    /// byte is across; while the medium is still turning up data, it is not before `ready`.
    pub fn transfer(&mut self, from: Nanos, ready: Nanos, len: u64) -> Nanos {
        let pieces = len.div_ceil(self.params.max_transfer.max(1)).max(1);
        let ms = f64_of(pieces) * self.params.overhead_ms + f64_of(len) / self.params.bytes_per_s * 1e3;
        let across = self.link_free.max(from) + millis(ms);
        // The last piece cannot leave before the medium gave it.
        let across = across.max(ready + millis(self.params.overhead_ms));
        self.link_free = across;
        across
    }

    /// The command that was admitted will end at `done`.
    pub fn occupy(&mut self, done: Nanos) {
        self.outstanding.push(Reverse(done));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usb_bridge_takes_one_command_at_a_time() {
        let mut usb = Interface::new(InterfaceParams::USB3_BOT);
        let (start, queue) = usb.admit(Nanos(0));
        assert_eq!((start, queue), (Nanos(0), 1));
        usb.occupy(Nanos::from_millis(10));
        assert_eq!(usb.admit(Nanos(5)), (Nanos::from_millis(10), 1));
    }

    #[test]
    fn sata_takes_thirty_two() {
        let mut sata = Interface::new(InterfaceParams::SATA);
        for nth in 1..=32 {
            assert_eq!(sata.admit(Nanos(0)), (Nanos(0), nth));
            sata.occupy(Nanos::from_millis(nth));
        }
        assert_eq!(sata.admit(Nanos(0)), (Nanos::from_millis(1), 32));
    }
}
