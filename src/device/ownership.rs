//! Who uses a device or a file now: the whole tree above it.
//!
//! ```text
//! sda ── sda1 ── mounted at /boot                     mountinfo, by number and by source
//!     ├─ sda2 ── swap                                 /proc/swaps
//!     ├─ sda3 ── dm-0 (LVM, LUKS, multipath) ── mounted at /    holders, then the same again for dm-0
//!     └─ sda4 ── loop3 ── …                           loop/backing_file
//! ```
//! A whole disk is in use when anything below or above it is. What this cannot see (ZFS, another mount
//! namespace, a process with the device open) is found by the signatures on the medium and by the
//! exclusive open of the claim.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::inventory;
use super::mounts::{self, Mount, NameCache, Swap};
use super::sysfs::SysRoot;
use crate::model::drive::Usage;

/// Everybody who uses a block device or a file, read once for a whole scan.
#[derive(Debug, Default)]
pub struct Users {
    by_number: HashMap<String, Vec<Mount>>,
    by_name: HashMap<String, Vec<Usage>>,
    swap_files: Vec<PathBuf>,
    loops: Vec<LoopBinding>,
}

#[derive(Debug)]
struct LoopBinding {
    loop_device: String,
    backing: PathBuf,
}

/// Who uses a whole device or one of its partitions now.
#[must_use]
pub fn usage_of_device(root: &SysRoot, name: &str) -> Vec<Usage> {
    Users::read(root).of_device(root, name)
}

/// Who uses a regular file now: as swap space, or as the backing of a loop device.
#[must_use]
pub fn usage_of_file(root: &SysRoot, path: &Path) -> Vec<Usage> {
    Users::read(root).of_file(root, path)
}

impl Users {
    /// Reads mounts, swap spaces, loop devices and the members of mounted btrfs filesystems.
    #[must_use]
    pub fn read(root: &SysRoot) -> Self {
        let mut users = Self::default();
        let mut cache = NameCache::new(root);
        let mounts = mounts::mounts(root);
        users.add_btrfs_members(root, &mounts, &mut cache);
        for mount in mounts {
            for source in &mount.sources {
                if let Some(device) = cache.name(source) {
                    users.add(mounted(&device, &mount), &device);
                }
            }
            users.by_number.entry(mount.number.clone()).or_default().push(mount);
        }
        for Swap { path, is_file } in mounts::swaps(root) {
            if is_file {
                users.swap_files.push(path);
            } else if let Some(device) = cache.name(&path.to_string_lossy()) {
                users.add(Usage::Swap { device: device.clone() }, &device);
            }
        }
        for loop_device in root.block_devices().into_iter().filter(|name| name.starts_with("loop")) {
            let backing = root.text(&format!("/sys/block/{loop_device}/loop/backing_file")).into_known();
            let Some(backing) = backing else { continue };
            let backing = backing.trim_end_matches(" (deleted)").to_owned();
            if backing.starts_with("/dev/")
                && let Some(device) = cache.name(&backing)
            {
                let usage = Usage::LoopBacking { device: device.clone(), loop_device: loop_device.clone() };
                users.add(usage, &device);
            }
            users.loops.push(LoopBinding { loop_device, backing: PathBuf::from(backing) });
        }
        users
    }

    /// A btrfs over several devices is mounted by one of them; the kernel lists all of them while it is
    /// mounted, in `/sys/fs/btrfs/<uuid>/devices`.
    fn add_btrfs_members(&mut self, root: &SysRoot, mounts: &[Mount], cache: &mut NameCache<'_>) {
        for filesystem in root.list("/sys/fs/btrfs") {
            let members = root.list(&format!("/sys/fs/btrfs/{filesystem}/devices"));
            let mount = mounts.iter().filter(|mount| mount.fs_type == "btrfs").find(|mount| {
                mount.sources.iter().filter_map(|source| cache.name(source)).any(|name| members.contains(&name))
            });
            for member in &members {
                let usage = match mount {
                    Some(mount) => mounted(member, mount),
                    None => Usage::Holder { device: member.clone(), holder: format!("btrfs {filesystem}") },
                };
                self.add(usage, member);
            }
        }
    }

    fn add(&mut self, usage: Usage, device: &str) {
        let usages = self.by_name.entry(device.to_owned()).or_default();
        if !usages.contains(&usage) {
            usages.push(usage);
        }
    }

    /// Who uses a whole device, its partitions, or what is built on them.
    #[must_use]
    pub fn of_device(&self, root: &SysRoot, name: &str) -> Vec<Usage> {
        self.of_device_with(root, name, inventory::partition_names(root, name))
    }

    /// The same, when its partitions have been listed already.
    pub(super) fn of_device_with(&self, root: &SysRoot, name: &str, partitions: Vec<String>) -> Vec<Usage> {
        let mut found = Vec::new();
        self.collect(root, name, partitions, &mut HashSet::new(), &mut found);
        found
    }

    fn collect(
        &self,
        root: &SysRoot,
        whole: &str,
        partitions: Vec<String>,
        seen: &mut HashSet<String>,
        found: &mut Vec<Usage>,
    ) {
        // A holder may be reached twice (two members of one array), and a broken tree may have a loop.
        if !seen.insert(whole.to_owned()) {
            return;
        }
        let dir = format!("/sys/block/{whole}");
        let mut nodes = vec![(whole.to_owned(), dir.clone())];
        nodes.extend(partitions.into_iter().map(|part| {
            let dir = format!("{dir}/{part}");
            (part, dir)
        }));
        let mut above = Vec::new();
        for (device, dir) in nodes {
            let number = root.text(&format!("{dir}/dev")).into_known();
            let mounts = number.and_then(|number| self.by_number.get(&number)).into_iter().flatten();
            let by_name = self.by_name.get(&device).into_iter().flatten().cloned();
            let holders = root.list(&format!("{dir}/holders")).into_iter().map(|holder| {
                above.push(holder.clone());
                Usage::Holder { device: device.clone(), holder }
            });
            for usage in mounts.map(|mount| mounted(&device, mount)).chain(by_name).chain(holders) {
                if !found.contains(&usage) {
                    found.push(usage);
                }
            }
            above.extend(self.by_name.get(&device).into_iter().flatten().filter_map(|usage| match usage {
                Usage::LoopBacking { loop_device, .. } => Some(loop_device.clone()),
                _ => None,
            }));
        }
        for holder in above {
            let partitions = inventory::partition_names(root, &holder);
            self.collect(root, &holder, partitions, seen, found);
        }
    }

    /// Who uses a regular file.
    #[must_use]
    pub fn of_file(&self, root: &SysRoot, path: &Path) -> Vec<Usage> {
        let device = path.display().to_string();
        let mut found = Vec::new();
        if self.swap_files.iter().any(|swap| same_file(root, swap, path)) {
            found.push(Usage::Swap { device: device.clone() });
        }
        for binding in self.loops.iter().filter(|binding| same_file(root, &binding.backing, path)) {
            let loop_device = binding.loop_device.clone();
            found.push(Usage::LoopBacking { device: device.clone(), loop_device: loop_device.clone() });
            found.extend(self.of_device(root, &loop_device));
        }
        found
    }

    /// The file a loop device is bound to.
    #[must_use]
    pub fn backing_of(&self, loop_device: &str) -> Option<&Path> {
        self.loops.iter().find(|binding| binding.loop_device == loop_device).map(|binding| binding.backing.as_path())
    }
}

fn mounted(device: &str, mount: &Mount) -> Usage {
    Usage::Mounted { device: device.to_owned(), mount_point: mount.mount_point.clone(), fs_type: mount.fs_type.clone() }
}

/// Whether two paths are one file: by inode on this host, so that hard and symbolic links are seen through; by
/// name in a recording.
pub(super) fn same_file(root: &SysRoot, a: &Path, b: &Path) -> bool {
    if a == b {
        return true;
    }
    if root.is_recorded() {
        return false;
    }
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}
