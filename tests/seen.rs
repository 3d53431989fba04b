//! What others than the engine see: the block layer's count, the settings of a device, the kernel's log. On loop devices of
//! this host (needs root) and on simulated drives.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use drivescope::model::histogram::Precision;
use drivescope::model::interval::{Interval, Tally};
use drivescope::model::run::Run;
use drivescope::model::seen::{DeviceCount, RunDelay, Seen};
use drivescope::model::units::{Bytes, Nanos};
use drivescope::store::{Entry, Store};
use harness::{LoopDevice, PATIENCE, Service, scratch};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

fn setting(device: &LoopDevice, name: &str) -> String {
    std::fs::read_to_string(format!("/sys/block/{}/queue/{name}", device.name)).unwrap().trim().to_owned()
}

fn found<'a>(run: &'a Value, name: &str) -> &'a Value {
    let list = run["conditions"]["found"].as_array().unwrap();
    list.iter().find(|condition| condition["name"] == name).unwrap_or_else(|| panic!("no {name} in {list:?}"))
}

/// Starts a run with settings. Its id.
fn begin_with(service: &Service, device: &LoopDevice, parameters: Value, tunables: Value) -> String {
    let body = json!({
        "drive": device.path, "profile": "custom", "parameters": parameters, "tunables": tunables,
        "confirm": device.path,
    });
    let answer = service.post("/api/v1/runs", &body);
    assert_eq!(answer.status, 202, "{}", answer.text);
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_request_larger_than_the_device_takes_is_said_to_be_split_and_whose_limit_it_is() {
    let dir = scratch();
    let device = LoopDevice::new(dir.path(), 256 * MIB, &[]);
    for engine in ["io_uring", "tokio-uring", "psync"] {
        let data = scratch();
        let service = Service::start(data.path(), &["--engine", engine]);
        service.post("/api/v1/drives/rescan", &json!({}));
        let parameters = json!({ "rw": "read", "bs": "16m", "iodepth": 2, "interval_ms": 100, "number_ios": 16 });
        let run = service.begin(&device.path, "custom", parameters);
        let over = service.wait_until_over(&run);
        assert_eq!(over["state"], "finished", "{over}");
        let seen = &over["phases"][0]["seen"];
        assert_eq!((&seen["asked_ios"], &seen["asked_bytes"]), (&json!(16), &json!(256 * MIB)), "{engine}: {seen}");
        assert_eq!(seen["device_bytes"], json!(256 * MIB), "{engine}: {seen}");
        let split = &seen["split"];
        assert_eq!(split["fate"], "split", "{engine}: {seen}");
        assert!(split["parts"].as_f64().unwrap() > 10.0, "{engine}: {split}");
        let sentence = split["sentence"].as_str().unwrap();
        assert!(sentence.starts_with("Requests of 16.0 MiB reached the device as "), "{engine}: {sentence}");
        let intervals = service.intervals(&run);
        let bytes: u64 = intervals.iter().map(|i| i["seen"]["device_bytes"].as_u64().unwrap()).sum();
        assert_eq!(bytes, 256 * MIB, "{engine}");
        assert!(intervals.iter().all(|i| i["seen"]["run_delay_ns"].is_u64()), "{engine}: {intervals:?}");
        assert_eq!(found(&over, "queue/max_sectors_kb")["value"], setting(&device, "max_sectors_kb"));
        assert_eq!(over["conditions"]["device_count"]["shared"], false);
    }
}

#[test]
fn a_file_has_the_count_of_its_disk_which_others_share_or_none() {
    let dir = scratch();
    let file = dir.path().join("target");
    std::fs::write(&file, vec![7; 4 << 20]).unwrap();
    let data = scratch();
    let service = Service::start(data.path(), &[]);
    let run = service.begin(file.to_str().unwrap(), "custom", json!({ "rw": "read", "bs": "64k", "interval_ms": 50 }));
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "finished", "{over}");
    let count = &over["conditions"]["device_count"];
    if count["unknown"].is_null() {
        assert_eq!(count["shared"], true, "{count}");
        assert!(over["phases"][0]["seen"]["device_ios"].as_u64().unwrap() > 0, "{over}");
    } else {
        assert!(over["phases"][0]["seen"]["device_ios"].as_u64() == Some(0), "{over}");
    }
}

#[test]
fn settings_are_those_of_the_run_while_it_runs_and_as_found_on_every_end() {
    let dir = scratch();
    let device = LoopDevice::new(dir.path(), 64 * MIB, &[]);
    let names = ["max_sectors_kb", "read_ahead_kb", "scheduler", "nr_requests", "nomerges"];
    let before: Vec<String> = names.iter().map(|name| setting(&device, name)).collect();
    let now = || names.iter().map(|name| setting(&device, name)).collect::<Vec<_>>();
    let data = scratch();
    let mut service = Service::start(data.path(), &[]);
    service.post("/api/v1/drives/rescan", &json!({}));
    let parameters = json!({ "rw": "randread", "bs": "1m", "runtime": 600, "interval_ms": 100 });
    let wanted = json!({ "max_sectors_kb": 64, "scheduler": "mq-deadline", "read_ahead_kb": 512, "nomerges": 2 });

    // Nothing is written for a request that does not fit.
    for wrong in
        [json!({ "cache_type": "write through" }), json!({ "scheduler": "deadline9" }), json!({ "nr_requests": 1 })]
    {
        let mut both = wrong.clone();
        both["read_ahead_kb"] = json!(4);
        let body = json!({ "drive": device.path, "profile": "custom", "parameters": parameters, "tunables": both,
                           "confirm": device.path });
        let problem = service.post("/api/v1/runs", &body).problem(422);
        let field = format!("tunables.{}", wrong.as_object().unwrap().keys().next().unwrap());
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    assert_eq!(now(), before);

    // Cancelled.
    let run = begin_with(&service, &device, parameters.clone(), wanted.clone());
    let running = service.wait_for_intervals(&run, 2);
    assert_eq!((setting(&device, "max_sectors_kb"), setting(&device, "nomerges")), ("64".into(), "2".into()));
    assert!(setting(&device, "scheduler").contains("[mq-deadline]"));
    let changed = running["conditions"]["changed"].as_array().unwrap();
    assert!(changed.iter().all(|change| change["restored"] == false && change["found"].is_string()), "{running}");
    service.post(&format!("/api/v1/runs/{run}/cancel"), &json!({}));
    let over = service.wait_until_over(&run);
    assert_eq!(now(), before, "after a cancel");
    let changed = over["conditions"]["changed"].as_array().unwrap();
    assert!(changed.iter().all(|change| change["restored"] == true), "{changed:?}");
    let split = &over["phases"][0]["seen"]["split"];
    assert_eq!((&split["owner"], &split["limit_bytes"]), (&json!("run"), &json!(64 * 1024)), "{split}");

    // The service is told to end.
    let run = begin_with(&service, &device, parameters.clone(), wanted.clone());
    service.wait_for_intervals(&run, 2);
    service.signal(Signal::SIGTERM);
    assert_eq!(service.wait(), Some(0));
    assert_eq!(now(), before, "after SIGTERM");

    // It is killed: nobody is left to put anything back, until it is started again.
    let mut service = Service::start(data.path(), &[]);
    let run = begin_with(&service, &device, parameters.clone(), wanted.clone());
    service.wait_for_intervals(&run, 2);
    service.signal(Signal::SIGKILL);
    assert_eq!(service.wait(), None);
    assert_eq!(setting(&device, "max_sectors_kb"), "64");
    let service = Service::start(data.path(), &[]);
    assert_eq!(now(), before, "after kill -9 and a new start");
    let over = service.run(&run);
    assert_eq!(over["state"], "interrupted");
    let changed = over["conditions"]["changed"].as_array().unwrap();
    assert!(changed.iter().all(|change| change["restored"] == true), "{changed:?}");

    // An I/O fails.
    let run = begin_with(&service, &device, parameters, wanted);
    service.wait_for_intervals(&run, 2);
    std::fs::File::options().write(true).open(&device.backing).unwrap().set_len(4096).unwrap();
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "failed", "{over}");
    assert_eq!(now(), before, "after an error");
    // What the kernel said of it is there, if this process may read that at all.
    let log = over["kernel_log"].as_array().unwrap();
    if over["kernel_log_note"].as_str().is_none_or(|note| !note.contains("/dev/kmsg")) {
        let told = log.iter().any(|line| line["text"].as_str().unwrap().contains(&device.name));
        assert!(told, "{} {}", over["kernel_log"], over["kernel_log_note"]);
    }
    assert!(log.len() <= 50);
}

#[test]
fn a_simulated_link_splits_by_its_own_limit_and_its_cache_is_switched_on_and_off() {
    let data = scratch();
    let service = Service::simulated(data.path());
    let drive = service.drive("sim-cmr-14tb")["id"].as_str().unwrap().to_owned();
    let parameters = json!({ "rw": "write", "bs": "512m", "number_ios": 8, "iodepth": 1 });
    let over = service.wait_until_over(&service.begin(&drive, "custom", parameters));
    let split = &over["phases"][0]["seen"]["split"];
    assert_eq!((&split["parts"], &split["limit_bytes"]), (&json!(2048.0), &json!(256 << 10)), "{over}");

    let over = service.wait_until_over(&service.begin(&drive, "write-cache", json!({ "phase_s": 20 })));
    assert_eq!(over["state"], "finished", "{over}");
    let phases = over["plan"]["phases"].as_array().unwrap();
    let wrote = |name: &str| {
        let index = phases.iter().position(|phase| phase["name"] == name).unwrap();
        over["phases"][index]["seen"]["device_ios"].as_u64().unwrap()
    };
    let (on, off, found) = (wrote("on-no-flush"), wrote("off-no-flush"), wrote("no-flush"));
    assert!(on > off * 3 / 2, "{on} {off}");
    assert!(on.abs_diff(found) < on / 10, "this drive has its cache on: {on} {found}");
    let change = &over["conditions"]["changed"][0];
    assert_eq!((&change["found"], &change["restored"]), (&json!("write back"), &json!(true)), "{change}");

    // Whoever only reads may have others beside it.
    let body = json!({ "drive": drive, "profile": "inspect", "tunables": { "cache_type": "write through" } });
    let problem = service.post("/api/v1/runs", &body).problem(422);
    assert_eq!(problem["errors"][0]["field"], "tunables.cache_type", "{problem}");

    // Flash has no such switch: those phases are left out before anything begins, and that is said.
    let ssd = service.drive("sim-ssd-1tb")["id"].as_str().unwrap().to_owned();
    let body = json!({ "drive": ssd, "profile": "write-cache", "dry_run": true });
    let plan = service.post("/api/v1/runs", &body).json();
    assert_eq!(plan["phases"].as_array().unwrap().len(), 3, "{plan}");
    assert!(plan["notes"].to_string().contains("no cache_type"), "{}", plan["notes"]);
}

/// A second of a disk at queue depth 32: some 500 latencies over two decades.
fn typical(seq: u64, random: &mut impl FnMut() -> u64) -> Interval {
    let mut write = Tally::new(Precision::Interval);
    for _ in 0..480 + random() % 40 {
        write.record(Bytes(4096), Nanos(500_000 + random() % 4_000_000 + (random() % 100 / 97) * 60_000_000));
    }
    let device = DeviceCount {
        write_ios: write.ios,
        write_bytes: write.bytes,
        queue_ms: 31_000 + random() % 1_000,
        busy_ms: 990 + random() % 10,
        in_flight: 32,
        ..DeviceCount::default()
    };
    let run_delay = Some(RunDelay { total: Nanos(2_000_000 + random() % 1_000_000), threads: 1 });
    let seen = Seen { device: Some(device), run_delay, temperature_celsius: Some(41.0) };
    let t = Nanos(seq * 1_000_000_000 + 7);
    Interval { write, seen: Some(Box::new(seen)), ..Interval::empty(seq, 3, t, Nanos::from_secs(1)) }
}

#[tokio::test]
async fn a_week_of_seconds_fits_into_two_hundred_bytes_each() {
    const COUNT: u64 = 5_000;
    // A run as it really is, of a simulated drive; its intervals are made.
    let (run, drive) = {
        let data = scratch();
        let service = Service::simulated(data.path());
        let drive = service.drive("sim-ssd-1tb");
        let run = service.begin(drive["id"].as_str().unwrap(), "custom", json!({ "rw": "read", "number_ios": 9 }));
        (service.wait_until_over(&run), drive)
    };
    let run: Run = serde_json::from_value(run).unwrap();
    let drive = serde_json::from_value(drive).unwrap();
    let dir = scratch();
    let path = dir.path().join("db");
    let store = Store::open(&path).await.unwrap();
    store.remember_drive(&drive, &run.host, 0).await.unwrap();
    store.insert_run(&run).await.unwrap();
    store.close().await;
    let empty = std::fs::metadata(&path).unwrap().len();
    let store = Store::open(&path).await.unwrap();
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let intervals: Vec<Interval> = (1..=COUNT).map(|seq| typical(seq, &mut random)).collect();
    for batch in intervals.chunks(100) {
        let entries: Vec<_> = batch.iter().map(|interval| Entry::Interval(run.id, interval)).collect();
        store.record(&entries).await.unwrap();
    }
    assert_eq!(store.last_intervals(run.id, 1).await.unwrap()[0], intervals[intervals.len() - 1]);
    store.close().await;
    let each = (std::fs::metadata(&path).unwrap().len() - empty) / COUNT;
    let last = &intervals[intervals.len() - 1];
    let (histogram, seen) = (last.write.lat.encode().len(), last.seen.as_ref().unwrap().pack().len());
    println!("{each} bytes an interval, of these {histogram} its histogram and {seen} what was seen");
    assert!(each <= 200, "{each}");
}

#[test]
fn a_run_ends_although_the_one_who_looks_after_the_drive_does_not() {
    // The thread looks every ten seconds; a run of half a second must not wait for the next look.
    let dir = scratch();
    let device = LoopDevice::new(dir.path(), 16 * MIB, &[]);
    let data = scratch();
    let service = Service::start(data.path(), &[]);
    service.post("/api/v1/drives/rescan", &json!({}));
    let began = Instant::now();
    let run = service.begin(&device.path, "custom", json!({ "rw": "read", "bs": "64k", "number_ios": 10 }));
    service.wait_until_over(&run);
    assert!(began.elapsed() < PATIENCE.min(Duration::from_secs(9)), "{:?}", began.elapsed());
}
