//! What a deep queue gains: I/Os per second of the deepest against one at a time.
//!
//! A disk that chooses among q waiting commands takes `T(q) = t0 + (T1 − t0)·q^−α` (science §4: α 0.41 and 0.43 of two disks that were
//! read). A curve that stays flat from 1 to 8 and more at once is no disk's: something above it lets only one through.

use std::collections::BTreeMap;

use super::super::measured::PhaseFacts;
use super::super::rho::Point;
use super::super::words::block;
use super::{Input, resample};
use crate::model::estimate::{Estimate, Quantity};
use crate::model::plan::PhaseRole;
use crate::model::profile::Profile;
use crate::model::workload::Workload;

/// No gain to speak of.
const FLAT: f64 = 1.15;
/// A queue so deep must gain on any disk.
const DEEP: u32 = 8;

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    // Each load by itself, its depths in order.
    let mut loads: BTreeMap<String, BTreeMap<u32, Vec<Point>>> = BTreeMap::new();
    let mut names: BTreeMap<String, (Vec<String>, &Workload)> = BTreeMap::new();
    for (_, facts, workload) in input.phases().filter(|(_, facts, workload)| belongs(input, facts, workload)) {
        let load = format!("{} of {}, {}", workload.rw.as_str(), block(workload.bs), workload.random_distribution);
        loads.entry(load.clone()).or_default().insert(workload.iodepth, points(facts));
        names.entry(load).or_insert_with(|| (Vec::new(), workload)).0.push(facts.phase.name.clone());
    }
    let mut list = Vec::new();
    for (load, depths) in loads {
        let (Some((1, one)), Some((deepest, deep))) = (depths.first_key_value(), depths.last_key_value()) else {
            continue;
        };
        let Some(gain) = resample::ratio(deep, one, input.plan.randseed).filter(|_| *deepest > 1) else { continue };
        let flat = gain.2 < FLAT && *deepest >= DEEP;
        let how = format!(
            "I/Os per second with {deepest} in flight against one; bootstrap over blocks of time.{}",
            if flat { " Flat: something above the medium lets only one through." } else { "" }
        );
        let Some((phases, workload)) = names.remove(&load) else { continue };
        let figure = Estimate::new(Quantity::QueueGainRatio, gain, how);
        list.extend(figure.map(|figure| {
            figure.of(format!("{load}, {deepest} in flight")).at(workload.bs, *deepest).from_phases(phases)
        }));
    }
    list
}

/// Whether a phase is a step of a curve over depths.
fn belongs(input: &Input<'_>, facts: &PhaseFacts, workload: &Workload) -> bool {
    let step = input.plan.profile == Profile::QueueDepthSweep && facts.phase.role == PhaseRole::Sweep;
    step || (matches!(facts.phase.role, PhaseRole::Floor | PhaseRole::FloorDeep) && workload.rw.is_random())
}

/// Reads and writes together.
fn points(facts: &PhaseFacts) -> Vec<Point> {
    let both = facts.read_points().iter().zip(facts.write_points());
    both.map(|(read, write)| Point { ios: read.ios + write.ios, seconds: read.seconds }).collect()
}
