//! `object-bench`: an object store's load.

use super::definition::Definition;
use super::making::{Making, phase};
use super::words::IODEPTH;
use crate::model::parameters::{Kind, Parameter};
use crate::model::plan::{Action, Phase, PhaseRole};
use crate::model::units::{Bytes, GIB, KIB, MIB};
use crate::model::workload::Rw;

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "object-bench",
    question: "How many objects per second would an object store on it write and read?",
    description: "Objects of 4 MiB, 16 in flight: written one after the other, then read in random order, with a figure for \
                  each second. As the bench of Ceph's own tools does on one drive. Overwrites the part it writes.",
    writes: Some(true),
    parameters: &[OBJECT_BYTES, OBJECTS, Parameter { default: "16", ..IODEPTH }, READ_S],
    phases,
};

const OBJECT_BYTES: Parameter = Parameter {
    name: "bs",
    alias: None,
    kind: Kind::Bytes { min: 4 * KIB, max: 64 * MIB },
    default: "4m",
    help: "Bytes of an object; a multiple of the logical block.",
};
const OBJECTS: Parameter = Parameter {
    name: "objects",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1_000_000_000 },
    default: "2560 (10 GiB), at most what fits the region",
    help: "Objects to write.",
};
const READ_S: Parameter = Parameter {
    name: "read_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 86_400 },
    default: "60",
    help: "Seconds of reading, at most until each object was read once.",
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let bs = making.block_size(&OBJECT_BYTES, 4 * MIB);
    let depth = making.depth(16);
    making.check_buffers(&OBJECT_BYTES, bs, depth);
    let fit = making.region.size / bs.max(1);
    let objects = making.number(&OBJECTS, (10 * GIB / bs.max(1)).clamp(1, fit.max(1)));
    if objects > fit {
        let problem = format!("is {objects}, must be 1 to {fit}: so many fit the region");
        making.reader.refuse(OBJECTS.name, problem);
        return Vec::new();
    }
    let bytes = Bytes(objects.saturating_mul(bs));
    let mut write = making.whole(Rw::Write, bs, depth, making.randseed);
    write.size_bytes = bytes;
    write.io_size_bytes = Some(bytes);
    let mut read = making.whole(Rw::RandRead, bs, depth, making.seed(1));
    read.size_bytes = bytes;
    read.norandommap = false;
    read.io_size_bytes = Some(bytes);
    read.runtime_s = Some(making.number(&READ_S, 60));
    vec![
        phase("write", format!("{objects} objects of {} are written", Bytes(bs)), PhaseRole::Bench, Action::Io(write)),
        phase("random-read", "They are read in random order", PhaseRole::Bench, Action::Io(read)),
    ]
}
