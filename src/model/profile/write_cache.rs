//! `write-cache`: what does the drive's volatile cache do?

use super::definition::Definition;
use super::making::{Making, SMALL, phase};
use super::words::{BS, IODEPTH, PHASE_S};
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::tunable::{Tunable, WRITE_BACK, WRITE_THROUGH};
use crate::model::workload::Rw;

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "write-cache",
    question: "How much of its writing is only in its cache when it says that it is done?",
    description: "The same writes without a flush, with one flush at the end that is counted, and with a flush after each \
                  write, with the cache as the drive has it; then with the cache on and off, where the drive lets it be \
                  switched. It is put back afterwards. Overwrites the region.",
    writes: Some(true),
    parameters: &[KIND, BS, IODEPTH, PHASE_S],
    phases,
};

const KIND: Parameter = Parameter {
    name: "rw",
    alias: None,
    kind: Kind::Choice { words: &["write", "randwrite"] },
    default: "randwrite",
    help: "Kind of I/O.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let rw = making.rw(&KIND, Rw::RandWrite);
    let bs = making.block_size(&BS, SMALL);
    let depth = making.depth(1);
    making.check_buffers(&BS, bs, depth);
    let seconds = making.number(&PHASE_S, 60);
    // A phase with a setting that the drive does not have is left out of the plan, with the reason.
    let steps = [
        ("no-flush", "Writes without a flush: acknowledged as soon as the drive likes", 0, false, None),
        ("flush-at-end", "The same, and one flush at the end, whose time counts", 0, true, None),
        ("flush-each", "A flush after each write: what a database asks for", 1, false, None),
        ("on-no-flush", "Without a flush, the drive's cache switched on", 0, false, Some(WRITE_BACK)),
        ("on-flush-each", "A flush after each write, the cache on", 1, false, Some(WRITE_BACK)),
        (
            "off-no-flush",
            "Without a flush, the drive's cache switched off: each write is on the medium",
            0,
            false,
            Some(WRITE_THROUGH),
        ),
        ("off-flush-each", "The same with flushes, which then have nothing to do", 1, false, Some(WRITE_THROUGH)),
    ];
    steps
        .into_iter()
        .zip(1..)
        .map(|((name, purpose, fsync, end_fsync, cache), nth)| {
            let mut workload = making.whole(rw, bs, depth, making.seed(nth));
            workload.runtime_s = Some(seconds);
            workload.fsync = fsync;
            workload.end_fsync = end_fsync;
            let tunables = cache.map(|value| (Tunable::CacheType, value.to_owned())).into_iter().collect();
            Phase { tunables, ..phase(name, purpose, PhaseRole::Bench, Action::Io(workload)) }
        })
        .collect()
}
