//! Where a rate collapses, found while it is being measured.
//!
//! A CUSUM on ln(rate): `S ← max(0, S + ln(reference) − ln(rate) − k)` per window of 10 s, and a fall when `S > h`. With
//! k = 0.35 and h = 5 a steady drive (sd of ln rate 0.05 to 0.12 in the published runs) never fires, and the published
//! collapses (ln 22 = 3.1 to ln 550 = 6.3) do after two windows. Its position is then the best split of the single samples.

use super::rho::{Point, mean_rate};
use crate::model::approx::{f64_of, f64_of_len};
use crate::model::{Bytes, Nanos};

/// Length of a window, seconds; one sample where samples are longer.
pub const WINDOW_S: f64 = 10.0;
/// Drops below this (as ln) are noise.
const K: f64 = 0.35;
/// Evidence needed.
const H: f64 = 5.0;
/// Most that one window may add, so that one stall of a drive is no collapse.
const MOST_A_WINDOW: f64 = 4.0;
/// The reference is the median of so many windows: the first may hold the filling of a DRAM cache.
const REFERENCE_WINDOWS: usize = 3;

/// A first window so many times as fast as the next two shows a fall within it: H + K as a factor would be 210, but here two windows
/// say the same at once (e^2.5).
const FIRST_FALL: f64 = 12.0;

/// A collapse of the rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cliff {
    /// I/Os of the phase before it.
    pub at_ios: u64,
    /// Bytes of the phase before it.
    pub at_bytes: Bytes,
    /// When, on the run's clock.
    pub t: Nanos,
    /// I/Os per second before it.
    pub before_per_s: f64,
    /// I/Os per second after it.
    pub after_per_s: f64,
    /// After / before.
    pub ratio: f64,
}

/// Watches the writes of one phase.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    points: Vec<Point>,
    /// End of each point on the run's clock.
    times: Vec<Nanos>,
    bytes: u64,
    window: Option<Window>,
    windows: Vec<f64>,
    /// Where the windows in use begin: points before it belong to a level that is over.
    level_from: usize,
    reference: Option<f64>,
    sum: f64,
    /// First point of the window in which `sum` began to rise.
    rising_from: Option<usize>,
    split: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    from: usize,
    ios: u64,
    seconds: f64,
    spoilt_s: f64,
}

impl Detector {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The writes of one sample that ended at `t`, and whether the host spoilt it. Says whether a window was closed by it.
    pub fn push(&mut self, t: Nanos, point: Point, bytes: Bytes, spoilt: bool) -> bool {
        let index = self.points.len();
        self.points.push(point);
        self.times.push(t);
        self.bytes = self.bytes.saturating_add(bytes.0);
        let window = self.window.get_or_insert(Window { from: index, ios: 0, seconds: 0.0, spoilt_s: 0.0 });
        window.ios += point.ios;
        window.seconds += point.seconds;
        if spoilt {
            window.spoilt_s += point.seconds;
        }
        if window.seconds < WINDOW_S * 0.999 {
            return false;
        }
        let window = *window;
        self.window = None;
        self.close(window);
        true
    }

    /// No more samples will come: closes a window that is at least half full.
    pub fn finish(&mut self) {
        if let Some(window) = self.window.take().filter(|window| window.seconds >= WINDOW_S / 2.0) {
            self.close(window);
        }
    }

    fn close(&mut self, window: Window) {
        // A window without a single I/O counts as half of one: ln 0 is not a number.
        let rate = f64_of(window.ios).max(0.5) / window.seconds;
        if self.split.is_some() {
            return;
        }
        let Some(reference) = self.reference else {
            self.windows.push(rate);
            if self.windows.len() >= REFERENCE_WINDOWS {
                let first = self.windows.first().copied().unwrap_or_default();
                self.windows.sort_unstable_by(f64::total_cmp);
                self.reference = self.windows.get(self.windows.len() / 2).copied();
                // A small cache is full before there is a reference. So is the DRAM of a conventional disk: ρ tells them apart.
                if self.reference.is_some_and(|reference| first > reference * FIRST_FALL) {
                    self.split = Some(self.level_from + best_split(&self.points[self.level_from..]));
                }
            }
            return;
        };
        // Slow by the host's doing as much as by the drive's: no evidence. A window may still set the reference, which it
        // can only lower; and behind a true collapse the threads wait for the drive, so its windows are not spoilt.
        if window.spoilt_s * 2.0 > window.seconds {
            return;
        }
        let step = ((reference / rate).ln() - K).min(MOST_A_WINDOW);
        self.sum = (self.sum + step).max(0.0);
        if self.sum <= 0.0 {
            self.rising_from = None;
            return;
        }
        let from = *self.rising_from.get_or_insert(window.from);
        if self.sum > H {
            // The fall may lie in the window before the first that stood out.
            let reach = self.points.len() - from;
            let start = from.saturating_sub(reach.min(20)).max(self.level_from);
            self.split = Some(start + best_split(&self.points[start..]));
        }
    }

    /// What was found at the end of the last fall was a level like another: looks for the next fall from there.
    pub fn settle(&mut self) {
        if let Some(split) = self.split.take() {
            self.level_from = split;
            self.windows.clear();
            self.reference = None;
            self.sum = 0.0;
            self.rising_from = None;
        }
    }

    /// All points.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The points of the present level: after the fall, if there was one.
    #[must_use]
    pub fn level(&self) -> &[Point] {
        &self.points[self.split.unwrap_or(self.level_from)..]
    }

    /// The samples of the level in use, counted from the first of all: where it begins, and where it fell.
    #[must_use]
    pub fn fell_at(&self) -> Option<(usize, usize)> {
        self.split.map(|split| (self.level_from, split))
    }

    /// Seconds since the fall; `None` if there was none. Constant time, for it is asked at every window.
    #[must_use]
    pub fn seconds_after_fall(&self) -> Option<f64> {
        let fell = self.split?.checked_sub(1).and_then(|last| self.times.get(last)).copied().unwrap_or_default();
        Some((self.times.last().copied().unwrap_or_default() - fell).as_secs_f64())
    }

    /// The fall, with the rate after it as known by now.
    #[must_use]
    pub fn fall(&self) -> Option<Cliff> {
        let split = self.split?;
        let before_per_s = mean_rate(&self.points[self.level_from..split]);
        let after_per_s = mean_rate(&self.points[split..]);
        let at_ios: u64 = self.points[..split].iter().map(|point| point.ios).sum();
        let all_ios: u64 = self.points.iter().map(|point| point.ios).sum();
        // All I/Os of a phase are of one size.
        let share = if all_ios == 0 { 0.0 } else { f64_of(at_ios) / f64_of(all_ios) };
        let at_bytes = Bytes(crate::model::approx::u64_of(f64_of(self.bytes) * share));
        let t = split.checked_sub(1).and_then(|last| self.times.get(last)).copied().unwrap_or_default();
        let ratio = if before_per_s > 0.0 { after_per_s / before_per_s } else { 1.0 };
        Some(Cliff { at_ios, at_bytes, t, before_per_s, after_per_s, ratio })
    }
}

/// The split of `points` in two levels of ln(rate) with the least squares left over.
fn best_split(points: &[Point]) -> usize {
    let logs: Vec<f64> =
        points.iter().map(|point| (f64_of(point.ios).max(0.5) / point.seconds.max(1e-9)).ln()).collect();
    let total: f64 = logs.iter().sum();
    let mut left = 0.0;
    let mut best = (f64::NEG_INFINITY, points.len() / 2);
    for split in 1..logs.len() {
        left += logs[split - 1];
        let right = total - left;
        // Least squares left over = constant − these two.
        let explained = left * left / f64_of_len(split) + right * right / f64_of_len(logs.len() - split);
        if explained > best.0 {
            best = (explained, split);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feed(detector: &mut Detector, rates: impl IntoIterator<Item = u64>, seconds: f64) {
        let mut t = detector.times.last().copied().unwrap_or_default();
        for rate in rates {
            let ios = crate::model::approx::u64_of(f64_of(rate) * seconds);
            t = t + Nanos(crate::model::approx::u64_of(seconds * 1e9));
            detector.push(t, Point { ios, seconds }, Bytes(ios * 4096), false);
        }
    }

    #[test]
    fn a_collapse_is_found_to_the_sample() {
        let mut detector = Detector::new();
        feed(&mut detector, std::iter::repeat_n(2_930, 126), 1.0);
        assert_eq!(detector.fall(), None);
        feed(&mut detector, std::iter::repeat_n(9, 30), 1.0);
        let cliff = detector.fall().unwrap();
        assert_eq!((cliff.at_ios, cliff.at_bytes), (369_180, Bytes(369_180 * 4096)));
        assert_eq!(cliff.t, Nanos::from_secs(126));
        assert!((cliff.after_per_s - 9.0).abs() < 0.01 && (cliff.ratio - 9.0 / 2_930.0).abs() < 1e-4, "{cliff:?}");
    }

    #[test]
    fn windows_are_as_long_as_long_samples() {
        let mut detector = Detector::new();
        feed(&mut detector, std::iter::repeat_n(46, 90), 60.0);
        feed(&mut detector, std::iter::repeat_n(1, 4), 60.0);
        // Toshiba Canvio: 92 minutes of 46 writes a second, then 1.5.
        assert_eq!(detector.fall().unwrap().at_ios, 90 * 60 * 46);
    }

    #[test]
    fn the_filling_of_dram_in_the_first_seconds_is_no_collapse() {
        let mut detector = Detector::new();
        feed(&mut detector, [40_000, 3_000], 1.0);
        feed(&mut detector, std::iter::repeat_n(490, 600), 1.0);
        assert_eq!(detector.fall(), None);
    }

    #[test]
    fn one_stall_of_ten_seconds_is_no_collapse() {
        let mut detector = Detector::new();
        feed(&mut detector, std::iter::repeat_n(490, 60), 1.0);
        feed(&mut detector, std::iter::repeat_n(0, 10), 1.0);
        feed(&mut detector, std::iter::repeat_n(490, 60), 1.0);
        assert_eq!(detector.fall(), None);
    }

    #[test]
    fn what_the_host_spoilt_is_no_evidence_and_what_follows_is() {
        let mut detector = Detector::new();
        feed(&mut detector, std::iter::repeat_n(2_930, 60), 1.0);
        for second in 61..=120 {
            detector.push(Nanos::from_secs(second), Point { ios: 9, seconds: 1.0 }, Bytes(9 * 4096), true);
        }
        assert_eq!(detector.fall(), None);
        feed(&mut detector, std::iter::repeat_n(9, 30), 1.0);
        assert!(detector.fall().is_some());
    }

    #[test]
    fn after_settling_the_next_fall_is_found_too() {
        let mut detector = Detector::new();
        feed(&mut detector, std::iter::repeat_n(3_000, 60), 1.0);
        feed(&mut detector, std::iter::repeat_n(200, 60), 1.0);
        assert!(detector.fall().is_some());
        detector.settle();
        assert_eq!(detector.fall(), None);
        feed(&mut detector, std::iter::repeat_n(200, 60), 1.0);
        assert_eq!(detector.fall(), None);
        feed(&mut detector, std::iter::repeat_n(4, 60), 1.0);
        let cliff = detector.fall().unwrap();
        assert_eq!(cliff.at_ios, 3_000 * 60 + 200 * 120);
        assert!((cliff.before_per_s - 200.0).abs() < 1.0);
    }

    proptest! {
        #[test]
        fn steady_noise_never_fires(rates in prop::collection::vec(400u64..600, 40..400)) {
            let mut detector = Detector::new();
            feed(&mut detector, rates, 1.0);
            prop_assert_eq!(detector.fall(), None);
        }
    }
}
