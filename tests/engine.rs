//! The real engines on a real file, opened with O_DIRECT: nothing lost, nothing outside the region.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use drivescope::device::{self, Claimed, SysRoot};
use drivescope::model::drive::{Drive, DriveId};
use drivescope::model::interval::Interval;
use drivescope::model::plan::Plan;
use drivescope::model::profile::{Pace, Profile, Target, build};
use drivescope::model::units::{Bytes, MIB, Nanos};
use drivescope::model::zone::ZoneOp;
use drivescope::probe::control::{Control, Order};
use drivescope::probe::engine::{Completion, Engine, Io, Op, Source, Step};
use drivescope::probe::event::{EventSink, ProbeEvent};
use drivescope::probe::psync::PsyncEngine;
use drivescope::probe::referee::NoReferee;
use drivescope::probe::ring::RingEngine;
use drivescope::probe::run::{Outcome, carry_out};
use drivescope::probe::uring::UringEngine;
use drivescope::probe::witness::NoWitness;
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
            ProbeEvent::PhaseEnded { ended_by, sums, .. } => {
                self.ended_by.push(ended_by);
                self.sums.push((sums.read.ios, sums.write.ios));
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
        collected: Collected,
        capacity: u64,
        parameters: Value,
        control: &Control,
    ) -> (Collected, Outcome) {
        self.run_into(collected, &self.plan(capacity, parameters), control)
    }

    fn plan(&self, capacity: u64, parameters: Value) -> Plan {
        let Value::Object(parameters) = parameters else { panic!("an object") };
        let target = Target { capacity: Bytes(capacity), logical_block: 512, pace: Pace::FLASH, zones: None };
        let built = build(Profile::Custom, &parameters, target).unwrap();
        Plan {
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
            tunables: std::collections::BTreeMap::new(),
            phases: built.phases,
        }
    }

    fn run(&self, plan: &Plan, control: &Control) -> (Collected, Outcome) {
        self.run_into(Collected::default(), plan, control)
    }

    fn engine(&self, claim: Claimed, seed: u64) -> Box<dyn Engine> {
        match self.kind {
            Kind::Uring => Box::new(UringEngine::new(claim, seed)),
            Kind::Ring => Box::new(RingEngine::new(claim, seed)),
            Kind::Psync => Box::new(PsyncEngine::new(claim, seed)),
        }
    }

    fn run_into(&self, mut collected: Collected, plan: &Plan, control: &Control) -> (Collected, Outcome) {
        let mut engine = self.engine(self.claim(), plan.randseed);
        let outcome = carry_out(plan, engine.as_mut(), Box::new(NoWitness), control, &mut NoReferee, &mut collected);
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

#[test]
fn random_writes_without_repetition_cover_the_region_and_its_odd_tail_once() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        let (offset, size) = (7 * 512usize, 100 * 4096 + 3 * 512usize);
        let parameters = json!({ "rw": "randwrite", "bs": "4k", "iodepth": 16, "offset": offset, "size": size });
        let (collected, outcome) = bench.carry_out(4 * MIB, parameters, &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        assert_eq!(collected.sums, [(0, 101)]);
        let bytes = std::fs::read(&bench.path).unwrap();
        let untouched = |range: std::ops::Range<usize>| {
            bytes[range].chunks(512).filter(|sector| sector.iter().all(|byte| *byte == 0x55)).count()
        };
        assert_eq!(untouched(offset..offset + size), 0);
        assert_eq!(
            (untouched(0..offset), untouched(offset + size..bytes.len())),
            (7, (bytes.len() - offset - size) / 512)
        );
    }
}

#[test]
fn flushes_are_counted_by_themselves_and_move_nothing() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        let parameters =
            json!({ "rw": "write", "bs": "64k", "size": "1m", "fsync": 4, "fdatasync": 8, "end_fsync": true });
        let (collected, outcome) = bench.carry_out(4 * MIB, parameters, &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        let flushes: u64 =
            collected.intervals.iter().filter_map(|interval| interval.flush.as_ref()).map(|flush| flush.ios).sum();
        // After 4, 8 and 12 of 16 writes, after 8, and at the end; a flush that would come last is the one at the end.
        assert_eq!((collected.sums.as_slice(), flushes), ([(0, 16)].as_slice(), 5));
    }
}

#[test]
fn trims_give_up_exactly_the_region() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        let parameters = json!({ "rw": "randtrim", "bs": "64k", "iodepth": 4, "offset": "1m", "size": "1m" });
        let (collected, outcome) = bench.carry_out(4 * MIB, parameters, &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        let trims: u64 =
            collected.intervals.iter().filter_map(|interval| interval.trim.as_ref()).map(|trim| trim.ios).sum();
        assert_eq!((collected.sums.as_slice(), trims), ([(0, 0)].as_slice(), 16));
        let bytes = std::fs::read(&bench.path).unwrap();
        let mib = usize::try_from(MIB).unwrap();
        assert_eq!(bytes.len(), 4 * mib);
        assert!(bytes[mib..2 * mib].iter().all(|byte| *byte == 0), "a hole reads as zeros");
        assert!(bytes[..mib].iter().chain(&bytes[2 * mib..]).all(|byte| *byte == 0x55), "beside it nothing changed");
    }
}

#[test]
fn what_was_written_reads_back_and_what_was_changed_meanwhile_is_found() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        let parameters = || json!({ "rw": "randwrite", "bs": "64k", "iodepth": 4, "size": "1m", "verify": true });
        let (collected, outcome) = bench.carry_out(4 * MIB, parameters(), &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        assert!(collected.ended_by[1].contains("all 2048 sectors"), "{:?}", collected.ended_by);
        // A drive that says it has 1 MiB and has half of it: the second half lands on the first.
        let mut bytes = std::fs::read(&bench.path).unwrap();
        bytes.copy_within(524_288..1_048_576, 0);
        std::fs::write(&bench.path, &bytes).unwrap();
        let mut plan = bench.plan(4 * MIB, parameters());
        plan.phases.remove(0);
        let (collected, outcome) = bench.run(&plan, &Control::default());
        let Outcome::IoFailed(why) = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("1024 of 2048 sectors") && why.contains("524288 bytes away"), "{why}");
        let errors: u64 = collected.intervals.iter().map(|interval| interval.errors).sum();
        assert_eq!(errors, 8, "as many reads as came back wrong");
    }
}

#[test]
fn a_recording_is_replayed_to_its_last_flush() {
    for kind in ALL {
        let bench = Bench::new(kind, MIB);
        let log = "fio version 3 iolog\n0 f write 4096 4096\n9 f sync 0 0\n100000 f write 99999999488 512\n100001 f sync 0 0\n";
        let mut plan = bench.plan(MIB, json!({ "rw": "read" }));
        let Value::Object(given) = json!({ "log": log }) else { panic!("an object") };
        let target = Target { capacity: Bytes(MIB), logical_block: 512, pace: Pace::FLASH, zones: None };
        plan.phases = build(Profile::Replay, &given, target).unwrap().phases;
        let (collected, outcome) = bench.run(&plan, &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        let flushes: u64 =
            collected.intervals.iter().filter_map(|interval| interval.flush.as_ref()).map(|flush| flush.ios).sum();
        assert_eq!((collected.sums.as_slice(), flushes), ([(0, 2)].as_slice(), 2));
        assert!(collected.intervals.last().unwrap().t.as_millis() >= 100, "the last ones came at their time");
        let bytes = std::fs::read(&bench.path).unwrap();
        assert!(
            bytes[bytes.len() - 512..].iter().any(|byte| *byte != 0x55),
            "the end of the recording is that of the file"
        );
    }
}

#[test]
fn a_rate_holds_it_back_and_a_ramp_is_marked() {
    for kind in ALL {
        let bench = Bench::new(kind, 4 * MIB);
        let parameters = json!({
            "rw": "randread", "iodepth": 4, "rate_iops": 200, "ramp_time": 1, "runtime": 1, "interval_ms": 250,
        });
        let (collected, outcome) = bench.carry_out(4 * MIB, parameters, &Control::default());
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        let counted = collected.sums[0].0;
        assert!((150..=210).contains(&counted), "{counted} in a second at 200 per second");
        let ramp: u64 =
            collected.intervals.iter().filter(|interval| interval.ramp).map(|interval| interval.read.ios).sum();
        let rest: u64 =
            collected.intervals.iter().filter(|interval| !interval.ramp).map(|interval| interval.read.ios).sum();
        assert!(ramp >= 150 && rest == counted, "{ramp} {rest} {counted}");
    }
}

/// Asks for these, and keeps how they ended.
struct Script {
    ios: Vec<Io>,
    ended: Vec<Completion>,
}

impl Source for Script {
    fn next(&mut self, _now: Nanos) -> Step {
        self.ios.pop().map_or(Step::Finished, Step::Issue)
    }

    fn complete(&mut self, completion: &Completion) {
        self.ended.push(*completion);
    }

    fn tick(&mut self, now: Nanos) -> Nanos {
        now + Nanos::from_secs(1)
    }
}

#[test]
fn a_zone_operation_on_what_has_no_zones_is_a_failed_completion_and_holds_up_nothing() {
    for (kind, depth) in ALL.into_iter().flat_map(|kind| [(kind, 1), (kind, 4)]) {
        let bench = Bench::new(kind, MIB);
        let mut ios = Vec::new();
        for nth in 0..50 {
            ios.push(Io { op: Op::Read, offset: nth * 4096, len: 4096 });
            ios.push(Io { op: Op::Zone(ZoneOp::ALL[usize::try_from(nth).unwrap() % 5]), offset: 0, len: 0 });
        }
        let mut script = Script { ios, ended: Vec::new() };
        bench.engine(bench.claim(), 1).run(depth, 4096, &mut script).unwrap();
        assert_eq!(script.ended.len(), 100, "{kind:?}");
        for ended in &script.ended {
            match ended.io.op {
                // ENOTTY of the file, or EOPNOTSUPP of ours.
                Op::Zone(_) => assert!(matches!(ended.result, Err(25 | 95)), "{kind:?} {ended:?}"),
                _ => assert_eq!(ended.result, Ok(4096), "{kind:?} {ended:?}"),
            }
            assert!(ended.completed >= ended.issued);
        }
    }
}

#[test]
fn what_was_claimed_for_reading_is_not_reset() {
    for kind in ALL {
        let bench = Bench::new(kind, MIB);
        let claim = device::check(&bench.root, &bench.target, false, &[]).unwrap().claim().unwrap();
        let ios = vec![Io { op: Op::Zone(ZoneOp::Reset), offset: 0, len: 0 }];
        let mut script = Script { ios, ended: Vec::new() };
        bench.engine(claim, 1).run(1, 4096, &mut script).unwrap();
        assert_eq!(script.ended[0].result, Err(9), "{kind:?}: EBADF");
    }
}
