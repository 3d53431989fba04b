//! One simulated drive: the layers stacked, and one mechanism that does one thing at a time.

use super::cache::{CacheParams, Dirty, DramCache};
use super::flash::Flash;
use super::interface::Interface;
use super::load::Competitor;
use super::media::{Media, millis};
use super::noise::Noise;
use super::preset::{Inside, Preset};
use super::translation::{OverloadAnswer, Translation, Write};
use super::zones::{EIO, Zones};
use crate::model::Nanos;
use crate::model::zone::{Zone, ZoneOp};
use crate::probe::engine::Op;

/// `EINVAL`: what Linux answers to a misaligned or empty direct I/O, and to a read past the end.
pub const EINVAL: i32 = 22;
/// `ENOSPC`: what Linux answers to a write past the end of a block device.
pub const ENOSPC: i32 = 28;
/// `EOPNOTSUPP`: what Linux answers to a zone operation on a drive without zones.
pub const EOPNOTSUPP: i32 = 95;

/// Reads go first, but one cached write is put away before every so many of them, so that a
/// reader cannot hold the cache for ever (syn).
const READS_PER_DRAIN: u32 = 8;
/// After a read the drive stays for the next one this long before it turns to its cached writes, ms (syn).
const LINGER_MS: f64 = 10.0;
/// In-drive time to acknowledge a cached write or to find a block in DRAM, ms (syn).
const FIRMWARE_MS: f64 = 0.02;
/// In-drive time of a trim, ms (syn).
const TRIM_MS: f64 = 0.05;

/// A drive in use. Its whole future is a function of the preset, the seed and the I/Os.
#[derive(Debug, Clone)]
pub struct SimDrive {
    capacity: u64,
    logical_block: u64,
    interface: Interface,
    zones: Option<Zones>,
    inside: Mechanism,
}

#[derive(Debug, Clone)]
enum Mechanism {
    Disk(Box<Disk>),
    Flash(Box<Flash>),
}

#[derive(Debug, Clone)]
struct Disk {
    cache: DramCache,
    translation: Translation,
    media: Media,
    /// When each arm has done what it was given so far.
    free_at: Vec<Nanos>,
    /// When the last command ended: idle cleaning counts from here.
    quiet_since: Nanos,
    reads_since_drain: u32,
    lingers_until: Nanos,
    competitor: Option<Competitor>,
}

impl SimDrive {
    /// A drive as it leaves its box.
    #[must_use]
    pub fn new(preset: &Preset, seed: u64) -> Self {
        let noise = Noise::new(seed);
        let (capacity, inside) = match &preset.inside {
            Inside::Disk { media, cache, translation } => (
                media.capacity,
                Mechanism::Disk(Box::new(Disk {
                    cache: DramCache::new(*cache),
                    translation: Translation::new(translation.clone(), media.capacity),
                    free_at: vec![Nanos(0); media.actuators.max(1)],
                    media: Media::new(media.clone(), noise),
                    quiet_since: Nanos(0),
                    reads_since_drain: 0,
                    lingers_until: Nanos(0),
                    competitor: preset.competitor.map(Competitor::new),
                })),
            ),
            Inside::Flash { capacity, flash } => {
                (*capacity, Mechanism::Flash(Box::new(Flash::new(flash.clone(), noise))))
            }
        };
        Self {
            capacity,
            logical_block: u64::from(preset.logical_block),
            interface: Interface::new(preset.interface),
            zones: preset.zones.map(|zones| Zones::new(zones, preset.capacity())),
            inside,
        }
    }

    /// The same drive with zones as they were left.
    #[must_use]
    pub fn with_zones(mut self, zones: Zones) -> Self {
        self.zones = Some(zones);
        self
    }

    /// The zones that a report from `from` on brings; none on a drive without.
    #[must_use]
    pub fn report_from(&self, from: u64) -> Vec<Zone> {
        self.zones.as_ref().map(|zones| zones.table().report_from(from)).unwrap_or_default()
    }

    /// Hands over one I/O at `now`, which must not go back. Returns when it will have ended.
    /// How many others are in flight the drive knows by itself.
    ///
    /// # Errors
    /// The error number a kernel would answer with: [`EINVAL`], [`ENOSPC`], or those of [`zones`](super::zones).
    pub fn submit(&mut self, now: Nanos, op: Op, offset: u64, len: u64) -> Result<Nanos, i32> {
        self.submit_flagged(now, op, offset, len, false)
    }

    /// As [`submit`](Self::submit); with `fua` a write is acknowledged only at its place on the medium.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn submit_flagged(&mut self, now: Nanos, op: Op, offset: u64, len: u64, fua: bool) -> Result<Nanos, i32> {
        if let Op::Flush { .. } = op {
            return Ok(self.flush(now));
        }
        if let Op::Zone(op) = op {
            return self.manage_zone(now, op, offset);
        }
        if len == 0 || !offset.is_multiple_of(self.logical_block) || !len.is_multiple_of(self.logical_block) {
            return Err(EINVAL);
        }
        if offset.checked_add(len).is_none_or(|end| end > self.capacity) {
            return Err(if op == Op::Read { EINVAL } else { ENOSPC });
        }
        // A drive without zones puts everything where its layers say.
        let mut home = false;
        let mut closing_ms = 0.0;
        let mut blank = false;
        if let Some(zones) = &self.zones {
            match op {
                Op::Write => {
                    let taken = zones.table().write(offset, len)?;
                    (home, closing_ms) = (taken.home, taken.ms);
                }
                Op::Read => blank = zones.table().is_blank(offset),
                Op::Trim | Op::Flush { .. } | Op::Zone(_) => {}
            }
        }
        let (start, queue) = self.interface.admit(now);
        if let (Op::Write, Mechanism::Disk(disk)) = (op, &mut self.inside) {
            match disk.translation.overload(&mut disk.media) {
                None => {}
                // What the kernel makes of ID NOT FOUND when it has tried often enough.
                Some(OverloadAnswer::IdNotFound) => return Err(EIO),
                Some(OverloadAnswer::Stall(ms)) => closing_ms += ms,
            }
        }
        self.inside.busy(start, closing_ms);
        let done = match &mut self.inside {
            // What was never written is zeros, for which nothing has to move.
            _ if blank => self.interface.transfer(start, start + millis(FIRMWARE_MS), len),
            inside if op == Op::Trim => {
                if let Mechanism::Disk(disk) = inside {
                    disk.translation.trim(&mut disk.media, offset, len);
                }
                start + millis(TRIM_MS)
            }
            Mechanism::Disk(disk) => match op {
                Op::Read => disk.read(&mut self.interface, start, queue, offset, len),
                _ => disk.write(&mut self.interface, start, queue, Asked { offset, len, fua, home }),
            },
            Mechanism::Flash(flash) => {
                let ready = match op {
                    Op::Read => flash.read(start),
                    _ => flash.write(start, len),
                };
                self.interface.transfer(start, ready, len)
            }
        };
        self.interface.occupy(done);
        Ok(done)
    }

    /// Everything acknowledged so far is on the medium when it returns; a drive with nothing to do answers at once.
    fn flush(&mut self, now: Nanos) -> Nanos {
        let (start, queue) = self.interface.admit(now);
        let done = match &mut self.inside {
            Mechanism::Disk(disk) => disk.flush(start, queue),
            Mechanism::Flash(flash) => flash.flush(start),
        };
        let done = done + millis(FIRMWARE_MS);
        self.interface.occupy(done);
        done
    }

    /// Does something to a zone. It waits for its turn on the one mechanism, and holds up what comes after it.
    fn manage_zone(&mut self, now: Nanos, op: ZoneOp, offset: u64) -> Result<Nanos, i32> {
        let zones = self.zones.as_ref().ok_or(EOPNOTSUPP)?;
        let ms = zones.table().manage(op, offset)?;
        let (start, _) = self.interface.admit(now);
        let done = match op {
            // The table is in memory.
            ZoneOp::Report => start + millis(ms),
            _ => self.inside.busy(start, ms),
        };
        let done = done + millis(FIRMWARE_MS);
        self.interface.occupy(done);
        Ok(done)
    }

    /// Whether its volatile cache acknowledges writes; `None` for flash, whose model has no such switch.
    #[must_use]
    pub fn write_back(&self) -> Option<bool> {
        match &self.inside {
            Mechanism::Disk(disk) => Some(disk.cache.write_back()),
            Mechanism::Flash(_) => None,
        }
    }

    /// Switches the volatile cache, as MODE SELECT does with WCE.
    pub fn set_write_back(&mut self, on: bool) {
        if let Mechanism::Disk(disk) = &mut self.inside {
            disk.cache.set_write_back(on);
        }
    }

    /// Power is lost at `now`, and comes back at once. Returns the writes that were acknowledged and are lost: what the volatile cache
    /// still held. Flash is taken to have power for that moment (syn).
    pub fn cut_power(&mut self, now: Nanos) -> Vec<Dirty> {
        self.interface = Interface::new(self.interface.params());
        match &mut self.inside {
            Mechanism::Disk(disk) => disk.cut_power(now),
            Mechanism::Flash(_) => Vec::new(),
        }
    }

    /// Bytes of acknowledged writes that are not at home (in a media cache or a shingled disk's cache area).
    #[must_use]
    pub fn away_bytes(&self) -> u64 {
        match &self.inside {
            Mechanism::Disk(disk) => disk.translation.away_bytes(),
            Mechanism::Flash(_) => 0,
        }
    }
}

/// One write, as it was asked for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    offset: u64,
    len: u64,
    fua: bool,
    home: bool,
}

impl Mechanism {
    /// Is busy for `ms` from `start` at the earliest. Until when.
    fn busy(&mut self, start: Nanos, ms: f64) -> Nanos {
        match self {
            Self::Disk(disk) if ms > 0.0 => {
                disk.catch_up(start);
                let done = disk.all_free().max(start) + millis(ms);
                disk.free_at.fill(done);
                disk.quiet_since = done;
                done
            }
            Self::Disk(_) => start,
            Self::Flash(_) => start + millis(ms),
        }
    }
}

impl Disk {
    /// When the last of its arms has done what it was given so far.
    fn all_free(&self) -> Nanos {
        self.free_at.iter().copied().max().unwrap_or(Nanos(0))
    }

    /// Everything the drive did by itself, and for others, before `now`.
    fn catch_up(&mut self, now: Nanos) {
        loop {
            let drain = self.cache.oldest().map(|oldest| {
                let free = self.free_at[self.media.actuator_of(oldest.offset)];
                free.max(oldest.arrived).max(self.lingers_until)
            });
            let other = self.competitor.as_ref().map(Competitor::next);
            let drain = drain.filter(|start| *start < now);
            match (drain, other.filter(|next| *next < now)) {
                (None, None) => break,
                (Some(start), other) if other.is_none_or(|next| start < next) => self.drain_one(start, 0),
                _ => self.serve_other(),
            }
        }
        if !self.cache.is_empty() {
            return;
        }
        let since = self.quiet_since.max(self.all_free());
        if let Some(busy) = self.translation.idle(&mut self.media, since, now) {
            for free in &mut self.free_at {
                *free = (*free).max(busy);
            }
        }
    }

    /// Reads for somebody else.
    fn serve_other(&mut self) {
        let Some(competitor) = &mut self.competitor else { return };
        let capacity = self.media.params().capacity;
        let (at, offset, len) = competitor.take(self.media.noise(), capacity);
        let free = &mut self.free_at[self.media.actuator_of(offset)];
        *free = (*free).max(at) + millis(self.translation.read(&mut self.media, offset, len, 1));
        self.quiet_since = self.quiet_since.max(*free);
    }

    /// Puts the oldest cached write away, at `from` at the earliest, chosen among at least `queue`.
    fn drain_one(&mut self, from: Nanos, queue: u64) {
        let queue = u64::try_from(self.cache.len()).unwrap_or(u64::MAX).max(queue);
        let Some(Dirty { arrived, offset, len, home }) = self.cache.pop() else { return };
        let write = Write { offset, len, queue, uncached: false, synced: false, home };
        let ms = self.translation.write(&mut self.media, write);
        let free = &mut self.free_at[self.media.actuator_of(offset)];
        *free = (*free).max(arrived).max(from) + millis(ms);
    }

    fn write(&mut self, interface: &mut Interface, start: Nanos, queue: u64, asked: Asked) -> Nanos {
        let Asked { offset, len, fua, home } = asked;
        self.catch_up(start);
        let safe = self.cache.params().non_volatile;
        let done = if safe || (self.cache.write_back() && !fua) {
            let mut arrived = start;
            if !self.cache.replaces(offset, len) {
                while let (false, Some(oldest)) = (self.cache.has_room(len), self.cache.oldest()) {
                    self.drain_one(start, 0);
                    arrived = arrived.max(self.free_at[self.media.actuator_of(oldest.offset)]);
                }
                self.cache.push(Dirty { arrived, offset, len, home });
            }
            interface.transfer(arrived, arrived + millis(FIRMWARE_MS), len)
        } else {
            let across = interface.transfer(start, start, len);
            while !self.cache.is_empty() {
                self.drain_one(start, 0);
            }
            // FUA asks for the place itself; a disk whose cache is merely off may use any platter.
            let write = Write { offset, len, queue, uncached: !fua, synced: true, home };
            let ms = self.translation.write(&mut self.media, write);
            let free = &mut self.free_at[self.media.actuator_of(offset)];
            *free = (*free).max(across) + millis(ms);
            *free
        };
        self.quiet_since = done;
        done
    }

    /// Puts all cached writes away, and makes them safe where they are. `queue` commands wait for it, itself included.
    fn flush(&mut self, start: Nanos, queue: u64) -> Nanos {
        self.catch_up(start);
        let CacheParams { non_volatile, flush, .. } = *self.cache.params();
        if non_volatile {
            return start;
        }
        if flush.pretends {
            return start + millis(0.4 + 0.4 * self.media.noise().uniform());
        }
        if flush.stall_ms > 0.0 && self.lingers_until > start {
            let free = self.all_free().max(start) + millis(flush.stall_ms);
            self.free_at.fill(free);
        }
        while !self.cache.is_empty() {
            self.drain_one(start, if flush.merges { queue } else { 0 });
        }
        let ms = self.translation.sync(&mut self.media);
        // What it puts away by itself may still be under way.
        let done = self.all_free().max(start) + millis(ms);
        if ms > 0.0 {
            self.free_at.fill(done);
        }
        self.quiet_since = self.quiet_since.max(done);
        done
    }

    fn read(&mut self, interface: &mut Interface, start: Nanos, queue: u64, offset: u64, len: u64) -> Nanos {
        self.catch_up(start);
        let done = if self.cache.holds(offset, len) {
            interface.transfer(start, start + millis(FIRMWARE_MS), len)
        } else {
            self.reads_since_drain += 1;
            if self.reads_since_drain >= READS_PER_DRAIN {
                self.reads_since_drain = 0;
                self.drain_one(start, 0);
            }
            let arm = self.media.actuator_of(offset);
            let begin = self.free_at[arm].max(start);
            let ready = begin + millis(self.translation.read(&mut self.media, offset, len, queue));
            self.free_at[arm] = ready;
            interface.transfer(begin, ready, len)
        };
        self.quiet_since = done;
        self.lingers_until = done + millis(LINGER_MS);
        done
    }

    fn cut_power(&mut self, now: Nanos) -> Vec<Dirty> {
        self.catch_up(now);
        if self.cache.params().non_volatile {
            return Vec::new();
        }
        self.free_at.fill(now);
        std::iter::from_fn(|| self.cache.pop()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::preset;

    #[test]
    fn nothing_past_the_end_nothing_crooked_and_nothing_empty_is_done() {
        let preset = preset::cmr_14tb();
        let mut drive = SimDrive::new(&preset, 1);
        let end = preset.capacity();
        assert_eq!(drive.submit(Nanos(0), Op::Write, end, 4096), Err(ENOSPC));
        assert_eq!(drive.submit(Nanos(0), Op::Write, end - 4096, 8192), Err(ENOSPC));
        assert_eq!(drive.submit(Nanos(0), Op::Read, end, 4096), Err(EINVAL));
        assert_eq!(drive.submit(Nanos(0), Op::Write, u64::MAX - 511, 4096), Err(ENOSPC));
        assert_eq!(drive.submit(Nanos(0), Op::Read, 100, 4096), Err(EINVAL));
        assert_eq!(drive.submit(Nanos(0), Op::Read, 0, 0), Err(EINVAL));
        assert!(drive.submit(Nanos(0), Op::Write, end - 4096, 4096).is_ok());
    }

    #[test]
    fn a_cached_write_is_acknowledged_long_before_the_head_has_moved() {
        let mut drive = SimDrive::new(&preset::cmr_14tb(), 1);
        let done = drive.submit(Nanos(0), Op::Write, 1 << 43, 4096).unwrap();
        assert!(done < Nanos(200_000), "{done}");
        let mut read = SimDrive::new(&preset::cmr_14tb(), 1);
        assert!(read.submit(Nanos(0), Op::Read, 1 << 43, 4096).unwrap() > Nanos(5_000_000));
    }

    #[test]
    fn a_flush_takes_as_long_as_the_cache_is_full_and_none_when_it_is_empty() {
        let flush = |writes: u64| {
            let mut drive = SimDrive::new(&preset::cmr_14tb(), 1);
            let mut now = Nanos(0);
            for nth in 0..writes {
                now = drive.submit(now, Op::Write, nth << 37, 4096).unwrap();
            }
            let done = drive.submit(now, Op::Flush { data_only: false }, 0, 0).unwrap();
            let again = drive.submit(done, Op::Flush { data_only: true }, 0, 0).unwrap();
            assert!(again - done < Nanos(1_000_000), "nothing is left to flush: {}", again - done);
            done - now
        };
        let (none, few, many) = (flush(0), flush(2), flush(50));
        assert!(none < few && few < many && many > Nanos(100_000_000), "{none} {few} {many}");
    }

    #[test]
    fn a_trim_costs_little_and_stays_inside() {
        let preset = preset::dm_14tb();
        let mut drive = SimDrive::new(&preset, 1);
        assert!(drive.submit(Nanos(0), Op::Trim, 0, 1 << 30).unwrap() < Nanos(1_000_000));
        assert_eq!(drive.submit(Nanos(0), Op::Trim, preset.capacity(), 4096), Err(ENOSPC));
    }

    #[test]
    fn what_was_just_written_is_read_from_dram() {
        let mut drive = SimDrive::new(&preset::cmr_14tb(), 1);
        let mut now = Nanos(0);
        // The first is being put away; the last is still waiting.
        for nth in 0..50u64 {
            now = drive.submit(now, Op::Write, nth << 37, 4096).unwrap();
        }
        let done = drive.submit(now, Op::Read, 49 << 37, 4096).unwrap();
        assert!(done - now < Nanos(200_000), "{}", done - now);
    }

    #[test]
    fn the_same_seed_gives_the_same_times_and_another_seed_others() {
        let times = |seed| {
            let mut drive = SimDrive::new(&preset::dm_14tb(), seed);
            let mut now = Nanos(0);
            (0..2_000u64)
                .map(|i| {
                    let op = if i % 3 == 0 { Op::Read } else { Op::Write };
                    now = drive
                        .submit(now, op, (i * 7_919_000_000_000) % 13_000_000_000_000 / 4096 * 4096, 4096)
                        .unwrap();
                    now
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(times(5), times(5));
        assert_ne!(times(5), times(6));
    }

    /// A conventional disk with this change.
    fn changed(change: impl FnOnce(&mut CacheParams, &mut crate::sim::media::MediaParams)) -> SimDrive {
        let mut preset = preset::cmr_14tb();
        preset.interface = crate::sim::interface::InterfaceParams::SATA;
        if let Inside::Disk { cache, media, .. } = &mut preset.inside {
            change(cache, media);
        }
        SimDrive::new(&preset, 1)
    }

    const FLUSH: Op = Op::Flush { data_only: false };

    #[test]
    fn what_was_not_flushed_is_lost_with_the_power_and_what_was_is_not() {
        let mut drive = changed(|_, _| ());
        let mut now = Nanos(0);
        for nth in 0..40u64 {
            now = drive.submit(now, Op::Write, nth << 37, 4096).unwrap();
        }
        let lost = drive.clone().cut_power(now);
        assert!(lost.len() > 30 && lost.iter().all(|write| write.len == 4096), "{}", lost.len());
        now = drive.submit(now, FLUSH, 0, 0).unwrap();
        now = drive.submit(now, Op::Write, 1 << 40, 4096).unwrap();
        now = drive.submit(now, Op::Write, 1 << 41, 4096).unwrap();
        // The first is on its way to the platter already.
        assert_eq!(drive.cut_power(now).iter().map(|write| write.offset).collect::<Vec<_>>(), [1 << 41]);
        assert!(drive.submit(now, Op::Read, 1 << 41, 4096).unwrap() > now);
    }

    #[test]
    fn a_flush_that_only_pretends_answers_at_once_and_loses_what_it_called_safe() {
        let mut drive = changed(|cache, _| cache.flush.pretends = true);
        let mut now = Nanos(0);
        for nth in 0..40u64 {
            now = drive.submit(now, Op::Write, nth << 37, 4096).unwrap();
        }
        let done = drive.submit(now, FLUSH, 0, 0).unwrap();
        assert!(done - now < Nanos(900_000), "{}", done - now);
        assert!(!drive.cut_power(done).is_empty());
    }

    #[test]
    fn what_outlives_a_loss_of_power_needs_no_flush() {
        let mut drive = changed(|cache, _| (cache.non_volatile, cache.write_back) = (true, false));
        let mut now = Nanos(0);
        for nth in 0..40u64 {
            now = drive.submit(now, Op::Write, nth << 37, 4096).unwrap();
        }
        assert!(now < Nanos::from_millis(10), "{now}");
        let done = drive.submit(now, FLUSH, 0, 0).unwrap();
        assert!(done - now < Nanos(100_000) && drive.cut_power(done).is_empty());
    }

    #[test]
    fn a_reader_holds_up_the_flush_of_a_drive_that_is_so_made() {
        let took = |stall_ms, reads: bool| {
            let mut drive = changed(|cache, _| cache.flush.stall_ms = stall_ms);
            let mut now = drive.submit(Nanos(0), Op::Write, 1 << 40, 4096).unwrap();
            if reads {
                now = drive.submit(now, Op::Read, 1 << 41, 4096).unwrap();
            }
            drive.submit(now, FLUSH, 0, 0).unwrap() - now
        };
        assert!(took(100.0, false) < Nanos::from_millis(40));
        assert!(took(100.0, true) > Nanos::from_millis(100));
        assert!(took(0.0, true) < Nanos::from_millis(40));
    }

    /// Writes of a block and a flush each, by writers side by side, a second.
    fn synced(merges: bool, writers: u64) -> f64 {
        let mut drive = changed(|cache, _| cache.flush.merges = merges);
        let mut at = vec![Nanos(0); usize::try_from(writers).unwrap()];
        for nth in 0..3_000u64 {
            let (writer, now) = at.iter().copied().enumerate().min_by_key(|(_, now)| *now).unwrap();
            let done = drive.submit(now, Op::Write, (1 << 40) + ((nth % writers) << 30), 4096).unwrap();
            at[writer] = drive.submit(done, FLUSH, 0, 0).unwrap();
        }
        3_000.0 / at.iter().max().unwrap().as_secs_f64()
    }

    #[test]
    fn writers_that_flush_side_by_side_share_the_way_as_they_did_on_the_disk_that_was_measured() {
        let (one, six, unmerged) = (synced(true, 1), synced(true, 6), synced(false, 6));
        assert!((one / 118.0 - 1.0).abs() < 0.05, "{one} a second");
        assert!((six / 278.0 - 1.0).abs() < 0.25, "{six} a second");
        assert!(unmerged < six, "{unmerged}");
    }

    #[test]
    fn two_arms_read_more_than_one() {
        let rate = |actuators| {
            let mut drive = changed(|_, media| media.actuators = actuators);
            let mut at = [Nanos(0); 2];
            for nth in 0..4_000u64 {
                let writer = usize::from(at[1] < at[0]);
                let half = 6_900_000_000_000 / 4096 * 4096;
                let offset = (nth * 7_919_000_003 * 4096) % half + if writer == 0 { 0 } else { half };
                at[writer] = drive.submit(at[writer], Op::Read, offset, 4096).unwrap();
            }
            4_000.0 / at[0].max(at[1]).as_secs_f64()
        };
        assert!(rate(2) > 1.5 * rate(1), "{} {}", rate(2), rate(1));
    }
}
