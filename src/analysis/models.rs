//! A list of models, as a hint: what others have written about drives of this name.
//!
//! The list (`models/drive_models.csv`) was put together in November 2026 from the sources its last column names;
//! [`sources`] spells them out. It never makes the answer: the same model number has changed its recording under
//! one name (WD Red, BarraCuda 2 TB), and lists contradict each other. A name counts only from its beginning: a rule
//! that looks for "40…EMAZ" anywhere in a name would take a WD140EMFZ's sister for a 4 TB disk.

mod sources;

use std::sync::LazyLock;

use serde::Deserialize;

use super::declared::is_physical;
use super::evidence::{Told, told};
use crate::model::drive::{DeviceKind, Drive};
use crate::model::recording::{Basis, Evidence, Points};

/// When the list was put together.
pub const MADE: &str = "November 2026";
/// What a hit counts beside what a drive says or does: a hint.
pub const WEIGHT: f64 = 0.15;
/// How far a capacity may be from the one that is listed: rounded numbers, and cut-down capacities, stay within.
const CAPACITY_FITS_PERCENT: u64 = 5;

/// The list itself.
static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    // A row that does not read is left out here and found by a test: the list is built in.
    csv::Reader::from_reader(include_bytes!("models/drive_models.csv").as_slice())
        .into_deserialize()
        .filter_map(Result::ok)
        .collect()
});

/// One row, as it stands in the file.
#[derive(Debug, Deserialize)]
struct Row {
    /// A literal beginning of the product's name.
    model_pattern: String,
    /// In 10^9 bytes, rounded; empty when the name covers several.
    capacity_gb: Option<u32>,
    family: String,
    recording: String,
    zone_model: String,
    source: String,
}

/// What the list says of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Shingled, of this zone model (`drive-managed`, `host-managed`, `host-aware` or `unknown`).
    Shingled(&'static str),
    /// Conventional.
    Conventional,
    /// Its sources contradict each other.
    Disputed,
}

/// A hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing {
    /// The beginning of the name that fits.
    pub pattern: &'static str,
    /// The family as it is sold.
    pub family: &'static str,
    /// What it says.
    pub says: Says,
    /// The keys of its sources.
    pub source: &'static str,
}

/// What the list says of a drive's model: the longest beginning of its name whose capacity fits within 5 %.
#[must_use]
pub fn listed(drive: &Drive) -> Option<Listing> {
    if drive.kind != DeviceKind::Disk || !is_physical(drive) {
        return None;
    }
    let name = product(drive.model.as_deref()?);
    let row = TABLE
        .iter()
        .filter(|row| name.starts_with(row.model_pattern.as_str()) && row.fits(drive.capacity_bytes.get()))
        .max_by_key(|row| row.model_pattern.len())?;
    let says = match row.recording.as_str() {
        "SMR" => Says::Shingled(&row.zone_model),
        "CMR" => Says::Conventional,
        _ => Says::Disputed,
    };
    Some(Listing { pattern: &row.model_pattern, family: &row.family, says, source: &row.source })
}

impl Row {
    fn fits(&self, capacity_bytes: u64) -> bool {
        self.capacity_gb.is_none_or(|gigabytes| {
            let listed = u64::from(gigabytes) * 1_000_000_000;
            capacity_bytes.abs_diff(listed) <= listed / 100 * CAPACITY_FITS_PERCENT
        })
    }
}

/// The product's name without the vendor's word before it, in capitals: `WD40EFAX-68JH4N0` of `WDC WD40EFAX-68JH4N0`.
fn product(model: &str) -> String {
    const VENDORS: [&str; 8] = ["ATA", "WDC", "WD", "HGST", "HITACHI", "TOSHIBA", "SEAGATE", "SAMSUNG"];
    let model = model.trim().to_ascii_uppercase();
    match model.split_once(char::is_whitespace) {
        Some((word, rest)) if VENDORS.contains(&word) => rest.trim_start().to_owned(),
        _ => model,
    }
}

impl Listing {
    /// What it is listed as, in a few words.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self.says {
            Says::Shingled("drive-managed") => "drive-managed SMR",
            Says::Shingled("host-managed") => "host-managed SMR",
            Says::Shingled("host-aware") => "host-aware SMR",
            Says::Shingled(_) => "SMR",
            Says::Conventional => "conventional (CMR)",
            Says::Disputed => "disputed",
        }
    }

    /// The hint as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let by = sources::spelled(self.source);
        match self.says {
            Says::Disputed => format!(
                "Lists of models contradict each other about it ({by}; put together in {MADE}): a hint to neither side."
            ),
            _ => format!(
                "A list of models names it as {} ({}; by {by}; put together in {MADE}): a hint, not a proof.",
                self.words(),
                self.family
            ),
        }
    }

    /// The hint as evidence, which never decides.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        let points = match self.says {
            Says::Shingled(_) => Points::Shingled,
            Says::Conventional => Points::Conventional,
            Says::Disputed => Points::Neither,
        };
        let weight = if points == Points::Neither { 0.0 } else { WEIGHT };
        let value = format!("{}: {}, as {}…", self.words(), self.family, self.pattern);
        let source = format!("list of models put together in {MADE}, by {}", sources::spelled(self.source));
        told(Basis::Listed, "model-list", value, source)
            .points(points, weight)
            .expecting("listed as CMR, or not at all", "listed as SMR, or not at all")
    }
}

#[cfg(test)]
mod tests;
