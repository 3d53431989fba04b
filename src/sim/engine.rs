//! A simulated drive as an [`Engine`]: the same driver and recorder, another clock.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::thread;
use std::time::{Duration, Instant};

use super::cache::CacheSwitch;
use super::counts::Counts;
use super::drive::SimDrive;
use super::preset::{self, Preset};
use super::zones::Zones;
use crate::model::Nanos;
use crate::model::approx::{f64_of, u64_of};
use crate::model::zone::ZoneOp;
use crate::probe::engine::{Completion, Engine, EngineError, Io, Op, Source, Step};

/// How long a paused drive is left alone before the source is asked again.
const HOLD: Duration = Duration::from_millis(20);
/// While the thread sleeps for a viewer, it asks the source again after so long: a stop is
/// honoured within about this time.
const SLICE: Duration = Duration::from_millis(25);
/// Sleeping for less than this costs more than it slows.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);
/// A source that asks to be asked again at once gets a little time to pass, or the clock would stand still.
const LEAST_STEP: Nanos = Nanos(1_000);

/// Carries out I/Os against a drive that does not exist. Its clock is simulated and goes on over
/// several calls of [`run`](Engine::run).
#[derive(Debug)]
pub struct SimEngine {
    drive: SimDrive,
    counts: Counts,
    cache: Option<CacheSwitch>,
    now: Nanos,
    pace: Option<f64>,
}

#[derive(Debug)]
struct InFlight {
    done: Nanos,
    /// Decides among those that end at the same time: as issued.
    number: u64,
    issued: Nanos,
    io: Io,
    error: Option<i32>,
}

impl InFlight {
    fn key(&self) -> (Nanos, u64) {
        (self.done, self.number)
    }
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for InFlight {}

impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl SimEngine {
    /// A new drive of `preset`. `pace` is simulated seconds per real second, for a viewer; `None`
    /// (or anything that is no positive number) is as fast as can be. With a pace, an operation in
    /// flight is awaited for as long as it would take at that pace, as on a real drive, unless the source has finished.
    #[must_use]
    pub fn new(preset: &Preset, seed: u64, pace: Option<f64>) -> Self {
        let pace = pace.filter(|pace| pace.is_finite() && *pace > 0.0);
        let counts = Counts::new(preset.interface.max_transfer);
        let drive = SimDrive::new(preset, seed);
        let cache = drive.write_back().map(CacheSwitch::new);
        Self { drive, counts, cache, now: Nanos(0), pace }
    }

    /// The same drive in its present state at another pace.
    #[must_use]
    pub fn paced(mut self, pace: Option<f64>) -> Self {
        self.pace = pace.filter(|pace| pace.is_finite() && *pace > 0.0);
        self
    }

    /// As [`new`](Self::new), of the preset of this name; `None` when there is none.
    #[must_use]
    pub fn named(preset_name: &str, seed: u64, pace: Option<f64>) -> Option<Self> {
        preset::named(preset_name).map(|preset| Self::new(&preset, seed, pace))
    }

    /// The same with zones as an earlier run left them, where others can see them too.
    #[must_use]
    pub fn with_zones(mut self, zones: Zones) -> Self {
        self.drive = self.drive.with_zones(zones);
        self
    }

    /// The drive, as it is now.
    #[must_use]
    pub fn drive(&self) -> &SimDrive {
        &self.drive
    }

    /// What its kernel counts.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts.clone()
    }

    /// The switch of its write cache, if it has one.
    #[must_use]
    pub fn cache(&self) -> Option<CacheSwitch> {
        self.cache.clone()
    }

    fn submit(&mut self, number: u64, io: Io) -> InFlight {
        self.counts.begin(&io, self.now);
        let (done, error) = match self.drive.submit(self.now, io.op, io.offset, u64::from(io.len)) {
            Ok(done) => (done, None),
            Err(errno) => (self.now, Some(errno)),
        };
        InFlight { done, number, issued: self.now, io, error }
    }

    fn end(&self, ended: &InFlight, source: &mut dyn Source) {
        let result = ended.error.map_or(Ok(ended.io.len), Err);
        if result.is_ok() && ended.io.op == Op::Zone(ZoneOp::Report) {
            source.reported(&ended.io, &self.drive.report_from(ended.io.offset));
        }
        source.complete(&Completion { io: ended.io, issued: ended.issued, completed: self.now, result });
        // After the source has closed what ended before this: the I/O counts where the recorder counts it.
        self.counts.end(&ended.io, ended.error.is_none(), ended.issued, self.now);
    }
}

impl Engine for SimEngine {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn run(&mut self, iodepth: u32, _max_len: u32, source: &mut dyn Source) -> Result<(), EngineError> {
        if let Some(cache) = &self.cache {
            self.drive.set_write_back(cache.is_on());
        }
        let depth = usize::try_from(iodepth.max(1)).unwrap_or(usize::MAX);
        let mut pacer = self.pace.map(|pace| Pacer::new(pace, self.now));
        let mut in_flight: BinaryHeap<Reverse<InFlight>> = BinaryHeap::new();
        let mut number = 0;
        let mut finished = false;
        let mut tick_at = source.tick(self.now);
        loop {
            let mut ask_at = None;
            let mut held = false;
            while !finished && !held && ask_at.is_none() && in_flight.len() < depth {
                match source.next(self.now) {
                    Step::Issue(io) => {
                        number += 1;
                        in_flight.push(Reverse(self.submit(number, io)));
                    }
                    Step::Wait(until) => ask_at = Some(until.max(self.now + LEAST_STEP)),
                    Step::Hold => held = true,
                    Step::Finished => finished = true,
                }
            }
            if held && in_flight.is_empty() {
                // A pause lasts in real time only; afterwards nothing is to be caught up with.
                thread::sleep(HOLD);
                pacer = self.pace.map(|pace| Pacer::new(pace, self.now));
                continue;
            }
            if finished && in_flight.is_empty() {
                return Ok(());
            }
            let first_done = in_flight.peek().map(|Reverse(first)| first.done);
            // The clock stands still during a pause but for what is in flight.
            let tick = (!held).then_some(tick_at);
            let Some(event) = [first_done, ask_at, tick].into_iter().flatten().min() else { return Ok(()) };
            let mut event = event.max(self.now);
            // What is left after a stop has no viewer to wait for.
            if let Some(pacer) = pacer.as_ref().filter(|_| !finished) {
                event = pacer.wait(self.now, event);
            }
            self.now = event;
            while in_flight.peek().is_some_and(|Reverse(first)| first.done <= self.now) {
                if let Some(Reverse(ended)) = in_flight.pop() {
                    self.end(&ended, source);
                }
            }
            if tick_at <= self.now {
                tick_at = source.tick(self.now).max(self.now + LEAST_STEP);
            }
        }
    }
}

/// Holds simulated time back to so many seconds per real second.
#[derive(Debug)]
struct Pacer {
    pace: f64,
    began: Instant,
    origin: Nanos,
}

impl Pacer {
    fn new(pace: f64, origin: Nanos) -> Self {
        Self { pace, began: Instant::now(), origin }
    }

    /// Sleeps until `event` is due, but one slice at most. Returns the simulated time then: `event`, or an earlier
    /// moment at which the source should be asked again.
    fn wait(&self, now: Nanos, event: Nanos) -> Nanos {
        let due = Duration::from_nanos(u64_of(f64_of((event - self.origin).0) / self.pace));
        let early = due.saturating_sub(self.began.elapsed());
        if early < SHORTEST_SLEEP {
            return event;
        }
        thread::sleep(early.min(SLICE));
        if early <= SLICE {
            return event;
        }
        let reached = self.origin + Nanos(u64_of(f64_of(Nanos::from_duration(self.began.elapsed()).0) * self.pace));
        reached.clamp(now, event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::KIB;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering as Memory};

    struct Script {
        steps: Vec<Step>,
        completions: Vec<Completion>,
        ticks: Vec<Nanos>,
        stop: Arc<AtomicBool>,
    }

    impl Script {
        fn of(steps: Vec<Step>) -> Self {
            let steps = steps.into_iter().rev().collect();
            Self { steps, completions: Vec::new(), ticks: Vec::new(), stop: Arc::default() }
        }
    }

    impl Source for Script {
        fn next(&mut self, now: Nanos) -> Step {
            if self.stop.load(Memory::Relaxed) {
                return Step::Finished;
            }
            match self.steps.last() {
                Some(Step::Wait(until)) if *until > now => Step::Wait(*until),
                Some(Step::Wait(_)) => {
                    self.steps.pop();
                    self.next(now)
                }
                _ => self.steps.pop().unwrap_or(Step::Finished),
            }
        }
        fn complete(&mut self, completion: &Completion) {
            self.completions.push(*completion);
        }
        fn tick(&mut self, now: Nanos) -> Nanos {
            self.ticks.push(now);
            Nanos(now.0 / 1_000_000_000 * 1_000_000_000) + Nanos::from_secs(1)
        }
    }

    fn read(offset: u64) -> Step {
        Step::Issue(Io { op: Op::Read, offset, len: 4096 })
    }

    fn engine(pace: Option<f64>) -> SimEngine {
        SimEngine::new(&preset::cmr_14tb(), 1, pace)
    }

    #[test]
    fn waiting_takes_simulated_time_and_periods_close_in_it() {
        let mut engine = engine(None);
        let mut script = Script::of(vec![read(0), Step::Wait(Nanos::from_millis(3_500)), read(1 << 40)]);
        engine.run(4, 4096, &mut script).unwrap();
        assert_eq!(script.completions.len(), 2);
        assert_eq!(script.completions[1].issued, Nanos::from_millis(3_500));
        assert_eq!(script.ticks, [0, 1, 2, 3].map(Nanos::from_secs));
        let before = engine.now();
        engine.run(1, 4096, &mut Script::of(vec![read(0)])).unwrap();
        assert!(engine.now() > before, "the clock goes on over several runs");
    }

    #[test]
    fn an_io_past_the_end_is_a_failed_completion_and_no_more() {
        let end = preset::cmr_14tb().capacity();
        let write = |offset| Step::Issue(Io { op: Op::Write, offset, len: 4096 });
        let mut script = Script::of(vec![write(end), read(end), read(end - 4096)]);
        engine(None).run(1, 4096, &mut script).unwrap();
        let results: Vec<_> = script.completions.iter().map(|completion| completion.result).collect();
        assert_eq!(results, [Err(28), Err(22), Ok(4096)]);
    }

    #[test]
    fn no_more_than_iodepth_are_in_flight() {
        let steps: Vec<_> = (0..200).map(|i| read(i * 4_321 * KIB)).collect();
        let mut script = Script::of(steps);
        engine(None).run(3, 4096, &mut script).unwrap();
        for (index, completion) in script.completions.iter().enumerate() {
            let during = script
                .completions
                .iter()
                .filter(|other| other.issued < completion.completed && other.completed >= completion.completed)
                .count();
            assert!(during <= 3, "{during} at {index}");
        }
    }

    #[test]
    fn a_viewer_sees_it_at_the_pace_asked_for() {
        let began = Instant::now();
        engine(Some(20.0)).run(1, 4096, &mut Script::of(vec![Step::Wait(Nanos::from_secs(4)), read(0)])).unwrap();
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(195) && took < Duration::from_secs(3), "{took:?}");
    }

    #[test]
    fn a_stop_is_honoured_while_it_sleeps_for_the_viewer() {
        let mut script = Script::of(vec![Step::Wait(Nanos::from_secs(3_600))]);
        let stop = Arc::clone(&script.stop);
        let stopper = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            stop.store(true, Memory::Relaxed);
            Instant::now()
        });
        engine(Some(1.0)).run(1, 4096, &mut script).unwrap();
        let late = stopper.join().unwrap().elapsed();
        assert!(late < Duration::from_millis(500), "stopped only after {late:?}");
    }
}
