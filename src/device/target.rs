//! From what a user names (a drive id, `sda`, `/dev/disk/by-id/…`, a file) to the drive that is meant.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};
use nix::sys::statvfs::{FsFlags, statvfs};
use uuid::Uuid;

use super::facts::Facts;
use super::ownership::Users;
use super::sysfs::SysRoot;
use super::{ioctl, names};
use crate::model::drive::{
    Declared, DeviceKind, Drive, DriveId, Host, Identity, IdentityBasis, Inventory, QueueLimits, Reading, Transport,
    Unknown,
};
use crate::model::page::Pages;
use crate::model::recording::Recording;
use crate::model::run::RefusedReason;
use crate::model::units::Bytes;

/// What was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetRef {
    /// A whole block device.
    Device {
        /// Its kernel name.
        name: String,
    },
    /// A regular file.
    File {
        /// Its canonical path.
        path: PathBuf,
    },
}

/// A target that exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// What was named.
    pub reference: TargetRef,
    /// The drive: of the inventory, or made for a file.
    pub drive: Drive,
}

/// Why a text names no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Nothing has this name.
    #[error("there is no drive or file `{text}`")]
    NotFound {
        /// What was asked for.
        text: String,
    },
    /// A partition was named.
    #[error("{name} is a partition: name the whole drive {whole}, and give offset and size for a part of it")]
    Partition {
        /// The partition.
        name: String,
        /// The drive it is on.
        whole: String,
    },
    /// A block device that is no drive now.
    #[error("{name} is no drive now: {why}")]
    LeftOut {
        /// The kernel's name.
        name: String,
        /// Why.
        why: String,
    },
    /// Neither a block device nor a regular file with bytes in it.
    #[error("{} is {what}", path.display())]
    NotATarget {
        /// What was asked for.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// It could not be looked at.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// What was asked for.
        path: PathBuf,
        /// What the kernel said.
        error: String,
    },
}

impl ResolveError {
    /// The same as a reason to refuse a run.
    #[must_use]
    pub fn reason(&self) -> RefusedReason {
        match self {
            Self::NotFound { .. } => RefusedReason::NotATarget { what: "nothing that is here".to_owned() },
            Self::Partition { whole, .. } => RefusedReason::NotATarget { what: format!("a partition of {whole}") },
            Self::LeftOut { why, .. } => RefusedReason::NotATarget { what: format!("no drive now: {why}") },
            Self::NotATarget { what, .. } => RefusedReason::NotATarget { what: what.clone() },
            Self::Unreadable { error, .. } => RefusedReason::Unreadable { error: error.clone() },
        }
    }
}

/// Finds the drive that `text` names: a drive id, a kernel name, the path of a device by any of its links,
/// or the absolute path of a regular file.
///
/// # Errors
/// [`ResolveError`] when it names nothing, a partition, or something that is neither device nor file.
pub fn resolve(root: &SysRoot, inventory: &Inventory, text: &str) -> Result<Target, ResolveError> {
    let text = text.trim();
    if let Ok(id) = Uuid::parse_str(text) {
        let drive = inventory.by_id(DriveId(id)).ok_or_else(|| ResolveError::NotFound { text: text.to_owned() })?;
        return Ok(target(drive));
    }
    if !text.starts_with('/') {
        return device(root, inventory, text);
    }
    if let Some(name) = names::kernel_name(root, text) {
        return device(root, inventory, &name);
    }
    if root.is_recorded() && text.starts_with("/dev/") {
        return Err(ResolveError::NotFound { text: text.to_owned() });
    }
    file(root, &inventory.host, Path::new(text))
}

fn target(drive: &Drive) -> Target {
    let reference = match drive.kind {
        DeviceKind::File => TargetRef::File { path: drive.path.clone() },
        _ => TargetRef::Device { name: drive.name.clone() },
    };
    Target { reference, drive: drive.clone() }
}

fn device(root: &SysRoot, inventory: &Inventory, name: &str) -> Result<Target, ResolveError> {
    let node = PathBuf::from(names::node(name));
    if let Some(drive) = inventory.drives.iter().find(|drive| drive.name == name || drive.paths.contains(&node)) {
        return Ok(target(drive));
    }
    if let Some(left_out) = inventory.left_out.iter().find(|left_out| left_out.name == name) {
        return Err(ResolveError::LeftOut { name: name.to_owned(), why: left_out.why.clone() });
    }
    let not_found = || ResolveError::NotFound { text: name.to_owned() };
    // A name with a slash would leave /sys/block.
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return Err(not_found());
    }
    match names::whole_device(root, name) {
        Some(whole) if whole != name => Err(ResolveError::Partition { name: name.to_owned(), whole }),
        _ => Err(not_found()),
    }
}

/// A regular file as a drive.
fn file(root: &SysRoot, host: &Host, path: &Path) -> Result<Target, ResolveError> {
    let unreadable = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => ResolveError::NotFound { text: path.display().to_string() },
        _ => ResolveError::Unreadable { path: path.to_path_buf(), error: error.to_string() },
    };
    let canonical = fs::canonicalize(path).map_err(|error| unreadable(&error))?;
    let metadata = fs::metadata(&canonical).map_err(|error| unreadable(&error))?;
    if let Some(what) = why_no_file(&metadata) {
        return Err(ResolveError::NotATarget { path: path.to_path_buf(), what: what.to_owned() });
    }
    let opened = File::open(&canonical).map_err(|error| unreadable(&error))?;
    let drive = file_drive(root, host, &canonical, &opened, &metadata);
    Ok(Target { reference: TargetRef::File { path: canonical }, drive })
}

fn why_no_file(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return (metadata.len() == 0).then_some("an empty file: give it a size first (fallocate --length 64G FILE)");
    }
    Some(if kind.is_dir() {
        "a directory: name a file in it"
    } else if kind.is_char_device() {
        "a character device"
    } else if kind.is_block_device() {
        "a block device that the kernel does not list"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "no regular file"
    })
}

pub(super) fn file_drive(root: &SysRoot, host: &Host, path: &Path, opened: &File, metadata: &Metadata) -> Drive {
    let mut facts = Facts::default();
    let (block, block_source) = file_block(root, opened, metadata);
    facts.add("file/logical-block", block_source, &Reading::Known(block), |bytes| format!("{bytes} B"), None);
    let number = format!("/sys/dev/block/{}:{}", major(metadata.dev()), minor(metadata.dev()));
    let backing = names::by_number(root, major(metadata.dev()), minor(metadata.dev()))
        .map_or(Reading::Unknown(Unknown::Absent), Reading::Known);
    facts.text("file/on-device", &number, &backing);
    let read_only_filesystem = statvfs(path).is_ok_and(|statvfs| statvfs.flags().contains(FsFlags::ST_RDONLY));
    let key = format!("path:{}:{}", host.id, path.display());
    Drive {
        id: DriveId::from_identity(&key),
        name: path.display().to_string(),
        path: path.to_path_buf(),
        paths: vec![path.to_path_buf()],
        kind: DeviceKind::File,
        transport: Transport::Kernel,
        simulated: false,
        vendor: None,
        model: None,
        serial: None,
        firmware: None,
        wwn: None,
        array: None,
        identity: Identity { basis: IdentityBasis::Path, key, unique: true, note: None },
        capacity_bytes: Bytes(metadata.len()),
        logical_block_bytes: block,
        physical_block_bytes: None,
        rotational: None,
        rotation_rpm: None,
        temperature_celsius: None,
        removable: false,
        read_only: metadata.permissions().readonly() || read_only_filesystem,
        limits: QueueLimits::default(),
        partitions: Vec::new(),
        usage: Users::read(root).of_file(root, path),
        declared: Declared::nothing(&Unknown::Absent),
        facts: facts.into_list(),
        disagreements: Vec::new(),
        pages: Pages::default(),
        recording: Recording::unexamined(),
    }
}

/// What offsets and lengths must be multiples of for O_DIRECT on a file: what the filesystem says; else the
/// logical block of the device below; else the filesystem's block, within 512 B and 64 KiB.
fn file_block(root: &SysRoot, opened: &File, metadata: &Metadata) -> (u32, String) {
    if let Some(alignment) = ioctl::direct_io_alignment(opened) {
        return (alignment, "statx stx_dio_offset_align".to_owned());
    }
    let below = names::by_number(root, major(metadata.dev()), minor(metadata.dev()))
        .and_then(|name| names::whole_device(root, &name))
        .map(|whole| format!("/sys/block/{whole}/queue/logical_block_size"));
    if let Some(source) = below
        && let Some(size) = root.number(&source).into_known().and_then(|size| u32::try_from(size).ok())
    {
        return (size, source);
    }
    let size = u32::try_from(metadata.blksize().clamp(512, 65_536)).unwrap_or(4096);
    (size, "stat st_blksize".to_owned())
}
