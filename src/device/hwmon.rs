//! A drive's temperature sensor: drivetemp for disks (Linux 5.6), the nvme driver's own for NVMe (5.5).

use super::facts::Facts;
use super::sysfs::SysRoot;
use crate::model::drive::{Drive, Reading, Transport, Unknown};

/// What a sensor says, and which one it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// The file.
    pub source: String,
    /// Degrees Celsius.
    pub celsius: Reading<f64>,
}

/// Reads the temperature of a whole block device. The kernel asks the drive for it: this may block.
#[must_use]
pub fn read(root: &SysRoot, name: &str) -> Sensor {
    let device = format!("/sys/block/{name}/device");
    let Some(sensor) = sensor(root, &device) else {
        return Sensor { source: format!("{device}/hwmon"), celsius: Reading::Unknown(Unknown::Absent) };
    };
    let source = format!("{sensor}/temp1_input");
    let celsius = root.text(&source).and_then(|text| degrees(&text));
    Sensor { source, celsius }
}

/// Whether a whole block device has a sensor. Asks no drive.
#[must_use]
pub fn is_there(root: &SysRoot, name: &str) -> bool {
    sensor(root, &format!("/sys/block/{name}/device")).is_some()
}

/// Millidegrees as degrees. What no drive survives is no temperature.
fn degrees(text: &str) -> Reading<f64> {
    match text.parse::<i32>() {
        Ok(milli @ -60_000..=150_000) => Reading::Known(f64::from(milli) / 1000.0),
        _ => Reading::Unknown(Unknown::NotTrusted(format!("`{text}` is no temperature of a drive"))),
    }
}

/// Where the sensor is: below the SCSI device, the NVMe controller, or the PCI device under that.
fn sensor(root: &SysRoot, device: &str) -> Option<String> {
    let mut places = vec![format!("{device}/hwmon"), device.to_owned(), format!("{device}/device/hwmon")];
    // With native multipath `device` is the subsystem, which has its controllers below it.
    let controllers = root.list(device).into_iter().filter(|entry| entry.starts_with("nvme"));
    places.extend(controllers.map(|controller| format!("{device}/{controller}")));
    places.into_iter().find_map(|place| {
        let sensors = root.list(&place).into_iter().filter(|entry| entry.starts_with("hwmon") && *entry != "hwmon");
        sensors.map(|sensor| format!("{place}/{sensor}")).find(|sensor| {
            matches!(root.text(&format!("{sensor}/name")).known().map(String::as_str), Some("drivetemp" | "nvme"))
        })
    })
}

/// Adds what a sensor says to a drive.
pub fn note(sensor: &Sensor, drive: &mut Drive) {
    let mut facts = Facts::default();
    let remedy =
        (drive.transport == Transport::Sata).then_some("load the kernel module drivetemp (modprobe drivetemp)");
    facts.add("temperature", sensor.source.as_str(), &sensor.celsius, |celsius| format!("{celsius} °C"), remedy);
    drive.temperature_celsius = sensor.celsius.known().copied();
    drive.facts.retain(|fact| fact.name != "temperature");
    drive.facts.extend(facts.into_list());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millidegrees_become_degrees_and_nonsense_none() {
        assert_eq!(degrees("34850"), Reading::Known(34.85));
        assert_eq!(degrees("-5000"), Reading::Known(-5.0));
        for nonsense in ["-273000", "65535000", "", "hot", "34.8"] {
            assert!(degrees(nonsense).known().is_none(), "{nonsense:?}");
        }
    }

    #[test]
    fn the_sensor_of_a_disk_and_of_a_namespace_are_found_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let root = SysRoot::recorded(dir.path());
        let file = |path: &str, text: &str| {
            let at = root.at(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        };
        file("/sys/block/sda/device/hwmon/hwmon3/name", "drivetemp\n");
        file("/sys/block/sda/device/hwmon/hwmon3/temp1_input", "38000\n");
        file("/sys/block/nvme0n1/device/hwmon1/name", "nvme\n");
        file("/sys/block/nvme0n1/device/hwmon1/temp1_input", "49850\n");
        file("/sys/block/nvme1n1/device/nvme1/hwmon4/name", "nvme\n");
        file("/sys/block/nvme1n1/device/nvme1/hwmon4/temp1_input", "20000\n");
        file("/sys/block/sdb/device/hwmon/hwmon5/name", "acpitz\n");
        file("/sys/block/sdb/device/hwmon/hwmon5/temp1_input", "99000\n");
        assert_eq!(read(&root, "sda").celsius, Reading::Known(38.0));
        assert_eq!(read(&root, "nvme0n1").celsius, Reading::Known(49.85));
        assert_eq!(read(&root, "nvme1n1").celsius, Reading::Known(20.0));
        assert_eq!(read(&root, "sdb").celsius, Reading::Unknown(Unknown::Absent));
    }
}
