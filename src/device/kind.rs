//! What sort of device a kernel name and its place in the device tree make it.

use crate::model::drive::{DeviceKind, Transport};

/// The kind of a whole block device, by the name its driver gives it.
#[must_use]
pub fn kind(name: &str) -> DeviceKind {
    /// Longest names first where one begins another.
    const FAMILIES: [(&str, DeviceKind); 14] = [
        ("sd", DeviceKind::Disk),
        ("sr", DeviceKind::Optical),
        ("nvme", DeviceKind::NvmeNamespace),
        ("vd", DeviceKind::VirtualDisk),
        ("xvd", DeviceKind::VirtualDisk),
        ("loop", DeviceKind::Loop),
        ("zram", DeviceKind::Zram),
        ("ram", DeviceKind::Ram),
        ("nbd", DeviceKind::Nbd),
        ("nullb", DeviceKind::NullBlk),
        ("dm-", DeviceKind::DeviceMapper),
        ("md", DeviceKind::Md),
        ("mmcblk", DeviceKind::Mmc),
        ("hd", DeviceKind::Disk),
    ];
    FAMILIES.iter().find(|(prefix, _)| name.starts_with(prefix)).map_or(DeviceKind::Other, |(_, kind)| *kind)
}

/// The transport, by the steps of the device path.
///
/// The path and not `scsi_host/proc_name` is asked, which is `(null)` for UAS. The first match
/// wins: a USB bridge has a SATA disk behind it, and commands reach it by USB.
#[must_use]
pub fn transport(kind: DeviceKind, device_path: Option<&str>) -> Transport {
    if matches!(
        kind,
        DeviceKind::Loop
            | DeviceKind::Zram
            | DeviceKind::Ram
            | DeviceKind::NullBlk
            | DeviceKind::DeviceMapper
            | DeviceKind::Md
            | DeviceKind::Nbd
            | DeviceKind::File
    ) {
        return Transport::Kernel;
    }
    let Some(path) = device_path else {
        // A hand-made tree: the name is all there is.
        return match kind {
            DeviceKind::NvmeNamespace => Transport::Nvme,
            DeviceKind::Mmc => Transport::Mmc,
            _ => Transport::Unknown,
        };
    };
    let steps = || path.split('/');
    let numbered = |prefix: &str| {
        steps().any(|step| step.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
    };
    if numbered("usb") {
        Transport::Usb
    } else if steps().any(|step| step.starts_with("nvme")) {
        Transport::Nvme
    } else if numbered("virtio") {
        Transport::Virtio
    } else if numbered("ata") {
        Transport::Sata
    } else if steps().any(|step| step.starts_with("end_device-") || step.starts_with("port-")) {
        Transport::Sas
    } else if numbered("mmc") || steps().any(|step| step == "mmc_host") {
        Transport::Mmc
    } else if steps().any(|step| step.starts_with("target")) {
        Transport::Scsi
    } else if path.starts_with("/sys/devices/virtual/") {
        Transport::Kernel
    } else {
        Transport::Unknown
    }
}

/// Where the USB device is that a disk hangs on: the last step of the path before the first interface.
/// `/sys/devices/…/usb2/2-1/2-1:1.0/host7/…` gives `/sys/devices/…/usb2/2-1`.
#[must_use]
pub fn usb_device(device_path: &str) -> Option<String> {
    let steps: Vec<&str> = device_path.split('/').collect();
    let interface = steps.iter().position(|step| {
        step.split_once(':').is_some_and(|(port, setting)| {
            port.contains('-') && port.starts_with(|c: char| c.is_ascii_digit()) && setting.contains('.')
        })
    })?;
    Some(steps.get(..interface)?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_kinds_apart() {
        assert_eq!(kind("sdaa"), DeviceKind::Disk);
        assert_eq!(kind("nvme0n1"), DeviceKind::NvmeNamespace);
        assert_eq!(kind("nullb0"), DeviceKind::NullBlk);
        assert_eq!(kind("nbd0"), DeviceKind::Nbd);
        assert_eq!(kind("xvda"), DeviceKind::VirtualDisk);
        assert_eq!(kind("md127"), DeviceKind::Md);
        assert_eq!(kind("ublkb0"), DeviceKind::Other);
    }

    #[test]
    fn the_first_bus_on_the_path_is_the_transport() {
        let usb = "/sys/devices/pci0000:00/0000:00:05.0/usb2/2-1/2-1:1.0/host7/target7:0:0/7:0:0:0/block/sdg";
        assert_eq!(transport(DeviceKind::Disk, Some(usb)), Transport::Usb);
        assert_eq!(usb_device(usb).as_deref(), Some("/sys/devices/pci0000:00/0000:00:05.0/usb2/2-1"));
        let sas = "/sys/devices/pci0000:00/0000:00:03.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sda";
        assert_eq!(transport(DeviceKind::Disk, Some(sas)), Transport::Sas);
        assert_eq!(usb_device(sas), None);
        let multipath = "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
        assert_eq!(transport(DeviceKind::NvmeNamespace, Some(multipath)), Transport::Nvme);
        assert_eq!(transport(DeviceKind::Loop, None), Transport::Kernel);
        assert_eq!(transport(DeviceKind::Disk, None), Transport::Unknown);
    }
}
