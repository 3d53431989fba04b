//! The engine beside fio, in one run: `cargo bench --bench engine [-- --pairs N --seconds S --only TEXT]`.
//!
//! Needs root (it binds a loop device over a file on tmpfs) and fio. Machines are shared and noisy, so
//! the two alternate, and what counts is the median of the ratios of neighbours (ours over fio's).
//! fio runs with `ioengine=io_uring`, `fixedbufs`, `registerfiles`, one job; both count a latency from
//! before the submission (fio's `lat`). Every measurement is a process of its own, so its CPU time is whole.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;

use drivescope::device::{self, SysRoot};
use drivescope::model::approx::f64_of;
use drivescope::model::drive::DriveId;
use drivescope::model::interval::Tally;
use drivescope::model::plan::Plan;
use drivescope::model::profile::{Pace, Profile, Target, build};
use drivescope::probe::control::Control;
use drivescope::probe::engine::Engine;
use drivescope::probe::event::{EventSink, ProbeEvent};
use drivescope::probe::referee::NoReferee;
use drivescope::probe::ring::RingEngine;
use drivescope::probe::run::carry_out;
use drivescope::probe::uring::UringEngine;
use serde_json::{Value, json};

const LEN: u64 = 1 << 30;

/// What one measurement found.
#[derive(Debug, Clone, Copy)]
struct Figures {
    iops: f64,
    cpu_us_per_io: f64,
    p50_us: f64,
    p99_us: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, engine, path, rw, iodepth, seconds] = arguments.as_slice()
        && flag == "--child"
    {
        return child(engine, Path::new(path), rw, iodepth.parse().unwrap(), seconds.parse().unwrap());
    }
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let pairs: usize = option("--pairs").map_or(7, |text| text.parse().unwrap());
    let seconds: u64 = option("--seconds").map_or(2, |text| text.parse().unwrap());
    let only = option("--only").unwrap_or_default();
    if !nix::unistd::geteuid().is_root() {
        eprintln!("this bench binds a loop device: run it as root");
        std::process::exit(1);
    }
    let version = Command::new("fio").arg("--version").output().expect("fio: install it (apt-get install fio)");
    println!("beside {}", String::from_utf8_lossy(&version.stdout).trim());

    let bed = Bed::new();
    println!("| engine | target | rw | iodepth | ours IOPS | fio IOPS | IOPS | CPU per I/O | p50 | p99 |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for (target, path) in [("loop", &bed.device), ("ext4", &bed.file)] {
        for rw in ["randread", "randwrite"] {
            for iodepth in [1, 32, 128] {
                if !format!("{target} {rw} {iodepth}").contains(&only) {
                    continue;
                }
                lines.extend(cell(target, path, rw, iodepth, pairs, seconds));
            }
        }
    }
    for line in lines {
        println!("{line}");
    }
}

/// The engines that are held against fio, by their names in results; the default first.
const ENGINES: [&str; 2] = ["io_uring", "tokio-uring"];

fn cell(target: &str, path: &Path, rw: &str, iodepth: u32, pairs: usize, seconds: u64) -> Vec<Value> {
    let mut measured: Vec<Vec<(Figures, Figures)>> = vec![Vec::new(); ENGINES.len()];
    for round in 0..pairs {
        for (engine, pairs) in ENGINES.into_iter().zip(&mut measured) {
            // Who goes first changes, so that a drift of the machine favours nobody.
            pairs.push(if round % 2 == 0 {
                let ours = ours(engine, path, rw, iodepth, seconds);
                (ours, fio(path, rw, iodepth, seconds))
            } else {
                let fio = fio(path, rw, iodepth, seconds);
                (ours(engine, path, rw, iodepth, seconds), fio)
            });
        }
    }
    let mut lines = Vec::new();
    for (engine, measured) in ENGINES.into_iter().zip(&measured) {
        let ratio = |figure: fn(&Figures) -> f64| median(measured.iter().map(|(ours, fio)| figure(ours) / figure(fio)));
        let (iops, cpu) = (ratio(|figures| figures.iops), ratio(|figures| figures.cpu_us_per_io));
        let (p50, p99) = (ratio(|figures| figures.p50_us), ratio(|figures| figures.p99_us));
        println!(
            "| {engine} | {target} | {rw} | {iodepth} | {:.0} | {:.0} | {iops:.2} | {cpu:.2} | {p50:.2} | {p99:.2} |",
            median(measured.iter().map(|(ours, _)| ours.iops)),
            median(measured.iter().map(|(_, fio)| fio.iops)),
        );
        lines.push(json!({
            "bench": "engine", "engine": engine, "target": target, "rw": rw, "iodepth": iodepth, "pairs": pairs,
            "iops_ratio": round(iops), "cpu_per_io_ratio": round(cpu), "p50_ratio": round(p50), "p99_ratio": round(p99),
        }));
    }
    lines
}

fn round(ratio: f64) -> f64 {
    (ratio * 1_000.0).round() / 1_000.0
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// CPU time (user and system, microseconds) that a child process used, and its output.
fn timed(command: &mut Command) -> (f64, String) {
    let before = children_cpu_us();
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    (children_cpu_us() - before, String::from_utf8(output.stdout).unwrap())
}

fn children_cpu_us() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    f64_of(u64::try_from(us).unwrap())
}

fn fio(path: &Path, rw: &str, iodepth: u32, seconds: u64) -> Figures {
    let (cpu_us, text) = timed(Command::new("fio").args([
        "--name=a",
        "--ioengine=io_uring",
        "--fixedbufs",
        "--registerfiles",
        "--direct=1",
        "--bs=4k",
        "--norandommap",
        "--randrepeat=0",
        "--time_based",
        "--percentile_list=50:99",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--output-format=json",
        &format!("--filename={}", path.display()),
        &format!("--size={LEN}"),
        &format!("--rw={rw}"),
        &format!("--iodepth={iodepth}"),
        &format!("--runtime={seconds}"),
    ]));
    let report: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let side = &report["jobs"][0][rw.trim_start_matches("rand")];
    let percentile = |key: &str| side["lat_ns"]["percentile"][key].as_f64().unwrap() / 1e3;
    Figures {
        iops: side["iops"].as_f64().unwrap(),
        cpu_us_per_io: cpu_us / side["total_ios"].as_f64().unwrap(),
        p50_us: percentile("50.000000"),
        p99_us: percentile("99.000000"),
    }
}

fn ours(engine: &str, path: &Path, rw: &str, iodepth: u32, seconds: u64) -> Figures {
    let (cpu_us, text) = timed(Command::new(std::env::current_exe().unwrap()).args([
        "--child",
        engine,
        path.to_str().unwrap(),
        rw,
        &iodepth.to_string(),
        &seconds.to_string(),
    ]));
    let report: Value = serde_json::from_str(&text).unwrap();
    let figure = |name: &str| report[name].as_f64().unwrap();
    Figures {
        iops: figure("ios") / figure("seconds"),
        cpu_us_per_io: cpu_us / figure("ios"),
        p50_us: figure("p50_us"),
        p99_us: figure("p99_us"),
    }
}

struct Sums(Option<Tally>);

impl EventSink for Sums {
    fn emit(&mut self, event: ProbeEvent) {
        if let ProbeEvent::PhaseEnded { mut sums, .. } = event {
            sums.read.merge(&sums.write);
            self.0 = Some(sums.read);
        }
    }
}

/// One run of our engine, as a process: claim, carry out, print.
fn child(engine: &str, path: &Path, rw: &str, iodepth: u32, seconds: u64) {
    let root = SysRoot::host();
    let drive = device::resolve(&root, &device::scan(&root), path.to_str().unwrap()).unwrap().drive;
    let parameters =
        json!({ "rw": rw, "norandommap": true, "bs": "4k", "iodepth": iodepth, "runtime": seconds, "size": LEN });
    let Value::Object(parameters) = parameters else { panic!("an object") };
    let target = Target {
        capacity: drive.capacity_bytes,
        logical_block: drive.logical_block_bytes,
        pace: Pace::FLASH,
        zones: None,
    };
    let built = build(Profile::Custom, &parameters, target).unwrap();
    let plan = Plan {
        profile: Profile::Custom,
        drive: DriveId::from_identity("bench"),
        path: path.to_owned(),
        destructive: true,
        bytes_to_write: None,
        estimated_s: seconds,
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: built.interval_ms,
        randseed: built.randseed,
        losses: vec![],
        confirm_phrase: None,
        notes: vec![],
        phases: built.phases,
    };
    let claim = device::check(&root, &drive, true, &[]).unwrap().claim().unwrap();
    let mut engine: Box<dyn Engine> = match engine {
        "io_uring" => Box::new(RingEngine::new(claim, 1)),
        _ => Box::new(UringEngine::new(claim, 1)),
    };
    let mut sums = Sums(None);
    carry_out(&plan, engine.as_mut(), &Control::default(), &mut NoReferee, &mut sums);
    let sum = sums.0.unwrap();
    let us = |percent| f64_of(sum.lat.percentile(percent).unwrap().0) / 1e3;
    println!("{}", json!({ "ios": sum.ios, "seconds": seconds, "p50_us": us(50.0), "p99_us": us(99.0) }));
}

/// The targets, all written once in full: a loop device with direct I/O over a file on tmpfs, and a file on
/// the filesystem of the target directory.
struct Bed {
    device: PathBuf,
    file: PathBuf,
    // Held so that the files live as long as the bed.
    _shm: tempfile::TempDir,
    _disk: tempfile::TempDir,
}

impl Bed {
    fn new() -> Self {
        let shm = tempfile::tempdir_in("/dev/shm").unwrap();
        let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (backing, file) = (shm.path().join("backing"), disk.path().join("file"));
        for path in [&backing, &file] {
            let written = Command::new("dd")
                .args(["if=/dev/urandom", "bs=1M", &format!("count={}", LEN >> 20), "conv=fsync", "status=none"])
                .arg(format!("of={}", path.display()))
                .status()
                .unwrap();
            assert!(written.success());
        }
        let losetup =
            Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(&backing).output().unwrap();
        assert!(losetup.status.success(), "{}", String::from_utf8_lossy(&losetup.stderr));
        let device = PathBuf::from(String::from_utf8(losetup.stdout).unwrap().trim());
        Self { device, file, _shm: shm, _disk: disk }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}
