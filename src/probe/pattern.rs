//! Which I/O comes next: offsets and directions of a workload, the same for the same seed.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::engine::{Io, Op};
use crate::model::workload::{Rw, Workload};

/// An endless stream of I/Os within a workload's region.
///
/// Invariants: every I/O lies within `offset..offset+size`; all blocks of the region come up,
/// also the last one where the region is no whole number of blocks (it is then shorter).
/// Random offsets are uniform and may repeat, as fio's with `norandommap`.
#[derive(Debug, Clone)]
pub struct Pattern {
    rw: Rw,
    start: u64,
    size: u64,
    bs: u64,
    blocks: u64,
    next_block: u64,
    read_percent: u8,
    // xoshiro256++ has a period of 2^256 - 1 and 64-bit output, so regions beyond 2^32 blocks are
    // covered; its stream is fixed by its definition, not by a library's version.
    rng: Xoshiro256PlusPlus,
}

impl Pattern {
    /// The stream of `workload`, from its beginning.
    ///
    /// Precondition, held by `model::profile::build`: `bs` and `size` are above 0.
    #[must_use]
    pub fn new(workload: &Workload) -> Self {
        let bs = workload.bs.0.max(1);
        let read_percent = match workload.rw {
            Rw::Read | Rw::RandRead => 100,
            Rw::Write | Rw::RandWrite => 0,
            Rw::Rw | Rw::RandRw => workload.rwmixread,
        };
        Self {
            rw: workload.rw,
            start: workload.offset_bytes.0,
            size: workload.size_bytes.0,
            bs,
            blocks: workload.size_bytes.0.div_ceil(bs).max(1),
            next_block: 0,
            read_percent,
            rng: Xoshiro256PlusPlus::seed_from_u64(workload.randseed),
        }
    }

    /// The next I/O.
    pub fn next_io(&mut self) -> Io {
        let block = if self.rw.is_random() {
            self.rng.random_range(0..self.blocks)
        } else {
            let block = self.next_block;
            self.next_block = (block + 1) % self.blocks;
            block
        };
        let op = match self.read_percent {
            0 => Op::Write,
            100 => Op::Read,
            percent if self.rng.random_range(0..100u8) < percent => Op::Read,
            _ => Op::Write,
        };
        let within = block * self.bs;
        let len = self.bs.min(self.size - within);
        Io { op, offset: self.start + within, len: u32::try_from(len).unwrap_or(u32::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Bytes;
    use proptest::prelude::*;

    fn workload(rw: Rw, offset: u64, size: u64, bs: u64, seed: u64) -> Workload {
        Workload {
            rw,
            bs: Bytes(bs),
            iodepth: 1,
            offset_bytes: Bytes(offset),
            size_bytes: Bytes(size),
            rwmixread: 50,
            randseed: seed,
            runtime_s: None,
            number_ios: None,
            io_size_bytes: None,
        }
    }

    proptest! {
        #[test]
        fn nothing_lies_outside_the_region(
            kind in 0usize..6, offset in 0u64..1 << 50, sectors in 1u64..1 << 40, bs_sectors in 1u64..4096, seed: u64
        ) {
            let (size, bs) = (sectors * 512, bs_sectors * 512);
            let mut pattern = Pattern::new(&workload(Rw::ALL[kind].1, offset * 512, size, bs, seed));
            for _ in 0..50 {
                let io = pattern.next_io();
                prop_assert!(io.len > 0);
                prop_assert!(io.offset >= offset * 512);
                prop_assert!(io.offset + u64::from(io.len) <= offset * 512 + size);
                prop_assert_eq!(io.offset % 512, 0);
            }
        }
    }

    #[test]
    fn a_sequential_pass_covers_the_odd_tail_and_begins_again() {
        let mut pattern = Pattern::new(&workload(Rw::Write, 512, 5 * 512, 1024, 1));
        let ios: Vec<_> = (0..4).map(|_| pattern.next_io()).map(|io| (io.offset, io.len)).collect();
        assert_eq!(ios, [(512, 1024), (1536, 1024), (2560, 512), (512, 1024)]);
    }

    #[test]
    fn the_same_seed_asks_the_same_and_another_does_not() {
        let stream = |seed| {
            let mut pattern = Pattern::new(&workload(Rw::RandRw, 0, 1 << 44, 4096, seed));
            (0..100).map(|_| pattern.next_io()).collect::<Vec<_>>()
        };
        assert_eq!(stream(7), stream(7));
        assert_ne!(stream(7), stream(8));
    }

    #[test]
    fn random_offsets_reach_beyond_two_to_the_thirty_second_block() {
        // 24 TB in 4 KiB blocks: more than 2^32 of them.
        let mut pattern = Pattern::new(&workload(Rw::RandWrite, 0, 24_000_277_250_048, 4096, 3));
        let highest = (0..1_000).map(|_| pattern.next_io().offset / 4096).max().unwrap();
        assert!(highest > u64::from(u32::MAX), "{highest}");
    }
}
