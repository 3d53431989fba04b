//! I/Os of `zonemode=zbd`: each write at its zone's write pointer.
//!
//! ```text
//!  report ──▶ zones ──▶ side by side, at most max_open_zones:
//!                         [reset] ─▶ [open] ─▶ write … write ─▶ [close] ─▶ write ─▶ [finish] ─▶ the next zone
//! ```
//! It begins with a report, so a phase that is taken up again after a break simply looks where the pointers are now. One I/O
//! is in flight in a zone, and one zone operation in all: drives carry those out one by one, and several at once would
//! measure their waiting for one another. An I/O that a zone refuses has the zone reported anew before anything else
//! is asked of it.

mod place;

use nix::errno::Errno;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::units::Bytes;
use crate::model::workload::{Workload, Zbd, ZoneOpening, ZoneStart, ZoneTask};
use crate::model::zone::{Zone, ZoneOp, usable};
use crate::probe::driver::{described, errno_text};
use crate::probe::engine::{Completion, Io, Op};
use place::{Place, Todo};

/// After so many refusals in a row, with a report after each, a zone counts as broken.
const MOST_REFUSALS: u32 = 3;

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZonedNext {
    /// This I/O.
    Io {
        /// It.
        io: Io,
        /// Whether it is what the phase is about, and counts for its limits.
        counts: bool,
    },
    /// All that may be in flight is.
    Wait,
    /// There is nothing left to do.
    Done(String),
    /// It cannot go on.
    Failed(String),
}

/// The I/Os of one workload with zones.
///
/// Invariants: a write begins at its zone's write pointer and ends within the zone's capacity; no more zones than
/// `max_open_zones` are written before each of them is full, finished or given up; nothing outside the region is touched.
#[derive(Debug, Clone)]
pub struct Zoned {
    zbd: Zbd,
    random: bool,
    bs: u64,
    region: (Bytes, Bytes),
    /// Where the next part of the report begins; `None` when all zones are known.
    cursor: Option<Bytes>,
    report_in_flight: bool,
    zone_op_in_flight: bool,
    places: Vec<Place>,
    /// The zones that are being written; `None` where one is to be chosen.
    slots: Vec<Option<usize>>,
    turn: usize,
    next_in_order: usize,
    /// Zones that have yet to be reset before any is written.
    to_reset: Vec<usize>,
    resets: usize,
    room_left: bool,
    /// The drive took only so many zones side by side.
    limit_met: Option<usize>,
    failed: Option<String>,
    rng: Xoshiro256PlusPlus,
}

impl Zoned {
    /// The I/Os of `workload`, which begin with a report.
    #[must_use]
    pub fn new(workload: &Workload, zbd: Zbd) -> Self {
        Self {
            zbd,
            random: workload.rw.is_random(),
            bs: workload.bs.0.max(1),
            region: (workload.offset_bytes, workload.size_bytes),
            cursor: Some(workload.offset_bytes),
            report_in_flight: false,
            zone_op_in_flight: false,
            places: Vec::new(),
            slots: Vec::new(),
            turn: 0,
            next_in_order: 0,
            to_reset: Vec::new(),
            resets: 0,
            room_left: true,
            limit_met: None,
            failed: None,
            rng: Xoshiro256PlusPlus::seed_from_u64(workload.randseed),
        }
    }

    /// The next I/O.
    pub fn next_io(&mut self) -> ZonedNext {
        if let Some(why) = &self.failed {
            return ZonedNext::Failed(why.clone());
        }
        if let Some(cursor) = self.cursor {
            return self.ask(cursor);
        }
        if self.places.is_empty() {
            return ZonedNext::Failed(format!(
                "no zone that takes writes at its pointer lies wholly within the {} bytes from byte {}",
                self.region.1.0, self.region.0.0
            ));
        }
        if let Some(zone) = self.to_reset.last().copied() {
            return self.reset_at_start(zone);
        }
        match self.zbd.task {
            ZoneTask::Report => self.ask(self.region.0),
            ZoneTask::Reset if self.zone_op_in_flight || self.report_in_flight => ZonedNext::Wait,
            ZoneTask::Reset => ZonedNext::Done(match self.resets {
                0 => "no zone had anything to reset".to_owned(),
                resets => format!("reset all {resets} zones that were not empty"),
            }),
            ZoneTask::Write => self.write(),
        }
    }

    fn ask(&mut self, from: Bytes) -> ZonedNext {
        if self.report_in_flight {
            return ZonedNext::Wait;
        }
        self.report_in_flight = true;
        let io = Io { op: Op::Zone(ZoneOp::Report), offset: from.0, len: 0 };
        ZonedNext::Io { io, counts: self.zbd.task == ZoneTask::Report }
    }

    fn reset_at_start(&mut self, zone: usize) -> ZonedNext {
        // A refused reset has its zone reported first.
        if self.zone_op_in_flight || self.places[zone].in_flight {
            return ZonedNext::Wait;
        }
        let counts = self.zbd.task == ZoneTask::Reset;
        if self.places[zone].must_report {
            return self.issue(zone, Op::Zone(ZoneOp::Report), 0, false);
        }
        self.to_reset.pop();
        if self.places[zone].is_empty() || self.places[zone].unusable {
            return self.next_io();
        }
        self.issue(zone, Op::Zone(ZoneOp::Reset), 0, counts)
    }

    fn issue(&mut self, zone: usize, op: Op, len: u32, counts: bool) -> ZonedNext {
        let place = &mut self.places[zone];
        place.in_flight = true;
        let offset = if op == Op::Write { place.pointer } else { place.start };
        if matches!(op, Op::Zone(_)) {
            self.zone_op_in_flight = true;
        }
        ZonedNext::Io { io: Io { op, offset, len }, counts }
    }

    /// The next I/O of the zones being written, which take turns.
    fn write(&mut self) -> ZonedNext {
        let mut waits = false;
        for step in 0..self.slots.len() {
            let slot = (self.turn + step) % self.slots.len();
            let Some(todo) = self.todo(slot) else { continue };
            let Some(zone) = self.slots[slot] else { continue };
            let (op, len) = match todo {
                Todo::Wait => {
                    waits = true;
                    continue;
                }
                Todo::Write(len) => (Op::Write, len),
                Todo::Zone(_) if self.zone_op_in_flight => {
                    waits = true;
                    continue;
                }
                Todo::Zone(op) => (Op::Zone(op), 0),
                Todo::Nothing => continue,
            };
            self.turn = (slot + 1) % self.slots.len();
            return self.issue(zone, op, len, op == Op::Write);
        }
        // A zone that is being reset since the start can be chosen later.
        if waits || self.zone_op_in_flight {
            return ZonedNext::Wait;
        }
        ZonedNext::Failed("no zone of the region takes writes any more".to_owned())
    }

    /// What the zone of a slot needs next; chooses another zone when it needs nothing more. `None` when there is none to
    /// choose.
    fn todo(&mut self, slot: usize) -> Option<Todo> {
        if let Some(zone) = self.slots[slot] {
            match self.places[zone].todo(self.bs, &self.zbd) {
                Todo::Nothing => self.slots[slot] = None,
                todo => return Some(todo),
            }
        }
        let zone = self.choose()?;
        self.places[zone].begin(self.zbd.start);
        self.slots[slot] = Some(zone);
        Some(self.places[zone].todo(self.bs, &self.zbd))
    }

    /// A zone for a free slot.
    fn choose(&mut self) -> Option<usize> {
        let count = self.places.len();
        let from = if self.random { self.rng.random_range(0..count) } else { self.next_in_order % count };
        let in_turn = || (0..count).map(|step| (from + step) % count);
        let free = |zone: &usize| {
            let place = &self.places[*zone];
            !place.unusable && !place.in_flight && !self.slots.contains(&Some(*zone))
        };
        let mut chosen = None;
        if self.zbd.start == ZoneStart::Pointer && self.room_left {
            // Those that are active already first, or the drive's limit could be met for their sake.
            let with_room = |zone: &usize| free(zone) && self.places[*zone].has_room();
            chosen = in_turn()
                .find(|zone| with_room(zone) && self.places[*zone].active)
                .or_else(|| in_turn().find(|zone| with_room(zone)));
            self.room_left = chosen.is_some();
        }
        let chosen = chosen.or_else(|| in_turn().find(|zone| free(zone)))?;
        self.next_in_order = chosen + 1;
        Some(chosen)
    }

    /// Ends what zones have begun; `None` when all are left in order. Only those that were opened explicitly need
    /// anything: the drive closes the others by itself when it wants their place.
    pub fn leave(&mut self) -> Option<ZonedNext> {
        if self.zbd.opening == ZoneOpening::Implicit || self.zbd.task != ZoneTask::Write {
            return None;
        }
        let open: Vec<usize> = self.slots.iter().flatten().copied().filter(|zone| self.places[*zone].opened).collect();
        if open.is_empty() {
            return None;
        }
        let idle = open.into_iter().find(|zone| !self.places[*zone].in_flight);
        match idle {
            Some(zone) if !self.zone_op_in_flight => {
                // Whatever comes of it: it is not tried again.
                self.places[zone].opened = false;
                Some(self.issue(zone, Op::Zone(ZoneOp::Close), 0, false))
            }
            _ => Some(ZonedNext::Wait),
        }
    }

    /// The zones that a report brought.
    pub fn reported(&mut self, io: &Io, zones: &[Zone]) {
        if let Some(cursor) = self.cursor {
            self.learn(cursor, zones);
        } else if let Some(zone) = zones.iter().find(|zone| zone.start_bytes.0 == io.offset)
            && let Some(place) = self.places.iter_mut().find(|place| place.start == io.offset)
        {
            place.look(zone);
        }
    }

    fn learn(&mut self, cursor: Bytes, zones: &[Zone]) {
        let (offset, size) = self.region;
        let wanted = usize::try_from(self.zbd.zones).unwrap_or(usize::MAX);
        let room = u32::try_from(wanted.saturating_sub(self.places.len())).unwrap_or(u32::MAX);
        let percent = self.zbd.fill_percent;
        self.places.extend(usable(zones, offset, size, room).map(|zone| Place::new(zone, percent, self.bs)));
        let next = zones.last().map_or(cursor, |zone| zone.start_bytes + zone.length_bytes);
        let more = next > cursor && next.0 < offset.0.saturating_add(size.0) && self.places.len() < wanted;
        self.cursor = more.then_some(next);
        if !more {
            self.begin();
        }
    }

    /// All zones are known.
    fn begin(&mut self) {
        let side_by_side = usize::try_from(self.zbd.max_open_zones.max(1)).unwrap_or(usize::MAX);
        self.slots = vec![None; side_by_side.min(self.places.len())];
        let filled = |place: &Place| match self.zbd.task {
            ZoneTask::Report => false,
            ZoneTask::Reset => !place.is_empty(),
            ZoneTask::Write => self.zbd.start == ZoneStart::Reset && place.active,
        };
        let mut to_reset: Vec<usize> = (0..self.places.len()).filter(|zone| filled(&self.places[*zone])).collect();
        // The last is taken first.
        to_reset.reverse();
        self.resets = to_reset.len();
        self.to_reset = to_reset;
    }

    /// Takes note of how an I/O ended. Whether it deals with that, an error included; what it does not deal with ends
    /// the phase.
    pub fn settles(&mut self, completion: &Completion) -> bool {
        let Completion { io, result, .. } = completion;
        if io.op == Op::Zone(ZoneOp::Report) {
            self.report_in_flight = false;
        }
        let Some(zone) = self.zone_of(io) else { return false };
        let place = &mut self.places[zone];
        if matches!(io.op, Op::Zone(_)) && place.in_flight {
            self.zone_op_in_flight = false;
        }
        if !std::mem::take(&mut place.in_flight) {
            return false;
        }
        match *result {
            Ok(moved) if moved == io.len => {
                place.done(io.op, io.len);
                // A report that does not name the zone it was asked for.
                if io.op == Op::Zone(ZoneOp::Report) && std::mem::take(&mut place.must_report) {
                    place.unusable = true;
                }
                false
            }
            Ok(moved) => {
                self.refused(zone, format!("{} moved only {moved} bytes", described(io)));
                true
            }
            Err(number) => match Errno::from_raw(number) {
                // Gone, and a report would only say so once more.
                Errno::ENOSPC | Errno::ENODEV | Errno::ENXIO => false,
                // What cannot report its zones cannot be helped by a report.
                _ if io.op == Op::Zone(ZoneOp::Report) => false,
                Errno::ETOOMANYREFS | Errno::EOVERFLOW if self.slots.contains(&Some(zone)) => {
                    self.give_up(zone);
                    true
                }
                _ => {
                    self.refused(zone, format!("{}: {}", described(io), errno_text(number)));
                    true
                }
            },
        }
    }

    fn zone_of(&self, io: &Io) -> Option<usize> {
        let at = self.places.partition_point(|place| place.start <= io.offset).checked_sub(1)?;
        let within = matches!(io.op, Op::Write | Op::Zone(_)) && io.offset < self.places[at].end;
        within.then_some(at)
    }

    fn refused(&mut self, zone: usize, why: String) {
        let place = &mut self.places[zone];
        place.refusals += 1;
        place.must_report = true;
        if place.refusals >= MOST_REFUSALS {
            self.failed.get_or_insert(why);
        } else if self.zbd.task == ZoneTask::Reset {
            self.to_reset.push(zone);
        }
    }

    /// The drive takes no zone more: this one's slot is closed for good.
    fn give_up(&mut self, zone: usize) {
        self.slots.retain(|slot| *slot != Some(zone));
        self.places[zone].must_report = true;
        self.turn = 0;
        let taken = self.slots.len();
        self.limit_met = Some(taken);
        if taken == 0 {
            self.failed.get_or_insert(
                "the drive takes not one more open zone: others are open or closed outside the region".to_owned(),
            );
        }
    }

    /// What there is to say at its end.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        self.limit_met.map(|taken| format!("the drive took no more than {taken} zones side by side"))
    }
}

#[cfg(test)]
mod tests;
