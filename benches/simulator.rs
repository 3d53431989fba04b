//! What simulated drives cost: `cargo bench --bench simulator [-- --only TEXT]`.
//!
//! Whole runs through the probe's own driver and recorder and the online analysis, without the store: seconds of CPU, seconds
//! simulated, I/Os, and the verdict. One JSON line each.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::time::Duration;

use drivescope::analysis::{Online, classify, verdict};
use drivescope::model::approx::f64_of;
use drivescope::model::interval::{Interval, Sample};
use drivescope::model::plan::Plan;
use drivescope::model::profile::{Pace, Profile, Target, build};
use drivescope::probe::control::Control;
use drivescope::probe::engine::Engine;
use drivescope::probe::event::{EventSink, ProbeEvent};
use drivescope::probe::referee::Referee;
use drivescope::probe::run::carry_out;
use drivescope::sim::preset::Preset;
use drivescope::sim::{SimEngine, identity, preset};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::json;

/// The runs: a preset and a profile each.
const RUNS: [(&str, Profile); 5] = [
    ("sim-cmr-14tb", Profile::SmrFull),
    ("sim-dm-14tb", Profile::SmrFull),
    ("sim-dm-red-4tb", Profile::SmrFull),
    ("sim-cmr-14tb", Profile::SmrQuick),
    ("sim-dm-14tb", Profile::SmrQuick),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let only = arguments.iter().position(|argument| argument == "--only").and_then(|at| arguments.get(at + 1));
    for (name, profile) in RUNS {
        let title = format!("{name} {}", profile.as_str());
        if only.is_none_or(|only| title.contains(only.as_str())) {
            measure(&title, &preset::named(name).unwrap(), profile);
        }
    }
}

struct Judge {
    online: Online,
}

impl Referee for Judge {
    fn admit(&mut self, phase: u32) -> Result<(), String> {
        self.online.admit(usize::try_from(phase).unwrap())
    }

    fn observe(&mut self, interval: &Interval) -> Option<String> {
        self.online.observe(&Sample::from(interval))
    }
}

#[derive(Default)]
struct Kept {
    samples: Vec<Sample>,
    ios: u64,
}

impl EventSink for Kept {
    fn emit(&mut self, event: ProbeEvent) {
        if let ProbeEvent::Interval(interval) = event {
            let sample = Sample::from(&*interval);
            self.ios += sample.read.ios + sample.write.ios;
            self.samples.push(sample);
        }
    }
}

fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap())
}

fn measure(title: &str, preset: &Preset, profile: Profile) {
    let mut drive = identity::drive_of(preset);
    drive.recording = classify(&drive);
    let target = Target { capacity: drive.capacity_bytes, logical_block: 512, pace: Pace::DISK, zones: None };
    let built = build(profile, &serde_json::Map::new(), target).unwrap();
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
        interval_ms: 1_000,
        randseed: built.randseed,
        losses: Vec::new(),
        confirm_phrase: None,
        notes: Vec::new(),
        tunables: std::collections::BTreeMap::new(),
    };
    let before = cpu();
    let mut engine = SimEngine::new(preset, 1, None);
    let mut judge = Judge { online: Online::new(&plan) };
    let mut kept = Kept::default();
    let witness = Box::new(engine.counts());
    carry_out(&plan, &mut engine, witness, &Control::default(), &mut judge, &mut kept);
    let ran = cpu().saturating_sub(before);
    let answer = verdict(&drive, &plan, &kept.samples);
    let all = cpu().saturating_sub(before);
    let line = json!({
        "run": title,
        "cpu_s": ran.as_secs_f64(),
        "cpu_s_with_verdict": all.as_secs_f64(),
        "simulated_s": engine.now().as_secs_f64(),
        "ios": kept.ios,
        "cpu_us_per_io": ran.as_secs_f64() * 1e6 / f64_of(kept.ios.max(1)),
        "verdict": answer.state.as_str(),
        "sentence": answer.sentence,
    });
    println!("{line}");
}
