//! A run that is alive: how its state follows from orders and events. Plain code, no I/O.

use std::time::{Duration, Instant};

use super::clock::now_ms;
use super::handle::{Order, OrderError};
use super::progress::Tracker;
use crate::analysis::split;
use crate::model::drive::Drive;
use crate::model::estimate::Estimate;
use crate::model::interval::Interval;
use crate::model::options::COOLED_BY_CELSIUS;
use crate::model::plan;
use crate::model::recording::Recording;
use crate::model::run::{Fault, Hold, PhaseOutcome, Run, RunState, StopReason};
use crate::model::standing::Standing;
use crate::model::surroundings::{KernelLine, Surroundings};
use crate::model::units::Nanos;
use crate::probe::control::{self, Control};
use crate::probe::run::Outcome;

/// Without a completion for this long a running I/O phase is shown as stalled.
const STALLED_AFTER: Duration = Duration::from_secs(10);

/// A run that is alive.
pub struct Active {
    /// As it will be stored next.
    pub run: Run,
    /// Its target, as planned.
    pub drive: Drive,
    /// The adapter that its drive hangs on.
    pub adapter: Option<String>,
    /// What its job is told.
    pub control: Control,
    /// Changed since it was last stored.
    pub dirty: bool,
    /// What surrounds it changed since it was last stored.
    pub surroundings_dirty: bool,
    tracker: Tracker,
    /// Why it was told to stop, or why its job ended.
    told: Option<StopReason>,
    /// What shows that the drive is gone.
    gone: Option<String>,
    /// Whether the phase under way does I/O at all.
    in_io_phase: bool,
    last_completion: Instant,
    /// Whether what was seen of the phase has changed since it was last explained.
    unexplained: bool,
    /// Whether it had errors, stalled or failed: what the kernel said then belongs to it.
    troubled: bool,
    kernel_said: Option<(Vec<KernelLine>, Option<String>)>,
}

impl Active {
    /// A run that waits for its turn, for the first time or to go on after an interruption.
    #[must_use]
    pub fn new(run: Run, drive: Drive, adapter: Option<String>) -> Self {
        let tracker = Tracker::new(&run.plan, &run.progress);
        Self {
            run,
            drive,
            adapter,
            control: Control::default(),
            dirty: true,
            surroundings_dirty: false,
            tracker,
            told: None,
            gone: None,
            in_io_phase: false,
            last_completion: Instant::now(),
            unexplained: false,
            troubled: false,
            kernel_said: None,
        }
    }

    fn set_state(&mut self, next: RunState) {
        if self.run.state != next {
            debug_assert!(self.run.state.may_become(next), "{:?} → {next:?}", self.run.state);
            self.run.state = next;
            self.dirty = true;
        }
    }

    /// Whether it has, or is about to have, a job of its own.
    #[must_use]
    pub fn has_job(&self) -> bool {
        self.run.state != RunState::Queued && !self.run.state.is_over()
    }

    /// Whether it does I/O now, as far as can be told.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.run.state, RunState::Claiming | RunState::Running | RunState::Draining) && !self.run.stalled
    }

    /// Whether it had begun before an interruption.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        !self.run.phases.is_empty()
    }

    /// Where it stood when it was interrupted.
    pub fn stands(&mut self, standing: &Standing) {
        self.tracker.go_on(&self.run.plan, standing);
        self.dirty = true;
    }

    /// What it waits for in the queue.
    pub fn wait_for(&mut self, what: Option<String>) {
        if self.run.life.waiting_for != what {
            self.run.life.waiting_for = what;
            self.dirty = true;
        }
    }

    /// Its turn has come: its job is about to claim the drive.
    pub fn launch(&mut self) {
        self.wait_for(None);
        self.set_state(RunState::Claiming);
    }

    /// Carries out an order of a user.
    ///
    /// # Errors
    /// When its state does not allow it.
    pub fn obey(&mut self, order: Order) -> Result<(), OrderError> {
        match (order, self.run.state) {
            // Said again: the wish is fulfilled already.
            (Order::Cancel, RunState::Draining) => {}
            (Order::Cancel, RunState::Queued) => self.finish(RunState::Cancelled, StopReason::Cancelled),
            (Order::Cancel, RunState::Claiming | RunState::Running | RunState::Paused) => {
                self.stop(StopReason::Cancelled);
            }
            (
                Order::Pause | Order::Resume,
                RunState::Queued | RunState::Claiming | RunState::Running | RunState::Paused,
            ) => self.hold(Hold::User, order == Order::Pause),
            (_, state) => return Err(OrderError::WrongState(state)),
        }
        Ok(())
    }

    /// Sets or takes back one reason to issue nothing.
    pub fn hold(&mut self, hold: Hold, holds: bool) {
        if self.run.life.holds.contains(&hold) == holds {
            return;
        }
        if holds {
            self.run.life.holds.push(hold);
        } else {
            self.run.life.holds.retain(|other| *other != hold);
        }
        self.dirty = true;
        self.follow_holds();
    }

    fn follow_holds(&mut self) {
        match (self.run.life.holds.is_empty(), self.run.state) {
            (false, RunState::Claiming | RunState::Running) => {
                self.control.order(control::Order::Pause);
                if self.run.state == RunState::Running {
                    self.set_state(RunState::Paused);
                }
            }
            (true, RunState::Claiming | RunState::Paused) => {
                self.control.order(control::Order::Run);
                self.last_completion = Instant::now();
                if self.run.state == RunState::Paused {
                    self.set_state(RunState::Running);
                }
            }
            _ => {}
        }
    }

    /// The minute of the day is this: a run outside its hours is paused.
    pub fn follow_window(&mut self, minute: u16) {
        if let Some(window) = self.run.options.window
            && self.has_job()
        {
            self.hold(Hold::Window, !window.contains(minute));
        }
    }

    /// The drive is this hot. It is paused at the limit, and goes on once it has cooled enough not to flap.
    pub fn follow_temperature(&mut self, celsius: f64) {
        let limit = self.run.options.limit_celsius(self.drive.rotational);
        if celsius >= limit {
            if !self.run.life.holds.contains(&Hold::Temperature) {
                tracing::warn!(run.id = %self.run.id, celsius, limit, "the drive is too hot: the run is paused");
            }
            self.hold(Hold::Temperature, true);
        } else if celsius <= limit - COOLED_BY_CELSIUS {
            self.hold(Hold::Temperature, false);
        }
    }

    /// Tells the job to issue nothing more. The first reason stays.
    pub fn stop(&mut self, reason: StopReason) {
        self.told.get_or_insert(reason);
        self.control.order(control::Order::Stop);
        if matches!(self.run.state, RunState::Running | RunState::Paused) {
            self.set_state(RunState::Draining);
        }
    }

    /// The service ends, and the drive has not given back what is in flight: nothing more can be known.
    pub fn abandon(&mut self) {
        let silent_s = self.last_completion.elapsed().as_secs();
        let why = match self.run.life.command_timeout_s {
            Some(limit_s) => format!("silent for {silent_s} s, the kernel's own limit is {limit_s} s a command"),
            None => format!("silent for {silent_s} s"),
        };
        self.finish(RunState::Interrupted, StopReason::Abandoned(why));
    }

    /// The job has the drive.
    pub fn claimed(&mut self, engine: &str) {
        self.run.engine = Some(engine.to_owned());
        self.run.started_at_ms.get_or_insert_with(now_ms);
        self.last_completion = Instant::now();
        self.set_state(RunState::Running);
        if self.told.is_some() {
            self.set_state(RunState::Draining);
        }
        self.follow_holds();
    }

    /// A phase began, or goes on after an interruption.
    pub fn phase_began(&mut self, phase: u32, t: Nanos) {
        let planned = usize::try_from(phase).ok().and_then(|index| self.run.plan.phases.get(index));
        self.in_io_phase = planned.is_some_and(|phase| matches!(phase.action, plan::Action::Io(_)));
        self.last_completion = Instant::now();
        self.dirty = true;
        if let Some(outcome) = self.run.phases.iter_mut().find(|outcome| outcome.phase == phase) {
            (outcome.ended_t_ms, outcome.ended_by) = (None, None);
            return;
        }
        self.tracker.begin_phase(phase, t);
        self.note_phase(PhaseOutcome {
            phase,
            started_t_ms: Some(t.as_millis()),
            ended_t_ms: None,
            ended_by: None,
            seen: None,
        });
    }

    /// A phase was left out.
    pub fn phase_left_out(&mut self, phase: u32, why: String) {
        self.note_phase(PhaseOutcome { phase, started_t_ms: None, ended_t_ms: None, ended_by: Some(why), seen: None });
    }

    /// A phase ended.
    pub fn phase_ended(&mut self, phase: u32, t: Nanos, ended_by: String) {
        if let Some(outcome) = self.run.phases.iter_mut().rfind(|outcome| outcome.phase == phase) {
            outcome.ended_t_ms = Some(t.as_millis());
            outcome.ended_by = Some(ended_by);
        }
        self.explain();
        self.dirty = true;
    }

    /// Says what became of the requests of the last phase.
    fn explain(&mut self) {
        if std::mem::take(&mut self.unexplained)
            && let Some(seen) = self.run.phases.last_mut().and_then(|outcome| outcome.seen.as_deref_mut())
        {
            let limits = self.run.surroundings.conditions.as_ref().map(|conditions| conditions.limits.clone());
            seen.split = split::explain(seen, &limits.unwrap_or_default());
        }
    }

    fn note_phase(&mut self, outcome: PhaseOutcome) {
        self.run.phases.push(outcome);
        self.dirty = true;
    }

    /// A period ended.
    pub fn advance(&mut self, interval: &Interval) {
        self.tracker.advance(&self.run.plan, interval);
        self.run.life.errors += interval.errors;
        if let Some(outcome) = self.run.phases.iter_mut().rfind(|outcome| outcome.phase == interval.phase)
            && interval.seen.is_some()
            && outcome.seen.get_or_insert_default().add(interval)
        {
            self.unexplained = true;
        }
        if interval.errors > 0 {
            self.trouble();
        }
        if interval.ended() > 0 {
            self.last_completion = Instant::now();
            self.run.stalled = false;
        }
        self.dirty = true;
    }

    /// An I/O failed, one of the first.
    pub fn fault(&mut self, t: Nanos, text: String) {
        tracing::warn!(run.id = %self.run.id, text, "an I/O failed");
        self.run.life.faults.push(Fault { t_ms: t.as_millis(), text });
        self.dirty = true;
    }

    /// The drive went away.
    pub fn lost(&mut self, what: String) {
        self.gone = Some(what);
    }

    /// Marks a run whose drive has not answered for long, also while what is in flight is awaited.
    pub fn look_for_a_stall(&mut self) {
        let silent = self.last_completion.elapsed();
        let limit = STALLED_AFTER.max(Duration::from_millis(self.run.plan.interval_ms.saturating_mul(2)));
        let awaited = matches!(self.run.state, RunState::Running | RunState::Draining);
        if awaited && self.in_io_phase && silent > limit && !self.run.stalled {
            tracing::warn!(run.id = %self.run.id, silent_s = silent.as_secs(), "no completion: the run is stalled");
            self.run.stalled = true;
            self.dirty = true;
            self.trouble();
        }
    }

    /// The job is done with the drive; what it found is still to be judged.
    pub fn conclude(&mut self, outcome: Outcome) {
        match outcome {
            // It came to its end before the order reached it.
            Outcome::Completed => self.told = None,
            Outcome::Stopped => {
                self.told.get_or_insert(StopReason::Cancelled);
            }
            Outcome::IoFailed(why) => {
                self.told = Some(match self.gone.take() {
                    Some(gone) => StopReason::DriveGone(format!("{gone}; the last error was {why}")),
                    None => StopReason::IoError(why),
                });
            }
            Outcome::Spent(limit) => self.told = Some(StopReason::LimitReached(limit)),
            Outcome::EngineFailed(error) => self.told = Some(StopReason::EngineError(error.to_string())),
        }
        if matches!(self.told, Some(StopReason::IoError(_) | StopReason::EngineError(_))) {
            self.trouble();
        }
        if matches!(self.run.state, RunState::Running | RunState::Paused) {
            self.set_state(RunState::Draining);
        }
        // Nothing is in flight any more that could be waited for.
        self.in_io_phase = false;
    }

    /// The analysis has spoken: the run is over.
    pub fn judged(&mut self, verdict: Recording, estimates: Vec<Estimate>) {
        self.run.verdict = Some(verdict);
        self.run.estimates = estimates;
        let (state, reason) = match self.told.take() {
            None => (RunState::Finished, StopReason::Completed),
            Some(StopReason::Cancelled) => (RunState::Cancelled, StopReason::Cancelled),
            Some(StopReason::ServiceStopped) => (RunState::Interrupted, StopReason::ServiceStopped),
            Some(limit @ StopReason::LimitReached(_)) => (RunState::Finished, limit),
            Some(failure) => (RunState::Failed, failure),
        };
        self.finish(state, reason);
    }

    /// The run could not go on.
    pub fn fail(&mut self, reason: StopReason) {
        self.trouble();
        self.finish(RunState::Failed, reason);
    }

    fn finish(&mut self, state: RunState, reason: StopReason) {
        tracing::info!(run.id = %self.run.id, run.state = state.as_str(), %reason, "the run is over");
        self.tracker.finish(reason == StopReason::Completed);
        self.set_state(state);
        self.run.stop_reason = Some(reason);
        self.run.ended_at_ms = Some(now_ms());
        self.run.stalled = false;
        self.wait_for(None);
        self.run.life.holds.clear();
    }

    /// Changes what surrounds it.
    pub fn surround(&mut self, change: impl FnOnce(&mut Surroundings)) {
        change(&mut self.run.surroundings);
        self.surroundings_dirty = true;
        self.dirty = true;
    }

    /// The kernel has said this of the drive since the run began. It is attached to a run that has trouble, now or later.
    pub fn kernel_said(&mut self, lines: Vec<KernelLine>, note: Option<String>) {
        self.kernel_said = Some((lines, note));
        if self.troubled {
            self.attach_log();
        }
    }

    fn trouble(&mut self) {
        if !std::mem::replace(&mut self.troubled, true) {
            self.attach_log();
        }
    }

    fn attach_log(&mut self) {
        let Some((lines, note)) = self.kernel_said.clone() else { return };
        let silent = lines.is_empty().then(|| "The kernel said nothing of this drive meanwhile.".to_owned());
        self.surround(|surroundings| {
            surroundings.kernel_log = lines;
            surroundings.kernel_log_note = note.or(silent);
        });
    }

    /// Brings what is derived up to date, before it is stored.
    pub fn refresh(&mut self) {
        self.run.progress = self.tracker.progress().clone();
        self.explain();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::accepted;
    use super::*;
    use crate::analysis;
    use proptest::prelude::*;

    fn launched() -> Active {
        let mut active = accepted();
        active.launch();
        active.claimed("sim");
        active
    }

    fn verdict(active: &Active) -> Recording {
        analysis::verdict(&active.drive, &active.run.plan, &[])
    }

    #[test]
    fn a_run_that_completes_while_it_is_cancelled_is_finished() {
        let mut active = launched();
        active.obey(Order::Cancel).unwrap();
        active.conclude(Outcome::Completed);
        active.judged(verdict(&active), Vec::new());
        assert_eq!((active.run.state, active.run.stop_reason), (RunState::Finished, Some(StopReason::Completed)));
    }

    #[test]
    fn a_cancel_during_the_claim_is_remembered() {
        let mut active = accepted();
        active.launch();
        active.obey(Order::Cancel).unwrap();
        active.claimed("sim");
        assert_eq!(active.run.state, RunState::Draining);
        active.conclude(Outcome::Stopped);
        active.judged(verdict(&active), Vec::new());
        assert_eq!(active.run.state, RunState::Cancelled);
    }

    #[test]
    fn an_error_outranks_an_order() {
        let mut active = launched();
        active.stop(StopReason::ServiceStopped);
        active.conclude(Outcome::IoFailed("a read: EIO".to_owned()));
        active.judged(verdict(&active), Vec::new());
        assert_eq!(active.run.state, RunState::Failed);
    }

    #[test]
    fn a_run_goes_on_when_the_last_reason_to_hold_it_is_gone() {
        let mut active = launched();
        active.run.options.window = Some("22:00-06:00".parse().unwrap());
        active.follow_window(720);
        active.follow_temperature(60.0);
        active.obey(Order::Pause).unwrap();
        assert_eq!(active.run.state, RunState::Paused);
        active.obey(Order::Resume).unwrap();
        active.follow_window(0);
        assert_eq!(
            (active.run.state, active.run.life.holds.as_slice()),
            (RunState::Paused, [Hold::Temperature].as_slice())
        );
        active.follow_temperature(55.1);
        assert_eq!(active.run.state, RunState::Paused, "not cool enough yet");
        active.follow_temperature(55.0);
        assert_eq!((active.run.state, active.control.current()), (RunState::Running, control::Order::Run));
    }

    #[test]
    fn what_is_held_back_in_the_queue_or_while_it_claims_does_not_issue_once_it_has_its_drive() {
        let mut active = accepted();
        active.launch();
        active.obey(Order::Pause).unwrap();
        active.claimed("sim");
        assert_eq!((active.run.state, active.control.current()), (RunState::Paused, control::Order::Pause));
        let mut queued = accepted();
        queued.obey(Order::Pause).unwrap();
        assert_eq!(queued.run.life.holds, [Hold::User]);
        queued.obey(Order::Cancel).unwrap();
        assert_eq!(queued.run.state, RunState::Cancelled);
    }

    #[test]
    fn a_limit_ends_a_run_well_and_a_drive_that_is_gone_does_not() {
        let mut active = launched();
        active.conclude(Outcome::Spent("has written 1 GiB".to_owned()));
        active.judged(verdict(&active), Vec::new());
        assert_eq!(active.run.state, RunState::Finished);
        let mut active = launched();
        active.lost("the kernel has no sdz any more".to_owned());
        active.conclude(Outcome::IoFailed("a write: ENODEV".to_owned()));
        active.judged(verdict(&active), Vec::new());
        let Some(StopReason::DriveGone(why)) = active.run.stop_reason else { panic!("{:?}", active.run.stop_reason) };
        assert!(why.contains("sdz") && why.contains("ENODEV"));
    }

    #[test]
    fn what_the_kernel_said_is_kept_for_a_run_with_trouble_alone() {
        let line = KernelLine { t_us: 1, level: 3, text: "I/O error, dev sda".to_owned() };
        let mut active = launched();
        active.kernel_said(vec![line.clone()], None);
        assert!(active.run.surroundings.kernel_log.is_empty(), "it concerns nobody yet");
        active.conclude(Outcome::IoFailed("a read: EIO".to_owned()));
        assert_eq!(active.run.surroundings.kernel_log, [line]);
        active.kernel_said(Vec::new(), Some("not permitted".to_owned()));
        assert_eq!(active.run.surroundings.kernel_log_note.as_deref(), Some("not permitted"));
    }

    proptest! {
        #[test]
        fn no_sequence_of_orders_breaks_the_diagram(
            orders in prop::collection::vec(0u8..8, 0..40), launch_at in 0usize..20, claim_at in 0usize..40
        ) {
            let mut active = accepted();
            active.run.options.window = Some("08:00-17:00".parse().unwrap());
            for (index, order) in orders.into_iter().enumerate() {
                if index == launch_at && active.run.state == RunState::Queued {
                    active.launch();
                }
                if index == claim_at && active.run.state == RunState::Claiming {
                    active.claimed("sim");
                }
                let before = active.run.state;
                match order {
                    0 => drop(active.obey(Order::Cancel)),
                    1 => drop(active.obey(Order::Pause)),
                    2 => drop(active.obey(Order::Resume)),
                    3 if active.has_job() => active.stop(StopReason::ServiceStopped),
                    4 => active.follow_window(600),
                    5 => active.follow_window(30),
                    6 => active.follow_temperature(if index % 2 == 0 { 70.0 } else { 40.0 }),
                    _ => active.look_for_a_stall(),
                }
                prop_assert!(before == active.run.state || before.may_become(active.run.state));
                let held = !active.run.life.holds.is_empty();
                prop_assert!(active.run.state != RunState::Running || !held, "it runs although it is held");
                prop_assert!(active.run.state != RunState::Paused || held, "it is paused for no reason");
            }
            if active.run.state.is_over() {
                return Ok(());
            }
            if active.run.state == RunState::Queued {
                active.launch();
            }
            if active.run.state == RunState::Claiming {
                active.claimed("sim");
            }
            active.conclude(Outcome::Stopped);
            active.judged(verdict(&active), Vec::new());
            prop_assert!(active.run.state.is_over());
        }
    }
}
