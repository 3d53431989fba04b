//! The profiles as data: what each answers, its parameters, and its ordered phases. One file each.

mod block_size_sweep;
mod build;
mod custom;
mod definition;
mod inspect;
mod making;
mod object_bench;
mod pace;
mod queue_depth_sweep;
mod rebuild;
mod replay;
mod reread;
mod smr_full;
mod smr_quick;
mod span_sweep;
mod stream_sweep;
mod verify;
mod words;
mod write_cache;
mod zones;

use serde::{Deserialize, Serialize};

use super::parameters::Parameter;
use definition::Definition;

pub use build::{Built, Target, TargetZones, build};
pub use pace::Pace;

/// A named list of phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Reads only: the mechanical floor, and the rate at many places.
    Inspect,
    /// Is it secretly shingled? With early stop.
    SmrQuick,
    /// The same question with the protocol of days.
    SmrFull,
    /// A resilver's writes.
    Rebuild,
    /// One block size after the other.
    BlockSizeSweep,
    /// One queue depth after the other.
    QueueDepthSweep,
    /// One span after the other.
    SpanSweep,
    /// More and more writers at once.
    StreamSweep,
    /// An object store's load.
    ObjectBench,
    /// With and without flushes.
    WriteCache,
    /// At the write pointers of zones.
    Zones,
    /// Written and read back.
    Verify,
    /// A recording.
    Replay,
    /// One workload in fio's words.
    Custom,
}

impl Profile {
    /// Every profile, in the order shown.
    pub const ALL: [Self; 14] = [
        Self::Inspect,
        Self::SmrQuick,
        Self::SmrFull,
        Self::Rebuild,
        Self::BlockSizeSweep,
        Self::QueueDepthSweep,
        Self::SpanSweep,
        Self::StreamSweep,
        Self::ObjectBench,
        Self::WriteCache,
        Self::Zones,
        Self::Verify,
        Self::Replay,
        Self::Custom,
    ];

    fn definition(self) -> &'static Definition {
        match self {
            Self::Inspect => &inspect::PROFILE,
            Self::SmrQuick => &smr_quick::PROFILE,
            Self::SmrFull => &smr_full::PROFILE,
            Self::Rebuild => &rebuild::PROFILE,
            Self::BlockSizeSweep => &block_size_sweep::PROFILE,
            Self::QueueDepthSweep => &queue_depth_sweep::PROFILE,
            Self::SpanSweep => &span_sweep::PROFILE,
            Self::StreamSweep => &stream_sweep::PROFILE,
            Self::ObjectBench => &object_bench::PROFILE,
            Self::WriteCache => &write_cache::PROFILE,
            Self::Zones => &zones::PROFILE,
            Self::Verify => &verify::PROFILE,
            Self::Replay => &replay::PROFILE,
            Self::Custom => &custom::PROFILE,
        }
    }

    /// As written in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.definition().name
    }

    /// The reverse of [`as_str`](Self::as_str).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == text)
    }

    /// The question it answers.
    #[must_use]
    pub fn question(self) -> &'static str {
        self.definition().question
    }

    /// What it does, in a sentence or two.
    #[must_use]
    pub fn description(self) -> &'static str {
        self.definition().description
    }

    /// Whether it overwrites what is there; `None` when a parameter decides.
    #[must_use]
    pub fn writes(self) -> Option<bool> {
        self.definition().writes
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(self) -> Vec<Parameter> {
        self.definition().all_parameters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_reads_back_and_explains_itself() {
        for profile in Profile::ALL {
            assert_eq!(Profile::parse(profile.as_str()), Some(profile));
            assert_eq!(serde_json::to_value(profile).unwrap(), profile.as_str());
            assert!(profile.question().ends_with('?'));
            let parameters = profile.parameters();
            let mut names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), parameters.len(), "{profile:?} names a parameter twice");
        }
    }
}
