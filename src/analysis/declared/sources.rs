//! Every source of the declaration as evidence, also those that say nothing.

use super::super::evidence::{Told, told};
use super::is_physical;
use crate::model::drive::{Disagreement, Drive, Reading, Rotation, Unknown, ZonedField};
use crate::model::recording::{Basis, Evidence, Points};

/// What each source says, or why it does not.
pub fn evidence(drive: &Drive) -> Vec<Evidence> {
    let declared = &drive.declared;
    let mut list = Vec::new();
    let value = known(&declared.device_type, |kind| format!("0x{kind:02x}"));
    let host_managed = declared.device_type.known() == Some(&0x14);
    list.extend(value.map(|value| {
        told(Basis::Declared, "device-type", value, "INQUIRY byte 0")
            .points(if host_managed { Points::Shingled } else { Points::Neither }, if host_managed { 1.0 } else { 0.0 })
            .expecting("0x00", "0x14 if host-managed, else 0x00")
    }));
    list.extend(b1_zoned(drive));
    list.extend(known(&declared.ata_zoned, |field| zoned_word(*field).to_owned()).map(|value| {
        let field = declared.ata_zoned.known().copied();
        zoned_field(told(Basis::Declared, "ata-zoned", value, "ATA IDENTIFY word 69 bits 1:0"), field)
    }));
    list.extend(known(&declared.ata_log_zoned, |field| zoned_word(*field).to_owned()).map(|value| {
        let field = declared.ata_log_zoned.known().copied();
        zoned_field(told(Basis::Declared, "ata-log-zoned", value, "ATA log 0x30 page 0x03 bytes 104-111"), field)
    }));
    list.extend(known(&declared.vpd_b6, |b6| format!("extension {}", b6.extension)).map(|value| {
        let zoned = declared.vpd_b6.known().is_some_and(|b6| b6.extension == 1);
        told(Basis::Declared, "vpd-b6", value, "VPD 0xB6 byte 4 bits 7:4")
            .points(if zoned { Points::Shingled } else { Points::Neither }, if zoned { 1.0 } else { 0.0 })
            .expecting("page not offered", "extension 1 if host-aware, 0 if host-managed; no page if drive-managed")
    }));
    list.extend(known(&declared.zoned_cap, String::clone).map(|value| {
        let says = declared.zoned_cap.known().is_some_and(|cap| cap != "none");
        told(Basis::Declared, "zoned-cap", value, "scsi_disk/*/zoned_cap")
            .points(if says { Points::Shingled } else { Points::Neither }, if says { 1.0 } else { 0.0 })
            .expecting("none", "host-managed, host-aware or drive-managed if it says so; none also if never asked")
    }));
    list.extend(known(&declared.queue_zoned, String::clone).map(|value| {
        let says = declared.queue_zoned.known().is_some_and(|zoned| zoned != "none");
        told(Basis::Declared, "queue-zoned", value, "queue/zoned")
            .points(if says { Points::Shingled } else { Points::Neither }, if says { 1.0 } else { 0.0 })
            .expecting("none", "host-managed; host-aware before kernel 6.8; none for every drive-managed disk")
    }));
    list.extend(known(&declared.nvme_csi, |csi| csi.to_string()).map(|value| {
        let zoned = declared.nvme_csi.known() == Some(&2);
        told(Basis::Declared, "nvme-csi", value, "NVMe command set identifier")
            .points(if zoned { Points::Shingled } else { Points::Flash }, if zoned { 1.0 } else { 0.5 })
            .expecting("0", "2: Zoned Namespaces")
    }));
    list.extend(rotation(drive));
    list.extend(trim(drive));
    list.extend(drive.disagreements.iter().filter(|disagreement| disagreement.is_about_recording()).map(disagreement));
    list
}

/// Two readings of one field that differ: neither is dropped, and neither points anywhere by itself.
fn disagreement(disagreement: &Disagreement) -> Evidence {
    let values: Vec<_> = disagreement.said.iter().map(|said| said.value.as_str()).collect();
    let sources: Vec<_> = disagreement.said.iter().map(|said| said.source.as_str()).collect();
    told(
        Basis::Declared,
        "disagreement",
        format!("{}: {}", disagreement.fact, values.join(", but ")),
        sources.join(", "),
    )
    .points(Points::Neither, 0.0)
    .expecting("one answer from all sources", "one answer from all sources")
}

/// A source that was looked for and exists on this kind of device; `None` where it simply does not belong.
fn known<T>(reading: &Reading<T>, say: impl FnOnce(&T) -> String) -> Option<String> {
    match reading {
        Reading::Known(value) => Some(say(value)),
        Reading::Unknown(Unknown::Absent) => None,
        Reading::Unknown(Unknown::NotPermitted) => Some("not permitted to read".to_owned()),
        Reading::Unknown(Unknown::NotTrusted(why)) => Some(format!("not trusted: {why}")),
        Reading::Unknown(Unknown::NotReadable(why)) => Some(format!("not readable: {why}")),
    }
}

fn zoned_word(field: ZonedField) -> &'static str {
    match field {
        ZonedField::NotReported => "0: not reported",
        ZonedField::HostAware => "1: host-aware",
        ZonedField::DriveManaged => "2: drive-managed",
        ZonedField::Reserved => "3: reserved",
    }
}

fn zoned_field(evidence: Evidence, field: Option<ZonedField>) -> Evidence {
    let says = matches!(field, Some(ZonedField::HostAware | ZonedField::DriveManaged));
    evidence
        .points(if says { Points::Shingled } else { Points::Neither }, if says { 1.0 } else { 0.0 })
        .expecting("0: not reported", "1 or 2 if it says so; 0 if host-managed or if it hides it")
}

fn b1_zoned(drive: &Drive) -> Option<Evidence> {
    let b1 = &drive.declared.vpd_b1;
    let field = b1.known().and_then(|page| page.zoned);
    let value = match b1 {
        // On a real drive the absence of this page is an answer to be shown.
        Reading::Unknown(Unknown::Absent) if is_physical(drive) => "page not offered".to_owned(),
        _ => known(b1, |page| {
            page.zoned.map_or_else(|| "page ends before byte 8".to_owned(), |field| zoned_word(field).to_owned())
        })?,
    };
    Some(zoned_field(told(Basis::Declared, "vpd-b1-zoned", value, "VPD 0xB1 byte 8 bits 5:4"), field))
}

fn rotation(drive: &Drive) -> Option<Evidence> {
    let page = drive.declared.vpd_b1.known()?;
    let flash = page.rotation == Rotation::NonRotating && is_physical(drive);
    let value = match page.rotation {
        Rotation::NotReported => "0: not reported".to_owned(),
        Rotation::NonRotating => "1: does not rotate".to_owned(),
        Rotation::Rpm(rpm) => format!("{rpm} rpm"),
        Rotation::Reserved(value) => format!("{value}: reserved"),
    };
    Some(
        told(Basis::Declared, "vpd-b1-rotation", value, "VPD 0xB1 bytes 4-5")
            .points(if flash { Points::Flash } else { Points::Neither }, if flash { 0.9 } else { 0.0 })
            .expecting("a number of rpm", "a number of rpm"),
    )
}

/// TRIM on a rotating disk: a sign one way only. WD60EFAX and ST2000LM015 are shingled and have it; ST4000DM004 is
/// shingled and has not (smartmontools' drivedb). Over USB the bridge decides, so it says nothing there.
fn trim(drive: &Drive) -> Option<Evidence> {
    let rotates = matches!(drive.declared.vpd_b1.known()?.rotation, Rotation::Rpm(_));
    let bytes = drive.limits.discard_max_bytes?;
    let usb = drive.transport == crate::model::drive::Transport::Usb;
    (rotates && is_physical(drive) && !usb).then(|| {
        let (value, points, weight) =
            if bytes > 0 { ("yes", Points::Shingled, 0.3) } else { ("no", Points::Neither, 0.0) };
        told(Basis::Declared, "trim-on-rotating", value, "queue/discard_max_bytes")
            .points(points, weight)
            .expecting("no", "yes on some (WD), no on others (Seagate)")
    })
}
