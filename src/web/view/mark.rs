//! Marks: a shape and a word for every state, so that nothing is told by colour alone.
//!
//! Functions that templates call take references, however small the value: askama passes fields and
//! loop variables by reference, and a reference to a reference is followed by itself.

use crate::model::recording::{Basis, Evidence, Points, RecordingState};
use crate::model::run::RunState;
use crate::model::suitability::Grade;

/// The symbol of `templates/marks.html` that draws how a drive records.
#[must_use]
pub fn recording(state: &RecordingState) -> &'static str {
    match state {
        RecordingState::HostManaged | RecordingState::HostAware | RecordingState::DriveManaged => "m-shingled",
        RecordingState::Zns => "m-zoned-flash",
        RecordingState::Ssd => "m-flash",
        RecordingState::Cmr => "m-tracks",
        RecordingState::NotShown => "m-tracks-open",
        RecordingState::Undecided => "m-split",
        RecordingState::NotReported => "m-silent",
        RecordingState::NotReadable => "m-barred",
    }
}

/// The colour class of a recording state. Six families; the word tells them apart without it.
#[must_use]
pub fn family(state: &RecordingState) -> &'static str {
    match state {
        RecordingState::HostManaged | RecordingState::HostAware | RecordingState::DriveManaged => "shingled",
        RecordingState::Zns | RecordingState::Ssd => "flash",
        RecordingState::Cmr => "conventional",
        RecordingState::NotShown => "notshown",
        RecordingState::Undecided => "undecided",
        RecordingState::NotReported | RecordingState::NotReadable => "unknown",
    }
}

/// The symbol of a grade.
#[must_use]
pub fn grade(grade: &Grade) -> &'static str {
    match grade {
        Grade::Suitable => "m-done",
        Grade::WithCare => "m-broken",
        Grade::Unsuitable => "m-barred",
        Grade::NotKnown => "m-silent",
    }
}

/// The colour class of a grade; the word tells it without.
#[must_use]
pub fn grade_family(grade: &Grade) -> &'static str {
    match grade {
        Grade::Suitable => "conventional",
        Grade::WithCare => "undecided",
        Grade::Unsuitable => "shingled",
        Grade::NotKnown => "unknown",
    }
}

/// The symbol of a basis.
#[must_use]
pub fn basis(basis: &Basis) -> &'static str {
    match basis {
        Basis::Declared => "m-says",
        Basis::Measured => "m-needle",
        Basis::Listed => "m-list",
        Basis::None => "m-silent",
    }
}

/// A basis as a sentence says it.
#[must_use]
pub fn basis_words(basis: &Basis) -> &'static str {
    match basis {
        Basis::Declared => "The drive says so itself",
        Basis::Measured => "Measured by a probe",
        Basis::Listed => "A list of models says so",
        Basis::None => "Nothing said, nothing measured",
    }
}

/// Whether an observation moves the answer.
#[must_use]
pub fn decides(item: &Evidence) -> bool {
    item.weight > 0.0
}

/// How many observations move the answer.
#[must_use]
pub fn deciding(list: &[Evidence]) -> usize {
    list.iter().filter(|item| decides(item)).count()
}

/// How sure a confidence is, in a word.
#[must_use]
pub fn confidence(value: &f64) -> &'static str {
    match *value {
        v if v >= 0.9 => "very sure",
        v if v >= 0.7 => "fairly sure",
        v if v >= 0.4 => "leaning",
        v if v > 0.0 => "a hint",
        _ => "not known",
    }
}

/// Which way evidence points, in words.
#[must_use]
pub fn points(points: &Points) -> &'static str {
    match points {
        Points::Shingled => "towards shingled",
        Points::Conventional => "towards conventional",
        Points::Flash => "towards flash",
        Points::Neither => "neither way",
    }
}

/// The symbol of the way evidence points.
#[must_use]
pub fn points_symbol(points: &Points) -> &'static str {
    match points {
        Points::Shingled => "m-shingled",
        Points::Conventional => "m-tracks",
        Points::Flash => "m-flash",
        Points::Neither => "m-silent",
    }
}

/// The symbol of a run state.
#[must_use]
pub fn run(state: &RunState) -> &'static str {
    match state {
        RunState::Queued | RunState::Claiming => "m-wait",
        RunState::Running | RunState::Draining => "m-needle",
        RunState::Paused => "m-pause",
        RunState::Finished => "m-done",
        RunState::Cancelled => "m-barred",
        RunState::Failed | RunState::Interrupted => "m-broken",
    }
}
