//! What a probe tells while it runs, and through what.

use std::collections::VecDeque;

use tokio::sync::mpsc::{Sender, error::TrySendError};

use crate::model::interval::{Interval, PhaseSums};
use crate::model::units::Nanos;

/// One thing that happened in a run, in order.
#[derive(Debug, Clone)]
pub enum ProbeEvent {
    /// A phase began at this time of the run's clock.
    PhaseBegan {
        /// Index in the plan.
        phase: u32,
        /// When.
        t: Nanos,
    },
    /// A phase was left out.
    PhaseLeftOut {
        /// Index in the plan.
        phase: u32,
        /// Why.
        why: String,
    },
    /// A period ended.
    Interval(Box<Interval>),
    /// An I/O failed, one of the first of its run.
    Fault {
        /// When.
        t: Nanos,
        /// Which and how, for a person.
        text: String,
    },
    /// A phase ended.
    PhaseEnded {
        /// Index in the plan.
        phase: u32,
        /// When.
        t: Nanos,
        /// Why, for a person.
        ended_by: String,
        /// All it did, at full precision, without its ramp.
        sums: Box<PhaseSums>,
    },
}

/// Where a probe's events go.
pub trait EventSink {
    /// Takes one event; never loses it.
    fn emit(&mut self, event: ProbeEvent);
}

/// Sends events over a bounded channel, each wrapped into the receiver's message.
///
/// A real engine's thread must not wait while I/O is in flight: it would measure its own waiting. So
/// events that find the channel full are kept here and sent with the next one. A simulated engine
/// has nothing to spoil and waits (`patient`), which keeps its pace to the store's.
pub struct ChannelSink<M> {
    wrap: Box<dyn Fn(ProbeEvent) -> M + Send>,
    sender: Sender<M>,
    backlog: VecDeque<M>,
    patient: bool,
}

impl<M: Send> ChannelSink<M> {
    /// A sink that sends each event through `wrap`.
    pub fn new(sender: Sender<M>, patient: bool, wrap: impl Fn(ProbeEvent) -> M + Send + 'static) -> Self {
        Self { wrap: Box::new(wrap), sender, backlog: VecDeque::new(), patient }
    }

    /// Sends what is left, waiting for room. Call when no I/O is in flight any more.
    pub fn flush(&mut self) {
        while let Some(message) = self.backlog.pop_front() {
            // A closed channel means the service is gone: nobody is left to be told.
            if self.sender.blocking_send(message).is_err() {
                return;
            }
        }
    }
}

impl<M: Send> EventSink for ChannelSink<M> {
    fn emit(&mut self, event: ProbeEvent) {
        self.backlog.push_back((self.wrap)(event));
        if self.patient {
            self.flush();
            return;
        }
        while let Some(message) = self.backlog.pop_front() {
            match self.sender.try_send(message) {
                Ok(()) => {}
                Err(TrySendError::Full(message)) => {
                    self.backlog.push_front(message);
                    return;
                }
                Err(TrySendError::Closed(_)) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(phase: u32) -> ProbeEvent {
        ProbeEvent::PhaseLeftOut { phase, why: String::new() }
    }

    #[test]
    fn a_full_channel_delays_events_and_loses_none() {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let mut sink = ChannelSink::new(sender, false, |event| event);
        for phase in 0..3 {
            sink.emit(left_out(phase));
        }
        let mut seen = Vec::new();
        let drain = std::thread::spawn(move || {
            while let Some(ProbeEvent::PhaseLeftOut { phase, .. }) = receiver.blocking_recv() {
                seen.push(phase);
            }
            seen
        });
        sink.flush();
        drop(sink);
        assert_eq!(drain.join().unwrap(), [0, 1, 2]);
    }
}
