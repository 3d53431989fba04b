//! Which I/O comes next: offsets, sizes and directions of a workload, the same for the same seed.
//!
//! ```text
//!   Pattern ── Stream (numjobs of them take turns, each in a part of the region of its own)
//!                 │ where?  in order · uniform · every block once (permutation) · skewed
//!                 │ how long?  bs, or one of bssplit
//!                 └ what?  read, write, trim, or a trim and then the write of the same block
//! ```
//! Nothing in here allocates once it was made, whatever the size of the region.

mod hits;
mod permutation;
mod skewed;
mod stream;
pub mod zoned;

use super::engine::Io;
use crate::model::workload::Workload;
use stream::Stream;

pub use hits::{HitRow, hit_table};
pub(super) use permutation::mixed;

/// An endless stream of I/Os within a workload's region.
///
/// Invariants: every I/O lies within `offset..offset+size`; all blocks of the region can come up,
/// also the last one where the region is no whole number of blocks (it is then shorter).
#[derive(Debug, Clone)]
pub struct Pattern {
    streams: Vec<Stream>,
    turn: usize,
}

impl Pattern {
    /// The stream of `workload`, from its beginning.
    ///
    /// Precondition, held by `model::profile::build`: `bs` and `size` are above 0, and every stream's part of the region
    /// holds a block.
    #[must_use]
    pub fn new(workload: &Workload) -> Self {
        let jobs = u64::from(workload.numjobs.max(1));
        let unit = workload.smallest_bs().0.max(1);
        // Parts are whole blocks; the last one has the odd tail.
        let part = workload.size_bytes.0 / unit / jobs * unit;
        let streams = (0..jobs)
            .map(|job| {
                let first = part * job;
                let size = if job + 1 == jobs { workload.size_bytes.0 - first } else { part };
                Stream::new(workload, job, workload.offset_bytes.0 + first, size)
            })
            .collect();
        Self { streams, turn: 0 }
    }

    /// Goes on as if so many I/Os had been asked for already. At once, whatever their number, but for I/O in order
    /// in several sizes, which is gone through again.
    pub fn skip_to(&mut self, ios: u64) {
        let streams = u64::try_from(self.streams.len()).unwrap_or(u64::MAX);
        for (stream, job) in self.streams.iter_mut().zip(0..) {
            stream.skip_to(ios / streams + u64::from(job < ios % streams));
        }
        self.turn = usize::try_from(ios % streams).unwrap_or(0);
    }

    /// The next I/O.
    pub fn next_io(&mut self) -> Io {
        let io = self.streams[self.turn].next_io();
        self.turn = (self.turn + 1) % self.streams.len();
        io
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Bytes;
    use crate::model::workload::{Distribution, Rw, SizeShare};
    use crate::probe::engine::Op;
    use proptest::prelude::*;

    fn workload(rw: Rw, offset: u64, size: u64, bs: u64, seed: u64) -> Workload {
        Workload { randseed: seed, ..Workload::new(rw, Bytes(bs), Bytes(offset), Bytes(size)) }
    }

    proptest! {
        #[test]
        fn nothing_lies_outside_the_region(
            kind in 0usize..9, offset in 0u64..1 << 50, sectors in 64u64..1 << 40, bs_sectors in 1u64..4096, seed: u64,
            once: bool, jobs in 1u32..9, shape in 0usize..5, split: bool
        ) {
            let (size, bs) = (sectors * 512, bs_sectors.min(sectors / u64::from(jobs)) * 512);
            let mut asked = workload(Rw::ALL[kind].1, offset * 512, size, bs, seed);
            asked.norandommap = !once;
            asked.numjobs = jobs;
            let shapes = ["random", "zipf:1.1", "pareto:0.3", "normal:30", "zoned:50/5:30/15:20/80"];
            asked.random_distribution = shapes[shape].parse::<Distribution>().unwrap();
            if split {
                asked.bssplit = vec![
                    SizeShare { bs: Bytes(512), percent: 30 },
                    SizeShare { bs: Bytes(bs), percent: 70 },
                ];
            }
            let mut pattern = Pattern::new(&asked);
            for _ in 0..50 {
                let io = pattern.next_io();
                prop_assert!(io.len > 0);
                prop_assert!(io.offset >= offset * 512);
                prop_assert!(io.offset + u64::from(io.len) <= offset * 512 + size);
                prop_assert_eq!(io.offset % 512, 0);
                prop_assert_eq!(io.len % 512, 0);
            }
        }

        #[test]
        fn without_repetition_every_byte_is_written_once_with_the_odd_tail(
            sectors in 8u64..4_000, bs_sectors in 1u64..64, seed: u64, jobs in 1u32..5
        ) {
            let bs_sectors = bs_sectors.min(sectors / u64::from(jobs));
            let mut asked = workload(Rw::RandWrite, 512, sectors * 512, bs_sectors * 512, seed);
            asked.norandommap = false;
            asked.numjobs = jobs;
            // Several streams end their passes at different times: each is asked for its own number of blocks.
            let mut pattern = Pattern::new(&asked);
            let mut seen = vec![0_u32; usize::try_from(sectors).unwrap() + 1];
            for stream in &mut pattern.streams {
                for _ in 0..stream.blocks() {
                    let io = stream.next_io();
                    for sector in io.offset / 512..(io.offset + u64::from(io.len)) / 512 {
                        seen[usize::try_from(sector).unwrap()] += 1;
                    }
                }
            }
            prop_assert_eq!(seen[0], 0);
            prop_assert!(seen[1..].iter().all(|count| *count == 1), "{seen:?}");
        }
    }

    proptest! {
        #[test]
        fn going_on_in_the_middle_asks_what_would_have_come_there(
            kind in 0usize..9, sectors in 64u64..4_000, bs_sectors in 1u64..16, seed: u64, once: bool, jobs in 1u32..4,
            shape in 0usize..5, split: bool, skip_sectors in 0u64..9, done in 0usize..600
        ) {
            let bs = bs_sectors.min(sectors / u64::from(jobs)) * 512;
            let mut asked = workload(Rw::ALL[kind].1, 512, sectors * 512, bs, seed);
            (asked.norandommap, asked.numjobs, asked.skip_bytes) = (!once, jobs, Bytes(skip_sectors * 512));
            let shapes = ["random", "zipf:1.1", "pareto:0.3", "normal:30", "zoned:50/5:30/15:20/80"];
            asked.random_distribution = shapes[shape].parse::<Distribution>().unwrap();
            if split {
                asked.bssplit = vec![
                    SizeShare { bs: Bytes(512), percent: 30 },
                    SizeShare { bs: Bytes(bs), percent: 70 },
                ];
            }
            let mut whole = Pattern::new(&asked);
            for _ in 0..done {
                whole.next_io();
            }
            let mut resumed = Pattern::new(&asked);
            resumed.skip_to(u64::try_from(done).unwrap());
            for _ in 0..40 {
                prop_assert_eq!(resumed.next_io(), whole.next_io());
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
        // 24 TB in 4 KiB blocks: more than 2^32 of them, with repetition and without.
        for once in [false, true] {
            let mut asked = workload(Rw::RandWrite, 0, 24_000_277_250_048, 4096, 3);
            asked.norandommap = !once;
            let mut pattern = Pattern::new(&asked);
            let highest = (0..1_000).map(|_| pattern.next_io().offset / 4096).max().unwrap();
            assert!(highest > u64::from(u32::MAX), "{highest}");
        }
    }

    #[test]
    fn streams_take_turns_and_keep_to_their_own_part() {
        let mut asked = workload(Rw::Write, 0, 8 * 4096, 4096, 1);
        asked.numjobs = 4;
        let mut pattern = Pattern::new(&asked);
        let blocks: Vec<_> = (0..8).map(|_| pattern.next_io().offset / 4096).collect();
        assert_eq!(blocks, [0, 2, 4, 6, 1, 3, 5, 7]);
    }

    #[test]
    fn gaps_are_left_out_and_the_next_pass_begins_at_the_start() {
        let mut asked = workload(Rw::Write, 0, 10 * 4096, 4096, 1);
        asked.skip_bytes = Bytes(2 * 4096);
        let mut pattern = Pattern::new(&asked);
        let blocks: Vec<_> = (0..5).map(|_| pattern.next_io().offset / 4096).collect();
        assert_eq!(blocks, [0, 3, 6, 9, 0]);
    }

    #[test]
    fn trimwrite_writes_the_block_it_has_just_trimmed() {
        let mut pattern = Pattern::new(&workload(Rw::TrimWrite, 0, 2 * 4096, 4096, 1));
        let ios: Vec<_> = (0..4).map(|_| pattern.next_io()).map(|io| (io.op, io.offset)).collect();
        assert_eq!(ios, [(Op::Trim, 0), (Op::Write, 0), (Op::Trim, 4096), (Op::Write, 4096)]);
    }

    #[test]
    fn sizes_come_in_their_shares_and_at_their_alignment() {
        let mut asked = workload(Rw::RandWrite, 0, 1 << 40, 65_536, 1);
        asked.bssplit = vec![SizeShare { bs: Bytes(4096), percent: 60 }, SizeShare { bs: Bytes(65_536), percent: 40 }];
        asked.blockalign = Some(Bytes(8192));
        let mut pattern = Pattern::new(&asked);
        let ios: Vec<_> = (0..10_000).map(|_| pattern.next_io()).collect();
        let small = ios.iter().filter(|io| io.len == 4096).count();
        assert!((5_800..6_200).contains(&small), "{small}");
        assert!(ios.iter().all(|io| io.offset % 8192 == 0 && (io.len == 4096 || io.len == 65_536)));
    }
}
