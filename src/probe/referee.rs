//! Who decides that a phase's question is answered. The judgement itself lives in `analysis`; this
//! room only asks.

use crate::model::interval::Interval;

/// Watches a run from phase to phase.
pub trait Referee {
    /// Whether a phase shall run at all.
    ///
    /// # Errors
    /// Why it is left out, for a person.
    fn admit(&mut self, phase: u32) -> Result<(), String>;

    /// A phase that was begun before an interruption goes on: what it needs beside its I/O is made again.
    ///
    /// # Errors
    /// Why it cannot, for a person.
    fn again(&mut self, _phase: u32) -> Result<(), String> {
        Ok(())
    }

    /// Sees every interval; a reason ends the phase it belongs to.
    fn observe(&mut self, interval: &Interval) -> Option<String>;
}

/// Lets everything run to its end.
pub struct NoReferee;

impl Referee for NoReferee {
    fn admit(&mut self, _phase: u32) -> Result<(), String> {
        Ok(())
    }

    fn observe(&mut self, _interval: &Interval) -> Option<String> {
        None
    }
}
