//! From completions to one interval a period.

use crate::model::histogram::Precision;
use crate::model::interval::{Interval, PhaseSums, Tally, ZoneTallies};
use crate::model::seen::Seen;
use crate::model::units::{Bytes, Nanos};
use crate::probe::engine::{Completion, Op};
use crate::probe::witness::Witness;

/// Gathers the completions of a run into intervals.
///
/// Invariants: sequence numbers count from 1 without a gap over all phases; an interval ends at a
/// multiple of the period after its phase's start, or where its phase ends.
pub struct Recorder {
    period: Nanos,
    /// The run's clock was this when the engine's was that: they differ in a run that goes on after an interruption.
    clocks: (Nanos, Nanos),
    next_seq: u64,
    phase: u32,
    began: Nanos,
    read: Tally,
    write: Tally,
    flush: Option<Box<Tally>>,
    trim: Option<Box<Tally>>,
    zone_ops: ZoneTallies,
    errors: u64,
    ramp: bool,
    sums: PhaseSums,
    witness: Option<Box<dyn Witness>>,
    /// Waits for a CPU that belong to intervals still to be closed.
    owed: Nanos,
}

impl Recorder {
    /// A recorder that closes an interval every `period`, which must be above 0.
    #[must_use]
    pub fn new(period: Nanos) -> Self {
        Self {
            period: period.max(Nanos(1)),
            clocks: (Nanos(0), Nanos(0)),
            next_seq: 1,
            phase: 0,
            began: Nanos(0),
            read: Tally::new(Precision::Interval),
            write: Tally::new(Precision::Interval),
            flush: None,
            trim: None,
            zone_ops: ZoneTallies::new(),
            errors: 0,
            ramp: false,
            sums: PhaseSums::default(),
            witness: None,
            owed: Nanos(0),
        }
    }

    /// Has a witness asked whenever an interval closes.
    #[must_use]
    pub fn with_witness(self, witness: Box<dyn Witness>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// What was not recorded was not seen either: it belongs to no interval.
    fn look_away(&mut self, now: Nanos) {
        if let Some(witness) = &mut self.witness {
            let _ = witness.look(now);
        }
        self.owed = Nanos(0);
    }

    /// What was seen of the interval that ends now.
    fn look(&mut self, end: Nanos, duration: Nanos) -> Option<Box<Seen>> {
        let mut seen = self.witness.as_mut()?.look(end);
        if let Some(delay) = &mut seen.run_delay {
            // An engine that was kept from the CPU is late, and closes several intervals at once: its wait fills one after
            // the other, or the first would have all of it and the others would look like a drive that stood still.
            let whole = self.owed + delay.total;
            delay.total = whole.min(Nanos(duration.0.saturating_mul(u64::from(delay.threads.max(1)))));
            self.owed = whole - delay.total;
        }
        (!seen.is_empty()).then(|| Box::new(seen))
    }

    /// Goes on after interval `last_seq`, which ended at `t` of the run's clock; the engine's clock is at `now`.
    #[must_use]
    pub fn after(mut self, last_seq: u64, t: Nanos, now: Nanos) -> Self {
        self.next_seq = last_seq + 1;
        self.clocks = (t, now);
        self
    }

    /// A time of the engine's clock on the run's.
    #[must_use]
    pub fn run_clock(&self, now: Nanos) -> Nanos {
        self.clocks.0 + (now - self.clocks.1)
    }

    /// What the phase had done before an interruption counts in its sums.
    pub fn add_sums(&mut self, before: &PhaseSums) {
        self.sums.merge(before);
    }

    /// A phase begins now.
    pub fn begin_phase(&mut self, phase: u32, now: Nanos) {
        self.look_away(now);
        self.phase = phase;
        self.began = now;
        self.ramp = false;
        self.sums = PhaseSums::default();
    }

    /// What follows counts for nothing, until [`end_ramp`](Self::end_ramp).
    pub fn begin_ramp(&mut self) {
        self.ramp = true;
    }

    /// The ramp ends now, and the open interval with it.
    pub fn end_ramp(&mut self, now: Nanos) -> Option<Interval> {
        let interval = (now > self.began).then(|| self.close(now));
        self.ramp = false;
        interval
    }

    /// When the open interval is due.
    #[must_use]
    pub fn due(&self) -> Nanos {
        self.began + self.period
    }

    /// Closes the open interval if it is due at `now`. Call until it gives `None`.
    pub fn close_if_due(&mut self, now: Nanos) -> Option<Interval> {
        let due = self.due();
        (now >= due).then(|| self.close(due))
    }

    /// Time passed in which nothing was asked on purpose (a pause): the open interval starts anew.
    ///
    /// What was counted before the pause is returned as a shorter interval, if there was anything.
    pub fn skip_to(&mut self, pause_began: Nanos, now: Nanos) -> Option<Interval> {
        let rare = self.flush.is_some() || self.trim.is_some() || !self.zone_ops.is_empty();
        let counted = rare || self.read.ios + self.write.ios + self.errors > 0;
        let interval = (counted && pause_began > self.began).then(|| self.close(pause_began));
        self.look_away(now);
        self.began = now;
        interval
    }

    /// The phase ends now: closes what is open, and gives the phase's sums.
    pub fn end_phase(&mut self, now: Nanos) -> (Option<Interval>, PhaseSums) {
        let interval = (now > self.began).then(|| self.close(now));
        (interval, std::mem::take(&mut self.sums))
    }

    /// Counts one completion into the open interval.
    pub fn record(&mut self, completion: &Completion) {
        match completion.result {
            Ok(len) => {
                let latency = completion.completed - completion.issued;
                let (now, phase) = match completion.io.op {
                    Op::Read => (&mut self.read, &mut self.sums.read),
                    Op::Write => (&mut self.write, &mut self.sums.write),
                    Op::Trim => {
                        (rare(&mut self.trim, Precision::Interval), rare(&mut self.sums.trim, Precision::Phase))
                    }
                    Op::Zone(op) => (
                        self.zone_ops.entry(op).or_insert_with(|| Tally::new(Precision::Interval)),
                        self.sums.zone_ops.entry(op).or_insert_with(|| Tally::new(Precision::Phase)),
                    ),
                    Op::Flush { .. } => {
                        (rare(&mut self.flush, Precision::Interval), rare(&mut self.sums.flush, Precision::Phase))
                    }
                };
                now.record(Bytes(u64::from(len)), latency);
                if !self.ramp {
                    phase.record(Bytes(u64::from(len)), latency);
                }
            }
            Err(_) => self.errors += 1,
        }
    }

    /// Counts an I/O that came back and was wrong.
    pub fn record_wrong(&mut self) {
        self.errors += 1;
    }

    fn close(&mut self, end: Nanos) -> Interval {
        let duration = end - self.began;
        let seen = self.look(end, duration);
        let interval = Interval {
            seq: self.next_seq,
            phase: self.phase,
            t: self.run_clock(end),
            duration,
            read: std::mem::replace(&mut self.read, Tally::new(Precision::Interval)),
            write: std::mem::replace(&mut self.write, Tally::new(Precision::Interval)),
            errors: std::mem::take(&mut self.errors),
            flush: self.flush.take(),
            trim: self.trim.take(),
            zone_ops: std::mem::take(&mut self.zone_ops),
            ramp: self.ramp,
            seen,
            extremes: None,
        };
        self.next_seq += 1;
        self.began = end;
        interval
    }
}

/// A tally that most intervals do without: made when it is first needed.
fn rare(tally: &mut Option<Box<Tally>>, precision: Precision) -> &mut Tally {
    tally.get_or_insert_with(|| Box::new(Tally::new(precision)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seen::{DeviceCount, RunDelay};
    use crate::probe::engine::Io;

    fn done(op: Op, at_ms: u64) -> Completion {
        Completion {
            io: Io { op, offset: 0, len: 4096 },
            issued: Nanos::from_millis(at_ms - 1),
            completed: Nanos::from_millis(at_ms),
            result: Ok(4096),
        }
    }

    #[test]
    fn a_silent_second_is_an_interval_too() {
        let mut recorder = Recorder::new(Nanos::from_secs(1));
        recorder.begin_phase(0, Nanos(0));
        recorder.record(&done(Op::Write, 10));
        let now = Nanos::from_millis(3_500);
        let intervals: Vec<_> = std::iter::from_fn(|| recorder.close_if_due(now)).collect();
        assert_eq!(intervals.iter().map(|interval| interval.seq).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(intervals.iter().map(|interval| interval.write.ios).collect::<Vec<_>>(), [1, 0, 0]);
    }

    #[test]
    fn the_sums_of_a_phase_are_the_sums_of_its_intervals() {
        let mut recorder = Recorder::new(Nanos::from_secs(1));
        recorder.begin_phase(0, Nanos(0));
        let mut ios = 0;
        for at in [100, 900, 1_100, 2_200] {
            while let Some(interval) = recorder.close_if_due(Nanos::from_millis(at)) {
                ios += interval.read.ios;
            }
            recorder.record(&done(Op::Read, at));
        }
        let (last, sums) = recorder.end_phase(Nanos::from_millis(2_300));
        ios += last.unwrap().read.ios;
        assert_eq!((ios, sums.read.ios, sums.write.ios), (4, 4, 0));
    }

    #[test]
    fn a_ramp_is_recorded_and_flagged_and_is_in_no_sum() {
        let mut recorder = Recorder::new(Nanos::from_secs(1));
        recorder.begin_phase(0, Nanos(0));
        recorder.begin_ramp();
        recorder.record(&done(Op::Write, 100));
        let ramp = recorder.end_ramp(Nanos::from_millis(500)).unwrap();
        assert_eq!((ramp.ramp, ramp.write.ios, ramp.duration), (true, 1, Nanos::from_millis(500)));
        recorder.record(&done(Op::Write, 600));
        recorder.record(&Completion {
            io: Io { op: Op::Flush { data_only: true }, offset: 0, len: 0 },
            result: Ok(0),
            ..done(Op::Write, 700)
        });
        let (last, sums) = recorder.end_phase(Nanos::from_millis(900));
        let last = last.unwrap();
        assert_eq!((last.ramp, last.ended(), sums.write.ios), (false, 2, 1));
        assert_eq!((last.flush.unwrap().ios, sums.flush.unwrap().ios, sums.trim), (1, 1, None));
    }

    #[test]
    fn an_interval_has_what_was_seen_since_the_last_and_no_pause() {
        struct Counting(u64);
        impl Witness for Counting {
            fn look(&mut self, now: Nanos) -> Seen {
                let since = now.0 - std::mem::replace(&mut self.0, now.0);
                let device = DeviceCount { queue_ms: since / 1_000_000, ..DeviceCount::default() };
                Seen { device: Some(device), ..Seen::default() }
            }
        }
        let queued = |interval: &Interval| interval.seen.as_ref().unwrap().device.unwrap().queue_ms;
        let mut recorder = Recorder::new(Nanos::from_secs(1)).with_witness(Box::new(Counting(0)));
        recorder.begin_phase(0, Nanos::from_millis(700));
        let first = recorder.close_if_due(Nanos::from_secs(2)).unwrap();
        assert_eq!(queued(&first), 1_000, "what was before the phase is left out");
        recorder.record(&done(Op::Read, 1_800));
        let before = recorder.skip_to(Nanos::from_secs(2), Nanos::from_secs(9)).unwrap();
        let (last, _) = recorder.end_phase(Nanos::from_millis(9_400));
        assert_eq!((queued(&before), queued(&last.unwrap())), (300, 400));
    }

    #[test]
    fn an_engine_that_was_held_up_for_three_intervals_has_three_that_are_spoilt() {
        struct Late(Option<RunDelay>);
        impl Witness for Late {
            fn look(&mut self, _: Nanos) -> Seen {
                let nothing = RunDelay { total: Nanos(0), threads: 1 };
                Seen { run_delay: Some(self.0.take().unwrap_or(nothing)), ..Seen::default() }
            }
        }
        let mut recorder = Recorder::new(Nanos::from_secs(1));
        recorder.begin_phase(0, Nanos(0));
        let waited = RunDelay { total: Nanos::from_millis(2_600), threads: 1 };
        let mut recorder = recorder.with_witness(Box::new(Late(Some(waited))));
        let now = Nanos::from_secs(4);
        let spoilt: Vec<_> = std::iter::from_fn(|| recorder.close_if_due(now)).map(|i| i.is_spoilt()).collect();
        assert_eq!(spoilt, [true, true, true, false]);
    }

    #[test]
    fn sequence_numbers_go_on_over_phases_and_pauses() {
        let mut recorder = Recorder::new(Nanos::from_secs(1));
        recorder.begin_phase(0, Nanos(0));
        recorder.record(&done(Op::Read, 100));
        let before = recorder.skip_to(Nanos::from_millis(200), Nanos::from_secs(60)).unwrap();
        assert_eq!((before.seq, before.duration), (1, Nanos::from_millis(200)));
        let (last, ..) = recorder.end_phase(Nanos::from_secs(61));
        assert_eq!(last.unwrap().seq, 2);
        recorder.begin_phase(1, Nanos::from_secs(61));
        let next = recorder.close_if_due(Nanos::from_secs(62)).unwrap();
        assert_eq!((next.seq, next.phase), (3, 1));
    }
}
