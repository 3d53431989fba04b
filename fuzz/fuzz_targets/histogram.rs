//! A stored histogram: what reads must write and read again as the same.
#![no_main]

use drivescope::model::histogram::{LatencyHistogram, Precision};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(histogram) = LatencyHistogram::decode(data, Precision::Interval) {
        let _ = (histogram.percentile(99.0), histogram.stdev_ns(), histogram.mean(), histogram.buckets().count());
        let _ = LatencyHistogram::decode(&histogram.encode(), Precision::Interval);
    }
});
