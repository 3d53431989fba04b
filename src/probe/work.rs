//! What a phase of I/O still has to do: its limits, its pace, its flushes, its data.

use super::engine::{Completion, Io, Op};
use super::pacing::Pacing;
use super::pattern::Pattern;
use super::pattern::zoned::{Zoned, ZonedNext};
use super::replay::{Replay, Replayed};
use super::verify::Verifier;
use crate::model::standing::PhaseStanding;
use crate::model::units::{Bytes, Nanos};
use crate::model::workload::Workload;
use crate::model::zone::Zone;

/// How soon the phase is asked again while it waits for its last I/Os.
const SOON: Nanos = Nanos(1_000_000);

/// What comes next. Times count from the start of the phase, pauses left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// This I/O.
    Issue(Io),
    /// Nothing before this time, or before an I/O has ended.
    Wait(Nanos),
    /// It has done what it was to do.
    Done(String),
    /// Its time is over.
    OutOfTime,
    /// It cannot go on.
    Failed(String),
}

/// One phase's I/O.
pub struct Work {
    source: Source,
    number_ios: u64,
    io_size: u64,
    pacing: Option<Pacing>,
    fsync: Every,
    fdatasync: Every,
    end_fsync: bool,
    verifier: Option<Verifier>,
    /// A ramp brings no limit nearer.
    in_ramp: bool,
    issued_ios: u64,
    issued_bytes: u64,
    in_flight: u64,
}

/// Where its I/Os come from.
enum Source {
    Pattern(Pattern),
    Replay(Replay),
    Zoned(Box<Zoned>),
}

/// Counts writes to the next flush.
#[derive(Debug, Clone, Copy)]
struct Every {
    writes: u32,
    since: u32,
}

impl Every {
    fn new(writes: u32) -> Self {
        Self { writes, since: 0 }
    }

    fn is_due(&mut self) -> bool {
        let due = self.writes > 0 && self.since >= self.writes;
        if due {
            self.since = 0;
        }
        due
    }
}

impl Work {
    /// All of `workload`.
    #[must_use]
    pub fn new(workload: &Workload) -> Self {
        let paced = workload.rate_bytes_per_s.is_some() || workload.rate_iops.is_some() || workload.thinktime_us > 0;
        Self {
            source: match workload.zbd {
                Some(zbd) => Source::Zoned(Box::new(Zoned::new(workload, zbd))),
                None if workload.replay.is_empty() => Source::Pattern(Pattern::new(workload)),
                None => Source::Replay(Replay::new(&workload.replay)),
            },
            // A recording ends with its last I/O, which may be a flush.
            number_ios: workload.number_ios.filter(|_| workload.replay.is_empty()).unwrap_or(u64::MAX),
            io_size: workload.io_size_bytes.map_or(u64::MAX, |bytes| bytes.0),
            pacing: paced.then(|| Pacing::new(workload)),
            fsync: Every::new(workload.fsync),
            fdatasync: Every::new(workload.fdatasync),
            end_fsync: workload.end_fsync,
            verifier: workload.verify.map(|verify| Verifier::new(verify, workload.randseed)),
            in_ramp: workload.ramp_time_s > 0,
            issued_ios: 0,
            issued_bytes: 0,
            in_flight: 0,
        }
    }

    /// Goes on from where the phase stood. What may have been in flight at its last interval is asked for once more: an
    /// I/O too many does no harm, one too few would leave a block unwritten.
    pub fn go_on(&mut self, workload: &Workload, standing: &PhaseStanding, in_ramp: bool) {
        let repeated = u64::from(workload.in_flight());
        let asked = standing.all_ios().saturating_sub(repeated);
        match &mut self.source {
            Source::Pattern(pattern) => pattern.skip_to(asked),
            Source::Replay(replay) => replay.skip_to(asked),
            // It asks the drive anew where its zones stand.
            Source::Zoned(_) => {}
        }
        self.in_ramp = in_ramp;
        let ios = standing.ios.saturating_sub(repeated);
        let per_io = standing.bytes.checked_div(standing.ios).unwrap_or(0);
        self.issued_ios = ios;
        self.issued_bytes = standing.bytes.saturating_sub((standing.ios - ios).saturating_mul(per_io));
        if let Some(pacing) = &mut self.pacing {
            pacing.restart(standing.elapsed);
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.go_on(standing.errors);
        }
    }

    /// The next step.
    pub fn next(&mut self, elapsed: Nanos, out_of_time: bool) -> Next {
        let finished = if out_of_time {
            Some(Next::OutOfTime)
        } else if self.in_ramp {
            None
        } else if self.issued_ios >= self.number_ios {
            Some(Next::Done(format!("did its {} I/Os", self.number_ios)))
        } else if self.issued_bytes >= self.io_size {
            Some(Next::Done(format!("moved its {}", Bytes(self.io_size))))
        } else {
            None
        };
        if let Some(finished) = finished {
            if let Some(next) = self.leave_zones(elapsed) {
                return next;
            }
            return self.last_flush(elapsed).unwrap_or(finished);
        }
        // A flush goes the way of any I/O: it covers the writes that have ended, and does not hold up others.
        if self.fsync.is_due() {
            return self.flush(false);
        }
        if self.fdatasync.is_due() {
            return self.flush(true);
        }
        if let Some(until) = self.pacing.as_ref().and_then(|pacing| pacing.wait(elapsed)) {
            return Next::Wait(until);
        }
        let io = match &mut self.source {
            Source::Pattern(pattern) => pattern.next_io(),
            Source::Replay(replay) => match replay.next(elapsed) {
                Replayed::Io(io) => io,
                Replayed::DueAt(until) => return Next::Wait(until),
                Replayed::End => {
                    return self.last_flush(elapsed).unwrap_or_else(|| Next::Done("replayed all of it".to_owned()));
                }
            },
            Source::Zoned(zoned) => match zoned.next_io() {
                ZonedNext::Io { io, counts: true } => io,
                // What only prepares or ends a zone's writes brings no limit nearer and is not paced.
                ZonedNext::Io { io, counts: false } => {
                    self.in_flight += 1;
                    return Next::Issue(io);
                }
                ZonedNext::Wait => return Next::Wait(elapsed + SOON),
                ZonedNext::Done(how) => return self.last_flush(elapsed).unwrap_or(Next::Done(how)),
                ZonedNext::Failed(why) => return Next::Failed(why),
            },
        };
        let len = u64::from(io.len);
        self.issued_ios += 1;
        self.issued_bytes += len;
        self.in_flight += 1;
        if io.op == Op::Write {
            self.fsync.since += 1;
            self.fdatasync.since += 1;
        }
        if let Some(pacing) = &mut self.pacing {
            pacing.issued(len);
        }
        Next::Issue(io)
    }

    /// Closes the zones that this phase has opened, so that they do not count against the next one.
    fn leave_zones(&mut self, elapsed: Nanos) -> Option<Next> {
        let Source::Zoned(zoned) = &mut self.source else { return None };
        match zoned.leave()? {
            ZonedNext::Io { io, .. } => {
                self.in_flight += 1;
                Some(Next::Issue(io))
            }
            _ => Some(Next::Wait(elapsed + SOON)),
        }
    }

    /// The zones that a report of its brought.
    pub fn reported(&mut self, io: &Io, zones: &[Zone]) {
        if let Source::Zoned(zoned) = &mut self.source {
            zoned.reported(io, zones);
        }
    }

    /// Takes note of how one of its I/Os ended. Whether it deals with that by itself, an error included.
    pub fn settles(&mut self, completion: &Completion) -> bool {
        match &mut self.source {
            Source::Zoned(zoned) => zoned.settles(completion),
            Source::Pattern(_) | Source::Replay(_) => false,
        }
    }

    /// The flush at the end, once everything before it has ended.
    fn last_flush(&mut self, elapsed: Nanos) -> Option<Next> {
        if !self.end_fsync {
            return None;
        }
        if self.in_flight > 0 {
            return Some(Next::Wait(elapsed + SOON));
        }
        self.end_fsync = false;
        Some(self.flush(false))
    }

    fn flush(&mut self, data_only: bool) -> Next {
        self.in_flight += 1;
        Next::Issue(Io { op: Op::Flush { data_only }, offset: 0, len: 0 })
    }

    /// One of its I/Os has ended.
    pub fn ended(&mut self, elapsed: Nanos) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(pacing) = &mut self.pacing {
            pacing.ended(elapsed, self.in_flight);
        }
    }

    /// The ramp is over: limits and rates count from here.
    pub fn restart(&mut self, elapsed: Nanos) {
        self.in_ramp = false;
        self.issued_ios = 0;
        self.issued_bytes = 0;
        if let Some(pacing) = &mut self.pacing {
            pacing.restart(elapsed);
        }
    }

    /// Fills the data of a write, if it is to be told apart.
    pub fn prepare(&mut self, io: &Io, data: &mut [u8]) -> bool {
        self.verifier.as_ref().is_some_and(|verifier| verifier.prepare(io, data))
    }

    /// Whether the data of a read is right, or not looked at.
    pub fn examine(&mut self, io: &Io, data: &[u8]) -> bool {
        self.verifier.as_mut().is_none_or(|verifier| verifier.examine(io, data))
    }

    /// What the check of the data found, if there was one; or what else is to be said at the end.
    ///
    /// # Errors
    /// What was wrong, where and how often.
    #[must_use]
    pub fn verification(&self) -> Option<Result<String, String>> {
        match &self.source {
            Source::Zoned(zoned) => zoned.remark().map(Ok),
            Source::Pattern(_) | Source::Replay(_) => self.verifier.as_ref().and_then(Verifier::result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::workload::Rw;

    fn workload() -> Workload {
        Workload {
            io_size_bytes: Some(Bytes(4 * 4096)),
            ..Workload::new(Rw::Write, Bytes(4096), Bytes(0), Bytes(1 << 20))
        }
    }

    /// Everything asked for, one at a time: `w`rite, `F`lush, `D`ata flush.
    fn asked(workload: &Workload) -> String {
        let mut work = Work::new(workload);
        let mut asked = String::new();
        loop {
            match work.next(Nanos(0), false) {
                Next::Issue(io) => {
                    asked.push(match io.op {
                        Op::Flush { data_only: true } => 'D',
                        Op::Flush { data_only: false } => 'F',
                        _ => 'w',
                    });
                    work.ended(Nanos(0));
                }
                other => {
                    assert_eq!(other, Next::Done("moved its 16.0 KiB".to_owned()));
                    return asked;
                }
            }
        }
    }

    #[test]
    fn flushes_come_after_so_many_writes_and_at_the_end() {
        assert_eq!(asked(&workload()), "wwww");
        assert_eq!(asked(&Workload { fsync: 2, ..workload() }), "wwFww", "the end alone asks for no flush");
        assert_eq!(asked(&Workload { fdatasync: 1, ..workload() }), "wDwDwDw");
        assert_eq!(asked(&Workload { end_fsync: true, ..workload() }), "wwwwF");
        assert_eq!(asked(&Workload { fsync: 1, end_fsync: true, ..workload() }), "wFwFwFwF");
    }

    #[test]
    fn the_last_flush_waits_for_what_is_in_flight_also_when_time_is_over() {
        let mut work = Work::new(&Workload { end_fsync: true, ..workload() });
        assert!(matches!(work.next(Nanos(0), false), Next::Issue(_)));
        assert!(matches!(work.next(Nanos(5), true), Next::Wait(_)));
        work.ended(Nanos(6));
        assert!(matches!(work.next(Nanos(6), true), Next::Issue(Io { op: Op::Flush { .. }, .. })));
        assert_eq!(work.next(Nanos(6), true), Next::OutOfTime);
    }

    #[test]
    fn a_ramp_counts_for_no_limit() {
        let mut work = Work::new(&Workload { ramp_time_s: 1, ..workload() });
        (0..9).for_each(|_| assert!(matches!(work.next(Nanos(0), false), Next::Issue(_))));
        work.restart(Nanos(9));
        (0..4).for_each(|_| assert!(matches!(work.next(Nanos(9), false), Next::Issue(_))));
        assert!(matches!(work.next(Nanos(9), false), Next::Done(_)));
    }
}
