//! Conventional disks.

use super::{DRAIN_GAIN, DRAM, Label, Preset, READ_GAIN, disk};
use crate::model::drive::{Rotation, ZonedField};
use crate::model::units::{GIB, KIB, MIB};
use crate::sim::cache::CacheParams;
use crate::sim::interface::InterfaceParams;
use crate::sim::media::{MediaParams, QueueGain};
use crate::sim::noise::Hiccups;
use crate::sim::translation::{MediaCacheParams, TranslationParams};

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
        hiccups: Hiccups::RECALIBRATION,
        actuators: 1,
    };
    // K and W solved from 490 IOPS (4 KiB) and 100 / 130 / 160 MB/s (1, 10, 100 MB blocks) of the same list.
    let cache = CacheParams { write_back: true, max_entries: 405, max_bytes: 34 * MIB, ..DRAM };
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

/// The media cache of both disks.
#[must_use]
pub fn media_cache() -> MediaCacheParams {
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
        hiccups: Hiccups::RECALIBRATION,
        actuators: 1,
    };
    let cache = CacheParams { write_back: false, max_entries: 405, max_bytes: 34 * MIB, ..DRAM };
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

/// HC580, a data sheet's figures for 4 KiB at QD32: 212 reads and 565 writes a second, the latter with the write cache on or off, since
/// its cache outlives a loss of power. Mechanics: a 1.5, b 12.4 of a 7200 rpm disk of 6 TB (document "shoal"), whose gain at QD32 is
/// taken down until 212 remain (α 0.31).
#[must_use]
pub fn cmr_24tb() -> Preset {
    let media = MediaParams {
        // 46 875 541 504 sectors: the usual 24 TB.
        capacity: 46_875_541_504 * 512,
        // At most 298 MB/s (the data sheet); the inner end by the usual ratio (syn).
        rates: vec![(0.0, 298.0), (1.0, 145.0)],
        seek_settle_ms: 1.5,
        seek_stroke_ms: 12.4,
        revolution_ms: 60_000.0 / 7200.0,
        overhead_ms: 0.05,
        read_gain: QueueGain { t0_ms: 0.8, alpha_near: 0.31, alpha_far: 0.31 },
        drain_gain: DRAIN_GAIN,
        noise_sd: 0.05,
        hiccups: Hiccups::RECALIBRATION,
        actuators: 1,
    };
    // K solved from the 565.
    let cache = CacheParams { write_back: true, max_entries: 420, max_bytes: 64 * MIB, non_volatile: true, ..DRAM };
    let label = Label {
        vendor: "WDC",
        model: "WUH722424ALE6L4 (simulated)",
        serial: "SIM-CMR-0003",
        rotation: Rotation::Rpm(7200),
        zoned: ZonedField::NotReported,
    };
    let layers = (media, cache, TranslationParams::None);
    disk("sim-cmr-24tb", "HC580 24 TB, cache kept without power", label, InterfaceParams::SAS, layers)
}
