//! The shingled translation layer with a conventional cache area and a static map: Seagate's
//! drive-managed disks (Aghayev & Desnoyers, "Skylight", FAST'15; csurbhi, "Lost in Translation").
//!
//! Bands are cleaned in the order in which they became dirty. csurbhi's round robin over the zones of the cache is the same: the log goes
//! through them in order, so a band's first copy lies where the log was then. Every block that is freed admits one that waits.

use super::Write;
use super::bands::Bands;
use super::extents::{Cleaned, Extents, Piece};
use crate::model::Nanos;
use crate::model::approx::{f64_of, u64_of};
use crate::model::units::MIB;
use crate::sim::media::{Media, millis};

/// What the cache lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// A conventional part of the platters.
    Platter,
    /// Flash: nothing has to move to get there.
    Flash,
}

/// What it takes to clean a band while a write waits for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Foreground {
    /// As measured.
    Measured {
        /// A band with a copy of each of its blocks at most, ms.
        band_ms: f64,
        /// For each further copy that a newer one had superseded, ms.
        stale_ms: f64,
        /// For each MiB of those, ms.
        stale_ms_per_mib: f64,
    },
    /// From first principles: to the band and back, and this share of it read and written again. 1 is the whole band; from the track
    /// that changed to the band's end it is half of it on average.
    Rewrite {
        /// 0 to 1.
        share: f64,
    },
}

/// What it takes to have a write safely in the cache before it is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synced {
    /// To close a record of the log, ms.
    pub record_ms: f64,
    /// A record holds no more than so many bytes; a longer write needs several.
    pub record_bytes: u64,
    /// Bytes of the cache that a closed record leaves unused.
    pub pad_bytes: u64,
}

/// The log of the cache is made safe now and then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checkpoint {
    /// After so many records. What nobody asks to be safe is gathered into records as long as they can be.
    pub every: u64,
    /// How long it takes, ms.
    pub ms: f64,
}

/// The constants of one such layer.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedStlParams {
    /// `C`: bytes of the cache area.
    pub cache_bytes: u64,
    /// `N`: entries of its map. The cliff comes after `min(C, N·bs)` bytes of random writes.
    pub map_entries: u64,
    /// The cache is so many parts, band `n` keeps to the one of `n` modulo their number, and a part is cleaned when it is full: the
    /// cliff is gradual, and earlier where writes keep to a small region. 1: any band may use all of it.
    pub sets: usize,
    /// What the cache lies on.
    pub store: Store,
    /// Rate of the cache area, MB/s (10^6).
    pub cache_rate: f64,
    /// Where on the stroke the cache area lies, 0 (outer) to 1 (inner).
    pub cache_place: f64,
    /// Share of overwrites of a cached block that take its old slot; the rest take new space.
    pub overwrite_in_place: f64,
    /// Bytes of a band at the outer edge, the least that can be rewritten.
    pub band_bytes: u64,
    /// Bytes of a band at the inner edge.
    pub inner_band_bytes: u64,
    /// To clean a band while a write waits for it.
    pub foreground: Foreground,
    /// To clean a band while idle, ms.
    pub background_ms: f64,
    /// Idle for so long, it begins to clean; seconds.
    pub idle_trigger_s: f64,
    /// An ordered stream of more bytes than these, with no flush in it, goes straight into its bands.
    pub stream_bytes: u64,
    /// Least time of one append to the cache, ms.
    pub append_ms: f64,
    /// What a write costs that has to be safe.
    pub synced: Synced,
    /// What its log needs now and then.
    pub checkpoint: Option<Checkpoint>,
}

/// Such a layer in use.
#[derive(Debug, Clone)]
pub struct CachedStl {
    params: CachedStlParams,
    extents: Extents,
    /// Of one part of the cache: `C` and `N` by their number.
    set_bytes: u64,
    set_entries: u64,
    log_head: u64,
    records: u64,
    /// Bytes in the record that is still open.
    open_bytes: u64,
    /// Bytes that the last write left in the cache.
    last_appended: u64,
    /// Where the last append went, if its record is still open.
    open_record: Option<u64>,
    stream_next: u64,
    stream_run: u64,
}

/// Standard deviation of ln(time to clean a band): the spread of the rate after the cliff
/// (quartiles 5.8 / 6.34 / 6.82 MiB/s, csurbhi, 1 MiB uniform).
const CLEAN_SD: f64 = 0.12;
/// To read a piece out of a cache of flash, ms (USENIX ATC'21: 85 µs).
const FLASH_READ_MS: f64 = 0.085;

impl CachedStl {
    /// With an empty cache, on a drive of `capacity` bytes.
    #[must_use]
    pub fn new(params: CachedStlParams, capacity: u64) -> Self {
        let sets = params.sets.max(1);
        let extents = Extents::new(Bands::shrinking(capacity, params.band_bytes, params.inner_band_bytes), sets);
        let parts = u64::try_from(sets).unwrap_or(1);
        Self {
            set_bytes: params.cache_bytes / parts,
            set_entries: (params.map_entries / parts).max(1),
            params,
            extents,
            log_head: 0,
            records: 0,
            open_bytes: 0,
            last_appended: 0,
            open_record: None,
            stream_next: u64::MAX,
            stream_run: 0,
        }
    }

    /// Bytes in the cache, superseded copies included.
    #[must_use]
    pub fn away_bytes(&self) -> u64 {
        self.extents.bytes()
    }

    /// Milliseconds to put a write on the medium, with all the cleaning that has to come first.
    pub fn write(&mut self, media: &mut Media, write: Write) -> f64 {
        self.stream_run = if write.offset == self.stream_next { self.stream_run + write.len } else { write.len };
        let end = write.offset + write.len;
        self.stream_next = end;
        // Synced chunks of any length went to the cache (aicodix/smr), also in order.
        let streaming = write.home || (!write.synced && self.stream_run > self.params.stream_bytes);
        let mut ms = 0.0;
        let mut appended = 0;
        let mut at = write.offset;
        while at < end {
            let (start, len) = self.extents.first_piece(at, end);
            ms += if streaming && !self.extents.is_dirty(self.extents.band_of(start)) {
                media.write(start, len, 1)
            } else {
                appended += len;
                self.append(media, start, len)
            };
            at += len;
        }
        self.last_appended = appended;
        if write.synced {
            ms += self.sync(media);
        }
        ms
    }

    /// Makes safe what was appended, if anything was since the last time. Milliseconds.
    pub fn sync(&mut self, media: &mut Media) -> f64 {
        self.stream_run = 0;
        let Some(start) = self.open_record.take() else { return 0.0 };
        let checkpoint_ms = if self.open_bytes > 0 { self.close_record() } else { 0.0 };
        let Synced { record_ms, record_bytes, pad_bytes } = self.params.synced;
        self.extents.pad(start, pad_bytes);
        self.log_head += pad_bytes;
        // The next record's turn is within the figure.
        media.park(self.place(media, self.log_head));
        let sd = media.params().noise_sd;
        // What was gathered before the last write has been closed on the way.
        let records = self.last_appended.div_ceil(record_bytes.max(1)).max(1);
        checkpoint_ms + record_ms * f64_of(records) * media.noise().factor(sd)
    }

    /// A record of the log is complete. Milliseconds of the checkpoint that follows some.
    fn close_record(&mut self) -> f64 {
        self.open_bytes = 0;
        self.records += 1;
        match self.params.checkpoint {
            Some(checkpoint) if self.records.is_multiple_of(checkpoint.every.max(1)) => checkpoint.ms,
            _ => 0.0,
        }
    }

    fn append(&mut self, media: &mut Media, start: u64, len: u64) -> f64 {
        let append_ms = self.params.append_ms.max(f64_of(len) / (self.params.cache_rate * 1e3));
        let mut ms = 0.0;
        self.open_bytes += len;
        if self.open_bytes >= self.params.synced.record_bytes {
            ms += self.close_record();
        }
        self.open_record = Some(start);
        if self.extents.holds(start, len) && media.noise().chance(self.params.overwrite_in_place) {
            return ms + append_ms;
        }
        let band = self.extents.band_of(start);
        loop {
            let (entries, bytes) = self.extents.used_by_set_of(band);
            if entries < self.set_entries && bytes.saturating_add(len) <= self.set_bytes {
                break;
            }
            let Some(cleaned) = self.extents.clean_for(band) else { break };
            ms += self.foreground_ms(media, cleaned);
            // The way to the band and back is within the figure.
            media.park(self.place(media, self.log_head));
        }
        let sd = media.params().noise_sd;
        let factor = media.noise().factor(sd);
        if self.params.store == Store::Platter {
            let place = self.place(media, self.log_head);
            let gain = media.params().drain_gain;
            ms += media.position(place, len, 1, gain);
        }
        self.extents.insert(start, len, self.log_head);
        self.log_head += len;
        ms + append_ms * factor
    }

    fn foreground_ms(&self, media: &mut Media, cleaned: Cleaned) -> f64 {
        let ms = match self.params.foreground {
            Foreground::Measured { band_ms, stale_ms, stale_ms_per_mib } => {
                let stale_mib = f64_of(cleaned.stale_bytes) / f64_of(MIB);
                band_ms + stale_ms * f64_of(cleaned.stale) + stale_ms_per_mib * stale_mib
            }
            Foreground::Rewrite { share } => {
                let (place, band_bytes) = self.extents.layout().place(cleaned.number);
                // Read at the rate of the place, and written at it.
                2.0 * media.params().mean_position_ms() + 2.0 * share * media.transfer(place, band_bytes)
            }
        };
        ms * media.noise().factor(CLEAN_SD)
    }

    /// The byte of the platter that position `log` of the cache lies at. The log wraps around.
    fn place(&self, media: &Media, log: u64) -> u64 {
        let capacity = media.params().capacity;
        let cache = self.params.cache_bytes.clamp(1, capacity);
        let first = u64_of(f64_of(capacity - cache) * self.params.cache_place);
        first + log % cache
    }

    /// Milliseconds to read: each cached piece is a trip to the cache area and back.
    pub fn read(&mut self, media: &mut Media, offset: u64, len: u64, queue: u64) -> f64 {
        let mut ms = 0.0;
        let mut queue = queue;
        for piece in self.extents.pieces(offset, len) {
            ms += match piece {
                Piece::Home { start, len } => media.read(start, len, queue),
                Piece::Cached(_) if self.params.store == Store::Flash => FLASH_READ_MS,
                Piece::Cached(extent) => {
                    let place = self.place(media, extent.at);
                    let gain = media.params().read_gain;
                    media.position(place, extent.len, queue, gain) + f64_of(extent.len) / (self.params.cache_rate * 1e3)
                }
            };
            // The pieces of one read follow one another: nothing to choose among.
            queue = 1;
        }
        ms
    }

    /// Cleans bands from the trigger on until `until`; the band in hand is finished.
    pub fn idle(&mut self, media: &mut Media, since: Nanos, until: Nanos) -> Option<Nanos> {
        let mut at = since + millis(self.params.idle_trigger_s * 1e3);
        let mut busy = None;
        while at < until && self.extents.clean_oldest().is_some() {
            at = at + millis(self.params.background_ms * media.noise().factor(CLEAN_SD));
            busy = Some(at);
        }
        busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::{GIB, KIB};
    use crate::sim::noise::Noise;
    use crate::sim::preset::{self, Inside};

    fn stl(change: impl FnOnce(&mut CachedStlParams)) -> (CachedStl, Media) {
        let Inside::Disk { media, .. } = preset::dm_8tb().inside else { panic!("a disk") };
        let mut params = preset::barracuda_stl();
        change(&mut params);
        (CachedStl::new(params, media.capacity), Media::new(media, Noise::new(1)))
    }

    fn write(offset: u64, len: u64) -> Write {
        Write { offset, len, queue: 1, uncached: false, synced: false, home: false }
    }

    #[test]
    fn an_overwrite_takes_its_old_slot_as_often_as_it_is_told() {
        for (share, least, most) in [(1.0, 1, 1), (0.35, 600, 700), (0.0, 1_000, 1_000)] {
            let (mut stl, mut media) = stl(|params| params.overwrite_in_place = share);
            for _ in 0..1_000 {
                stl.write(&mut media, write(GIB, 4 * KIB));
            }
            let slots = stl.away_bytes() / (4 * KIB);
            assert!((least..=most).contains(&slots), "{slots} of 1000 at {share}");
        }
    }

    #[test]
    fn an_ordered_stream_passes_by_the_cache_and_never_meets_a_cliff() {
        let (mut stl, mut media) = stl(|params| params.cache_bytes = GIB);
        let ms: f64 = (0..10 * 1024).map(|nth| stl.write(&mut media, write(nth * MIB, MIB))).sum();
        let rate = f64_of(10 * GIB) / ms / 1e3;
        assert!((rate / 197.0 - 1.0).abs() < 0.02, "{rate} MB/s at the outer edge");
        assert!(stl.away_bytes() <= 20 * MIB, "only its beginning: {}", stl.away_bytes());
    }

    #[test]
    fn a_band_with_a_cached_block_takes_no_stream() {
        // "A single 4 KiB random write in the middle stops the streaming" (Aghayev et al., FAST'17).
        let (mut stl, mut media) = stl(|_| ());
        stl.write(&mut media, write(100 * MIB + 4 * KIB, 4 * KIB));
        for nth in 0..200 {
            stl.write(&mut media, write(nth * MIB, MIB));
        }
        // The first band, where the stream began, and that of the block: 100 to 120 MiB.
        assert_eq!(stl.away_bytes(), 40 * MIB + 4 * KIB);
    }

    #[test]
    fn a_write_that_finds_the_map_full_pays_for_a_band() {
        let (mut stl, mut media) = stl(|params| params.map_entries = 10);
        let each: Vec<f64> = (0..11).map(|nth| stl.write(&mut media, write(nth * GIB, 4 * KIB))).collect();
        assert!(each[9] < 50.0 && each[10] > 80.0, "{each:?}");
        assert_eq!(stl.away_bytes(), 10 * 4 * KIB, "one band gone home, one block come");
    }

    #[test]
    fn a_cache_in_parts_fills_up_earlier_where_writes_keep_to_a_few_bands() {
        let written = |span: u64| {
            let (mut stl, mut media) = stl(|params| (params.sets, params.map_entries) = (16, 16_000));
            let bands = span / (20 * MIB);
            (0_u64..).find(|nth| {
                let offset = (nth * 7_919) % bands * 20 * MIB + nth / bands * 4 * KIB;
                stl.write(&mut media, write(offset, 4 * KIB)) > 80.0
            })
        };
        // Bands whose numbers are all alike modulo 16 would use one part only; a few bands use a few parts.
        assert_eq!(written(4 * 20 * MIB), Some(4_000));
        assert!(written(1_000 * 20 * MIB).unwrap() > 15_000);
    }

    #[test]
    fn a_cache_of_flash_needs_no_head_and_has_the_same_limits() {
        let (mut stl, mut media) = stl(|params| (params.store, params.map_entries) = (Store::Flash, 100));
        let each: Vec<f64> = (0..101).map(|nth| stl.write(&mut media, write(nth * GIB, 4 * KIB))).collect();
        assert!(each[..100].iter().all(|ms| *ms < 1.0) && each[100] > 80.0, "{each:?}");
        assert!(stl.read(&mut media, 50 * GIB, 4 * KIB, 1) < 1.0);
    }

    #[test]
    fn to_rewrite_a_band_of_20_mib_from_the_middle_takes_what_csurbhi_measured() {
        let (mut stl, mut media) = stl(|params| {
            (params.map_entries, params.foreground) = (1, Foreground::Rewrite { share: 0.5 });
        });
        let writes = 500;
        let ms: f64 = (0..writes).map(|nth| stl.write(&mut media, write(nth * 16 * GIB % (1 << 42), 4 * KIB))).sum();
        // 6.34 MiB/s of 1 MiB blocks; at the outer half the platter is faster than on average.
        let each = ms / f64_of(writes);
        assert!((each / 158.0 - 1.0).abs() < 0.15, "{each} ms");
    }
}
