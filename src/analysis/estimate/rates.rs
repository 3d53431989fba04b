//! Plain rates: random reads, settled random writes, writes in order, a rebuild's writes; and rho.
//!
//! Each is all I/Os over all time, the only mean that a drive of two speeds does not falsify, with a bootstrap over blocks of
//! time.

use super::super::measured::FloorKind;
use super::super::rho::Point;
use super::{Input, load, resample};
use crate::model::approx::f64_of;
use crate::model::estimate::{Estimate, Quantity};
use crate::model::plan::{PhaseRole, Plan};
use crate::model::profile::Profile;
use crate::model::units::MIB;
use crate::model::workload::{Rw, Workload};

/// Fewer writes in order than this share of the region say nothing about all of it, be it the outer edge alone.
const MOST_OF_IT: f64 = 0.9;

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let mut list = Vec::new();
    let seed = input.plan.randseed;
    for (index, facts, workload) in input.phases() {
        let figure = |name, points: &[Point], each: f64, how: &str| {
            let rate = resample::scaled(resample::rate(points, seed)?, each);
            let figure = Estimate::new(name, rate, how)?;
            Some(figure.at(workload.bs, workload.in_flight()).from_phases([facts.phase.name.clone()]))
        };
        let bytes_each = f64_of(facts.writes.bytes.0) / f64_of(facts.writes.ios.max(1));
        let role = facts.phase.role;
        if matches!(role, PhaseRole::Floor | PhaseRole::FloorDeep) && facts.reads.ios > 0 {
            let how = "Reads over time; bootstrap over blocks of time.";
            let floor = figure(Quantity::FloorIops, facts.read_points(), 1.0, how);
            list.extend(floor.map(|figure| figure.of(load(workload, "random reads"))));
        }
        if facts.is_watched() && facts.writes.ios > 0 {
            let of = load(workload, "random writes");
            let how = "Writes over time after the collapse, or of the second half where there was none; bootstrap over blocks \
                       of time.";
            let settled = figure(Quantity::SettledIops, facts.settled_writes(), 1.0, how);
            list.extend(settled.map(|figure| figure.of(of.clone())));
            list.extend(rho(input, index).map(|figure| {
                figure.of(of).at(workload.bs, workload.in_flight()).from_phases([facts.phase.name.clone()])
            }));
        }
        if is_fill(input.plan, workload) && facts.share_done() >= MOST_OF_IT {
            let how = "The whole region written in order: bytes over time; bootstrap over blocks of time.";
            list.extend(figure(Quantity::FillBytesPerS, facts.write_points(), bytes_each, how));
        }
        if input.plan.profile == Profile::Rebuild && role == PhaseRole::Bench && facts.writes.ios > 0 {
            let points = facts.write_points();
            let how = "Bytes over time of the second half, past what a cache took; bootstrap over blocks of time.";
            let rate = figure(Quantity::RebuildBytesPerS, &points[points.len() / 2..], bytes_each, how);
            list.extend(rate.map(|figure| figure.of(load(workload, "runs with gaps"))));
        }
    }
    list
}

/// Whether it writes all of the region in order.
fn is_fill(plan: &Plan, workload: &Workload) -> bool {
    let all = workload.size_bytes == plan.size_bytes && workload.io_size_bytes == Some(plan.size_bytes);
    workload.rw == Rw::Write && all && workload.bs.0 >= MIB && workload.skip_bytes.0 == 0 && workload.zbd.is_none()
}

fn rho(input: &Input<'_>, index: usize) -> Option<Estimate> {
    let rho = input.measured.rho_of(index)?;
    let (_, _, kind) = input.measured.floor_of(index)?;
    let against = match kind {
        FloorKind::Same => "random reads of the same size and depth",
        FloorKind::Carried => "random reads of another size or depth, carried over to this one",
        // Against an assumption it would look more certain than it is.
        FloorKind::Assumed => return None,
    };
    let how = format!("Settled writes against {against}; bootstrap over blocks of time on both sides.");
    Estimate::new(Quantity::RhoRatio, (rho.value, rho.low, rho.high), how)
}
