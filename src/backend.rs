//! The only fork between drives that exist and drives that do not.

mod settings;
mod watcher;
mod witness;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::device::block_stat::BlockStat;
use crate::device::identity::fields;
use crate::device::interrogate::Cache;
use crate::device::tunables::{self, Held};
use crate::device::{self, Access, HotplugMonitor, Scanner, SysRoot, connection};
use crate::model::conditions::{Change, Condition, Conditions};
use crate::model::drive::{Content, DeviceKind, Drive, Inventory};
use crate::model::page::{PageId, PageReport};
use crate::model::parameters::FieldError;
use crate::model::plan::{Action, Phase, Plan};
use crate::model::run::RefusedReason;
use crate::model::split::TransferLimits;
use crate::model::standing::Standing;
use crate::model::tunable::{Tunable, Tunables};
use crate::model::units::Bytes;
use crate::model::zone::{NoZones, ZoneReport};
use crate::probe::engine::Engine;
use crate::probe::psync::PsyncEngine;
use crate::probe::ring::{RingEngine, features};
use crate::probe::run_delay::Helpers;
use crate::probe::uring::{UringEngine, self_test};
use crate::probe::witness::Witness;
use crate::sim::zones::Zones as SimZones;
use crate::sim::{self, CacheSwitch, Counts, SimEngine};
use witness::{HostWitness, Thermometer};

pub use crate::device::{Fresh, Recorded, ResolveError};
pub use settings::Settings;
pub use watcher::{LogWatcher, Remark, Watcher};

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

/// Where no file is a target unless its directory was allowed by name: what a host needs to start and to run.
pub const SYSTEM_DIRECTORIES: [&str; 12] =
    ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"];

/// Where drives come from.
#[derive(Debug)]
pub struct Backend {
    root: SysRoot,
    scanner: Scanner,
    with_sim: bool,
    sim_speed: Option<f64>,
    own_files: Vec<PathBuf>,
    /// Where files may be targets; empty: anywhere but in the system's own directories.
    file_dirs: Vec<PathBuf>,
    engine: EngineChoice,
    engine_problem: Option<EngineProblem>,
    /// What the drives themselves answered; none for a recorded host, whose drives are not here.
    answers: Option<Cache>,
    /// The zones of the simulated drives that have some. They stay as a run leaves them.
    sim_zones: HashMap<&'static str, SimZones>,
}

/// A claimed target, the engine that works on it, and who watches it. Dropping it releases the target.
pub struct Claim {
    engine: Box<dyn Engine>,
    watch: Watch,
    control: SettingsControl,
}

/// Where the settings of a claimed target are.
enum SettingsControl {
    Host(SysRoot, String),
    Simulated(Option<CacheSwitch>),
    None,
}

/// Of what a witness is made, once it is known on which thread.
enum Watch {
    Host(Option<BlockStat>, Helpers, Thermometer),
    Simulated(Counts),
}

impl Claim {
    /// The engine.
    pub fn engine(&mut self) -> &mut dyn Engine {
        self.engine.as_mut()
    }

    /// The changes of settings that a plan asks for, each with the value as found. Writes nothing.
    #[must_use]
    pub fn plan_changes(&self, plan: &Plan) -> Vec<Change> {
        let wanted = plan.all_tunables();
        match &self.control {
            SettingsControl::Host(root, device) => settings::of_host(root, device, &wanted),
            SettingsControl::Simulated(Some(switch)) => settings::of_simulated(switch, &wanted),
            SettingsControl::Simulated(None) | SettingsControl::None => Vec::new(),
        }
    }

    /// Takes hold of settings whose found values are stored. Sets nothing yet; what is set is put back when it is dropped.
    #[must_use]
    pub fn hold(&self, changes: Vec<Change>) -> Option<Settings> {
        match &self.control {
            _ if changes.is_empty() => None,
            SettingsControl::Host(root, _) => Some(Settings::Host(Held::new(root.clone(), changes))),
            SettingsControl::Simulated(switch) => Some(Settings::Simulated(switch.clone()?, changes)),
            SettingsControl::None => None,
        }
    }

    /// Where the temperature as last read stands, for the one who reads it.
    #[must_use]
    pub fn thermometer(&self) -> Thermometer {
        match &self.watch {
            Watch::Host(_, _, thermometer) => thermometer.clone(),
            Watch::Simulated(_) => Thermometer::default(),
        }
    }

    /// Who sees what the engine cannot. To be asked for once, on the thread that the engine will run on.
    pub fn witness(&mut self) -> Box<dyn Witness> {
        match &mut self.watch {
            Watch::Host(stat, helpers, thermometer) => {
                Box::new(HostWitness::new(stat.take(), helpers.clone(), thermometer.clone()))
            }
            Watch::Simulated(counts) => Box::new(counts.clone()),
        }
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
        let file_dirs = Vec::new();
        Self { root, scanner, with_sim, sim_speed, own_files, file_dirs, engine, engine_problem, answers, sim_zones }
    }

    /// Files may be targets only in these directories, all links followed. None: anywhere but in
    /// [`SYSTEM_DIRECTORIES`].
    #[must_use]
    pub fn with_file_dirs(mut self, file_dirs: Vec<PathBuf>) -> Self {
        self.file_dirs = file_dirs;
        self
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
        reasons.extend(self.against_its_place(drive));
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

    /// The conditions that a run on `drive` would have now. Touches no drive.
    #[must_use]
    pub fn conditions(&self, drive: &Drive, now_ms: i64) -> Conditions {
        if !drive.simulated {
            let mut conditions = device::conditions::look(&self.root, drive, now_ms);
            conditions.found.push(ring_features());
            return conditions;
        }
        let largest = sim::preset::named(&drive.name).map(|preset| preset.interface.max_transfer / 1024);
        let limits = TransferLimits {
            max_sectors_kb: largest,
            max_hw_sectors_kb: largest,
            transport: Some(drive.transport),
            ..TransferLimits::default()
        };
        device::conditions::look_at_host(&self.root, limits, now_ms)
    }

    /// The settings of `drive` that a run may change.
    #[must_use]
    pub fn tunables(&self, drive: &Drive) -> Vec<Tunable> {
        if !drive.simulated {
            return tunables::available(&self.root, drive);
        }
        let has_cache = sim::preset::named(&drive.name).is_some_and(|preset| preset.has_cache());
        if has_cache { vec![Tunable::CacheType] } else { Vec::new() }
    }

    /// Whether `drive` has these settings and takes these values. Writes nothing.
    ///
    /// # Errors
    /// Every one that it does not have or would not take.
    pub fn check_tunables(&self, drive: &Drive, wanted: &Tunables) -> Result<(), Vec<FieldError>> {
        if !drive.simulated {
            return tunables::check(&self.root, drive, wanted);
        }
        let available = self.tunables(drive);
        let lacking = wanted.keys().filter(|tunable| !available.contains(tunable));
        let errors: Vec<_> = lacking
            .map(|tunable| {
                FieldError::new(format!("tunables.{}", tunable.as_str()), "this simulated drive has no such setting")
            })
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Puts back what an earlier service has left changed on `drive`, as far as it still is.
    pub fn restore(&self, drive: &Drive, conditions: &mut Conditions) {
        if drive.simulated {
            for change in &mut conditions.changed {
                change.restored = true;
            }
            return;
        }
        let now = device::conditions::appearance(&self.root, &drive.name);
        tunables::restore(&self.root, &drive.name, &conditions.appearance, &now, &mut conditions.changed);
    }

    /// Who looks after a real drive beside a run: its temperature and what the kernel says of it. `None` for a drive that
    /// does not exist.
    #[must_use]
    pub fn watcher(&self, drive: &Drive, claim: &Claim) -> Option<Watcher> {
        (!drive.simulated).then(|| Watcher::new(&self.root, drive, claim.thermometer()))
    }

    /// A file in a directory where none may be a target.
    fn against_its_place(&self, drive: &Drive) -> Option<RefusedReason> {
        if drive.kind != DeviceKind::File {
            return None;
        }
        // Links may have changed since the path was resolved.
        let path = std::fs::canonicalize(&drive.path).unwrap_or_else(|_| drive.path.clone());
        let allowed = if self.file_dirs.is_empty() {
            !SYSTEM_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
        } else {
            self.file_dirs.iter().any(|directory| path.starts_with(directory))
        };
        (!allowed).then(|| RefusedReason::FileNotAllowed { path, allowed: self.file_dirs.clone() })
    }

    /// The adapter that the drive hangs on, by its address; `None` for what hangs on none.
    #[must_use]
    pub fn adapter(&self, drive: &Drive) -> Option<String> {
        if drive.simulated { None } else { connection::adapter(&self.root, drive) }
    }

    /// How long the kernel lets a command take, seconds.
    #[must_use]
    pub fn command_timeout_s(&self, drive: &Drive) -> Option<u64> {
        if drive.simulated { None } else { connection::command_timeout_s(&self.root, drive) }
    }

    /// Of a target without a name of its own: which appearance of it this is.
    #[must_use]
    pub fn appearance(&self, drive: &Drive) -> Option<String> {
        if drive.simulated { None } else { connection::appearance(&self.root, drive) }
    }

    /// What shows that the drive is gone, if it is. Asks the kernel alone.
    #[must_use]
    pub fn gone(&self, drive: &Drive) -> Option<String> {
        if drive.simulated { None } else { connection::gone(&self.root, drive) }
    }

    /// Every reason against going on with an interrupted run: those against any run, and another thing under the same
    /// name, and something on it that was not there.
    #[must_use]
    pub fn check_to_go_on(&self, drive: &Drive, plan: &Plan, appearance: Option<&str>) -> Vec<RefusedReason> {
        let mut reasons = self.check(drive, &plan.phases);
        if reasons.is_empty() {
            reasons.extend(self.changed_since(drive, plan, appearance, true));
        }
        reasons
    }

    /// Whether this is what the run was confirmed for. A run may have waited for days, and somebody may have put
    /// something on the drive meanwhile that its user never saw named.
    fn changed_since(
        &self,
        drive: &Drive,
        plan: &Plan,
        appearance: Option<&str>,
        begun: bool,
    ) -> Option<RefusedReason> {
        let now = self.appearance(drive);
        if appearance.is_some() && now.as_deref() != appearance {
            let what = format!(
                "there is something else at this place: it is {}, and was {}",
                now.as_deref().unwrap_or("unknown"),
                appearance.unwrap_or_default()
            );
            return Some(RefusedReason::Changed { what });
        }
        if !plan.destructive {
            return None;
        }
        let named = |content: &Content| plan.losses.iter().any(|loss| loss == content);
        // What nobody recognises is what the run itself has written.
        let ours = |content: &Content| begun && content.what == device::UNRECOGNISED;
        let found = self.losses(drive, plan.offset_bytes, plan.size_bytes);
        let new = found.into_iter().find(|content| !named(content) && !ours(content))?;
        let what = format!("it now holds {}, which was not there when the run was confirmed", new.what);
        Some(RefusedReason::Changed { what })
    }

    /// Claims the target now: everything is checked again, then it is opened exclusively. `appearance` is which one was
    /// meant, of a target without a name of its own; `standing` is where the run stood if it goes on.
    ///
    /// # Errors
    /// Every reason against it.
    pub fn claim(
        &self,
        drive: &Drive,
        plan: &Plan,
        appearance: Option<&str>,
        standing: Option<&Standing>,
    ) -> Result<Claim, Vec<RefusedReason>> {
        if drive.simulated {
            let Some(preset) = sim::preset::named(&drive.name) else {
                return Err(vec![RefusedReason::Changed { what: "it is no longer in the simulated fleet".into() }]);
            };
            let mut engine = SimEngine::new(&preset, plan.randseed, None);
            if let Some(zones) = self.sim_zones.get(preset.name) {
                engine = engine.with_zones(zones.shared());
            }
            if let Some(standing) = standing {
                sim::relive(&mut engine, plan, standing);
            }
            let engine = engine.paced(self.sim_speed);
            let watch = Watch::Simulated(engine.counts());
            let control = SettingsControl::Simulated(engine.cache());
            return Ok(Claim { engine: Box::new(engine), watch, control });
        }
        if let Some(reason) = self.against_its_place(drive) {
            return Err(vec![reason]);
        }
        let unclaimed = device::check_for(&self.root, drive, access_of(&plan.phases), &self.own_files)?;
        if let Some(reason) = self.changed_since(drive, plan, appearance, standing.is_some()) {
            return Err(vec![reason]);
        }
        let claimed = unclaimed.claim()?;
        let control = match drive.kind {
            DeviceKind::File => SettingsControl::None,
            _ => SettingsControl::Host(self.root.clone(), claimed.drive().name.clone()),
        };
        let (stat, _) = BlockStat::open(&self.root, claimed.drive());
        let (engine, helpers): (Box<dyn Engine>, _) = match self.engine {
            EngineChoice::IoUring => (Box::new(RingEngine::new(claimed, plan.randseed)), Helpers::OfRings),
            EngineChoice::TokioUring => (Box::new(UringEngine::new(claimed, plan.randseed)), Helpers::OfRings),
            EngineChoice::Psync => {
                let engine = PsyncEngine::new(claimed, plan.randseed);
                let helpers = Helpers::Enrolled(engine.workers());
                (Box::new(engine), helpers)
            }
        };
        Ok(Claim { engine, watch: Watch::Host(stat, helpers, Thermometer::default()), control })
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

/// What this kernel's io_uring can do.
fn ring_features() -> Condition {
    let (value, unknown) = match features() {
        Ok(features) => (Some(features.join(" ")), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Condition { name: "io_uring/features".to_owned(), value, unknown, source: "io_uring_setup(2)".to_owned() }
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
