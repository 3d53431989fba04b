//! `span-sweep`: how much does a short stroke help?

use super::block_size_sweep::once_each;
use super::definition::Definition;
use super::making::{Making, SMALL, phase, short};
use super::words::{BS, IODEPTH, PHASE_S, RANDOM_RW};
use crate::model::parameters::{Kind, Parameter, bytes_of_text};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::Bytes;
use crate::model::workload::Rw;

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "span-sweep",
    question: "How much faster is it when only a part of it is used?",
    description: "Random 4 KiB I/Os, one at a time, over 256 MiB, 1 GiB, 10 GiB and the whole region. Writes only if rw \
                  says so.",
    writes: None,
    parameters: &[RANDOM_RW, BS, SPANS, IODEPTH, PHASE_S],
    phases,
};

const SPANS: Parameter = Parameter {
    name: "spans",
    alias: None,
    kind: Kind::Text { max: 1_024 },
    default: "256m,1g,10g,whole",
    help: "Lengths from the start of the region, with commas; whole is all of it.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let rw = making.rw(&RANDOM_RW, Rw::RandRead);
    let bs = making.block_size(&BS, SMALL);
    let depth = making.depth(1);
    making.check_buffers(&BS, bs, depth);
    let region = making.region;
    let seconds = making.number(&PHASE_S, 60);
    let spans = making.list(&SPANS, SPANS.default, |text| match text {
        "whole" => Ok(None),
        text => match bytes_of_text(text)? {
            bytes if bytes < bs || !bytes.is_multiple_of(region.block) => {
                Err(format!("has {bytes}, must be at least one block of {bs} bytes and multiples of {}", region.block))
            }
            bytes => Ok(Some(bytes)),
        },
    });
    let count = spans.len();
    // What is as large as the region is the whole of it.
    let fitting: Vec<_> = spans.into_iter().filter(|span| span.is_none_or(|bytes| bytes < region.size)).collect();
    if fitting.len() < count {
        making.notes.push(format!("{} of the spans are left out: no smaller than the region.", count - fitting.len()));
    }
    if fitting.is_empty() && !making.reader.has_errors() {
        let problem = format!("has no span smaller than the region of {} bytes", region.size);
        making.reader.refuse(SPANS.name, problem);
    }
    let mut phases = Vec::new();
    for (span, nth) in fitting.into_iter().zip(1..) {
        let mut workload = making.whole(rw, bs, depth, making.seed(nth));
        workload.size_bytes = Bytes(span.unwrap_or(region.size));
        workload.runtime_s = Some(seconds);
        let name = span.map_or_else(|| "whole".to_owned(), short);
        let over = span.map_or_else(|| "the whole region".to_owned(), |bytes| format!("the first {}", Bytes(bytes)));
        phases.push(phase(
            format!("span-{name}"),
            format!("Random blocks of {} over {over}", Bytes(bs)),
            PhaseRole::Sweep,
            Action::Io(workload),
        ));
    }
    once_each(making, &SPANS, phases)
}
