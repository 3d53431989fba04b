//! A thread beside a real run that looks after the drive: what it reads may never be answered, so nobody waits for it.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tokio::sync::mpsc;

use super::job::JobEvent;
use crate::backend::{Remark, Watcher};
use crate::model::run::RunId;

/// How often it looks. A drive warms by a degree a minute or so, and on some each reading puts off its spin-down timer, which
/// a run does anyway.
const EVERY: Duration = Duration::from_secs(10);

/// The thread looks until this is dropped.
#[derive(Debug)]
pub struct Watching {
    /// Never sent on: its end is the message.
    _alive: Sender<()>,
}

/// Starts the thread. Without one the run goes on unwatched.
pub fn start(run: RunId, mut watcher: Watcher, events: mpsc::Sender<(RunId, JobEvent)>) -> Option<Watching> {
    let (alive, ended) = channel();
    let look = move || {
        loop {
            let log = watcher.look_at_log();
            // Not waited for: what finds no room is said again, or by the end of the run.
            for remark in log.into_iter().chain(watcher.look_at_temperature()) {
                let _ = events.try_send((run, JobEvent::from(remark)));
            }
            match ended.recv_timeout(EVERY) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    let started = std::thread::Builder::new().name("watch".to_owned()).spawn(look);
    if let Err(error) = &started {
        tracing::warn!(run.id = %run, %error, "no thread to look after the drive");
    }
    started.is_ok().then_some(Watching { _alive: alive })
}

impl From<Remark> for JobEvent {
    fn from(remark: Remark) -> Self {
        match remark {
            Remark::Temperature(celsius) => Self::Temperature(celsius),
            Remark::KernelLog(lines, note) => Self::KernelLog(lines, note),
        }
    }
}
