//! How a drive hangs on this host, as far as runs care: through which adapter, how patient the kernel is with it, which
//! appearance of it this is, and whether it is still there.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::sysfs::SysRoot;
use crate::model::drive::{DeviceKind, Drive, IdentityBasis};

/// The PCI address of the adapter that the drive hangs on: the last one on its way in the device tree. `None` for what
/// the kernel makes itself, and for files.
#[must_use]
pub fn adapter(root: &SysRoot, drive: &Drive) -> Option<String> {
    let path = root.device_path(&drive.name)?;
    path.split('/').rfind(|part| is_pci_address(part)).map(str::to_owned)
}

/// `0000:00:1f.2`: domain (four digits, or eight), bus, device, function.
fn is_pci_address(text: &str) -> bool {
    let hex = |part: &str, lengths: &[usize]| {
        lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let mut parts = text.split([':', '.']);
    let fits = parts.next().is_some_and(|domain| hex(domain, &[4, 5, 8]))
        && parts.next().is_some_and(|bus| hex(bus, &[2]))
        && parts.next().is_some_and(|device| hex(device, &[2]))
        && parts.next().is_some_and(|function| hex(function, &[1]));
    fits && parts.next().is_none()
}

/// How long the kernel waits for a command before it aborts it, seconds.
#[must_use]
pub fn command_timeout_s(root: &SysRoot, drive: &Drive) -> Option<u64> {
    if drive.kind == DeviceKind::File {
        return None;
    }
    // In milliseconds for every driver that has one (Linux 5.1); SCSI has seconds of its own since long before.
    let queue = root.number(&format!("/sys/block/{}/queue/io_timeout", drive.name)).into_known();
    let scsi = || root.number(&format!("/sys/block/{}/device/timeout", drive.name)).into_known();
    queue.map(|ms| ms / 1_000).or_else(scsi)
}

/// Of a target that is known by its place alone (a loop device, a file): which appearance of it this is. Another device
/// under the same name, also after a reboot, has another. `None` when the target has a name of its own.
#[must_use]
pub fn appearance(root: &SysRoot, drive: &Drive) -> Option<String> {
    if drive.kind == DeviceKind::File {
        return fs::metadata(&drive.path).ok().map(|metadata| format!("inode {}", metadata.ino()));
    }
    if drive.identity.basis != IdentityBasis::Path {
        return None;
    }
    let boot = root.text("/proc/sys/kernel/random/boot_id").into_known().unwrap_or_default();
    let attribute = |file: &str| root.text(&format!("/sys/block/{}/{file}", drive.name)).into_known();
    let sequence = attribute("diskseq").or_else(|| attribute("dev")).unwrap_or_default();
    Some(format!("boot {boot}, device {sequence}"))
}

/// What shows that the drive is gone, if it is. Asks the kernel alone, never the drive.
#[must_use]
pub fn gone(root: &SysRoot, drive: &Drive) -> Option<String> {
    if drive.kind == DeviceKind::File {
        return (!drive.path.exists()).then(|| format!("{} does not exist any more", drive.path.display()));
    }
    let directory = format!("/sys/block/{}", drive.name);
    if !root.exists(&directory) {
        return Some(format!("the kernel has no {} any more", drive.name));
    }
    if root.number(&format!("{directory}/size")).known() == Some(&0) {
        return Some(format!("{} has a size of 0", drive.name));
    }
    let state = root.text(&format!("{directory}/device/state")).into_known();
    state
        .filter(|state| matches!(state.as_str(), "offline" | "transport-offline" | "deleted" | "dead"))
        .map(|state| format!("the kernel has {} as {state}", drive.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pci_address_is_told_from_what_stands_beside_it() {
        for address in ["0000:00:1f.2", "10000:e1:00.0", "0001:01:00.0"] {
            assert!(is_pci_address(address), "{address}");
        }
        for other in ["pci0000:00", "0:0:0:0", "target0:0:0", "0000:00:1f", "0000:00:1f.2.3", "ata1", ""] {
            assert!(!is_pci_address(other), "{other}");
        }
    }
}
