//! Drives that do not exist, on a virtual clock: ten hours of drive time in about a second of CPU.
//!
//! ```text
//!   an I/O of a probe
//!        │
//!   Interface     commands in flight, link rate, largest transfer          (interface)
//!        │
//!   Zones          of some drives: what is taken where, and what is open    (zones)
//!        │
//!   DRAM cache    volatile: acknowledges writes while it has room          (cache)
//!        │
//!   Translation   where a block really goes: None | MediaCache | CachedStl | LogStl (translation)
//!        │
//!   Media         seek a + b·√d, rotation, rate R(x) from outer to inner   (media)
//! ```
//! Each layer is a small parametric model whose constants come from published measurements; each
//! constant says which, or that it was chosen (marked *syn*). [`drive::SimDrive`] stacks the layers, [`engine::SimEngine`]
//! drives one as a [`probe::engine::Engine`](crate::probe::engine::Engine), [`preset`] holds the known drives,
//! [`identity::fleet`] shows them to the inventory as what they would say of themselves, and [`population`] makes thousands of
//! others with the truth beside each.
//!
//! The same preset, seed and I/Os give the same completions, to the nanosecond: nothing here reads
//! a clock or iterates over a hash map.

pub mod cache;
pub mod counts;
pub mod drive;
pub mod engine;
pub mod flash;
pub mod identity;
pub mod interface;
pub mod load;
pub mod media;
pub mod noise;
pub mod population;
pub mod preset;
mod relive;
pub mod translation;
pub mod zones;

#[cfg(test)]
mod acceptance;

pub use cache::CacheSwitch;
pub use counts::Counts;
pub use engine::SimEngine;
pub use identity::fleet;
pub use relive::relive;
