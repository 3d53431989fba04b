//! A whole run: phase after phase on one engine.

use super::control::Control;
use super::driver::{Ended, PhaseDriver, largest_io};
use super::engine::{Engine, EngineError};
use super::event::{EventSink, ProbeEvent};
use super::recorder::Recorder;
use super::referee::Referee;
use super::witness::Witness;
use crate::model::plan::{Action, Plan};
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
    /// The engine failed.
    EngineFailed(EngineError),
}

/// Carries out `plan` on `engine`, with a `witness` asked at the end of each interval. Returns when nothing is in flight
/// any more.
pub fn carry_out(
    plan: &Plan,
    engine: &mut dyn Engine,
    witness: Box<dyn Witness>,
    control: &Control,
    referee: &mut dyn Referee,
    sink: &mut dyn EventSink,
) -> Outcome {
    let mut recorder = Recorder::new(Nanos::from_millis(plan.interval_ms)).with_witness(witness);
    for (phase, index) in plan.phases.iter().zip(0u32..) {
        if let Err(why) = referee.admit(index) {
            sink.emit(ProbeEvent::PhaseLeftOut { phase: index, why });
            continue;
        }
        let began = engine.now();
        recorder.begin_phase(index, began);
        sink.emit(ProbeEvent::PhaseBegan { phase: index, t: began });
        let (iodepth, max_len) = match &phase.action {
            Action::Io(workload) => (workload.in_flight(), largest_io(workload)),
            Action::Idle { .. } => (1, 0),
        };
        let mut driver =
            PhaseDriver::new(&phase.action, phase.early_stop, began, control, &mut recorder, referee, sink);
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
            Ended::Stopped => "stopped".to_owned(),
            Ended::Failed(why) => why.clone(),
        };
        sink.emit(ProbeEvent::PhaseEnded { phase: index, t: now, ended_by, sums: Box::new(sums) });
        if let Err(error) = result {
            return Outcome::EngineFailed(error);
        }
        match ended {
            Ended::Done(_) | Ended::Answered(_) => {}
            Ended::Stopped => return Outcome::Stopped,
            Ended::Failed(why) => return Outcome::IoFailed(why),
        }
    }
    Outcome::Completed
}
