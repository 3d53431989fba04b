//! What a probe tells while it runs, and through what.

use std::collections::VecDeque;

use tokio::sync::mpsc::{Sender, error::TrySendError};

use crate::model::interval::{Interval, Tally};
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
    /// A phase ended.
    PhaseEnded {
        /// Index in the plan.
        phase: u32,
        /// When.
        t: Nanos,
        /// Why, for a person.
        ended_by: String,
        /// All its reads, at full precision.
        read: Box<Tally>,
        /// All its writes, at full precision.
        write: Box<Tally>,
    },
}

/// Where a probe's events go.
pub trait EventSink {
    /// Takes one event; never loses it.
    fn emit(&mut self, event: ProbeEvent);
}

/// Sends events over a bounded channel, each with a tag.
///
/// A real engine's thread must not wait while I/O is in flight: it would measure its own waiting. So
/// events that find the channel full are kept here and sent with the next one. A simulated engine
/// has nothing to spoil and waits (`patient`), which keeps its pace to the store's.
pub struct ChannelSink<T: Clone + Send> {
    tag: T,
    sender: Sender<(T, ProbeEvent)>,
    backlog: VecDeque<ProbeEvent>,
    patient: bool,
}

impl<T: Clone + Send> ChannelSink<T> {
    /// A sink that marks each event with `tag`.
    #[must_use]
    pub fn new(tag: T, sender: Sender<(T, ProbeEvent)>, patient: bool) -> Self {
        Self { tag, sender, backlog: VecDeque::new(), patient }
    }

    /// Sends what is left, waiting for room. Call when no I/O is in flight any more.
    pub fn flush(&mut self) {
        while let Some(event) = self.backlog.pop_front() {
            // A closed channel means the service is gone: nobody is left to be told.
            if self.sender.blocking_send((self.tag.clone(), event)).is_err() {
                return;
            }
        }
    }
}

impl<T: Clone + Send> EventSink for ChannelSink<T> {
    fn emit(&mut self, event: ProbeEvent) {
        self.backlog.push_back(event);
        if self.patient {
            self.flush();
            return;
        }
        while let Some(event) = self.backlog.pop_front() {
            match self.sender.try_send((self.tag.clone(), event)) {
                Ok(()) => {}
                Err(TrySendError::Full((_, event))) => {
                    self.backlog.push_front(event);
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
        let mut sink = ChannelSink::new((), sender, false);
        for phase in 0..3 {
            sink.emit(left_out(phase));
        }
        let mut seen = Vec::new();
        let drain = std::thread::spawn(move || {
            while let Some(((), ProbeEvent::PhaseLeftOut { phase, .. })) = receiver.blocking_recv() {
                seen.push(phase);
            }
            seen
        });
        sink.flush();
        drop(sink);
        assert_eq!(drain.join().unwrap(), [0, 1, 2]);
    }
}
