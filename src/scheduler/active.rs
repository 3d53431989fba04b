//! A run that is alive: how its state follows from orders and events. Plain code, no I/O.

use std::time::{Duration, Instant};

use super::clock::now_ms;
use super::handle::{Order, OrderError};
use super::progress::Tracker;
use crate::analysis::split;
use crate::model::drive::Drive;
use crate::model::interval::Interval;
use crate::model::plan;
use crate::model::recording::Recording;
use crate::model::run::{PhaseOutcome, Run, RunState, StopReason};
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
    /// What its job is told.
    pub control: Control,
    /// Changed since it was last stored.
    pub dirty: bool,
    /// What surrounds it changed since it was last stored.
    pub surroundings_dirty: bool,
    tracker: Tracker,
    /// Why it was told to stop, or why its job ended.
    told: Option<StopReason>,
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
    /// A run that was just accepted; its job is about to claim the drive.
    #[must_use]
    pub fn new(run: Run, drive: Drive) -> Self {
        let tracker = Tracker::new(&run.plan);
        let mut active = Self {
            run,
            drive,
            control: Control::default(),
            dirty: true,
            surroundings_dirty: false,
            tracker,
            told: None,
            in_io_phase: false,
            last_completion: Instant::now(),
            unexplained: false,
            troubled: false,
            kernel_said: None,
        };
        active.set_state(RunState::Claiming);
        active
    }

    fn set_state(&mut self, next: RunState) {
        if self.run.state != next {
            debug_assert!(self.run.state.may_become(next), "{:?} → {next:?}", self.run.state);
            self.run.state = next;
            self.dirty = true;
        }
    }

    /// Carries out an order of a user.
    ///
    /// # Errors
    /// When its state does not allow it.
    pub fn obey(&mut self, order: Order) -> Result<(), OrderError> {
        match (order, self.run.state) {
            // Said again: the wish is fulfilled already.
            (Order::Cancel, RunState::Draining)
            | (Order::Pause, RunState::Paused)
            | (Order::Resume, RunState::Running) => {}
            (Order::Cancel, RunState::Claiming | RunState::Running | RunState::Paused) => {
                self.stop(StopReason::Cancelled);
            }
            (Order::Pause, RunState::Running) => {
                self.control.order(control::Order::Pause);
                self.set_state(RunState::Paused);
            }
            (Order::Resume, RunState::Paused) => {
                self.control.order(control::Order::Run);
                self.last_completion = Instant::now();
                self.set_state(RunState::Running);
            }
            (_, state) => return Err(OrderError::WrongState(state)),
        }
        Ok(())
    }

    /// Tells the job to issue nothing more. The first reason stays.
    pub fn stop(&mut self, reason: StopReason) {
        self.told.get_or_insert(reason);
        self.control.order(control::Order::Stop);
        if matches!(self.run.state, RunState::Running | RunState::Paused) {
            self.set_state(RunState::Draining);
        }
    }

    /// The job has the drive.
    pub fn claimed(&mut self, engine: &str) {
        self.run.engine = Some(engine.to_owned());
        self.run.started_at_ms = Some(now_ms());
        self.last_completion = Instant::now();
        self.set_state(RunState::Running);
        if self.told.is_some() {
            self.set_state(RunState::Draining);
        }
    }

    /// A phase began.
    pub fn phase_began(&mut self, phase: u32, t: Nanos) {
        self.tracker.begin_phase(phase, t);
        let planned = usize::try_from(phase).ok().and_then(|index| self.run.plan.phases.get(index));
        self.in_io_phase = planned.is_some_and(|phase| matches!(phase.action, plan::Action::Io(_)));
        self.last_completion = Instant::now();
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

    /// Marks a run whose drive has not answered for long.
    pub fn look_for_a_stall(&mut self) {
        let silent = self.last_completion.elapsed();
        let limit = STALLED_AFTER.max(Duration::from_millis(self.run.plan.interval_ms.saturating_mul(2)));
        if self.run.state == RunState::Running && self.in_io_phase && silent > limit && !self.run.stalled {
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
            Outcome::IoFailed(why) => self.told = Some(StopReason::IoError(why)),
            Outcome::EngineFailed(error) => self.told = Some(StopReason::EngineError(error.to_string())),
        }
        if matches!(self.told, Some(StopReason::IoError(_) | StopReason::EngineError(_))) {
            self.trouble();
        }
        if matches!(self.run.state, RunState::Running | RunState::Paused) {
            self.set_state(RunState::Draining);
        }
    }

    /// The analysis has spoken: the run is over.
    pub fn judged(&mut self, verdict: Recording) {
        self.run.verdict = Some(verdict);
        let (state, reason) = match self.told.take() {
            None => (RunState::Finished, StopReason::Completed),
            Some(StopReason::Cancelled) => (RunState::Cancelled, StopReason::Cancelled),
            Some(StopReason::ServiceStopped) => (RunState::Interrupted, StopReason::ServiceStopped),
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

    fn verdict(active: &Active) -> Recording {
        analysis::verdict(&active.drive, &active.run.plan, &[])
    }

    #[test]
    fn a_run_that_completes_while_it_is_cancelled_is_finished() {
        let mut active = accepted();
        active.claimed("sim");
        active.obey(Order::Cancel).unwrap();
        active.conclude(Outcome::Completed);
        active.judged(verdict(&active));
        assert_eq!((active.run.state, active.run.stop_reason), (RunState::Finished, Some(StopReason::Completed)));
    }

    #[test]
    fn a_cancel_during_the_claim_is_remembered() {
        let mut active = accepted();
        active.obey(Order::Cancel).unwrap();
        active.claimed("sim");
        assert_eq!(active.run.state, RunState::Draining);
        active.conclude(Outcome::Stopped);
        active.judged(verdict(&active));
        assert_eq!(active.run.state, RunState::Cancelled);
    }

    #[test]
    fn an_error_outranks_an_order() {
        let mut active = accepted();
        active.claimed("sim");
        active.stop(StopReason::ServiceStopped);
        active.conclude(Outcome::IoFailed("a read: EIO".to_owned()));
        active.judged(verdict(&active));
        assert_eq!(active.run.state, RunState::Failed);
    }

    #[test]
    fn what_the_kernel_said_is_kept_for_a_run_with_trouble_alone() {
        let line = KernelLine { t_us: 1, level: 3, text: "I/O error, dev sda".to_owned() };
        let mut active = accepted();
        active.claimed("sim");
        active.kernel_said(vec![line.clone()], None);
        assert!(active.run.surroundings.kernel_log.is_empty(), "it concerns nobody yet");
        active.conclude(Outcome::IoFailed("a read: EIO".to_owned()));
        assert_eq!(active.run.surroundings.kernel_log, [line]);
        active.kernel_said(Vec::new(), Some("not permitted".to_owned()));
        assert_eq!(active.run.surroundings.kernel_log_note.as_deref(), Some("not permitted"));
    }

    proptest! {
        #[test]
        fn no_sequence_of_orders_breaks_the_diagram(orders in prop::collection::vec(0u8..5, 0..40), claim_at in 0usize..40) {
            let mut active = accepted();
            for (index, order) in orders.into_iter().enumerate() {
                if index == claim_at {
                    active.claimed("sim");
                }
                let before = active.run.state;
                match order {
                    0 => drop(active.obey(Order::Cancel)),
                    1 => drop(active.obey(Order::Pause)),
                    2 => drop(active.obey(Order::Resume)),
                    3 => active.stop(StopReason::ServiceStopped),
                    _ => active.look_for_a_stall(),
                }
                prop_assert!(before == active.run.state || before.may_become(active.run.state));
            }
            if active.run.state == RunState::Claiming {
                active.claimed("sim");
            }
            active.conclude(Outcome::Stopped);
            active.judged(verdict(&active));
            prop_assert!(active.run.state.is_over());
        }
    }
}
