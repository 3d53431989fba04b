//! The engine beside fio, in one run: `cargo bench --bench engine [-- --pairs N --seconds S --only TEXT --engine NAME]`.
//!
//! Needs root (it binds a loop device over a file on tmpfs) and fio. Machines are shared and noisy, so
//! the two alternate, and what counts is the median of the ratios of neighbours (ours over fio's).
//! fio runs with `ioengine=io_uring`, `fixedbufs`, `registerfiles`, one job; both count a latency from
//! before the submission (fio's `lat`). Every measurement is a process of its own, so its CPU time is whole.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;

use drivescope::device::{self, Claimed, SysRoot};
use drivescope::model::approx::f64_of;
use drivescope::model::drive::DriveId;
use drivescope::model::interval::Tally;
use drivescope::model::plan::Plan;
use drivescope::model::profile::{Pace, Profile, Target, build};
use drivescope::model::units::Bytes;
use drivescope::probe::control::Control;
use drivescope::probe::engine::Engine;
use drivescope::probe::event::{EventSink, ProbeEvent};
use drivescope::probe::psync::PsyncEngine;
use drivescope::probe::referee::NoReferee;
use drivescope::probe::ring::RingEngine;
use drivescope::probe::run::carry_out;
use drivescope::probe::uring::UringEngine;
use drivescope::probe::witness::NoWitness;
use serde_json::{Value, json};

const LEN: u64 = 1 << 30;
/// Takes everything at once and keeps nothing: what is measured there is the engine alone.
const NULL: &str = "/dev/null";

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
    if let [flag, engine, path, rw, bs, iodepth, distribution, seconds] = arguments.as_slice()
        && flag == "--child"
    {
        let seconds: u64 = seconds.parse().unwrap();
        let parameters = json!({
            "rw": rw, "norandommap": true, "bs": bs, "iodepth": iodepth.parse::<u32>().unwrap(),
            "random_distribution": distribution, "runtime": seconds, "size": LEN
        });
        return child(engine, Path::new(path), parameters, seconds);
    }
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let pairs: usize = option("--pairs").map_or(7, |text| text.parse().unwrap());
    let seconds: u64 = option("--seconds").map_or(2, |text| text.parse().unwrap());
    let only = option("--only").unwrap_or_default();
    let engine = option("--engine");
    let engines: Vec<_> =
        ENGINES.into_iter().filter(|name| engine.as_ref().is_none_or(|wanted| wanted == name)).collect();
    if !nix::unistd::geteuid().is_root() {
        eprintln!("this bench binds a loop device: run it as root");
        std::process::exit(1);
    }
    let version = Command::new("fio").arg("--version").output().expect("fio: install it (apt-get install fio)");
    println!("beside {}", String::from_utf8_lossy(&version.stdout).trim());

    let bed = Bed::new();
    println!("| engine | target | rw | bs | iodepth | ours IOPS | fio IOPS | IOPS | CPU per I/O | p50 | p99 |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    let null = PathBuf::from(NULL);
    for (target, path) in [("loop", &bed.device), ("ext4", &bed.file), ("null", &null)] {
        for rw in ["randread", "randwrite"] {
            for iodepth in [1, 32, 128] {
                // Nothing can be read from it.
                if target == "null" && rw == "randread" {
                    continue;
                }
                if !format!("{target} {rw} {iodepth}").contains(&only) {
                    continue;
                }
                let asked = Asked { rw, bs: "4k", iodepth, distribution: "random", seconds };
                lines.extend(cell(target, path, asked, &engines, pairs));
            }
        }
    }
    // Thread 3: block sizes one at a time. Thread 4: queue depths under a skewed load.
    let thread_3 = ["4k", "1m", "10m", "100m"].map(|bs| Asked {
        rw: "randwrite",
        bs,
        iodepth: 1,
        distribution: "random",
        seconds,
    });
    let thread_4 =
        [1, 2, 4, 8, 16].map(|iodepth| Asked { rw: "randwrite", bs: "4k", iodepth, distribution: "zipf:1.1", seconds });
    for (name, asked) in
        thread_3.iter().map(|asked| ("thread-3", asked)).chain(thread_4.iter().map(|asked| ("thread-4", asked)))
    {
        if format!("{name} {} {}", asked.bs, asked.iodepth).contains(&only) {
            lines.extend(cell(name, &bed.device, *asked, &engines, pairs));
        }
    }
    for line in lines {
        println!("{line}");
    }
}

/// What is asked of both.
#[derive(Debug, Clone, Copy)]
struct Asked {
    rw: &'static str,
    bs: &'static str,
    iodepth: u32,
    distribution: &'static str,
    seconds: u64,
}

/// The engines that are held against fio, by their names in results; the default first.
const ENGINES: [&str; 3] = ["io_uring", "tokio-uring", "psync"];

fn cell(target: &str, path: &Path, asked: Asked, engines: &[&'static str], pairs: usize) -> Vec<Value> {
    let mut measured: Vec<Vec<(Figures, Figures)>> = vec![Vec::new(); engines.len()];
    for round in 0..pairs {
        for (engine, pairs) in engines.iter().zip(&mut measured) {
            // Who goes first changes, so that a drift of the machine favours nobody.
            pairs.push(if round % 2 == 0 {
                let ours = ours(engine, path, asked);
                (ours, fio(path, asked))
            } else {
                let fio = fio(path, asked);
                (ours(engine, path, asked), fio)
            });
        }
    }
    let Asked { rw, bs, iodepth, .. } = asked;
    let mut lines = Vec::new();
    for (engine, measured) in engines.iter().zip(&measured) {
        let ratio = |figure: fn(&Figures) -> f64| median(measured.iter().map(|(ours, fio)| figure(ours) / figure(fio)));
        let (iops, cpu) = (ratio(|figures| figures.iops), ratio(|figures| figures.cpu_us_per_io));
        let (p50, p99) = (ratio(|figures| figures.p50_us), ratio(|figures| figures.p99_us));
        println!(
            "| {engine} | {target} | {rw} | {bs} | {iodepth} | {:.0} | {:.0} | {iops:.2} | {cpu:.2} | {p50:.2} | {p99:.2} |",
            median(measured.iter().map(|(ours, _)| ours.iops)),
            median(measured.iter().map(|(_, fio)| fio.iops)),
        );
        lines.push(json!({
            "bench": "engine", "engine": engine, "target": target, "rw": rw, "bs": bs, "iodepth": iodepth, "pairs": pairs,
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

fn fio(path: &Path, asked: Asked) -> Figures {
    let Asked { rw, bs, iodepth, distribution, seconds } = asked;
    let (cpu_us, text) = timed(Command::new("fio").args([
        "--name=a",
        "--ioengine=io_uring",
        "--fixedbufs",
        "--registerfiles",
        if path == Path::new(NULL) { "--direct=0" } else { "--direct=1" },
        &format!("--bs={bs}"),
        &format!("--random_distribution={distribution}"),
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

fn ours(engine: &str, path: &Path, asked: Asked) -> Figures {
    let Asked { rw, bs, iodepth, distribution, seconds } = asked;
    let (cpu_us, text) = timed(Command::new(std::env::current_exe().unwrap()).args([
        "--child",
        engine,
        path.to_str().unwrap(),
        rw,
        bs,
        &iodepth.to_string(),
        distribution,
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
fn child(engine: &str, path: &Path, parameters: Value, seconds: u64) {
    let root = SysRoot::host();
    let claim = if path == Path::new(NULL) {
        Claimed::of_nothing(Bytes(LEN)).unwrap()
    } else {
        let drive = device::resolve(&root, &device::scan(&root), path.to_str().unwrap()).unwrap().drive;
        device::check(&root, &drive, true, &[]).unwrap().claim().unwrap()
    };
    let Value::Object(parameters) = parameters else { panic!("an object") };
    let target =
        Target { capacity: claim.capacity(), logical_block: claim.logical_block(), pace: Pace::FLASH, zones: None };
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
        tunables: std::collections::BTreeMap::new(),
        phases: built.phases,
    };
    let mut engine: Box<dyn Engine> = match engine {
        "io_uring" => Box::new(RingEngine::new(claim, 1)),
        "psync" => Box::new(PsyncEngine::new(claim, 1)),
        _ => Box::new(UringEngine::new(claim, 1)),
    };
    let mut sums = Sums(None);
    carry_out(&plan, engine.as_mut(), Box::new(NoWitness), &Control::default(), &mut NoReferee, &mut sums);
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
