//! Neighbouring intervals merged when they are stored, and read in place of them where nobody could tell them apart.
//!
//! ```text
//!   level 0   every interval      ▁▂▁█▁▂▁▁▂▁▁▂▁▁▂▁ ▁▁▂▁…      a week: 604 800
//!   level 1   16 in one           █                ▂          37 800
//!   level 2…5 four of the one below                            9 450 · 2 363 · 591 · 148
//! ```

use sqlx::{Row, SqliteConnection};

use super::intervals::insert_into_rollups;
use super::rows::{self, signed};
use super::{Store, StoreError};
use crate::model::interval::{Extremes, Interval};
use crate::model::run::RunId;

/// Intervals in a full row of each level, from level 1. Sixteen: a row then costs a tenth of what it stands for.
const SIZES: [u64; 5] = [16, 64, 256, 1_024, 4_096];
/// Rows that are read and merged for one answer at most: some 15 µs each.
const MOST_ROWS: u64 = 3_000;

/// One row of a level: intervals merged, and the number of the first of them.
struct Rollup {
    first_seq: u64,
    interval: Interval,
}

impl Store {
    /// A run's intervals from `from` to `to`, both included, in order; merged where there are more than some thousand, never over
    /// the end of a phase or a ramp. Counts, bytes and durations are sums; the largest and smallest latency and rate are kept
    /// exactly. Zone operations are not among them.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn coarse_intervals(&self, run: RunId, from: u64, to: u64) -> Result<Vec<Interval>, StoreError> {
        let (key, last) = self.key_and_last_seq(run).await?;
        let (from, to) = (from.max(1), to.min(last));
        let count = (to + 1).saturating_sub(from);
        let fine_enough = SIZES.iter().position(|size| count / size <= MOST_ROWS);
        let level = if count <= MOST_ROWS { 0 } else { fine_enough.map_or(SIZES.len(), |at| at + 1) };
        self.covering(key, from, to, level).await
    }

    /// The same with as few rows as there are: for sums.
    ///
    /// # Errors
    /// What SQLite said.
    pub(super) async fn coarsest_intervals(&self, run: RunId) -> Result<Vec<Interval>, StoreError> {
        let (key, last) = self.key_and_last_seq(run).await?;
        self.covering(key, 1, last, SIZES.len()).await
    }

    async fn key_and_last_seq(&self, run: RunId) -> Result<(i64, u64), StoreError> {
        let row =
            sqlx::query("SELECT key, (SELECT MAX(seq) FROM intervals WHERE run = key) AS last FROM runs WHERE id = ?")
                .bind(run.to_string())
                .fetch_optional(&self.reader)
                .await?;
        let Some(row) = row else { return Ok((0, 0)) };
        let last: Option<i64> = row.try_get("last")?;
        Ok((row.try_get("key")?, last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0)))
    }

    /// Rows of `level` that lie in the range, and what they leave open from the levels below.
    async fn covering(&self, key: i64, from: u64, to: u64, level: usize) -> Result<Vec<Interval>, StoreError> {
        let mut found = Vec::new();
        // Ranges still to be read, the next one last.
        let mut open = vec![(from, to, level)];
        while let Some((from, to, level)) = open.pop() {
            if from > to {
                continue;
            }
            if level == 0 {
                found.extend(self.fine(key, from, to).await?);
                continue;
            }
            let rollups = self.of_level(key, level, from, to).await?;
            if rollups.is_empty() {
                open.push((from, to, level - 1));
                continue;
            }
            // Backwards, so that what comes first is on top.
            let mut after = to + 1;
            let mut parts = Vec::new();
            for rollup in rollups.into_iter().rev() {
                parts.push((rollup.interval.seq + 1, after.saturating_sub(1), None));
                after = rollup.first_seq;
                parts.push((rollup.first_seq, rollup.interval.seq, Some(rollup.interval)));
            }
            parts.push((from, after.saturating_sub(1), None));
            // Up to the first gap everything is there; the rest waits for its turn.
            let mut waiting: Vec<(u64, u64, Option<Interval>)> = parts;
            while let Some((from, to, interval)) = waiting.pop() {
                match interval {
                    Some(interval) => found.push(interval),
                    None if from > to => {}
                    None => found.extend(Box::pin(self.covering(key, from, to, level - 1)).await?),
                }
            }
        }
        Ok(found)
    }

    async fn fine(&self, key: i64, from: u64, to: u64) -> Result<Vec<Interval>, StoreError> {
        let rows = sqlx::query("SELECT * FROM intervals WHERE run = ? AND seq BETWEEN ? AND ? ORDER BY seq")
            .bind(key)
            .bind(signed(from))
            .bind(signed(to))
            .fetch_all(&self.reader)
            .await?;
        rows.iter().map(rows::interval).collect()
    }

    async fn of_level(&self, key: i64, level: usize, from: u64, to: u64) -> Result<Vec<Rollup>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM rollups WHERE run = ? AND level = ? AND seq BETWEEN ? AND ? AND first_seq >= ? ORDER BY seq",
        )
        .bind(key)
        .bind(i64::try_from(level).unwrap_or(i64::MAX))
        .bind(signed(from))
        .bind(signed(to))
        .bind(signed(from))
        .fetch_all(&self.reader)
        .await?;
        rows.iter().map(rollup).collect()
    }
}

fn rollup(row: &sqlx::sqlite::SqliteRow) -> Result<Rollup, StoreError> {
    let mut interval = rows::interval(row)?;
    let packed: &[u8] = row.try_get("extremes")?;
    let extremes =
        Extremes::unpack(packed).map_err(|error| StoreError::Row { what: "rollup", why: error.to_string() })?;
    interval.extremes = Some(Box::new(extremes));
    Ok(Rollup { first_seq: rows::unsigned(row, "first_seq")?, interval })
}

/// After interval `seq` was stored: merges what is full now. In the same transaction, so a crash leaves no gap.
pub(super) async fn roll(connection: &mut SqliteConnection, run: RunId, seq: u64) -> Result<(), StoreError> {
    for (size, level) in SIZES.iter().zip(1_i64..) {
        if !seq.is_multiple_of(*size) {
            return Ok(());
        }
        let from = signed(seq - size + 1);
        let parts: Vec<Rollup> = if level == 1 {
            let rows = sqlx::query(
                "SELECT * FROM intervals WHERE run = (SELECT key FROM runs WHERE id = ?) AND seq BETWEEN ? AND ? ORDER BY seq",
            )
            .bind(run.to_string())
            .bind(from)
            .bind(signed(seq))
            .fetch_all(&mut *connection)
            .await?;
            let alone = |row| rows::interval(row).map(|interval| Rollup { first_seq: interval.seq, interval });
            rows.iter().map(alone).collect::<Result<_, _>>()?
        } else {
            let rows = sqlx::query(
                "SELECT * FROM rollups
                 WHERE run = (SELECT key FROM runs WHERE id = ?) AND level = ? AND seq BETWEEN ? AND ? ORDER BY seq",
            )
            .bind(run.to_string())
            .bind(level - 1)
            .bind(from)
            .bind(signed(seq))
            .fetch_all(&mut *connection)
            .await?;
            rows.iter().map(rollup).collect::<Result<_, _>>()?
        };
        for merged in merged(parts) {
            insert_into_rollups(connection, run, level, merged.first_seq, &merged.interval).await?;
        }
    }
    Ok(())
}

/// Neighbours of one phase, in its ramp or after it, made one.
fn merged(parts: Vec<Rollup>) -> Vec<Rollup> {
    let mut merged: Vec<Rollup> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(last) if (last.interval.phase, last.interval.ramp) == (part.interval.phase, part.interval.ramp) => {
                last.interval.extend(&part.interval);
            }
            _ => merged.push(part),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::histogram::Precision;
    use crate::model::interval::Tally;
    use crate::model::run::Run;
    use crate::model::units::{Bytes, Nanos};
    use crate::sim;
    use crate::store::Entry;
    use serde_json::json;

    /// 20 000 seconds in two phases, the first with a ramp; one of them has a spike.
    async fn filled(store: &Store) -> RunId {
        let drive = sim::fleet().remove(0);
        let run: Run = serde_json::from_value(json!({
            "id": RunId::generate(), "drive": drive.id, "drive_title": "a drive", "simulated": true, "profile": "custom",
            "plan": {
                "profile": "custom", "drive": drive.id, "path": "sim:a", "phases": [], "destructive": false,
                "bytes_to_write": 0, "estimated_s": 1, "offset_bytes": 0, "size_bytes": 1, "interval_ms": 1000, "randseed": 1,
                "losses": [], "confirm_phrase": null, "notes": []
            },
            "state": "finished", "stalled": false, "created_at_ms": 0, "started_at_ms": null, "ended_at_ms": null,
            "stop_reason": null, "engine": null, "host": { "id": uuid::Uuid::nil(), "name": "h", "kernel": "6" },
            "progress": {
                "fraction": 1.0, "phase": 0, "elapsed_s": 0.0, "remaining_s": null, "written_bytes": 0, "read_bytes": 0,
                "last_seq": 0
            },
            "phases": [], "verdict": null, "options": {}
        }))
        .unwrap();
        store.remember_drive(&drive, &run.host, 0).await.unwrap();
        store.insert_run(&run).await.unwrap();
        let intervals: Vec<_> = (1..=20_000_u64)
            .map(|seq| {
                let mut write = Tally::new(Precision::Interval);
                let ios = if seq == 7_777 { 90 } else { 2 };
                (0..ios).for_each(|_| write.record(Bytes(4096), Nanos::from_millis(if ios == 2 { 5 } else { 900 })));
                let at = Nanos::from_secs(seq);
                Interval {
                    write,
                    ramp: seq <= 100,
                    ..Interval::empty(seq, u32::from(seq > 9_001), at, Nanos::from_secs(1))
                }
            })
            .collect();
        for chunk in intervals.chunks(777) {
            let entries: Vec<_> = chunk.iter().map(|interval| Entry::Interval(run.id, interval)).collect();
            store.record(&entries).await.unwrap();
        }
        run.id
    }

    /// They follow on each other without a gap, and their sums are those of all.
    fn check(found: &[Interval], from: u64, to: u64) {
        let mut next = from;
        for interval in found {
            let count = interval.duration.0 / 1_000_000_000;
            assert_eq!(interval.seq, next + count - 1, "a gap or a double before {}", interval.seq);
            next = interval.seq + 1;
        }
        assert_eq!(next, to + 1);
        let spike = u64::from((from..=to).contains(&7_777)) * 88;
        assert_eq!(found.iter().map(|interval| interval.write.ios).sum::<u64>(), (to - from + 1) * 2 + spike);
        assert_eq!(found.iter().map(|interval| interval.write.lat.count()).sum::<u64>(), (to - from + 1) * 2 + spike);
    }

    #[tokio::test]
    async fn any_part_is_covered_once_by_few_rows_and_no_spike_vanishes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("a.db")).await.unwrap();
        let run = filled(&store).await;
        for (from, to) in [(1, 20_000), (1, 3_000), (5, 19_990), (7_000, 7_800), (15, 15), (100, 9_002)] {
            let found = store.coarse_intervals(run, from, to).await.unwrap();
            check(&found, from, to);
            assert!(found.len() < 3_100, "{} rows", found.len());
        }
        assert_eq!(store.coarse_intervals(run, 1, u64::MAX).await.unwrap().last().unwrap().seq, 20_000);
        let all = store.coarsest_intervals(run).await.unwrap();
        check(&all, 1, 20_000);
        assert!(all.len() < 60, "{} rows", all.len());
        assert!(
            all.iter().any(|interval| interval.ramp && interval.seq == 100),
            "a ramp is not mixed with what follows"
        );
        assert!(all.iter().any(|interval| interval.phase == 0 && interval.seq == 9_001), "nor a phase with the next");
        let (fastest, slowest) = (
            all.iter().map(|one| one.extremes().write.iops_max).max(),
            all.iter().filter_map(|one| one.write.lat.max()).max(),
        );
        assert_eq!((fastest, slowest), (Some(90), Some(Nanos::from_millis(900))));
        let totals = store.phase_totals(run).await.unwrap();
        assert_eq!(
            totals.iter().map(|total| total.write.ios).collect::<Vec<_>>(),
            [(9_001 - 100) * 2 + 88, 10_999 * 2]
        );
        // A run from before, or from before in its first part.
        sqlx::query("DELETE FROM rollups WHERE seq < 9000").execute(&store.writer).await.unwrap();
        check(&store.coarse_intervals(run, 1, 20_000).await.unwrap(), 1, 20_000);
        sqlx::query("DELETE FROM rollups").execute(&store.writer).await.unwrap();
        check(&store.coarsest_intervals(run).await.unwrap(), 1, 20_000);
        assert!(store.coarse_intervals(RunId::generate(), 1, 9).await.unwrap().is_empty());
        assert!(store.delete_run(run).await.unwrap());
    }
}
