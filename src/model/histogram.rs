//! Latency histograms: 1 ns to 1000 s and beyond, with an exact maximum.

use std::fmt;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use super::units::Nanos;
use super::varint;

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
    precision: Precision,
    /// Made with the first sample: most intervals have I/Os of one direction, and thousands are held at once.
    buckets: Option<Box<Histogram<u64>>>,
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
    #[must_use]
    pub fn new(precision: Precision) -> Self {
        Self { precision, buckets: None, min: Nanos::MAX, max: Nanos(0), sum_ns: 0 }
    }

    fn buckets_mut(&mut self) -> &mut Histogram<u64> {
        let digits = self.precision.digits();
        let make = || {
            // The bounds are constants that the histogram accepts (a test holds them).
            let buckets = Histogram::new_with_bounds(1, HIGHEST_TRACKABLE_NS, digits).expect("constant bounds");
            Box::new(buckets)
        };
        self.buckets.get_or_insert_with(make)
    }

    /// Counts one I/O.
    ///
    /// # Panics
    /// Never: see `buckets_mut`.
    pub fn record(&mut self, latency: Nanos) {
        self.buckets_mut().saturating_record(latency.0);
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.sum_ns += u128::from(latency.0);
    }

    /// Adds all samples of `other`; its buckets may be of another precision.
    pub fn merge(&mut self, other: &Self) {
        let Some(buckets) = other.buckets.as_deref().filter(|buckets| !buckets.is_empty()) else { return };
        // Adding can only fail for values out of range, and both have the same range.
        let _ = self.buckets_mut().add(buckets);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum_ns += other.sum_ns;
    }

    /// Forgets everything, and keeps its memory.
    pub fn clear(&mut self) {
        if let Some(buckets) = &mut self.buckets {
            buckets.clear();
        }
        self.min = Nanos::MAX;
        self.max = Nanos(0);
        self.sum_ns = 0;
    }

    /// Samples counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.as_ref().map_or(0, |buckets| buckets.len())
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The value below which `percent` (0..=100) of the samples lie; `None` when empty.
    /// Never below the exact minimum nor above the exact maximum.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        let buckets = self.buckets.as_ref().filter(|buckets| !buckets.is_empty())?;
        Some(Nanos(buckets.value_at_quantile(percent / 100.0)).clamp(self.min, self.max))
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
        self.buckets.as_ref().filter(|buckets| !buckets.is_empty()).map(|buckets| buckets.stdev())
    }

    /// `(lower bound, upper bound, count)` of every bucket that is not empty, in nanoseconds.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, Nanos, u64)> + '_ {
        self.buckets.iter().flat_map(|buckets| {
            buckets.iter_recorded().map(|step| {
                let value = step.value_iterated_to();
                let low = Nanos(buckets.lowest_equivalent(value));
                (low, Nanos(buckets.highest_equivalent(value)), step.count_at_value())
            })
        })
    }

    /// As bytes for the database: exact minimum, range and sum as variable-length numbers, then the buckets in HdrHistogram's V2
    /// form without its 40 bytes of header, which are the same for all: a week has 604 800 of these.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Some(counted) = self.buckets.as_ref().filter(|buckets| !buckets.is_empty()) else { return Vec::new() };
        let mut bytes = Vec::with_capacity(128);
        // 2^64 ns of latency, summed, are six centuries.
        let sum_ns = u64::try_from(self.sum_ns).unwrap_or(u64::MAX);
        for number in [self.min.0, self.max.0.saturating_sub(self.min.0), sum_ns] {
            varint::put(&mut bytes, number);
        }
        let mut buckets = Vec::with_capacity(128);
        // Writing into a Vec cannot fail, and counts are u64, which V2 holds.
        let _ = V2Serializer::new().serialize(counted, &mut buckets);
        bytes.extend_from_slice(buckets.get(HEADER_BYTES..).unwrap_or_default());
        bytes
    }

    /// The reverse of [`encode`](Self::encode). Also reads what was stored before there was the short form.
    ///
    /// # Errors
    /// When the bytes are not such a histogram.
    pub fn decode(bytes: &[u8], precision: Precision) -> Result<Self, HistogramDecodeError> {
        if bytes.is_empty() {
            return Ok(Self::new(precision));
        }
        let broken = |why: &str| HistogramDecodeError(why.to_owned());
        let (min, max, sum_ns, buckets) = match long_form(bytes, precision) {
            Some(long) => long,
            None => short_form(bytes, precision).ok_or_else(|| broken("cut short, or of another form"))?,
        };
        // A run of 2^63 empty buckets, the one number of nine bytes of ones: the reader of hdrhistogram 7.6 negates it, which
        // overflows. No histogram has it.
        if buckets.windows(9).any(|bytes| bytes == [0xff; 9]) {
            return Err(broken("a run of more buckets than there are"));
        }
        let buckets: Histogram<u64> = Deserializer::new()
            .deserialize(&mut buckets.as_slice())
            .map_err(|error| HistogramDecodeError(format!("{error:?}")))?;
        // A percentile is kept between the two.
        if min > max {
            return Err(broken("the minimum is above the maximum"));
        }
        // Counts that add up past 64 bits are held at the largest number, and a percentile would add them up again.
        if buckets.len() > MOST_SAMPLES {
            return Err(broken("more samples than there can be"));
        }
        let count = u128::from(buckets.len());
        if sum_ns < count * u128::from(min.0) || sum_ns > count * u128::from(max.0) {
            return Err(broken("the sum is not between minimum and maximum"));
        }
        Ok(Self { precision, buckets: Some(Box::new(buckets)), min, max, sum_ns })
    }
}

/// HdrHistogram's V2 form, not packed.
const FORM: u32 = 0x1c84_9313;
/// Bytes before the counts, all big endian: 0-3 form, 4-7 length of the counts, 8-11 an offset, 12-15 digits, 16-23 and
/// 24-31 bounds, 32-39 a ratio.
const HEADER_BYTES: usize = 40;

/// What every histogram of ours has before its counts.
fn header(precision: Precision, counts: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + counts);
    bytes.extend_from_slice(&FORM.to_be_bytes());
    bytes.extend_from_slice(&u32::try_from(counts).ok()?.to_be_bytes());
    bytes.extend_from_slice(&0_u32.to_be_bytes());
    bytes.extend_from_slice(&u32::from(precision.digits()).to_be_bytes());
    bytes.extend_from_slice(&1_u64.to_be_bytes());
    bytes.extend_from_slice(&HIGHEST_TRACKABLE_NS.to_be_bytes());
    bytes.extend_from_slice(&1.0_f64.to_bits().to_be_bytes());
    Some(bytes)
}

/// Minimum, maximum, sum, and the buckets in V2 form.
type Parts = (Nanos, Nanos, u128, Vec<u8>);

fn short_form(mut bytes: &[u8], precision: Precision) -> Option<Parts> {
    let mut number = || varint::take(&mut bytes).ok();
    let (min, range, sum_ns) = (number()?, number()?, number()?);
    let mut buckets = header(precision, bytes.len())?;
    buckets.extend_from_slice(bytes);
    Some((Nanos(min), Nanos(min.checked_add(range)?), u128::from(sum_ns), buckets))
}

/// Minimum and maximum of eight bytes each, a sum of sixteen, little endian, and the whole V2 form. The header must be what
/// is written here: else the reader would make room for whatever length and bounds a damaged row names.
fn long_form(bytes: &[u8], precision: Precision) -> Option<Parts> {
    let (min, rest) = bytes.split_first_chunk::<8>()?;
    let (max, rest) = rest.split_first_chunk::<8>()?;
    let (sum_ns, buckets) = rest.split_first_chunk::<16>()?;
    let expected = header(precision, buckets.len().checked_sub(HEADER_BYTES)?)?;
    let (min, max) = (u64::from_le_bytes(*min), u64::from_le_bytes(*max));
    buckets.starts_with(&expected).then(|| (Nanos(min), Nanos(max), u128::from_le_bytes(*sum_ns), buckets.to_vec()))
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
    fn a_second_of_a_disk_takes_under_a_hundred_bytes() {
        let mut histogram = LatencyHistogram::new(Precision::Interval);
        // 490 writes of 0.5 to 4.7 ms: the spread measured in thread 3 (p1 486 µs, p99 4686 µs).
        for i in 0..490u64 {
            histogram.record(Nanos(486_000 + i * 8_570));
        }
        assert!(histogram.encode().len() < 100, "{} bytes", histogram.encode().len());
    }

    /// As histograms were stored at first.
    fn long(histogram: &LatencyHistogram) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&histogram.min.0.to_le_bytes());
        bytes.extend_from_slice(&histogram.max.0.to_le_bytes());
        bytes.extend_from_slice(&histogram.sum_ns.to_le_bytes());
        V2Serializer::new().serialize(histogram.buckets.as_ref().unwrap(), &mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn decoding_gives_back_what_was_encoded(samples in prop::collection::vec(1u64..2_000_000_000_000, 0..300)) {
            let mut histogram = LatencyHistogram::new(Precision::Interval);
            for sample in &samples { histogram.record(Nanos(*sample)); }
            let back = LatencyHistogram::decode(&histogram.encode(), Precision::Interval).unwrap();
            if !samples.is_empty() {
                prop_assert_eq!(&LatencyHistogram::decode(&long(&histogram), Precision::Interval).unwrap(), &back);
            }
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
        let mut bytes = long(&histogram);
        bytes[7] = 0x80;
        assert!(LatencyHistogram::decode(&bytes, Precision::Interval).is_err());
        assert!(LatencyHistogram::decode(&long(&histogram), Precision::Phase).is_err(), "another precision");
        let mut bytes = long(&histogram);
        let end = bytes.len() - 9;
        bytes[end..].fill(0xff);
        assert!(LatencyHistogram::decode(&bytes, Precision::Interval).is_err(), "a run without end");
    }
}
