//! Reports of zones: asked for on a blocking thread with a deadline, and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as Turn;

use crate::backend::Backend;
use crate::model::drive::{Drive, DriveId, Inventory};
use crate::model::zone::{NoZones, ZoneReport};

/// A report is good for this long.
const FRESH: Duration = Duration::from_secs(10);
/// A drive with fifty thousand zones takes a second or two; one that takes longer than this counts as silent.
const DEADLINE: Duration = Duration::from_secs(10);

/// What was asked of one drive, and when.
pub type Kept = (Instant, Result<Arc<ZoneReport>, NoZones>);

/// One drive's place: who holds the turn asks, the rest wait for what it brings.
#[derive(Debug, Default)]
struct Place {
    turn: Arc<Turn<()>>,
    kept: Arc<Mutex<Option<Kept>>>,
}

/// All reports.
#[derive(Debug, Default)]
pub struct Zones {
    places: Mutex<HashMap<DriveId, Arc<Place>>>,
}

impl Place {
    fn kept(&self) -> Option<Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Zones {
    fn place(&self, drive: DriveId) -> Arc<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(places.entry(drive).or_default())
    }

    /// What was answered last, however long ago. Asks nobody.
    pub fn last(&self, drive: DriveId) -> Option<Result<Arc<ZoneReport>, NoZones>> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.get(&drive).and_then(|place| place.kept()).map(|(_, answer)| answer)
    }

    /// The zones of a drive, not older than ten seconds. A drive is asked by one thread at a time: a silent one costs
    /// everybody who asks their deadline, and nobody else anything.
    pub async fn report(&self, backend: &Arc<Backend>, drive: &Drive) -> Result<Arc<ZoneReport>, NoZones> {
        let place = self.place(drive.id);
        let (backend, drive) = (Arc::clone(backend), drive.clone());
        // A task of its own: whoever gives up waiting does not take the turn away from the thread that is still asking.
        let asking = tokio::spawn(async move {
            let turn = Arc::clone(&place.turn).lock_owned().await;
            // A simulated drive is never busy, and its zones can be watched while a run writes to them.
            if let Some((at, answer)) = place.kept()
                && at.elapsed() < FRESH
                && !drive.simulated
            {
                return answer;
            }
            let kept = Arc::clone(&place.kept);
            let asked = tokio::task::spawn_blocking(move || {
                let answer = backend.zones(&drive).map(Arc::new);
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), answer.clone()));
                drop(turn);
                answer
            });
            asked.await.unwrap_or_else(|_| Err(NoZones::Failed("the service is shutting down".to_owned())))
        });
        match tokio::time::timeout(DEADLINE, asking).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(NoZones::Failed("the service is shutting down".to_owned())),
            Err(_) => Err(NoZones::Failed(format!("no answer from the drive within {} s", DEADLINE.as_secs()))),
        }
    }

    /// Has each zoned drive asked once after it appeared, so that its page has a map without asking; forgets the others.
    pub fn welcome(self: &Arc<Self>, backend: &Arc<Backend>, inventory: &Inventory) {
        let zoned: Vec<&Drive> = inventory.drives.iter().filter(|drive| backend.is_zoned(drive)).collect();
        let new: Vec<Drive> = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.retain(|id, _| zoned.iter().any(|drive| drive.id == *id));
            zoned.into_iter().filter(|drive| !places.contains_key(&drive.id)).cloned().collect()
        };
        for drive in new {
            let _ = self.place(drive.id);
            let (zones, backend) = (Arc::clone(self), Arc::clone(backend));
            tokio::spawn(async move { zones.report(&backend, &drive).await });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::EngineChoice;
    use crate::device::SysRoot;

    #[tokio::test]
    async fn a_refusal_is_kept_and_the_page_reads_it_without_asking() {
        let backend =
            Arc::new(Backend::new(SysRoot::recorded("/nowhere"), true, None, EngineChoice::default(), Vec::new()));
        let zones = Arc::new(Zones::default());
        let drive = backend.inventory(&crate::backend::Fresh::All).drives.remove(0);
        assert!(zones.last(drive.id).is_none());
        let answer = zones.report(&backend, &drive).await;
        assert!(matches!(answer, Err(NoZones::NotZoned(_))), "{answer:?}");
        assert_eq!(zones.last(drive.id), Some(answer));
    }
}
