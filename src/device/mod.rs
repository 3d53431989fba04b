//! Linux only: what the host has, what each drive says of itself, who uses it, and how it is claimed.
//!
//! ```text
//!  /sys /proc ──→ sysfs ──→ identity (pure: bytes → values)
//!                   │           │
//!                   │     scsi, nvme, queue ──→ facts ──→ inventory ──→ model::Inventory
//!                   └──→ mounts ──→ ownership ──────────────┘  │
//!  the medium ──→ signature ──→ contents ──┐                   │
//!                                          ▼                   ▼
//!                          claim: check ──→ Unclaimed ──→ Claimed ──→ probe
//! ```
//! Reading the inventory opens no device and starts no process. Interrogation and the report of zones open one for
//! reading, the check and the claim as the run needs it, and only a [`claim::ClaimedDrive`] can be written to: it comes from an
//! [`claim::Unclaimed`], and that from a check that found no reason to refuse.
//!
//! | file | what |
//! |---|---|
//! | `sysfs` | every read under a root prefix, so that a recorded tree serves as a host |
//! | `names` | kernel names, `/dev` nodes, natural order |
//! | `identity/` | pure decoders of INQUIRY, VPD pages and IDENTIFY |
//! | `kind` | kind and transport from name and place |
//! | `scsi` `scsi_facts` `nvme` `queue` | what each family of drives says, and where it was read |
//! | `array` | volumes of RAID adapters, which are no disks |
//! | `paths` | several paths to one drive made one |
//! | `naming` | usable serials, the identity an id is made of, twins |
//! | `inventory` `scanner` | one device; all of them, and again without reading what cannot have changed |
//! | `record` | one drive as a tree that serves as a host, its serial numbers replaced |
//! | `hotplug` | the kernel's word that a block device came, went or changed |
//! | `mounts` `ownership` | who uses a device or file |
//! | `signature` `contents` | what is on the medium |
//! | `target` | from what a user names to a drive or file |
//! | `check` `claim` | no writing without the check |
//! | `connection` | adapter, time limit, appearance, presence |
//! | `command` `sense` | the commands that may be sent, and what a refusal says |
//! | `interrogate/` | asking the drive itself, beside the scan |
//! | `hwmon` | temperature |
//! | `conditions` `tunables` | settings as found; set, and put back on every end |
//! | `kernel_log` | what the kernel says of a device |
//! | `block_stat` | the block layer's count of a device |
//! | `zones` `zone_management` | zones, asked for now; those of a claimed drive reset, opened, closed, finished |
//! | `ioctl` | unsafe room 1 |

pub mod block_stat;
pub mod check;
pub mod claim;
pub mod command;
pub mod conditions;
pub mod connection;
pub mod contents;
pub mod hotplug;
pub mod hwmon;
pub mod identity;
pub mod interrogate;
pub mod inventory;
pub mod ioctl;
pub mod kernel_log;
pub mod ownership;
pub mod record;
pub mod scanner;
pub mod sense;
pub mod sysfs;
pub mod target;
pub mod tunables;
pub mod zone_management;
pub mod zones;

mod array;
mod facts;
#[cfg(fuzzing)]
pub mod fuzzing;
mod kind;
mod mounts;
mod names;
mod naming;
mod nvme;
mod paths;
mod queue;
mod scsi;
mod scsi_facts;
mod signature;

pub use check::{Access, check, check_for, takes_only_at_pointers};
pub use claim::{Claimed, ClaimedDrive, ReadOnlyDrive, Unclaimed};
pub use contents::{UNRECOGNISED, losses};
pub use hotplug::HotplugMonitor;
pub use inventory::scan;
pub use ownership::{usage_of_device, usage_of_file};
pub use record::{Recorded, record};
pub use scanner::{Fresh, Scanner};
pub use sysfs::SysRoot;
pub use target::{ResolveError, Target, TargetRef, resolve};
