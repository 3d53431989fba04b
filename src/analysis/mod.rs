//! What is known of how a drive records: from what it says, and from what it did in a run. Pure.
//!
//! ```text
//!   Drive ───────────▶ declared::classify ─────────────────────────┐
//!   Plan + Samples ──▶ measured::Measured ─▶ verdict::verdict ──▶ combine::combine ──▶ the drive's page
//!                        │   (cliff, rho)
//!                        ├▶ estimate::estimates ─▶ stored with the run
//!                        └▶ online::Online: leave a phase out, or end it early, while the run is under way
//! ```
//! Figures of all runs and the drive's word ─▶ suitability::suitability: what it is good for.
//!
//! The rules are those of the public record: a shingled disk whose cache is full writes *slower than
//! its own head can move*, a conventional one never does. See [`rho`] for the numbers.

mod array;
pub mod cliff;
pub mod combine;
pub mod declared;
pub mod estimate;
mod evidence;
pub mod measured;
mod models;
pub mod online;
pub mod rho;
pub mod split;
pub mod suitability;
pub mod verdict;
mod words;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod published;

pub use combine::combine;
pub use declared::classify;
pub use estimate::estimates;
pub use models::{Listing, Says, listed};
pub use online::Online;
pub use suitability::suitability;
pub use verdict::verdict;
