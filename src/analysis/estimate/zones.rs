//! Zones: how many to keep open, and what opening, closing and the other operations cost.
//!
//! The number of open zones is the smallest whose rate comes within 5 % of the best: beyond it nothing is gained. Explicit against
//! implicit opening is compared zone by zone at one zone side by side, where nothing else differs.

use super::super::measured::PhaseFacts;
use super::super::words::rate as told_rate;
use super::{Input, resample};
use crate::model::approx::f64_of;
use crate::model::estimate::{Estimate, Quantity};
use crate::model::workload::{Rw, Zbd, ZoneOpening, ZoneTask};
use crate::model::zone::ZoneOp;

/// As good as the best.
const NEARLY: f64 = 0.95;
/// Fewer operations of a kind give no mean.
const FEWEST: u64 = 3;

/// A phase that wrote zones side by side: its rate in bytes per second, with its interval.
struct Step<'a> {
    index: usize,
    facts: &'a PhaseFacts,
    zbd: Zbd,
    rate: resample::Ranged,
}

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let steps = steps(input);
    let mut list: Vec<Estimate> = operations(input);
    list.extend(open_zones(&steps));
    list.extend(explicit(input, &steps));
    list
}

fn steps<'a>(input: &Input<'a>) -> Vec<Step<'a>> {
    let steps = input.phases().filter_map(|(index, facts, workload)| {
        let zbd = workload.zbd.filter(|zbd| zbd.task == ZoneTask::Write && !zbd.finish && zbd.fill_percent == 100)?;
        let each = f64_of(facts.writes.bytes.0) / f64_of(facts.writes.ios.max(1));
        let rate = resample::rate(facts.write_points(), input.plan.randseed)?;
        (workload.rw == Rw::Write).then(|| Step { index, facts, zbd, rate: resample::scaled(rate, each) })
    });
    steps.collect()
}

fn open_zones(steps: &[Step<'_>]) -> Vec<Estimate> {
    let mut implicit: Vec<&Step<'_>> = steps.iter().filter(|step| step.zbd.opening == ZoneOpening::Implicit).collect();
    implicit.sort_unstable_by_key(|step| step.zbd.max_open_zones);
    let best = implicit.iter().map(|step| step.rate.0).fold(0.0, f64::max);
    let Some(chosen) = implicit.iter().find(|step| step.rate.0 >= NEARLY * best).filter(|_| implicit.len() >= 2) else {
        return Vec::new();
    };
    // As few as may be the best by their upper end, as many as surely are by their lower.
    let low = implicit.iter().find(|step| step.rate.2 >= NEARLY * best).map_or(chosen.zbd, |step| step.zbd);
    let high = implicit.iter().find(|step| step.rate.1 >= NEARLY * best).map_or(chosen.zbd, |step| step.zbd);
    let count = |zbd: Zbd| f64::from(zbd.max_open_zones);
    let tried: Vec<String> = implicit
        .iter()
        .map(|step| format!("{}: {} MB/s", step.zbd.max_open_zones, told_rate(step.rate.0 / 1e6)))
        .collect();
    let how = format!("The fewest side by side within 5 % of the best. Tried: {}.", tried.join(", "));
    let phases: Vec<String> = implicit.iter().map(|step| step.facts.phase.name.clone()).collect();
    let numbers = (count(chosen.zbd), count(low).min(count(chosen.zbd)), count(high).max(count(chosen.zbd)));
    let rate_how = "Bytes over time with so many; bootstrap over blocks of time.";
    let rate = Estimate::new(Quantity::OpenZonesBytesPerS, chosen.rate, rate_how);
    [
        Estimate::new(Quantity::OpenZones, numbers, how).map(|figure| figure.from_phases(phases)),
        rate.map(|figure| figure.from_phases([chosen.facts.phase.name.clone()])),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn explicit(input: &Input<'_>, steps: &[Step<'_>]) -> Vec<Estimate> {
    let single = |opening| steps.iter().find(|step| step.zbd.opening == opening && step.zbd.max_open_zones == 1);
    let (Some(implicit), Some(explicit)) = (single(ZoneOpening::Implicit), single(ZoneOpening::Explicit)) else {
        return Vec::new();
    };
    let opened =
        input.total(explicit.index).and_then(|total| total.zone_ops.get(&ZoneOp::Open)).map_or(0, |tally| tally.ios);
    let phases = [implicit.facts.phase.name.clone(), explicit.facts.phase.name.clone()];
    let longer = |of: (f64, f64)| of.0 / of.1;
    let (fast, slow) = (implicit.rate, explicit.rate);
    let ratio = (longer((fast.0, slow.0)), longer((fast.1, slow.2)), longer((fast.2, slow.1)));
    let mut list = vec![Estimate::new(
        Quantity::ExplicitRatio,
        ratio,
        "Rates of one zone after the other, implicit over explicit.",
    )];
    if opened > 0 {
        let zone = f64_of(explicit.facts.writes.bytes.0) / f64_of(opened);
        let more = |slow: f64, fast: f64| zone * (1.0 / slow - 1.0 / fast);
        let seconds = (more(slow.0, fast.0), more(slow.2, fast.1), more(slow.1, fast.2));
        let how = "Time of one zone with OPEN and CLOSE less the time of one without, from both rates.";
        list.push(Estimate::new(Quantity::ExplicitZoneS, seconds, how));
    }
    list.into_iter().flatten().map(|figure| figure.from_phases(phases.clone())).collect()
}

/// What each kind of operation takes. In most phases it waits for writes that are under way, so the quickest phase counts.
fn operations(input: &Input<'_>) -> Vec<Estimate> {
    let kinds = [
        (ZoneOp::Report, Quantity::ZoneReportMs),
        (ZoneOp::Open, Quantity::ZoneOpenMs),
        (ZoneOp::Close, Quantity::ZoneCloseMs),
        (ZoneOp::Finish, Quantity::ZoneFinishMs),
        (ZoneOp::Reset, Quantity::ZoneResetMs),
    ];
    let figures = kinds.into_iter().filter_map(|(op, name)| {
        let each = input.totals.iter().filter_map(|total| {
            let tally = total.zone_ops.get(&op).filter(|tally| tally.ios >= FEWEST)?;
            Some((total.phase, tally, f64_of(tally.lat.mean()?.0) / 1e6))
        });
        let (phase, tally, mean) = each.min_by(|a, b| a.2.total_cmp(&b.2))?;
        let phase = usize::try_from(phase).ok().and_then(|index| input.plan.phases.get(index))?;
        let error = resample::Z95 * tally.lat.stdev_ns()? / 1e6 / f64_of(tally.ios).sqrt();
        let how = format!(
            "Mean of {} operations and its standard error, in the phase where they waited least for writes.",
            tally.ios
        );
        let numbers = (mean, (mean - error).max(0.0), mean + error);
        Some(Estimate::new(name, numbers, how)?.from_phases([phase.name.clone()]))
    });
    figures.collect()
}
