use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::model::units::Nanos;
use crate::model::workload::Rw;
use crate::model::zone::{ZoneCondition, ZoneType};

const BLOCK: u64 = 4096;
const EIO: i32 = Errno::EIO as i32;

/// A drive that takes nothing out of order, and keeps count.
struct Strict {
    zones: Vec<Zone>,
    /// Bytes written of each zone since its reset.
    written: BTreeMap<u64, u64>,
    open: Vec<u64>,
    most_open: usize,
    takes_open: usize,
    /// Zones that refuse their next write once.
    refuses: Vec<u64>,
}

impl Strict {
    /// `count` zones of `size` blocks of which `capacity` can be written; the first is conventional, the rest are filled as
    /// `filled` says, in blocks.
    fn new(size: u64, capacity: u64, filled: &[u64]) -> Self {
        let conventional = Zone::new(
            Bytes(0),
            Bytes(size * BLOCK),
            Bytes(size * BLOCK),
            Bytes(0),
            ZoneType::Conventional,
            ZoneCondition::NotWritePointer,
        );
        let mut drive = Self {
            zones: vec![conventional],
            written: BTreeMap::new(),
            open: Vec::new(),
            most_open: 0,
            takes_open: usize::MAX,
            refuses: Vec::new(),
        };
        for (number, filled) in (1..).zip(filled) {
            let start = number * size * BLOCK;
            let condition = match *filled {
                0 => ZoneCondition::Empty,
                filled if filled >= capacity => ZoneCondition::Full,
                _ => ZoneCondition::Closed,
            };
            let kind = ZoneType::SequentialWriteRequired;
            let length = Bytes(size * BLOCK);
            let pointer = Bytes(start + filled.min(&capacity) * BLOCK);
            drive.zones.push(Zone::new(Bytes(start), length, Bytes(capacity * BLOCK), pointer, kind, condition));
            drive.written.insert(start, filled.min(&capacity) * BLOCK);
        }
        drive
    }

    fn zone_of(&self, offset: u64) -> Zone {
        *self.zones.iter().rev().find(|zone| zone.start_bytes.0 <= offset).unwrap()
    }

    /// The zones as they are now, two at a time: a report may take several questions.
    fn report(&self, from: u64) -> Vec<Zone> {
        let now = |zone: &Zone| match self.written.get(&zone.start_bytes.0) {
            None => *zone,
            Some(written) => {
                let condition = match *written {
                    written if written >= zone.capacity_bytes.0 => ZoneCondition::Full,
                    _ if self.open.contains(&zone.start_bytes.0) => ZoneCondition::ImplicitOpen,
                    0 => ZoneCondition::Empty,
                    _ => ZoneCondition::Closed,
                };
                let pointer = Bytes(zone.start_bytes.0 + written);
                let (start, length, capacity) = (zone.start_bytes, zone.length_bytes, zone.capacity_bytes);
                Zone::new(start, length, capacity, pointer, zone.zone_type, condition)
            }
        };
        let behind = |zone: &&Zone| zone.start_bytes.0 + zone.length_bytes.0 > from;
        self.zones.iter().filter(behind).take(2).map(now).collect()
    }

    /// Carries it out as a host-managed drive would; what a pattern must never ask fails the test.
    fn carry_out(&mut self, io: Io) -> Result<u32, i32> {
        let zone = self.zone_of(io.offset);
        let start = zone.start_bytes.0;
        let written = self.written.get(&start).copied();
        match io.op {
            Op::Write => {
                let written = written.expect("a conventional zone is not written");
                assert_eq!(io.offset, start + written, "not at the pointer");
                assert!(
                    io.len > 0 && written + u64::from(io.len) <= zone.capacity_bytes.0,
                    "past the capacity: {io:?}"
                );
                if let Some(at) = self.refuses.iter().position(|refusing| *refusing == start) {
                    // It has moved its pointer by itself, as after a power cut.
                    self.refuses.remove(at);
                    self.written.insert(start, written + BLOCK);
                    return Err(EIO);
                }
                if !self.open.contains(&start) {
                    self.open_one(start)?;
                }
                self.written.insert(start, written + u64::from(io.len));
                if written + u64::from(io.len) == zone.capacity_bytes.0 {
                    self.open.retain(|open| *open != start);
                }
            }
            Op::Zone(op) => {
                assert_eq!((io.offset, io.len), (start, 0));
                let written = written.expect("a conventional zone is left alone");
                match op {
                    ZoneOp::Open if !self.open.contains(&start) => self.open_one(start)?,
                    ZoneOp::Open | ZoneOp::Report => {}
                    ZoneOp::Close => {
                        assert!(self.open.contains(&start), "ZNS would refuse to close it");
                        self.open.retain(|open| *open != start);
                    }
                    ZoneOp::Reset => {
                        self.open.retain(|open| *open != start);
                        self.written.insert(start, 0);
                    }
                    ZoneOp::Finish => {
                        assert!(written > 0);
                        self.open.retain(|open| *open != start);
                        self.written.insert(start, zone.capacity_bytes.0);
                    }
                }
            }
            _ => panic!("{io:?}"),
        }
        Ok(io.len)
    }

    fn open_one(&mut self, start: u64) -> Result<(), i32> {
        if self.open.len() >= self.takes_open {
            return Err(Errno::ETOOMANYREFS as i32);
        }
        self.open.push(start);
        self.most_open = self.most_open.max(self.open.len());
        Ok(())
    }
}

/// What was asked, in order; at most `depth` are in flight, and they end in the order asked.
fn carried_out(zoned: &mut Zoned, drive: &mut Strict, depth: usize, count: usize) -> (Vec<Io>, ZonedNext) {
    let mut asked = Vec::new();
    let mut in_flight: Vec<Io> = Vec::new();
    let mut last = ZonedNext::Wait;
    while asked.len() < count {
        let next = if in_flight.len() < depth { zoned.next_io() } else { ZonedNext::Wait };
        match next {
            ZonedNext::Io { io, .. } => {
                let one_each = in_flight
                    .iter()
                    .all(|other| drive.zone_of(other.offset).start_bytes != drive.zone_of(io.offset).start_bytes);
                assert!(one_each, "two in one zone: {io:?}");
                asked.push(io);
                in_flight.push(io);
            }
            ZonedNext::Wait if in_flight.is_empty() => panic!("it waits for nothing after {asked:?}"),
            ZonedNext::Wait => end_one(zoned, drive, in_flight.remove(0)),
            other => {
                last = other;
                break;
            }
        }
    }
    for io in in_flight {
        end_one(zoned, drive, io);
    }
    (asked, last)
}

fn end_one(zoned: &mut Zoned, drive: &mut Strict, io: Io) {
    let result = if io.op == Op::Zone(ZoneOp::Report) {
        zoned.reported(&io, &drive.report(io.offset));
        Ok(0)
    } else {
        drive.carry_out(io)
    };
    let settled = zoned.settles(&Completion { io, issued: Nanos(0), completed: Nanos(1), result });
    assert!(result.is_ok() || settled, "{io:?} {result:?}");
}

fn zoned(zbd: Zbd, rw: Rw, blocks_per_write: u64, drive: &Strict) -> Zoned {
    let size = drive.zones.iter().map(|zone| zone.length_bytes).sum();
    Zoned::new(&Workload::new(rw, Bytes(blocks_per_write * BLOCK), Bytes(0), size), zbd)
}

/// What is asked of `drive`, one at a time, in letters.
fn asked_of(zbd: Zbd, mut drive: Strict, count: usize) -> (String, Vec<Io>, ZonedNext) {
    let mut zoned = zoned(zbd, Rw::Write, 2, &drive);
    let (asked, last) = carried_out(&mut zoned, &mut drive, 1, count);
    (ops(&asked), asked, last)
}

fn ops(asked: &[Io]) -> String {
    let letter = |io: &Io| match io.op {
        Op::Write => 'w',
        Op::Zone(ZoneOp::Report) => '?',
        Op::Zone(ZoneOp::Reset) => 'R',
        Op::Zone(ZoneOp::Open) => 'O',
        Op::Zone(ZoneOp::Close) => 'C',
        Op::Zone(ZoneOp::Finish) => 'F',
        _ => 'x',
    };
    asked.iter().map(letter).collect()
}

proptest! {
    #[test]
    fn every_write_is_at_a_pointer_within_the_capacity_and_no_more_zones_are_open_than_asked(
        size in 2u64..40, less in 0u64..20, filled in prop::collection::vec(0u64..60, 1..12), bs in 1u64..9,
        max_open in 1u32..8, depth in 1usize..9, random: bool, explicit: bool, pointer: bool, percent in 1u8..101,
        refused in prop::collection::vec(any::<prop::sample::Index>(), 0..3)
    ) {
        let capacity = (size - less.min(size - 1)).max(1);
        let mut drive = Strict::new(size, capacity, &filled);
        if capacity > bs + 1 {
            // Its zones are empty, so that the block it moves on by itself is one that can be written.
            drive.refuses = refused
                .iter()
                .map(|index| (1 + index.index(filled.len()) as u64) * size * BLOCK)
                .filter(|start| drive.written[start] == 0)
                .collect();
        }
        let zbd = Zbd {
            opening: if explicit { ZoneOpening::Explicit } else { ZoneOpening::Implicit },
            start: if pointer { ZoneStart::Pointer } else { ZoneStart::Reset },
            fill_percent: percent,
            finish: percent < 100,
            ..Zbd::write(u32::MAX, max_open)
        };
        let rw = if random { Rw::RandWrite } else { Rw::Write };
        let mut zoned = zoned(zbd, rw, bs, &drive);
        let (asked, last) = carried_out(&mut zoned, &mut drive, depth, 300);
        prop_assert_eq!(asked.len(), 300, "{:?}", last);
        prop_assert!(asked.iter().any(|io| io.op == Op::Write));
        // Zones that the drive opened before are closed ones here, and count as soon as they are written.
        prop_assert!(drive.most_open <= max_open as usize, "{} open", drive.most_open);
        while let Some(next) = zoned.leave() {
            let ZonedNext::Io { io, .. } = next else { panic!("{next:?}") };
            end_one(&mut zoned, &mut drive, io);
        }
        prop_assert!(!explicit || drive.open.is_empty(), "{:?} are left open", drive.open);
    }
}

#[test]
fn a_capacity_that_is_no_whole_number_of_blocks_ends_with_a_shorter_write() {
    let (ops, asked, _) = asked_of(Zbd::write(9, 1), Strict::new(8, 5, &[0, 0]), 9);
    assert_eq!(ops, "??wwwwwwR");
    let lens: Vec<_> = asked[2..8].iter().map(|io| u64::from(io.len) / BLOCK).collect();
    assert_eq!(lens, [2, 2, 1, 2, 2, 1], "zones of 8 blocks hold 5");
    assert_eq!(asked[5].offset, 16 * BLOCK, "the second begins at its start, not where the first one's capacity ends");
}

#[test]
fn explicit_zones_are_opened_and_closed_before_their_last_block_and_implicit_ones_never() {
    let explicit = Zbd { opening: ZoneOpening::Explicit, ..Zbd::write(9, 1) };
    assert_eq!(asked_of(explicit, Strict::new(8, 6, &[0, 0]), 12).0, "??OwwCwOwwCw");
    assert_eq!(asked_of(Zbd::write(9, 1), Strict::new(8, 6, &[0, 0]), 8).0, "??wwwwww");
}

#[test]
fn what_is_in_zones_is_reset_or_written_on() {
    let drive = || Strict::new(4, 4, &[4, 2, 0]);
    let reset = asked_of(Zbd::write(9, 1), drive(), 10).0;
    assert_eq!(reset, "??RRwwwwww", "the half full one at once, the full one when its turn comes");
    let on = Zbd { start: ZoneStart::Pointer, ..Zbd::write(9, 1) };
    let (on, asked, _) = asked_of(on, drive(), 8);
    assert_eq!(on, "??wwwRww", "the half full one is filled, then the empty one, then the full one is reset");
    assert_eq!(asked[2].offset, 10 * BLOCK);
}

#[test]
fn a_partly_filled_zone_is_finished() {
    let zbd = Zbd { fill_percent: 50, finish: true, ..Zbd::write(9, 1) };
    assert_eq!(asked_of(zbd, Strict::new(200, 200, &[0, 0]), 104).0.replace(&"w".repeat(50), "W"), "??WFWF");
}

#[test]
fn a_drive_that_takes_fewer_zones_than_asked_goes_on_with_those_and_it_is_said() {
    for opening in [ZoneOpening::Explicit, ZoneOpening::Implicit] {
        let mut drive = Strict { takes_open: 2, ..Strict::new(8, 8, &[0; 6]) };
        let mut zoned = zoned(Zbd { opening, ..Zbd::write(9, 4) }, Rw::Write, 2, &drive);
        let (asked, last) = carried_out(&mut zoned, &mut drive, 4, 100);
        assert_eq!((asked.len(), drive.most_open), (100, 2), "{last:?}");
        assert_eq!(zoned.remark().unwrap(), "the drive took no more than 2 zones side by side");
    }
    let (_, _, last) = asked_of(Zbd::write(9, 4), Strict { takes_open: 0, ..Strict::new(8, 8, &[0; 6]) }, 100);
    assert!(matches!(last, ZonedNext::Failed(why) if why.contains("not one more")));
}

#[test]
fn a_zone_that_goes_on_refusing_fails_the_phase_with_what_it_said() {
    let drive = Strict { refuses: vec![8 * BLOCK; 3], ..Strict::new(8, 8, &[0]) };
    let (ops, _, last) = asked_of(Zbd::write(9, 1), drive, 100);
    assert_eq!(ops, "?w?w?w", "each refusal has the zone reported anew");
    let told = "a write of 8192 bytes at byte 40960: EIO";
    assert!(matches!(&last, ZonedNext::Failed(why) if why.contains(told)), "{last:?}");
}

#[test]
fn a_reset_task_resets_what_is_not_empty_once() {
    let task = Zbd { task: ZoneTask::Reset, ..Zbd::write(9, 1) };
    let (ops, asked, last) = asked_of(task, Strict::new(4, 4, &[4, 0, 2, 0, 4]), 100);
    assert_eq!((ops.as_str(), last), ("???RRR", ZonedNext::Done("reset all 3 zones that were not empty".to_owned())));
    assert_eq!(asked[3..].iter().map(|io| io.offset / BLOCK / 4).collect::<Vec<_>>(), [1, 3, 5]);
}

#[test]
fn a_region_without_a_zone_that_takes_writes_is_said_to_be_one() {
    let workload = Workload::new(Rw::Write, Bytes(BLOCK), Bytes(BLOCK), Bytes(9 * BLOCK));
    let mut zoned = Zoned::new(&workload, Zbd::write(9, 1));
    let (_, last) = carried_out(&mut zoned, &mut Strict::new(8, 8, &[0, 0]), 1, 10);
    assert!(matches!(last, ZonedNext::Failed(why) if why.contains("no zone that takes writes")));
}
