//! Where a block really goes. Every layer answers in milliseconds of the drive's one mechanism.

mod cached_stl;
mod extents;
mod media_cache;

pub use cached_stl::{CachedStl, CachedStlParams};
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
    CachedStl(CachedStl),
}

impl Translation {
    /// Fresh from the factory: nothing cached.
    #[must_use]
    pub fn new(params: TranslationParams) -> Self {
        match params {
            TranslationParams::None => Self::None,
            TranslationParams::MediaCache(params) => Self::MediaCache(MediaCache::new(params)),
            TranslationParams::CachedStl(params) => Self::CachedStl(CachedStl::new(params)),
        }
    }

    /// Milliseconds to put a write on the medium.
    pub fn write(&mut self, media: &mut Media, write: Write) -> f64 {
        match self {
            Self::None => media.write(write.offset, write.len, write.queue),
            Self::MediaCache(cache) => cache.write(media, write),
            Self::CachedStl(stl) => stl.write(media, write),
        }
    }

    /// Milliseconds to read, as one of `queue` waiting commands.
    pub fn read(&mut self, media: &mut Media, offset: u64, len: u64, queue: u64) -> f64 {
        match self {
            Self::None => media.read(offset, len, queue),
            Self::MediaCache(cache) => cache.read(media, offset, len, queue),
            Self::CachedStl(stl) => stl.read(media, offset, len, queue),
        }
    }

    /// Nothing was asked from `since` to `until`: tidies up. Returns until when the mechanism is
    /// busy with the piece of work in hand, if it did any.
    pub fn idle(&mut self, media: &mut Media, since: Nanos, until: Nanos) -> Option<Nanos> {
        match self {
            Self::None => None,
            Self::MediaCache(cache) => cache.idle(media, since, until),
            Self::CachedStl(stl) => stl.idle(media, since, until),
        }
    }

    /// Bytes that are not at home: what the cache holds, stale copies included.
    #[must_use]
    pub fn away_bytes(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::MediaCache(cache) => cache.away_bytes(),
            Self::CachedStl(stl) => stl.away_bytes(),
        }
    }
}
