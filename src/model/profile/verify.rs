//! `verify`: does it keep what it was given?

use super::definition::Definition;
use super::making::{Making, phase};
use super::words::{BS, IODEPTH};
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::{Bytes, MIB};
use crate::model::workload::{Rw, Verify, VerifyStep};

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "verify",
    question: "Does it hold as much as it says, and give back what was written?",
    description: "Writes the whole region with data that names its place and pass, then reads all of it and checks. Finds false \
                  capacity (a drive that begins again at its start), lost writes and damage, and says where. Overwrites the \
                  region.",
    writes: Some(true),
    parameters: &[PASSES, Parameter { default: "1m", ..BS }, Parameter { default: "8", ..IODEPTH }],
    phases,
};

const PASSES: Parameter = Parameter {
    name: "passes",
    alias: None,
    kind: Kind::Integer { min: 1, max: 10 },
    default: "1",
    help: "How often; from the second pass on, a write that was lost shows what was there before.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let bs = making.block_size(&BS, MIB);
    let depth = making.depth(8);
    making.check_buffers(&BS, bs, depth);
    let passes = u32::try_from(making.number(&PASSES, 1)).unwrap_or(1);
    if making.region.size < making.region.capacity / 10 * 9 {
        making.notes.push("Only a part of the drive is written: a false capacity shows when all of it is.".to_owned());
    }
    let mut phases = Vec::new();
    for generation in 1..=passes {
        let step = |step, rw| {
            let mut workload = making.whole(rw, bs, depth, making.randseed);
            workload.io_size_bytes = Some(Bytes(making.region.size));
            workload.verify = Some(Verify { step, generation });
            workload.end_fsync = step == VerifyStep::Write;
            Action::Io(workload)
        };
        phases.push(phase(
            format!("write-{generation}"),
            "All of it is written with data that names its place and pass",
            PhaseRole::Prepare,
            step(VerifyStep::Write, Rw::Write),
        ));
        phases.push(phase(
            format!("check-{generation}"),
            "All of it is read back: is each block what was written there?",
            PhaseRole::Verify,
            step(VerifyStep::Check, Rw::Read),
        ));
    }
    phases
}
