//! What is asked of a drive, in fio's words.

mod distribution;
mod recorded;
mod rw;
mod skew;
mod split;
mod steady;
mod zbd;

use serde::{Deserialize, Serialize};

use super::units::Bytes;

pub use distribution::{Distribution, Zone};
pub use recorded::{Recorded, RecordedOp, fitted, parse_recording};
pub use rw::Rw;
pub use skew::{Pareto, Zipf};
pub use split::{SizeShare, parse_bssplit};
pub use steady::{SteadyOf, SteadyRule};
pub use zbd::{Zbd, ZoneOpening, ZoneStart, ZoneTask};

/// What is done with the data of a workload's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerifyStep {
    /// Every block is written with a pattern that names its place and time.
    Write,
    /// Every block is read and held against that pattern.
    Check,
}

/// fio's `verify`, as two phases: one writes the pattern, a later one checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// What is done.
    pub step: VerifyStep,
    /// Number of the pass: an older one that comes back is a write that was lost.
    pub generation: u32,
}

/// One stream of I/O, or several alike.
///
/// It ends at the first of `runtime_s`, `number_ios` and `io_size_bytes` that is set; at least
/// one of them always is, so a workload cannot run for ever.
///
/// Fields that were added later have a default in JSON, so that plans stored before still read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// What kind of I/O.
    pub rw: Rw,
    /// Bytes per I/O, the largest if there are several sizes; a multiple of the logical block.
    pub bs: Bytes,
    /// Several sizes and their shares; empty when all I/Os have `bs` bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bssplit: Vec<SizeShare>,
    /// Random offsets are multiples of this from the region's start; `null`: the smallest size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockalign: Option<Bytes>,
    /// I/O in order leaves so many bytes out after each block: fio's `rw=write:64k`.
    #[serde(default, skip_serializing_if = "is_no_bytes")]
    pub skip_bytes: Bytes,
    /// I/Os in flight, 1..=1024; of each stream.
    pub iodepth: u32,
    /// fio's `numjobs`: so many streams, each with a part of the region of its own and its own seed, take turns.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub numjobs: u32,
    /// First byte of the region, from the start of the target.
    pub offset_bytes: Bytes,
    /// Length of the region. Nothing is read or written outside `offset..offset+size`.
    pub size_bytes: Bytes,
    /// Percent of reads in `rw` and `randrw`, 0..=100.
    pub rwmixread: u8,
    /// Which random offsets come up more often.
    #[serde(default, skip_serializing_if = "Distribution::is_uniform")]
    pub random_distribution: Distribution,
    /// fio's `norandommap`. `true`: random offsets may repeat. `false`: every block of the region once before any comes
    /// again. Only a uniform distribution and a single size can do the latter.
    #[serde(default = "yes")]
    pub norandommap: bool,
    /// Seed of the offsets and of the data.
    pub randseed: u64,
    /// Stop after this many seconds of the engine's clock, the ramp not counted.
    pub runtime_s: Option<u64>,
    /// Stop after this many I/Os.
    pub number_ios: Option<u64>,
    /// Stop after this many bytes.
    pub io_size_bytes: Option<Bytes>,
    /// Seconds of the same I/O first that count for nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ramp_time_s: u64,
    /// fio's `rate`: at most so many bytes are asked for per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_s: Option<Bytes>,
    /// At most so many I/Os are asked for per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<u64>,
    /// Microseconds of rest after every `thinktime_blocks` I/Os, once those have ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thinktime_us: u64,
    /// See `thinktime_us`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub thinktime_blocks: u32,
    /// A flush of the drive's cache after every so many writes; 0 is none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub fsync: u32,
    /// The same without a file's own metadata.
    #[serde(default, skip_serializing_if = "is_none")]
    pub fdatasync: u32,
    /// A flush when everything has been written; its time counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end_fsync: bool,
    /// What is written can be told apart, and is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// A recording instead of a pattern: these I/Os at these times. `rw` and `bs` then only describe them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<Recorded>,
    /// fio's `ss`: stop once the rate is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRule>,
    /// fio's `zonemode=zbd`; without it the region is written as on any disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zbd: Option<Zbd>,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_no_bytes(bytes: &Bytes) -> bool {
    bytes.0 == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Workload {
    /// I/Os of `bs` bytes over `offset..offset+size`, one at a time, with every other word at its default: random ones
    /// may repeat. It still needs a limit.
    #[must_use]
    pub fn new(rw: Rw, bs: Bytes, offset: Bytes, size: Bytes) -> Self {
        Self {
            rw,
            bs,
            bssplit: Vec::new(),
            blockalign: None,
            skip_bytes: Bytes(0),
            iodepth: 1,
            numjobs: 1,
            offset_bytes: offset,
            size_bytes: size,
            rwmixread: 50,
            random_distribution: Distribution::Random,
            norandommap: true,
            randseed: 1,
            runtime_s: None,
            number_ios: None,
            io_size_bytes: None,
            ramp_time_s: 0,
            rate_bytes_per_s: None,
            rate_iops: None,
            thinktime_us: 0,
            thinktime_blocks: 1,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            verify: None,
            replay: Vec::new(),
            steady: None,
            zbd: None,
        }
    }

    /// Mean bytes of one I/O.
    #[must_use]
    pub fn mean_bs(&self) -> Bytes {
        if self.bssplit.is_empty() {
            return self.bs;
        }
        let hundredfold: u64 = self.bssplit.iter().map(|part| part.bs.0.saturating_mul(u64::from(part.percent))).sum();
        Bytes((hundredfold / 100).max(1))
    }

    /// Bytes of its smallest I/O.
    #[must_use]
    pub fn smallest_bs(&self) -> Bytes {
        self.bssplit.iter().filter(|part| part.percent > 0).map(|part| part.bs).min().unwrap_or(self.bs)
    }

    /// I/Os in flight of all streams together.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.iodepth.saturating_mul(self.numjobs).max(1)
    }

    /// The most bytes it can write, or `None` when only time bounds it.
    #[must_use]
    pub fn max_write_bytes(&self) -> Option<Bytes> {
        // A trim and a reset destroy, but write nothing.
        let only_zones = self.zbd.is_some_and(|zbd| zbd.task != ZoneTask::Write);
        if !self.rw.writes() || matches!(self.rw, Rw::Trim | Rw::RandTrim) || only_zones {
            return Some(Bytes(0));
        }
        if !self.replay.is_empty() {
            let writes = self.replay.iter().filter(|io| io.op == RecordedOp::Write);
            return Some(writes.map(|io| Bytes(u64::from(io.len))).sum());
        }
        // What a ramp writes only its time bounds.
        if self.ramp_time_s > 0 {
            return None;
        }
        let by_count = self.number_ios.map(|ios| Bytes(ios.saturating_mul(self.bs.0)));
        [by_count, self.io_size_bytes].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_plan_stored_before_there_were_these_words_reads_as_what_it_did() {
        let old = json!({ "rw": "randwrite", "bs": 4096, "iodepth": 8, "offset_bytes": 0, "size_bytes": 8192,
            "rwmixread": 50, "randseed": 3, "runtime_s": null, "number_ios": 2, "io_size_bytes": null });
        let read: Workload = serde_json::from_value(old).unwrap();
        let expected = Workload {
            iodepth: 8,
            randseed: 3,
            number_ios: Some(2),
            ..Workload::new(Rw::RandWrite, Bytes(4096), Bytes(0), Bytes(8192))
        };
        assert_eq!(read, expected);
        assert_eq!(serde_json::from_value::<Workload>(json!(read)).unwrap(), read);
    }

    #[test]
    fn a_trim_destroys_without_writing_and_a_ramp_has_no_limit_in_bytes() {
        let mut workload =
            Workload { io_size_bytes: Some(Bytes(99)), ..Workload::new(Rw::Trim, Bytes(9), Bytes(0), Bytes(99)) };
        assert_eq!((workload.max_write_bytes(), workload.rw.writes()), (Some(Bytes(0)), true));
        workload.rw = Rw::Write;
        assert_eq!(workload.max_write_bytes(), Some(Bytes(99)));
        workload.ramp_time_s = 1;
        assert_eq!(workload.max_write_bytes(), None);
    }
}
