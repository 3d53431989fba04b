//! The real engine: tokio-uring on a thread of its own.
//!
//! What was measured to matter (4 KiB, QD32, beside fio with fixed buffers, medians):
//! * `COOP_TASKRUN | SINGLE_ISSUER`: without them every completion that arrives from another CPU
//!   interrupts this thread (0.23 to 0.84 of fio on zram and loop; with them 0.98 to 1.02).
//! * A submission queue of 4 entries: tokio-uring submits only when its queue is full or the thread
//!   parks, and collecting 32 I/Os runs CPU and device in lock-step (0.69 of fio on ext4; with 4: 0.96 to 1.0).
//! * `DEFER_TASKRUN` hangs: tokio-uring waits by epoll and never enters the ring for events.
//!
//! An operation in flight is never dropped: each place of the queue is a future that ends only between
//! two operations, and [`run`](Engine::run) awaits them all.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use nix::fcntl::FallocateFlags;
use tokio_uring::buf::BoundedBuf;
use tokio_uring::buf::fixed::{FixedBuf, FixedBufRegistry};

use super::buffer::Arena;
use super::engine::{Completion, Engine, EngineError, Io, Op, Source, Step};
use super::hand::Hand;
use crate::device::Claimed;
use crate::model::units::Nanos;

/// Entries of the submission queue; see the module's text.
const SUBMISSION_ENTRIES: u32 = 4;
/// Entries of the completion queue: at least twice the largest iodepth, so that it cannot overflow.
const COMPLETION_ENTRIES: u32 = 2_048;
/// tokio-uring ignores a failed submission when the thread parks; waking this often retries it.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// How long a paused place of the queue sleeps before it asks again.
const HOLD: Duration = Duration::from_millis(20);

/// An engine on one claimed target.
pub struct UringEngine {
    claim: Arc<Claimed>,
    seed: u64,
    start: Instant,
}

impl UringEngine {
    /// An engine on a claimed target, which it holds until it is dropped. The clock begins now.
    /// A claim for reading has a descriptor that cannot write.
    #[must_use]
    pub fn new(claim: Claimed, seed: u64) -> Self {
        Self { claim: Arc::new(claim), seed, start: Instant::now() }
    }
}

/// Asks the kernel for a ring such as the engine uses.
///
/// # Errors
/// What the kernel said: `EPERM` under seccomp or `kernel.io_uring_disabled`, `ENOSYS` before 5.1.
pub fn self_test() -> io::Result<()> {
    accepted_ring().map(drop)
}

/// The ring's set-up flags that this kernel takes.
fn accepted_ring() -> io::Result<io_uring::Builder> {
    let mut plain = tokio_uring::uring_builder();
    plain.setup_cqsize(COMPLETION_ENTRIES);
    let mut quiet = plain.clone();
    quiet.setup_coop_taskrun().setup_single_issuer();
    match quiet.build(SUBMISSION_ENTRIES) {
        Ok(_) => Ok(quiet),
        // Kernels before 6.0 do not know the newer flags.
        Err(error) if error.raw_os_error() == Some(nix::errno::Errno::EINVAL as i32) => {
            plain.build(SUBMISSION_ENTRIES).map(|_| plain)
        }
        Err(error) => Err(error),
    }
}

/// tokio-uring leaks half a runtime when its ring is refused, so a ring is tried by itself first.
fn runtime() -> io::Result<tokio_uring::Runtime> {
    let ring = accepted_ring()?;
    tokio_uring::Runtime::new(tokio_uring::builder().entries(SUBMISSION_ENTRIES).uring_builder(&ring))
}

impl Engine for UringEngine {
    fn name(&self) -> &'static str {
        "tokio-uring"
    }

    fn now(&self) -> Nanos {
        Nanos::from_duration(self.start.elapsed())
    }

    fn run(&mut self, iodepth: u32, max_len: u32, source: &mut dyn Source) -> Result<(), EngineError> {
        let refused = |source| EngineError::Buffers { count: iodepth, len: max_len, source };
        let count = usize::try_from(iodepth).unwrap_or(1).max(1);
        let len = usize::try_from(max_len).unwrap_or(usize::MAX);
        // Before the runtime, so that it is dropped after it: see `buffer`.
        let (_arena, buffers) = Arena::with_buffers(count, len, self.seed).map_err(refused)?;
        let file = self.claim.file().try_clone().map_err(refused)?;
        let runtime = runtime().map_err(|source| EngineError::Ring { iodepth, source })?;
        let start = self.start;
        let hand = RefCell::new(Hand::new(Arc::clone(&self.claim), start));
        runtime.block_on(async move {
            let registry = FixedBufRegistry::new(buffers);
            // Registering pins memory, which an ordinary user may do up to RLIMIT_MEMLOCK only. The same
            // buffers serve unregistered, a little slower.
            let registered = registry.register().is_ok();
            let file = tokio_uring::fs::File::from_std(file);
            let queue = Queue { file, registered, start, hand, source: RefCell::new(source) };
            let places = FuturesUnordered::new();
            for index in 0..count {
                let buffer = registry.check_out(index).ok_or_else(|| refused(io::ErrorKind::OutOfMemory.into()))?;
                places.push(queue.place(buffer));
            }
            queue.until_empty(places).await;
            Ok(())
        })
    }
}

fn usize_of_len(len: u32) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

struct Queue<'a> {
    file: tokio_uring::fs::File,
    registered: bool,
    start: Instant,
    hand: RefCell<Hand>,
    source: RefCell<&'a mut dyn Source>,
}

impl Queue<'_> {
    fn now(&self) -> Nanos {
        Nanos::from_duration(self.start.elapsed())
    }

    /// One place of the queue: one I/O after the other, until the source is finished.
    async fn place(&self, mut buffer: FixedBuf) {
        loop {
            let now = self.now();
            // The borrow must not be held over an await: other places use the source meanwhile.
            let step = self.source.borrow_mut().next(now);
            match step {
                Step::Issue(io) if matches!(io.op, Op::Zone(_)) => self.manage_zone(io, now).await,
                Step::Issue(io) => {
                    let issued = if self.prepare(&io, &mut buffer) { self.now() } else { now };
                    let result;
                    (result, buffer) = self.carry_out(io, buffer).await;
                    let completion = Completion { io, issued, completed: self.now(), result };
                    let mut source = self.source.borrow_mut();
                    if let (Op::Read, Ok(moved)) = (io.op, result)
                        && let Some(data) = buffer.get(..usize_of_len(moved))
                    {
                        source.examine(&io, data);
                    }
                    source.complete(&completion);
                }
                Step::Wait(until) => {
                    let wait = (until - self.now()).to_duration().min(HEARTBEAT);
                    tokio::time::sleep(wait).await;
                }
                Step::Hold => tokio::time::sleep(HOLD).await,
                Step::Finished => return,
            }
        }
    }

    async fn manage_zone(&self, io: Io, issued: Nanos) {
        let (tell, told) = tokio::sync::oneshot::channel();
        self.hand.borrow_mut().take(io, issued, Box::new(move |done| drop(tell.send(done))));
        // The hand always answers.
        let Ok(done) = told.await else { return };
        let mut source = self.source.borrow_mut();
        if !done.zones.is_empty() {
            source.reported(&io, &done.zones);
        }
        source.complete(&done.completion);
    }

    async fn carry_out(&self, io: Io, buffer: FixedBuf) -> (Result<u32, i32>, FixedBuf) {
        let writes = match io.op {
            Op::Read => false,
            Op::Write => true,
            Op::Trim | Op::Flush { .. } | Op::Zone(_) => return (self.carry_out_without_data(io).await, buffer),
        };
        let slice = buffer.slice(..usize_of_len(io.len));
        let (result, slice) = match (writes, self.registered) {
            (false, true) => self.file.read_fixed_at(slice, io.offset).await,
            (true, true) => self.file.write_fixed_at(slice, io.offset).await,
            (false, false) => self.file.read_at(slice, io.offset).await,
            (true, false) => self.file.write_at(slice, io.offset).submit().await,
        };
        let result = match result {
            Ok(moved) => Ok(u32::try_from(moved).unwrap_or(u32::MAX)),
            Err(error) => Err(error.raw_os_error().unwrap_or(nix::errno::Errno::EIO as i32)),
        };
        (result, slice.into_inner())
    }

    /// A hole punched into a block device is a discard of its blocks (Linux 4.9, block/fops.c).
    async fn carry_out_without_data(&self, io: Io) -> Result<u32, i32> {
        let punch = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let result = match io.op {
            Op::Flush { data_only: true } => self.file.sync_data().await,
            Op::Flush { data_only: false } => self.file.sync_all().await,
            _ => self.file.fallocate(io.offset, u64::from(io.len), punch.bits()).await,
        };
        // Both do all or nothing.
        result.map(|()| io.len).map_err(|error| error.raw_os_error().unwrap_or(nix::errno::Errno::EIO as i32))
    }

    fn prepare(&self, io: &Io, buffer: &mut FixedBuf) -> bool {
        let Some(data) = buffer.get_mut(..usize_of_len(io.len)) else { return false };
        io.op == Op::Write && self.source.borrow_mut().prepare(io, data)
    }

    /// Waits until every place has ended, and closes periods meanwhile, also when nothing completes.
    async fn until_empty(&self, mut places: FuturesUnordered<impl Future<Output = ()>>) {
        let mut due = self.source.borrow_mut().tick(self.now());
        loop {
            let wait = (due - self.now()).to_duration().min(HEARTBEAT);
            tokio::select! {
                biased;
                // Dropping `next()` drops no place: they stay in the set.
                ended = places.next() => if ended.is_none() { return },
                () = tokio::time::sleep(wait) => due = self.source.borrow_mut().tick(self.now()),
            }
        }
    }
}

impl std::fmt::Debug for UringEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UringEngine").field("claim", &self.claim).finish_non_exhaustive()
    }
}
