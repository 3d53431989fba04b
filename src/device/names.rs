//! Names of devices: the kernel's, their `/dev` nodes, and their order.

use std::cmp::Ordering;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use nix::sys::stat::{major, minor};

use super::sysfs::SysRoot;

/// `sda` before `sdb` before `sdaa`, `nvme2n1` before `nvme10n1`.
#[must_use]
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (a_word, a_rest) = a.split_at(a.find(|c: char| c.is_ascii_digit()).unwrap_or(a.len()));
    let (b_word, b_rest) = b.split_at(b.find(|c: char| c.is_ascii_digit()).unwrap_or(b.len()));
    // The kernel counts sda … sdz, sdaa: within one prefix the shorter word comes first.
    let same_family = a_word.get(..2) == b_word.get(..2) && a_word.starts_with("sd");
    let words = if same_family { a_word.len().cmp(&b_word.len()) } else { Ordering::Equal };
    words.then_with(|| a_word.cmp(b_word)).then_with(|| numbers(a_rest, b_rest))
}

fn numbers(a: &str, b: &str) -> Ordering {
    if a.is_empty() || b.is_empty() {
        return a.len().cmp(&b.len());
    }
    let (a_digits, a_rest) = a.split_at(a.find(|c: char| !c.is_ascii_digit()).unwrap_or(a.len()));
    let (b_digits, b_rest) = b.split_at(b.find(|c: char| !c.is_ascii_digit()).unwrap_or(b.len()));
    let (a_plain, b_plain) = (a_digits.trim_start_matches('0'), b_digits.trim_start_matches('0'));
    a_plain
        .len()
        .cmp(&b_plain.len())
        .then_with(|| a_plain.cmp(b_plain))
        .then_with(|| natural_order(a_rest, b_rest))
        .then_with(|| a_digits.len().cmp(&b_digits.len()))
}

/// `target` as seen from the place of the link `from`, without `.` and `..`.
#[must_use]
pub fn join(from: &str, target: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        steps.extend(from.split('/').filter(|step| !step.is_empty()));
        steps.pop();
    }
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    format!("/{}", steps.join("/"))
}

/// The node of a kernel name. sysfs writes `!` where the node has `/`: `cciss!c0d0`.
#[must_use]
pub fn node(name: &str) -> String {
    format!("/dev/{}", name.replace('!', "/"))
}

/// The kernel name of the block device, whole or partition, that a path leads to: on this host by the number of the
/// node at its end, in a recording, which has no nodes, by the name at the end of its symbolic links.
///
/// The number matters: without udev, `/dev/mapper/x` is a node of its own and no link, and any
/// name may be given to a node by mknod.
#[must_use]
pub fn kernel_name(root: &SysRoot, path: &str) -> Option<String> {
    if !root.is_recorded() {
        let node = fs::metadata(path).ok()?;
        if !node.file_type().is_block_device() {
            return None;
        }
        return by_number(root, major(node.rdev()), minor(node.rdev()));
    }
    let end = root.follow(path);
    let name = end.strip_prefix("/dev/")?.replace('/', "!");
    (name != "root" && !name.starts_with("mapper!") && !name.starts_with("disk!")).then_some(name)
}

/// The kernel name of the block device with this number.
#[must_use]
pub fn by_number(root: &SysRoot, major: u64, minor: u64) -> Option<String> {
    let link = fs::read_link(root.at(&format!("/sys/dev/block/{major}:{minor}"))).ok()?;
    link.file_name()?.to_str().map(str::to_owned)
}

/// The whole device a kernel name belongs to: `sda` of `sda1`, and of `sda` itself.
#[must_use]
pub fn whole_device(root: &SysRoot, name: &str) -> Option<String> {
    if root.exists(&format!("/sys/block/{name}")) {
        return Some(name.to_owned());
    }
    if let Ok(link) = fs::read_link(root.at(&format!("/sys/class/block/{name}"))) {
        let parent = link.parent()?.file_name()?.to_str()?;
        return Some(parent.to_owned());
    }
    root.block_devices().into_iter().find(|whole| root.exists(&format!("/sys/block/{whole}/{name}/partition")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_in_the_order_a_person_counts_them() {
        let mut drives = vec!["sdaa", "sdb", "nvme10n1", "sda10", "loop0", "nvme2n1", "sda2", "sda", "dm-0", "sdz"];
        drives.sort_by(|a, b| natural_order(a, b));
        assert_eq!(drives, ["dm-0", "loop0", "nvme2n1", "nvme10n1", "sda", "sda2", "sda10", "sdb", "sdz", "sdaa"]);
    }

    #[test]
    fn links_are_joined_without_dots() {
        assert_eq!(join("/sys/block/sda", "../devices/x/block/sda"), "/sys/devices/x/block/sda");
        assert_eq!(join("/dev/disk/by-id/a", "../../sda"), "/dev/sda");
        assert_eq!(join("/a", "/dev/./sdb"), "/dev/sdb");
        assert_eq!(join("/a", "../../../b"), "/b");
    }

    #[test]
    fn a_slash_in_a_node_is_a_bang_in_sysfs() {
        assert_eq!(node("cciss!c0d0"), "/dev/cciss/c0d0");
    }
}
