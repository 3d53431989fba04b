//! Fewer, longer intervals for a chart: neighbours of one phase merged, sums and extremes kept.

use crate::model::interval::Interval;

/// Merges `intervals` (in order) so that about `points` are left, never over the end of a phase.
///
/// Counts, bytes and errors are sums, latencies are of all I/Os, so the smallest and largest
/// latency survive exactly.
#[must_use]
pub fn downsample(intervals: Vec<Interval>, points: usize) -> Vec<Interval> {
    let group = intervals.len().div_ceil(points.max(1));
    if group <= 1 {
        return intervals;
    }
    let mut merged: Vec<Interval> = Vec::with_capacity(points + 16);
    let mut room = 0;
    for interval in intervals {
        match merged.last_mut() {
            Some(last) if room > 0 && (last.phase, last.ramp) == (interval.phase, interval.ramp) => {
                last.extend(&interval);
                room -= 1;
            }
            _ => {
                merged.push(interval);
                room = group - 1;
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::histogram::Precision;
    use crate::model::interval::Tally;
    use crate::model::units::{Bytes, Nanos};

    fn interval(seq: u64, phase: u32, latency_ms: u64) -> Interval {
        let mut write = Tally::new(Precision::Interval);
        write.record(Bytes(4096), Nanos::from_millis(latency_ms));
        Interval { write, ..Interval::empty(seq, phase, Nanos::from_secs(seq), Nanos::from_secs(1)) }
    }

    #[test]
    fn nothing_is_lost_and_no_spike_vanishes() {
        let mut all: Vec<_> = (1..=1_000).map(|seq| interval(seq, u32::from(seq > 500), 2)).collect();
        all[333] = interval(334, 0, 31_968);
        let few = downsample(all, 100);
        assert!(few.len() <= 101, "{}", few.len());
        assert_eq!(few.iter().map(|interval| interval.write.ios).sum::<u64>(), 1_000);
        let max = few.iter().filter_map(|interval| interval.write.lat.max()).max();
        assert_eq!(max, Some(Nanos::from_millis(31_968)));
        assert_eq!(few.last().map(|interval| interval.seq), Some(1_000));
        let duration: u64 = few.iter().map(|interval| interval.duration.0).sum();
        assert_eq!(duration, 1_000_000_000_000);
        assert!(few.windows(2).all(|pair| pair[0].seq < pair[1].seq && pair[0].phase <= pair[1].phase));
    }
}
