//! Who uses a drive, and what is on it: what speaks against writing, and what writing would destroy.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One way in which a device is in use. Each is a reason to refuse writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Usage {
    /// A filesystem on it is mounted.
    Mounted {
        /// The device or partition, e.g. `sda1`.
        device: String,
        /// Where.
        mount_point: String,
        /// The filesystem type.
        fs_type: String,
    },
    /// It is active swap space.
    Swap {
        /// The device or partition.
        device: String,
    },
    /// Another block device is built on it (dm, md, bcache, multipath).
    Holder {
        /// The device or partition below.
        device: String,
        /// The device above, e.g. `dm-0`.
        holder: String,
    },
    /// It carries the mark of a pool, array or volume group that is not active now.
    Member {
        /// The device or partition.
        device: String,
        /// What the mark says, e.g. `LVM2 physical volume`.
        of: String,
    },
    /// A loop device is bound to it.
    LoopBacking {
        /// The device or file below.
        device: String,
        /// The loop device.
        loop_device: String,
    },
    /// Somebody else holds it open exclusively.
    Exclusive {
        /// The device.
        device: String,
    },
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { device, mount_point, fs_type } => {
                write!(f, "{device} is mounted at {mount_point} ({fs_type})")
            }
            Self::Swap { device } => write!(f, "{device} is in use as swap"),
            Self::Holder { device, holder } => write!(f, "{device} is a part of {holder}"),
            Self::Member { device, of } => write!(f, "{device} is marked as {of}"),
            Self::LoopBacking { device, loop_device } => {
                write!(f, "{device} is the backing of {loop_device}")
            }
            Self::Exclusive { device } => {
                write!(f, "{device} is held open exclusively by another process")
            }
        }
    }
}

/// Something on the medium that a destructive run would destroy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The device or partition it was found on.
    pub device: String,
    /// What it is: `ext4 filesystem`, `GPT partition table`, `partition sda1 (8.0 TB)`.
    pub what: String,
    /// Its label, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}
