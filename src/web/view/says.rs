//! What a drive says of itself, kept apart from what a probe found.

use crate::model::drive::{Declared, Drive, Rotation, ZonedField};
use crate::model::recording::{Basis, RecordingState};

/// The two marks of a drive: what it says, and what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// What the drive and the kernel declare.
    pub says: RecordingState,
    /// What a probe showed, if one has.
    pub measured: Option<RecordingState>,
}

impl Marks {
    /// The marks of a drive.
    #[must_use]
    pub fn of(drive: &Drive) -> Self {
        use RecordingState::{NotReadable, NotReported};
        let state = drive.recording.state;
        match drive.recording.basis {
            Basis::Measured => Self { says: declared(&drive.declared), measured: Some(state) },
            Basis::Declared => Self { says: state, measured: None },
            // The inventory's own answer: it knows a virtual disk's or an array's word from a drive's.
            Basis::Listed | Basis::None if matches!(state, NotReported | NotReadable) => {
                Self { says: state, measured: None }
            }
            Basis::Listed | Basis::None => Self { says: declared(&drive.declared), measured: None },
        }
    }

    /// Whether a probe showed shingling that the drive does not declare.
    #[must_use]
    pub fn hidden(self) -> bool {
        self.measured == Some(RecordingState::DriveManaged)
            && matches!(self.says, RecordingState::NotReported | RecordingState::NotReadable)
    }
}

/// Reads the declaration alone. Once a drive has been measured, its [`Recording`] no longer tells it.
///
/// [`Recording`]: crate::model::recording::Recording
fn declared(declared: &Declared) -> RecordingState {
    let zoned = [declared.vpd_b1.known().and_then(|page| page.zoned), declared.ata_zoned.known().copied()];
    let words = [declared.queue_zoned.known(), declared.zoned_cap.known()];
    let says = |word: &str| words.iter().flatten().any(|said| *said == word);
    if declared.nvme_csi.known() == Some(&2) {
        RecordingState::Zns
    } else if declared.device_type.known() == Some(&0x14) || says("host-managed") {
        RecordingState::HostManaged
    } else if zoned.contains(&Some(ZonedField::HostAware)) || says("host-aware") {
        RecordingState::HostAware
    } else if zoned.contains(&Some(ZonedField::DriveManaged)) || says("drive-managed") {
        RecordingState::DriveManaged
    } else if declared.vpd_b1.known().is_some_and(|page| page.rotation == Rotation::NonRotating) {
        RecordingState::Ssd
    } else if zoned.iter().any(Option::is_some) || words.iter().any(Option::is_some) {
        RecordingState::NotReported
    } else {
        RecordingState::NotReadable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::drive::{BlockDeviceCharacteristics, Reading, Unknown};

    fn silent() -> Declared {
        let mut declared = Declared::nothing(&Unknown::Absent);
        declared.vpd_b1 = Reading::Known(BlockDeviceCharacteristics {
            rotation: Rotation::Rpm(5400),
            form_factor: 2,
            zoned: Some(ZonedField::NotReported),
        });
        declared
    }

    #[test]
    fn a_field_of_zero_is_silence_and_no_field_at_all_is_not_readable() {
        assert_eq!(declared(&silent()), RecordingState::NotReported);
        assert_eq!(declared(&Declared::nothing(&Unknown::Absent)), RecordingState::NotReadable);
    }

    #[test]
    fn shingling_found_in_a_drive_that_keeps_silent_is_hidden() {
        let marks = Marks { says: declared(&silent()), measured: Some(RecordingState::DriveManaged) };
        assert!(marks.hidden());
        assert!(!Marks { says: RecordingState::DriveManaged, ..marks }.hidden());
    }
}
