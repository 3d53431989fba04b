//! The zone operations of intervals and phases. Most runs have none, so they stand in tables of their own.

use std::collections::BTreeMap;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::rows::{histogram, signed, unsigned};
use super::{Store, StoreError};
use crate::model::histogram::{LatencyHistogram, Precision};
use crate::model::interval::{Interval, Tally, ZoneTallies};
use crate::model::run::RunId;
use crate::model::units::Bytes;
use crate::model::zone::ZoneOp;

/// The latencies of a phase's zone operations, by kind.
pub type ZoneLatencies = BTreeMap<ZoneOp, LatencyHistogram>;

impl Store {
    /// Gives each of `intervals`, which are of one run and in order, its zone operations.
    pub(super) async fn add_zone_ops(&self, run: RunId, intervals: &mut [Interval]) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (intervals.first(), intervals.last()) else { return Ok(()) };
        let rows = sqlx::query(
            "SELECT seq, op, ios, lat FROM zone_ops
             WHERE run = (SELECT key FROM runs WHERE id = ?) AND seq BETWEEN ? AND ?",
        )
        .bind(run.to_string())
        .bind(signed(first.seq))
        .bind(signed(last.seq))
        .fetch_all(&self.reader)
        .await?;
        for row in &rows {
            let seq = unsigned(row, "seq")?;
            if let Ok(at) = intervals.binary_search_by_key(&seq, |interval| interval.seq) {
                intervals[at].zone_ops.insert(op_of(row)?, tally_of(row)?);
            }
        }
        Ok(())
    }

    /// How many zone operations each phase has had, its ramp's left out.
    pub(super) async fn count_zone_ops(&self, run: RunId, totals: &mut [Interval]) -> Result<(), StoreError> {
        let rows = sqlx::query(
            "SELECT phase, op, SUM(ios) AS ios FROM zone_ops JOIN intervals USING (run, seq)
             WHERE run = (SELECT key FROM runs WHERE id = ?) AND ramp IS NULL GROUP BY phase, op",
        )
        .bind(run.to_string())
        .fetch_all(&self.reader)
        .await?;
        for row in &rows {
            let phase: u32 = row.try_get("phase")?;
            if let Some(total) = totals.iter_mut().find(|total| total.phase == phase) {
                let tally = Tally { ios: unsigned(row, "ios")?, ..Tally::new(Precision::Phase) };
                total.zone_ops.insert(op_of(row)?, tally);
            }
        }
        Ok(())
    }

    /// The latency sums of the zone operations of each phase that had some.
    pub(super) async fn zone_latencies(&self, run: RunId) -> Result<BTreeMap<u32, ZoneLatencies>, StoreError> {
        let rows =
            sqlx::query("SELECT phase, op, lat FROM phase_zone_ops WHERE run = (SELECT key FROM runs WHERE id = ?)")
                .bind(run.to_string())
                .fetch_all(&self.reader)
                .await?;
        let mut phases: BTreeMap<u32, ZoneLatencies> = BTreeMap::new();
        for row in &rows {
            let lat = histogram(row, "lat", Precision::Phase)?;
            phases.entry(row.try_get("phase")?).or_default().insert(op_of(row)?, lat);
        }
        Ok(phases)
    }
}

fn op_of(row: &SqliteRow) -> Result<ZoneOp, StoreError> {
    let text: &str = row.try_get("op")?;
    ZoneOp::parse(text).ok_or_else(|| StoreError::Row { what: "zone operation", why: format!("it is {text:?}") })
}

fn tally_of(row: &SqliteRow) -> Result<Tally, StoreError> {
    let lat = histogram(row, "lat", Precision::Interval)?;
    Ok(Tally { ios: unsigned(row, "ios")?, bytes: Bytes(0), lat })
}

/// Stores those of one interval.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    run: RunId,
    seq: u64,
    zone_ops: &ZoneTallies,
) -> Result<(), StoreError> {
    for (op, tally) in zone_ops {
        sqlx::query(
            "INSERT INTO zone_ops (run, seq, op, ios, lat) VALUES ((SELECT key FROM runs WHERE id = ?), ?, ?, ?, ?)",
        )
        .bind(run.to_string())
        .bind(signed(seq))
        .bind(op.as_str())
        .bind(signed(tally.ios))
        .bind(tally.lat.encode())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Stores the sums of one phase.
pub(super) async fn store_sums(
    connection: &mut SqliteConnection,
    run: RunId,
    phase: u32,
    zone_ops: &ZoneTallies,
) -> Result<(), StoreError> {
    for (op, tally) in zone_ops {
        sqlx::query(
            "INSERT INTO phase_zone_ops (run, phase, op, lat)
             VALUES ((SELECT key FROM runs WHERE id = ?1), ?2, ?3, ?4)
             ON CONFLICT (run, phase, op) DO UPDATE SET lat = ?4",
        )
        .bind(run.to_string())
        .bind(phase)
        .bind(op.as_str())
        .bind(tally.lat.encode())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}
