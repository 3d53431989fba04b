//! Drives that would mislead a test: the presets with one thing changed.
//!
//! | name | what is changed | what is right to say |
//! |---|---|---|
//! | `sim-dm-8tb-honest` | says ZONED 2 | drive-managed |
//! | `sim-dm-8tb-usb` | behind a USB bridge | drive-managed |
//! | `sim-dm-8tb-vast` | a map of 1 000 000 entries, 100 GiB of cache: more than is ever filled | not plainly conventional |
//! | `sim-dm-8tb-sets` | a cache in 1 024 parts | drive-managed |
//! | `sim-dm-8tb-flash-cache` | the cache is flash | drive-managed |
//! | `sim-dm-archive-8tb-wce-off` | write cache off | drive-managed |
//! | `sim-dm-red-4tb-prefilled` | every block was written before | drive-managed |
//! | `sim-dm-red-4tb-idnf` | the same, and writes fail when it cannot keep up | drive-managed |
//! | `sim-dm-red-4tb-stalls` | the same, and it stands still for 35 s instead | drive-managed |
//! | `sim-ha-8tb-hidden` | host-aware, says nothing and shows no zones | drive-managed |
//! | `sim-cmr-14tb-stalls` | one movement in 200 takes 100 ms longer | conventional |
//! | `sim-cmr-14tb-failing` | 1 % of movements take 0.5 to 2 s longer | conventional, or undecided |
//! | `sim-cmr-14tb-flush` | a flush takes 100 ms longer while somebody reads; flushes share a sweep | conventional |
//! | `sim-cmr-14tb-two-arms` | two actuators | conventional |
//! | `sim-cmr-4tb-shared` | somebody else reads twenty times a second | conventional, or undecided |
//! | `sim-cmr-4tb-pretends` | write cache on, and a flush puts nothing away | conventional |
//!
//! The host-managed disk needs no variant to answer reads of empty zones without a head.

use super::{Inside, Preset, cmr_4tb, cmr_14tb, dm_8tb, dm_archive_8tb, dm_red_4tb, ha_8tb};
use crate::model::drive::ZonedField;
use crate::model::units::GIB;
use crate::sim::cache::{CacheParams, FlushParams};
use crate::sim::interface::InterfaceParams;
use crate::sim::load::CompetitorParams;
use crate::sim::media::MediaParams;
use crate::sim::noise::Hiccups;
use crate::sim::translation::{CachedStlParams, LogStlParams, Overload, OverloadAnswer, Store, TranslationParams};

/// Tidying up without a rest that a WD40EFAX stands, s (syn).
const OVERLOAD_AFTER_S: f64 = 120.0;
/// Share of its writes that then fail or stall (syn).
const OVERLOAD_SHARE: f64 = 0.01;
/// Longer than the 30 s that Linux gives a command, ms (openzfs 12799).
const OVERLOAD_STALL_MS: f64 = 35_000.0;

/// Every variant.
#[must_use]
pub fn variants() -> Vec<Preset> {
    let mut all = shingled();
    all.extend(conventional());
    all
}

fn shingled() -> Vec<Preset> {
    let mut honest = named(dm_8tb(), "sim-dm-8tb-honest", "SIM-DM-1001");
    honest.label.zoned = ZonedField::DriveManaged;
    let mut usb = named(dm_8tb(), "sim-dm-8tb-usb", "SIM-DM-1002");
    usb.interface = InterfaceParams::USB3_BOT;
    let vast = cached(named(dm_8tb(), "sim-dm-8tb-vast", "SIM-DM-1003"), |stl| {
        (stl.map_entries, stl.cache_bytes) = (1_000_000, 100 * GIB);
    });
    let sets = cached(named(dm_8tb(), "sim-dm-8tb-sets", "SIM-DM-1004"), |stl| stl.sets = 1_024);
    let flash = cached(named(dm_8tb(), "sim-dm-8tb-flash-cache", "SIM-DM-1005"), |stl| stl.store = Store::Flash);
    let off = disk(named(dm_archive_8tb(), "sim-dm-archive-8tb-wce-off", "SIM-DM-1006"), |_, cache| {
        cache.write_back = false;
    });
    let red = |name, serial, answer: Option<OverloadAnswer>| {
        let overload = answer.map(|answer| Overload { after_s: OVERLOAD_AFTER_S, share: OVERLOAD_SHARE, answer });
        log(named(dm_red_4tb(), name, serial), |stl| (stl.prefilled, stl.overload) = (true, overload))
    };
    let mut hidden = named(ha_8tb(), "sim-ha-8tb-hidden", "SIM-HA-1001");
    hidden.label.zoned = ZonedField::NotReported;
    hidden.zones = None;
    vec![
        honest,
        usb,
        vast,
        sets,
        flash,
        off,
        red("sim-dm-red-4tb-prefilled", "SIM-DM-1007", None),
        red("sim-dm-red-4tb-idnf", "SIM-DM-1008", Some(OverloadAnswer::IdNotFound)),
        red("sim-dm-red-4tb-stalls", "SIM-DM-1009", Some(OverloadAnswer::Stall(OVERLOAD_STALL_MS))),
        hidden,
    ]
}

fn conventional() -> Vec<Preset> {
    let stalls = disk(named(cmr_14tb(), "sim-cmr-14tb-stalls", "SIM-CMR-1001"), |media, _| {
        media.hiccups = Hiccups::STALLS;
    });
    let failing = disk(named(cmr_14tb(), "sim-cmr-14tb-failing", "SIM-CMR-1002"), |media, _| {
        media.hiccups = Hiccups::REALLOCATION;
    });
    let flush = disk(named(cmr_14tb(), "sim-cmr-14tb-flush", "SIM-CMR-1003"), |_, cache| {
        cache.flush = FlushParams { pretends: false, stall_ms: 100.0, merges: true };
    });
    let mut two_arms = disk(named(cmr_14tb(), "sim-cmr-14tb-two-arms", "SIM-CMR-1004"), |media, _| media.actuators = 2);
    two_arms.interface = InterfaceParams::SAS;
    let mut shared = named(cmr_4tb(), "sim-cmr-4tb-shared", "SIM-CMR-1005");
    // A third of its time (syn).
    shared.competitor = Some(CompetitorParams { reads_per_s: 20.0, len: 4_096 });
    let pretends = disk(named(cmr_4tb(), "sim-cmr-4tb-pretends", "SIM-CMR-1006"), |_, cache| {
        (cache.write_back, cache.flush.pretends) = (true, true);
    });
    vec![stalls, failing, flush, two_arms, shared, pretends]
}

fn named(preset: Preset, name: &'static str, serial: &'static str) -> Preset {
    let label = super::Label { serial, ..preset.label.clone() };
    Preset { name, label, ..preset }
}

fn disk(mut preset: Preset, change: impl FnOnce(&mut MediaParams, &mut CacheParams)) -> Preset {
    if let Inside::Disk { media, cache, .. } = &mut preset.inside {
        change(media, cache);
    }
    preset
}

fn cached(mut preset: Preset, change: impl FnOnce(&mut CachedStlParams)) -> Preset {
    if let Inside::Disk { translation: TranslationParams::CachedStl(stl), .. } = &mut preset.inside {
        change(stl);
    }
    preset
}

fn log(mut preset: Preset, change: impl FnOnce(&mut LogStlParams)) -> Preset {
    if let Inside::Disk { translation: TranslationParams::LogStl(stl), .. } = &mut preset.inside {
        change(stl);
    }
    preset
}
