//! What is on a drive or in a file: read only, both ends of it and of each partition.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::libc;

use super::signature::{self, END_BYTES, Image, Role};
use super::sysfs::SysRoot;
use crate::model::drive::{Content, DeviceKind, Drive, Usage};
use crate::model::units::Bytes;

/// A medium could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{} at byte {offset}: {source}", path.display())]
pub struct ContentsError {
    /// The device or file.
    pub path: PathBuf,
    /// Where.
    pub offset: u64,
    /// What the kernel said.
    #[source]
    pub source: io::Error,
}

/// Something found, and which bytes of the drive it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub content: Content,
    /// Whether others depend on it.
    pub member: bool,
    /// The bytes that carry it, from the start of the drive; a run that writes elsewhere leaves it alone.
    pub bytes: Vec<Range<u64>>,
}

impl Found {
    /// The use that a member is in, which refuses writing.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let of = match &self.content.label {
            Some(label) => format!("{} ({label})", self.content.what),
            None => self.content.what.clone(),
        };
        self.member.then(|| Usage::Member { device: self.content.device.clone(), of })
    }
}

/// Looks at a drive of this host, or at a file.
///
/// # Errors
/// [`ContentsError`] when it cannot be opened or read: then nobody knows what would be lost.
pub fn examine(drive: &Drive) -> Result<Vec<Found>, ContentsError> {
    let fail = |offset: u64| move |source: io::Error| ContentsError { path: drive.path.clone(), offset, source };
    // O_NONBLOCK: do not wait for a medium.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&drive.path).map_err(fail(0))?;
    let name = if drive.kind == DeviceKind::File { drive.path.display().to_string() } else { drive.name.clone() };
    let whole = 0..drive.capacity_bytes.get();
    let mut found = Vec::new();
    if drive.kind == DeviceKind::File {
        let what = format!("the file itself ({})", drive.capacity_bytes.decimal());
        found.push(Found {
            content: Content { device: name.clone(), what, label: None },
            member: false,
            bytes: vec![whole.clone()],
        });
    }
    // The kernel caches a partition apart from its disk, so what it still has of the disk may be older than what was
    // written to a partition. Only advice: where it is not taken, nothing is worse than before.
    let _ = posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    let block = u64::from(drive.logical_block_bytes);
    let bare = drive.partitions.is_empty();
    found.extend(look(&file, &name, &whole, bare, block).map_err(|(at, error)| fail(at)(error))?);
    for partition in &drive.partitions {
        let start = partition.start_bytes.get();
        let bytes = start..start.saturating_add(partition.size_bytes.get()).min(whole.end);
        found.push(partition_found(drive, &partition.name, bytes.clone(), partition.size_bytes));
        // Read through the whole device: the partition may have no node (a container has only what it was given).
        found.extend(look(&file, &partition.name, &bytes, true, block).map_err(|(at, error)| fail(at)(error))?);
    }
    Ok(found)
}

/// What is called so has no mark that anybody knows.
pub const UNRECOGNISED: &str = "data that is not recognised";

/// What a run that writes `region` of a drive would destroy, by name. The drive is only read.
///
/// When the medium cannot be read, that is what is told: the plan must not look harmless.
#[must_use]
pub fn losses(root: &SysRoot, drive: &Drive, region: &Range<u64>) -> Vec<Content> {
    let found = if root.is_recorded() {
        // The drives of a recorded host are not here; its partitions are.
        drive
            .partitions
            .iter()
            .map(|partition| {
                let start = partition.start_bytes.get();
                let bytes = start..start.saturating_add(partition.size_bytes.get());
                partition_found(drive, &partition.name, bytes, partition.size_bytes)
            })
            .collect()
    } else {
        match examine(drive) {
            Ok(found) => found,
            Err(error) => {
                let what = format!("contents that could not be examined: {error}");
                return vec![Content { device: drive.name.clone(), what, label: None }];
            }
        }
    };
    let touched = |bytes: &Range<u64>| bytes.start < region.end && region.start < bytes.end;
    found.into_iter().filter(|found| found.bytes.iter().any(touched)).map(|found| found.content).collect()
}

fn partition_found(drive: &Drive, name: &str, bytes: Range<u64>, size: Bytes) -> Found {
    let what = format!("partition {name} ({})", size.decimal());
    Found { content: Content { device: drive.name.clone(), what, label: None }, member: false, bytes: vec![bytes] }
}

/// Recognises what is on `bytes` of a device. `bare`: the kernel lists no partitions in it, so what is not recognised
/// counts as data.
fn look(file: &File, name: &str, bytes: &Range<u64>, bare: bool, block: u64) -> Result<Vec<Found>, (u64, io::Error)> {
    let image = read_image(file, bytes)?;
    let findings = signature::recognise(&image);
    if findings.is_empty() && bare && !image.is_blank() {
        let content = Content { device: name.to_owned(), what: UNRECOGNISED.to_owned(), label: None };
        return Ok(vec![Found { content, member: false, bytes: vec![bytes.clone()] }]);
    }
    Ok(findings
        .into_iter()
        .map(|finding| Found {
            content: Content { device: name.to_owned(), what: finding.what, label: finding.label },
            member: finding.role == Role::Member,
            bytes: match finding.role {
                // A table whose partitions the kernel does not list (a disk image in a file, a kernel without that
                // format) may have one anywhere.
                Role::Table if !bare => table_bytes(bytes, block),
                Role::Table | Role::Content | Role::Member => vec![bytes.clone()],
            },
        })
        .collect())
}

/// A partition table takes the first blocks and, for GPT, its copy the last: 32 blocks of entries are 16 KiB at least.
fn table_bytes(bytes: &Range<u64>, block: u64) -> Vec<Range<u64>> {
    let table = (34 * block).max(2 * block + 16 * 1024);
    let head = bytes.start..bytes.end.min(bytes.start.saturating_add(table));
    let tail = bytes.end.saturating_sub(table).max(bytes.start)..bytes.end;
    vec![head, tail]
}

fn read_image(file: &File, bytes: &Range<u64>) -> Result<Image, (u64, io::Error)> {
    let size = bytes.end.saturating_sub(bytes.start);
    let head = read(file, bytes.start, size.min(END_BYTES))?;
    let tail = match size.checked_sub(END_BYTES) {
        Some(rest) if rest > 0 => read(file, bytes.end - rest.min(END_BYTES), rest.min(END_BYTES))?,
        _ => Vec::new(),
    };
    // A short tail means that the device shrank: then it is not where it is believed to be.
    let tail =
        if u64::try_from(tail.len()) == Ok(size.saturating_sub(END_BYTES).min(END_BYTES)) { tail } else { Vec::new() };
    Ok(Image { size, head, tail })
}

fn read(file: &File, offset: u64, length: u64) -> Result<Vec<u8>, (u64, io::Error)> {
    let mut bytes = vec![0_u8; usize::try_from(length).unwrap_or(0)];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = offset.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
        match file.read_at(rest, at) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((at, error)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
