//! What became of requests between the engine and the device, and whose limit it was.

use serde::{Deserialize, Serialize};

use super::drive::Transport;
use super::units::Bytes;

/// The limits on the size of one request to a device, as the kernel and the drive tell them. `None` is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferLimits {
    /// `queue/max_sectors_kb`: the largest request that the kernel makes, KiB.
    pub max_sectors_kb: Option<u64>,
    /// `queue/max_hw_sectors_kb`: the largest that the driver takes, KiB.
    pub max_hw_sectors_kb: Option<u64>,
    /// `queue/max_segments`: pieces of memory in one request.
    pub max_segments: Option<u64>,
    /// `queue/max_segment_size`: bytes of one such piece.
    pub max_segment_size_bytes: Option<u64>,
    /// `queue/chunk_sectors`: no request crosses a multiple of this; 0 where there is none.
    pub chunk_bytes: Option<u64>,
    /// A page of memory, bytes.
    pub page_bytes: Option<u64>,
    /// VPD page 0xB0, MAXIMUM TRANSFER LENGTH: what the drive takes at most.
    pub drive_max_bytes: Option<u64>,
    /// VPD page 0xB0, OPTIMAL TRANSFER LENGTH: what the drive likes best, which Linux does not go beyond by itself.
    pub drive_optimal_bytes: Option<u64>,
    /// How commands reach the drive.
    pub transport: Option<Transport>,
    /// The driver of the host adapter: `ahci`, `usb-storage`, `mpt3sas`.
    pub driver: Option<String>,
    /// Whether this run itself has set `max_sectors_kb`.
    pub set_by_run: bool,
}

/// A limit on the size of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// `queue/max_sectors_kb`, below what the driver would take.
    MaxSectors,
    /// `queue/max_hw_sectors_kb`.
    MaxHwSectors,
    /// VPD page 0xB0, MAXIMUM TRANSFER LENGTH.
    MaximumTransferLength,
    /// VPD page 0xB0, OPTIMAL TRANSFER LENGTH.
    OptimalTransferLength,
    /// `queue/chunk_sectors`.
    Chunk,
    /// `queue/max_segments`, of memory in single pages.
    MaxSegments,
    /// 256 pieces of memory in one bio (`BIO_MAX_VECS`).
    Bio,
    /// None of those that are known.
    NotKnown,
}

/// Who sets a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitOwner {
    /// The drive itself.
    Drive,
    /// The host adapter, or its driver.
    Hba,
    /// The USB bridge, its driver, or the host's USB controller.
    Usb,
    /// The kernel's own default.
    Kernel,
    /// A setting that somebody made on this host.
    Setting,
    /// A setting that this run asked for.
    Run,
    /// Not known.
    NotKnown,
}

/// What became of the requests of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// They reached the device as they were asked.
    AsAsked,
    /// They were split.
    Split,
    /// Neighbours were merged.
    Merged,
}

/// The requests of a phase as asked and as the device had them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// What became of them.
    pub fate: Fate,
    /// Mean size as asked.
    pub asked_mean_bytes: Bytes,
    /// Mean size of what the device had.
    pub device_mean_bytes: Bytes,
    /// Device requests to one that was asked; below 1 where they were merged.
    pub parts: f64,
    /// The limit that split them; `null` if they were not.
    pub limit: Option<Limit>,
    /// That limit, bytes; `null` where it is not known.
    pub limit_bytes: Option<Bytes>,
    /// Whose limit it is.
    pub owner: Option<LimitOwner>,
    /// All of that for a person.
    pub sentence: String,
}
