//! Every read of `/sys`, `/proc` and `/etc` goes through a root prefix, as lsblk's `--sysroot` does it:
//! a recorded tree serves as a host, so each kind of drive is a test without the drive.
//!
//! Paths are given and shown as the host itself sees them (`/sys/block/sda/size`); only the last
//! step puts the prefix before them. What cannot be read is a value that says why.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::names;
use crate::model::drive::{Reading, Unknown};

/// No attribute of sysfs is longer: text is one page (4 KiB on most machines, 64 KiB at most).
const LONGEST_ATTRIBUTE: usize = 64 * 1024;
/// `mountinfo` of a host with thousands of containers is some megabytes; more is not believed.
const LONGEST_DOCUMENT: u64 = 64 * 1024 * 1024;
/// Symbolic links that follow each other: the kernel's own limit is 40.
const MOST_LINKS: usize = 40;

/// Where a host's kernel files are: its own, or a recording of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SysRoot {
    base: PathBuf,
    recorded: bool,
    notes: Notes,
}

/// The paths that were looked for, where somebody wants to know.
#[derive(Debug, Clone, Default)]
struct Notes(Option<Arc<Mutex<BTreeSet<String>>>>);

/// What was read of a host makes it no other host.
impl PartialEq for Notes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Notes {}

impl Notes {
    fn add(&self, path: &str) {
        if let Some(notes) = &self.0 {
            notes.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        }
    }
}

impl SysRoot {
    /// This host.
    #[must_use]
    pub fn host() -> Self {
        Self { base: PathBuf::from("/"), recorded: false, notes: Notes::default() }
    }

    /// A recorded host: `DIR/sys`, `DIR/proc`, `DIR/dev`, `DIR/etc`, as far as they are there.
    ///
    /// A recording whose files cannot keep symbolic links puts the target of `sys/block/sda` in a
    /// file `sys/block/sda.readlink` beside it.
    #[must_use]
    pub fn recorded(dir: impl Into<PathBuf>) -> Self {
        Self { base: dir.into(), recorded: true, notes: Notes::default() }
    }

    /// The same host, noting from now on every attribute and directory that is looked for.
    #[must_use]
    pub fn noting(&self) -> Self {
        Self { notes: Notes(Some(Arc::default())), ..self.clone() }
    }

    /// What has been looked for since [`noting`](Self::noting).
    #[must_use]
    pub fn noted(&self) -> BTreeSet<String> {
        self.notes
            .0
            .as_ref()
            .map_or_else(BTreeSet::new, |notes| notes.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Whether its drives are not here.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.recorded
    }

    /// The prefix.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Where a path of the host really is.
    #[must_use]
    pub fn at(&self, path: &str) -> PathBuf {
        self.base.join(path.trim_start_matches('/'))
    }

    /// Whether there is something at `path`.
    #[must_use]
    pub fn exists(&self, path: &str) -> bool {
        self.notes.add(path);
        self.at(path).exists()
    }

    /// The bytes of a sysfs attribute, at most 64 KiB. An empty one counts as absent: that is how
    /// a recording keeps a file that could not be read.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Reading<Vec<u8>> {
        self.notes.add(path);
        match read_attribute(&self.at(path)) {
            Ok(bytes) if bytes.is_empty() => Reading::Unknown(Unknown::Absent),
            Ok(bytes) => Reading::Known(bytes),
            Err(error) => Reading::Unknown(why(&error)),
        }
    }

    /// A sysfs attribute as text, without NULs and white space around it.
    #[must_use]
    pub fn text(&self, path: &str) -> Reading<String> {
        self.bytes(path).and_then(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            match text.trim_matches(|c: char| c.is_whitespace() || c == '\0') {
                "" => Reading::Unknown(Unknown::Absent),
                trimmed => Reading::Known(trimmed.to_owned()),
            }
        })
    }

    /// A sysfs attribute that is a decimal number.
    #[must_use]
    pub fn number(&self, path: &str) -> Reading<u64> {
        self.text(path).and_then(|text| match text.parse() {
            Ok(number) => Reading::Known(number),
            Err(_) => Reading::Unknown(Unknown::NotTrusted(format!("`{text}` is not a number"))),
        })
    }

    /// A sysfs attribute that is 0 or 1.
    #[must_use]
    pub fn flag(&self, path: &str) -> Reading<bool> {
        self.number(path).and_then(|number| match number {
            0 => Reading::Known(false),
            1 => Reading::Known(true),
            other => Reading::Unknown(Unknown::NotTrusted(format!("{other} is neither 0 nor 1"))),
        })
    }

    /// A whole file of `/proc` or `/etc`.
    #[must_use]
    pub fn document(&self, path: &str) -> Reading<String> {
        let read = File::open(self.at(path)).and_then(|file| {
            let mut bytes = Vec::new();
            file.take(LONGEST_DOCUMENT).read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        match read {
            Ok(bytes) => Reading::Known(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Reading::Unknown(why(&error)),
        }
    }

    /// The names in a directory in natural order; none when it cannot be read.
    #[must_use]
    pub fn list(&self, path: &str) -> Vec<String> {
        self.notes.add(path);
        let Ok(entries) = fs::read_dir(self.at(path)) else { return Vec::new() };
        let mut listed: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        listed.sort_by(|a, b| names::natural_order(a, b));
        listed
    }

    /// The kernel names of all whole block devices.
    #[must_use]
    pub fn block_devices(&self) -> Vec<String> {
        let mut devices = self.list("/sys/block");
        devices.retain(|name| !name.ends_with(".readlink"));
        devices
    }

    /// Where a whole block device hangs in the device tree, e.g.
    /// `/sys/devices/pci0000:00/0000:00:1f.2/ata1/host1/target1:0:0/1:0:0:0/block/sdd`.
    /// `None` for a hand-made tree that does not say.
    #[must_use]
    pub fn device_path(&self, name: &str) -> Option<String> {
        let link = format!("/sys/block/{name}");
        if let Ok(target) = fs::read_link(self.at(&link)) {
            return Some(names::join(&link, &target.to_string_lossy()));
        }
        self.text(&format!("{link}.readlink")).into_known()
    }

    /// What `path` is in the end, following symbolic links inside the root, even dangling ones: a
    /// recording has the links of `/dev/disk/by-id` without the nodes they lead to.
    #[must_use]
    pub fn follow(&self, path: &str) -> String {
        let mut path = names::join("/", path);
        for _ in 0..MOST_LINKS {
            match fs::read_link(self.at(&path)) {
                Ok(target) => path = names::join(&path, &target.to_string_lossy()),
                Err(_) => break,
            }
        }
        path
    }
}

/// One `read` is enough for nearly all attributes: sysfs fills the buffer or is at its end.
fn read_attribute(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut buffer = [0_u8; 4096];
    let mut bytes = Vec::new();
    loop {
        let count = match file.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if count < buffer.len() || bytes.len() >= LONGEST_ATTRIBUTE {
            bytes.truncate(LONGEST_ATTRIBUTE);
            return Ok(bytes);
        }
    }
}

/// What the kernel's error means for whoever wants to know.
fn why(error: &io::Error) -> Unknown {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => Unknown::Absent,
        ErrorKind::PermissionDenied => Unknown::NotPermitted,
        _ => Unknown::NotReadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().unwrap();
        let root = SysRoot::recorded(dir.path());
        fs::create_dir_all(root.at("/sys/block/sda/queue")).unwrap();
        (dir, root)
    }

    #[test]
    fn unknown_says_why() {
        let (_dir, root) = tree();
        fs::write(root.at("/sys/block/sda/size"), "lots\n").unwrap();
        fs::write(root.at("/sys/block/sda/wwid"), "").unwrap();
        assert_eq!(root.number("/sys/block/sda/ro"), Reading::Unknown(Unknown::Absent));
        assert_eq!(root.text("/sys/block/sda/wwid"), Reading::Unknown(Unknown::Absent));
        assert_eq!(root.bytes("/sys/block/sda"), Reading::Unknown(Unknown::Absent));
        assert!(matches!(root.number("/sys/block/sda/size"), Reading::Unknown(Unknown::NotTrusted(_))));
    }

    #[test]
    fn a_refusal_is_told_from_an_absence_and_from_a_fault() {
        let said = |errno: i32| why(&io::Error::from_raw_os_error(errno));
        use nix::libc::{EACCES, ENOENT, ENXIO, EPERM};
        assert_eq!((said(EACCES), said(EPERM)), (Unknown::NotPermitted, Unknown::NotPermitted));
        assert_eq!(said(ENOENT), Unknown::Absent);
        assert!(matches!(said(ENXIO), Unknown::NotReadable(text) if text.contains("No such device")));
    }

    #[test]
    fn text_may_be_padded_and_need_not_be_utf8() {
        let (_dir, root) = tree();
        fs::write(root.at("/sys/block/sda/model"), b"ST8000\xff DM \0\n").unwrap();
        assert_eq!(root.text("/sys/block/sda/model"), Reading::Known("ST8000\u{fffd} DM".to_owned()));
    }

    #[test]
    fn an_attribute_without_end_is_cut_at_64_kib() {
        let (_dir, root) = tree();
        fs::write(root.at("/sys/block/sda/long"), vec![b'x'; 200_000]).unwrap();
        assert_eq!(root.bytes("/sys/block/sda/long").known().unwrap().len(), LONGEST_ATTRIBUTE);
    }

    #[test]
    fn a_device_path_comes_from_the_link_or_from_the_file_beside_it() {
        let (_dir, root) = tree();
        std::os::unix::fs::symlink("../devices/virtual/block/loop0", root.at("/sys/block/loop0")).unwrap();
        fs::write(root.at("/sys/block/sdb.readlink"), "/sys/devices/usb1/block/sdb\n").unwrap();
        assert_eq!(root.device_path("loop0").as_deref(), Some("/sys/devices/virtual/block/loop0"));
        assert_eq!(root.device_path("sdb").as_deref(), Some("/sys/devices/usb1/block/sdb"));
        assert_eq!(root.device_path("sda"), None);
        assert_eq!(root.block_devices(), ["loop0", "sda"]);
    }

    #[test]
    fn dangling_links_still_name_the_device() {
        let (_dir, root) = tree();
        fs::create_dir_all(root.at("/dev/disk/by-id")).unwrap();
        std::os::unix::fs::symlink("../../sda", root.at("/dev/disk/by-id/ata-X")).unwrap();
        assert_eq!(root.follow("/dev/disk/by-id/ata-X"), "/dev/sda");
    }
}
