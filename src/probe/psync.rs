//! The fallback engine: threads with `pread` and `pwrite`, for hosts where io_uring is refused or absent.
//!
//! One I/O in flight is carried out by the calling thread itself. More are handed to as many threads,
//! each with a buffer of its own; the calling thread keeps the source, so a source needs no lock. The
//! way to a thread and back costs some microseconds, which no disk notices and a fast SSD does: the engine's
//! name stands in every result.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::buffer::{Arena, Buffer};
use super::engine::{Completion, Engine, EngineError, Io, Op, Source, Step};
use super::hand;
use super::run_delay::Workers;
use crate::device::{Claimed, ioctl};
use crate::model::units::Nanos;
use crate::model::zone::Zone;

/// How long a paused queue sleeps before it asks again.
const HOLD: Duration = Duration::from_millis(20);

/// An engine on one claimed target.
#[derive(Debug)]
pub struct PsyncEngine {
    claim: Claimed,
    seed: u64,
    start: Instant,
    workers: Workers,
}

impl PsyncEngine {
    /// An engine on a claimed target, which it holds until it is dropped. The clock begins now.
    #[must_use]
    pub fn new(claim: Claimed, seed: u64) -> Self {
        Self { claim, seed, start: Instant::now(), workers: Workers::default() }
    }

    /// Its threads, as far as they are there, for whoever counts how long they wait for a CPU.
    #[must_use]
    pub fn workers(&self) -> Workers {
        self.workers.clone()
    }
}

impl Engine for PsyncEngine {
    fn name(&self) -> &'static str {
        "psync"
    }

    fn now(&self) -> Nanos {
        Nanos::from_duration(self.start.elapsed())
    }

    fn run(&mut self, iodepth: u32, max_len: u32, source: &mut dyn Source) -> Result<(), EngineError> {
        let refused = |source| EngineError::Buffers { count: iodepth, len: max_len, source };
        let count = usize::try_from(iodepth).unwrap_or(1).max(1);
        let len = usize::try_from(max_len).unwrap_or(usize::MAX);
        let (_arena, buffers) = Arena::with_buffers(count, len, self.seed).map_err(refused)?;
        let claim = &self.claim;
        let start = self.start;
        thread::scope(|scope| {
            let (tell, done) = channel();
            let mut hands = Hands { start, claim, buffers, threads: Vec::new(), idle: Vec::new(), done };
            // One at a time needs no other thread.
            for index in (0..count).filter(|_| count > 1) {
                let (orders, taken) = channel();
                let tell = tell.clone();
                let workers = &self.workers;
                let worker = move || {
                    let _enrolled = workers.enrol();
                    serve(index, claim, &taken, &tell, start);
                };
                thread::Builder::new().name(format!("psync-{index}")).spawn_scoped(scope, worker).map_err(refused)?;
                hands.threads.push(orders);
                hands.idle.push(index);
            }
            hands.until_finished(source);
            // Dropping the orders ends the threads, which the scope awaits.
            Ok(())
        })
    }
}

/// One I/O on its way to a thread, with the buffer it may use.
struct Order {
    io: Io,
    issued: Nanos,
    buffer: Buffer,
}

/// One I/O on its way back, with its buffer.
struct Done {
    thread: usize,
    completion: Completion,
    zones: Vec<Zone>,
    buffer: Buffer,
}

/// One thread: one I/O after the other, until there are no more orders.
fn serve(thread: usize, claim: &Claimed, orders: &Receiver<Order>, done: &Sender<Done>, start: Instant) {
    while let Ok(Order { io, issued, mut buffer }) = orders.recv() {
        let (completion, zones) = carry_out(claim, &mut buffer, io, issued, start);
        if done.send(Done { thread, completion, zones, buffer }).is_err() {
            return;
        }
    }
}

/// How it ended, and what a report of zones brought.
fn carry_out(claim: &Claimed, buffer: &mut Buffer, io: Io, issued: Nanos, start: Instant) -> (Completion, Vec<Zone>) {
    let file = claim.file();
    let result = match io.op {
        Op::Read => with_data(buffer, io, |bytes| file.read_at(bytes, io.offset)),
        Op::Write => with_data(buffer, io, |bytes| file.write_at(bytes, io.offset)),
        // These do all or nothing.
        Op::Flush { data_only: true } => file.sync_data().map(|()| io.len),
        Op::Flush { data_only: false } => file.sync_all().map(|()| io.len),
        Op::Trim => ioctl::punch_hole(file, io.offset, io.len).map(|()| io.len),
        Op::Zone(_) => {
            let done = hand::carry_out(claim, io, issued, start);
            return (done.completion, done.zones);
        }
    };
    let result = result.map_err(|error| error.raw_os_error().unwrap_or(Errno::EIO as i32));
    (Completion { io, issued, completed: Nanos::from_duration(start.elapsed()), result }, Vec::new())
}

fn with_data(buffer: &mut Buffer, io: Io, call: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<u32> {
    let len = usize::try_from(io.len).unwrap_or(usize::MAX);
    let bytes = buffer.bytes_mut().get_mut(..len).ok_or_else(|| io::Error::from(Errno::EINVAL))?;
    call(bytes).map(|moved| u32::try_from(moved).unwrap_or(u32::MAX))
}

/// Who carries out I/Os: the calling thread alone, or threads that wait for orders.
struct Hands<'a> {
    start: Instant,
    claim: &'a Claimed,
    /// Buffers that are not on their way.
    buffers: Vec<Buffer>,
    /// Empty when the calling thread does the work itself.
    threads: Vec<Sender<Order>>,
    idle: Vec<usize>,
    done: Receiver<Done>,
}

impl Hands<'_> {
    fn now(&self) -> Nanos {
        Nanos::from_duration(self.start.elapsed())
    }

    fn until_finished(&mut self, source: &mut dyn Source) {
        let mut due = source.tick(self.now());
        loop {
            let (mut finished, mut wake) = (false, due);
            while !self.buffers.is_empty() {
                let now = self.now();
                if now >= due {
                    due = source.tick(now);
                    wake = wake.min(due);
                }
                match source.next(now) {
                    Step::Issue(io) => self.issue(io, now, source),
                    Step::Wait(until) => {
                        wake = due.min(until);
                        break;
                    }
                    Step::Hold => {
                        wake = now + Nanos::from_duration(HOLD);
                        break;
                    }
                    Step::Finished => {
                        finished = true;
                        break;
                    }
                }
            }
            let in_flight = self.idle.len() < self.threads.len();
            if finished && !in_flight {
                return;
            }
            self.wait(wake, source);
            let now = self.now();
            if now >= due {
                due = source.tick(now);
            }
        }
    }

    fn issue(&mut self, io: Io, now: Nanos, source: &mut dyn Source) {
        let Some(mut buffer) = self.buffers.pop() else { return };
        let len = usize::try_from(io.len).unwrap_or(usize::MAX);
        let mut issued = now;
        if io.op == Op::Write
            && let Some(data) = buffer.bytes_mut().get_mut(..len)
            && source.prepare(&io, data)
        {
            issued = self.now();
        }
        match self.idle.pop().and_then(|thread| self.threads.get(thread)) {
            // A thread ends only when its orders are dropped, so one that is there takes them.
            Some(thread) => drop(thread.send(Order { io, issued, buffer })),
            None => {
                let (completion, zones) = carry_out(self.claim, &mut buffer, io, issued, self.start);
                self.take_back(&completion, &zones, buffer, source);
            }
        }
    }

    fn take_back(&mut self, completion: &Completion, zones: &[Zone], mut buffer: Buffer, source: &mut dyn Source) {
        if !zones.is_empty() {
            source.reported(&completion.io, zones);
        }
        if let (Op::Read, Ok(moved)) = (completion.io.op, completion.result)
            && let Some(data) = buffer.bytes_mut().get(..usize::try_from(moved).unwrap_or(usize::MAX))
        {
            source.examine(&completion.io, data);
        }
        source.complete(completion);
        self.buffers.push(buffer);
    }

    /// Waits for completions, but not beyond `wake`.
    fn wait(&mut self, wake: Nanos, source: &mut dyn Source) {
        let patience = (wake - self.now()).to_duration();
        if self.threads.is_empty() {
            thread::sleep(patience);
            return;
        }
        let mut next = self.done.recv_timeout(patience).ok();
        while let Some(Done { thread, completion, zones, buffer }) = next {
            self.idle.push(thread);
            self.take_back(&completion, &zones, buffer, source);
            next = self.done.try_recv().ok();
        }
    }
}
