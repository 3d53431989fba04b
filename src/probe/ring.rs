//! The second real engine: a ring driven directly, one system call where tokio-uring makes six.
//!
//! tokio-uring waits by epoll, so an I/O at queue depth 1 costs it two entries into the ring and four into
//! epoll; on a busy machine each is a chance to lose the CPU. This engine submits after every few I/Os and waits
//! inside the ring, with the kernel's task work deferred to that moment (`DEFER_TASKRUN`, Linux 6.1; older kernels get
//! `COOP_TASKRUN` or plain rings). One alarm a period serves all waits of that period.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::buffer::Ring;
use super::engine::{Completion, Engine, EngineError, Io, Op, Source, Step};
use super::hand::{Done, Hand};
use crate::device::Claimed;
use crate::model::units::Nanos;

/// I/Os after which what is queued is handed over, without waiting for the queue to be full: collecting a whole
/// batch runs device and CPU in lock-step (0.7 of fio at QD32 on ext4; 1 to 4 are equal there, and 4 saves system calls).
const SUBMIT_EVERY: u32 = 4;
/// At most so many in flight, it is worth to wait awake for one that will end at once. With more there is always another.
const FEW: usize = 2;
/// I/Os that usually take longer than this are waited for asleep: to be woken costs some 5 µs, on a virtual machine 20 µs.
const SHORT: Nanos = Nanos(60_000);
/// How long a paused queue sleeps before it asks again.
const HOLD: Duration = Duration::from_millis(20);

/// An engine on one claimed target.
#[derive(Debug)]
pub struct RingEngine {
    claim: Arc<Claimed>,
    seed: u64,
    start: Instant,
}

impl RingEngine {
    /// An engine on a claimed target, which it holds until it is dropped. The clock begins now.
    #[must_use]
    pub fn new(claim: Claimed, seed: u64) -> Self {
        Self { claim: Arc::new(claim), seed, start: Instant::now() }
    }

    fn ring(&self, count: u16, len: usize) -> io::Result<Ring> {
        let make =
            |builder: &io_uring::Builder| Ring::new(builder, self.claim.file().try_clone()?, count, len, self.seed);
        let mut deferred = io_uring::IoUring::builder();
        deferred.setup_single_issuer().setup_defer_taskrun();
        let mut cooperative = io_uring::IoUring::builder();
        cooperative.setup_coop_taskrun();
        let unknown = |error: &io::Error| error.raw_os_error() == Some(Errno::EINVAL as i32);
        match make(&deferred) {
            Err(error) if unknown(&error) => match make(&cooperative) {
                Err(error) if unknown(&error) => make(&io_uring::IoUring::builder()),
                other => other,
            },
            other => other,
        }
    }
}

impl Engine for RingEngine {
    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn now(&self) -> Nanos {
        Nanos::from_duration(self.start.elapsed())
    }

    fn run(&mut self, iodepth: u32, max_len: u32, source: &mut dyn Source) -> Result<(), EngineError> {
        let count = u16::try_from(iodepth).unwrap_or(u16::MAX).max(1);
        let len = usize::try_from(max_len).unwrap_or(usize::MAX);
        let ring = self.ring(count, len).map_err(|source| EngineError::Ring { iodepth, source })?;
        let nothing = (Io { op: Op::Read, offset: 0, len: 0 }, Nanos(0));
        let zones = ZoneDesk::new(Hand::new(Arc::clone(&self.claim), self.start));
        let zones = zones.map_err(|source| EngineError::Ring { iodepth, source })?;
        let places = vec![nothing; usize::from(count)];
        let mut queue = Queue { ring, zones, start: self.start, places, usual: SHORT };
        queue.until_finished(source).map_err(|source| EngineError::Ring { iodepth, source })
    }
}

/// Zone operations on their way to the [`Hand`] and back. The pipe wakes the ring, which waits for it as for any I/O.
struct ZoneDesk {
    hand: Hand,
    in_flight: usize,
    tell: Sender<Done>,
    told: Receiver<Done>,
    bell: PipeReader,
    rope: PipeWriter,
}

impl ZoneDesk {
    fn new(hand: Hand) -> io::Result<Self> {
        let (tell, told) = channel();
        let (bell, rope) = io::pipe()?;
        Ok(Self { hand, in_flight: 0, tell, told, bell, rope })
    }

    fn take(&mut self, io: Io, issued: Nanos) -> io::Result<()> {
        let tell = self.tell.clone();
        let mut rope = self.rope.try_clone()?;
        self.in_flight += 1;
        let reply = move |done| {
            // Neither fails while the queue is there to listen.
            let _ = tell.send(done);
            let _ = rope.write_all(&[0]);
        };
        self.hand.take(io, issued, Box::new(reply));
        Ok(())
    }

    /// One that has ended, if there is one.
    fn reap(&mut self) -> Option<Done> {
        let done = self.told.try_recv().ok()?;
        // It rings once for each, and may ring after it was told.
        let _ = self.bell.read(&mut [0]);
        self.in_flight -= 1;
        Some(done)
    }
}

/// The names of what this kernel's io_uring can do, as io_uring_setup(2) has them in lower case.
///
/// # Errors
/// What the kernel said when it refused a ring.
pub fn features() -> io::Result<Vec<&'static str>> {
    let ring = io_uring::IoUring::new(1)?;
    let has = ring.params();
    let all = [
        ("single_mmap", has.is_feature_single_mmap()),
        ("nodrop", has.is_feature_nodrop()),
        ("submit_stable", has.is_feature_submit_stable()),
        ("rw_cur_pos", has.is_feature_rw_cur_pos()),
        ("cur_personality", has.is_feature_cur_personality()),
        ("fast_poll", has.is_feature_fast_poll()),
        ("poll_32bits", has.is_feature_poll_32bits()),
        ("sqpoll_nonfixed", has.is_feature_sqpoll_nonfixed()),
        ("ext_arg", has.is_feature_ext_arg()),
        ("native_workers", has.is_feature_native_workers()),
        ("rsrc_tags", has.is_feature_resource_tagging()),
        ("cqe_skip", has.is_feature_skip_cqe_on_success()),
        ("linked_file", has.is_feature_linked_file()),
    ];
    Ok(all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect())
}

struct Queue {
    ring: Ring,
    zones: ZoneDesk,
    start: Instant,
    /// What is in flight at each place, and since when.
    places: Vec<(Io, Nanos)>,
    /// How long I/Os have taken lately: an average in which each counts an eighth.
    usual: Nanos,
}

impl Queue {
    fn now(&self) -> Nanos {
        Nanos::from_duration(self.start.elapsed())
    }

    fn in_flight(&self) -> usize {
        self.ring.in_flight() + self.zones.in_flight
    }

    fn until_finished(&mut self, source: &mut dyn Source) -> io::Result<()> {
        let mut due = source.tick(self.now());
        loop {
            let (finished, wake) = self.fill(source, due)?;
            if finished && self.in_flight() == 0 {
                return Ok(());
            }
            if self.zones.in_flight > 0 {
                self.ring.watch(&self.zones.bell)?;
            }
            if self.in_flight() == 0 {
                std::thread::sleep((wake.min(due) - self.now()).to_duration());
            } else {
                if wake < due {
                    self.ring.wait((wake - self.now()).to_duration())?;
                } else {
                    // The usual case. One alarm serves all waits until the period ends.
                    self.ring.set_alarm((due - self.now()).to_duration())?;
                    if !self.wait_awake()? {
                        self.ring.wait_for_any()?;
                    }
                }
                self.reap(source);
            }
            let now = self.now();
            if now >= due {
                due = source.tick(now);
            }
        }
    }

    /// Where one I/O at a time ends at once, falling asleep and being woken take longer than the I/O. So its end is waited for
    /// awake, for about as long as one usually takes, and the CPU is offered to whoever carries it out: a worker of the kernel
    /// that was queued behind this thread then runs at once, and neither of the two moves to another CPU. Whether there is a
    /// completion.
    ///
    /// Measured at queue depth 1 on a loop device over tmpfs, see the table in ARCHITECTURE.md. A disk is never waited for so.
    fn wait_awake(&mut self) -> io::Result<bool> {
        if self.ring.in_flight() > FEW || self.usual > SHORT {
            return Ok(false);
        }
        let until = self.now() + self.usual + Nanos(self.usual.0 / 2);
        loop {
            if self.ring.glance()? {
                return Ok(true);
            }
            std::thread::yield_now();
            if self.now() >= until {
                return self.ring.glance();
            }
        }
    }

    /// Issues while there is room. Whether the source is finished, and when to ask it again at the latest.
    fn fill(&mut self, source: &mut dyn Source, due: Nanos) -> io::Result<(bool, Nanos)> {
        let mut queued = 0;
        let mut outcome = (false, due);
        // Zone operations take no place of the ring, but count among the I/Os in flight.
        while self.ring.has_room() && self.in_flight() < self.places.len() {
            let now = self.now();
            match source.next(now) {
                Step::Issue(io) if matches!(io.op, Op::Zone(_)) => self.zones.take(io, now)?,
                Step::Issue(io) => {
                    let mut issued = now;
                    if io.op == Op::Write
                        && let Some(data) = self.ring.next_buffer(io.len)
                        && source.prepare(&io, data)
                    {
                        issued = self.now();
                    }
                    let Some(place) = self.ring.queue(io) else {
                        // It does not fit: told as the kernel would.
                        let result = Err(Errno::EINVAL as i32);
                        source.complete(&Completion { io, issued: now, completed: now, result });
                        continue;
                    };
                    if let Some(slot) = self.places.get_mut(usize::from(place)) {
                        *slot = (io, issued);
                    }
                    queued += 1;
                    if queued == SUBMIT_EVERY {
                        self.ring.submit()?;
                        queued = 0;
                    }
                }
                Step::Wait(until) => {
                    outcome.1 = due.min(until);
                    break;
                }
                Step::Hold => {
                    outcome.1 = now + Nanos::from_duration(HOLD);
                    break;
                }
                Step::Finished => {
                    outcome.0 = true;
                    break;
                }
            }
        }
        // What is left is handed over by the wait that follows.
        Ok(outcome)
    }

    fn reap(&mut self, source: &mut dyn Source) {
        while let Some(Done { completion, zones }) = self.zones.reap() {
            if !zones.is_empty() {
                source.reported(&completion.io, &zones);
            }
            source.complete(&completion);
        }
        while let Some((place, answer)) = self.ring.reap() {
            let Some((io, issued)) = self.places.get(usize::from(place)).copied() else { continue };
            let completed = self.now();
            let result = match (io.op, u32::try_from(answer)) {
                // Both do all or nothing, and answer 0.
                (Op::Trim | Op::Flush { .. }, Ok(_)) => Ok(io.len),
                (_, answered) => answered.map_err(|_| -answer),
            };
            if let (Op::Read, Ok(moved)) = (io.op, result)
                && let Some(data) = self.ring.data(place, moved)
            {
                source.examine(&io, data);
            }
            let took = (completed - issued).0.min(SHORT.0 * 8);
            self.usual = Nanos(self.usual.0 - self.usual.0 / 8 + took / 8);
            source.complete(&Completion { io, issued, completed, result });
        }
    }
}
