//! How far a run is, and how long it still takes. Pure; better the longer it has run.

use crate::model::approx::f64_of;
use crate::model::interval::Interval;
use crate::model::plan::{Action, Gate, Plan};
use crate::model::run::Progress;
use crate::model::standing::Standing;
use crate::model::units::Nanos;

/// Follows one run.
#[derive(Debug, Clone)]
pub struct Tracker {
    phase_began: Nanos,
    phase_ios: u64,
    phase_bytes: u64,
    progress: Progress,
}

impl Tracker {
    /// At the beginning, or with what is known of a run that was interrupted.
    #[must_use]
    pub fn new(plan: &Plan, progress: &Progress) -> Self {
        let progress = Progress {
            remaining_s: progress.remaining_s.or_else(|| Some(later_phases_s(plan, None))),
            ..progress.clone()
        };
        Self { phase_began: Nanos(0), phase_ios: 0, phase_bytes: 0, progress }
    }

    /// A run goes on after an interruption.
    pub fn go_on(&mut self, plan: &Plan, standing: &Standing) {
        let Some(of) = standing.under_way() else {
            self.progress.remaining_s = Some(later_phases_s(plan, Some(self.progress.phase)));
            return;
        };
        self.progress.phase = of.phase;
        self.phase_began = standing.t - of.elapsed;
        (self.phase_ios, self.phase_bytes) = (of.ios, of.bytes);
        let rest_s = self.rest_of_phase_s(plan, of.elapsed.as_secs_f64());
        self.progress.remaining_s = Some(rest_s + later_phases_s(plan, Some(of.phase)));
    }

    /// A phase has begun.
    pub fn begin_phase(&mut self, phase: u32, t: Nanos) {
        self.progress.phase = phase;
        self.phase_began = t;
        self.phase_ios = 0;
        self.phase_bytes = 0;
    }

    /// An interval has ended.
    pub fn advance(&mut self, plan: &Plan, interval: &Interval) {
        // A ramp wears the drive as any I/O does, but brings the phase no nearer to its limits.
        if !interval.ramp {
            let trims = interval.trim.as_ref();
            self.phase_ios += interval.read.ios + interval.write.ios + trims.map_or(0, |trims| trims.ios);
            self.phase_bytes += interval.read.bytes.0 + interval.write.bytes.0 + trims.map_or(0, |trims| trims.bytes.0);
        }
        self.progress.written_bytes += interval.write.bytes;
        self.progress.read_bytes += interval.read.bytes;
        self.progress.last_seq = interval.seq;
        let elapsed_s = interval.t.as_secs_f64();
        let in_phase_s = (interval.t - self.phase_began).as_secs_f64();
        let remaining_s = self.rest_of_phase_s(plan, in_phase_s) + later_phases_s(plan, Some(interval.phase));
        self.progress.elapsed_s = elapsed_s;
        self.progress.remaining_s = Some(remaining_s);
        let whole = elapsed_s + remaining_s;
        // 1 is for a run that is over.
        self.progress.fraction = if whole > 0.0 { (elapsed_s / whole).min(0.999) } else { 0.0 };
    }

    /// The run is over; a run that came to its end is whole.
    pub fn finish(&mut self, completed: bool) {
        self.progress.remaining_s = None;
        if completed {
            self.progress.fraction = 1.0;
        }
    }

    /// As of now.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    fn rest_of_phase_s(&self, plan: &Plan, in_phase_s: f64) -> f64 {
        let Some(phase) = usize::try_from(self.progress.phase).ok().and_then(|index| plan.phases.get(index)) else {
            return 0.0;
        };
        let (by_time_s, by_work) = match &phase.action {
            Action::Idle { runtime_s } => (Some(f64_of(*runtime_s) - in_phase_s), None),
            Action::Io(workload) => {
                let share = |done: u64, whole: u64| f64_of(done) / f64_of(whole.max(1));
                let ios = workload.number_ios.map(|whole| share(self.phase_ios, whole));
                let bytes = workload.io_size_bytes.map(|whole| share(self.phase_bytes, whole.0));
                let done = ios.into_iter().chain(bytes).reduce(f64::max);
                let limit_s = workload.runtime_s.map(|limit| limit.saturating_add(workload.ramp_time_s));
                (limit_s.map(|limit| f64_of(limit) - in_phase_s), done)
            }
        };
        let by_work_s = match by_work {
            Some(done) if done > 0.0 => Some(in_phase_s * (1.0 - done).max(0.0) / done),
            Some(_) => Some(f64_of(phase.estimated_s) - in_phase_s),
            None => None,
        };
        by_time_s.into_iter().chain(by_work_s).reduce(f64::min).unwrap_or(0.0).max(0.0)
    }
}

/// Phases that only a cliff brings about are not counted: most runs do without.
fn later_phases_s(plan: &Plan, after: Option<u32>) -> f64 {
    plan.phases
        .iter()
        .zip(0u32..)
        .filter(|(phase, index)| after.is_none_or(|after| *index > after) && phase.gate != Gate::IfCliff)
        .map(|(phase, _)| f64_of(phase.estimated_s))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepted, written};
    use super::*;

    #[test]
    fn the_rest_is_told_by_what_was_done_and_only_the_end_is_whole() {
        let plan = accepted().run.plan;
        let mut tracker = Tracker::new(&plan, &Progress::default());
        tracker.begin_phase(0, Nanos(0));
        let mut rest = f64::INFINITY;
        for second in 1..=10 {
            // 100 of 1000 I/Os a second: ten seconds in all.
            tracker.advance(&plan, &written(second, 100));
            let progress = tracker.progress();
            let now = progress.remaining_s.unwrap();
            assert!(now < rest, "{now} after {rest}");
            assert!((progress.elapsed_s + now - 10.0).abs() < 0.01, "{progress:?}");
            assert!(progress.fraction < 1.0);
            rest = now;
        }
        tracker.finish(true);
        assert_eq!((tracker.progress().fraction, tracker.progress().remaining_s), (1.0, None));
        assert_eq!(tracker.progress().written_bytes.0, 1_000 * 4_096);
    }

    #[test]
    fn a_run_that_was_stopped_keeps_its_fraction() {
        let plan = accepted().run.plan;
        let mut tracker = Tracker::new(&plan, &Progress::default());
        tracker.begin_phase(0, Nanos(0));
        tracker.advance(&plan, &written(1, 100));
        tracker.finish(false);
        assert!((tracker.progress().fraction - 0.1).abs() < 0.01);
    }
}
