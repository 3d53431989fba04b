//! What a running probe is told from outside: go on, pause, stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// What a probe should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Issue I/O.
    Run,
    /// Issue nothing for now.
    Pause,
    /// Issue nothing ever again, drain and end.
    Stop,
}

/// A shared order; cheap enough to be read before every I/O.
///
/// Invariant: `Stop` is final; no later order takes it back.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<AtomicU8>);

impl Control {
    /// Gives an order.
    pub fn order(&self, order: Order) {
        let code = match order {
            Order::Run => 0,
            Order::Pause => 1,
            Order::Stop => 2,
        };
        // Keeps the invariant when a stop and a resume race.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| (now != 2).then_some(code));
    }

    /// The order in force.
    #[must_use]
    pub fn current(&self) -> Order {
        match self.0.load(Ordering::Relaxed) {
            0 => Order::Run,
            1 => Order::Pause,
            _ => Order::Stop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_not_taken_back() {
        let control = Control::default();
        control.order(Order::Pause);
        assert_eq!(control.current(), Order::Pause);
        control.order(Order::Stop);
        control.order(Order::Run);
        assert_eq!(control.current(), Order::Stop);
    }
}
