//! A drive as the inventory sees it. Unknown is a value here, and says why.

mod declared;
mod usage;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::page::Pages;
use super::recording::Recording;
use super::units::Bytes;

pub use declared::{BlockDeviceCharacteristics, Declared, Reading, Rotation, ZonedCharacteristics, ZonedField};
pub use usage::{Content, Usage};

/// A drive's name for ever: UUIDv5 of its stable identity (WWN / EUI / NGUID, else model and serial).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DriveId(pub Uuid);

/// The UUIDv5 namespace of drive ids, drawn at random once. Never change it: stored runs hang on it.
const DRIVE_NAMESPACE: Uuid = Uuid::from_u128(0x6f2c_9a50_5a0e_4d5c_9c1d_3a2f_4be8_71d6);

impl DriveId {
    /// The id that belongs to an identity text such as `wwn:naa.5000c500a1b2c3d4`.
    #[must_use]
    pub fn from_identity(identity: &str) -> Self {
        Self(Uuid::new_v5(&DRIVE_NAMESPACE, identity.as_bytes()))
    }
}

impl fmt::Display for DriveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What sort of block device (or stand-in for one) a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A disk on a SCSI-like transport (SATA, SAS, USB, a RAID HBA's volume).
    Disk,
    /// An NVMe namespace.
    NvmeNamespace,
    /// A disk that a hypervisor offers (virtio, Xen).
    VirtualDisk,
    /// A loop device bound to a file.
    Loop,
    /// Compressed RAM.
    Zram,
    /// Plain RAM (brd).
    Ram,
    /// A network block device.
    Nbd,
    /// The kernel's test device null_blk.
    NullBlk,
    /// A device-mapper device.
    DeviceMapper,
    /// A Linux software RAID array.
    Md,
    /// An SD or eMMC card.
    Mmc,
    /// A CD, DVD or Blu-ray drive.
    Optical,
    /// A regular file on a mounted filesystem.
    File,
    /// A drive of the simulated fleet.
    Simulated,
    /// None of the above.
    Other,
}

impl DeviceKind {
    /// The kind as a person says it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::NvmeNamespace => "NVMe namespace",
            Self::VirtualDisk => "virtual disk",
            Self::Loop => "loop device",
            Self::Zram => "zram (compressed RAM)",
            Self::Ram => "RAM disk",
            Self::Nbd => "network block device",
            Self::NullBlk => "null_blk test device",
            Self::DeviceMapper => "device-mapper device",
            Self::Md => "md array",
            Self::Mmc => "memory card",
            Self::Optical => "optical drive",
            Self::File => "file",
            Self::Simulated => "simulated drive",
            Self::Other => "block device",
        }
    }

    /// Whether a serial number of its own can be expected. The rest is confirmed by path.
    #[must_use]
    pub fn can_have_serial(self) -> bool {
        matches!(self, Self::Disk | Self::NvmeNamespace | Self::Mmc | Self::Simulated)
    }
}

/// How commands reach the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Serial ATA through libata.
    Sata,
    /// Serial attached SCSI.
    Sas,
    /// USB mass storage or UAS.
    Usb,
    /// NVMe over PCIe or fabrics.
    Nvme,
    /// virtio-blk or virtio-scsi.
    Virtio,
    /// SCSI by another host adapter.
    Scsi,
    /// SD/MMC.
    Mmc,
    /// Not a transport: the kernel makes the device itself.
    Kernel,
    /// Not a transport: the drive is simulated.
    Simulated,
    /// Not told.
    Unknown,
}

impl Transport {
    /// The transport as written in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sata => "sata",
            Self::Sas => "sas",
            Self::Usb => "usb",
            Self::Nvme => "nvme",
            Self::Virtio => "virtio",
            Self::Scsi => "scsi",
            Self::Mmc => "mmc",
            Self::Kernel => "kernel",
            Self::Simulated => "simulated",
            Self::Unknown => "unknown",
        }
    }
}

/// Why a fact is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why", content = "detail")]
pub enum Unknown {
    /// The source does not exist on this host or for this device.
    Absent,
    /// The source exists and may not be read by this process.
    NotPermitted,
    /// The source answered something that cannot be the answer; the detail says what.
    NotTrusted(String),
    /// The source could not be read for another reason; the detail is the kernel's.
    NotReadable(String),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("this host or device has no such source"),
            Self::NotPermitted => f.write_str("this process may not read it"),
            Self::NotTrusted(what) => write!(f, "not trusted: {what}"),
            Self::NotReadable(what) => write!(f, "not readable: {what}"),
        }
    }
}

/// One fact about a drive, with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// A stable word: `queue/zoned`, `vpd-b1/zoned`, `inquiry/device-type`, …
    pub name: String,
    /// The value for a person, or `null` when it is not known.
    pub value: Option<String>,
    /// Why it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Unknown>,
    /// The file it was read from, with the byte and bits where it is a field of a page.
    pub source: String,
    /// What the user can do to learn it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// Two sources that answer one question differently. Neither is thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The name of the facts: `vpd-b1/zoned`, `inquiry/device-type`, …
    pub fact: String,
    /// What each source says, the one that is preferred first.
    pub said: Vec<Said>,
}

impl Disagreement {
    /// Whether it is about how the drive records.
    #[must_use]
    pub fn is_about_recording(&self) -> bool {
        ["zoned", "device-type", "rotation", "csi"].iter().any(|word| self.fact.contains(word))
    }
}

/// What one source says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Where it was read.
    pub source: String,
    /// What it says, for a person.
    pub value: String,
}

/// What a drive's id rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdentityBasis {
    /// World wide name (NAA), EUI-64 or NGUID.
    Wwn,
    /// Model and serial number.
    ModelSerial,
    /// Only the place it is plugged in or its path: a swap goes unnoticed.
    Path,
    /// The preset of a simulated drive.
    Simulated,
}

/// How a drive is told apart from all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// What the id rests on.
    pub basis: IdentityBasis,
    /// The text the id is made of, e.g. `wwn:naa.5000c500a1b2c3d4`.
    pub key: String,
    /// Whether no other device of this host has the same identity.
    pub unique: bool,
    /// What is wrong with it, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `queue/*` of the block layer. `None` is "the kernel does not tell".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueLimits {
    /// `queue/max_hw_sectors_kb`: the largest request the hardware path takes, KiB.
    pub max_hw_sectors_kb: Option<u64>,
    /// `queue/max_sectors_kb`: the largest request the kernel will send, KiB.
    pub max_sectors_kb: Option<u64>,
    /// `queue/max_segments`.
    pub max_segments: Option<u64>,
    /// `queue/max_segment_size`, bytes.
    pub max_segment_size_bytes: Option<u64>,
    /// `queue/nr_requests`.
    pub nr_requests: Option<u64>,
    /// `queue/discard_max_bytes`; 0 is "no TRIM".
    pub discard_max_bytes: Option<u64>,
    /// `queue/zoned`: none, host-aware, host-managed.
    pub zoned: Option<String>,
    /// `queue/nr_zones`.
    pub nr_zones: Option<u64>,
    /// `queue/chunk_sectors` in bytes: the zone size of a zoned device.
    pub chunk_bytes: Option<u64>,
    /// `queue/max_open_zones`; 0 is "no limit".
    pub max_open_zones: Option<u64>,
    /// `queue/max_active_zones`; 0 is "no limit".
    pub max_active_zones: Option<u64>,
    /// `queue/write_cache`: write back or write through.
    pub write_cache: Option<String>,
    /// `queue/fua`.
    pub fua: Option<bool>,
    /// The scheduler in force.
    pub scheduler: Option<String>,
    /// `device/timeout`: the kernel's command timeout, seconds.
    pub timeout_s: Option<u64>,
}

/// A partition of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Kernel name, e.g. `sda1`.
    pub name: String,
    /// Where it begins on the drive.
    pub start_bytes: Bytes,
    /// How large it is.
    pub size_bytes: Bytes,
}

/// A whole block device, a file, or a simulated drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// Its name for ever.
    pub id: DriveId,
    /// The kernel's name for it now (`sda`), or the preset's name.
    pub name: String,
    /// Where to open it.
    pub path: PathBuf,
    /// Every node that leads to it: `path` first, and more where it hangs on several cables (multipath).
    #[serde(default)]
    pub paths: Vec<PathBuf>,
    /// What sort of device it is.
    pub kind: DeviceKind,
    /// How commands reach it.
    pub transport: Transport,
    /// Whether it exists only in `sim`.
    pub simulated: bool,
    /// Vendor, as it says itself.
    pub vendor: Option<String>,
    /// Model, as it says itself, in full where IDENTIFY tells more than INQUIRY.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// World wide name, EUI-64 or NGUID, lower case.
    pub wwn: Option<String>,
    /// What makes it look like a volume of a RAID adapter, whose member disks are not seen: the adapter's driver, or
    /// what INQUIRY calls the volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// What its id rests on.
    pub identity: Identity,
    /// How large it is.
    pub capacity_bytes: Bytes,
    /// Logical block, bytes: every offset and size is a multiple of it.
    pub logical_block_bytes: u32,
    /// Physical block, bytes.
    pub physical_block_bytes: Option<u32>,
    /// The kernel's `queue/rotational`; by itself no ground to call it a disk or an SSD.
    pub rotational: Option<bool>,
    /// Rotation rate the drive reports, revolutions per minute.
    pub rotation_rpm: Option<u16>,
    /// Its temperature when last read, degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    /// The medium can be taken out.
    pub removable: bool,
    /// The kernel refuses writes to it.
    pub read_only: bool,
    /// The block layer's limits.
    pub limits: QueueLimits,
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// Who uses it now: each a reason to refuse writing.
    pub usage: Vec<Usage>,
    /// What the drive and the kernel say of its recording.
    pub declared: Declared,
    /// Every fact that was looked for, with its source.
    pub facts: Vec<Fact>,
    /// Where its sources contradict each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<Disagreement>,
    /// The bytes that the facts were read from. Shown by page, never in a list, and not stored.
    #[serde(skip)]
    pub pages: Pages,
    /// The answer.
    pub recording: Recording,
}

impl Drive {
    /// What to call it in a sentence: model and serial where known, else its path.
    #[must_use]
    pub fn title(&self) -> String {
        match (&self.model, &self.serial) {
            (Some(model), Some(serial)) => format!("{model} ({serial})"),
            (Some(model), None) => format!("{model} at {}", self.path.display()),
            _ => self.path.display().to_string(),
        }
    }

    /// The text a person types to confirm a destructive run: the serial (the world wide name of a drive
    /// that has only that), or the path of a target that can have none. `None` when a physical drive
    /// has no name of its own.
    #[must_use]
    pub fn confirm_phrase(&self) -> Option<String> {
        if self.kind.can_have_serial() {
            self.serial.clone().or_else(|| self.wwn.clone())
        } else {
            Some(self.path.display().to_string())
        }
    }
}

/// A block device that is not offered as a drive, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The kernel's name.
    pub name: String,
    /// Why it is not a drive now.
    pub why: String,
}

/// The host an inventory was taken on. Every run carries it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// A stable id, made of the machine id but not revealing it.
    pub id: Uuid,
    /// Host name.
    pub name: String,
    /// Kernel release, `uname -r`.
    pub kernel: String,
}

/// All drives of a host at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// The host.
    pub host: Host,
    /// When it was taken, milliseconds since 1970 UTC.
    pub scanned_at_ms: i64,
    /// The drives, simulated ones last, each group by name.
    pub drives: Vec<Drive>,
    /// Block devices that are no drives now.
    pub left_out: Vec<LeftOut>,
}

impl Inventory {
    /// The drive with this id.
    #[must_use]
    pub fn by_id(&self, id: DriveId) -> Option<&Drive> {
        self.drives.iter().find(|drive| drive.id == id)
    }
}
