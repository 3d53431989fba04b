//! What a drive declares: the answer of the inventory, before anything was measured.
//!
//! The order is that of the sources' strength: the SCSI device type and the kernel's zone model, then the ZONED
//! field, then the rotation rate. 0 in the ZONED field means "not reported" (SBC-4), and is never read as "no". A
//! list of models adds a hint to the sentence and to the evidence, never a state. `queue/rotational` alone decides nothing:
//! loop, virtio and USB devices have it wrong.

mod sentence;
mod sources;

use super::models::listed;
use crate::model::drive::{DeviceKind, Disagreement, Drive, Rotation, Transport, ZonedField};
use crate::model::recording::{Basis, Recording, RecordingState};

/// How sure a statement of the drive itself is, when no other source contradicts it.
const SAID: f64 = 0.99;
/// The same when sources disagree.
const SAID_AND_DENIED: f64 = 0.7;
/// Not said, but known of the kind: NVMe namespaces and memory cards are flash with hardly an exception.
const BY_KIND: f64 = 0.85;

/// One source's statement that a drive is of some kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claim {
    state: RecordingState,
    source: &'static str,
}

/// How the drive records by its own and the kernel's word. Pure: reads only `drive`.
#[must_use]
pub fn classify(drive: &Drive) -> Recording {
    let claims = claims(drive);
    let listing = listed(drive);
    let mut evidence = sources::evidence(drive);
    evidence.extend(listing.map(|listing| listing.evidence()));
    let Some(first) = claims.first().copied() else {
        let (state, mut sentence) = sentence::nothing_said(drive);
        if let Some(listing) = listing {
            sentence = format!("{sentence} {}", listing.sentence());
        }
        sentence.push_str(&sentence::memory_and_answer(drive));
        return Recording { state, basis: Basis::None, confidence: 0.0, sentence, evidence };
    };
    let others: Vec<Claim> = claims.iter().copied().filter(|claim| contradicts(first.state, claim.state)).collect();
    let disputed = drive.disagreements.iter().any(Disagreement::is_about_recording);
    let confidence = if !others.is_empty() || disputed {
        SAID_AND_DENIED
    } else if first.source == BY_ITS_KIND {
        BY_KIND
    } else {
        SAID
    };
    let mut sentence = sentence::said(drive, first.state, first.source);
    if !others.is_empty() {
        let said: Vec<_> =
            others.iter().map(|claim| format!("{} says {}", claim.source, claim.state.label())).collect();
        sentence.push_str(&format!(
            " Its sources disagree: {} says {}, but {}.",
            first.source,
            first.state.label(),
            said.join(" and ")
        ));
    }
    sentence.push_str(&sentence::memory_and_answer(drive));
    Recording { state: first.state, basis: Basis::Declared, confidence, sentence, evidence }
}

/// Whether two statements cannot both be true. That the medium does not rotate says nothing about zones
/// that the host must or may write in order: flash has them too.
fn contradicts(first: RecordingState, other: RecordingState) -> bool {
    use RecordingState::{HostAware, HostManaged, Ssd};
    first != other && !(matches!(first, HostManaged | HostAware) && other == Ssd)
}

/// The source of a claim that nobody made: the kind of device alone.
const BY_ITS_KIND: &str = "the kind of device";

/// Every statement that names a state, strongest first.
fn claims(drive: &Drive) -> Vec<Claim> {
    use RecordingState::{DriveManaged, HostAware, HostManaged, Ssd, Zns};
    let declared = &drive.declared;
    let nvme = drive.kind == DeviceKind::NvmeNamespace;
    let mut claims = Vec::new();
    let mut claim = |state, source| claims.push(Claim { state, source });
    if declared.device_type.known() == Some(&0x14) {
        claim(HostManaged, "the SCSI device type (0x14)");
    }
    if declared.nvme_csi.known() == Some(&2) {
        claim(Zns, "the NVMe command set identifier");
    }
    let queue = declared.queue_zoned.known().map(String::as_str);
    let zoned_cap = declared.zoned_cap.known().map(String::as_str);
    if queue == Some("host-managed") {
        claim(if nvme { Zns } else { HostManaged }, "queue/zoned");
    }
    if zoned_cap == Some("host-managed") {
        claim(HostManaged, "zoned_cap");
    }
    let field = |zoned: Option<ZonedField>| match zoned {
        Some(ZonedField::HostAware) => Some(HostAware),
        Some(ZonedField::DriveManaged) => Some(DriveManaged),
        Some(ZonedField::NotReported | ZonedField::Reserved) | None => None,
    };
    let b1 = declared.vpd_b1.known();
    for (state, source) in [
        (field(b1.and_then(|page| page.zoned)), "VPD page 0xB1"),
        (field(declared.ata_zoned.known().copied()), "ATA IDENTIFY word 69"),
        (field(declared.ata_log_zoned.known().copied()), "ATA log 0x30 page 0x03"),
        (declared.vpd_b6.known().filter(|b6| b6.extension == 1).map(|_| HostAware), "VPD page 0xB6"),
        (zoned_cap.filter(|cap| *cap == "host-aware").map(|_| HostAware), "zoned_cap"),
        (zoned_cap.filter(|cap| *cap == "drive-managed").map(|_| DriveManaged), "zoned_cap"),
        (queue.filter(|zoned| *zoned == "host-aware").map(|_| HostAware), "queue/zoned"),
    ] {
        if let Some(state) = state {
            claim(state, source);
        }
    }
    if is_physical(drive) && b1.is_some_and(|page| page.rotation == Rotation::NonRotating) {
        claim(Ssd, "VPD page 0xB1 (rotation rate 1)");
    }
    let zoned = claims.iter().any(|claim| claim.state == Zns);
    if claims.is_empty() && (nvme || drive.kind == DeviceKind::Mmc) && !zoned {
        claims.push(Claim { state: Ssd, source: BY_ITS_KIND });
    }
    claims
}

/// Whether the device is a drive of its own, so that what it says of its medium is about a medium.
pub(super) fn is_physical(drive: &Drive) -> bool {
    matches!(drive.kind, DeviceKind::Disk | DeviceKind::NvmeNamespace | DeviceKind::Mmc | DeviceKind::Simulated)
        && drive.transport != Transport::Virtio
        && drive.array.is_none()
}

#[cfg(test)]
mod tests;
