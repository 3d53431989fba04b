//! One run on a thread of its own: claim, carry out, drain, release.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

use super::clock::now_ms;
use super::watch::{self, Watching};
use crate::analysis::Online;
use crate::backend::{Backend, Claim, LogWatcher, Settings};
use crate::model::conditions::{Change, Conditions};
use crate::model::drive::Drive;
use crate::model::estimate::Estimate;
use crate::model::interval::{Interval, Sample};
use crate::model::options::RunOptions;
use crate::model::plan::Plan;
use crate::model::recording::Recording;
use crate::model::run::{RefusedReason, RunId};
use crate::model::standing::Standing;
use crate::model::surroundings::KernelLine;
use crate::model::tunable::Tunables;
use crate::probe::budget::Budget;
use crate::probe::control::Control;
use crate::probe::event::{ChannelSink, ProbeEvent};
use crate::probe::referee::Referee;
use crate::probe::run::{Course, Outcome};

/// What a job tells the driver.
#[derive(Debug)]
pub enum JobEvent {
    /// Where a run stood that goes on after an interruption.
    Stands(Box<Standing>),
    /// The drive is claimed.
    Claimed {
        /// The engine that will carry the plan out.
        engine: &'static str,
    },
    /// The conditions of the run, before anything was changed. The answer is given once they are stored.
    Conditions(Box<Conditions>, Option<oneshot::Sender<()>>),
    /// How the changed settings stand now.
    Settings(Vec<Change>),
    /// The drive's temperature was read, degrees Celsius.
    Temperature(f64),
    /// What the kernel has said of the drive since the run began, and what is missing of it.
    KernelLog(Vec<KernelLine>, Option<String>),
    /// The drive could not be claimed.
    Refused(Vec<RefusedReason>),
    /// Something happened in the probe.
    Probe(ProbeEvent),
    /// The drive went away; what shows it.
    Gone(String),
    /// Nothing is in flight any more and the drive is free again.
    Ended(Result<Outcome, String>),
    /// The analysis has an answer, and the figures; sent by the driver's own helper, last of all.
    Judged(Box<Recording>, Vec<Estimate>),
}

/// What a run has beside its claim, and what must be brought to an end however the run ends.
struct Aside {
    run: RunId,
    events: Sender<(RunId, JobEvent)>,
    settings: Option<Settings>,
    log: Option<LogWatcher>,
    watching: Option<Watching>,
}

impl Aside {
    fn tell(&self, event: JobEvent) {
        // A closed channel means the service is gone: nobody is left to be told.
        let _ = self.events.blocking_send((self.run, event));
    }

    fn tell_settings(&self) {
        if let Some(settings) = &self.settings {
            self.tell(JobEvent::Settings(settings.changes().to_vec()));
        }
    }

    /// Brings the settings to those of a phase, or of the whole run.
    fn set(&mut self, values: &Tunables) -> Result<(), String> {
        let Some(settings) = &mut self.settings else { return Ok(()) };
        let set = settings.set(values);
        self.tell_settings();
        set
    }

    fn restore(&mut self) {
        if let Some(mut settings) = self.settings.take() {
            settings.restore();
            self.tell(JobEvent::Settings(settings.changes().to_vec()));
        }
    }

    fn end(&mut self) {
        self.restore();
        self.watching = None;
        if let Some(mut log) = self.log.take() {
            self.tell(log.conclude().into());
        }
    }
}

/// The analysis, asked while the run goes on; and the settings of each phase, made before it begins.
struct AnalysisReferee<'a> {
    online: Online,
    plan: &'a Plan,
    aside: &'a mut Aside,
}

impl Referee for AnalysisReferee<'_> {
    fn admit(&mut self, phase: u32) -> Result<(), String> {
        let index = usize::try_from(phase).unwrap_or(usize::MAX);
        self.online.admit(index)?;
        self.again(phase).map_err(|problem| format!("Left out: {problem}."))
    }

    fn again(&mut self, phase: u32) -> Result<(), String> {
        let index = usize::try_from(phase).unwrap_or(usize::MAX);
        let Some(phase) = self.plan.phases.get(index) else { return Ok(()) };
        self.aside.set(&self.plan.tunables_of(phase))
    }

    fn observe(&mut self, interval: &Interval) -> Option<String> {
        self.online.observe(&Sample::from(interval))
    }
}

/// What a job is to do.
pub struct Job {
    /// The run.
    pub run: RunId,
    /// Its target.
    pub drive: Drive,
    /// What is to be done.
    pub plan: Plan,
    /// What it may use up.
    pub options: RunOptions,
    /// Which appearance of a target without a name of its own was meant.
    pub appearance: Option<String>,
    /// Where it stood when it was interrupted, and the samples from before, for the analysis.
    pub resumed: Option<(Box<Standing>, Vec<Sample>)>,
    /// What it is told.
    pub control: Control,
}

/// Starts the thread.
///
/// # Errors
/// When the kernel gives no thread.
pub fn start(backend: Arc<Backend>, job: Job, events: Sender<(RunId, JobEvent)>) -> std::io::Result<()> {
    // Linux shows 15 bytes of a thread's name: the tail of a UUIDv7 is its random part.
    let run = job.run;
    let id = run.to_string();
    let name = format!("probe-{}", id.get(id.len().saturating_sub(8)..).unwrap_or_default());
    std::thread::Builder::new().name(name).spawn(move || {
        // A panic is a defect of ours; it must end this run with a reason and leave the others alone.
        let mut aside = Aside { run, events: events.clone(), settings: None, log: None, watching: None };
        let ended = catch_unwind(AssertUnwindSafe(|| carry(&backend, &job, &mut aside)));
        aside.end();
        let event = match ended {
            Ok(Some(outcome)) => JobEvent::Ended(Ok(outcome)),
            Ok(None) => return,
            Err(panic) => JobEvent::Ended(Err(panic_text(panic.as_ref()))),
        };
        let _ = events.blocking_send((run, event));
    })?;
    Ok(())
}

/// `None` when the claim was refused, which has been told already.
fn carry(backend: &Backend, job: &Job, aside: &mut Aside) -> Option<Outcome> {
    let (run, events) = (aside.run, aside.events.clone());
    let (drive, plan) = (&job.drive, &job.plan);
    let standing = job.resumed.as_ref().map(|(standing, _)| standing.as_ref());
    let mut claim = match backend.claim(drive, plan, job.appearance.as_deref(), standing) {
        Ok(claim) => claim,
        Err(reasons) => {
            let _ = events.blocking_send((run, JobEvent::Refused(reasons)));
            return None;
        }
    };
    let mut conditions = backend.conditions(drive, now_ms());
    conditions.changed = claim.plan_changes(plan);
    if !prepare(&claim, conditions, plan, aside) {
        return None;
    }
    if let Some(watcher) = backend.watcher(drive, &claim) {
        aside.log = Some(watcher.log());
        aside.watching = watch::start(run, watcher, events.clone());
    }
    let witness = claim.witness();
    let engine = claim.engine();
    if events.blocking_send((run, JobEvent::Claimed { engine: engine.name() })).is_err() {
        return Some(Outcome::Stopped);
    }
    let mut sink = ChannelSink::new(events.clone(), drive.simulated, move |event| (run, JobEvent::Probe(event)));
    let mut online = Online::new(plan);
    let mut budget = Budget::new(job.options.max_errors, job.options.max_written_bytes);
    if let Some((standing, samples)) = &job.resumed {
        for sample in samples {
            let _ = online.observe(sample);
        }
        budget = budget.after(standing);
    }
    let mut referee = AnalysisReferee { online, plan, aside };
    let course = Course { plan, budget, standing };
    let outcome = course.carry_out(engine, witness, &job.control, &mut referee, &mut sink);
    sink.flush();
    if let (Outcome::IoFailed(_), Some(gone)) = (&outcome, backend.gone(drive)) {
        let _ = events.blocking_send((run, JobEvent::Gone(gone)));
    }
    // While the drive is still claimed: nobody else may have it with our settings.
    aside.restore();
    Some(outcome)
}

/// Tells the conditions, and makes the settings of the run once what was found is stored. Whether the run may go on; if
/// not, it has been told why, after everything was put back.
fn prepare(claim: &Claim, conditions: Conditions, plan: &Plan, aside: &mut Aside) -> bool {
    let changes = conditions.changed.clone();
    if changes.is_empty() {
        aside.tell(JobEvent::Conditions(Box::new(conditions), None));
        return true;
    }
    let (stored, is_stored) = oneshot::channel();
    aside.tell(JobEvent::Conditions(Box::new(conditions), Some(stored)));
    if is_stored.blocking_recv().is_err() {
        // The service is gone, and with it the note of what to put back.
        return false;
    }
    aside.settings = claim.hold(changes);
    if let Err(problem) = aside.set(&plan.tunables) {
        aside.restore();
        aside.tell(JobEvent::Refused(vec![RefusedReason::NotSettable { problem }]));
        return false;
    }
    true
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("a defect in this program ended the probe: {text}")
}
