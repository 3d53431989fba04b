//! A simulated drive forgets everything when the process ends; a run that goes on needs it as it was.

use super::engine::SimEngine;
use crate::model::plan::{Action, Phase, Plan};
use crate::model::standing::{PhaseStanding, Standing};
use crate::model::units::Nanos;
use crate::probe::control::Control;
use crate::probe::event::{EventSink, ProbeEvent};
use crate::probe::referee::NoReferee;
use crate::probe::run::carry_out;
use crate::probe::witness::NoWitness;

/// Does once more what a run had done, so that caches and maps of the drive are as they were. Nobody sees it.
pub fn relive(engine: &mut SimEngine, plan: &Plan, standing: &Standing) {
    let done = plan.phases.iter().zip(0u32..).filter_map(|(phase, index)| {
        let standing = standing.of(index)?;
        Some(shortened(phase, standing))
    });
    let past = Plan { phases: done.collect(), ..plan.clone() };
    let _ = carry_out(&past, engine, Box::new(NoWitness), &Control::default(), &mut NoReferee, &mut Nobody);
}

/// A phase as far as it had come.
fn shortened(phase: &Phase, standing: &PhaseStanding) -> Phase {
    let mut phase = phase.clone();
    match &mut phase.action {
        Action::Io(workload) => {
            // What was in its ramp is asked for without one: what counts is what the drive was given.
            workload.ramp_time_s = 0;
            workload.number_ios = Some(standing.all_ios());
            workload.io_size_bytes = None;
            workload.runtime_s = None;
            workload.steady = None;
        }
        Action::Idle { runtime_s } => *runtime_s = Nanos::as_millis(standing.elapsed).div_ceil(1_000),
    }
    phase
}

struct Nobody;

impl EventSink for Nobody {
    fn emit(&mut self, _event: ProbeEvent) {}
}
