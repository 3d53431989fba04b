//! The real engines on a real file, opened with O_DIRECT: nothing lost, nothing outside the region.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use drivescope::device::{self, Claimed, SysRoot};
use drivescope::model::drive::{Drive, DriveId};
use drivescope::model::interval::Interval;
use drivescope::model::plan::Plan;
use drivescope::model::profile::{Pace, Profile, Target, build};
use drivescope::model::units::{Bytes, MIB};
use drivescope::probe::control::{Control, Order};
use drivescope::probe::engine::Engine;
use drivescope::probe::event::{EventSink, ProbeEvent};
use drivescope::probe::psync::PsyncEngine;
use drivescope::probe::referee::NoReferee;
use drivescope::probe::ring::RingEngine;
use drivescope::probe::run::{Outcome, carry_out};
use drivescope::probe::uring::UringEngine;
use serde_json::{Value, json};

#[derive(Default)]
struct Collected {
    intervals: Vec<Interval>,
    ended_by: Vec<String>,
    sums: Vec<(u64, u64)>,
    /// Orders a stop at the third interval, and notes when.
    stop: Option<Control>,
    stopped_at: Option<Instant>,
}

impl EventSink for Collected {
    fn emit(&mut self, event: ProbeEvent) {
        match event {
            ProbeEvent::Interval(interval) => {
                self.intervals.push(*interval);
                if self.intervals.len() == 3
                    && let Some(control) = self.stop.take()
                {
                    control.order(Order::Stop);
                    self.stopped_at = Some(Instant::now());
                }
            }
            ProbeEvent::PhaseEnded { ended_by, read, write, .. } => {
                self.ended_by.push(ended_by);
                self.sums.push((read.ios, write.ios));
            }
            _ => {}
        }
    }
}

/// All engines must do the same.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Uring,
    Ring,
    Psync,
}

const ALL: [Kind; 3] = [Kind::Uring, Kind::Ring, Kind::Psync];

struct Bench {
    _dir: tempfile::TempDir,
    kind: Kind,
    root: SysRoot,
    target: Drive,
    path: PathBuf,
}

impl Bench {
    /// A file of `len` bytes of 0x55, on a filesystem that does direct I/O (not tmpfs).
    fn new(kind: Kind, len: u64) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = dir.path().join("target");
        std::fs::write(&path, vec![0x55; usize::try_from(len).unwrap()]).unwrap();
        let root = SysRoot::host();
        let inventory = device::scan(&root);
        let target = device::resolve(&root, &inventory, path.to_str().unwrap()).unwrap().drive;
        Self { _dir: dir, kind, root, target, path }
    }

    fn claim(&self) -> Claimed {
        device::check(&self.root, &self.target, true, &[]).unwrap().claim().unwrap()
    }

    fn carry_out(&self, capacity: u64, parameters: Value, control: &Control) -> (Collected, Outcome) {
        self.carry_out_into(Collected::default(), capacity, parameters, control)
    }

    fn carry_out_into(
        &self,
        mut collected: Collected,
        capacity: u64,
        parameters: Value,
        control: &Control,
    ) -> (Collected, Outcome) {
        let Value::Object(parameters) = parameters else { panic!("an object") };
        let target = Target { capacity: Bytes(capacity), logical_block: 512, pace: Pace::FLASH };
        let built = build(Profile::Custom, &parameters, target).unwrap();
        let plan = Plan {
            profile: Profile::Custom,
            drive: DriveId::from_identity("test"),
            path: self.path.clone(),
            destructive: true,
            bytes_to_write: None,
            estimated_s: 0,
            offset_bytes: built.offset,
            size_bytes: built.size,
            interval_ms: built.interval_ms,
            randseed: built.randseed,
            losses: vec![],
            confirm_phrase: None,
            notes: vec![],
            phases: built.phases,
        };
        let mut engine: Box<dyn Engine> = match self.kind {
            Kind::Uring => Box::new(UringEngine::new(self.claim(), plan.randseed)),
            Kind::Ring => Box::new(RingEngine::new(self.claim(), plan.randseed)),
            Kind::Psync => Box::new(PsyncEngine::new(self.claim(), plan.randseed)),
        };
        let outcome = carry_out(&plan, engine.as_mut(), control, &mut NoReferee, &mut collected);
        (collected, outcome)
    }
}

#[test]
fn every_io_is_counted_once_in_intervals_and_in_the_sum() {
    for kind in ALL {
        let bench = Bench::new(kind, 8 * MIB);
        let parameters = json!({ "rw": "randrw", "bs": "4k", "iodepth": 32, "number_ios": 20_000, "interval_ms": 50 });
        let (collected, outcome) = bench.carry_out(8 * MIB, parameters, &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        let ios: u64 = collected.intervals.iter().map(|interval| interval.read.ios + interval.write.ios).sum();
        let timed: u64 =
            collected.intervals.iter().map(|interval| interval.read.lat.count() + interval.write.lat.count()).sum();
        assert_eq!((ios, timed), (20_000, 20_000));
        assert_eq!(collected.sums.iter().map(|(read, write)| read + write).sum::<u64>(), 20_000);
        let seqs: Vec<_> = collected.intervals.iter().map(|interval| interval.seq).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn a_pass_writes_the_whole_region_with_its_odd_tail_and_not_one_byte_beside_it() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        // 3 blocks of 64 KiB and a tail of 3 sectors, away from both ends of the file.
        let (offset, size) = (5 * 512usize, 3 * 65_536 + 3 * 512usize);
        let parameters = json!({ "rw": "write", "bs": "64k", "iodepth": 4, "offset": offset, "size": size });
        let (_, outcome) = bench.carry_out(4 * MIB, parameters, &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        let bytes = std::fs::read(&bench.path).unwrap();
        let (first, last) = (offset, offset + size);
        assert!(bytes[..first].iter().all(|byte| *byte == 0x55), "before the region");
        assert!(bytes[last..].iter().all(|byte| *byte == 0x55), "after the region");
        let untouched = bytes[first..last].chunks(512).filter(|sector| sector.iter().all(|byte| *byte == 0x55)).count();
        assert_eq!(untouched, 0);
    }
}

#[test]
fn a_stop_ends_soon_and_drains() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        let control = Control::default();
        let stopping = Collected { stop: Some(control.clone()), ..Collected::default() };
        let parameters = json!({ "rw": "randwrite", "iodepth": 64, "runtime": 3600, "interval_ms": 100 });
        let (collected, outcome) = bench.carry_out_into(stopping, 4 * MIB, parameters, &control);
        let drained = collected.stopped_at.unwrap().elapsed();
        assert!(matches!(outcome, Outcome::Stopped), "{outcome:?}");
        // A bound on a hang, not a measurement: one drain of 64 writes.
        assert!(drained < Duration::from_secs(20), "{drained:?}");
        let ios: u64 = collected.intervals.iter().map(|interval| interval.write.ios).sum();
        assert!(ios > 0);
        assert_eq!(collected.sums, [(0, ios)]);
    }
}

#[test]
fn a_pause_issues_nothing_and_its_time_does_not_count() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        let control = Control::default();
        control.order(Order::Pause);
        let resumer = {
            let control = control.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(3));
                control.order(Order::Run);
            })
        };
        let parameters = json!({ "rw": "randread", "runtime": 1, "interval_ms": 100 });
        let began = Instant::now();
        let (collected, outcome) = bench.carry_out(4 * MIB, parameters, &control);
        resumer.join().unwrap();
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        assert!(began.elapsed() >= Duration::from_millis(3_900), "the second of running came after the pause");
        // The engine's clock began a little after the pause did.
        let first = &collected.intervals[0];
        assert!((first.t - first.duration).as_millis() >= 1_000, "no interval lies in the pause: {first:?}");
    }
}

#[test]
fn an_io_past_the_end_fails_the_run_and_says_where() {
    for kind in ALL {
        let bench = Bench::new(kind, MIB);
        // The plan believes in two mebibytes; the file has one.
        let (collected, outcome) =
            bench.carry_out(2 * MIB, json!({ "rw": "read", "bs": "64k", "iodepth": 4 }), &Control::default());
        let Outcome::IoFailed(why) = outcome else { panic!("{outcome:?}") };
        // Several were in flight; whichever came back first is named.
        let at: u64 = why.split("at byte ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(at >= MIB && why.contains("moved only 0 bytes"), "{why}");
        assert_eq!(collected.ended_by, [why]);
    }
}
