//! What surrounds a run, and the settings that are still to be put back.

use sqlx::Row;

use super::rows::{from_json, json};
use super::{Store, StoreError};
use crate::model::conditions::Conditions;
use crate::model::drive::DriveId;
use crate::model::run::RunId;
use crate::model::surroundings::Surroundings;

impl Store {
    /// What surrounds a run; nothing when it was stored before there was any.
    pub(super) async fn surroundings(&self, run: RunId) -> Result<Surroundings, StoreError> {
        let row = sqlx::query(
            "SELECT conditions, temperature, kernel_log, kernel_log_note FROM surroundings
             WHERE run = (SELECT key FROM runs WHERE id = ?)",
        )
        .bind(run.to_string())
        .fetch_optional(&self.reader)
        .await?;
        let Some(row) = row else { return Ok(Surroundings::default()) };
        let conditions: Option<&str> = row.try_get("conditions")?;
        let temperature: Option<&str> = row.try_get("temperature")?;
        Ok(Surroundings {
            conditions: conditions.map(|text| from_json(text, "set of conditions")).transpose()?,
            temperature_celsius: temperature.map(|text| from_json(text, "temperature")).transpose()?,
            kernel_log: from_json(row.try_get("kernel_log")?, "kernel log")?,
            kernel_log_note: row.try_get("kernel_log_note")?,
        })
    }

    /// The runs that have left a drive with other settings than they found, the newest first: what was set by an earlier run
    /// was found by a later one, so they are put back in this order.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn unrestored(&self) -> Result<Vec<(RunId, DriveId, Surroundings)>, StoreError> {
        let ids: Vec<(String, String)> = sqlx::query_as(
            "SELECT runs.id, runs.drive_id FROM surroundings JOIN runs ON runs.key = surroundings.run
             WHERE surroundings.unrestored = 1 ORDER BY runs.id DESC",
        )
        .fetch_all(&self.reader)
        .await?;
        let mut found = Vec::with_capacity(ids.len());
        for (run, drive) in ids {
            let parse = |what, text: &str| {
                uuid::Uuid::parse_str(text).map_err(|error| StoreError::Row { what, why: error.to_string() })
            };
            let run = RunId(parse("run's id", &run)?);
            found.push((run, DriveId(parse("drive's id", &drive)?), self.surroundings(run).await?));
        }
        Ok(found)
    }
}

/// Writes all of it. Part of a batch.
pub(super) async fn put(
    connection: &mut sqlx::SqliteConnection,
    run: RunId,
    surroundings: &Surroundings,
) -> Result<(), StoreError> {
    let conditions = surroundings.conditions.as_deref();
    sqlx::query(
        "INSERT INTO surroundings (run, conditions, unrestored, temperature, kernel_log, kernel_log_note)
         VALUES ((SELECT key FROM runs WHERE id = ?1), ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (run) DO UPDATE SET conditions = ?2, unrestored = ?3, temperature = ?4, kernel_log = ?5,
                                         kernel_log_note = ?6",
    )
    .bind(run.to_string())
    .bind(conditions.map(json).transpose()?)
    .bind(conditions.is_some_and(Conditions::is_unrestored))
    .bind(surroundings.temperature_celsius.as_ref().map(json).transpose()?)
    .bind(json(&surroundings.kernel_log)?)
    .bind(&surroundings.kernel_log_note)
    .execute(connection)
    .await?;
    Ok(())
}
