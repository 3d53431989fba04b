//! What simulated drives would say of themselves: whole [`Drive`] values for the inventory.

use std::path::PathBuf;

use super::preset::{self, Inside, Preset};
use crate::model::Bytes;
use crate::model::drive::{
    BlockDeviceCharacteristics, Declared, DeviceKind, Drive, DriveId, Fact, Identity, IdentityBasis, QueueLimits,
    Reading, Rotation, Transport, Unknown, ZonedField,
};
use crate::model::page::{PageId, Pages, RawPage};
use crate::model::recording::Recording;

/// Every simulated drive, not yet classified.
#[must_use]
pub fn fleet() -> Vec<Drive> {
    preset::all().iter().map(drive_of).collect()
}

/// One preset as the inventory sees it.
#[must_use]
pub fn drive_of(preset: &Preset) -> Drive {
    let key = format!("sim:{}", preset.name);
    let label = &preset.label;
    let rotation_rpm = match label.rotation {
        Rotation::Rpm(rpm) => Some(rpm),
        _ => None,
    };
    Drive {
        id: DriveId::from_identity(&key),
        name: preset.name.to_owned(),
        path: PathBuf::from(&key),
        paths: vec![PathBuf::from(&key)],
        kind: DeviceKind::Simulated,
        transport: Transport::Simulated,
        simulated: true,
        vendor: Some(label.vendor.to_owned()),
        model: Some(label.model.to_owned()),
        serial: Some(label.serial.to_owned()),
        firmware: Some("SIM1".to_owned()),
        wwn: None,
        array: None,
        identity: Identity { basis: IdentityBasis::Simulated, key, unique: true, note: None },
        capacity_bytes: Bytes(preset.capacity()),
        logical_block_bytes: preset.logical_block,
        physical_block_bytes: Some(4096),
        rotational: Some(matches!(preset.inside, Inside::Disk { .. })),
        rotation_rpm,
        temperature_celsius: None,
        removable: false,
        read_only: false,
        limits: limits(preset),
        partitions: Vec::new(),
        usage: Vec::new(),
        declared: declared(preset),
        facts: facts(preset),
        disagreements: Vec::new(),
        pages: pages(preset),
        recording: Recording::unexamined(),
    }
}

fn limits(preset: &Preset) -> QueueLimits {
    let write_back = match &preset.inside {
        Inside::Disk { cache, .. } => cache.write_back,
        Inside::Flash { .. } => true,
    };
    // As the fio list of 2020 read them for a WD140EMFZ behind its bridge; all simulated drives show the same.
    QueueLimits {
        max_hw_sectors_kb: Some(256),
        max_sectors_kb: Some(256),
        max_segments: Some(2048),
        max_segment_size_bytes: Some(65_536),
        nr_requests: Some(64),
        discard_max_bytes: Some(if matches!(preset.inside, Inside::Flash { .. }) { 2_147_450_880 } else { 0 }),
        zoned: Some("none".to_owned()),
        nr_zones: Some(0),
        chunk_bytes: Some(0),
        max_open_zones: Some(0),
        max_active_zones: Some(0),
        write_cache: Some(if write_back { "write back" } else { "write through" }.to_owned()),
        fua: Some(false),
        scheduler: Some("none".to_owned()),
        timeout_s: Some(30),
    }
}

fn declared(preset: &Preset) -> Declared {
    let zoned_cap = match preset.label.zoned {
        ZonedField::HostAware => "host-aware",
        ZonedField::DriveManaged => "drive-managed",
        ZonedField::NotReported | ZonedField::Reserved => "none",
    };
    Declared {
        device_type: Reading::Known(0),
        vpd_b1: Reading::Known(BlockDeviceCharacteristics {
            rotation: preset.label.rotation,
            form_factor: form_factor(preset),
            zoned: Some(preset.label.zoned),
        }),
        zoned_cap: Reading::Known(zoned_cap.to_owned()),
        queue_zoned: Reading::Known("none".to_owned()),
        ata_zoned: Reading::Known(preset.label.zoned),
        ..Declared::nothing(&Unknown::Absent)
    }
}

/// The form factor, coded as in VPD 0xB1.
fn form_factor(preset: &Preset) -> u8 {
    if matches!(preset.inside, Inside::Disk { .. }) { 2 } else { 3 }
}

/// The bytes it would answer: page 0xB1, and the list that names it.
fn pages(preset: &Preset) -> Pages {
    let rate: u16 = match preset.label.rotation {
        Rotation::NotReported => 0,
        Rotation::NonRotating => 1,
        Rotation::Rpm(rate) | Rotation::Reserved(rate) => rate,
    };
    let zoned = match preset.label.zoned {
        ZonedField::NotReported => 0,
        ZonedField::HostAware => 1,
        ZonedField::DriveManaged => 2,
        ZonedField::Reserved => 3,
    };
    let [high, low] = rate.to_be_bytes();
    let mut b1 = vec![0x00, 0xb1, 0x00, 0x3c, high, low, 0, form_factor(preset), zoned << 4];
    b1.resize(64, 0);
    let mut pages = Pages::default();
    let source = |page: &str| format!("simulated VPD page {page}");
    pages.prefer(PageId::Vpd(0x00), RawPage { source: source("00h"), bytes: vec![0x00, 0x00, 0x00, 0x02, 0x00, 0xb1] });
    pages.prefer(PageId::Vpd(0xb1), RawPage { source: source("B1h"), bytes: b1 });
    pages
}

fn facts(preset: &Preset) -> Vec<Fact> {
    let rotation = match preset.label.rotation {
        Rotation::Rpm(rpm) => format!("{rpm} rpm"),
        Rotation::NonRotating => "1: does not rotate".to_owned(),
        Rotation::NotReported => "0: not reported".to_owned(),
        Rotation::Reserved(value) => format!("{value}: reserved"),
    };
    let zoned = match preset.label.zoned {
        ZonedField::NotReported => "0: not reported",
        ZonedField::HostAware => "1: host-aware",
        ZonedField::DriveManaged => "2: drive-managed",
        ZonedField::Reserved => "3: reserved",
    };
    let fact = |name: &str, value: String, source: &str| Fact {
        name: name.to_owned(),
        value: Some(value),
        unknown: None,
        source: format!("simulated {source}"),
        remedy: None,
    };
    vec![
        fact("preset", preset.after.to_owned(), "drive, modelled on"),
        fact("inquiry/device-type", "0x00".to_owned(), "INQUIRY byte 0"),
        fact("vpd-b1/rotation", rotation, "VPD 0xB1 bytes 4-5"),
        fact("vpd-b1/zoned", zoned.to_owned(), "VPD 0xB1 byte 8 bits 5:4"),
        fact("queue/zoned", "none".to_owned(), "queue/zoned"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn simulated_drives_say_that_they_are_and_are_all_different() {
        let fleet = fleet();
        let ids: HashSet<_> = fleet.iter().map(|drive| drive.id).collect();
        assert_eq!(ids.len(), fleet.len());
        for drive in &fleet {
            assert!(drive.simulated && drive.model.as_ref().unwrap().contains("(simulated)"));
            assert_eq!(drive.path.to_str().unwrap(), format!("sim:{}", drive.name));
            assert_eq!(drive.confirm_phrase(), drive.serial, "a simulated drive is confirmed like a real one");
            assert!(preset::named(&drive.name).is_some());
        }
    }

    #[test]
    fn the_two_that_a_buyer_cannot_tell_apart_by_asking_say_the_same() {
        let fleet = fleet();
        let of = |name: &str| fleet.iter().find(|drive| drive.name == name).unwrap();
        assert_eq!(of("sim-cmr-14tb").declared, of("sim-dm-14tb").declared);
        assert_eq!(of("sim-cmr-14tb").capacity_bytes, of("sim-dm-14tb").capacity_bytes);
    }
}
