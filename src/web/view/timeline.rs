//! The phases of a plan or a run as segments of a line, in thousandths of its width.
//!
//! Widths follow the time each phase takes or may take, but never vanish: a phase of thirty
//! seconds beside one of two hours must still be seen.

use crate::model::approx::{f64_of, f64_of_len};
use crate::model::plan::{Action, Gate, Phase, Plan};
use crate::model::run::Run;

/// Share of the line that no phase goes below, unless there are very many.
const SMALLEST_SHARE: f64 = 0.03;
/// The line is this wide in the units of its SVG.
pub const WIDTH: f64 = 1000.0;

/// How a phase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Not begun.
    Ahead,
    /// Under way.
    Now,
    /// Over.
    Done,
    /// Left out, because its question was answered.
    LeftOut,
}

impl Standing {
    /// As a CSS class and for scripts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ahead => "ahead",
            Self::Now => "now",
            Self::Done => "done",
            Self::LeftOut => "leftout",
        }
    }

    /// For a person.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Ahead => "to come",
            Self::Now => "under way",
            Self::Done => "done",
            Self::LeftOut => "left out",
        }
    }
}

/// One phase on the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment<'a> {
    /// Its number in the plan, from 0.
    pub index: usize,
    /// The phase.
    pub phase: &'a Phase,
    /// Left edge, with one decimal.
    pub x: String,
    /// Width, with one decimal.
    pub width: String,
    /// How it stands.
    pub standing: Standing,
    /// When it began on the run's clock.
    pub started_t_ms: Option<u64>,
    /// How long it took, if it is over.
    pub took_ms: Option<u64>,
    /// Why it ended.
    pub ended_by: Option<&'a str>,
}

impl Segment<'_> {
    /// Whether the phase reads, writes or rests, as a CSS class. The list of phases says it in words.
    #[must_use]
    pub fn direction(&self) -> &'static str {
        match &self.phase.action {
            Action::Idle { .. } => "rests",
            Action::Io(workload) if workload.rw.writes() => "writes",
            Action::Io(_) => "reads",
        }
    }

    /// When the phase is carried out, where that depends on earlier ones.
    #[must_use]
    pub fn condition(&self) -> Option<&'static str> {
        match self.phase.gate {
            Gate::Always => None,
            Gate::UnlessCliff => Some("only if no collapse has shown"),
            Gate::IfCliff => Some("only if a collapse has shown"),
        }
    }
}

/// The phases of a plan, none begun.
#[must_use]
pub fn of_plan(plan: &Plan) -> Vec<Segment<'_>> {
    let segments = plan.phases.iter().enumerate().map(|(index, phase)| Segment {
        index,
        phase,
        x: String::new(),
        width: String::new(),
        standing: Standing::Ahead,
        started_t_ms: None,
        took_ms: None,
        ended_by: None,
    });
    laid_out(segments.collect())
}

/// The phases of a run, as far as it has come.
#[must_use]
pub fn of_run(run: &Run) -> Vec<Segment<'_>> {
    let mut segments = of_plan(&run.plan);
    for (index, segment) in segments.iter_mut().enumerate() {
        let outcome = run.phases.iter().find(|outcome| usize::try_from(outcome.phase) == Ok(index));
        let Some(outcome) = outcome else { continue };
        segment.started_t_ms = outcome.started_t_ms;
        segment.took_ms =
            outcome.started_t_ms.zip(outcome.ended_t_ms).map(|(started, ended)| ended.saturating_sub(started));
        segment.ended_by = outcome.ended_by.as_deref();
        segment.standing = match (outcome.started_t_ms, outcome.ended_t_ms) {
            (Some(_), None) if run.state.is_over() => Standing::Done,
            (Some(_), None) => Standing::Now,
            (Some(_), Some(_)) => Standing::Done,
            (None, _) => Standing::LeftOut,
        };
    }
    laid_out(segments)
}

/// Sets `x` and `width` from the time each segment took, or may take.
fn laid_out(mut segments: Vec<Segment<'_>>) -> Vec<Segment<'_>> {
    let seconds = |segment: &Segment<'_>| match (segment.standing, segment.took_ms) {
        (Standing::LeftOut, _) => 0.0,
        (_, Some(ms)) => f64_of(ms) / 1e3,
        (_, None) => f64_of(segment.phase.estimated_s),
    };
    let total: f64 = segments.iter().map(seconds).sum::<f64>().max(1.0);
    let smallest = SMALLEST_SHARE.min(0.5 / f64_of_len(segments.len().max(1)));
    let shares: Vec<f64> = segments.iter().map(|segment| (seconds(segment) / total).max(smallest)).collect();
    let sum: f64 = shares.iter().sum();
    let mut x = 0.0;
    for (segment, share) in segments.iter_mut().zip(shares) {
        let width = share / sum * WIDTH;
        segment.x = format!("{x:.1}");
        segment.width = format!("{width:.1}");
        x += width;
    }
    segments
}
