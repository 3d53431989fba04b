//! All drives of a host, from sysfs alone: nothing is opened, nothing is sent to a drive, no process is started.

use std::path::PathBuf;

use uuid::Uuid;

use super::facts::Facts;
use super::naming::{self, Names};
use super::ownership::Users;
use super::scanner::{Fresh, Scanner};
use super::sysfs::SysRoot;
use super::{array, hwmon, kind, names, nvme, queue, scsi};
use crate::model::drive::{Declared, DeviceKind, Drive, DriveId, Host, Inventory, Partition, Reading, Unknown};
use crate::model::page::Pages;
use crate::model::recording::Recording;
use crate::model::units::Bytes;

/// The UUIDv5 namespace of host ids, drawn at random once. Never change it: stored runs hang on it.
const HOST_NAMESPACE: Uuid = Uuid::from_u128(0x2b1d_6a0e_93c7_4f7b_8a55_0e6f_d1c2_7b94);

/// Takes the inventory of a host, or of the recording of one: everything is read.
#[must_use]
pub fn scan(root: &SysRoot) -> Inventory {
    Scanner::new(root.clone()).scan(&Fresh::All)
}

/// Devices per thread from which on a thread is worth its start.
const WORTH_A_THREAD: usize = 64;

/// `look` at every name, in order. A scan is a hundred small reads a drive, each a system call that waits for nobody,
/// so a host with a thousand drives is read by all its processors.
pub(super) fn side_by_side<I: Sync, T: Send>(names: &[I], look: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = names.len().div_ceil(threads).max(WORTH_A_THREAD);
    let look_at_all = |names: &[I]| names.iter().map(&look).collect::<Vec<T>>();
    if names.len() <= share {
        return look_at_all(names);
    }
    std::thread::scope(|scope| {
        let look_at_all = &look_at_all;
        let parts: Vec<_> = names.chunks(share).map(|part| scope.spawn(move || look_at_all(part))).collect();
        // A thread that panicked is a bug in a decoder: it must not turn into drives that are silently missing.
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug))).collect()
    })
}

/// Who the host is: an id made of its machine id (machine-id(5) asks not to show that itself), name and kernel.
#[must_use]
pub fn host(root: &SysRoot) -> Host {
    let line = |path: &str| {
        root.document(path).into_known().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let name = line("/proc/sys/kernel/hostname");
    let machine = line("/etc/machine-id").filter(|id| id != "uninitialized").unwrap_or_else(|| {
        // A recording is told apart by its place, a container by its host name.
        let place = std::fs::canonicalize(root.base()).unwrap_or_else(|_| root.base().to_path_buf());
        match &name {
            Some(name) if !root.is_recorded() => format!("name:{name}"),
            _ => format!("tree:{}", place.display()),
        }
    });
    Host {
        id: Uuid::new_v5(&HOST_NAMESPACE, machine.as_bytes()),
        name: name.unwrap_or_else(|| "unknown".to_owned()),
        kernel: line("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned()),
    }
}

/// Why a block device is no drive now.
pub(super) fn why_left_out(root: &SysRoot, name: &str) -> Option<String> {
    let kind = kind::kind(name);
    if kind == DeviceKind::Optical {
        return Some("optical drive".to_owned());
    }
    // NVMe multipath hides the paths of a namespace and shows the namespace once.
    if root.flag(&format!("/sys/block/{name}/hidden")) == Reading::Known(true) {
        return Some("hidden by the kernel: one path of a multipath device".to_owned());
    }
    match root.number(&format!("/sys/block/{name}/size")) {
        Reading::Known(0) => Some(match kind {
            DeviceKind::Loop => "not bound to a file".to_owned(),
            DeviceKind::Zram => "it has not been given a size".to_owned(),
            DeviceKind::Nbd => "not connected to a server".to_owned(),
            // sd.c sets the capacity to 0 for any block but 512, 1024, 2048 and 4096 bytes.
            DeviceKind::Disk => {
                "its size is 0: no medium, not ready, or formatted with blocks that Linux does not use \
                                 (520, 528 or 4224 bytes; sg_format makes them 512 or 4096)"
                    .to_owned()
            }
            _ => "its size is 0: no medium, or not ready".to_owned(),
        }),
        Reading::Known(_) => None,
        Reading::Unknown(why) => Some(format!("its size is not known ({})", because(&why))),
    }
}

fn because(why: &Unknown) -> &str {
    match why {
        Unknown::Absent => "the kernel does not tell it",
        Unknown::NotPermitted => "no permission to read it",
        Unknown::NotTrusted(detail) | Unknown::NotReadable(detail) => detail,
    }
}

/// What a device says of itself, whatever its family.
struct Report {
    names: Names,
    vendor: Option<String>,
    firmware: Option<String>,
    rotation_rpm: Option<u16>,
    declared: Declared,
    timeout_s: Option<u64>,
    pages: Pages,
    array: Option<String>,
}

/// One device, everything of it read.
pub(super) fn drive(root: &SysRoot, host: &Host, users: &Users, name: &str) -> Drive {
    let kind = kind::kind(name);
    let device_path = root.device_path(name);
    let mut facts = Facts::default();
    let report = report(root, name, kind, device_path.as_deref(), &mut facts);
    let mut queue = queue::read(root, name, &mut facts);
    queue.limits.timeout_s = report.timeout_s;
    let parents = root.list(&format!("/sys/block/{name}/slaves"));
    if !parents.is_empty() {
        let source = format!("/sys/block/{name}/slaves");
        facts.add("slaves", source, &Reading::Known(parents.join(", ")), String::clone, None);
    }
    let kernel = Reading::Known(host.kernel.clone());
    facts.text("kernel", "/proc/sys/kernel/osrelease", &kernel);

    let identity = naming::identify(&report.names, host.id, name);
    let attribute = |file: &str| format!("/sys/block/{name}/{file}");
    let mut drive = Drive {
        id: DriveId::from_identity(&identity.key),
        name: name.to_owned(),
        path: PathBuf::from(names::node(name)),
        paths: vec![PathBuf::from(names::node(name))],
        kind,
        transport: kind::transport(kind, device_path.as_deref()),
        simulated: false,
        vendor: report.vendor,
        model: report.names.model,
        serial: report.names.serial,
        firmware: report.firmware,
        wwn: report.names.wwn,
        array: report.array,
        identity,
        capacity_bytes: Bytes::from_sectors(root.number(&attribute("size")).into_known().unwrap_or(0)),
        logical_block_bytes: queue.logical_block_bytes,
        physical_block_bytes: queue.physical_block_bytes,
        rotational: queue.rotational,
        rotation_rpm: report.rotation_rpm,
        temperature_celsius: None,
        removable: root.flag(&attribute("removable")) == Reading::Known(true),
        read_only: root.flag(&attribute("ro")) == Reading::Known(true),
        limits: queue.limits,
        partitions: partitions(root, name),
        usage: users.of_device(root, name),
        declared: Declared { queue_zoned: queue.zoned, ..report.declared },
        facts: facts.into_list(),
        disagreements: Vec::new(),
        pages: report.pages,
        recording: Recording::unexamined(),
    };
    // On this host a temperature is a question to the drive, and none is asked here.
    if root.is_recorded() {
        let sensor = hwmon::read(root, name);
        if sensor.celsius.unknown() != Some(&Unknown::Absent) {
            hwmon::note(&sensor, &mut drive);
        }
    }
    drive
}

fn report(root: &SysRoot, name: &str, kind: DeviceKind, device_path: Option<&str>, facts: &mut Facts) -> Report {
    let dir = format!("/sys/block/{name}");
    match kind {
        DeviceKind::NvmeNamespace => {
            let nvme = nvme::read(root, name, facts);
            Report {
                names: nvme.names,
                vendor: None,
                firmware: nvme.firmware,
                rotation_rpm: None,
                declared: nvme.declared,
                timeout_s: None,
                pages: Pages::default(),
                array: None,
            }
        }
        DeviceKind::Disk => {
            let scsi = scsi::read(root, name, device_path, facts);
            let array = array::detect(root, device_path, scsi.vendor.as_deref(), scsi.names.model.as_deref(), facts);
            Report {
                array,
                names: scsi.names,
                vendor: scsi.vendor,
                firmware: scsi.firmware,
                rotation_rpm: scsi.rotation_rpm,
                declared: scsi.declared,
                timeout_s: scsi.timeout_s,
                pages: scsi.pages,
            }
        }
        _ => {
            let mut text = |fact: &str, file: &str| {
                let reading = root.text(&format!("{dir}/{file}"));
                facts.text(fact, &format!("{dir}/{file}"), &reading);
                reading.into_known().filter(|text| !naming::is_placeholder(text))
            };
            let (model, serial) = match kind {
                DeviceKind::VirtualDisk => (None, text("serial", "serial")),
                DeviceKind::Mmc => (text("mmc/name", "device/name"), text("mmc/serial", "device/serial")),
                DeviceKind::Loop => {
                    text("loop/backing_file", "loop/backing_file");
                    (None, None)
                }
                DeviceKind::DeviceMapper => {
                    text("dm/name", "dm/name");
                    (None, None)
                }
                _ => (None, None),
            };
            Report {
                names: Names { model, serial, ..Names::default() },
                vendor: None,
                firmware: None,
                rotation_rpm: None,
                declared: Declared::nothing(&Unknown::Absent),
                timeout_s: None,
                pages: Pages::default(),
                array: None,
            }
        }
    }
}

/// The partitions of a whole device, in order of their number. `start` and `size` are in sectors of 512 bytes
/// whatever the logical block.
#[must_use]
pub fn partitions(root: &SysRoot, name: &str) -> Vec<Partition> {
    let sectors = |partition: &str, file: &str| {
        Bytes::from_sectors(root.number(&format!("/sys/block/{name}/{partition}/{file}")).into_known().unwrap_or(0))
    };
    partition_names(root, name)
        .into_iter()
        .map(|partition| Partition {
            start_bytes: sectors(&partition, "start"),
            size_bytes: sectors(&partition, "size"),
            name: partition,
        })
        .collect()
}

/// The kernel names of the partitions of a whole device.
pub(super) fn partition_names(root: &SysRoot, name: &str) -> Vec<String> {
    let mut partitions = root.list(&format!("/sys/block/{name}"));
    partitions.retain(|entry| entry.starts_with(name) && root.exists(&format!("/sys/block/{name}/{entry}/partition")));
    partitions
}
