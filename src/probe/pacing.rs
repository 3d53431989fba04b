//! Asking for less than the drive could do: fio's `rate`, `rate_iops` and `thinktime`.

use crate::model::units::Nanos;
use crate::model::workload::Workload;

/// How soon a stream that waits for its own I/Os is asked again.
const SOON: Nanos = Nanos(1_000_000);

/// Says when the next I/O may be asked for. Times count from the start of the phase, pauses left out.
#[derive(Debug, Clone)]
pub struct Pacing {
    bytes_per_s: Option<u64>,
    ios_per_s: Option<u64>,
    think: Nanos,
    think_blocks: u64,
    began: Nanos,
    ios: u64,
    bytes: u64,
    since_rest: u64,
    rest_until: Nanos,
}

impl Pacing {
    /// As `workload` asks.
    #[must_use]
    pub fn new(workload: &Workload) -> Self {
        Self {
            bytes_per_s: workload.rate_bytes_per_s.map(|rate| rate.0.max(1)),
            ios_per_s: workload.rate_iops.map(|rate| rate.max(1)),
            think: Nanos(workload.thinktime_us.saturating_mul(1_000)),
            think_blocks: u64::from(workload.thinktime_blocks.max(1)),
            began: Nanos(0),
            ios: 0,
            bytes: 0,
            since_rest: 0,
            rest_until: Nanos(0),
        }
    }

    /// Until when to wait, if not now. A drive that fell behind a rate may catch up, as in fio.
    #[must_use]
    pub fn wait(&self, now: Nanos) -> Option<Nanos> {
        let due = |done: u64, per_s: Option<u64>| {
            let Some(per_s) = per_s else { return Nanos(0) };
            let ns = u128::from(done) * 1_000_000_000 / u128::from(per_s);
            self.began + Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
        };
        let mut until = due(self.bytes, self.bytes_per_s).max(due(self.ios, self.ios_per_s));
        if self.think.0 > 0 {
            // The rest begins when everything asked for has ended.
            let resting = if self.since_rest < self.think_blocks { self.rest_until } else { now + SOON };
            until = until.max(resting);
        }
        (until > now).then_some(until)
    }

    /// An I/O was asked for.
    pub fn issued(&mut self, bytes: u64) {
        self.ios += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.since_rest += 1;
    }

    /// One has ended; so many are still in flight.
    pub fn ended(&mut self, now: Nanos, in_flight: u64) {
        if self.since_rest >= self.think_blocks && in_flight == 0 {
            self.since_rest = 0;
            self.rest_until = now + self.think;
        }
    }

    /// The ramp is over: rates count from here.
    pub fn restart(&mut self, now: Nanos) {
        self.began = now;
        self.ios = 0;
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Bytes;
    use crate::model::workload::Rw;

    fn workload() -> Workload {
        Workload::new(Rw::Write, Bytes(4096), Bytes(0), Bytes(1 << 20))
    }

    #[test]
    fn a_rate_is_kept_over_the_whole_time_and_may_be_caught_up_with() {
        let mut pacing = Pacing::new(&Workload { rate_iops: Some(10), ..workload() });
        assert_eq!(pacing.wait(Nanos(0)), None);
        pacing.issued(4096);
        assert_eq!(pacing.wait(Nanos(0)), Some(Nanos::from_millis(100)));
        assert_eq!(pacing.wait(Nanos::from_millis(100)), None);
        let late = Nanos::from_secs(1);
        for _ in 0..9 {
            assert_eq!(pacing.wait(late), None);
            pacing.issued(4096);
        }
        assert_eq!(pacing.wait(late), None, "the tenth is due at 1.0 s");
    }

    #[test]
    fn the_stricter_of_two_rates_counts() {
        let mut pacing =
            Pacing::new(&Workload { rate_iops: Some(1_000), rate_bytes_per_s: Some(Bytes(4096)), ..workload() });
        pacing.issued(4096);
        assert_eq!(pacing.wait(Nanos(0)), Some(Nanos::from_secs(1)));
    }

    #[test]
    fn a_rest_begins_when_the_last_of_the_blocks_has_ended() {
        let mut pacing = Pacing::new(&Workload { thinktime_us: 500, thinktime_blocks: 2, ..workload() });
        pacing.issued(4096);
        assert_eq!(pacing.wait(Nanos(0)), None);
        pacing.issued(4096);
        assert!(pacing.wait(Nanos(0)).is_some());
        pacing.ended(Nanos(10), 1);
        assert!(pacing.wait(Nanos(10)).is_some());
        pacing.ended(Nanos(20), 0);
        assert_eq!(pacing.wait(Nanos(20)), Some(Nanos(500_020)));
        assert_eq!(pacing.wait(Nanos(500_020)), None);
    }
}
