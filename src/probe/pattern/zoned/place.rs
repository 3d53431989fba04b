//! One zone that is written: where its pointer is and what it needs next.

use crate::model::workload::{Zbd, ZoneOpening, ZoneStart};
use crate::model::zone::{Zone, ZoneCondition, ZoneOp};
use crate::probe::engine::Op;

/// What a zone needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Todo {
    /// A write of so many bytes at its pointer.
    Write(u32),
    /// This.
    Zone(ZoneOp),
    /// Something is in flight in it.
    Wait,
    /// Nothing more.
    Nothing,
}

/// One zone. Bytes count from the start of the target.
#[derive(Debug, Clone)]
pub struct Place {
    /// First byte.
    pub start: u64,
    /// Where its capacity ends.
    pub end: u64,
    /// How far it is to be written.
    fill_end: u64,
    /// Where the next write goes.
    pub pointer: u64,
    /// An I/O of it is in flight.
    pub in_flight: bool,
    /// Something was refused: where the pointer is has to be asked.
    pub must_report: bool,
    /// Refusals since its last success.
    pub refusals: u32,
    /// Open in either way, or closed: it counts against the drive's limit.
    pub active: bool,
    /// Opened by this phase's OPEN ZONE.
    pub opened: bool,
    /// It takes no writes any more: read-only or offline.
    pub unusable: bool,
    full: bool,
    must_reset: bool,
    /// OPEN ZONE has been asked for since it was chosen.
    asked_to_open: bool,
    /// CLOSE ZONE has been asked for since it was chosen.
    asked_to_close: bool,
}

impl Place {
    /// The zone as it was reported, of which `percent` of the capacity are to be written in blocks of `bs`.
    #[must_use]
    pub fn new(zone: &Zone, percent: u8, bs: u64) -> Self {
        let (start, end) = (zone.start_bytes.0, zone.writable_end().0);
        // In this order, so that no zone of any size overflows.
        let wanted = (end - start) / 100 * u64::from(percent.min(100));
        let whole = percent >= 100;
        let filled = if whole { end - start } else { wanted.max(1).div_ceil(bs).saturating_mul(bs).min(end - start) };
        let mut place = Self {
            start,
            end,
            fill_end: start + filled,
            pointer: start,
            in_flight: false,
            must_report: false,
            refusals: 0,
            active: false,
            opened: false,
            unusable: false,
            full: false,
            must_reset: false,
            asked_to_open: false,
            asked_to_close: false,
        };
        place.look(zone);
        place
    }

    /// Takes over what a report says.
    pub fn look(&mut self, zone: &Zone) {
        self.must_report = false;
        self.unusable = !zone.takes_writes();
        self.full = zone.condition == ZoneCondition::Full;
        self.active = zone.is_active();
        self.pointer = match zone.write_pointer_bytes {
            Some(pointer) => pointer.0.clamp(self.start, self.end),
            None => self.end,
        };
        let open = zone.condition == ZoneCondition::ExplicitOpen;
        self.opened &= open;
        if !open && !self.asked_to_close {
            self.asked_to_open = false;
        }
    }

    /// Nothing is written in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pointer == self.start && !self.full && !self.active
    }

    /// It can be written on at its pointer.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.full && self.pointer < self.fill_end
    }

    /// Its turn has come.
    pub fn begin(&mut self, start: ZoneStart) {
        self.must_reset = match start {
            ZoneStart::Reset => !self.is_empty(),
            ZoneStart::Pointer => !self.has_room(),
        };
        self.asked_to_open = false;
        self.asked_to_close = false;
    }

    /// What it needs next.
    #[must_use]
    pub fn todo(&self, bs: u64, zbd: &Zbd) -> Todo {
        if self.in_flight {
            return Todo::Wait;
        }
        if self.must_report {
            return Todo::Zone(ZoneOp::Report);
        }
        if self.unusable {
            return Todo::Nothing;
        }
        if self.must_reset {
            return Todo::Zone(ZoneOp::Reset);
        }
        if self.full {
            return Todo::Nothing;
        }
        let explicit = zbd.opening == ZoneOpening::Explicit;
        if self.pointer < self.fill_end {
            if explicit && !self.asked_to_open {
                return Todo::Zone(ZoneOp::Open);
            }
            let last_block = self.end - self.pointer <= bs && self.pointer > self.start;
            if explicit && last_block && !self.asked_to_close {
                return Todo::Zone(ZoneOp::Close);
            }
            return Todo::Write(u32::try_from(bs.min(self.end - self.pointer)).unwrap_or(u32::MAX));
        }
        if explicit && !self.asked_to_close {
            return Todo::Zone(ZoneOp::Close);
        }
        if zbd.finish { Todo::Zone(ZoneOp::Finish) } else { Todo::Nothing }
    }

    /// An I/O of it ended well.
    pub fn done(&mut self, op: Op, len: u32) {
        match op {
            Op::Write => {
                self.pointer += u64::from(len);
                self.full = self.pointer >= self.end;
                self.active = !self.full;
                self.opened &= !self.full;
            }
            Op::Zone(ZoneOp::Reset) => {
                self.pointer = self.start;
                self.full = false;
                self.active = false;
                self.opened = false;
                self.must_reset = false;
            }
            Op::Zone(ZoneOp::Open) => {
                self.active = true;
                self.opened = true;
                self.asked_to_open = true;
            }
            Op::Zone(ZoneOp::Close) => {
                self.active = self.pointer > self.start;
                self.opened = false;
                self.asked_to_close = true;
            }
            Op::Zone(ZoneOp::Finish) => {
                self.full = true;
                self.active = false;
                self.opened = false;
            }
            // What a report says has been taken over already.
            Op::Zone(ZoneOp::Report) | Op::Read | Op::Trim | Op::Flush { .. } => return,
        }
        self.refusals = 0;
    }
}
