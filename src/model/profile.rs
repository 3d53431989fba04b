//! The profiles as data: what each answers, its parameters, and its ordered phases.

mod build;

use serde::{Deserialize, Serialize};

use super::parameters::{Kind, Parameter};
use super::units::{GIB, MIB};

pub use build::{Built, Pace, Target, build};

/// A named list of phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Reads only: the mechanical floor, and the rate at many places.
    Inspect,
    /// Is it secretly shingled? With early stop.
    SmrQuick,
    /// One workload in fio's words.
    Custom,
}

impl Profile {
    /// Every profile, in the order shown.
    pub const ALL: [Self; 3] = [Self::Inspect, Self::SmrQuick, Self::Custom];

    /// As written in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::SmrQuick => "smr-quick",
            Self::Custom => "custom",
        }
    }

    /// The reverse of [`as_str`](Self::as_str).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == text)
    }

    /// The question it answers.
    #[must_use]
    pub fn question(self) -> &'static str {
        match self {
            Self::Inspect => "How fast does it read, at every place, and how fast can its head move?",
            Self::SmrQuick => "Is it shingled, although it does not say so?",
            Self::Custom => "What does it do under a workload of mine?",
        }
    }

    /// What it does, in a sentence or two.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Inspect => {
                "Random 4 KiB reads one at a time and 32 at a time, then sequential reads at places from the \
                 outer to the inner edge. Writes nothing, so it may run on a drive in use."
            }
            Self::SmrQuick => {
                "Measures how fast the head can move, then writes 4 KiB blocks all over the drive until the \
                 rate collapses or every known cache would be full; then 1 MiB blocks; then reads freshly \
                 scattered blocks back in order. Stops as soon as the answer is clear. Overwrites the region."
            }
            Self::Custom => "One workload: rw, bs, iodepth, offset, size, runtime, as fio names them.",
        }
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(self) -> Vec<Parameter> {
        let mut list = match self {
            Self::Inspect => vec![FLOOR_S, PLACES],
            Self::SmrQuick => vec![FLOOR_S, WRITES, LARGE_BYTES, IODEPTH, IDLE_S, PHASE_LIMIT_S],
            Self::Custom => vec![RW, BS, IODEPTH, RUNTIME_S, NUMBER_IOS, IO_SIZE_BYTES, RWMIXREAD],
        };
        list.extend([OFFSET_BYTES, SIZE_BYTES, RANDSEED, INTERVAL_MS]);
        list
    }
}

/// Largest block of one I/O. It must fit a `u32` and a buffer in memory.
const MAX_BS: u64 = GIB;

const RW: Parameter = Parameter {
    name: "rw",
    alias: None,
    kind: Kind::Choice { words: &["read", "write", "randread", "randwrite", "rw", "randrw"] },
    default: "required",
    help: "Kind of I/O.",
};
const BS: Parameter = Parameter {
    name: "bs",
    alias: None,
    kind: Kind::Bytes { min: 1, max: MAX_BS },
    default: "4k",
    help: "Bytes per I/O; a multiple of the logical block.",
};
const IODEPTH: Parameter = Parameter {
    name: "iodepth",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1024 },
    default: "1 (smr-quick: 8)",
    help: "I/Os in flight.",
};
const RUNTIME_S: Parameter = Parameter {
    name: "runtime_s",
    alias: Some("runtime"),
    kind: Kind::Integer { min: 1, max: 30 * 86_400 },
    default: "until the region has been covered once",
    help: "Stop after so many seconds.",
};
const NUMBER_IOS: Parameter = Parameter {
    name: "number_ios",
    alias: None,
    kind: Kind::Integer { min: 1, max: u64::MAX },
    default: "no limit",
    help: "Stop after so many I/Os.",
};
const IO_SIZE_BYTES: Parameter = Parameter {
    name: "io_size_bytes",
    alias: Some("io_size"),
    kind: Kind::Bytes { min: 1, max: u64::MAX },
    default: "the size of the region",
    help: "Stop after so many bytes.",
};
const RWMIXREAD: Parameter = Parameter {
    name: "rwmixread",
    alias: None,
    kind: Kind::Integer { min: 0, max: 100 },
    default: "50",
    help: "Percent of reads in rw and randrw.",
};
const OFFSET_BYTES: Parameter = Parameter {
    name: "offset_bytes",
    alias: Some("offset"),
    kind: Kind::Bytes { min: 0, max: u64::MAX },
    default: "0",
    help: "First byte of the region; a multiple of the logical block.",
};
const SIZE_BYTES: Parameter = Parameter {
    name: "size_bytes",
    alias: Some("size"),
    kind: Kind::Bytes { min: 1, max: u64::MAX },
    default: "to the end of the target",
    help: "Length of the region; nothing outside it is touched.",
};
const RANDSEED: Parameter = Parameter {
    name: "randseed",
    alias: None,
    kind: Kind::Integer { min: 0, max: u64::MAX },
    default: "1",
    help: "Seed of offsets and data: the same seed asks the same I/Os.",
};
const INTERVAL_MS: Parameter = Parameter {
    name: "interval_ms",
    alias: None,
    kind: Kind::Integer { min: 50, max: 3_600_000 },
    default: "1000",
    help: "Length of one recorded interval.",
};
const FLOOR_S: Parameter = Parameter {
    name: "floor_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 3_600 },
    default: "30",
    help: "Seconds of random reads that measure how fast the head can move, at each queue depth.",
};
const PLACES: Parameter = Parameter {
    name: "places",
    alias: None,
    kind: Kind::Integer { min: 1, max: 200 },
    default: "17",
    help: "Places at which sequential reads are timed, from the outer edge to the inner.",
};
/// 600 000 exceeds every map limit read so far: 191 172, about 256 000, 368 795 (science §2.1, §4).
const WRITES: Parameter = Parameter {
    name: "writes",
    alias: None,
    kind: Kind::Integer { min: 1_000, max: 1_000_000_000 },
    default: "600000",
    help: "Random 4 KiB writes: more than any known map of a drive-managed disk holds.",
};
/// 64 GiB exceeds every cache size read so far: 25 to 48.3 GiB (science §4).
const LARGE_BYTES: Parameter = Parameter {
    name: "large_bytes",
    alias: None,
    kind: Kind::Bytes { min: MIB, max: 1 << 50 },
    default: "64g, at most twice the region",
    help: "Bytes of random 1 MiB writes: more than any known cache of a drive-managed disk holds.",
};
const IDLE_S: Parameter = Parameter {
    name: "idle_s",
    alias: None,
    kind: Kind::Integer { min: 0, max: 86_400 },
    default: "120",
    help: "Seconds left alone after a cliff, to see whether the drive recovers.",
};
const PHASE_LIMIT_S: Parameter = Parameter {
    name: "phase_limit_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 30 * 86_400 },
    default: "7200",
    help: "Longest time any one write phase may take.",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_reads_back_and_explains_itself() {
        for profile in Profile::ALL {
            assert_eq!(Profile::parse(profile.as_str()), Some(profile));
            assert!(profile.question().ends_with('?'));
            let parameters = profile.parameters();
            let mut names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), parameters.len(), "{profile:?} names a parameter twice");
        }
    }
}
