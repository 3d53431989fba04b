//! Drives that were ever probed.

use super::rows::{from_json, json};
use super::{Store, StoreError};
use crate::model::Bytes;
use crate::model::drive::{Drive, DriveId, Host};
use crate::model::history::Form;

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
        sqlx::query(
            "INSERT INTO drive_forms (drive_id, logical_block_bytes, capacity_bytes, serial, transport, last_seen_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET last_seen_ms = ?6",
        )
        .bind(&id)
        .bind(drive.logical_block_bytes)
        .bind(i64::try_from(drive.capacity_bytes.get()).unwrap_or(i64::MAX))
        .bind(drive.serial.as_deref().unwrap_or_default())
        .bind(drive.transport.as_str())
        .bind(now_ms)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The forms in which a drive was probed, the earliest first.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn forms(&self, id: DriveId) -> Result<Vec<Form>, StoreError> {
        let rows: Vec<(u32, i64, String, String, i64)> = sqlx::query_as(
            "SELECT logical_block_bytes, capacity_bytes, serial, transport, last_seen_ms
             FROM drive_forms WHERE drive_id = ? ORDER BY last_seen_ms",
        )
        .bind(id.to_string())
        .fetch_all(&self.reader)
        .await?;
        let form =
            |(logical_block_bytes, capacity, serial, transport, last_seen_ms): (u32, i64, String, String, i64)| {
                let serial = Some(serial).filter(|serial| !serial.is_empty());
                let capacity_bytes = Bytes(u64::try_from(capacity).unwrap_or(0));
                Form { logical_block_bytes, capacity_bytes, serial, transport, last_seen_ms }
            };
        Ok(rows.into_iter().map(form).collect())
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
