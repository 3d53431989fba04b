//! A recording as a source of I/Os: each at its time.

use super::engine::{Io, Op};
use crate::model::units::Nanos;
use crate::model::workload::{Recorded, RecordedOp};

/// What a recording gives next. Times count from the start of the phase, pauses left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// This I/O, now.
    Io(Io),
    /// Nothing before this time.
    DueAt(Nanos),
    /// Nothing any more.
    End,
}

/// A recording on its way. I/Os that come too late, because the drive is slower, are asked for at once and in order.
#[derive(Debug, Clone)]
pub struct Replay {
    ios: Vec<Recorded>,
    next: usize,
}

impl Replay {
    /// From its beginning.
    #[must_use]
    pub fn new(ios: &[Recorded]) -> Self {
        Self { ios: ios.to_vec(), next: 0 }
    }

    /// The next I/O, if it is due.
    pub fn skip_to(&mut self, ios: u64) {
        let flush = |io: &Recorded| matches!(io.op, RecordedOp::Flush | RecordedOp::FlushData);
        let mut left = ios;
        while left > 0 && self.next < self.ios.len() {
            left -= u64::from(!flush(&self.ios[self.next]));
            self.next += 1;
        }
    }

    pub fn next(&mut self, elapsed: Nanos) -> Replayed {
        let Some(io) = self.ios.get(self.next) else { return Replayed::End };
        let due = Nanos(io.at_us.saturating_mul(1_000));
        if due > elapsed {
            return Replayed::DueAt(due);
        }
        self.next += 1;
        let op = match io.op {
            RecordedOp::Read => Op::Read,
            RecordedOp::Write => Op::Write,
            RecordedOp::Trim => Op::Trim,
            RecordedOp::Flush => Op::Flush { data_only: false },
            RecordedOp::FlushData => Op::Flush { data_only: true },
        };
        Replayed::Io(Io { op, offset: io.offset, len: io.len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_at_its_time_and_late_ones_at_once() {
        let io = |at_us| Recorded { at_us, op: RecordedOp::Read, offset: at_us * 512, len: 512 };
        let mut replay = Replay::new(&[io(0), io(10), io(11)]);
        assert!(matches!(replay.next(Nanos(0)), Replayed::Io(Io { offset: 0, .. })));
        assert_eq!(replay.next(Nanos(0)), Replayed::DueAt(Nanos(10_000)));
        assert!(matches!(replay.next(Nanos(12_000)), Replayed::Io(Io { offset: 5120, .. })));
        assert!(matches!(replay.next(Nanos(12_000)), Replayed::Io(_)));
        assert_eq!(replay.next(Nanos(12_000)), Replayed::End);
    }
}
