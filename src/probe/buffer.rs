//! Memory that the kernel works on: page-aligned I/O buffers, and a ring that lends them. **Unsafe room
//! 2**: the only unsafe code of the probe.
//!
//! Direct I/O needs memory aligned to the device's DMA alignment; a page satisfies every device.
//! tokio-uring drops a buffer of an operation that is still in flight when its runtime ends, before
//! the kernel is done with it. The driver never leaves an operation in flight, but a panic could;
//! so the memory belongs to an [`Arena`] that outlives the runtime, and a handle frees nothing.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use io_uring::{IoUring, opcode, types};
use nix::libc;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio_uring::buf::{IoBuf, IoBufMut};

use super::engine::{Io, Op};

/// Alignment of every buffer, bytes: the page size of most hosts, and a multiple of every logical
/// block that direct I/O is used with here (512 and 4096).
pub const ALIGNMENT: usize = 4096;

struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is plain bytes without thread affinity. It is written through a `Buffer` only,
// of which there is one per `Memory`.
unsafe impl Send for Memory {}
// SAFETY: as above; `&Memory` gives no access to the bytes.
unsafe impl Sync for Memory {}

impl Memory {
    fn zeroed(len: usize) -> io::Result<Self> {
        let layout =
            Layout::from_size_align(len.max(1), ALIGNMENT).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        // SAFETY: the layout's size is at least 1.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Self { start, layout })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `start` came from `alloc_zeroed` with this very layout and is freed once, here.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// The memory of all buffers of an engine's run. Must outlive the runtime that uses them.
pub struct Arena {
    // Never read: it is held so that the last owner of each memory is the arena.
    _memories: Vec<Arc<Memory>>,
}

impl Arena {
    /// `count` buffers of `len` bytes each, filled with bytes that do not compress, drawn from `seed`:
    /// zeros would make a compressing device (zram, some SSDs) look faster than it is.
    ///
    /// The arena and its handles come from this one call, so a memory never has two handles.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn with_buffers(count: usize, len: usize, seed: u64) -> io::Result<(Self, Vec<Buffer>)> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut memories = Vec::with_capacity(count);
        let mut buffers = Vec::with_capacity(count);
        for _ in 0..count {
            let memory = Memory::zeroed(len)?;
            // SAFETY: the memory was just allocated and zeroed with this size, and nothing else refers
            // to it yet.
            let bytes = unsafe { std::slice::from_raw_parts_mut(memory.start.as_ptr(), memory.layout.size()) };
            rng.fill_bytes(bytes);
            let memory = Arc::new(memory);
            buffers.push(Buffer { memory: Arc::clone(&memory) });
            memories.push(memory);
        }
        Ok((Self { _memories: memories }, buffers))
    }
}

/// A handle to one buffer. Dropping it frees nothing while its arena lives.
pub struct Buffer {
    memory: Arc<Memory>,
}

impl Buffer {
    /// All bytes, for an engine that hands a slice to the kernel.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory is alive while this handle is, all of it is initialised, and `&mut self` of the
        // only handle to it makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start.as_ptr(), self.memory.layout.size()) }
    }
}

// SAFETY: the pointer is stable (heap memory that moves with no handle), and all `bytes_total` bytes
// are initialised from allocation on.
unsafe impl IoBuf for Buffer {
    fn stable_ptr(&self) -> *const u8 {
        self.memory.start.as_ptr()
    }

    fn bytes_init(&self) -> usize {
        self.memory.layout.size()
    }

    fn bytes_total(&self) -> usize {
        self.memory.layout.size()
    }
}

// SAFETY: as above; there is one handle per memory and it is not `Clone`, so this handle is the only
// one that writes.
unsafe impl IoBufMut for Buffer {
    fn stable_mut_ptr(&mut self) -> *mut u8 {
        self.memory.start.as_ptr()
    }

    unsafe fn set_init(&mut self, _pos: usize) {
        // All bytes are always initialised.
    }
}

/// A ring whose operations can only touch buffers that it owns itself, each at most one at a time.
///
/// Invariants: a place is either free or has exactly one operation in flight; the memory of a place in
/// flight is neither read nor written nor freed here until its completion was seen. A ring that is dropped
/// with operations in flight gives its memory away for ever instead of freeing it under the kernel.
pub struct Ring {
    ring: IoUring,
    file: File,
    buffers: Vec<Buffer>,
    arena: Option<Arena>,
    free: Vec<u16>,
    busy: Vec<bool>,
    fixed: bool,
    /// Where the kernel reads the time of an alarm when it is submitted.
    alarm_after: Box<types::Timespec>,
    alarm_set: bool,
    watching: bool,
}

/// `IORING_ENTER_GETEVENTS` of io_uring_enter(2), which the crate has no name for.
const GET_EVENTS: u32 = 1;
/// The mark of an alarm's completion; places are below 1024.
const ALARM: u64 = u64::MAX;
/// The mark of what [`Ring::watch`] waits for.
const WATCH: u64 = u64::MAX - 1;

impl Ring {
    /// A ring made by `builder` with `count` places (1..=1024) of `len` bytes each, filled as [`Arena`] does.
    ///
    /// # Errors
    /// When the kernel refuses the ring or memory runs out.
    pub fn new(builder: &io_uring::Builder, file: File, count: u16, len: usize, seed: u64) -> io::Result<Self> {
        let (arena, mut buffers) = Arena::with_buffers(usize::from(count), len, seed)?;
        // Two more than the places, for the alarm and the watch.
        let ring = builder.build((u32::from(count) + 2).next_power_of_two().max(8))?;
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        let slices: Vec<_> = buffers
            .iter_mut()
            .map(|buffer| {
                let bytes = buffer.bytes_mut();
                libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
            })
            .collect();
        // SAFETY: the memory belongs to `arena`, which this ring holds until nothing is in flight (see `Drop`), and
        // the registration ends with the ring.
        let fixed = unsafe { ring.submitter().register_buffers(&slices) }.is_ok();
        let busy = vec![false; usize::from(count)];
        let free = (0..count).rev().collect();
        let alarm_after = Box::new(types::Timespec::new());
        Ok(Self {
            ring,
            file,
            buffers,
            arena: Some(arena),
            free,
            busy,
            fixed,
            alarm_after,
            alarm_set: false,
            watching: false,
        })
    }

    /// Whether a place is free.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Operations in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.buffers.len() - self.free.len()
    }

    /// The place that the next operation will take, and the first `len` bytes of its buffer to fill; `None` when there is no
    /// room or the buffer is shorter.
    pub fn next_buffer(&mut self, len: u32) -> Option<&mut [u8]> {
        let place = *self.free.last()?;
        self.buffers.get_mut(usize::from(place))?.bytes_mut().get_mut(..usize::try_from(len).ok()?)
    }

    /// What the last operation of a place left in its buffer; `None` while one is in flight there.
    pub fn data(&mut self, place: u16, len: u32) -> Option<&[u8]> {
        if self.busy.get(usize::from(place)).copied().unwrap_or(true) {
            return None;
        }
        self.buffers.get_mut(usize::from(place))?.bytes_mut().get(..usize::try_from(len).ok()?)
    }

    /// Queues one operation for the next submission and gives its place; `None` when there is no room
    /// or the I/O does not fit a buffer.
    pub fn queue(&mut self, io: Io) -> Option<u16> {
        let place = *self.free.last()?;
        let buffer = self.buffers.get(usize::from(place))?;
        let moves_data = matches!(io.op, Op::Read | Op::Write);
        if moves_data && usize::try_from(io.len).ok()? > buffer.memory.layout.size() {
            return None;
        }
        let (file, start) = (types::Fixed(0), buffer.memory.start.as_ptr());
        let entry = match (io.op, self.fixed) {
            (Op::Read, true) => opcode::ReadFixed::new(file, start, io.len, place).offset(io.offset).build(),
            (Op::Write, true) => opcode::WriteFixed::new(file, start, io.len, place).offset(io.offset).build(),
            (Op::Read, false) => opcode::Read::new(file, start, io.len).offset(io.offset).build(),
            (Op::Write, false) => opcode::Write::new(file, start, io.len).offset(io.offset).build(),
            (Op::Flush { data_only: true }, _) => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
            (Op::Flush { data_only: false }, _) => opcode::Fsync::new(file).build(),
            // A hole punched into a block device is a discard of its blocks (Linux 4.9, block/fops.c).
            (Op::Trim, _) => opcode::Fallocate::new(file, u64::from(io.len))
                .offset(io.offset)
                .mode(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE)
                .build(),
            // A ring has no operation for it.
            (Op::Zone(_), _) => return None,
        };
        // SAFETY: the entry names the registered file and, if it moves data, a buffer of this ring, at most `len` bytes of
        // it (checked above); the place is taken now and comes free only with its completion, so the memory is the
        // operation's alone.
        unsafe { self.ring.submission().push(&entry.user_data(u64::from(place))) }.ok()?;
        if let Some(busy) = self.busy.get_mut(usize::from(place)) {
            *busy = true;
        }
        self.free.pop()
    }

    /// Hands what is queued to the kernel.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn submit(&self) -> io::Result<()> {
        self.ring.submit().map(drop)
    }

    /// Hands what is queued to the kernel and waits for a completion, but at most for `patience`.
    ///
    /// # Errors
    /// What the kernel said, but for a wait that ran out or was interrupted.
    pub fn wait(&self, patience: Duration) -> io::Result<()> {
        let time = types::Timespec::new().sec(patience.as_secs()).nsec(patience.subsec_nanos());
        let args = types::SubmitArgs::new().timespec(&time);
        match self.ring.submitter().submit_with_args(1, &args) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Hands what is queued to the kernel, lets it finish what it has of ours, and waits for nothing. Whether there is a
    /// completion.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn glance(&mut self) -> io::Result<bool> {
        let queued = u32::try_from(self.ring.submission().len()).unwrap_or(u32::MAX);
        // SAFETY: no argument is handed over; what is queued was vouched for when it was pushed.
        let entered = unsafe { self.ring.submitter().enter::<libc::sigset_t>(queued, 0, GET_EVENTS, None) };
        match entered {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::EINTR | libc::EBUSY)) => Err(error),
            _ => Ok(!self.ring.completion().is_empty()),
        }
    }

    /// Has [`wait_for_any`](Self::wait_for_any) end after this time at the latest. Nothing if an alarm is set already.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_alarm(&mut self, after: Duration) -> io::Result<()> {
        if self.alarm_set {
            return Ok(());
        }
        *self.alarm_after = types::Timespec::new().sec(after.as_secs()).nsec(after.subsec_nanos());
        let entry = opcode::Timeout::new(&raw const *self.alarm_after).build().user_data(ALARM);
        // SAFETY: the kernel reads the time when the entry is submitted, which is before this returns; the box is the
        // ring's own and is written only when no alarm is set. The queue has a place for it beside all others.
        unsafe { self.ring.submission().push(&entry) }.map_err(io::Error::other)?;
        self.alarm_set = true;
        self.submit()
    }

    /// Has a wait end also when `file` can be read. Nothing if one is watched already.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn watch(&mut self, file: &impl AsFd) -> io::Result<()> {
        if self.watching {
            return Ok(());
        }
        let events = u32::from(libc::POLLIN.unsigned_abs());
        let entry = opcode::PollAdd::new(types::Fd(file.as_fd().as_raw_fd()), events).build().user_data(WATCH);
        // SAFETY: a poll touches no memory of ours, and a descriptor that were closed would only make it fail. The queue
        // has a place for it beside all others.
        unsafe { self.ring.submission().push(&entry) }.map_err(io::Error::other)?;
        self.watching = true;
        self.submit()
    }

    /// Hands what is queued to the kernel and waits for a completion or the alarm. Unlike a wait with a time of its own
    /// this sets no timer, which on a virtual machine costs more than an I/O to fast storage.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn wait_for_any(&self) -> io::Result<()> {
        match self.ring.submit_and_wait(1) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EBUSY)) => Ok(()),
            other => other.map(drop),
        }
    }

    /// The next completion that is there: its place, which is free from now on, and the kernel's answer.
    pub fn reap(&mut self) -> Option<(u16, i32)> {
        let entry = loop {
            let entry = self.ring.completion().next()?;
            match entry.user_data() {
                ALARM => self.alarm_set = false,
                WATCH => self.watching = false,
                _ => break entry,
            }
        };
        let place = u16::try_from(entry.user_data()).ok()?;
        self.free.push(place);
        if let Some(busy) = self.busy.get_mut(usize::from(place)) {
            *busy = false;
        }
        Some((place, entry.result()))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.in_flight() == 0 {
            // The kernel takes a closed ring apart later, by itself; until then the target would stay open, and with it
            // claimed. So it is let go of here and now; an error would only mean that it is gone already.
            let _ = self.ring.submitter().unregister_files();
            let _ = self.ring.submitter().unregister_buffers();
        } else {
            // Only a panic of ours gets here. The kernel may still write into these buffers.
            std::mem::forget(std::mem::take(&mut self.buffers));
            std::mem::forget(self.arena.take());
        }
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("file", &self.file).field("in_flight", &self.in_flight()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_full_and_apart() {
        let (_arena, buffers) = Arena::with_buffers(3, 8192, 1).unwrap();
        let starts: Vec<_> = buffers.iter().map(|buffer| buffer.stable_ptr() as usize).collect();
        assert!(starts.iter().all(|start| start % ALIGNMENT == 0));
        assert!(starts.windows(2).all(|pair| pair[0].abs_diff(pair[1]) >= 8192));
        assert!(buffers.iter().all(|buffer| buffer.bytes_init() == 8192));
    }

    #[test]
    fn an_impossible_size_is_an_error_and_no_abort() {
        assert!(Arena::with_buffers(1, usize::MAX - 1, 1).is_err());
    }
}
