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
//! | `sim-ssd-1tb` | a SATA SSD with the figures of USENIX ATC'21 | flash | does not rotate |
//! | `sim-hm-15tb` | HSH721415AL (zonedstorage.io) | host-managed | device type 14h, zones |
//! | `sim-zns-1tb` | a ZNS SSD with the figures of USENIX ATC'21 and zonedstorage.io | ZNS | command set 2, zones |

use super::cache::CacheParams;
use super::flash::FlashParams;
use super::interface::InterfaceParams;
use super::media::{MediaParams, QueueGain};
use super::translation::{CachedStlParams, MediaCacheParams, TranslationParams};
use super::zones::{ZoneModel, ZonesParams};
use crate::model::drive::{Rotation, ZonedField};
use crate::model::units::{GIB, KIB, MIB};

/// What is inside the box.
#[derive(Debug, Clone, PartialEq)]
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

    /// Capacity, bytes.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        match &self.inside {
            Inside::Disk { media, .. } => media.capacity,
            Inside::Flash { capacity, .. } => *capacity,
        }
    }
}

/// Every preset, in the order shown.
#[must_use]
pub fn all() -> Vec<Preset> {
    vec![cmr_14tb(), dm_14tb(), dm_8tb(), cmr_4tb(), ha_8tb(), dm_3tb(), ssd_1tb(), hm_15tb(), zns_1tb()]
}

/// The preset of this name.
#[must_use]
pub fn named(name: &str) -> Option<Preset> {
    all().into_iter().find(|preset| preset.name == name)
}

/// Gain of the drain: α 0.41, t0 0.8 ms from the reads of a WD140EDFZ, QD1 66 and QD32 233 IOPS (document
/// "shoal"). With K = 405 dirty entries it gives the 490 and 816 write IOPS that the fio list read over the whole
/// WD140EMFZ and over 1 GiB of it.
const DRAIN_GAIN: QueueGain = QueueGain { t0_ms: 0.8, alpha_near: 0.41, alpha_far: 0.41 };
/// Gain of reads: solved for 233 IOPS over the whole span and 717 within 1 GiB at QD32 (the same).
const READ_GAIN: QueueGain = QueueGain { t0_ms: 0.8, alpha_near: 0.61, alpha_far: 0.34 };

fn disk(name: &'static str, after: &'static str, label: Label, interface: InterfaceParams, layers: Layers) -> Preset {
    let (media, cache, translation) = layers;
    let inside = Inside::Disk { media, cache, translation };
    Preset { name, after, label, logical_block: 512, interface, zones: None, inside }
}

/// The disk of the fio list's "testing for SMR" (2020): a conventional WD140EMFZ on a USB 3 port. Mechanics of its
/// sibling WD140EDFZ (document "shoal"): a 1.5, b 17.7, one revolution 8.35 ms although both say 5400 rpm.
#[must_use]
pub fn cmr_14tb() -> Preset {
    let media = MediaParams {
        // 27 344 764 928 sectors: the usual 14 TB.
        capacity: 27_344_764_928 * 512,
        // 194-211 MiB/s were read at the outer edge (shoal); the inner end by a ratio of about 2 (syn).
        rates: vec![(0.0, 211.0), (1.0, 100.0)],
        seek_settle_ms: 1.5,
        seek_stroke_ms: 17.7,
        revolution_ms: 8.35,
        overhead_ms: 0.05,
        read_gain: READ_GAIN,
        drain_gain: DRAIN_GAIN,
        noise_sd: 0.05,
    };
    // K and W solved from 490 IOPS (4 KiB) and 100 / 130 / 160 MB/s (1, 10, 100 MB blocks) of the same list.
    let cache = CacheParams { write_back: true, max_entries: 405, max_bytes: 34 * MIB };
    let translation = TranslationParams::MediaCache(media_cache());
    let label = Label {
        vendor: "WDC",
        model: "WD140EMFZ (simulated)",
        serial: "SIM-CMR-0001",
        rotation: Rotation::Rpm(5400),
        zoned: ZonedField::NotReported,
    };
    disk("sim-cmr-14tb", "WD140EMFZ behind USB 3", label, InterfaceParams::USB3_BOT, (media, cache, translation))
}

fn media_cache() -> MediaCacheParams {
    MediaCacheParams {
        // No size was read; large enough that ten minutes at 264 IOPS fit (syn).
        cache_bytes: 2 * GIB,
        max_entries: 200_000,
        append_revolutions: 0.45,
        largest: 64 * KIB,
        idle_trigger_s: 2.0,
    }
}

/// HUS726040ALE614 with its write cache off, on SATA (serverfault 857271): 264 writes a second; 96 with the
/// cache on and each write synced. Mechanics fitted to the latter: a 1.0, b 9.75 at 7200 rpm.
#[must_use]
pub fn cmr_4tb() -> Preset {
    let media = MediaParams {
        // 7 814 037 168 sectors: the usual 4 TB.
        capacity: 7_814_037_168 * 512,
        // No profile was read: the outer rate of its class and the usual ratio (syn).
        rates: vec![(0.0, 200.0), (1.0, 105.0)],
        seek_settle_ms: 1.0,
        seek_stroke_ms: 9.75,
        revolution_ms: 60_000.0 / 7200.0,
        overhead_ms: 0.05,
        read_gain: READ_GAIN,
        drain_gain: DRAIN_GAIN,
        noise_sd: 0.05,
    };
    let cache = CacheParams { write_back: false, max_entries: 405, max_bytes: 34 * MIB };
    let label = Label {
        vendor: "HGST",
        model: "HUS726040ALE614 (simulated)",
        serial: "SIM-CMR-0002",
        rotation: Rotation::Rpm(7200),
        zoned: ZonedField::NotReported,
    };
    let translation = TranslationParams::MediaCache(media_cache());
    disk("sim-cmr-4tb", "HUS726040ALE614, write cache off", label, InterfaceParams::SATA, (media, cache, translation))
}

/// Moving parts of ST8000DM004: rates at 0, 4, 6, 6.5 TB 197, 154, 122, 107 MB/s (csurbhi, table 6), inner end by its
/// cache's 102. No seek times were read: those of the WD140EDFZ stand in (syn).
fn barracuda(capacity: u64) -> MediaParams {
    MediaParams {
        capacity,
        rates: vec![(0.0, 197.0), (0.5, 154.0), (0.75, 122.0), (0.81, 107.0), (1.0, 102.0)],
        seek_settle_ms: 1.5,
        seek_stroke_ms: 17.7,
        revolution_ms: 60_000.0 / 5425.0,
        overhead_ms: 0.05,
        read_gain: READ_GAIN,
        drain_gain: DRAIN_GAIN,
        noise_sd: 0.05,
    }
}

/// The translation layer of ST8000DM004: C 48.3 GiB, N 368 795, cache at 102 MB/s (csurbhi, tables 3, 4, 6). Cleaning while
/// a writer waits takes 0.158 s a band (of its host-aware sister, 6.34 MiB/s at 1 MiB), while idle 0.58 s: 48.3 GiB of
/// 1 MiB blocks in 9 h less the first hour. 35 % of overwrites in place: fitted to the zipf cliffs of the same tables.
#[must_use]
pub fn barracuda_stl() -> CachedStlParams {
    CachedStlParams {
        // 196 608 entries of 256 KiB: 48 GiB and the 0.3 the table prints.
        cache_bytes: 48 * GIB + 3 * GIB / 10,
        map_entries: 368_795,
        cache_rate: 102.0,
        cache_place: 1.0,
        overwrite_in_place: 0.35,
        // Within the 15-40 MiB of FAST'15 for its older sister (syn).
        band_bytes: 20 * MIB,
        foreground_ms: 158.0,
        background_ms: 580.0,
        idle_trigger_s: 3_600.0,
        stream_bytes: 8 * MIB,
        // 12.0 MB/s of 4 KiB before the cliff.
        append_ms: 0.34,
    }
}

/// 256 MB of DRAM of which a part holds writes. Small against the map, so that the cliff stays where the map ends (syn).
const BARRACUDA_CACHE: CacheParams = CacheParams { write_back: true, max_entries: 1_024, max_bytes: 64 * MIB };

/// ST8000DM004: drive-managed, and does not say so.
#[must_use]
pub fn dm_8tb() -> Preset {
    let label = Label {
        vendor: "Seagate",
        model: "ST8000DM004 (simulated)",
        serial: "SIM-DM-0001",
        rotation: Rotation::Rpm(5425),
        zoned: ZonedField::NotReported,
    };
    // 15 628 053 168 sectors: the usual 8 TB.
    let media = barracuda(15_628_053_168 * 512);
    let layers = (media, BARRACUDA_CACHE, TranslationParams::CachedStl(barracuda_stl()));
    disk("sim-dm-8tb", "ST8000DM004", label, InterfaceParams::SATA, layers)
}

/// The translation layer of ST8000DM004 on a disk of 14 TB that calls itself 5400 rpm: what the buyer of `sim-cmr-14tb` fears.
#[must_use]
pub fn dm_14tb() -> Preset {
    let label = Label {
        vendor: "Seagate",
        model: "ST14000DM004 (simulated)",
        serial: "SIM-DM-0002",
        rotation: Rotation::Rpm(5400),
        zoned: ZonedField::NotReported,
    };
    let media = barracuda(27_344_764_928 * 512);
    let layers = (media, BARRACUDA_CACHE, TranslationParams::CachedStl(barracuda_stl()));
    disk("sim-dm-14tb", "ST8000DM004's translation layer on 14 TB", label, InterfaceParams::SATA, layers)
}

/// ST8000AS0022, host-aware: 28 GiB of cache (112 zones of 256 MiB), map of
/// 191 172 entries, 123.57 MB/s in the cache, idle cleaning after just under 3 h at 0.72 s a band, 0.158 s with a writer waiting (csurbhi,
/// tables 3 to 5 and the pause test). 29 808 zones of 256 MiB and a shorter one, 64 of them conventional. One of them with OPEN and
/// CLOSE takes five times as long as plain writing (ceph-devel): 8.5 s less the 1.75 s of 256 MB, half of the rest each.
#[must_use]
pub fn ha_8tb() -> Preset {
    let mut media = barracuda(15_628_053_168 * 512);
    media.rates = vec![(0.0, 193.0), (0.5, 168.0), (0.75, 128.0), (0.81, 114.0), (1.0, 105.0)];
    media.revolution_ms = 60_000.0 / 5900.0;
    let stl = CachedStlParams {
        cache_bytes: 28 * GIB,
        map_entries: 191_172,
        cache_rate: 123.57,
        background_ms: 720.0,
        idle_trigger_s: 10_700.0,
        ..barracuda_stl()
    };
    let label = Label {
        vendor: "Seagate",
        model: "ST8000AS0022 (simulated)",
        serial: "SIM-HA-0001",
        rotation: Rotation::Rpm(5900),
        zoned: ZonedField::HostAware,
    };
    let layers = (media, BARRACUDA_CACHE, TranslationParams::CachedStl(stl));
    let zones = ZonesParams {
        model: ZoneModel::HostAware,
        zone_bytes: 256 * MIB,
        zone_capacity: 256 * MIB,
        conventional: 64,
        // Its "optimal number of open zones" (ceph-devel).
        max_open: 128,
        max_active: 0,
        open_ms: 3_375.0,
        close_ms: 3_375.0,
        // The rest was not read (syn).
        reset_ms: 20.0,
        finish_ms: 500.0,
        report_ms: 50.0,
    };
    let preset = disk("sim-ha-8tb", "ST8000AS0022", label, InterfaceParams::SATA, layers);
    Preset { zones: Some(zones), ..preset }
}

/// Toshiba Canvio 3 TB behind USB, which says that it is drive-managed: 46 writes of 4 KiB a second for 92 minutes (256 220, so a map of
/// 2^18), then 1.5; recovered in 9 h (sami-lehtinen.net). 1.8 s a band follows from the 1.5, 0.34 s from the 9 h.
#[must_use]
pub fn dm_3tb() -> Preset {
    // 5 860 533 168 sectors: the usual 3 TB.
    let mut media = barracuda(5_860_533_168 * 512);
    media.rates = vec![(0.0, 140.0), (1.0, 70.0)];
    media.revolution_ms = 60_000.0 / 5400.0;
    let stl = CachedStlParams {
        // Never the limit at 4 KiB; no size was read (syn).
        cache_bytes: 100 * GIB,
        map_entries: 262_144,
        cache_rate: 70.0,
        foreground_ms: 1_800.0,
        background_ms: 340.0,
        idle_trigger_s: 1.0,
        append_ms: 21.5,
        ..barracuda_stl()
    };
    let label = Label {
        vendor: "TOSHIBA",
        model: "Canvio 3TB (simulated)",
        serial: "SIM-DM-0003",
        rotation: Rotation::Rpm(5400),
        zoned: ZonedField::DriveManaged,
    };
    let layers = (media, BARRACUDA_CACHE, TranslationParams::CachedStl(stl));
    disk("sim-dm-3tb", "Toshiba Canvio 3 TB behind USB", label, InterfaceParams::USB3_BOT, layers)
}

/// A SATA SSD: reads 85 µs, 370 MiB/s sustained at 7 % spare space (Bjørling et al., USENIX ATC'21); 30 GB of fast cells (syn).
#[must_use]
pub fn ssd_1tb() -> Preset {
    let flash = FlashParams {
        read_ms: 0.085,
        channels: 8,
        slc_bytes: 30_000_000_000,
        slc_bytes_per_s: 900e6,
        direct_bytes_per_s: 370.0 * 1_048_576.0,
        buffer_bytes: 8 * MIB,
    };
    Preset {
        name: "sim-ssd-1tb",
        after: "a SATA SSD",
        label: Label {
            vendor: "Drivescope",
            model: "SATA SSD 1TB (simulated)",
            serial: "SIM-SSD-0001",
            rotation: Rotation::NonRotating,
            zoned: ZonedField::NotReported,
        },
        logical_block: 512,
        interface: InterfaceParams::SATA,
        zones: None,
        inside: Inside::Flash { capacity: 1_953_525_168 * 512, flash },
    }
}

/// HSH721415AL, host-managed: 55 880 zones of 256 MiB, 524 of them conventional, at most 128 open; 236 MiB/s of 256 KiB in order, 40 MiB/s
/// into zones at random from 16 places, and 353 MiB/s where nothing was ever written (zonedstorage.io). Mechanics: a
/// 1.5, b 12 at 7200 rpm (syn).
#[must_use]
pub fn hm_15tb() -> Preset {
    let media = MediaParams {
        capacity: 55_880 * 256 * MIB,
        // 236 MiB/s near the outer edge; the inner end by the usual ratio (syn).
        rates: vec![(0.0, 248.0), (1.0, 120.0)],
        seek_settle_ms: 1.5,
        seek_stroke_ms: 12.0,
        revolution_ms: 60_000.0 / 7200.0,
        overhead_ms: 0.05,
        read_gain: READ_GAIN,
        drain_gain: DRAIN_GAIN,
        noise_sd: 0.05,
    };
    // As many dirty entries as give the 40 MiB/s.
    let cache = CacheParams { write_back: true, max_entries: 16, max_bytes: 34 * MIB };
    let label = Label {
        vendor: "HGST",
        model: "HSH721415AL (simulated)",
        serial: "SIM-HM-0001",
        rotation: Rotation::Rpm(7200),
        zoned: ZonedField::NotReported,
    };
    let zones = ZonesParams {
        model: ZoneModel::HostManaged,
        zone_bytes: 256 * MIB,
        zone_capacity: 256 * MIB,
        conventional: 524,
        max_open: 128,
        max_active: 0,
        // No times were read; closing costs one positioning (syn).
        open_ms: 2.0,
        close_ms: 12.0,
        reset_ms: 10.0,
        finish_ms: 500.0,
        report_ms: 50.0,
    };
    // So that 256 KiB of zeros come at 353 MiB/s.
    let interface = InterfaceParams { bytes_per_s: 381e6, ..InterfaceParams::SATA };
    let layers = (media, cache, TranslationParams::None);
    Preset { zones: Some(zones), ..disk("sim-hm-15tb", "HSH721415AL", label, interface, layers) }
}

/// A ZNS SSD: zones of 2048 MiB of which 1077 can be written, 14 active; writes 1894 MiB/s, reads 85 µs (Bjørling et al., USENIX
/// ATC'21; zonedstorage.io).
#[must_use]
pub fn zns_1tb() -> Preset {
    let flash = FlashParams {
        read_ms: 0.085,
        channels: 32,
        slc_bytes: 0,
        slc_bytes_per_s: 1_894.0 * 1_048_576.0,
        direct_bytes_per_s: 1_894.0 * 1_048_576.0,
        buffer_bytes: 8 * MIB,
    };
    let zones = ZonesParams {
        model: ZoneModel::Zns,
        zone_bytes: 2_048 * MIB,
        zone_capacity: 1_077 * MIB,
        conventional: 0,
        max_open: 14,
        max_active: 14,
        // Of the size that such drives are known for; none was read (syn).
        open_ms: 0.01,
        close_ms: 0.01,
        reset_ms: 16.0,
        finish_ms: 100.0,
        report_ms: 10.0,
    };
    Preset {
        name: "sim-zns-1tb",
        after: "a ZNS SSD",
        label: Label {
            vendor: "Drivescope",
            model: "ZNS SSD 1TB (simulated)",
            serial: "SIM-ZNS-0001",
            rotation: Rotation::NonRotating,
            zoned: ZonedField::NotReported,
        },
        logical_block: 4096,
        interface: InterfaceParams::NVME,
        zones: Some(zones),
        // 904 zones, as many as hold 1 TB with this capacity (syn).
        inside: Inside::Flash { capacity: 904 * 2_048 * MIB, flash },
    }
}
