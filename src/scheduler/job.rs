//! One run on a thread of its own: claim, carry out, drain, release.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use crate::analysis::Online;
use crate::backend::Backend;
use crate::model::drive::Drive;
use crate::model::interval::{Interval, Sample};
use crate::model::options::RunOptions;
use crate::model::plan::Plan;
use crate::model::recording::Recording;
use crate::model::run::{RefusedReason, RunId};
use crate::model::standing::Standing;
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
    /// The drive could not be claimed.
    Refused(Vec<RefusedReason>),
    /// Something happened in the probe.
    Probe(ProbeEvent),
    /// The drive went away; what shows it.
    Gone(String),
    /// Nothing is in flight any more and the drive is free again.
    Ended(Result<Outcome, String>),
    /// The analysis has an answer; sent by the driver's own helper, last of all.
    Judged(Box<Recording>),
}

/// The analysis, asked while the run goes on.
struct AnalysisReferee(Online);

impl Referee for AnalysisReferee {
    fn admit(&mut self, phase: u32) -> Result<(), String> {
        self.0.admit(usize::try_from(phase).unwrap_or(usize::MAX))
    }

    fn observe(&mut self, interval: &Interval) -> Option<String> {
        self.0.observe(&Sample::from(interval))
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
        let ended = catch_unwind(AssertUnwindSafe(|| carry(&backend, &job, &events)));
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
fn carry(backend: &Backend, job: &Job, events: &Sender<(RunId, JobEvent)>) -> Option<Outcome> {
    let (run, plan) = (job.run, &job.plan);
    let standing = job.resumed.as_ref().map(|(standing, _)| standing.as_ref());
    let mut claim = match backend.claim(&job.drive, plan, job.appearance.as_deref(), standing) {
        Ok(claim) => claim,
        Err(reasons) => {
            let _ = events.blocking_send((run, JobEvent::Refused(reasons)));
            return None;
        }
    };
    let engine = claim.engine();
    if events.blocking_send((run, JobEvent::Claimed { engine: engine.name() })).is_err() {
        return Some(Outcome::Stopped);
    }
    let mut sink = ChannelSink::new(events.clone(), job.drive.simulated, move |event| (run, JobEvent::Probe(event)));
    let mut online = Online::new(plan);
    let mut budget = Budget::new(job.options.max_errors, job.options.max_written_bytes);
    if let Some((standing, samples)) = &job.resumed {
        for sample in samples {
            let _ = online.observe(sample);
        }
        budget = budget.after(standing);
    }
    let course = Course { plan, budget, standing };
    let outcome = course.carry_out(engine, &job.control, &mut AnalysisReferee(online), &mut sink);
    sink.flush();
    if let (Outcome::IoFailed(_), Some(gone)) = (&outcome, backend.gone(&job.drive)) {
        let _ = events.blocking_send((run, JobEvent::Gone(gone)));
    }
    Some(outcome)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("a defect in this program ended the probe: {text}")
}
