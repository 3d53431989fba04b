//! The one place where exact integers become floating-point approximations and back.
//!
//! Lossy `as` casts are denied everywhere else in the crate. Rates, ratios and statistics
//! need `f64`; a `u64` above 2^53 loses its low bits there, which no rate can notice.

/// `value` as the nearest `f64` (exact up to 2^53).
#[allow(clippy::cast_precision_loss)]
#[must_use]
pub fn f64_of(value: u64) -> f64 {
    value as f64
}

/// `value` as the nearest `f64`, for lengths and counts held in a `usize`.
#[allow(clippy::cast_precision_loss)]
#[must_use]
pub fn f64_of_len(value: usize) -> f64 {
    value as f64
}

/// `value` rounded to the nearest integer; negative and NaN become 0, too large becomes `u64::MAX`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
#[must_use]
pub fn u64_of(value: f64) -> u64 {
    // `as` from a float saturates and maps NaN to 0: exactly what is promised above.
    value.round() as u64
}

/// `value` rounded to the nearest index; negative and NaN become 0.
#[must_use]
pub fn usize_of(value: f64) -> usize {
    usize::try_from(u64_of(value)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_range_floats_saturate_and_nan_is_zero() {
        assert_eq!(u64_of(-1.0), 0);
        assert_eq!(u64_of(f64::NAN), 0);
        assert_eq!(u64_of(1e30), u64::MAX);
        assert_eq!(u64_of(2.5), 3);
    }
}
