//! The conditions of a run: everything about host and kernel that its figures depend on, as it was found and as it was set.

use serde::{Deserialize, Serialize};

use super::split::TransferLimits;
use super::tunable::Tunable;

/// Where a count of the block layer comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountSource {
    /// The file; `null` when there is none.
    pub source: Option<String>,
    /// Whether others may have used the device at the same time: a file shares its disk with the rest of its filesystem.
    pub shared: bool,
    /// Why there is no count.
    pub unknown: Option<String>,
}

/// One setting of host, kernel or drive when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// A stable word: `queue/nr_requests`, `cpu/governor`, …
    pub name: String,
    /// Its value, or `null` when it is not known.
    pub value: Option<String>,
    /// Why it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Where it was read.
    pub source: String,
}

/// A setting that the run changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which.
    pub tunable: Tunable,
    /// The file that sets it.
    pub path: String,
    /// As found.
    pub found: String,
    /// As asked for, by the run or by one of its phases.
    pub wanted: Vec<String>,
    /// As it was after it was last set: the kernel may round. `null` before.
    pub set: Option<String>,
    /// Whether it has been put back.
    pub restored: bool,
    /// Why it could not be put back, or not be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// When and as what a device appeared: what the kernel was told lasts no longer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appearance {
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Option<String>,
    /// `diskseq` of the device (Linux 5.15).
    pub disk_sequence: Option<u64>,
}

/// The conditions of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// When they were looked at, milliseconds since 1970 UTC.
    pub taken_at_ms: i64,
    /// Kernel release.
    pub kernel: String,
    /// Every setting, as found.
    pub found: Vec<Condition>,
    /// Those that the run changed.
    pub changed: Vec<Change>,
    /// The limits on the size of a request, with the run's own settings in force.
    pub limits: TransferLimits,
    /// Where the device's own count of I/Os comes from.
    pub device_count: CountSource,
    /// When the device appeared.
    pub appearance: Appearance,
}

impl Conditions {
    /// Takes over how the changed settings stand now.
    pub fn follow(&mut self, changed: Vec<Change>) {
        // What limits requests is how the run has it, also after it was put back.
        if let Some(change) = changed.iter().find(|change| change.tunable == Tunable::MaxSectorsKb && !change.restored)
        {
            let set = change.set.as_deref().unwrap_or(&change.found);
            self.limits.max_sectors_kb = set.parse().ok().or(self.limits.max_sectors_kb);
            self.limits.set_by_run = set != change.found;
        }
        self.changed = changed;
    }

    /// Whether a setting is still to be put back.
    #[must_use]
    pub fn is_unrestored(&self) -> bool {
        self.changed.iter().any(|change| !change.restored)
    }
}
