use super::*;
use crate::analysis::fixtures;
use crate::model::Bytes;

fn disk(model: &str, gigabytes: u64) -> Drive {
    let mut drive = fixtures::drive();
    drive.model = Some(model.to_owned());
    drive.capacity_bytes = Bytes(gigabytes * 1_000_000_000);
    drive
}

#[test]
fn the_whole_list_reads() {
    assert_eq!(TABLE.len(), 353);
    assert_eq!(TABLE.iter().filter(|row| row.recording == "disputed").count(), 5);
    assert!(TABLE.iter().all(|row| row.model_pattern.len() >= 7 && row.capacity_gb.is_some()));
    assert!(TABLE.iter().all(|row| ["SMR", "CMR", "disputed"].contains(&row.recording.as_str())));
}

#[test]
fn the_whole_product_string_of_a_drive_hits_its_model() {
    let hit = listed(&disk("ST8000DM004-2CX188", 8002)).unwrap();
    assert_eq!((hit.pattern, hit.says), ("ST8000DM004", Says::Shingled("drive-managed")));
    let hit = listed(&disk("WDC WD40EFAX-68JH4N0", 4001)).unwrap();
    assert_eq!((hit.pattern, hit.words()), ("WD40EFAX", "drive-managed SMR"));
    assert_eq!(listed(&disk("ST8000AS0022", 8002)).unwrap().words(), "host-aware SMR");
}

#[test]
fn row_16_the_rule_for_a_4_tb_disk_does_not_hit_a_14_tb_one() {
    let hit = listed(&disk("WDC WD140EMFZ-11A0WA", 14_001)).unwrap();
    assert_eq!((hit.pattern, hit.says), ("WD140EMFZ", Says::Conventional));
    // Inside the name, not at its beginning.
    assert_eq!(listed(&disk("WDC WD140EMAZ", 14_001)), None);
    assert_eq!(listed(&disk("XWD40EMAZ", 4001)), None);
    assert_eq!(listed(&disk("WDC WD40EMAZ-11V4RB1", 4001)).unwrap().words(), "drive-managed SMR");
}

#[test]
fn the_longest_beginning_wins() {
    for (row, other) in TABLE.iter().flat_map(|row| TABLE.iter().map(move |other| (row, other))) {
        let both = row.model_pattern.starts_with(&other.model_pattern) && row.capacity_gb == other.capacity_gb;
        if both && row.model_pattern.len() > other.model_pattern.len() {
            let hit = listed(&disk(&row.model_pattern, u64::from(row.capacity_gb.unwrap()))).unwrap();
            assert_eq!(hit.pattern, row.model_pattern);
        }
    }
    let hits: Vec<_> = ["WD60EFAX", "WD60EFAX-68"]
        .iter()
        .filter_map(|model| listed(&disk(model, 6001)))
        .map(|hit| hit.pattern)
        .collect();
    assert_eq!(hits, ["WD60EFAX", "WD60EFAX"]);
}

#[test]
fn another_capacity_under_the_name_is_another_drive() {
    assert!(listed(&disk("ST8000DM004-2CX188", 8002)).is_some());
    assert_eq!(listed(&disk("ST8000DM004-2CX188", 4001)), None);
}

#[test]
fn a_disputed_row_says_so_and_points_nowhere() {
    let hit = listed(&disk("ST4000DM000-1F2168", 4001)).unwrap();
    assert_eq!(hit.says, Says::Disputed);
    assert!(hit.sentence().contains("contradict each other") && hit.sentence().contains("smr-check"));
    assert_eq!((hit.evidence().points, hit.evidence().basis), (Points::Neither, Basis::Listed));
}

#[test]
fn no_name_no_hint() {
    for model in ["", " ", "WDC", "My Book 25EE", "QEMU HARDDISK"] {
        assert_eq!(listed(&disk(model, 4001)), None, "{model:?}");
    }
    let mut drive = disk("ST8000DM004-2CX188", 8002);
    drive.model = None;
    assert_eq!(listed(&drive), None);
}

#[test]
fn a_virtual_disk_or_an_array_that_borrows_a_name_is_no_such_drive() {
    let mut drive = disk("ST8000DM004-2CX188", 8002);
    drive.transport = crate::model::drive::Transport::Virtio;
    assert_eq!(listed(&drive), None);
    let mut drive = disk("ST8000DM004-2CX188", 8002);
    drive.array = Some("megaraid_sas".to_owned());
    assert_eq!(listed(&drive), None);
}

#[test]
fn the_hint_names_its_date_and_never_decides() {
    let hit = listed(&disk("ST8000DM004-2CX188", 8002)).unwrap();
    assert!(hit.sentence().contains("a hint, not a proof") && hit.sentence().contains("November 2026"));
    assert!(hit.sentence().contains("smartmontools' drive database"), "{}", hit.sentence());
    let evidence = hit.evidence();
    assert!(evidence.weight < 0.3 && evidence.source.contains("November 2026"));
}
