//! Zones of a host-managed, host-aware or ZNS drive, in the words of ZBC-2 and libzbc.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::units::Bytes;

/// What may be written where in a zone (ZBC-2 §4.3; the values of the descriptor's byte 0 bits 3:0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ZoneType {
    /// 1: anywhere, as on any disk.
    Conventional,
    /// 2: only at the write pointer.
    SequentialWriteRequired,
    /// 3: anywhere, best at the write pointer.
    SequentialWritePreferred,
    /// 4: at or before the write pointer.
    SequentialOrBeforeRequired,
    /// 5: nowhere; no data is kept there.
    Gap,
    /// Any other value is reserved.
    Reserved(u8),
}

impl ZoneType {
    /// The type that a descriptor's value means.
    #[must_use]
    pub fn from_value(value: u8) -> Self {
        match value {
            1 => Self::Conventional,
            2 => Self::SequentialWriteRequired,
            3 => Self::SequentialWritePreferred,
            4 => Self::SequentialOrBeforeRequired,
            5 => Self::Gap,
            other => Self::Reserved(other),
        }
    }

    /// libzbc's word, in lower case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conventional => "conventional",
            Self::SequentialWriteRequired => "sequential-write-required",
            Self::SequentialWritePreferred => "sequential-write-preferred",
            Self::SequentialOrBeforeRequired => "sequential-or-before-required",
            Self::Gap => "gap",
            Self::Reserved(_) => "reserved",
        }
    }

    /// Whether a zone of this type has a write pointer at all.
    #[must_use]
    pub fn has_write_pointer(self) -> bool {
        matches!(
            self,
            Self::SequentialWriteRequired | Self::SequentialWritePreferred | Self::SequentialOrBeforeRequired
        )
    }
}

impl Serialize for ZoneType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What state a zone is in (ZBC-2 §4.4; the values of the descriptor's byte 1 bits 7:4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ZoneCondition {
    /// 0: it has no write pointer.
    NotWritePointer,
    /// 1: nothing written since it was reset.
    Empty,
    /// 2: opened by a write.
    ImplicitOpen,
    /// 3: opened by OPEN ZONE.
    ExplicitOpen,
    /// 4: partly written, and closed.
    Closed,
    /// 5: it belongs to a realm that is not active now.
    Inactive,
    /// 0xd: it can only be read.
    ReadOnly,
    /// 0xe: written to its end, or finished.
    Full,
    /// 0xf: it can neither be read nor written.
    Offline,
    /// Any other value is reserved.
    Reserved(u8),
}

impl ZoneCondition {
    /// The condition that a descriptor's value means.
    #[must_use]
    pub fn from_value(value: u8) -> Self {
        match value {
            0x0 => Self::NotWritePointer,
            0x1 => Self::Empty,
            0x2 => Self::ImplicitOpen,
            0x3 => Self::ExplicitOpen,
            0x4 => Self::Closed,
            0x5 => Self::Inactive,
            0xd => Self::ReadOnly,
            0xe => Self::Full,
            0xf => Self::Offline,
            other => Self::Reserved(other),
        }
    }

    /// libzbc's word, in lower case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotWritePointer => "not-write-pointer",
            Self::Empty => "empty",
            Self::ImplicitOpen => "implicit-open",
            Self::ExplicitOpen => "explicit-open",
            Self::Closed => "closed",
            Self::Inactive => "inactive",
            Self::ReadOnly => "read-only",
            Self::Full => "full",
            Self::Offline => "offline",
            Self::Reserved(_) => "reserved",
        }
    }

    /// Whether the write pointer says anything: that of a full, read-only or offline zone does not (ZBC-2 §4.4).
    #[must_use]
    pub fn keeps_write_pointer(self) -> bool {
        matches!(self, Self::Empty | Self::ImplicitOpen | Self::ExplicitOpen | Self::Closed)
    }
}

impl Serialize for ZoneCondition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Zone {
    /// Where it begins.
    pub start_bytes: Bytes,
    /// From its start to the next zone's.
    pub length_bytes: Bytes,
    /// How much of it can be written; less than its length on many ZNS drives.
    pub capacity_bytes: Bytes,
    /// Where the next write goes; `null` where that means nothing.
    pub write_pointer_bytes: Option<Bytes>,
    /// What may be written where.
    pub zone_type: ZoneType,
    /// Its state.
    pub condition: ZoneCondition,
}

impl Zone {
    /// Where what can be written of it ends.
    #[must_use]
    pub fn writable_end(&self) -> Bytes {
        self.start_bytes + self.capacity_bytes.min(self.length_bytes)
    }

    /// Whether it can be written from its start once it was reset: it has a write pointer, and is neither read-only nor
    /// offline nor of a realm that is not active.
    #[must_use]
    pub fn takes_writes(&self) -> bool {
        let usable = self.condition.keeps_write_pointer() || self.condition == ZoneCondition::Full;
        usable
            && matches!(self.zone_type, ZoneType::SequentialWriteRequired | ZoneType::SequentialWritePreferred)
            && self.capacity_bytes > Bytes(0)
    }

    /// Whether it counts against the drive's limit of active zones: open in either way, or closed.
    #[must_use]
    pub fn is_active(&self) -> bool {
        matches!(self.condition, ZoneCondition::ImplicitOpen | ZoneCondition::ExplicitOpen | ZoneCondition::Closed)
    }

    /// Bytes written since it was reset; all it can hold where the drive does not tell (a finished zone says only that it
    /// is full).
    #[must_use]
    pub fn written_bytes(&self) -> Bytes {
        match (self.condition, self.write_pointer_bytes) {
            (ZoneCondition::Full, _) => self.capacity_bytes,
            (_, Some(pointer)) => Bytes(pointer.0.saturating_sub(self.start_bytes.0)),
            (_, None) => Bytes(0),
        }
    }

    /// The zone of a descriptor. The write pointer is dropped where it means nothing.
    #[must_use]
    pub fn new(
        start: Bytes,
        length: Bytes,
        capacity: Bytes,
        write_pointer: Bytes,
        zone_type: ZoneType,
        condition: ZoneCondition,
    ) -> Self {
        let told = zone_type.has_write_pointer() && condition.keeps_write_pointer();
        Self {
            start_bytes: start,
            length_bytes: length,
            capacity_bytes: capacity,
            write_pointer_bytes: told.then_some(write_pointer),
            zone_type,
            condition,
        }
    }
}

/// The first `most` zones that lie wholly within `offset..offset+size` and take writes at their write pointers: those
/// that a workload with `zonemode=zbd` writes to.
pub fn usable(zones: &[Zone], offset: Bytes, size: Bytes, most: u32) -> impl Iterator<Item = &Zone> {
    let end = Bytes(offset.0.saturating_add(size.0));
    let within = move |zone: &&Zone| zone.start_bytes >= offset && zone.start_bytes + zone.length_bytes <= end;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    zones.iter().filter(within).filter(|zone| zone.takes_writes()).take(most)
}

/// What is done to a zone besides reading and writing (ZBC-2 §5; ZNS 1.1 §3.4). As an I/O its offset is the zone's first
/// byte, and it moves no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ZoneOp {
    /// REPORT ZONES: the zone and those behind it, as many as one question brings (at most 4096).
    Report,
    /// RESET WRITE POINTER: what was written in it is lost.
    Reset,
    /// OPEN ZONE: the drive keeps it open until it is closed, finished or full.
    Open,
    /// CLOSE ZONE.
    Close,
    /// FINISH ZONE: it counts as full, however little was written.
    Finish,
}

impl ZoneOp {
    /// All of them, in the order of a zone's life.
    pub const ALL: [Self; 5] = [Self::Report, Self::Reset, Self::Open, Self::Close, Self::Finish];

    /// As written in the API and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Reset => "reset",
            Self::Open => "open",
            Self::Close => "close",
            Self::Finish => "finish",
        }
    }

    /// The reverse of [`as_str`](Self::as_str).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == text)
    }
}

impl Serialize for ZoneOp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Neighbouring zones of one type and condition: 55 880 zones make a short list of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ZoneRun {
    /// The number of the first, counted from 0.
    pub first_zone: usize,
    /// How many.
    pub zones: usize,
    /// Where the first begins.
    pub start_bytes: Bytes,
    /// All of them together.
    pub length_bytes: Bytes,
    /// What may be written where.
    pub zone_type: ZoneType,
    /// Their state.
    pub condition: ZoneCondition,
}

/// Consecutive zones of one type and condition, merged.
#[must_use]
pub fn runs(zones: &[Zone]) -> Vec<ZoneRun> {
    let mut runs: Vec<ZoneRun> = Vec::new();
    for (number, zone) in zones.iter().enumerate() {
        match runs.last_mut() {
            Some(run)
                if (run.zone_type, run.condition) == (zone.zone_type, zone.condition)
                    && run.start_bytes + run.length_bytes == zone.start_bytes =>
            {
                run.zones += 1;
                run.length_bytes += zone.length_bytes;
            }
            _ => runs.push(ZoneRun {
                first_zone: number,
                zones: 1,
                start_bytes: zone.start_bytes,
                length_bytes: zone.length_bytes,
                zone_type: zone.zone_type,
                condition: zone.condition,
            }),
        }
    }
    runs
}

/// A zoned drive in a few numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ZoneSummary {
    /// How many zones.
    pub zones: usize,
    /// The size of most of them.
    pub zone_size_bytes: Bytes,
    /// How many are of another size; the last of a drive often is.
    pub other_size: usize,
    /// How many can hold less than their length.
    pub capacity_below_size: usize,
    /// What all can hold together.
    pub capacity_bytes: Bytes,
    /// How many of each type.
    pub by_type: BTreeMap<&'static str, usize>,
    /// How many in each condition.
    pub by_condition: BTreeMap<&'static str, usize>,
}

/// Counts.
#[must_use]
pub fn summary(zones: &[Zone]) -> ZoneSummary {
    let mut by_type = BTreeMap::new();
    let mut by_condition = BTreeMap::new();
    let mut by_size: BTreeMap<Bytes, usize> = BTreeMap::new();
    let mut capacity = Bytes(0);
    for zone in zones {
        *by_type.entry(zone.zone_type.as_str()).or_default() += 1;
        *by_condition.entry(zone.condition.as_str()).or_default() += 1;
        *by_size.entry(zone.length_bytes).or_default() += 1;
        capacity += zone.capacity_bytes;
    }
    let (zone_size_bytes, most) = by_size.into_iter().max_by_key(|(_, count)| *count).unwrap_or((Bytes(0), 0));
    ZoneSummary {
        zones: zones.len(),
        zone_size_bytes,
        other_size: zones.len() - most,
        capacity_below_size: zones.iter().filter(|zone| zone.capacity_bytes < zone.length_bytes).count(),
        capacity_bytes: capacity,
        by_type,
        by_condition,
    }
}

/// What a drive answers when asked for its zones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ZoneReport {
    /// How it was asked: `BLKREPORTZONE` or `SG_IO REPORT ZONES`.
    pub source: String,
    /// When, milliseconds since 1970 UTC.
    pub asked_at_ms: i64,
    /// Counts.
    pub summary: ZoneSummary,
    /// `queue/max_open_zones`; 0 is "no limit", `null` "not told".
    pub max_open_zones: Option<u64>,
    /// `queue/max_active_zones`; 0 is "no limit", `null` "not told".
    pub max_active_zones: Option<u64>,
    /// The map, short.
    pub runs: Vec<ZoneRun>,
    /// Each zone; served on demand.
    #[serde(skip)]
    pub zones: Vec<Zone>,
}

/// Why there is no report of zones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoZones {
    /// The drive has no zones that a host can see.
    #[error("{0}")]
    NotZoned(String),
    /// This process may not ask.
    #[error("{0}")]
    NotPermitted(String),
    /// It was asked, and did not answer or not well.
    #[error("{0}")]
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::MIB;

    fn zone(number: u64, zone_type: ZoneType, condition: ZoneCondition) -> Zone {
        let start = Bytes(number * 256 * MIB);
        Zone::new(start, Bytes(256 * MIB), Bytes(256 * MIB), start, zone_type, condition)
    }

    #[test]
    fn a_large_host_managed_disk_is_a_short_list_of_runs() {
        use ZoneCondition::{Empty, Full, NotWritePointer};
        use ZoneType::{Conventional, SequentialWriteRequired};
        let zones: Vec<_> = (0..55_880)
            .map(|number| match number {
                0..524 => zone(number, Conventional, NotWritePointer),
                30_000..40_000 => zone(number, SequentialWriteRequired, Full),
                _ => zone(number, SequentialWriteRequired, Empty),
            })
            .collect();
        let runs = runs(&zones);
        let counts: Vec<_> = runs.iter().map(|run| (run.first_zone, run.zones)).collect();
        assert_eq!(counts, [(0, 524), (524, 29_476), (30_000, 10_000), (40_000, 15_880)]);
        let summary = summary(&zones);
        assert_eq!((summary.zones, summary.other_size, summary.capacity_below_size), (55_880, 0, 0));
        assert_eq!(summary.by_condition["full"], 10_000);
        assert_eq!(summary.by_type["conventional"], 524);
    }

    #[test]
    fn a_write_pointer_is_told_only_where_it_means_something() {
        use ZoneType::{Conventional, Gap, SequentialWritePreferred, SequentialWriteRequired};
        let told = |zone_type, condition| zone(1, zone_type, condition).write_pointer_bytes.is_some();
        for condition in (0..16).map(ZoneCondition::from_value) {
            let open = condition.keeps_write_pointer();
            assert_eq!(told(SequentialWriteRequired, condition), open, "{condition:?}");
            assert_eq!(told(SequentialWritePreferred, condition), open, "{condition:?}");
            assert!(!told(Conventional, condition) && !told(Gap, condition));
        }
        assert!(!ZoneCondition::Full.keeps_write_pointer() && !ZoneCondition::Offline.keeps_write_pointer());
    }

    #[test]
    fn only_whole_zones_that_take_writes_at_their_pointers_are_used() {
        use ZoneCondition::{Empty, Full, NotWritePointer, Offline, ReadOnly};
        use ZoneType::{Conventional, SequentialWritePreferred, SequentialWriteRequired};
        let zones = [
            zone(0, Conventional, NotWritePointer),
            zone(1, SequentialWriteRequired, Full),
            zone(2, SequentialWriteRequired, ReadOnly),
            zone(3, SequentialWriteRequired, Offline),
            zone(4, SequentialWritePreferred, Empty),
            zone(5, SequentialWriteRequired, Empty),
        ];
        let starts = |offset: u64, size: u64, most| -> Vec<u64> {
            usable(&zones, Bytes(offset * MIB), Bytes(size * MIB), most).map(|zone| zone.start_bytes.0 / MIB).collect()
        };
        assert_eq!(starts(0, 6 * 256, 9), [256, 1024, 1280]);
        assert_eq!(starts(0, 6 * 256, 2), [256, 1024]);
        assert_eq!(starts(257, 6 * 256 - 258, 9), [1024], "no zone is used in part");
    }

    #[test]
    fn a_short_last_zone_and_a_small_capacity_are_counted() {
        let mut zones: Vec<_> =
            (0..4).map(|n| zone(n, ZoneType::SequentialWriteRequired, ZoneCondition::Empty)).collect();
        zones[3].length_bytes = Bytes(MIB);
        zones[3].capacity_bytes = Bytes(MIB);
        zones[0].capacity_bytes = Bytes(192 * MIB);
        let summary = summary(&zones);
        assert_eq!((summary.other_size, summary.capacity_below_size), (1, 1));
        assert_eq!(summary.zone_size_bytes, Bytes(256 * MIB));
        assert_eq!(summary.capacity_bytes, Bytes(705 * MIB));
        assert_eq!(super::summary(&[]).zones, 0);
    }
}
