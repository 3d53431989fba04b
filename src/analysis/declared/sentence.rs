//! The declared answer in words.

use super::{BY_ITS_KIND, is_physical};
use crate::model::drive::{DeviceKind, Drive, Reading, Rotation, Transport, Unknown, ZonedField};
use crate::model::recording::RecordingState;

/// A state that some source names.
pub fn said(drive: &Drive, state: RecordingState, source: &str) -> String {
    let queue_says_none = drive.declared.queue_zoned.known().is_some_and(|zoned| zoned == "none");
    match state {
        RecordingState::HostManaged if drive.kind != DeviceKind::Disk && drive.kind != DeviceKind::Simulated => {
            format!(
                "The kernel's block layer calls this {} host-managed: it can be written only zone by zone, in order.",
                drive.kind.label()
            )
        }
        RecordingState::HostManaged => {
            let mut text = format!(
                "This drive is host-managed SMR and says so ({source}): it refuses ordinary random writes and needs \
                 software that writes zone by zone."
            );
            if queue_says_none {
                text.push_str(
                    " This kernel shows it as no zoned device: it was built without zoned block device support \
                     (CONFIG_BLK_DEV_ZONED).",
                );
            }
            text
        }
        RecordingState::HostAware => {
            let mut text = format!(
                "This drive is host-aware SMR and says so ({source}): it takes any write, but random writing slows it \
                 down badly once its cache is full; it is at its best when each zone is written in order."
            );
            if queue_says_none {
                text.push_str(
                    " The kernel uses it as an ordinary disk, as all do since 6.8, and older ones when it has a \
                     partition table.",
                );
            }
            text
        }
        RecordingState::DriveManaged => format!(
            "This drive is drive-managed SMR and says so ({source}): good for data that is written once, slow for RAID \
             rebuilds and long random writing."
        ),
        RecordingState::Zns => {
            format!("This is a zoned SSD ({source}): its zones are written in order and reset as a whole.")
        }
        RecordingState::Ssd if source == BY_ITS_KIND => format!(
            "This {} does not say what its medium is; as good as all such devices are flash, and shingling is no \
             question for flash.",
            drive.kind.label()
        ),
        _ => "This drive says that its medium does not rotate: an SSD. Shingling is no question for flash.".to_owned(),
    }
}

/// What to say when no source names a state: the device is no drive, or is silent, or could not be asked.
pub fn nothing_said(drive: &Drive) -> (RecordingState, String) {
    if !is_physical(drive) {
        return (RecordingState::NotReported, not_a_drive(drive));
    }
    let b1 = &drive.declared.vpd_b1;
    let asked = b1.known().is_some_and(|page| page.zoned.is_some()) || drive.declared.ata_zoned.known().is_some();
    match b1 {
        _ if asked => (RecordingState::NotReported, silent(drive)),
        Reading::Known(_) => (
            RecordingState::NotReported,
            format!(
                "{}Its page of characteristics (VPD 0xB1) ends before the field for zones, so it says nothing of \
                 shingling. Only a probe can tell.",
                turns(drive)
            ),
        ),
        Reading::Unknown(Unknown::Absent) if drive.declared.asked => (
            RecordingState::NotReported,
            format!(
                "{}It was asked, and has no page of characteristics (VPD 0xB1) to say it in. Only a probe can tell.",
                turns(drive)
            ),
        ),
        Reading::Unknown(why) => (RecordingState::NotReadable, unreadable(drive, why)),
    }
}

/// Where the kernel's memory of the drive and the drive itself differ in what concerns recording.
pub fn memory_and_answer(drive: &Drive) -> String {
    let disputed = drive.disagreements.iter().filter(|disagreement| disagreement.is_about_recording());
    let said: Vec<String> = disputed
        .map(|disagreement| {
            let said: Vec<_> =
                disagreement.said.iter().map(|said| format!("{} ({})", said.value, said.source)).collect();
            format!("{}: {}", disagreement.fact, said.join(", but "))
        })
        .collect();
    if said.is_empty() {
        return String::new();
    }
    format!(" Two readings of it differ, {}: the newer one, of the drive itself, is used here.", said.join("; "))
}

fn not_a_drive(drive: &Drive) -> String {
    if let Some(array) = &drive.array {
        return format!(
            "This may be a volume of a RAID adapter ({array}) and not a disk: the members behind it are not seen, and what \
             it says of its medium is the adapter's word. Ask the adapter's own tool for its disks."
        );
    }
    let what = match drive.kind {
        DeviceKind::Loop => {
            "a loop device, not a drive of its own: what it shows is the file it is bound to and the drive under that file"
        }
        DeviceKind::Zram | DeviceKind::Ram => "memory, not a drive: nothing is recorded on any medium",
        DeviceKind::DeviceMapper => "a device-mapper device, not a drive of its own: look at the drives it is made of",
        DeviceKind::Md => "a software RAID array, not a drive of its own: look at its members",
        DeviceKind::VirtualDisk | DeviceKind::Disk => "a virtual disk: the hypervisor does not tell what lies under it",
        DeviceKind::Nbd => "a network block device: what lies under it is known only at its server",
        DeviceKind::NullBlk => "the kernel's test device null_blk: there is no medium",
        DeviceKind::File => "a file, not a drive: what it shows is the filesystem and the drive under it",
        DeviceKind::Optical => "an optical drive: shingling is no question for it",
        _ => "a block device of a kind that says nothing of its medium",
    };
    format!("This is {what}.")
}

/// "It says that it turns at 5400 rpm. " or nothing.
fn turns(drive: &Drive) -> String {
    let rotation = drive.declared.vpd_b1.known().map(|page| page.rotation);
    match (rotation, drive.rotation_rpm) {
        (Some(Rotation::Rpm(rpm)), _) | (_, Some(rpm)) => format!("It says that it turns at {rpm} rpm. "),
        (Some(Rotation::NotReported), None) => "It does not say whether it rotates. ".to_owned(),
        (Some(Rotation::Reserved(value)), None) => {
            format!("The rotation rate it gives, {value}, is a reserved value and means nothing. ")
        }
        _ => String::new(),
    }
}

fn silent(drive: &Drive) -> String {
    let b1 = drive.declared.vpd_b1.known().and_then(|page| page.zoned);
    let reserved = [b1, drive.declared.ata_zoned.known().copied()].contains(&Some(ZonedField::Reserved));
    if reserved {
        return format!(
            "{}In the field for zones it has a reserved value, which means nothing. Only a probe can tell.",
            turns(drive)
        );
    }
    format!(
        "{}In the field for zones it has 0, \"not reported\": it does not say whether it is shingled, and many shingled \
         drives say just this. Only a probe can tell.",
        turns(drive)
    )
}

fn unreadable(drive: &Drive, why: &Unknown) -> String {
    let reason = match why {
        Unknown::Absent if drive.transport == Transport::Usb => {
            "the kernel does not ask USB drives for their page of characteristics (VPD 0xB1)".to_owned()
        }
        Unknown::Absent => "its page of characteristics (VPD 0xB1) is not there on this host".to_owned(),
        Unknown::NotPermitted => "its page of characteristics (VPD 0xB1) may not be read by this process".to_owned(),
        Unknown::NotTrusted(detail) => {
            format!("its page of characteristics (VPD 0xB1) cannot be trusted: {}", detail.trim_end_matches('.'))
        }
        Unknown::NotReadable(detail) => {
            format!("its page of characteristics (VPD 0xB1) could not be read: {}", detail.trim_end_matches('.'))
        }
    };
    let found = drive.facts.iter().find(|fact| fact.name.starts_with("vpd-b1") && fact.remedy.is_some());
    let remedy = match found.and_then(|fact| fact.remedy.clone()) {
        Some(remedy) => remedy,
        None => match (why, drive.transport) {
            (Unknown::NotPermitted, _) => {
                "Run Drivescope as root or with CAP_SYS_RAWIO, or ask a probe.".to_owned()
            }
            (_, Transport::Usb) => {
                "Run Drivescope with the right to send commands to it (root or CAP_SYS_RAWIO), connect it by SATA, or ask \
                 a probe."
                    .to_owned()
            }
            (Unknown::Absent, _) => {
                "Kernels since 5.19 show this page; with the right to send commands (root or CAP_SYS_RAWIO) it can be read \
                 on any. Or ask a probe."
                    .to_owned()
            }
            _ => "Only a probe can tell.".to_owned(),
        },
    };
    let remedy = if remedy.ends_with('.') { remedy } else { format!("{remedy}.") };
    let cap = if drive.declared.zoned_cap.known().is_some_and(|cap| cap == "none") {
        " (The kernel's zoned_cap says \"none\", which it also says when it never asked.)"
    } else {
        ""
    };
    format!("{}What it says of shingling is not known: {reason}.{cap} {remedy}", turns(drive))
}
