//! Volumes of RAID adapters: they look like a disk, and the disks behind them are not seen.
//!
//! An adapter that makes volumes may also pass disks on as they are (JBOD), so the driver alone decides nothing: each
//! driver puts its volumes on SCSI channels of their own. Where the kernel does not tell the driver, what INQUIRY calls the
//! device is all there is.

use super::facts::Facts;
use super::sysfs::SysRoot;
use crate::model::drive::{Reading, Unknown};

/// On which SCSI channels a driver has its volumes.
#[derive(Debug, Clone, Copy)]
enum Volumes {
    /// On these.
    On(&'static [u32]),
    /// From this one on.
    From(u32),
    /// Everything it shows is one.
    All,
}

/// `scsi_host/proc_name` of the drivers that make volumes. The channels are those of the drivers' sources
/// (drivers/scsi: MEGASAS_MAX_PD_CHANNELS 2, mpt3sas RAID_CHANNEL 1, HPSA_RAID_VOLUME_BUS 1, PQI_RAID_VOLUME_BUS 1,
/// aacraid CONTAINER_CHANNEL 0).
const DRIVERS: [(&str, Volumes); 15] = [
    ("megaraid_sas", Volumes::From(2)),
    ("mpt2sas", Volumes::On(&[1])),
    ("mpt3sas", Volumes::On(&[1])),
    ("mptsas", Volumes::On(&[1])),
    ("hpsa", Volumes::On(&[1, 2])),
    ("smartpqi", Volumes::On(&[1, 3])),
    ("aacraid", Volumes::On(&[0])),
    ("megaraid", Volumes::All),
    ("arcmsr", Volumes::All),
    ("3w-9xxx", Volumes::All),
    ("3w-sas", Volumes::All),
    ("3w-xxxx", Volumes::All),
    ("ips", Volumes::All),
    ("cciss", Volumes::All),
    ("hptiop", Volumes::All),
];

/// What adapters write into INQUIRY's product field for a volume.
const PRODUCTS: [&str; 6] = ["LOGICAL VOLUME", "VIRTUAL DRIVE", "RAID", "PERC", "SMART ARRAY", "LOGICAL DRIVE"];

/// What makes a SCSI device look like a volume; `None` when nothing does. Notes the driver as a fact.
pub fn detect(
    root: &SysRoot,
    device_path: Option<&str>,
    vendor: Option<&str>,
    product: Option<&str>,
    facts: &mut Facts,
) -> Option<String> {
    let address = device_path.and_then(address);
    let driver = address.and_then(|(host, _)| {
        let source = format!("/sys/class/scsi_host/host{host}/proc_name");
        // `(null)` is what UAS writes.
        let reading = root.text(&source).and_then(|name| match name.as_str() {
            "(null)" | "<NULL>" => Reading::Unknown(Unknown::Absent),
            _ => Reading::Known(name),
        });
        facts.add("scsi-host/driver", source, &reading, String::clone, None);
        reading.into_known()
    });
    volume(driver.as_deref(), address.map(|(_, channel)| channel), vendor, product)
}

fn volume(driver: Option<&str>, channel: Option<u32>, vendor: Option<&str>, product: Option<&str>) -> Option<String> {
    let known = driver.and_then(|driver| DRIVERS.iter().find(|(name, _)| *name == driver));
    let on_a_volume_channel = match (known, channel) {
        (Some((_, Volumes::All)), _) => true,
        (Some((_, Volumes::On(channels))), Some(channel)) => channels.contains(&channel),
        (Some((_, Volumes::From(first))), Some(channel)) => channel >= *first,
        _ => false,
    };
    if on_a_volume_channel {
        return driver.map(str::to_owned);
    }
    let name = product?.to_ascii_uppercase();
    PRODUCTS.iter().any(|word| name.contains(word)).then(|| match vendor {
        Some(vendor) => format!("{vendor} {}", product.unwrap_or_default()),
        None => product.unwrap_or_default().to_owned(),
    })
}

/// Host and channel of the SCSI address `host:channel:target:lun`, a step of the device path.
fn address(device_path: &str) -> Option<(u32, u32)> {
    device_path.split('/').find_map(|step| {
        let parts: Vec<u32> = step.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        match parts[..] {
            [host, channel, _, _] => Some((host, channel)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_the_step_with_four_numbers() {
        let path = "/sys/devices/pci0000:00/0000:00:02.0/host1/target1:2:0/1:2:0:0/block/sdb";
        assert_eq!(address(path), Some((1, 2)));
        assert_eq!(address("/sys/devices/virtual/block/loop0"), None);
    }

    #[test]
    fn volumes_are_told_from_disks_that_the_same_adapter_passes_on() {
        let is_volume = |driver, channel| volume(Some(driver), Some(channel), Some("ATA"), Some("ST8000")).is_some();
        for (driver, volumes, disks) in
            [("megaraid_sas", 2, 0), ("mpt3sas", 1, 0), ("hpsa", 1, 0), ("smartpqi", 1, 0), ("aacraid", 0, 1)]
        {
            assert!(is_volume(driver, volumes), "{driver}");
            assert!(!is_volume(driver, disks), "{driver}");
        }
        assert!(is_volume("arcmsr", 0));
        assert!(!is_volume("ahci", 0) && !is_volume("usb-storage", 1));
    }

    #[test]
    fn without_a_driver_the_name_tells() {
        assert_eq!(volume(None, None, Some("HP"), Some("LOGICAL VOLUME")).as_deref(), Some("HP LOGICAL VOLUME"));
        assert_eq!(volume(None, None, Some("DELL"), Some("PERC H710")).as_deref(), Some("DELL PERC H710"));
        assert_eq!(volume(None, None, Some("ATA"), Some("ST8000DM004-2CX1")), None);
        assert_eq!(volume(None, None, None, None), None);
    }
}
