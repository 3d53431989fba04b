//! A run: its states, why it ended, and why one may be refused.
//!
//! ```text
//!            ┌──────────────────────────── resume ───────────────────────────┐
//!            ▼                                                               │
//!         queued ──▶ claiming ──▶ running ⇄ paused                           │
//!            │           │           │         │                             │
//!            │           │           ▼         ▼                             │
//!            │           │        draining ◀───┘                             │
//!            │           │           │                                       │
//!            ▼           ▼           ▼                                       │
//!        cancelled     failed     finished | cancelled | failed | interrupted┘
//! ```
//! A run whose process dies while it has its drive is found `interrupted` at the next start; one that was only queued
//! is queued still. `stalled` is a flag on `running`, never an end; a run may be paused for several reasons
//! at once ([`Hold`]), and goes on when the last of them is gone.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::drive::{Drive, DriveId, Host, Usage};
use super::estimate::Estimate;
use super::options::RunOptions;
use super::plan::Plan;
use super::profile::Profile;
use super::recording::Recording;
use super::seen::PhaseSeen;
use super::surroundings::Surroundings;
use super::tunable::Tunables;
use super::units::Bytes;

/// A run's name: UUIDv7, so that ids sort by time of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub Uuid);

impl RunId {
    /// A new one, of now.
    #[must_use]
    pub fn generate() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a run is in its life. The diagram is at the top of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Accepted, waiting for its turn.
    Queued,
    /// The drive is being claimed: identity and ownership are checked again.
    Claiming,
    /// I/O is under way.
    Running,
    /// Stopped by the user, to be resumed.
    Paused,
    /// Nothing more is issued; what is in flight is awaited.
    Draining,
    /// Came to its end.
    Finished,
    /// Ended by the user.
    Cancelled,
    /// Could not go on.
    Failed,
    /// The service ended under it.
    Interrupted,
}

impl RunState {
    /// Every state.
    pub const ALL: [Self; 9] = [
        Self::Queued,
        Self::Claiming,
        Self::Running,
        Self::Paused,
        Self::Draining,
        Self::Finished,
        Self::Cancelled,
        Self::Failed,
        Self::Interrupted,
    ];

    /// As written in the API and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Claiming => "claiming",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Draining => "draining",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// The reverse of [`as_str`](Self::as_str).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether nothing more will happen by itself.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled | Self::Failed | Self::Interrupted)
    }

    /// Whether `next` may follow; the diagram above in code.
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        use RunState::{Cancelled, Claiming, Draining, Failed, Finished, Interrupted, Paused, Queued, Running};
        match self {
            Queued => matches!(next, Claiming | Cancelled | Failed),
            Claiming => matches!(next, Running | Failed | Cancelled | Interrupted | Draining),
            Running => matches!(next, Paused | Draining | Finished | Failed | Cancelled | Interrupted),
            Paused => matches!(next, Running | Draining | Cancelled | Failed | Interrupted),
            Draining => matches!(next, Finished | Cancelled | Failed | Interrupted),
            Interrupted => matches!(next, Queued),
            Finished | Cancelled | Failed => false,
        }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "reason", content = "detail")]
pub enum StopReason {
    /// Every phase came to its end.
    Completed,
    /// The user cancelled it.
    Cancelled,
    /// The service was told to stop, or died.
    ServiceStopped,
    /// The claim was refused.
    ClaimRefused(String),
    /// An I/O failed, one more than the run puts up with; the detail says which and how.
    IoError(String),
    /// The drive went away.
    DriveGone(String),
    /// It used up what it might; the detail says what.
    LimitReached(String),
    /// The drive did not give back what was in flight when the service had to end.
    Abandoned(String),
    /// The engine failed.
    EngineError(String),
    /// The store did not take the results.
    StoreError(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("every phase came to its end"),
            Self::Cancelled => f.write_str("cancelled by the user"),
            Self::ServiceStopped => f.write_str("the service was stopped while it ran"),
            Self::ClaimRefused(why) => write!(f, "the drive could not be claimed: {why}"),
            Self::IoError(why) | Self::EngineError(why) => f.write_str(why),
            Self::DriveGone(why) => write!(f, "the drive is gone: {why}"),
            Self::LimitReached(what) => write!(f, "it {what}"),
            Self::Abandoned(why) => write!(f, "the service was stopped while the drive did not answer: {why}"),
            Self::StoreError(why) => write!(f, "results could not be stored: {why}"),
        }
    }
}

/// Why a run is not accepted. A client shows all of them at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "code")]
pub enum RefusedReason {
    /// The drive is in use.
    InUse {
        /// By what.
        usage: Usage,
    },
    /// Another run has it.
    AlreadyProbed {
        /// That run.
        run: RunId,
    },
    /// The kernel lets nobody write to it.
    ReadOnly,
    /// It cannot be told apart from another drive.
    IdentityNotUnique {
        /// What is wrong.
        note: String,
    },
    /// More than one path leads to it, and nothing joins them: a write by one goes unseen by the others.
    SeveralPaths {
        /// The nodes.
        paths: Vec<PathBuf>,
    },
    /// A plain random write would fail: it takes writes only at write pointers.
    SequentialOnly,
    /// It has no zones that the host can write, and the profile is about these.
    NoZones,
    /// The target is no block device or regular file.
    NotATarget {
        /// What it is.
        what: String,
    },
    /// The target is one of the service's own files.
    OwnFile,
    /// A file in a directory in which no file may be a target.
    FileNotAllowed {
        /// The file, with all links followed.
        path: PathBuf,
        /// The directories that were allowed; empty when only system directories are not.
        allowed: Vec<PathBuf>,
    },
    /// A recorded host has no drives to probe.
    RecordedHost,
    /// The target could not be examined or opened.
    Unreadable {
        /// What the kernel said.
        error: String,
    },
    /// It is not the drive it was when the run was asked for.
    Changed {
        /// What changed.
        what: String,
    },
    /// A setting that the run asks for could not be made.
    NotSettable {
        /// Which, and what the kernel said.
        problem: String,
    },
    /// The kernel refuses io_uring.
    NoIoUring {
        /// What it said.
        error: String,
        /// What to do.
        remedy: String,
    },
}

impl RefusedReason {
    /// The reason against writing to a drive that more than one path leads to. Where multipath has joined them, its
    /// device holds each path, which is a reason already.
    #[must_use]
    pub fn of_paths(drive: &Drive) -> Option<Self> {
        let joined = drive.usage.iter().any(|usage| matches!(usage, Usage::Holder { .. }));
        (drive.paths.len() > 1 && !joined).then(|| Self::SeveralPaths { paths: drive.paths.clone() })
    }

    /// What the user can do about it.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::InUse { usage: Usage::Mounted { mount_point, .. } } => {
                format!("unmount {mount_point}, or probe a file on it instead")
            }
            Self::InUse { usage: Usage::Swap { device } } => format!("swapoff /dev/{device}"),
            Self::InUse { usage: Usage::Holder { holder, .. } } => {
                format!("stop or close {holder} first")
            }
            Self::InUse { usage: Usage::Member { .. } } => {
                "take the drive out of its pool and wipe the mark (wipefs) if it is no longer wanted".into()
            }
            Self::InUse { usage: Usage::LoopBacking { loop_device, .. } } => {
                format!("losetup -d /dev/{loop_device}")
            }
            Self::InUse { usage: Usage::Exclusive { .. } } => {
                "find the process that holds it (fuser, lsof) and end it".into()
            }
            Self::AlreadyProbed { run } => format!("wait for run {run} or cancel it"),
            Self::ReadOnly => "blockdev --setrw, or the drive's own write-protect switch".into(),
            Self::IdentityNotUnique { .. } => {
                "unplug the other device, or connect the drive without the bridge that hides its serial".into()
            }
            Self::SeveralPaths { .. } => {
                "join the paths with multipathd and probe the multipath device, or unplug all cables but one".into()
            }
            Self::SequentialOnly => {
                "run the zones profile, or custom with zonemode zbd, which write at the pointers; inspect only reads"
                    .into()
            }
            Self::NoZones => "choose another profile; this one is for host-aware, host-managed and ZNS drives".into(),
            Self::NotATarget { .. } => "name a drive of the inventory, or a regular file".into(),
            Self::OwnFile => "name another file".into(),
            Self::RecordedHost => "start the service without --sysroot to probe this host's drives".into(),
            Self::Unreadable { .. } => "check the permissions of the service: it needs to open the device".into(),
            Self::Changed { .. } => "look at the inventory again and ask anew".into(),
            Self::FileNotAllowed { allowed, .. } if allowed.is_empty() => {
                "name a file elsewhere, or start the service with --file-dir and the directory".into()
            }
            Self::FileNotAllowed { allowed, .. } => {
                let allowed: Vec<_> = allowed.iter().map(|path| path.display().to_string()).collect();
                format!("name a file in {}, or start the service with another --file-dir", allowed.join(" or "))
            }
            Self::NotSettable { .. } => "ask without this setting, or run the service as root".into(),
            Self::NoIoUring { remedy, .. } => remedy.clone(),
        }
    }
}

impl fmt::Display for RefusedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { usage } => usage.fmt(f),
            Self::AlreadyProbed { run } => write!(f, "run {run} is probing it"),
            Self::ReadOnly => f.write_str("the kernel has it as read-only"),
            Self::IdentityNotUnique { note } => write!(f, "it cannot be told apart: {note}"),
            Self::SeveralPaths { paths } => {
                let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "{} lead to this one drive, and another path could write to it too", paths.join(" and "))
            }
            Self::SequentialOnly => {
                f.write_str("it takes writes only at write pointers, so a plain random write would fail")
            }
            Self::NoZones => f.write_str("it has no zones that a host can see"),
            Self::NotATarget { what } => write!(f, "it is {what}"),
            Self::OwnFile => f.write_str("it is one of the service's own files"),
            Self::FileNotAllowed { path, allowed } if allowed.is_empty() => {
                write!(f, "{} lies in a directory of the system", path.display())
            }
            Self::FileNotAllowed { path, .. } => {
                write!(f, "{} lies outside the directories in which files may be targets", path.display())
            }
            Self::RecordedHost => f.write_str("this is a recorded host: its drives are not here"),
            Self::Unreadable { error } => write!(f, "it could not be examined: {error}"),
            Self::Changed { what } => write!(f, "it is not the drive that was asked for: {what}"),
            Self::NotSettable { problem } => f.write_str(problem),
            Self::NoIoUring { error, .. } => write!(f, "the kernel refuses io_uring: {error}"),
        }
    }
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    /// A drive id, a kernel name, a device path, or the path of a regular file.
    pub drive: String,
    /// The profile.
    pub profile: Profile,
    /// Its parameters, as they came.
    pub parameters: Map<String, Value>,
    /// When it may go, and what it may use up.
    pub options: RunOptions,
    /// The confirmation phrase as typed.
    pub confirm: Option<String>,
    /// Settings of the drive that the run shall have.
    pub tunables: Tunables,
}

/// Why a run that could go on does not. It goes on when none is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// A person paused it.
    User,
    /// It is outside its hours of the day.
    Window,
    /// The drive is too hot.
    Temperature,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "paused by the user",
            Self::Window => "outside its hours of the day",
            Self::Temperature => "the drive is too hot",
        })
    }
}

/// One of the first failed I/Os of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// When, milliseconds on the run's clock.
    pub t_ms: u64,
    /// Which and how, for a person.
    pub text: String,
}

/// What befell a run. Absent fields have defaults, so that runs stored before still read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Life {
    /// Why it is paused, or is held back in the queue.
    pub holds: Vec<Hold>,
    /// What a queued run waits for, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
    /// I/Os that failed or brought wrong data.
    pub errors: u64,
    /// The first of them.
    pub faults: Vec<Fault>,
    /// When it went on after an interruption, milliseconds since 1970 UTC.
    pub resumed_at_ms: Vec<i64>,
    /// How long the kernel lets a command take before it aborts it, seconds; `null` when it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_timeout_s: Option<u64>,
    /// Of a target without a name of its own (a loop device, a file): which appearance of it this is. A run
    /// goes on only on the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appearance: Option<String>,
}

/// Why a phase ended that was stopped from outside. It is not over: a run that goes on goes on with it.
pub const STOPPED: &str = "stopped";

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// 0 to 1, by time estimated; 1 only at the end.
    pub fraction: f64,
    /// Index of the current phase in the plan.
    pub phase: u32,
    /// Seconds on the run's clock.
    pub elapsed_s: f64,
    /// Seconds still to go at most, on the run's clock; `null` when not known.
    pub remaining_s: Option<f64>,
    /// Bytes written so far.
    pub written_bytes: Bytes,
    /// Bytes read so far.
    pub read_bytes: Bytes,
    /// Sequence number of the last interval that is stored.
    pub last_seq: u64,
}

/// How one phase went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseOutcome {
    /// Index in the plan.
    pub phase: u32,
    /// When it began, milliseconds on the run's clock; `null` if it was left out.
    pub started_t_ms: Option<u64>,
    /// When it ended.
    pub ended_t_ms: Option<u64>,
    /// Why it ended or was left out, for a person.
    pub ended_by: Option<String>,
    /// What others than the engine saw of it, if anything.
    #[serde(default)]
    pub seen: Option<Box<PhaseSeen>>,
}

impl PhaseOutcome {
    /// Whether nothing of it is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.ended_by.as_deref().is_some_and(|why| why != STOPPED)
    }
}

/// A run, as stored and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// The drive.
    pub drive: DriveId,
    /// What the drive was called when it ran.
    pub drive_title: String,
    /// Whether the drive is simulated.
    pub simulated: bool,
    /// The profile.
    pub profile: Profile,
    /// The plan it carries out.
    pub plan: Plan,
    /// Where it is in its life.
    pub state: RunState,
    /// No completion for a long time.
    pub stalled: bool,
    /// When it was asked for, milliseconds since 1970 UTC.
    pub created_at_ms: i64,
    /// When its first phase began.
    pub started_at_ms: Option<i64>,
    /// When it was over.
    pub ended_at_ms: Option<i64>,
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
    /// The engine that carried it out.
    pub engine: Option<String>,
    /// The host it ran on.
    pub host: Host,
    /// How far it is.
    pub progress: Progress,
    /// How its phases went, as far as they have begun or were left out.
    pub phases: Vec<PhaseOutcome>,
    /// Its answer, once it is over.
    pub verdict: Option<Recording>,
    /// What it measured, each figure with its interval; empty until it is over, and of runs from before there were any.
    #[serde(default)]
    pub estimates: Vec<Estimate>,
    /// When it may go, and what it may use up.
    pub options: RunOptions,
    /// What befell it.
    #[serde(flatten)]
    pub life: Life,
    /// What surrounds it.
    #[serde(flatten)]
    pub surroundings: Surroundings,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_reads_back() {
        for state in RunState::ALL {
            assert_eq!(RunState::parse(state.as_str()), Some(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
    }

    #[test]
    fn a_run_that_is_over_stays_over_but_for_the_interrupted() {
        for state in RunState::ALL {
            let exits = RunState::ALL.into_iter().filter(|next| state.may_become(*next)).count();
            match state {
                RunState::Finished | RunState::Cancelled | RunState::Failed => assert_eq!(exits, 0),
                _ => assert!(exits > 0, "{state:?} is a dead end"),
            }
        }
    }

    #[test]
    fn a_process_that_dies_can_leave_any_living_state() {
        for state in RunState::ALL.into_iter().filter(|state| !state.is_over() && *state != RunState::Queued) {
            assert!(state.may_become(RunState::Interrupted), "{state:?}");
        }
    }
}
