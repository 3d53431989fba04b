//! What others may ask of the scheduler.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{mpsc, oneshot, watch};

use super::admission;
use super::planning::{self, PlanError, Planned};
use super::zones::Zones;
use crate::backend::{Backend, EngineProblem, ResolveError};
use crate::model::drive::{Drive, DriveId, Inventory, Usage};
use crate::model::page::{PageId, PageReport};
use crate::model::parameters::FieldError;
use crate::model::plan::Plan;
use crate::model::run::{RefusedReason, Run, RunId, RunRequest, RunState};
use crate::model::zone::{NoZones, ZoneReport};

/// The scheduler has ended; the service is going down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the service is shutting down")]
pub struct Closed;

/// Why a run was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// There is no such target.
    #[error("{0}")]
    Target(ResolveError),
    /// Parameters are wrong.
    #[error("the parameters do not fit")]
    Parameters(Vec<FieldError>),
    /// It may not run now.
    #[error("the drive may not be probed now")]
    Refused(Vec<RefusedReason>),
    /// A destructive run was asked for without typing back the phrase.
    #[error("this run destroys data and was not confirmed")]
    ConfirmMissing,
    /// Something else was typed.
    #[error("what was typed is not the confirmation phrase")]
    ConfirmWrong,
    /// Its row could not be stored.
    #[error("the run could not be stored: {0}")]
    Store(String),
    /// The service is going down.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// What may be done to a run that is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Stop it for good.
    Cancel,
    /// Stop issuing I/O until resumed.
    Pause,
    /// Go on.
    Resume,
}

/// Why an order was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// No such run is alive; it may be over or never have been.
    #[error("the run is not alive")]
    NotAlive,
    /// Its state does not allow it.
    #[error("the run is {}", .0.as_str())]
    WrongState(RunState),
    /// The service is going down.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// What the driver is asked.
pub(super) enum Command {
    Admit { planned: Box<Planned>, reply: oneshot::Sender<Result<Run, SubmitError>> },
    Order { run: RunId, order: Order, reply: oneshot::Sender<Result<Arc<Run>, OrderError>> },
    ForgetVerdicts { reply: oneshot::Sender<()> },
}

/// The newest stored state of each run that is alive.
pub(super) type Heads = Arc<RwLock<HashMap<RunId, watch::Receiver<Arc<Run>>>>>;

/// All that the web sees of running things. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) rescans: mpsc::Sender<oneshot::Sender<()>>,
    pub(super) inventory: watch::Receiver<Arc<Inventory>>,
    pub(super) heads: Heads,
    pub(super) backend: Arc<Backend>,
    pub(super) zones: Arc<Zones>,
}

impl Handle {
    /// The drives, as of the last scan. Never touches hardware.
    #[must_use]
    pub fn inventory(&self) -> Arc<Inventory> {
        Arc::clone(&self.inventory.borrow())
    }

    /// Scans now, and gives what was found.
    ///
    /// # Errors
    /// When the service is going down.
    pub async fn rescan(&self) -> Result<Arc<Inventory>, Closed> {
        let (reply, answer) = oneshot::channel();
        self.rescans.send(reply).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)?;
        Ok(self.inventory())
    }

    /// A page of a drive with its fields beside its bytes, as last read. Touches no hardware.
    #[must_use]
    pub fn page(&self, drive: &Drive, page: PageId) -> Option<PageReport> {
        self.backend.page(drive, page)
    }

    /// Whether a drive has zones that a host can see.
    #[must_use]
    pub fn is_zoned(&self, drive: &Drive) -> bool {
        self.backend.is_zoned(drive)
    }

    /// The zones of a drive, not older than ten seconds: the drive is asked for them.
    ///
    /// # Errors
    /// Why there is no report.
    pub async fn zones(&self, drive: &Drive) -> Result<Arc<ZoneReport>, NoZones> {
        self.zones.report(&self.backend, drive).await
    }

    /// What a drive answered last when asked for its zones, however long ago. Touches no hardware.
    #[must_use]
    pub fn last_zones(&self, drive: DriveId) -> Option<Result<Arc<ZoneReport>, NoZones>> {
        self.zones.last(drive)
    }

    /// Why real drives cannot be probed on this host, if so.
    #[must_use]
    pub fn engine_problem(&self) -> Option<&EngineProblem> {
        self.backend.engine_problem()
    }

    async fn planned(&self, request: RunRequest) -> Result<(Planned, Option<String>), SubmitError> {
        let backend = Arc::clone(&self.backend);
        let inventory = self.inventory();
        let confirm = request.confirm.clone();
        // It opens and reads the target: never on a thread that serves requests.
        let planned = tokio::task::spawn_blocking(move || planning::plan(&backend, &inventory, &request))
            .await
            .map_err(|_| Closed)?;
        let mut planned = planned.map_err(|error| match error {
            PlanError::Target(error) => SubmitError::Target(error),
            PlanError::Parameters(errors) => SubmitError::Parameters(errors),
        })?;
        if let Some((run, _)) = self.alive().into_iter().find(|(_, run)| run.drive == planned.drive.id) {
            // Our own run holds it open exclusively: that is no second reason.
            let ours =
                |reason: &RefusedReason| matches!(reason, RefusedReason::InUse { usage: Usage::Exclusive { .. } });
            planned.refused.retain(|reason| !ours(reason));
            planned.refused.push(RefusedReason::AlreadyProbed { run });
        }
        if planned.refused.is_empty() { Ok((planned, confirm)) } else { Err(SubmitError::Refused(planned.refused)) }
    }

    /// What a run would do, cost and destroy, and to which target. Changes nothing.
    ///
    /// # Errors
    /// Everything that would keep the run from starting, but for the confirmation.
    pub async fn plan(&self, request: RunRequest) -> Result<(Drive, Plan), SubmitError> {
        let planned = self.planned(request).await?.0;
        Ok((planned.drive, planned.plan))
    }

    /// What speaks against a run on `drive` as far as the last scan tells. Touches no hardware.
    #[must_use]
    pub fn foresee(&self, drive: &Drive, writes: bool) -> Vec<RefusedReason> {
        let alive = self.alive().into_iter().map(|(id, run)| (id, run.drive));
        let mut reasons: Vec<_> = admission::admit(drive.id, alive).err().into_iter().collect();
        if let Some(EngineProblem { error, remedy }) = self.engine_problem()
            && !drive.simulated
        {
            reasons.push(RefusedReason::NoIoUring { error: error.clone(), remedy: remedy.clone() });
        }
        if writes {
            reasons.extend(admission::against_writing(drive));
        }
        reasons
    }

    /// Accepts a run. It starts at once, and claims its drive by itself.
    ///
    /// # Errors
    /// Everything that keeps it from starting.
    pub async fn submit(&self, request: RunRequest) -> Result<Run, SubmitError> {
        let (planned, confirm) = self.planned(request).await?;
        if let Some(phrase) = &planned.plan.confirm_phrase {
            match confirm.as_deref().map(str::trim) {
                None | Some("") => return Err(SubmitError::ConfirmMissing),
                Some(typed) if typed != phrase.trim() => return Err(SubmitError::ConfirmWrong),
                Some(_) => {}
            }
        }
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Admit { planned: Box::new(planned), reply }).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)?
    }

    /// Cancels, pauses or resumes a run.
    ///
    /// # Errors
    /// When it is not alive or its state does not allow it.
    pub async fn order(&self, run: RunId, order: Order) -> Result<Arc<Run>, OrderError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Order { run, order, reply }).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)?
    }

    /// A stored run was deleted: what was measured of its drive must be read anew.
    ///
    /// # Errors
    /// When the service is going down.
    pub async fn forget_verdicts(&self) -> Result<(), Closed> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::ForgetVerdicts { reply }).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)
    }

    /// Follows a run that is alive: a new value each time something of it was stored. `None` when it
    /// is not alive; its row is then final.
    #[must_use]
    pub fn follow(&self, run: RunId) -> Option<watch::Receiver<Arc<Run>>> {
        self.heads.read().unwrap_or_else(PoisonError::into_inner).get(&run).cloned()
    }

    /// The runs that are alive.
    #[must_use]
    pub fn alive(&self) -> Vec<(RunId, Arc<Run>)> {
        let heads = self.heads.read().unwrap_or_else(PoisonError::into_inner);
        heads.iter().map(|(id, head)| (*id, Arc::clone(&head.borrow()))).collect()
    }
}
