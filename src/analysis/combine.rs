//! From what a drive says and what its runs have shown to the answer on its page.

use crate::model::recording::{Basis, Recording, RecordingState};

/// Whether a measured answer settles the question.
fn settles(recording: &Recording) -> bool {
    recording.basis == Basis::Measured
        && matches!(recording.state, RecordingState::DriveManaged | RecordingState::Cmr | RecordingState::Ssd)
}

/// How a sentence begins that must not be overlooked.
pub(super) const CONTRADICTION: &str = "CONTRADICTION";

/// The answer for the drive's page. `measured` holds the verdicts of its runs, oldest first.
///
/// * What the drive declares (any shingled state, ZNS, SSD) stays; a run that shows otherwise is shouted in the sentence.
/// * Else the latest run that settles the question (`drive-managed`, `cmr`, `ssd`) is the answer. A later run that shows
///   nothing does not undo it: an inspection reads, and a full cache may have emptied over night.
/// * Two settling runs that disagree make it `undecided`.
/// * Else the latest run that looked (`undecided`, `not-shown`), else the declaration.
///
/// Declared and measured evidence stand side by side, told apart by their basis.
#[must_use]
pub fn combine(declared: &Recording, measured: &[Recording]) -> Recording {
    let settling: Vec<&Recording> = measured.iter().filter(|recording| settles(recording)).collect();
    let latest = settling.last().copied();
    let conflict = latest.and_then(|last| settling.iter().find(|other| other.state != last.state).copied());
    let declares = declared.basis == Basis::Declared;
    let mut answer = match (declares, latest, conflict) {
        (true, None, _) => match looked(measured) {
            // The verdict of a run on a drive that declares itself has both in its sentence already.
            Some(run) if run.basis == Basis::Declared && run.state == declared.state => run.clone(),
            _ => declared.clone(),
        },
        (true, Some(run), _) => beside(declared, run),
        (false, Some(run), Some(other)) => Recording {
            state: RecordingState::Undecided,
            basis: Basis::Measured,
            confidence: (run.confidence - other.confidence).abs().min(0.5),
            sentence: format!(
                "{CONTRADICTION} between runs: one says {}, another {}. {}",
                other.state.label(),
                run.state.label(),
                run.sentence
            ),
            evidence: run.evidence.clone(),
        },
        (false, Some(run), None) => run.clone(),
        (false, None, _) => looked(measured).unwrap_or(declared).clone(),
    };
    // The latest word of the drive itself, in place of what a run remembered of it.
    answer.evidence.retain(|evidence| evidence.basis == Basis::Measured);
    if let (true, Some(run)) = (declares, looked(measured)) {
        answer.evidence = run.evidence.iter().filter(|evidence| evidence.basis == Basis::Measured).cloned().collect();
    }
    let mut evidence: Vec<_> =
        declared.evidence.iter().filter(|evidence| evidence.basis != Basis::Measured).cloned().collect();
    evidence.append(&mut answer.evidence);
    answer.evidence = evidence;
    answer
}

/// The latest run that looked for shingling, whatever it found.
fn looked(measured: &[Recording]) -> Option<&Recording> {
    measured.iter().rev().find(|recording| {
        recording.basis != Basis::None && recording.evidence.iter().any(|evidence| evidence.basis == Basis::Measured)
    })
}

/// A declaration, and beside it what a run showed.
pub(super) fn beside(declared: &Recording, run: &Recording) -> Recording {
    let mut answer = declared.clone();
    let agrees = declared.state == run.state
        || (declared.state == RecordingState::HostAware && run.state == RecordingState::DriveManaged);
    if agrees {
        answer.sentence = format!("{} A run has shown the same.", declared.sentence);
        answer.confidence = declared.confidence.max(run.confidence);
    } else if settles(run) || run.sentence.starts_with(CONTRADICTION) {
        let run_says = run.sentence.strip_prefix(CONTRADICTION).unwrap_or(&run.sentence).trim_start_matches([':', ' ']);
        answer.sentence = format!(
            "{CONTRADICTION}: it declares {}, but a run says {}. {} {run_says}",
            declared.state.label(),
            run.state.label(),
            declared.sentence,
        );
        answer.confidence = declared.confidence.min(0.6);
    } else {
        answer.sentence = format!("{} Of a run: {}", declared.sentence, run.sentence);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::evidence::told;
    use super::*;

    fn recording(state: RecordingState, basis: Basis) -> Recording {
        Recording {
            state,
            basis,
            confidence: 0.9,
            sentence: format!("It is {}.", state.as_str()),
            evidence: vec![told(basis, "x", "1", "here")],
        }
    }

    fn run(state: RecordingState) -> Recording {
        recording(state, Basis::Measured)
    }

    #[test]
    fn a_later_run_that_shows_nothing_does_not_undo_a_finding() {
        let declared = recording(RecordingState::NotReported, Basis::None);
        let runs = [
            run(RecordingState::DriveManaged),
            run(RecordingState::NotShown),
            recording(RecordingState::NotShown, Basis::None),
        ];
        let answer = combine(&declared, &runs);
        assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Measured));
        assert_eq!(answer.evidence.len(), 2, "its own word and the run's");
    }

    #[test]
    fn without_runs_the_drive_has_the_word() {
        let declared = recording(RecordingState::NotReported, Basis::None);
        assert_eq!(combine(&declared, &[]), declared);
        let reading_only = recording(RecordingState::NotShown, Basis::None);
        assert_eq!(combine(&declared, &[reading_only]).state, RecordingState::NotReported);
        assert_eq!(combine(&declared, &[run(RecordingState::NotShown)]).state, RecordingState::NotShown);
    }

    #[test]
    fn a_declared_state_stays_and_a_contradiction_is_shouted() {
        let declared = recording(RecordingState::DriveManaged, Basis::Declared);
        let answer = combine(&declared, &[run(RecordingState::Cmr)]);
        assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Declared));
        assert!(answer.sentence.starts_with("CONTRADICTION"), "{}", answer.sentence);
        assert!(answer.confidence < 0.7);
        let agreed = combine(&declared, &[run(RecordingState::DriveManaged)]);
        assert!(agreed.sentence.ends_with("A run has shown the same."));
    }

    #[test]
    fn runs_that_disagree_make_it_undecided() {
        let declared = recording(RecordingState::NotReported, Basis::None);
        let answer = combine(&declared, &[run(RecordingState::Cmr), run(RecordingState::DriveManaged)]);
        assert_eq!(answer.state, RecordingState::Undecided);
        assert!(answer.sentence.contains("CONTRADICTION"));
    }
}
