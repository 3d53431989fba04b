//! How far a run had come, read back so that it can go on.

use sqlx::Row;

use super::rows::unsigned;
use super::{Range, Store, StoreError};
use crate::model::run::Run;
use crate::model::standing::{PhaseStanding, Standing};
use crate::model::units::{Bytes, Nanos};

/// Intervals that are read at a time: a week-long phase has 604 800.
const PAGE: u32 = 500;

impl Store {
    /// Where a run stands by its stored intervals. Several seconds of reading for a run of a week.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn standing(&self, run: &Run) -> Result<Standing, StoreError> {
        let rows = sqlx::query(
            "SELECT phase, MAX(seq) AS seq, MAX(t_ns) AS t_ns, SUM(duration_ns) AS duration_ns,
                    SUM(read_ios + write_ios + coalesce(trim_ios, 0)) AS ios,
                    SUM(read_bytes + write_bytes + coalesce(trim_bytes, 0)) AS bytes,
                    SUM(write_bytes) AS write_bytes, SUM(errors) AS errors, ramp IS NOT NULL AS ramp
             FROM intervals WHERE run = (SELECT key FROM runs WHERE id = ?) GROUP BY phase, ramp ORDER BY phase",
        )
        .bind(run.id.to_string())
        .fetch_all(&self.reader)
        .await?;
        let begun = run.phases.iter().map(|outcome| PhaseStanding {
            phase: outcome.phase,
            over: outcome.is_over(),
            ..PhaseStanding::default()
        });
        let mut standing = Standing { phases: begun.collect(), ..Standing::default() };
        for row in &rows {
            standing.last_seq = standing.last_seq.max(unsigned(row, "seq")?);
            standing.t = standing.t.max(Nanos(unsigned(row, "t_ns")?));
            standing.written_bytes += Bytes(unsigned(row, "write_bytes")?);
            standing.errors += unsigned(row, "errors")?;
            let phase: u32 = row.try_get("phase")?;
            let Some(of) = standing.phases.iter_mut().find(|standing| standing.phase == phase) else { continue };
            of.elapsed = of.elapsed + Nanos(unsigned(row, "duration_ns")?);
            of.errors += unsigned(row, "errors")?;
            let ios = unsigned(row, "ios")?;
            if row.try_get::<bool, _>("ramp")? {
                of.ramp_ios += ios;
            } else {
                of.ios += ios;
                of.bytes += unsigned(row, "bytes")?;
            }
        }
        if let Some(under_way) = standing.under_way().map(|standing| standing.phase) {
            self.add_sums(run, under_way, &mut standing).await?;
        }
        Ok(standing)
    }

    /// The sums of the phase under way, which is the last one: its intervals are at the end.
    async fn add_sums(&self, run: &Run, phase: u32, standing: &mut Standing) -> Result<(), StoreError> {
        let mut from: u64 = sqlx::query_scalar::<_, Option<i64>>(
            "SELECT MIN(seq) FROM intervals WHERE run = (SELECT key FROM runs WHERE id = ?) AND phase = ?",
        )
        .bind(run.id.to_string())
        .bind(phase)
        .fetch_one(&self.reader)
        .await?
        .and_then(|seq| u64::try_from(seq).ok())
        .unwrap_or(u64::MAX);
        while from <= standing.last_seq {
            let page = self.intervals(run.id, Range { from, to: standing.last_seq, limit: PAGE }).await?;
            let Some(last) = page.last() else { break };
            from = last.seq + 1;
            for interval in page.iter().filter(|interval| interval.phase == phase && !interval.ramp) {
                standing.sums.add(interval);
            }
        }
        Ok(())
    }
}
