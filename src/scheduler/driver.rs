//! The one task that owns all run state. `select` waits for what happens next, `apply` is plain code.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::active::Active;
use super::admission;
use super::clock::{minute_of_day, now_ms};
use super::handle::{Command, Handle, Heads, Order, OrderError, SubmitError};
use super::inventory::{Verdicts, keep_fresh, take_inventory};
use super::job::{self, Job, JobEvent};
use super::planning::Planned;
use super::queue::{self, Going, Limits, Moment, Waiting};
use super::restoring;
use super::zones::Zones;
use crate::analysis;
use crate::backend::{Backend, Fresh};
use crate::model::drive::{DeviceKind, Drive, Inventory};
use crate::model::interval::{Interval, PhaseSums, Sample};
use crate::model::recording::{Basis, Recording, RecordingState};
use crate::model::run::{Life, Progress, RefusedReason, Run, RunId, RunState, StopReason};
use crate::model::surroundings::Surroundings;
use crate::probe::event::ProbeEvent;
use crate::store::{Entry, RunFilter, Store, StoreError};

/// At most this much is lost when the process is killed: what was gathered since the last commit.
const COMMIT_EVERY: Duration = Duration::from_millis(100);
/// A batch is stored early when it has grown to this, so that a transaction stays short.
const BATCH: usize = 1_000;
/// Events on their way from all jobs, some 10 KiB each; a job that finds no room keeps its events (see `ChannelSink`).
const EVENTS: usize = 1_024;
/// Commands on their way from the web.
const COMMANDS: usize = 64;
/// Starts the scheduler and the inventory. The task ends after `shutdown`, when every run has drained or `drain_limit` is
/// over, and everything is stored.
///
/// # Errors
/// When the store cannot be read.
pub async fn start(
    backend: Arc<Backend>,
    store: Store,
    limits: Limits,
    drain_limit: Duration,
    shutdown: CancellationToken,
) -> Result<(Handle, JoinHandle<()>), StoreError> {
    for id in store.interrupt_the_living(now_ms()).await? {
        tracing::warn!(run.id = %id, "the run was alive when the service last ended; it is interrupted now");
    }
    let queued =
        store.runs(RunFilter { state: Some(RunState::Queued), limit: u32::MAX, ..RunFilter::default() }).await?;
    let interrupted = RunFilter { state: Some(RunState::Interrupted), limit: u32::MAX, ..RunFilter::default() };
    let mut to_resume: Vec<_> = store.runs(interrupted).await?;
    to_resume.retain(|run| run.options.resume_after_restart);
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
    let mut driver = Driver {
        backend: Arc::clone(&backend),
        store: store.clone(),
        limits,
        drain_limit,
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
    for run in queued.into_iter().rev() {
        match store.drive(run.drive).await? {
            Some(drive) => driver.enqueue(run, drive),
            None => tracing::error!(run.id = %run.id, "a queued run has no drive in the database"),
        }
    }
    let task = tokio::spawn(driver.run(commands_in, events_in, shutdown));
    let handle = Handle { commands, rescans, inventory, heads, backend, zones, store };
    let resumer = handle.clone();
    tokio::spawn(async move {
        for run in to_resume {
            if let Err(why) = resumer.order(run.id, Order::Resume).await {
                tracing::warn!(run.id = %run.id, %why, "the run cannot go on by itself");
            }
        }
    });
    Ok((handle, task))
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
    limits: Limits,
    drain_limit: Duration,
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
                Action::Commit => {
                    self.follow_the_clock();
                    self.commit().await;
                }
                Action::Shutdown => self.stop_all(),
                Action::Done => break,
            }
            if self.pending.len() >= BATCH {
                self.commit().await;
            }
        }
        // A thread that is stuck in the kernel must not keep the service: what it has told is stored, and its run can
        // go on another time.
        for (active, _) in self.runs.values_mut().filter(|(active, _)| active.has_job()) {
            active.abandon();
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
            && (!self.runs.values().any(|(active, _)| active.has_job()) || Instant::now() >= stop_by)
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
            Command::Admit { waves, reply } => {
                // Somebody who asked and went away still gets the runs: they were confirmed.
                let _ = reply.send(self.admit(waves).await);
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
            Command::Readmit { run, drive, reply } => {
                let _ = reply.send(self.readmit(*run, *drive).await);
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

    /// Accepts all of them or none: those of a wave wait for those of the wave before.
    async fn admit(&mut self, waves: Vec<Vec<Planned>>) -> Result<Vec<Run>, SubmitError> {
        if self.stop_by.is_some() {
            return Err(super::Closed.into());
        }
        let alive = || self.runs.values().map(|(active, _)| (active.run.id, active.run.drive));
        let at_once = waves.first().into_iter().flatten().filter(|planned| !planned.options.waits_for_its_drive());
        let taken: Vec<_> = at_once.filter_map(|planned| admission::admit(planned.drive.id, alive()).err()).collect();
        if !taken.is_empty() {
            return Err(SubmitError::Refused(taken));
        }
        let (mut runs, mut before) = (Vec::new(), Vec::new());
        for wave in waves {
            let mut ids = Vec::new();
            for mut planned in wave {
                planned.options.after.extend_from_slice(&before);
                let (run, drive) = self.accepted(planned);
                let stored = async {
                    self.store.remember_drive(&drive, &run.host, run.created_at_ms).await?;
                    self.store.insert_run(&run).await
                };
                stored.await.map_err(|error| SubmitError::Store(error.to_string()))?;
                ids.push(run.id);
                self.enqueue(run.clone(), drive);
                runs.push(run);
            }
            before = ids;
        }
        self.dispatch();
        Ok(runs)
    }

    /// A plan made into a run.
    fn accepted(&self, planned: Planned) -> (Run, Drive) {
        let Planned { drive, plan, options, appearance, .. } = planned;
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
            estimates: Vec::new(),
            options,
            life: Life { appearance, command_timeout_s: self.backend.command_timeout_s(&drive), ..Life::default() },
            surroundings: Surroundings::default(),
        };
        (run, drive)
    }

    /// Takes an interrupted run back. Everything was checked by the handle, and is once more by the claim.
    async fn readmit(&mut self, mut run: Run, drive: Drive) -> Result<Arc<Run>, OrderError> {
        if self.stop_by.is_some() {
            return Err(super::Closed.into());
        }
        let id = run.id;
        if let Some((_, head)) = self.runs.get(&id) {
            // Somebody else was quicker: the wish is fulfilled.
            return Ok(Arc::clone(&head.borrow()));
        }
        run.state = RunState::Queued;
        (run.ended_at_ms, run.stop_reason, run.verdict) = (None, None, None);
        run.estimates.clear();
        run.life.resumed_at_ms.push(now_ms());
        self.enqueue(run, drive);
        self.commit().await;
        // The answer of the part before the interruption no longer counts.
        self.reload_verdicts().await;
        self.dispatch();
        self.runs.get(&id).map(|(_, head)| Arc::clone(&head.borrow())).ok_or(OrderError::NotAlive)
    }

    fn enqueue(&mut self, run: Run, drive: Drive) {
        let (head, seen) = watch::channel(Arc::new(run.clone()));
        self.heads.write().unwrap_or_else(PoisonError::into_inner).insert(run.id, seen);
        let adapter = self.backend.adapter(&drive);
        self.runs.insert(run.id, (Active::new(run, drive, adapter), head));
    }

    /// Hours of the day begin and end, and so does what runs in the queue wait for.
    fn follow_the_clock(&mut self) {
        if self.stop_by.is_some() {
            return;
        }
        let minute = minute_of_day();
        for (active, _) in self.runs.values_mut() {
            active.follow_window(minute);
        }
        self.dispatch();
    }

    /// Starts those whose turn it is.
    fn dispatch(&mut self) {
        if !self.runs.values().any(|(active, _)| active.run.state == RunState::Queued) {
            return;
        }
        let inventory = Arc::clone(&self.inventory.borrow());
        let (mut waiting, mut going) = (Vec::new(), Vec::new());
        for (active, _) in self.runs.values() {
            let (id, drive, adapter) = (active.run.id, active.run.drive, active.adapter.as_deref());
            if active.run.state == RunState::Queued {
                let attached = active.drive.kind == DeviceKind::File || inventory.by_id(drive).is_some();
                let (options, holds) = (&active.run.options, active.run.life.holds.as_slice());
                waiting.push(Waiting { id, drive, adapter, attached, options, holds });
            } else if active.has_job() {
                going.push(Going { id, drive, adapter, busy: active.is_busy() });
            }
        }
        let moment = Moment { now_ms: now_ms(), minute: minute_of_day() };
        let decided = queue::decide(waiting, going, |id| self.runs.contains_key(&id), moment, self.limits);
        let decided: Vec<_> =
            decided.into_iter().map(|(id, why)| (id, why.map(|hindrance| hindrance.to_string()))).collect();
        for (id, waits_for) in decided {
            match (waits_for, self.runs.get_mut(&id)) {
                (None, _) => self.launch(id, &inventory),
                (what, Some((active, _))) => active.wait_for(what),
                (Some(_), None) => {}
            }
        }
    }

    fn launch(&mut self, id: RunId, inventory: &Inventory) {
        let Some((active, _)) = self.runs.get_mut(&id) else { return };
        // Since it was asked for it may have got another name and place; its identity is the same, and is checked again.
        if let Some(now) = inventory.by_id(active.run.drive) {
            let planned = std::mem::replace(&mut active.drive, now.clone());
            // These decide whether the plan still fits, and the check compares them.
            active.drive.capacity_bytes = planned.capacity_bytes;
            active.drive.logical_block_bytes = planned.logical_block_bytes;
        }
        active.launch();
        let job = Job {
            run: id,
            drive: active.drive.clone(),
            plan: active.run.plan.clone(),
            options: active.run.options.clone(),
            appearance: active.run.life.appearance.clone(),
            resumed: None,
            control: active.control.clone(),
        };
        let (backend, events) = (Arc::clone(&self.backend), self.events.clone());
        if !active.goes_on() {
            start_job(backend, job, events);
            return;
        }
        let (store, run) = (self.store.clone(), active.run.clone());
        tokio::spawn(async move {
            let read = async { Ok::<_, StoreError>((store.standing(&run).await?, store.samples(id).await?)) };
            match read.await {
                Ok((standing, samples)) => {
                    let _ = events.send((id, JobEvent::Stands(Box::new(standing.clone())))).await;
                    start_job(backend, Job { resumed: Some((Box::new(standing), samples)), ..job }, events);
                }
                Err(error) => {
                    let why = format!("what it had done before could not be read: {error}");
                    let _ = events.send((id, JobEvent::Ended(Err(why)))).await;
                }
            }
        });
    }

    fn stop_all(&mut self) {
        self.stop_by = Some(Instant::now() + self.drain_limit);
        for (active, _) in self.runs.values_mut().filter(|(active, _)| active.has_job()) {
            active.stop(StopReason::ServiceStopped);
        }
    }

    fn note(&mut self, id: RunId, event: JobEvent) {
        let Some((active, _)) = self.runs.get_mut(&id) else { return };
        match event {
            JobEvent::Stands(standing) => active.stands(&standing),
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
            JobEvent::Temperature(celsius) => {
                active.surround(|surroundings| surroundings.felt(celsius));
                active.follow_temperature(celsius);
            }
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
            JobEvent::Probe(ProbeEvent::Fault { t, text }) => active.fault(t, text),
            JobEvent::Gone(what) => active.lost(what),
            JobEvent::Ended(Ok(outcome)) => {
                active.conclude(outcome);
                // After the next commit: the analysis reads the table, and the last intervals must be in it.
                self.to_judge.push(id);
            }
            JobEvent::Ended(Err(why)) => active.fail(StopReason::EngineError(why)),
            JobEvent::Judged(verdict, estimates) => {
                let drive = active.run.drive;
                active.judged((*verdict).clone(), estimates);
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

fn start_job(backend: Arc<Backend>, job: Job, events: mpsc::Sender<(RunId, JobEvent)>) {
    let (run, last) = (job.run, events.clone());
    if let Err(error) = job::start(backend, job, events) {
        let why = format!("the kernel gave no thread for the probe: {error}");
        tokio::spawn(async move { last.send((run, JobEvent::Ended(Err(why)))).await });
    }
}

/// Reads a run's results back and sends what they mean.
async fn judge(store: Store, run: Run, drive: Drive, events: mpsc::Sender<(RunId, JobEvent)>) {
    let id = run.id;
    let judged = match read_back(&store, id).await {
        Ok((samples, totals)) => {
            // Statistics over a week of seconds take a while: not on a thread that serves requests.
            let judge = move || {
                let verdict = analysis::verdict(&drive, &run.plan, &samples);
                (verdict, analysis::estimates(&run.plan, &samples, &totals))
            };
            tokio::task::spawn_blocking(judge).await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    let (verdict, estimates) = judged.unwrap_or_else(|why| {
        tracing::error!(why, "the analysis failed");
        let verdict = Recording {
            state: RecordingState::Undecided,
            basis: Basis::None,
            confidence: 0.0,
            sentence: format!("The results could not be analysed: {why}."),
            evidence: Vec::new(),
        };
        (verdict, Vec::new())
    });
    // The channel closes only when the service goes down.
    let _ = events.send((id, JobEvent::Judged(Box::new(verdict), estimates))).await;
}

/// The samples of a run, and the sums of its phases.
async fn read_back(store: &Store, run: RunId) -> Result<(Vec<Sample>, Vec<Interval>), StoreError> {
    Ok((store.samples(run).await?, store.phase_totals(run).await?))
}
