//! Thousands of drives around and between the presets, with the truth beside each: what a verdict is measured against.
//!
//! [`generate`] is a function of index and seed alone, so that any one of them can be made again. Ranges are constants at the top, with
//! where they come from; most are wider than what was measured, on purpose. A specimen goes through a run like any preset:
//! `SimEngine::new(&specimen.preset, seed, None)`.

mod draw;
mod truth;

pub use truth::{Class, Disturbance, QUICK_LARGE_BYTES, QUICK_LIMIT_S, QUICK_SMALL_WRITES, Truth};

use draw::Draw;

use super::cache::CacheParams;
use super::interface::InterfaceParams;
use super::load::CompetitorParams;
use super::media::MediaParams;
use super::noise::Hiccups;
use super::preset::{self, DRAM, Inside, Label, Preset};
use super::translation::{
    CachedStlParams, Checkpoint, Foreground, LogStlParams, MediaCacheParams, Store, Synced, TranslationParams,
};
use crate::model::approx::{u64_of, usize_of};
use crate::model::drive::{Rotation, ZonedField};
use crate::model::units::{GIB, MIB};

/// Capacities, decimal TB: from the smallest disks that were shingled (2.5 inch) to those of 2024.
const CAPACITY_TB: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 14.0, 20.0];
/// Revolutions a minute: between the slowest and the fastest that is sold for data.
const RPM: (f64, f64) = (4_200.0, 7_200.0);
/// Outer rate, MB/s: 140 (Canvio) to 298 (HC580), and lower for 2.5 inch (syn).
const OUTER_RATE: (f64, f64) = (110.0, 300.0);
/// Inner rate as a share of it: 1.7 to 1.9 to one on disks that were read (csurbhi), wider here.
const INNER_SHARE: (f64, f64) = (0.45, 0.62);
/// Shortest seek, ms, and full stroke, ms: 1.0 and 9.75 (HUS726040ALE614) to 1.5 and 17.7 (WD140EDFZ), wider here.
const SETTLE_MS: (f64, f64) = (0.8, 2.5);
/// See [`SETTLE_MS`].
const STROKE_MS: (f64, f64) = (9.0, 22.0);
/// Standard deviation of ln(service time): 0.05 (WD140EMFZ) to 0.12 (csurbhi).
const NOISE_SD: (f64, f64) = (0.04, 0.13);
/// Dirty entries of the DRAM cache: 405 was solved for WD140EMFZ; older disks hold fewer (syn).
const DRAM_ENTRIES: (f64, f64) = (32.0, 2_048.0);
/// Dirty bytes, MiB: 34 was solved for WD140EMFZ (syn around it).
const DRAM_MIB: (f64, f64) = (8.0, 128.0);
/// Cache area, GiB: 20 to 48 were measured ("Skylight", csurbhi), far wider here.
const CACHE_GIB: (f64, f64) = (1.0, 150.0);
/// Map entries: 180 000 to 369 000 were measured; powers of two from 2^16 to 2^21 lie around them.
const MAP_ENTRIES: (f64, f64) = (65_536.0, 2_097_152.0);
/// Rate of the cache area, MB/s: 70 (Canvio) to 139 (ST8000AS0002), wider here.
const CACHE_RATE: (f64, f64) = (60.0, 180.0);
/// Bands, MiB: 15 to 40 were measured ("Skylight"); a zone of 256 is the largest there is.
const BAND_MIB: (f64, f64) = (8.0, 256.0);
/// A band at the inner edge as a share of one at the outer: 17 of 36 MiB on ST5000AS0011 ("Skylight").
const INNER_BAND: (f64, f64) = (0.45, 1.0);
/// To clean a band while a write waits, ms: 158 (csurbhi) to 1 800 (Canvio).
const FOREGROUND_MS: (f64, f64) = (120.0, 2_500.0);
/// To clean a band while idle, ms: 340 (Canvio) to 1 600 ("Skylight").
const BACKGROUND_MS: (f64, f64) = (250.0, 2_000.0);
/// Idle for so long, it begins to clean, s: 1 ("Skylight") to 10 700 (csurbhi), wider here.
const IDLE_TRIGGER_S: (f64, f64) = (0.5, 14_400.0);
/// Least time of one append, ms: 0.34 (csurbhi) to 21.5 (Canvio).
const APPEND_MS: (f64, f64) = (0.2, 25.0);
/// Share of overwrites in the old slot: 0.35 was fitted, 0 is a log.
const OVERWRITE_IN_PLACE: [f64; 3] = [0.0, 0.35, 0.9];
/// Parts of a set-associative cache (syn; the emulated drives of "Skylight" had one for each cache band).
const SETS: (f64, f64) = (16.0, 2_048.0);
/// Spare space of a log-structured disk: no figure is known; 1 to 7 % (syn).
const SPARE: (f64, f64) = (0.01, 0.07);
/// Media cache of a conventional disk, GiB, and its blocks: neither was read anywhere (syn).
const MEDIA_CACHE_GIB: (f64, f64) = (0.5, 20.0);
/// See [`MEDIA_CACHE_GIB`].
const MEDIA_CACHE_ENTRIES: (f64, f64) = (20_000.0, 500_000.0);
/// To append to it, revolutions: 0.45 was fitted to HUS726040ALE614.
const MEDIA_CACHE_REVOLUTIONS: (f64, f64) = (0.3, 1.1);
/// What a USB bridge lets through, MB/s: 32 (USB 2) to 168 (fio list, 2020), and faster ones.
const USB_MB_PER_S: (f64, f64) = (32.0, 400.0);
/// Reads of somebody else a second; few enough that the drive is theirs for at most half of the time (syn).
const COMPETING_READS: (f64, f64) = (1.0, 25.0);

/// One drive that does not exist, and what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Specimen {
    /// Its place in the population.
    pub index: u64,
    /// To simulate. All specimens of a kind have one name; tell them apart by the index.
    pub preset: Preset,
    /// What a verdict should come to.
    pub truth: Truth,
}

/// The specimen with this index of the population with this seed. Of a hundred some 45 are drive-managed with a cache area, 10
/// log-structured, 45 conventional.
#[must_use]
pub fn generate(index: u64, seed: u64) -> Specimen {
    let mut draw = Draw::of(index, seed);
    let media = media(&mut draw);
    let cache = CacheParams {
        write_back: true,
        max_entries: usize_of(draw.log(DRAM_ENTRIES)),
        max_bytes: u64_of(draw.log(DRAM_MIB)) * MIB,
        ..DRAM
    };
    let kind = draw.uniform();
    let (name, translation) = if kind < 0.45 {
        ("sim-population-cached", TranslationParams::CachedStl(cached(&mut draw, &media)))
    } else if kind < 0.55 {
        ("sim-population-log", TranslationParams::LogStl(log(&mut draw)))
    } else if kind < 0.80 {
        ("sim-population-media-cache", TranslationParams::MediaCache(media_cache(&mut draw)))
    } else {
        ("sim-population-plain", TranslationParams::None)
    };
    let label = Label {
        vendor: "Drivescope",
        model: "Specimen (simulated)",
        serial: "SIM-POPULATION",
        rotation: Rotation::Rpm(5_400),
        zoned: ZonedField::NotReported,
    };
    let inside = Inside::Disk { media, cache, translation };
    let mut preset = Preset {
        name,
        after: "no drive: drawn at random",
        label,
        logical_block: 512,
        interface: InterfaceParams::SATA,
        zones: None,
        competitor: None,
        inside,
    };
    let disturbances = disturb(&mut draw, &mut preset);
    let truth = Truth::of(&preset, disturbances);
    Specimen { index, preset, truth }
}

fn media(draw: &mut Draw) -> MediaParams {
    let outer = draw.between(OUTER_RATE);
    // As many blocks of 4 KiB as fit.
    let capacity = u64_of(draw.one_of(&CAPACITY_TB) * 1e12) / 4_096 * 4_096;
    MediaParams {
        capacity,
        rates: vec![(0.0, outer), (1.0, outer * draw.between(INNER_SHARE))],
        seek_settle_ms: draw.between(SETTLE_MS),
        seek_stroke_ms: draw.between(STROKE_MS),
        revolution_ms: 60_000.0 / draw.between(RPM),
        overhead_ms: 0.05,
        read_gain: preset::READ_GAIN,
        drain_gain: preset::DRAIN_GAIN,
        noise_sd: draw.between(NOISE_SD),
        hiccups: Hiccups::RECALIBRATION,
        actuators: if draw.chance(0.03) { 2 } else { 1 },
    }
}

fn cached(draw: &mut Draw, media: &MediaParams) -> CachedStlParams {
    // No more than a twentieth of the drive; about 1 % was measured.
    let most = media.capacity / 20;
    let band_bytes = u64_of(draw.log(BAND_MIB)) * MIB;
    let foreground = if draw.chance(0.5) {
        Foreground::Rewrite { share: draw.one_of(&[0.5, 1.0]) }
    } else {
        Foreground::Measured { band_ms: draw.log(FOREGROUND_MS), stale_ms: 0.0, stale_ms_per_mib: 0.0 }
    };
    CachedStlParams {
        cache_bytes: u64_of(draw.log(CACHE_GIB) * 1_024.0).saturating_mul(MIB).min(most.max(GIB)),
        map_entries: u64_of(draw.log(MAP_ENTRIES)),
        sets: if draw.chance(0.25) { usize_of(draw.log(SETS)) } else { 1 },
        store: if draw.chance(0.1) { Store::Flash } else { Store::Platter },
        cache_rate: draw.between(CACHE_RATE),
        cache_place: draw.one_of(&[0.0, 0.5, 1.0]),
        overwrite_in_place: draw.one_of(&OVERWRITE_IN_PLACE),
        band_bytes,
        inner_band_bytes: u64_of(draw.between(INNER_BAND) * 64.0) * (band_bytes / 64),
        foreground,
        background_ms: draw.log(BACKGROUND_MS),
        idle_trigger_s: draw.log(IDLE_TRIGGER_S),
        stream_bytes: 8 * MIB,
        append_ms: draw.log(APPEND_MS),
        synced: Synced {
            record_ms: media.revolution_ms * draw.between((1.0, 1.5)),
            record_bytes: 4 * MIB,
            pad_bytes: u64_of(draw.between((0.0, 1.0)) * 1_024.0) * 1_024,
        },
        checkpoint: draw.chance(0.3).then_some(Checkpoint { every: 240, ms: 900.0 }),
    }
}

fn log(draw: &mut Draw) -> LogStlParams {
    LogStlParams { spare: draw.log(SPARE), prefilled: draw.chance(0.5), ..preset::red_stl() }
}

fn media_cache(draw: &mut Draw) -> MediaCacheParams {
    MediaCacheParams {
        cache_bytes: u64_of(draw.log(MEDIA_CACHE_GIB) * 1_024.0) * MIB,
        max_entries: u64_of(draw.log(MEDIA_CACHE_ENTRIES)),
        append_revolutions: draw.between(MEDIA_CACHE_REVOLUTIONS),
        ..preset::media_cache()
    }
}

/// What makes it harder to tell. Each comes by itself, so some specimens have several.
fn disturb(draw: &mut Draw, preset: &mut Preset) -> Vec<Disturbance> {
    let mut found = Vec::new();
    let Inside::Disk { media, cache, translation } = &mut preset.inside else { return found };
    if draw.chance(0.25) {
        preset.interface = InterfaceParams { bytes_per_s: draw.log(USB_MB_PER_S) * 1e6, ..InterfaceParams::USB3_BOT };
        found.push(Disturbance::Usb);
    }
    if draw.chance(0.15) {
        cache.write_back = false;
        found.push(Disturbance::WriteCacheOff);
    }
    if draw.chance(0.05) {
        cache.flush.pretends = true;
        found.push(Disturbance::PretendsToFlush);
    }
    if draw.chance(0.05) {
        media.hiccups = Hiccups::REALLOCATION;
        found.push(Disturbance::Failing);
    } else if draw.chance(0.05) {
        media.hiccups = Hiccups::STALLS;
        found.push(Disturbance::Stalls);
    }
    if draw.chance(0.15) {
        let reads_per_s = draw.log(COMPETING_READS);
        preset.competitor = Some(CompetitorParams { reads_per_s, len: 4_096 });
        found.push(Disturbance::CompetingReader);
    }
    let shingled = matches!(translation, TranslationParams::CachedStl(_) | TranslationParams::LogStl(_));
    if shingled && draw.chance(0.1) {
        preset.label.zoned = ZonedField::DriveManaged;
        found.push(Disturbance::Honest);
    }
    found
}

#[cfg(test)]
mod tests;
