//! The public reports of drives, bridges and kernels that this product will meet: those on recording technology. Each row
//! of the collection is a kind of host, made by hand, with the answer it must get.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests: clippy allows it only inside #[test] functions

mod tree;

use std::path::PathBuf;

use drivescope::analysis::{classify, listed};
use drivescope::device::{SysRoot, scan};
use drivescope::model::drive::{Drive, Reading, Unknown};
use drivescope::model::recording::RecordingState::{
    self, DriveManaged, HostAware, HostManaged, NotReadable, NotReported, Ssd,
};
use drivescope::model::recording::{Basis, Points, Recording};
use tree::Tree;

const SATA: &str = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host1/target1:0:0/1:0:0:0/block/sda\n";
const USB: &str = "/sys/devices/pci0000:00/0000:00:05.0/usb2/2-1/2-1:1.0/host7/target7:0:0/7:0:0:0/block/sda\n";
/// 5980 rpm, 3.5 inch, ZONED 0.
const B1_5980: [u8; 9] = [0, 0xb1, 0, 0x3c, 0x17, 0x5c, 0, 0x02, 0];

/// A page of 64 bytes that begins so.
fn page(start: &[u8]) -> Vec<u8> {
    let mut page = start.to_vec();
    page.resize(64, 0);
    page
}

/// A disk `sda` on a way to it, with files of its `device` directory.
fn disk(way: &str, model: &str, files: &[(&str, &[u8])]) -> Tree {
    let mut tree = Tree::new()
        .disk("sda", "8:0")
        .file("/sys/block/sda.readlink", way)
        .file("/sys/block/sda/queue/zoned", "none\n")
        .file("/sys/block/sda/queue/rotational", "1\n")
        .file("/sys/block/sda/device/model", format!("{model}\n"))
        .file("/sys/block/sda/device/type", "0\n");
    for (file, content) in files {
        tree = tree.file(&format!("/sys/block/sda/{file}"), content);
    }
    tree
}

fn drive(tree: &Tree) -> Drive {
    let mut drive = scan(&tree.root()).drives.remove(0);
    drive.recording = classify(&drive);
    drive
}

fn answer(tree: &Tree) -> Recording {
    drive(tree).recording
}

fn state(way: &str, files: &[(&str, &[u8])]) -> RecordingState {
    answer(&disk(way, "X", files)).state
}

const CAP: &str = "device/scsi_disk/1:0:0:0/zoned_cap";
const B1: &str = "device/vpd_pgb1";

#[test]
fn row_1_an_honest_drive_managed_disk_is_drive_managed_by_its_own_word() {
    let b1 = page(&[0x00, 0xb1, 0x00, 0x3c, 0x15, 0x18, 0x00, 0x02, 0x20]);
    let drive = drive(&disk(SATA, "X", &[(B1, &b1), (CAP, b"drive-managed\n")]));
    assert_eq!((drive.recording.state, drive.recording.basis), (DriveManaged, Basis::Declared));
    assert_eq!(drive.rotation_rpm, Some(5400));
    assert!(!drive.recording.sentence.contains("disagree"), "{}", drive.recording.sentence);
}

#[test]
fn row_2_a_silent_archive_disk_is_not_reported_and_its_family_is_a_hint() {
    let tree = disk(
        SATA,
        "ST8000AS0002-1NA17Z",
        &[(B1, &page(&B1_5980)), (CAP, b"none\n"), ("queue/discard_max_bytes", b"0\n")],
    )
    .file("/sys/block/sda/size", "15628053168\n");
    let answer = answer(&tree);
    assert_eq!((answer.state, answer.basis), (NotReported, Basis::None));
    assert!(answer.sentence.contains("5980 rpm") && answer.sentence.contains("Only a probe can tell"));
    assert!(
        answer.sentence.contains("names it as drive-managed SMR") && answer.sentence.contains("a hint, not a proof")
    );
    let hint = answer.evidence.iter().find(|evidence| evidence.basis == Basis::Listed).unwrap();
    assert_eq!(hint.points, Points::Shingled);
    assert!(hint.weight < 0.3);
}

#[test]
fn row_3_a_host_aware_disk_stays_one_where_the_kernel_says_none() {
    let b1 = page(&[0, 0xb1, 0, 0x3c, 0x17, 0x0c, 0, 0x02, 0x10]);
    let answer = answer(&disk(SATA, "ST8000AS0022", &[(B1, &b1), (CAP, b"host-aware\n")]));
    assert_eq!((answer.state, answer.basis), (HostAware, Basis::Declared));
    assert!(answer.sentence.contains("6.8"), "{}", answer.sentence);
}

#[test]
fn row_4_a_partition_table_that_hides_the_zones_is_named_as_a_cause() {
    let tree = disk(SATA, "ST8000AS0022", &[(CAP, b"host-aware\n")]).partition("sda", 1, "8:1");
    let answer = answer(&tree);
    assert_eq!(answer.state, HostAware);
    assert!(answer.sentence.contains("partition table"), "{}", answer.sentence);
}

#[test]
fn row_5_type_0x14_is_host_managed_and_takes_no_plain_random_write() {
    let b1 = page(&[0x14, 0xb1, 0, 0x3c, 0x1c, 0x20, 0, 0x02, 0]);
    let mut inquiry = vec![0x14, 0, 7, 2, 0x5b, 0, 0, 2];
    inquiry.extend_from_slice(b"ATA     ST11000NS0001-2DSN02");
    let tree =
        disk(SATA, "ST11000NS0001-2D", &[(B1, &b1), ("device/inquiry", &inquiry), ("queue/zoned", b"host-managed\n")]);
    let drive = drive(&tree);
    assert_eq!((drive.recording.state, drive.recording.basis), (HostManaged, Basis::Declared));
    assert!(drive.recording.sentence.contains("refuses ordinary random writes"), "{}", drive.recording.sentence);
}

#[test]
fn row_6_a_kernel_without_zones_does_not_make_a_host_managed_disk_ordinary() {
    let answer = answer(&disk(SATA, "X", &[("device/type", b"20\n")]));
    assert_eq!((answer.state, answer.basis), (HostManaged, Basis::Declared));
    assert!(answer.sentence.contains("CONFIG_BLK_DEV_ZONED"), "{}", answer.sentence);
}

#[test]
fn row_7_zoned_is_read_as_a_number_and_2_is_drive_managed() {
    for (byte, expected) in [(0x00, NotReported), (0x10, HostAware), (0x20, DriveManaged), (0x30, NotReported)] {
        let b1 = page(&[0, 0xb1, 0, 0x3c, 0x15, 0x18, 0, 0x02, byte]);
        assert_eq!(state(SATA, &[(B1, &b1)]), expected, "byte 8 is 0x{byte:02x}");
    }
}

#[test]
fn row_8_what_does_not_rotate_is_an_ssd() {
    let tree = disk(SATA, "X", &[(B1, &page(&[0x00, 0xb1, 0x00, 0x3c, 0x00, 0x01, 0x00, 0x05]))]);
    let drive = drive(&tree);
    assert_eq!((drive.recording.state, drive.rotation_rpm), (Ssd, None));
    let form = drive.facts.iter().find(|fact| fact.name == "vpd-b1/form-factor").unwrap();
    assert_eq!(form.value.as_deref(), Some("5 (smaller than 1.8 inch)"));
}

#[test]
fn row_10_a_page_without_byte_8_reports_nothing_of_zones() {
    let drive = drive(&disk(SATA, "X", &[(B1, &[0x00, 0xb1, 0x00, 0x04, 0x1c, 0x20, 0x00, 0x02])]));
    assert_eq!((drive.recording.state, drive.rotation_rpm), (NotReported, Some(7200)));
    assert!(drive.recording.sentence.contains("ends before the field for zones"), "{}", drive.recording.sentence);
}

#[test]
fn row_11_a_standard_inquiry_in_place_of_a_page_is_no_answer() {
    let instead = [0x00, 0x00, 0x80, 0x00, 0x01, 0x1f, 0x00, 0x00, 0x00, 0x44, 0x65, 0x6c, 0x6c];
    let drive =
        drive(&disk(SATA, "X", &[(B1, &instead), ("device/vpd_pg83", &instead), ("device/vpd_pg80", &instead)]));
    assert_eq!(drive.recording.state, NotReadable);
    assert!(drive.recording.sentence.contains("standard INQUIRY"), "{}", drive.recording.sentence);
    assert_eq!((drive.wwn, drive.serial), (None, None));
}

#[test]
fn row_13_none_for_a_usb_disk_that_was_never_asked_is_not_readable() {
    let drive = drive(&disk(USB, "X", &[("device/scsi_disk/7:0:0:0/zoned_cap", b"none\n")]));
    assert_eq!((drive.recording.state, drive.recording.basis), (NotReadable, Basis::None));
    assert!(matches!(drive.declared.zoned_cap, Reading::Unknown(Unknown::NotTrusted(_))));
    assert!(drive.recording.sentence.contains("USB"), "{}", drive.recording.sentence);
}

#[test]
fn rows_10_11_13_and_a_missing_permission_are_four_answers_with_four_remedies_and_never_none() {
    let inquiry_instead = [0, 0, 5, 2, 0x5b];
    let short = [0x00, 0xb1, 0x00, 0x04, 0x1c, 0x20, 0x00, 0x02];
    let mut denied = drive(&disk(SATA, "X", &[]));
    denied.declared.vpd_b1 = Reading::Unknown(Unknown::NotPermitted);
    denied.facts.clear();
    let answers = [
        answer(&disk(SATA, "X", &[(B1, &short)])),
        answer(&disk(SATA, "X", &[(B1, &inquiry_instead)])),
        answer(&disk(USB, "X", &[])),
        classify(&denied),
    ];
    for (index, answer) in answers.iter().enumerate() {
        assert_eq!(answer.basis, Basis::None);
        assert!(matches!(answer.state, NotReported | NotReadable));
        assert!(answer.sentence.contains("probe"), "{}", answer.sentence);
        assert!(answers.iter().skip(index + 1).all(|other| other.sentence != answer.sentence));
    }
    assert!(answers[3].sentence.contains("CAP_SYS_RAWIO"), "{}", answers[3].sentence);
}

#[test]
fn row_14_trim_on_a_rotating_disk_points_to_shingling_and_its_absence_nowhere() {
    let hint = |trim: &[u8]| {
        let answer = answer(&disk(SATA, "X", &[(B1, &page(&B1_5980)), ("queue/discard_max_bytes", trim)]));
        assert_eq!(answer.state, NotReported, "a hint is not the verdict");
        answer.evidence.into_iter().find(|evidence| evidence.name == "trim-on-rotating").unwrap().points
    };
    assert_eq!(hint(b"2147450880\n"), Points::Shingled);
    assert_eq!(hint(b"0\n"), Points::Neither);
}

#[test]
fn row_16_a_name_counts_from_its_beginning_and_with_its_capacity() {
    let of = |model: &str, sectors: &str| {
        let tree = disk(SATA, model, &[(B1, &page(&B1_5980))]).file("/sys/block/sda/size", sectors);
        listed(&drive(&tree)).map(|listing| listing.words())
    };
    assert_eq!(of("WDC WD40EMAZ-11V4RB1", "7814037168\n"), Some("drive-managed SMR"));
    assert_eq!(of("WDC WD140EMAZ", "27344764928\n"), None);
    assert_eq!(of("WDC WD40EMAZ-11V4RB1", "27344764928\n"), None);
}

#[test]
fn row_38_an_array_is_no_disk_and_its_members_are_said_to_be_unseen() {
    let host = |name: &str| {
        SysRoot::recorded(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts").join(name))
    };
    let volume = scan(&host("qemu-megaraid_sas-MEGADISK@6.1.0")).drives.remove(0);
    let answer = classify(&volume);
    assert_eq!((answer.state, answer.basis), (NotReported, Basis::None));
    assert!(answer.sentence.contains("megaraid_sas") && answer.sentence.contains("not seen"), "{}", answer.sentence);
    let disk = scan(&host("qemu-mptsas-MPTSASDISK@6.1.0")).drives.remove(0);
    assert_eq!(disk.array, None, "on channel 0 this adapter passes disks on");
    assert!(classify(&disk).sentence.contains("7200 rpm"));
}

#[test]
fn the_two_kernels_side_by_side_host_aware_stays_host_aware() {
    let hosts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts");
    let state = |name: &str| classify(&scan(&SysRoot::recorded(hosts.join(name))).drives[0]).state;
    assert_eq!(state("scsi_debug-zbc-aware@6.1.0"), HostAware);
    for host in ["scsi_debug-zbc-managed@6.1.0", "scsi_debug-zbc-managed@6.12.95"] {
        assert_eq!(state(host), HostManaged);
    }
}
