//! The settings of a drive and its queue that a run may change, by the names that sysfs gives them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parameters::FieldError;

/// A setting that a run may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tunable {
    /// `queue/scheduler`.
    Scheduler,
    /// `queue/max_sectors_kb`: the largest request that the kernel makes, KiB.
    MaxSectorsKb,
    /// `queue/read_ahead_kb`, KiB; of no effect on direct I/O.
    ReadAheadKb,
    /// `queue/nr_requests`: requests that the block layer keeps.
    NrRequests,
    /// `queue/nomerges`: 0 merges, 1 only the simple way, 2 not at all.
    Nomerges,
    /// `queue/wbt_lat_usec`: the latency that throttling of buffered writes aims at, microseconds; 0 is off, -1 the default.
    WbtLatUsec,
    /// `scsi_disk/*/cache_type`: the drive's own volatile write cache, by MODE SELECT (sd).
    CacheType,
}

/// What may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// A whole number within these bounds.
    Number {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// One of these words.
    Words(&'static [&'static str]),
    /// A word that the device's own list has.
    OfDevice,
}

/// The drive's write cache is on.
pub const WRITE_BACK: &str = "write back";
/// The drive's write cache is off.
pub const WRITE_THROUGH: &str = "write through";

impl Tunable {
    /// Every one. The scheduler goes first: a change of it resets `nr_requests` and `wbt_lat_usec`. So a list in this order
    /// can be set, and put back, from its beginning.
    pub const ALL: [Self; 7] = [
        Self::Scheduler,
        Self::MaxSectorsKb,
        Self::ReadAheadKb,
        Self::NrRequests,
        Self::Nomerges,
        Self::WbtLatUsec,
        Self::CacheType,
    ];

    /// Its name in sysfs and in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduler => "scheduler",
            Self::MaxSectorsKb => "max_sectors_kb",
            Self::ReadAheadKb => "read_ahead_kb",
            Self::NrRequests => "nr_requests",
            Self::Nomerges => "nomerges",
            Self::WbtLatUsec => "wbt_lat_usec",
            Self::CacheType => "cache_type",
        }
    }

    /// What may be written, whichever the device. The bounds are those of the kernel's types; what a device takes is
    /// narrower, and asked of it.
    #[must_use]
    pub fn domain(self) -> Domain {
        match self {
            Self::Scheduler => Domain::OfDevice,
            // A page at least (block/blk-settings.c).
            Self::MaxSectorsKb => Domain::Number { min: 4, max: 2_147_483_647 },
            Self::ReadAheadKb => Domain::Number { min: 0, max: 2_147_483_647 },
            // BLKDEV_MIN_RQ (block/blk.h); a device's tag set has 10 240 at most (BLK_MQ_MAX_DEPTH).
            Self::NrRequests => Domain::Number { min: 4, max: 10_240 },
            Self::Nomerges => Domain::Number { min: 0, max: 2 },
            Self::WbtLatUsec => Domain::Number { min: -1, max: 1_000_000_000 },
            Self::CacheType => Domain::Words(&[WRITE_BACK, WRITE_THROUGH]),
        }
    }

    /// Whether the drive itself keeps it, also over a restart of the host: sd has the drive save its caching page where the
    /// drive can.
    #[must_use]
    pub fn outlives_the_host(self) -> bool {
        self == Self::CacheType
    }

    /// The value of a request as it is written.
    fn read(self, value: &Value) -> Result<String, String> {
        match self.domain() {
            Domain::Number { min, max } => match value.as_i64() {
                Some(number) if (min..=max).contains(&number) => Ok(number.to_string()),
                Some(number) => Err(format!("is {number}, must be {min} to {max}")),
                None => Err(format!("must be a whole number, {min} to {max}")),
            },
            Domain::Words(words) => {
                let known = value.as_str().filter(|word| words.contains(word));
                known.map(str::to_owned).ok_or_else(|| format!("must be one of {}", words.join(", ")))
            }
            Domain::OfDevice => {
                // It becomes part of what is written to a file of the kernel.
                let word = |text: &&str| {
                    (1..=32).contains(&text.len())
                        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
                };
                let known = value.as_str().filter(word);
                known.map(str::to_owned).ok_or_else(|| "must be one word, as the device's list has it".to_owned())
            }
        }
    }
}

/// Settings and the values they shall have, as they are written, in the order in which they are to be set.
pub type Tunables = BTreeMap<Tunable, String>;

/// Reads the `tunables` of a request.
///
/// # Errors
/// Every name that is none and every value that is out of range.
pub fn read(given: &Map<String, Value>) -> Result<Tunables, Vec<FieldError>> {
    let mut tunables = Tunables::new();
    let mut errors = Vec::new();
    for (name, value) in given {
        let field = format!("tunables.{name}");
        match Tunable::ALL.into_iter().find(|tunable| tunable.as_str() == name) {
            None => {
                let names = Tunable::ALL.map(Tunable::as_str).join(", ");
                errors.push(FieldError::new(field, format!("is not a tunable; there are {names}")));
            }
            Some(tunable) => match tunable.read(value) {
                Ok(value) => drop(tunables.insert(tunable, value)),
                Err(problem) => errors.push(FieldError::new(field, problem)),
            },
        }
    }
    if errors.is_empty() { Ok(tunables) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn errors(given: Value) -> Vec<String> {
        let Value::Object(given) = given else { panic!("an object") };
        let found = read(&given).err().unwrap_or_default();
        found.into_iter().map(|error| format!("{} {}", error.field, error.detail)).collect()
    }

    #[test]
    fn a_wrong_name_and_a_wrong_value_are_named_with_what_would_be_right() {
        let found = errors(json!({ "shedular": "none", "nomerges": 3, "cache_type": "off", "scheduler": "a b" }));
        assert_eq!(found.len(), 4, "{found:?}");
        for (field, right) in [
            ("tunables.shedular", "scheduler, max_sectors_kb"),
            ("tunables.nomerges", "0 to 2"),
            ("tunables.cache_type", "write through"),
            ("tunables.scheduler", "one word"),
        ] {
            assert!(found.iter().any(|error| error.starts_with(field) && error.contains(right)), "{field}: {found:?}");
        }
        assert!(
            errors(json!({ "scheduler": "mq-deadline", "wbt_lat_usec": -1, "cache_type": "write back" })).is_empty()
        );
    }

    #[test]
    fn names_are_those_of_sysfs_in_every_place() {
        for tunable in Tunable::ALL {
            assert_eq!(serde_json::to_value(tunable).unwrap(), tunable.as_str());
        }
        let Value::Object(given) = json!({ "nr_requests": 64, "scheduler": "none" }) else { panic!("an object") };
        let order: Vec<_> = read(&given).unwrap().into_keys().collect();
        assert_eq!(order, [Tunable::Scheduler, Tunable::NrRequests]);
    }
}
