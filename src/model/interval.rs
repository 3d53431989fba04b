//! One period of a run: what was asked and answered in it.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::approx::{f64_of, u64_of};
use super::histogram::{LatencyHistogram, Precision};
use super::seen::{Seen, SeenFigures};
use super::units::{Bytes, Nanos};
use super::varint;
use super::zone::ZoneOp;

/// Zone operations, each kind by itself; a kind that did not occur is not in it.
pub type ZoneTallies = BTreeMap<ZoneOp, Tally>;

/// The sums of a phase, at full precision.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseSums {
    /// Its reads.
    pub read: Tally,
    /// Its writes.
    pub write: Tally,
    /// Its flushes, if there were any.
    pub flush: Option<Box<Tally>>,
    /// Its trims, if there were any.
    pub trim: Option<Box<Tally>>,
    /// Its zone operations, if there were any.
    pub zone_ops: ZoneTallies,
}

impl Default for PhaseSums {
    fn default() -> Self {
        Self {
            read: Tally::new(Precision::Phase),
            write: Tally::new(Precision::Phase),
            flush: None,
            trim: None,
            zone_ops: ZoneTallies::new(),
        }
    }
}

impl PhaseSums {
    /// Adds the sums of another part of the same phase, at its precision if that is lower.
    pub fn merge(&mut self, other: &Self) {
        self.add_parts(&other.read, &other.write, [other.flush.as_deref(), other.trim.as_deref()], &other.zone_ops);
    }

    /// Adds an interval of the phase.
    pub fn add(&mut self, interval: &Interval) {
        let rare = [interval.flush.as_deref(), interval.trim.as_deref()];
        self.add_parts(&interval.read, &interval.write, rare, &interval.zone_ops);
    }

    fn add_parts(&mut self, read: &Tally, write: &Tally, [flush, trim]: [Option<&Tally>; 2], zone_ops: &ZoneTallies) {
        self.read.merge(read);
        self.write.merge(write);
        for (mine, other) in [(&mut self.flush, flush), (&mut self.trim, trim)] {
            if let Some(other) = other {
                mine.get_or_insert_with(|| Box::new(Tally::new(Precision::Phase))).merge(other);
            }
        }
        for (op, other) in zone_ops {
            self.zone_ops.entry(*op).or_insert_with(|| Tally::new(Precision::Phase)).merge(other);
        }
    }
}

/// The I/Os of one direction that completed in a period.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// Completions.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// From before the submission to the completion: fio's `lat`.
    pub lat: LatencyHistogram,
}

impl Tally {
    /// Nothing yet.
    #[must_use]
    pub fn new(precision: Precision) -> Self {
        Self { ios: 0, bytes: Bytes(0), lat: LatencyHistogram::new(precision) }
    }

    /// Counts one completed I/O.
    pub fn record(&mut self, bytes: Bytes, latency: Nanos) {
        self.ios += 1;
        self.bytes += bytes;
        self.lat.record(latency);
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.lat.merge(&other.lat);
    }
}

/// One period of one phase of a run.
///
/// Invariants: `seq` counts from 1 without a gap over the whole run; `t` never goes back;
/// no interval spans two phases.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its number in the run, from 1.
    pub seq: u64,
    /// Index of its phase in the plan, from 0.
    pub phase: u32,
    /// Its end, on the run's clock (0 when the first phase began; simulated time for a simulated drive).
    pub t: Nanos,
    /// Its length: the period, or less at the end of a phase.
    pub duration: Nanos,
    /// Reads.
    pub read: Tally,
    /// Writes.
    pub write: Tally,
    /// I/Os that ended with an error.
    pub errors: u64,
    /// Flushes of the drive's cache, if there were any; they move no bytes.
    pub flush: Option<Box<Tally>>,
    /// Trims, if there were any; their bytes are those given up.
    pub trim: Option<Box<Tally>>,
    /// Zone operations, if there were any; they move no bytes.
    pub zone_ops: ZoneTallies,
    /// Whether it lies in its phase's ramp (fio's `ramp_time`), and counts for nothing but wear.
    pub ramp: bool,
    /// What others than the engine saw of it, if anything was seen.
    pub seen: Option<Box<Seen>>,
    /// The slowest and the fastest of those it was merged of; `None` when it is a single one.
    pub extremes: Option<Box<Extremes>>,
}

impl Interval {
    /// One in which nothing happened.
    #[must_use]
    pub fn empty(seq: u64, phase: u32, t: Nanos, duration: Nanos) -> Self {
        Self {
            seq,
            phase,
            t,
            duration,
            read: Tally::new(Precision::Interval),
            write: Tally::new(Precision::Interval),
            errors: 0,
            flush: None,
            trim: None,
            zone_ops: ZoneTallies::new(),
            ramp: false,
            seen: None,
            extremes: None,
        }
    }

    /// Its slowest and its fastest part; of a single interval both are itself.
    #[must_use]
    pub fn extremes(&self) -> Extremes {
        self.extremes.as_deref().copied().unwrap_or_else(|| Extremes {
            intervals: 1,
            read: RateRange::of(&self.read, self.duration),
            write: RateRange::of(&self.write, self.duration),
        })
    }

    /// Whether the host's CPU had a part in it that is too large: see [`SPOILT_ABOVE`](super::seen::SPOILT_ABOVE).
    #[must_use]
    pub fn is_spoilt(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.is_spoilt(self.duration))
    }

    /// Operations that ended in it, of whatever kind and however.
    #[must_use]
    pub fn ended(&self) -> u64 {
        let of = |tally: &Option<Box<Tally>>| tally.as_ref().map_or(0, |tally| tally.ios);
        let zone_ops: u64 = self.zone_ops.values().map(|tally| tally.ios).sum();
        self.read.ios + self.write.ios + of(&self.flush) + of(&self.trim) + zone_ops + self.errors
    }

    /// Adds the one that follows it in the same phase.
    pub fn extend(&mut self, next: &Self) {
        let mut extremes = self.extremes();
        extremes.include(&next.extremes());
        self.extremes = Some(Box::new(extremes));
        self.seq = next.seq;
        self.t = next.t;
        self.duration = self.duration + next.duration;
        self.read.merge(&next.read);
        self.write.merge(&next.write);
        self.errors += next.errors;
        for (mine, other) in [(&mut self.flush, &next.flush), (&mut self.trim, &next.trim)] {
            match (mine.as_mut(), other) {
                (Some(mine), Some(other)) => mine.merge(other),
                (None, Some(other)) => *mine = Some(other.clone()),
                (_, None) => {}
            }
        }
        for (op, other) in &next.zone_ops {
            self.zone_ops.entry(*op).and_modify(|mine| mine.merge(other)).or_insert_with(|| other.clone());
        }
        self.seen = self.seen.take().zip(next.seen.as_ref()).map(|(mut mine, next)| {
            mine.extend(next);
            mine
        });
    }

    /// Completions per second of both directions.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second(self.read.ios + self.write.ios, self.duration)
    }
}

/// The lowest and the highest rate of one direction, each interval's own: fio's `iops_min`, `bw_max` and their like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RateRange {
    /// Fewest completions a second, rounded down.
    pub iops_min: u64,
    /// Most completions a second.
    pub iops_max: u64,
    /// Fewest bytes a second.
    pub bw_min: u64,
    /// Most bytes a second.
    pub bw_max: u64,
}

impl RateRange {
    fn of(tally: &Tally, duration: Nanos) -> Self {
        let iops = u64_of(per_second(tally.ios, duration));
        let bw = u64_of(per_second(tally.bytes.0, duration));
        Self { iops_min: iops, iops_max: iops, bw_min: bw, bw_max: bw }
    }

    fn include(&mut self, other: &Self) {
        self.iops_min = self.iops_min.min(other.iops_min);
        self.iops_max = self.iops_max.max(other.iops_max);
        self.bw_min = self.bw_min.min(other.bw_min);
        self.bw_max = self.bw_max.max(other.bw_max);
    }
}

/// The slowest and the fastest of several intervals that were merged, so that no spike vanishes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extremes {
    /// How many they were.
    pub intervals: u64,
    /// Of reads.
    pub read: RateRange,
    /// Of writes.
    pub write: RateRange,
}

impl Extremes {
    fn include(&mut self, other: &Self) {
        self.intervals += other.intervals;
        self.read.include(&other.read);
        self.write.include(&other.write);
    }

    /// As bytes for the database.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24);
        varint::put(&mut bytes, self.intervals);
        for range in [self.read, self.write] {
            for (min, max) in [(range.iops_min, range.iops_max), (range.bw_min, range.bw_max)] {
                varint::put(&mut bytes, min);
                varint::put(&mut bytes, max - min.min(max));
            }
        }
        bytes
    }

    /// The reverse of [`pack`](Self::pack).
    ///
    /// # Errors
    /// When the bytes end early.
    pub fn unpack(mut bytes: &[u8]) -> Result<Self, varint::VarintError> {
        let intervals = varint::take(&mut bytes)?;
        let mut pair = || {
            let min = varint::take(&mut bytes)?;
            Ok((min, min.saturating_add(varint::take(&mut bytes)?)))
        };
        let mut range = || {
            let ((iops_min, iops_max), (bw_min, bw_max)) = (pair()?, pair()?);
            Ok(RateRange { iops_min, iops_max, bw_min, bw_max })
        };
        Ok(Self { intervals, read: range()?, write: range()? })
    }
}

/// One direction of a [`Sample`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SampleTally {
    /// Completions.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Median latency; 0 when there was no completion.
    pub p50: Nanos,
    /// 99th percentile of latency.
    pub p99: Nanos,
    /// Largest latency.
    pub max: Nanos,
}

/// An interval without its histograms: what the analysis works on. A week-long run has 604 800
/// intervals, so this must stay small.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// As in [`Interval`].
    pub seq: u64,
    /// As in [`Interval`].
    pub phase: u32,
    /// As in [`Interval`].
    pub t: Nanos,
    /// As in [`Interval`].
    pub duration: Nanos,
    /// Reads.
    pub read: SampleTally,
    /// Writes.
    pub write: SampleTally,
    /// I/Os that ended with an error.
    pub errors: u64,
    /// As in [`Interval`].
    pub ramp: bool,
    /// The host's CPU had a part in it that is too large: no evidence against the drive.
    pub spoilt: bool,
}

impl From<&Tally> for SampleTally {
    fn from(tally: &Tally) -> Self {
        Self {
            ios: tally.ios,
            bytes: tally.bytes,
            p50: tally.lat.percentile(50.0).unwrap_or_default(),
            p99: tally.lat.percentile(99.0).unwrap_or_default(),
            max: tally.lat.max().unwrap_or_default(),
        }
    }
}

impl From<&Interval> for Sample {
    fn from(interval: &Interval) -> Self {
        Self {
            seq: interval.seq,
            phase: interval.phase,
            t: interval.t,
            duration: interval.duration,
            read: (&interval.read).into(),
            write: (&interval.write).into(),
            errors: interval.errors,
            ramp: interval.ramp,
            spoilt: interval.is_spoilt(),
        }
    }
}

/// `count` per second of `duration`; 0 for an empty duration.
#[must_use]
pub fn per_second(count: u64, duration: Nanos) -> f64 {
    if duration.0 == 0 { 0.0 } else { f64_of(count) / duration.as_secs_f64() }
}

/// The percentiles every interval shows. fio's default list has more; a phase's sum shows those.
pub const INTERVAL_PERCENTILES: [(f64, &str); 5] =
    [(50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p99_9")];

/// Latency figures for JSON: nanoseconds; absent figures are `null`.
pub struct LatencyFigures<'a>(pub &'a LatencyHistogram);

impl Serialize for LatencyFigures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("lat_ns", 3 + INTERVAL_PERCENTILES.len())?;
        map.serialize_field("min", &self.0.min())?;
        map.serialize_field("mean", &self.0.mean())?;
        for (percent, name) in INTERVAL_PERCENTILES {
            map.serialize_field(name, &self.0.percentile(percent))?;
        }
        map.serialize_field("max", &self.0.max())?;
        map.end()
    }
}

/// A tally, the time it took, and its slowest and fastest part if it was merged.
struct TallyFigures<'a>(&'a Tally, Nanos, Option<RateRange>);

impl Serialize for TallyFigures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("tally", if self.2.is_some() { 9 } else { 5 })?;
        map.serialize_field("ios", &self.0.ios)?;
        map.serialize_field("bytes", &self.0.bytes)?;
        map.serialize_field("iops", &per_second(self.0.ios, self.1))?;
        map.serialize_field("bw_bytes_per_s", &per_second(self.0.bytes.0, self.1))?;
        map.serialize_field("lat_ns", &LatencyFigures(&self.0.lat))?;
        if let Some(range) = self.2 {
            map.serialize_field("iops_min", &range.iops_min)?;
            map.serialize_field("iops_max", &range.iops_max)?;
            map.serialize_field("bw_min_bytes_per_s", &range.bw_min)?;
            map.serialize_field("bw_max_bytes_per_s", &range.bw_max)?;
        }
        map.end()
    }
}

struct ZoneFigures<'a>(&'a ZoneTallies, Nanos);

impl Serialize for ZoneFigures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (op, tally) in self.0 {
            map.serialize_entry(op, &TallyFigures(tally, self.1, None))?;
        }
        map.end()
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let merged = self.extremes.as_deref();
        // What most runs have none of is left out.
        let more = usize::from(self.flush.is_some())
            + usize::from(self.trim.is_some())
            + usize::from(!self.zone_ops.is_empty())
            + usize::from(self.ramp)
            + usize::from(self.seen.is_some());
        let mut map = serializer.serialize_struct("interval", 7 + more)?;
        map.serialize_field("seq", &self.seq)?;
        map.serialize_field("phase", &self.phase)?;
        map.serialize_field("t_ms", &self.t.as_millis())?;
        map.serialize_field("duration_ms", &self.duration.as_millis())?;
        map.serialize_field("read", &TallyFigures(&self.read, self.duration, merged.map(|extremes| extremes.read)))?;
        map.serialize_field("write", &TallyFigures(&self.write, self.duration, merged.map(|extremes| extremes.write)))?;
        map.serialize_field("errors", &self.errors)?;
        if let Some(flush) = &self.flush {
            map.serialize_field("flush", &TallyFigures(flush, self.duration, None))?;
        }
        if let Some(trim) = &self.trim {
            map.serialize_field("trim", &TallyFigures(trim, self.duration, None))?;
        }
        if !self.zone_ops.is_empty() {
            map.serialize_field("zone_ops", &ZoneFigures(&self.zone_ops, self.duration))?;
        }
        if self.ramp {
            map.serialize_field("ramp", &true)?;
        }
        if let Some(seen) = &self.seen {
            map.serialize_field("seen", &SeenFigures(seen, self.duration))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_carries_units_in_its_names() {
        let mut write = Tally::new(Precision::Interval);
        write.record(Bytes(4096), Nanos(2_000_000));
        let mut interval = Interval { write, ..Interval::empty(1, 0, Nanos::from_secs(1), Nanos::from_secs(1)) };
        let json = serde_json::to_value(&interval).unwrap();
        assert_eq!(json["t_ms"], 1000);
        assert_eq!(json["write"]["bw_bytes_per_s"], 4096.0);
        assert_eq!(json["write"]["lat_ns"]["max"], 2_000_000);
        assert_eq!(json["read"]["lat_ns"]["p50"], serde_json::Value::Null);
        assert_eq!(json.as_object().unwrap().len(), 7, "what was not asked for is left out");
        interval.flush = Some(Box::new(Tally::new(Precision::Interval)));
        interval.ramp = true;
        let json = serde_json::to_value(&interval).unwrap();
        assert_eq!((&json["flush"]["ios"], &json["ramp"]), (&0.into(), &true.into()));
        let mut reset = Tally::new(Precision::Interval);
        reset.record(Bytes(0), Nanos(5_000));
        interval.zone_ops.insert(ZoneOp::Reset, reset);
        let later = interval.clone();
        interval.extend(&later);
        let json = serde_json::to_value(&interval).unwrap();
        assert_eq!(json["zone_ops"]["reset"]["ios"], 2);
        assert_eq!((json["zone_ops"].as_object().unwrap().len(), interval.ended()), (1, 4));
    }

    #[test]
    fn merged_intervals_keep_the_slowest_and_the_fastest() {
        let second = |ios: u64| {
            let mut interval = Interval::empty(1, 0, Nanos::from_secs(1), Nanos::from_secs(1));
            (interval.write.ios, interval.write.bytes) = (ios, Bytes(ios * 4096));
            interval
        };
        let mut merged = second(100);
        [3, 900, 100].into_iter().for_each(|ios| merged.extend(&second(ios)));
        let expected = RateRange { iops_min: 3, iops_max: 900, bw_min: 3 * 4096, bw_max: 900 * 4096 };
        assert_eq!((merged.extremes().write, merged.extremes().intervals), (expected, 4));
        assert_eq!(Extremes::unpack(&merged.extremes().pack()).unwrap(), merged.extremes());
        let json = serde_json::to_value(&merged).unwrap();
        assert_eq!((&json["write"]["iops_min"], &json["write"]["iops_max"]), (&3.into(), &900.into()));
        assert!(serde_json::to_value(second(1)).unwrap()["write"]["iops_min"].is_null(), "a single one has none");
    }
}
