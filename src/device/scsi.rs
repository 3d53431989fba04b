//! A drive with a SCSI face: SATA, SAS, USB, virtio-scsi, a RAID adapter's volume.
//!
//! The kernel has asked the drive at boot and keeps the answers in sysfs, so nothing is sent to the
//! drive here and no privilege is needed: `inquiry`, `vpd_pg0`, `vpd_pg80`, `vpd_pg83`, `vpd_pg89` (Linux 5.5),
//! `vpd_pgb1` (5.19), `scsi_disk/*/zoned_cap` (5.8).

use super::facts::Facts;
use super::identity::{AtaIdentity, StandardInquiry, ata, characteristics, designators, inquiry, pages};
use super::naming::{self, Names};
use super::sysfs::SysRoot;
use super::{kind, scsi_facts};
use crate::model::drive::{BlockDeviceCharacteristics, Declared, Reading, Rotation, Unknown};
use crate::model::page::{PageId, Pages as RawPages, RawPage};

/// What a SCSI device says of itself.
#[derive(Debug)]
pub struct ScsiReport {
    /// What can name it.
    pub names: Names,
    /// Vendor.
    pub vendor: Option<String>,
    /// Firmware revision, in full where IDENTIFY tells more than INQUIRY.
    pub firmware: Option<String>,
    /// Rotation rate from page 0xB1, else from IDENTIFY word 217.
    pub rotation_rpm: Option<u16>,
    /// What it declares. `queue_zoned` and `nvme_csi` are not filled in here.
    pub declared: Declared,
    /// `device/timeout`, seconds.
    pub timeout_s: Option<u64>,
    /// The pages that sysfs has.
    pub pages: RawPages,
}

/// Everything that was read, before it is weighed.
pub(super) struct Pages {
    /// `/sys/block/sda/device`.
    pub dir: String,
    /// Hangs on a USB bridge.
    pub usb: bool,
    pub inquiry: Reading<StandardInquiry>,
    pub supported: Reading<Vec<u8>>,
    pub serial: Reading<String>,
    pub name: Reading<String>,
    pub ata: Reading<AtaIdentity>,
    pub b0: Reading<Vec<u8>>,
    pub b1: Reading<BlockDeviceCharacteristics>,
    pub b2: Reading<Vec<u8>>,
    pub zoned_cap: Reading<String>,
    pub zoned_cap_source: String,
    pub device_type: Reading<u8>,
    /// The bytes of each page that is there.
    pub raw: RawPages,
}

/// Reads a SCSI device, and notes each fact.
#[must_use]
pub fn read(root: &SysRoot, name: &str, device_path: Option<&str>, facts: &mut Facts) -> ScsiReport {
    let usb_device = device_path.and_then(kind::usb_device);
    let pages = read_pages(root, name, usb_device.is_some());
    scsi_facts::note(&pages, facts);

    let timeout_source = format!("{}/timeout", pages.dir);
    let timeout = root.number(&timeout_source);
    facts.add("device/timeout", timeout_source, &timeout, |seconds| format!("{seconds} s"), None);

    let attribute = |file: &str| root.text(&format!("{}/{file}", pages.dir)).into_known();
    let ata = pages.ata.known();
    let vendor = attribute("vendor");
    let model = ata.and_then(|ata| ata.model.clone()).or_else(|| attribute("model"));
    let firmware = ata.and_then(|ata| ata.firmware.clone()).or_else(|| attribute("rev"));
    let own_serial = usable_serial(&pages);
    let bridge_serial = match (&own_serial, usb_device) {
        (None, Some(usb_device)) => serial_of_bridge(root, &usb_device, facts),
        _ => None,
    };
    let rotations = [pages.b1.known().map(|b1| b1.rotation), ata.map(|ata| ata.rotation)];
    let rotation_rpm = rotations.into_iter().flatten().find_map(|rotation| match rotation {
        Rotation::Rpm(rpm) => Some(rpm),
        _ => None,
    });
    ScsiReport {
        names: Names {
            wwn: pages.name.known().cloned(),
            model,
            serial_of_bridge: bridge_serial.is_some(),
            serial: own_serial.or(bridge_serial),
            namespace: None,
        },
        vendor,
        firmware,
        rotation_rpm,
        timeout_s: timeout.into_known(),
        pages: pages.raw,
        declared: Declared {
            device_type: pages.device_type,
            vpd_b1: pages.b1,
            zoned_cap: pages.zoned_cap,
            ata_zoned: pages.ata.map(|ata| ata.zoned),
            ..Declared::nothing(&Unknown::Absent)
        },
    }
}

fn read_pages(root: &SysRoot, name: &str, usb: bool) -> Pages {
    let dir = format!("/sys/block/{name}/device");
    let mut raw = RawPages::default();
    let mut bytes = |id: PageId, file: &str| {
        let source = format!("{dir}/{file}");
        let reading = root.bytes(&source);
        if let Reading::Known(bytes) = &reading {
            raw.prefer(id, RawPage { source, bytes: bytes.clone() });
        }
        reading
    };
    let inquiry = bytes(PageId::Inquiry, "inquiry").and_then(|data| inquiry::decode(&data));
    let supported = bytes(PageId::Vpd(0), "vpd_pg0").and_then(|page| pages::supported(&page));
    let ata = bytes(PageId::Vpd(0x89), "vpd_pg89").and_then(|page| ata::decode(&page));
    let ata = ata.and_then(|ata| of_this_drive(ata, &inquiry, usb));
    let serial = bytes(PageId::Vpd(0x80), "vpd_pg80").and_then(|page| pages::unit_serial(&page)).and_then(given);
    let identification = bytes(PageId::Vpd(0x83), "vpd_pg83");
    let mut if_offered = |code: u8, file: &str| match offers(&supported, code) {
        true => bytes(PageId::Vpd(code), file),
        false => Reading::Unknown(Unknown::Absent),
    };
    let (b0, b2) = (if_offered(0xb0, "vpd_pgb0"), if_offered(0xb2, "vpd_pgb2"));
    let name = wwn(root, &dir, identification, &ata);
    let b1 = match bytes(PageId::Vpd(0xb1), "vpd_pgb1").and_then(|page| characteristics::decode(&page)) {
        // The drive offers the page, so it is the kernel that does not show it.
        Reading::Unknown(Unknown::Absent) if offers(&supported, 0xb1) => Reading::Unknown(Unknown::NotReadable(
            "the drive offers page 0xb1, but this kernel does not show it".to_owned(),
        )),
        reading => reading,
    };
    let disks = root.list(&format!("{dir}/scsi_disk"));
    let zoned_cap_source = format!("{dir}/scsi_disk/{}/zoned_cap", disks.first().map_or("*", String::as_str));
    let zoned_cap = believable(root.text(&zoned_cap_source), usb, &supported, &b1);
    let device_type = match &inquiry {
        Reading::Known(inquiry) => Reading::Known(inquiry.device_type),
        Reading::Unknown(_) => root.number(&format!("{dir}/type")).and_then(|number| match u8::try_from(number) {
            Ok(device_type) => Reading::Known(device_type),
            Err(_) => Reading::Unknown(Unknown::NotTrusted(format!("{number} is no device type"))),
        }),
    };
    Pages { dir, usb, inquiry, supported, serial, name, ata, b0, b1, b2, zoned_cap, zoned_cap_source, device_type, raw }
}

/// Whether the drive lists a page among those it has.
pub(super) fn offers(supported: &Reading<Vec<u8>>, page: u8) -> bool {
    supported.known().is_some_and(|pages| pages.contains(&page))
}

/// The kernel writes `none` for a drive that it never asked: it skips all VPD pages of USB bridges, many of
/// which hang when asked. Only where it could read page 0xB1 is `none` an answer of the drive.
fn believable(
    zoned_cap: Reading<String>,
    usb: bool,
    supported: &Reading<Vec<u8>>,
    b1: &Reading<BlockDeviceCharacteristics>,
) -> Reading<String> {
    let asked = !usb || b1.known().is_some() || offers(supported, 0xb1);
    match zoned_cap {
        Reading::Known(cap) if cap == "none" && !asked => {
            let why = if supported.known().is_some() {
                "the kernel says `none`, but the USB bridge offers no page 0xb1 to ask"
            } else {
                "the kernel says `none` without having asked: it skips the VPD pages of USB bridges"
            };
            Reading::Unknown(Unknown::NotTrusted(why.to_owned()))
        }
        reading => reading,
    }
}

/// IDENTIFY data counts only when it is of the drive that INQUIRY names: SAT writes the vendor `ATA` and cuts the
/// model to 16 characters. A USB bridge may put its own name into INQUIRY, and passes IDENTIFY on. Anything else
/// is a stand-in: scsi_debug sends the page of an old Seagate disk.
pub(super) fn of_this_drive(ata: AtaIdentity, inquiry: &Reading<StandardInquiry>, usb: bool) -> Reading<AtaIdentity> {
    let Some(inquiry) = inquiry.known() else { return Reading::Known(ata) };
    let (Some(model), Some(product)) = (&ata.model, &inquiry.product) else { return Reading::Known(ata) };
    if usb || inquiry.vendor.as_deref() == Some("ATA") || model.starts_with(product.as_str()) {
        return Reading::Known(ata);
    }
    Reading::Unknown(Unknown::NotTrusted(format!("page 0x89 is of a {model}, while INQUIRY says {product}")))
}

/// `wwid`, else page 0x83, else IDENTIFY words 108-111.
fn wwn(root: &SysRoot, dir: &str, identification: Reading<Vec<u8>>, ata: &Reading<AtaIdentity>) -> Reading<String> {
    let wwid = root.text(&format!("{dir}/wwid"));
    if let Some(name) = wwid.known().and_then(|wwid| designators::from_wwid(wwid)) {
        return Reading::Known(name);
    }
    let page = identification.and_then(|page| designators::name(&page)).and_then(given);
    match (page, ata.known().and_then(|ata| ata.wwn.clone())) {
        (Reading::Known(name), _) | (Reading::Unknown(_), Some(name)) => Reading::Known(name),
        (unknown, None) => unknown,
    }
}

/// A field that is there and blank is absent.
fn given<T>(field: Option<T>) -> Reading<T> {
    field.map_or(Reading::Unknown(Unknown::Absent), Reading::Known)
}

/// The drive's own serial: from IDENTIFY, as a USB bridge may put its own into page 0x80; else from that page.
fn usable_serial(pages: &Pages) -> Option<String> {
    let from_ata = pages.ata.known().and_then(|ata| ata.serial.clone());
    [from_ata, pages.serial.known().cloned()].into_iter().flatten().find(|serial| !naming::is_placeholder(serial))
}

/// The USB device's serial (its string descriptor iSerialNumber).
fn serial_of_bridge(root: &SysRoot, usb_device: &str, facts: &mut Facts) -> Option<String> {
    let source = format!("{usb_device}/serial");
    let reading = root.text(&source).and_then(|serial| {
        if naming::is_placeholder(&serial) {
            Reading::Unknown(Unknown::NotTrusted(format!("`{serial}` is a placeholder")))
        } else {
            Reading::Known(serial)
        }
    });
    let remedy = "connect the drive to a SATA port, where it tells its own serial number";
    facts.add("usb/serial", source, &reading, String::clone, Some(remedy));
    reading.into_known()
}
