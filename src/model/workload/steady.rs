//! When a rate is called steady.

use serde::{Deserialize, Serialize};

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SteadyOf {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bw,
}

/// Steady state in the form of the SNIA Solid State Storage Performance Test Specification, 2.0.1 §2.1.24: over a window
/// of five rounds the largest excursion stays within 20 % of the mean, and the best straight line within 10 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// What is watched.
    pub of: SteadyOf,
    /// Length of a round, seconds.
    pub round_s: u64,
    /// Rounds in the window; SNIA's is 5.
    pub rounds: u32,
    /// Largest less smallest round, percent of the mean; SNIA's is 20.
    pub range_percent: u32,
    /// Rise or fall of the fitted line over the window, percent of the mean; SNIA's is 10.
    pub slope_percent: u32,
}
