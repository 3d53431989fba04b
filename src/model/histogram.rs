//! Latency histograms: 1 ns to 1000 s and beyond, with an exact maximum.

use std::fmt;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use super::units::Nanos;

/// Above this a sample is counted in the last bucket; the maximum stays exact beside it.
/// 1000 s: drive-managed disks were seen to answer after 222 s (science: CSU table 10).
pub const HIGHEST_TRACKABLE_NS: u64 = 1_000_000_000_000;

/// How finely a histogram tells values apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// One significant digit (buckets of at most 6 %): an interval, of which a week has 604 800.
    Interval,
    /// Three significant digits (0.1 %): the sum of a phase.
    Phase,
}

impl Precision {
    /// Significant decimal digits.
    #[must_use]
    pub fn digits(self) -> u8 {
        match self {
            Self::Interval => 1,
            Self::Phase => 3,
        }
    }
}

/// Latencies of one kind of I/O over some time.
#[derive(Clone, PartialEq)]
pub struct LatencyHistogram {
    buckets: Histogram<u64>,
    min: Nanos,
    max: Nanos,
    sum_ns: u128,
}

/// Stored bytes were not a histogram.
#[derive(Debug, thiserror::Error)]
#[error("a stored latency histogram cannot be decoded: {0}")]
pub struct HistogramDecodeError(String);

/// More than a drive does in a century at a million I/Os a second (2^52).
const MOST_SAMPLES: u64 = 1 << 53;

impl LatencyHistogram {
    /// An empty one.
    ///
    /// # Panics
    /// Never: the bounds are constants that the histogram accepts (a test holds them).
    #[must_use]
    pub fn new(precision: Precision) -> Self {
        let buckets = Histogram::new_with_bounds(1, HIGHEST_TRACKABLE_NS, precision.digits()).expect("constant bounds");
        Self { buckets, min: Nanos::MAX, max: Nanos(0), sum_ns: 0 }
    }

    /// Counts one I/O.
    pub fn record(&mut self, latency: Nanos) {
        self.buckets.saturating_record(latency.0);
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.sum_ns += u128::from(latency.0);
    }

    /// Adds all samples of `other`; its buckets may be of another precision.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        // Adding can only fail for values out of range, and both have the same range.
        let _ = self.buckets.add(&other.buckets);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum_ns += other.sum_ns;
    }

    /// Forgets everything, and keeps its memory.
    pub fn clear(&mut self) {
        self.buckets.clear();
        self.min = Nanos::MAX;
        self.max = Nanos(0);
        self.sum_ns = 0;
    }

    /// Samples counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The value below which `percent` (0..=100) of the samples lie; `None` when empty.
    /// Never below the exact minimum nor above the exact maximum.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        (!self.is_empty()).then(|| {
            let value = Nanos(self.buckets.value_at_quantile(percent / 100.0));
            value.clamp(self.min, self.max)
        })
    }

    /// The exact smallest sample.
    #[must_use]
    pub fn min(&self) -> Option<Nanos> {
        (!self.is_empty()).then_some(self.min)
    }

    /// The exact largest sample.
    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The exact mean, rounded down.
    #[must_use]
    pub fn mean(&self) -> Option<Nanos> {
        let count = u128::from(self.count());
        let mean = self.sum_ns.checked_div(count)?;
        Some(Nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// Standard deviation, nanoseconds, from the buckets.
    #[must_use]
    pub fn stdev_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.buckets.stdev())
    }

    /// `(lower bound, upper bound, count)` of every bucket that is not empty, in nanoseconds.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, Nanos, u64)> + '_ {
        self.buckets.iter_recorded().map(|step| {
            let value = step.value_iterated_to();
            let low = Nanos(self.buckets.lowest_equivalent(value));
            (low, Nanos(self.buckets.highest_equivalent(value)), step.count_at_value())
        })
    }

    /// As bytes for the database: exact min, max and sum, then the buckets in HdrHistogram's V2 form.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut bytes = Vec::with_capacity(160);
        bytes.extend_from_slice(&self.min.0.to_le_bytes());
        bytes.extend_from_slice(&self.max.0.to_le_bytes());
        bytes.extend_from_slice(&self.sum_ns.to_le_bytes());
        // Writing into a Vec cannot fail, and counts are u64, which V2 holds.
        let _ = V2Serializer::new().serialize(&self.buckets, &mut bytes);
        bytes
    }

    /// The reverse of [`encode`](Self::encode).
    ///
    /// # Errors
    /// When the bytes are not such a histogram.
    pub fn decode(bytes: &[u8], precision: Precision) -> Result<Self, HistogramDecodeError> {
        if bytes.is_empty() {
            return Ok(Self::new(precision));
        }
        let broken = |why: &str| HistogramDecodeError(why.to_owned());
        let (min, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| broken("too short for a minimum"))?;
        let (max, rest) = rest.split_first_chunk::<8>().ok_or_else(|| broken("too short for a maximum"))?;
        let (sum, mut rest) = rest.split_first_chunk::<16>().ok_or_else(|| broken("too short for a sum"))?;
        if !is_of_ours(rest, precision) {
            return Err(broken("of another form or precision"));
        }
        // A run of 2^63 empty buckets, the one number of nine bytes of ones: the reader of hdrhistogram 7.6 negates it, which
        // overflows. No histogram has it.
        if rest.windows(9).any(|bytes| bytes == [0xff; 9]) {
            return Err(broken("a run of more buckets than there are"));
        }
        let buckets =
            Deserializer::new().deserialize(&mut rest).map_err(|error| HistogramDecodeError(format!("{error:?}")))?;
        let (min, max) = (Nanos(u64::from_le_bytes(*min)), Nanos(u64::from_le_bytes(*max)));
        // A percentile is kept between the two.
        if min > max {
            return Err(broken("the minimum is above the maximum"));
        }
        // Counts that add up past 64 bits are held at the largest number, and a percentile would add them up again.
        if buckets.len() > MOST_SAMPLES {
            return Err(broken("more samples than there can be"));
        }
        let (count, sum_ns) = (u128::from(buckets.len()), u128::from_le_bytes(*sum));
        if sum_ns < count * u128::from(min.0) || sum_ns > count * u128::from(max.0) {
            return Err(broken("the sum is not between minimum and maximum"));
        }
        Ok(Self { buckets, min, max, sum_ns })
    }
}

/// Whether bytes begin as what is written here: HdrHistogram's V2, not packed, with the bounds that are used here, and as
/// long as they say. Else the reader would make room for whatever length and bounds a damaged row names.
///
/// Bytes, all big endian: 0-3 form, 4-7 length of the counts, 8-11 an offset, 12-15 digits, 16-23 and 24-31 bounds, 32-39 a ratio.
fn is_of_ours(bytes: &[u8], precision: Precision) -> bool {
    const FORM: u32 = 0x1c84_9313;
    const HEADER: usize = 40;
    let four = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let eight = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes);
    four(0) == Some(FORM)
        && four(4).and_then(|length| usize::try_from(length).ok()) == bytes.len().checked_sub(HEADER)
        && four(12) == Some(u32::from(precision.digits()))
        && (eight(16), eight(24)) == (Some(1), Some(HIGHEST_TRACKABLE_NS))
}

impl fmt::Debug for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatencyHistogram")
            .field("count", &self.count())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_one_knows_nothing() {
        let empty = LatencyHistogram::new(Precision::Interval);
        assert_eq!((empty.min(), empty.max(), empty.mean()), (None, None, None));
        assert_eq!(empty.percentile(99.0), None);
        assert!(empty.encode().is_empty());
    }

    #[test]
    fn a_latency_beyond_the_range_keeps_its_exact_maximum() {
        let mut histogram = LatencyHistogram::new(Precision::Interval);
        histogram.record(Nanos::from_secs(1_500));
        assert_eq!(histogram.max(), Some(Nanos::from_secs(1_500)));
        assert_eq!(histogram.count(), 1);
    }

    #[test]
    fn a_second_of_a_disk_takes_under_two_hundred_bytes() {
        let mut histogram = LatencyHistogram::new(Precision::Interval);
        // 490 writes of 0.5 to 4.7 ms: the spread measured in thread 3 (p1 486 µs, p99 4686 µs).
        for i in 0..490u64 {
            histogram.record(Nanos(486_000 + i * 8_570));
        }
        assert!(histogram.encode().len() < 150, "{} bytes", histogram.encode().len());
    }

    proptest! {
        #[test]
        fn decoding_gives_back_what_was_encoded(samples in prop::collection::vec(1u64..2_000_000_000_000, 0..300)) {
            let mut histogram = LatencyHistogram::new(Precision::Interval);
            for sample in &samples { histogram.record(Nanos(*sample)); }
            let back = LatencyHistogram::decode(&histogram.encode(), Precision::Interval).unwrap();
            prop_assert_eq!(back.count(), histogram.count());
            prop_assert_eq!(back.min(), histogram.min());
            prop_assert_eq!(back.max(), histogram.max());
            prop_assert_eq!(back.mean(), histogram.mean());
            prop_assert_eq!(back.percentile(50.0), histogram.percentile(50.0));
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = LatencyHistogram::decode(&bytes, Precision::Interval);
        }

        #[test]
        fn merging_is_recording_both(a in prop::collection::vec(1u64..10_000_000_000, 1..50), b in prop::collection::vec(1u64..10_000_000_000, 1..50)) {
            let fill = |samples: &[u64]| {
                let mut histogram = LatencyHistogram::new(Precision::Phase);
                for sample in samples { histogram.record(Nanos(*sample)); }
                histogram
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            let both = fill(&[a, b].concat());
            prop_assert_eq!(merged, both);
        }
    }

    #[test]
    fn a_damaged_minimum_above_the_maximum_is_refused_and_no_percentile_panics() {
        let mut histogram = LatencyHistogram::new(Precision::Interval);
        histogram.record(Nanos(80_000));
        let mut bytes = histogram.encode();
        bytes[7] = 0x80;
        assert!(LatencyHistogram::decode(&bytes, Precision::Interval).is_err());
        assert!(LatencyHistogram::decode(&histogram.encode(), Precision::Phase).is_err(), "another precision");
        let mut bytes = histogram.encode();
        let end = bytes.len() - 9;
        bytes[end..].fill(0xff);
        assert!(LatencyHistogram::decode(&bytes, Precision::Interval).is_err(), "a run without end");
    }
}
