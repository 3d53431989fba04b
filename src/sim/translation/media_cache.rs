//! A conventional disk's place for hurried small writes: used when the DRAM cache is off, emptied when idle.

use super::Write;
use super::bands::Bands;
use super::extents::{Extents, Piece};
use crate::model::Nanos;
use crate::sim::media::{Media, millis};

/// The constants of one media cache.
#[derive(Debug, Clone, PartialEq)]
pub struct MediaCacheParams {
    /// Bytes it holds.
    pub cache_bytes: u64,
    /// Blocks it holds.
    pub max_entries: u64,
    /// To append one small write, as a share of a revolution. HUS726040ALE614: 3.77 ms of 8.33 with
    /// WCE off (serverfault 857271), 0.45.
    pub append_revolutions: f64,
    /// Writes of more bytes than this go home at once (syn).
    pub largest: u64,
    /// Idle for so long, it begins to bring blocks home; seconds (syn).
    pub idle_trigger_s: f64,
}

/// Such a cache in use.
#[derive(Debug, Clone)]
pub struct MediaCache {
    params: MediaCacheParams,
    extents: Extents,
    log_head: u64,
}

/// Blocks are brought home in groups of neighbours; chosen like a band (syn).
const GROUP_BYTES: u64 = 16 << 20;

impl MediaCache {
    /// Empty.
    #[must_use]
    pub fn new(params: MediaCacheParams) -> Self {
        Self { params, extents: Extents::new(Bands::alike(GROUP_BYTES), 1), log_head: 0 }
    }

    /// Bytes it holds.
    #[must_use]
    pub fn away_bytes(&self) -> u64 {
        self.extents.bytes()
    }

    /// Milliseconds to put a write on the medium. When the cache is full, or the DRAM cache has
    /// gathered enough to choose among, that is at home: a conventional disk never has to rewrite more.
    pub fn write(&mut self, media: &mut Media, write: Write) -> f64 {
        let fits = self.extents.entries() < self.params.max_entries
            && self.extents.bytes() + write.len <= self.params.cache_bytes;
        if !write.uncached || write.len > self.params.largest || !fits {
            let end = write.offset + write.len;
            let mut at = write.offset;
            while at < end && self.extents.entries() > 0 {
                let (start, len) = self.extents.first_piece(at, end);
                self.extents.supersede(start, len);
                at += len;
            }
            return media.write(write.offset, write.len, write.queue);
        }
        let end = write.offset + write.len;
        let mut at = write.offset;
        while at < end {
            let (start, len) = self.extents.first_piece(at, end);
            self.extents.insert(start, len, self.log_head);
            self.log_head += len;
            at += len;
        }
        let params = media.params();
        let (revolution, sd, hiccups) = (params.revolution_ms, params.noise_sd, params.hiccups);
        // It lies at several radii, so the nearest one is always near.
        self.params.append_revolutions * revolution * media.noise().factor(sd) + media.noise().hiccup_ms(hiccups)
    }

    /// Milliseconds to read. A copy of the cache lies near the head, so a cached piece costs a short seek.
    pub fn read(&mut self, media: &mut Media, offset: u64, len: u64, queue: u64) -> f64 {
        let mut ms = 0.0;
        for piece in self.extents.pieces(offset, len) {
            ms += match piece {
                Piece::Home { start, len } => media.read(start, len, queue),
                Piece::Cached(extent) => {
                    let near = media.params().seek_settle_ms + media.params().revolution_ms / 2.0;
                    media.park(extent.start);
                    near + media.transfer(extent.start, extent.len)
                }
            };
        }
        ms
    }

    /// Brings blocks home, group by group, until `until`; the group in hand is finished.
    pub fn idle(&mut self, media: &mut Media, since: Nanos, until: Nanos) -> Option<Nanos> {
        let mut at = since + millis(self.params.idle_trigger_s * 1e3);
        let mut busy = None;
        while at < until
            && let Some(group) = self.extents.clean_oldest()
        {
            at = at + millis(media.write(group.number * GROUP_BYTES, 4096, 1));
            busy = Some(at);
        }
        busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::noise::Noise;
    use crate::sim::preset::{self, Inside};
    use crate::sim::translation::TranslationParams;

    fn parts() -> (MediaCache, Media) {
        let Inside::Disk { media, translation: TranslationParams::MediaCache(cache), .. } = preset::cmr_4tb().inside
        else {
            panic!("a conventional disk");
        };
        (MediaCache::new(cache), Media::new(media, Noise::new(1)))
    }

    fn write(offset: u64, len: u64) -> Write {
        Write { offset, len, queue: 1, uncached: true, synced: true, home: false }
    }

    #[test]
    fn a_large_write_over_a_parked_block_goes_home_and_is_what_is_read() {
        let (mut cache, mut media) = parts();
        cache.write(&mut media, write(8 << 20, 4096));
        assert_eq!(cache.away_bytes(), 4096);
        cache.write(&mut media, write(8 << 20, 1 << 20));
        media.park(8 << 20);
        let ms = cache.read(&mut media, 8 << 20, 1 << 20, 1);
        assert!((ms - media.transfer(8 << 20, 1 << 20)).abs() < 0.1, "no trip to the cache: {ms}");
    }

    #[test]
    fn what_is_parked_comes_home_when_the_disk_is_left_alone() {
        let (mut cache, mut media) = parts();
        for nth in 0..100 {
            cache.write(&mut media, write(nth << 30, 4096));
        }
        assert_eq!(cache.idle(&mut media, Nanos(0), Nanos::from_secs(1)), None, "not at once");
        let busy = cache.idle(&mut media, Nanos(0), Nanos::from_secs(60)).unwrap();
        assert!(busy > Nanos::from_secs(2) && busy < Nanos::from_secs(10), "{busy}");
        assert_eq!(cache.away_bytes(), 0);
    }
}
