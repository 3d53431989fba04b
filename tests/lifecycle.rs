//! Runs that are killed, come back and go on; that wait for their turn; that have limits. Through the built binary.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use harness::{LoopDevice, Service, is_over, output, scratch};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;

const MIB: u64 = 1 << 20;
/// Kills of the service at random moments: what the product promises to survive.
const KILLS: u32 = 200;

/// What SQLite says of its own file.
fn integrity(data_dir: &Path) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(data_dir.join("drivescope.db")).read_only(true);
        let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&pool).await.unwrap()
    })
}

fn killed(mut service: Service) {
    service.signal(Signal::SIGKILL);
    assert_eq!(service.wait(), None);
}

fn resume(service: &Service, run: &str) {
    let answer = service.post(&format!("/api/v1/runs/{run}/resume"), &json!({}));
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// Asks for a run with options, its phrase typed back.
fn begin(service: &Service, drive: &str, parameters: &Value, options: &Value) -> String {
    let mut body =
        json!({ "drive": drive, "profile": "custom", "parameters": parameters, "options": options, "dry_run": true });
    let plan = service.post("/api/v1/runs", &body);
    assert_eq!(plan.status, 200, "{}", plan.text);
    body["confirm"] = plan.json()["confirm_phrase"].clone();
    body["dry_run"] = json!(false);
    let run = service.post("/api/v1/runs", &body);
    assert_eq!(run.status, 202, "{}", run.text);
    run.json()["id"].as_str().unwrap().to_owned()
}

/// Intervals of a run in order, after a check that none is missing or doubled and no time goes back.
fn course(service: &Service, run: &str) -> Vec<Value> {
    let intervals = service.intervals(run);
    for pair in intervals.windows(2) {
        assert!(pair[0]["t_ms"].as_u64() <= pair[1]["t_ms"].as_u64(), "{pair:?}");
        assert!(pair[0]["phase"].as_u64() <= pair[1]["phase"].as_u64(), "{pair:?}");
    }
    intervals
}

#[test]
fn a_simulated_run_that_is_killed_twice_ends_as_one_that_was_not() {
    let dir = scratch();
    let parameters = json!({ "floor_s": 10 });
    let mut service = Service::start(dir.path(), &["--sim", "--sim-speed", "150"]);
    let run = service.begin("sim-dm-14tb", "smr-quick", parameters.clone());
    for intervals in [15, 120] {
        let seen = service.wait_for_intervals(&run, intervals)["progress"]["last_seq"].as_u64().unwrap();
        killed(service);
        service = Service::start(dir.path(), &["--sim", "--sim-speed", "150"]);
        let found = service.run(&run);
        assert_eq!(found["state"], "interrupted", "{found}");
        assert!(course(&service, &run).len() as u64 >= seen, "what was shown is stored");
        resume(&service, &run);
        resume(&service, &run);
    }
    drop(service);
    // Nobody watches any more.
    let service = Service::simulated(dir.path());
    resume(&service, &run);
    let over = service.wait_until_over(&run);
    assert_eq!((&over["state"], &over["verdict"]["state"]), (&json!("finished"), &json!("drive-managed")), "{over}");
    assert_eq!(over["resumed_at_ms"].as_array().unwrap().len(), 3);
    let whole = service.begin("sim-dm-14tb", "smr-quick", parameters);
    let whole = service.wait_until_over(&whole);
    let phases = |run: &Value| -> Vec<(u64, bool)> {
        let phases = run["phases"].as_array().unwrap().iter();
        phases.map(|phase| (phase["phase"].as_u64().unwrap(), phase["started_t_ms"].is_null())).collect()
    };
    assert_eq!(phases(&over), phases(&whole), "the same phases in the same order, each once");
    let elapsed = |run: &Value| run["progress"]["elapsed_s"].as_f64().unwrap();
    let ratio = elapsed(&over) / elapsed(&whole);
    assert!((0.95..1.05).contains(&ratio), "{} s against {} s", elapsed(&over), elapsed(&whole));
    let sums = service.get(&format!("/api/v1/runs/{run}/latency")).json();
    let counted: u64 = course(&service, &run).iter().map(|interval| interval["write"]["ios"].as_u64().unwrap()).sum();
    let summed: u64 =
        sums["phases"].as_array().unwrap().iter().map(|phase| phase["write"]["ios"].as_u64().unwrap()).sum();
    assert_eq!(summed, counted, "the sums of the phases are those of all intervals, before and after");
}

#[test]
fn every_block_is_written_although_the_service_is_killed_while_it_writes() {
    let dir = scratch();
    let file = dir.path().join("target");
    let len = 512 * MIB;
    std::fs::File::create(&file).unwrap().set_len(len).unwrap();
    output("fallocate", &["--length", &len.to_string(), file.to_str().unwrap()]);
    let mut service = Service::start(dir.path(), &[]);
    let parameters = json!({ "bs": "4k", "iodepth": 4, "interval_ms": 50 });
    let run = service.begin(file.to_str().unwrap(), "verify", parameters);
    for intervals in [6, 14] {
        service.wait_for_intervals(&run, intervals);
        killed(service);
        service = Service::start(dir.path(), &[]);
        assert_eq!(service.run(&run)["state"], "interrupted");
        resume(&service, &run);
    }
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "finished", "{over}");
    let told = over["phases"].as_array().unwrap().last().unwrap()["ended_by"].as_str().unwrap().to_owned();
    assert!(told.contains("came back as they were written"), "{told}");
    course(&service, &run);
}

#[test]
fn two_hundred_kills_at_random_moments_lose_nothing_that_was_shown_and_leave_the_database_sound() {
    let dir = scratch();
    let file = dir.path().join("target");
    std::fs::write(&file, vec![1; 8 << 20]).unwrap();
    let file = file.to_str().unwrap();
    let real = json!({ "rw": "randrw", "iodepth": 8, "runtime": 3600, "interval_ms": 50 });
    let simulated = json!({ "rw": "randwrite", "runtime": 3000, "interval_ms": 1000 });
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    let mut shown: Vec<(String, u64)> = Vec::new();
    let mut survived = 0;
    for _ in 0..KILLS {
        let service = Service::start(dir.path(), &["--sim", "--sim-speed", "1000"]);
        for (run, seq) in &shown {
            let stored = course(&service, run).len() as u64;
            assert!(stored >= *seq, "{run}: {stored} stored, {seq} were shown");
            let found = service.run(run);
            // A run that was killed before its turn came is queued still, and has perhaps begun again.
            if is_over(found["state"].as_str().unwrap()) {
                assert_eq!(found["progress"]["last_seq"], stored, "{found}");
            }
        }
        for (target, parameters) in [(file, &real), ("sim-cmr-14tb", &simulated)] {
            let unfinished = shown.iter().find(|(run, _)| {
                let run = service.run(run);
                run["state"] != "finished" && (run["simulated"] == json!(true)) == (target != file)
            });
            match unfinished {
                Some((run, _)) => resume(&service, run),
                None => shown.push((begin(&service, target, parameters, &json!({})), 0)),
            }
        }
        // xorshift64: the moment is another each time, and the same in every run of this test.
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        std::thread::sleep(Duration::from_millis(20 + dice % 250));
        for (run, seq) in &mut shown {
            *seq = service.run(run)["progress"]["last_seq"].as_u64().unwrap();
        }
        killed(service);
        assert_eq!(integrity(dir.path()), "ok");
        survived += 1;
    }
    println!(
        "{survived} kills survived, {} runs, {} intervals",
        shown.len(),
        shown.iter().map(|run| run.1).sum::<u64>()
    );
    assert!(shown.iter().map(|run| run.1).sum::<u64>() > u64::from(KILLS), "hardly anything was recorded: {shown:?}");
}

#[test]
fn at_most_two_seconds_are_lost_to_a_kill() {
    let dir = scratch();
    let file = dir.path().join("target");
    std::fs::write(&file, vec![1; 8 << 20]).unwrap();
    let service = Service::start(dir.path(), &[]);
    let run = begin(&service, file.to_str().unwrap(), &json!({ "rw": "randread", "runtime": 3600 }), &json!({}));
    service.wait_for_intervals(&run, 1);
    let (began, first) = (Instant::now(), service.run(&run)["progress"]["elapsed_s"].as_f64().unwrap());
    std::thread::sleep(Duration::from_millis(3_700));
    let lived_s = began.elapsed().as_secs_f64();
    killed(service);
    let service = Service::start(dir.path(), &[]);
    let kept_s = service.run(&run)["progress"]["elapsed_s"].as_f64().unwrap() - first;
    assert!(lived_s - kept_s <= 2.0, "{kept_s} s of {lived_s} s were kept");
}

#[test]
fn a_run_goes_on_only_on_what_it_was_confirmed_for() {
    let dir = scratch();
    let data = scratch();
    let parameters = json!({ "rw": "randwrite", "offset": 32 * MIB, "runtime": 3600, "interval_ms": 50 });
    let device = LoopDevice::new(dir.path(), 64 * MIB, &[]);
    let service = Service::start(data.path(), &[]);
    service.post("/api/v1/drives/rescan", &json!({}));
    let run = service.begin(&device.path, "custom", parameters.clone());
    service.wait_for_intervals(&run, 2);
    killed(service);
    // Another device gets the same name.
    output("losetup", &["--detach", &device.path]);
    let other = dir.path().join("somebody-else's");
    std::fs::write(&other, vec![9; usize::try_from(64 * MIB).unwrap()]).unwrap();
    output("losetup", &[&device.path, other.to_str().unwrap()]);
    let service = Service::start(data.path(), &[]);
    service.post("/api/v1/drives/rescan", &json!({}));
    let problem = service.post(&format!("/api/v1/runs/{run}/resume"), &json!({})).problem(409);
    assert_eq!(problem["reasons"][0]["code"], "changed", "{problem}");
    assert_eq!(service.run(&run)["state"], "interrupted");
    assert!(std::fs::read(&other).unwrap().iter().all(|byte| *byte == 9), "not one byte of the other has changed");
    drop(service);

    // A file on which somebody has put something meanwhile.
    let file = dir.path().join("spare");
    std::fs::File::create(&file).unwrap().set_len(64 * MIB).unwrap();
    let service = Service::start(data.path(), &[]);
    let parameters = json!({ "rw": "randwrite", "runtime": 3600, "interval_ms": 50 });
    let run = service.begin(file.to_str().unwrap(), "custom", parameters);
    service.wait_for_intervals(&run, 2);
    killed(service);
    output("mkfs.ext4", &["-q", "-F", "-L", "photos", file.to_str().unwrap()]);
    let before = output("sha256sum", &[file.to_str().unwrap()]);
    let service = Service::start(data.path(), &[]);
    let problem = service.post(&format!("/api/v1/runs/{run}/resume"), &json!({})).problem(409);
    assert!(problem["detail"].as_str().unwrap().contains("ext4"), "{problem}");
    assert_eq!(output("sha256sum", &[file.to_str().unwrap()]), before);
}

#[test]
fn what_asked_for_it_goes_on_by_itself_and_the_queue_outlives_the_service() {
    let dir = scratch();
    let service = Service::start(dir.path(), &["--sim", "--sim-speed", "50", "--max-runs", "1"]);
    let long = json!({ "rw": "randread", "runtime": 600, "interval_ms": 1000 });
    let first = begin(&service, "sim-cmr-14tb", &long, &json!({ "resume_after_restart": true }));
    let short = json!({ "rw": "randread", "number_ios": 50 });
    let second = begin(&service, "sim-cmr-4tb", &short, &json!({}));
    service.wait_for_intervals(&first, 3);
    assert_eq!(service.run(&second)["state"], "queued");
    killed(service);
    let service = Service::start(dir.path(), &["--sim", "--sim-speed", "0", "--max-runs", "1"]);
    for run in [&first, &second] {
        // Just after a start the first is still interrupted.
        service.wait_for(run, "the end", |run| run["state"] == "finished");
    }
    assert_eq!(service.run(&first)["resumed_at_ms"].as_array().unwrap().len(), 1);
}

#[test]
fn those_that_wait_say_for_what_and_the_most_urgent_goes_first() {
    let dir = scratch();
    let service = Service::start(dir.path(), &["--sim", "--sim-speed", "20", "--max-runs", "1"]);
    let parameters = json!({ "rw": "randread", "runtime": 3600 });
    let first = begin(&service, "sim-cmr-14tb", &parameters, &json!({}));
    service.wait_for_intervals(&first, 1);
    let short = json!({ "rw": "randread", "runtime": 20 });
    let low = begin(&service, "sim-dm-14tb", &short, &json!({ "priority": 10 }));
    let high = begin(&service, "sim-dm-8tb", &short, &json!({ "priority": 90 }));
    let same_drive = begin(&service, "sim-cmr-14tb", &short, &json!({ "queue": true }));
    let after = begin(&service, "sim-cmr-4tb", &short, &json!({ "after": low }));
    let late = begin(&service, "sim-dm-3tb", &short, &json!({ "start_at": "2999-01-01T00:00:00Z" }));
    let waits_for = |run: &str, what: &str| {
        let run =
            service.wait_for(run, what, |run| run["waiting_for"].as_str().is_some_and(|told| told.contains(what)));
        assert_eq!(run["state"], "queued");
    };
    waits_for(&low, "--max-runs");
    waits_for(&same_drive, &first);
    waits_for(&after, &low);
    waits_for(&late, "its time");
    // Held back by a person, and let go again.
    service.post(&format!("/api/v1/runs/{high}/pause"), &json!({}));
    waits_for(&high, "resume");
    service.post(&format!("/api/v1/runs/{high}/resume"), &json!({}));
    waits_for(&high, "--max-runs");
    service.post(&format!("/api/v1/runs/{late}/cancel"), &json!({}));
    assert_eq!(service.wait_until_over(&late)["state"], "cancelled");
    service.post(&format!("/api/v1/runs/{first}/cancel"), &json!({}));
    let mut ended: Vec<_> = [&low, &high, &same_drive, &after]
        .into_iter()
        .map(|run| {
            let over = service.wait_until_over(run);
            assert_eq!(over["state"], "finished", "{over}");
            (over["started_at_ms"].as_i64().unwrap(), over["ended_at_ms"].as_i64().unwrap(), run)
        })
        .collect();
    ended.sort_unstable();
    assert_eq!(ended[0].2, &high, "the most urgent first");
    assert!(ended.windows(2).all(|pair| pair[0].1 <= pair[1].0), "never two at once: {ended:?}");
    let position = |wanted: &str| ended.iter().position(|run| run.2 == wanted).unwrap();
    assert!(position(&low) < position(&after));
}

#[test]
fn outside_its_hours_a_run_waits() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    // Far from now, whatever the time: two minutes that begin in twelve hours.
    let noon_away = output("date", &["-d", "+12 hours", "+%H:%M"]);
    let later = output("date", &["-d", "+12 hours 2 minutes", "+%H:%M"]);
    let window = format!("{noon_away}-{later}");
    let parameters = json!({ "rw": "randread", "number_ios": 10 });
    let run = begin(&service, "sim-cmr-14tb", &parameters, &json!({ "window": window }));
    let waits = service.wait_for(&run, "its hours", |run| run["waiting_for"].is_string());
    assert!(waits["waiting_for"].as_str().unwrap().contains(&window), "{waits}");
    assert_eq!(waits["state"], "queued");
}

#[test]
fn a_matrix_goes_wave_by_wave_all_or_none() {
    let dir = scratch();
    let service = Service::start(dir.path(), &["--sim", "--sim-speed", "100"]);
    let mut body = json!({
        "waves": [["sim-cmr-14tb", "sim-dm-14tb"], ["sim-cmr-4tb", "sim-cmr-14tb"]], "profile": "custom",
        "parameters": { "rw": "randwrite", "runtime": 60 }, "dry_run": true
    });
    let plans = service.post("/api/v1/runs/matrix", &body).json();
    body["dry_run"] = json!(false);
    let problem = service.post("/api/v1/runs/matrix", &body).problem(428);
    assert!(problem["detail"].as_str().unwrap().contains("sim-cmr-4tb"), "{problem}");
    assert_eq!(service.get("/api/v1/runs").json()["runs"], json!([]), "none was started");
    let mut confirm = json!({});
    for (wave, plans) in body["waves"].as_array().unwrap().iter().zip(plans["waves"].as_array().unwrap()) {
        for (drive, plan) in wave.as_array().unwrap().iter().zip(plans.as_array().unwrap()) {
            confirm[drive.as_str().unwrap()] = plan["confirm_phrase"].clone();
        }
    }
    body["confirm"] = confirm;
    let answer = service.post("/api/v1/runs/matrix", &body);
    assert_eq!(answer.status, 202, "{}", answer.text);
    let runs: Vec<_> =
        answer.json()["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    let over: Vec<_> = runs.iter().map(|run| service.wait_until_over(run)).collect();
    let time = |run: &Value, what: &str| run[what].as_i64().unwrap();
    let first_wave_ended = over[..2].iter().map(|run| time(run, "ended_at_ms")).max().unwrap();
    for run in &over[2..] {
        assert_eq!(run["state"], "finished");
        assert!(time(run, "started_at_ms") >= first_wave_ended, "{run}");
    }
}

#[test]
fn errors_are_counted_up_to_the_limit_and_then_end_the_run() {
    let dir = scratch();
    for (max_errors, expected) in [(1_000_000, "finished"), (20, "failed")] {
        let file = dir.path().join(format!("shrinks-{max_errors}"));
        std::fs::write(&file, vec![1; 8 << 20]).unwrap();
        let data = scratch();
        let service = Service::start(data.path(), &[]);
        let parameters = json!({ "rw": "randread", "iodepth": 4, "runtime": 2, "interval_ms": 100 });
        let run = begin(&service, file.to_str().unwrap(), &parameters, &json!({ "max_errors": max_errors }));
        service.wait_for_intervals(&run, 2);
        // The second half is no longer there: every read of it comes back short.
        std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(4 << 20).unwrap();
        let over = service.wait_until_over(&run);
        assert_eq!(over["state"], expected, "{over}");
        let errors = over["errors"].as_u64().unwrap();
        assert!(errors > 20, "{errors}");
        assert!(expected == "finished" || errors <= 24, "what was in flight may come on top: {errors}");
        let faults = over["faults"].as_array().unwrap();
        assert_eq!(faults.len(), 20, "the first ones are told one by one");
        assert!(faults[0]["text"].as_str().unwrap().contains("moved only"), "{faults:?}");
        course(&service, &run);
    }
}

#[test]
fn a_limit_of_bytes_written_ends_the_run_before_it_is_passed() {
    let dir = scratch();
    let file = dir.path().join("target");
    std::fs::write(&file, vec![1; 8 << 20]).unwrap();
    let service = Service::start(dir.path(), &[]);
    let parameters = json!({ "rw": "randwrite", "bs": "4k", "iodepth": 8, "runtime": 3600, "interval_ms": 50 });
    let run = begin(&service, file.to_str().unwrap(), &parameters, &json!({ "max_written_bytes": "1m" }));
    let over = service.wait_until_over(&run);
    assert_eq!(
        (&over["state"], &over["stop_reason"]["reason"]),
        (&json!("finished"), &json!("limit-reached")),
        "{over}"
    );
    assert_eq!(over["progress"]["written_bytes"], MIB);
}

#[test]
fn files_are_targets_only_where_they_may_be() {
    let (allowed, elsewhere, data) = (scratch(), scratch(), scratch());
    let make = |dir: &Path| {
        let file = dir.join("target");
        std::fs::write(&file, vec![1; 1 << 20]).unwrap();
        file
    };
    let (inside, outside) = (make(allowed.path()), make(elsewhere.path()));
    let service = Service::start(data.path(), &["--file-dir", allowed.path().to_str().unwrap()]);
    let ask =
        |path: &Path| service.post("/api/v1/runs", &json!({ "drive": path, "profile": "inspect", "dry_run": true }));
    assert_eq!(ask(&inside).status, 200);
    assert_eq!(ask(&outside).problem(409)["reasons"][0]["code"], "file-not-allowed");
    // A link does not lead out.
    let link = allowed.path().join("link");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    ask(&link).problem(409);
    drop(service);
    let service = Service::start(data.path(), &[]);
    let problem =
        service.post("/api/v1/runs", &json!({ "drive": env!("CARGO"), "profile": "inspect", "dry_run": true }));
    assert_eq!(problem.status, 200, "a file of nobody's concern: {}", problem.text);
    let libc = output("sh", &["-c", "ls /etc/ld.so.cache /usr/bin/env | head -1"]);
    let problem = service.post("/api/v1/runs", &json!({ "drive": libc, "profile": "inspect" })).problem(409);
    assert_eq!(problem["reasons"][0]["code"], "file-not-allowed", "{problem}");
}

/// An ext4 filesystem in a file, mounted; while it is frozen a write to it never comes back, as from a drive that hangs.
struct Frozen {
    mount_point: std::path::PathBuf,
}

impl Frozen {
    fn mounted(dir: &Path, device: &LoopDevice) -> Self {
        output("mkfs.ext4", &["-q", &device.path]);
        let mount_point = dir.join("mnt");
        std::fs::create_dir(&mount_point).unwrap();
        output("mount", &[&device.path, mount_point.to_str().unwrap()]);
        Self { mount_point }
    }

    fn freeze(&self) {
        output("fsfreeze", &["--freeze", self.mount_point.to_str().unwrap()]);
    }

    fn thaw(&self) {
        let _ = Command::new("fsfreeze").arg("--unfreeze").arg(&self.mount_point).status();
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.thaw();
        // Whoever still has it open lets go once its writes came back.
        let unmounted = || Command::new("umount").arg(&self.mount_point).status().unwrap().success();
        let began = Instant::now();
        while !unmounted() && began.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

#[test]
fn a_drive_that_never_answers_stalls_its_own_run_and_nothing_else() {
    for engine in ["io_uring", "psync"] {
        let (dir, data) = (scratch(), scratch());
        let device = LoopDevice::new(dir.path(), 64 * MIB, &[]);
        let frozen = Frozen::mounted(dir.path(), &device);
        let file = frozen.mount_point.join("target");
        std::fs::write(&file, vec![1; 8 << 20]).unwrap();
        let arguments = ["--sim", "--sim-speed", "5", "--engine", engine, "--drain-limit", "2"];
        let service = Service::start(data.path(), &arguments);
        let parameters = json!({ "rw": "randwrite", "iodepth": 4, "runtime": 3600, "interval_ms": 50 });
        let stuck = begin(&service, file.to_str().unwrap(), &parameters, &json!({}));
        service.wait_for_intervals(&stuck, 3);
        frozen.freeze();
        let other = begin(&service, "sim-cmr-14tb", &json!({ "rw": "randread", "runtime": 3600 }), &json!({}));
        let before = service.wait_for_intervals(&other, 1)["progress"]["last_seq"].as_u64().unwrap();
        service.wait_for(&stuck, "a stall", |run| run["stalled"] == json!(true));
        assert!(service.run(&other)["progress"]["last_seq"].as_u64().unwrap() > before, "the other goes on");
        assert_eq!(service.get("/").status, 200);
        service.signal(Signal::SIGTERM);
        // It lets go of its port and its data although a thread of it cannot end.
        let began = Instant::now();
        let next = loop {
            if let Some(next) = Service::try_start(data.path(), &["--sim"]) {
                break next;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "the stuck thread keeps the data directory");
            std::thread::sleep(Duration::from_millis(200));
        };
        let found = next.run(&stuck);
        assert_eq!((&found["state"], &found["stop_reason"]["reason"]), (&json!("interrupted"), &json!("abandoned")));
        assert!(found["stop_reason"]["detail"].as_str().unwrap().contains("silent for"), "{found}");
        assert_eq!(next.run(&other)["stop_reason"]["reason"], "service-stopped");
        frozen.thaw();
        drop(next);
        drop(service);
    }
}

/// Resident memory of a process in MiB, and its open files.
fn used(service: &Service) -> (u64, usize) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    (kib / 1024, std::fs::read_dir(format!("/proc/{}/fd", service.id())).unwrap().count())
}

#[test]
fn a_day_on_every_simulated_drive_at_once_with_kills_and_pauses_is_complete() {
    const DAY_S: f64 = 86_400.0;
    let dir = scratch();
    let start = || Service::start(dir.path(), &["--sim", "--sim-speed", "20000"]);
    let mut service = start();
    let drives = service.get("/api/v1/drives").json();
    let names: Vec<_> = drives["drives"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|drive| drive["simulated"] == json!(true))
        .map(|drive| drive["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.len() >= 7, "{names:?}");
    let parameters = json!({ "rw": "randread", "rate_iops": 10, "runtime": 86_400, "interval_ms": 10_000 });
    let options = json!({ "resume_after_restart": true });
    let runs: Vec<_> = names.iter().map(|name| begin(&service, name, &parameters, &options)).collect();
    for intervals in [500, 3_000] {
        service.wait_for_intervals(&runs[0], intervals);
        service.post(&format!("/api/v1/runs/{}/pause", runs[1]), &json!({}));
        std::thread::sleep(Duration::from_millis(200));
        service.post(&format!("/api/v1/runs/{}/resume", runs[1]), &json!({}));
        killed(service);
        assert_eq!(integrity(dir.path()), "ok");
        service = start();
    }
    for run in &runs {
        // Just after a start it is still interrupted.
        let over = service.wait_for(run, "the end of the day", |run| run["state"] == "finished");
        let elapsed = over["progress"]["elapsed_s"].as_f64().unwrap();
        assert!((elapsed - DAY_S).abs() < 1.0, "{elapsed} s");
        let intervals = course(&service, run);
        let lasted: u64 = intervals.iter().map(|interval| interval["duration_ms"].as_u64().unwrap()).sum();
        assert!((f64::from(u32::try_from(lasted).unwrap()) / 1e3 - DAY_S).abs() < 1.0, "{lasted} ms");
        let ios: u64 = intervals.iter().map(|interval| interval["read"]["ios"].as_u64().unwrap()).sum();
        assert!((863_000..865_000).contains(&ios), "{ios} of 864 000 I/Os");
    }
    let (rss_mib, files) = used(&service);
    println!("{} drive days, {rss_mib} MiB, {files} open files", runs.len());
    // A debug build; the bound is that of the product.
    assert!(rss_mib < 150, "{rss_mib} MiB");
    assert!(files < 60, "{files} open files");
}
