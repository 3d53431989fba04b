//! Runs and their phases.

use std::collections::HashMap;

use super::rows::{self, json, signed};
use super::{Store, StoreError};
use crate::model::drive::DriveId;
use crate::model::estimate::Estimate;
use crate::model::recording::Recording;
use crate::model::run::{Run, RunId, RunState, StopReason};

/// What one run measured and found.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFigures {
    /// The run.
    pub run: RunId,
    /// Its figures.
    pub estimates: Vec<Estimate>,
    /// Its answer, once it is over.
    pub verdict: Option<Recording>,
}

/// Which runs to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunFilter {
    /// Only of this drive.
    pub drive: Option<DriveId>,
    /// Only in this state.
    pub state: Option<RunState>,
    /// Only older than this one (the cursor of the next page).
    pub before: Option<RunId>,
    /// At most so many.
    pub limit: u32,
}

impl Store {
    /// Stores a new run.
    ///
    /// # Errors
    /// What SQLite said; the drive must have been remembered before.
    pub async fn insert_run(&self, run: &Run) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO runs (id, drive_id, drive_title, simulated, profile, state, stalled, created_at_ms, plan,
                               host, progress, options, life)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(run.id.to_string())
        .bind(run.drive.to_string())
        .bind(&run.drive_title)
        .bind(run.simulated)
        .bind(run.profile.as_str())
        .bind(run.state.as_str())
        .bind(run.stalled)
        .bind(run.created_at_ms)
        .bind(json(&run.plan)?)
        .bind(json(&run.host)?)
        .bind(json(&run.progress)?)
        .bind(json(&run.options)?)
        .bind(json(&run.life)?)
        .execute(&self.writer)
        .await?;
        Ok(())
    }

    /// One run with its phases.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        let row =
            sqlx::query("SELECT * FROM runs WHERE id = ?").bind(id.to_string()).fetch_optional(&self.reader).await?;
        let Some(row) = row else { return Ok(None) };
        let mut run = rows::run(&row)?;
        self.load_phases(&mut run).await?;
        run.surroundings = self.surroundings(id).await?;
        Ok(Some(run))
    }

    async fn load_phases(&self, run: &mut Run) -> Result<(), StoreError> {
        let rows = sqlx::query(
            "SELECT phase, started_t_ms, ended_t_ms, ended_by, seen FROM phases
             WHERE run = (SELECT key FROM runs WHERE id = ?) ORDER BY phase",
        )
        .bind(run.id.to_string())
        .fetch_all(&self.reader)
        .await?;
        run.phases = rows.iter().map(rows::phase).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Runs, newest first, each without what surrounds it.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn runs(&self, filter: RunFilter) -> Result<Vec<Run>, StoreError> {
        let found = sqlx::query(
            "SELECT * FROM runs
             WHERE (?1 IS NULL OR drive_id = ?1) AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR id < ?3)
             ORDER BY id DESC LIMIT ?4",
        )
        .bind(filter.drive.map(|id| id.to_string()))
        .bind(filter.state.map(RunState::as_str))
        .bind(filter.before.map(|id| id.to_string()))
        .bind(filter.limit)
        .fetch_all(&self.reader)
        .await?;
        let mut runs = Vec::with_capacity(found.len());
        for row in &found {
            let mut run = rows::run(row)?;
            self.load_phases(&mut run).await?;
            runs.push(run);
        }
        Ok(runs)
    }

    /// Marks every run that had its drive when the service last ended as interrupted, and gives their ids. Those that were
    /// queued are queued still.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn interrupt_the_living(&self, now_ms: i64) -> Result<Vec<String>, StoreError> {
        let ids = sqlx::query_scalar(
            "UPDATE runs SET state = ?1, stalled = 0, stop_reason = ?2, ended_at_ms = ?3
             WHERE state IN (?4, ?5, ?6, ?7) RETURNING id",
        )
        .bind(RunState::Interrupted.as_str())
        .bind(json(&StopReason::ServiceStopped)?)
        .bind(now_ms)
        .bind(RunState::Claiming.as_str())
        .bind(RunState::Running.as_str())
        .bind(RunState::Paused.as_str())
        .bind(RunState::Draining.as_str())
        .fetch_all(&self.writer)
        .await?;
        Ok(ids)
    }

    /// What was measured of each drive, oldest first.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn verdicts(&self) -> Result<HashMap<DriveId, Vec<Recording>>, StoreError> {
        let rows = sqlx::query("SELECT drive_id, verdict FROM runs WHERE verdict IS NOT NULL ORDER BY id")
            .fetch_all(&self.reader)
            .await?;
        let mut verdicts: HashMap<_, Vec<_>> = HashMap::new();
        for row in &rows {
            let (drive, verdict) = rows::verdict(row)?;
            verdicts.entry(drive).or_default().push(verdict);
        }
        Ok(verdicts)
    }

    /// What each run of a drive measured and found, oldest first.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn figures(&self, drive: DriveId) -> Result<Vec<RunFigures>, StoreError> {
        let rows = sqlx::query("SELECT id, estimates, verdict FROM runs WHERE drive_id = ? ORDER BY id")
            .bind(drive.to_string())
            .fetch_all(&self.reader)
            .await?;
        rows.iter().map(rows::figures).collect()
    }

    /// Deletes a run with all its intervals. Whether there was one.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn delete_run(&self, id: RunId) -> Result<bool, StoreError> {
        let done = sqlx::query("DELETE FROM runs WHERE id = ?").bind(id.to_string()).execute(&self.writer).await?;
        Ok(done.rows_affected() > 0)
    }
}

/// Writes what changes in a run's life. Part of a batch.
pub(super) async fn update(connection: &mut sqlx::SqliteConnection, run: &Run) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE runs SET state = ?2, stalled = ?3, started_at_ms = ?4, ended_at_ms = ?5, engine = ?6,
                         progress = ?7, stop_reason = ?8, verdict = ?9, life = ?10, estimates = ?11
         WHERE id = ?1",
    )
    .bind(run.id.to_string())
    .bind(run.state.as_str())
    .bind(run.stalled)
    .bind(run.started_at_ms)
    .bind(run.ended_at_ms)
    .bind(&run.engine)
    .bind(json(&run.progress)?)
    .bind(run.stop_reason.as_ref().map(json).transpose()?)
    .bind(run.verdict.as_ref().map(json).transpose()?)
    .bind(json(&run.life)?)
    .bind(json(&run.estimates)?)
    .execute(&mut *connection)
    .await?;
    for phase in &run.phases {
        // A row holds the phase's histograms too: one that has not changed is left alone.
        sqlx::query(
            "INSERT INTO phases (run, phase, started_t_ms, ended_t_ms, ended_by, seen)
             VALUES ((SELECT key FROM runs WHERE id = ?1), ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (run, phase) DO UPDATE SET started_t_ms = ?3, ended_t_ms = ?4, ended_by = ?5, seen = ?6
             WHERE (started_t_ms, ended_t_ms, ended_by, seen) IS NOT (?3, ?4, ?5, ?6)",
        )
        .bind(run.id.to_string())
        .bind(phase.phase)
        .bind(phase.started_t_ms.map(signed))
        .bind(phase.ended_t_ms.map(signed))
        .bind(&phase.ended_by)
        .bind(phase.seen.as_deref().map(json).transpose()?)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}
