//! A map of blocks that are not at home, grouped by the band they belong to.
//!
//! Only cached blocks take memory, never the drive: a 14 TB disk has 3.4 billion blocks.

use std::collections::{HashMap, VecDeque};

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

/// The cached extents of a drive, by band, with the bands in the order in which they became dirty.
#[derive(Debug, Clone)]
pub struct Extents {
    band_bytes: u64,
    // Never iterated: the order of a hash map is not the same twice.
    bands: HashMap<u64, Band>,
    order: VecDeque<u64>,
    entries: u64,
    bytes: u64,
}

impl Extents {
    /// Empty, for bands of `band_bytes`.
    #[must_use]
    pub fn new(band_bytes: u64) -> Self {
        Self { band_bytes: band_bytes.max(1), bands: HashMap::new(), order: VecDeque::new(), entries: 0, bytes: 0 }
    }

    /// Map entries in use, those of superseded copies included.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Bytes of the cache in use, superseded copies included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The band that `offset` lies in.
    #[must_use]
    pub fn band_of(&self, offset: u64) -> u64 {
        offset / self.band_bytes
    }

    /// Whether any block of `band` is away.
    #[must_use]
    pub fn is_dirty(&self, band: u64) -> bool {
        self.bands.contains_key(&band)
    }

    /// `offset..offset+len` cut at the borders of bands.
    pub fn split(&self, offset: u64, len: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let band_bytes = self.band_bytes;
        let end = offset.saturating_add(len);
        let mut at = offset;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let stop = (at / band_bytes + 1).saturating_mul(band_bytes).min(end);
                let piece = (at, stop - at);
                at = stop;
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
        let order = &mut self.order;
        let band = self.bands.entry(number).or_insert_with(|| {
            order.push_back(number);
            Band::default()
        });
        band.supersede(start, start + len, Some(Extent { start, len, at }));
        band.entries += 1;
        band.bytes += len;
        self.entries += 1;
        self.bytes += len;
    }

    /// `start..start+len` (within one band) was written at home: cached copies are superseded.
    pub fn supersede(&mut self, start: u64, len: u64) {
        if let Some(band) = self.bands.get_mut(&(start / self.band_bytes)) {
            band.supersede(start, start + len, None);
        }
    }

    /// Cleans the band that has been dirty longest: all its blocks go home. Returns its number.
    pub fn clean_oldest(&mut self) -> Option<u64> {
        let number = self.order.pop_front()?;
        if let Some(band) = self.bands.remove(&number) {
            self.entries -= band.entries;
            self.bytes -= band.bytes;
        }
        Some(number)
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
        let mut extents = Extents::new(1_000);
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
        let mut extents = Extents::new(1_000);
        extents.insert(5_000, 10, 0);
        extents.insert(1_000, 10, 10);
        extents.insert(5_500, 10, 20);
        assert_eq!(extents.clean_oldest(), Some(5));
        assert_eq!((extents.entries(), extents.bytes()), (1, 10));
        assert!(!extents.is_dirty(5) && extents.is_dirty(1));
        assert_eq!(extents.pieces(5_000, 10), [Piece::Home { start: 5_000, len: 10 }]);
    }

    #[test]
    fn a_read_is_cut_at_the_borders_of_bands() {
        let extents = Extents::new(1_000);
        assert_eq!(extents.split(900, 1_200).collect::<Vec<_>>(), [(900, 100), (1_000, 1_000), (2_000, 100)]);
    }
}
