//! Figures of a run as rows of a table: name, value, 95 % interval, how.

use super::format::{NONE, figure, grouped};
use crate::model::approx::u64_of;
use crate::model::estimate::{Estimate, Unit};

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// What it is.
    pub label: &'static str,
    /// Of what load or place.
    pub of: &'a str,
    /// The figure with its unit.
    pub value: String,
    /// Its interval with its unit.
    pub interval: String,
    /// How it was come by.
    pub how: &'a str,
    /// The phases it rests on.
    pub phases: String,
}

/// The rows of all `estimates`, in their order.
#[must_use]
pub fn rows(estimates: &[Estimate]) -> Vec<Row<'_>> {
    estimates.iter().map(row).collect()
}

fn row(estimate: &Estimate) -> Row<'_> {
    let unit = estimate.name.unit();
    Row {
        label: estimate.name.label(),
        of: estimate.of.as_deref().unwrap_or_default(),
        value: with_unit(estimate.value, unit),
        interval: interval(estimate, unit),
        how: &estimate.how,
        phases: estimate.phases.join(", "),
    }
}

fn interval(estimate: &Estimate, unit: Unit) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            let (low, high) = (with_unit(low, unit), with_unit(high, unit));
            if low == high { narrow(estimate) } else { format!("{low} to {high}") }
        }
        (Some(low), None) => format!("{} or more", with_unit(low, unit)),
        (None, Some(high)) => format!("{} or less", with_unit(high, unit)),
        (None, None) => NONE.to_owned(),
    }
}

/// An interval whose ends look alike when rounded.
fn narrow(estimate: &Estimate) -> String {
    let width = estimate.high.zip(estimate.low).map_or(0.0, |(high, low)| high - low);
    if width > 0.0 && estimate.value.abs() > 0.0 {
        format!("± {} %", figure(width / 2.0 / estimate.value.abs() * 100.0))
    } else {
        NONE.to_owned()
    }
}

/// Bytes in decimal units, to about three digits.
fn bytes(value: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(unit, _)| value >= *unit) {
        Some((unit, name)) => format!("{} {name}", figure(value / unit)),
        None => format!("{} B", figure(value)),
    }
}

/// A number with its unit: `1.51 GB`, `12.5 IOPS`, `0.09`.
#[must_use]
pub fn with_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count => grouped(u64_of(value)),
        Unit::Iops => format!("{} IOPS", figure(value)),
        Unit::Bytes => bytes(value),
        Unit::BytesPerS => format!("{} MB/s", figure(value / 1e6)),
        Unit::Seconds => format!("{} s", figure(value)),
        Unit::Milliseconds => format!("{} ms", figure(value)),
        Unit::Ratio if value.abs() < 0.1 => format!("{value:.3}"),
        Unit::Ratio => figure(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::estimate::Quantity;

    #[test]
    fn a_row_reads_well_whatever_its_unit_and_whichever_end_is_open() {
        let of = |name, value, low, high| {
            let estimates = [Estimate::bounded(name, value, low, high, "Counted.").unwrap()];
            let rows = rows(&estimates);
            (rows[0].value.clone(), rows[0].interval.clone())
        };
        let (value, interval) = of(Quantity::CliffBytes, 1.51e9, Some(1.509e9), Some(1.512e9));
        assert_eq!((value.as_str(), interval.as_str()), ("1.51 GB", "± 0.10 %"));
        let (value, interval) = of(Quantity::IdleTriggerS, 120.0, Some(120.0), None);
        assert_eq!((value.as_str(), interval.as_str()), ("120 s", "120 s or more"));
        let (value, interval) = of(Quantity::OuterBytesPerS, 197e6, Some(190e6), Some(199e6));
        assert_eq!((value.as_str(), interval.as_str()), ("197 MB/s", "190 MB/s to 199 MB/s"));
        assert_eq!(of(Quantity::RhoRatio, 0.0911, None, None).1, NONE);
    }
}
