//! A figure that a run has measured, with how sure it is and how it was come by.

use serde::{Deserialize, Serialize};

use super::profile::Profile;
use super::units::Bytes;

/// What a figure is a figure of. Its unit stands at the end of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Random reads per second over the whole region.
    FloorIops,
    /// Random writes per second before the rate collapsed.
    BeforeCliffIops,
    /// Random writes per second once they had settled: after a collapse, else in the second half.
    SettledIops,
    /// Writes after which the rate collapsed.
    CliffIos,
    /// The same in bytes.
    CliffBytes,
    /// The rate after it against before it.
    CliffRatio,
    /// Settled writes against random reads of the same size and depth.
    RhoRatio,
    /// Blocks that the map of a shingled disk's cache holds.
    MapEntries,
    /// Bytes that the cache holds.
    CacheBytes,
    /// Time to clean one band while a writer waits for it.
    BandCleanS,
    /// Writes that were fast again after a rest.
    RecoveredIos,
    /// Rest after which it begins to clean.
    IdleTriggerS,
    /// Writes that a second of cleaning at rest makes room for.
    IdleCleanIops,
    /// Writes from one long one to the next, where these come regularly.
    CheckpointIos,
    /// The same in seconds.
    CheckpointS,
    /// Share of slow writes, where writes have two speeds.
    SlowRatio,
    /// How long a slow one takes.
    SlowMs,
    /// Ordered reads at the outer edge.
    OuterBytesPerS,
    /// Ordered reads at the inner edge.
    InnerBytesPerS,
    /// Ordered reads of all of it: bytes over time.
    MeanReadBytesPerS,
    /// Radius of the innermost track against the outermost.
    RadiusRatio,
    /// One turn of the platter.
    RevolutionMs,
    /// The rate that ever larger blocks come up to.
    SaturationBytesPerS,
    /// Block that reaches half of it.
    HalfRateBytes,
    /// Block that reaches nine tenths of it.
    NinetyPercentBytes,
    /// I/Os per second of the deepest queue against one at a time.
    QueueGainRatio,
    /// Writes per second with the volatile cache on against off.
    CacheGainRatio,
    /// Writes per second without a flush against one after each.
    FlushCostRatio,
    /// Bytes that an SSD takes into its fast cells.
    SlcBytes,
    /// Its rate after them against before.
    SlcRatio,
    /// Most that the way to the drive lets through.
    TransportBytesPerS,
    /// Share of the measured time that the host's CPU spoilt.
    ContentionRatio,
    /// Fewest zones side by side that give the most.
    OpenZones,
    /// The rate with so many.
    OpenZonesBytesPerS,
    /// A zone with OPEN and CLOSE against one that the first write opens: time.
    ExplicitRatio,
    /// What OPEN and CLOSE add to one zone.
    ExplicitZoneS,
    /// OPEN ZONE.
    ZoneOpenMs,
    /// CLOSE ZONE.
    ZoneCloseMs,
    /// FINISH ZONE.
    ZoneFinishMs,
    /// RESET WRITE POINTER.
    ZoneResetMs,
    /// REPORT ZONES.
    ZoneReportMs,
    /// Ordered writes of the whole region.
    FillBytesPerS,
    /// What a rebuild writes, settled.
    RebuildBytesPerS,
}

/// How the number of a quantity is written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// I/Os per second.
    Iops,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerS,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// A ratio.
    Ratio,
}

impl Quantity {
    /// Its name as people say it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::FloorIops => "Random reads",
            Self::BeforeCliffIops => "Random writes before the collapse",
            Self::SettledIops => "Random writes, settled",
            Self::CliffIos | Self::CliffBytes => "Written before the rate collapses",
            Self::CliffRatio => "Rate after the collapse against before",
            Self::RhoRatio => "Writes against its head's speed (rho)",
            Self::MapEntries => "Blocks its cache can name",
            Self::CacheBytes => "Size of its cache",
            Self::BandCleanS => "Cleaning one band",
            Self::RecoveredIos => "Writes fast again after a rest",
            Self::IdleTriggerS => "Rest before it cleans",
            Self::IdleCleanIops => "Writes made room for, per second of rest",
            Self::CheckpointIos | Self::CheckpointS => "From one long write to the next",
            Self::SlowRatio => "Share of slow writes",
            Self::SlowMs => "A slow write",
            Self::OuterBytesPerS => "Reads in order, outer edge",
            Self::InnerBytesPerS => "Reads in order, inner edge",
            Self::MeanReadBytesPerS => "Reads in order, all of it",
            Self::RadiusRatio => "Inner radius against outer",
            Self::RevolutionMs => "One turn of the platter",
            Self::SaturationBytesPerS => "Rate of ever larger blocks",
            Self::HalfRateBytes => "Block for half of it",
            Self::NinetyPercentBytes => "Block for 90 % of it",
            Self::QueueGainRatio => "Gain of a deep queue",
            Self::CacheGainRatio => "Gain of the write cache",
            Self::FlushCostRatio => "Cost of a flush after each write",
            Self::SlcBytes => "Fast cells of the SSD",
            Self::SlcRatio => "Rate once they are full, against before",
            Self::TransportBytesPerS => "Most that the way to it lets through",
            Self::ContentionRatio => "Time spoilt by the host",
            Self::OpenZones => "Zones to keep open",
            Self::OpenZonesBytesPerS => "Rate with so many open",
            Self::ExplicitRatio => "Zone opened and closed explicitly, against not",
            Self::ExplicitZoneS => "What OPEN and CLOSE add to a zone",
            Self::ZoneOpenMs => "OPEN ZONE",
            Self::ZoneCloseMs => "CLOSE ZONE",
            Self::ZoneFinishMs => "FINISH ZONE",
            Self::ZoneResetMs => "RESET WRITE POINTER",
            Self::ZoneReportMs => "REPORT ZONES",
            Self::FillBytesPerS => "Writes in order",
            Self::RebuildBytesPerS => "Writes of a rebuild, settled",
        }
    }

    /// How its number is written.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::FloorIops | Self::BeforeCliffIops | Self::SettledIops | Self::IdleCleanIops => Unit::Iops,
            Self::CliffIos | Self::MapEntries | Self::RecoveredIos | Self::CheckpointIos | Self::OpenZones => {
                Unit::Count
            }
            Self::CliffBytes | Self::CacheBytes | Self::HalfRateBytes | Self::NinetyPercentBytes | Self::SlcBytes => {
                Unit::Bytes
            }
            Self::BandCleanS | Self::IdleTriggerS | Self::CheckpointS | Self::ExplicitZoneS => Unit::Seconds,
            Self::OuterBytesPerS
            | Self::InnerBytesPerS
            | Self::MeanReadBytesPerS
            | Self::SaturationBytesPerS
            | Self::TransportBytesPerS
            | Self::OpenZonesBytesPerS
            | Self::FillBytesPerS
            | Self::RebuildBytesPerS => Unit::BytesPerS,
            Self::SlowMs
            | Self::RevolutionMs
            | Self::ZoneOpenMs
            | Self::ZoneCloseMs
            | Self::ZoneFinishMs
            | Self::ZoneResetMs
            | Self::ZoneReportMs => Unit::Milliseconds,
            Self::CliffRatio
            | Self::RhoRatio
            | Self::SlowRatio
            | Self::RadiusRatio
            | Self::QueueGainRatio
            | Self::CacheGainRatio
            | Self::FlushCostRatio
            | Self::SlcRatio
            | Self::ContentionRatio
            | Self::ExplicitRatio => Unit::Ratio,
        }
    }

    /// The profile that measures it soonest.
    #[must_use]
    pub fn measured_by(self) -> Profile {
        match self {
            Self::OuterBytesPerS
            | Self::InnerBytesPerS
            | Self::MeanReadBytesPerS
            | Self::RadiusRatio
            | Self::RevolutionMs
            | Self::TransportBytesPerS
            | Self::FloorIops => Profile::Inspect,
            Self::SaturationBytesPerS | Self::HalfRateBytes | Self::NinetyPercentBytes => Profile::BlockSizeSweep,
            Self::QueueGainRatio => Profile::QueueDepthSweep,
            Self::CacheGainRatio | Self::FlushCostRatio => Profile::WriteCache,
            Self::OpenZones
            | Self::OpenZonesBytesPerS
            | Self::ExplicitRatio
            | Self::ExplicitZoneS
            | Self::ZoneOpenMs
            | Self::ZoneCloseMs
            | Self::ZoneFinishMs
            | Self::ZoneResetMs
            | Self::ZoneReportMs => Profile::Zones,
            Self::FillBytesPerS => Profile::SmrFull,
            Self::RebuildBytesPerS => Profile::Rebuild,
            _ => Profile::SmrQuick,
        }
    }
}

/// One figure of a run.
///
/// Invariant: its numbers are finite, so that it reads back from JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// What it is.
    pub name: Quantity,
    /// The figure, in the unit that the name ends with.
    pub value: f64,
    /// Lower end of its 95 % interval; `null` when only the upper end is known.
    pub low: Option<f64>,
    /// Upper end; `null` when only the lower end is known.
    pub high: Option<f64>,
    /// Of what load or place, where there are several: `random writes of 4 KiB, 8 at a time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Bytes of one I/O, where it belongs to a block size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bs_bytes: Option<Bytes>,
    /// I/Os in flight, where it belongs to a queue depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iodepth: Option<u32>,
    /// How it was come by, in a sentence.
    pub how: String,
    /// The phases it rests on.
    pub phases: Vec<String>,
}

impl Estimate {
    /// A figure with both ends of its interval; `None` if a number is not finite.
    #[must_use]
    pub fn new(name: Quantity, (value, low, high): (f64, f64, f64), how: impl Into<String>) -> Option<Self> {
        Self::bounded(name, value, Some(low), Some(high), how)
    }

    /// A figure of which an end of the interval may be open.
    #[must_use]
    pub fn bounded(
        name: Quantity,
        value: f64,
        low: Option<f64>,
        high: Option<f64>,
        how: impl Into<String>,
    ) -> Option<Self> {
        let finite = [Some(value), low, high].into_iter().flatten().all(f64::is_finite);
        finite.then(|| Self {
            name,
            value,
            // Of very few blocks a bootstrap may miss the value itself.
            low: low.map(|low| low.min(value)),
            high: high.map(|high| high.max(value)),
            of: None,
            bs_bytes: None,
            iodepth: None,
            how: how.into(),
            phases: Vec::new(),
        })
    }

    /// Says of what load or place it is.
    #[must_use]
    pub fn of(mut self, what: impl Into<String>) -> Self {
        self.of = Some(what.into());
        self
    }

    /// Says at which block size and depth it was measured.
    #[must_use]
    pub fn at(mut self, bs: Bytes, iodepth: u32) -> Self {
        (self.bs_bytes, self.iodepth) = (Some(bs), Some(iodepth));
        self
    }

    /// Names the phases that it rests on.
    #[must_use]
    pub fn from_phases<T: Into<String>>(mut self, phases: impl IntoIterator<Item = T>) -> Self {
        self.phases = phases.into_iter().map(Into::into).collect();
        self
    }

    /// Whether `truth` lies in its interval.
    #[must_use]
    pub fn holds(&self, truth: f64) -> bool {
        self.low.is_none_or(|low| low <= truth) && self.high.is_none_or(|high| truth <= high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_reads_back_and_one_that_is_no_number_is_none() {
        let figure = Estimate::new(Quantity::CliffBytes, (1.0, 0.5, 2.0), "counted").unwrap();
        let figure = figure.at(Bytes(4096), 8).from_phases(["random-4k"]);
        let json = serde_json::to_value(&figure).unwrap();
        assert_eq!((&json["name"], &json["bs_bytes"]), (&"cliff_bytes".into(), &4096.into()));
        assert_eq!(serde_json::from_value::<Estimate>(json).unwrap(), figure);
        assert_eq!(Estimate::new(Quantity::RhoRatio, (f64::NAN, 0.0, 1.0), ""), None);
        assert_eq!(Estimate::new(Quantity::RhoRatio, (1.0, 0.0, f64::INFINITY), ""), None);
    }

    #[test]
    fn an_open_end_holds_everything_beyond() {
        let least = Estimate::bounded(Quantity::IdleTriggerS, 120.0, Some(120.0), None, "").unwrap();
        assert!(least.holds(3_600.0) && !least.holds(1.0));
    }
}
