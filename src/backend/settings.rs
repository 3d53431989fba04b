//! The settings that a run changes, of a drive that exists or not.

use crate::device::SysRoot;
use crate::device::tunables::{self, Held};
use crate::model::conditions::Change;
use crate::model::tunable::{Tunable, Tunables, WRITE_BACK, WRITE_THROUGH};
use crate::sim::CacheSwitch;

/// Settings as a run holds them. Dropping it puts all of them back.
#[derive(Debug)]
pub enum Settings {
    /// Of a block device.
    Host(Held),
    /// Of a simulated drive, which nobody has after the run: nothing is left to be put back.
    Simulated(CacheSwitch, Vec<Change>),
}

/// The word for a write cache.
fn word(write_back: bool) -> &'static str {
    if write_back { WRITE_BACK } else { WRITE_THROUGH }
}

/// The changes that a run will make on a block device. Writes nothing.
pub fn of_host(root: &SysRoot, device: &str, wanted: &[Tunables]) -> Vec<Change> {
    tunables::plan_changes(root, device, wanted)
}

/// The same on a simulated drive: its write cache is all that it has.
pub fn of_simulated(switch: &CacheSwitch, wanted: &[Tunables]) -> Vec<Change> {
    let values: Vec<String> = wanted.iter().filter_map(|tunables| tunables.get(&Tunable::CacheType).cloned()).collect();
    if values.is_empty() {
        return Vec::new();
    }
    vec![Change {
        tunable: Tunable::CacheType,
        path: "simulated".to_owned(),
        found: word(switch.found()).to_owned(),
        wanted: values,
        set: None,
        restored: false,
        problem: None,
    }]
}

impl Settings {
    /// Brings every setting to its value in `values`, and each that is not in there to what was found.
    ///
    /// # Errors
    /// The first that could not be set, for a person.
    pub fn set(&mut self, values: &Tunables) -> Result<(), String> {
        match self {
            Self::Host(held) => held.set(values),
            Self::Simulated(switch, changes) => {
                for change in changes {
                    let value = values.get(&change.tunable).unwrap_or(&change.found).clone();
                    switch.set(value == WRITE_BACK);
                    change.set = Some(value);
                }
                Ok(())
            }
        }
    }

    /// Puts everything back.
    pub fn restore(&mut self) {
        match self {
            Self::Host(held) => drop(held.restore()),
            Self::Simulated(switch, changes) => {
                switch.set(switch.found());
                for change in changes {
                    change.restored = true;
                }
            }
        }
    }

    /// How they stand.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        match self {
            Self::Host(held) => held.changes(),
            Self::Simulated(_, changes) => changes,
        }
    }
}
