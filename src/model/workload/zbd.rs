//! fio's `zonemode=zbd`: writing where the drive's zones say, and what else is done with zones.

use serde::{Deserialize, Serialize};

/// What a workload does with zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneTask {
    /// Writes at their write pointers.
    Write,
    /// Asks for them again and again (REPORT ZONES). Changes nothing.
    Report,
    /// Resets every zone that is not empty, once.
    Reset,
}

/// How a zone comes to be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneOpening {
    /// By its first write.
    Implicit,
    /// By OPEN ZONE; CLOSE ZONE follows before its last block is written. A zone that is full has been closed by the
    /// drive, and ZNS refuses to close it once more.
    Explicit,
}

/// What becomes of data that is in a zone when the phase begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneStart {
    /// A zone is reset when its turn comes; those that are open or closed at once, as they count against the drive's limits.
    Reset,
    /// Writing goes on at the write pointer. Full zones are reset only when no other has room.
    Pointer,
}

/// Zones instead of a plain region. Which zone comes next is the workload's `rw`: `write` takes them in order, `randwrite`
/// at random. One write is in flight in each, so a write never comes before the pointer has reached its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zbd {
    /// What is done.
    pub task: ZoneTask,
    /// The first so many zones of the region that take writes at their pointers are used.
    pub zones: u32,
    /// fio's `max_open_zones`: so many are written side by side, 1 or more.
    pub max_open_zones: u32,
    /// How they are opened.
    pub opening: ZoneOpening,
    /// What becomes of what is in them.
    pub start: ZoneStart,
    /// How much of its capacity is written of each zone, 1..=100 percent, rounded up to a block.
    pub fill_percent: u8,
    /// FINISH ZONE when so much is written, if it is not full then.
    pub finish: bool,
}

impl Zbd {
    /// Writes whole zones, `max_open_zones` side by side, which are opened by their first write.
    #[must_use]
    pub fn write(zones: u32, max_open_zones: u32) -> Self {
        Self {
            task: ZoneTask::Write,
            zones,
            max_open_zones,
            opening: ZoneOpening::Implicit,
            start: ZoneStart::Reset,
            fill_percent: 100,
            finish: false,
        }
    }
}
