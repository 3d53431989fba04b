//! Blocks against bytes: the cliff of a cache with a map comes after `min(C, N·bs)` bytes (csurbhi, tables 3 and 4).
//!
//! Fitted in logarithms through the cliffs of several block sizes: up to some size the map is full first, from the next on the
//! cache is. The interval comes of refits with each cliff drawn from its own.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::words::block;
use super::resample::tails;
use super::{Input, collapse};
use crate::model::approx::{f64_of, f64_of_len};
use crate::model::estimate::{Estimate, Quantity};
use crate::model::units::{Bytes, KIB, MIB};

/// One cliff: after how many bytes of writes of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CliffAt {
    /// Bytes of one write.
    pub bs: f64,
    /// Bytes before it, and their interval.
    pub bytes: (f64, f64, f64),
}

/// What was found; what no cliff reached is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// `N`: blocks that the map holds.
    pub entries: Option<f64>,
    /// `C`: bytes that the cache holds.
    pub bytes: Option<f64>,
}

/// Resamples of the interval.
const RESAMPLES: usize = 500;
/// A single cliff of blocks up to this is the map's: every cache that was read holds 25 GiB or more, and no map more than 369 k
/// blocks (science: Skylight, csurbhi), so they meet at 70 KiB at the least.
const SURELY_MAP: f64 = 16.0 * 1024.0;
/// From this on it is the cache's: the smallest map read, 180 k blocks, of 1 MiB is three times the largest cache.
const SURELY_CACHE: f64 = 1_048_576.0;

pub(super) fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let mut cliffs: Vec<Estimate> = collapse::estimate(input);
    if let Some((ios, bytes)) = before(input) {
        // What an earlier phase wrote lies in the cache still: each write takes an entry of the map, and its bytes of the cache.
        for figure in cliffs.iter_mut().filter(|figure| figure.name == Quantity::CliffBytes) {
            let bs = figure.bs_bytes.map_or(0.0, |bs| f64_of(bs.0));
            let more = if bs <= SURELY_MAP { f64_of(ios) * bs } else { f64_of(bytes) };
            figure.value += more;
            figure.low = figure.low.map(|low| low + more);
            figure.high = figure.high.map(|high| high + more);
        }
    }
    of(&cliffs)
}

/// Random writes and their bytes in the phases before the one that collapsed.
fn before(input: &Input<'_>) -> Option<(u64, u64)> {
    let found = input.measured.found()?.phase;
    let earlier = input.measured.writes().filter(|(index, _)| *index < found);
    Some(earlier.fold((0, 0), |sum, (_, facts)| (sum.0 + facts.writes.ios, sum.1 + facts.writes.bytes.0)))
}

/// The limits of all `figures` that are cliffs, be they of one run or of several.
#[must_use]
pub fn of(figures: &[Estimate]) -> Vec<Estimate> {
    let cliffs: Vec<&Estimate> = figures.iter().filter(|figure| figure.name == Quantity::CliffBytes).collect();
    let points: Vec<CliffAt> = cliffs
        .iter()
        .filter_map(|figure| {
            let bytes = (figure.value, figure.low?, figure.high?);
            (bytes.1 > 0.0).then_some(CliffAt { bs: f64_of(figure.bs_bytes?.0), bytes })
        })
        .collect();
    let Some(limits) = fit(&points) else { return Vec::new() };
    let (entries, bytes) = intervals(&points);
    let sizes: Vec<String> = cliffs.iter().filter_map(|figure| figure.bs_bytes).map(block).collect();
    let how = match points.len() {
        1 => format!(
            "From the one cliff at {}: below {} the map of any cache known is full before its bytes, from {} on its bytes are.",
            sizes.join(""),
            block(Bytes(16 * KIB)),
            block(Bytes(MIB))
        ),
        _ => format!(
            "min(C, N·bs) fitted through the cliffs at {}; refits of cliffs drawn from their intervals. What \
             the drive's memory holds is in it.",
            sizes.join(", ")
        ),
    };
    let phases: Vec<String> = cliffs.iter().flat_map(|figure| figure.phases.clone()).collect();
    let one = |name, value: Option<f64>, ends: Option<(f64, f64)>| {
        let (low, high) = ends?;
        Some(Estimate::new(name, (value?, low, high), how.clone())?.from_phases(phases.clone()))
    };
    [one(Quantity::MapEntries, limits.entries, entries), one(Quantity::CacheBytes, limits.bytes, bytes)]
        .into_iter()
        .flatten()
        .collect()
}

/// The best fit of `min(C, N·bs)`; `None` without a cliff.
#[must_use]
pub fn fit(points: &[CliffAt]) -> Option<Limits> {
    let mut points = points.to_vec();
    points.sort_unstable_by(|a, b| a.bs.total_cmp(&b.bs));
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let logs: Vec<f64> = values.map(f64::ln).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / f64_of_len(logs.len())).exp())
    };
    if points.is_empty() {
        return None;
    }
    if let [only] = points.as_slice() {
        let entries = (only.bs <= SURELY_MAP).then_some(only.bytes.0 / only.bs);
        let bytes = (only.bs >= SURELY_CACHE).then_some(only.bytes.0);
        return Some(Limits { entries, bytes });
    }
    let candidates = (0..=points.len()).map(|by_map| {
        let (small, large) = points.split_at(by_map);
        let entries = mean(&mut small.iter().map(|point| point.bytes.0 / point.bs));
        let bytes = mean(&mut large.iter().map(|point| point.bytes.0));
        let rest = |point: &CliffAt| {
            let map = entries.map_or(f64::INFINITY, |entries| entries * point.bs);
            let fitted = map.min(bytes.unwrap_or(f64::INFINITY));
            let off = (point.bytes.0 / fitted).ln();
            off * off
        };
        (points.iter().map(rest).sum::<f64>(), Limits { entries, bytes })
    });
    candidates.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, limits)| limits)
}

/// Both ends of an interval.
type Tails = (f64, f64);

/// The intervals of both limits.
fn intervals(points: &[CliffAt]) -> (Option<Tails>, Option<Tails>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut entries, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..RESAMPLES {
        let drawn: Vec<CliffAt> = points
            .iter()
            .map(|point| {
                let (value, low, high) = point.bytes;
                // As often below the value as above it: the ends of a cliff lie unevenly about it.
                let way = random.random::<f64>() * 2.0 - 1.0;
                let value = value + if way < 0.0 { (value - low) * way } else { (high - value) * way };
                CliffAt { bs: point.bs, bytes: (value, low, high) }
            })
            .collect();
        let Some(limits) = fit(&drawn) else { continue };
        entries.extend(limits.entries);
        bytes.extend(limits.bytes);
    }
    (tails(entries), tails(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::GIB;

    fn cliffs(table: &[(u64, f64)]) -> Vec<CliffAt> {
        let at = |(bs, gib): &(u64, f64)| {
            let bytes = gib * f64_of(GIB);
            CliffAt { bs: f64_of(*bs), bytes: (bytes, bytes * 0.99, bytes * 1.01) }
        };
        table.iter().map(at).collect()
    }

    #[test]
    fn the_published_cliffs_split_entries_from_bytes() {
        // csurbhi, tables 3 and 4.
        let host_aware =
            [(4 * KIB, 0.74), (32 * KIB, 5.83), (64 * KIB, 11.66), (128 * KIB, 23.33), (256 * KIB, 28.0), (MIB, 28.0)];
        let drive_managed =
            [(4 * KIB, 1.4), (32 * KIB, 11.2), (64 * KIB, 22.4), (128 * KIB, 44.8), (256 * KIB, 48.3), (MIB, 48.3)];
        for (table, entries, gib) in [(host_aware, 191_172.0, 28.0), (drive_managed, 368_795.0, 48.3)] {
            let limits = fit(&cliffs(&table)).unwrap();
            let off = limits.entries.unwrap() / entries - 1.0;
            assert!(off.abs() < 0.02, "{limits:?}");
            assert!((limits.bytes.unwrap() / f64_of(GIB) / gib - 1.0).abs() < 0.01, "{limits:?}");
            let (map, cache) = intervals(&cliffs(&table));
            assert!(map.unwrap().0 < map.unwrap().1 && cache.unwrap().0 < cache.unwrap().1);
        }
    }

    #[test]
    fn one_cliff_tells_the_limit_that_must_have_come_first_or_none() {
        let one = |bs| fit(&cliffs(&[(bs, 1.4)])).unwrap();
        assert!(one(4 * KIB).entries.is_some() && one(4 * KIB).bytes.is_none());
        assert!(one(MIB).entries.is_none() && one(MIB).bytes.is_some());
        assert_eq!(one(128 * KIB), Limits { entries: None, bytes: None });
        assert_eq!(fit(&[]), None);
    }
}
