//! `/proc/self/mountinfo` and `/proc/swaps` (proc(5)).

use std::collections::HashMap;
use std::path::PathBuf;

use super::names;
use super::sysfs::SysRoot;

/// One mounted filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// `major:minor` of the device as stat(2) shows it on the filesystem. btrfs, overlay and the like have a number
    /// of their own here (major 0), so it does not always name a device.
    pub number: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// The filesystem type.
    pub fs_type: String,
    /// Every path of a device in the line: the source, and log or journal devices in the options.
    pub sources: Vec<String>,
}

/// Reads the mounts that this process sees.
///
/// Mounts of another mount namespace (a container) are not in the list; the exclusive open of the claim finds
/// what this list cannot.
#[must_use]
pub fn mounts(root: &SysRoot) -> Vec<Mount> {
    let text = root.document("/proc/self/mountinfo").into_known().unwrap_or_default();
    text.lines().filter_map(parse_mount).collect()
}

/// `36 35 98:0 /root /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=continue`; the number of fields before the
/// lone dash varies.
fn parse_mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(2);
    let number = before.next()?.to_owned();
    let mount_point = unescape(before.nth(1)?);
    let mut after = after.split(' ');
    let fs_type = after.next()?.to_owned();
    let source = unescape(after.next().unwrap_or_default());
    let options = unescape(after.next().unwrap_or_default());
    // bcachefs lists its members with colons; xfs and ext4 name a second device as `logdev=/dev/sdb1`.
    let in_options = options.split(',').filter_map(|option| option.split_once('=').map(|(_, value)| value));
    let sources =
        source.split(':').chain(in_options).filter(|path| path.starts_with("/dev/")).map(str::to_owned).collect();
    Some(Mount { number, mount_point, fs_type, sources })
}

/// An active swap space: a device or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The path as given to swapon.
    pub path: PathBuf,
    /// Whether it is a file on a filesystem.
    pub is_file: bool,
}

/// Reads the active swap spaces.
#[must_use]
pub fn swaps(root: &SysRoot) -> Vec<Swap> {
    let text = root.document("/proc/swaps").into_known().unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let path = unescape(fields.next()?);
            let is_file = fields.next()? == "file";
            Some(Swap { path: PathBuf::from(path.trim_end_matches(" (deleted)")), is_file })
        })
        .collect()
}

/// The kernel names of the devices behind paths, each looked up once.
#[derive(Debug)]
pub struct NameCache<'a> {
    root: &'a SysRoot,
    known: HashMap<String, Option<String>>,
}

impl<'a> NameCache<'a> {
    /// An empty one.
    #[must_use]
    pub fn new(root: &'a SysRoot) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// The kernel name of the block device at `path`.
    pub fn name(&mut self, path: &str) -> Option<String> {
        if let Some(name) = self.known.get(path) {
            return name.clone();
        }
        let real = if path == "/dev/root" { root_device(self.root) } else { None };
        let name = names::kernel_name(self.root, real.as_deref().unwrap_or(path));
        self.known.insert(path.to_owned(), name.clone());
        name
    }
}

/// `/dev/root` is no node: the kernel writes it for the root filesystem it mounted itself, from `root=` on its
/// command line.
fn root_device(root: &SysRoot) -> Option<String> {
    let line = root.document("/proc/cmdline").into_known()?;
    let value = line.split_ascii_whitespace().filter_map(|word| word.strip_prefix("root=")).next_back()?;
    let by_tag =
        [("UUID=", "by-uuid"), ("PARTUUID=", "by-partuuid"), ("LABEL=", "by-label"), ("PARTLABEL=", "by-partlabel")];
    for (tag, dir) in by_tag {
        if let Some(tagged) = value.strip_prefix(tag) {
            return Some(format!("/dev/disk/{dir}/{tagged}"));
        }
    }
    value.starts_with("/dev/").then(|| value.to_owned())
}

/// The kernel writes space, tab, newline and backslash in these files as `\040` and so on.
fn unescape(field: &str) -> String {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let octal =
            after.get(..3).filter(|digits| byte == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        let code = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        if let Some(code) = code {
            bytes.push(code);
            rest = after.get(3..).unwrap_or_default();
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_optional_fields_and_escapes_reads() {
        let mount = parse_mount(
            r"36 35 8:1 /root /mnt/my\040disk rw,noatime shared:1 master:2 - xfs /dev/sda1 rw,logdev=/dev/sdb1,sunit=8",
        )
        .unwrap();
        assert_eq!((mount.number.as_str(), mount.mount_point.as_str()), ("8:1", "/mnt/my disk"));
        assert_eq!(mount.sources, ["/dev/sda1", "/dev/sdb1"]);
    }

    #[test]
    fn what_is_no_device_is_no_source() {
        let mount = parse_mount("22 27 0:21 / /proc rw,relatime - proc proc rw").unwrap();
        assert!(mount.sources.is_empty());
        assert_eq!(parse_mount("nonsense"), None);
        assert_eq!(unescape(r"a\04"), r"a\04");
        assert_eq!(unescape(r"\777"), r"\777");
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_it_panic(line in ".{0,80}", tail in "[\\\\0-9]{0,8}") {
            let _ = parse_mount(&format!("1 2 8:0 / /{line} rw - ext4 /dev/{tail} rw"));
            let _ = parse_mount(&line);
            let _ = unescape(&tail);
        }
    }

    #[test]
    fn every_member_of_a_bcachefs_is_a_source() {
        let mount = parse_mount("1 2 0:50 / /b rw - bcachefs /dev/sda:/dev/sdb rw").unwrap();
        assert_eq!(mount.sources, ["/dev/sda", "/dev/sdb"]);
    }
}
