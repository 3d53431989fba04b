//! How far a run had come when it was interrupted: all that is needed to go on from there.

use super::interval::PhaseSums;
use super::units::{Bytes, Nanos};

/// Where a run stands, by its last stored interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// Sequence number of the last interval; 0 if there is none.
    pub last_seq: u64,
    /// End of that interval on the run's clock.
    pub t: Nanos,
    /// What each phase of the plan had done; a phase that is not here was not begun.
    pub phases: Vec<PhaseStanding>,
    /// Bytes written by all phases.
    pub written_bytes: Bytes,
    /// I/Os of all phases that ended with an error.
    pub errors: u64,
    /// The sums of the phase under way, from its intervals: at the intervals' precision, not the phase's.
    pub sums: PhaseSums,
}

/// Where a phase stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhaseStanding {
    /// Index in the plan.
    pub phase: u32,
    /// It ran to its end, or was left out: nothing of it is left to do.
    pub over: bool,
    /// I/Os with data, and trims, that ended well after its ramp.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// I/Os that ended in its ramp.
    pub ramp_ios: u64,
    /// How long it ran, its ramp included, pauses not.
    pub elapsed: Nanos,
    /// I/Os that ended with an error, or brought wrong data.
    pub errors: u64,
}

impl PhaseStanding {
    /// All I/Os that it asked for, as far as they had ended.
    #[must_use]
    pub fn all_ios(&self) -> u64 {
        self.ios + self.ramp_ios
    }
}

impl Standing {
    /// Where this phase stands, if it was begun or left out.
    #[must_use]
    pub fn of(&self, phase: u32) -> Option<&PhaseStanding> {
        self.phases.iter().find(|standing| standing.phase == phase)
    }

    /// The phase that was under way.
    #[must_use]
    pub fn under_way(&self) -> Option<&PhaseStanding> {
        self.phases.iter().find(|standing| !standing.over)
    }
}
