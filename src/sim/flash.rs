//! A drive without moving parts: channels, and a write cache of single-level cells that runs full.

use super::media::millis;
use super::noise::Noise;
use crate::model::Nanos;
use crate::model::approx::{f64_of, u64_of};

/// Idle for so long, it begins to fold its fast cells into the others, s (syn).
const FOLDS_AFTER_S: f64 = 1.0;

/// The constants of one flash drive.
#[derive(Debug, Clone, PartialEq)]
pub struct FlashParams {
    /// One read of a page, ms.
    pub read_ms: f64,
    /// Reads at once.
    pub channels: usize,
    /// Bytes of single-level cells that take writes fast.
    pub slc_bytes: u64,
    /// Rate into them, bytes per second.
    pub slc_bytes_per_s: f64,
    /// Rate when they are full, bytes per second.
    pub direct_bytes_per_s: f64,
    /// DRAM that lets an acknowledgement run ahead of the cells, bytes.
    pub buffer_bytes: u64,
}

/// One flash drive in use.
#[derive(Debug, Clone)]
pub struct Flash {
    params: FlashParams,
    channels: Vec<Nanos>,
    pipe_free: Nanos,
    slc_used: f64,
    noise: Noise,
}

impl Flash {
    /// Empty.
    #[must_use]
    pub fn new(params: FlashParams, noise: Noise) -> Self {
        let channels = vec![Nanos(0); params.channels.max(1)];
        Self { params, channels, pipe_free: Nanos(0), slc_used: 0.0, noise }
    }

    /// When a read that arrives at `at` has its data.
    pub fn read(&mut self, at: Nanos) -> Nanos {
        let ms = self.params.read_ms * self.noise.factor(0.1);
        let Some(channel) = self.channels.iter_mut().min() else { return at };
        *channel = (*channel).max(at) + millis(ms);
        *channel
    }

    /// When everything written so far has left the buffer, asked at `at`.
    pub fn flush(&mut self, at: Nanos) -> Nanos {
        at.max(self.pipe_free)
    }

    /// When a write of `len` bytes that arrives at `at` may be acknowledged.
    pub fn write(&mut self, at: Nanos, len: u64) -> Nanos {
        let params = &self.params;
        if self.pipe_free < at {
            // Idle: the fast cells are folded into the others at the direct rate (syn).
            let idle_s = ((at - self.pipe_free).as_secs_f64() - FOLDS_AFTER_S).max(0.0);
            self.slc_used = (self.slc_used - idle_s * params.direct_bytes_per_s).max(0.0);
        }
        let rate =
            if self.slc_used < f64_of(params.slc_bytes) { params.slc_bytes_per_s } else { params.direct_bytes_per_s };
        self.slc_used = (self.slc_used + f64_of(len)).min(f64_of(params.slc_bytes) + f64_of(len));
        let ms = f64_of(len) / rate * 1e3 * self.noise.factor(0.05);
        self.pipe_free = self.pipe_free.max(at) + millis(ms);
        let ahead = Nanos(u64_of(f64_of(params.buffer_bytes) / rate * 1e9));
        at.max(self.pipe_free - ahead)
    }
}
