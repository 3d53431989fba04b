//! Carrying out a plan against a claimed drive.
//!
//! ```text
//!   run ──▶ phase by phase ──▶ Engine::run(iodepth, source)
//!                                 │  next()       ▲ Step::Issue(Io)
//!                                 ▼               │
//!                              PhaseDriver ── Work: Pattern (offsets), Pacing, flushes, Verifier
//!                                 │ complete(), tick()
//!                                 ▼
//!                              Recorder ──▶ one Interval a period ──▶ EventSink
//!                                 │ └── Witness: what did others see of the period?
//!                                 │
//!                                 └──▶ Referee: is this phase's question answered?
//! ```
//! The engine pulls (see [`engine`]), so a stop is simply an end of I/Os to pull, and whatever is in
//! flight is awaited. This room knows neither the scheduler nor the store: what it finds out leaves
//! through an [`event::EventSink`], and what it is told arrives through a [`control::Control`].

pub mod budget;
pub mod buffer;
pub mod control;
pub mod driver;
pub mod engine;
pub mod event;
mod hand;
mod pacing;
pub mod pattern;
pub mod psync;
pub mod recorder;
pub mod referee;
mod replay;
pub mod ring;
pub mod run;
pub mod run_delay;
mod steady;
pub mod uring;
mod verify;
pub mod witness;
mod work;
