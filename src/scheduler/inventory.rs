//! The drives of the host: scanned, classified, and kept fresh.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::zones::Zones;
use crate::analysis;
use crate::backend::Backend;
use crate::model::drive::{DriveId, Inventory};
use crate::model::recording::Recording;

/// How often the host is looked at again. A scan reads a few hundred small files.
const RESCAN_EVERY: Duration = Duration::from_secs(2);

/// What was measured of each drive, oldest first.
pub type Verdicts = HashMap<DriveId, Vec<Recording>>;

/// Scans and classifies once. Blocking.
#[must_use]
pub fn take_inventory(backend: &Backend, verdicts: &Verdicts) -> Inventory {
    let mut inventory = backend.inventory();
    for drive in &mut inventory.drives {
        let declared = analysis::classify(drive);
        drive.recording = match verdicts.get(&drive.id) {
            Some(measured) => analysis::combine(&declared, measured),
            None => declared,
        };
    }
    inventory
}

/// Keeps an inventory fresh until `shutdown`. A request for a scan is answered when a scan that began
/// after it is published.
pub async fn keep_fresh(
    backend: Arc<Backend>,
    verdicts: watch::Receiver<Arc<Verdicts>>,
    publish: watch::Sender<Arc<Inventory>>,
    zones: Arc<Zones>,
    mut asked: mpsc::Receiver<oneshot::Sender<()>>,
    shutdown: CancellationToken,
) {
    let mut verdicts = verdicts;
    loop {
        let mut waiting = Vec::new();
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(RESCAN_EVERY) => {}
            Ok(()) = verdicts.changed() => {}
            request = asked.recv() => waiting.extend(request),
        }
        while let Ok(request) = asked.try_recv() {
            waiting.push(request);
        }
        let known = Arc::clone(&verdicts.borrow_and_update());
        let scanner = Arc::clone(&backend);
        if let Ok(inventory) = tokio::task::spawn_blocking(move || take_inventory(&scanner, &known)).await {
            zones.welcome(&backend, &inventory);
            publish.send_replace(Arc::new(inventory));
        }
        for request in waiting {
            // The asker may have gone away.
            let _ = request.send(());
        }
    }
}
