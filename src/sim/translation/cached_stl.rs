//! The shingled translation layer with a conventional cache area and a static map: Seagate's
//! drive-managed disks (Aghayev & Desnoyers, "Skylight", FAST'15; csurbhi, "Lost in Translation").

use super::Write;
use super::extents::{Extents, Piece};
use crate::model::Nanos;
use crate::model::approx::{f64_of, u64_of};
use crate::sim::media::{Media, millis};

/// The constants of one such layer.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedStlParams {
    /// `C`: bytes of the cache area.
    pub cache_bytes: u64,
    /// `N`: entries of its map. The cliff comes after `min(C, N·bs)` bytes of random writes.
    pub map_entries: u64,
    /// Rate of the cache area, MB/s (10^6).
    pub cache_rate: f64,
    /// Where on the stroke the cache area lies, 0 (outer) to 1 (inner).
    pub cache_place: f64,
    /// Share of overwrites of a cached block that take its old slot; the rest take new space.
    pub overwrite_in_place: f64,
    /// Bytes of a band, the least that can be rewritten.
    pub band_bytes: u64,
    /// To clean a band while a write waits for it, ms.
    pub foreground_ms: f64,
    /// To clean a band while idle, ms.
    pub background_ms: f64,
    /// Idle for so long, it begins to clean; seconds.
    pub idle_trigger_s: f64,
    /// An ordered stream of so many bytes goes straight into its bands.
    pub stream_bytes: u64,
    /// Least time of one append to the cache, ms.
    pub append_ms: f64,
}

/// Such a layer in use.
#[derive(Debug, Clone)]
pub struct CachedStl {
    params: CachedStlParams,
    extents: Extents,
    log_head: u64,
    stream_next: u64,
    stream_run: u64,
}

/// Standard deviation of ln(time to clean a band): the spread of the rate after the cliff
/// (quartiles 5.8 / 6.34 / 6.82 MiB/s, csurbhi, 1 MiB uniform).
const CLEAN_SD: f64 = 0.12;

impl CachedStl {
    /// With an empty cache.
    #[must_use]
    pub fn new(params: CachedStlParams) -> Self {
        let extents = Extents::new(params.band_bytes);
        Self { params, extents, log_head: 0, stream_next: u64::MAX, stream_run: 0 }
    }

    /// Bytes in the cache, superseded copies included.
    #[must_use]
    pub fn away_bytes(&self) -> u64 {
        self.extents.bytes()
    }

    /// Milliseconds to put a write on the medium, with all the cleaning that has to come first.
    pub fn write(&mut self, media: &mut Media, write: Write) -> f64 {
        self.stream_run = if write.offset == self.stream_next { self.stream_run + write.len } else { write.len };
        self.stream_next = write.offset + write.len;
        let streaming = write.home || self.stream_run >= self.params.stream_bytes;
        let mut ms = 0.0;
        for (start, len) in self.extents.split(write.offset, write.len) {
            ms += if streaming && !self.extents.is_dirty(self.extents.band_of(start)) {
                media.write(start, len, 1)
            } else {
                self.append(media, start, len)
            };
        }
        ms
    }

    fn append(&mut self, media: &mut Media, start: u64, len: u64) -> f64 {
        let append_ms = self.params.append_ms.max(f64_of(len) / (self.params.cache_rate * 1e3));
        if self.extents.holds(start, len) && media.noise().chance(self.params.overwrite_in_place) {
            return append_ms;
        }
        let mut ms = 0.0;
        while self.extents.entries() >= self.params.map_entries
            || self.extents.bytes().saturating_add(len) > self.params.cache_bytes
        {
            if self.extents.clean_oldest().is_none() {
                break;
            }
            ms += self.params.foreground_ms * media.noise().factor(CLEAN_SD);
            // The way to the band and back is within the figure.
            media.park(self.place(media, self.log_head));
        }
        let place = self.place(media, self.log_head);
        let gain = media.params().drain_gain;
        let sd = media.params().noise_sd;
        let factor = media.noise().factor(sd);
        ms += media.position(place, len, 1, gain) + append_ms * factor;
        self.extents.insert(start, len, self.log_head);
        self.log_head += len;
        ms
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
    use crate::model::units::{GIB, KIB, MIB};
    use crate::sim::noise::Noise;
    use crate::sim::preset::{self, Inside};

    fn stl(change: impl FnOnce(&mut CachedStlParams)) -> (CachedStl, Media) {
        let Inside::Disk { media, .. } = preset::dm_8tb().inside else { panic!("a disk") };
        let mut params = preset::barracuda_stl();
        change(&mut params);
        (CachedStl::new(params), Media::new(media, Noise::new(1)))
    }

    fn write(offset: u64, len: u64) -> Write {
        Write { offset, len, queue: 1, uncached: false, home: false }
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
}
