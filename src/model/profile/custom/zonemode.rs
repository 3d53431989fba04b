//! `zonemode` and the words that go with it.

use super::words::{
    BLOCKALIGN, BSSPLIT, MAX_OPEN_ZONES, NORANDOMMAP, NUMJOBS, RANDOM_DISTRIBUTION, SKIP_BYTES, VERIFY, ZONE_OPENING,
    ZONE_START, ZONEMODE,
};
use crate::model::parameters::Parameter;
use crate::model::profile::making::Making;
use crate::model::profile::words::{BS, IO_SIZE_BYTES, IODEPTH, NUMBER_IOS, RUNTIME_S};
use crate::model::units::Bytes;
use crate::model::workload::{Rw, Workload, Zbd, ZoneOpening, ZoneStart};

/// Words that say where a plain write goes, which zones say themselves.
const MEANINGLESS: [&Parameter; 7] =
    [&BSSPLIT, &BLOCKALIGN, &SKIP_BYTES, &NUMJOBS, &RANDOM_DISTRIBUTION, &NORANDOMMAP, &VERIFY];

/// Makes a workload one of zones, if it was asked for.
pub fn apply(making: &mut Making<'_>, workload: &mut Workload) {
    if making.reader.word(&ZONEMODE) != Some("zbd") {
        for parameter in [&MAX_OPEN_ZONES, &ZONE_OPENING, &ZONE_START] {
            if making.reader.is_given(parameter) {
                making.reader.refuse(parameter.name, "needs zonemode zbd");
            }
        }
        return;
    }
    let Some(zones) = making.zones else {
        making.reader.refuse(ZONEMODE.name, "is zbd, which needs a drive with zones that the host can write");
        return;
    };
    if !matches!(workload.rw, Rw::Write | Rw::RandWrite) {
        let problem = "is zbd, which writes: rw must be write or randwrite. Reads need no zonemode";
        making.reader.refuse(ZONEMODE.name, problem);
    }
    for parameter in MEANINGLESS {
        if making.reader.is_given(parameter) {
            let name = making.reader.spelled(parameter);
            making.reader.refuse(name, "has no meaning with zonemode zbd: writes go to the write pointers");
        }
    }
    let bs = workload.bs.0;
    let block = u64::from(zones.write_block).max(1);
    if making.reader.is_given(&BS) && !bs.is_multiple_of(block) {
        let problem = format!("is {bs}, must be a multiple of {block} bytes: zones of this drive are written in these");
        making.reader.refuse(BS.name, problem);
    }
    workload.bs = Bytes(bs.next_multiple_of(block));
    let side_by_side = u32::try_from(making.number(&MAX_OPEN_ZONES, 1)).unwrap_or(1);
    if side_by_side > zones.usable {
        let problem =
            format!("is {side_by_side}; the drive has {} zones that take writes at their pointers", zones.usable);
        making.reader.refuse(MAX_OPEN_ZONES.name, problem);
    }
    if !making.reader.is_given(&IODEPTH) {
        workload.iodepth = side_by_side;
    }
    if ![&RUNTIME_S, &NUMBER_IOS, &IO_SIZE_BYTES].into_iter().any(|limit| making.reader.is_given(limit)) {
        // The region once, as far as its zones can hold it.
        let whole = workload.size_bytes.0 / zones.zone_bytes.0.max(1);
        workload.io_size_bytes = Some(Bytes(whole.max(1).saturating_mul(zones.zone_capacity_bytes.0)));
    }
    workload.zbd = Some(Zbd {
        opening: match making.reader.word(&ZONE_OPENING) {
            Some("explicit") => ZoneOpening::Explicit,
            _ => ZoneOpening::Implicit,
        },
        start: match making.reader.word(&ZONE_START) {
            Some("pointer") => ZoneStart::Pointer,
            _ => ZoneStart::Reset,
        },
        ..Zbd::write(u32::MAX, side_by_side)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plan::Action;
    use crate::model::profile::{Pace, Profile, Target, TargetZones, build};
    use crate::model::units::{GIB, MIB};
    use serde_json::{Value, json};

    fn built(parameters: Value, zoned: bool) -> Result<Workload, String> {
        let Value::Object(given) = parameters else { panic!("an object") };
        let zones = TargetZones {
            usable: 15,
            zone_bytes: Bytes(64 * MIB),
            zone_capacity_bytes: Bytes(48 * MIB),
            first_bytes: Bytes(64 * MIB),
            max_open: Some(8),
            write_block: 4096,
            only_at_pointers: true,
        };
        let zones = zoned.then_some(zones);
        let target = Target { capacity: Bytes(GIB), logical_block: 512, pace: Pace::FLASH, zones };
        match build(Profile::Custom, &given, target) {
            Ok(mut built) => match built.phases.remove(0).action {
                Action::Io(workload) => Ok(workload),
                Action::Idle { .. } => panic!("I/O"),
            },
            Err(errors) => Err(errors.into_iter().map(|error| error.field).collect::<Vec<_>>().join(" ")),
        }
    }

    #[test]
    fn zonemode_zbd_writes_what_the_zones_hold_with_one_write_in_flight_in_each() {
        let asked = json!({ "rw": "randwrite", "zonemode": "zbd", "max_open_zones": 4, "zone_opening": "explicit",
            "zone_start": "pointer", "bs": "64k" });
        let workload = built(asked, true).unwrap();
        let zbd = workload.zbd.unwrap();
        assert_eq!((zbd.max_open_zones, zbd.opening, zbd.start), (4, ZoneOpening::Explicit, ZoneStart::Pointer));
        assert_eq!((workload.iodepth, workload.io_size_bytes), (4, Some(Bytes(16 * 48 * MIB))));
        let read: Workload = serde_json::from_value(json!(workload)).unwrap();
        assert_eq!(read, workload, "a stored plan reads as what it was");
    }

    #[test]
    fn what_has_no_meaning_with_zones_or_without_is_refused_by_name() {
        let zbd = |more: Value| {
            let mut asked = json!({ "rw": "write", "zonemode": "zbd" });
            asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked
        };
        for (asked, zoned, field) in [
            (zbd(json!({})), false, "zonemode"),
            (zbd(json!({ "rw": "randread" })), true, "zonemode"),
            (zbd(json!({ "numjobs": 2 })), true, "numjobs"),
            (zbd(json!({ "bs": 512 })), true, "bs"),
            (zbd(json!({ "max_open_zones": 16 })), true, "max_open_zones"),
            (zbd(json!({ "verify": true })), true, "verify"),
            (json!({ "rw": "write", "zone_start": "reset" }), true, "zone_start"),
        ] {
            let refused = built(asked.clone(), zoned).err().unwrap_or_else(|| panic!("{asked} was taken"));
            assert!(refused.contains(&format!("parameters.{field}")), "{asked}: {refused}");
        }
    }
}
