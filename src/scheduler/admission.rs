//! May this run start beside the ones that are alive? Pure.

use crate::model::drive::{Drive, DriveId};
use crate::model::recording::RecordingState;
use crate::model::run::{RefusedReason, RunId};

/// One run a drive: two probes at once would measure each other.
///
/// # Errors
/// The run that has the drive.
pub fn admit(drive: DriveId, alive: impl IntoIterator<Item = (RunId, DriveId)>) -> Result<(), RefusedReason> {
    match alive.into_iter().find(|(_, other)| *other == drive) {
        Some((run, _)) => Err(RefusedReason::AlreadyProbed { run }),
        None => Ok(()),
    }
}

/// What the inventory alone says against writing to `drive`. The check at the target itself, before a
/// run and again at its claim, is the one that counts; this one serves pages.
#[must_use]
pub fn against_writing(drive: &Drive) -> Vec<RefusedReason> {
    let mut reasons: Vec<_> = drive.usage.iter().map(|usage| RefusedReason::InUse { usage: usage.clone() }).collect();
    if drive.read_only {
        reasons.push(RefusedReason::ReadOnly);
    }
    if !drive.identity.unique {
        let note = drive.identity.note.clone().unwrap_or_else(|| "another device has the same identity".to_owned());
        reasons.push(RefusedReason::IdentityNotUnique { note });
    }
    reasons.extend(RefusedReason::of_paths(drive));
    if matches!(drive.recording.state, RecordingState::HostManaged | RecordingState::Zns) {
        reasons.push(RefusedReason::SequentialOnly);
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_takes_one_run_at_a_time() {
        let (a, b) = (DriveId::from_identity("a"), DriveId::from_identity("b"));
        let run = RunId::generate();
        assert_eq!(admit(a, [(run, b)]), Ok(()));
        assert_eq!(admit(b, [(run, b)]), Err(RefusedReason::AlreadyProbed { run }));
    }
}
