use super::*;

const ZONE: u64 = 1 << 20;

fn table(model: ZoneModel) -> ZoneTable {
    let params = ZonesParams {
        model,
        zone_bytes: ZONE,
        zone_capacity: ZONE / 4 * 3,
        conventional: 1,
        max_open: 2,
        max_active: if model == ZoneModel::Zns { 3 } else { 0 },
        open_ms: 1.0,
        close_ms: 2.0,
        reset_ms: 4.0,
        finish_ms: 8.0,
        report_ms: 4_096.0,
    };
    ZoneTable::new(params, 8 * ZONE + ZONE / 2)
}

fn conditions(table: &ZoneTable) -> Vec<&'static str> {
    table.report().iter().map(|zone| zone.condition.as_str()).collect()
}

#[test]
fn a_host_managed_zone_takes_writes_only_at_its_pointer_and_within_its_capacity() {
    let mut table = table(ZoneModel::HostManaged);
    assert_eq!(table.write(4096 * 7, 4096), Ok(Taken { home: true, ms: 0.0 }), "the first zone is conventional");
    assert_eq!(table.write(ZONE + 4096, 4096), Err(EREMOTEIO));
    assert_eq!(table.write(ZONE, 4096), Ok(Taken { home: true, ms: 0.0 }));
    assert_eq!(table.write(ZONE, 4096), Err(EREMOTEIO));
    assert_eq!(table.write(ZONE + 4096, ZONE / 4 * 3), Err(EREMOTEIO), "past the capacity");
    assert!(table.write(ZONE + 4096, ZONE / 4 * 3 - 4096).is_ok());
    assert_eq!(table.report()[1].condition, ZoneCondition::Full);
    assert!(table.is_blank(2 * ZONE) && !table.is_blank(ZONE) && !table.is_blank(0));
    let last = table.report()[8];
    assert_eq!((last.length_bytes.0, last.capacity_bytes.0), (ZONE / 2, ZONE / 2), "the last zone is shorter");
}

#[test]
fn one_open_zone_too_many_closes_the_oldest_that_a_write_opened_but_none_that_was_asked_for() {
    let mut table = table(ZoneModel::HostManaged);
    for zone in 1..=2 {
        assert_eq!(table.write(zone * ZONE, 4096).unwrap().ms, 0.0);
    }
    assert_eq!(table.write(3 * ZONE, 4096).unwrap().ms, 2.0);
    assert_eq!(conditions(&table)[1..5], ["closed", "implicit-open", "implicit-open", "empty"]);
    assert_eq!(table.manage(ZoneOp::Open, 2 * ZONE), Ok(1.0));
    assert_eq!(table.manage(ZoneOp::Open, 4 * ZONE), Ok(3.0), "3 is closed for it");
    assert_eq!(table.manage(ZoneOp::Open, 5 * ZONE), Err(ETOOMANYREFS));
    assert_eq!(table.write(5 * ZONE, 4096), Err(ETOOMANYREFS));
    assert_eq!(table.manage(ZoneOp::Close, 4 * ZONE), Ok(2.0));
    assert_eq!(conditions(&table)[1..6], ["closed", "explicit-open", "closed", "empty", "empty"]);
}

#[test]
fn zns_counts_closed_zones_too_and_closes_no_full_one() {
    let mut table = table(ZoneModel::Zns);
    for zone in 1..=3 {
        table.write(zone * ZONE, 4096).unwrap();
    }
    assert_eq!(table.write(4 * ZONE, 4096), Err(EOVERFLOW));
    assert_eq!(table.write(4 * ZONE + 4096, 4096), Err(EIO));
    assert_eq!(table.manage(ZoneOp::Finish, ZONE), Ok(8.0));
    assert!(table.write(4 * ZONE, 4096).is_ok());
    assert_eq!(table.manage(ZoneOp::Close, ZONE), Err(EIO));
    assert_eq!(table.manage(ZoneOp::Reset, ZONE), Ok(4.0));
    assert_eq!(table.report()[1].condition, ZoneCondition::Empty);
}

#[test]
fn a_host_aware_zone_takes_a_write_anywhere_and_only_one_at_the_pointer_goes_home() {
    let mut table = table(ZoneModel::HostAware);
    assert!(table.write(ZONE, 4096).unwrap().home);
    assert!(!table.write(ZONE + 8192, 4096).unwrap().home);
    assert_eq!(table.report()[1].write_pointer_bytes, Some(Bytes(ZONE + 12_288)));
    assert!(!table.write(ZONE, 4096).unwrap().home);
    assert!(!table.is_blank(5 * ZONE));
}

#[test]
fn what_is_no_zone_is_refused() {
    let mut table = table(ZoneModel::HostManaged);
    assert_eq!(table.manage(ZoneOp::Reset, 0), Err(EREMOTEIO), "a conventional zone");
    assert_eq!(table.manage(ZoneOp::Reset, ZONE + 512), Err(22));
    assert_eq!(table.manage(ZoneOp::Reset, 9 * ZONE), Err(22));
    assert_eq!(table.manage(ZoneOp::Report, 0), Ok(9.0), "by the number of zones");
    assert_eq!(table.report_from(7 * ZONE + 1).len(), 2);
}
