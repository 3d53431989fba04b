//! What a rest brought: how many writes were fast again, and when it began to clean.
//!
//! What is written faster than the geometric mean of the rates before and after the collapse found room that the rest had made,
//! but for what the volatile memory takes at any time.

use super::super::rho::{Point, mean_rate};
use super::super::words::grouped;
use super::{Input, collapse};
use crate::model::approx::{f64_of, u64_of};
use crate::model::estimate::{Estimate, Quantity};
use crate::model::plan::PhaseRole;

/// Less room than this share of the memory may be the memory's.
const LEAST_OF_MEMORY: f64 = 0.1;

/// The largest volatile memory of the disks that were read: 512 MiB (Ultrastar HC580's data sheet).
const MOST_MEMORY_BYTES: u64 = 512 << 20;

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    of_rest(input).unwrap_or_default()
}

fn of_rest(input: &Input<'_>) -> Option<Vec<Estimate>> {
    let found = input.measured.found()?;
    let idle = input.measured.of_role(PhaseRole::Idle)?;
    let recovery = input.measured.recovery()?;
    let points = recovery.write_points();
    let rest_s = idle.seconds;
    let fast_from = (found.cliff.before_per_s * found.cliff.after_per_s).sqrt();
    let fast = points.iter().take_while(|point| mean_rate(&[**point]) > fast_from).count();
    let ios = f64_of(points[..fast].iter().map(|point| point.ios).sum());
    let seconds: f64 = points[..fast].iter().map(|point| point.seconds).sum();
    // The volatile memory takes as much after any rest.
    let facts = input.measured.phases.get(found.phase)?;
    let memory = if input.measured.writes().all(|(index, _)| index >= found.phase) {
        collapse::memory_ios(facts.write_points())
    } else {
        // Earlier writes had filled it when the phase began, so how much it takes did not show.
        f64_of(MOST_MEMORY_BYTES) / f64_of(facts.workload()?.bs.0.max(1))
    };
    let room = ios - memory - seconds * found.cliff.after_per_s;
    let recovered = if room > LEAST_OF_MEMORY * memory { room } else { 0.0 };
    // It may have gone on for longer than the phase; and the interval in which it ended holds both speeds.
    let ended = fast < points.len();
    let most = points.get(fast).map(|point: &Point| recovered + f64_of(point.ios));
    let how = format!(
        "Writes after {rest_s:.0} s of rest that were faster than {} a second, less {} that the drive's memory takes at any \
         time.{}",
        grouped(u64_of(fast_from)),
        grouped(u64_of(memory)),
        if ended { "" } else { " They were still fast when the phase ended." }
    );
    let phases = [idle.phase.name.clone(), recovery.phase.name.clone()];
    let writes = Estimate::bounded(Quantity::RecoveredIos, recovered, Some(recovered), most, how);
    // It rests only once its memory is empty, and that empties as slowly as it writes.
    let rested_s = rest_s - memory / found.cliff.after_per_s.max(f64::MIN_POSITIVE);
    let trigger = if recovered > 0.0 {
        let how = format!("It had cleaned something when {rest_s:.0} s were over, so it began before.");
        Estimate::bounded(Quantity::IdleTriggerS, rest_s, Some(0.0), Some(rest_s), how)
    } else if rested_s > 0.0 {
        let how = format!(
            "Nothing was cleaned in {rest_s:.0} s, of which it rested {rested_s:.0} once its memory was empty: it begins later, if at \
             all."
        );
        Estimate::bounded(Quantity::IdleTriggerS, rested_s, Some(rested_s), None, how)
    } else {
        None
    };
    // While the trigger is not known the rest is an upper limit of the time it cleaned.
    let pace = (recovered > 0.0 && rest_s > 0.0)
        .then(|| {
            let how = format!("Those writes over {rest_s:.0} s of rest; more, if it began late.");
            Estimate::bounded(Quantity::IdleCleanIops, recovered / rest_s, Some(recovered / rest_s), None, how)
        })
        .flatten();
    Some([writes, trigger, pace].into_iter().flatten().map(|figure| figure.from_phases(phases.clone())).collect())
}
