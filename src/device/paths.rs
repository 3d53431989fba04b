//! Several paths to one drive made one drive.
//!
//! Two devices are one drive when both lie under one dm-multipath device, or when they agree in world wide name, model,
//! serial number and size. A world wide name alone is not enough: makers have given one to two drives (scrutiny #435).

use std::collections::HashMap;

use super::sysfs::SysRoot;
use crate::model::drive::{DeviceKind, Drive};

/// How dm-multipath begins the uuid of its devices.
const MULTIPATH: &str = "mpath-";

/// Leaves one drive for each group of paths: the first, with all paths and all that uses any of them.
pub fn merge(root: &SysRoot, drives: &mut Vec<Drive>) {
    let joined = joined_by_multipath(root, drives);
    let mut first_of: HashMap<String, usize> = HashMap::new();
    let mut merged: Vec<Drive> = Vec::with_capacity(drives.len());
    for drive in drives.drain(..) {
        let Some(key) = joined.get(&drive.name).cloned().or_else(|| same_in_all(&drive)) else {
            merged.push(drive);
            continue;
        };
        let at = *first_of.entry(key).or_insert(merged.len());
        match merged.get_mut(at) {
            Some(first) => join(first, drive),
            None => merged.push(drive),
        }
    }
    *drives = merged;
}

fn join(first: &mut Drive, other: Drive) {
    first.paths.extend(other.paths);
    for usage in other.usage {
        if !first.usage.contains(&usage) {
            first.usage.push(usage);
        }
    }
    first.read_only |= other.read_only;
    let paths: Vec<_> = first.paths.iter().map(|path| path.display().to_string()).collect();
    first.identity.note = Some(format!("One drive on {} paths: {}.", paths.len(), paths.join(", ")));
}

/// What two paths to one drive have in common; `None` when a drive does not say enough to be sure.
fn same_in_all(drive: &Drive) -> Option<String> {
    if !matches!(drive.kind, DeviceKind::Disk | DeviceKind::NvmeNamespace) {
        return None;
    }
    let (wwn, model, serial) = (drive.wwn.as_ref()?, drive.model.as_ref()?, drive.serial.as_ref()?);
    let size = drive.capacity_bytes.get();
    Some(format!("{wwn}\n{model}\n{serial}\n{size}\n{}", drive.logical_block_bytes))
}

/// The multipath device each path lies under.
fn joined_by_multipath(root: &SysRoot, drives: &[Drive]) -> HashMap<String, String> {
    let mut joined = HashMap::new();
    for drive in drives.iter().filter(|drive| drive.kind == DeviceKind::DeviceMapper) {
        let uuid = root.text(&format!("/sys/block/{}/dm/uuid", drive.name)).into_known().unwrap_or_default();
        if uuid.starts_with(MULTIPATH) {
            for path in root.list(&format!("/sys/block/{}/slaves", drive.name)) {
                joined.insert(path, uuid.clone());
            }
        }
    }
    joined
}
