//! When a run may go, and what it may use up: what is asked for beside its profile's parameters.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::parameters::{FieldError, Kind, Parameter, Reader};
use super::run::RunId;
use super::units::Bytes;

const PRIORITY: Parameter = Parameter {
    name: "priority",
    alias: None,
    kind: Kind::Integer { min: 0, max: 100 },
    default: "50",
    help: "Of runs that wait for their turn the one with the higher number goes first.",
};
const QUEUE: Parameter = Parameter {
    name: "queue",
    alias: None,
    kind: Kind::Flag,
    default: "false",
    help: "Wait until the run that has the drive is over, instead of being refused.",
};
const START_AT: Parameter = Parameter {
    name: "start_at",
    alias: None,
    kind: Kind::Text { max: 64 },
    default: "at once",
    help: "Not before this time, such as 2027-01-31T22:00:00+01:00.",
};
const WINDOW: Parameter = Parameter {
    name: "window",
    alias: None,
    kind: Kind::Text { max: 16 },
    default: "all day",
    help: "Only within these hours of each day by the host's clock, such as 22:00-06:00; outside them it is paused.",
};
const AFTER: Parameter = Parameter {
    name: "after",
    alias: None,
    kind: Kind::Text { max: 4_000 },
    default: "none",
    help: "Not before these runs are over, however they end: ids with commas between.",
};
const MAX_ERRORS: Parameter = Parameter {
    name: "max_errors",
    alias: None,
    kind: Kind::Integer { min: 0, max: 1_000_000_000 },
    default: "0",
    help: "Count so many failed I/Os and go on; the next one ends the run. 0 stops at the first.",
};
const MAX_WRITTEN_BYTES: Parameter = Parameter {
    name: "max_written_bytes",
    alias: None,
    kind: Kind::Bytes { min: 1, max: u64::MAX },
    default: "what the plan needs",
    help: "Write at most so much in all, to spare a drive's endurance; the run ends there.",
};
const MAX_TEMPERATURE_CELSIUS: Parameter = Parameter {
    name: "max_temperature_celsius",
    alias: None,
    kind: Kind::Integer { min: 20, max: 120 },
    default: "60 for a disk, 80 for flash",
    help: "Pause when the drive is this hot, and go on when it has cooled by 5 degrees.",
};
const RESUME_AFTER_RESTART: Parameter = Parameter {
    name: "resume_after_restart",
    alias: None,
    kind: Kind::Flag,
    default: "false",
    help: "Go on by itself when the service starts again after a stop, a crash or a reboot, if it is still the same drive.",
};

/// What the drive's own data sheet allows in operation: 60 °C for the disks of thread 3 and their like (Exos, Ultrastar).
pub const DISK_LIMIT_CELSIUS: u16 = 60;
/// NVMe drives give 80 to 85 °C as their own warning temperature (WCTEMP of Identify Controller).
pub const FLASH_LIMIT_CELSIUS: u16 = 80;
/// A drive that was paused for its heat goes on this much below the limit, so that it does not flap.
pub const COOLED_BY_CELSIUS: f64 = 5.0;

/// The options of a run. Absent fields have defaults, so that runs stored before still read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// 0..=100; of runs that wait the higher goes first.
    pub priority: u8,
    /// Wait for a drive that another run has.
    pub queue: bool,
    /// Not before this time, milliseconds since 1970 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_at_ms: Option<i64>,
    /// Only within these hours of each day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<DailyWindow>,
    /// Not before these are over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<RunId>,
    /// Failed I/Os that are put up with.
    pub max_errors: u64,
    /// The most bytes it may write in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_written_bytes: Option<Bytes>,
    /// Paused at this temperature, degrees Celsius; `null`: by the kind of drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_temperature_celsius: Option<u16>,
    /// Goes on by itself after a restart of the service.
    pub resume_after_restart: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            priority: 50,
            queue: false,
            start_at_ms: None,
            window: None,
            after: Vec::new(),
            max_errors: 0,
            max_written_bytes: None,
            max_temperature_celsius: None,
            resume_after_restart: false,
        }
    }
}

impl RunOptions {
    /// What may be given, with ranges and defaults.
    pub const PARAMETERS: [Parameter; 9] = [
        PRIORITY,
        QUEUE,
        START_AT,
        WINDOW,
        AFTER,
        MAX_ERRORS,
        MAX_WRITTEN_BYTES,
        MAX_TEMPERATURE_CELSIUS,
        RESUME_AFTER_RESTART,
    ];

    /// Reads the options of a request.
    ///
    /// # Errors
    /// Every field that is unknown, out of range or in the wrong form, named `options.…`.
    pub fn read(given: &Map<String, Value>) -> Result<Self, Vec<FieldError>> {
        let mut reader = Reader::of("options", given, &Self::PARAMETERS);
        let default = Self::default();
        let start_at = reader.parsed(&START_AT, |text| {
            text.parse::<Timestamp>().map_err(|error| format!("is no time such as 2027-01-31T22:00:00+01:00: {error}"))
        });
        let options = Self {
            priority: reader
                .integer(&PRIORITY)
                .and_then(|number| u8::try_from(number).ok())
                .unwrap_or(default.priority),
            queue: reader.flag(&QUEUE).unwrap_or(default.queue),
            start_at_ms: start_at.map(Timestamp::as_millisecond),
            window: reader.parsed(&WINDOW, str::parse),
            after: reader.parsed(&AFTER, ids).unwrap_or_default(),
            max_errors: reader.integer(&MAX_ERRORS).unwrap_or(default.max_errors),
            max_written_bytes: reader.bytes(&MAX_WRITTEN_BYTES),
            max_temperature_celsius: reader
                .integer(&MAX_TEMPERATURE_CELSIUS)
                .and_then(|number| u16::try_from(number).ok()),
            resume_after_restart: reader.flag(&RESUME_AFTER_RESTART).unwrap_or(default.resume_after_restart),
        };
        reader.finish().map(|()| options)
    }

    /// Whether it may stand in the queue while another run has its drive.
    #[must_use]
    pub fn waits_for_its_drive(&self) -> bool {
        self.queue || !self.after.is_empty()
    }

    /// Degrees Celsius at which a run is paused. `rotational` as the kernel has it; unknown counts as a disk.
    #[must_use]
    pub fn limit_celsius(&self, rotational: Option<bool>) -> f64 {
        let by_kind = if rotational == Some(false) { FLASH_LIMIT_CELSIUS } else { DISK_LIMIT_CELSIUS };
        f64::from(self.max_temperature_celsius.unwrap_or(by_kind))
    }
}

fn ids(text: &str) -> Result<Vec<RunId>, String> {
    let id = |part: &str| {
        Uuid::parse_str(part).map(RunId).map_err(|_| format!("holds {part:?}, must be ids of runs with commas between"))
    };
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(id).collect()
}

/// Hours of each day, by the clock on the host's wall. `22:00-06:00` goes over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct DailyWindow {
    /// First minute of the day, 0..1440.
    from: u16,
    /// The first one after it, 0..1440; not `from`.
    to: u16,
}

impl DailyWindow {
    /// Whether this minute of the day, 0..1440, lies in it.
    #[must_use]
    pub fn contains(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

impl FromStr for DailyWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("is {text:?}, must be two different times of the day such as 22:00-06:00");
        let minute = |part: &str| {
            let (hour, minute) = part.trim().split_once(':')?;
            let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
            (hour < 24 && minute < 60).then_some(hour * 60 + minute)
        };
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        match (minute(from), minute(to)) {
            (Some(from), Some(to)) if from != to => Ok(Self { from, to }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for DailyWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}-{:02}:{:02}", self.from / 60, self.from % 60, self.to / 60, self.to % 60)
    }
}

impl From<DailyWindow> for String {
    fn from(window: DailyWindow) -> Self {
        window.to_string()
    }
}

impl TryFrom<String> for DailyWindow {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(given: Value) -> Result<RunOptions, Vec<String>> {
        let Value::Object(given) = given else { panic!("an object") };
        RunOptions::read(&given).map_err(|errors| errors.into_iter().map(|error| error.field).collect())
    }

    #[test]
    fn every_option_is_read_and_every_mistake_is_named() {
        let id = RunId::generate();
        let options = read(json!({
            "priority": 90, "queue": true, "start_at": "2027-01-31T22:00:00+01:00", "window": "22:00-06:00",
            "after": format!("{id}, {id}"), "max_errors": 7, "max_written_bytes": "1g", "max_temperature_celsius": 45,
            "resume_after_restart": true
        }))
        .unwrap();
        assert_eq!(options.start_at_ms, Some(1_801_429_200_000));
        assert_eq!((options.after.as_slice(), options.max_written_bytes), ([id, id].as_slice(), Some(Bytes(1 << 30))));
        assert_eq!(serde_json::from_value::<RunOptions>(json!(options)).unwrap(), options);
        let wrong = read(json!({
            "priority": 101, "start_at": "tomorrow", "window": "9-17", "after": "the other", "max_errors": -1, "speed": 2
        }));
        let mut wrong = wrong.unwrap_err();
        wrong.sort_unstable();
        assert_eq!(
            wrong.join(" "),
            "options.after options.max_errors options.priority options.speed options.start_at options.window"
        );
    }

    #[test]
    fn a_window_may_go_over_midnight() {
        let night: DailyWindow = "22:00-06:00".parse().unwrap();
        let day: DailyWindow = "08:30-17:00".parse().unwrap();
        let within =
            |window: DailyWindow| [0, 359, 360, 510, 1_019, 1_020, 1_320].map(|minute| window.contains(minute));
        assert_eq!(within(night), [true, true, false, false, false, false, true]);
        assert_eq!(within(day), [false, false, false, true, true, false, false]);
        for wrong in ["", "22:00", "24:00-06:00", "22:60-06:00", "08:00-08:00", "8-17"] {
            assert!(wrong.parse::<DailyWindow>().is_err(), "{wrong}");
        }
        assert_eq!(night.to_string(), "22:00-06:00");
    }

    #[test]
    fn a_disk_gets_hot_sooner_than_flash_and_the_unknown_is_a_disk() {
        let limit = |rotational| RunOptions::default().limit_celsius(rotational);
        assert_eq!([limit(Some(true)), limit(Some(false)), limit(None)], [60.0, 80.0, 60.0]);
    }
}
