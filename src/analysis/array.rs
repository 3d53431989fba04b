//! What a run on a volume of a RAID adapter shows: the volume, never a disk.

use crate::model::drive::Drive;
use crate::model::recording::{Basis, Recording, RecordingState};

/// The answer of a run on `drive`, with the claim about one disk taken out where the drive may be many.
#[must_use]
pub fn of_volume(drive: &Drive, run: Recording) -> Recording {
    let Some(array) = &drive.array else { return run };
    let about_a_disk = matches!(run.state, RecordingState::DriveManaged | RecordingState::Cmr | RecordingState::Ssd);
    if !about_a_disk || run.basis != Basis::Measured {
        return run;
    }
    Recording {
        state: RecordingState::Undecided,
        confidence: 0.0,
        sentence: format!(
            "It was measured through a RAID adapter ({array}) and may be many disks: the whole behaved as {}, which says \
             nothing certain of any member. {}",
            run.state.label(),
            run.sentence
        ),
        ..run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures;

    #[test]
    fn a_run_on_an_array_is_no_answer_about_a_disk() {
        let mut drive = fixtures::drive();
        let run = Recording { state: RecordingState::Cmr, basis: Basis::Measured, ..Recording::unexamined() };
        assert_eq!(of_volume(&drive, run.clone()).state, RecordingState::Cmr);
        drive.array = Some("megaraid_sas".to_owned());
        let answer = of_volume(&drive, run);
        assert_eq!(answer.state, RecordingState::Undecided);
        assert!(answer.sentence.contains("megaraid_sas") && answer.sentence.contains("member"), "{}", answer.sentence);
    }
}
