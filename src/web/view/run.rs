//! One run, live.

use askama::Template;

use super::timeline::{self, Segment};
use super::{Frame, chart, estimates, format, mark, plan};
use crate::model::interval::{Interval, Tally};
use crate::model::plan::Phase;
use crate::model::run::{Hold, Run, RunState, StopReason};

/// How many of the last intervals the page's table shows, by itself and live.
pub const RECENT: usize = 60;

/// `GET /runs/{id}`
#[derive(Template)]
#[template(path = "run.html")]
pub struct RunPage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
    /// The run.
    pub run: &'a Run,
    /// Each phase's intervals merged into one, in the order of the phases, as far as it has come.
    pub phase_totals: &'a [Interval],
    /// The last intervals, oldest first; at most [`RECENT`] are shown.
    pub recent: &'a [Interval],
}

impl RunPage<'_> {
    fn segments(&self) -> Vec<Segment<'_>> {
        timeline::of_run(self.run)
    }

    fn estimates(&self) -> Vec<estimates::Row<'_>> {
        estimates::rows(&self.run.estimates)
    }

    fn charts(&self) -> [chart::Description; 3] {
        chart::DESCRIPTIONS
    }

    fn phase(&self, interval: &Interval) -> Option<&Phase> {
        self.run.plan.phases.get(usize::try_from(interval.phase).ok()?)
    }

    /// A line for each kind of I/O that a phase did.
    fn totals(&self) -> Vec<(&Interval, String, &Tally)> {
        let lines = self.phase_totals.iter().flat_map(|total| {
            let data = [("read", Some(&total.read)), ("write", Some(&total.write))];
            let rare = [("flush", total.flush.as_deref()), ("trim", total.trim.as_deref())];
            let zones = total.zone_ops.iter().map(|(op, tally)| (format!("zone {}", op.as_str()), tally));
            let named = data.into_iter().chain(rare);
            let lines = named.filter_map(|(name, tally)| Some((name.to_owned(), tally?))).chain(zones);
            lines.filter(|(_, tally)| tally.ios > 0).map(move |(name, tally)| (total, name, tally))
        });
        lines.collect()
    }

    fn newest_first(&self) -> Vec<&Interval> {
        self.recent.iter().rev().take(RECENT).collect()
    }

    fn can_pause(&self) -> bool {
        let may = matches!(self.run.state, RunState::Running | RunState::Paused | RunState::Queued);
        may && !self.run.life.holds.contains(&Hold::User)
    }

    fn can_resume(&self) -> bool {
        let held = self.run.life.holds.contains(&Hold::User);
        self.run.state == RunState::Interrupted
            || (held && matches!(self.run.state, RunState::Paused | RunState::Queued))
    }

    /// Failed I/Os that are counted but not told one by one.
    fn untold_faults(&self) -> u64 {
        let told = u64::try_from(self.run.life.faults.len()).unwrap_or(u64::MAX);
        self.run.life.errors.saturating_sub(told)
    }

    /// What was asked for beside the profile's parameters, in words.
    fn limits(&self) -> Vec<String> {
        let options = &self.run.options;
        let mut limits = Vec::new();
        if let Some(window) = options.window {
            limits.push(format!("Runs only from {window}"));
        }
        if let Some(bytes) = options.max_written_bytes {
            limits.push(format!("Writes at most {}", bytes.decimal()));
        }
        if let Some(celsius) = options.max_temperature_celsius {
            limits.push(format!("Pauses at {celsius} °C"));
        }
        if options.resume_after_restart {
            limits.push("Goes on by itself after a restart of the service".to_owned());
        }
        limits
    }

    fn can_cancel(&self) -> bool {
        !self.run.state.is_over() && self.run.state != RunState::Draining
    }

    /// Why it ended, unless it simply came to its end.
    fn ended_early(&self) -> Option<&StopReason> {
        self.run.stop_reason.as_ref().filter(|reason| **reason != StopReason::Completed)
    }

    fn phase_now(&self) -> &str {
        let phase = usize::try_from(self.run.progress.phase).ok().and_then(|index| self.run.plan.phases.get(index));
        phase.map_or(format::NONE, |phase| phase.name.as_str())
    }
}
