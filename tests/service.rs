//! The built binary's life: start, stop, death, and starting again.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use harness::{Service, output, scratch};
use nix::sys::signal::Signal;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;

const BINARY: &str = env!("CARGO_BIN_EXE_drivescope");

fn refusal(arguments: &[&str]) -> String {
    let output = Command::new(BINARY).args(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?} was accepted");
    String::from_utf8(output.stderr).unwrap()
}

/// What SQLite says of its own file.
fn integrity(database: &Path) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(database).read_only(true);
        let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&pool).await.unwrap()
    })
}

/// Runs `inside` on a thread of its own that, with all its children, may not set up an io_uring: what a
/// container runtime's seccomp profile does.
fn without_io_uring<T: Send + 'static>(inside: impl FnOnce() -> T + Send + 'static) -> T {
    let forbidden = std::thread::spawn(move || {
        let rules = BTreeMap::from([(nix::libc::SYS_io_uring_setup, Vec::new())]);
        let refuse = SeccompAction::Errno(u32::try_from(nix::libc::EPERM).unwrap());
        let arch = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
        let program: BpfProgram = filter.try_into().unwrap();
        seccompiler::apply_filter(&program).unwrap();
        inside()
    });
    forbidden.join().unwrap()
}

#[test]
fn where_io_uring_is_refused_the_service_runs_says_so_and_probes_only_simulated_drives() {
    let dir = scratch();
    let path = dir.path().to_owned();
    let service = without_io_uring(move || Service::simulated(&path));
    let page = service.get("/").text;
    assert!(page.contains("io_uring") && page.contains("seccomp"), "the page says what to do: {page}");
    let file = dir.path().join("target");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    let problem = service.post("/api/v1/runs", &json!({ "drive": file, "profile": "inspect" })).problem(409);
    assert_eq!(problem["reasons"][0]["code"], "no-io-uring", "{problem}");
    assert!(problem["reasons"][0]["remedy"].as_str().unwrap().contains("seccomp"), "{problem}");
    let run = service.begin("sim-cmr-14tb", "custom", json!({ "rw": "randread", "runtime": 5 }));
    assert_eq!(service.wait_until_over(&run)["state"], "finished");
    drop(service);

    let path = dir.path().to_owned();
    let service = without_io_uring(move || Service::start(&path, &["--engine", "psync"]));
    let parameters = json!({ "rw": "randrw", "iodepth": 4, "number_ios": 1000 });
    let run = service.begin(file.to_str().unwrap(), "custom", parameters);
    let over = service.wait_until_over(&run);
    assert_eq!((&over["state"], &over["engine"]), (&json!("finished"), &json!("psync")), "{over}");
}

#[test]
fn list_prints_the_inventory_that_the_api_answers() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let listed: Value = serde_json::from_str(&output(BINARY, &["list", "--json", "--sim"])).unwrap();
    let served = service.get("/api/v1/drives").json();
    let ids = |inventory: &Value| {
        inventory["drives"].as_array().unwrap().iter().map(|drive| drive["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&listed), ids(&served));
    assert_eq!(listed["host"], served["host"]);
    let table = output(BINARY, &["list", "--sim"]);
    assert!(table.contains("sim-cmr-14tb") && table.contains("14.0 TB"), "{table}");
}

#[test]
fn a_start_that_cannot_succeed_says_why_in_one_line() {
    let dir = scratch();
    let data_dir = dir.path().to_str().unwrap();
    let service = Service::simulated(dir.path());
    let address = service.base.trim_start_matches("http://");
    for (arguments, expected) in [
        (vec!["serve", "--data-dir", data_dir, "--listen", "127.0.0.1:0"], "in use by another drivescope"),
        (vec!["serve", "--data-dir", &format!("{data_dir}/b"), "--listen", address], "cannot listen on"),
        (vec!["serve", "--listen", "0.0.0.0:0"], "whoever reaches it can overwrite drives"),
        (vec!["serve", "--sim-speed=-1"], "--sim-speed"),
        (vec!["list", "--sysroot", data_dir], "no recorded host"),
        (vec!["serve", "--data-dir", "/proc/none"], "/proc/none"),
    ] {
        let said = refusal(&arguments);
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("drivescope: ") && last.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn a_database_that_is_none_is_left_alone() {
    let dir = scratch();
    let database = dir.path().join("drivescope.db");
    std::fs::write(&database, "my thesis").unwrap();
    let said = refusal(&["serve", "--data-dir", dir.path().to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    assert!(said.contains("drivescope.db"), "{said}");
    assert_eq!(std::fs::read_to_string(&database).unwrap(), "my thesis");
}

#[test]
fn sigterm_drains_commits_and_leaves_runs_interrupted() {
    let dir = scratch();
    let mut service = Service::start(dir.path(), &["--sim", "--sim-speed", "20"]);
    let file = dir.path().join("target");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    let real = service.begin(
        file.to_str().unwrap(),
        "custom",
        json!({ "rw": "randwrite", "iodepth": 8, "runtime": 3600, "interval_ms": 100 }),
    );
    let simulated = service.begin("sim-cmr-14tb", "smr-quick", json!({}));
    service.wait_for_intervals(&real, 5);
    service.wait_for_intervals(&simulated, 5);
    service.signal(Signal::SIGTERM);
    assert_eq!(service.wait(), Some(0));

    let service = Service::simulated(dir.path());
    for id in [&real, &simulated] {
        let run = service.run(id);
        assert_eq!(run["state"], "interrupted", "{run}");
        assert_eq!(run["stop_reason"]["reason"], "service-stopped");
        let intervals = service.intervals(id);
        assert!(intervals.len() >= 5);
        assert_eq!(run["progress"]["last_seq"], intervals.len());
    }
    // Every I/O that was issued has been counted: the sums of the phase are those of its intervals.
    let latency = service.get(&format!("/api/v1/runs/{real}/latency")).json();
    let counted: u64 = service.intervals(&real).iter().map(|interval| interval["write"]["ios"].as_u64().unwrap()).sum();
    assert_eq!(latency["phases"][0]["write"]["ios"], counted);
}

#[test]
fn after_kill_9_the_run_is_interrupted_with_its_intervals_and_the_service_starts() {
    let dir = scratch();
    let mut service = Service::start(dir.path(), &["--sim", "--sim-speed", "20"]);
    let run = service.begin("sim-dm-14tb", "smr-quick", json!({}));
    let seen = service.wait_for_intervals(&run, 20)["progress"]["last_seq"].as_u64().unwrap();
    service.signal(Signal::SIGKILL);
    assert_eq!(service.wait(), None);

    let service = Service::simulated(dir.path());
    let found = service.run(&run);
    assert_eq!(found["state"], "interrupted", "{found}");
    assert!(service.intervals(&run).len() as u64 >= seen, "what was shown is stored");
    let events = service.events(&run, None);
    assert_eq!(events.last().map(|(name, ..)| name.as_str()), Some("end"));
    assert_eq!(integrity(&dir.path().join("drivescope.db")), "ok");
    let again = service.begin("sim-dm-14tb", "inspect", json!({}));
    assert_eq!(service.wait_until_over(&again)["state"], "finished");
}

#[test]
fn an_open_stream_does_not_keep_the_service_from_ending() {
    let dir = scratch();
    let mut service = Service::start(dir.path(), &["--sim", "--sim-speed", "1"]);
    let run = service.begin("sim-cmr-14tb", "inspect", json!({}));
    let url = format!("{}/api/v1/runs/{run}/events", service.base);
    let mut stream = service.agent.get(url).call().unwrap();
    service.signal(Signal::SIGTERM);
    assert_eq!(service.wait(), Some(0));
    assert!(stream.body_mut().read_to_string().unwrap().contains("event: run"));
}
