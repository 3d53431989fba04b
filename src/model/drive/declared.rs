//! What a drive and the kernel say of its recording, page by page, or why that is not known.

use serde::{Deserialize, Serialize};

use super::Unknown;

/// Medium rotation rate: VPD 0xB1 bytes 4-5, or ATA IDENTIFY word 217 (SBC, ACS).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "rpm")]
pub enum Rotation {
    /// 0: the drive does not say.
    NotReported,
    /// 1: the medium does not rotate.
    NonRotating,
    /// 0x0401..=0xFFFE: revolutions per minute.
    Rpm(u16),
    /// Any other value is reserved and means nothing.
    Reserved(u16),
}

/// The ZONED field: VPD 0xB1 byte 8 bits 5:4 (SBC-4), or ATA IDENTIFY word 69 bits 1:0 (ACS-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZonedField {
    /// 0: not reported. That is not "no".
    NotReported,
    /// 1: host-aware.
    HostAware,
    /// 2: drive-managed (SBC writes "device managed").
    DriveManaged,
    /// 3: reserved.
    Reserved,
}

/// A page or attribute that was looked for: what it says, or why that is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading<T> {
    /// It was read and understood.
    Known(T),
    /// It was not.
    Unknown(Unknown),
}

impl<T> Reading<T> {
    /// What it says, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// Why it is not known.
    pub fn unknown(&self) -> Option<&Unknown> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(why) => Some(why),
        }
    }

    /// What it says, if it is known.
    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// The same reading, further understood; what is not known stays so, for the same reason.
    pub fn map<U>(self, understand: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Reading::Known(understand(value)))
    }

    /// The same reading, further understood by something that can fail too.
    pub fn and_then<U>(self, understand: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Known(value) => understand(value),
            Self::Unknown(why) => Reading::Unknown(why),
        }
    }
}

/// VPD page 0xB1, Block Device Characteristics, as far as it matters here (SBC-4 §6.6.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDeviceCharacteristics {
    /// Bytes 4-5.
    pub rotation: Rotation,
    /// Byte 7 bits 3:0: 1 is 5.25", 2 is 3.5", 3 is 2.5", 4 is 1.8", 5 is smaller; 0 not reported.
    pub form_factor: u8,
    /// Byte 8 bits 5:4; `None` when the page ends before byte 8.
    pub zoned: Option<ZonedField>,
}

/// VPD page 0xB6, Zoned Block Device Characteristics (ZBC-2 §6.5).
///
/// The kernel does not show this page, so it is known only where the drive could be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZonedCharacteristics {
    /// Byte 4 bits 7:4: 0 none (or host-managed, by the device type), 1 host-aware, 2 domains and realms.
    pub extension: u8,
    /// Byte 4 bit 0: zones that must be written in order may still be read anywhere.
    pub unrestricted_reads: bool,
    /// Bytes 8-11: how many sequential-write-preferred zones are best open at once; `None` when not reported.
    pub optimal_open: Option<u32>,
    /// Bytes 12-15: how many of them are best written out of order; `None` when not reported.
    pub optimal_non_sequential: Option<u32>,
    /// Bytes 16-19: how many sequential-write-required zones may be open; `None` when there is no limit or none told.
    pub max_open: Option<u32>,
}

/// What the drive itself and the kernel say of its recording, undigested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// Whether the drive itself has answered, and not only the kernel's memory of it.
    #[serde(default)]
    pub asked: bool,
    /// SCSI peripheral device type; 0x14 is host-managed.
    pub device_type: Reading<u8>,
    /// VPD page 0xB1.
    pub vpd_b1: Reading<BlockDeviceCharacteristics>,
    /// `scsi_disk/*/zoned_cap`.
    pub zoned_cap: Reading<String>,
    /// `queue/zoned`.
    pub queue_zoned: Reading<String>,
    /// ATA IDENTIFY word 69 bits 1:0.
    pub ata_zoned: Reading<ZonedField>,
    /// VPD page 0xB6.
    #[serde(default = "never_asked")]
    pub vpd_b6: Reading<ZonedCharacteristics>,
    /// ATA log 0x30 page 0x03 bytes 104-111 bits 1:0: word 69's successor.
    #[serde(default = "never_asked")]
    pub ata_log_zoned: Reading<ZonedField>,
    /// NVMe command set identifier; 2 is Zoned Namespaces.
    pub nvme_csi: Reading<u8>,
}

/// A source that older records do not have.
fn never_asked<T>() -> Reading<T> {
    Reading::Unknown(Unknown::Absent)
}

impl Declared {
    /// Nothing could be asked, for one reason.
    #[must_use]
    pub fn nothing(why: &Unknown) -> Self {
        Self {
            asked: false,
            device_type: Reading::Unknown(why.clone()),
            vpd_b1: Reading::Unknown(why.clone()),
            zoned_cap: Reading::Unknown(why.clone()),
            queue_zoned: Reading::Unknown(why.clone()),
            ata_zoned: Reading::Unknown(why.clone()),
            vpd_b6: Reading::Unknown(why.clone()),
            ata_log_zoned: Reading::Unknown(why.clone()),
            nvme_csi: Reading::Unknown(why.clone()),
        }
    }
}
