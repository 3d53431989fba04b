//! An NVMe namespace: names from its controller or subsystem, the command set from the namespace.

use super::facts::Facts;
use super::identity::designators;
use super::naming::{self, Names};
use super::sysfs::SysRoot;
use crate::model::drive::{Declared, Reading, Unknown};

/// What an NVMe namespace says of itself.
#[derive(Debug)]
pub struct NvmeReport {
    /// What can name it.
    pub names: Names,
    /// `device/firmware_rev`.
    pub firmware: Option<String>,
    /// What it declares; only the command set identifier, as the rest is SCSI's.
    pub declared: Declared,
}

/// Reads a namespace, and notes each fact.
#[must_use]
pub fn read(root: &SysRoot, name: &str, facts: &mut Facts) -> NvmeReport {
    let dir = format!("/sys/block/{name}");
    let mut text = |fact: &str, attribute: &str| {
        let source = format!("{dir}/{attribute}");
        let reading = root.text(&source);
        facts.text(fact, &source, &reading);
        reading.into_known()
    };
    // With native multipath `device` is the subsystem, without it the controller; both have these.
    let model = text("nvme/model", "device/model");
    let serial = text("nvme/serial", "device/serial").filter(|serial| !naming::is_placeholder(serial));
    let firmware = text("nvme/firmware-rev", "device/firmware_rev");
    let namespace = text("nvme/nsid", "nsid");
    let wwn = text("nvme/wwid", "wwid").and_then(|wwid| designators::from_wwid(&wwid));

    let csi = command_set(root, &dir, facts);
    let declared = Declared { nvme_csi: csi, ..Declared::nothing(&Unknown::Absent) };
    NvmeReport { names: Names { wwn, model, serial, namespace, serial_of_bridge: false }, firmware, declared }
}

/// The command set identifier (NVMe base 2.0 §3.1.4): 0 NVM, 1 key value, 2 zoned. In sysfs since Linux 6.9 or so;
/// an older kernel shows only the effect, `queue/zoned`.
fn command_set(root: &SysRoot, dir: &str, facts: &mut Facts) -> Reading<u8> {
    let source = format!("{dir}/csi");
    let csi = root.number(&source).and_then(|number| match u8::try_from(number) {
        Ok(csi) => Reading::Known(csi),
        Err(_) => Reading::Unknown(Unknown::NotTrusted(format!("{number} is no command set identifier"))),
    });
    let show = |csi: &u8| match csi {
        0 => "0 (NVM)".to_owned(),
        1 => "1 (key value)".to_owned(),
        2 => "2 (zoned namespace)".to_owned(),
        other => other.to_string(),
    };
    facts.add(
        "nvme/csi",
        source,
        &csi,
        show,
        Some("a newer kernel shows it; until then queue/zoned tells a zoned namespace"),
    );
    csi
}
