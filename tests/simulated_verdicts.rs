//! Whole runs of `smr-quick` against simulated drives, from the phases of the profile to the verdict.
//!
//! The driver here is the least that can carry out a phase; the real one is `probe/driver`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use drivescope::analysis::{Online, combine, verdict};
use drivescope::model::approx::f64_of;
use drivescope::model::drive::{Drive, ZonedField};
use drivescope::model::histogram::Precision;
use drivescope::model::interval::{Interval, Sample, Tally};
use drivescope::model::plan::{Action, PhaseRole, Plan};
use drivescope::model::profile::{Pace, Profile, Target, build};
use drivescope::model::recording::{Basis, Recording, RecordingState};
use drivescope::model::units::GIB;
use drivescope::model::workload::{Rw, Workload};
use drivescope::model::{Bytes, Nanos};
use drivescope::probe::engine::{Completion, Engine, Io, Op, Source, Step};
use drivescope::sim::interface::InterfaceParams;
use drivescope::sim::preset::{Inside, Preset};
use drivescope::sim::translation::TranslationParams;
use drivescope::sim::{SimEngine, identity, preset};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// One phase as a source, one sample a second, judged as it goes.
struct PhaseSource<'a> {
    index: u32,
    workload: Option<Workload>,
    runtime: Option<Nanos>,
    began: Nanos,
    period_began: Nanos,
    issued: u64,
    random: Xoshiro256PlusPlus,
    read: Tally,
    write: Tally,
    errors: u64,
    online: &'a mut Online,
    samples: &'a mut Vec<Sample>,
    stop: Option<String>,
}

impl PhaseSource<'_> {
    fn close(&mut self, now: Nanos) {
        let empty = || Tally::new(Precision::Interval);
        let seq = u64::try_from(self.samples.len()).unwrap() + 1;
        let interval = Interval {
            read: std::mem::replace(&mut self.read, empty()),
            write: std::mem::replace(&mut self.write, empty()),
            errors: std::mem::take(&mut self.errors),
            ..Interval::empty(seq, self.index, now, now - self.period_began)
        };
        let sample = Sample::from(&interval);
        self.samples.push(sample);
        if let Some(reason) = self.online.observe(&sample) {
            self.stop.get_or_insert(reason);
        }
        self.period_began = now;
    }
}

impl Source for PhaseSource<'_> {
    fn next(&mut self, now: Nanos) -> Step {
        if self.stop.is_some() || self.runtime.is_some_and(|runtime| now - self.began >= runtime) {
            return Step::Finished;
        }
        let Some(workload) = &self.workload else {
            return Step::Wait(self.began + self.runtime.unwrap());
        };
        let bs = workload.bs.0;
        let done = self.issued >= workload.number_ios.unwrap_or(u64::MAX)
            || self.issued * bs >= workload.io_size_bytes.map_or(u64::MAX, |bytes| bytes.0);
        if done {
            return Step::Finished;
        }
        let blocks = workload.size_bytes.0 / bs;
        let block = if workload.rw.is_random() { self.random.random_range(0..blocks) } else { self.issued % blocks };
        self.issued += 1;
        let op = if matches!(workload.rw, Rw::Read | Rw::RandRead) { Op::Read } else { Op::Write };
        Step::Issue(Io { op, offset: workload.offset_bytes.0 + block * bs, len: u32::try_from(bs).unwrap() })
    }

    fn complete(&mut self, completion: &Completion) {
        let tally = if completion.io.op == Op::Read { &mut self.read } else { &mut self.write };
        match completion.result {
            Ok(bytes) => tally.record(Bytes(u64::from(bytes)), completion.completed - completion.issued),
            Err(_) => self.errors += 1,
        }
    }

    fn tick(&mut self, now: Nanos) -> Nanos {
        while now >= self.period_began + Nanos::from_secs(1) {
            self.close(self.period_began + Nanos::from_secs(1));
        }
        self.period_began + Nanos::from_secs(1)
    }
}

struct Run {
    plan: Plan,
    samples: Vec<Sample>,
    drive: Drive,
    /// Phases that ran, and why others did not or ended early.
    log: Vec<String>,
}

impl Run {
    fn verdict(&self) -> Recording {
        verdict(&self.drive, &self.plan, &self.samples)
    }

    fn ran(&self, role: PhaseRole) -> bool {
        self.samples.iter().any(|sample| self.plan.phases[usize::try_from(sample.phase).unwrap()].role == role)
    }
}

fn run(preset: &Preset, profile: Profile, seed: u64) -> Run {
    run_with(preset, profile, seed, &serde_json::Map::new())
}

fn run_with(preset: &Preset, profile: Profile, seed: u64, parameters: &serde_json::Map<String, Value>) -> Run {
    let began = Instant::now();
    let mut drive = identity::drive_of(preset);
    drive.recording = drivescope::analysis::classify(&drive);
    let target = Target { capacity: drive.capacity_bytes, logical_block: 512, pace: Pace::DISK, zones: None };
    let built = build(profile, parameters, target).unwrap();
    let plan = Plan {
        profile,
        drive: drive.id,
        path: drive.path.clone(),
        phases: built.phases,
        destructive: profile == Profile::SmrQuick,
        bytes_to_write: None,
        estimated_s: 0,
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: 1_000,
        randseed: built.randseed,
        losses: Vec::new(),
        confirm_phrase: None,
        notes: Vec::new(),
        tunables: std::collections::BTreeMap::new(),
    };
    let mut engine = SimEngine::new(preset, seed, None);
    let mut online = Online::new(&plan);
    let mut samples = Vec::new();
    let mut log = Vec::new();
    for (index, phase) in plan.phases.iter().enumerate() {
        if let Err(reason) = online.admit(index) {
            log.push(format!("{}: {reason}", phase.name));
            continue;
        }
        let (workload, runtime) = match &phase.action {
            Action::Io(workload) => (Some(workload.clone()), workload.runtime_s),
            Action::Idle { runtime_s } => (None, Some(*runtime_s)),
        };
        let now = engine.now();
        let mut source = PhaseSource {
            index: u32::try_from(index).unwrap(),
            runtime: runtime.map(Nanos::from_secs),
            began: now,
            period_began: now,
            issued: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(workload.as_ref().map_or(0, |workload| workload.randseed)),
            read: Tally::new(Precision::Interval),
            write: Tally::new(Precision::Interval),
            errors: 0,
            online: &mut online,
            samples: &mut samples,
            stop: None,
            workload,
        };
        let depth = source.workload.as_ref().map_or(1, |workload| workload.iodepth);
        engine.run(depth, 1 << 30, &mut source).unwrap();
        let end = engine.now();
        if end > source.period_began {
            source.close(end);
        }
        log.push(format!("{}: {} I/Os, until {end}. {}", phase.name, source.issued, source.stop.unwrap_or_default()));
    }
    println!(
        "{} {}: {:.0} s simulated, {} samples, {:.2} s of CPU",
        preset.name,
        profile.as_str(),
        engine.now().as_secs_f64(),
        samples.len(),
        began.elapsed().as_secs_f64()
    );
    for line in &log {
        println!("  {line}");
    }
    let run = Run { plan, samples, drive, log };
    let answer = run.verdict();
    println!("  => {} {:.2}: {}", answer.state.as_str(), answer.confidence, answer.sentence);
    for evidence in &answer.evidence {
        println!("     {:<17} {} [{:?} {:.2}]", evidence.name, evidence.value, evidence.points, evidence.weight);
    }
    run
}

fn cliff_at(answer: &Recording) -> f64 {
    answer
        .evidence
        .iter()
        .find(|evidence| evidence.name == "cliff" && evidence.unit.as_deref() == Some("writes"))
        .and_then(|evidence| evidence.number)
        .unwrap()
}

#[test]
fn a_hiding_shingled_disk_is_found_out_at_the_end_of_its_cache() {
    for preset in [preset::dm_14tb(), preset::dm_8tb()] {
        let run = run(&preset, Profile::SmrQuick, 1);
        let answer = run.verdict();
        assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Measured));
        let at = cliff_at(&answer);
        // 48.3 GiB (csurbhi), written 1 MiB at a time.
        assert!((at / (48.3 * 1_024.0) - 1.0).abs() < 0.02, "cliff after {at} writes");
        assert!(answer.confidence > 0.9 && answer.sentence.contains("does not say so"), "{}", answer.sentence);
        assert!(!run.ran(PhaseRole::RandomSmall) && run.ran(PhaseRole::Recovery), "{:#?}", run.log);
        let spent = run.samples.last().unwrap().t;
        assert!(spent < Nanos::from_secs(900), "minutes on a shingled disk, not {spent}");
        let page = combine(&run.drive.recording, &[answer]);
        assert_eq!(page.state, RecordingState::DriveManaged);
    }
}

#[test]
fn the_conventional_disk_of_the_fio_list_is_called_conventional() {
    let run = run(&preset::cmr_14tb(), Profile::SmrQuick, 1);
    let answer = run.verdict();
    assert_eq!((answer.state, answer.basis), (RecordingState::Cmr, Basis::Measured), "{}", answer.sentence);
    assert!(answer.confidence > 0.8 && !run.ran(PhaseRole::Recovery));
    assert!(run.samples.last().unwrap().t < Nanos::from_secs(7_200), "under two hours");
}

#[test]
fn cut_off_anywhere_a_run_is_never_called_conventional() {
    for preset in [preset::cmr_14tb(), preset::dm_14tb()] {
        let full = run(&preset, Profile::SmrQuick, 2);
        let last = full.samples.len();
        for tenth in 0..10 {
            let cut = &full.samples[..last * tenth / 10];
            let answer = verdict(&full.drive, &full.plan, cut);
            assert_ne!(answer.state, RecordingState::Cmr, "{} cut at {tenth}/10: {}", preset.name, answer.sentence);
            if preset.name == "sim-cmr-14tb" {
                assert_eq!(answer.state, RecordingState::NotShown, "cut at {tenth}/10: {}", answer.sentence);
            }
        }
    }
}

#[test]
fn a_shingled_disk_with_more_cache_than_was_filled_is_not_called_conventional() {
    let mut preset = preset::dm_14tb();
    if let Inside::Disk { translation: TranslationParams::CachedStl(stl), .. } = &mut preset.inside {
        stl.map_entries = 1_000_000;
        stl.cache_bytes = 100 * GIB;
    }
    let answer = run(&preset, Profile::SmrQuick, 1).verdict();
    assert_eq!(answer.state, RecordingState::NotShown, "{}", answer.sentence);
    assert!(answer.sentence.contains("not in their place"), "{}", answer.sentence);
}

#[test]
fn behind_usb_or_honest_a_shingled_disk_is_found_out_all_the_same() {
    let mut usb = preset::dm_8tb();
    usb.interface = InterfaceParams::USB3_BOT;
    let answer = run(&usb, Profile::SmrQuick, 1).verdict();
    assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Measured), "{}", answer.sentence);
    let mut honest = preset::dm_8tb();
    honest.label.zoned = ZonedField::DriveManaged;
    let answer = run(&honest, Profile::SmrQuick, 1).verdict();
    assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Declared), "{}", answer.sentence);
    assert!(answer.sentence.ends_with("A run has shown the same."), "{}", answer.sentence);
}

#[test]
fn a_host_aware_disk_used_as_an_ordinary_one_stays_host_aware_and_collapses() {
    let answer = run(&preset::ha_8tb(), Profile::SmrQuick, 1).verdict();
    assert_eq!((answer.state, answer.basis), (RecordingState::HostAware, Basis::Declared), "{}", answer.sentence);
    assert!((cliff_at(&answer) / (28.0 * 1_024.0) - 1.0).abs() < 0.02, "{}", answer.sentence);
    assert!(answer.sentence.ends_with("A run has shown the same."), "{}", answer.sentence);
}

#[test]
fn a_slow_honest_shingled_disk_collapses_within_the_limit_of_the_phase() {
    let answer = run(&preset::dm_3tb(), Profile::SmrQuick, 1).verdict();
    assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Declared), "{}", answer.sentence);
    // Of the entries of its map the 65 536 large writes before had taken as many.
    assert!((cliff_at(&answer) / (262_144.0 - 65_536.0) - 1.0).abs() < 0.05, "{}", answer.sentence);
}

#[test]
fn over_a_small_part_a_shingled_disk_keeps_up_and_is_still_not_called_conventional() {
    for gib in [8, 64, 300] {
        let mut parameters = serde_json::Map::new();
        parameters.insert("size_bytes".to_owned(), (gib * GIB).into());
        let answer = run_with(&preset::dm_14tb(), Profile::SmrQuick, 1, &parameters).verdict();
        assert_ne!(answer.state, RecordingState::Cmr, "{gib} GiB: {}", answer.sentence);
        let answer = run_with(&preset::cmr_14tb(), Profile::SmrQuick, 1, &parameters).verdict();
        assert_eq!(answer.state, RecordingState::NotShown, "{gib} GiB: {}", answer.sentence);
    }
}

#[test]
fn a_conventional_disk_with_its_write_cache_off_is_not_called_shingled() {
    let answer = run(&preset::cmr_4tb(), Profile::SmrQuick, 1).verdict();
    assert!(!matches!(answer.state, RecordingState::DriveManaged), "{}", answer.sentence);
}

#[test]
fn an_ssd_is_an_ssd() {
    let answer = run(&preset::ssd_1tb(), Profile::SmrQuick, 1).verdict();
    assert_eq!(answer.state, RecordingState::Ssd, "{}", answer.sentence);
}

#[test]
fn an_inspection_sees_the_platter_turn_and_decides_nothing() {
    let run = run(&preset::dm_14tb(), Profile::Inspect, 1);
    let answer = run.verdict();
    assert_eq!((answer.state, answer.basis), (RecordingState::NotShown, Basis::None));
    let profile = answer.evidence.iter().find(|evidence| evidence.name == "zone-profile").unwrap();
    assert!(profile.value.contains("rotating"), "{}", profile.value);
    let floor = answer.evidence.iter().find(|evidence| evidence.name == "floor").unwrap().number.unwrap();
    assert!((floor / 60.0 - 1.0).abs() < 0.1, "{floor}");
    assert!(f64_of(run.samples.last().unwrap().t.0) > 60e9);
}

#[test]
fn every_preset_and_variant_gets_an_answer_that_is_right_or_says_that_it_does_not_know() {
    use RecordingState::{Cmr, DriveManaged, HostAware, HostManaged, NotShown, Ssd, Undecided};
    let right: &[(&str, &[RecordingState])] = &[
        ("sim-dm-archive-8tb", &[DriveManaged]),
        ("sim-dm-red-4tb", &[Undecided, NotShown]),
        ("sim-cmr-24tb", &[Cmr]),
        ("sim-dm-8tb-vast", &[Undecided, NotShown]),
        ("sim-dm-8tb-sets", &[DriveManaged]),
        ("sim-dm-8tb-flash-cache", &[DriveManaged]),
        ("sim-dm-archive-8tb-wce-off", &[DriveManaged]),
        ("sim-dm-red-4tb-prefilled", &[DriveManaged]),
        ("sim-dm-red-4tb-idnf", &[DriveManaged]),
        ("sim-dm-red-4tb-stalls", &[DriveManaged]),
        ("sim-ha-8tb-hidden", &[DriveManaged]),
        ("sim-cmr-14tb-stalls", &[Cmr]),
        ("sim-cmr-14tb-failing", &[Cmr, Undecided]),
        ("sim-cmr-14tb-flush", &[Cmr]),
        ("sim-cmr-14tb-two-arms", &[Cmr]),
        ("sim-cmr-4tb-shared", &[Cmr, Undecided]),
        ("sim-cmr-4tb-pretends", &[Cmr]),
    ];
    let wrong: Vec<_> = right
        .iter()
        .filter_map(|(name, right)| {
            let answer = run(&preset::named(name).unwrap(), Profile::SmrQuick, 1).verdict();
            (!right.contains(&answer.state)).then(|| format!("{name}: {:?}: {}", answer.state, answer.sentence))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (name, state) in [("sim-hm-15tb", HostManaged), ("sim-ha-8tb", HostAware), ("sim-ssd-1tb", Ssd)] {
        let drive = identity::drive_of(&preset::named(name).unwrap());
        assert_eq!(drivescope::analysis::classify(&drive).state, state, "{name} says so itself");
    }
}
