//! The scan that remembers: what a drive says of itself is read once, what can change is read each time.
//!
//! A full look at a drive is about a hundred reads. On a host of a thousand drives that is a hundred thousand (node_exporter
//! #3282 went from 0.4 s to 4 s on fewer), every two seconds and for nothing. So a device that is still the same one (inode of
//! its directory, sequence, size) keeps what was read of it; only its size, read-only flag, partitions and users
//! are looked at. It is read in full when the kernel says that it changed, when a person asks, and in turn: a
//! sixteenth of all devices at each scan, so that nothing stays wrong for longer than half a minute.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::ownership::Users;
use super::sysfs::SysRoot;
use super::{inventory, naming, paths};
use crate::model::drive::{Drive, Host, Inventory, LeftOut, Reading};

/// Scans after which every device has been read in full at least once.
const ROUND: usize = 16;

/// Which devices are to be read in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fresh {
    /// All.
    All,
    /// These, by kernel name, and the ones whose turn it is.
    Only(BTreeSet<String>),
}

impl Fresh {
    /// None in particular.
    #[must_use]
    pub fn nothing() -> Self {
        Self::Only(BTreeSet::new())
    }

    /// Whether none is named.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Only(names) if names.is_empty())
    }

    /// What either of two asks for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Only(mut names), Self::Only(more)) => {
                names.extend(more);
                Self::Only(names)
            }
            _ => Self::All,
        }
    }

    fn asks_for(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

/// Takes inventories of one host.
#[derive(Debug)]
pub struct Scanner {
    root: SysRoot,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    known: HashMap<String, Known>,
    /// Scans so far.
    scans: usize,
    kernel: String,
}

/// A device as it was last read in full.
#[derive(Debug)]
struct Known {
    is: Sameness,
    drive: Drive,
}

/// What tells that a device is the one that was read before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sameness {
    /// Of the directory: the kernel gives each object in sysfs a number of its own.
    inode: u64,
    /// `diskseq` (Linux 5.15) counts media and backing files.
    sequence: Reading<String>,
    size: Reading<u64>,
}

impl Sameness {
    fn of(root: &SysRoot, name: &str) -> Option<Self> {
        let dir = format!("/sys/block/{name}");
        Some(Self {
            inode: fs::metadata(root.at(&dir)).ok()?.ino(),
            sequence: root.text(&format!("{dir}/diskseq")),
            size: root.number(&format!("{dir}/size")),
        })
    }
}

/// What one device turned out to be.
enum Seen {
    Drive(Box<Drive>, Option<Sameness>),
    /// As before: nothing new to remember.
    Same(Box<Drive>),
    LeftOut(LeftOut),
}

impl Scanner {
    /// Of this host; nothing is read yet.
    #[must_use]
    pub fn new(root: SysRoot) -> Self {
        Self { root, memory: Mutex::default() }
    }

    /// The inventory now.
    pub fn scan(&self, fresh: &Fresh) -> Inventory {
        let root = &self.root;
        let host = inventory::host(root);
        let users = Users::read(root);
        // A panic in a decoder leaves the memory as it was: usable.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.kernel != host.kernel {
            memory.known.clear();
            memory.kernel.clone_from(&host.kernel);
        }
        let names = root.block_devices();
        let turn = memory.scans % ROUND;
        let due: Vec<(usize, &str)> = names.iter().map(String::as_str).enumerate().collect();
        let seen = inventory::side_by_side(&due, |(index, name)| {
            let known = memory.known.get(*name).filter(|_| index % ROUND != turn && !fresh.asks_for(name));
            look(root, &host, &users, name, known)
        });
        memory.scans = memory.scans.wrapping_add(1);
        let mut drives = Vec::with_capacity(names.len());
        let mut left_out = Vec::new();
        for (name, seen) in names.iter().zip(seen) {
            match seen {
                Seen::Same(drive) => drives.push(*drive),
                Seen::Drive(drive, is) => {
                    if let Some(is) = is {
                        memory.known.insert(name.clone(), Known { is, drive: (*drive).clone() });
                    }
                    drives.push(*drive);
                }
                Seen::LeftOut(device) => left_out.push(device),
            }
        }
        if memory.known.len() > drives.len() {
            let there: BTreeSet<&str> = drives.iter().map(|drive| drive.name.as_str()).collect();
            memory.known.retain(|name, _| there.contains(name.as_str()));
        }
        drop(memory);
        paths::merge(root, &mut drives);
        naming::mark_twins(&mut drives);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        Inventory { host, scanned_at_ms: i64::try_from(now).unwrap_or(i64::MAX), drives, left_out }
    }
}

fn look(root: &SysRoot, host: &Host, users: &Users, name: &str, known: Option<&Known>) -> Seen {
    // Before anything else is read: a device that changes meanwhile differs at the next scan.
    let is = Sameness::of(root, name);
    if let Some(known) = known.filter(|known| Some(&known.is) == is.as_ref()) {
        let parts = inventory::partition_names(root, name);
        let mut drive = known.drive.clone();
        if !drive.partitions.iter().map(|part| &part.name).eq(&parts) {
            drive.partitions = inventory::partitions(root, name);
        }
        drive.read_only = root.flag(&format!("/sys/block/{name}/ro")) == Reading::Known(true);
        drive.usage = users.of_device_with(root, name, parts);
        return Seen::Same(Box::new(drive));
    }
    match inventory::why_left_out(root, name) {
        Some(why) => Seen::LeftOut(LeftOut { name: name.to_owned(), why }),
        None => Seen::Drive(Box::new(inventory::drive(root, host, users, name)), is),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (index, name) in ["sda", "sdb"].into_iter().enumerate() {
                tree.file(&format!("sys/block/{name}/size"), "2097152\n");
                tree.file(&format!("sys/block/{name}/dev"), &format!("8:{}\n", 16 * index));
                tree.file(&format!("sys/block/{name}/device/model"), "OLD\n");
            }
            tree
        }

        fn file(&self, path: &str, content: &str) {
            let at = self.0.path().join(path);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, content).unwrap();
        }
    }

    fn models(inventory: &Inventory) -> Vec<&str> {
        inventory.drives.iter().filter_map(|drive| drive.model.as_deref()).collect()
    }

    #[test]
    fn what_is_fixed_is_read_once_and_again_when_asked_or_in_turn() {
        let tree = Tree::new();
        let scanner = Scanner::new(SysRoot::recorded(tree.0.path()));
        assert_eq!(models(&scanner.scan(&Fresh::nothing())), ["OLD", "OLD"]);
        tree.file("sys/block/sda/device/model", "NEW\n");
        // sdb's turn comes second, sda's after a round.
        assert_eq!(models(&scanner.scan(&Fresh::nothing())), ["OLD", "OLD"]);
        assert_eq!(models(&scanner.scan(&Fresh::Only(["sda".to_owned()].into()))), ["NEW", "OLD"]);
        tree.file("sys/block/sdb/device/model", "NEW\n");
        assert_eq!(models(&scanner.scan(&Fresh::All)), ["NEW", "NEW"]);
        tree.file("sys/block/sda/device/model", "NEWER\n");
        let read = (0..ROUND).any(|_| models(&scanner.scan(&Fresh::nothing())).contains(&"NEWER"));
        assert!(read, "its turn comes within a round");
    }

    #[test]
    fn what_can_change_is_read_each_time() {
        let tree = Tree::new();
        let scanner = Scanner::new(SysRoot::recorded(tree.0.path()));
        scanner.scan(&Fresh::nothing());
        tree.file("sys/block/sda/ro", "1\n");
        tree.file("sys/block/sda/sda1/partition", "1\n");
        tree.file("sys/block/sda/sda1/dev", "8:1\n");
        tree.file("sys/block/sda/sda1/size", "2048\n");
        tree.file("sys/block/sdb/size", "4194304\n");
        tree.file("proc/self/mountinfo", "30 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n");
        let inventory = scanner.scan(&Fresh::nothing());
        let [sda, sdb] = &inventory.drives[..] else { panic!("two drives") };
        assert!(sda.read_only && sda.usage.len() == 1 && sda.partitions.len() == 1);
        assert_eq!(sdb.capacity_bytes.get(), 4_194_304 * 512);
    }

    #[test]
    fn another_device_under_the_name_is_read_anew_and_one_that_went_is_no_ghost() {
        let tree = Tree::new();
        let scanner = Scanner::new(SysRoot::recorded(tree.0.path()));
        scanner.scan(&Fresh::nothing());
        fs::remove_dir_all(tree.0.path().join("sys/block/sdb")).unwrap();
        fs::remove_dir_all(tree.0.path().join("sys/block/sda")).unwrap();
        let gone = scanner.scan(&Fresh::nothing());
        assert!(gone.drives.is_empty() && gone.left_out.is_empty());
        tree.file("sys/block/sda/size", "2097152\n");
        tree.file("sys/block/sda/dev", "8:0\n");
        tree.file("sys/block/sda/device/model", "OTHER\n");
        assert_eq!(models(&scanner.scan(&Fresh::nothing())), ["OTHER"]);
    }
}
