//! A shingled disk that is one log with a dynamic map and no conventional cache: Western Digital's way, as far as it is known
//! from outside (Aghayev et al., FAST'17: "probably always cleaning, dynamic map"; openzfs issues 10214 and 12799). Its constants were
//! read nowhere; a low confidence belongs to all of them.
//!
//! ```text
//!  a write ──► head of the log ─► segment full ─► next free segment
//!                                                   │ fewer than `gc_low`
//!               the fullest of dead blocks: its live ones are moved to the head, it is free again
//! ```
//! With live share `u` in the victims, each byte written moves `u/(1-u)` others: the rate is `R/(1 + 2u/(1-u))`. What a drive has never
//! been told to keep costs nothing, so a fresh or trimmed one has no cliff before all its space was used once.
//!
//! A 14 TB disk has 3.4 billion blocks, which no model keeps one by one. Known are: the live bytes of each segment; of each
//! piece of the host's address space as long as a segment, how much was ever written, and which segment took it when it was
//! written in order; and where the last million scattered blocks went, for reads. Which segment loses a block that is overwritten is
//! drawn in proportion to what each holds, unless its piece was written in order: exact on average for random writes.

use super::Write;
use super::bands::Bands;
use super::extents::{Extents, Piece};
use crate::model::Nanos;
use crate::model::approx::{f64_of, u64_of, usize_of};
use crate::sim::media::{Media, millis};
use crate::sim::noise::Noise;

/// Scattered blocks whose place is known; the oldest are then taken to lie in order again.
const KNOWN_PLACES: u64 = 1 << 20;
/// Draws for a segment before the last one drawn is taken as it is.
const DRAWS: usize = 64;

/// How a drive answers that is overloaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OverloadAnswer {
    /// ID NOT FOUND: the write fails (openzfs 10214, WD40EFAX).
    IdNotFound,
    /// Nothing at all for so long, ms.
    Stall(f64),
}

/// What happens when a drive has had to tidy up without a rest for too long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overload {
    /// After so many seconds of it.
    pub after_s: f64,
    /// Share of the writes that then meet it.
    pub share: f64,
    /// What they meet.
    pub answer: OverloadAnswer,
}

/// The constants of one such layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LogStlParams {
    /// Space beyond the capacity, as a share of it.
    pub spare: f64,
    /// Bytes of a segment.
    pub segment_bytes: u64,
    /// Below this share of the spare space it tidies up while writes wait.
    pub gc_low: f64,
    /// Up to this share it tidies up while idle.
    pub gc_high: f64,
    /// Idle for so long, it begins to; seconds.
    pub idle_trigger_s: f64,
    /// Least time of one append, ms.
    pub append_ms: f64,
    /// Every block has been written before.
    pub prefilled: bool,
    /// What it does when it cannot keep up.
    pub overload: Option<Overload>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    live: u64,
    free: bool,
    /// Counts how often it has been taken into use.
    generation: u32,
}

/// A piece of the host's address space.
#[derive(Debug, Clone, Copy, Default)]
struct Chunk {
    /// Bytes from its beginning that were all written.
    prefix: u64,
    /// Bytes beyond them that were written.
    scattered: u64,
    /// The segment, and its generation, that took it when it was last written in order.
    home: Option<(usize, u32)>,
    /// How far a writer in order has come, and where it began.
    stream: u64,
    stream_home: Option<(usize, u32)>,
}

/// Such a layer in use.
#[derive(Debug, Clone)]
pub struct LogStl {
    params: LogStlParams,
    capacity: u64,
    segments: Vec<Segment>,
    /// Free segments, the next to be used last.
    free: Vec<usize>,
    low: usize,
    high: usize,
    head: usize,
    head_used: u64,
    chunks: Vec<Chunk>,
    scattered: Extents,
    /// Tidying up while writes wait since the last rest, ms.
    backlog_ms: f64,
    stream_next: u64,
}

impl LogStl {
    /// On a drive of `capacity` bytes.
    #[must_use]
    pub fn new(params: LogStlParams, capacity: u64) -> Self {
        let bytes = params.segment_bytes.max(1);
        let pieces = usize::try_from(capacity.div_ceil(bytes)).unwrap_or(usize::MAX);
        // Two more than the host can fill, or nothing could ever be moved.
        let spare = usize_of(f64_of(capacity) * params.spare / f64_of(bytes)).max(2);
        let mut segments = vec![Segment { live: 0, free: true, generation: 0 }; pieces + spare];
        let mut chunks = vec![Chunk::default(); pieces];
        let first_free = if params.prefilled { pieces } else { 0 };
        if params.prefilled {
            for (nth, chunk) in chunks.iter_mut().enumerate() {
                segments[nth] = Segment { live: bytes, free: false, generation: 0 };
                *chunk = Chunk { prefix: bytes, home: Some((nth, 0)), ..Chunk::default() };
            }
        }
        let mut free: Vec<usize> = (first_free..segments.len()).rev().collect();
        let head = free.pop().unwrap_or(0);
        segments[head].free = false;
        Self {
            low: usize_of(f64_of(u64::try_from(spare).unwrap_or(0)) * params.gc_low).max(1),
            high: usize_of(f64_of(u64::try_from(spare).unwrap_or(0)) * params.gc_high).max(1),
            scattered: Extents::new(Bands::alike(bytes), 1),
            params,
            capacity,
            segments,
            free,
            head,
            head_used: 0,
            chunks,
            backlog_ms: 0.0,
            stream_next: u64::MAX,
        }
    }

    /// Milliseconds to put a write at the head of the log, with the tidying up that has to come first.
    pub fn write(&mut self, media: &mut Media, write: Write) -> f64 {
        let in_order = write.offset == self.stream_next;
        let end = write.offset + write.len;
        self.stream_next = end;
        let mut ms = 0.0;
        let mut at = write.offset;
        while at < end {
            if self.head_used >= self.params.segment_bytes {
                ms += self.next_segment(media);
            }
            let room = self.params.segment_bytes - self.head_used;
            let (start, len) = self.scattered.first_piece(at, end.min(at + room));
            self.forget(media.noise(), start, len);
            self.remember(start, len, in_order);
            let place = self.place(self.head, self.head_used);
            let gain = media.params().drain_gain;
            ms += media.position(place, len, 1, gain) + media.transfer(place, len);
            self.append(len);
            at += len;
        }
        ms.max(self.params.append_ms)
    }

    /// Milliseconds to read. Scattered blocks stay where the log took them until they are written again in order.
    pub fn read(&mut self, media: &mut Media, offset: u64, len: u64, queue: u64) -> f64 {
        let mut ms = 0.0;
        let mut queue = queue;
        for piece in self.scattered.pieces(offset, len) {
            let (place, len) = match piece {
                Piece::Home { start, len } => (start, len),
                Piece::Cached(extent) => (extent.at, extent.len),
            };
            ms += media.read(place, len, queue);
            queue = 1;
        }
        ms
    }

    /// The host needs `offset..offset+len` no longer.
    pub fn trim(&mut self, media: &mut Media, offset: u64, len: u64) {
        let end = offset.saturating_add(len).min(self.capacity);
        let mut at = offset;
        while at < end {
            let (start, len) = self.scattered.first_piece(at, end);
            self.forget(media.noise(), start, len);
            self.scattered.supersede(start, len);
            let segment_bytes = self.params.segment_bytes;
            let chunk = &mut self.chunks[chunk_of(segment_bytes, start)];
            let within = start % segment_bytes;
            if within < chunk.prefix {
                // What lay behind it is scattered from now on.
                chunk.scattered += chunk.prefix - chunk.prefix.min(within + len);
                chunk.prefix = within;
            } else {
                let rest = (segment_bytes - chunk.prefix).max(1);
                chunk.scattered -= u64_of(f64_of(chunk.scattered) * f64_of(len) / f64_of(rest)).min(chunk.scattered);
            }
            at += len;
        }
    }

    /// Tidies up from the trigger on until `until`; the segment in hand is finished.
    pub fn idle(&mut self, media: &mut Media, since: Nanos, until: Nanos) -> Option<Nanos> {
        let mut at = since + millis(self.params.idle_trigger_s * 1e3);
        if at >= until {
            return None;
        }
        self.backlog_ms = 0.0;
        let mut busy = None;
        while at < until
            && self.free.len() < self.high
            && let Some(ms) = self.collect(media)
        {
            at = at + millis(ms);
            busy = Some(at);
        }
        busy
    }

    /// How it answers a write that is one too many.
    pub fn overload(&mut self, media: &mut Media) -> Option<OverloadAnswer> {
        let Overload { after_s, share, answer } = self.params.overload?;
        (self.backlog_ms > after_s * 1e3 && media.noise().chance(share)).then_some(answer)
    }

    /// Takes a free segment; when few are left, makes one more first. Milliseconds.
    fn next_segment(&mut self, media: &mut Media) -> f64 {
        let mut ms = 0.0;
        while self.free.len() < self.low
            && let Some(took) = self.collect(media)
        {
            ms += took;
            self.backlog_ms += took;
            if self.head_used < self.params.segment_bytes {
                // What was moved began a new segment with room left.
                return ms;
            }
        }
        self.begin_segment();
        ms
    }

    fn begin_segment(&mut self) {
        // Without a free one the head is written over: no host can come to that, for its blocks fit.
        let Some(next) = self.free.pop() else {
            self.head_used = 0;
            return;
        };
        let segment = &mut self.segments[next];
        segment.free = false;
        segment.generation = segment.generation.wrapping_add(1);
        (self.head, self.head_used) = (next, 0);
    }

    fn append(&mut self, len: u64) {
        self.segments[self.head].live += len;
        self.head_used += len;
    }

    /// Moves what lives in the segment with the least of it to the head. Milliseconds; none if nothing can be gained.
    fn collect(&mut self, media: &mut Media) -> Option<f64> {
        let bytes = self.params.segment_bytes;
        let closed = self.segments.iter().enumerate().filter(|(nth, segment)| !segment.free && *nth != self.head);
        let (victim, live) = closed.map(|(nth, segment)| (nth, segment.live)).min_by_key(|(_, live)| *live)?;
        if live >= bytes {
            return None;
        }
        let from = self.place(victim, 0);
        self.segments[victim] = Segment { live: 0, free: true, ..self.segments[victim] };
        let mut ms = 0.0;
        let mut left = live;
        while left > 0 {
            if self.head_used >= bytes {
                self.begin_segment();
            }
            let len = left.min(bytes - self.head_used);
            let to = self.place(self.head, self.head_used);
            ms += media.read(from, len, 1) + media.write(to, len, 1);
            self.append(len);
            left -= len;
        }
        // Last in line, so that segments wear evenly and the log goes round.
        self.free.insert(0, victim);
        Some(ms)
    }

    /// What `start..start+len` (within one piece) held before is dead.
    fn forget(&mut self, noise: &mut Noise, start: u64, len: u64) {
        let bytes = self.params.segment_bytes;
        let chunk = self.chunks[chunk_of(bytes, start)];
        let within = start % bytes;
        let known = chunk.prefix.saturating_sub(within).min(len);
        let rest = bytes.saturating_sub(chunk.prefix).max(1);
        let perhaps = f64_of(len - known) * f64_of(chunk.scattered) / f64_of(rest);
        // A block is overwritten as a whole or not at all.
        let scattered = if noise.chance(perhaps / f64_of(len)) { len - known } else { 0 };
        let mut dead = known + scattered;
        if dead == 0 {
            return;
        }
        if let Some((home, generation)) = chunk.home
            && self.segments[home].generation == generation
            && noise.chance(f64_of(self.segments[home].live) / f64_of(bytes))
        {
            dead -= self.kill(home, dead);
        }
        let mut draws = 0;
        while dead > 0 && draws < DRAWS {
            draws += 1;
            let drawn = noise.index(self.segments.len());
            if noise.chance(f64_of(self.segments[drawn].live) / f64_of(bytes)) {
                dead -= self.kill(drawn, dead);
            }
        }
    }

    fn kill(&mut self, nth: usize, bytes: u64) -> u64 {
        let segment = &mut self.segments[nth];
        let dead = segment.live.min(bytes);
        segment.live -= dead;
        dead
    }

    /// `start..start+len` (within one piece) goes to the head.
    fn remember(&mut self, start: u64, len: u64, in_order: bool) {
        let bytes = self.params.segment_bytes;
        let at = (self.head, self.segments[self.head].generation);
        let place = self.place(self.head, self.head_used);
        let chunk = &mut self.chunks[chunk_of(bytes, start)];
        let within = start % bytes;
        let end = within + len;
        if within == 0 {
            (chunk.stream, chunk.stream_home) = (len, Some(at));
        } else if within == chunk.stream && in_order {
            chunk.stream = end;
        }
        if within <= chunk.prefix {
            let grown = end.saturating_sub(chunk.prefix);
            let rest = (bytes - chunk.prefix).max(1);
            let passed = u64_of(f64_of(chunk.scattered) * f64_of(grown) / f64_of(rest)).min(chunk.scattered);
            chunk.scattered -= passed;
            chunk.prefix = chunk.prefix.max(end);
        } else {
            // Beyond what was written before: how much of it is new `forget` has drawn.
            let rest = (bytes - chunk.prefix).max(1);
            let new = f64_of(len) * (1.0 - f64_of(chunk.scattered) / f64_of(rest));
            chunk.scattered = (chunk.scattered + u64_of(new.max(0.0))).min(rest);
        }
        if chunk.stream >= bytes {
            (chunk.stream, chunk.home) = (0, chunk.stream_home);
        }
        if in_order {
            self.scattered.supersede(start, len);
        } else {
            self.scattered.insert(start, len, place);
            if self.scattered.entries() > KNOWN_PLACES {
                self.scattered.clean_oldest();
            }
        }
    }

    /// The byte of the platter where a segment's byte `used` lies. The spare ones are at the inner edge.
    fn place(&self, segment: usize, used: u64) -> u64 {
        let nth = f64_of(u64::try_from(segment).unwrap_or(u64::MAX));
        let all = f64_of(u64::try_from(self.segments.len().max(1)).unwrap_or(1));
        u64_of(f64_of(self.capacity) * nth / all) / 4_096 * 4_096 + used
    }
}

/// The piece of the address space that `offset` lies in.
fn chunk_of(segment_bytes: u64, offset: u64) -> usize {
    usize::try_from(offset / segment_bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
