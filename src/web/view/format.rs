//! How numbers and times are written on pages. `static/format.js` writes the same for live values.
//! What templates call takes references, for the reason told in `mark`.

use jiff::Timestamp;

use crate::model::approx::{f64_of, u64_of};
use crate::model::interval::{Interval, Tally, per_second};
use crate::model::units::{MIB, Nanos, human_seconds};

/// Stands where there is no value. A dash is read aloud by screen readers; an empty cell is not.
pub const NONE: &str = "–";

/// A whole number with thin spaces between thousands: `14 000 519 643 136`.
#[must_use]
pub fn grouped(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// About three digits: `0.04`, `1.96`, `15.3`, `157`, `12 345`.
#[must_use]
pub fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v < 0.01 => format!("{value:.4}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => grouped(u64_of(value)),
    }
}

/// A latency, or a dash.
#[must_use]
pub fn latency(value: Option<Nanos>) -> String {
    value.map_or_else(|| NONE.to_owned(), |nanos| nanos.to_string())
}

/// A percentile of a tally's latencies, or a dash when nothing completed.
#[must_use]
pub fn percentile(tally: &Tally, percent: f64) -> String {
    latency(tally.lat.percentile(percent))
}

/// The rate of one direction of an interval without its unit (`MB/s` or `MiB/s`, as the column
/// says), or a dash when nothing completed.
#[must_use]
pub fn tally_rate(tally: &Tally, interval: &Interval, unit: &str) -> String {
    if tally.ios == 0 {
        return NONE.to_owned();
    }
    let per_unit = if unit == "MiB/s" { f64_of(MIB) } else { 1e6 };
    figure(per_second(tally.bytes.0, interval.duration) / per_unit)
}

/// The I/Os per second of one direction of an interval, or a dash when nothing completed.
#[must_use]
pub fn tally_iops(tally: &Tally, interval: &Interval) -> String {
    if tally.ios == 0 { NONE.to_owned() } else { figure(per_second(tally.ios, interval.duration)) }
}

/// Seconds as people say them.
#[must_use]
pub fn seconds(value: &f64) -> String {
    human_seconds(u64_of(*value))
}

/// Milliseconds on a run's clock as people say them.
#[must_use]
pub fn run_clock(t_ms: &u64) -> String {
    human_seconds((t_ms + 500) / 1_000)
}

/// A point on a run's clock to the second: `1 h 2 min 5 s`.
#[must_use]
pub fn clock(t_ms: &u64) -> String {
    let seconds = t_ms / 1_000;
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let told: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    if told.is_empty() { "0 s".to_owned() } else { told.join(" ") }
}

/// 0 to 1 as `37 %`. Only the very end is 100 %.
#[must_use]
pub fn percent(fraction: &f64) -> String {
    let percent = (fraction.clamp(0.0, 1.0) * 100.0).round();
    format!("{} %", if *fraction >= 1.0 { 100.0 } else { percent.min(99.0) })
}

/// For `<time datetime>`: RFC 3339, UTC.
#[must_use]
pub fn utc(at_ms: &i64) -> String {
    Timestamp::from_millisecond(*at_ms)
        .map_or_else(|_| String::new(), |at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// For a person: `2026-11-30 18:29 UTC`.
#[must_use]
pub fn utc_for_people(at_ms: &i64) -> String {
    Timestamp::from_millisecond(*at_ms)
        .map_or_else(|_| "an impossible time".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// `just now`, `3 min ago`, `in 2 h 10 min`.
#[must_use]
pub fn ago(at_ms: &i64, now_ms: &i64) -> String {
    let seconds = now_ms.abs_diff(*at_ms) / 1_000;
    match (seconds, at_ms > now_ms) {
        (0..20, _) => "just now".to_owned(),
        (_, true) => format!("in {}", human_seconds(seconds)),
        (_, false) => format!("{} ago", human_seconds(seconds)),
    }
}

/// How long something took, or has been taking until now.
#[must_use]
pub fn took(from_ms: &i64, to_ms: &i64) -> String {
    human_seconds(from_ms.abs_diff(*to_ms) / 1_000)
}

/// A sentence whose per cents do not stand alone on the next line.
#[must_use]
pub fn kept(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

/// Hex digits as lines of 16 bytes, each with the place of its first.
#[must_use]
pub fn hex_dump(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 2);
    let pairs: Vec<&str> = (0..digits.len()).step_by(2).filter_map(|at| digits.get(at..at + 2)).collect();
    // A structure of 4096 bytes is mostly zeros: equal lines after the first of them are left out, as xxd does it.
    let mut before: Option<&[&str]> = None;
    let mut starred = false;
    for (number, line) in pairs.chunks(16).enumerate() {
        if before == Some(line) {
            if !starred {
                text.push_str("*\n");
            }
            starred = true;
            continue;
        }
        (before, starred) = (Some(line), false);
        text.push_str(&format!("{:04x}  {}\n", number * 16, line.join(" ")));
    }
    text
}

/// A long text, cut.
#[must_use]
pub fn short(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Bytes;

    #[test]
    fn a_dump_leaves_out_equal_lines_and_keeps_the_places() {
        let digits = format!("{}{}ff", "00".repeat(64), "0".repeat(32));
        assert_eq!(
            hex_dump(&digits).lines().map(|line| &line[..4.min(line.len())]).collect::<Vec<_>>(),
            ["0000", "*", "0050"]
        );
        assert_eq!(hex_dump(""), "");
        assert_eq!(short(&"é".repeat(90)).chars().count(), 81);
    }

    #[test]
    fn a_label_and_fio_say_the_same_rate_in_their_own_units() {
        let mut tally = Tally::new(crate::model::histogram::Precision::Interval);
        tally.record(Bytes(150 * MIB), Nanos(1));
        let second = Nanos::from_secs(1);
        let mut interval = Interval { read: tally.clone(), ..Interval::empty(1, 0, second, second) };
        assert_eq!(tally_rate(&tally, &interval, "MB/s"), "157");
        assert_eq!(tally_rate(&tally, &interval, "MiB/s"), "150");
        interval.duration = Nanos(0);
        assert_eq!(tally_rate(&tally, &interval, "MB/s"), "0");
        assert_eq!(tally_rate(&interval.write, &interval, "MB/s"), NONE);
    }

    #[test]
    fn times_are_told_absolute_and_relative() {
        let at = 1_780_000_000_000;
        assert_eq!(utc(&at), "2026-05-28T20:26:40Z");
        assert_eq!(ago(&at, &(at + 61_000)), "61 s ago");
        assert_eq!(ago(&at, &at), "just now");
        assert_eq!(ago(&(at + 7_800_000), &at), "in 2 h 10 min");
        assert_eq!(clock(&3_725_900), "1 h 2 min 5 s");
        assert_eq!(utc_for_people(&i64::MAX), "an impossible time");
    }

    #[test]
    fn a_run_that_is_not_over_is_never_at_100_percent() {
        assert_eq!(percent(&0.9999), "99 %");
        assert_eq!(percent(&1.0), "100 %");
        assert_eq!(percent(&0.0), "0 %");
        assert_eq!(grouped(14_000_519_643_136_u64), "14\u{202f}000\u{202f}519\u{202f}643\u{202f}136");
    }
}
