use super::*;
use crate::analysis::fixtures;
use crate::model::drive::{BlockDeviceCharacteristics, Declared, Reading, Unknown};
use crate::model::recording::Points;

fn drive(kind: DeviceKind, transport: Transport) -> Drive {
    let mut drive = fixtures::drive();
    drive.kind = kind;
    drive.transport = transport;
    drive.declared = Declared::nothing(&Unknown::Absent);
    // Without a model, no list has a word to say.
    drive.model = None;
    drive
}

fn disk() -> Drive {
    drive(DeviceKind::Disk, Transport::Sata)
}

fn b1(rotation: Rotation, zoned: Option<ZonedField>) -> Reading<BlockDeviceCharacteristics> {
    Reading::Known(BlockDeviceCharacteristics { rotation, form_factor: 2, zoned })
}

fn says(word: &str) -> Reading<String> {
    Reading::Known(word.to_owned())
}

#[test]
fn zoned_2_is_drive_managed_whatever_a_tool_may_call_it() {
    let mut drive = disk();
    drive.declared.vpd_b1 = b1(Rotation::Rpm(5400), Some(ZonedField::DriveManaged));
    drive.declared.queue_zoned = says("none");
    drive.declared.zoned_cap = says("drive-managed");
    let answer = classify(&drive);
    assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Declared));
    assert!(answer.confidence > 0.9);
    assert!(!answer.sentence.contains("disagree"), "{}", answer.sentence);
}

#[test]
fn zoned_0_is_not_reported_and_never_conventional() {
    // The WD140EMFZ of the fio list: 00 b1 00 3c 15 18 00 00 00 …
    let mut drive = disk();
    drive.declared.vpd_b1 = b1(Rotation::Rpm(5400), Some(ZonedField::NotReported));
    drive.declared.queue_zoned = says("none");
    let answer = classify(&drive);
    assert_eq!((answer.state, answer.basis), (RecordingState::NotReported, Basis::None));
    assert!(answer.sentence.contains("5400 rpm") && answer.sentence.contains("not reported"), "{}", answer.sentence);
    assert!(!answer.sentence.contains("CMR") && !answer.sentence.contains("onventional"), "{}", answer.sentence);
    assert!(answer.evidence.iter().all(|evidence| evidence.points == Points::Neither));
}

#[test]
fn a_host_managed_drive_stays_one_where_the_kernel_lacks_zones() {
    let mut drive = disk();
    drive.declared.device_type = Reading::Known(0x14);
    drive.declared.queue_zoned = says("none");
    drive.declared.vpd_b1 = b1(Rotation::Rpm(7200), Some(ZonedField::NotReported));
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::HostManaged);
    assert!(answer.sentence.contains("CONFIG_BLK_DEV_ZONED"), "{}", answer.sentence);
}

#[test]
fn a_host_aware_drive_stays_one_where_the_kernel_no_longer_says_so() {
    // ST8000AS0022: queue/zoned none, zoned_cap host-aware, B1[8] 0x10.
    let mut drive = disk();
    drive.declared.queue_zoned = says("none");
    drive.declared.zoned_cap = says("host-aware");
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::HostAware);
    assert!(answer.sentence.contains("6.8"), "{}", answer.sentence);
    drive.declared.zoned_cap = says("none");
    drive.declared.vpd_b1 = b1(Rotation::Rpm(5900), Some(ZonedField::HostAware));
    assert_eq!(classify(&drive).state, RecordingState::HostAware);
}

#[test]
fn sources_that_disagree_are_both_kept_and_it_is_said() {
    let mut drive = disk();
    drive.declared.device_type = Reading::Known(0x14);
    drive.declared.vpd_b1 = b1(Rotation::Rpm(7200), Some(ZonedField::DriveManaged));
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::HostManaged);
    assert!(answer.sentence.contains("disagree") && answer.sentence.contains("0xB1"), "{}", answer.sentence);
    assert!(answer.confidence < 0.8);
    assert!(answer.evidence.iter().any(|evidence| evidence.value.contains("drive-managed")));
}

#[test]
fn a_usb_disk_that_was_never_asked_is_not_readable_and_zoned_cap_none_is_no_answer() {
    let mut drive = drive(DeviceKind::Disk, Transport::Usb);
    drive.declared.zoned_cap = says("none");
    drive.declared.queue_zoned = says("none");
    let answer = classify(&drive);
    assert_eq!((answer.state, answer.basis), (RecordingState::NotReadable, Basis::None));
    assert!(answer.sentence.contains("USB") && answer.sentence.contains("never asked"), "{}", answer.sentence);
}

#[test]
fn a_missing_permission_names_its_remedy() {
    let mut drive = disk();
    drive.declared.vpd_b1 = Reading::Unknown(Unknown::NotPermitted);
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::NotReadable);
    assert!(answer.sentence.contains("CAP_SYS_RAWIO"), "{}", answer.sentence);
}

#[test]
fn a_page_too_short_for_the_field_reports_nothing() {
    let mut drive = disk();
    drive.declared.vpd_b1 = b1(Rotation::Rpm(7200), None);
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::NotReported);
    assert!(answer.sentence.contains("ends before"), "{}", answer.sentence);
}

#[test]
fn flash_is_what_says_that_it_does_not_rotate_and_nvme_by_its_kind() {
    let mut sata = disk();
    sata.rotational = Some(true);
    sata.declared.vpd_b1 = b1(Rotation::NonRotating, Some(ZonedField::NotReported));
    let sata = classify(&sata);
    assert_eq!(sata.state, RecordingState::Ssd);
    let mut nvme = drive(DeviceKind::NvmeNamespace, Transport::Nvme);
    nvme.declared.queue_zoned = says("none");
    let plain = classify(&nvme);
    assert_eq!(plain.state, RecordingState::Ssd);
    assert!(plain.confidence < sata.confidence && plain.sentence.contains("does not say"), "{}", plain.sentence);
    nvme.declared.queue_zoned = says("host-managed");
    assert_eq!(classify(&nvme).state, RecordingState::Zns);
    nvme.declared.queue_zoned = Reading::Unknown(Unknown::Absent);
    nvme.declared.nvme_csi = Reading::Known(2);
    assert_eq!(classify(&nvme).state, RecordingState::Zns);
}

#[test]
fn rotational_alone_makes_neither_a_disk_nor_an_ssd() {
    for (kind, words) in [
        (DeviceKind::Loop, "loop device, not a drive of its own"),
        (DeviceKind::Zram, "memory"),
        (DeviceKind::Md, "RAID"),
        (DeviceKind::VirtualDisk, "virtual disk"),
        (DeviceKind::Nbd, "network block device"),
        (DeviceKind::File, "a file"),
        (DeviceKind::NullBlk, "null_blk"),
    ] {
        for rotational in [Some(true), Some(false), None] {
            let mut drive = drive(kind, Transport::Kernel);
            drive.rotational = rotational;
            // A hypervisor may answer page B1 with anything.
            drive.declared.vpd_b1 = b1(Rotation::NonRotating, Some(ZonedField::NotReported));
            let answer = classify(&drive);
            assert_eq!((answer.state, answer.basis), (RecordingState::NotReported, Basis::None), "{kind:?}");
            assert!(answer.sentence.contains(words), "{}", answer.sentence);
        }
    }
}

#[test]
fn a_disk_that_a_hypervisor_offers_over_scsi_says_nothing_of_a_medium() {
    let mut drive = drive(DeviceKind::Disk, Transport::Virtio);
    drive.declared.vpd_b1 = b1(Rotation::NonRotating, Some(ZonedField::NotReported));
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::NotReported);
    assert!(answer.sentence.contains("virtual disk"), "{}", answer.sentence);
}

#[test]
fn a_zoned_test_device_is_host_managed_by_the_kernels_word() {
    let mut drive = drive(DeviceKind::NullBlk, Transport::Kernel);
    drive.declared.queue_zoned = says("host-managed");
    let answer = classify(&drive);
    assert_eq!((answer.state, answer.basis), (RecordingState::HostManaged, Basis::Declared));
    assert!(answer.sentence.contains("block layer"), "{}", answer.sentence);
}

#[test]
fn trim_on_a_rotating_disk_points_one_way_only() {
    let mut drive = disk();
    drive.declared.vpd_b1 = b1(Rotation::Rpm(5400), Some(ZonedField::NotReported));
    drive.limits.discard_max_bytes = Some(4_294_966_784);
    let trim = |drive: &Drive| {
        classify(drive).evidence.into_iter().find(|evidence| evidence.name == "trim-on-rotating").unwrap()
    };
    assert_eq!(trim(&drive).points, Points::Shingled);
    assert_eq!(classify(&drive).state, RecordingState::NotReported, "a hint is never the verdict");
    drive.limits.discard_max_bytes = Some(0);
    assert_eq!(trim(&drive).points, Points::Neither);
}

#[test]
fn a_drive_that_answers_otherwise_than_the_kernel_remembers_says_both_and_is_less_sure() {
    let mut drive = disk();
    drive.declared.asked = true;
    drive.declared.vpd_b1 = b1(Rotation::Rpm(5400), Some(ZonedField::DriveManaged));
    let sure = classify(&drive).confidence;
    let said = |source: &str, value: &str| crate::model::drive::Said { source: source.into(), value: value.into() };
    drive.disagreements = vec![Disagreement {
        fact: "vpd-b1/zoned".to_owned(),
        said: vec![
            said("SG_IO INQUIRY VPD page B1h byte 8 bits 5:4", "2 (drive-managed)"),
            said("/sys/block/sda/device/vpd_pgb1 byte 8 bits 5:4", "0 (not reported)"),
        ],
    }];
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::DriveManaged);
    assert!(answer.confidence < sure);
    for part in ["SG_IO", "/sys/block/sda", "not reported"] {
        assert!(answer.sentence.contains(part), "{}", answer.sentence);
    }
    assert!(answer.evidence.iter().any(|evidence| evidence.name == "disagreement" && evidence.weight == 0.0));
    drive.disagreements[0].fact = "vpd-80/serial".to_owned();
    assert_eq!(classify(&drive).confidence, sure, "a disputed serial says nothing of recording");
}

#[test]
fn a_usb_disk_that_was_asked_and_has_no_page_reports_nothing_and_is_not_unreadable() {
    let mut drive = drive(DeviceKind::Disk, Transport::Usb);
    drive.declared.asked = true;
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::NotReported);
    assert!(answer.sentence.contains("was asked"), "{}", answer.sentence);
}

#[test]
fn page_b6_and_the_ata_log_name_host_aware_and_drive_managed() {
    use crate::model::drive::ZonedCharacteristics;
    let mut drive = disk();
    drive.declared.ata_log_zoned = Reading::Known(ZonedField::DriveManaged);
    assert_eq!(classify(&drive).state, RecordingState::DriveManaged);
    drive.declared.ata_log_zoned = Reading::Unknown(Unknown::Absent);
    drive.declared.vpd_b6 = Reading::Known(ZonedCharacteristics {
        extension: 1,
        unrestricted_reads: false,
        optimal_open: None,
        optimal_non_sequential: None,
        max_open: None,
    });
    assert_eq!(classify(&drive).state, RecordingState::HostAware);
}

#[test]
fn a_list_of_models_adds_a_hint_and_never_a_state() {
    let mut drive = disk();
    drive.model = Some("ST8000DM004-2CX188".to_owned());
    drive.capacity_bytes = crate::model::Bytes(8_001_563_222_016);
    drive.declared.vpd_b1 = b1(Rotation::Rpm(5425), Some(ZonedField::NotReported));
    let answer = classify(&drive);
    assert_eq!((answer.state, answer.basis, answer.confidence), (RecordingState::NotReported, Basis::None, 0.0));
    assert!(answer.sentence.contains("drive-managed SMR") && answer.sentence.contains("a hint, not a proof"));
    drive.declared.vpd_b1 = b1(Rotation::NonRotating, Some(ZonedField::NotReported));
    assert!(!classify(&drive).sentence.contains("list of models"), "what it declares needs no hint");
}

#[test]
fn an_array_volume_is_no_disk_whatever_it_says_of_itself() {
    let mut drive = disk();
    drive.array = Some("megaraid_sas".to_owned());
    drive.declared.vpd_b1 = b1(Rotation::NonRotating, Some(ZonedField::NotReported));
    let answer = classify(&drive);
    assert_eq!((answer.state, answer.basis), (RecordingState::NotReported, Basis::None));
    assert!(answer.sentence.contains("RAID adapter") && answer.sentence.contains("members"), "{}", answer.sentence);
}

#[test]
fn zones_on_a_medium_that_does_not_rotate_are_no_contradiction() {
    let mut drive = disk();
    drive.declared.device_type = Reading::Known(0x14);
    drive.declared.vpd_b1 = b1(Rotation::NonRotating, Some(ZonedField::NotReported));
    let answer = classify(&drive);
    assert_eq!(answer.state, RecordingState::HostManaged);
    assert!(answer.confidence > 0.9 && !answer.sentence.contains("disagree"), "{}", answer.sentence);
    drive.declared.device_type = Reading::Known(0);
    drive.declared.vpd_b1 = b1(Rotation::NonRotating, Some(ZonedField::DriveManaged));
    assert!(classify(&drive).sentence.contains("disagree"), "shingled flash is one");
}
