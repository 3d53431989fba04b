//! Who sees what an engine cannot: the other side of the seam.

use crate::model::seen::Seen;
use crate::model::units::Nanos;

/// Counts what happens on the way to the device and around the engine.
///
/// It is asked on the engine's own thread while I/O is in flight, so a look must take some microseconds at most and
/// must never wait for the drive.
pub trait Witness {
    /// What happened since the last look. `now` is the end of the period on the engine's clock; a witness that counts in
    /// real time counts up to this moment instead, which is later by as much as the engine is late.
    fn look(&mut self, now: Nanos) -> Seen;
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWitness;

impl Witness for NoWitness {
    fn look(&mut self, _now: Nanos) -> Seen {
        Seen::default()
    }
}
