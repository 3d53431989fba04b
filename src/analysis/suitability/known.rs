//! What is known of a drive's speeds: the newest figure of each kind, with where it comes from.

use super::super::combine::combine;
use super::super::declared::classify;
use super::super::words::{block, rate};
use super::Past;
use crate::model::drive::Drive;
use crate::model::estimate::{Estimate, Quantity};
use crate::model::recording::{Recording, RecordingState};
use crate::model::suitability::Ground;

/// A figure with its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// The figure.
    pub value: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A rate, and what to tell of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// Per second.
    pub per_s: Ends,
    /// What a person is told.
    pub ground: Ground,
    /// Whether this very drive was measured.
    pub own: bool,
}

/// Random writes of 4 KiB a second of shingled disks whose cache is full, where a drive was not measured itself: 5 to 10 (ST8000AS0022,
/// csurbhi), 12.5 (model of ST8000DM004), 1.5 (Toshiba Canvio); the middle one, and the ends.
const PUBLISHED_AFTER: Ends = Ends { value: 6.3, low: 1.5, high: 12.5 };

/// What is known of one drive.
#[derive(Debug)]
pub struct Known<'a> {
    /// The drive.
    pub drive: &'a Drive,
    /// How it records: its word, and what its runs found.
    pub recording: Recording,
    /// Bytes in order: written, or read where no run wrote all of it.
    pub stream: Option<Rate>,
    /// Small random writes, settled.
    pub scattered: Option<Rate>,
    /// Figures, newest run first.
    figures: Vec<(&'a Estimate, Past<'a>)>,
}

impl<'a> Known<'a> {
    /// From its word and its runs, oldest first.
    #[must_use]
    pub fn of(drive: &'a Drive, runs: &[Past<'a>]) -> Self {
        let verdicts: Vec<Recording> = runs.iter().filter_map(|run| run.verdict.cloned()).collect();
        let recording = combine(&classify(drive), &verdicts);
        let newest_first = runs.iter().rev();
        let figures: Vec<_> = newest_first.flat_map(|run| run.estimates.iter().map(|figure| (figure, *run))).collect();
        let mut known = Self { drive, recording, stream: None, scattered: None, figures };
        known.stream = known.in_order();
        known.scattered = known.at_random();
        known
    }

    /// Shingled behind a translation layer, and written as an ordinary disk.
    #[must_use]
    pub fn is_shingled(&self) -> bool {
        matches!(self.recording.state, RecordingState::DriveManaged | RecordingState::HostAware)
    }

    /// It takes writes at write pointers alone.
    #[must_use]
    pub fn only_at_pointers(&self) -> bool {
        matches!(self.recording.state, RecordingState::HostManaged | RecordingState::Zns)
    }

    /// Whether it is known to write in place, or has no tracks at all.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(self.recording.state, RecordingState::Cmr | RecordingState::Ssd)
    }

    /// The newest figure of this name.
    #[must_use]
    pub fn figure(&self, name: Quantity) -> Option<&(&'a Estimate, Past<'a>)> {
        self.figures.iter().find(|(figure, _)| figure.name == name)
    }

    /// The cliff after which a rate of random writes was measured.
    #[must_use]
    pub fn cliff_of(&self, scattered: &Rate) -> Option<&(&'a Estimate, Past<'a>)> {
        let run = scattered.ground.run?;
        self.figures.iter().find(|(figure, of)| figure.name == Quantity::CliffIos && of.run == run)
    }

    /// The newest cliff of each block size.
    #[must_use]
    pub fn cliffs(&self) -> Vec<Estimate> {
        let mut cliffs: Vec<Estimate> = Vec::new();
        for (figure, _) in self.figures.iter().filter(|(figure, _)| figure.name == Quantity::CliffBytes) {
            if cliffs.iter().all(|known| known.bs_bytes != figure.bs_bytes) {
                cliffs.push((*figure).clone());
            }
        }
        cliffs
    }

    fn in_order(&self) -> Option<Rate> {
        let filled = self.figure(Quantity::FillBytesPerS).map(|found| (found, "writes in order"));
        let read = || self.figure(Quantity::MeanReadBytesPerS).map(|found| (found, "reads in order, all of it"));
        let ((figure, run), what) = filled.or_else(read)?;
        let per_s = ends(figure);
        let text = format!("{what}: {} MB/s", rate(per_s.value / 1e6));
        Some(Rate { per_s, ground: Ground { text, run: Some(run.run) }, own: true })
    }

    fn at_random(&self) -> Option<Rate> {
        // After a cliff, from the very phase that showed it: another may have ended before its own.
        let cliffs: Vec<_> = self.figures.iter().filter(|(figure, _)| figure.name == Quantity::CliffIos).collect();
        let counts = |figure: &Estimate, run: &Past<'_>| match cliffs.as_slice() {
            [] => !self.is_shingled(),
            cliffs => cliffs.iter().any(|(cliff, of)| run.run == of.run && figure.phases == cliff.phases),
        };
        let settled = self.figures.iter().filter(|(figure, run)| {
            figure.name == Quantity::SettledIops && figure.bs_bytes.is_some() && counts(figure, run)
        });
        // The smallest blocks, and the newest run of these.
        let found = settled.min_by_key(|(figure, _)| figure.bs_bytes);
        if let Some((figure, run)) = found {
            let per_s = ends(figure);
            let after = if !cliffs.is_empty() { ", once its cache is full" } else { "" };
            let bs = figure.bs_bytes.map(block).unwrap_or_default();
            let text = format!("random writes of {bs}: {} a second{after}", rate(per_s.value));
            return Some(Rate { per_s, ground: Ground { text, run: Some(run.run) }, own: true });
        }
        self.is_shingled().then(|| {
            let Ends { low, high, .. } = PUBLISHED_AFTER;
            let text =
                format!("random writes of such disks once their cache is full: {low} to {high} a second, as published");
            Rate { per_s: PUBLISHED_AFTER, ground: Ground { text, run: None }, own: false }
        })
    }
}

/// The ends of a figure; an open one is the figure itself.
fn ends(figure: &Estimate) -> Ends {
    Ends { value: figure.value, low: figure.low.unwrap_or(figure.value), high: figure.high.unwrap_or(figure.value) }
}
