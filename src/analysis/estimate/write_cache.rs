//! What the volatile cache gains, and what a flush after each write costs: phases of `write-cache` against one another, each by
//! its second half, when a cache that can be filled is full.

use super::super::measured::PhaseFacts;
use super::super::rho::Point;
use super::{Input, load, resample};
use crate::model::estimate::{Estimate, Quantity};
use crate::model::plan::Action;
use crate::model::profile::Profile;
use crate::model::tunable::{Tunable, WRITE_BACK, WRITE_THROUGH};

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    if input.plan.profile != Profile::WriteCache {
        return Vec::new();
    }
    let phase = |cache: Option<&str>, fsync: u32| {
        input.measured.phases.iter().find(|facts| {
            let set = facts.phase.tunables.get(&Tunable::CacheType).map(String::as_str);
            let flushes = matches!(&facts.phase.action, Action::Io(io) if io.fsync == fsync && !io.end_fsync);
            set == cache && flushes && facts.writes.ios > 0
        })
    };
    let on = phase(Some(WRITE_BACK), 0);
    let pairs = [
        (
            Quantity::CacheGainRatio,
            on,
            phase(Some(WRITE_THROUGH), 0),
            "Writes per second with the cache on, against off, without flushes.",
        ),
        (
            Quantity::FlushCostRatio,
            on.or_else(|| phase(None, 0)),
            phase(Some(WRITE_BACK), 1).or_else(|| phase(None, 1)),
            "Writes per second without a flush, against a flush after each.",
        ),
    ];
    let figures = pairs.into_iter().filter_map(|(name, fast, slow, how)| {
        let (fast, slow) = (fast?, slow?);
        let ratio = resample::ratio(settled(fast), settled(slow), input.plan.randseed)?;
        let workload = fast.workload()?;
        let figure = Estimate::new(name, ratio, format!("{how} Second halves; bootstrap over blocks of time."))?;
        let phases = [fast.phase.name.clone(), slow.phase.name.clone()];
        Some(figure.of(load(workload, workload.rw.as_str())).at(workload.bs, workload.in_flight()).from_phases(phases))
    });
    figures.collect()
}

fn settled(facts: &PhaseFacts) -> &[Point] {
    let points = facts.write_points();
    &points[points.len() / 2..]
}
