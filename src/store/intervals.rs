//! Intervals, and the batches in which a run's results arrive.

use sqlx::SqliteConnection;

use super::rows::{self, signed};
use super::zone_ops::{self, ZoneLatencies};
use super::{Store, StoreError, rollups, runs, surroundings};
use crate::model::histogram::{LatencyHistogram, Precision};
use crate::model::interval::{Interval, PhaseSums, Sample};
use crate::model::run::{Run, RunId};
use crate::model::surroundings::Surroundings;

/// One thing to be stored.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    /// A new interval.
    Interval(RunId, &'a Interval),
    /// The sums of a phase that has ended.
    PhaseSums {
        /// The run.
        run: RunId,
        /// Index in the plan.
        phase: u32,
        /// Its sums.
        sums: &'a PhaseSums,
    },
    /// A run's state, progress, phases, verdict.
    Run(&'a Run),
    /// What surrounds a run.
    Surroundings(RunId, &'a Surroundings),
}

/// The latencies of one phase, summed; those of what it did not do are empty.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseLatencies {
    /// Index in the plan.
    pub phase: u32,
    /// Reads.
    pub read: LatencyHistogram,
    /// Writes.
    pub write: LatencyHistogram,
    /// Flushes.
    pub flush: LatencyHistogram,
    /// Trims.
    pub trim: LatencyHistogram,
    /// Zone operations.
    pub zone_ops: ZoneLatencies,
}

/// A part of a run's intervals, by sequence number, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First.
    pub from: u64,
    /// Last.
    pub to: u64,
    /// At most so many.
    pub limit: u32,
}

impl Store {
    /// Stores all entries, or none.
    ///
    /// # Errors
    /// What SQLite said; nothing of the batch is stored then.
    pub async fn record(&self, entries: &[Entry<'_>]) -> Result<(), StoreError> {
        let mut transaction = self.writer.begin().await?;
        for entry in entries {
            match *entry {
                Entry::Interval(run, interval) => insert(&mut transaction, run, interval).await?,
                Entry::PhaseSums { run, phase, sums } => store_sums(&mut transaction, run, phase, sums).await?,
                Entry::Run(run) => runs::update(&mut transaction, run).await?,
                Entry::Surroundings(run, what) => surroundings::put(&mut transaction, run, what).await?,
            }
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Intervals of a run in order.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn intervals(&self, run: RunId, range: Range) -> Result<Vec<Interval>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM intervals WHERE run = (SELECT key FROM runs WHERE id = ?) AND seq BETWEEN ? AND ?
             ORDER BY seq LIMIT ?",
        )
        .bind(run.to_string())
        .bind(signed(range.from))
        .bind(signed(range.to))
        .bind(range.limit)
        .fetch_all(&self.reader)
        .await?;
        let mut intervals = rows.iter().map(rows::interval).collect::<Result<Vec<_>, _>>()?;
        self.add_zone_ops(run, &mut intervals).await?;
        Ok(intervals)
    }

    /// Everything the analysis needs of a run's intervals.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn samples(&self, run: RunId) -> Result<Vec<Sample>, StoreError> {
        const PAGE: u32 = 500;
        let mut samples = Vec::new();
        let mut from = 1;
        loop {
            // By pages, since an interval with its histograms is fifty times larger than a sample.
            let page = self.intervals(run, Range { from, to: u64::MAX, limit: PAGE }).await?;
            let Some(last) = page.last() else { return Ok(samples) };
            from = last.seq + 1;
            samples.extend(page.iter().map(Sample::from));
        }
    }

    /// The last `count` intervals of a run, oldest first.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn last_intervals(&self, run: RunId, count: u32) -> Result<Vec<Interval>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM intervals WHERE run = (SELECT key FROM runs WHERE id = ?) ORDER BY seq DESC LIMIT ?",
        )
        .bind(run.to_string())
        .bind(count)
        .fetch_all(&self.reader)
        .await?;
        let mut intervals = rows.iter().rev().map(rows::interval).collect::<Result<Vec<_>, _>>()?;
        self.add_zone_ops(run, &mut intervals).await?;
        Ok(intervals)
    }

    /// Each phase that has intervals as one interval: sums of all of them but its ramp's, with latencies at the precision of
    /// intervals while it is under way, and of the phase once it has ended.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn phase_totals(&self, run: RunId) -> Result<Vec<Interval>, StoreError> {
        let mut totals: Vec<Interval> = Vec::new();
        for interval in self.coarsest_intervals(run).await?.into_iter().filter(|interval| !interval.ramp) {
            match totals.iter_mut().find(|total| total.phase == interval.phase) {
                Some(total) => total.extend(&interval),
                None => totals.push(interval),
            }
        }
        self.count_zone_ops(run, &mut totals).await?;
        for sums in self.phase_latencies(run).await? {
            let Some(total) = totals.iter_mut().find(|total| total.phase == sums.phase) else { continue };
            let both = [(&mut total.read, sums.read), (&mut total.write, sums.write)];
            let rare = [(total.flush.as_deref_mut(), sums.flush), (total.trim.as_deref_mut(), sums.trim)];
            let rare = rare.into_iter().filter_map(|(tally, lat)| Some((tally?, lat)));
            for (tally, lat) in both.into_iter().chain(rare).filter(|(_, lat)| !lat.is_empty()) {
                tally.lat = lat;
            }
            for (op, lat) in sums.zone_ops {
                if let Some(tally) = total.zone_ops.get_mut(&op) {
                    tally.lat = lat;
                }
            }
        }
        Ok(totals)
    }

    /// The latency sums of each phase of a run.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn phase_latencies(&self, run: RunId) -> Result<Vec<PhaseLatencies>, StoreError> {
        let rows = sqlx::query(
            "SELECT phase, read_lat, write_lat, flush_lat, trim_lat FROM phases
             WHERE run = (SELECT key FROM runs WHERE id = ?) ORDER BY phase",
        )
        .bind(run.to_string())
        .fetch_all(&self.reader)
        .await?;
        let mut zone_ops = self.zone_latencies(run).await?;
        rows.iter()
            .map(|row| {
                let phase: u32 = sqlx::Row::try_get(row, "phase")?;
                let of = |column| rows::histogram(row, column, Precision::Phase);
                let zone_ops = zone_ops.remove(&phase).unwrap_or_default();
                let (read, write, flush, trim) = (of("read_lat")?, of("write_lat")?, of("flush_lat")?, of("trim_lat")?);
                Ok(PhaseLatencies { phase, read, write, flush, trim, zone_ops })
            })
            .collect()
    }
}

async fn insert(connection: &mut SqliteConnection, run: RunId, interval: &Interval) -> Result<(), StoreError> {
    let query = sqlx::query(
        "INSERT INTO intervals (run, seq, phase, t_ns, duration_ns, read_ios, read_bytes, write_ios, write_bytes,
                                errors, read_lat, write_lat, flush_ios, flush_lat, trim_ios, trim_bytes, trim_lat, ramp,
                                seen)
         VALUES ((SELECT key FROM runs WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    bound(query.bind(run.to_string()), interval).execute(&mut *connection).await?;
    zone_ops::insert(connection, run, interval.seq, &interval.zone_ops).await?;
    rollups::roll(connection, run, interval.seq).await
}

/// Stores intervals merged into one. What it has of zone operations is not kept.
pub(super) async fn insert_into_rollups(
    connection: &mut SqliteConnection,
    run: RunId,
    level: i64,
    first_seq: u64,
    interval: &Interval,
) -> Result<(), StoreError> {
    let query = sqlx::query(
        "INSERT INTO rollups (level, first_seq, extremes, run, seq, phase, t_ns, duration_ns, read_ios, read_bytes,
                              write_ios, write_bytes, errors, read_lat, write_lat, flush_ios, flush_lat, trim_ios,
                              trim_bytes, trim_lat, ramp, seen)
         VALUES (?, ?, ?, (SELECT key FROM runs WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    let query = query.bind(level).bind(signed(first_seq)).bind(interval.extremes().pack());
    bound(query.bind(run.to_string()), interval).execute(connection).await?;
    Ok(())
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

/// The columns that intervals and rollups have in common, from `seq` to `seen`.
fn bound<'q>(query: Query<'q>, interval: &Interval) -> Query<'q> {
    query
        .bind(signed(interval.seq))
        .bind(interval.phase)
        .bind(signed(interval.t.0))
        .bind(signed(interval.duration.0))
        .bind(signed(interval.read.ios))
        .bind(signed(interval.read.bytes.0))
        .bind(signed(interval.write.ios))
        .bind(signed(interval.write.bytes.0))
        .bind(signed(interval.errors))
        .bind(interval.read.lat.encode())
        .bind(interval.write.lat.encode())
        .bind(interval.flush.as_ref().map(|tally| signed(tally.ios)))
        .bind(interval.flush.as_ref().map(|tally| tally.lat.encode()))
        .bind(interval.trim.as_ref().map(|tally| signed(tally.ios)))
        .bind(interval.trim.as_ref().map(|tally| signed(tally.bytes.0)))
        .bind(interval.trim.as_ref().map(|tally| tally.lat.encode()))
        .bind(interval.ramp.then_some(1_i64))
        .bind(interval.seen.as_ref().map(|seen| seen.pack()))
}

async fn store_sums(
    connection: &mut SqliteConnection,
    run: RunId,
    phase: u32,
    sums: &PhaseSums,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO phases (run, phase, read_lat, write_lat, flush_lat, trim_lat)
         VALUES ((SELECT key FROM runs WHERE id = ?1), ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (run, phase)
         DO UPDATE SET read_lat = ?3, write_lat = ?4, flush_lat = ?5, trim_lat = ?6",
    )
    .bind(run.to_string())
    .bind(phase)
    .bind(sums.read.lat.encode())
    .bind(sums.write.lat.encode())
    .bind(sums.flush.as_ref().map(|tally| tally.lat.encode()))
    .bind(sums.trim.as_ref().map(|tally| tally.lat.encode()))
    .execute(&mut *connection)
    .await?;
    zone_ops::store_sums(connection, run, phase, &sums.zone_ops).await
}
