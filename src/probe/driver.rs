//! One phase: what to issue, when to stop, what to count.

use nix::errno::Errno;

use super::budget::Budget;
use super::control::{Control, Order};
use super::engine::{Completion, Io, Op, Source, Step};
use super::event::{EventSink, ProbeEvent};
use super::recorder::Recorder;
use super::referee::Referee;
use super::steady::Steady;
use super::work::{Next, Work};
use crate::model::interval::Interval;
use crate::model::plan::Action;
use crate::model::standing::PhaseStanding;
use crate::model::units::Nanos;
use crate::model::workload::{Rw, Workload, ZoneTask};
use crate::model::zone::{Zone, ZoneOp};

/// Why a phase issues nothing more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It has done what it was to do; the text says which limit was reached.
    Done(String),
    /// The referee has its answer.
    Answered(String),
    /// A person or the service stopped it.
    Stopped,
    /// An I/O failed.
    Failed(String),
    /// The run has used up what it may; the text says what.
    Spent(String),
}

/// Failed I/Os that are told one by one; the rest are counted.
const TOLD_ERRORS: u64 = 20;

/// What a phase's driver works with; it outlives the phase.
pub struct Scene<'a> {
    /// What it is told from outside.
    pub control: &'a Control,
    /// Counts what comes back.
    pub recorder: &'a mut Recorder,
    /// Says when the question is answered.
    pub referee: &'a mut dyn Referee,
    /// Takes what happens.
    pub sink: &'a mut dyn EventSink,
    /// What the run may use up.
    pub budget: &'a mut Budget,
}

/// The [`Source`] of one phase.
///
/// Invariant: once `ended` is set nothing is issued, and it is never unset.
pub struct PhaseDriver<'a> {
    work: Option<Work>,
    runtime: Nanos,
    ramp: Nanos,
    in_ramp: bool,
    steady: Option<Steady>,
    began: Nanos,
    /// How long it had run before an interruption.
    before: Nanos,
    paused_since: Option<Nanos>,
    paused: Nanos,
    ended: Option<Ended>,
    early_stop: bool,
    scene: Scene<'a>,
}

impl<'a> PhaseDriver<'a> {
    /// A driver for `action`, which begins `now`, or goes on from where it stood. The recorder must have begun the phase.
    pub fn new(
        action: &Action,
        early_stop: bool,
        now: Nanos,
        standing: Option<&PhaseStanding>,
        scene: Scene<'a>,
    ) -> Self {
        let (mut work, workload, runtime_s) = match action {
            Action::Io(workload) => (Some(Work::new(workload)), Some(workload), workload.runtime_s),
            Action::Idle { runtime_s } => (None, None, Some(*runtime_s)),
        };
        let ramp = Nanos::from_secs(workload.map_or(0, |workload| workload.ramp_time_s));
        let before = standing.map_or(Nanos(0), |standing| standing.elapsed);
        let in_ramp = before < ramp;
        if in_ramp {
            scene.recorder.begin_ramp();
        }
        if let (Some(work), Some(workload), Some(standing)) = (&mut work, workload, standing) {
            work.go_on(workload, standing, in_ramp);
        }
        Self {
            work,
            runtime: runtime_s.map_or(Nanos::MAX, Nanos::from_secs),
            ramp,
            in_ramp,
            steady: workload.and_then(|workload| workload.steady).map(Steady::new),
            began: now,
            before,
            paused_since: None,
            paused: Nanos(0),
            ended: None,
            early_stop,
            scene,
        }
    }

    /// Why it ended. `Done` if an engine returned before the phase said so itself.
    #[must_use]
    pub fn into_ended(self) -> Ended {
        let ended = self.ended.unwrap_or_else(|| Ended::Done("nothing was left to do".to_owned()));
        // Only now has everything come back that was asked for.
        match (self.work.as_ref().and_then(Work::verification), ended) {
            (Some(Err(wrong)), Ended::Done(_) | Ended::Answered(_) | Ended::Stopped) => Ended::Failed(wrong),
            (Some(Ok(right)), Ended::Done(how)) => Ended::Done(format!("{how}; {right}")),
            (_, ended) => ended,
        }
    }

    /// Time of the phase without its pauses.
    fn elapsed(&self, now: Nanos) -> Nanos {
        (now - (self.began + self.paused)) + self.before
    }

    /// The reverse of [`elapsed`](Self::elapsed).
    fn at(&self, elapsed: Nanos) -> Nanos {
        (self.began + self.paused + elapsed) - self.before
    }

    fn deadline(&self) -> Nanos {
        self.at(self.ramp + self.runtime)
    }

    fn end(&mut self, why: Ended) {
        self.ended.get_or_insert(why);
    }

    /// An I/O failed: the run puts up with it, or ends.
    fn fault(&mut self, completion: &Completion, errno: Option<i32>, what: &str) {
        let text = format!("{}{what}", described(&completion.io));
        let goes_on = self.scene.budget.put_up_with(errno);
        if self.scene.budget.errors() <= TOLD_ERRORS {
            let t = self.scene.recorder.run_clock(completion.completed);
            self.scene.sink.emit(ProbeEvent::Fault { t, text: text.clone() });
        }
        if !goes_on {
            self.end(Ended::Failed(text));
        }
    }

    fn deliver(&mut self, interval: Interval) {
        if let Some(answer) = self.scene.referee.observe(&interval)
            && self.early_stop
        {
            self.end(Ended::Answered(answer));
        }
        if let Some(steady) = self.steady.as_mut().and_then(|steady| steady.observe(&interval)) {
            self.end(Ended::Answered(steady));
        }
        self.scene.sink.emit(ProbeEvent::Interval(Box::new(interval)));
    }

    /// Takes note of a pause that begins or ends.
    fn follow_order(&mut self, now: Nanos) -> Order {
        let order = self.scene.control.current();
        match (order, self.paused_since) {
            (Order::Pause, None) => self.paused_since = Some(now),
            (Order::Run | Order::Stop, Some(since)) => {
                self.paused_since = None;
                self.paused = self.paused + (now - since);
                if let Some(interval) = self.scene.recorder.skip_to(since, now) {
                    self.deliver(interval);
                }
            }
            _ => {}
        }
        order
    }

    /// Closes what is due up to `now`, and the ramp when its time has come.
    fn close_up_to(&mut self, now: Nanos) {
        let ramp_end = self.at(self.ramp);
        if self.in_ramp && now >= ramp_end {
            while self.scene.recorder.due() < ramp_end
                && let Some(interval) = self.scene.recorder.close_if_due(ramp_end)
            {
                self.deliver(interval);
            }
            self.in_ramp = false;
            if let Some(interval) = self.scene.recorder.end_ramp(ramp_end) {
                self.deliver(interval);
            }
            if let Some(work) = &mut self.work {
                work.restart(self.ramp);
            }
        }
        while let Some(interval) = self.scene.recorder.close_if_due(now) {
            self.deliver(interval);
        }
    }
}

impl Source for PhaseDriver<'_> {
    // The order of the checks is fio's: told to stop, out of time, out of work, next I/O.
    fn next(&mut self, now: Nanos) -> Step {
        let order = self.follow_order(now);
        if self.ended.is_some() {
            return Step::Finished;
        }
        match order {
            Order::Stop => {
                self.end(Ended::Stopped);
                return Step::Finished;
            }
            Order::Pause => return Step::Hold,
            Order::Run => {}
        }
        if self.in_ramp {
            self.close_up_to(now);
        }
        let deadline = self.deadline();
        let elapsed = self.elapsed(now);
        let out_of_time = now >= deadline;
        let ran = || format!("ran its {} s", self.runtime.as_millis() / 1_000);
        let Some(work) = &mut self.work else {
            if out_of_time {
                self.end(Ended::Done(ran()));
                return Step::Finished;
            }
            return Step::Wait(deadline);
        };
        let done = match work.next(elapsed, out_of_time) {
            Next::Issue(io) => match self.scene.budget.spend(&io) {
                Ok(()) => return Step::Issue(io),
                Err(limit) => {
                    self.end(Ended::Spent(limit));
                    return Step::Finished;
                }
            },
            Next::Wait(until) if out_of_time => return Step::Wait(self.at(until)),
            Next::Wait(until) => return Step::Wait(self.at(until).min(deadline)),
            Next::OutOfTime => ran(),
            Next::Done(how) => how,
            Next::Failed(why) => {
                self.end(Ended::Failed(why));
                return Step::Finished;
            }
        };
        self.end(Ended::Done(done));
        Step::Finished
    }

    fn prepare(&mut self, io: &Io, data: &mut [u8]) -> bool {
        self.work.as_mut().is_some_and(|work| work.prepare(io, data))
    }

    fn examine(&mut self, io: &Io, data: &[u8]) {
        if self.work.as_mut().is_some_and(|work| !work.examine(io, data)) {
            self.scene.recorder.record_wrong();
        }
    }

    fn reported(&mut self, io: &Io, zones: &[Zone]) {
        if let Some(work) = &mut self.work {
            work.reported(io, zones);
        }
    }

    fn complete(&mut self, completion: &Completion) {
        self.tick(completion.completed);
        self.scene.recorder.record(completion);
        let elapsed = self.elapsed(completion.completed);
        if let Some(work) = &mut self.work {
            work.ended(elapsed);
            // It knows what to do about it, or will say that it does not.
            if work.settles(completion) {
                return;
            }
        }
        match completion.result {
            Ok(len) if len == completion.io.len => {}
            Ok(len) => {
                // The bytes that moved are counted; what did not is an error.
                self.scene.recorder.record_wrong();
                self.fault(completion, None, &format!(" moved only {len} bytes"));
            }
            Err(errno) => self.fault(completion, Some(errno), &format!(": {}", errno_text(errno))),
        }
    }

    fn tick(&mut self, now: Nanos) -> Nanos {
        // A pause records nothing; the interval it interrupts is closed when it ends.
        if self.paused_since.is_some() {
            return now + Nanos::from_millis(100);
        }
        self.close_up_to(now);
        let due = self.scene.recorder.due();
        if self.in_ramp { due.min(self.at(self.ramp)) } else { due }
    }
}

/// The I/O in words: `a write of 4096 bytes at byte 0`.
pub(super) fn described(io: &Io) -> String {
    let what = match io.op {
        Op::Read => "a read",
        Op::Write => "a write",
        Op::Trim => "a trim",
        Op::Flush { .. } => return "a flush".to_owned(),
        Op::Zone(ZoneOp::Report) => return format!("a report of the zones from byte {}", io.offset),
        Op::Zone(op) => return format!("{} of the zone at byte {}", op.as_str(), io.offset),
    };
    format!("{what} of {} bytes at byte {}", io.len, io.offset)
}

/// The kernel's name for an error, and what it means for a drive where that is not plain.
pub(super) fn errno_text(number: i32) -> String {
    let errno = Errno::from_raw(number);
    let meaning = match errno {
        Errno::ENOSPC | Errno::ENODEV | Errno::ENXIO => " - the drive is gone, or smaller than it was",
        Errno::ENODATA => " - the medium has an unreadable place",
        Errno::EREMOTEIO => " - the drive refused the command",
        Errno::EIO => " - the drive or its cable failed",
        Errno::ETOOMANYREFS => " - the drive takes no more open zones",
        Errno::EOVERFLOW => " - the drive takes no more active zones",
        Errno::EINVAL => " - the kernel refused the alignment or the size",
        Errno::EOPNOTSUPP => " - the drive, or what lies under the file, cannot do this",
        _ => "",
    };
    format!("{errno:?} ({}){meaning}", errno.desc())
}

/// Largest I/O with data of a workload, for the engine's buffers.
#[must_use]
pub fn largest_io(workload: &Workload) -> u32 {
    // A trim moves no data, however large it is, nor do zone operations.
    let only_zones = workload.zbd.is_some_and(|zbd| zbd.task != ZoneTask::Write);
    let bytes = if only_zones || matches!(workload.rw, Rw::Trim | Rw::RandTrim) { 0 } else { workload.bs.0 };
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Bytes;
    use crate::probe::referee::NoReferee;

    #[derive(Default)]
    struct Heard(Vec<ProbeEvent>);

    impl EventSink for Heard {
        fn emit(&mut self, event: ProbeEvent) {
            self.0.push(event);
        }
    }

    /// Has its answer at the n-th interval.
    struct AnswerAt(u64);

    impl Referee for AnswerAt {
        fn admit(&mut self, _phase: u32) -> Result<(), String> {
            Ok(())
        }

        fn observe(&mut self, interval: &Interval) -> Option<String> {
            (interval.seq >= self.0).then(|| "answered".to_owned())
        }
    }

    fn workload() -> Workload {
        Workload { iodepth: 2, ..Workload::new(Rw::Read, Bytes(4096), Bytes(0), Bytes(1 << 20)) }
    }

    struct Parts {
        control: Control,
        recorder: Recorder,
        heard: Heard,
        budget: Budget,
    }

    impl Parts {
        fn new() -> Self {
            let mut recorder = Recorder::new(Nanos::from_secs(1));
            recorder.begin_phase(0, Nanos(0));
            Self { control: Control::default(), recorder, heard: Heard::default(), budget: Budget::new(0, None) }
        }

        fn driver<'a>(&'a mut self, action: &Action, referee: &'a mut dyn Referee) -> PhaseDriver<'a> {
            let Self { control, recorder, heard, budget } = self;
            let scene = Scene { control, recorder, referee, sink: heard, budget };
            PhaseDriver::new(action, true, Nanos(0), None, scene)
        }
    }

    fn done(step: Step, at: Nanos, result: Result<u32, i32>) -> Completion {
        let Step::Issue(io) = step else { panic!("{step:?}") };
        Completion { io, issued: Nanos(0), completed: at, result }
    }

    #[test]
    fn it_issues_exactly_what_it_was_told_and_then_nothing() {
        let (mut parts, mut referee) = (Parts::new(), NoReferee);
        let action = Action::Io(Workload { number_ios: Some(3), ..workload() });
        let mut driver = parts.driver(&action, &mut referee);
        for _ in 0..3 {
            assert!(matches!(driver.next(Nanos(0)), Step::Issue(_)));
        }
        assert_eq!(driver.next(Nanos(0)), Step::Finished);
        assert_eq!(driver.next(Nanos(0)), Step::Finished);
        assert_eq!(driver.into_ended(), Ended::Done("did its 3 I/Os".to_owned()));
    }

    #[test]
    fn the_first_failure_ends_the_phase_and_says_where_and_what() {
        let (mut parts, mut referee) = (Parts::new(), NoReferee);
        let action = Action::Io(Workload { runtime_s: Some(60), ..workload() });
        let mut driver = parts.driver(&action, &mut referee);
        let (first, second) = (driver.next(Nanos(0)), driver.next(Nanos(0)));
        driver.complete(&done(second, Nanos(5), Err(Errno::ENOSPC as i32)));
        assert_eq!(driver.next(Nanos(5)), Step::Finished);
        driver.complete(&done(first, Nanos(6), Err(Errno::EIO as i32)));
        let Ended::Failed(why) = driver.into_ended() else { panic!("not failed") };
        assert!(why.contains("a read of 4096 bytes at byte 4096") && why.contains("ENOSPC") && why.contains("gone"));
    }

    #[test]
    fn an_answer_ends_the_phase_after_the_interval_that_gave_it() {
        let (mut parts, mut referee) = (Parts::new(), AnswerAt(2));
        let action = Action::Io(Workload { runtime_s: Some(60), ..workload() });
        let mut driver = parts.driver(&action, &mut referee);
        assert_eq!(driver.tick(Nanos::from_millis(1_500)), Nanos::from_secs(2));
        assert!(matches!(driver.next(Nanos::from_millis(1_500)), Step::Issue(_)));
        driver.tick(Nanos::from_secs(2));
        assert_eq!(driver.next(Nanos::from_secs(2)), Step::Finished);
        assert_eq!(driver.into_ended(), Ended::Answered("answered".to_owned()));
        assert_eq!(parts.heard.0.len(), 2);
    }

    #[test]
    fn a_pause_holds_and_moves_the_end_of_the_phase() {
        let (mut parts, mut referee) = (Parts::new(), NoReferee);
        let control = parts.control.clone();
        let mut driver = parts.driver(&Action::Idle { runtime_s: 10 }, &mut referee);
        assert_eq!(driver.next(Nanos(0)), Step::Wait(Nanos::from_secs(10)));
        control.order(Order::Pause);
        assert_eq!(driver.next(Nanos::from_secs(4)), Step::Hold);
        driver.tick(Nanos::from_secs(100));
        control.order(Order::Run);
        assert_eq!(driver.next(Nanos::from_secs(104)), Step::Wait(Nanos::from_secs(110)));
        assert_eq!(driver.next(Nanos::from_secs(110)), Step::Finished);
        assert!(parts.heard.0.is_empty(), "no interval lies in the pause");
    }
}
