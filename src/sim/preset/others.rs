//! Drives without moving parts, and host-managed ones.

use super::{DRAIN_GAIN, DRAM, Inside, Label, Preset, READ_GAIN, disk};
use crate::model::drive::{Rotation, ZonedField};
use crate::model::units::MIB;
use crate::sim::cache::CacheParams;
use crate::sim::flash::FlashParams;
use crate::sim::interface::InterfaceParams;
use crate::sim::media::MediaParams;
use crate::sim::noise::Hiccups;
use crate::sim::translation::TranslationParams;
use crate::sim::zones::{ZoneModel, ZonesParams};

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
        competitor: None,
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
        hiccups: Hiccups::RECALIBRATION,
        actuators: 1,
    };
    // As many dirty entries as give the 40 MiB/s.
    let cache = CacheParams { write_back: true, max_entries: 16, max_bytes: 34 * MIB, ..DRAM };
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
        competitor: None,
        // 904 zones, as many as hold 1 TB with this capacity (syn).
        inside: Inside::Flash { capacity: 904 * 2_048 * MIB, flash },
    }
}
