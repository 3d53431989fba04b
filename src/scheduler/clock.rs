//! The time of day, for rows and pages. Durations are measured by `Instant` and by engines, never by this.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 UTC.
#[must_use]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Minute of the day by the clock on the host's wall, 0..1440.
#[must_use]
pub fn minute_of_day() -> u16 {
    let now = jiff::Zoned::now();
    u16::try_from(i32::from(now.hour()) * 60 + i32::from(now.minute())).unwrap_or(0)
}
