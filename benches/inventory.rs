//! A recorded host of a thousand drives: how long a first scan takes, a scan of the unchanged host, and the page that lists
//! them. Prints one line of JSON. Set `DRIVES` for another number.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use drivescope::backend::{Backend, EngineChoice, Fresh};
use drivescope::device::SysRoot;
use drivescope::scheduler::{self, take_inventory};
use drivescope::store::Store;
use drivescope::web;
use http_body_util::BodyExt;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Kinds that a large host has many of.
const KINDS: [&str; 8] = [
    "qemu-ahci-ST8000DM004-2CX1@6.12.95",
    "qemu-ahci-SATASSD@6.12.95",
    "qemu-mptsas-MPTSASDISK@6.1.0",
    "qemu-nvme-conv@6.12.95",
    "qemu-nvme-zns@6.12.95",
    "qemu-uas-UASDISK@6.12.95",
    "scsi_debug-zbc-managed@6.12.95",
    "vhost-user-scsi-zoned10b@6.12.95",
];
const PAGES: usize = 300;
const RESCANS: usize = 20;

fn main() {
    let drives: usize = std::env::var("DRIVES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    // In memory where there is a place for it, as sysfs is: what is measured is not the disk below.
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    for index in 0..drives {
        one_drive(dir.path(), index);
    }
    fs::create_dir_all(dir.path().join("proc/sys/kernel")).unwrap();
    fs::write(dir.path().join("proc/sys/kernel/osrelease"), "6.12.95\n").unwrap();

    let root = SysRoot::recorded(dir.path());
    let verdicts = std::collections::HashMap::new();
    let backend = Backend::new(root.clone(), false, None, EngineChoice::Psync, Vec::new());
    let (cold, inventory) = timed(|| take_inventory(&backend, &verdicts, &Fresh::All));
    assert_eq!(inventory.drives.len(), drives, "each has an identity of its own");
    assert!(inventory.drives.iter().all(|drive| drive.identity.unique));
    let mut rescans: Vec<Duration> =
        (0..RESCANS).map(|_| timed(|| take_inventory(&backend, &verdicts, &Fresh::nothing())).0).collect();
    rescans.sort();
    let before = cpu();
    (0..RESCANS).for_each(|_| drop(take_inventory(&backend, &verdicts, &Fresh::nothing())));
    let rescan_cpu = (cpu() - before) / u32::try_from(RESCANS).unwrap();

    let pages = page_times(Backend::new(root, false, None, EngineChoice::Psync, Vec::new()), dir.path());
    println!(
        "{}",
        json!({
            "bench": "inventory",
            "drives": drives,
            "cold_ms": ms(cold),
            "rescan_ms": ms(rescans[RESCANS / 2]),
            "rescan_cpu_ms": ms(rescan_cpu),
            "rescan_max_ms": ms(rescans[RESCANS - 1]),
            "list_page_p99_ms": ms(pages.0[PAGES * 99 / 100]),
            "list_page_median_ms": ms(pages.0[PAGES / 2]),
            "list_page_gzip_p99_ms": ms(pages.1[PAGES * 99 / 100]),
            "list_page_gzip_median_ms": ms(pages.1[PAGES / 2]),
            "list_page_bytes": pages.2,
        })
    );
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 100.0
}

/// What this process has had of the processors so far, which a busy machine does not distort.
fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let part = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap())
    };
    part(usage.user_time()) + part(usage.system_time())
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let result = work();
    (began.elapsed(), result)
}

/// The times of the plain page and of the packed one, sorted; the length of the plain page.
fn page_times(backend: Backend, data_dir: &Path) -> (Vec<Duration>, Vec<Duration>, usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&data_dir.join("bench.db")).await.unwrap();
        let shutdown = CancellationToken::new();
        let limits = scheduler::Limits { in_all: 64, per_adapter: 8 };
        let (handle, scheduler) =
            scheduler::start(Arc::new(backend), store.clone(), limits, Duration::ZERO, shutdown.clone()).await.unwrap();
        let router = web::router(handle, store, shutdown.clone(), SocketAddr::from(([127, 0, 0, 1], 8080)));
        let mut length = 0;
        let mut times = [Vec::new(), Vec::new()];
        for (times, encoding) in times.iter_mut().zip(["identity", "gzip"]) {
            for _ in 0..PAGES {
                let (time, bytes) = page(&router, encoding).await;
                times.push(time);
                length = length.max(bytes);
            }
            times.sort();
        }
        shutdown.cancel();
        scheduler.await.unwrap();
        let [plain, packed] = times;
        (plain, packed, length)
    })
}

async fn page(router: &Router, encoding: &str) -> (Duration, usize) {
    let request = Request::get("/")
        .header("host", "127.0.0.1:8080")
        .header("accept-encoding", encoding)
        .body(Body::empty())
        .unwrap();
    let began = Instant::now();
    let response = router.clone().oneshot(request).await.unwrap();
    assert!(response.status().is_success(), "{}", response.status());
    let bytes = response.into_body().collect().await.unwrap().to_bytes().len();
    (began.elapsed(), bytes)
}

/// Copies a recorded drive under a name and with a serial number and a world wide name of its own.
fn one_drive(host: &Path, index: usize) {
    let hosts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts");
    let from = hosts.join(KINDS[index % KINDS.len()]).join("sys/block");
    let entry = fs::read_dir(&from).unwrap().map(|entry| entry.unwrap()).find(|entry| entry.path().is_dir()).unwrap();
    let old = entry.file_name().into_string().unwrap();
    let name = if old.starts_with("nvme") { format!("nvme{index}n1") } else { format!("sd{}", letters(index)) };
    let to = host.join("sys/block").join(&name);
    copy(&entry.path(), &to);
    if let Ok(path) = fs::read_to_string(from.join(format!("{old}.readlink"))) {
        fs::write(host.join("sys/block").join(format!("{name}.readlink")), path).unwrap();
    }
    let serial = format!("BENCH{index:05}");
    let wwid = if name.starts_with("nvme") { to.join("wwid") } else { to.join("device/wwid") };
    fs::write(wwid, format!("naa.5000c500{index:08x}\n")).unwrap();
    fs::write(to.join("device/serial"), format!("{serial}\n")).unwrap();
    if to.join("device/vpd_pg80").exists() {
        let page = [&[0, 0x80, 0, u8::try_from(serial.len()).unwrap()], serial.as_bytes()].concat();
        fs::write(to.join("device/vpd_pg80"), page).unwrap();
    }
}

/// `a` … `z`, `aa` …, as the kernel counts.
fn letters(mut index: usize) -> String {
    let mut text = String::new();
    loop {
        text.insert(0, char::from(b'a' + u8::try_from(index % 26).unwrap()));
        if index < 26 {
            return text;
        }
        index = index / 26 - 1;
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
