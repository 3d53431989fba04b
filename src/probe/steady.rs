//! Has the rate settled? SNIA's question, asked of one round after the other.

use std::collections::VecDeque;

use crate::model::approx::{f64_of, f64_of_len};
use crate::model::interval::Interval;
use crate::model::units::Nanos;
use crate::model::workload::{SteadyOf, SteadyRule};

/// Watches a phase for steady state (see [`SteadyRule`]).
#[derive(Debug, Clone)]
pub struct Steady {
    rule: SteadyRule,
    done: u64,
    lasted: Nanos,
    rounds: VecDeque<f64>,
}

impl Steady {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(rule: SteadyRule) -> Self {
        Self { rule, done: 0, lasted: Nanos(0), rounds: VecDeque::new() }
    }

    /// Takes one interval; a reason when the rate is steady. Rounds end with the interval that fills them.
    pub fn observe(&mut self, interval: &Interval) -> Option<String> {
        if interval.ramp {
            return None;
        }
        self.done += match self.rule.of {
            SteadyOf::Iops => interval.read.ios + interval.write.ios,
            SteadyOf::Bw => interval.read.bytes.0 + interval.write.bytes.0,
        };
        self.lasted = self.lasted + interval.duration;
        if self.lasted < Nanos::from_secs(self.rule.round_s.max(1)) {
            return None;
        }
        let rate = f64_of(std::mem::take(&mut self.done)) / std::mem::take(&mut self.lasted).as_secs_f64();
        let window = usize::try_from(self.rule.rounds.max(2)).unwrap_or(usize::MAX);
        self.rounds.push_back(rate);
        if self.rounds.len() > window {
            self.rounds.pop_front();
        }
        if self.rounds.len() < window { None } else { self.judge() }
    }

    fn judge(&self) -> Option<String> {
        let count = f64_of_len(self.rounds.len());
        let mean = self.rounds.iter().sum::<f64>() / count;
        if mean <= 0.0 {
            return None;
        }
        let largest = self.rounds.iter().copied().fold(f64::MIN, f64::max);
        let smallest = self.rounds.iter().copied().fold(f64::MAX, f64::min);
        let range = (largest - smallest) / mean * 100.0;
        // Least squares over x = 0, 1, …: the rise from the first to the last round of the line.
        let middle = (count - 1.0) / 2.0;
        let (mut across, mut along) = (0.0, 0.0);
        for (nth, rate) in self.rounds.iter().enumerate() {
            let x = f64_of_len(nth) - middle;
            across += x * (rate - mean);
            along += x * x;
        }
        let slope = (across / along * (count - 1.0) / mean * 100.0).abs();
        let steady = range <= f64::from(self.rule.range_percent) && slope <= f64::from(self.rule.slope_percent);
        let what = match self.rule.of {
            SteadyOf::Iops => format!("{mean:.0} I/Os per second"),
            SteadyOf::Bw => format!("{:.1} MB/s", mean / 1e6),
        };
        steady.then(|| {
            format!(
                "steady at {what}: {} rounds of {} s stayed within {range:.1} % of their mean (at most {}), with a \
                 slope of {slope:.1} % (at most {})",
                self.rounds.len(),
                self.rule.round_s,
                self.rule.range_percent,
                self.rule.slope_percent
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNIA: SteadyRule =
        SteadyRule { of: SteadyOf::Iops, round_s: 2, rounds: 5, range_percent: 20, slope_percent: 10 };

    /// The round at which `rates` (I/Os per second, one a round) were called steady.
    fn steady_at(rates: &[u64]) -> Option<usize> {
        let mut steady = Steady::new(SNIA);
        rates.iter().position(|rate| {
            (0..2).any(|_| {
                let mut interval = Interval::empty(1, 0, Nanos(0), Nanos::from_secs(1));
                interval.write.ios = *rate;
                steady.observe(&interval).is_some()
            })
        })
    }

    #[test]
    fn five_level_rounds_are_steady_and_four_are_not() {
        assert_eq!(steady_at(&[100; 4]), None);
        assert_eq!(steady_at(&[100; 5]), Some(4));
        assert_eq!(steady_at(&[900, 500, 100, 101, 99, 100, 102]), Some(6));
    }

    #[test]
    fn a_slow_fall_within_the_range_is_not_steady() {
        // 15 % from end to end: inside the range of 20, outside the slope of 10.
        assert_eq!(steady_at(&[1_080, 1_040, 1_000, 960, 925]), None);
    }

    #[test]
    fn one_wild_round_spoils_the_window_until_it_has_left_it() {
        assert_eq!(steady_at(&[100, 100, 150, 100, 100, 100, 100, 100]), Some(7));
    }

    #[test]
    fn nothing_at_all_is_not_steady_and_a_ramp_is_not_looked_at() {
        assert_eq!(steady_at(&[0; 20]), None);
        let mut steady = Steady::new(SNIA);
        let mut ramp = Interval::empty(1, 0, Nanos(0), Nanos::from_secs(100));
        (ramp.ramp, ramp.write.ios) = (true, 100);
        assert!((0..20).all(|_| steady.observe(&ramp).is_none()));
    }
}
