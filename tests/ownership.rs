//! Who uses a device: the whole tree, on hosts made by hand.

mod tree;

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use drivescope::device::{SysRoot, scan, usage_of_device, usage_of_file};
use tree::Tree;

const SWAPS: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

fn usage(tree: &Tree, device: &str) -> Vec<String> {
    usage_of_device(&tree.root(), device).iter().map(ToString::to_string).collect()
}

#[test]
fn a_mounted_partition_makes_the_whole_disk_used() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .partition("sda", 1, "8:1")
        .file("/proc/self/mountinfo", "30 1 8:1 / /mnt/my\\040disk rw - ext4 /dev/sda1 rw\n");
    assert_eq!(usage(&tree, "sda"), ["sda1 is mounted at /mnt/my disk (ext4)"]);
    assert_eq!(scan(&tree.root()).drives[0].usage.len(), 1);
}

#[test]
fn another_disk_is_free() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .disk("sdaa", "65:160")
        .file("/proc/self/mountinfo", "30 1 65:160 / /a rw - ext4 /dev/sdaa rw\n");
    assert!(usage(&tree, "sda").is_empty());
    assert_eq!(usage(&tree, "sdaa").len(), 1);
}

#[test]
fn a_filesystem_with_a_number_of_its_own_is_found_by_its_source() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .disk("sdb", "8:16")
        .link("/dev/disk/by-label/pool", "../../sda")
        .file("/sys/fs/btrfs/0a1b/devices/sda/size", "1\n")
        .file("/sys/fs/btrfs/0a1b/devices/sdb/size", "1\n")
        .file("/proc/self/mountinfo", "30 1 0:42 / /pool rw - btrfs /dev/disk/by-label/pool rw\n");
    assert_eq!(usage(&tree, "sda"), ["sda is mounted at /pool (btrfs)"]);
    assert_eq!(usage(&tree, "sdb"), ["sdb is mounted at /pool (btrfs)"], "the second member");
}

#[test]
fn the_kernels_root_is_found_by_the_command_line() {
    let tree = Tree::new()
        .disk("nvme0n1", "259:0")
        .file("/sys/block/nvme0n1/nvme0n1p2/partition", "2\n")
        .link("/dev/disk/by-partuuid/17-02", "../../nvme0n1p2")
        .file("/proc/cmdline", "quiet root=PARTUUID=17-02 rw\n")
        .file("/proc/self/mountinfo", "30 1 0:42 / / rw - btrfs /dev/root rw\n");
    assert_eq!(usage(&tree, "nvme0n1"), ["nvme0n1p2 is mounted at / (btrfs)"]);
}

#[test]
fn an_external_journal_is_in_use() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .disk("sdb", "8:16")
        .file("/proc/self/mountinfo", "30 1 8:0 / /x rw - xfs /dev/sda rw,logdev=/dev/sdb,noquota\n");
    assert_eq!(usage(&tree, "sdb"), ["sdb is mounted at /x (xfs)"]);
}

#[test]
fn swap_on_a_partition_and_in_a_file() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .partition("sda", 2, "8:2")
        .file("/proc/swaps", format!("{SWAPS}/dev/sda2  partition 1048572 0 -2\n/var/swap\\040file file 1024 0 -3\n"));
    assert_eq!(usage(&tree, "sda"), ["sda2 is in use as swap"]);
    let file = usage_of_file(&tree.root(), Path::new("/var/swap file"));
    assert_eq!(file.len(), 1, "{file:?}");
    assert!(usage_of_file(&tree.root(), Path::new("/var/other")).is_empty());
}

#[test]
fn what_is_built_on_a_partition_is_followed_to_its_mount() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .partition("sda", 3, "8:3")
        .file("/sys/block/sda/sda3/holders/dm-0/dev", "253:0\n")
        .disk("dm-0", "253:0")
        .file("/sys/block/dm-0/slaves/sda3/dev", "8:3\n")
        .file("/sys/block/dm-0/holders/dm-1/dev", "253:1\n")
        .disk("dm-1", "253:1")
        .link("/dev/mapper/vg-root", "../dm-1")
        .file("/proc/self/mountinfo", "30 1 253:1 / / rw - xfs /dev/mapper/vg-root rw\n");
    assert_eq!(usage(&tree, "sda"), ["sda3 is a part of dm-0", "dm-0 is a part of dm-1", "dm-1 is mounted at / (xfs)"]);
    let inventory = scan(&tree.root());
    let lower = inventory.drives.iter().find(|drive| drive.name == "dm-0").unwrap();
    let slaves = lower.facts.iter().find(|fact| fact.name == "slaves").unwrap();
    assert_eq!(slaves.value.as_deref(), Some("sda3"), "what is below is shown");
}

#[test]
fn holders_in_a_circle_end() {
    let tree = Tree::new()
        .disk("dm-0", "253:0")
        .disk("dm-1", "253:1")
        .file("/sys/block/dm-0/holders/dm-1/dev", "253:1\n")
        .file("/sys/block/dm-1/holders/dm-0/dev", "253:0\n");
    assert_eq!(usage(&tree, "dm-0").len(), 2);
}

#[test]
fn a_loop_device_over_a_disk_or_a_file_uses_it() {
    let tree = Tree::new()
        .disk("sdb", "8:16")
        .disk("loop3", "7:3")
        .file("/sys/block/loop3/loop/backing_file", "/dev/disk/by-id/ata-X\n")
        .link("/dev/disk/by-id/ata-X", "../../sdb")
        .disk("loop4", "7:4")
        .file("/sys/block/loop4/loop/backing_file", "/srv/disk.img (deleted)\n")
        .file("/proc/self/mountinfo", "30 1 7:3 / /a rw - ext4 /dev/loop3 rw\n31 1 7:4 / /b rw - ext4 /dev/loop4 rw\n");
    assert_eq!(usage(&tree, "sdb"), ["sdb is the backing of loop3", "loop3 is mounted at /a (ext4)"]);
    let file: Vec<String> =
        usage_of_file(&tree.root(), Path::new("/srv/disk.img")).iter().map(ToString::to_string).collect();
    assert_eq!(file, ["/srv/disk.img is the backing of loop4", "loop4 is mounted at /b (ext4)"]);
}

#[test]
fn the_drive_of_this_machines_root_filesystem_is_in_use() {
    // By stat, which the service does not use for it. In a container the root is on no block device.
    let number = std::fs::metadata("/").unwrap().dev();
    let (major, minor) = (nix::sys::stat::major(number), nix::sys::stat::minor(number));
    let place = std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).unwrap_or_default();
    for drive in scan(&SysRoot::host()).drives {
        let on_it = place.iter().any(|step| step == drive.name.as_str());
        let root = drive.usage.iter().any(|usage| usage.to_string().contains("is mounted at / ("));
        assert!(root || !on_it, "{}: {:?}", drive.name, drive.usage);
    }
}
