//! A drive comes and goes while the service runs. Needs root, for a loop device.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::time::{Duration, Instant};

use harness::{LoopDevice, Service, scratch};

/// What the page promises.
const SOON: Duration = Duration::from_secs(2);

fn names(service: &Service, list: &str) -> Vec<String> {
    let inventory = service.get("/api/v1/drives").json();
    let devices = inventory[list].as_array().unwrap();
    devices.iter().map(|device| device["name"].as_str().unwrap().to_owned()).collect()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < SOON, "{what} within {SOON:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    began.elapsed()
}

#[test]
fn a_drive_appears_within_two_seconds_and_goes_without_a_ghost() {
    let dir = scratch();
    let service = Service::start(dir.path(), &[]);
    for _ in 0..3 {
        let device = LoopDevice::new(dir.path(), 8 << 20, &[]);
        let came = wait_until("it appears", || names(&service, "drives").contains(&device.name));
        let name = device.name.clone();
        let found = service.drive(&name);
        assert_eq!((found["kind"].as_str(), found["capacity_bytes"].as_u64()), (Some("loop"), Some(8 << 20)));
        drop(device);
        let went = wait_until("it is gone", || !names(&service, "drives").contains(&name));
        let ghosts = names(&service, "left_out").iter().filter(|left| **left == name).count();
        assert!(ghosts <= 1, "an unbound loop device is listed once, as left out");
        eprintln!("came after {came:?}, went after {went:?}");
    }
}
