//! What was looked for on a SCSI device, as facts with their source and, where unknown, a remedy.

use super::facts::Facts;
use super::identity::characteristics;
use super::naming;
use super::scsi::{Pages, offers};
use crate::model::drive::{Reading, Rotation, Unknown, ZonedField};

const PROBE: &str = "run a probe: it shows what the drive does, whatever it says";

pub(super) fn note(pages: &Pages, facts: &mut Facts) {
    let at = |file: &str| format!("{}/{file}", pages.dir);
    let inquiry_source =
        if pages.inquiry.known().is_some() { format!("{} byte 0 bits 4:0", at("inquiry")) } else { at("type") };
    facts.add("inquiry/device-type", inquiry_source, &pages.device_type, device_type, None);

    let list = |codes: &Vec<u8>| codes.iter().map(|code| format!("{code:02x}")).collect::<Vec<_>>().join(" ");
    let skipped = "the kernel skips the VPD pages of USB bridges; connect the drive to a SATA port, or run a probe";
    let no_list = if pages.usb { skipped } else { "Linux 5.5 and later show it" };
    facts.add("vpd-0/supported-pages", at("vpd_pg0"), &pages.supported, list, Some(no_list));

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
    let field = |bytes: &str| format!("{}/vpd_pgb1 {bytes}", pages.dir);
    let rate = pages.b1.clone().map(|b1| b1.rotation);
    facts.add("vpd-b1/rotation-rate", field("bytes 4-5"), &rate, rotation, Some(remedy));
    let form = pages.b1.clone().map(|b1| b1.form_factor);
    let show_form = |code: &u8| format!("{code} ({})", characteristics::form_factor(*code));
    facts.add("vpd-b1/form-factor", field("byte 7 bits 3:0"), &form, show_form, Some(remedy));
    let zoned = pages.b1.clone().and_then(|b1| match b1.zoned {
        Some(zoned) => Reading::Known(zoned),
        None => Reading::Unknown(Unknown::NotTrusted("the page ends before byte 8".to_owned())),
    });
    let zoned_remedy = if pages.b1.known().is_some() { PROBE } else { remedy };
    facts.add("vpd-b1/zoned", field("byte 8 bits 5:4"), &zoned, zoned_field, Some(zoned_remedy));
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
    let show_trim = |trim: &bool| if *trim { "supported" } else { "not supported" }.to_owned();
    facts.add("vpd-89/word-169-trim", field("bytes 398-399 (word 169) bit 0"), &trim, show_trim, Some(remedy));
}

fn device_type(code: &u8) -> String {
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

fn rotation(rotation: &Rotation) -> String {
    match rotation {
        Rotation::NotReported => "0 (not reported)".to_owned(),
        Rotation::NonRotating => "1 (does not rotate)".to_owned(),
        Rotation::Rpm(rpm) => format!("{rpm} rpm"),
        Rotation::Reserved(value) => format!("0x{value:04x} (reserved)"),
    }
}

fn zoned_field(zoned: &ZonedField) -> String {
    match zoned {
        ZonedField::NotReported => "0 (not reported)",
        ZonedField::HostAware => "1 (host-aware)",
        ZonedField::DriveManaged => "2 (drive-managed)",
        ZonedField::Reserved => "3 (reserved)",
    }
    .to_owned()
}
