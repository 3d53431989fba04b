//! The parameters that several profiles share, in fio's words.

use crate::model::parameters::{Kind, Parameter};
use crate::model::units::{GIB, MIB};
use crate::model::workload::Rw;

/// Largest block of one I/O. It must fit a `u32` and a buffer in memory.
const MAX_BS: u64 = GIB;

pub const RW: Parameter = Parameter {
    name: "rw",
    alias: None,
    kind: Kind::Choice { words: Rw::WORDS },
    default: "required",
    help: "Kind of I/O.",
};
pub const BS: Parameter = Parameter {
    name: "bs",
    alias: None,
    kind: Kind::Bytes { min: 1, max: MAX_BS },
    default: "4k",
    help: "Bytes per I/O; a multiple of the logical block.",
};
pub const IODEPTH: Parameter = Parameter {
    name: "iodepth",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1024 },
    default: "1",
    help: "I/Os in flight.",
};
pub const RUNTIME_S: Parameter = Parameter {
    name: "runtime_s",
    alias: Some("runtime"),
    kind: Kind::Integer { min: 1, max: 30 * 86_400 },
    default: "until the region has been covered once",
    help: "Stop after so many seconds.",
};
pub const NUMBER_IOS: Parameter = Parameter {
    name: "number_ios",
    alias: None,
    kind: Kind::Integer { min: 1, max: u64::MAX },
    default: "no limit",
    help: "Stop after so many I/Os.",
};
pub const IO_SIZE_BYTES: Parameter = Parameter {
    name: "io_size_bytes",
    alias: Some("io_size"),
    kind: Kind::Bytes { min: 1, max: u64::MAX },
    default: "the size of the region",
    help: "Stop after so many bytes.",
};
pub const RWMIXREAD: Parameter = Parameter {
    name: "rwmixread",
    alias: None,
    kind: Kind::Integer { min: 0, max: 100 },
    default: "50",
    help: "Percent of reads in rw and randrw.",
};
pub const OFFSET_BYTES: Parameter = Parameter {
    name: "offset_bytes",
    alias: Some("offset"),
    kind: Kind::Bytes { min: 0, max: u64::MAX },
    default: "0",
    help: "First byte of the region; a multiple of the logical block.",
};
pub const SIZE_BYTES: Parameter = Parameter {
    name: "size_bytes",
    alias: Some("size"),
    kind: Kind::Bytes { min: 1, max: u64::MAX },
    default: "to the end of the target",
    help: "Length of the region; nothing outside it is touched.",
};
pub const RANDSEED: Parameter = Parameter {
    name: "randseed",
    alias: None,
    kind: Kind::Integer { min: 0, max: u64::MAX },
    default: "1",
    help: "Seed of offsets and data: the same seed asks the same I/Os.",
};
pub const INTERVAL_MS: Parameter = Parameter {
    name: "interval_ms",
    alias: None,
    kind: Kind::Integer { min: 50, max: 3_600_000 },
    default: "1000",
    help: "Length of one recorded interval.",
};
pub const FLOOR_S: Parameter = Parameter {
    name: "floor_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 3_600 },
    default: "30",
    help: "Seconds of random reads that measure how fast the head can move, at each queue depth.",
};
pub const PLACES: Parameter = Parameter {
    name: "places",
    alias: None,
    kind: Kind::Integer { min: 1, max: 200 },
    default: "17",
    help: "Places at which sequential reads are timed, from the outer edge to the inner.",
};
/// 600 000 exceeds every map limit read so far: 191 172, about 256 000, 368 795 (science §2.1, §4).
pub const WRITES: Parameter = Parameter {
    name: "writes",
    alias: None,
    kind: Kind::Integer { min: 1_000, max: 1_000_000_000 },
    default: "600000",
    help: "Random 4 KiB writes: more than any known map of a drive-managed disk holds.",
};
/// 64 GiB exceeds every cache size read so far: 25 to 48.3 GiB (science §4).
pub const LARGE_BYTES: Parameter = Parameter {
    name: "large_bytes",
    alias: None,
    kind: Kind::Bytes { min: MIB, max: 1 << 50 },
    default: "64g, at most twice the region",
    help: "Bytes of random 1 MiB writes: more than any known cache of a drive-managed disk holds.",
};
pub const IDLE_S: Parameter = Parameter {
    name: "idle_s",
    alias: None,
    kind: Kind::Integer { min: 0, max: 86_400 },
    default: "120",
    help: "Seconds left alone after a cliff, to see whether the drive recovers.",
};
pub const PHASE_LIMIT_S: Parameter = Parameter {
    name: "phase_limit_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 30 * 86_400 },
    default: "7200",
    help: "Longest time any one write phase may take.",
};

/// How long one step of a sweep lasts.
pub const PHASE_S: Parameter = Parameter {
    name: "phase_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 86_400 },
    default: "60",
    help: "Seconds of each step.",
};
/// Kind of I/O of a random sweep.
pub const RANDOM_RW: Parameter = Parameter {
    name: "rw",
    alias: None,
    kind: Kind::Choice { words: &["randread", "randwrite", "randrw"] },
    default: "randread",
    help: "Kind of I/O; randwrite and randrw overwrite the region.",
};
