//! What a specimen is, and whether the quick protocol can know.

use crate::model::approx::{f64_of, u64_of};
use crate::model::units::{GIB, MIB};
use crate::sim::preset::{Inside, Preset};
use crate::sim::translation::{CachedStlParams, Foreground, LogStlParams, TranslationParams};

/// Writes of 4 KiB of `smr-quick`'s second writing phase, without its parameters changed.
pub const QUICK_SMALL_WRITES: u64 = 600_000;
/// Bytes of 1 MiB writes of its first.
pub const QUICK_LARGE_BYTES: u64 = 64 * GIB;
/// Seconds after which it ends either of them.
pub const QUICK_LIMIT_S: f64 = 7_200.0;
/// The cliff must come so much before the end of a phase that what follows it can be seen: this share of the budget (syn).
const SEEN_BY: f64 = 0.9;

/// How a specimen records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Shingled, with a cache area and a static map.
    DriveManagedCached,
    /// Shingled, one log with a dynamic map.
    DriveManagedLog,
    /// Conventional.
    Conventional,
}

impl Class {
    /// Whether it is shingled.
    #[must_use]
    pub fn is_shingled(self) -> bool {
        self != Self::Conventional
    }
}

/// What makes a specimen harder to tell, or easier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disturbance {
    /// Behind a bridge that carries one command at a time and caps the rate.
    Usb,
    /// Its write cache is off.
    WriteCacheOff,
    /// It answers flushes and puts nothing away.
    PretendsToFlush,
    /// One movement in a hundred takes 0.5 to 2 s longer.
    Failing,
    /// One movement in 200 takes 100 ms longer.
    Stalls,
    /// Somebody else reads from it.
    CompetingReader,
    /// It says that it is drive-managed.
    Honest,
}

/// What is true of a specimen. What it does not have is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// How it records.
    pub class: Class,
    /// Bytes of a shingled disk's cache area; of a log, its spare space.
    pub cache_bytes: u64,
    /// Entries of its map.
    pub map_entries: u64,
    /// Bytes of a band at the outer edge; of a log, of a segment.
    pub band_bytes: u64,
    /// To clean a band while a write waits, seconds, on average over the drive.
    pub band_cost_s: f64,
    /// Idle for so long, it begins to clean; seconds.
    pub idle_trigger_s: f64,
    /// Bytes of a conventional disk's media cache.
    pub media_cache_bytes: u64,
    /// It is shingled and no collapse comes within what `smr-quick` writes over the whole drive: the right answer is that nothing was
    /// shown, never that it is conventional.
    pub beyond_quick: bool,
    /// What else is the matter.
    pub disturbances: Vec<Disturbance>,
}

impl Truth {
    pub(super) fn of(preset: &Preset, disturbances: Vec<Disturbance>) -> Self {
        let mut truth = Self {
            class: Class::Conventional,
            cache_bytes: 0,
            map_entries: 0,
            band_bytes: 0,
            band_cost_s: 0.0,
            idle_trigger_s: 0.0,
            media_cache_bytes: 0,
            beyond_quick: false,
            disturbances,
        };
        let Inside::Disk { translation, cache, .. } = &preset.inside else { return truth };
        match translation {
            TranslationParams::None => {}
            TranslationParams::MediaCache(params) => {
                truth.media_cache_bytes = params.cache_bytes;
                truth.idle_trigger_s = params.idle_trigger_s;
            }
            TranslationParams::CachedStl(params) => {
                truth.class = Class::DriveManagedCached;
                truth.cache_bytes = params.cache_bytes;
                truth.map_entries = params.map_entries;
                truth.band_bytes = params.band_bytes;
                truth.band_cost_s = band_cost_s(preset, params);
                truth.idle_trigger_s = params.idle_trigger_s;
                truth.beyond_quick = cached_beyond_quick(params, !cache.write_back);
            }
            TranslationParams::LogStl(params) => {
                truth.class = Class::DriveManagedLog;
                truth.cache_bytes = spare_bytes(preset, params);
                truth.band_bytes = params.segment_bytes;
                truth.idle_trigger_s = params.idle_trigger_s;
                truth.beyond_quick = log_beyond_quick(preset, params);
            }
        }
        truth
    }
}

fn band_cost_s(preset: &Preset, params: &CachedStlParams) -> f64 {
    let Inside::Disk { media, .. } = &preset.inside else { return 0.0 };
    match params.foreground {
        Foreground::Measured { band_ms, .. } => band_ms / 1e3,
        Foreground::Rewrite { share } => {
            let mean_rate = media.rates.iter().map(|(_, rate)| rate * 1e6).sum::<f64>() / 2.0;
            let mean_band = f64_of(params.band_bytes + params.inner_band_bytes) / 2.0;
            2.0 * media.mean_position_ms() / 1e3 + 2.0 * share * mean_band / mean_rate
        }
    }
}

/// How many writes of `len` bytes a phase of the quick protocol gets done before a cliff: by number, or by time.
fn done_in_time(wanted: u64, len: u64, params: &CachedStlParams, uncached: bool) -> f64 {
    let mut each_ms = params.append_ms.max(f64_of(len) / (params.cache_rate * 1e3));
    if uncached {
        each_ms += params.synced.record_ms;
    }
    f64_of(wanted).min(QUICK_LIMIT_S * 1e3 / each_ms)
}

fn cached_beyond_quick(params: &CachedStlParams, uncached: bool) -> bool {
    let pad = if uncached { f64_of(params.synced.pad_bytes) } else { 0.0 };
    let (entries, bytes) = (f64_of(params.map_entries), f64_of(params.cache_bytes));
    let (small_bytes, large_bytes) = (4_096.0 + pad, f64_of(MIB) + pad);
    let large = done_in_time(QUICK_LARGE_BYTES / MIB, MIB, params, uncached);
    if entries.min(bytes / large_bytes) < SEEN_BY * large {
        return false;
    }
    // What the first phase left in the cache is there still: it cleans while idle, and nobody waits for that.
    let left = (entries - large).min((bytes - large * large_bytes) / small_bytes);
    left >= SEEN_BY * done_in_time(QUICK_SMALL_WRITES, 4_096, params, uncached)
}

fn spare_bytes(preset: &Preset, params: &LogStlParams) -> u64 {
    u64_of(f64_of(preset.capacity()) * params.spare)
}

fn log_beyond_quick(preset: &Preset, params: &LogStlParams) -> bool {
    let budget = f64_of(QUICK_SMALL_WRITES * 4_096 + QUICK_LARGE_BYTES);
    let spare = f64_of(spare_bytes(preset, params));
    // A full one tidies up at its low mark; a fresh one has all its space to use up first.
    !params.prefilled || spare * (1.0 - params.gc_low) >= SEEN_BY * budget
}
