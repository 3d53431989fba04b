//! What a run may use up in all: errors that are put up with, and bytes written.

use nix::errno::Errno;

use super::engine::{Io, Op};
use crate::model::standing::Standing;
use crate::model::units::Bytes;

/// Counts over all phases of a run.
#[derive(Debug, Clone)]
pub struct Budget {
    max_errors: u64,
    max_written: u64,
    errors: u64,
    written: u64,
}

impl Budget {
    /// Goes on after `max_errors` errors and stops at the next; at most `max_written` bytes are written.
    #[must_use]
    pub fn new(max_errors: u64, max_written: Option<Bytes>) -> Self {
        Self { max_errors, max_written: max_written.map_or(u64::MAX, |bytes| bytes.0), errors: 0, written: 0 }
    }

    /// Takes into account what was used up before an interruption.
    #[must_use]
    pub fn after(mut self, standing: &Standing) -> Self {
        self.errors = standing.errors;
        self.written = standing.written_bytes.0;
        self
    }

    /// Counts an I/O that is about to be issued.
    ///
    /// # Errors
    /// What the limit is, when the I/O would pass it; it must not be issued then.
    pub fn spend(&mut self, io: &Io) -> Result<(), String> {
        if io.op != Op::Write {
            return Ok(());
        }
        let written = self.written.saturating_add(u64::from(io.len));
        if written > self.max_written {
            return Err(format!("has written {}, the most it may in all", Bytes(self.written)));
        }
        self.written = written;
        Ok(())
    }

    /// Counts an I/O that failed. Whether the run may go on.
    pub fn put_up_with(&mut self, errno: Option<i32>) -> bool {
        self.errors += 1;
        self.errors <= self.max_errors && !errno.is_some_and(is_final)
    }

    /// Errors so far.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errors
    }
}

/// Whether the next I/O would fail the same way: the drive is gone, or the request itself is wrong.
fn is_final(errno: i32) -> bool {
    let errno = Errno::from_raw(errno);
    matches!(
        errno,
        Errno::ENODEV | Errno::ENXIO | Errno::ENOSPC | Errno::EINVAL | Errno::EOPNOTSUPP | Errno::EBADF | Errno::EROFS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(len: u32) -> Io {
        Io { op: Op::Write, offset: 0, len }
    }

    #[test]
    fn not_one_byte_more_is_written_than_allowed() {
        let mut budget = Budget::new(0, Some(Bytes(10_000)));
        assert!(budget.spend(&write(8_192)).is_ok());
        assert!(budget.spend(&write(4_096)).unwrap_err().contains("8.0 KiB"));
        assert!(budget.spend(&Io { op: Op::Read, ..write(1 << 20) }).is_ok());
        assert!(budget.spend(&write(1_808)).is_ok());
        let standing = Standing { written_bytes: Bytes(9_000), ..Standing::default() };
        assert!(Budget::new(0, Some(Bytes(10_000))).after(&standing).spend(&write(4_096)).is_err());
    }

    #[test]
    fn so_many_errors_are_put_up_with_and_a_drive_that_is_gone_is_not() {
        let eio = Some(Errno::EIO as i32);
        assert!(!Budget::new(0, None).put_up_with(eio), "the first error stops a run that allows none");
        let mut budget = Budget::new(2, None);
        assert!(budget.put_up_with(eio) && budget.put_up_with(None) && !budget.put_up_with(eio));
        assert!(!Budget::new(100, None).put_up_with(Some(Errno::ENODEV as i32)));
    }
}
