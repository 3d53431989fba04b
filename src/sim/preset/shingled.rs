//! Drive-managed disks, and the host-aware one that can be used as one.

use super::{DRAIN_GAIN, DRAM, Label, Preset, READ_GAIN, disk};
use crate::model::drive::{Rotation, ZonedField};
use crate::model::units::{GIB, MIB};
use crate::sim::cache::CacheParams;
use crate::sim::interface::InterfaceParams;
use crate::sim::media::MediaParams;
use crate::sim::noise::Hiccups;
use crate::sim::translation::{
    CachedStlParams, Checkpoint, Foreground, LogStlParams, Store, Synced, TranslationParams,
};
use crate::sim::zones::{ZoneModel, ZonesParams};

/// Moving parts of ST8000DM004: rates at 0, 4, 6, 6.5 TB 197, 154, 122, 107 MB/s (csurbhi, table 6), inner end by its
/// cache's 102. No seek times were read: those of the WD140EDFZ stand in (syn).
#[must_use]
pub fn barracuda(capacity: u64) -> MediaParams {
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
        hiccups: Hiccups::RECALIBRATION,
        actuators: 1,
    }
}

/// The translation layer of ST8000DM004: C 48.3 GiB, N 368 795, cache at 102 MB/s (csurbhi, tables 3, 4, 6). Cleaning while
/// a writer waits takes 0.158 s a band (of its host-aware sister, 6.34 MiB/s at 1 MiB), while idle 0.58 s: 48.3 GiB of
/// 1 MiB blocks in 9 h less the first hour.
///
/// With hot blocks (zipf 90/10) its sister comes down to 1.66 MB/s of 1 MiB and 5 writes a second of 4 KiB (table 10), four times less and not
/// more than with uniform ones, although each band then frees several copies. So copies that were superseded must cost: 400 ms
/// each and 520 for each of their MiB give both rates. That is a fit; what the drive does then is not known.
#[must_use]
pub fn barracuda_stl() -> CachedStlParams {
    CachedStlParams {
        // 196 608 entries of 256 KiB: 48 GiB and the 0.3 the table prints.
        cache_bytes: 48 * GIB + 3 * GIB / 10,
        map_entries: 368_795,
        sets: 1,
        store: Store::Platter,
        cache_rate: 102.0,
        cache_place: 1.0,
        // What is written over and over is gathered in DRAM instead.
        overwrite_in_place: 0.0,
        // Within the 15-40 MiB of FAST'15 for its older sister (syn).
        band_bytes: 20 * MIB,
        inner_band_bytes: 20 * MIB,
        foreground: Foreground::Measured { band_ms: 158.0, stale_ms: 400.0, stale_ms_per_mib: 520.0 },
        background_ms: 580.0,
        idle_trigger_s: 3_600.0,
        stream_bytes: 8 * MIB,
        // 12.0 MB/s of 4 KiB before the cliff.
        append_ms: 0.34,
        // A record is closed by one revolution (syn, after "Skylight": uncached writes take about one).
        synced: Synced { record_ms: 60_000.0 / 5425.0, record_bytes: 4 * MIB, pad_bytes: 0 },
        checkpoint: None,
    }
}

/// 256 MB of DRAM of which a part holds writes. With 32 MiB of them, blocks that are written again before they were put away take
/// 141 MB/s before the cliff of csurbhi's zipf load of 1 MiB, faster than the cache's 124, and its cliff from 28 to 37 GiB. An earlier
/// version of this model had 35 % of overwrites take their old slot instead, which gave the cliff and not the rate.
const BARRACUDA_CACHE: CacheParams = CacheParams { write_back: true, max_entries: 1_024, max_bytes: 32 * MIB, ..DRAM };

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
        foreground: Foreground::Measured { band_ms: 1_800.0, stale_ms: 0.0, stale_ms_per_mib: 0.0 },
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

/// The translation layer of ST8000AS0002. C 31.5 GiB and 0.82 MiB lost with each synced write: fitted to cliffs after 16.9, 22.5, 27.1 and
/// 27.8 GiB of synced chunks of 1, 2, 4 and 8 MiB (aicodix/smr). The same plots: a synced write takes 13.8 ms and 7.55 ms for each
/// MiB, 16.7 ms more at 8 MiB, as if a record held 4 MiB; a band 1.43 s; every 240th write 0.8 to 1.0 s. Bands 15 to 40 MiB, cleaned
/// while idle in 0.6 to 1.6 s from the first second on ("Skylight", FAST'15); streams of 8 MiB go straight into bands (FAST'17).
#[must_use]
pub fn archive_stl() -> CachedStlParams {
    CachedStlParams {
        cache_bytes: 63 * GIB / 2,
        // "Skylight" read 180 000 to 250 000 (syn).
        map_entries: 262_144,
        sets: 1,
        store: Store::Platter,
        // 7.55 ms a MiB.
        cache_rate: 138.9,
        cache_place: 1.0,
        // A log takes new space for all.
        overwrite_in_place: 0.0,
        band_bytes: 40 * MIB,
        // 15 would be that of the last tracks; 30 on average.
        inner_band_bytes: 20 * MIB,
        foreground: Foreground::Measured { band_ms: 1_430.0, stale_ms: 0.0, stale_ms_per_mib: 0.0 },
        background_ms: 1_000.0,
        idle_trigger_s: 1.0,
        stream_bytes: 8 * MIB,
        // Some fifteen times the rate of a conventional disk, 100 to 150 a second ("Skylight").
        append_ms: 0.6,
        synced: Synced { record_ms: 13.8, record_bytes: 4 * MIB, pad_bytes: 82 * MIB / 100 },
        checkpoint: Some(Checkpoint { every: 240, ms: 900.0 }),
    }
}

/// ST8000AS0002, sold as an archive disk: drive-managed, and does not say so. 187 to 201 MiB/s in order at the outer edge (aicodix/smr).
#[must_use]
pub fn dm_archive_8tb() -> Preset {
    let mut media = barracuda(15_628_053_168 * 512);
    media.rates = vec![(0.0, 204.0), (1.0, 104.0)];
    // No seek times were read: b 14 (syn).
    media.seek_stroke_ms = 14.0;
    media.revolution_ms = 60_000.0 / 5900.0;
    let label = Label {
        vendor: "Seagate",
        model: "ST8000AS0002 (simulated)",
        serial: "SIM-DM-0004",
        rotation: Rotation::Rpm(5900),
        zoned: ZonedField::NotReported,
    };
    let layers = (media, BARRACUDA_CACHE, TranslationParams::CachedStl(archive_stl()));
    disk("sim-dm-archive-8tb", "ST8000AS0002", label, InterfaceParams::SATA, layers)
}

/// The log of a WD40EFAX. Nothing of it was read: 2 % spare space, segments of 256 MiB, tidying after 5 s of rest are all (syn).
#[must_use]
pub fn red_stl() -> LogStlParams {
    LogStlParams {
        spare: 0.02,
        segment_bytes: 256 * MIB,
        gc_low: 0.25,
        gc_high: 0.75,
        idle_trigger_s: 5.0,
        append_ms: 1.0,
        prefilled: false,
        overload: None,
    }
}

/// WD40EFAX as it leaves its box: drive-managed, does not say so, takes TRIM. A log-structured disk shows nothing before its space
/// has been used once; what one does then, openzfs issues 10214 and 12799 tell.
#[must_use]
pub fn dm_red_4tb() -> Preset {
    // 7 814 037 168 sectors: the usual 4 TB.
    let mut media = barracuda(7_814_037_168 * 512);
    // 180 MB/s is the data sheet's class; the inner end by the usual ratio (syn).
    media.rates = vec![(0.0, 180.0), (1.0, 95.0)];
    media.revolution_ms = 60_000.0 / 5400.0;
    let label = Label {
        vendor: "WDC",
        model: "WD40EFAX (simulated)",
        serial: "SIM-DM-0005",
        rotation: Rotation::Rpm(5400),
        zoned: ZonedField::NotReported,
    };
    let layers = (media, BARRACUDA_CACHE, TranslationParams::LogStl(red_stl()));
    disk("sim-dm-red-4tb", "WD40EFAX, never filled", label, InterfaceParams::SATA, layers)
}
