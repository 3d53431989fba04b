//! What is asked of a drive, in fio's words.

use serde::{Deserialize, Serialize};

use super::units::Bytes;

/// fio's `rw`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential mix, `rwmixread` percent reads.
    Rw,
    /// Random mix, `rwmixread` percent reads.
    RandRw,
}

impl Rw {
    /// All of them, in fio's spelling.
    pub const ALL: [(&'static str, Self); 6] = [
        ("read", Self::Read),
        ("write", Self::Write),
        ("randread", Self::RandRead),
        ("randwrite", Self::RandWrite),
        ("rw", Self::Rw),
        ("randrw", Self::RandRw),
    ];

    /// fio's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::Rw => "rw",
            Self::RandRw => "randrw",
        }
    }

    /// Whether any of its I/Os change the medium.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }

    /// Whether offsets are random.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }
}

/// One stream of I/O.
///
/// It ends at the first of `runtime_s`, `number_ios` and `io_size_bytes` that is set; at least
/// one of them always is, so a workload cannot run for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// What kind of I/O.
    pub rw: Rw,
    /// Bytes per I/O; a multiple of the logical block.
    pub bs: Bytes,
    /// I/Os in flight, 1..=1024.
    pub iodepth: u32,
    /// First byte of the region, from the start of the target.
    pub offset_bytes: Bytes,
    /// Length of the region. Nothing is read or written outside `offset..offset+size`.
    pub size_bytes: Bytes,
    /// Percent of reads in `rw` and `randrw`, 0..=100.
    pub rwmixread: u8,
    /// Seed of the offsets and of the data.
    pub randseed: u64,
    /// Stop after this many seconds of the engine's clock.
    pub runtime_s: Option<u64>,
    /// Stop after this many I/Os.
    pub number_ios: Option<u64>,
    /// Stop after this many bytes.
    pub io_size_bytes: Option<Bytes>,
}

impl Workload {
    /// The most bytes it can write, or `None` when only time bounds it.
    #[must_use]
    pub fn max_write_bytes(&self) -> Option<Bytes> {
        if !self.rw.writes() {
            return Some(Bytes(0));
        }
        let by_count = self.number_ios.map(|ios| Bytes(ios.saturating_mul(self.bs.0)));
        [by_count, self.io_size_bytes].into_iter().flatten().min()
    }
}
