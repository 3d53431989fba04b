//! Quantities with their unit in the type, and how people read them.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::approx::f64_of;

/// One kibibyte, 2^10 bytes: fio's `k`.
pub const KIB: u64 = 1 << 10;
/// One mebibyte, 2^20 bytes: fio's `m`.
pub const MIB: u64 = 1 << 20;
/// One gibibyte, 2^30 bytes: fio's `g`.
pub const GIB: u64 = 1 << 30;

/// A number of bytes, or a byte offset from the start of a target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Bytes in `count` sectors of 512 bytes, the unit of `/sys/block/*/size`, saturating.
    #[must_use]
    pub fn from_sectors(count: u64) -> Self {
        Self(count.saturating_mul(512))
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// In powers of 1000, as printed on a drive's label: `14.0 TB`.
    #[must_use]
    pub fn decimal(self) -> String {
        scaled(self.0, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
    }

    /// In powers of 1024: `64.0 GiB`.
    #[must_use]
    pub fn binary(self) -> String {
        scaled(self.0, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
    }
}

fn scaled(value: u64, step: f64, names: &[&str]) -> String {
    let mut scaled = f64_of(value);
    let mut index = 0;
    while scaled >= step && index + 1 < names.len() {
        scaled /= step;
        index += 1;
    }
    match index {
        0 => format!("{value} {}", names[0]),
        _ if scaled >= 100.0 => format!("{scaled:.0} {}", names[index]),
        _ => format!("{scaled:.1} {}", names[index]),
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.binary())
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    /// Saturates at zero: a size is never negative.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), Add::add)
    }
}

/// A duration, or a point on an engine's own clock, in nanoseconds. 2^64 ns are 584 years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The end of time; used as "never".
    pub const MAX: Self = Self(u64::MAX);

    /// From whole milliseconds, saturating.
    #[must_use]
    pub fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// From whole seconds, saturating.
    #[must_use]
    pub fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// From a standard duration, saturating at 584 years.
    #[must_use]
    pub fn from_duration(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// As a standard duration.
    #[must_use]
    pub fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Whole milliseconds, rounded down.
    #[must_use]
    pub fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        f64_of(self.0) / 1e9
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    /// Saturates at zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = f64_of(self.0);
        match self.0 {
            0..1_000 => write!(f, "{} ns", self.0),
            1_000..1_000_000 => write!(f, "{:.1} µs", ns / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.2} ms", ns / 1e6),
            _ => write!(f, "{:.2} s", ns / 1e9),
        }
    }
}

/// Whole seconds as people say them: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
#[must_use]
pub fn human_seconds(seconds: u64) -> String {
    match seconds {
        0..=89 => format!("{seconds} s"),
        90..=5_399 => format!("{} min", (seconds + 30) / 60),
        5_400..=172_799 => {
            let minutes = (seconds + 30) / 60;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
        _ => {
            let hours = (seconds + 1_800) / 3_600;
            format!("{} d {} h", hours / 24, hours % 24)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_tera_and_a_cache_says_gibi() {
        assert_eq!(Bytes(14_000_519_643_136).decimal(), "14.0 TB");
        assert_eq!(Bytes(64 * GIB).binary(), "64.0 GiB");
        assert_eq!(Bytes(0).binary(), "0 B");
        assert_eq!(Bytes(512).decimal(), "512 B");
        assert_eq!(Bytes(u64::MAX).binary(), "16.0 EiB");
    }

    #[test]
    fn sizes_never_wrap() {
        assert_eq!(Bytes(1) - Bytes(2), Bytes(0));
        assert_eq!(Bytes::from_sectors(u64::MAX), Bytes(u64::MAX));
        assert_eq!(Nanos::from_secs(u64::MAX), Nanos::MAX);
    }

    #[test]
    fn durations_read_like_speech() {
        assert_eq!(human_seconds(45), "45 s");
        assert_eq!(human_seconds(720), "12 min");
        assert_eq!(human_seconds(12_000), "3 h 20 min");
        assert_eq!(human_seconds(187_200), "2 d 4 h");
        assert_eq!(Nanos(1_875_000).to_string(), "1.88 ms");
    }
}
