//! The fallback engine: threads with `pread` and `pwrite`, for hosts where io_uring is refused or absent.
//!
//! One I/O in flight is carried out by the calling thread itself. More are handed to as many threads,
//! each with a buffer of its own; the calling thread keeps the source, so a source needs no lock. The
//! way to a thread and back costs some microseconds, which no disk notices and a fast SSD does: the engine's
//! name stands in every result.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::fallocate;

use super::buffer::{Arena, Buffer, PUNCH_HOLE};
use super::engine::{Completion, Engine, EngineError, Io, Op, Source, Step};
use crate::device::Claimed;
use crate::model::units::Nanos;

/// How long a paused queue sleeps before it asks again.
const HOLD: Duration = Duration::from_millis(20);

/// An engine on one claimed target.
#[derive(Debug)]
pub struct PsyncEngine {
    claim: Claimed,
    seed: u64,
    start: Instant,
}

impl PsyncEngine {
    /// An engine on a claimed target, which it holds until it is dropped. The clock begins now.
    #[must_use]
    pub fn new(claim: Claimed, seed: u64) -> Self {
        Self { claim, seed, start: Instant::now() }
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
        let file = self.claim.file();
        let start = self.start;
        thread::scope(|scope| {
            let (done, completions) = channel();
            let mut hands = Hands { start, inline: None, threads: Vec::new(), idle: Vec::new(), completions };
            for (index, buffer) in buffers.into_iter().enumerate() {
                if count == 1 {
                    hands.inline = Some((file, buffer));
                    break;
                }
                let (orders, work) = channel();
                let done = done.clone();
                let worker = move || serve(index, file, &work, &done, start);
                thread::Builder::new().name(format!("psync-{index}")).spawn_scoped(scope, worker).map_err(refused)?;
                hands.threads.push(orders);
                hands.idle.push((index, buffer));
            }
            hands.until_finished(source);
            // Dropping the orders ends the threads, which the scope awaits.
            Ok(())
        })
    }
}

/// What a thread is told to do, with the buffer to do it in; it gives that back with the completion, so that the
/// source's thread can fill and see it.
type Order = (Io, Nanos, Buffer);
type Ended = (usize, Completion, Buffer);

/// One thread: one I/O after the other, until there are no more orders.
fn serve(index: usize, file: &File, work: &Receiver<Order>, done: &Sender<Ended>, start: Instant) {
    while let Ok((io, issued, mut buffer)) = work.recv() {
        let completion = carry_out(file, &mut buffer, io, issued, start);
        if done.send((index, completion, buffer)).is_err() {
            return;
        }
    }
}

fn carry_out(file: &File, buffer: &mut Buffer, io: Io, issued: Nanos, start: Instant) -> Completion {
    // A trim's or a flush's all is `len`: they do it, or nothing.
    let all = usize::try_from(io.len).unwrap_or(usize::MAX);
    let too_long = || io::Error::from_raw_os_error(Errno::EINVAL as i32);
    let result = match io.op {
        Op::Read => {
            buffer.bytes_mut().get_mut(..all).ok_or_else(too_long).and_then(|data| file.read_at(data, io.offset))
        }
        Op::Write => buffer.bytes().get(..all).ok_or_else(too_long).and_then(|data| file.write_at(data, io.offset)),
        Op::Trim => trim(file, io).map(|()| all),
        Op::Flush { data_only: true } => file.sync_data().map(|()| all),
        Op::Flush { data_only: false } => file.sync_all().map(|()| all),
    };
    let result = match result {
        Ok(moved) => Ok(u32::try_from(moved).unwrap_or(u32::MAX)),
        Err(error) => Err(error.raw_os_error().unwrap_or(Errno::EIO as i32)),
    };
    Completion { io, issued, completed: Nanos::from_duration(start.elapsed()), result }
}

fn trim(file: &File, io: Io) -> io::Result<()> {
    let signed = |bytes: u64| i64::try_from(bytes).map_err(|_| io::Error::from(Errno::EINVAL));
    Ok(fallocate(file, PUNCH_HOLE, signed(io.offset)?, signed(u64::from(io.len))?)?)
}

/// Fills the buffer of a write, if the source wants to. Says whether it did.
fn prepare(source: &mut dyn Source, io: &Io, buffer: &mut Buffer) -> bool {
    let len = usize::try_from(io.len).unwrap_or(usize::MAX);
    io.op == Op::Write && buffer.bytes_mut().get_mut(..len).is_some_and(|data| source.prepare(io, data))
}

/// Tells the source of a completion, and what a read brought.
fn complete(source: &mut dyn Source, completion: &Completion, buffer: &Buffer) {
    if let (Op::Read, Ok(moved)) = (completion.io.op, completion.result)
        && let Some(data) = buffer.bytes().get(..usize::try_from(moved).unwrap_or(usize::MAX))
    {
        source.examine(&completion.io, data);
    }
    source.complete(completion);
}

/// Who carries out I/Os: the calling thread, or threads that wait for orders.
struct Hands<'a> {
    start: Instant,
    inline: Option<(&'a File, Buffer)>,
    threads: Vec<Sender<Order>>,
    /// Threads without work, and the buffers they will have.
    idle: Vec<(usize, Buffer)>,
    completions: Receiver<Ended>,
}

impl Hands<'_> {
    fn now(&self) -> Nanos {
        Nanos::from_duration(self.start.elapsed())
    }

    fn until_finished(&mut self, source: &mut dyn Source) {
        let mut due = source.tick(self.now());
        loop {
            let (mut finished, mut wake) = (false, due);
            while self.inline.is_some() || !self.idle.is_empty() {
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
        // Filling is not the drive's time.
        let start = self.start;
        let issued = |filled: bool| if filled { Nanos::from_duration(start.elapsed()) } else { now };
        if let Some((file, buffer)) = &mut self.inline {
            let issued = issued(prepare(source, &io, buffer));
            let completion = carry_out(file, buffer, io, issued, start);
            complete(source, &completion, buffer);
        } else if let Some((index, mut buffer)) = self.idle.pop()
            && let Some(thread) = self.threads.get(index)
        {
            let issued = issued(prepare(source, &io, &mut buffer));
            // A thread ends only when its orders are dropped, so one that is there takes them.
            let _ = thread.send((io, issued, buffer));
        }
    }

    /// Waits for completions, but not beyond `wake`.
    fn wait(&mut self, wake: Nanos, source: &mut dyn Source) {
        let patience = (wake - self.now()).to_duration();
        if self.inline.is_some() {
            thread::sleep(patience);
            return;
        }
        match self.completions.recv_timeout(patience) {
            Ok(first) => {
                let mut next = Some(first);
                while let Some((index, completion, buffer)) = next {
                    complete(source, &completion, &buffer);
                    self.idle.push((index, buffer));
                    next = self.completions.try_recv().ok();
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}
