//! What others than the engine saw of a run, for its page.

use super::format;
use super::run::RunPage;
use crate::model::approx::{f64_of, u64_of};
use crate::model::conditions::{Change, Condition, Conditions};
use crate::model::interval::Interval;
use crate::model::plan::Phase;
use crate::model::seen::PhaseSeen;
use crate::model::surroundings::KernelLine;
use crate::model::units::Bytes;

/// A phase and what was seen of it.
pub struct SeenPhase<'a> {
    /// Its name.
    pub name: &'a str,
    /// What was seen.
    pub seen: &'a PhaseSeen,
}

impl SeenPhase<'_> {
    /// Mean size of a request as asked.
    #[must_use]
    pub fn asked(&self) -> String {
        self.seen.asked_mean_bytes().map_or_else(none, size)
    }

    /// Mean size of what reached the device.
    #[must_use]
    pub fn device(&self) -> String {
        self.seen.device_mean_bytes().map_or_else(none, size)
    }

    /// Mean time of a device request from issue to completion, milliseconds.
    #[must_use]
    pub fn queue_ms(&self) -> String {
        if self.seen.device_ios == 0 {
            return none();
        }
        format::figure(f64_of(self.seen.device_queue_ms) / f64_of(self.seen.device_ios))
    }

    /// What became of its requests, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> &str {
        match &self.seen.split {
            Some(split) => &split.sentence,
            None if self.seen.device_intervals == 0 => "The device's own count is not known.",
            None if self.seen.asked_ios == 0 => "Nothing was asked.",
            None => "Too few requests to tell.",
        }
    }
}

fn none() -> String {
    format::NONE.to_owned()
}

fn size(bytes: f64) -> String {
    Bytes(u64_of(bytes)).binary()
}

impl RunPage<'_> {
    /// The phases of which something was seen.
    pub(super) fn seen_phases(&self) -> Vec<SeenPhase<'_>> {
        let name = |index: u32| {
            let phase = usize::try_from(index).ok().and_then(|index| self.run.plan.phases.get(index));
            phase.map_or(format::NONE, |phase: &Phase| phase.name.as_str())
        };
        let seen = self.run.phases.iter().filter_map(|outcome| Some((outcome.phase, outcome.seen.as_deref()?)));
        seen.map(|(phase, seen)| SeenPhase { name: name(phase), seen }).collect()
    }

    pub(super) fn conditions(&self) -> Option<&Conditions> {
        self.run.surroundings.conditions.as_deref()
    }

    /// Why there is no count of the device, or that others are in it.
    pub(super) fn count_note(&self) -> Option<String> {
        let count = &self.conditions()?.device_count;
        match (&count.unknown, count.shared) {
            (Some(why), _) => Some(format!("The device's own count is not known: {why}.")),
            (None, true) => Some(
                "The target is a file: the count is that of the disk below it, with what others did there at the same time."
                    .to_owned(),
            ),
            (None, false) => None,
        }
    }

    /// The settings that were found; those that are not known last.
    pub(super) fn found(&self) -> Vec<&Condition> {
        let Some(conditions) = self.conditions() else { return Vec::new() };
        let (known, unknown): (Vec<_>, Vec<_>) =
            conditions.found.iter().partition(|condition| condition.value.is_some());
        known.into_iter().chain(unknown).collect()
    }

    /// How a changed setting stands.
    pub(super) fn change_stands(change: &Change) -> &'static str {
        match (change.restored, &change.problem) {
            (true, _) => "put back as found",
            (false, Some(_)) => "could not be put back",
            (false, None) => "in force",
        }
    }

    /// A temperature with its unit.
    pub(super) fn celsius(celsius: &f64) -> String {
        format!("{celsius:.1}\u{a0}°C")
    }

    /// A line as dmesg writes it, with the word for its level.
    pub(super) fn log_line(line: &KernelLine) -> String {
        const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"];
        let level = LEVELS.get(usize::from(line.level)).copied().unwrap_or_default();
        format!("[{}.{:06}] {level}: {}", line.t_us / 1_000_000, line.t_us % 1_000_000, line.text)
    }

    /// Device requests of an interval.
    pub(super) fn device_ios(interval: &Interval) -> String {
        let device = interval.seen.as_ref().and_then(|seen| seen.device);
        device.map_or_else(none, |device| format::grouped(device.ios()))
    }

    /// Share of an interval that threads waited for a CPU.
    pub(super) fn waited(interval: &Interval) -> String {
        let delay = interval.seen.as_ref().and_then(|seen| seen.run_delay);
        delay.map_or_else(none, |delay| {
            let mark = if interval.is_spoilt() { " spoilt" } else { "" };
            format!("{:.1}\u{a0}%{mark}", delay.share_of(interval.duration) * 100.0)
        })
    }
}
