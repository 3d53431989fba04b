//! `block-size-sweep`: how big must an I/O be?

use super::definition::Definition;
use super::making::{Making, phase, short};
use super::words::{IODEPTH, PHASE_S};
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::workload::Rw;

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "block-size-sweep",
    question: "How big must an I/O be to get the most out of this drive?",
    description: "One block size after the other, 4 KiB to 1 GiB, for a minute each. The kernel splits what is larger \
                  than the drive's limit, so a 1 GiB write is many commands in a row. Writes only if rw says so; \
                  writes are then flushed at the end of each step, and the flush is counted.",
    writes: None,
    parameters: &[KIND, SIZES, IODEPTH, PHASE_S],
    phases,
};

const KIND: Parameter = Parameter {
    name: "rw",
    alias: None,
    kind: Kind::Choice { words: &["read", "write", "randread", "randwrite"] },
    default: "read",
    help: "Kind of I/O; write and randwrite overwrite the region.",
};
const SIZES: Parameter = Parameter {
    name: "sizes",
    alias: None,
    kind: Kind::Text { max: 1_024 },
    default: "4k,16k,64k,256k,1m,4m,16m,64m,256m,1g",
    help: "Block sizes with commas, at most 1g each; times iodepth they must fit into 1 GiB.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let rw = making.rw(&KIND, Rw::Read);
    let sizes = making.sizes(&SIZES, SIZES.default);
    let depth = making.depth(1);
    let seconds = making.number(&PHASE_S, 60);
    let mut phases = Vec::new();
    for (bs, nth) in sizes.into_iter().zip(1..) {
        making.check_buffers(&SIZES, bs, depth);
        let mut workload = making.whole(rw, bs, depth, making.seed(nth));
        workload.runtime_s = Some(seconds);
        workload.end_fsync = rw.writes();
        phases.push(phase(
            format!("{}-{}", rw.as_str(), short(bs)),
            format!("How much goes through in blocks of {}?", short(bs)),
            PhaseRole::Sweep,
            Action::Io(workload),
        ));
    }
    once_each(making, &SIZES, phases)
}

/// A list that names a step twice is refused: two phases of one name could not be told apart.
pub fn once_each(making: &mut Making<'_>, parameter: &Parameter, phases: Vec<Phase>) -> Vec<Phase> {
    let mut names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let problem = format!("asks for {} twice", twice[0]);
        making.reader.refuse(parameter.name, problem);
    }
    phases
}
