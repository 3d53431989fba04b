//! Who of those that wait may go now? Pure.

use std::cmp::Reverse;
use std::fmt;

use crate::model::drive::DriveId;
use crate::model::options::{DailyWindow, RunOptions};
use crate::model::run::{Hold, RunId};

/// How many runs go at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// On the whole host.
    pub in_all: usize,
    /// On the drives of one adapter.
    pub per_adapter: usize,
}

/// A run that waits for its turn.
#[derive(Debug, Clone)]
pub struct Waiting<'a> {
    /// The run.
    pub id: RunId,
    /// Its drive.
    pub drive: DriveId,
    /// The adapter that the drive hangs on, if it hangs on one.
    pub adapter: Option<&'a str>,
    /// Whether the drive is there.
    pub attached: bool,
    /// What was asked for.
    pub options: &'a RunOptions,
    /// Why it is held back.
    pub holds: &'a [Hold],
}

/// A run that has its drive.
#[derive(Debug, Clone, Copy)]
pub struct Going<'a> {
    /// The run.
    pub id: RunId,
    /// Its drive, which no other run gets.
    pub drive: DriveId,
    /// The adapter that the drive hangs on.
    pub adapter: Option<&'a str>,
    /// Whether it does I/O: one that is paused or stalled takes no place from others.
    pub busy: bool,
}

/// The moment that is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Milliseconds since 1970 UTC.
    pub now_ms: i64,
    /// Minute of the day by the host's clock.
    pub minute: u16,
}

/// Why a run does not go yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance<'a> {
    /// A person holds it back.
    Held,
    /// Its time has not come.
    TooEarly,
    /// Outside its hours of the day.
    OutsideWindow(DailyWindow),
    /// Another run must end first.
    After(RunId),
    /// The drive is not there.
    Detached,
    /// Another run has the drive.
    DriveBusy(RunId),
    /// The drives of one adapter have as many runs as they may.
    AdapterFull(&'a str, usize),
    /// The host has as many runs as it may.
    Full(usize),
}

impl fmt::Display for Hindrance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held => f.write_str("somebody to resume it"),
            Self::TooEarly => f.write_str("its time to start"),
            Self::OutsideWindow(window) => write!(f, "its hours of the day, {window}"),
            Self::After(run) => write!(f, "run {run} to end"),
            Self::Detached => f.write_str("the drive to be attached"),
            Self::DriveBusy(run) => write!(f, "the drive, which run {run} has"),
            Self::AdapterFull(adapter, limit) => {
                write!(f, "one of the {limit} runs on adapter {adapter} to end (--max-runs-per-adapter)")
            }
            Self::Full(limit) => write!(f, "one of the {limit} runs on this host to end (--max-runs)"),
        }
    }
}

/// What becomes of each that waits: it may go, or what hinders it. Those with a higher priority are asked first, then
/// those that were asked for earlier; one that is hindered holds up nobody behind it.
///
/// `alive` tells whether a run that others wait for is still to end.
pub fn decide<'a>(
    mut waiting: Vec<Waiting<'a>>,
    mut going: Vec<Going<'a>>,
    alive: impl Fn(RunId) -> bool,
    moment: Moment,
    limits: Limits,
) -> Vec<(RunId, Option<Hindrance<'a>>)> {
    waiting.sort_by_key(|run| (Reverse(run.options.priority), run.id));
    let mut decisions = Vec::with_capacity(waiting.len());
    for run in waiting {
        let hindrance = hindrance(&run, &going, &alive, moment, limits);
        if hindrance.is_none() {
            going.push(Going { id: run.id, drive: run.drive, adapter: run.adapter, busy: true });
        }
        decisions.push((run.id, hindrance));
    }
    decisions
}

fn hindrance<'a>(
    run: &Waiting<'a>,
    going: &[Going<'_>],
    alive: &impl Fn(RunId) -> bool,
    moment: Moment,
    limits: Limits,
) -> Option<Hindrance<'a>> {
    let options = run.options;
    if run.holds.contains(&Hold::User) {
        return Some(Hindrance::Held);
    }
    if options.start_at_ms.is_some_and(|start_at_ms| moment.now_ms < start_at_ms) {
        return Some(Hindrance::TooEarly);
    }
    if let Some(first) = options.after.iter().find(|other| alive(**other)) {
        return Some(Hindrance::After(*first));
    }
    if let Some(window) = options.window.filter(|window| !window.contains(moment.minute)) {
        return Some(Hindrance::OutsideWindow(window));
    }
    if !run.attached {
        return Some(Hindrance::Detached);
    }
    if let Some(other) = going.iter().find(|other| other.drive == run.drive) {
        return Some(Hindrance::DriveBusy(other.id));
    }
    let busy = going.iter().filter(|other| other.busy);
    if busy.clone().count() >= limits.in_all {
        return Some(Hindrance::Full(limits.in_all));
    }
    let adapter = run.adapter?;
    let beside = busy.filter(|other| other.adapter == Some(adapter)).count();
    (beside >= limits.per_adapter).then_some(Hindrance::AdapterFull(adapter, limits.per_adapter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOON: Moment = Moment { now_ms: 1_000_000, minute: 720 };
    const WIDE: Limits = Limits { in_all: 100, per_adapter: 100 };

    fn drive(number: usize) -> DriveId {
        DriveId::from_identity(&number.to_string())
    }

    fn wait<'a>(id: RunId, on: usize, options: &'a RunOptions) -> Waiting<'a> {
        Waiting { id, drive: drive(on), adapter: None, attached: true, options, holds: &[] }
    }

    fn one(run: Waiting<'_>, going: Vec<Going<'_>>, limits: Limits) -> Option<String> {
        let decided = decide(vec![run], going, |_| true, NOON, limits);
        decided[0].1.map(|hindrance| hindrance.to_string())
    }

    #[test]
    fn each_hindrance_is_told_and_without_any_it_goes() {
        let (id, other) = (RunId::generate(), RunId::generate());
        let options = RunOptions::default();
        assert_eq!(one(wait(id, 1, &options), Vec::new(), WIDE), None);
        let late = RunOptions { start_at_ms: Some(NOON.now_ms + 1), ..options.clone() };
        assert_eq!(one(wait(id, 1, &late), Vec::new(), WIDE).unwrap(), "its time to start");
        let night = RunOptions { window: Some("22:00-06:00".parse().unwrap()), ..options.clone() };
        assert_eq!(one(wait(id, 1, &night), Vec::new(), WIDE).unwrap(), "its hours of the day, 22:00-06:00");
        let after = RunOptions { after: vec![other], ..options.clone() };
        assert!(one(wait(id, 1, &after), Vec::new(), WIDE).unwrap().contains(&other.to_string()));
        assert!(
            one(Waiting { attached: false, ..wait(id, 1, &options) }, Vec::new(), WIDE).unwrap().contains("attached")
        );
        assert!(one(Waiting { holds: &[Hold::User], ..wait(id, 1, &options) }, Vec::new(), WIDE).is_some());
        let paused = Going { id: other, drive: drive(1), adapter: None, busy: false };
        assert!(one(wait(id, 1, &options), vec![paused], WIDE).unwrap().contains("the drive, which run"));
        assert_eq!(one(wait(id, 2, &options), vec![paused], Limits { in_all: 1, per_adapter: 1 }), None);
        let hba = Some("0000:01:00.0");
        let busy = Going { adapter: hba, busy: true, ..paused };
        let beside = Waiting { adapter: hba, ..wait(id, 2, &options) };
        assert!(
            one(beside.clone(), vec![busy], Limits { in_all: 2, per_adapter: 1 }).unwrap().contains("0000:01:00.0")
        );
        assert!(one(beside, vec![busy], Limits { in_all: 1, per_adapter: 9 }).unwrap().contains("--max-runs)"));
    }

    #[test]
    fn the_more_urgent_goes_first_and_the_hindered_holds_up_nobody() {
        let ids: Vec<_> = (0..4).map(|_| RunId::generate()).collect();
        let [low, high, late] = [10, 90, 100].map(|priority| RunOptions { priority, ..RunOptions::default() });
        let late = RunOptions { start_at_ms: Some(i64::MAX), ..late };
        let waiting =
            vec![wait(ids[0], 1, &low), wait(ids[1], 1, &high), wait(ids[2], 2, &late), wait(ids[3], 3, &low)];
        let limits = Limits { in_all: 2, per_adapter: 9 };
        let decided = decide(waiting, Vec::new(), |_| false, NOON, limits);
        let goes: Vec<_> = decided.iter().filter(|(_, hindrance)| hindrance.is_none()).map(|(id, _)| *id).collect();
        assert_eq!(goes, [ids[1], ids[3]]);
    }

    proptest! {
        #[test]
        fn no_limit_is_passed_and_no_drive_gets_two(
            runs in prop::collection::vec((0usize..6, 0usize..3, 0u8..=100), 0..30), in_all in 0usize..8, per_adapter in 0usize..4
        ) {
            let options: Vec<_> = runs.iter().map(|run| RunOptions { priority: run.2, ..RunOptions::default() }).collect();
            let adapters = ["a", "b", "c"];
            let waiting: Vec<_> = runs
                .iter()
                .zip(&options)
                .map(|(run, options)| Waiting { adapter: Some(adapters[run.1]), ..wait(RunId::generate(), run.0, options) })
                .collect();
            let of: std::collections::HashMap<_, _> =
                waiting.iter().map(|run| (run.id, (run.drive, run.adapter))).collect();
            let decided = decide(waiting, Vec::new(), |_| false, NOON, Limits { in_all, per_adapter });
            prop_assert_eq!(decided.len(), runs.len());
            let goes: Vec<_> = decided.iter().filter(|(_, hindrance)| hindrance.is_none()).map(|(id, _)| of[id]).collect();
            prop_assert!(goes.len() <= in_all);
            let mut drives: Vec<_> = goes.iter().map(|(drive, _)| *drive).collect();
            drives.sort_unstable();
            drives.dedup();
            prop_assert_eq!(drives.len(), goes.len());
            for adapter in adapters {
                prop_assert!(goes.iter().filter(|(_, on)| *on == Some(adapter)).count() <= per_adapter);
            }
        }
    }
}
