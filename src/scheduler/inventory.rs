//! The drives of the host: scanned, classified, and kept fresh.
//!
//! ```text
//!  kernel ─uevent─▶ listener thread ─(100 ms of quiet gathering)─┐
//!  every 2 s ────────────────────────────────────────────────────┼─▶ scan ─▶ classify ─▶ watch, if anything changed
//!  POST drives/rescan, a stored verdict ─────────────────────────┘
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::zones::Zones;
use crate::analysis;
use crate::backend::{Backend, Fresh};
use crate::model::drive::{DriveId, Inventory};
use crate::model::recording::Recording;

/// How often the host is looked at again, whether or not the kernel has said anything.
const RESCAN_EVERY: Duration = Duration::from_secs(2);
/// A drive that comes makes a dozen events: they are gathered for this long, so that one scan serves them all.
const GATHER: Duration = Duration::from_millis(100);
/// How soon the listener notices that the service ends.
const LISTEN: Duration = Duration::from_millis(250);

/// What was measured of each drive, oldest first.
pub type Verdicts = HashMap<DriveId, Vec<Recording>>;

/// Scans and classifies once. Blocking.
#[must_use]
pub fn take_inventory(backend: &Backend, verdicts: &Verdicts, fresh: &Fresh) -> Inventory {
    let mut inventory = backend.inventory(fresh);
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
/// after it is published. Who watches is woken only when something changed.
pub async fn keep_fresh(
    backend: Arc<Backend>,
    verdicts: watch::Receiver<Arc<Verdicts>>,
    publish: watch::Sender<Arc<Inventory>>,
    zones: Arc<Zones>,
    mut asked: mpsc::Receiver<oneshot::Sender<()>>,
    shutdown: CancellationToken,
) {
    let mut verdicts = verdicts;
    let mut heard = listen(&backend, &shutdown);
    loop {
        let mut waiting = Vec::new();
        let mut fresh = Fresh::nothing();
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(RESCAN_EVERY) => {}
            Ok(()) = verdicts.changed() => {}
            Some(touched) = heard.recv() => fresh = touched,
            request = asked.recv() => waiting.extend(request),
        }
        while let Ok(request) = asked.try_recv() {
            waiting.push(request);
        }
        while let Ok(touched) = heard.try_recv() {
            fresh = fresh.and(touched);
        }
        if !waiting.is_empty() {
            fresh = Fresh::All;
        }
        let known = Arc::clone(&verdicts.borrow_and_update());
        let scanner = Arc::clone(&backend);
        if let Ok(inventory) = tokio::task::spawn_blocking(move || take_inventory(&scanner, &known, &fresh)).await {
            zones.welcome(&backend, &inventory);
            publish.send_if_modified(|shown| {
                let changed = differs(shown, &inventory);
                // The time of the scan is news to nobody, but a page that is asked for shows it.
                *shown = Arc::new(inventory);
                changed
            });
        }
        for request in waiting {
            // The asker may have gone away.
            let _ = request.send(());
        }
    }
}

/// Whether two inventories differ in anything but the moment they were taken.
fn differs(a: &Inventory, b: &Inventory) -> bool {
    a.host != b.host || a.left_out != b.left_out || a.drives != b.drives
}

/// Listens to the kernel on a thread of its own, and passes on which devices it spoke of. Without an ear nothing ever
/// comes.
fn listen(backend: &Backend, shutdown: &CancellationToken) -> mpsc::Receiver<Fresh> {
    let (sender, heard) = mpsc::channel(16);
    let Some(monitor) = backend.hotplug() else { return heard };
    let shutdown = shutdown.clone();
    std::thread::spawn(move || {
        while !shutdown.is_cancelled() {
            let gathered = monitor.wait(LISTEN).and_then(|mut touched| {
                let first = Instant::now();
                while !touched.is_nothing()
                    && let Some(left) = GATHER.checked_sub(first.elapsed())
                {
                    touched = touched.and(monitor.wait(left.max(Duration::from_millis(1)))?);
                }
                Ok(touched)
            });
            match gathered {
                Ok(touched) if touched.is_nothing() => {}
                Ok(touched) => {
                    if sender.blocking_send(touched).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the kernel's events can no longer be heard: drives are found by looking again");
                    return;
                }
            }
        }
    });
    heard
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_that_finds_the_same_is_no_news() {
        let first = Inventory { scanned_at_ms: 1, ..Inventory::default() };
        let later = Inventory { scanned_at_ms: 2, ..Inventory::default() };
        assert!(!differs(&first, &later));
        let kernel = crate::model::drive::Host { kernel: "6.12".into(), ..Default::default() };
        assert!(differs(&first, &Inventory { host: kernel, ..later }));
    }
}
