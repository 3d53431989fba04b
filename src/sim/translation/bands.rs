//! How a drive is cut into bands, the least that can be rewritten, and a fast way to look one up by its number.

use std::hash::{BuildHasherDefault, Hasher};

use crate::model::approx::{f64_of, u64_of};

/// Parts of the drive within which all bands are alike (syn).
const REGIONS: u32 = 8;

/// A part of the drive whose bands are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Region {
    start: u64,
    /// The number of its first band.
    first: u64,
    band_bytes: u64,
}

/// The bands of one drive, numbered from the outer edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bands(Vec<Region>);

impl Bands {
    /// All of `band_bytes`.
    #[must_use]
    pub fn alike(band_bytes: u64) -> Self {
        Self(vec![Region { start: 0, first: 0, band_bytes: band_bytes.max(1) }])
    }

    /// From `outer` to `inner` bytes in eight steps: tracks are shorter further in, and a band has as many of them
    /// (36 to 17 MiB on ST5000AS0011, "Skylight", FAST'15). All alike if both are the same.
    #[must_use]
    pub fn shrinking(capacity: u64, outer: u64, inner: u64) -> Self {
        if outer == inner {
            return Self::alike(outer);
        }
        let mut regions = Vec::new();
        let (mut start, mut first) = (0, 0);
        for nth in 0..REGIONS {
            let share = f64::from(nth) / f64::from(REGIONS - 1);
            let band_bytes = u64_of(f64_of(outer) + (f64_of(inner) - f64_of(outer)) * share).max(1);
            regions.push(Region { start, first, band_bytes });
            let count = capacity / u64::from(REGIONS) / band_bytes;
            (start, first) = (start + count * band_bytes, first + count);
        }
        Self(regions)
    }

    fn region(&self, offset: u64) -> Region {
        match &self.0[..] {
            [only] => *only,
            regions => {
                let after = regions.partition_point(|region| region.start <= offset);
                regions[after.saturating_sub(1)]
            }
        }
    }

    /// The number of the band that `offset` lies in.
    #[must_use]
    pub fn of(&self, offset: u64) -> u64 {
        let region = self.region(offset);
        region.first + (offset - region.start) / region.band_bytes
    }

    /// Where the band that `offset` lies in ends.
    #[must_use]
    pub fn end(&self, offset: u64) -> u64 {
        let region = self.region(offset);
        let within = (offset - region.start) / region.band_bytes + 1;
        region.start.saturating_add(within.saturating_mul(region.band_bytes))
    }

    /// First byte and length of the band with this number.
    #[must_use]
    pub fn place(&self, number: u64) -> (u64, u64) {
        let after = self.0.partition_point(|region| region.first <= number);
        let region = self.0[after.saturating_sub(1)];
        (region.start + (number - region.first) * region.band_bytes, region.band_bytes)
    }
}

/// Hashes one number by a multiplication (Fibonacci hashing, Knuth, TAOCP 6.4). The standard library's hash withstands an
/// opponent, and takes ten times as long; numbers of bands have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NumberHasher(u64);

/// 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(GOLDEN);
        // The table uses the low bits, which a multiplication mixes least.
        self.0 = product ^ product >> 32;
    }
}

/// For maps by number.
pub type ByNumber = BuildHasherDefault<NumberHasher>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_follow_one_another_without_a_gap_and_shrink_inwards() {
        let bands = Bands::shrinking(8_000_000, 4_000, 1_700);
        let (mut at, mut number) = (0, 0);
        while at < 7_900_000 {
            assert_eq!((bands.of(at), bands.of(bands.end(at) - 1)), (number, number), "at {at}");
            assert_eq!(bands.place(number), (at, bands.end(at) - at));
            at = bands.end(at);
            number += 1;
        }
        assert_eq!((bands.place(0).1, bands.place(number).1), (4_000, 1_700));
        assert_eq!(Bands::shrinking(1 << 40, 64, 64), Bands::alike(64));
    }
}
