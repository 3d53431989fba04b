//! Questions that may never be answered: each on a thread of its own, with a deadline, asked once at a time.
//!
//! A read of a dead drive cannot be called back: the thread that waits for it waits in the kernel. So nobody waits
//! for that thread. It leaves its answer here when it has one, and until then the key stays marked, so that no second
//! thread runs into the same wall.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Enough for the buffers of the largest question.
const STACK: usize = 512 * 1024;
/// Questions under way at once that are not late: a host with a thousand drives is asked in portions.
const AT_ONCE: usize = 128;

/// How a question stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing<T> {
    /// Never asked, or no thread could be had.
    Unasked,
    /// Asked a moment ago; with the answer of the time before, if there was one.
    Waiting(Option<Arc<T>>),
    /// Asked longer ago than the deadline.
    Late,
    /// Answered, and how long ago.
    Answered(Arc<T>, Duration),
}

#[derive(Debug)]
enum Slot<T> {
    Asking { since: Instant, before: Option<Arc<T>> },
    Answered { at: Instant, answer: Arc<T> },
}

type Slots<K, T> = Arc<(Mutex<HashMap<K, Slot<T>>>, Condvar)>;

/// Where questions are asked and answers kept.
#[derive(Debug)]
pub struct Desk<K, T> {
    slots: Slots<K, T>,
    deadline: Duration,
}

fn lock<K, T>(slots: &Slots<K, T>) -> MutexGuard<'_, HashMap<K, Slot<T>>> {
    slots.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Eq + Hash + Clone + Send + 'static, T: Send + Sync + 'static> Desk<K, T> {
    /// A desk where a question is late after `deadline`.
    #[must_use]
    pub fn new(deadline: Duration) -> Self {
        Self { slots: Arc::default(), deadline }
    }

    /// How the question about `key` stands.
    #[must_use]
    pub fn standing(&self, key: &K) -> Standing<T> {
        match lock(&self.slots).get(key) {
            None => Standing::Unasked,
            Some(Slot::Answered { at, answer }) => Standing::Answered(Arc::clone(answer), at.elapsed()),
            Some(Slot::Asking { since, .. }) if since.elapsed() >= self.deadline => Standing::Late,
            Some(Slot::Asking { before, .. }) => Standing::Waiting(before.clone()),
        }
    }

    /// Asks about `key` by `question` on a new thread, unless that is being done, or too much else is.
    pub fn ask(&self, key: &K, question: impl FnOnce() -> T + Send + 'static) {
        let mut slots = lock(&self.slots);
        let busy =
            slots.values().filter(|slot| matches!(slot, Slot::Asking { since, .. } if since.elapsed() < self.deadline));
        if busy.count() >= AT_ONCE {
            return;
        }
        let before = match slots.get(key) {
            Some(Slot::Asking { .. }) => return,
            Some(Slot::Answered { answer, .. }) => Some(Arc::clone(answer)),
            None => None,
        };
        slots.insert(key.clone(), Slot::Asking { since: Instant::now(), before });
        drop(slots);
        let (kept, asked) = (Arc::clone(&self.slots), key.clone());
        let work = move || {
            // A question that panics is a defect; it must not leave the drive "being asked" for ever.
            let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(question));
            let mut slots = lock(&kept);
            // What went away in the meantime is not put back.
            match (slots.get_mut(&asked), answer) {
                (Some(slot), Ok(answer)) => *slot = Slot::Answered { at: Instant::now(), answer: Arc::new(answer) },
                (Some(_), Err(_)) => drop(slots.remove(&asked)),
                (None, _) => {}
            }
            kept.1.notify_all();
        };
        let thread = std::thread::Builder::new().name("interrogation".to_owned()).stack_size(STACK).spawn(work);
        if let Err(error) = thread {
            tracing::warn!(%error, "no thread to ask a drive on; it is tried again at the next scan");
            lock(&self.slots).remove(key);
        }
    }

    /// Forgets every key that `keep` does not want.
    pub fn retain(&self, keep: impl Fn(&K) -> bool) {
        lock(&self.slots).retain(|key, _| keep(key));
    }

    /// Waits until each question is answered or late.
    pub fn settle(&self) {
        let mut slots = lock(&self.slots);
        loop {
            let waiting = slots.values().filter_map(|slot| match slot {
                Slot::Asking { since, .. } => self.deadline.checked_sub(since.elapsed()),
                Slot::Answered { .. } => None,
            });
            let Some(longest) = waiting.filter(|left| !left.is_zero()).max() else { return };
            slots = self.slots.1.wait_timeout(slots, longest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_question_without_an_answer_is_late_delays_nobody_and_is_not_asked_twice() {
        let desk = Desk::new(Duration::from_millis(40));
        let (release, stuck) = mpsc::channel::<()>();
        desk.ask(&"dead", move || {
            let _ = stuck.recv();
            1
        });
        desk.ask(&"alive", || 2);
        let began = Instant::now();
        desk.settle();
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(matches!(desk.standing(&"alive"), Standing::Answered(answer, _) if *answer == 2));
        assert_eq!(desk.standing(&"dead"), Standing::Late);
        desk.ask(&"dead", || unreachable!("asked while stuck"));
        assert_eq!(desk.standing(&"dead"), Standing::Late);
        release.send(()).unwrap();
        while desk.standing(&"dead") == Standing::Late {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(
            matches!(desk.standing(&"dead"), Standing::Answered(answer, _) if *answer == 1),
            "a late answer counts"
        );
    }

    #[test]
    fn what_went_away_is_not_put_back_by_its_late_answer() {
        let desk = Desk::new(Duration::from_secs(5));
        let (release, stuck) = mpsc::channel::<()>();
        let (done, ended) = mpsc::channel::<()>();
        desk.ask(&"gone", move || {
            let _ = stuck.recv();
            drop(done);
        });
        desk.retain(|_| false);
        release.send(()).unwrap();
        let _ = ended.recv();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(desk.standing(&"gone"), Standing::Unasked);
    }

    #[test]
    fn an_answer_stays_known_while_it_is_asked_for_again() {
        let desk = Desk::new(Duration::from_secs(5));
        desk.ask(&1, || "first");
        desk.settle();
        let (release, stuck) = mpsc::channel::<()>();
        desk.ask(&1, move || {
            let _ = stuck.recv();
            "second"
        });
        assert!(matches!(desk.standing(&1), Standing::Waiting(Some(before)) if *before == "first"));
        release.send(()).unwrap();
        desk.settle();
        assert!(matches!(desk.standing(&1), Standing::Answered(answer, _) if *answer == "second"));
    }
}
