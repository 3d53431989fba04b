//! The known drives: constants and what they say of themselves.
//!
//! | name | after | recording | says |
//! |---|---|---|---|
//! | `sim-cmr-14tb` | WD140EMFZ behind USB 3 (fio list 2020) | conventional | nothing |
//! | `sim-dm-8tb` | ST8000DM004 (csurbhi, "Lost in Translation") | drive-managed | nothing |
//! | `sim-dm-14tb` | the same translation layer on 14 TB; no such drive is sold | drive-managed | nothing |
//! | `sim-cmr-4tb` | HUS726040ALE614, write cache off (serverfault 857271) | conventional | nothing |
//! | `sim-ha-8tb` | ST8000AS0022 (csurbhi) | host-aware | ZONED 1, zones |
//! | `sim-dm-3tb` | Toshiba Canvio 3 TB behind USB (sami-lehtinen.net) | drive-managed | ZONED 2 |
//! | `sim-dm-archive-8tb` | ST8000AS0002 (aicodix/smr; "Skylight", FAST'15) | drive-managed | nothing |
//! | `sim-dm-red-4tb` | WD40EFAX (openzfs issues); low confidence | drive-managed, log-structured | nothing |
//! | `sim-cmr-24tb` | HC580 (data sheet) | conventional | nothing |
//! | `sim-ssd-1tb` | a SATA SSD with the figures of USENIX ATC'21 | flash | does not rotate |
//! | `sim-hm-15tb` | HSH721415AL (zonedstorage.io) | host-managed | device type 14h, zones |
//! | `sim-zns-1tb` | a ZNS SSD with the figures of USENIX ATC'21 and zonedstorage.io | ZNS | command set 2, zones |
//!
//! Those that would mislead a test stand in [`variants()`]; they are found by name and not shown.

use super::cache::{CacheParams, FlushParams};
use super::flash::FlashParams;
use super::interface::InterfaceParams;
use super::load::CompetitorParams;
use super::media::{MediaParams, QueueGain};
use super::translation::TranslationParams;
use super::zones::ZonesParams;
use crate::model::drive::{Rotation, ZonedField};

mod conventional;
mod others;
mod shingled;
mod variants;

pub use conventional::{cmr_4tb, cmr_14tb, cmr_24tb, media_cache};
pub use others::{hm_15tb, ssd_1tb, zns_1tb};
pub use shingled::{
    archive_stl, barracuda, barracuda_stl, dm_3tb, dm_8tb, dm_14tb, dm_archive_8tb, dm_red_4tb, ha_8tb, red_stl,
};
pub use variants::variants;

/// What is inside the box.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there are a few dozen of them, and nearly all are disks")]
pub enum Inside {
    /// Platters.
    Disk {
        /// The moving parts.
        media: MediaParams,
        /// The volatile cache.
        cache: CacheParams,
        /// Where blocks really go.
        translation: TranslationParams,
    },
    /// Flash.
    Flash {
        /// Capacity, bytes.
        capacity: u64,
        /// The cells.
        flash: FlashParams,
    },
}

/// What the drive says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Vendor.
    pub vendor: &'static str,
    /// Model; says that it is simulated.
    pub model: &'static str,
    /// Serial number.
    pub serial: &'static str,
    /// VPD 0xB1 bytes 4-5.
    pub rotation: Rotation,
    /// VPD 0xB1 byte 8 bits 5:4: what it admits.
    pub zoned: ZonedField,
}

/// A drive that can be simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// Its name, also the drive's.
    pub name: &'static str,
    /// What it is modelled on, for a person.
    pub after: &'static str,
    /// What it says.
    pub label: Label,
    /// Logical block, bytes.
    pub logical_block: u32,
    /// The link.
    pub interface: InterfaceParams,
    /// Its zones, if it has any.
    pub zones: Option<ZonesParams>,
    /// Who else uses it.
    pub competitor: Option<CompetitorParams>,
    /// The rest.
    pub inside: Inside,
}

/// What [`disk`] needs: see [`Inside::Disk`].
type Layers = (MediaParams, CacheParams, TranslationParams);

impl Preset {
    /// Whether it has a volatile cache that can be switched on and off.
    #[must_use]
    pub fn has_cache(&self) -> bool {
        matches!(self.inside, Inside::Disk { .. })
    }

    /// Whether it says that it makes use of a trim. A rotating disk that does is shingled, mostly (smartmontools' list of drives).
    #[must_use]
    pub fn takes_trim(&self) -> bool {
        matches!(self.inside, Inside::Flash { .. } | Inside::Disk { translation: TranslationParams::LogStl(_), .. })
    }

    /// Capacity, bytes.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        match &self.inside {
            Inside::Disk { media, .. } => media.capacity,
            Inside::Flash { capacity, .. } => *capacity,
        }
    }
}

/// The presets that are shown, in their order.
#[must_use]
pub fn shown() -> Vec<Preset> {
    vec![
        cmr_14tb(),
        dm_14tb(),
        dm_8tb(),
        cmr_4tb(),
        ha_8tb(),
        dm_3tb(),
        dm_archive_8tb(),
        dm_red_4tb(),
        cmr_24tb(),
        ssd_1tb(),
        hm_15tb(),
        zns_1tb(),
    ]
}

/// Every preset: those that are shown, and their [`variants()`].
#[must_use]
pub fn all() -> Vec<Preset> {
    shown().into_iter().chain(variants()).collect()
}

/// The preset of this name.
#[must_use]
pub fn named(name: &str) -> Option<Preset> {
    all().into_iter().find(|preset| preset.name == name)
}

/// Gain of the drain: α 0.41, t0 0.8 ms from the reads of a WD140EDFZ, QD1 66 and QD32 233 IOPS (document
/// "shoal"). With K = 405 dirty entries it gives the 490 and 816 write IOPS that the fio list read over the whole
/// WD140EMFZ and over 1 GiB of it.
pub(super) const DRAIN_GAIN: QueueGain = QueueGain { t0_ms: 0.8, alpha_near: 0.41, alpha_far: 0.41 };
/// Gain of reads: solved for 233 IOPS over the whole span and 717 within 1 GiB at QD32 (the same).
pub(super) const READ_GAIN: QueueGain = QueueGain { t0_ms: 0.8, alpha_near: 0.61, alpha_far: 0.34 };

/// Volatile, and honest about it.
pub(super) const DRAM: CacheParams =
    CacheParams { write_back: true, max_entries: 0, max_bytes: 0, non_volatile: false, flush: FlushParams::HONEST };

fn disk(name: &'static str, after: &'static str, label: Label, interface: InterfaceParams, layers: Layers) -> Preset {
    let (media, cache, translation) = layers;
    let inside = Inside::Disk { media, cache, translation };
    Preset { name, after, label, logical_block: 512, interface, zones: None, competitor: None, inside }
}
