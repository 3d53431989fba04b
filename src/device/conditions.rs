//! The conditions of a run on a real drive: every setting of its queue, its driver and the host, as found.

use super::block_stat::BlockStat;
use super::identity::limits;
use super::sysfs::SysRoot;
use super::{names, tunables};
use crate::model::conditions::{Appearance, Condition, Conditions, CountSource};
use crate::model::drive::{DeviceKind, Drive, Reading};
use crate::model::page::PageId;
use crate::model::split::TransferLimits;

/// What of `queue/` a run's figures depend on (Documentation/ABI/stable/sysfs-block).
const QUEUE: [&str; 25] = [
    "scheduler",
    "nr_requests",
    "read_ahead_kb",
    "max_sectors_kb",
    "max_hw_sectors_kb",
    "max_segments",
    "max_segment_size",
    "chunk_sectors",
    "optimal_io_size",
    "logical_block_size",
    "physical_block_size",
    "wbt_lat_usec",
    "write_cache",
    "fua",
    "rq_affinity",
    "nomerges",
    "io_poll",
    "io_poll_delay",
    "rotational",
    "add_random",
    "iostats",
    "discard_max_bytes",
    "zoned",
    "max_open_zones",
    "max_active_zones",
];
/// What of `device/`.
const DEVICE: [&str; 3] = ["queue_depth", "queue_type", "timeout"];

/// Looks at them now. Touches no drive.
#[must_use]
pub fn look(root: &SysRoot, drive: &Drive, now_ms: i64) -> Conditions {
    let mut found = Found { root, list: Vec::new() };
    let name = block_device(root, drive);
    found.host();
    if let Some(name) = &name {
        found.of_device(name);
    }
    Conditions {
        taken_at_ms: now_ms,
        kernel: root.text("/proc/sys/kernel/osrelease").into_known().unwrap_or_default(),
        limits: name.as_deref().map(|name| limits_of(root, drive, name)).unwrap_or_default(),
        device_count: BlockStat::open(root, drive).1,
        appearance: name.as_deref().map(|name| appearance(root, name)).unwrap_or_default(),
        found: found.list,
        changed: Vec::new(),
    }
}

/// Those of a drive that needs no device: a simulated one.
#[must_use]
pub fn look_at_host(root: &SysRoot, limits: TransferLimits, now_ms: i64) -> Conditions {
    let mut found = Found { root, list: Vec::new() };
    found.host();
    Conditions {
        taken_at_ms: now_ms,
        kernel: root.text("/proc/sys/kernel/osrelease").into_known().unwrap_or_default(),
        limits,
        device_count: CountSource { source: Some("simulated".to_owned()), ..CountSource::default() },
        found: found.list,
        ..Conditions::default()
    }
}

/// The whole device that serves a target; of a file the one below its filesystem, where there is one.
fn block_device(root: &SysRoot, drive: &Drive) -> Option<String> {
    if drive.kind != DeviceKind::File {
        return Some(drive.name.clone());
    }
    let metadata = std::fs::metadata(&drive.path).ok()?;
    let device = std::os::unix::fs::MetadataExt::dev(&metadata);
    let name = names::by_number(root, nix::sys::stat::major(device), nix::sys::stat::minor(device))?;
    names::whole_device(root, &name)
}

/// As which appearance the device is there now.
#[must_use]
pub fn appearance(root: &SysRoot, name: &str) -> Appearance {
    Appearance {
        boot_id: root.text("/proc/sys/kernel/random/boot_id").into_known(),
        disk_sequence: root.number(&format!("/sys/block/{name}/diskseq")).into_known(),
    }
}

/// The driver of the SCSI host that a device hangs on.
fn driver(root: &SysRoot, name: &str) -> Option<(String, Reading<String>)> {
    let path = root.device_path(name)?;
    let host = path.split('/').find(|step| {
        step.strip_prefix("host").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    })?;
    let source = format!("/sys/class/scsi_host/{host}/proc_name");
    Some((source.clone(), root.text(&source)))
}

/// The limits on the size of a request.
#[must_use]
pub fn limits_of(root: &SysRoot, drive: &Drive, name: &str) -> TransferLimits {
    let number = |attribute: &str| root.number(&format!("/sys/block/{name}/queue/{attribute}")).into_known();
    let page = drive.pages.get(PageId::Vpd(0xb0)).map(|(page, _)| page.bytes.clone());
    let told = page.and_then(|page| limits::block_limits(&page).into_known());
    let block = u64::from(drive.logical_block_bytes);
    let in_bytes = |blocks: Option<u64>| blocks.map(|blocks| blocks.saturating_mul(block));
    let page_size = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    TransferLimits {
        max_sectors_kb: number("max_sectors_kb"),
        max_hw_sectors_kb: number("max_hw_sectors_kb"),
        max_segments: number("max_segments"),
        max_segment_size_bytes: number("max_segment_size"),
        chunk_bytes: number("chunk_sectors").map(|sectors| sectors.saturating_mul(512)),
        page_bytes: page_size.and_then(|size| u64::try_from(size).ok()),
        drive_max_bytes: in_bytes(told.and_then(|told| told.max_transfer)),
        drive_optimal_bytes: in_bytes(told.and_then(|told| told.optimal_transfer)),
        // Of the disk below a file only the name is known.
        transport: (drive.kind != DeviceKind::File).then_some(drive.transport),
        driver: driver(root, name).and_then(|(_, driver)| driver.into_known()).filter(|driver| driver != "(null)"),
        set_by_run: false,
    }
}

struct Found<'a> {
    root: &'a SysRoot,
    list: Vec<Condition>,
}

impl Found<'_> {
    fn add(&mut self, name: &str, source: &str, reading: Reading<String>) {
        let (value, unknown) = match reading {
            Reading::Known(value) => (Some(value), None),
            Reading::Unknown(why) => (None, Some(why.to_string())),
        };
        self.list.push(Condition { name: name.to_owned(), value, unknown, source: source.to_owned() });
    }

    fn text(&mut self, name: &str, source: &str) {
        let reading = self.root.text(source);
        self.add(name, source, reading);
    }

    fn of_device(&mut self, device: &str) {
        let block = format!("/sys/block/{device}");
        for attribute in QUEUE {
            self.text(&format!("queue/{attribute}"), &format!("{block}/queue/{attribute}"));
        }
        // What only SCSI has is not missing elsewhere.
        for attribute in DEVICE {
            let source = format!("{block}/device/{attribute}");
            if self.root.exists(&source) {
                self.text(&format!("device/{attribute}"), &source);
            }
        }
        if let Some(source) = tunables::cache_type_path(self.root, device) {
            self.text("scsi_disk/cache_type", &source);
        }
        if let Some((source, driver)) = driver(self.root, device) {
            self.add("scsi-host/driver", &source, driver);
        }
    }

    fn host(&mut self) {
        self.text("kernel/release", "/proc/sys/kernel/osrelease");
        let count = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        self.add("cpu/available", "sched_getaffinity(2)", Reading::Known(count.to_string()));
        self.governor();
        let load = "/proc/loadavg";
        let reading = self.root.document(load).map(|text| text.split(' ').take(3).collect::<Vec<_>>().join(" "));
        self.add("cpu/load-average", load, reading);
        self.text("io_uring/disabled", "/proc/sys/kernel/io_uring_disabled");
    }

    /// Each governor in force, once.
    fn governor(&mut self) {
        let dir = "/sys/devices/system/cpu";
        let source = |cpu: &str| format!("{dir}/{cpu}/cpufreq/scaling_governor");
        let is_cpu = |name: &String| {
            name.strip_prefix("cpu").is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let cpus: Vec<String> = self.root.list(dir).into_iter().filter(is_cpu).collect();
        let mut governors: Vec<String> =
            cpus.iter().filter_map(|cpu| self.root.text(&source(cpu)).into_known()).collect();
        governors.sort_unstable();
        governors.dedup();
        if governors.is_empty() {
            self.text("cpu/governor", &source("cpu0"));
        } else {
            self.add("cpu/governor", &source("*"), Reading::Known(governors.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_there_known_or_with_the_reason_and_the_driver_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = SysRoot::recorded(dir.path());
        let file = |path: &str, text: &str| {
            let at = root.at(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        };
        file("/sys/block/sda.readlink", "/sys/devices/pci0000:00/ata3/host2/target2:0:0/2:0:0:0/block/sda\n");
        file("/sys/block/sda/queue/scheduler", "none [mq-deadline] bfq\n");
        file("/sys/block/sda/queue/max_sectors_kb", "256\n");
        file("/sys/block/sda/queue/chunk_sectors", "0\n");
        file("/sys/block/sda/device/queue_depth", "32\n");
        file("/sys/block/sda/device/scsi_disk/2:0:0:0/cache_type", "write back\n");
        file("/sys/class/scsi_host/host2/proc_name", "ahci\n");
        file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        file("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
        file("/proc/loadavg", "0.28 2.11 5.27 1/87 6917\n");
        let mut found = Found { root: &root, list: Vec::new() };
        found.host();
        found.of_device("sda");
        let of = |name: &str| found.list.iter().find(|condition| condition.name == name).unwrap();
        for (name, value) in [
            ("queue/scheduler", "none [mq-deadline] bfq"),
            ("device/queue_depth", "32"),
            ("scsi_disk/cache_type", "write back"),
            ("scsi-host/driver", "ahci"),
            ("cpu/governor", "powersave"),
            ("cpu/load-average", "0.28 2.11 5.27"),
        ] {
            assert_eq!(of(name).value.as_deref(), Some(value), "{name}");
        }
        assert!(of("queue/nr_requests").value.is_none() && of("queue/nr_requests").unknown.is_some());
    }
}
