//! What a run would do, cost and destroy, before it does it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::drive::{Content, DriveId};
use super::profile::Profile;
use super::tunable::Tunables;
use super::units::Bytes;
use super::workload::Workload;

/// What a phase is for. The analysis finds its evidence by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseRole {
    /// Random 4 KiB reads, QD1, whole span: the mechanical floor F (science §4).
    Floor,
    /// The same several at a time, or of another block size: the floor that such writes are held against.
    FloorDeep,
    /// Random 4 KiB reads, QD1, within a thousandth of the region: what differs between them is the angle of the platter.
    ShortStroke,
    /// Sequential reads at one place; places run from the outer to the inner edge.
    ZoneProfile,
    /// Uniform random 4 KiB writes over the whole span: finds a limit in map entries.
    RandomSmall,
    /// Uniform random 1 MiB writes over the whole span: finds a limit in bytes.
    RandomLarge,
    /// No I/O: the drive may clean up.
    Idle,
    /// A few random writes after an idle phase: did it recover?
    Recovery,
    /// A region is written in order, so that its blocks are at home.
    RegionFill,
    /// The region is read in order: its rate at home.
    RegionReadBefore,
    /// 4 KiB blocks of the region are rewritten in random order.
    RegionScatter,
    /// The region is read in order again, at once: in place, or through an indirection?
    RegionReadAfter,
    /// A workload of the user.
    Custom,
    /// Written or read before the question is asked: spin-up, filling. Descriptive.
    Prepare,
    /// The same before and after something else. Descriptive.
    Baseline,
    /// One step of a sweep over a parameter. Descriptive: it says nothing about shingling.
    Sweep,
    /// A known load (a resilver, an object store), timed. Descriptive.
    Bench,
    /// What was written is read back and checked.
    Verify,
}

/// When a phase is left out because an earlier one has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Always run.
    Always,
    /// Only if no cliff has been found.
    UnlessCliff,
    /// Only if a cliff has been found.
    IfCliff,
}

/// What a phase does.
#[allow(clippy::large_enum_variant, reason = "a plan has tens of phases; a box would only be in the way")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum Action {
    /// I/O.
    Io(Workload),
    /// Nothing, for so many seconds.
    Idle {
        /// Seconds of the engine's clock.
        runtime_s: u64,
    },
}

/// One step of a profile, as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name within the run: `random-4k`.
    pub name: String,
    /// What it finds out, for a person.
    pub purpose: String,
    /// What it is for.
    pub role: PhaseRole,
    /// When it is left out.
    pub gate: Gate,
    /// Whether it may end early once its question is answered.
    pub early_stop: bool,
    /// What it does.
    #[serde(flatten)]
    pub action: Action,
    /// Settings of the drive that it is carried out with, beyond those of the whole run.
    #[serde(default, skip_serializing_if = "Tunables::is_empty")]
    pub tunables: Tunables,
    /// The most bytes it will write; `null` when only time bounds it.
    pub bytes_to_write: Option<Bytes>,
    /// How long it takes at most, seconds of the engine's clock, as far as can be said before.
    pub estimated_s: u64,
}

impl Phase {
    /// Whether it changes what is on the medium, be it by a trim alone.
    #[must_use]
    pub fn destroys(&self) -> bool {
        matches!(&self.action, Action::Io(workload) if workload.rw.writes())
    }
}

/// A run before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The profile.
    pub profile: Profile,
    /// The target.
    pub drive: DriveId,
    /// Where it is now.
    pub path: PathBuf,
    /// What will be done, in order.
    pub phases: Vec<Phase>,
    /// Whether anything is written at all.
    pub destructive: bool,
    /// The most bytes that will be written; `null` when only time bounds it.
    pub bytes_to_write: Option<Bytes>,
    /// How long it takes at most, seconds.
    pub estimated_s: u64,
    /// The region that is touched: first byte.
    pub offset_bytes: Bytes,
    /// The region that is touched: length.
    pub size_bytes: Bytes,
    /// Length of one interval, milliseconds of the engine's clock.
    pub interval_ms: u64,
    /// Seed of offsets and data.
    pub randseed: u64,
    /// What will be lost, by name. Empty when nothing is written.
    pub losses: Vec<Content>,
    /// What to type back as `confirm`; `null` when nothing is written.
    pub confirm_phrase: Option<String>,
    /// What the user should know before starting.
    pub notes: Vec<String>,
    /// Settings of the drive that the whole run is carried out with; put back at its end.
    #[serde(default, skip_serializing_if = "Tunables::is_empty")]
    pub tunables: Tunables,
}

impl Plan {
    /// The settings that a phase is carried out with: its own before those of the run.
    #[must_use]
    pub fn tunables_of(&self, phase: &Phase) -> Tunables {
        let mut tunables = self.tunables.clone();
        tunables.extend(phase.tunables.clone());
        tunables
    }

    /// Every set of settings that the plan asks for.
    #[must_use]
    pub fn all_tunables(&self) -> Vec<Tunables> {
        let phases = self.phases.iter().map(|phase| phase.tunables.clone());
        std::iter::once(self.tunables.clone()).chain(phases).filter(|tunables| !tunables.is_empty()).collect()
    }
}
