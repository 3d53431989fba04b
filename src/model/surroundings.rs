//! What surrounds a run: its conditions, the drive's temperature, what the kernel said.

use serde::{Deserialize, Serialize};

use super::conditions::Conditions;

/// A drive's temperature over a run, degrees Celsius.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// As last read.
    pub latest: f64,
    /// The highest that was read.
    pub max: f64,
}

/// One record of the kernel's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLine {
    /// When, microseconds since the host started.
    pub t_us: u64,
    /// How grave: 0 emergency … 3 error, 4 warning, 6 information (syslog(3)).
    pub level: u8,
    /// The text.
    pub text: String,
}

/// What surrounds a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// The conditions, once they were looked at; lists of runs leave them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Box<Conditions>>,
    /// The drive's temperature; `null` where it is not known.
    pub temperature_celsius: Option<Temperature>,
    /// What the kernel said of the drive during a run that had errors, stalled or failed; the last lines.
    #[serde(default)]
    pub kernel_log: Vec<KernelLine>,
    /// Why the log could not be read, or is not whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_log_note: Option<String>,
}

impl Surroundings {
    /// The temperature was read.
    pub fn felt(&mut self, celsius: f64) {
        let max = self.temperature_celsius.map_or(celsius, |before| before.max.max(celsius));
        self.temperature_celsius = Some(Temperature { latest: celsius, max });
    }
}
