//! `stream-sweep`: how much parallel writing does it take?

use super::block_size_sweep::once_each;
use super::definition::Definition;
use super::making::{Making, phase};
use super::queue_depth_sweep::count;
use super::words::{BS, PHASE_S};
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::{Bytes, MIB};
use crate::model::workload::{Rw, Workload};

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "stream-sweep",
    question: "How many writers in order can it serve at once?",
    description: "1 to 64 sequential writers side by side, each in its own part of the region: aligned, one logical block \
                  off, mixed with reads, and each block trimmed before it is written. A shingled disk that keeps few \
                  zones open slows down at some number. Overwrites the region.",
    writes: Some(true),
    parameters: &[STREAMS, MIXES, Parameter { default: "1m", ..BS }, PHASE_S],
    phases,
};

const STREAMS: Parameter = Parameter {
    name: "streams",
    alias: None,
    kind: Kind::Text { max: 1_024 },
    default: "1,2,4,8,16,32,64",
    help: "Numbers of writers, with commas, 1 to 1024 each.",
};
const MIXES: Parameter = Parameter {
    name: "mixes",
    alias: None,
    kind: Kind::Text { max: 256 },
    default: "aligned,unaligned,reads,trims",
    help: "What they do, with commas: aligned, unaligned (one logical block off), reads (half of the I/Os are reads), \
           trims (each block is given up before it is written).",
};

#[derive(Clone, Copy)]
enum Mix {
    Aligned,
    Unaligned,
    Reads,
    Trims,
}

fn mix(text: &str) -> Result<Mix, String> {
    match text {
        "aligned" => Ok(Mix::Aligned),
        "unaligned" => Ok(Mix::Unaligned),
        "reads" => Ok(Mix::Reads),
        "trims" => Ok(Mix::Trims),
        _ => Err(format!("has {text:?}, must be of aligned, unaligned, reads, trims")),
    }
}

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let bs = making.block_size(&BS, MIB);
    let default: Vec<String> = STREAMS
        .default
        .split(',')
        .filter(|streams| streams.parse().is_ok_and(|streams: u64| streams * bs * 2 <= making.region.size))
        .map(str::to_owned)
        .collect();
    let streams = making.list(&STREAMS, &default.join(","), count);
    let mixes = making.list(&MIXES, MIXES.default, mix);
    let region = making.region;
    let seconds = making.number(&PHASE_S, 60);
    if let Some(most) = streams.iter().copied().max() {
        making.check_buffers(&STREAMS, bs, most);
        if u64::from(most).saturating_mul(bs).saturating_mul(2) > region.size {
            let problem = format!("has {most}: each would have less than two blocks of {bs} bytes of the region");
            making.reader.refuse(STREAMS.name, problem);
        }
    }
    let mut phases = Vec::new();
    for mix in mixes {
        for (count, nth) in streams.iter().copied().zip(1..) {
            let mut workload = making.whole(Rw::Write, bs, 1, making.seed(nth));
            workload.numjobs = count;
            workload.runtime_s = Some(seconds);
            let (name, what) = mixed(mix, &mut workload, region.block);
            phases.push(phase(
                format!("{name}-{count}"),
                format!("{count} writers in order at once, {what}"),
                PhaseRole::Sweep,
                Action::Io(workload),
            ));
        }
    }
    once_each(making, &STREAMS, phases)
}

fn mixed(mix: Mix, workload: &mut Workload, block: u64) -> (&'static str, &'static str) {
    match mix {
        Mix::Aligned => ("aligned", "at multiples of the block size"),
        Mix::Unaligned => {
            workload.offset_bytes += Bytes(block);
            workload.size_bytes = workload.size_bytes - Bytes(block);
            ("unaligned", "one logical block off")
        }
        Mix::Reads => {
            workload.rw = Rw::Rw;
            ("reads", "half of the I/Os are reads")
        }
        Mix::Trims => {
            workload.rw = Rw::TrimWrite;
            ("trims", "each block is given up before it is written")
        }
    }
}
