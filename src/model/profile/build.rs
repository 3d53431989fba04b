//! From a profile and its parameters to ordered phases. Pure.

use serde_json::{Map, Value};

use super::{
    BS, FLOOR_S, IDLE_S, INTERVAL_MS, IO_SIZE_BYTES, IODEPTH, LARGE_BYTES, NUMBER_IOS, OFFSET_BYTES, PHASE_LIMIT_S,
    PLACES, Profile, RANDSEED, RUNTIME_S, RW, RWMIXREAD, SIZE_BYTES, WRITES,
};
use crate::model::approx::{f64_of, u64_of};
use crate::model::parameters::{FieldError, Reader};
use crate::model::plan::{Action, Gate, Phase, PhaseRole};
use crate::model::units::{Bytes, GIB, KIB, MIB};
use crate::model::workload::{Rw, Workload};

/// What is assumed of a target's speed for an estimate before anything was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Random I/Os per second.
    pub random_iops: f64,
    /// Sequential bytes per second.
    pub sequential_bytes_per_s: f64,
}

impl Pace {
    /// A disk: 250 random writes and 150 MB per second, between the figures of science §3.
    pub const DISK: Self = Self { random_iops: 250.0, sequential_bytes_per_s: 150e6 };
    /// Flash or memory: modest figures of a SATA SSD.
    pub const FLASH: Self = Self { random_iops: 20_000.0, sequential_bytes_per_s: 400e6 };

    fn seconds(self, workload: &Workload) -> u64 {
        let bs = f64_of(workload.bs.0);
        let per_io = if workload.rw.is_random() {
            1.0 / self.random_iops + bs / self.sequential_bytes_per_s
        } else {
            bs / self.sequential_bytes_per_s
        };
        let ios = [workload.number_ios, workload.io_size_bytes.map(|bytes| bytes.0.div_ceil(workload.bs.0))]
            .into_iter()
            .flatten()
            .min();
        let by_work = ios.map(|ios| u64_of((f64_of(ios) * per_io).ceil()).max(1));
        [by_work, workload.runtime_s].into_iter().flatten().min().unwrap_or(0)
    }
}

/// What a profile needs to know of its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// How large it is.
    pub capacity: Bytes,
    /// Every offset and length is a multiple of this.
    pub logical_block: u32,
    /// For estimates.
    pub pace: Pace,
}

/// A profile made concrete.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// In order.
    pub phases: Vec<Phase>,
    /// The region: first byte.
    pub offset: Bytes,
    /// The region: length.
    pub size: Bytes,
    /// Length of one interval, milliseconds.
    pub interval_ms: u64,
    /// Seed.
    pub randseed: u64,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// All I/O buffers of a run together stay below this.
const MAX_BUFFER_BYTES: u64 = GIB;
/// Block of the small random phases: every map entry of a translation layer holds at least this.
const SMALL: u64 = 4 * KIB;
/// Block of the large random phase: the size at which the caches of science §2.1 fill by bytes.
const LARGE: u64 = MIB;
/// The region that is scattered and read back: long enough for a second of sequential reading.
const SCATTER_REGION: u64 = 256 * MIB;
/// Blocks scattered over the region: one per 64 KiB, so each read of the region meets many.
const SCATTER_WRITES: u64 = SCATTER_REGION / (64 * KIB);
/// Below this a region for every phase cannot be laid out.
const SMALLEST_SMR_TARGET: u64 = 16 * MIB;

struct Region {
    offset: u64,
    size: u64,
    block: u64,
    /// Of the whole target.
    capacity: u64,
}

/// Makes the phases of `profile` for `target`.
///
/// # Errors
/// Every parameter that is unknown, out of range, or does not fit the target, each by name.
pub fn build(profile: Profile, given: &Map<String, Value>, target: Target) -> Result<Built, Vec<FieldError>> {
    let known = profile.parameters();
    let mut reader = Reader::new(given, &known);
    let region = region(&mut reader, target);
    let randseed = reader.integer(&RANDSEED).unwrap_or(1);
    let interval_ms = reader.integer(&INTERVAL_MS).unwrap_or(1_000);
    let mut notes = Vec::new();
    let phases = match profile {
        Profile::Inspect => inspect(&reader, &region, randseed),
        Profile::SmrQuick => smr_quick(&mut reader, &region, randseed, &mut notes),
        Profile::Custom => custom(&mut reader, &region, randseed),
    };
    reader.finish()?;
    let phases = phases.into_iter().map(|phase| estimate(phase, target.pace)).collect();
    Ok(Built { phases, offset: Bytes(region.offset), size: Bytes(region.size), interval_ms, randseed, notes })
}

fn region(reader: &mut Reader<'_>, target: Target) -> Region {
    let block = u64::from(target.logical_block).max(1);
    let capacity = target.capacity.0;
    let offset = reader.bytes(&OFFSET_BYTES).map_or(0, |offset| offset.0);
    let offset_name = reader.spelled(&OFFSET_BYTES);
    let size_name = reader.spelled(&SIZE_BYTES);
    if !offset.is_multiple_of(block) {
        reader.refuse(offset_name, format!("is {offset}, not a multiple of the logical block of {block} bytes"));
    }
    if offset >= capacity {
        reader.refuse(offset_name, format!("is {offset}, past the end: the target has {capacity} bytes"));
    }
    let room = capacity.saturating_sub(offset);
    // The tail of a file that is no whole block cannot be reached with direct I/O.
    let whole = room - room % block;
    let size = reader.bytes(&SIZE_BYTES).map_or(whole, |size| size.0);
    if !size.is_multiple_of(block) {
        reader.refuse(size_name, format!("is {size}, not a multiple of the logical block of {block} bytes"));
    }
    if size > room {
        reader.refuse(size_name, format!("is {size}, past the end: from offset {offset} the target has {room} bytes"));
    }
    Region { offset, size, block, capacity }
}

fn estimate(mut phase: Phase, pace: Pace) -> Phase {
    match &phase.action {
        Action::Idle { runtime_s } => {
            phase.estimated_s = *runtime_s;
            phase.bytes_to_write = Some(Bytes(0));
        }
        Action::Io(workload) => {
            phase.estimated_s = pace.seconds(workload);
            phase.bytes_to_write = workload.max_write_bytes();
        }
    }
    phase
}

fn phase(name: impl Into<String>, purpose: impl Into<String>, role: PhaseRole, action: Action) -> Phase {
    Phase {
        name: name.into(),
        purpose: purpose.into(),
        role,
        gate: Gate::Always,
        early_stop: false,
        action,
        bytes_to_write: None,
        estimated_s: 0,
    }
}

fn whole(region: &Region, rw: Rw, bs: u64, iodepth: u32, randseed: u64) -> Workload {
    let region = (Bytes(region.offset), Bytes(region.size));
    Workload { iodepth, randseed, ..Workload::new(rw, Bytes(bs), region.0, region.1) }
}

fn floor(reader: &Reader<'_>, region: &Region, depth: u32, role: PhaseRole, randseed: u64) -> Phase {
    let mut workload = whole(region, Rw::RandRead, block_of(region, SMALL), depth, randseed);
    workload.runtime_s = Some(reader.integer(&FLOOR_S).unwrap_or(30));
    phase(
        format!("floor-qd{depth}"),
        format!("How fast the head can move: random reads, {depth} at a time"),
        role,
        Action::Io(workload),
    )
}

/// `wanted`, or the logical block where that is larger, or the region where that is smaller.
fn block_of(region: &Region, wanted: u64) -> u64 {
    let bs = wanted.max(region.block);
    let bs = bs - bs % region.block;
    bs.min(region.size).max(region.block)
}

fn inspect(reader: &Reader<'_>, region: &Region, randseed: u64) -> Vec<Phase> {
    let mut phases = vec![
        floor(reader, region, 1, PhaseRole::Floor, randseed),
        floor(reader, region, 32, PhaseRole::FloorDeep, randseed),
    ];
    let places = reader.integer(&PLACES).unwrap_or(17);
    let bs = block_of(region, MIB);
    // Two seconds at 128 MiB/s: long enough to outlast a drive's read-ahead.
    let length = (256 * MIB).min(region.size / places.max(1)).max(bs);
    let length = length - length % bs;
    for place in 0..places {
        let last_start = region.size.saturating_sub(length);
        let start = if places == 1 {
            0
        } else {
            u64::try_from(u128::from(last_start) * u128::from(place) / u128::from(places - 1)).unwrap_or(0)
        };
        let start = start - start % region.block;
        let at_percent = u64_of(f64_of(start) / f64_of(region.size.max(1)) * 100.0);
        let mut workload = whole(region, Rw::Read, bs, 4, randseed);
        workload.offset_bytes = Bytes(region.offset + start);
        workload.size_bytes = Bytes(length);
        workload.io_size_bytes = Some(Bytes(length));
        workload.runtime_s = Some(60);
        phases.push(phase(
            format!("read-at-{at_percent}%"),
            format!("Sequential read at {at_percent} % of the region"),
            PhaseRole::ZoneProfile,
            Action::Io(workload),
        ));
    }
    phases
}

fn smr_quick(reader: &mut Reader<'_>, region: &Region, randseed: u64, notes: &mut Vec<String>) -> Vec<Phase> {
    if region.size < SMALLEST_SMR_TARGET {
        let name = reader.spelled(&SIZE_BYTES);
        reader.refuse(name, format!("is {}; this profile needs at least {SMALLEST_SMR_TARGET} bytes", region.size));
        return Vec::new();
    }
    let depth = depth(reader, 8);
    let limit_s = reader.integer(&PHASE_LIMIT_S).unwrap_or(7_200);
    let large_bytes =
        reader.bytes(&LARGE_BYTES).map_or_else(|| (64 * GIB).min(region.size.saturating_mul(2)), |bytes| bytes.0);
    let idle_s = reader.integer(&IDLE_S).unwrap_or(120);

    let mut small = whole(region, Rw::RandWrite, block_of(region, SMALL), depth, randseed.wrapping_add(1));
    small.number_ios = Some(reader.integer(&WRITES).unwrap_or(600_000));
    small.runtime_s = Some(limit_s);
    let mut large = whole(region, Rw::RandWrite, block_of(region, LARGE), depth, randseed.wrapping_add(2));
    large.io_size_bytes = Some(Bytes(large_bytes));
    large.runtime_s = Some(limit_s);
    let mut recovery = small.clone();
    recovery.randseed = randseed.wrapping_add(3);
    recovery.number_ios = Some(20_000);
    recovery.runtime_s = Some(30);

    // Writes are held against reads of the same size and depth, so the large ones have a floor of their own.
    let mut large_floor = floor(reader, region, depth, PhaseRole::FloorDeep, randseed);
    "floor-1m".clone_into(&mut large_floor.name);
    large_floor.purpose =
        format!("How fast the head can move with large blocks: random 1 MiB reads, {depth} at a time");
    if let Action::Io(workload) = &mut large_floor.action {
        workload.bs = Bytes(block_of(region, LARGE));
    }
    let mut phases = vec![
        floor(reader, region, 1, PhaseRole::Floor, randseed),
        floor(reader, region, depth, PhaseRole::FloorDeep, randseed),
        large_floor,
    ];
    let mut random_small = phase(
        "random-4k",
        "Does the rate collapse after so many small writes all over the drive?",
        PhaseRole::RandomSmall,
        Action::Io(small),
    );
    random_small.early_stop = true;
    phases.push(random_small);
    let mut random_large =
        phase("random-1m", "Does the rate collapse after so many bytes?", PhaseRole::RandomLarge, Action::Io(large));
    random_large.early_stop = true;
    random_large.gate = Gate::UnlessCliff;
    phases.push(random_large);
    phases.extend(reread(region, randseed));
    if idle_s > 0 {
        let mut idle = phase("idle", "The drive is left alone", PhaseRole::Idle, Action::Idle { runtime_s: idle_s });
        idle.gate = Gate::IfCliff;
        let mut again = phase(
            "recovery",
            "Did it free some of its cache while it was left alone?",
            PhaseRole::Recovery,
            Action::Io(recovery),
        );
        again.gate = Gate::IfCliff;
        phases.extend([idle, again]);
    }
    if region.size < 100 * GIB {
        notes.push(format!(
            "The region is {}: a drive-managed disk may hide a cache larger than that, so the absence of a \
             cliff will say little.",
            Bytes(region.size)
        ));
    } else if region.size < (1024 * GIB).min(region.capacity / 10 * 9) {
        notes.push(format!(
            "The region is {}: over less than 1 TiB a drive-managed disk cleans many blocks at once and may keep \
             up, so the absence of a cliff will not prove a conventional disk.",
            Bytes(region.size)
        ));
    }
    phases
}

/// Positive evidence of writing in place, or of an indirection (science §1.2, test 2).
fn reread(region: &Region, randseed: u64) -> Vec<Phase> {
    let bs = block_of(region, MIB);
    let length = SCATTER_REGION.min(region.size / 4);
    let length = length - length % bs;
    let middle = region.size / 2;
    let start = region.offset + (middle - middle % region.block);
    let ordered = |rw: Rw| {
        let mut workload = whole(region, rw, bs, 1, randseed);
        workload.offset_bytes = Bytes(start);
        workload.size_bytes = Bytes(length);
        workload.io_size_bytes = Some(Bytes(length));
        workload.runtime_s = Some(1_800);
        Action::Io(workload)
    };
    let mut scatter = whole(region, Rw::RandWrite, block_of(region, SMALL), 8, randseed.wrapping_add(4));
    scatter.offset_bytes = Bytes(start);
    scatter.size_bytes = Bytes(length);
    scatter.number_ios = Some(SCATTER_WRITES.min(length / (64 * KIB)).max(1));
    scatter.runtime_s = Some(1_800);
    let steps = [
        ("region-fill", "A region is written in order", PhaseRole::RegionFill, ordered(Rw::Write)),
        ("region-read-before", "The region is read in order", PhaseRole::RegionReadBefore, ordered(Rw::Read)),
        (
            "region-scatter",
            "Blocks of the region are rewritten in random order",
            PhaseRole::RegionScatter,
            Action::Io(scatter),
        ),
        (
            "region-read-after",
            "Do the rewritten blocks read back from their own place?",
            PhaseRole::RegionReadAfter,
            ordered(Rw::Read),
        ),
    ];
    steps
        .into_iter()
        .map(|(name, purpose, role, action)| {
            let mut step = phase(name, purpose, role, action);
            step.gate = Gate::UnlessCliff;
            step
        })
        .collect()
}

fn depth(reader: &Reader<'_>, default: u32) -> u32 {
    reader.integer(&IODEPTH).and_then(|depth| u32::try_from(depth).ok()).unwrap_or(default)
}

fn custom(reader: &mut Reader<'_>, region: &Region, randseed: u64) -> Vec<Phase> {
    let word = reader.word(&RW);
    let rw = word.and_then(|word| Rw::ALL.into_iter().find(|(name, _)| *name == word));
    let Some((name, rw)) = rw else {
        reader.refuse(RW.name, "is required: read, write, randread, randwrite, rw or randrw");
        return Vec::new();
    };
    let bs = reader.bytes(&BS).map_or(SMALL.max(region.block), |bs| bs.0);
    if bs == 0 || !bs.is_multiple_of(region.block) {
        reader.refuse(BS.name, format!("is {bs}, must be a multiple of the logical block of {} bytes", region.block));
        return Vec::new();
    }
    if bs > region.size {
        reader.refuse(BS.name, format!("is {bs}, larger than the region of {} bytes", region.size));
    }
    let iodepth = depth(reader, 1);
    if bs.saturating_mul(u64::from(iodepth)) > MAX_BUFFER_BYTES {
        reader.refuse(
            BS.name,
            format!(
                "times iodepth is {} bytes of buffers; at most {MAX_BUFFER_BYTES} are allowed",
                bs.saturating_mul(u64::from(iodepth))
            ),
        );
    }
    let mut workload = whole(region, rw, bs, iodepth, randseed);
    workload.rwmixread = reader.integer(&RWMIXREAD).and_then(|mix| u8::try_from(mix).ok()).unwrap_or(50);
    workload.runtime_s = reader.integer(&RUNTIME_S);
    workload.number_ios = reader.integer(&NUMBER_IOS);
    workload.io_size_bytes = reader.bytes(&IO_SIZE_BYTES);
    if let Some(bytes) = workload.io_size_bytes
        && bytes.0 < bs
    {
        let spelled = reader.spelled(&IO_SIZE_BYTES);
        reader.refuse(spelled, format!("is {}, less than one block of {bs} bytes", bytes.0));
    }
    // As fio does: without a time or a count, the region is covered once.
    if workload.runtime_s.is_none() && workload.number_ios.is_none() && workload.io_size_bytes.is_none() {
        workload.io_size_bytes = Some(Bytes(region.size));
    }
    vec![phase(
        name,
        format!("{name}, {} blocks, {iodepth} in flight", Bytes(bs)),
        PhaseRole::Custom,
        Action::Io(workload),
    )]
}
