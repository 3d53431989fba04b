//! A thread for what would block an engine: zone operations, which are ioctls that return when the drive has answered.
//!
//! A ring has no operation for them (`IORING_OP_URING_CMD` knows none for zones), and on the ring's own thread they would hold
//! up every other I/O, for seconds on some disks. One thread is enough: a pattern asks for one at a time.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use nix::errno::Errno;

use super::engine::{Completion, Io, Op};
use crate::device::{Claimed, zone_management};
use crate::model::units::{Bytes, Nanos};
use crate::model::zone::{Zone, ZoneOp};

/// A zone operation that has ended.
#[derive(Debug)]
pub struct Done {
    /// How.
    pub completion: Completion,
    /// What a report brought.
    pub zones: Vec<Zone>,
}

/// Whom to tell. Called on the hand's thread.
type Reply = Box<dyn FnOnce(Done) + Send>;

/// The thread, which begins with the first order and ends when this is dropped.
pub struct Hand {
    claim: Arc<Claimed>,
    start: Instant,
    thread: Option<(Sender<Order>, JoinHandle<()>)>,
}

struct Order {
    io: Io,
    issued: Nanos,
    reply: Reply,
}

impl Hand {
    /// A hand on a claimed target, whose clock began at `start`.
    #[must_use]
    pub fn new(claim: Arc<Claimed>, start: Instant) -> Self {
        Self { claim, start, thread: None }
    }

    /// Has a zone operation carried out. `reply` is called in any case.
    pub fn take(&mut self, io: Io, issued: Nanos, reply: Reply) {
        let order = Order { io, issued, reply };
        let order = match self.orders() {
            Ok(orders) => match orders.send(order) {
                Ok(()) => return,
                Err(refused) => refused.0,
            },
            Err(_) => order,
        };
        let completed = Nanos::from_duration(self.start.elapsed());
        let completion = Completion { io, issued, completed, result: Err(Errno::EAGAIN as i32) };
        (order.reply)(Done { completion, zones: Vec::new() });
    }

    fn orders(&mut self) -> io::Result<&Sender<Order>> {
        if self.thread.is_none() {
            let (orders, taken) = channel();
            let (claim, start) = (Arc::clone(&self.claim), self.start);
            let serve = move || serve(&claim, &taken, start);
            let thread = thread::Builder::new().name("zones".to_owned()).spawn(serve)?;
            self.thread = Some((orders, thread));
        }
        self.thread.as_ref().map(|(orders, _)| orders).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        // Without this the claim would outlive the engine by the thread's last order.
        if let Some((orders, thread)) = self.thread.take() {
            drop(orders);
            let _ = thread.join();
        }
    }
}

fn serve(claim: &Claimed, orders: &Receiver<Order>, start: Instant) {
    while let Ok(Order { io, issued, reply }) = orders.recv() {
        reply(carry_out(claim, io, issued, start));
    }
}

/// Carries out a zone operation on the calling thread.
pub fn carry_out(claim: &Claimed, io: Io, issued: Nanos, start: Instant) -> Done {
    let at = Bytes(io.offset);
    let mut zones = Vec::new();
    let result = match (io.op, claim.writable()) {
        (Op::Zone(ZoneOp::Report), _) => zone_management::report_from(claim, at).map(|found| zones = found),
        (Op::Zone(op), Some(writable)) => zone_management::manage(writable, op, at),
        // What was claimed for reading is not to be changed.
        _ => Err(Errno::EBADF.into()),
    };
    let result = result.map(|()| io.len).map_err(|error| error.raw_os_error().unwrap_or(Errno::EIO as i32));
    let completion = Completion { io, issued, completed: Nanos::from_duration(start.elapsed()), result };
    Done { completion, zones }
}
