//! `queue-depth-sweep`: how many I/Os at once?

use super::block_size_sweep::once_each;
use super::definition::Definition;
use super::making::{Making, SMALL, phase};
use super::words::{BS, PHASE_S, RANDOM_RW};
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::Bytes;
use crate::model::workload::{Distribution, Rw};

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "queue-depth-sweep",
    question: "How many I/Os at once does this drive make use of?",
    description: "Random 4 KiB I/Os, 1 to 64 in flight, spread evenly and in the skewed way of real loads (zipf, \
                  pareto). A curve that stays flat shows that something above the medium lets only one through. \
                  Writes only if rw says so.",
    writes: None,
    parameters: &[RANDOM_RW, BS, DEPTHS, DISTRIBUTIONS, PHASE_S],
    phases,
};

const DEPTHS: Parameter = Parameter {
    name: "depths",
    alias: None,
    kind: Kind::Text { max: 1_024 },
    default: "1,2,4,8,16,32,64",
    help: "I/Os in flight with commas, 1 to 1024 each.",
};
const DISTRIBUTIONS: Parameter = Parameter {
    name: "distributions",
    alias: None,
    kind: Kind::Text { max: 1_024 },
    default: "random,zipf:1.1,pareto:0.2",
    help: "How the offsets are spread, with commas: random, zipf:1.1, pareto:0.2, normal:10.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let rw = making.rw(&RANDOM_RW, Rw::RandRead);
    let bs = making.block_size(&BS, SMALL);
    let depths = making.list(&DEPTHS, DEPTHS.default, count);
    let distributions = making.list(&DISTRIBUTIONS, DISTRIBUTIONS.default, str::parse::<Distribution>);
    if let Some(deepest) = depths.iter().max() {
        making.check_buffers(&DEPTHS, bs, *deepest);
    }
    let seconds = making.number(&PHASE_S, 60);
    let mut phases = Vec::new();
    for distribution in distributions {
        let skew = distribution.in_words(making.region.size / bs.max(1));
        for depth in &depths {
            let mut workload = making.whole(rw, bs, *depth, making.randseed);
            workload.random_distribution = distribution.clone();
            workload.runtime_s = Some(seconds);
            let how = skew.as_ref().map_or_else(String::new, |skew| format!(": {skew}"));
            phases.push(phase(
                format!("{distribution}-qd{depth}"),
                format!("Blocks of {} at random, {depth} at a time{how}", Bytes(bs)),
                PhaseRole::Sweep,
                Action::Io(workload),
            ));
        }
    }
    once_each(making, &DEPTHS, phases)
}

/// A count of things in flight.
///
/// # Errors
/// The range.
pub fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count) if (1..=1_024).contains(&count) => Ok(count),
        _ => Err(format!("has {text:?}, must be whole numbers of 1 to 1024")),
    }
}
