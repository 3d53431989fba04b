//! The claim on real block devices: loop devices over files in a temporary directory.
//!
//! Needs root, losetup, partx, mkswap, swapon (util-linux) and mkfs.ext4 (e2fsprogs), and fails without them: a test of
//! the safety of somebody's data is not skipped silently.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests: clippy allows it only inside #[test] functions

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivescope::device::{
    Claimed, ResolveError, SysRoot, Target, TargetRef, check, losses, resolve, scan, usage_of_file,
};
use drivescope::model::drive::{DeviceKind, Drive, Usage};
use drivescope::model::run::RefusedReason;

const MIB: u64 = 1024 * 1024;
const SIZE: u64 = 16 * MIB;

/// Loop devices are the host's: one test at a time.
static LOOPS: Mutex<()> = Mutex::new(());

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs {program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A file with recognisable bytes, perhaps bound to a loop device. Everything is undone on drop.
struct Bench {
    dir: tempfile::TempDir,
    device: Option<PathBuf>,
    mounted: Option<PathBuf>,
    swapped: bool,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Bench {
    /// A file of zeros.
    fn file() -> Self {
        let uid = fs::metadata("/proc/self").unwrap().uid();
        assert_eq!(uid, 0, "these tests attach loop devices: run them as root");
        let guard = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().unwrap();
        File::create(dir.path().join("disk.img")).unwrap().set_len(SIZE).unwrap();
        Self { dir, device: None, mounted: None, swapped: false, _one_at_a_time: guard }
    }

    /// A loop device over a file.
    fn attached(options: &[&str]) -> Self {
        let mut bench = Self::file();
        bench.attach(options);
        bench
    }

    fn attach(&mut self, options: &[&str]) {
        let image = self.image();
        let arguments = [&["--find", "--show"], options, &[image.to_str().unwrap()]].concat();
        self.device = Some(PathBuf::from(run("losetup", &arguments)));
    }

    fn image(&self) -> PathBuf {
        self.dir.path().join("disk.img")
    }

    fn device(&self) -> &str {
        self.device.as_ref().unwrap().to_str().unwrap()
    }

    fn name(&self) -> &str {
        self.device().strip_prefix("/dev/").unwrap()
    }

    fn drive(&self) -> Drive {
        let root = SysRoot::host();
        resolve(&root, &scan(&root), self.device()).unwrap().drive
    }

    fn file_target(&self) -> Target {
        let root = SysRoot::host();
        resolve(&root, &scan(&root), self.image().to_str().unwrap()).unwrap()
    }

    fn mount(&mut self, device: &str) -> String {
        let point = self.dir.path().join("mnt");
        fs::create_dir_all(&point).unwrap();
        run("mount", &[device, point.to_str().unwrap()]);
        self.mounted = Some(point.clone());
        point.display().to_string()
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.image()).unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(point) = &self.mounted {
            let _ = Command::new("umount").arg(point).status();
        }
        if let Some(device) = &self.device {
            if self.swapped {
                let _ = Command::new("swapoff").arg(device).status();
            }
            let _ = Command::new("losetup").arg("--detach").arg(device).status();
        }
    }
}

fn refusals(drive: &Drive, writes: bool) -> Vec<RefusedReason> {
    check(&SysRoot::host(), drive, writes, &[]).err().unwrap_or_default()
}

fn claim(drive: &Drive, writes: bool) -> Claimed {
    check(&SysRoot::host(), drive, writes, &[]).unwrap().claim().unwrap()
}

fn what_is_lost(drive: &Drive, from: u64, to: u64) -> Vec<String> {
    losses(&SysRoot::host(), drive, &(from..to)).into_iter().map(|content| content.what).collect()
}

/// One aligned block, written by the descriptor with O_DIRECT.
fn write_block(file: &File, block: u32, at: u64) -> std::io::Result<()> {
    let length = usize::try_from(block).unwrap();
    let space = vec![0xa5_u8; length + 4096];
    let start = space.as_ptr().align_offset(4096);
    file.write_all_at(&space[start..start + length], at)
}

#[test]
fn a_claim_writes_and_keeps_everybody_else_out_until_it_is_dropped() {
    let bench = Bench::attached(&[]);
    let drive = bench.drive();
    assert_eq!((drive.kind, drive.capacity_bytes.get()), (DeviceKind::Loop, SIZE));
    let claimed = claim(&drive, true);
    let writable = claimed.writable().unwrap();
    assert_eq!((writable.capacity().get(), writable.logical_block()), (SIZE, drive.logical_block_bytes));
    write_block(writable.file(), writable.logical_block(), 0).unwrap();

    let exclusive = RefusedReason::InUse { usage: Usage::Exclusive { device: bench.name().to_owned() } };
    assert_eq!(refusals(&drive, true), [exclusive]);
    assert!(refusals(&drive, false).is_empty(), "reading is allowed");
    drop(claimed);
    assert!(refusals(&drive, true).is_empty());
}

#[test]
fn the_check_and_a_claim_for_reading_change_not_one_byte() {
    let bench = Bench::attached(&[]);
    run("mkfs.ext4", &["-q", "-L", "keep", bench.device()]);
    run("sync", &[bench.device()]);
    let (before, drive) = (bench.bytes(), bench.drive());
    assert_eq!(what_is_lost(&drive, 0, SIZE), ["ext4 filesystem"]);
    let reading = claim(&drive, false);
    assert!(reading.writable().is_none());
    assert!(write_block(reading.file(), reading.logical_block(), 0).is_err(), "its descriptor does not write");
    drop(reading);
    drop(claim(&drive, true));
    run("sync", &[bench.device()]);
    assert!(before == bench.bytes());
}

#[test]
fn a_mounted_device_is_refused_for_writing_and_read_all_the_same() {
    let mut bench = Bench::attached(&[]);
    run("mkfs.ext4", &["-q", bench.device()]);
    let device = bench.device().to_owned();
    let mount_point = bench.mount(&device);
    let drive = bench.drive();
    let mounted = Usage::Mounted { device: bench.name().to_owned(), mount_point, fs_type: "ext4".to_owned() };
    assert_eq!(refusals(&drive, true), [RefusedReason::InUse { usage: mounted }]);
    assert!(matches!(claim(&drive, false), Claimed::ReadOnly(_)));
}

#[test]
fn a_mount_between_check_and_claim_is_noticed() {
    let mut bench = Bench::attached(&[]);
    run("mkfs.ext4", &["-q", bench.device()]);
    let unclaimed = check(&SysRoot::host(), &bench.drive(), true, &[]).unwrap();
    let device = bench.device().to_owned();
    bench.mount(&device);
    let reasons = unclaimed.claim().unwrap_err();
    assert!(matches!(reasons[..], [RefusedReason::InUse { usage: Usage::Mounted { .. } }]), "{reasons:?}");
}

#[test]
fn active_swap_is_refused() {
    let mut bench = Bench::attached(&[]);
    run("mkswap", &["--label", "spare", bench.device()]);
    assert_eq!(what_is_lost(&bench.drive(), 0, SIZE), ["swap space"]);
    run("swapon", &[bench.device()]);
    bench.swapped = true;
    let swap = Usage::Swap { device: bench.name().to_owned() };
    assert_eq!(refusals(&bench.drive(), true), [RefusedReason::InUse { usage: swap }]);
}

/// A DOS partition table with one Linux partition from 1 MiB to 9 MiB.
fn partition_table(image: &Path) {
    let mut sector = vec![0_u8; 512];
    sector[446 + 4] = 0x83;
    sector[446 + 8..446 + 12].copy_from_slice(&2048_u32.to_le_bytes());
    sector[446 + 12..446 + 16].copy_from_slice(&16_384_u32.to_le_bytes());
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    File::options().write(true).open(image).unwrap().write_all(&sector).unwrap();
}

#[test]
fn one_mounted_partition_keeps_the_whole_device() {
    let mut bench = Bench::file();
    partition_table(&bench.image());
    let image = bench.file_target().drive;
    assert!(
        what_is_lost(&image, 10 * MIB, 11 * MIB).contains(&"DOS partition table".to_owned()),
        "nobody lists the partitions of a disk image, so any place of it may be one"
    );
    bench.attach(&["--partscan"]);
    // A kernel may be built without DOS partition tables; partx tells it what the table says.
    run("partx", &["--update", "--nr", "1:1", bench.device()]);
    let partition = format!("{}p1", bench.device());
    // The kernel caches a partition apart from its disk; who keeps the disk open keeps what was read of it before.
    let _kept_open = File::open(bench.device()).unwrap();
    assert_eq!(what_is_lost(&bench.drive(), 2 * MIB, 3 * MIB).len(), 1, "the partition is empty yet");
    run("mkfs.ext4", &["-q", "-L", "data", &partition]);
    let drive = bench.drive();
    let name = format!("{}p1", bench.name());
    let of_partition = [format!("partition {name} (8.4 MB)"), "ext4 filesystem".to_owned()];
    assert_eq!(what_is_lost(&drive, 2 * MIB, 3 * MIB), of_partition);
    assert_eq!(what_is_lost(&drive, 0, 512), ["DOS partition table"]);
    assert!(what_is_lost(&drive, 10 * MIB, 11 * MIB).is_empty(), "a spare region loses nothing");

    let root = SysRoot::host();
    let named = resolve(&root, &scan(&root), &partition);
    assert!(matches!(named, Err(ResolveError::Partition { whole, .. }) if whole == bench.name()));

    let mount_point = bench.mount(&partition);
    let mounted = Usage::Mounted { device: name, mount_point, fs_type: "ext4".to_owned() };
    assert_eq!(refusals(&drive, true), [RefusedReason::InUse { usage: mounted }]);
}

#[test]
fn a_read_only_device_is_refused() {
    let bench = Bench::attached(&["--read-only"]);
    let drive = bench.drive();
    assert!(drive.read_only);
    assert_eq!(refusals(&drive, true), [RefusedReason::ReadOnly]);
    assert!(refusals(&drive, false).is_empty());
}

#[test]
fn the_mark_of_a_volume_group_is_refused() {
    let mut bench = Bench::file();
    let image = File::options().write(true).open(bench.image()).unwrap();
    image.write_all_at(b"LABELONE", 512).unwrap();
    image.write_all_at(b"LVM2 001", 536).unwrap();
    bench.attach(&[]);
    let member = Usage::Member { device: bench.name().to_owned(), of: "LVM2 physical volume".to_owned() };
    assert_eq!(refusals(&bench.drive(), true), [RefusedReason::InUse { usage: member }]);
}

#[test]
fn another_disk_under_the_same_name_is_noticed() {
    let mut bench = Bench::attached(&[]);
    let unclaimed = check(&SysRoot::host(), &bench.drive(), true, &[]).unwrap();
    let device = bench.device().to_owned();
    run("losetup", &["--detach", &device]);
    let other = bench.dir.path().join("other.img");
    File::create(&other).unwrap().set_len(SIZE).unwrap();
    run("losetup", &[&device, other.to_str().unwrap()]);
    bench.device = Some(PathBuf::from(device));
    let reasons = unclaimed.claim().unwrap_err();
    assert!(matches!(reasons[..], [RefusedReason::Changed { .. }]), "{reasons:?}");
}

#[test]
fn a_device_of_4096_bytes_a_block_is_claimed_with_that_block() {
    let bench = Bench::attached(&["--sector-size", "4096"]);
    let claimed = claim(&bench.drive(), true);
    assert_eq!(claimed.logical_block(), 4096);
    assert!(write_block(claimed.file(), 512, 0).is_err());
    write_block(claimed.file(), 4096, 4096).unwrap();
}

#[test]
fn a_file_is_claimed_by_one_run_at_a_time() {
    let bench = Bench::file();
    let target = bench.file_target();
    let path = bench.image().canonicalize().unwrap();
    assert_eq!(target.reference, TargetRef::File { path: path.clone() });
    let drive = target.drive;
    assert_eq!((drive.kind, drive.capacity_bytes.get()), (DeviceKind::File, SIZE));
    assert_eq!(drive.confirm_phrase(), Some(path.display().to_string()));
    assert!(what_is_lost(&drive, 0, SIZE)[0].contains("16.8 MB"));

    let claimed = claim(&drive, true);
    write_block(claimed.file(), claimed.logical_block(), SIZE - u64::from(claimed.logical_block())).unwrap();
    let second = check(&SysRoot::host(), &drive, true, &[]).unwrap().claim().unwrap_err();
    assert!(matches!(second[..], [RefusedReason::InUse { usage: Usage::Exclusive { .. } }]), "{second:?}");
    drop(claimed);
    drop(claim(&drive, true));
}

#[test]
fn a_file_under_a_loop_device_and_a_file_of_the_service_are_refused() {
    let bench = Bench::attached(&[]);
    let link = bench.dir.path().join("hard-link.img");
    fs::hard_link(bench.image(), &link).unwrap();
    let root = SysRoot::host();
    let bound = |usages: Vec<Usage>| {
        assert!(matches!(&usages[..], [Usage::LoopBacking { loop_device, .. }] if loop_device == bench.name()));
    };
    bound(usage_of_file(&root, &bench.image()));
    bound(usage_of_file(&root, &link));

    let own = [link];
    let of_device = check(&root, &bench.drive(), true, &own).unwrap_err();
    assert_eq!(of_device, [RefusedReason::OwnFile], "a loop device over an own file");
    let of_file = check(&root, &bench.file_target().drive, true, &own).unwrap_err();
    assert!(of_file.contains(&RefusedReason::OwnFile) && of_file.len() == 2, "all reasons at once: {of_file:?}");
}

#[test]
fn a_file_that_changed_is_noticed() {
    let bench = Bench::file();
    let drive = bench.file_target().drive;
    let unclaimed = check(&SysRoot::host(), &drive, true, &[]).unwrap();
    fs::rename(bench.image(), bench.dir.path().join("old.img")).unwrap();
    File::create(bench.image()).unwrap().set_len(SIZE).unwrap();
    assert!(matches!(unclaimed.claim().unwrap_err()[..], [RefusedReason::Changed { .. }]));
    File::create(bench.image()).unwrap().set_len(SIZE / 2).unwrap();
    assert!(matches!(refusals(&drive, true)[..], [RefusedReason::Changed { .. }]));
}

#[test]
fn what_is_neither_device_nor_file_is_told() {
    let bench = Bench::file();
    let root = SysRoot::host();
    let inventory = scan(&root);
    let empty = bench.dir.path().join("empty");
    File::create(&empty).unwrap();
    let dir = bench.dir.path().to_str().unwrap();
    for (text, what) in [(dir, "directory"), ("/dev/null", "character device"), (empty.to_str().unwrap(), "empty")] {
        match resolve(&root, &inventory, text) {
            Err(ResolveError::NotATarget { what: said, .. }) => assert!(said.contains(what), "{text}: {said}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let missing = format!("{dir}/missing");
    assert!(matches!(resolve(&root, &inventory, &missing), Err(ResolveError::NotFound { .. })));
}
