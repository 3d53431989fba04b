//! A whole run: phase after phase on one engine.

use super::budget::Budget;
use super::control::Control;
use super::driver::{Ended, PhaseDriver, Scene, largest_io};
use super::engine::{Engine, EngineError};
use super::event::{EventSink, ProbeEvent};
use super::recorder::Recorder;
use super::referee::Referee;
use super::witness::Witness;
use crate::model::plan::{Action, Plan};
use crate::model::run::STOPPED;
use crate::model::standing::Standing;
use crate::model::units::Nanos;

/// How a run came to its end.
#[derive(Debug)]
pub enum Outcome {
    /// Every phase ran to its end or was left out.
    Completed,
    /// It was stopped from outside; the caller knows by whom.
    Stopped,
    /// An I/O failed; the text says which and how.
    IoFailed(String),
    /// It used up what it may; the text says what.
    Spent(String),
    /// The engine failed.
    EngineFailed(EngineError),
}

/// Carries out `plan` on `engine`, with a `witness` asked at the end of each interval: stops at the first error, writes what
/// the plan says, begins at its beginning. Returns when nothing is in flight any more.
pub fn carry_out(
    plan: &Plan,
    engine: &mut dyn Engine,
    witness: Box<dyn Witness>,
    control: &Control,
    referee: &mut dyn Referee,
    sink: &mut dyn EventSink,
) -> Outcome {
    let course = Course { plan, budget: Budget::new(0, None), standing: None };
    course.carry_out(engine, witness, control, referee, sink)
}

/// A plan, and how it is to be carried out.
#[derive(Debug, Clone)]
pub struct Course<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// What it may use up, with what it has used up already.
    pub budget: Budget,
    /// Where it stood when it was interrupted.
    pub standing: Option<&'a Standing>,
}

impl Course<'_> {
    /// Carries it out, or what is left of it, with a `witness` asked at the end of each interval. Returns when nothing is in flight any more.
    pub fn carry_out(
        mut self,
        engine: &mut dyn Engine,
        witness: Box<dyn Witness>,
        control: &Control,
        referee: &mut dyn Referee,
        sink: &mut dyn EventSink,
    ) -> Outcome {
        let mut recorder = Recorder::new(Nanos::from_millis(self.plan.interval_ms)).with_witness(witness);
        if let Some(standing) = self.standing {
            recorder = recorder.after(standing.last_seq, standing.t, engine.now());
        }
        for (phase, index) in self.plan.phases.iter().zip(0u32..) {
            let standing = self.standing.and_then(|standing| standing.of(index));
            if standing.is_some_and(|standing| standing.over) {
                continue;
            }
            if standing.is_some() {
                if let Err(why) = referee.again(index) {
                    return Outcome::IoFailed(why);
                }
            } else if let Err(why) = referee.admit(index) {
                sink.emit(ProbeEvent::PhaseLeftOut { phase: index, why });
                continue;
            }
            let began = engine.now();
            recorder.begin_phase(index, began);
            if let (Some(_), Some(whole)) = (standing, self.standing) {
                recorder.add_sums(&whole.sums);
            }
            sink.emit(ProbeEvent::PhaseBegan { phase: index, t: recorder.run_clock(began) });
            let (iodepth, max_len) = match &phase.action {
                Action::Io(workload) => (workload.in_flight(), largest_io(workload)),
                Action::Idle { .. } => (1, 0),
            };
            let scene = Scene { control, recorder: &mut recorder, referee, sink, budget: &mut self.budget };
            let mut driver = PhaseDriver::new(&phase.action, phase.early_stop, began, standing, scene);
            let result = engine.run(iodepth, max_len, &mut driver);
            let ended = driver.into_ended();
            let now = engine.now();
            let (last, sums) = recorder.end_phase(now);
            if let Some(interval) = last {
                // The phase is over: what the referee learns from its last interval counts for the next.
                let _ = referee.observe(&interval);
                sink.emit(ProbeEvent::Interval(Box::new(interval)));
            }
            let ended_by = match &ended {
                Ended::Done(how) | Ended::Answered(how) => how.clone(),
                Ended::Stopped => STOPPED.to_owned(),
                Ended::Failed(why) | Ended::Spent(why) => why.clone(),
            };
            let t = recorder.run_clock(now);
            sink.emit(ProbeEvent::PhaseEnded { phase: index, t, ended_by, sums: Box::new(sums) });
            if let Err(error) = result {
                return Outcome::EngineFailed(error);
            }
            match ended {
                Ended::Done(_) | Ended::Answered(_) => {}
                Ended::Stopped => return Outcome::Stopped,
                Ended::Failed(why) => return Outcome::IoFailed(why),
                Ended::Spent(limit) => return Outcome::Spent(limit),
            }
        }
        Outcome::Completed
    }
}
