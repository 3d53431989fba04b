//! What a drive is good for: from what it declares and what all its runs measured to a grade for each use. Pure.
//!
//! ```text
//!   Drive ─────────────┐
//!   runs: figures ─────┴▶ Known (rates, recording) ─┬▶ resilver ─▶ RAIDZ, mirror
//!                          Pool ────────────────────┼▶ in order ─▶ RAID rebuild, backup
//!                                                   └▶ rest ─────▶ database, zoned filesystem
//! ```

mod known;
mod resilver;
mod uses;

#[cfg(test)]
mod tests;

use super::estimate::limits;
use crate::model::drive::Drive;
use crate::model::estimate::Estimate;
use crate::model::recording::Recording;
use crate::model::run::RunId;
use crate::model::suitability::{Pool, Suitability};
use known::Known;

/// A run of the drive, as far as it counts here.
#[derive(Debug, Clone, Copy)]
pub struct Past<'a> {
    /// The run.
    pub run: RunId,
    /// What it measured.
    pub estimates: &'a [Estimate],
    /// What it found the drive to be.
    pub verdict: Option<&'a Recording>,
}

/// What `drive` is good for, from its own word and its runs, oldest first. Resilvers are reckoned for `pool`.
#[must_use]
pub fn suitability(drive: &Drive, runs: &[Past<'_>], pool: Pool) -> Suitability {
    let known = Known::of(drive, runs);
    let uses = vec![
        uses::raidz(&known, pool),
        uses::mirror(&known, pool),
        uses::raid(&known),
        uses::backup(&known),
        uses::database(&known),
        uses::zoned(&known),
    ];
    Suitability { pool, uses, limits: limits::of(&known.cliffs()) }
}
