//! A map of blocks that are not at home, grouped by the band they belong to.
//!
//! Only cached blocks take memory, never the drive: a 14 TB disk has 3.4 billion blocks.

use std::collections::{HashMap, VecDeque};

use super::bands::{Bands, ByNumber};

/// A run of bytes that lies in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// First byte, where the host believes it to be.
    pub start: u64,
    /// Bytes.
    pub len: u64,
    /// Where it lies within the cache, bytes from the cache's beginning.
    pub at: u64,
}

impl Extent {
    fn end(&self) -> u64 {
        self.start + self.len
    }
}

/// A piece of a read: at home, or in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// At its own place.
    Home {
        /// First byte.
        start: u64,
        /// Bytes.
        len: u64,
    },
    /// In the cache.
    Cached(Extent),
}

#[derive(Debug, Clone, Default)]
struct Band {
    /// Disjoint, by `start`. Mostly one or two; thousands where writes keep to a small region.
    extents: Vec<Extent>,
    entries: u64,
    bytes: u64,
}

impl Band {
    /// The extents that meet `start..end`.
    fn met(&self, start: u64, end: u64) -> std::ops::Range<usize> {
        let first = self.extents.partition_point(|extent| extent.end() <= start);
        let last = self.extents.partition_point(|extent| extent.start < end);
        first..last.max(first)
    }

    /// No extent of this band shall answer for `start..end` any more, but `by`, if that is given.
    fn supersede(&mut self, start: u64, end: u64, by: Option<Extent>) {
        let met = self.met(start, end);
        let mut remains = Vec::new();
        if let Some(first) = self.extents.get(met.start).filter(|first| !met.is_empty() && first.start < start) {
            remains.push(Extent { len: start - first.start, ..*first });
        }
        remains.extend(by);
        if let Some(last) = self.extents[met.clone()].last().filter(|last| end < last.end()) {
            remains.push(Extent { start: end, len: last.end() - end, at: last.at + (end - last.start) });
        }
        self.extents.splice(met, remains);
    }
}

/// A band that has been cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cleaned {
    /// Its number.
    pub number: u64,
    /// Copies in the cache that a newer one had superseded.
    pub stale: u64,
    /// Their bytes, and those lost to padding.
    pub stale_bytes: u64,
}

/// A part of the cache that bands share, and the bands in the order in which they became dirty.
#[derive(Debug, Clone, Default)]
struct Set {
    order: VecDeque<u64>,
    entries: u64,
    bytes: u64,
}

/// The cached extents of a drive, by band.
#[derive(Debug, Clone)]
pub struct Extents {
    layout: Bands,
    // Never iterated: the order of a hash map is not the same twice.
    bands: HashMap<u64, Band, ByNumber>,
    /// Band `n` keeps to set `n` modulo their number. Mostly there is one, for all.
    sets: Vec<Set>,
}

impl Extents {
    /// Empty, for a drive cut into these bands, in a cache of `sets` parts.
    #[must_use]
    pub fn new(layout: Bands, sets: usize) -> Self {
        Self { layout, bands: HashMap::default(), sets: vec![Set::default(); sets.max(1)] }
    }

    /// Map entries in use, those of superseded copies included.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.sets.iter().map(|set| set.entries).sum()
    }

    /// Bytes of the cache in use, superseded copies included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sets.iter().map(|set| set.bytes).sum()
    }

    /// Entries and bytes in use in the part of the cache that `band` keeps to.
    #[must_use]
    pub fn used_by_set_of(&self, band: u64) -> (u64, u64) {
        let set = &self.sets[self.set_of(band)];
        (set.entries, set.bytes)
    }

    fn set_of(&self, band: u64) -> usize {
        match self.sets.len() {
            1 => 0,
            sets => usize::try_from(band % u64::try_from(sets).unwrap_or(1)).unwrap_or(0),
        }
    }

    /// How the drive is cut into bands.
    #[must_use]
    pub fn layout(&self) -> &Bands {
        &self.layout
    }

    /// The band that `offset` lies in.
    #[must_use]
    pub fn band_of(&self, offset: u64) -> u64 {
        self.layout.of(offset)
    }

    /// Whether any block of `band` is away.
    #[must_use]
    pub fn is_dirty(&self, band: u64) -> bool {
        self.bands.contains_key(&band)
    }

    /// The part of `offset..end` before the next border of bands, as offset and length.
    #[must_use]
    pub fn first_piece(&self, offset: u64, end: u64) -> (u64, u64) {
        (offset, self.layout.end(offset).min(end) - offset)
    }

    /// `offset..offset+len` cut at the borders of bands.
    pub fn split(&self, offset: u64, len: u64) -> impl Iterator<Item = (u64, u64)> {
        let end = offset.saturating_add(len);
        let mut at = offset;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let piece = self.first_piece(at, end);
                at += piece.1;
                piece
            })
        })
    }

    /// Whether one cached extent holds all of `start..start+len` (within one band).
    #[must_use]
    pub fn holds(&self, start: u64, len: u64) -> bool {
        self.bands.get(&self.band_of(start)).is_some_and(|band| {
            let met = band.met(start, start + len);
            band.extents[met].first().is_some_and(|extent| extent.start <= start && start + len <= extent.end())
        })
    }

    /// A copy of `start..start+len` (within one band) was put at `at` in the cache. Older copies
    /// are superseded but keep their space and their entry until their band is cleaned.
    pub fn insert(&mut self, start: u64, len: u64, at: u64) {
        let number = self.band_of(start);
        let set = self.set_of(number);
        let set = &mut self.sets[set];
        let band = self.bands.entry(number).or_insert_with(|| {
            set.order.push_back(number);
            Band::default()
        });
        band.supersede(start, start + len, Some(Extent { start, len, at }));
        band.entries += 1;
        band.bytes += len;
        set.entries += 1;
        set.bytes += len;
    }

    /// `bytes` more of the cache can be used by nothing until the band of `start` is cleaned.
    pub fn pad(&mut self, start: u64, bytes: u64) {
        let number = self.band_of(start);
        let set = self.set_of(number);
        if let Some(band) = self.bands.get_mut(&number) {
            band.bytes += bytes;
            self.sets[set].bytes += bytes;
        }
    }

    /// `start..start+len` (within one band) was written at home: cached copies are superseded.
    pub fn supersede(&mut self, start: u64, len: u64) {
        if let Some(band) = self.bands.get_mut(&self.layout.of(start)) {
            band.supersede(start, start + len, None);
        }
    }

    /// Cleans the band that has been dirty longest: all its blocks go home. Where the cache has several parts, of the first that is
    /// in use.
    pub fn clean_oldest(&mut self) -> Option<Cleaned> {
        let set = self.sets.iter().position(|set| !set.order.is_empty())?;
        self.clean(set)
    }

    /// The same within the part of the cache that `band` keeps to.
    pub fn clean_for(&mut self, band: u64) -> Option<Cleaned> {
        self.clean(self.set_of(band))
    }

    fn clean(&mut self, set: usize) -> Option<Cleaned> {
        let set = &mut self.sets[set];
        let number = set.order.pop_front()?;
        let band = self.bands.remove(&number).unwrap_or_default();
        set.entries -= band.entries;
        set.bytes -= band.bytes;
        let live = u64::try_from(band.extents.len()).unwrap_or(u64::MAX);
        let live_bytes = band.extents.iter().map(|extent| extent.len).sum();
        let stale_bytes = band.bytes.saturating_sub(live_bytes);
        Some(Cleaned { number, stale: band.entries.saturating_sub(live), stale_bytes })
    }

    /// `offset..offset+len` as pieces in order, each at home or in the cache.
    #[must_use]
    pub fn pieces(&self, offset: u64, len: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (start, len) in self.split(offset, len) {
            let end = start + len;
            let met = self.bands.get(&self.band_of(start)).map_or(&[][..], |band| &band.extents[band.met(start, end)]);
            let mut at = start;
            for extent in met {
                let from = extent.start.max(start);
                let to = extent.end().min(end);
                if at < from {
                    pieces.push(Piece::Home { start: at, len: from - at });
                }
                let shifted = extent.at + (from - extent.start);
                pieces.push(Piece::Cached(Extent { start: from, len: to - from, at: shifted }));
                at = to;
            }
            if at < end {
                pieces.push(Piece::Home { start: at, len: end - at });
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overwrite_in_the_middle_leaves_both_ends_where_they_are() {
        let mut extents = Extents::new(Bands::alike(1_000), 1);
        extents.insert(100, 300, 0);
        extents.insert(200, 50, 5_000);
        assert_eq!(
            extents.pieces(0, 500),
            [
                Piece::Home { start: 0, len: 100 },
                Piece::Cached(Extent { start: 100, len: 100, at: 0 }),
                Piece::Cached(Extent { start: 200, len: 50, at: 5_000 }),
                Piece::Cached(Extent { start: 250, len: 150, at: 150 }),
                Piece::Home { start: 400, len: 100 },
            ]
        );
        assert_eq!((extents.entries(), extents.bytes()), (2, 350));
    }

    #[test]
    fn cleaning_takes_the_longest_dirty_band_and_all_of_it() {
        let mut extents = Extents::new(Bands::alike(1_000), 1);
        extents.insert(5_000, 10, 0);
        extents.insert(1_000, 10, 10);
        extents.insert(5_500, 10, 20);
        assert_eq!(extents.clean_oldest(), Some(Cleaned { number: 5, stale: 0, stale_bytes: 0 }));
        assert_eq!((extents.entries(), extents.bytes()), (1, 10));
        assert!(!extents.is_dirty(5) && extents.is_dirty(1));
        assert_eq!(extents.pieces(5_000, 10), [Piece::Home { start: 5_000, len: 10 }]);
    }

    #[test]
    fn a_part_of_the_cache_is_emptied_for_its_own_bands_only() {
        let mut extents = Extents::new(Bands::alike(1_000), 4);
        for (nth, band) in [4, 5, 8, 8].into_iter().enumerate() {
            extents.insert(band * 1_000, 10, u64::try_from(nth).unwrap() * 10);
            extents.pad(band * 1_000, 2);
        }
        assert_eq!((extents.used_by_set_of(0), extents.used_by_set_of(1)), ((3, 36), (1, 12)));
        assert_eq!(extents.clean_for(12), Some(Cleaned { number: 4, stale: 0, stale_bytes: 2 }));
        assert_eq!(extents.clean_for(12), Some(Cleaned { number: 8, stale: 1, stale_bytes: 14 }));
        assert_eq!(extents.clean_for(12), None);
        assert_eq!((extents.entries(), extents.bytes()), (1, 12));
    }

    #[test]
    fn a_read_is_cut_at_the_borders_of_bands() {
        let extents = Extents::new(Bands::alike(1_000), 1);
        assert_eq!(extents.split(900, 1_200).collect::<Vec<_>>(), [(900, 100), (1_000, 1_000), (2_000, 100)]);
    }
}
