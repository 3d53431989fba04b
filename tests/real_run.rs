//! Probes for real: on a loop device and on a file, through the API of the built binary. Needs root.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use harness::{LoopDevice, Service, output, scratch};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn codes(problem: &Value) -> Vec<&str> {
    problem["reasons"].as_array().unwrap().iter().map(|reason| reason["code"].as_str().unwrap()).collect()
}

#[test]
fn a_loop_device_is_probed_within_its_region_and_released() {
    let dir = scratch();
    let device = LoopDevice::new(dir.path(), 64 * MIB, &[]);
    let data = scratch();
    let service = Service::start(data.path(), &[]);
    service.post("/api/v1/drives/rescan", &json!({}));
    let drive = service.drive(&device.name);
    assert_eq!((&drive["kind"], &drive["capacity_bytes"]), (&json!("loop"), &json!(64 * MIB)));
    let parameters = json!({
        "rw": "randwrite", "bs": "4k", "iodepth": 16, "offset": 16 * MIB, "size": 8 * MIB,
        "number_ios": 5000, "interval_ms": 100,
    });
    let mut body = json!({ "drive": device.path, "profile": "custom", "parameters": parameters, "dry_run": true });
    let plan = service.post("/api/v1/runs", &body).json();
    assert_eq!(plan["confirm_phrase"], json!(device.path), "a loop device has no serial");
    assert_eq!(plan["bytes_to_write"], 5000 * 4096);
    body["dry_run"] = json!(false);
    service.post("/api/v1/runs", &body).problem(428);
    let run = service.begin(&device.path, "custom", parameters);
    let over = service.wait_until_over(&run);
    assert_eq!((&over["state"], &over["engine"]), (&json!("finished"), &json!("io_uring")), "{over}");
    assert_eq!(over["progress"]["written_bytes"], 5000 * 4096);
    assert!(over["verdict"]["sentence"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{over}");
    drop(service);
    let bytes = std::fs::read(&device.backing).unwrap();
    let touched = |range: std::ops::Range<u64>| {
        bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()].iter().any(|byte| *byte != 0)
    };
    assert!(touched(16 * MIB..24 * MIB));
    assert!(!touched(0..16 * MIB) && !touched(24 * MIB..64 * MIB), "nothing outside the region");
}

#[test]
fn smr_quick_on_a_loop_device_is_honest_about_what_it_is() {
    let dir = scratch();
    let device = LoopDevice::new(dir.path(), 64 * MIB, &[]);
    let data = scratch();
    let service = Service::start(data.path(), &[]);
    service.post("/api/v1/drives/rescan", &json!({}));
    let parameters = json!({ "floor_s": 1, "writes": 2000, "large_bytes": "16m", "interval_ms": 100 });
    let run = service.begin(&device.path, "smr-quick", parameters);
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "finished", "{over}");
    assert_eq!(over["verdict"]["state"], "not-shown", "{}", over["verdict"]);
    let drive = service.drive(&device.name);
    assert!(!["cmr", "ssd", "drive-managed"].contains(&drive["recording"]["state"].as_str().unwrap()), "{drive}");
}

#[test]
fn a_file_is_probed_and_confirmed_by_its_path() {
    let dir = scratch();
    let file = dir.path().join("spare region");
    std::fs::write(&file, vec![7; 4 << 20]).unwrap();
    let path = file.to_str().unwrap();
    let data = scratch();
    let service = Service::start(data.path(), &[]);
    let body =
        json!({ "drive": path, "profile": "custom", "parameters": { "rw": "write", "bs": "64k" }, "dry_run": true });
    let plan = service.post("/api/v1/runs", &body);
    assert_eq!(plan.status, 200, "{}", plan.text);
    assert_eq!(plan.json()["confirm_phrase"], json!(std::fs::canonicalize(&file).unwrap()));
    let run = service.begin(path, "custom", json!({ "rw": "write", "bs": "64k", "interval_ms": 50 }));
    let over = service.wait_until_over(&run);
    assert_eq!((&over["state"], &over["progress"]["written_bytes"]), (&json!("finished"), &json!(4 << 20)), "{over}");
    let drive = over["drive"].as_str().unwrap();
    assert_eq!(service.get(&format!("/api/v1/drives/{drive}")).json()["kind"], "file");
    assert_eq!(service.get(&format!("/drives/{drive}")).status, 200);
    // Other things that have a path are no targets.
    let ask = |path: &str| service.post("/api/v1/runs", &json!({ "drive": path, "profile": "inspect" }));
    ask(dir.path().to_str().unwrap()).problem(409);
    ask("/dev/null").problem(409);
    let own = data.path().join("drivescope.db");
    let body = json!({ "drive": own, "profile": "custom", "parameters": { "rw": "write" }, "dry_run": true });
    assert_eq!(codes(&service.post("/api/v1/runs", &body).problem(409)), ["own-file"]);
}

#[test]
fn a_device_in_use_is_refused_with_its_users_and_not_one_byte_changes() {
    let dir = scratch();
    let device = LoopDevice::new(dir.path(), 64 * MIB, &[]);
    let data = scratch();
    let service = Service::start(data.path(), &[]);
    service.post("/api/v1/drives/rescan", &json!({}));
    let ask = || {
        service.post("/api/v1/runs", &json!({ "drive": device.path, "profile": "smr-quick", "confirm": device.path }))
    };
    output("mkfs.ext4", &["-q", &device.path]);
    let mount_point = dir.path().join("mnt");
    std::fs::create_dir(&mount_point).unwrap();
    let mount_point = mount_point.to_str().unwrap();
    output("mount", &[&device.path, mount_point]);
    let problem = ask().problem(409);
    output("umount", &[mount_point]);
    assert!(codes(&problem).contains(&"in-use"), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains(mount_point), "{problem}");

    output("mkswap", &[&device.path]);
    output("swapon", &[&device.path]);
    let problem = ask().problem(409);
    output("swapoff", &[&device.path]);
    assert!(problem["detail"].as_str().unwrap().contains("swap"), "{problem}");

    output("mkfs.ext4", &["-q", "-F", "-L", "photos", &device.path]);
    let before = output("sha256sum", &[device.backing.to_str().unwrap()]);
    let body = json!({ "drive": device.path, "profile": "smr-quick", "dry_run": true });
    let plan = service.post("/api/v1/runs", &body).json();
    assert!(plan["losses"].to_string().contains("photos"), "what would be lost is named: {plan}");
    assert_eq!(output("sha256sum", &[device.backing.to_str().unwrap()]), before);
    assert_eq!(service.get("/api/v1/runs").json()["runs"], json!([]), "nothing was started");
}

#[test]
fn a_drive_that_shrinks_under_the_probe_fails_the_run_and_not_the_service() {
    let dir = scratch();
    let file = dir.path().join("target");
    std::fs::write(&file, vec![1; 8 << 20]).unwrap();
    let data = scratch();
    let service = Service::start(data.path(), &[]);
    let parameters = json!({ "rw": "randread", "iodepth": 4, "runtime": 600, "interval_ms": 100 });
    let run = service.begin(file.to_str().unwrap(), "custom", parameters);
    service.wait_for_intervals(&run, 3);
    std::fs::File::options().write(true).open(&file).unwrap().set_len(4096).unwrap();
    let over = service.wait_until_over(&run);
    assert_eq!((&over["state"], &over["stop_reason"]["reason"]), (&json!("failed"), &json!("io-error")), "{over}");
    assert!(service.intervals(&run).len() >= 3);
    assert_eq!(service.get("/healthz").status, 200);
}
