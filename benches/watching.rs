//! What watching costs: `cargo bench --bench watching`.
//!
//! Two measurements, one JSON line each. *Runs*: 64 runs at once on files, each asked for so few I/Os that the I/O itself
//! costs next to nothing, one interval a second: the CPU time and the memory of the service. *Week*: a run of a week, one
//! interval a second, in the store: bytes an interval, and how long its page and its API take.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use drivescope::backend::{Backend, EngineChoice};
use drivescope::device::SysRoot;
use drivescope::model::approx::{f64_of, u64_of};
use drivescope::model::histogram::Precision;
use drivescope::model::interval::{Interval, Tally};
use drivescope::model::run::RunId;
use drivescope::model::seen::{DeviceCount, RunDelay, Seen};
use drivescope::model::units::{Bytes, Nanos};
use drivescope::scheduler::{self, Limits};
use drivescope::store::{Entry, Store};
use drivescope::web;
use http_body_util::BodyExt;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::SplitMix64;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Runs at once.
const RUNS: usize = 64;
/// How long they are watched.
const WATCHED: Duration = Duration::from_secs(20);
/// Seconds of a week.
const WEEK_S: u64 = 604_800;

fn main() {
    println!("{}", runs());
    println!("{}", week());
}

/// A service, ended with this value.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn runs() -> Value {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_drivescope"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(dir.path())
        .env("RUST_LOG", "warn")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let service = Service(child);
    let base = line.trim().strip_prefix("Drivescope is at ").unwrap().trim_end_matches('/').to_owned();
    let agent = ureq::Agent::new_with_defaults();
    let mut started = Vec::new();
    for number in 0..RUNS {
        let path = dir.path().join(format!("target-{number}"));
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let parameters = json!({ "rw": "randread", "rate_iops": 10, "runtime": 3600 });
        let body = json!({ "drive": path, "profile": "custom", "parameters": parameters });
        let answer = agent.post(format!("{base}/api/v1/runs")).send_json(&body).unwrap();
        let run: Value = serde_json::from_reader(answer.into_body().into_reader()).unwrap();
        started.push(run["id"].as_str().unwrap().to_owned());
    }
    std::thread::sleep(Duration::from_secs(5));
    let (pid, began) = (service.0.id(), Instant::now());
    let before = cpu_s(pid);
    std::thread::sleep(WATCHED);
    let used = (cpu_s(pid) - before) / began.elapsed().as_secs_f64();
    for run in &started {
        let mut answer = agent.get(format!("{base}/api/v1/runs/{run}")).call().unwrap();
        let run: Value = answer.body_mut().read_json().unwrap();
        assert_eq!(run["state"], "running", "{run}");
    }
    json!({ "bench": "watching", "runs": RUNS, "cpu_of_one_core": round(used), "rss_mib": rss_mib(pid) })
}

/// CPU time of a process, seconds (proc(5): fields 14 and 15 of stat, in ticks of 1/100 s).
fn cpu_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<u64> =
        stat.rsplit(')').next().unwrap().split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    f64_of(fields[11] + fields[12]) / 100.0
}

fn rss_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn week() -> Value {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let database = dir.path().join("drivescope.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&database).await.unwrap();
        let run = a_run(&store).await;
        let empty = std::fs::metadata(&database).unwrap().len();
        let mut dice = SplitMix64::seed_from_u64(1);
        let mut seq = 0;
        while seq < WEEK_S {
            let intervals: Vec<_> = (seq + 1..=seq + 1_000).map(|seq| interval(seq, &mut dice)).collect();
            let entries: Vec<_> = intervals.iter().map(|interval| Entry::Interval(run, interval)).collect();
            store.record(&entries).await.unwrap();
            seq += 1_000;
        }
        let backend = Backend::new(SysRoot::host(), true, None, EngineChoice::Psync, Vec::new());
        let shutdown = CancellationToken::new();
        let limits = Limits { in_all: 64, per_adapter: 8 };
        let (handle, scheduler) =
            scheduler::start(Arc::new(backend), store.clone(), limits, Duration::ZERO, shutdown.clone()).await.unwrap();
        let router = web::router(handle, store.clone(), shutdown.clone(), SocketAddr::from(([127, 0, 0, 1], 8080)));
        let timed = async |path: String| {
            let mut times = Vec::new();
            let mut len = 0;
            for _ in 0..9 {
                let began = Instant::now();
                let request = Request::get(&path).header("host", "127.0.0.1:8080").body(Body::empty()).unwrap();
                let response = router.clone().oneshot(request).await.unwrap();
                assert_eq!(response.status(), 200, "{path}");
                len = response.into_body().collect().await.unwrap().to_bytes().len();
                times.push(began.elapsed());
            }
            times.sort_unstable();
            (times[4].as_secs_f64() * 1e3, len)
        };
        let (page_ms, page_bytes) = timed(format!("/runs/{run}")).await;
        let (series_ms, series_bytes) = timed(format!("/api/v1/runs/{run}/series")).await;
        shutdown.cancel();
        scheduler.await.unwrap();
        store.close().await;
        let grown = std::fs::metadata(&database).unwrap().len() - empty;
        json!({
            "bench": "watching", "intervals": seq, "bytes_per_interval": round(f64_of(grown) / f64_of(seq)),
            "page_ms": round(page_ms), "page_bytes": page_bytes, "series_ms": round(series_ms), "series_bytes": series_bytes,
        })
    })
}

/// A run of a simulated drive, stored.
async fn a_run(store: &Store) -> RunId {
    let backend = Backend::new(SysRoot::host(), true, None, EngineChoice::Psync, Vec::new());
    let shutdown = CancellationToken::new();
    let limits = Limits { in_all: 64, per_adapter: 8 };
    let (handle, scheduler) =
        scheduler::start(Arc::new(backend), store.clone(), limits, Duration::ZERO, shutdown.clone()).await.unwrap();
    let parameters = json!({ "rw": "randread", "number_ios": 1 });
    let Value::Object(parameters) = parameters else { panic!("an object") };
    let request = drivescope::model::run::RunRequest {
        drive: "sim-cmr-14tb".to_owned(),
        profile: drivescope::model::profile::Profile::Custom,
        parameters,
        options: drivescope::model::options::RunOptions::default(),
        tunables: drivescope::model::tunable::Tunables::new(),
        confirm: None,
    };
    let run = handle.submit(request).await.unwrap().id;
    while handle.follow(run).is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    shutdown.cancel();
    scheduler.await.unwrap();
    run
}

/// A second of a disk with 130 random writes of 4 KiB around 7.5 ms, some of them much slower.
fn interval(seq: u64, dice: &mut SplitMix64) -> Interval {
    let mut write = Tally::new(Precision::Interval);
    for _ in 0..120 + dice.random_range(0..20_u64) {
        let slow = if dice.random_range(0..100_u8) == 0 { 10.0 } else { 1.0 };
        let ms = slow * (3.0 + 9.0 * dice.random::<f64>());
        write.record(Bytes(4096), Nanos(u64_of(ms * 1e6)));
    }
    let t = Nanos::from_secs(seq + 1);
    let device = DeviceCount {
        write_ios: write.ios,
        write_bytes: write.bytes,
        queue_ms: 990,
        busy_ms: 998,
        in_flight: 1,
        ..DeviceCount::default()
    };
    let run_delay = Some(RunDelay { total: Nanos(dice.random_range(0..900_000)), threads: 1 });
    let seen = Seen { device: Some(device), run_delay, temperature_celsius: Some(38.0) };
    Interval { write, seen: Some(Box::new(seen)), ..Interval::empty(seq + 1, 0, t, Nanos::from_secs(1)) }
}

fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
