//! What a service that was killed left changed on drives is put back when the next one starts.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::Backend;
use crate::model::drive::Inventory;
use crate::store::{Entry, Store, StoreError};

/// The start of the service waits no longer for one drive: the kernel's usual command timeout is 30 s, with a retry.
const PATIENCE: Duration = Duration::from_secs(60);

/// Puts back the settings of every run that could not, as far as its drive is here: found by its identity, under whatever name.
/// The others stay noted for the next start.
///
/// # Errors
/// When the store cannot be read or written.
pub async fn restore(backend: &Arc<Backend>, store: &Store, inventory: &Inventory) -> Result<(), StoreError> {
    for (run, drive, mut surroundings) in store.unrestored().await? {
        let Some(mut conditions) = surroundings.conditions.take() else { continue };
        let Some(found) = inventory.by_id(drive).cloned() else {
            tracing::warn!(run.id = %run, drive.id = %drive, "a drive with changed settings is not here; they stay noted");
            continue;
        };
        let backend = Arc::clone(backend);
        // It writes to the kernel, which may wait for the drive.
        let restored = tokio::task::spawn_blocking(move || {
            backend.restore(&found, &mut conditions);
            conditions
        });
        let Ok(Ok(conditions)) = tokio::time::timeout(PATIENCE, restored).await else {
            tracing::error!(run.id = %run, "a drive did not take its settings back in time; they stay noted");
            continue;
        };
        for change in &conditions.changed {
            tracing::info!(
                run.id = %run, setting = change.tunable.as_str(), found = change.found, restored = change.restored,
                "a setting that an interrupted run had left"
            );
        }
        surroundings.conditions = Some(conditions);
        store.record(&[Entry::Surroundings(run, &surroundings)]).await?;
    }
    Ok(())
}
