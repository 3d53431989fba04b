//! Where a block really goes. Every layer answers in milliseconds of the drive's one mechanism.

mod bands;
mod cached_stl;
mod extents;
mod log_stl;
mod media_cache;

pub use bands::ByNumber;
pub use cached_stl::{CachedStl, CachedStlParams, Checkpoint, Foreground, Store, Synced};
pub use log_stl::{LogStl, LogStlParams, Overload, OverloadAnswer};
pub use media_cache::{MediaCache, MediaCacheParams};

use super::media::Media;
use crate::model::Nanos;

/// What a preset says of its translation.
#[derive(Debug, Clone, PartialEq)]
pub enum TranslationParams {
    /// Every block has its place and is written there.
    None,
    /// A conventional disk with a place for hurried small writes.
    MediaCache(MediaCacheParams),
    /// A shingled disk with a conventional cache area and a static map (Seagate's way).
    CachedStl(CachedStlParams),
    /// A shingled disk that is one log with a dynamic map (Western Digital's way).
    LogStl(LogStlParams),
}

/// One write as it leaves the DRAM cache, or passes it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Among how many cached writes the drive chose it.
    pub queue: u64,
    /// The drive may answer as soon as it is on any platter: the DRAM cache is off.
    pub uncached: bool,
    /// It must be safe before it is answered.
    pub synced: bool,
    /// It came at its zone's write pointer, so it can go straight to its place.
    pub home: bool,
}

/// A translation layer in use.
#[derive(Debug, Clone)]
pub enum Translation {
    /// Every block at home.
    None,
    /// See [`MediaCache`].
    MediaCache(MediaCache),
    /// See [`CachedStl`].
    CachedStl(Box<CachedStl>),
    /// See [`LogStl`].
    LogStl(Box<LogStl>),
}

impl Translation {
    /// As it leaves the factory, on a drive of `capacity` bytes: nothing cached.
    #[must_use]
    pub fn new(params: TranslationParams, capacity: u64) -> Self {
        match params {
            TranslationParams::None => Self::None,
            TranslationParams::MediaCache(params) => Self::MediaCache(MediaCache::new(params)),
            TranslationParams::CachedStl(params) => Self::CachedStl(Box::new(CachedStl::new(params, capacity))),
            TranslationParams::LogStl(params) => Self::LogStl(Box::new(LogStl::new(params, capacity))),
        }
    }

    /// Milliseconds to put a write on the medium.
    pub fn write(&mut self, media: &mut Media, write: Write) -> f64 {
        match self {
            Self::None => media.write(write.offset, write.len, write.queue),
            Self::MediaCache(cache) => cache.write(media, write),
            Self::CachedStl(stl) => stl.write(media, write),
            Self::LogStl(stl) => stl.write(media, write),
        }
    }

    /// Milliseconds to read, as one of `queue` waiting commands.
    pub fn read(&mut self, media: &mut Media, offset: u64, len: u64, queue: u64) -> f64 {
        match self {
            Self::None => media.read(offset, len, queue),
            Self::MediaCache(cache) => cache.read(media, offset, len, queue),
            Self::CachedStl(stl) => stl.read(media, offset, len, queue),
            Self::LogStl(stl) => stl.read(media, offset, len, queue),
        }
    }

    /// Nothing was asked from `since` to `until`: tidies up. Returns until when the mechanism is
    /// busy with the piece of work in hand, if it did any.
    pub fn idle(&mut self, media: &mut Media, since: Nanos, until: Nanos) -> Option<Nanos> {
        match self {
            Self::None => None,
            Self::MediaCache(cache) => cache.idle(media, since, until),
            Self::CachedStl(stl) => stl.idle(media, since, until),
            Self::LogStl(stl) => stl.idle(media, since, until),
        }
    }

    /// Makes what was written safe, on a flush. Milliseconds beyond the writes themselves.
    pub fn sync(&mut self, media: &mut Media) -> f64 {
        match self {
            Self::CachedStl(stl) => stl.sync(media),
            Self::None | Self::MediaCache(_) | Self::LogStl(_) => 0.0,
        }
    }

    /// `offset..offset+len` is needed no longer. Only a log makes use of it.
    pub fn trim(&mut self, media: &mut Media, offset: u64, len: u64) {
        if let Self::LogStl(stl) = self {
            stl.trim(media, offset, len);
        }
    }

    /// How a drive answers one more write that has more to tidy up than it can bear; none mostly.
    pub fn overload(&mut self, media: &mut Media) -> Option<OverloadAnswer> {
        match self {
            Self::LogStl(stl) => stl.overload(media),
            Self::None | Self::MediaCache(_) | Self::CachedStl(_) => None,
        }
    }

    /// Bytes that are not at home: what the cache holds, stale copies included. In a log nothing has a home.
    #[must_use]
    pub fn away_bytes(&self) -> u64 {
        match self {
            Self::None | Self::LogStl(_) => 0,
            Self::MediaCache(cache) => cache.away_bytes(),
            Self::CachedStl(stl) => stl.away_bytes(),
        }
    }
}
