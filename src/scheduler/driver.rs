//! The one task that owns all run state. `select` waits for what happens next, `apply` is plain code.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::active::Active;
use super::admission;
use super::clock::now_ms;
use super::handle::{Command, Handle, Heads, OrderError, SubmitError};
use super::inventory::{Verdicts, keep_fresh, take_inventory};
use super::job::{self, JobEvent};
use super::planning::Planned;
use super::restoring;
use super::zones::Zones;
use crate::analysis;
use crate::backend::{Backend, Fresh};
use crate::model::drive::{Drive, Inventory};
use crate::model::interval::{Interval, PhaseSums};
use crate::model::recording::{Basis, Recording, RecordingState};
use crate::model::run::{Progress, RefusedReason, Run, RunId, RunState, StopReason};
use crate::model::surroundings::Surroundings;
use crate::probe::event::ProbeEvent;
use crate::store::{Entry, Store, StoreError};

/// At most this much is lost when the process is killed: what was gathered since the last commit.
const COMMIT_EVERY: Duration = Duration::from_millis(100);
/// A batch is stored early when it has grown to this, so that a transaction stays short.
const BATCH: usize = 1_000;
/// Events on their way from all jobs; a job that finds no room keeps its events (see `ChannelSink`).
const EVENTS: usize = 4_096;
/// Commands on their way from the web.
const COMMANDS: usize = 64;
/// How long a shutdown waits for drives to answer what is in flight.
const DRAIN_LIMIT: Duration = Duration::from_secs(60);

/// Starts the scheduler and the inventory. The task ends after `shutdown`, when every run has drained
/// and everything is stored.
///
/// # Errors
/// When the store cannot be read.
pub async fn start(
    backend: Arc<Backend>,
    store: Store,
    shutdown: CancellationToken,
) -> Result<(Handle, JoinHandle<()>), StoreError> {
    for id in store.interrupt_the_living(now_ms()).await? {
        tracing::warn!(run.id = %id, "the run was alive when the service last ended; it is interrupted now");
    }
    let verdicts = Arc::new(store.verdicts().await?);
    let first = {
        let (backend, verdicts) = (Arc::clone(&backend), Arc::clone(&verdicts));
        // The pool only refuses work when the runtime is going down.
        tokio::task::spawn_blocking(move || take_inventory(&backend, &verdicts, &Fresh::All)).await.unwrap_or_default()
    };
    if let Err(error) = restoring::restore(&backend, &store, &first).await {
        // Results can still be looked at, and other drives be probed.
        tracing::error!(%error, "settings that earlier runs left changed could not be looked up");
    }
    let (publish, inventory) = watch::channel(Arc::new(first));
    let (publish_verdicts, verdicts_seen) = watch::channel(verdicts);
    let (rescans, asked) = mpsc::channel(COMMANDS);
    let zones = Arc::new(Zones::default());
    let welcome = Arc::clone(&zones);
    tokio::spawn(keep_fresh(Arc::clone(&backend), verdicts_seen, publish, welcome, asked, shutdown.clone()));

    let (commands, commands_in) = mpsc::channel(COMMANDS);
    let (events, events_in) = mpsc::channel(EVENTS);
    let heads = Heads::default();
    let driver = Driver {
        backend: Arc::clone(&backend),
        store,
        inventory: inventory.clone(),
        verdicts: publish_verdicts,
        heads: Arc::clone(&heads),
        events,
        runs: HashMap::new(),
        pending: Vec::new(),
        to_judge: Vec::new(),
        to_confirm: Vec::new(),
        store_works: true,
        stop_by: None,
    };
    let task = tokio::spawn(driver.run(commands_in, events_in, shutdown));
    Ok((Handle { commands, rescans, inventory, heads, backend, zones }, task))
}

/// Results that wait for the next commit.
enum Pending {
    Interval(RunId, Box<Interval>),
    Sums { run: RunId, phase: u32, sums: Box<PhaseSums> },
}

/// What happens next.
enum Action {
    Command(Command),
    Event(RunId, JobEvent),
    Commit,
    Shutdown,
    Done,
}

struct Driver {
    backend: Arc<Backend>,
    store: Store,
    inventory: watch::Receiver<Arc<Inventory>>,
    verdicts: watch::Sender<Arc<Verdicts>>,
    heads: Heads,
    events: mpsc::Sender<(RunId, JobEvent)>,
    runs: HashMap<RunId, (Active, watch::Sender<Arc<Run>>)>,
    pending: Vec<Pending>,
    to_judge: Vec<RunId>,
    /// Jobs that wait until what they told is stored.
    to_confirm: Vec<oneshot::Sender<()>>,
    store_works: bool,
    stop_by: Option<Instant>,
}

impl Driver {
    async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        mut events: mpsc::Receiver<(RunId, JobEvent)>,
        shutdown: CancellationToken,
    ) {
        let mut commit = tokio::time::interval(COMMIT_EVERY);
        commit.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            match self.select(&mut commands, &mut events, &mut commit, &shutdown).await {
                Action::Command(command) => self.obey(command).await,
                Action::Event(run, event) => self.note(run, event),
                Action::Commit => self.commit().await,
                Action::Shutdown => self.stop_all(),
                Action::Done => break,
            }
            if self.pending.len() >= BATCH {
                self.commit().await;
            }
        }
        self.commit().await;
    }

    async fn select(
        &self,
        commands: &mut mpsc::Receiver<Command>,
        events: &mut mpsc::Receiver<(RunId, JobEvent)>,
        commit: &mut tokio::time::Interval,
        shutdown: &CancellationToken,
    ) -> Action {
        if let Some(stop_by) = self.stop_by
            && (self.runs.is_empty() || Instant::now() >= stop_by)
        {
            return Action::Done;
        }
        tokio::select! {
            biased;
            () = shutdown.cancelled(), if self.stop_by.is_none() => Action::Shutdown,
            _ = commit.tick() => Action::Commit,
            Some(command) = commands.recv() => Action::Command(command),
            // While the store takes nothing, events wait with their jobs instead of piling up here.
            Some((run, event)) = events.recv(), if self.store_works => Action::Event(run, event),
        }
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Admit { planned, reply } => {
                // Somebody who asked and went away still gets the run: it was confirmed.
                let _ = reply.send(self.admit(*planned).await);
            }
            Command::Order { run, order, reply } => {
                let answer = match self.runs.get_mut(&run) {
                    Some((active, _)) => active.obey(order),
                    None => Err(OrderError::NotAlive),
                };
                self.commit().await;
                let head = self.runs.get(&run).map(|(_, head)| Arc::clone(&head.borrow()));
                let _ = reply.send(answer.and_then(|()| head.ok_or(OrderError::NotAlive)));
            }
            Command::ForgetVerdicts { reply } => {
                self.reload_verdicts().await;
                let _ = reply.send(());
            }
        }
    }

    async fn reload_verdicts(&self) {
        match self.store.verdicts().await {
            Ok(verdicts) => {
                self.verdicts.send_replace(Arc::new(verdicts));
            }
            Err(error) => tracing::error!(%error, "verdicts could not be read"),
        }
    }

    async fn admit(&mut self, planned: Planned) -> Result<Run, SubmitError> {
        if self.stop_by.is_some() {
            return Err(super::Closed.into());
        }
        let Planned { drive, plan, .. } = planned;
        let alive = self.runs.values().map(|(active, _)| (active.run.id, active.run.drive));
        admission::admit(drive.id, alive).map_err(|reason| SubmitError::Refused(vec![reason]))?;
        let host = self.inventory.borrow().host.clone();
        let run = Run {
            id: RunId::generate(),
            drive: drive.id,
            drive_title: drive.title(),
            simulated: drive.simulated,
            profile: plan.profile,
            plan,
            state: RunState::Queued,
            stalled: false,
            created_at_ms: now_ms(),
            started_at_ms: None,
            ended_at_ms: None,
            stop_reason: None,
            engine: None,
            host,
            progress: Progress::default(),
            phases: Vec::new(),
            verdict: None,
            surroundings: Surroundings::default(),
        };
        let stored = async {
            self.store.remember_drive(&drive, &run.host, run.created_at_ms).await?;
            self.store.insert_run(&run).await
        };
        stored.await.map_err(|error| SubmitError::Store(error.to_string()))?;
        self.launch(run.clone(), drive);
        Ok(run)
    }

    fn launch(&mut self, run: Run, drive: Drive) {
        let (head, seen) = watch::channel(Arc::new(run.clone()));
        self.heads.write().unwrap_or_else(PoisonError::into_inner).insert(run.id, seen);
        let (id, plan) = (run.id, run.plan.clone());
        let active = Active::new(run, drive.clone());
        let control = active.control.clone();
        self.runs.insert(id, (active, head));
        let started = job::start(Arc::clone(&self.backend), id, drive, plan, control, self.events.clone());
        if let Err(error) = started {
            self.note(id, JobEvent::Ended(Err(format!("the kernel gave no thread for the probe: {error}"))));
        }
    }

    fn stop_all(&mut self) {
        self.stop_by = Some(Instant::now() + DRAIN_LIMIT);
        for (active, _) in self.runs.values_mut() {
            active.stop(StopReason::ServiceStopped);
        }
    }

    fn note(&mut self, id: RunId, event: JobEvent) {
        let Some((active, _)) = self.runs.get_mut(&id) else { return };
        match event {
            JobEvent::Claimed { engine } => active.claimed(engine),
            JobEvent::Conditions(conditions, stored) => {
                active.surround(|surroundings| surroundings.conditions = Some(conditions));
                self.to_confirm.extend(stored);
            }
            JobEvent::Settings(changes) => active.surround(|surroundings| {
                if let Some(conditions) = &mut surroundings.conditions {
                    conditions.follow(changes);
                }
            }),
            JobEvent::Temperature(celsius) => active.surround(|surroundings| surroundings.felt(celsius)),
            JobEvent::KernelLog(lines, note) => active.kernel_said(lines, note),
            JobEvent::Refused(reasons) => {
                let text: Vec<_> = reasons.iter().map(RefusedReason::to_string).collect();
                active.fail(StopReason::ClaimRefused(text.join("; ")));
            }
            JobEvent::Probe(ProbeEvent::PhaseBegan { phase, t }) => active.phase_began(phase, t),
            JobEvent::Probe(ProbeEvent::PhaseLeftOut { phase, why }) => active.phase_left_out(phase, why),
            JobEvent::Probe(ProbeEvent::Interval(interval)) => {
                active.advance(&interval);
                self.pending.push(Pending::Interval(id, interval));
            }
            JobEvent::Probe(ProbeEvent::PhaseEnded { phase, t, ended_by, sums }) => {
                active.phase_ended(phase, t, ended_by);
                self.pending.push(Pending::Sums { run: id, phase, sums });
            }
            JobEvent::Ended(Ok(outcome)) => {
                active.conclude(outcome);
                // After the next commit: the analysis reads the table, and the last intervals must be in it.
                self.to_judge.push(id);
            }
            JobEvent::Ended(Err(why)) => active.fail(StopReason::EngineError(why)),
            JobEvent::Judged(verdict) => {
                let drive = active.run.drive;
                active.judged((*verdict).clone());
                self.verdicts.send_modify(|verdicts| {
                    Arc::make_mut(verdicts).entry(drive).or_default().push(*verdict);
                });
            }
        }
    }

    /// Stores what has gathered, and only then lets others see it.
    async fn commit(&mut self) {
        for (active, _) in self.runs.values_mut() {
            active.look_for_a_stall();
            active.refresh();
        }
        let results = self.pending.iter().map(|pending| match pending {
            Pending::Interval(run, interval) => Entry::Interval(*run, interval),
            Pending::Sums { run, phase, sums } => Entry::PhaseSums { run: *run, phase: *phase, sums },
        });
        let changed = self.runs.values().filter(|(active, _)| active.dirty);
        let changed = changed.map(|(active, _)| Entry::Run(&active.run));
        let around = self.runs.values().map(|(active, _)| active).filter(|active| active.surroundings_dirty);
        let around = around.map(|active| Entry::Surroundings(active.run.id, &active.run.surroundings));
        let entries: Vec<_> = results.chain(changed).chain(around).collect();
        if !entries.is_empty() {
            if let Err(error) = self.store.record(&entries).await {
                if self.store_works {
                    tracing::error!(%error, "results cannot be stored; they are kept and tried again");
                }
                self.store_works = false;
                return;
            }
            drop(entries);
            self.pending.clear();
        }
        self.store_works = true;
        for (active, _) in self.runs.values_mut() {
            active.surroundings_dirty = false;
        }
        for stored in self.to_confirm.drain(..) {
            // A job that has gone meanwhile needs no answer.
            let _ = stored.send(());
        }
        self.publish();
        for id in std::mem::take(&mut self.to_judge) {
            if let Some((active, _)) = self.runs.get(&id) {
                tokio::spawn(judge(self.store.clone(), active.run.clone(), active.drive.clone(), self.events.clone()));
            }
        }
    }

    fn publish(&mut self) {
        let mut over = Vec::new();
        for (active, head) in self.runs.values_mut().filter(|(active, _)| active.dirty) {
            active.dirty = false;
            head.send_replace(Arc::new(active.run.clone()));
            if active.run.state.is_over() {
                over.push(active.run.id);
            }
        }
        if !over.is_empty() {
            let mut heads = self.heads.write().unwrap_or_else(PoisonError::into_inner);
            for id in over {
                heads.remove(&id);
                self.runs.remove(&id);
            }
        }
    }
}

/// Reads a run's results back and sends what they mean.
async fn judge(store: Store, run: Run, drive: Drive, events: mpsc::Sender<(RunId, JobEvent)>) {
    let id = run.id;
    let verdict = match store.samples(id).await {
        Ok(samples) => {
            // Statistics over a week of seconds take a while: not on a thread that serves requests.
            tokio::task::spawn_blocking(move || analysis::verdict(&drive, &run.plan, &samples))
                .await
                .map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    let verdict = verdict.unwrap_or_else(|why| {
        tracing::error!(why, "the analysis failed");
        Recording {
            state: RecordingState::Undecided,
            basis: Basis::None,
            confidence: 0.0,
            sentence: format!("The results could not be analysed: {why}."),
            evidence: Vec::new(),
        }
    });
    // The channel closes only when the service goes down.
    let _ = events.send((id, JobEvent::Judged(Box::new(verdict)))).await;
}
