//! What was looked for on a SCSI device, as facts with their source and, where unknown, a remedy.

use super::facts::Facts;
use super::identity::{characteristics, limits};
use super::naming;
use super::scsi::{Pages, offers};
use crate::model::drive::{BlockDeviceCharacteristics, Reading, Rotation, Unknown, ZonedField};

pub(super) const PROBE: &str = "run a probe: it shows what the drive does, whatever it says";

pub(super) fn note(pages: &Pages, facts: &mut Facts) {
    let at = |file: &str| format!("{}/{file}", pages.dir);
    let inquiry_source =
        if pages.inquiry.known().is_some() { format!("{} byte 0 bits 4:0", at("inquiry")) } else { at("type") };
    facts.add("inquiry/device-type", inquiry_source, &pages.device_type, device_type, None);

    let skipped = "the kernel skips the VPD pages of USB bridges; connect the drive to a SATA port, or run a probe";
    let no_list = if pages.usb { skipped } else { "Linux 5.5 and later show it" };
    facts.add("vpd-0/supported-pages", at("vpd_pg0"), &pages.supported, |codes| page_list(codes), Some(no_list));

    note_b1(pages, facts);

    let zoned_cap_remedy = match &pages.zoned_cap {
        Reading::Unknown(Unknown::NotTrusted(_)) => "connect the drive to a SATA port and look again, or run a probe",
        _ => "Linux 5.8 and later show it; or run a probe",
    };
    facts.add("zoned_cap", pages.zoned_cap_source.as_str(), &pages.zoned_cap, String::clone, Some(zoned_cap_remedy));

    note_ata(pages, facts);

    let serial = pages.serial.clone().and_then(|serial| {
        if naming::is_placeholder(&serial) {
            Reading::Unknown(Unknown::NotTrusted(format!("`{serial}` is a placeholder")))
        } else {
            Reading::Known(serial)
        }
    });
    facts.add("vpd-80/serial", format!("{} bytes 4-", at("vpd_pg80")), &serial, String::clone, None);
    facts.add("wwn", format!("{}, {}", at("wwid"), at("vpd_pg83")), &pages.name, String::clone, None);
}

fn note_b1(pages: &Pages, facts: &mut Facts) {
    let remedy = if offers(&pages.supported, 0xb1) {
        "update to Linux 5.19 or later, or read the page by `sg_vpd --page=bdc --hex` (its bytes, not its words)"
    } else if pages.supported.known().is_some() {
        PROBE
    } else if pages.usb {
        "the kernel skips the VPD pages of USB bridges; connect the drive to a SATA port, or run a probe"
    } else {
        "Linux 5.19 and later show it, if the drive has it; or run a probe"
    };
    note_characteristics(&pages.b1, &format!("{}/vpd_pgb1", pages.dir), Some(remedy), facts);
    // Nothing is missing where the drive does not offer these.
    if offers(&pages.supported, 0xb0) {
        note_block_limits(&pages.b0, &format!("{}/vpd_pgb0", pages.dir), facts);
    }
    if offers(&pages.supported, 0xb2) {
        note_provisioning(&pages.b2, &format!("{}/vpd_pgb2", pages.dir), facts);
    }
}

/// Page 0xB1, wherever it was read.
pub(super) fn note_characteristics(
    b1: &Reading<BlockDeviceCharacteristics>,
    source: &str,
    remedy: Option<&str>,
    facts: &mut Facts,
) {
    let field = |place: &str| format!("{source} {place}");
    let rate = b1.clone().map(|b1| b1.rotation);
    facts.add("vpd-b1/rotation-rate", field("bytes 4-5"), &rate, rotation, remedy);
    let form = b1.clone().map(|b1| b1.form_factor);
    let show_form = |code: &u8| format!("{code} ({})", characteristics::form_factor(*code));
    facts.add("vpd-b1/form-factor", field("byte 7 bits 3:0"), &form, show_form, remedy);
    let zoned = b1.clone().and_then(|b1| match b1.zoned {
        Some(zoned) => Reading::Known(zoned),
        None => Reading::Unknown(Unknown::NotTrusted("the page ends before byte 8".to_owned())),
    });
    let zoned_remedy = if b1.known().is_some() { Some(PROBE) } else { remedy };
    facts.add("vpd-b1/zoned", field("byte 8 bits 5:4"), &zoned, zoned_field, zoned_remedy);
}

/// Page 0xB0, wherever it was read.
pub(super) fn note_block_limits(page: &Reading<Vec<u8>>, source: &str, facts: &mut Facts) {
    let limits = page.clone().and_then(|page| limits::block_limits(&page));
    let blocks =
        |blocks: &Option<u64>| blocks.map_or_else(|| "0 (not reported)".to_owned(), |count| format!("{count} blocks"));
    let mut add = |name: &str, place: &str, value: fn(&limits::BlockLimits) -> Option<u64>| {
        facts.add(name, format!("{source} {place}"), &limits.clone().map(|limits| value(&limits)), blocks, None);
    };
    add("vpd-b0/max-transfer", "bytes 8-11", |limits| limits.max_transfer);
    add("vpd-b0/optimal-transfer", "bytes 12-15", |limits| limits.optimal_transfer);
    add("vpd-b0/max-unmap", "bytes 20-23", |limits| limits.max_unmap);
}

/// Page 0xB2, wherever it was read.
pub(super) fn note_provisioning(page: &Reading<Vec<u8>>, source: &str, facts: &mut Facts) {
    let provisioning = page.clone().and_then(|page| limits::provisioning(&page));
    let unmap = provisioning.clone().map(|provisioning| provisioning.unmap);
    facts.add("vpd-b2/unmap", format!("{source} byte 5 bit 7"), &unmap, supported, None);
    let write_same = provisioning.clone().map(|provisioning| provisioning.write_same);
    facts.add("vpd-b2/unmap-by-write-same", format!("{source} byte 5 bit 6"), &write_same, supported, None);
    let kind = |code: &u8| match code {
        0 => "0 (fully provisioned, or not known)".to_owned(),
        1 => "1 (resource provisioned)".to_owned(),
        2 => "2 (thin provisioned)".to_owned(),
        other => format!("{other} (reserved)"),
    };
    let provisioned = provisioning.map(|provisioning| provisioning.kind);
    facts.add("vpd-b2/provisioning-type", format!("{source} byte 6 bits 2:0"), &provisioned, kind, None);
}

fn note_ata(pages: &Pages, facts: &mut Facts) {
    // A drive that lists its pages and has no 0x89 is no ATA drive: nothing is missing.
    let asked = pages.supported.known().is_some() && !offers(&pages.supported, 0x89);
    if asked && pages.ata.unknown() == Some(&Unknown::Absent) {
        return;
    }
    let remedy = if pages.usb {
        "connect the drive to a SATA port, or run a probe"
    } else {
        "Linux 5.5 and later show it for ATA drives"
    };
    // Word N is at byte 60 + 2 N.
    let field = |place: &str| format!("{}/vpd_pg89 {place}", pages.dir);
    let ata = || pages.ata.clone();
    let zoned = ata().map(|ata| ata.zoned);
    facts.add("vpd-89/word-69-zoned", field("bytes 198-199 (word 69) bits 1:0"), &zoned, zoned_field, Some(remedy));
    let rate = ata().map(|ata| ata.rotation);
    facts.add("vpd-89/word-217-rotation", field("bytes 494-495 (word 217)"), &rate, rotation, Some(remedy));
    let trim = ata().map(|ata| ata.trim);
    facts.add("vpd-89/word-169-trim", field("bytes 398-399 (word 169) bit 0"), &trim, supported, Some(remedy));
}

/// Page codes as two digits each.
pub(super) fn page_list(codes: &[u8]) -> String {
    codes.iter().map(|code| format!("{code:02x}")).collect::<Vec<_>>().join(" ")
}

pub(super) fn supported(yes: &bool) -> String {
    if *yes { "supported" } else { "not supported" }.to_owned()
}

pub(super) fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

pub(super) fn device_type(code: &u8) -> String {
    let meaning = match code {
        0x00 => "block device",
        0x05 => "optical",
        0x07 => "optical memory",
        0x0e => "simplified block device",
        0x14 => "host-managed zoned block device",
        _ => "other",
    };
    format!("0x{code:02x} ({meaning})")
}

pub(super) fn rotation(rotation: &Rotation) -> String {
    match rotation {
        Rotation::NotReported => "0 (not reported)".to_owned(),
        Rotation::NonRotating => "1 (does not rotate)".to_owned(),
        Rotation::Rpm(rpm) => format!("{rpm} rpm"),
        Rotation::Reserved(value) => format!("0x{value:04x} (reserved)"),
    }
}

pub(super) fn zoned_field(zoned: &ZonedField) -> String {
    match zoned {
        ZonedField::NotReported => "0 (not reported)",
        ZonedField::HostAware => "1 (host-aware)",
        ZonedField::DriveManaged => "2 (drive-managed)",
        ZonedField::Reserved => "3 (reserved)",
    }
    .to_owned()
}
