//! The one task that owns all run state. `select` waits for what happens next, `apply` is plain code.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::admission;
use super::handle::{Command, Handle, Heads, Order, OrderError, SubmitError};
use super::inventory::{Verdicts, keep_fresh, take_inventory};
use super::job::{self, JobEvent};
use super::planning::Planned;
use super::progress::Tracker;
use crate::analysis;
use crate::backend::{Backend, Fresh};
use crate::model::drive::{Drive, Inventory};
use crate::model::interval::{Interval, Tally};
use crate::model::plan;
use crate::model::recording::{Basis, Recording, RecordingState};
use crate::model::run::{PhaseOutcome, Progress, RefusedReason, Run, RunId, RunState, StopReason};
use crate::probe::control::{self, Control};
use crate::probe::event::ProbeEvent;
use crate::probe::run::Outcome;
use crate::store::{Entry, Store, StoreError};

/// At most this much is lost when the process is killed: what was gathered since the last commit.
const COMMIT_EVERY: Duration = Duration::from_millis(100);
/// A batch is stored early when it has grown to this, so that a transaction stays short.
const BATCH: usize = 1_000;
/// Events on their way from all jobs; a job that finds no room keeps its events (see `ChannelSink`).
const EVENTS: usize = 4_096;
/// Commands on their way from the web.
const COMMANDS: usize = 64;
/// Without a completion for this long a running I/O phase is shown as stalled.
const STALLED_AFTER: Duration = Duration::from_secs(10);
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
    let (publish, inventory) = watch::channel(Arc::new(first));
    let (publish_verdicts, verdicts_seen) = watch::channel(verdicts);
    let (rescans, asked) = mpsc::channel(COMMANDS);
    tokio::spawn(keep_fresh(Arc::clone(&backend), verdicts_seen, publish, asked, shutdown.clone()));

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
        store_works: true,
        stop_by: None,
    };
    let task = tokio::spawn(driver.run(commands_in, events_in, shutdown));
    Ok((Handle { commands, rescans, inventory, heads, backend }, task))
}

/// Milliseconds since 1970 UTC.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A run that is alive.
struct Active {
    run: Run,
    drive: Drive,
    control: Control,
    tracker: Tracker,
    head: watch::Sender<Arc<Run>>,
    /// Why it was told to stop, if it was.
    told: Option<StopReason>,
    /// Whether the phase under way does I/O at all.
    in_io_phase: bool,
    last_completion: Instant,
    /// Changed since it was last stored.
    dirty: bool,
}

impl Active {
    fn set_state(&mut self, next: RunState) {
        if self.run.state != next {
            debug_assert!(self.run.state.may_become(next), "{:?} → {next:?}", self.run.state);
            self.run.state = next;
            self.dirty = true;
        }
    }
}

/// Results that wait for the next commit.
enum Pending {
    Interval(RunId, Box<Interval>),
    Sums { run: RunId, phase: u32, read: Box<Tally>, write: Box<Tally> },
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
    runs: HashMap<RunId, Active>,
    pending: Vec<Pending>,
    to_judge: Vec<RunId>,
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
                let answer = self.order(run, order);
                self.commit().await;
                let answer = answer.map(|()| self.runs.get(&run).map(|active| Arc::clone(&active.head.borrow())));
                let _ = reply.send(answer.and_then(|run| run.ok_or(OrderError::NotAlive)));
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
        let alive = self.runs.values().map(|active| (active.run.id, active.run.drive));
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
        let control = Control::default();
        let (head, seen) = watch::channel(Arc::new(run.clone()));
        self.heads.write().unwrap_or_else(PoisonError::into_inner).insert(run.id, seen);
        let id = run.id;
        let tracker = Tracker::new(&run.plan);
        let plan = run.plan.clone();
        let mut active = Active {
            run,
            drive: drive.clone(),
            control: control.clone(),
            tracker,
            head,
            told: None,
            in_io_phase: false,
            last_completion: Instant::now(),
            dirty: true,
        };
        active.set_state(RunState::Claiming);
        self.runs.insert(id, active);
        let started = job::start(Arc::clone(&self.backend), id, drive, plan, control, self.events.clone());
        if let Err(error) = started {
            self.note(id, JobEvent::Ended(Err(format!("the kernel gave no thread for the probe: {error}"))));
        }
    }

    fn order(&mut self, id: RunId, order: Order) -> Result<(), OrderError> {
        let active = self.runs.get_mut(&id).ok_or(OrderError::NotAlive)?;
        let state = active.run.state;
        match (order, state) {
            (Order::Cancel, RunState::Draining)
            | (Order::Pause, RunState::Paused)
            | (Order::Resume, RunState::Running) => {}
            (Order::Cancel, RunState::Claiming) => {
                active.told = Some(StopReason::Cancelled);
                active.control.order(control::Order::Stop);
            }
            (Order::Cancel, RunState::Running | RunState::Paused) => {
                active.told = Some(StopReason::Cancelled);
                active.control.order(control::Order::Stop);
                active.set_state(RunState::Draining);
            }
            (Order::Pause, RunState::Running) => {
                active.control.order(control::Order::Pause);
                active.set_state(RunState::Paused);
            }
            (Order::Resume, RunState::Paused) => {
                active.control.order(control::Order::Run);
                active.last_completion = Instant::now();
                active.set_state(RunState::Running);
            }
            (_, state) => return Err(OrderError::WrongState(state)),
        }
        Ok(())
    }

    fn stop_all(&mut self) {
        self.stop_by = Some(Instant::now() + DRAIN_LIMIT);
        for active in self.runs.values_mut() {
            active.told.get_or_insert(StopReason::ServiceStopped);
            active.control.order(control::Order::Stop);
            if matches!(active.run.state, RunState::Running | RunState::Paused) {
                active.set_state(RunState::Draining);
            }
        }
    }

    fn note(&mut self, id: RunId, event: JobEvent) {
        let Some(active) = self.runs.get_mut(&id) else { return };
        match event {
            JobEvent::Claimed { engine } => {
                active.run.engine = Some(engine.to_owned());
                active.run.started_at_ms = Some(now_ms());
                active.set_state(RunState::Running);
                if active.told.is_some() {
                    active.set_state(RunState::Draining);
                }
            }
            JobEvent::Refused(reasons) => {
                let text: Vec<_> = reasons.iter().map(RefusedReason::to_string).collect();
                self.finish(id, RunState::Failed, StopReason::ClaimRefused(text.join("; ")));
            }
            JobEvent::Probe(event) => self.note_probe(id, event),
            JobEvent::Ended(Ok(outcome)) => self.conclude(id, outcome),
            JobEvent::Ended(Err(why)) => self.finish(id, RunState::Failed, StopReason::EngineError(why)),
            JobEvent::Judged(verdict) => {
                active.run.verdict = Some(*verdict);
                active.dirty = true;
                let (state, reason) = match active.told.take() {
                    None => (RunState::Finished, StopReason::Completed),
                    Some(StopReason::Cancelled) => (RunState::Cancelled, StopReason::Cancelled),
                    Some(StopReason::ServiceStopped) => (RunState::Interrupted, StopReason::ServiceStopped),
                    Some(failure) => (RunState::Failed, failure),
                };
                self.finish(id, state, reason);
            }
        }
    }

    fn note_probe(&mut self, id: RunId, event: ProbeEvent) {
        let Some(active) = self.runs.get_mut(&id) else { return };
        match event {
            ProbeEvent::PhaseBegan { phase, t } => {
                active.tracker.begin_phase(phase, t);
                let planned = usize::try_from(phase).ok().and_then(|index| active.run.plan.phases.get(index));
                active.in_io_phase = planned.is_some_and(|phase| matches!(phase.action, plan::Action::Io(_)));
                active.last_completion = Instant::now();
                active.run.phases.push(PhaseOutcome {
                    phase,
                    started_t_ms: Some(t.as_millis()),
                    ended_t_ms: None,
                    ended_by: None,
                });
            }
            ProbeEvent::PhaseLeftOut { phase, why } => active.run.phases.push(PhaseOutcome {
                phase,
                started_t_ms: None,
                ended_t_ms: None,
                ended_by: Some(why),
            }),
            ProbeEvent::Interval(interval) => {
                active.tracker.advance(&active.run.plan, &interval);
                if interval.read.ios + interval.write.ios + interval.errors > 0 {
                    active.last_completion = Instant::now();
                    active.run.stalled = false;
                }
                self.pending.push(Pending::Interval(id, interval));
            }
            ProbeEvent::PhaseEnded { phase, t, ended_by, read, write } => {
                if let Some(outcome) = active.run.phases.iter_mut().rfind(|outcome| outcome.phase == phase) {
                    outcome.ended_t_ms = Some(t.as_millis());
                    outcome.ended_by = Some(ended_by);
                }
                self.pending.push(Pending::Sums { run: id, phase, read, write });
            }
        }
        active.dirty = true;
    }

    /// The job is done with the drive: what did it find?
    fn conclude(&mut self, id: RunId, outcome: Outcome) {
        let Some(active) = self.runs.get_mut(&id) else { return };
        match outcome {
            Outcome::Completed => active.told = None,
            Outcome::Stopped => {
                active.told.get_or_insert(StopReason::Cancelled);
            }
            Outcome::IoFailed(why) => active.told = Some(StopReason::IoError(why)),
            Outcome::EngineFailed(error) => active.told = Some(StopReason::EngineError(error.to_string())),
        }
        if active.run.state == RunState::Running || active.run.state == RunState::Paused {
            active.set_state(RunState::Draining);
        }
        // Judged after the next commit: the analysis reads the table, and the last intervals must be in it.
        self.to_judge.push(id);
    }

    fn finish(&mut self, id: RunId, state: RunState, reason: StopReason) {
        let Some(active) = self.runs.get_mut(&id) else { return };
        tracing::info!(run.id = %id, run.state = state.as_str(), %reason, "the run is over");
        active.tracker.finish(reason == StopReason::Completed);
        active.set_state(state);
        active.run.stop_reason = Some(reason);
        active.run.ended_at_ms = Some(now_ms());
        active.run.stalled = false;
        active.dirty = true;
        if let Some(verdict) = active.run.verdict.clone() {
            let drive = active.run.drive;
            self.verdicts.send_modify(|verdicts| {
                Arc::make_mut(verdicts).entry(drive).or_default().insert(0, verdict);
            });
        }
    }

    fn mark_the_stalled(&mut self) {
        for active in self.runs.values_mut() {
            let waits = active.run.state == RunState::Running && active.in_io_phase;
            let silent = active.last_completion.elapsed();
            let limit = STALLED_AFTER.max(Duration::from_millis(active.run.plan.interval_ms.saturating_mul(2)));
            if waits && silent > limit && !active.run.stalled {
                tracing::warn!(run.id = %active.run.id, silent_s = silent.as_secs(), "no completion: the run is stalled");
                active.run.stalled = true;
                active.dirty = true;
            }
        }
    }

    /// Stores what has gathered, and only then lets others see it.
    async fn commit(&mut self) {
        self.mark_the_stalled();
        for active in self.runs.values_mut().filter(|active| active.dirty) {
            active.run.progress = active.tracker.progress().clone();
        }
        let results = self.pending.iter().map(|pending| match pending {
            Pending::Interval(run, interval) => Entry::Interval(*run, interval),
            Pending::Sums { run, phase, read, write } => Entry::PhaseSums { run: *run, phase: *phase, read, write },
        });
        let states = self.runs.values().filter(|active| active.dirty).map(|active| Entry::Run(&active.run));
        let entries: Vec<_> = results.chain(states).collect();
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
        self.publish();
        for id in std::mem::take(&mut self.to_judge) {
            if let Some(active) = self.runs.get(&id) {
                tokio::spawn(judge(self.store.clone(), active.run.clone(), active.drive.clone(), self.events.clone()));
            }
        }
    }

    fn publish(&mut self) {
        let mut over = Vec::new();
        for active in self.runs.values_mut().filter(|active| active.dirty) {
            active.dirty = false;
            active.head.send_replace(Arc::new(active.run.clone()));
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
