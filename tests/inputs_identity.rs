//! The public reports of drives, bridges and kernels that this product will meet: those on numbers, identity and topology.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests: clippy allows it only inside #[test] functions

mod tree;

use std::path::PathBuf;

use drivescope::device::{ResolveError, resolve, scan};
use drivescope::model::drive::{DeviceKind, IdentityBasis, Usage};
use drivescope::model::run::RefusedReason;
use tree::Tree;

const WWN: &str = "naa.5000c500a1b2c3d4\n";

fn serial_page(serial: &str) -> Vec<u8> {
    [&[0, 0x80, 0, u8::try_from(serial.len()).unwrap()], serial.as_bytes()].concat()
}

/// A disk with a name, a serial number and a model.
fn with_disk(tree: Tree, name: &str, number: &str, wwn: &str, serial: &str) -> Tree {
    tree.disk(name, number)
        .file(&format!("/sys/block/{name}/device/wwid"), wwn)
        .file(&format!("/sys/block/{name}/device/model"), "ST8000NM0075\n")
        .file(&format!("/sys/block/{name}/device/vpd_pg80"), serial_page(serial))
}

fn two(wwns: [&str; 2], serials: [&str; 2]) -> Tree {
    let tree = with_disk(Tree::new(), "sda", "8:0", wwns[0], serials[0]);
    with_disk(tree, "sdb", "8:16", wwns[1], serials[1])
}

#[test]
fn row_31_a_disk_past_32_bits_of_blocks_keeps_every_block() {
    // 18 TB at 4 KiB is 4 394 582 016 blocks, above 2^32; in sectors of 512 bytes 35 156 656 128.
    let tree = Tree::new()
        .disk("sda", "8:0")
        .file("/sys/block/sda/size", "35156656128\n")
        .file("/sys/block/sda/queue/logical_block_size", "4096\n");
    let drive = scan(&tree.root()).drives.remove(0);
    assert_eq!(drive.capacity_bytes.get(), 18_000_207_937_536);
    assert_eq!(drive.capacity_bytes.get() / u64::from(drive.logical_block_bytes), 4_394_582_016);
}

#[test]
fn row_32_a_capacity_that_is_no_multiple_of_a_mebibyte_is_kept_to_the_byte() {
    let tree = Tree::new().disk("sda", "8:0").file("/sys/block/sda/size", "15628053168\n");
    let capacity = scan(&tree.root()).drives[0].capacity_bytes.get();
    assert_eq!((capacity, capacity % (1 << 20)), (8_001_563_222_016, 352_256));
}

#[test]
fn row_33_odd_logical_blocks_are_shown_as_they_are() {
    let odd = scan(&Tree::new().disk("sda", "8:0").file("/sys/block/sda/size", "0\n").root());
    assert!(odd.drives.is_empty() && odd.left_out[0].why.contains("520"), "{:?}", odd.left_out);
    for size in [512_u32, 520, 528, 4096, 4224] {
        let tree = Tree::new().disk("sda", "8:0").file("/sys/block/sda/queue/logical_block_size", format!("{size}\n"));
        assert_eq!(scan(&tree.root()).drives[0].logical_block_bytes, size);
    }
}

#[test]
fn row_37_a_world_wide_name_of_zeros_or_ones_is_no_name() {
    for blank in
        ["naa.0000000000000000\n", "naa.5000000000000000\n", "naa.ffffffffffffffff\n", "eui.0000000000000000\n"]
    {
        let inventory = scan(&two([blank, blank], ["ZA1AAAAA", "ZA1BBBBB"]).root());
        assert_eq!(inventory.drives.len(), 2, "{blank}");
        for drive in &inventory.drives {
            assert_eq!((drive.identity.basis, drive.identity.unique), (IdentityBasis::ModelSerial, true), "{blank}");
        }
    }
}

#[test]
fn row_37_two_drives_with_one_world_wide_name_are_both_shown_and_said_to_be_twins() {
    let inventory = scan(&two([WWN, WWN], ["ZA1AAAAA", "ZA1BBBBB"]).root());
    let [a, b] = &inventory.drives[..] else { panic!("two drives") };
    assert_ne!(a.id, b.id);
    for drive in [a, b] {
        assert!(!drive.identity.unique && drive.identity.note.is_some() && drive.paths.len() == 1);
    }
}

#[test]
fn a_serial_that_two_drives_share_without_a_world_wide_name_makes_twins() {
    let inventory = scan(&two(["", ""], ["ZA1AAAAA", "ZA1AAAAA"]).root());
    assert_eq!(inventory.drives.len(), 2);
    assert!(inventory.drives.iter().all(|drive| !drive.identity.unique));
}

#[test]
fn row_39_one_drive_on_two_paths_is_one_drive() {
    let tree = two([WWN, WWN], ["ZA1AAAAA", "ZA1AAAAA"]);
    let inventory = scan(&tree.root());
    let [drive] = &inventory.drives[..] else { panic!("one drive: {:?}", inventory.drives.len()) };
    assert_eq!(drive.paths, [PathBuf::from("/dev/sda"), PathBuf::from("/dev/sdb")]);
    assert_eq!((drive.path.to_str(), drive.identity.unique), (Some("/dev/sda"), true));
    assert_eq!(drive.identity.key, "wwn:naa.5000c500a1b2c3d4", "its id is that of the drive on one path");
    assert!(drive.identity.note.as_deref().unwrap().contains("2 paths"));
    assert!(matches!(RefusedReason::of_paths(drive), Some(RefusedReason::SeveralPaths { paths }) if paths.len() == 2));
    let by_the_other = resolve(&tree.root(), &inventory, "sdb").unwrap();
    assert_eq!(by_the_other.drive.id, drive.id);
    assert!(matches!(resolve(&tree.root(), &inventory, "sdc"), Err(ResolveError::NotFound { .. })));
}

#[test]
fn row_39_another_size_is_another_drive_whatever_the_names_say() {
    let tree = two([WWN, WWN], ["ZA1AAAAA", "ZA1AAAAA"]).file("/sys/block/sdb/size", "4194304\n");
    assert_eq!(scan(&tree.root()).drives.len(), 2);
}

#[test]
fn paths_that_multipath_has_joined_are_one_drive_and_in_use_by_it() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .disk("sdb", "8:16")
        .disk("dm-0", "253:0")
        .file("/sys/block/dm-0/dm/uuid", "mpath-35000c500a1b2c3d4\n")
        .file("/sys/block/dm-0/slaves/sda/dev", "8:0\n")
        .file("/sys/block/dm-0/slaves/sdb/dev", "8:16\n")
        .file("/sys/block/sda/holders/dm-0/dev", "253:0\n")
        .file("/sys/block/sdb/holders/dm-0/dev", "253:0\n");
    let drives = scan(&tree.root()).drives;
    let disks: Vec<_> = drives.iter().filter(|drive| drive.kind == DeviceKind::Disk).collect();
    assert_eq!(disks.len(), 1);
    assert_eq!(disks[0].paths.len(), 2);
    assert_eq!(RefusedReason::of_paths(disks[0]), None, "that it is held says it all");
    let held = |device: &str| Usage::Holder { device: device.to_owned(), holder: "dm-0".to_owned() };
    assert!(disks[0].usage.contains(&held("sda")) && disks[0].usage.contains(&held("sdb")));
}

#[test]
fn other_device_mapper_devices_join_nothing() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .disk("sdb", "8:16")
        .disk("dm-0", "253:0")
        .file("/sys/block/dm-0/dm/uuid", "LVM-abcdef\n")
        .file("/sys/block/dm-0/slaves/sda/dev", "8:0\n")
        .file("/sys/block/dm-0/slaves/sdb/dev", "8:16\n");
    assert_eq!(scan(&tree.root()).drives.len(), 3);
}

#[test]
fn row_42_a_drive_that_comes_back_under_another_name_keeps_its_id() {
    let before = scan(&with_disk(Tree::new(), "sdb", "8:16", WWN, "ZA1AAAAA").root()).drives.remove(0);
    let after = scan(&with_disk(Tree::new(), "sdc", "8:32", WWN, "ZA1AAAAA").root()).drives.remove(0);
    assert_ne!(before.name, after.name);
    assert_eq!(before.id, after.id);
    let other =
        scan(&with_disk(Tree::new(), "sdb", "8:16", "naa.5000c500ffffffff\n", "ZA1CCCCC").root()).drives.remove(0);
    assert_ne!(before.id, other.id, "another drive under the old name");
}

#[test]
fn row_44_a_rotational_flag_that_cannot_be_read_is_unknown_and_not_0() {
    let tree = Tree::new().disk("sda", "8:0").file("/sys/block/sda/queue/rotational/oops", "");
    assert_eq!(scan(&tree.root()).drives[0].rotational, None);
}
