//! How long a resilver onto a drive takes.
//!
//! A resilver writes what was on the drive it replaces: `D = fill × capacity`. ZFS sorts it, so most of it arrives in order; a share
//! κ comes as single pieces that meet no stream, each of them a random write to the drive. A piece is what one drive holds of a
//! record of 128 KiB: a part of it in RAIDZ, rounded up to 4 KiB (44 KiB of four drives with one of parity, as Ars Technica reckoned),
//! all of it in a mirror. So
//!
//! ```text
//!   t = D · ((1 − κ) / R + κ / b · (1 / w + b / R))
//! ```
//! with R bytes per second in order and w random writes per second, settled: after the cliff of a shingled disk.
//!
//! κ = 0.19 is solved from one published resilver, 5.28 TB onto a ST8000AS0022 in 96.5 h in pieces of 320 and 704 KiB (csurbhi), and then
//! gives the others: the same onto a conventional disk (12.25 h), and four drives of 4 TB, RAIDZ1 (ServeTheHome as told by Ars
//! Technica, 2020): sixteen hours with conventional disks, more than nine days with a shingled one. See the tests.

use super::known::{Ends, Rate};
use crate::model::approx::f64_of;
use crate::model::suitability::{Duration, Pool};
use crate::model::units::KIB;

/// Share of the bytes that meets no stream, and what it may be: half and half as much again, as the published cases leave open.
pub const SCATTERED: Ends = Ends { value: 0.19, low: 0.10, high: 0.29 };
/// ZFS's `recordsize` by default.
pub const RECORD: u64 = 128 * KIB;
/// Sector of a pool on disks of today (`ashift=12`).
const SECTOR: u64 = 4 * KIB;

/// Bytes of a record that one drive of a RAIDZ vdev holds.
#[must_use]
pub fn piece(pool: Pool) -> u64 {
    let data = u64::from(pool.width.saturating_sub(pool.parity)).max(1);
    RECORD.div_ceil(data).div_ceil(SECTOR) * SECTOR
}

/// Seconds to write `bytes`, of which pieces of `piece` bytes meet no stream.
#[must_use]
pub fn duration(bytes: f64, piece: f64, stream: &Rate, scattered: &Rate) -> Duration {
    let (order, random) = (stream.per_s, scattered.per_s);
    let seconds = |share: f64, order: f64, random: f64| {
        bytes * ((1.0 - share) / order + share / piece * (1.0 / random + piece / order))
    };
    Duration {
        value_s: seconds(SCATTERED.value, order.value, random.value),
        low_s: seconds(SCATTERED.low, order.high, random.high),
        high_s: seconds(SCATTERED.high, order.low, random.low),
    }
}

/// The reckoning in words.
#[must_use]
pub fn reasoning(bytes: f64, piece: u64, stream: &Rate, scattered: &Rate) -> String {
    use super::super::words::{block, percent, rate};
    use crate::model::Bytes;
    let singles = bytes * SCATTERED.value / f64_of(piece);
    format!(
        "{} to write: {} of it in order at {} MB/s, and {} as {:.1} million single pieces of {} at {} a second. The share of single \
         pieces is that of a published resilver; half and half as much again give the range.",
        Bytes(crate::model::approx::u64_of(bytes)).decimal(),
        percent(1.0 - SCATTERED.value),
        rate(stream.per_s.value / 1e6),
        percent(SCATTERED.value),
        singles / 1e6,
        block(Bytes(piece)),
        rate(scattered.per_s.value),
    )
}
