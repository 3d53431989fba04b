//! The seam between what is asked (a [`Source`]) and what carries it out (an [`Engine`]).
//!
//! The engine pulls: it asks the source for the next I/O whenever a place in its queue is free,
//! hands back each completion, and lets the source close its periods. The clock belongs to the
//! engine, so a simulated drive's time is simply the time its engine tells. Nothing in here knows
//! whether a drive exists.
//!
//! Stopping follows from the direction of the pull: once the source answers
//! [`Step::Finished`], an engine issues nothing more, waits for what is in flight, and returns.
//! An operation in flight is never dropped.

use crate::model::units::Nanos;
use crate::model::zone::{Zone, ZoneOp};

/// What one I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Read from the medium.
    Read,
    /// Write to the medium.
    Write,
    /// Tell the drive that these bytes are no longer needed.
    Trim,
    /// Have the drive put its cache onto the medium. Offset and length are 0.
    Flush {
        /// `fdatasync` instead of `fsync`: of a file target, not its metadata. The same to a whole device.
        data_only: bool,
    },
    /// Something is done to the zone that begins at the offset. Its length is 0.
    Zone(ZoneOp),
}

/// One I/O. Offset and length are bytes and multiples of the logical block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// What it does.
    pub op: Op,
    /// First byte, from the start of the target.
    pub offset: u64,
    /// Bytes; never 0, but of a flush or a zone operation.
    pub len: u32,
}

/// How one I/O ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// What was asked.
    pub io: Io,
    /// When it was handed over, on the engine's clock, before the submission.
    pub issued: Nanos,
    /// When its completion was seen.
    pub completed: Nanos,
    /// Bytes moved (which may be fewer than asked), or the kernel's error number.
    pub result: Result<u32, i32>,
}

/// A source's answer to "what next?".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Carry this out now.
    Issue(Io),
    /// Nothing now; ask again at this time at the latest, or after the next completion.
    Wait(Nanos),
    /// Paused by a person: ask again after some 20 ms of *real* time. A simulated clock stands still.
    Hold,
    /// Nothing ever again: wait for what is in flight and return.
    Finished,
}

/// Where an engine gets its I/Os from, and whom it tells.
pub trait Source {
    /// The next step, with one free place in the queue. May be called again after `Finished`.
    fn next(&mut self, now: Nanos) -> Step;

    /// Fills the first bytes of the buffer of a write that comes next. Says whether it did; otherwise
    /// what the buffer holds is good enough. An engine without data does not ask.
    fn prepare(&mut self, _io: &Io, _data: &mut [u8]) -> bool {
        false
    }

    /// Looks at what a read brought, before that read is completed. An engine without data does not tell.
    fn examine(&mut self, _io: &Io, _data: &[u8]) {}

    /// The zones that a report brought, before that report is completed.
    fn reported(&mut self, _io: &Io, _zones: &[Zone]) {}

    /// One I/O has ended.
    fn complete(&mut self, completion: &Completion);

    /// Closes every period that ended at or before `now`, and says when the next one ends.
    /// An engine calls it whenever that time has come, even if no I/O completes.
    fn tick(&mut self, now: Nanos) -> Nanos;
}

/// Something that can carry out I/Os against one target.
pub trait Engine {
    /// The name that stands in every result: `tokio-uring`, `sim`.
    fn name(&self) -> &'static str;

    /// The time now on this engine's clock, which began at 0 and never goes back, also not
    /// between two calls of [`run`](Self::run).
    fn now(&self) -> Nanos;

    /// Carries out what `source` asks, with at most `iodepth` I/Os (1..=1024) of at most
    /// `max_len` bytes in flight, until it is finished and everything in flight has ended.
    ///
    /// # Errors
    /// When the engine itself fails (no ring, no memory). A failed I/O is not an error of the
    /// engine; it is a completion.
    fn run(&mut self, iodepth: u32, max_len: u32, source: &mut dyn Source) -> Result<(), EngineError>;
}

/// The engine could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The ring could not be set up.
    #[error("the kernel refused an io_uring of {iodepth} entries: {source}")]
    Ring {
        /// What was asked for.
        iodepth: u32,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The I/O buffers could not be had or registered.
    #[error("{count} buffers of {len} bytes could not be allocated and registered: {source}")]
    Buffers {
        /// How many.
        count: u32,
        /// How long each.
        len: u32,
        /// What the kernel said.
        source: std::io::Error,
    },
}
