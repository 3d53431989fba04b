//! How long an engine's threads were ready to run and waited for a CPU.
//!
//! The kernel counts it for each thread: the second number of `/proc/thread-self/schedstat`, nanoseconds
//! (Documentation/scheduler/sched-stats.rst). What it says of an engine:
//! * its own thread: completions that were there were not seen in time, and no I/O was issued;
//! * a worker of psync: its I/O began or was told later than it could have been;
//! * a worker of io_uring (`iou-wrk-N`, N the thread that made the ring), which carries out what cannot be done
//!   without waiting: the same.
//!
//! The files are kept open and read anew, 3 to 4 µs each. New workers of io_uring are looked for every five seconds and counted from
//! then on: listing a process's dozen threads takes 50 µs and more, and a worker stays for as long when it is idle. Not counted are those of io_uring in a container that counts threads for itself, as their names carry the host's
//! number.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::model::seen::RunDelay;
use crate::model::units::Nanos;

/// How often io_uring's workers are looked for: one that has nothing to do ends after this (WORKER_IDLE_TIMEOUT,
/// io_uring/io-wq.c).
const LIST_EVERY: Duration = Duration::from_secs(5);

/// The count of one thread.
#[derive(Debug)]
struct ThreadClock {
    schedstat: File,
    last_ns: u64,
}

impl ThreadClock {
    fn open(path: &str) -> Option<Self> {
        let mut clock = Self { schedstat: File::open(path).ok()?, last_ns: 0 };
        clock.last_ns = clock.read()?;
        Some(clock)
    }

    fn read(&self) -> Option<u64> {
        let mut text = [0_u8; 64];
        let len = self.schedstat.read_at(&mut text, 0).ok()?;
        parse(text.get(..len)?)
    }

    /// What has come since the last time; `None` when the thread is gone.
    fn since(&mut self) -> Option<u64> {
        let now = self.read()?;
        Some(now.saturating_sub(std::mem::replace(&mut self.last_ns, now)))
    }
}

/// `ran waited timeslices`: the second.
fn parse(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The threads of an engine that work for it, which they tell themselves. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Workers(Arc<Mutex<Registry>>);

#[derive(Debug, Default)]
struct Registry {
    next: u64,
    clocks: BTreeMap<u64, ThreadClock>,
    /// Of workers that have ended, since the last look.
    left_ns: u64,
}

/// A worker's place in the count, for as long as it is kept.
#[derive(Debug)]
pub struct Enrolled(Workers, Option<u64>);

impl Workers {
    /// Counts the calling thread until the answer is dropped, which must be on the same thread.
    #[must_use]
    pub fn enrol(&self) -> Enrolled {
        let clock = ThreadClock::open("/proc/thread-self/schedstat");
        let key = clock.map(|clock| {
            let mut registry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = registry.next;
            registry.next += 1;
            registry.clocks.insert(key, clock);
            key
        });
        Enrolled(self.clone(), key)
    }

    /// What all have waited since the last look, and how many they are.
    fn since(&self) -> (u64, u32) {
        let mut registry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut total = std::mem::take(&mut registry.left_ns);
        for clock in registry.clocks.values_mut() {
            total = total.saturating_add(clock.since().unwrap_or_default());
        }
        (total, u32::try_from(registry.clocks.len()).unwrap_or(u32::MAX))
    }
}

impl Drop for Enrolled {
    fn drop(&mut self) {
        let Self(workers, Some(key)) = self else { return };
        let mut registry = workers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut clock) = registry.clocks.remove(key) {
            registry.left_ns = registry.left_ns.saturating_add(clock.since().unwrap_or_default());
        }
    }
}

/// Who works for an engine besides its own thread.
#[derive(Debug, Clone)]
pub enum Helpers {
    /// Threads that enrol themselves.
    Enrolled(Workers),
    /// Workers that the kernel makes for the rings of this thread.
    OfRings,
}

/// The waits of an engine's threads. To be made and used on the engine's own thread.
#[derive(Debug)]
pub struct RunDelays {
    own: Option<ThreadClock>,
    helpers: Helpers,
    /// This process's threads by id; those that are no worker of ours are remembered as `None`.
    of_rings: BTreeMap<String, Option<ThreadClock>>,
    worker_name: String,
    listed: Option<Instant>,
}

impl RunDelays {
    /// Counts from now.
    #[must_use]
    pub fn of_this_thread(helpers: Helpers) -> Self {
        let id = fs::read_link("/proc/thread-self").ok();
        let id = id.as_deref().and_then(|link| link.file_name()).map(|id| id.to_string_lossy().into_owned());
        Self {
            own: ThreadClock::open("/proc/thread-self/schedstat"),
            helpers,
            of_rings: BTreeMap::new(),
            worker_name: format!("iou-wrk-{}", id.unwrap_or_default()),
            listed: None,
        }
    }

    /// What they waited since the last time. `None` where the kernel does not count it (without CONFIG_SCHED_INFO).
    pub fn since(&mut self) -> Option<RunDelay> {
        let own = self.own.as_mut()?.since()?;
        let (helpers, count) = match &self.helpers {
            Helpers::Enrolled(workers) => workers.since(),
            Helpers::OfRings => self.rings_since(),
        };
        Some(RunDelay { total: Nanos(own.saturating_add(helpers)), threads: count.saturating_add(1) })
    }

    fn rings_since(&mut self) -> (u64, u32) {
        if self.listed.is_none_or(|listed| listed.elapsed() >= LIST_EVERY) {
            self.listed = Some(Instant::now());
            self.list();
        }
        let mut sum = (0_u64, 0_u32);
        for clock in self.of_rings.values_mut().flatten() {
            // One that has ended has nothing more to tell.
            if let Some(since) = clock.since() {
                sum = (sum.0.saturating_add(since), sum.1 + 1);
            }
        }
        sum
    }

    fn list(&mut self) {
        let Ok(tasks) = fs::read_dir("/proc/self/task") else { return };
        let alive: Vec<String> = tasks.flatten().filter_map(|task| task.file_name().into_string().ok()).collect();
        self.of_rings.retain(|id, _| alive.contains(id));
        for id in alive {
            let name = &self.worker_name;
            self.of_rings.entry(id).or_insert_with_key(|id| {
                let comm = fs::read_to_string(format!("/proc/self/task/{id}/comm")).ok()?;
                let ours = comm.trim_end() == name;
                ours.then(|| ThreadClock::open(&format!("/proc/self/task/{id}/schedstat"))).flatten()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn the_second_number_is_the_wait() {
        assert_eq!(parse(b"4215103 2432514 17\n"), Some(2_432_514));
        assert_eq!((parse(b""), parse(b"4215103"), parse(b"a b c")), (None, None, None));
    }

    #[test]
    fn threads_that_share_a_cpu_wait_and_workers_are_counted_while_they_live() {
        let workers = Workers::default();
        let mut delays = RunDelays::of_this_thread(Helpers::Enrolled(workers.clone()));
        assert!(delays.since().is_some_and(|delay| delay.threads == 1), "this kernel counts no run delay");
        // More threads than any machine has CPUs for: somebody must wait.
        let count = std::thread::available_parallelism().unwrap().get() * 4;
        let (begun, ended) = (Barrier::new(count + 1), Barrier::new(count + 1));
        std::thread::scope(|scope| {
            for _ in 0..count {
                scope.spawn(|| {
                    let _enrolled = workers.enrol();
                    begun.wait();
                    let began = Instant::now();
                    while began.elapsed() < Duration::from_millis(60) {
                        std::hint::spin_loop();
                    }
                    ended.wait();
                });
            }
            begun.wait();
            ended.wait();
        });
        let delay = delays.since().unwrap();
        assert!(delay.total > Nanos::from_millis(60), "{delay:?}");
        assert_eq!(delay.threads, 1, "they have left");
    }
}
