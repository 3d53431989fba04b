//! What simulated drives would say of themselves: whole [`Drive`] values for the inventory.

use std::path::PathBuf;

use super::preset::{self, Inside, Preset};
use super::zones::{ZoneModel, ZonesParams};
use crate::model::Bytes;
use crate::model::drive::{
    BlockDeviceCharacteristics, Declared, DeviceKind, Drive, DriveId, Fact, Identity, IdentityBasis, QueueLimits,
    Reading, Rotation, Transport, Unknown, ZonedCharacteristics, ZonedField,
};
use crate::model::page::{PageId, Pages, RawPage};
use crate::model::recording::Recording;

/// The simulated drives that are shown, not yet classified.
#[must_use]
pub fn fleet() -> Vec<Drive> {
    preset::shown().iter().map(drive_of).collect()
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
        discard_max_bytes: Some(if preset.takes_trim() { 2_147_450_880 } else { 0 }),
        zoned: Some(queue_zoned(preset).to_owned()),
        nr_zones: Some(preset.zones.map_or(0, |zones| preset.capacity().div_ceil(zones.zone_bytes))),
        chunk_bytes: Some(preset.zones.map_or(0, |zones| zones.zone_bytes)),
        max_open_zones: Some(preset.zones.map_or(0, |zones| limit(zones.max_open))),
        max_active_zones: Some(preset.zones.map_or(0, |zones| limit(zones.max_active))),
        write_cache: Some(if write_back { "write back" } else { "write through" }.to_owned()),
        fua: Some(false),
        scheduler: Some("none".to_owned()),
        timeout_s: Some(30),
    }
}

fn limit(zones: usize) -> u64 {
    u64::try_from(zones).unwrap_or(u64::MAX)
}

/// As a kernel before 6.8 would have it, to which host-aware disks were zoned ones.
fn queue_zoned(preset: &Preset) -> &'static str {
    match preset.zones.map(|zones| zones.model) {
        None => "none",
        Some(ZoneModel::HostAware) => "host-aware",
        Some(ZoneModel::HostManaged | ZoneModel::Zns) => "host-managed",
    }
}

/// INQUIRY byte 0: 14h is a host-managed disk.
fn device_type(preset: &Preset) -> u8 {
    if preset.zones.is_some_and(|zones| zones.model == ZoneModel::HostManaged) { 0x14 } else { 0 }
}

fn is_zns(preset: &Preset) -> bool {
    preset.zones.is_some_and(|zones| zones.model == ZoneModel::Zns)
}

fn declared(preset: &Preset) -> Declared {
    let queue_zoned = Reading::Known(queue_zoned(preset).to_owned());
    if is_zns(preset) {
        // An NVMe drive has no pages of SCSI; its namespace names its command set.
        return Declared { queue_zoned, nvme_csi: Reading::Known(2), ..Declared::nothing(&Unknown::Absent) };
    }
    let zoned_cap = match preset.label.zoned {
        ZonedField::HostAware => "host-aware",
        ZonedField::DriveManaged => "drive-managed",
        ZonedField::NotReported | ZonedField::Reserved if device_type(preset) == 0x14 => "host-managed",
        ZonedField::NotReported | ZonedField::Reserved => "none",
    };
    Declared {
        device_type: Reading::Known(device_type(preset)),
        vpd_b6: preset.zones.map_or(Reading::Unknown(Unknown::Absent), |zones| Reading::Known(characteristics(zones))),
        vpd_b1: Reading::Known(BlockDeviceCharacteristics {
            rotation: preset.label.rotation,
            form_factor: form_factor(preset),
            zoned: Some(preset.label.zoned),
        }),
        zoned_cap: Reading::Known(zoned_cap.to_owned()),
        queue_zoned,
        ata_zoned: Reading::Known(preset.label.zoned),
        ..Declared::nothing(&Unknown::Absent)
    }
}

/// Page B6h of a disk with zones. The first two bounds are those of host-aware, the third of host-managed disks.
fn characteristics(zones: ZonesParams) -> ZonedCharacteristics {
    let aware = zones.model == ZoneModel::HostAware;
    let open = u32::try_from(zones.max_open).ok();
    ZonedCharacteristics {
        extension: u8::from(aware),
        unrestricted_reads: true,
        optimal_open: open.filter(|_| aware),
        optimal_non_sequential: None,
        max_open: open.filter(|_| !aware),
    }
}

/// The bytes of page B6h (ZBC-2 §6.5).
fn b6_bytes(preset: &Preset, zones: ZonesParams) -> Vec<u8> {
    let told = characteristics(zones);
    let mut page = vec![device_type(preset), 0xb6, 0x00, 0x3c, told.extension << 4 | 1, 0, 0, 0];
    for bound in [told.optimal_open, told.optimal_non_sequential, told.max_open] {
        page.extend(bound.unwrap_or(u32::MAX).to_be_bytes());
    }
    page.resize(64, 0);
    page
}

/// The form factor, coded as in VPD 0xB1.
fn form_factor(preset: &Preset) -> u8 {
    if matches!(preset.inside, Inside::Disk { .. }) { 2 } else { 3 }
}

/// The bytes it would answer: page 0xB1, and the list that names it.
fn pages(preset: &Preset) -> Pages {
    if is_zns(preset) {
        return Pages::default();
    }
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
    let mut b1 = vec![device_type(preset), 0xb1, 0x00, 0x3c, high, low, 0, form_factor(preset), zoned << 4];
    b1.resize(64, 0);
    let mut pages = Pages::default();
    let source = |page: &str| format!("simulated VPD page {page}");
    let mut list = vec![0x00, 0xb1];
    pages.prefer(PageId::Vpd(0xb1), RawPage { source: source("B1h"), bytes: b1 });
    if let Some(zones) = preset.zones {
        list.push(0xb6);
        pages.prefer(PageId::Vpd(0xb6), RawPage { source: source("B6h"), bytes: b6_bytes(preset, zones) });
    }
    let mut supported = vec![device_type(preset), 0x00, 0x00, if preset.zones.is_some() { 3 } else { 2 }];
    supported.extend(list);
    pages.prefer(PageId::Vpd(0x00), RawPage { source: source("00h"), bytes: supported });
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
    let after = fact("preset", preset.after.to_owned(), "drive, modelled on");
    let queue = fact("queue/zoned", queue_zoned(preset).to_owned(), "queue/zoned");
    if is_zns(preset) {
        return vec![after, fact("nvme/csi", "2: zoned namespace".to_owned(), "NVMe namespace"), queue];
    }
    let device_type = format!("0x{:02x}", device_type(preset));
    vec![
        after,
        fact("inquiry/device-type", device_type, "INQUIRY byte 0"),
        fact("vpd-b1/rotation", rotation, "VPD 0xB1 bytes 4-5"),
        fact("vpd-b1/zoned", zoned.to_owned(), "VPD 0xB1 byte 8 bits 5:4"),
        queue,
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
    fn zoned_drives_declare_what_they_are_in_the_bytes_that_say_it() {
        let fleet = fleet();
        let of = |name: &str| fleet.iter().find(|drive| drive.name == name).unwrap();
        let managed = of("sim-hm-15tb");
        assert_eq!(managed.declared.device_type.known(), Some(&0x14));
        let (b6, _) = managed.pages.get(PageId::Vpd(0xb6)).unwrap();
        assert_eq!((b6.bytes[0], b6.bytes[4], &b6.bytes[16..20]), (0x14, 1, &128_u32.to_be_bytes()[..]));
        assert_eq!((managed.limits.nr_zones, managed.limits.max_open_zones), (Some(55_880), Some(128)));
        let aware = of("sim-ha-8tb").declared.clone();
        assert_eq!(aware.vpd_b6.known().and_then(|b6| b6.optimal_open), Some(128));
        assert_eq!(aware.queue_zoned.known().unwrap(), "host-aware");
        assert_eq!(of("sim-zns-1tb").declared.nvme_csi.known(), Some(&2));
        assert_eq!(of("sim-zns-1tb").limits.max_active_zones, Some(14));
    }

    #[test]
    fn the_two_that_a_buyer_cannot_tell_apart_by_asking_say_the_same() {
        let fleet = fleet();
        let of = |name: &str| fleet.iter().find(|drive| drive.name == name).unwrap();
        assert_eq!(of("sim-cmr-14tb").declared, of("sim-dm-14tb").declared);
        assert_eq!(of("sim-cmr-14tb").capacity_bytes, of("sim-dm-14tb").capacity_bytes);
    }
}
