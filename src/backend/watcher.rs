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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sensor_is_read_for_the_run_and_for_the_intervals() {
        let dir = tempfile::tempdir().unwrap();
        let root = SysRoot::recorded(dir.path());
        let file = |path: &str, text: &str| {
            let at = root.at(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        };
        file("/sys/block/vda/size", "2048\n");
        let thermometer = Thermometer::default();
        let drive = crate::device::scan(&root).drives.remove(0);
        assert_eq!(Watcher::new(&root, &drive, thermometer.clone()).look_at_temperature(), None, "it has no sensor");
        file("/sys/block/vda/device/hwmon/hwmon3/name", "drivetemp\n");
        file("/sys/block/vda/device/hwmon/hwmon3/temp1_input", "38500\n");
        let mut watcher = Watcher::new(&root, &drive, thermometer.clone());
        assert_eq!(watcher.look_at_temperature(), Some(Remark::Temperature(38.5)));
        assert_eq!(thermometer.latest(), Some(38.5));
        // The drive hangs or is gone: what was read is no longer what is.
        file("/sys/block/vda/device/hwmon/hwmon3/temp1_input", "");
        assert_eq!((watcher.look_at_temperature(), thermometer.latest()), (None, None));
        let Remark::KernelLog(lines, note) = watcher.log().conclude() else { panic!("no log") };
        assert!(lines.is_empty() && note.is_some_and(|why| why.contains("/dev/kmsg")));
    }
}
