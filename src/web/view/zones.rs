//! A map of zones over the LBA range, as an SVG of rectangles: what a zone is shows by its class, and how full it is by
//! its height, so that the map reads without colour.

use std::sync::Arc;

use crate::model::approx::f64_of;
use crate::model::drive::Drive;
use crate::model::zone::{NoZones, Zone, ZoneCondition, ZoneReport, ZoneRun, ZoneType};

/// The width of the map in its own units.
const WIDTH: f64 = 1000.0;
/// The height of the map in its own units; `drive.html` has it in the viewBox.
const HEIGHT: f64 = 40.0;
/// More rectangles than this are too fine to see: the map is then drawn in columns.
const FINE: usize = 500;
/// Rows of the list of runs.
pub const LISTED: usize = 100;

/// One rectangle.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// What it shows.
    pub look: Look,
}

/// How a zone looks. In order of how much it matters to see it in a column that holds several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// No data there.
    Gap,
    /// Conventional.
    Conventional,
    /// Nothing written.
    Empty,
    /// Full.
    Full,
    /// Partly written and closed.
    Closed,
    /// Open.
    Open,
    /// Read-only.
    ReadOnly,
    /// Offline.
    Offline,
}

impl Look {
    /// Every look, in the order of the legend.
    pub const ALL: [Self; 8] = [
        Self::Conventional,
        Self::Empty,
        Self::Open,
        Self::Closed,
        Self::Full,
        Self::ReadOnly,
        Self::Offline,
        Self::Gap,
    ];

    fn of(zone_type: ZoneType, condition: ZoneCondition) -> Self {
        match (zone_type, condition) {
            (_, ZoneCondition::Offline) => Self::Offline,
            (_, ZoneCondition::ReadOnly) => Self::ReadOnly,
            (ZoneType::Gap, _) | (_, ZoneCondition::Inactive | ZoneCondition::Reserved(_)) => Self::Gap,
            (_, ZoneCondition::NotWritePointer) => Self::Conventional,
            (_, ZoneCondition::Empty) => Self::Empty,
            (_, ZoneCondition::ImplicitOpen | ZoneCondition::ExplicitOpen) => Self::Open,
            (_, ZoneCondition::Closed) => Self::Closed,
            (_, ZoneCondition::Full) => Self::Full,
        }
    }

    /// Its class in the sheet.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Gap => "z-gap",
            Self::Conventional => "z-conventional",
            Self::Empty => "z-empty",
            Self::Full => "z-full",
            Self::Closed => "z-closed",
            Self::Open => "z-open",
            Self::ReadOnly => "z-readonly",
            Self::Offline => "z-offline",
        }
    }

    /// Its name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Gap => "gap or inactive",
            Self::Conventional => "conventional",
            Self::Empty => "empty",
            Self::Full => "full",
            Self::Closed => "closed, partly written",
            Self::Open => "open",
            Self::ReadOnly => "read-only",
            Self::Offline => "offline",
        }
    }

    /// How much of the height it takes.
    fn height(self) -> f64 {
        match self {
            Self::Gap => 0.0,
            Self::Empty => 0.12,
            Self::Closed | Self::Open => 0.6,
            Self::ReadOnly | Self::Offline | Self::Full => 1.0,
            Self::Conventional => 0.3,
        }
    }
}

/// The zones of a drive's page: a report, a reason, or nothing yet.
#[derive(Debug)]
pub struct ZoneMap<'a> {
    /// The drive.
    pub drive: &'a Drive,
    /// The last report.
    pub report: Option<&'a Arc<ZoneReport>>,
    /// Why there is none.
    pub problem: Option<&'a NoZones>,
}

impl<'a> ZoneMap<'a> {
    /// What the last answer shows.
    #[must_use]
    pub fn of(drive: &'a Drive, last: Option<&'a Result<Arc<ZoneReport>, NoZones>>) -> Self {
        Self {
            drive,
            report: last.and_then(|last| last.as_ref().ok()),
            problem: last.and_then(|last| last.as_ref().err()),
        }
    }

    /// The rectangles.
    #[must_use]
    pub fn bars(&self) -> Vec<Bar> {
        self.report.map(|report| bars(report)).unwrap_or_default()
    }

    /// How many zones look how, those that are there.
    #[must_use]
    pub fn counts(&self) -> Vec<(Look, usize)> {
        let zones: &[Zone] = self.report.map(|report| report.zones.as_slice()).unwrap_or_default();
        let count = |look| zones.iter().filter(|zone| Look::of(zone.zone_type, zone.condition) == look).count();
        Look::ALL.into_iter().map(|look| (look, count(look))).filter(|(_, count)| *count > 0).collect()
    }

    /// The runs that are listed.
    #[must_use]
    pub fn listed(&self) -> &[ZoneRun] {
        let runs = self.report.map(|report| report.runs.as_slice()).unwrap_or_default();
        runs.get(..LISTED).unwrap_or(runs)
    }

    /// How many are not.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.report.map_or(0, |report| report.runs.len().saturating_sub(LISTED))
    }

    /// 0 is no limit.
    #[must_use]
    pub fn limit(&self, limit: &Option<u64>) -> String {
        match limit {
            None => "not told".to_owned(),
            Some(0) => "no limit".to_owned(),
            Some(number) => number.to_string(),
        }
    }
}

fn bar(look: Look, x: f64, width: f64) -> Bar {
    let height = look.height() * HEIGHT;
    Bar { x, y: HEIGHT - height, width, height, look }
}

fn bars(report: &ZoneReport) -> Vec<Bar> {
    let Some(last) = report.runs.last() else { return Vec::new() };
    let end = f64_of((last.start_bytes + last.length_bytes).get()).max(1.0);
    let place = |run: &ZoneRun| {
        let from = f64_of(run.start_bytes.get()) / end * WIDTH;
        let to = f64_of((run.start_bytes + run.length_bytes).get()) / end * WIDTH;
        (from, to)
    };
    let look = |run: &ZoneRun| Look::of(run.zone_type, run.condition);
    if report.runs.len() <= FINE {
        return report
            .runs
            .iter()
            .map(|run| {
                let (from, to) = place(run);
                // One zone of fifty thousand would be invisible.
                bar(look(run), from, (to - from).max(0.5))
            })
            .collect();
    }
    // Columns: each shows what matters most of what is in it. Equal neighbours are one rectangle.
    let mut columns: Vec<Option<Look>> = vec![None; FINE];
    let step = WIDTH / crate::model::approx::f64_of_len(FINE);
    for run in &report.runs {
        let (from, to) = place(run);
        let first = crate::model::approx::usize_of((from / step).floor()).min(FINE - 1);
        let last = crate::model::approx::usize_of((to / step).ceil()).clamp(first + 1, FINE);
        for column in columns.get_mut(first..last).unwrap_or_default() {
            *column = (*column).max(Some(look(run)));
        }
    }
    let mut bars: Vec<Bar> = Vec::new();
    for (number, look) in columns.into_iter().enumerate() {
        let Some(look) = look else { continue };
        let x = crate::model::approx::f64_of_len(number) * step;
        match bars.last_mut() {
            Some(bar) if bar.look == look && (bar.x + bar.width - x).abs() < step / 2.0 => bar.width += step,
            _ => bars.push(bar(look, x, step)),
        }
    }
    bars
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::units::Bytes;
    use crate::model::zone::{runs, summary};

    pub fn report(condition: impl Fn(u64) -> (ZoneType, ZoneCondition), zones: u64) -> ZoneReport {
        let size = Bytes(256 << 20);
        let zones: Vec<_> = (0..zones)
            .map(|number| {
                let (zone_type, condition) = condition(number);
                let start = Bytes(number * size.get());
                Zone::new(start, size, size, start, zone_type, condition)
            })
            .collect();
        ZoneReport {
            source: "BLKREPORTZONE".to_owned(),
            asked_at_ms: 0,
            summary: summary(&zones),
            max_open_zones: Some(128),
            max_active_zones: Some(0),
            runs: runs(&zones),
            zones,
        }
    }

    #[test]
    fn a_map_covers_the_whole_range_and_shows_the_one_offline_zone_of_many() {
        use ZoneCondition::{Empty, Full, Offline};
        let alternating = report(
            |number| {
                let condition = if number == 30_001 {
                    Offline
                } else if number % 2 == 0 {
                    Full
                } else {
                    Empty
                };
                (ZoneType::SequentialWriteRequired, condition)
            },
            55_880,
        );
        let bars = bars(&alternating);
        assert!(bars.len() <= FINE, "{}", bars.len());
        assert_eq!(bars.iter().filter(|bar| bar.look == Look::Offline).count(), 1);
        let covered: f64 = bars.iter().map(|bar| bar.width).sum();
        assert!((covered - WIDTH).abs() < 0.01, "{covered}");
    }

    #[test]
    fn few_runs_are_drawn_as_they_are_and_none_is_invisible() {
        use ZoneCondition::{Empty, NotWritePointer};
        use ZoneType::{Conventional, SequentialWriteRequired};
        let report = report(
            |number| if number == 0 { (Conventional, NotWritePointer) } else { (SequentialWriteRequired, Empty) },
            55_880,
        );
        let bars = bars(&report);
        assert_eq!(bars.len(), 2);
        assert!(bars.iter().all(|bar| bar.width >= 0.5 && bar.height > 0.0));
    }
}
