//! Is the verdict right about drives that it has never seen? `cargo bench --bench fleet -- --drives N --seed S`.
//!
//! Runs `smr-quick` and the analysis over a population of simulated drives (`sim::population`), none of them a preset, and prints
//! the confusion table, every wrong answer with what that drive is, the times, and how far off each estimate is.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use drivescope::analysis::{self, Online};
use drivescope::model::approx::{f64_of, f64_of_len};
use drivescope::model::estimate::Quantity;
use drivescope::model::interval::{Interval, Sample};
use drivescope::model::plan::Plan;
use drivescope::model::profile::{Pace, Profile, Target, build};
use drivescope::model::recording::{Recording, RecordingState};
use drivescope::probe::control::Control;
use drivescope::probe::event::{EventSink, ProbeEvent};
use drivescope::probe::referee::Referee;
use drivescope::probe::run::carry_out;
use drivescope::probe::witness::NoWitness;
use drivescope::sim::population::{Class, Specimen, generate};
use drivescope::sim::{SimEngine, identity};
use serde_json::{Map, json};

/// What came of one drive.
struct Outcome {
    specimen: Specimen,
    verdict: Recording,
    drive_min: f64,
    cpu_s: f64,
    /// Estimates of the cache's bytes, the map's entries, and seconds a band.
    cache_bytes: Option<f64>,
    map_entries: Option<f64>,
    band_s: Option<f64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let (drives, seed) = (option("--drives").unwrap_or(200), option("--seed").unwrap_or(1));
    let only = option("--index");
    let next = AtomicU64::new(0);
    let outcomes = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= drives {
                        return;
                    }
                    if only.is_none_or(|only| only == index) {
                        let outcome = probe(generate(index, seed), seed);
                        outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|outcome| outcome.specimen.index);
    report(&outcomes, drives, seed);
}

/// The quick protocol on one drive, and what the analysis says of it.
fn probe(specimen: Specimen, seed: u64) -> Outcome {
    let began = Instant::now();
    let drive = identity::drive_of(&specimen.preset);
    let target = Target {
        capacity: drive.capacity_bytes,
        logical_block: drive.logical_block_bytes,
        pace: Pace::DISK,
        zones: None,
    };
    let built = build(Profile::SmrQuick, &Map::new(), target).unwrap();
    let plan = Plan {
        profile: Profile::SmrQuick,
        drive: drive.id,
        path: drive.path.clone(),
        destructive: true,
        bytes_to_write: None,
        estimated_s: 1,
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: built.interval_ms,
        randseed: built.randseed,
        losses: Vec::new(),
        confirm_phrase: None,
        notes: Vec::new(),
        phases: built.phases,
        tunables: BTreeMap::new(),
    };
    let mut engine = SimEngine::new(&specimen.preset, seed ^ specimen.index, None);
    let mut judge = Judge { online: Online::new(&plan), samples: Vec::new() };
    carry_out(&plan, &mut engine, Box::new(NoWitness), &Control::default(), &mut judge, &mut Nobody);
    let verdict = analysis::verdict(&drive, &plan, &judge.samples);
    let figures = analysis::estimates(&plan, &judge.samples, &[]);
    let the = |name: Quantity| figures.iter().find(|figure| figure.name == name).map(|figure| figure.value);
    let (cache_bytes, map_entries) = (the(Quantity::CacheBytes), the(Quantity::MapEntries));
    let band_s = the(Quantity::BandCleanS);
    let drive_min = drivescope::probe::engine::Engine::now(&engine).as_secs_f64() / 60.0;
    let cpu_s = began.elapsed().as_secs_f64();
    Outcome { specimen, verdict, drive_min, cpu_s, cache_bytes, map_entries, band_s }
}

/// The analysis beside the run, as the service has it.
struct Judge {
    online: Online,
    samples: Vec<Sample>,
}

impl Referee for Judge {
    fn admit(&mut self, phase: u32) -> Result<(), String> {
        self.online.admit(usize::try_from(phase).unwrap())
    }

    fn observe(&mut self, interval: &Interval) -> Option<String> {
        let sample = Sample::from(interval);
        self.samples.push(sample);
        self.online.observe(&sample)
    }
}

struct Nobody;

impl EventSink for Nobody {
    fn emit(&mut self, _event: ProbeEvent) {}
}

/// What a drive is, as the rows of the table have it.
fn row(specimen: &Specimen) -> &'static str {
    match (specimen.truth.class, specimen.truth.beyond_quick) {
        (Class::Conventional, _) => "conventional",
        (_, true) => "drive-managed, beyond the budget",
        (Class::DriveManagedCached, false) => "drive-managed, cached",
        (Class::DriveManagedLog, false) => "drive-managed, log",
    }
}

/// Whether the answer is right: what lies beyond the budget must not be shown, and nothing conventional called shingled.
fn is_right(outcome: &Outcome) -> bool {
    let state = outcome.verdict.state;
    match (outcome.specimen.truth.class.is_shingled(), outcome.specimen.truth.beyond_quick) {
        (true, false) => state == RecordingState::DriveManaged,
        (true, true) => matches!(state, RecordingState::NotShown | RecordingState::DriveManaged),
        (false, _) => matches!(state, RecordingState::Cmr | RecordingState::NotShown),
    }
}

fn report(outcomes: &[Outcome], drives: u64, seed: u64) {
    let states =
        [RecordingState::DriveManaged, RecordingState::Cmr, RecordingState::NotShown, RecordingState::Undecided];
    let mut table: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for outcome in outcomes {
        *table.entry(row(&outcome.specimen)).or_default().entry(outcome.verdict.state.as_str()).or_default() += 1;
    }
    println!("| truth | {} |", states.map(RecordingState::as_str).join(" | "));
    println!("|---|---|---|---|---|");
    for (truth, answers) in &table {
        let counts = states.map(|state| answers.get(state.as_str()).copied().unwrap_or(0).to_string());
        println!("| {truth} | {} |", counts.join(" | "));
    }
    for outcome in outcomes.iter().filter(|outcome| !is_right(outcome)) {
        let truth = &outcome.specimen.truth;
        println!("wrong: {} {:?} {}", outcome.specimen.index, outcome.verdict.state, outcome.verdict.sentence);
        println!("    {truth:?}");
    }
    if std::env::args().any(|argument| argument == "--list") {
        for outcome in outcomes {
            let truth = &outcome.specimen.truth;
            let ratio = |value: Option<f64>, truth: f64| value.map(|value| value / truth.max(f64::MIN_POSITIVE));
            println!(
                "{} {:.1} min, estimate over truth: bytes {:.3?} entries {:.3?} band {:.3?} {truth:?}",
                outcome.specimen.index,
                outcome.drive_min,
                ratio(outcome.cache_bytes, f64_of(truth.cache_bytes)),
                ratio(outcome.map_entries, f64_of(truth.map_entries)),
                ratio(outcome.band_s, truth.band_cost_s),
            );
        }
    }
    let shingled = |outcome: &&Outcome| outcome.specimen.truth.class.is_shingled();
    let within = |outcome: &&Outcome| !outcome.specimen.truth.beyond_quick;
    let is = |state: RecordingState| move |outcome: &&Outcome| outcome.verdict.state == state;
    let share = |part: usize, whole: usize| f64_of_len(part) / f64_of_len(whole.max(1));
    let to_find: Vec<&Outcome> = outcomes.iter().filter(shingled).filter(within).collect();
    let conventional: Vec<&Outcome> = outcomes.iter().filter(|outcome| !shingled(outcome)).collect();
    let found = to_find.iter().copied().filter(is(RecordingState::DriveManaged)).count();
    let accused = conventional.iter().copied().filter(is(RecordingState::DriveManaged)).count();
    let called_cmr = conventional.iter().copied().filter(is(RecordingState::Cmr)).count();
    let beyond_called_cmr = outcomes.iter().filter(shingled).filter(is(RecordingState::Cmr)).count();
    let undecided = outcomes.iter().filter(is(RecordingState::Undecided)).count();
    let off = |value: f64, truth: f64, by: f64| (value / truth.max(f64::MIN_POSITIVE) - 1.0).abs() <= by;
    // What was estimated at all, of drives that have it.
    let cached: Vec<&Outcome> =
        outcomes.iter().filter(|outcome| outcome.specimen.truth.class == Class::DriveManagedCached).collect();
    let hits = |estimate: fn(&Outcome) -> Option<f64>, truth: fn(&Outcome) -> f64, by: f64| -> Vec<bool> {
        cached.iter().filter_map(|outcome| Some(off(estimate(outcome)?, truth(outcome), by))).collect()
    };
    let by_bytes = hits(|one| one.cache_bytes, |one| f64_of(one.specimen.truth.cache_bytes), 0.10);
    let by_entries = hits(|one| one.map_entries, |one| f64_of(one.specimen.truth.map_entries), 0.05);
    let by_band = hits(|one| one.band_s, |one| one.specimen.truth.band_cost_s, 0.25);
    let minutes = |outcomes: &[&Outcome], share: f64| {
        let mut minutes: Vec<f64> = outcomes.iter().map(|outcome| outcome.drive_min).collect();
        minutes.sort_unstable_by(f64::total_cmp);
        let last = f64_of_len(minutes.len().saturating_sub(1));
        minutes.get(drivescope::model::approx::usize_of(last * share)).copied().unwrap_or(0.0)
    };
    let caught: Vec<&Outcome> = to_find.iter().copied().filter(is(RecordingState::DriveManaged)).collect();
    let right = |hits: &[bool]| share(hits.iter().filter(|hit| **hit).count(), hits.len());
    let round = |value: f64| (value * 1e4).round() / 1e4;
    let cpu_s: f64 = outcomes.iter().map(|outcome| outcome.cpu_s).sum();
    println!(
        "{}",
        json!({
            "bench": "fleet", "drives": drives, "seed": seed,
            "dm_recall": round(share(found, to_find.len())),
            "cmr_called_smr": round(share(accused, conventional.len())),
            "smr_called_cmr": beyond_called_cmr,
            "cmr_called_cmr": round(share(called_cmr, conventional.len())),
            "undecided": round(share(undecided, outcomes.len())),
            "cmr_median_min": round(minutes(&conventional, 0.5)), "cmr_p95_min": round(minutes(&conventional, 0.95)),
            "dm_median_min": round(minutes(&caught, 0.5)), "dm_p95_min": round(minutes(&caught, 0.95)),
            "cache_bytes_within_10pct": round(right(&by_bytes)), "map_entries_within_5pct": round(right(&by_entries)),
            "band_cost_within_25pct": round(right(&by_band)),
            "estimated": [by_bytes.len(), by_entries.len(), by_band.len()],
            "cpu_s_per_drive": round(cpu_s / f64_of_len(outcomes.len().max(1))),
        })
    );
}
