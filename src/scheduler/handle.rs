//! What others may ask of the scheduler.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{mpsc, oneshot, watch};

use super::admission;
use super::planning::{self, PlanError, Planned};
use super::zones::Zones;
use crate::analysis;
use crate::analysis::suitability::Past;
use crate::backend::{Backend, EngineProblem, ResolveError};
use crate::model::drive::{DeviceKind, Drive, DriveId, Inventory, Usage};
use crate::model::page::{PageId, PageReport};
use crate::model::parameters::FieldError;
use crate::model::plan::Plan;
use crate::model::run::{RefusedReason, Run, RunId, RunRequest, RunState};
use crate::model::suitability::{Pool, Suitability};
use crate::model::zone::{NoZones, ZoneReport};
use crate::store::{RunFigures, Store, StoreError};

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
    /// It cannot go on now.
    #[error("the run cannot go on now")]
    Refused(Vec<RefusedReason>),
    /// The database could not be read.
    #[error("the run could not be read: {0}")]
    Store(String),
    /// The service is going down.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// What the driver is asked.
pub(super) enum Command {
    Admit { waves: Vec<Vec<Planned>>, reply: oneshot::Sender<Result<Vec<Run>, SubmitError>> },
    Order { run: RunId, order: Order, reply: oneshot::Sender<Result<Arc<Run>, OrderError>> },
    Readmit { run: Box<Run>, drive: Box<Drive>, reply: oneshot::Sender<Result<Arc<Run>, OrderError>> },
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
    pub(super) store: Store,
}

/// A stored run as the analysis takes it.
fn past(figures: &RunFigures) -> Past<'_> {
    let RunFigures { run, estimates, verdict } = figures;
    Past { run: *run, estimates, verdict: verdict.as_ref() }
}

impl Handle {
    /// What a drive is good for, by its own word and all its runs; resilvers are reckoned for `pool`.
    ///
    /// # Errors
    /// What the store said.
    pub async fn suitability(&self, drive: &Drive, pool: Pool) -> Result<Suitability, StoreError> {
        let figures = self.store.figures(drive.id).await?;
        let runs: Vec<Past<'_>> = figures.iter().map(past).collect();
        Ok(analysis::suitability(drive, &runs, pool))
    }

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
            if !planned.options.waits_for_its_drive() {
                planned.refused.push(RefusedReason::AlreadyProbed { run });
            }
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

    /// Accepts a run. It starts when its turn comes, at once if nothing hinders it, and claims its drive by itself.
    ///
    /// # Errors
    /// Everything that keeps it from being accepted.
    pub async fn submit(&self, request: RunRequest) -> Result<Run, SubmitError> {
        let planned = self.confirmed(request).await?;
        self.admit(vec![vec![planned]]).await?.pop().ok_or(Closed.into())
    }

    /// Accepts runs on several drives, all or none: the first wave starts at once, each later one when the one before
    /// is over. Gives the runs in the order they were asked for.
    ///
    /// # Errors
    /// For each drive that keeps the whole from being accepted, what it is called and why.
    pub async fn submit_matrix(&self, waves: Vec<Vec<RunRequest>>) -> Result<Vec<Run>, Vec<(String, SubmitError)>> {
        let (mut planned_waves, mut errors) = (Vec::new(), Vec::new());
        for (wave, nth) in waves.into_iter().zip(0..) {
            let mut planned_wave: Vec<Planned> = Vec::new();
            for mut request in wave {
                let name = request.drive.clone();
                // A later wave waits for the drives of an earlier one, and says so again when it is admitted.
                request.options.queue |= nth > 0;
                match self.confirmed(request).await {
                    Ok(planned) if planned_wave.iter().any(|other| other.drive.id == planned.drive.id) => {
                        let twice = FieldError::new("waves", format!("holds {name} twice in one wave"));
                        errors.push((name, SubmitError::Parameters(vec![twice])));
                    }
                    Ok(planned) => planned_wave.push(planned),
                    Err(error) => errors.push((name, error)),
                }
            }
            planned_waves.push(planned_wave);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        self.admit(planned_waves).await.map_err(|error| vec![(String::new(), error)])
    }

    /// A request that was planned, may run, and was confirmed.
    async fn confirmed(&self, request: RunRequest) -> Result<Planned, SubmitError> {
        let (planned, confirm) = self.planned(request).await?;
        if let Some(phrase) = &planned.plan.confirm_phrase {
            match confirm.as_deref().map(str::trim) {
                None | Some("") => return Err(SubmitError::ConfirmMissing),
                Some(typed) if typed != phrase.trim() => return Err(SubmitError::ConfirmWrong),
                Some(_) => {}
            }
        }
        Ok(planned)
    }

    async fn admit(&self, waves: Vec<Vec<Planned>>) -> Result<Vec<Run>, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Admit { waves, reply }).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)?
    }

    /// Cancels, pauses or resumes a run; resumes also one that was interrupted, once its drive was found to be the same.
    ///
    /// # Errors
    /// When its state does not allow it, or an interrupted run cannot go on now.
    pub async fn order(&self, run: RunId, order: Order) -> Result<Arc<Run>, OrderError> {
        if order == Order::Resume && self.follow(run).is_none() {
            return self.go_on(run).await;
        }
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Order { run, order, reply }).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)?
    }

    /// Takes an interrupted run up again.
    async fn go_on(&self, id: RunId) -> Result<Arc<Run>, OrderError> {
        let unreadable = |error: crate::store::StoreError| OrderError::Store(error.to_string());
        let run = self.store.run(id).await.map_err(unreadable)?.ok_or(OrderError::NotAlive)?;
        if run.state != RunState::Interrupted {
            return Err(OrderError::WrongState(run.state));
        }
        if let Some((other, _)) = self.alive().into_iter().find(|(_, other)| other.drive == run.drive) {
            return Err(OrderError::Refused(vec![RefusedReason::AlreadyProbed { run: other }]));
        }
        let stored = self.store.drive(run.drive).await.map_err(unreadable)?.ok_or(OrderError::NotAlive)?;
        let inventory = self.inventory();
        let now = if stored.kind == DeviceKind::File { Some(&stored) } else { inventory.by_id(run.drive) };
        let Some(now) = now else {
            let what = format!("{} is not attached", run.drive_title);
            return Err(OrderError::Refused(vec![RefusedReason::Changed { what }]));
        };
        // The plan was made for so many bytes in such blocks; the check compares.
        let drive = Drive {
            capacity_bytes: stored.capacity_bytes,
            logical_block_bytes: stored.logical_block_bytes,
            ..now.clone()
        };
        let (backend, plan, target) = (Arc::clone(&self.backend), run.plan.clone(), drive.clone());
        let appearance = run.life.appearance.clone();
        let reasons =
            tokio::task::spawn_blocking(move || backend.check_to_go_on(&target, &plan, appearance.as_deref()))
                .await
                .map_err(|_| Closed)?;
        if !reasons.is_empty() {
            return Err(OrderError::Refused(reasons));
        }
        let (reply, answer) = oneshot::channel();
        let command = Command::Readmit { run: Box::new(run), drive: Box::new(drive), reply };
        self.commands.send(command).await.map_err(|_| Closed)?;
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
