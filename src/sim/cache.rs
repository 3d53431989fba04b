//! The volatile DRAM cache: writes it has acknowledged and not yet put anywhere.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::translation::ByNumber;
use crate::model::Nanos;

/// How a drive answers a flush.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlushParams {
    /// It says at once that all is safe, in 0.4 to 0.8 ms, and puts nothing away (WD6001FZWX with its cache on, document "shoal").
    pub pretends: bool,
    /// It takes so much longer while somebody reads, ms (about 100 on WD140EDFZ, document "shoal").
    pub stall_ms: f64,
    /// Flushes that wait side by side share one sweep (six writers 278 a second against one writer's 118, document "shoal").
    pub merges: bool,
}

impl FlushParams {
    /// All is on the medium when it answers.
    pub const HONEST: Self = Self { pretends: false, stall_ms: 0.0, merges: false };
}

/// The constants of one DRAM cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheParams {
    /// WCE: whether a write is acknowledged once it is in here.
    pub write_back: bool,
    /// `K`: most dirty entries.
    pub max_entries: usize,
    /// `W`: most dirty bytes.
    pub max_bytes: u64,
    /// What is dirty outlives a loss of power, so it counts as safe at once, whatever WCE says.
    pub non_volatile: bool,
    /// How a flush is answered.
    pub flush: FlushParams,
}

/// Switches the cache of a simulated drive on and off, from outside. Cheap to clone: all clones are one switch.
#[derive(Debug, Clone)]
pub struct CacheSwitch {
    found: bool,
    on: Arc<AtomicBool>,
}

impl CacheSwitch {
    /// As the drive has it.
    #[must_use]
    pub fn new(found: bool) -> Self {
        Self { found, on: Arc::new(AtomicBool::new(found)) }
    }

    /// How the drive had it.
    #[must_use]
    pub fn found(&self) -> bool {
        self.found
    }

    /// Switches; the drive follows before its next phase.
    pub fn set(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// How it is.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
}

/// An acknowledged write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dirty {
    /// When its data began to arrive.
    pub arrived: Nanos,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// It goes straight to its place: it came at its zone's write pointer.
    pub home: bool,
}

/// The dirty entries of one drive, oldest first.
#[derive(Debug, Clone)]
pub struct DramCache {
    params: CacheParams,
    dirty: VecDeque<Dirty>,
    /// The length of the newest entry that begins there.
    begins: HashMap<u64, u64, ByNumber>,
    bytes: u64,
}

impl DramCache {
    /// Empty.
    #[must_use]
    pub fn new(params: CacheParams) -> Self {
        Self { params, dirty: VecDeque::new(), begins: HashMap::default(), bytes: 0 }
    }

    /// Its constants.
    #[must_use]
    pub fn params(&self) -> &CacheParams {
        &self.params
    }

    /// WCE.
    #[must_use]
    pub fn write_back(&self) -> bool {
        self.params.write_back
    }

    /// Sets WCE. What is dirty stays so until it is put away.
    pub fn set_write_back(&mut self, on: bool) {
        self.params.write_back = on;
    }

    /// Whether a write of `len` bytes can be taken now. One write of any size fits an empty cache:
    /// it streams through.
    #[must_use]
    pub fn has_room(&self, len: u64) -> bool {
        self.dirty.is_empty()
            || (self.dirty.len() < self.params.max_entries && self.bytes.saturating_add(len) <= self.params.max_bytes)
    }

    /// Whether a write of the same blocks is dirty still: a new one takes its place, and nothing more has to be put away.
    #[must_use]
    pub fn replaces(&self, offset: u64, len: u64) -> bool {
        self.begins.get(&offset) == Some(&len)
    }

    /// Takes a write.
    pub fn push(&mut self, entry: Dirty) {
        self.begins.insert(entry.offset, entry.len);
        self.bytes = self.bytes.saturating_add(entry.len);
        self.dirty.push_back(entry);
    }

    /// The next to be put away.
    #[must_use]
    pub fn oldest(&self) -> Option<Dirty> {
        self.dirty.front().copied()
    }

    /// Gives up the oldest entry.
    pub fn pop(&mut self) -> Option<Dirty> {
        let entry = self.dirty.pop_front()?;
        self.bytes = self.bytes.saturating_sub(entry.len);
        if self.replaces(entry.offset, entry.len) {
            self.begins.remove(&entry.offset);
        }
        Some(entry)
    }

    /// Dirty entries: what a drive may choose among when it empties the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dirty.len()
    }

    /// Whether nothing is dirty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }

    /// Whether one entry holds all of `offset..offset+len`.
    #[must_use]
    pub fn holds(&self, offset: u64, len: u64) -> bool {
        self.dirty.iter().any(|entry| entry.offset <= offset && offset + len <= entry.offset + entry.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(max_entries: usize, max_bytes: u64) -> DramCache {
        let flush = FlushParams::HONEST;
        DramCache::new(CacheParams { write_back: true, max_entries, max_bytes, non_volatile: false, flush })
    }

    #[test]
    fn it_is_full_by_entries_or_by_bytes() {
        let mut cache = cache(2, 100);
        let entry = |len| Dirty { arrived: Nanos(0), offset: 0, len, home: false };
        assert!(cache.has_room(1_000), "an empty cache lets a large write stream through");
        cache.push(entry(60));
        assert!(cache.has_room(40) && !cache.has_room(41));
        cache.push(entry(1));
        assert!(!cache.has_room(1));
        cache.pop();
        assert!(cache.has_room(99) && cache.holds(0, 1) && !cache.holds(0, 2));
    }

    #[test]
    fn a_write_of_the_same_blocks_takes_the_place_of_the_one_before_until_that_is_put_away() {
        let mut cache = cache(10, 1_000);
        cache.push(Dirty { arrived: Nanos(0), offset: 5, len: 10, home: false });
        cache.push(Dirty { arrived: Nanos(0), offset: 5, len: 20, home: false });
        assert!(cache.replaces(5, 20) && !cache.replaces(5, 10) && !cache.replaces(6, 10));
        cache.pop();
        assert!(cache.replaces(5, 20));
        cache.pop();
        assert!(!cache.replaces(5, 20));
    }
}
