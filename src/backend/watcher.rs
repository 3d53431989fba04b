//! Who looks after a real drive beside a run, on a thread of its own: reading a temperature sends the drive a command, which
//! it may never answer.

use super::witness::Thermometer;
use crate::device::kernel_log::{KernelLog, Names};
use crate::device::{SysRoot, hwmon};
use crate::model::drive::{DeviceKind, Drive};
use crate::model::surroundings::KernelLine;

/// What a look has shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// The temperature, degrees Celsius.
    Temperature(f64),
    /// What the kernel has said of the drive since the run began, and what is missing of it.
    KernelLog(Vec<KernelLine>, Option<String>),
}

/// Looks at temperature and kernel log.
#[derive(Debug)]
pub struct Watcher {
    root: SysRoot,
    /// The device with a sensor.
    sensor: Option<String>,
    thermometer: Thermometer,
    names: Names,
    log: KernelLog,
}

impl Watcher {
    pub(super) fn new(root: &SysRoot, drive: &Drive, thermometer: Thermometer) -> Self {
        let names = Names::of(root, drive);
        let has_sensor = drive.kind != DeviceKind::File && hwmon::is_there(root, &drive.name);
        Self {
            root: root.clone(),
            sensor: has_sensor.then(|| drive.name.clone()),
            thermometer,
            log: KernelLog::from_now(root, names.clone()),
            names,
        }
    }

    /// A second ear for the log, which waits for nobody.
    #[must_use]
    pub fn log(&self) -> LogWatcher {
        LogWatcher(KernelLog::from_now(&self.root, self.names.clone()))
    }

    /// Reads the log, and says so if there is anything new in it. Never waits.
    pub fn look_at_log(&mut self) -> Option<Remark> {
        self.log.read().then(|| {
            let (lines, note) = self.log.told();
            Remark::KernelLog(lines, note)
        })
    }

    /// Reads the temperature. Waits for the drive, perhaps for ever.
    pub fn look_at_temperature(&mut self) -> Option<Remark> {
        let celsius = hwmon::read(&self.root, self.sensor.as_deref()?).celsius.into_known();
        self.thermometer.note(celsius);
        celsius.map(Remark::Temperature)
    }
}

/// The kernel log alone.
#[derive(Debug)]
pub struct LogWatcher(KernelLog);

impl LogWatcher {
    /// Everything that the kernel has said of the drive since the run began, or why that is not known.
    pub fn conclude(&mut self) -> Remark {
        self.0.read();
        let (lines, note) = self.0.told();
        Remark::KernelLog(lines, note)
    }
}
