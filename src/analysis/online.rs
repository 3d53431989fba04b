//! While a run is under way: which phases are still worth their time, and when one has answered.

use super::measured::{Measured, WATCH_S};
use super::rho::SHINGLED_AT_MOST;
use super::words::{grouped, rate, ratio};
use crate::model::interval::Sample;
use crate::model::plan::{Gate, PhaseRole, Plan};
use crate::model::units::human_seconds;

/// The judge of a run under way. Feed it every sample in order.
#[derive(Debug, Clone)]
pub struct Online {
    measured: Measured,
    answered: Option<usize>,
}

impl Online {
    /// For a run of this plan. A run that is resumed feeds the samples of its past first.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { measured: Measured::new(plan), answered: None }
    }

    /// Whether the phase shall run.
    ///
    /// # Errors
    /// The reason, for a person, why it is left out.
    pub fn admit(&mut self, phase_index: usize) -> Result<(), String> {
        let Some(facts) = self.measured.phases.get(phase_index) else { return Ok(()) };
        let found = self.measured.found();
        if facts.phase.role == PhaseRole::Recovery
            && let (Some(found), Some(own)) = (found, facts.workload())
            && self.measured.phases[found.phase].workload().is_some_and(|workload| workload.bs != own.bs)
        {
            return Err("Left out: the collapse came with writes of another size.".to_owned());
        }
        match (facts.phase.gate, found) {
            (Gate::Always, _) | (Gate::UnlessCliff, None) | (Gate::IfCliff, Some(_)) => Ok(()),
            (Gate::UnlessCliff, Some(found)) => Err(format!(
                "Left out: {} has already shown a collapse after {} writes ({}).",
                self.measured.phases[found.phase].phase.name,
                grouped(found.cliff.at_ios),
                found.cliff.at_bytes
            )),
            (Gate::IfCliff, None) => {
                Err("Left out: no collapse was found, so there is nothing to recover from.".to_owned())
            }
        }
    }

    /// Takes one sample. `Some(reason)` when the phase may end because its question is answered.
    pub fn observe(&mut self, sample: &Sample) -> Option<String> {
        let index = usize::try_from(sample.phase).ok()?;
        let closed = self.measured.observe(sample);
        // Once a window is often enough, and a bootstrap a second would not be cheap.
        if !closed || self.answered == Some(index) || !self.measured.phases.get(index)?.phase.early_stop {
            return None;
        }
        let found = self.measured.found().filter(|found| found.phase == index)?;
        let watched = self.measured.seconds_after_fall(index);
        if watched < WATCH_S || found.rho.high > SHINGLED_AT_MOST {
            return None;
        }
        self.answered = Some(index);
        Some(format!(
            "Answered: after {} writes ({}) the rate fell from {} to {} writes per second and stayed there for {}. That is \
             {} of what the head can do (95 % sure below {}): the cache of a shingled disk is full. More writing would \
             show nothing new.",
            grouped(found.cliff.at_ios),
            found.cliff.at_bytes,
            rate(found.cliff.before_per_s),
            rate(found.cliff.after_per_s),
            human_seconds(crate::model::approx::u64_of(watched)),
            ratio(found.rho.value),
            ratio(found.rho.high),
        ))
    }

    /// What has been measured so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }
}
