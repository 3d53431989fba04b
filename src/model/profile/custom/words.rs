//! The parameters that only `custom` has.

use crate::model::parameters::{Kind, Parameter};
use crate::model::units::GIB;

pub const RANDOM_DISTRIBUTION: Parameter = Parameter {
    name: "random_distribution",
    alias: None,
    kind: Kind::Text { max: 4_096 },
    default: "random",
    help: "Which blocks come up more often: random, zipf:1.1, pareto:0.2, normal:10 (percent of the region), or \
           zoned:50/5:30/15:20/80 (percent of the I/Os / percent of the region).",
};
pub const NORANDOMMAP: Parameter = Parameter {
    name: "norandommap",
    alias: None,
    kind: Kind::Flag,
    default: "false, but true with bssplit or a skewed distribution",
    help: "false: random I/O covers every block of the region once before any comes again. true: blocks may repeat.",
};
pub const BSSPLIT: Parameter = Parameter {
    name: "bssplit",
    alias: None,
    kind: Kind::Text { max: 1_024 },
    default: "all I/Os have bs bytes",
    help: "Sizes with their percentages instead of bs, such as 4k/60:64k/40.",
};
pub const BLOCKALIGN: Parameter = Parameter {
    name: "blockalign",
    alias: Some("ba"),
    kind: Kind::Bytes { min: 1, max: GIB },
    default: "the smallest block size",
    help: "Random offsets are multiples of this from the start of the region.",
};
pub const SKIP_BYTES: Parameter = Parameter {
    name: "skip_bytes",
    alias: None,
    kind: Kind::Bytes { min: 0, max: 1 << 40 },
    default: "0",
    help: "I/O in order leaves so many bytes out after each block, as fio's rw=write:64k does.",
};
pub const NUMJOBS: Parameter = Parameter {
    name: "numjobs",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1_024 },
    default: "1",
    help: "Streams that take turns, each with iodepth I/Os in flight, a part of the region and a seed of its own.",
};
pub const RATE: Parameter = Parameter {
    name: "rate_bytes_per_s",
    alias: Some("rate"),
    kind: Kind::Bytes { min: 1, max: 1 << 40 },
    default: "no limit",
    help: "At most so many bytes per second, of all streams together.",
};
pub const RATE_IOPS: Parameter = Parameter {
    name: "rate_iops",
    alias: None,
    kind: Kind::Integer { min: 1, max: 100_000_000 },
    default: "no limit",
    help: "At most so many I/Os per second, of all streams together.",
};
pub const THINKTIME_US: Parameter = Parameter {
    name: "thinktime_us",
    alias: Some("thinktime"),
    kind: Kind::Integer { min: 0, max: 3_600_000_000 },
    default: "0",
    help: "Microseconds of rest after every thinktime_blocks I/Os.",
};
pub const THINKTIME_BLOCKS: Parameter = Parameter {
    name: "thinktime_blocks",
    alias: None,
    kind: Kind::Integer { min: 1, max: 4_294_967_295 },
    default: "1",
    help: "I/Os between two rests.",
};
pub const RAMP_TIME_S: Parameter = Parameter {
    name: "ramp_time_s",
    alias: Some("ramp_time"),
    kind: Kind::Integer { min: 0, max: 7 * 86_400 },
    default: "0",
    help: "Seconds of the same I/O first that count for nothing; they are recorded and marked.",
};
pub const FSYNC: Parameter = Parameter {
    name: "fsync",
    alias: None,
    kind: Kind::Integer { min: 0, max: 4_294_967_295 },
    default: "0",
    help: "Flush the drive's cache after every so many writes; 0 is never. Flushes are counted by themselves.",
};
pub const FDATASYNC: Parameter = Parameter {
    name: "fdatasync",
    alias: None,
    kind: Kind::Integer { min: 0, max: 4_294_967_295 },
    default: "0",
    help: "As fsync, but leaving out a file's own metadata; the same on a whole drive.",
};
pub const END_FSYNC: Parameter = Parameter {
    name: "end_fsync",
    alias: None,
    kind: Kind::Flag,
    default: "false",
    help: "Flush the drive's cache when everything is written; its time counts.",
};
pub const VERIFY: Parameter = Parameter {
    name: "verify",
    alias: None,
    kind: Kind::Flag,
    default: "false",
    help: "Write data that names its place, then read it back and check it.",
};
pub const SS: Parameter = Parameter {
    name: "ss",
    alias: Some("steadystate"),
    kind: Kind::Choice { words: &["iops", "bw"] },
    default: "run to the end",
    help: "Stop once this is steady in the sense of SNIA: over a window of rounds within a range and a slope.",
};
pub const SS_ROUND_S: Parameter = Parameter {
    name: "ss_round_s",
    alias: None,
    kind: Kind::Integer { min: 1, max: 86_400 },
    default: "60",
    help: "Seconds of one round.",
};
pub const SS_ROUNDS: Parameter = Parameter {
    name: "ss_rounds",
    alias: None,
    kind: Kind::Integer { min: 2, max: 1_000 },
    default: "5",
    help: "Rounds in the window.",
};
pub const SS_RANGE_PERCENT: Parameter = Parameter {
    name: "ss_range_percent",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1_000 },
    default: "20",
    help: "Largest less smallest round, in percent of their mean, at most.",
};
pub const SS_SLOPE_PERCENT: Parameter = Parameter {
    name: "ss_slope_percent",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1_000 },
    default: "10",
    help: "Rise or fall of the fitted line over the window, in percent of the mean, at most.",
};
pub const ZONEMODE: Parameter = Parameter {
    name: "zonemode",
    alias: None,
    kind: Kind::Choice { words: &["none", "zbd"] },
    default: "none",
    help: "zbd writes at the write pointers of the drive's zones, with rw write (zones in order) or randwrite (in random order).",
};
pub const MAX_OPEN_ZONES: Parameter = Parameter {
    name: "max_open_zones",
    alias: None,
    kind: Kind::Integer { min: 1, max: 1_024 },
    default: "1",
    help: "So many zones are written side by side, one write in flight in each. Needs zonemode zbd.",
};
pub const ZONE_OPENING: Parameter = Parameter {
    name: "zone_opening",
    alias: None,
    kind: Kind::Choice { words: &["implicit", "explicit"] },
    default: "implicit",
    help: "implicit: the first write opens a zone. explicit: OPEN ZONE does, and CLOSE ZONE comes before its last block. \
           Needs zonemode zbd.",
};
pub const ZONE_START: Parameter = Parameter {
    name: "zone_start",
    alias: None,
    kind: Kind::Choice { words: &["reset", "pointer"] },
    default: "reset",
    help: "What becomes of zones that hold data: reset when their turn comes, or written on at their pointer; full ones are \
           reset at last in either case. Needs zonemode zbd.",
};
