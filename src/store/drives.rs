//! Drives that were ever probed.

use super::rows::{from_json, json};
use super::{Store, StoreError};
use crate::model::drive::{Drive, DriveId, Host};

impl Store {
    /// Notes that `drive` was seen on `host` now.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn remember_drive(&self, drive: &Drive, host: &Host, now_ms: i64) -> Result<(), StoreError> {
        let id = drive.id.to_string();
        let mut transaction = self.writer.begin().await?;
        sqlx::query(
            "INSERT INTO drives (id, title, simulated, first_seen_ms, last_seen_ms, description)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET title = ?2, last_seen_ms = ?4, description = ?5",
        )
        .bind(&id)
        .bind(drive.title())
        .bind(drive.simulated)
        .bind(now_ms)
        .bind(json(drive)?)
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO drive_hosts (drive_id, host_id, host, last_seen_ms) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (drive_id, host_id) DO UPDATE SET host = ?3, last_seen_ms = ?4",
        )
        .bind(&id)
        .bind(host.id.to_string())
        .bind(json(host)?)
        .bind(now_ms)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The drive as it was when it was last probed.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn drive(&self, id: DriveId) -> Result<Option<Drive>, StoreError> {
        let text: Option<String> = sqlx::query_scalar("SELECT description FROM drives WHERE id = ?")
            .bind(id.to_string())
            .fetch_optional(&self.reader)
            .await?;
        text.map(|text| from_json(&text, "drive")).transpose()
    }
}
