//! A histogram column without what is the same in every row.
//!
//! The form of [`LatencyHistogram::encode`](crate::model::histogram::LatencyHistogram::encode) begins with 72 bytes, of which
//! 36 are constants, and the rest are small numbers in wide fields. That is more than the counts of a second take:
//!
//! ```text
//! long   min 8 · max 8 · sum 16 · V2's header 40 · counts
//! short  min, max, sum as varints · counts
//! ```
//! Rows from before have the long form, and so has a histogram whose sum needs more than 64 bits. The two cannot be
//! taken for each other: the long one says its own form and length at a fixed place.

use std::borrow::Cow;

use crate::model::histogram::{HIGHEST_TRACKABLE_NS, Precision};
use crate::model::varint::{VarintError, put, take};

/// HdrHistogram's V2 with counts of a byte or more each.
const FORM: [u8; 4] = [0x1c, 0x84, 0x93, 0x13];
const SUMS: usize = 32;
const PREFIX: usize = SUMS + 40;

fn is_long(bytes: &[u8]) -> bool {
    let length = || bytes.get(SUMS + 4..SUMS + 8)?.try_into().ok().map(u32::from_be_bytes);
    bytes.get(SUMS..SUMS + 4) == Some(&FORM[..])
        && length().and_then(|length| usize::try_from(length).ok()) == bytes.len().checked_sub(PREFIX)
}

/// V2's header of this many bytes of counts, big endian: form, length, offset 0, digits, bounds, ratio 1.0.
fn header(counts: usize, precision: Precision) -> [u8; 40] {
    let mut header = [0; 40];
    let fields: [(usize, &[u8]); 6] = [
        (0, &FORM),
        (4, &u32::try_from(counts).unwrap_or(u32::MAX).to_be_bytes()),
        (12, &u32::from(precision.digits()).to_be_bytes()),
        (16, &1_u64.to_be_bytes()),
        (24, &HIGHEST_TRACKABLE_NS.to_be_bytes()),
        (32, &1_f64.to_be_bytes()),
    ];
    for (at, field) in fields {
        if let Some(place) = header.get_mut(at..at + field.len()) {
            place.copy_from_slice(field);
        }
    }
    header
}

/// The form to be stored, of an encoded histogram.
pub fn shorten(long: Vec<u8>, precision: Precision) -> Vec<u8> {
    let Some((prefix, counts)) = long.split_at_checked(PREFIX) else { return long };
    let number = |at: usize| prefix.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let (Some(min), Some(max), Some(sum), Some(0)) = (number(0), number(8), number(16), number(24)) else {
        return long;
    };
    if prefix.get(SUMS..) != Some(&header(counts.len(), precision)[..]) {
        return long;
    }
    let mut short = Vec::with_capacity(counts.len() + 20);
    for value in [min, max, sum] {
        put(&mut short, value);
    }
    short.extend_from_slice(counts);
    if is_long(&short) { long } else { short }
}

/// The encoded histogram, of what was stored.
///
/// # Errors
/// When the bytes are neither form.
pub fn lengthen(stored: &[u8], precision: Precision) -> Result<Cow<'_, [u8]>, VarintError> {
    if stored.is_empty() || is_long(stored) {
        return Ok(Cow::Borrowed(stored));
    }
    let mut rest = stored;
    let (min, max, sum) = (take(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
    let mut long = Vec::with_capacity(PREFIX + rest.len());
    long.extend_from_slice(&min.to_le_bytes());
    long.extend_from_slice(&max.to_le_bytes());
    long.extend_from_slice(&u128::from(sum).to_le_bytes());
    long.extend_from_slice(&header(rest.len(), precision));
    long.extend_from_slice(rest);
    Ok(Cow::Owned(long))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::histogram::LatencyHistogram;
    use crate::model::units::Nanos;
    use proptest::prelude::*;

    #[test]
    fn sixty_bytes_are_saved_and_the_old_form_is_still_read() {
        let mut histogram = LatencyHistogram::new(Precision::Interval);
        for i in 0..490_u64 {
            histogram.record(Nanos(486_000 + i * 8_570));
        }
        let long = histogram.encode();
        let short = shorten(long.clone(), Precision::Interval);
        assert!(short.len() + 58 <= long.len(), "{} of {}", short.len(), long.len());
        for stored in [&short, &long] {
            assert_eq!(lengthen(stored, Precision::Interval).unwrap(), long);
        }
    }

    proptest! {
        #[test]
        fn every_histogram_reads_back(samples in prop::collection::vec(any::<u64>(), 0..200), phase in any::<bool>()) {
            let precision = if phase { Precision::Phase } else { Precision::Interval };
            let mut histogram = LatencyHistogram::new(precision);
            for sample in samples {
                histogram.record(Nanos(sample >> (sample % 64)));
            }
            let long = histogram.encode();
            let short = shorten(long.clone(), precision);
            prop_assert_eq!(lengthen(&short, precision).unwrap(), long);
        }

        #[test]
        fn damaged_bytes_are_refused_later_or_now_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            if let Ok(long) = lengthen(&bytes, Precision::Interval) {
                let _ = LatencyHistogram::decode(&long, Precision::Interval);
            }
        }
    }
}
