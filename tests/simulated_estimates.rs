//! Estimates against the truth: profiles carried out on simulated drives by the real driver and recorder, and every figure held
//! against the parameter of the preset that it estimates.
#![allow(clippy::unwrap_used, clippy::panic)]

use drivescope::analysis::estimate::limits;
use drivescope::analysis::{Online, estimates};
use drivescope::model::approx::f64_of;
use drivescope::model::estimate::{Estimate, Quantity};
use drivescope::model::interval::{Interval, Sample};
use drivescope::model::plan::Plan;
use drivescope::model::profile::{Pace, Profile, Target, TargetZones, build};
use drivescope::model::tunable::{Tunable, WRITE_BACK};
use drivescope::model::units::{GIB, KIB, MIB};
use drivescope::model::{Bytes, Nanos};
use drivescope::probe::control::Control;
use drivescope::probe::event::{EventSink, ProbeEvent};
use drivescope::probe::referee::Referee;
use drivescope::probe::run::{Outcome, carry_out};
use drivescope::probe::witness::NoWitness;
use drivescope::sim::preset::{Inside, Preset};
use drivescope::sim::translation::{CachedStlParams, Foreground, TranslationParams};
use drivescope::sim::{CacheSwitch, SimEngine, identity, preset};
use serde_json::{Value, json};

/// The analysis, and the switch of the drive's cache, set for each phase as a job does.
struct Judge<'a>(Online, &'a Plan, Option<CacheSwitch>);

impl Referee for Judge<'_> {
    fn admit(&mut self, phase: u32) -> Result<(), String> {
        let index = usize::try_from(phase).unwrap();
        if let Some(switch) = &self.2 {
            let wanted = self.1.phases[index].tunables.get(&Tunable::CacheType);
            switch.set(wanted.map_or(switch.found(), |wanted| wanted == WRITE_BACK));
        }
        self.0.admit(index)
    }

    fn observe(&mut self, interval: &Interval) -> Option<String> {
        self.0.observe(&Sample::from(interval))
    }
}

/// Keeps what a store would keep: samples, and each phase's sums.
#[derive(Default)]
struct Kept {
    samples: Vec<Sample>,
    totals: Vec<Interval>,
}

impl EventSink for Kept {
    fn emit(&mut self, event: ProbeEvent) {
        match event {
            ProbeEvent::Interval(interval) => {
                self.samples.push(Sample::from(interval.as_ref()));
                match self.totals.iter_mut().find(|total| total.phase == interval.phase) {
                    Some(total) => total.extend(&interval),
                    None => self.totals.push(*interval),
                }
            }
            ProbeEvent::PhaseEnded { phase, sums, .. } => {
                if let Some(total) = self.totals.iter_mut().find(|total| total.phase == phase) {
                    (total.read, total.write, total.zone_ops) = (sums.read, sums.write, sums.zone_ops);
                }
            }
            _ => {}
        }
    }
}

fn zones_of(preset: &Preset) -> Option<TargetZones> {
    let zones = preset.zones.as_ref()?;
    let first = zones.conventional * zones.zone_bytes;
    Some(TargetZones {
        usable: u32::try_from((preset.capacity() - first) / zones.zone_bytes).unwrap(),
        zone_bytes: Bytes(zones.zone_bytes),
        zone_capacity_bytes: Bytes(zones.zone_capacity),
        first_bytes: Bytes(first),
        max_open: Some(u32::try_from(zones.max_open).unwrap()),
        write_block: 4096,
        only_at_pointers: preset.name != "sim-ha-8tb",
    })
}

/// A whole run of `profile` on a drive of `preset`, and what it estimates.
fn run(preset: &Preset, profile: Profile, parameters: Value) -> Vec<Estimate> {
    let drive = identity::drive_of(preset);
    let Value::Object(parameters) = parameters else { panic!("an object") };
    let zones = (profile == Profile::Zones).then(|| zones_of(preset)).flatten();
    let target =
        Target { capacity: drive.capacity_bytes, logical_block: preset.logical_block, pace: Pace::DISK, zones };
    let built = build(profile, &parameters, target).unwrap();
    let plan = Plan {
        profile,
        drive: drive.id,
        path: drive.path.clone(),
        phases: built.phases,
        destructive: true,
        bytes_to_write: None,
        estimated_s: 0,
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: built.interval_ms,
        randseed: built.randseed,
        losses: Vec::new(),
        confirm_phrase: None,
        notes: Vec::new(),
        tunables: std::collections::BTreeMap::new(),
    };
    let mut engine = SimEngine::new(preset, 1, None);
    let mut kept = Kept::default();
    let mut judge = Judge(Online::new(&plan), &plan, engine.cache());
    let outcome = carry_out(&plan, &mut engine, Box::new(NoWitness), &Control::default(), &mut judge, &mut kept);
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let found = estimates(&plan, &kept.samples, &kept.totals);
    println!(
        "{} on {}, {} simulated:",
        profile.as_str(),
        preset.name,
        kept.samples.last().map_or(Nanos(0), |last| last.t)
    );
    for figure in &found {
        let of = figure.of.as_deref().unwrap_or_default();
        println!(
            "   {:?} {:.4} [{:?}, {:?}] {of} | {}",
            figure.name, figure.value, figure.low, figure.high, figure.how
        );
        assert!(figure.low.is_none_or(|low| low <= figure.value), "{figure:?}");
        assert!(figure.high.is_none_or(|high| figure.value <= high), "{figure:?}");
        assert!(!figure.phases.is_empty() && figure.how.ends_with('.'), "{figure:?}");
    }
    found
}

fn the(figures: &[Estimate], name: Quantity) -> &Estimate {
    figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name:?} was not estimated"))
}

/// Holds a figure against the truth, and prints both.
fn near(figures: &[Estimate], name: Quantity, truth: f64, percent: f64) {
    let figure = the(figures, name);
    let off = (figure.value / truth - 1.0) * 100.0;
    let within = if figure.holds(truth) { "holds it" } else { "misses it" };
    println!("== {name:?}: {:.4}, true {truth:.4}, {off:+.1} %, interval {within}", figure.value);
    assert!(off.abs() <= percent, "{name:?}: {figure:?}, true {truth}");
}

fn stl(preset: &Preset) -> &CachedStlParams {
    match &preset.inside {
        Inside::Disk { translation: TranslationParams::CachedStl(stl), .. } => stl,
        _ => panic!("a cached translation layer"),
    }
}

/// To clean a band while a write waits, seconds.
fn foreground_s(stl: &CachedStlParams) -> f64 {
    match stl.foreground {
        Foreground::Measured { band_ms, .. } => band_ms / 1e3,
        Foreground::Rewrite { .. } => panic!("a band that was measured"),
    }
}

#[test]
fn the_cliff_of_a_shingled_disk_and_what_cleaning_costs_are_estimated() {
    for preset in [preset::dm_8tb(), preset::dm_14tb(), preset::ha_8tb(), preset::dm_3tb()] {
        // Hardly any large writes: the small ones then fill the map.
        let figures = run(&preset, Profile::SmrQuick, json!({ "large_bytes": "16m" }));
        let truth = stl(&preset);
        let entries = f64_of(truth.map_entries);
        near(&figures, Quantity::CliffIos, entries, 5.0);
        near(&figures, Quantity::CliffBytes, entries * 4096.0, 5.0);
        near(&figures, Quantity::MapEntries, entries, 5.0);
        near(&figures, Quantity::BandCleanS, foreground_s(truth), 25.0);
        assert!(the(&figures, Quantity::BandCleanS).holds(foreground_s(truth)));
        assert!(the(&figures, Quantity::RhoRatio).high.unwrap() < 0.3);
        // A slow drive is still emptying its memory when the rest is over: then nothing is said.
        let trigger = figures.iter().find(|figure| figure.name == Quantity::IdleTriggerS);
        assert!(trigger.is_none_or(|figure| figure.holds(truth.idle_trigger_s)), "{trigger:?}");
    }
}

#[test]
fn a_drive_that_cleans_soon_has_room_again_after_a_rest() {
    let mut preset = preset::dm_8tb();
    if let Inside::Disk { translation: TranslationParams::CachedStl(stl), .. } = &mut preset.inside {
        stl.idle_trigger_s = 1.0;
    }
    let figures = run(&preset, Profile::SmrQuick, json!({ "idle_s": 600 }));
    let truth = stl(&preset);
    assert!(the(&figures, Quantity::IdleTriggerS).holds(truth.idle_trigger_s));
    // Bands cleaned in that time: of 49 000 blocks in 700 000 bands hardly two lie in one.
    let blocks = 1.06 * 590.0 / (truth.background_ms / 1e3);
    near(&figures, Quantity::RecoveredIos, blocks, 25.0);
}

#[test]
fn several_block_sizes_split_the_map_from_the_cache() {
    let preset = preset::dm_8tb();
    let mut cliffs = Vec::new();
    for bs in [4 * KIB, 64 * KIB, MIB / 2] {
        let figures = run(&preset, Profile::SmrQuick, json!({ "small_bs": bs, "idle_s": 0, "large_bytes": "16m" }));
        near(
            &figures,
            Quantity::CliffBytes,
            (f64_of(stl(&preset).map_entries * bs)).min(f64_of(stl(&preset).cache_bytes)),
            5.0,
        );
        cliffs.extend(figures);
    }
    let limits = limits::of(&cliffs);
    near(&limits, Quantity::MapEntries, f64_of(stl(&preset).map_entries), 5.0);
    near(&limits, Quantity::CacheBytes, f64_of(stl(&preset).cache_bytes), 10.0);
}

#[test]
fn an_inspection_tells_rates_radii_and_the_turn_of_the_platter() {
    for preset in preset::shown() {
        let figures = run(&preset, Profile::Inspect, json!({}));
        let Inside::Disk { media, .. } = &preset.inside else {
            for absent in [Quantity::RevolutionMs, Quantity::OuterBytesPerS, Quantity::TransportBytesPerS] {
                assert!(figures.iter().all(|figure| figure.name != absent), "{absent:?} of flash");
            }
            continue;
        };
        // Zones that were never written answer without a medium.
        if preset.zones.is_some() {
            continue;
        }
        near(&figures, Quantity::RevolutionMs, media.revolution_ms, 5.0);
        near(&figures, Quantity::InnerBytesPerS, media.rates.last().unwrap().1 * 1e6, 5.0);
        let outer = media.rates[0].1 * 1e6;
        let way = preset.interface.bytes_per_s;
        if outer < way {
            near(&figures, Quantity::OuterBytesPerS, outer, 5.0);
            near(&figures, Quantity::RadiusRatio, media.rates.last().unwrap().1 * 1e6 / outer, 5.0);
        } else {
            near(&figures, Quantity::TransportBytesPerS, way, 5.0);
            assert!(the(&figures, Quantity::OuterBytesPerS).holds(outer));
        }
    }
}

#[test]
fn nothing_shingled_is_estimated_of_a_conventional_disk() {
    let figures = run(&preset::cmr_14tb(), Profile::SmrQuick, json!({}));
    for absent in
        [Quantity::CliffIos, Quantity::BandCleanS, Quantity::MapEntries, Quantity::SlowRatio, Quantity::SlcBytes]
    {
        assert!(figures.iter().all(|figure| figure.name != absent), "{absent:?}");
    }
    assert!(the(&figures, Quantity::RhoRatio).low.unwrap() > 0.8);
}

#[test]
fn the_fast_cells_of_an_ssd_are_told_from_shingling() {
    let preset = preset::ssd_1tb();
    let figures = run(&preset, Profile::SmrQuick, json!({}));
    let Inside::Flash { flash, .. } = &preset.inside else { panic!("flash") };
    near(&figures, Quantity::SlcBytes, f64_of(flash.slc_bytes), 10.0);
    assert!(figures.iter().all(|figure| figure.name != Quantity::CliffIos));
}

#[test]
fn sweeps_tell_the_block_size_the_depth_and_the_cache() {
    let preset = preset::cmr_4tb();
    let figures = run(&preset, Profile::BlockSizeSweep, json!({ "rw": "randread", "phase_s": 30 }));
    let Inside::Disk { media, .. } = &preset.inside else { panic!("a disk") };
    // Mean over the radius, as the blocks lie anywhere; s0 = R·T with a mean seek of 8/15 of the stroke's and half a turn.
    let rate = (media.rates[0].1 - media.rates[1].1) * 1e6 / (media.rates[0].1 / media.rates[1].1).ln();
    let position_ms =
        media.seek_settle_ms + media.seek_stroke_ms * 8.0 / 15.0 + media.revolution_ms / 2.0 + media.overhead_ms;
    near(&figures, Quantity::SaturationBytesPerS, rate, 10.0);
    near(&figures, Quantity::HalfRateBytes, rate * position_ms / 1e3, 15.0);
    near(&figures, Quantity::NinetyPercentBytes, 9.0 * rate * position_ms / 1e3, 15.0);
    let figures = run(&preset, Profile::QueueDepthSweep, json!({ "depths": "1,4,32", "phase_s": 30 }));
    // 66 to 233 IOPS of a WD140EDFZ, whose gain this preset has.
    let uniform: Vec<_> =
        figures.into_iter().filter(|figure| figure.of.as_deref().unwrap().contains("random,")).collect();
    near(&uniform, Quantity::QueueGainRatio, 233.0 / 66.0, 15.0);
    let usb = run(&preset::cmr_14tb(), Profile::QueueDepthSweep, json!({ "depths": "1,16", "phase_s": 30 }));
    assert!(the(&usb, Quantity::QueueGainRatio).how.contains("only one through"));
}

#[test]
fn zones_tell_what_opening_costs_and_how_many_to_keep_open() {
    let preset = preset::ha_8tb();
    let truth = preset.zones.unwrap();
    let figures = run(&preset, Profile::Zones, json!({ "open_zones": "1,2,4", "phase_s": 120 }));
    near(&figures, Quantity::ZoneOpenMs, truth.open_ms, 5.0);
    near(&figures, Quantity::ZoneCloseMs, truth.close_ms, 5.0);
    near(&figures, Quantity::ExplicitZoneS, (truth.open_ms + truth.close_ms) / 1e3, 15.0);
    // Five times as long, as the Ceph list read of such a drive: 0:34 against 0:07, 6:41 against 1:11.
    near(&figures, Quantity::ExplicitRatio, 5.0, 30.0);
    let managed = preset::hm_15tb();
    let truth = managed.zones.unwrap();
    let figures = run(&managed, Profile::Zones, json!({ "open_zones": "1,2,4,8", "phase_s": 30 }));
    near(&figures, Quantity::ZoneResetMs, truth.reset_ms, 10.0);
    near(&figures, Quantity::ZoneFinishMs, truth.finish_ms, 10.0);
    near(&figures, Quantity::ZoneReportMs, truth.report_ms, 10.0);
    near(&figures, Quantity::ZoneCloseMs, truth.close_ms, 10.0);
    // It waits for the writes that the drive still holds in its memory.
    assert!(the(&figures, Quantity::ZoneOpenMs).value >= truth.open_ms);
    assert!(the(&figures, Quantity::OpenZones).value >= 1.0);
}

#[test]
fn a_write_cache_and_its_flushes_are_weighed() {
    // 490 writes a second at QD1 with the cache on (fio list); with it off each waits for its place.
    let preset = preset::cmr_14tb();
    let figures = run(&preset, Profile::WriteCache, json!({ "phase_s": 60 }));
    let Inside::Disk { media, .. } = &preset.inside else { panic!("a disk") };
    // Off, the media cache takes it: 0.45 of a turn each, and what the bridge adds.
    let off = 1_000.0 / (0.45 * media.revolution_ms);
    near(&figures, Quantity::CacheGainRatio, 490.0 / off, 15.0);
    assert!(the(&figures, Quantity::FlushCostRatio).low.unwrap() > 3.0);
}

#[test]
fn a_rebuild_and_a_fill_are_timed() {
    let mut preset = preset::cmr_14tb();
    if let Inside::Disk { media, .. } = &mut preset.inside {
        media.capacity = 200 * GIB;
    }
    let figures = run(&preset, Profile::Rebuild, json!({ "rebuild_bytes": "20g" }));
    assert!(the(&figures, Quantity::RebuildBytesPerS).value > 10e6);
    let figures =
        run(&preset, Profile::SmrFull, json!({ "baseline_s": 30, "large_s": 60, "random_s": 120, "idle_s": 10 }));
    let Inside::Disk { media, .. } = &preset.inside else { panic!("a disk") };
    // Bytes over time between 160 MiB/s of the link and the slope of the platter, 211 to 100 MB/s: half of it is capped.
    let (rates, way) = (&media.rates, preset.interface.bytes_per_s);
    let time: f64 = (0..1_000)
        .map(|step| {
            let at = (f64::from(step) + 0.5) / 1_000.0;
            1.0 / ((rates[0].1 + (rates[1].1 - rates[0].1) * at) * 1e6).min(way)
        })
        .sum();
    near(&figures, Quantity::FillBytesPerS, 1_000.0 / time, 10.0);
}
