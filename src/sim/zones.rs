//! Zones in front of a simulated drive: their write pointers, their conditions, and how many may be open (ZBC-2 §4.4 and §4.5, ZNS
//! 1.1 §2.1).
//!
//! What a write costs behind this is the business of the layers below; this one says whether it is taken, whether
//! it goes straight to its place, and what opening and closing costs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::approx::f64_of;
use crate::model::units::Bytes;
use crate::model::zone::{Zone, ZoneCondition, ZoneOp, ZoneType};

/// `EREMOTEIO`: what Linux makes of ILLEGAL REQUEST, unaligned write command (21h/04h).
pub const EREMOTEIO: i32 = 121;
/// `EIO`: what Linux makes of the NVMe status Zone Invalid Write.
pub const EIO: i32 = 5;
/// `ETOOMANYREFS`: no more zones can be open (`BLK_STS_ZONE_OPEN_RESOURCE`).
pub const ETOOMANYREFS: i32 = 109;
/// `EOVERFLOW`: no more zones can be active (`BLK_STS_ZONE_ACTIVE_RESOURCE`).
pub const EOVERFLOW: i32 = 75;
/// Zones that one report brings, as many as one `BLKREPORTZONE` of ours.
const ZONES_AT_ONCE: usize = 4_096;

/// What a drive allows in its zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneModel {
    /// Writes only at the pointer.
    HostManaged,
    /// Writes anywhere; those at the pointer go straight to their place.
    HostAware,
    /// Writes only at the pointer, with a limit of active zones, of an SSD.
    Zns,
}

/// The zones of one drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZonesParams {
    /// What it allows.
    pub model: ZoneModel,
    /// Bytes from one zone's start to the next one's.
    pub zone_bytes: u64,
    /// Bytes of a zone that can be written.
    pub zone_capacity: u64,
    /// So many at the start are conventional.
    pub conventional: u64,
    /// Most open zones; 0 is no limit.
    pub max_open: usize,
    /// Most zones that are open or closed; 0 is no limit.
    pub max_active: usize,
    /// OPEN ZONE, ms.
    pub open_ms: f64,
    /// CLOSE ZONE, ms; also when the drive closes one by itself.
    pub close_ms: f64,
    /// RESET WRITE POINTER, ms.
    pub reset_ms: f64,
    /// FINISH ZONE, ms.
    pub finish_ms: f64,
    /// REPORT ZONES, ms for 4096 zones.
    pub report_ms: f64,
}

/// What a zone has come to since it left the factory empty.
#[derive(Debug, Clone, Copy)]
struct Touched {
    condition: ZoneCondition,
    /// Bytes from its start.
    pointer: u64,
}

const UNTOUCHED: Touched = Touched { condition: ZoneCondition::Empty, pointer: 0 };

/// A write that is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// It goes straight to its place.
    pub home: bool,
    /// What closing other zones costs, ms.
    pub ms: f64,
}

/// The zones of a drive in use.
///
/// Invariants: at most `max_open` zones are open and `max_active` open or closed; `implicit` has exactly the implicitly
/// open ones.
#[derive(Debug, Clone)]
pub struct ZoneTable {
    params: ZonesParams,
    capacity: u64,
    touched: BTreeMap<u64, Touched>,
    /// Implicitly open zones, the one opened first at the front.
    implicit: Vec<u64>,
    explicit: usize,
    closed: usize,
}

impl ZoneTable {
    /// All empty, on a drive of `capacity` bytes.
    #[must_use]
    pub fn new(params: ZonesParams, capacity: u64) -> Self {
        Self { params, capacity, touched: BTreeMap::new(), implicit: Vec::new(), explicit: 0, closed: 0 }
    }

    fn count(&self) -> u64 {
        self.capacity.div_ceil(self.params.zone_bytes.max(1))
    }

    fn start(&self, number: u64) -> u64 {
        number * self.params.zone_bytes
    }

    fn length(&self, number: u64) -> u64 {
        self.params.zone_bytes.min(self.capacity - self.start(number))
    }

    fn writable(&self, number: u64) -> u64 {
        self.params.zone_capacity.min(self.length(number))
    }

    fn get(&self, number: u64) -> Touched {
        self.touched.get(&number).copied().unwrap_or(UNTOUCHED)
    }

    /// The error for a write in the wrong place.
    fn misplaced(&self) -> i32 {
        if self.params.model == ZoneModel::Zns { EIO } else { EREMOTEIO }
    }

    /// Takes a write within the capacity, or not.
    ///
    /// # Errors
    /// What the kernel would say: [`EREMOTEIO`], [`EIO`], [`ETOOMANYREFS`], [`EOVERFLOW`].
    pub fn write(&mut self, offset: u64, len: u64) -> Result<Taken, i32> {
        let mut taken = Taken { home: true, ms: 0.0 };
        let mut at = offset;
        // The kernel splits what crosses the border of a zone.
        while at < offset + len {
            let number = at / self.params.zone_bytes.max(1);
            let within = at - self.start(number);
            let piece = (offset + len - at).min(self.length(number) - within);
            let one = self.write_one(number, within, piece)?;
            taken.home &= one.home;
            taken.ms += one.ms;
            at += piece;
        }
        Ok(taken)
    }

    fn write_one(&mut self, number: u64, within: u64, len: u64) -> Result<Taken, i32> {
        if number < self.params.conventional {
            return Ok(Taken { home: true, ms: 0.0 });
        }
        let Touched { condition, pointer } = self.get(number);
        let end = within + len;
        let at_pointer = condition != ZoneCondition::Full && within == pointer && end <= self.writable(number);
        if !at_pointer {
            if self.params.model != ZoneModel::HostAware {
                return Err(self.misplaced());
            }
            // It opens no zone: it goes to the drive's cache area.
            self.advance(number, pointer.max(end));
            return Ok(Taken { home: false, ms: 0.0 });
        }
        let ms = if self.is_open(condition) { 0.0 } else { self.open(number, ZoneCondition::ImplicitOpen)? };
        self.advance(number, end);
        Ok(Taken { home: true, ms })
    }

    fn is_open(&self, condition: ZoneCondition) -> bool {
        matches!(condition, ZoneCondition::ImplicitOpen | ZoneCondition::ExplicitOpen)
    }

    /// Moves a pointer; a zone that has been written to its end is full.
    fn advance(&mut self, number: u64, pointer: u64) {
        let full = pointer >= self.writable(number);
        let was = self.get(number);
        self.touched.insert(number, Touched { pointer, ..was });
        if full {
            self.set(number, ZoneCondition::Full);
        } else if was.condition == ZoneCondition::Empty {
            // Written out of order: it holds data and is not open.
            self.set(number, ZoneCondition::Closed);
        }
    }

    /// Changes a condition and keeps count.
    fn set(&mut self, number: u64, condition: ZoneCondition) {
        let was = self.get(number);
        match was.condition {
            ZoneCondition::ImplicitOpen => self.implicit.retain(|open| *open != number),
            ZoneCondition::ExplicitOpen => self.explicit -= 1,
            ZoneCondition::Closed => self.closed -= 1,
            _ => {}
        }
        match condition {
            ZoneCondition::ImplicitOpen => self.implicit.push(number),
            ZoneCondition::ExplicitOpen => self.explicit += 1,
            ZoneCondition::Closed => self.closed += 1,
            _ => {}
        }
        self.touched.insert(number, Touched { condition, ..was });
    }

    /// Opens a zone that is not open, closing one that was opened implicitly if need be. Milliseconds.
    fn open(&mut self, number: u64, condition: ZoneCondition) -> Result<f64, i32> {
        let ZonesParams { max_open, max_active, close_ms, model, .. } = self.params;
        let active = self.implicit.len() + self.explicit + self.closed;
        let counts = self.get(number).condition != ZoneCondition::Closed;
        // A host-aware zone that was written out of order is closed, and no limit is known for those.
        if model != ZoneModel::HostAware && max_active > 0 && counts && active >= max_active {
            return Err(EOVERFLOW);
        }
        let mut ms = 0.0;
        if max_open > 0 && self.implicit.len() + self.explicit >= max_open {
            let oldest = self.implicit.first().copied().ok_or(ETOOMANYREFS)?;
            self.set(oldest, ZoneCondition::Closed);
            ms = close_ms;
        }
        self.set(number, condition);
        Ok(ms)
    }

    /// Does something to the zone that begins at `offset`. Milliseconds.
    ///
    /// # Errors
    /// As [`write`](Self::write), and `EINVAL` where no zone begins.
    pub fn manage(&mut self, op: ZoneOp, offset: u64) -> Result<f64, i32> {
        let number = offset / self.params.zone_bytes.max(1);
        let whole = self.start(number) == offset && offset < self.capacity;
        if op != ZoneOp::Report && !whole {
            return Err(super::drive::EINVAL);
        }
        if op != ZoneOp::Report && number < self.params.conventional {
            return Err(EREMOTEIO);
        }
        let now = self.get(number).condition;
        let params = self.params;
        let zns = params.model == ZoneModel::Zns;
        match op {
            ZoneOp::Open => match now {
                ZoneCondition::Full => Err(self.misplaced()),
                ZoneCondition::ExplicitOpen => Ok(0.0),
                ZoneCondition::ImplicitOpen => {
                    self.set(number, ZoneCondition::ExplicitOpen);
                    Ok(params.open_ms)
                }
                _ => Ok(self.open(number, ZoneCondition::ExplicitOpen)? + params.open_ms),
            },
            ZoneOp::Close => match now {
                _ if self.is_open(now) => {
                    let empty = self.get(number).pointer == 0;
                    self.set(number, if empty { ZoneCondition::Empty } else { ZoneCondition::Closed });
                    Ok(params.close_ms)
                }
                ZoneCondition::Closed => Ok(0.0),
                // ZBC leaves it as it is; ZNS calls it an invalid transition.
                _ if zns => Err(EIO),
                _ => Ok(0.0),
            },
            ZoneOp::Finish => {
                self.set(number, ZoneCondition::Full);
                Ok(params.finish_ms)
            }
            ZoneOp::Report => {
                // In proportion: a drive with few zones answers sooner.
                let zones = self.count().saturating_sub(number).min(4_096);
                Ok(params.report_ms * f64_of(zones) / 4_096.0)
            }
            ZoneOp::Reset => {
                self.set(number, ZoneCondition::Empty);
                self.touched.remove(&number);
                Ok(params.reset_ms)
            }
        }
    }

    /// Whether nothing has been written at `offset`, so that a read there needs no medium. Host-aware disks keep what they
    /// were told anywhere, and are not simulated to know.
    #[must_use]
    pub fn is_blank(&self, offset: u64) -> bool {
        let number = offset / self.params.zone_bytes.max(1);
        let Touched { condition, pointer } = self.get(number);
        self.params.model != ZoneModel::HostAware
            && number >= self.params.conventional
            && condition != ZoneCondition::Full
            && offset - self.start(number) >= pointer
    }

    /// The zones from the one that holds `from` on, as many as one report brings.
    #[must_use]
    pub fn report_from(&self, from: u64) -> Vec<Zone> {
        let first = from / self.params.zone_bytes.max(1);
        (first..self.count()).take(ZONES_AT_ONCE).map(|number| self.zone(number)).collect()
    }

    /// All of them.
    #[must_use]
    pub fn report(&self) -> Vec<Zone> {
        (0..self.count()).map(|number| self.zone(number)).collect()
    }

    fn zone(&self, number: u64) -> Zone {
        let (start, length) = (Bytes(self.start(number)), Bytes(self.length(number)));
        if number < self.params.conventional {
            let condition = ZoneCondition::NotWritePointer;
            return Zone::new(start, length, length, start, ZoneType::Conventional, condition);
        }
        let zone_type = match self.params.model {
            ZoneModel::HostAware => ZoneType::SequentialWritePreferred,
            ZoneModel::HostManaged | ZoneModel::Zns => ZoneType::SequentialWriteRequired,
        };
        let Touched { condition, pointer } = self.get(number);
        Zone::new(start, length, Bytes(self.writable(number)), start + Bytes(pointer), zone_type, condition)
    }
}

/// The zones of a drive that outlive a run on it: what one run wrote the next one finds, and a page shows while it runs.
///
/// A clone of a simulated drive has zones of its own, so `Clone` copies; [`shared`](Self::shared) does not.
#[derive(Debug)]
pub struct Zones(Arc<Mutex<ZoneTable>>);

impl Zones {
    /// All empty.
    #[must_use]
    pub fn new(params: ZonesParams, capacity: u64) -> Self {
        Self(Arc::new(Mutex::new(ZoneTable::new(params, capacity))))
    }

    /// The same zones.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// To look at or to change.
    pub fn table(&self) -> MutexGuard<'_, ZoneTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Zones {
    fn clone(&self) -> Self {
        Self(Arc::new(Mutex::new(self.table().clone())))
    }
}

#[cfg(test)]
mod tests;
