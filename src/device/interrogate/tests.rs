use std::fs;

use proptest::prelude::*;

use super::*;
use crate::device::inventory::scan;
use crate::model::drive::ZonedField;

/// A disk as a kernel shows it, with page 0xB1 if it has it.
fn host(b1: Option<&[u8]>, usb: bool) -> (tempfile::TempDir, SysRoot) {
    let dir = tempfile::tempdir().unwrap();
    let root = SysRoot::recorded(dir.path());
    let file = |path: &str, bytes: &[u8]| {
        let at = root.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, bytes).unwrap();
    };
    file("/sys/block/sda/size", b"15628053168\n");
    file("/sys/block/sda/dev", b"8:0\n");
    file("/sys/block/sda/device/type", b"0\n");
    let place = if usb {
        "/sys/devices/pci0000:00/0000:00:05.0/usb2/2-1/2-1:1.0/host7/target7:0:0/7:0:0:0/block/sda\n"
    } else {
        "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host1/target1:0:0/1:0:0:0/block/sda\n"
    };
    file("/sys/block/sda.readlink", place.as_bytes());
    if let Some(b1) = b1 {
        file("/sys/block/sda/device/vpd_pgb1", b1);
    }
    (dir, root)
}

fn page(zoned: u8) -> Vec<u8> {
    let mut page = vec![0x00, 0xb1, 0x00, 0x3c, 0x15, 0x18, 0x00, 0x02, zoned];
    page.resize(64, 0);
    page
}

fn inquiry() -> Vec<u8> {
    let mut data = vec![0x00, 0, 5, 2, 0x5b, 0, 0, 2];
    data.extend_from_slice(b"WD      Elements 25A3   1021");
    data
}

fn asked(page: PageId, command: &str, answer: Reading<Vec<u8>>) -> Asked {
    Asked { page, source: format!("SG_IO {command}"), answer }
}

fn merged(root: &SysRoot, answers: &Answers) -> Drive {
    let mut drive = scan(root).drives.remove(0);
    merge::merge(&mut drive, answers);
    drive
}

fn b1_answer(zoned: u8) -> Answers {
    let answer = Reading::Known(page(zoned));
    Answers {
        refused: None,
        asked: vec![
            asked(PageId::Inquiry, "INQUIRY", Reading::Known(inquiry())),
            asked(PageId::Vpd(0xb1), "INQUIRY VPD page B1h", answer),
        ],
    }
}

#[test]
fn a_usb_disk_whose_pages_the_kernel_skipped_tells_them_itself() {
    let (_dir, root) = host(None, true);
    let drive = merged(&root, &b1_answer(0x20));
    assert_eq!(drive.transport, Transport::Usb);
    let b1 = drive.declared.vpd_b1.known().unwrap();
    assert_eq!(b1.zoned, Some(ZonedField::DriveManaged));
    let facts: Vec<_> = drive.facts.iter().filter(|fact| fact.name == "vpd-b1/zoned").collect();
    assert_eq!(facts.len(), 1, "what the kernel does not show gives way");
    assert_eq!(facts[0].source, "SG_IO INQUIRY VPD page B1h byte 8 bits 5:4");
    assert_eq!(drive.rotation_rpm, Some(5400));
    assert!(drive.disagreements.is_empty() && drive.declared.asked);
    assert!(drive.pages.get(PageId::Vpd(0xb1)).is_some());
}

#[test]
fn where_memory_and_drive_differ_both_are_kept_and_the_drive_is_followed() {
    let (_dir, root) = host(Some(&page(0x00)), false);
    let drive = merged(&root, &b1_answer(0x10));
    assert_eq!(drive.declared.vpd_b1.known().unwrap().zoned, Some(ZonedField::HostAware));
    let values: Vec<_> = drive
        .facts
        .iter()
        .filter(|fact| fact.name == "vpd-b1/zoned")
        .filter_map(|fact| fact.value.as_deref())
        .collect();
    assert_eq!(values, ["0 (not reported)", "1 (host-aware)"]);
    assert_eq!(drive.disagreements.len(), 1);
    assert!(drive.disagreements[0].is_about_recording());
    assert!(drive.disagreements[0].said[0].source.starts_with("SG_IO"));
    let (_, others) = drive.pages.get(PageId::Vpd(0xb1)).unwrap();
    assert_eq!(others.len(), 1, "both bytes are kept");
}

#[test]
fn equal_answers_are_told_once() {
    let (_dir, root) = host(Some(&page(0x20)), false);
    let drive = merged(&root, &b1_answer(0x20));
    assert_eq!(drive.facts.iter().filter(|fact| fact.name == "vpd-b1/zoned").count(), 1);
    assert!(drive.disagreements.is_empty());
}

#[test]
fn a_missing_right_is_no_missing_page_and_names_its_remedy() {
    let (_dir, root) = host(None, true);
    let answers = Answers { refused: Some(Unknown::NotPermitted), asked: Vec::new() };
    let drive = merged(&root, &answers);
    assert_eq!(drive.declared.vpd_b1.unknown(), Some(&Unknown::NotPermitted));
    assert!(!drive.declared.asked);
    let fact = drive.facts.iter().find(|fact| fact.name == "vpd-b1/zoned").unwrap();
    assert!(fact.remedy.as_deref().unwrap().contains("CAP_SYS_RAWIO"));
    // What the kernel knows stays known.
    let (_dir, root) = host(Some(&page(0x20)), false);
    let drive = merged(&root, &answers);
    assert_eq!(drive.declared.vpd_b1.known().unwrap().zoned, Some(ZonedField::DriveManaged));
}

#[test]
fn a_page_that_the_drive_does_not_have_is_absent_and_a_wrong_one_not_trusted() {
    let (_dir, root) = host(None, true);
    let with = |answer| Answers {
        refused: None,
        asked: vec![
            asked(PageId::Inquiry, "INQUIRY", Reading::Known(inquiry())),
            asked(PageId::Vpd(0xb1), "INQUIRY VPD page B1h", answer),
        ],
    };
    let absent = merged(&root, &with(Reading::Unknown(Unknown::Absent)));
    assert_eq!(absent.declared.vpd_b1.unknown(), Some(&Unknown::Absent));
    assert!(absent.declared.asked);
    let wrong = merged(&root, &with(Reading::Known(inquiry())));
    assert!(matches!(wrong.declared.vpd_b1.unknown(), Some(Unknown::NotTrusted(_))));
}

#[test]
fn a_drive_that_does_not_answer_is_a_value_after_the_deadline_and_the_scan_does_not_wait() {
    let (dir, root) = host(None, true);
    // A pipe nobody writes to stands for a dead drive: opening it for reading would wait, a block device's ioctl does.
    let cache = Cache::new(Duration::from_millis(30));
    let mut inventory = scan(&root);
    let key = key(&root, &inventory.drives[0]).unwrap();
    let (release, stuck) = std::sync::mpsc::channel::<()>();
    cache.answers.ask(&key, move || {
        let _ = stuck.recv();
        Answers::default()
    });
    cache.merge_into(&root, &mut inventory);
    assert!(!inventory.drives[0].declared.asked, "not late yet: nothing is claimed");
    cache.settle();
    let mut inventory = scan(&root);
    cache.merge_into(&root, &mut inventory);
    let why = inventory.drives[0].declared.vpd_b1.unknown().cloned();
    assert!(
        matches!(&why, Some(Unknown::NotReadable(text)) if text.starts_with("no answer from the drive within")),
        "{why:?}"
    );
    let fact = inventory.drives[0].facts.iter().find(|fact| fact.name == "drive/answers").unwrap();
    assert!(fact.value.is_none() && fact.remedy.as_deref().unwrap().contains("cable"));
    drop((release, dir));
}

#[test]
fn an_answer_of_another_incarnation_is_not_this_drives() {
    let (_dir, root) = host(None, true);
    let cache = Cache::default();
    let mut inventory = scan(&root);
    let first = key(&root, &inventory.drives[0]).unwrap();
    cache.answers.ask(&first, || b1_answer(0x20));
    cache.settle();
    cache.merge_into(&root, &mut inventory);
    assert!(inventory.drives[0].declared.asked);
    fs::write(root.at("/sys/block/sda/diskseq"), "7\n").unwrap();
    let mut inventory = scan(&root);
    cache.merge_into(&root, &mut inventory);
    assert!(!inventory.drives[0].declared.asked, "the other disk has not answered yet");
    assert_eq!(cache.answers.standing(&first), Standing::Unasked, "and the first is forgotten");
}

proptest! {
    /// A bridge may answer anything to anything.
    #[test]
    fn no_answer_makes_the_merge_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), code in any::<u8>()) {
        let (_dir, root) = host(Some(&page(0)), false);
        let ids = [PageId::Inquiry, PageId::Vpd(code), PageId::Vpd(0x89), PageId::Vpd(0xb1), PageId::Vpd(0xb6),
                   PageId::AtaIdentify, PageId::AtaLog { log: 0x30, page: code % 12 }, PageId::NvmeController,
                   PageId::NvmeNamespace, PageId::NvmeZonedNamespace, PageId::NvmeZonedController];
        let asked = ids.into_iter().map(|id| asked(id, "x", Reading::Known(bytes.clone()))).collect();
        let _ = merged(&root, &Answers { refused: None, asked });
    }
}
