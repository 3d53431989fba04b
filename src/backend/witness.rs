//! What this host sees of a real drive while a run has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::device::block_stat::BlockStat;
use crate::model::approx::f64_of;
use crate::model::seen::Seen;
use crate::model::units::Nanos;
use crate::probe::run_delay::{Helpers, RunDelays};
use crate::probe::witness::Witness;

/// The temperature as last read by the one who reads it, for those who must not wait for the drive.
#[derive(Debug, Clone)]
pub struct Thermometer(Arc<AtomicI64>);

/// No temperature.
const NONE: i64 = i64::MIN;

impl Default for Thermometer {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(NONE)))
    }
}

impl Thermometer {
    /// Notes a reading, degrees Celsius; to the tenth.
    pub fn note(&self, celsius: Option<f64>) {
        let tenths = celsius.map(|celsius| {
            let magnitude = crate::model::approx::u64_of(celsius.abs() * 10.0);
            let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
            if celsius < 0.0 { -magnitude } else { magnitude }
        });
        self.0.store(tenths.unwrap_or(NONE), Ordering::Relaxed);
    }

    /// As last read.
    #[must_use]
    pub fn latest(&self) -> Option<f64> {
        let tenths = self.0.load(Ordering::Relaxed);
        (tenths != NONE).then(|| f64_of(tenths.unsigned_abs()) / if tenths < 0 { -10.0 } else { 10.0 })
    }
}

/// The block layer's count, the threads' waits, the temperature.
pub struct HostWitness {
    stat: Option<BlockStat>,
    delays: RunDelays,
    thermometer: Thermometer,
}

impl HostWitness {
    /// To be made on the engine's thread.
    pub fn new(stat: Option<BlockStat>, helpers: Helpers, thermometer: Thermometer) -> Self {
        Self { stat, delays: RunDelays::of_this_thread(helpers), thermometer }
    }
}

impl Witness for HostWitness {
    fn look(&mut self, _now: Nanos) -> Seen {
        Seen {
            device: self.stat.as_mut().and_then(BlockStat::since),
            run_delay: self.delays.since(),
            temperature_celsius: self.thermometer.latest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temperature_is_kept_to_the_tenth_and_none_is_none() {
        let thermometer = Thermometer::default();
        assert_eq!(thermometer.latest(), None);
        for celsius in [41.5, -3.2, 0.0] {
            thermometer.note(Some(celsius));
            assert_eq!(thermometer.latest(), Some(celsius));
        }
        thermometer.note(None);
        assert_eq!(thermometer.latest(), None);
    }
}
