//! A run's intervals as columns for its charts: as many as a screen has dots across, with no spike lost.
//!
//! A week has 604 800 intervals. The store merges them (`store::rollups`), `downsample` makes as many of them as were
//! asked for, and here each figure becomes one list of rounded numbers: a tenth of what the intervals themselves take.

use serde_json::{Map, Value, json};

use crate::model::Nanos;
use crate::model::approx::f64_of;
use crate::model::interval::{Interval, RateRange, Tally, per_second};

/// Points when nobody says how many. A merged one is drawn as three, so these fill the width of a large screen.
pub const DEFAULT_POINTS: usize = 900;

/// Columns of `intervals`. A side that did nothing at all has none; in a side that did, `null` where nothing completed. The
/// columns `…_min` and `…_max` are those of the single intervals; they, and `intervals`, are there only if some were merged.
#[must_use]
pub fn columns(intervals: &[Interval]) -> Value {
    let merged = intervals.iter().any(|interval| interval.extremes.is_some());
    let column = |figure: fn(&Interval) -> Value| -> Value { intervals.iter().map(figure).collect() };
    let some_seen = intervals.iter().any(|interval| interval.seen.is_some());
    json!({
        "merged": merged,
        "last_seq": intervals.last().map(|interval| interval.seq),
        "seq": column(|interval| json!(interval.seq)),
        "t_ms": column(|interval| json!(interval.t.as_millis())),
        "duration_ms": column(|interval| json!(interval.duration.as_millis())),
        "phase": column(|interval| json!(interval.phase)),
        "errors": column(|interval| json!(interval.errors)),
        "intervals": if merged { column(|interval| json!(interval.extremes().intervals)) } else { Value::Null },
        "read": side(intervals, merged, |interval| (&interval.read, interval.extremes().read)),
        "write": side(intervals, merged, |interval| (&interval.write, interval.extremes().write)),
        "device_ios": if some_seen { column(device_ios) } else { Value::Null },
        "waited": if some_seen { column(waited) } else { Value::Null },
        "spoilt": if some_seen { column(spoilt) } else { Value::Null },
    })
}

/// One direction of all of them.
fn side(intervals: &[Interval], merged: bool, of: impl Fn(&Interval) -> (&Tally, RateRange)) -> Value {
    if intervals.iter().all(|interval| of(interval).0.ios == 0) {
        return Value::Null;
    }
    let mut columns: Map<String, Value> = Map::new();
    let mut add = |name: &str, figure: &dyn Fn(&Interval, &Tally, RateRange) -> Option<f64>| {
        let column = intervals.iter().map(|interval| {
            let (tally, range) = of(interval);
            let value = (tally.ios > 0).then(|| figure(interval, tally, range)).flatten();
            value.map_or(Value::Null, |value| json!(rounded(value)))
        });
        columns.insert(name.to_owned(), column.collect());
    };
    let ms = |latency: Option<Nanos>| latency.map(|latency| f64_of(latency.0) / 1e6);
    add("mb_per_s", &|interval, tally, _| Some(per_second(tally.bytes.0, interval.duration) / 1e6));
    add("iops", &|interval, tally, _| Some(per_second(tally.ios, interval.duration)));
    add("p50_ms", &|_, tally, _| ms(tally.lat.percentile(50.0)));
    add("p99_ms", &|_, tally, _| ms(tally.lat.percentile(99.0)));
    add("max_ms", &|_, tally, _| ms(tally.lat.max()));
    if merged {
        add("mb_per_s_min", &|_, _, range| Some(f64_of(range.bw_min) / 1e6));
        add("mb_per_s_max", &|_, _, range| Some(f64_of(range.bw_max) / 1e6));
        add("iops_min", &|_, _, range| Some(f64_of(range.iops_min)));
        add("iops_max", &|_, _, range| Some(f64_of(range.iops_max)));
    }
    Value::Object(columns)
}

fn device_ios(interval: &Interval) -> Value {
    let count = interval.seen.as_ref().and_then(|seen| seen.device.as_ref());
    count.map_or(Value::Null, |count| json!(count.ios()))
}

/// Share of the interval that the engine's threads waited for a CPU, of each.
fn waited(interval: &Interval) -> Value {
    let delay = interval.seen.as_ref().and_then(|seen| seen.run_delay.as_ref());
    delay.map_or(Value::Null, |delay| json!(rounded(delay.share_of(interval.duration))))
}

fn spoilt(interval: &Interval) -> Value {
    json!(u8::from(interval.seen.as_ref().is_some_and(|seen| seen.is_spoilt(interval.duration))))
}

/// Four digits: a screen shows no more.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let magnitude = 10_f64.powf(3.0 - value.abs().log10().floor());
    (value * magnitude).round() / magnitude
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::histogram::Precision;
    use crate::model::units::Bytes;

    fn second(seq: u64, ios: u64, ms: u64) -> Interval {
        let mut write = Tally::new(Precision::Interval);
        (0..ios).for_each(|_| write.record(Bytes(4096), Nanos::from_millis(ms)));
        Interval { write, ..Interval::empty(seq, 0, Nanos::from_secs(seq), Nanos::from_secs(1)) }
    }

    #[test]
    fn columns_are_alike_long_and_a_silent_side_has_none() {
        let columns = columns(&[second(1, 123, 2), second(2, 0, 1)]);
        assert_eq!(columns["read"], Value::Null);
        assert_eq!(columns["write"]["mb_per_s"], json!([0.5038, null]));
        assert_eq!(
            (&columns["write"]["iops"], &columns["write"]["max_ms"]),
            (&json!([123.0, null]), &json!([2.0, null]))
        );
        assert_eq!((&columns["merged"], &columns["write"]["iops_max"]), (&json!(false), &Value::Null));
        assert_eq!((&columns["seq"], &columns["last_seq"]), (&json!([1, 2]), &json!(2)));
    }

    #[test]
    fn merged_ones_tell_their_slowest_and_fastest_and_thousands_stay_small() {
        let mut merged = second(1, 100, 5);
        merged.extend(&second(2, 7, 31_968));
        let all: Vec<_> = (0..DEFAULT_POINTS).map(|_| merged.clone()).collect();
        let columns = columns(&all);
        assert_eq!((&columns["write"]["iops_min"][0], &columns["write"]["iops_max"][0]), (&json!(7.0), &json!(100.0)));
        assert_eq!(columns["write"]["max_ms"][0], json!(31_970.0));
        assert!(columns.to_string().len() < 150_000, "{} bytes", columns.to_string().len());
    }
}
