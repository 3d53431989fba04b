//! One stream of a pattern.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::SplitMix64;

use super::permutation::{Permutation, mixed};
use super::skewed::Skewed;
use crate::model::workload::{Rw, SizeShare, Workload};
use crate::probe::engine::{Io, Op};

/// One stream of I/Os in one part of a region.
#[derive(Debug, Clone)]
pub struct Stream {
    start: u64,
    size: u64,
    bs: u64,
    split: Vec<SizeShare>,
    align: u64,
    skip: u64,
    place: Place,
    what: What,
    seed: u64,
    /// Draws so far; trim and write of one block are one draw.
    drawn: u64,
}

#[derive(Debug, Clone)]
enum Place {
    /// Byte within the part.
    InOrder(u64),
    Uniform,
    Once(Permutation),
    Skewed(Skewed),
}

#[derive(Debug, Clone)]
enum What {
    Always(Op),
    /// Percent of reads.
    Mixed(u8),
    /// The write that follows the trim of its block.
    TrimThenWrite(Option<Io>),
}

impl Stream {
    /// Stream `job` of `workload`, in `start..start+size`.
    #[must_use]
    pub fn new(workload: &Workload, job: u64, start: u64, size: u64) -> Self {
        // The first stream has the workload's own seed: a single stream asks what it always asked.
        let seed = if job == 0 { workload.randseed } else { mixed(workload.randseed ^ mixed(job)) };
        let align = workload.blockalign.unwrap_or(workload.smallest_bs()).0.max(1);
        let blocks = size.div_ceil(align).max(1);
        let single = workload.bssplit.is_empty();
        let place = if !workload.rw.is_random() {
            Place::InOrder(0)
        } else if let Some(skewed) = Skewed::new(&workload.random_distribution, blocks, &mut dice(seed, u64::MAX)) {
            Place::Skewed(skewed)
        } else if workload.norandommap || !single {
            Place::Uniform
        } else {
            Place::Once(Permutation::new(blocks, seed))
        };
        let what = match workload.rw {
            Rw::Read | Rw::RandRead => What::Always(Op::Read),
            Rw::Write | Rw::RandWrite => What::Always(Op::Write),
            Rw::Trim | Rw::RandTrim => What::Always(Op::Trim),
            Rw::TrimWrite => What::TrimThenWrite(None),
            Rw::Rw | Rw::RandRw => match workload.rwmixread {
                0 => What::Always(Op::Write),
                100 => What::Always(Op::Read),
                percent => What::Mixed(percent),
            },
        };
        let (bs, split, skip) = (workload.bs.0.max(1), workload.bssplit.clone(), workload.skip_bytes.0);
        Self { start, size, bs, split, align, skip, place, what, seed, drawn: 0 }
    }

    /// Goes on as if so many I/Os had been asked for already.
    pub fn skip_to(&mut self, ios: u64) {
        let (draws, half) = match self.what {
            What::TrimThenWrite(_) => (ios / 2, ios % 2 == 1),
            _ => (ios, false),
        };
        let stride = self.bs.saturating_add(self.skip);
        match &mut self.place {
            Place::InOrder(next) if self.split.is_empty() => *next = draws % self.size.div_ceil(stride).max(1) * stride,
            // Where one begins depends on the lengths of all before it.
            Place::InOrder(_) => {
                for _ in 0..ios {
                    self.next_io();
                }
                return;
            }
            Place::Once(order) => order.skip_to(draws),
            Place::Uniform | Place::Skewed(_) => {}
        }
        self.drawn = draws;
        if half {
            self.next_io();
        }
    }

    /// Places at which its random I/Os can begin.
    #[cfg(test)]
    pub fn blocks(&self) -> u64 {
        self.size.div_ceil(self.align)
    }

    /// The next I/O.
    pub fn next_io(&mut self) -> Io {
        if let What::TrimThenWrite(pending) = &mut self.what
            && let Some(write) = pending.take()
        {
            return write;
        }
        let mut rng = dice(self.seed, self.drawn);
        self.drawn += 1;
        let wanted = self.length(&mut rng);
        let blocks = self.size.div_ceil(self.align).max(1);
        let within = match &mut self.place {
            Place::InOrder(next) => *next,
            Place::Uniform => rng.random_range(0..blocks) * self.align,
            Place::Once(order) => order.next_block() * self.align,
            Place::Skewed(skewed) => skewed.next_block(&mut rng) * self.align,
        };
        // The last one before the end of the part is shorter.
        let len = wanted.min(self.size - within);
        if let Place::InOrder(next) = &mut self.place {
            let after = within.saturating_add(len).saturating_add(self.skip);
            *next = if after >= self.size { 0 } else { after };
        }
        let io = Io { op: Op::Read, offset: self.start + within, len: u32::try_from(len).unwrap_or(u32::MAX) };
        let op = match &mut self.what {
            What::Always(op) => *op,
            What::Mixed(percent) if rng.random_range(0..100_u8) < *percent => Op::Read,
            What::Mixed(_) => Op::Write,
            What::TrimThenWrite(pending) => {
                *pending = Some(Io { op: Op::Write, ..io });
                Op::Trim
            }
        };
        Io { op, ..io }
    }

    fn length(&self, rng: &mut SplitMix64) -> u64 {
        if self.split.is_empty() {
            return self.bs;
        }
        let mut draw = rng.random_range(0..100_u8);
        for part in &self.split {
            if draw < part.percent {
                return part.bs.0;
            }
            draw -= part.percent;
        }
        self.bs
    }
}

/// The generator of draw `number`: it depends on nothing that came before, so that a run that was interrupted after
/// days goes on where it was, at once. Splitmix64 (Steele, Lea, Flood 2014) has 64-bit output, so regions beyond 2^32
/// blocks are covered, and its stream is fixed by its definition, not by a library's version.
fn dice(seed: u64, number: u64) -> SplitMix64 {
    SplitMix64::seed_from_u64(mixed(seed ^ mixed(number)))
}
