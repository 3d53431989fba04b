//! `/sys/block/*/queue/*`: the block layer's view of a device (Documentation/ABI/stable/sysfs-block).

use super::facts::Facts;
use super::sysfs::SysRoot;
use crate::model::drive::{QueueLimits, Reading};
use crate::model::units::Bytes;

/// What the block layer says of one device.
#[derive(Debug)]
pub struct Queue {
    /// The limits.
    pub limits: QueueLimits,
    /// `queue/zoned`.
    pub zoned: Reading<String>,
    /// `queue/rotational`.
    pub rotational: Option<bool>,
    /// `queue/logical_block_size`, bytes.
    pub logical_block_bytes: u32,
    /// `queue/physical_block_size`, bytes.
    pub physical_block_bytes: Option<u32>,
}

/// Linux's own sector, and the block of a device that does not say otherwise.
const SECTOR_BYTES: u32 = 512;

/// Reads the queue directory of a whole device, and notes each fact.
#[must_use]
pub fn read(root: &SysRoot, name: &str, facts: &mut Facts) -> Queue {
    let source = |attribute: &str| format!("/sys/block/{name}/queue/{attribute}");
    let mut number = |attribute: &str, unit: &str| {
        let reading = root.number(&source(attribute));
        let show = |value: &u64| if unit.is_empty() { value.to_string() } else { format!("{value} {unit}") };
        facts.add(&format!("queue/{attribute}"), source(attribute), &reading, show, None);
        reading.into_known()
    };
    let logical_block_bytes = number("logical_block_size", "B").and_then(|size| u32::try_from(size).ok());
    let physical_block_bytes = number("physical_block_size", "B").and_then(|size| u32::try_from(size).ok());
    let mut limits = QueueLimits {
        max_hw_sectors_kb: number("max_hw_sectors_kb", "KiB"),
        max_sectors_kb: number("max_sectors_kb", "KiB"),
        max_segments: number("max_segments", ""),
        max_segment_size_bytes: number("max_segment_size", "B"),
        nr_requests: number("nr_requests", ""),
        discard_max_bytes: number("discard_max_bytes", "B"),
        nr_zones: number("nr_zones", ""),
        chunk_bytes: number("chunk_sectors", "sectors of 512 B").map(|sectors| Bytes::from_sectors(sectors).get()),
        max_open_zones: number("max_open_zones", ""),
        max_active_zones: number("max_active_zones", ""),
        ..QueueLimits::default()
    };
    number("discard_granularity", "B");
    number("minimum_io_size", "B");
    number("optimal_io_size", "B");

    let zoned = root.text(&source("zoned"));
    let zoned_remedy = "Linux 4.10 and later show it, when built with CONFIG_BLK_DEV_ZONED";
    facts.add("queue/zoned", source("zoned"), &zoned, String::clone, Some(zoned_remedy));
    limits.zoned = zoned.known().cloned();
    if zoned.known().is_some_and(|zoned| zoned != "none") {
        let append = root.number(&source("zone_append_max_bytes"));
        let show = |bytes: &u64| format!("{bytes} B");
        let remedy = Some("Linux 5.8 and later show it");
        facts.add("queue/zone_append_max_bytes", source("zone_append_max_bytes"), &append, show, remedy);
    }
    note_actuators(root, name, facts);

    let rotational = root.flag(&source("rotational"));
    facts.add("queue/rotational", source("rotational"), &rotational, |on| u8::from(*on).to_string(), None);
    let write_cache = root.text(&source("write_cache"));
    facts.text("queue/write_cache", &source("write_cache"), &write_cache);
    limits.write_cache = write_cache.into_known();
    let fua = root.flag(&source("fua"));
    facts.add("queue/fua", source("fua"), &fua, |on| u8::from(*on).to_string(), None);
    limits.fua = fua.into_known();
    let scheduler = root.text(&source("scheduler")).map(|text| in_force(&text));
    facts.text("queue/scheduler", &source("scheduler"), &scheduler);
    limits.scheduler = scheduler.into_known();

    Queue {
        limits,
        zoned,
        rotational: rotational.into_known(),
        logical_block_bytes: logical_block_bytes.filter(|size| *size > 0).unwrap_or(SECTOR_BYTES),
        physical_block_bytes: physical_block_bytes.filter(|size| *size > 0),
    }
}

/// Ranges of blocks that have heads of their own: a drive with two actuators has two (Linux 5.16). Nothing is missing
/// where there are none.
fn note_actuators(root: &SysRoot, name: &str, facts: &mut Facts) {
    let dir = format!("/sys/block/{name}/queue/independent_access_ranges");
    let ranges: Vec<String> = root
        .list(&dir)
        .iter()
        .filter_map(|range| {
            let start = root.number(&format!("{dir}/{range}/sector")).into_known()?;
            let count = root.number(&format!("{dir}/{range}/nr_sectors")).into_known()?;
            Some(format!("{count} from {start}"))
        })
        .collect();
    if !ranges.is_empty() {
        let reading = Reading::Known(format!("{} (sectors of 512 B)", ranges.join(", ")));
        facts.text("queue/independent_access_ranges", &dir, &reading);
    }
}

/// The scheduler in brackets: `none [mq-deadline]`; without brackets there is only one.
fn in_force(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    bracketed.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_in_force() {
        assert_eq!(in_force("none [mq-deadline] bfq"), "mq-deadline");
        assert_eq!(in_force("none"), "none");
    }
}
