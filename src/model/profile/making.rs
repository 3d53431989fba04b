//! What the phases of a profile are made from: the parameters, the region, and a few steps that several have.

use super::Target;
use super::build::TargetZones;
use super::words::{BS, FLOOR_S, IODEPTH, OFFSET_BYTES, SIZE_BYTES};
use crate::model::parameters::{Parameter, Reader, bytes_of_text};
use crate::model::plan::{Action, Gate, Phase, PhaseRole};
use crate::model::tunable::Tunables;
use crate::model::units::{Bytes, GIB, KIB, MIB};
use crate::model::workload::{Rw, Workload};

/// All I/O buffers of a run together stay below this.
pub const MAX_BUFFER_BYTES: u64 = GIB;
/// Most entries of a list parameter: more phases than that nobody reads.
const MAX_LIST: usize = 64;
/// Block of the small random phases: every map entry of a translation layer holds at least this.
pub const SMALL: u64 = 4 * KIB;
/// Block of the large random phase: the size at which the caches of science §2.1 fill by bytes.
pub const LARGE: u64 = MIB;

/// The part of the target that may be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The logical block.
    pub block: u64,
    /// Bytes of the whole target.
    pub capacity: u64,
}

/// What a profile makes its phases from.
pub struct Making<'a> {
    /// Its parameters, and the mistakes in them.
    pub reader: Reader<'a>,
    /// The region.
    pub region: Region,
    /// The target's zones, if it has any.
    pub zones: Option<TargetZones>,
    /// Seed of the run; phases derive theirs from it.
    pub randseed: u64,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Making<'_> {
    /// Seconds, or any other whole number.
    #[must_use]
    pub fn number(&self, parameter: &Parameter, default: u64) -> u64 {
        self.reader.integer(parameter).unwrap_or(default)
    }

    /// I/Os in flight.
    #[must_use]
    pub fn depth(&self, default: u32) -> u32 {
        self.reader.integer(&IODEPTH).and_then(|depth| u32::try_from(depth).ok()).unwrap_or(default)
    }

    /// A block size: a multiple of the logical block that fits the region.
    pub fn block_size(&mut self, parameter: &Parameter, default: u64) -> u64 {
        let Some(Bytes(bs)) = self.reader.bytes(parameter) else { return self.block_of(default) };
        let name = self.reader.spelled(parameter);
        let Region { size, block, .. } = self.region;
        if bs == 0 || !bs.is_multiple_of(block) {
            self.reader.refuse(name, format!("is {bs}, must be a multiple of the logical block of {block} bytes"));
            return block;
        }
        if bs > size {
            self.reader.refuse(name, format!("is {bs}, larger than the region of {size} bytes"));
        }
        bs
    }

    /// The block size of writes into zones.
    pub fn zone_block_size(&mut self, default: u64, zones: TargetZones) -> u64 {
        let block = u64::from(zones.write_block).max(1);
        let bs = self.block_size(&BS, default.div_ceil(block) * block);
        if !bs.is_multiple_of(block) {
            let problem =
                format!("is {bs}, must be a multiple of {block} bytes: zones of this drive are written in these");
            self.reader.refuse(BS.name, problem);
        }
        bs
    }

    /// `wanted`, or the logical block where that is larger, or the region where that is smaller.
    #[must_use]
    pub fn block_of(&self, wanted: u64) -> u64 {
        let Region { size, block, .. } = self.region;
        let bs = wanted.max(block);
        let bs = bs - bs % block;
        bs.min(size).max(block)
    }

    /// Refuses buffers of more than a gibibyte.
    pub fn check_buffers(&mut self, parameter: &Parameter, bs: u64, in_flight: u32) {
        let bytes = bs.saturating_mul(u64::from(in_flight));
        if bytes > MAX_BUFFER_BYTES {
            let name = self.reader.spelled(parameter);
            let problem = format!("times iodepth is {bytes} bytes of buffers; at most {MAX_BUFFER_BYTES} are allowed");
            self.reader.refuse(name, problem);
        }
    }

    /// A list with commas, each entry read by `parse`.
    pub fn list<T>(
        &mut self,
        parameter: &Parameter,
        default: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let read = |text: &str| -> Result<Vec<T>, String> {
            let entries: Vec<&str> = text.split(',').map(str::trim).collect();
            if entries.len() > MAX_LIST {
                return Err(format!("has {} entries, must have at most {MAX_LIST}", entries.len()));
            }
            entries.into_iter().map(&parse).collect()
        };
        match self.reader.word(parameter) {
            Some(_) => self.reader.parsed(parameter, read).unwrap_or_default(),
            None => read(default).unwrap_or_default(),
        }
    }

    /// A list of sizes, each a multiple of the logical block; those that do not fit the region are left out, and that is
    /// told. Refused if none is left.
    pub fn sizes(&mut self, parameter: &Parameter, default: &str) -> Vec<u64> {
        let Region { size, block, .. } = self.region;
        let given = self.reader.word(parameter).is_some();
        let sizes = self.list(parameter, default, |text| match bytes_of_text(text)? {
            0 => Err("has a size of 0".to_owned()),
            bytes if given && bytes % block != 0 => {
                Err(format!("has {bytes}, must be multiples of the logical block of {block} bytes"))
            }
            bytes if given && bytes > GIB => Err(format!("has {bytes}, must be at most {GIB} bytes each")),
            bytes => Ok(bytes),
        });
        let count = sizes.len();
        let fitting: Vec<u64> = sizes.into_iter().filter(|bytes| *bytes <= size && bytes % block == 0).collect();
        if fitting.is_empty() && !self.reader.has_errors() {
            let name = self.reader.spelled(parameter);
            self.reader.refuse(name, format!("has no size that fits the region of {size} bytes"));
        } else if fitting.len() < count {
            self.notes.push(format!(
                "{} of {} are left out: larger than the region, or no multiple of its logical block.",
                count - fitting.len(),
                parameter.name
            ));
        }
        fitting
    }

    /// A word of fio's for the kind of I/O.
    #[must_use]
    pub fn rw(&self, parameter: &Parameter, default: Rw) -> Rw {
        let word = self.reader.word(parameter);
        word.and_then(|word| Rw::ALL.into_iter().find(|(name, _)| *name == word)).map_or(default, |(_, rw)| rw)
    }

    /// A seed of its own for the `nth` phase that needs one.
    #[must_use]
    pub fn seed(&self, nth: u64) -> u64 {
        self.randseed.wrapping_add(nth)
    }

    /// A workload over the whole region.
    #[must_use]
    pub fn whole(&self, rw: Rw, bs: u64, iodepth: u32, seed: u64) -> Workload {
        let region = (Bytes(self.region.offset), Bytes(self.region.size));
        Workload { iodepth, randseed: seed, ..Workload::new(rw, Bytes(bs), region.0, region.1) }
    }

    /// Random reads that measure how fast the head can move.
    #[must_use]
    pub fn floor(&self, depth: u32, role: PhaseRole) -> Phase {
        let mut workload = self.whole(Rw::RandRead, self.block_of(SMALL), depth, self.randseed);
        workload.runtime_s = Some(self.number(&FLOOR_S, 30));
        phase(
            format!("floor-qd{depth}"),
            format!("How fast the head can move: random reads, {depth} at a time"),
            role,
            Action::Io(workload),
        )
    }

    /// The same with large blocks: writes are held against reads of the same size and depth.
    #[must_use]
    pub fn large_floor(&self, depth: u32) -> Phase {
        let mut floor = self.floor(depth, PhaseRole::FloorDeep);
        "floor-1m".clone_into(&mut floor.name);
        floor.purpose = format!("How fast the head can move with large blocks: random 1 MiB reads, {depth} at a time");
        if let Action::Io(workload) = &mut floor.action {
            workload.bs = Bytes(self.block_of(LARGE));
        }
        floor
    }

    /// Refuses a region below `least` bytes.
    pub fn needs(&mut self, least: u64) -> bool {
        let enough = self.region.size >= least;
        if !enough {
            let name = self.reader.spelled(&SIZE_BYTES);
            let size = self.region.size;
            self.reader.refuse(name, format!("is {size}; this profile needs at least {least} bytes"));
        }
        enough
    }
}

/// A phase that is always carried out, to its end.
pub fn phase(name: impl Into<String>, purpose: impl Into<String>, role: PhaseRole, action: Action) -> Phase {
    Phase {
        name: name.into(),
        purpose: purpose.into(),
        role,
        gate: Gate::Always,
        early_stop: false,
        action,
        tunables: Tunables::new(),
        bytes_to_write: None,
        estimated_s: 0,
    }
}

/// A size for a phase's name: `4k`, `1m`, `513`.
pub fn short(bytes: u64) -> String {
    let units = [(GIB, "g"), (MIB, "m"), (KIB, "k")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// The region that the parameters name.
pub fn region(reader: &mut Reader<'_>, target: Target) -> Region {
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
