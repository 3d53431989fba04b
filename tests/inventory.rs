//! Every kind of drive as two kernels show it: recorded hosts in `tests/fixtures/hosts`.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests: clippy allows it only inside #[test] functions

mod tree;

use std::path::PathBuf;

use drivescope::device::{ResolveError, SysRoot, TargetRef, check, resolve, scan};
use drivescope::model::drive::{
    DeviceKind, Drive, Fact, IdentityBasis, Inventory, Reading, Rotation, Transport, Unknown, ZonedField,
};
use drivescope::model::run::RefusedReason;
use tree::Tree;

fn root(host: &str) -> SysRoot {
    SysRoot::recorded(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts").join(host))
}

/// The only drive of a recorded host.
fn drive(host: &str) -> Drive {
    let mut inventory = scan(&root(host));
    assert_eq!(inventory.drives.len(), 1, "{host}: {:?}", inventory.left_out);
    inventory.drives.remove(0)
}

fn fact<'a>(drive: &'a Drive, name: &str) -> &'a Fact {
    drive.facts.iter().find(|fact| fact.name == name).unwrap_or_else(|| panic!("{} has no fact {name}", drive.name))
}

/// What a recorded drive must turn out to be.
struct Expected {
    hosts: &'static [&'static str],
    kind: DeviceKind,
    transport: Transport,
    model: Option<&'static str>,
    serial: Option<&'static str>,
    wwn: Option<&'static str>,
    sectors: u64,
    /// Logical and physical block.
    blocks: (u32, u32),
    queue_zoned: &'static str,
    zoned_cap: Option<&'static str>,
    b1: Option<(Rotation, ZonedField)>,
    device_type: Option<u8>,
}

const NOTHING: Expected = Expected {
    hosts: &[],
    kind: DeviceKind::Disk,
    transport: Transport::Kernel,
    model: None,
    serial: None,
    wwn: None,
    sectors: 2_097_152,
    blocks: (512, 512),
    queue_zoned: "none",
    zoned_cap: None,
    b1: None,
    device_type: None,
};

const SCSI: Expected = Expected {
    sectors: 1_048_576,
    zoned_cap: Some("none"),
    b1: Some((Rotation::NotReported, ZonedField::NotReported)),
    device_type: Some(0),
    ..NOTHING
};

const SCSI_DEBUG: Expected = Expected {
    transport: Transport::Scsi,
    model: Some("scsi_debug"),
    serial: Some("2000"),
    wwn: Some("naa.33333330000007d0"),
    sectors: 524_288,
    b1: Some((Rotation::NonRotating, ZonedField::NotReported)),
    ..SCSI
};

const ROTATING: Rotation = Rotation::Rpm(5400);

/// Every recorded drive. Taken from `INDEX.tsv` of the recording, not from what the code says.
const RECORDED: &[Expected] = &[
    Expected {
        hosts: &["brd@6.1.0", "brd@6.12.95"],
        kind: DeviceKind::Ram,
        sectors: 32_768,
        blocks: (512, 4096),
        ..NOTHING
    },
    Expected { hosts: &["dm-delay@6.1.0"], kind: DeviceKind::DeviceMapper, ..NOTHING },
    Expected { hosts: &["loop-bound-4k@6.18-host"], kind: DeviceKind::Loop, blocks: (4096, 4096), ..NOTHING },
    Expected { hosts: &["zram-sized@6.18-host"], kind: DeviceKind::Zram, blocks: (4096, 4096), ..NOTHING },
    Expected { hosts: &["nbd-connected@6.1.0"], kind: DeviceKind::Nbd, sectors: 1_048_576, ..NOTHING },
    Expected {
        hosts: &[
            "null_blk-membacked@6.1.0",
            "null_blk-membacked@6.12.95",
            "null_blk-plain@6.1.0",
            "null_blk-plain@6.12.95",
        ],
        kind: DeviceKind::NullBlk,
        ..NOTHING
    },
    Expected {
        hosts: &["null_blk-zoned@6.1.0", "null_blk-zoned@6.12.95"],
        kind: DeviceKind::NullBlk,
        queue_zoned: "host-managed",
        ..NOTHING
    },
    Expected {
        hosts: &["null_blk-zoned-cap@6.1.0", "null_blk-zoned-cap@6.12.95"],
        kind: DeviceKind::NullBlk,
        blocks: (4096, 4096),
        queue_zoned: "host-managed",
        ..NOTHING
    },
    Expected {
        hosts: &["qemu-ahci-SATASSD@6.1.0", "qemu-ahci-SATASSD@6.12.95"],
        transport: Transport::Sata,
        model: Some("SATASSD"),
        serial: Some("SATASSD1"),
        b1: Some((Rotation::NonRotating, ZonedField::NotReported)),
        ..SCSI
    },
    Expected {
        hosts: &["qemu-ahci-ST8000DM004-2CX1@6.1.0", "qemu-ahci-ST8000DM004-2CX1@6.12.95"],
        transport: Transport::Sata,
        model: Some("ST8000DM004-2CX188"),
        serial: Some("ZCT0AAAA"),
        wwn: Some("naa.5000c500b1b2b3b4"),
        b1: Some((ROTATING, ZonedField::NotReported)),
        ..SCSI
    },
    Expected {
        hosts: &["qemu-megaraid_sas-MEGADISK@6.1.0"],
        transport: Transport::Scsi,
        model: Some("MEGADISK"),
        serial: Some("M1"),
        wwn: Some("naa.5000c50011111111"),
        sectors: 131_072,
        b1: Some((Rotation::Rpm(7200), ZonedField::NotReported)),
        ..SCSI
    },
    Expected {
        hosts: &["qemu-mptsas-MPTSASDISK@6.1.0"],
        transport: Transport::Sas,
        model: Some("MPTSASDISK"),
        serial: Some("M2"),
        wwn: Some("naa.5000c50022222222"),
        sectors: 131_072,
        b1: Some((Rotation::Rpm(7200), ZonedField::NotReported)),
        ..SCSI
    },
    Expected {
        hosts: &["qemu-nvme-conv@6.1.0", "qemu-nvme-conv@6.12.95"],
        kind: DeviceKind::NvmeNamespace,
        transport: Transport::Nvme,
        model: Some("QEMU NVMe Ctrl"),
        serial: Some("NVMESER1"),
        sectors: 1_048_576,
        ..NOTHING
    },
    Expected {
        hosts: &["qemu-nvme-zns@6.1.0", "qemu-nvme-zns@6.12.95"],
        kind: DeviceKind::NvmeNamespace,
        transport: Transport::Nvme,
        model: Some("QEMU NVMe Ctrl"),
        serial: Some("NVMESER1"),
        blocks: (4096, 4096),
        queue_zoned: "host-managed",
        ..NOTHING
    },
    Expected {
        hosts: &["qemu-uas-UASDISK@6.1.0", "qemu-uas-UASDISK@6.12.95"],
        transport: Transport::Usb,
        model: Some("UASDISK"),
        serial: Some("UAS0001"),
        b1: Some((ROTATING, ZonedField::NotReported)),
        ..SCSI
    },
    Expected {
        hosts: &["qemu-usb-storage-QEMUHARDDISK@6.1.0", "qemu-usb-storage-QEMUHARDDISK@6.12.95"],
        transport: Transport::Usb,
        model: Some("QEMU HARDDISK"),
        serial: Some("USBSER1"),
        zoned_cap: None,
        b1: None,
        ..SCSI
    },
    Expected {
        hosts: &["qemu-virtio-blk-vda@6.1.0", "qemu-virtio-blk-vda@6.12.95"],
        kind: DeviceKind::VirtualDisk,
        transport: Transport::Virtio,
        serial: Some("VBLK1"),
        sectors: 1_048_576,
        ..NOTHING
    },
    Expected {
        hosts: &["qemu-virtio_scsi-QEMUHARDDISK@6.1.0", "qemu-virtio_scsi-QEMUHARDDISK@6.12.95"],
        transport: Transport::Virtio,
        model: Some("QEMU HARDDISK"),
        ..SCSI
    },
    Expected {
        hosts: &["qemu-virtio_scsi-SSDMODEL@6.1.0", "qemu-virtio_scsi-SSDMODEL@6.12.95"],
        transport: Transport::Virtio,
        model: Some("SSDMODEL"),
        serial: Some("SSD001"),
        b1: Some((Rotation::NonRotating, ZonedField::NotReported)),
        ..SCSI
    },
    Expected {
        hosts: &["qemu-virtio_scsi-ST8000AS0002@6.1.0", "qemu-virtio_scsi-ST8000AS0002@6.12.95"],
        transport: Transport::Virtio,
        model: Some("ST8000AS0002"),
        serial: Some("ZR900001"),
        wwn: Some("naa.5000c5000a1b2c3d"),
        blocks: (512, 4096),
        b1: Some((ROTATING, ZonedField::NotReported)),
        ..SCSI
    },
    Expected {
        hosts: &["scsi_debug-lbp@6.1.0", "scsi_debug-lbp@6.12.95"],
        sectors: 131_072,
        blocks: (512, 4096),
        ..SCSI_DEBUG
    },
    Expected { hosts: &["scsi_debug-none@6.1.0", "scsi_debug-none@6.12.95"], ..SCSI_DEBUG },
    Expected {
        hosts: &[
            "scsi_debug-removable@6.1.0",
            "scsi_debug-removable@6.12.95",
            "scsi_debug-scsilevel5@6.1.0",
            "scsi_debug-scsilevel5@6.12.95",
        ],
        sectors: 131_072,
        ..SCSI_DEBUG
    },
    Expected {
        hosts: &[
            "scsi_debug-ptype-zbc20@6.1.0",
            "scsi_debug-ptype-zbc20@6.12.95",
            "scsi_debug-zbc-managed-512@6.1.0",
            "scsi_debug-zbc-managed-512@6.12.95",
        ],
        queue_zoned: "host-managed",
        zoned_cap: Some("host-managed"),
        device_type: Some(0x14),
        ..SCSI_DEBUG
    },
    Expected {
        hosts: &["scsi_debug-zbc-managed@6.1.0", "scsi_debug-zbc-managed@6.12.95"],
        blocks: (4096, 4096),
        queue_zoned: "host-managed",
        zoned_cap: Some("host-managed"),
        device_type: Some(0x14),
        ..SCSI_DEBUG
    },
    Expected {
        hosts: &["scsi_debug-zbc-aware@6.1.0"],
        queue_zoned: "host-aware",
        zoned_cap: Some("host-aware"),
        b1: Some((Rotation::NonRotating, ZonedField::HostAware)),
        ..SCSI_DEBUG
    },
    Expected {
        hosts: &["scsi_debug-zbc-aware-4k@6.1.0"],
        blocks: (4096, 4096),
        queue_zoned: "host-aware",
        zoned_cap: Some("host-aware"),
        b1: Some((Rotation::NonRotating, ZonedField::HostAware)),
        ..SCSI_DEBUG
    },
    // scsi_debug of 6.12 no longer says that it is host-aware.
    Expected { hosts: &["scsi_debug-zbc-aware@6.12.95"], ..SCSI_DEBUG },
    Expected { hosts: &["scsi_debug-zbc-aware-4k@6.12.95"], blocks: (4096, 4096), ..SCSI_DEBUG },
    Expected {
        hosts: &["vhost-user-scsi-zoned01b@6.12.95"],
        transport: Transport::Virtio,
        model: Some("vhost-user-scsi"),
        zoned_cap: Some("host-aware"),
        b1: Some((ROTATING, ZonedField::HostAware)),
        ..SCSI
    },
    Expected {
        hosts: &["vhost-user-scsi-zoned10b@6.1.0", "vhost-user-scsi-zoned10b@6.12.95"],
        transport: Transport::Virtio,
        model: Some("vhost-user-scsi"),
        zoned_cap: Some("drive-managed"),
        b1: Some((ROTATING, ZonedField::DriveManaged)),
        ..SCSI
    },
    Expected {
        hosts: &["wd140emfz-usb"],
        transport: Transport::Usb,
        model: Some("WD140EMFZ-11A0WA"),
        serial: Some("394C4B30303031"),
        sectors: 27_344_764_928,
        blocks: (512, 4096),
        zoned_cap: None,
        b1: Some((ROTATING, ZonedField::NotReported)),
        ..SCSI
    },
];

/// Recorded hosts whose only device is no drive now.
const LEFT_OUT: &[(&str, &str)] = &[
    ("loop-unbound@6.1.0", "not bound"),
    ("loop-unbound@6.12.95", "not bound"),
    ("nbd-unconnected@6.1.0", "not connected"),
    ("nbd-unconnected@6.12.95", "not connected"),
    ("zram-unsized@6.1.0", "size"),
    ("zram-unsized@6.12.95", "size"),
    ("vhost-user-scsi-zoned01b@6.1.0", "size is 0"),
];

#[test]
fn every_recorded_drive_is_what_it_is() {
    for expected in RECORDED {
        for host in expected.hosts {
            let drive = drive(host);
            assert_eq!(drive.kind, expected.kind, "{host}");
            assert_eq!(drive.transport, expected.transport, "{host}");
            assert_eq!(drive.model.as_deref(), expected.model, "{host}");
            assert_eq!(drive.serial.as_deref(), expected.serial, "{host}");
            assert_eq!(drive.wwn.as_deref(), expected.wwn, "{host}");
            assert_eq!(drive.capacity_bytes.get(), expected.sectors * 512, "{host}");
            let blocks = (drive.logical_block_bytes, drive.physical_block_bytes.unwrap());
            assert_eq!(blocks, expected.blocks, "{host}");
            let declared = &drive.declared;
            assert_eq!(declared.queue_zoned.known().map(String::as_str), Some(expected.queue_zoned), "{host}");
            assert_eq!(declared.zoned_cap.known().map(String::as_str), expected.zoned_cap, "{host}");
            assert_eq!(declared.device_type.known().copied(), expected.device_type, "{host}");
            let b1 = declared.vpd_b1.known().map(|b1| (b1.rotation, b1.zoned.unwrap()));
            assert_eq!(b1, expected.b1, "{host}");
            assert!(drive.usage.is_empty(), "{host}");
        }
    }
}

#[test]
fn every_fixture_is_expected_and_every_expectation_is_a_fixture() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts");
    let mut recorded: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let mut expected: Vec<String> = RECORDED
        .iter()
        .flat_map(|expected| expected.hosts)
        .copied()
        .chain(LEFT_OUT.iter().map(|(host, _)| *host))
        .map(str::to_owned)
        .collect();
    recorded.sort();
    expected.sort();
    assert_eq!(recorded, expected);
}

#[test]
fn what_has_no_size_is_left_out_with_the_reason() {
    for (host, why) in LEFT_OUT {
        let inventory = scan(&root(host));
        assert!(inventory.drives.is_empty(), "{host}");
        assert!(inventory.left_out[0].why.contains(why), "{host}: {:?}", inventory.left_out);
    }
}

#[test]
fn none_from_a_kernel_that_never_asked_is_not_an_answer() {
    let drive = drive("qemu-usb-storage-QEMUHARDDISK@6.12.95");
    assert!(matches!(drive.declared.zoned_cap, Reading::Unknown(Unknown::NotTrusted(_))));
    assert!(fact(&drive, "zoned_cap").remedy.is_some());
    assert!(fact(&drive, "vpd-b1/zoned").remedy.as_deref().unwrap().contains("USB"));
    assert!(drive.identity.note.as_deref().unwrap().contains("bridge"), "the serial is not the drive's own");
}

#[test]
fn the_disk_of_the_main_case_says_5400_and_nothing_of_zones() {
    let drive = drive("wd140emfz-usb");
    assert_eq!(drive.rotation_rpm, Some(5400));
    assert_eq!(drive.declared.zoned_cap, Reading::Unknown(Unknown::Absent));
    let zoned = fact(&drive, "vpd-b1/zoned");
    assert_eq!(zoned.value.as_deref(), Some("0 (not reported)"));
    assert_eq!(zoned.source, "/sys/block/sda/device/vpd_pgb1 byte 8 bits 5:4");
    assert!(fact(&drive, "zoned_cap").remedy.as_deref().unwrap().contains("5.8"));
    assert_eq!(fact(&drive, "kernel").value.as_deref(), Some("5.4.0-42-generic"));
    assert_eq!(drive.limits.max_sectors_kb, Some(256), "the bridge's limit");
    assert_eq!(drive.confirm_phrase().as_deref(), Some("394C4B30303031"));
}

#[test]
fn a_missing_page_is_told_from_a_kernel_that_does_not_show_it() {
    let page_0 = |pages: &[u8]| [&[0, 0, 0, u8::try_from(pages.len()).unwrap()], pages].concat();
    let offered = Tree::new().disk("sda", "8:0").file("/sys/block/sda/device/vpd_pg0", page_0(&[0x00, 0xb1]));
    let drive = scan(&offered.root()).drives.remove(0);
    assert!(matches!(drive.declared.vpd_b1, Reading::Unknown(Unknown::NotReadable(_))));
    assert!(fact(&drive, "vpd-b1/zoned").remedy.as_deref().unwrap().contains("5.19"));

    let without = Tree::new().disk("sda", "8:0").file("/sys/block/sda/device/vpd_pg0", page_0(&[0x00, 0x83]));
    let drive = scan(&without.root()).drives.remove(0);
    assert_eq!(drive.declared.vpd_b1, Reading::Unknown(Unknown::Absent));
    assert!(fact(&drive, "vpd-b1/zoned").remedy.as_deref().unwrap().contains("probe"));
}

#[test]
fn a_page_of_another_drive_is_not_believed() {
    // scsi_debug sends the IDENTIFY of an old Seagate disk.
    let drive = drive("scsi_debug-none@6.12.95");
    assert!(matches!(drive.declared.ata_zoned, Reading::Unknown(Unknown::NotTrusted(_))));
    assert_eq!(drive.model.as_deref(), Some("scsi_debug"));
}

#[test]
fn the_command_set_is_known_where_the_kernel_shows_it() {
    assert_eq!(drive("qemu-nvme-zns@6.12.95").declared.nvme_csi, Reading::Known(2));
    assert_eq!(drive("qemu-nvme-conv@6.12.95").declared.nvme_csi, Reading::Known(0));
    assert_eq!(drive("qemu-nvme-zns@6.1.0").declared.nvme_csi, Reading::Unknown(Unknown::Absent));
}

#[test]
fn the_same_drive_has_the_same_id_on_two_kernels_and_under_two_names() {
    let (old, new) = (drive("qemu-nvme-zns@6.1.0"), drive("qemu-nvme-zns@6.12.95"));
    assert_ne!(old.name, new.name);
    assert_eq!(old.id, new.id);
    assert_ne!(drive("qemu-nvme-conv@6.1.0").id, old.id, "another namespace of the same controller");
    let sata = drive("qemu-ahci-ST8000DM004-2CX1@6.1.0");
    assert_eq!((sata.identity.key.as_str(), sata.identity.basis), ("wwn:naa.5000c500b1b2b3b4", IdentityBasis::Wwn));
}

#[test]
fn zones_and_limits_are_read() {
    let zns = drive("qemu-nvme-zns@6.1.0").limits;
    assert_eq!((zns.nr_zones, zns.chunk_bytes), (Some(64), Some(32_768 * 512)));
    assert_eq!((zns.max_open_zones, zns.max_active_zones), (Some(8), Some(12)));
    let sata = drive("qemu-ahci-ST8000DM004-2CX1@6.1.0");
    assert_eq!(sata.limits.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(sata.limits.write_cache.as_deref(), Some("write back"));
    assert_eq!((sata.limits.timeout_s, sata.rotational), (Some(30), Some(true)));
}

/// Two disks with what is in `files` of their `device` directory.
fn twins(files: &[(&str, &str)]) -> Inventory {
    let mut tree = Tree::new();
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16")] {
        tree = tree.disk(name, number);
        for (file, content) in files {
            tree = tree.file(&format!("/sys/block/{name}/device/{file}"), content);
        }
    }
    scan(&tree.root())
}

#[test]
fn twins_are_told_apart_and_both_say_so() {
    let inventory = twins(&[("wwid", "naa.5000c500a1b2c3d4\n"), ("model", "ST8000\n")]);
    let [a, b] = &inventory.drives[..] else { panic!("two drives") };
    assert_ne!(a.id, b.id);
    assert!(!a.identity.unique && !b.identity.unique);
    assert_eq!(a.identity.key, "wwn:naa.5000c500a1b2c3d4:sda");
    assert!(a.identity.note.as_deref().unwrap().contains("sdb"));
}

#[test]
fn a_blank_name_and_a_placeholder_serial_do_not_make_twins() {
    let inventory = twins(&[("wwid", "naa.5000000000000000\n"), ("model", "ST8000\n"), ("vpd_pg80", "\0\u{0080}")]);
    for drive in &inventory.drives {
        assert_eq!((drive.identity.basis, drive.identity.unique), (IdentityBasis::Path, true));
        assert_eq!(drive.confirm_phrase(), None);
    }
}

#[test]
fn hidden_paths_and_optical_drives_are_left_out() {
    let tree = Tree::new().disk("nvme0c0n1", "259:1").file("/sys/block/nvme0c0n1/hidden", "1\n").disk("sr0", "11:0");
    let inventory = scan(&tree.root());
    assert!(inventory.drives.is_empty());
    assert_eq!(inventory.left_out.len(), 2);
}

#[test]
fn many_drives_come_in_order_and_none_is_lost() {
    let mut tree = Tree::new();
    for index in (0..300).rev() {
        tree = tree.disk(&format!("nvme{index}n1"), &format!("259:{index}"));
    }
    let drives = scan(&tree.root()).drives;
    let names: Vec<String> = (0..300).map(|index| format!("nvme{index}n1")).collect();
    assert!(drives.iter().map(|drive| &drive.name).eq(&names));
}

#[test]
fn a_host_without_a_name_is_unknown_and_keeps_its_id() {
    let tree = Tree::new();
    let (first, second) = (scan(&tree.root()).host, scan(&tree.root()).host);
    assert_eq!((first.name.as_str(), first.kernel.as_str()), ("unknown", "unknown"));
    assert_eq!(first.id, second.id);
    assert_eq!(scan(&root("wd140emfz-usb")).host.name, "board");
}

#[test]
fn partitions_are_in_sectors_of_512_whatever_the_block() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .file("/sys/block/sda/queue/logical_block_size", "4096\n")
        .partition("sda", 2, "8:2")
        .partition("sda", 10, "8:10");
    let drive = scan(&tree.root()).drives.remove(0);
    assert_eq!(drive.partitions.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["sda2", "sda10"]);
    assert_eq!(drive.partitions[0].start_bytes.get(), 1024 * 1024);
}

#[test]
fn a_target_is_found_by_id_name_and_link_and_a_partition_is_refused() {
    let tree = Tree::new()
        .disk("sda", "8:0")
        .partition("sda", 1, "8:1")
        .link("/dev/disk/by-id/ata-X", "../../sda")
        .link("/dev/disk/by-id/ata-X-part1", "../../sda1");
    let root = tree.root();
    let inventory = scan(&root);
    let id = inventory.drives[0].id.to_string();
    for text in [id.as_str(), "sda", "/dev/sda", "/dev/disk/by-id/ata-X"] {
        let target = resolve(&root, &inventory, text).unwrap();
        assert_eq!(target.reference, TargetRef::Device { name: "sda".to_owned() }, "{text}");
    }
    for text in ["sda1", "/dev/sda1", "/dev/disk/by-id/ata-X-part1"] {
        assert!(
            matches!(resolve(&root, &inventory, text), Err(ResolveError::Partition { whole, .. }) if whole == "sda")
        );
    }
    for text in ["", "sdz", "/dev/sdz", "../block/sda", "6f2c9a50-5a0e-4d5c-9c1d-3a2f4be871d6"] {
        assert!(matches!(resolve(&root, &inventory, text), Err(ResolveError::NotFound { .. })), "{text}");
    }
}

#[test]
fn the_drives_of_a_recorded_host_are_not_here() {
    let root = root("qemu-virtio-blk-vda@6.1.0");
    let drive = drive("qemu-virtio-blk-vda@6.1.0");
    for writes in [true, false] {
        assert_eq!(check(&root, &drive, writes, &[]).unwrap_err(), [RefusedReason::RecordedHost]);
    }
}
