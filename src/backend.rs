//! The only fork between drives that exist and drives that do not.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::device::identity::fields;
use crate::device::interrogate::Cache;
use crate::device::{self, Access, HotplugMonitor, Scanner, SysRoot};
use crate::model::drive::{Content, DeviceKind, Drive, Inventory};
use crate::model::page::{PageId, PageReport};
use crate::model::plan::{Action, Phase, Plan};
use crate::model::run::RefusedReason;
use crate::model::units::Bytes;
use crate::model::zone::{NoZones, ZoneReport};
use crate::probe::engine::Engine;
use crate::probe::psync::PsyncEngine;
use crate::probe::ring::RingEngine;
use crate::probe::uring::{UringEngine, self_test};
use crate::sim::zones::Zones as SimZones;
use crate::sim::{self, SimEngine};

pub use crate::device::{Fresh, Recorded, ResolveError};

/// What carries out I/O on real drives, in fio's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum EngineChoice {
    /// A ring driven directly.
    #[default]
    #[value(name = "io_uring")]
    IoUring,
    /// The same kernel interface through the tokio-uring crate.
    #[value(name = "tokio-uring")]
    TokioUring,
    /// Threads with pread and pwrite.
    #[value(name = "psync")]
    Psync,
}

/// Why real drives cannot be probed on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineProblem {
    /// What the kernel said.
    pub error: String,
    /// What to do.
    pub remedy: String,
}

/// Where drives come from.
#[derive(Debug)]
pub struct Backend {
    root: SysRoot,
    scanner: Scanner,
    with_sim: bool,
    sim_speed: Option<f64>,
    own_files: Vec<PathBuf>,
    engine: EngineChoice,
    engine_problem: Option<EngineProblem>,
    /// What the drives themselves answered; none for a recorded host, whose drives are not here.
    answers: Option<Cache>,
    /// The zones of the simulated drives that have some. They stay as a run leaves them.
    sim_zones: HashMap<&'static str, SimZones>,
}

/// A claimed target and the engine that works on it. Dropping it releases the target.
pub struct Claim(Box<dyn Engine>);

impl Claim {
    /// The engine.
    pub fn engine(&mut self) -> &mut dyn Engine {
        self.0.as_mut()
    }
}

impl Backend {
    /// The drives below `root`, with the simulated fleet if `with_sim`. `sim_speed` is how many
    /// simulated seconds pass in a real one (`None`: as fast as possible). `own_files` are never a target.
    #[must_use]
    pub fn new(
        root: SysRoot,
        with_sim: bool,
        sim_speed: Option<f64>,
        engine: EngineChoice,
        own_files: Vec<PathBuf>,
    ) -> Self {
        let refused = match engine {
            EngineChoice::IoUring | EngineChoice::TokioUring => self_test().err(),
            EngineChoice::Psync => None,
        };
        let engine_problem = refused.map(|error| engine_problem(&error));
        let answers = (!root.is_recorded()).then(Cache::default);
        let scanner = Scanner::new(root.clone());
        let zoned = sim::preset::all()
            .into_iter()
            .filter_map(|preset| preset.zones.map(|zones| (preset.name, SimZones::new(zones, preset.capacity()))));
        let sim_zones = zoned.collect();
        Self { root, scanner, with_sim, sim_speed, own_files, engine, engine_problem, answers, sim_zones }
    }

    /// Why real drives cannot be probed here, if so.
    #[must_use]
    pub fn engine_problem(&self) -> Option<&EngineProblem> {
        self.engine_problem.as_ref()
    }

    /// All drives now, `fresh` ones read in full, with what they answered since they were first seen. Blocking, but waits
    /// for no drive: one that is new is asked beside it, and its answers are in the next inventory.
    #[must_use]
    pub fn inventory(&self, fresh: &Fresh) -> Inventory {
        let mut inventory = self.scanner.scan(fresh);
        if let Some(answers) = &self.answers {
            answers.merge_into(&self.root, &mut inventory);
        }
        if self.with_sim {
            inventory.drives.extend(sim::fleet());
        }
        inventory
    }

    /// Has every drive asked, and waits until each has answered or is past its deadline: for a program that takes one
    /// inventory and ends.
    pub fn settle(&self) {
        if let Some(answers) = &self.answers {
            answers.merge_into(&self.root, &mut device::scan(&self.root));
            answers.settle();
        }
    }

    /// A page of a drive with its fields beside its bytes, as last read. Asks nobody.
    #[must_use]
    pub fn page(&self, drive: &Drive, page: PageId) -> Option<PageReport> {
        fields::report(&drive.pages, page)
    }

    /// Whether the drive has zones that a host can see, by what it declares.
    #[must_use]
    pub fn is_zoned(&self, drive: &Drive) -> bool {
        device::zones::is_zoned(drive)
    }

    /// The zones of a drive, asked for now. Blocking, for as long as the drive takes.
    ///
    /// # Errors
    /// Why there is no report.
    pub fn zones(&self, drive: &Drive) -> Result<ZoneReport, NoZones> {
        match self.sim_zones.get(drive.name.as_str()).filter(|_| drive.simulated) {
            Some(zones) => Ok(device::zones::report_of("simulated", drive, zones.table().report())),
            None => device::zones::report(&self.root, drive),
        }
    }

    /// The zones of a drive for a run that writes at their pointers. Blocking, as [`zones`](Self::zones).
    ///
    /// # Errors
    /// As [`zones`](Self::zones), and when the kernel offers no zone operations on it.
    pub fn writable_zones(&self, drive: &Drive) -> Result<ZoneReport, NoZones> {
        if device::zones::is_zoned(drive) && !device::zones::kernel_has_it(drive) {
            return Err(NoZones::NotZoned(format!(
                "{} has zones, but this kernel has it as an ordinary disk and offers no zone operations on it, as Linux \
                 does with host-aware disks since 6.8: an older kernel does",
                drive.title()
            )));
        }
        self.zones(drive)
    }

    /// An ear for drives that come and go. `None` when nothing can be heard: a recorded host, or a container that is not
    /// allowed to listen.
    #[must_use]
    pub fn hotplug(&self) -> Option<HotplugMonitor> {
        if self.root.is_recorded() {
            return None;
        }
        HotplugMonitor::open()
            .inspect_err(|error| {
                tracing::info!(%error, "the kernel's events cannot be heard: drives are found by looking again");
            })
            .ok()
    }

    /// The drive or file that `text` names: an id, a kernel name, a device path, a file's path.
    ///
    /// # Errors
    /// When there is none.
    pub fn resolve(&self, inventory: &Inventory, text: &str) -> Result<Drive, ResolveError> {
        let simulated = inventory.drives.iter().filter(|drive| drive.simulated);
        let named =
            |drive: &&Drive| drive.id.to_string() == text || drive.name == text || drive.path.to_string_lossy() == text;
        match simulated.into_iter().find(named) {
            Some(drive) => Ok(drive.clone()),
            None => device::resolve(&self.root, inventory, text).map(|target| target.drive),
        }
    }

    /// Records the drive that `text` names into the directory `output` (see [`device::record`](mod@device::record)).
    ///
    /// # Errors
    /// When there is no such drive, or the directory cannot be written.
    pub fn record(&self, text: &str, output: &Path, keep_serials: bool) -> io::Result<Recorded> {
        let inventory = self.inventory(&Fresh::All);
        let drive = self.resolve(&inventory, text).map_err(io::Error::other)?;
        if drive.simulated || drive.kind == DeviceKind::File {
            return Err(io::Error::other(format!("{text} is no block device")));
        }
        device::record(&self.root, &drive.name, output, keep_serials)
    }

    /// Every reason against a run of `phases` on `drive`; none if it may go. Opens the device, changes nothing.
    #[must_use]
    pub fn check(&self, drive: &Drive, phases: &[Phase]) -> Vec<RefusedReason> {
        let access = access_of(phases);
        let writes = access.writes();
        if drive.simulated {
            let plain = access == Access::Write && device::takes_only_at_pointers(drive);
            return if plain { vec![RefusedReason::SequentialOnly] } else { Vec::new() };
        }
        let mut reasons = device::check_for(&self.root, drive, access, &self.own_files).err().unwrap_or_default();
        if let Some(EngineProblem { error, remedy }) = &self.engine_problem {
            reasons.push(RefusedReason::NoIoUring { error: error.clone(), remedy: remedy.clone() });
        }
        if writes && reasons.is_empty() && drive.confirm_phrase().is_none() {
            let note = "it has neither a serial number nor a world wide name to confirm it by".to_owned();
            reasons.push(RefusedReason::IdentityNotUnique { note });
        }
        reasons
    }

    /// What a run that writes `size` bytes from `offset` would destroy.
    #[must_use]
    pub fn losses(&self, drive: &Drive, offset: Bytes, size: Bytes) -> Vec<Content> {
        if drive.simulated {
            return Vec::new();
        }
        device::losses(&self.root, drive, &(offset.0..(offset + size).0))
    }

    /// Claims the target now: everything is checked again, then it is opened exclusively.
    ///
    /// # Errors
    /// Every reason against it.
    pub fn claim(&self, drive: &Drive, plan: &Plan) -> Result<Claim, Vec<RefusedReason>> {
        if drive.simulated {
            return match sim::preset::named(&drive.name) {
                Some(preset) => {
                    let engine = SimEngine::new(&preset, plan.randseed, self.sim_speed);
                    let zones = self.sim_zones.get(preset.name).map(SimZones::shared);
                    Ok(Claim(match zones {
                        Some(zones) => Box::new(engine.with_zones(zones)),
                        None => Box::new(engine),
                    }))
                }
                None => Err(vec![RefusedReason::Changed { what: "it is no longer in the simulated fleet".into() }]),
            };
        }
        let unclaimed = device::check_for(&self.root, drive, access_of(&plan.phases), &self.own_files)?;
        let claimed = unclaimed.claim()?;
        Ok(Claim(match self.engine {
            EngineChoice::IoUring => Box::new(RingEngine::new(claimed, plan.randseed)),
            EngineChoice::TokioUring => Box::new(UringEngine::new(claimed, plan.randseed)),
            EngineChoice::Psync => Box::new(PsyncEngine::new(claimed, plan.randseed)),
        }))
    }
}

/// What a run of these phases does to its target. A single plain write makes it one that writes anywhere.
fn access_of(phases: &[Phase]) -> Access {
    let at_pointers = |phase: &Phase| matches!(&phase.action, Action::Io(workload) if workload.zbd.is_some());
    let destroying = || phases.iter().filter(|phase| phase.destroys());
    if destroying().next().is_none() {
        Access::Read
    } else if destroying().all(at_pointers) {
        Access::WriteAtPointers
    } else {
        Access::Write
    }
}

/// What the kernel's refusal means and what to do about it.
fn engine_problem(error: &std::io::Error) -> EngineProblem {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    let remedy = match (error.raw_os_error(), disabled.trim()) {
        (_, "2") => "sysctl kernel.io_uring_disabled=0 (it is 2: nobody may use io_uring on this host)",
        (_, "1") => {
            "sysctl kernel.io_uring_disabled=0, or run the service as root or in the group of \
             kernel.io_uring_group (it is 1: only those may use io_uring)"
        }
        (Some(code), _) if code == nix::errno::Errno::ENOSYS as i32 => {
            "use a kernel of 5.6 or newer, built with CONFIG_IO_URING"
        }
        (Some(code), _) if code == nix::errno::Errno::EPERM as i32 => {
            "a seccomp profile forbids io_uring_setup, as container runtimes do by default: allow io_uring_setup, \
             io_uring_enter and io_uring_register in it"
        }
        (Some(code), _) if code == nix::errno::Errno::ENOMEM as i32 => {
            "raise the limit of locked memory (ulimit -l, LimitMEMLOCK=)"
        }
        _ => "look at the kernel's log for the reason",
    };
    let remedy = format!("{remedy}; or start the service with --engine psync, which needs no io_uring");
    EngineProblem { error: error.to_string(), remedy }
}
