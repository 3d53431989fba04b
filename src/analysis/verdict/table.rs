//! What a run measured, as evidence: each with its value, and what it would be either way.

use super::super::evidence::{Told, told};
use super::super::measured::{FloorKind, HEAD_MOVES_NS, Measured, PhaseFacts, falling_share};
use super::super::rho::{CONVENTIONAL_AT_LEAST, SHINGLED_AT_MOST};
use super::super::words::{block, grouped, percent, rate, ratio};
use super::{AT_HOME, ELSEWHERE};
use crate::model::approx::f64_of;
use crate::model::plan::{PhaseRole, Plan};
use crate::model::recording::{Basis, Evidence, Points};

/// The evidence table of a run.
pub fn evidence(plan: &Plan, measured: &Measured) -> Vec<Evidence> {
    let mut list: Vec<Evidence> = measured.phases.iter().filter_map(floor).collect();
    for (index, facts) in measured.writes() {
        list.push(written(plan, facts));
        list.push(cliff(measured, index, facts));
        list.extend(rho(measured, index, facts));
        list.push(slowest(facts));
    }
    list.extend(reread(measured));
    if measured.is_still() == Some(true) {
        // Without a head, neither rate nor place tells anything of shingling.
        for evidence in list.iter_mut().filter(|evidence| evidence.points != Points::Flash) {
            evidence.points = Points::Neither;
            evidence.weight = 0.0;
        }
    }
    list.extend(recovery(measured));
    list.extend(zone_profile(plan, measured));
    list.extend(errors(measured));
    list
}

fn seen(name: &str, value: String, phase: &str) -> Evidence {
    told(Basis::Measured, name, value, format!("phase {phase}"))
}

fn floor(facts: &PhaseFacts) -> Option<Evidence> {
    let role = matches!(facts.phase.role, PhaseRole::Floor | PhaseRole::FloorDeep);
    let workload = facts.workload().filter(|_| role && facts.reads.ios > 0)?;
    let p50 = facts.read_p50()?;
    let still = workload.iodepth == 1 && p50.0 < HEAD_MOVES_NS;
    let value = format!(
        "{} random reads of {} per second, {} at a time, median {p50}",
        rate(facts.reads_per_s()),
        block(workload.bs),
        workload.iodepth
    );
    Some(
        seen("floor", value, &facts.phase.name)
            .number(facts.reads_per_s(), "IOPS")
            .points(if still { Points::Flash } else { Points::Neither }, if still { 0.8 } else { 0.0 })
            .expecting("a head moves: some milliseconds", "a head moves: some milliseconds"),
    )
}

fn written(plan: &Plan, facts: &PhaseFacts) -> Evidence {
    let bs = block(facts.workload().map(|workload| workload.bs).unwrap_or_default());
    let value = format!(
        "{} random writes of {bs}, {}, over a region of {}{}",
        grouped(facts.writes.ios),
        facts.writes.bytes,
        plan.size_bytes,
        if facts.share_done() < 0.99 {
            format!("; {} of the phase", percent(facts.share_done()))
        } else {
            String::new()
        }
    );
    seen("written", value, &facts.phase.name).number(f64_of(facts.writes.bytes.0), "bytes")
}

fn cliff(measured: &Measured, index: usize, facts: &PhaseFacts) -> Evidence {
    let found = measured.found().filter(|found| found.phase == index).map(|found| found.cliff);
    let fall = found.or_else(|| measured.unjudged_fall(index));
    let evidence = match fall {
        Some(cliff) => seen(
            "cliff",
            format!(
                "after {} writes ({}) from {} to {} per second",
                grouped(cliff.at_ios),
                cliff.at_bytes,
                rate(cliff.before_per_s),
                rate(cliff.after_per_s)
            ),
            &facts.phase.name,
        )
        .number(f64_of(cliff.at_ios), "writes")
        .points(Points::Shingled, if found.is_some() { 0.9 } else { 0.3 }),
        None => seen("cliff", format!("none in {} writes", grouped(facts.writes.ios)), &facts.phase.name)
            .points(Points::Conventional, 0.4 * facts.share_done()),
    };
    evidence.expecting(
        "none; at most a first burst until its cache is full",
        "after 180,000 to 369,000 small writes, or 25 to 48 GiB of large ones",
    )
}

fn rho(measured: &Measured, index: usize, facts: &PhaseFacts) -> Option<Evidence> {
    let rho = measured.rho_of(index)?;
    let (_, _, kind) = measured.floor_of(index)?;
    let (against, certainty) = match kind {
        FloorKind::Same => ("random reads of the same size and depth", 1.0),
        FloorKind::Carried => ("random reads, carried over to this size and depth", 0.8),
        FloorKind::Assumed => ("a slow disk's random reads, assumed", 0.4),
    };
    let (points, weight) = if rho.high <= SHINGLED_AT_MOST {
        (Points::Shingled, 0.9)
    } else if rho.low >= CONVENTIONAL_AT_LEAST {
        (Points::Conventional, 0.5)
    } else {
        (Points::Neither, 0.0)
    };
    let value = format!(
        "{} (95 %: {} to {}): writes per second, settled, against {against}",
        ratio(rho.value),
        ratio(rho.low),
        ratio(rho.high)
    );
    Some(
        seen("rho", value, &facts.phase.name)
            .number(rho.value, "ratio")
            .points(points, weight * certainty)
            .expecting("0.8 or more; 1 to 7 were seen", "0.3 or less once its cache is full; 0.02 to 0.08 were seen"),
    )
}

fn slowest(facts: &PhaseFacts) -> Evidence {
    seen("latency-max", facts.writes.max.to_string(), &facts.phase.name)
        .number(f64_of(facts.writes.max.0), "ns")
        .expecting("well below a second", "seconds, up to minutes, once its cache is full")
}

fn reread(measured: &Measured) -> Option<Evidence> {
    let reread = measured.reread()?;
    let (points, weight) = if reread.ratio >= AT_HOME {
        (Points::Conventional, 0.6)
    } else if reread.ratio <= ELSEWHERE {
        (Points::Shingled, 0.5)
    } else {
        (Points::Neither, 0.0)
    };
    let value = format!(
        "{} MB/s after {} blocks of {} were scattered, {} before: {}",
        rate(reread.after / 1e6),
        grouped(reread.blocks),
        reread.region,
        rate(reread.before / 1e6),
        percent(reread.ratio)
    );
    Some(
        seen("reread", value, "region-read-after")
            .number(reread.ratio, "ratio")
            .points(points, weight)
            .expecting("nearly full speed: blocks are at home", "a few percent: each block is a trip to the cache"),
    )
}

fn recovery(measured: &Measured) -> Option<Evidence> {
    let facts = measured.recovery()?;
    let found = measured.found()?;
    let per_s = facts.settled_writes_per_s();
    let idle = measured.of_role(PhaseRole::Idle).map_or(0.0, |facts| facts.seconds);
    let value =
        format!("{} writes per second after {idle:.0} s idle, {} before", rate(per_s), rate(found.cliff.after_per_s));
    let recovered = per_s > 3.0 * found.cliff.after_per_s;
    Some(
        seen("recovery", value, &facts.phase.name)
            .number(per_s, "IOPS")
            .points(if recovered { Points::Shingled } else { Points::Neither }, if recovered { 0.3 } else { 0.0 })
            .expecting("as before", "fast again where it cleans when idle (after 1 s to 3 h), else as before"),
    )
}

fn zone_profile(plan: &Plan, measured: &Measured) -> Option<Evidence> {
    let profile = measured.zone_profile(plan);
    let ((_, outer), (_, inner)) = (profile.first().copied()?, profile.last().copied()?);
    let falling = falling_share(&profile)?;
    let value = format!(
        "{} MB/s at the outer edge, {} at the inner, over {} places; {} of pairs fall inward",
        rate(outer / 1e6),
        rate(inner / 1e6),
        profile.len(),
        percent(falling)
    );
    let rotates = falling >= 0.9 && outer / inner > 1.3;
    let meaning = if rotates { "falls as on a rotating disk" } else { "no steady fall" };
    Some(
        seen("zone-profile", format!("{value}: {meaning}"), "read-at-*")
            .number(outer / inner, "ratio")
            .expecting("falls steadily by 1.7 to 2", "falls steadily by 1.7 to 2"),
    )
}

fn errors(measured: &Measured) -> Option<Evidence> {
    let (errors, all) = measured.errors();
    (errors > 0).then(|| {
        told(Basis::Measured, "errors", format!("{} of {} I/Os failed", grouped(errors), grouped(all)), "all phases")
            .number(f64_of(errors), "I/Os")
    })
}
