//! Settings of a drive and its queue: looked at, set, and put back on every end.
//!
//! ```text
//! check ──▶ plan_change (nothing is written) ──stored──▶ Held::take ──▶ Held::set(values) … ──▶ restore, or Drop
//! ```
//! What was found goes into the store before anything is set, so that what a killed service left behind can be
//! put back by [`restore`] at its next start.

use std::fs;
use std::io;

use super::sysfs::SysRoot;
use crate::model::conditions::{Appearance, Change};
use crate::model::drive::{DeviceKind, Drive};
use crate::model::parameters::FieldError;
use crate::model::tunable::{Tunable, Tunables};

/// The file of a device that sets `tunable`; `None` where there is none.
#[must_use]
pub fn path(root: &SysRoot, device: &str, tunable: Tunable) -> Option<String> {
    if tunable == Tunable::CacheType {
        return cache_type_path(root, device);
    }
    let path = format!("/sys/block/{device}/queue/{}", tunable.as_str());
    // A recorded or older host may not have it; wbt_lat_usec is there and unreadable where it means nothing.
    root.text(&path).known().is_some().then_some(path)
}

/// sd's view of the drive's write cache.
#[must_use]
pub fn cache_type_path(root: &SysRoot, device: &str) -> Option<String> {
    let dir = format!("/sys/block/{device}/device/scsi_disk");
    root.list(&dir).first().map(|disk| format!("{dir}/{disk}/cache_type"))
}

/// The value in force: of a list with brackets the word in them.
fn in_force(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

fn read(root: &SysRoot, path: &str) -> Option<String> {
    root.text(path).into_known().map(|text| in_force(&text).to_owned())
}

/// Which settings a target has that a run may change.
#[must_use]
pub fn available(root: &SysRoot, drive: &Drive) -> Vec<Tunable> {
    if drive.simulated || drive.kind == DeviceKind::File || root.is_recorded() {
        return Vec::new();
    }
    Tunable::ALL.into_iter().filter(|tunable| path(root, &drive.name, *tunable).is_some()).collect()
}

/// Whether a target has these settings and takes these values. Writes nothing.
///
/// # Errors
/// Every setting that it does not have, and every value that it would not take, with what it would.
pub fn check(root: &SysRoot, drive: &Drive, wanted: &Tunables) -> Result<(), Vec<FieldError>> {
    let errors: Vec<_> = wanted
        .iter()
        .filter_map(|(tunable, value)| {
            let problem = check_one(root, drive, *tunable, value).err()?;
            Some(FieldError::new(format!("tunables.{}", tunable.as_str()), problem))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_one(root: &SysRoot, drive: &Drive, tunable: Tunable, value: &str) -> Result<(), String> {
    if drive.kind == DeviceKind::File {
        return Err("is a setting of a whole block device; a file shares its disk with others".to_owned());
    }
    let Some(path) = path(root, &drive.name, tunable) else {
        return Err(format!("{} has no such setting", drive.path.display()));
    };
    match tunable {
        Tunable::Scheduler => {
            let list = root.text(&path).into_known().unwrap_or_default();
            let words: Vec<_> = list.split_ascii_whitespace().map(|word| word.trim_matches(['[', ']'])).collect();
            if !words.contains(&value) {
                return Err(format!("is {value}, must be one of {}", words.join(", ")));
            }
        }
        Tunable::MaxSectorsKb => {
            let hw = root.number(&format!("/sys/block/{}/queue/max_hw_sectors_kb", drive.name)).into_known();
            if let (Some(hw), Ok(kb)) = (hw, value.parse::<u64>())
                && kb > hw
            {
                return Err(format!("is {kb}, must be at most max_hw_sectors_kb, {hw}"));
            }
        }
        _ => {}
    }
    Ok(())
}

/// The changes that a run will make, each with the value as found. Writes nothing.
#[must_use]
pub fn plan_changes(root: &SysRoot, device: &str, wanted: &[Tunables]) -> Vec<Change> {
    let new_scheduler = wanted.iter().any(|tunables| tunables.contains_key(&Tunable::Scheduler));
    let change = |tunable: Tunable| {
        let mut values: Vec<String> = wanted.iter().filter_map(|tunables| tunables.get(&tunable).cloned()).collect();
        values.dedup();
        // The kernel resets these itself when the scheduler changes.
        let dragged_along = new_scheduler && matches!(tunable, Tunable::NrRequests | Tunable::WbtLatUsec);
        if values.is_empty() && !dragged_along {
            return None;
        }
        let path = path(root, device, tunable)?;
        let found = read(root, &path)?;
        Some(Change { tunable, path, found, wanted: values, set: None, restored: false, problem: None })
    };
    Tunable::ALL.into_iter().filter_map(change).collect()
}

/// Writes one value. The kernel may block for as long as the queue takes to empty, or the drive to answer.
fn write(root: &SysRoot, path: &str, value: &str) -> io::Result<()> {
    fs::write(root.at(path), value)
}

/// Settings that were changed and are to be put back. Dropping it puts them back.
#[derive(Debug)]
pub struct Held {
    root: SysRoot,
    changes: Vec<Change>,
}

impl Held {
    /// Of changes whose found values are stored already. Sets nothing yet.
    #[must_use]
    pub fn new(root: SysRoot, changes: Vec<Change>) -> Self {
        Self { root, changes }
    }

    /// The changes as they stand.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Brings every setting to its value in `values`, and each that is not in there to what was found.
    ///
    /// # Errors
    /// The first that could not be set, for a person. Those before it are set.
    pub fn set(&mut self, values: &Tunables) -> Result<(), String> {
        // What nobody wants otherwise is left to the kernel until the end: another scheduler may not take what was found.
        for change in self.changes.iter_mut().filter(|change| !change.wanted.is_empty()) {
            let value = values.get(&change.tunable).unwrap_or(&change.found).clone();
            put(&self.root, change, &value)?;
        }
        Ok(())
    }

    /// Puts everything back as it was found. What cannot be put back says why, and is tried again by nobody until the
    /// service starts anew.
    pub fn restore(&mut self) -> &[Change] {
        restore_all(&self.root, &mut self.changes);
        &self.changes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        restore_all(&self.root, &mut self.changes);
    }
}

/// Writes `value` unless it is in force, and notes what is in force then.
fn put(root: &SysRoot, change: &mut Change, value: &str) -> Result<(), String> {
    if read(root, &change.path).as_deref() != Some(value) {
        change.restored = false;
        write(root, &change.path, value).map_err(|error| {
            let problem = format!("{} could not be set to {value}: {error}", change.path);
            change.problem = Some(problem.clone());
            problem
        })?;
    }
    change.set = read(root, &change.path);
    Ok(())
}

fn restore_all(root: &SysRoot, changes: &mut [Change]) {
    for change in changes.iter_mut().filter(|change| !change.restored) {
        let set = change.set.clone();
        let found = change.found.clone();
        if put(root, change, &found).is_ok() {
            change.restored = true;
        } else if let Some(problem) = &change.problem {
            tracing::error!(problem, "a setting could not be put back");
        }
        // What is kept is how the run had it.
        change.set = set;
    }
}

/// Puts back what an earlier service left behind. `now` is the device as it is there now: what the kernel was told is gone
/// when the host or the device has come anew, and only what the drive itself keeps is then put back.
pub fn restore(root: &SysRoot, device: &str, then: &Appearance, now: &Appearance, changes: &mut [Change]) {
    let same = then.boot_id.is_some() && then == now;
    for change in changes.iter_mut().filter(|change| !change.restored) {
        if !same && !change.tunable.outlives_the_host() {
            change.restored = true;
            continue;
        }
        // The drive may have come under another name.
        if let Some(path) = path(root, device, change.tunable) {
            change.path = path;
        }
    }
    restore_all(root, changes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().unwrap();
        let root = SysRoot::recorded(dir.path());
        for (attribute, value) in [
            ("queue/scheduler", "none [mq-deadline]"),
            ("queue/nr_requests", "64"),
            ("queue/max_sectors_kb", "1280"),
            ("queue/max_hw_sectors_kb", "32767"),
            ("device/scsi_disk/2:0:0:0/cache_type", "write back"),
        ] {
            let at = root.at(&format!("/sys/block/sda/{attribute}"));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, value).unwrap();
        }
        (dir, root)
    }

    fn wanted(values: &[(Tunable, &str)]) -> Tunables {
        values.iter().map(|(tunable, value)| (*tunable, (*value).to_owned())).collect()
    }

    fn now(root: &SysRoot, tunable: Tunable) -> String {
        read(root, &path(root, "sda", tunable).unwrap()).unwrap()
    }

    #[test]
    fn what_was_set_is_put_back_when_it_is_dropped() {
        let (_dir, root) = host();
        let values = wanted(&[(Tunable::MaxSectorsKb, "256"), (Tunable::CacheType, "write through")]);
        let changes = plan_changes(&root, "sda", std::slice::from_ref(&values));
        assert_eq!(changes.iter().map(|change| change.found.as_str()).collect::<Vec<_>>(), ["1280", "write back"]);
        assert_eq!(now(&root, Tunable::MaxSectorsKb), "1280", "a plan writes nothing");
        let mut held = Held::new(root.clone(), changes);
        held.set(&values).unwrap();
        assert_eq!(now(&root, Tunable::CacheType), "write through");
        held.set(&wanted(&[(Tunable::MaxSectorsKb, "512")])).unwrap();
        assert_eq!(
            (now(&root, Tunable::CacheType), now(&root, Tunable::MaxSectorsKb)),
            ("write back".into(), "512".into())
        );
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _held = held;
            panic!("a defect");
        }));
        assert!(panicked.is_err());
        assert_eq!(now(&root, Tunable::MaxSectorsKb), "1280");
    }

    #[test]
    fn what_another_scheduler_resets_is_put_back_with_it() {
        let (_dir, root) = host();
        let values = wanted(&[(Tunable::Scheduler, "none")]);
        let mut held = Held::new(root.clone(), plan_changes(&root, "sda", std::slice::from_ref(&values)));
        held.set(&values).unwrap();
        // As the kernel does.
        fs::write(root.at("/sys/block/sda/queue/nr_requests"), "256").unwrap();
        let changes = held.restore();
        assert!(changes.iter().all(|change| change.restored && change.problem.is_none()), "{changes:?}");
        assert_eq!(
            (now(&root, Tunable::Scheduler), now(&root, Tunable::NrRequests)),
            ("mq-deadline".into(), "64".into())
        );
    }

    #[test]
    fn after_a_restart_of_the_host_only_the_drives_own_setting_is_put_back() {
        let (_dir, root) = host();
        let values = wanted(&[(Tunable::MaxSectorsKb, "256"), (Tunable::CacheType, "write through")]);
        let boot = |id: &str| Appearance { boot_id: Some(id.to_owned()), disk_sequence: Some(9) };
        let killed = || {
            let mut held = Held::new(root.clone(), plan_changes(&root, "sda", std::slice::from_ref(&values)));
            held.set(&values).unwrap();
            let left = held.changes().to_vec();
            std::mem::forget(held);
            left
        };
        let mut left = killed();
        restore(&root, "sda", &boot("a"), &boot("b"), &mut left);
        assert!(left.iter().all(|change| change.restored));
        assert_eq!(
            (now(&root, Tunable::MaxSectorsKb), now(&root, Tunable::CacheType)),
            ("256".into(), "write back".into())
        );
        fs::write(root.at("/sys/block/sda/queue/max_sectors_kb"), "1280").unwrap();
        let mut left = killed();
        restore(&root, "sda", &boot("a"), &boot("a"), &mut left);
        assert_eq!(
            (now(&root, Tunable::MaxSectorsKb), now(&root, Tunable::CacheType)),
            ("1280".into(), "write back".into())
        );
    }
}
