//! The ownership check: every reason not to touch a target, all at once, and a proof when there is none.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc;
use nix::unistd::{AccessFlags, eaccess};

use super::claim::{Incarnation, Unclaimed};
use super::ownership::{Users, same_file};
use super::sysfs::SysRoot;
use super::{contents, inventory};
use crate::model::drive::{DeviceKind, Drive, IdentityBasis, Usage};
use crate::model::run::RefusedReason;
use crate::model::units::Bytes;

/// SCSI device type of a host-managed zoned disk (ZBC).
const HOST_MANAGED: u8 = 0x14;
/// NVMe command set of zoned namespaces (ZNS).
const ZONED_NAMESPACE: u8 = 2;

/// What a run will do to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only read.
    Read,
    /// Write anywhere.
    Write,
    /// Write at the write pointers of its zones only, and reset, open, close and finish them.
    WriteAtPointers,
}

impl Access {
    /// Whether anything is changed.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// [`check_for`] a run that only reads, or that writes anywhere.
///
/// # Errors
/// All reasons that were found.
pub fn check(
    root: &SysRoot,
    drive: &Drive,
    writes: bool,
    own_files: &[PathBuf],
) -> Result<Unclaimed, Vec<RefusedReason>> {
    check_for(root, drive, if writes { Access::Write } else { Access::Read }, own_files)
}

/// Looks at a target *now* and finds every reason not to touch it.
///
/// For a run that writes: is it in use by anything, above or below; does it carry the mark of a pool or
/// array; may it be written at all; can it be told apart; is it one of `own_files`, the
/// service's own files and directories; does somebody hold it exclusively. A run that only reads is allowed on a drive in
/// use, and needs only that the drive is the one that was asked for and opens.
///
/// # Errors
/// All reasons that were found, so that a person sees them together.
pub fn check_for(
    root: &SysRoot,
    drive: &Drive,
    access: Access,
    own_files: &[PathBuf],
) -> Result<Unclaimed, Vec<RefusedReason>> {
    let writes = access.writes();
    if root.is_recorded() {
        return Err(vec![RefusedReason::RecordedHost]);
    }
    let (now, incarnation) = look_again(root, drive).map_err(|reason| vec![reason])?;
    let mut reasons = Vec::new();
    if writes {
        reasons.extend(now.usage.iter().cloned().map(|usage| RefusedReason::InUse { usage }));
        reasons.extend(of_itself(&now));
        if access == Access::Write && takes_only_at_pointers(&now) {
            reasons.push(RefusedReason::SequentialOnly);
        }
        if is_own_file(root, &now, own_files) {
            reasons.push(RefusedReason::OwnFile);
        }
        match contents::examine(&now) {
            Ok(found) => {
                reasons.extend(
                    found.iter().filter_map(contents::Found::usage).map(|usage| RefusedReason::InUse { usage }),
                );
            }
            Err(error) => reasons.push(RefusedReason::Unreadable { error: error.to_string() }),
        }
    }
    // What could not be opened to be examined would only fail once more, in other words.
    if !reasons.iter().any(|reason| matches!(reason, RefusedReason::Unreadable { .. })) {
        reasons.extend(trial(&now, writes, &reasons));
    }
    if reasons.is_empty() {
        Ok(Unclaimed::proved(root.clone(), now, access, own_files.to_vec(), incarnation))
    } else {
        Err(reasons)
    }
}

/// Reads the target anew, and compares it with what was asked for.
fn look_again(root: &SysRoot, asked: &Drive) -> Result<(Drive, Incarnation), RefusedReason> {
    let changed = |what: String| RefusedReason::Changed { what };
    let (now, incarnation) =
        if asked.kind == DeviceKind::File { look_at_file(root, asked)? } else { look_at_device(root, asked)? };
    if now.identity.key != asked.identity.key {
        let is = now.identity.key;
        return Err(changed(format!("its identity is {is}, and was {}", asked.identity.key)));
    }
    if now.capacity_bytes != asked.capacity_bytes {
        let (is, was) = (now.capacity_bytes.get(), asked.capacity_bytes.get());
        return Err(changed(format!("it has {is} bytes, and had {was}")));
    }
    if now.logical_block_bytes != asked.logical_block_bytes {
        let (is, was) = (now.logical_block_bytes, asked.logical_block_bytes);
        return Err(changed(format!("its logical block is {is} bytes, and was {was}")));
    }
    Ok((now, incarnation))
}

fn look_at_device(root: &SysRoot, asked: &Drive) -> Result<(Drive, Incarnation), RefusedReason> {
    // The whole host, not only this device: whether an identity is unique depends on all the others.
    let now = inventory::scan(root).drives.into_iter().find(|drive| drive.name == asked.name);
    let Some(now) = now else {
        return Err(RefusedReason::Changed { what: format!("{} is gone or empty", asked.name) });
    };
    let attribute = |file: &str| format!("/sys/block/{}/{file}", now.name);
    let incarnation = Incarnation::Device {
        number: root.text(&attribute("dev")).into_known().unwrap_or_default(),
        sequence: root.number(&attribute("diskseq")).into_known(),
    };
    Ok((now, incarnation))
}

fn look_at_file(root: &SysRoot, asked: &Drive) -> Result<(Drive, Incarnation), RefusedReason> {
    let metadata = fs::symlink_metadata(&asked.path)
        .map_err(|error| RefusedReason::Unreadable { error: said(&asked.path, &error) })?;
    if !metadata.is_file() {
        return Err(RefusedReason::NotATarget { what: "no regular file any more".to_owned() });
    }
    let mut now = asked.clone();
    now.capacity_bytes = Bytes(metadata.len());
    now.usage = Users::read(root).of_file(root, &asked.path);
    Ok((now, Incarnation::File { device: metadata.dev(), inode: metadata.ino() }))
}

/// Reasons that lie in the drive itself.
fn of_itself(drive: &Drive) -> Vec<RefusedReason> {
    let mut reasons = Vec::new();
    if drive.read_only {
        reasons.push(RefusedReason::ReadOnly);
    }
    if !drive.identity.unique {
        let note = drive.identity.note.clone().unwrap_or_else(|| "another device has the same name".to_owned());
        reasons.push(RefusedReason::IdentityNotUnique { note });
    } else if drive.kind.can_have_serial() && drive.identity.basis == IdentityBasis::Path {
        let note = "it reports neither a usable serial number nor a world wide name".to_owned();
        reasons.push(RefusedReason::IdentityNotUnique { note });
    }
    reasons.extend(RefusedReason::of_paths(drive));
    reasons
}

/// Whether it takes writes only at write pointers, by what it declares: host-managed, or ZNS.
#[must_use]
pub fn takes_only_at_pointers(drive: &Drive) -> bool {
    let declared = &drive.declared;
    declared.device_type.known() == Some(&HOST_MANAGED)
        || declared.nvme_csi.known() == Some(&ZONED_NAMESPACE)
        || declared.queue_zoned.known().is_some_and(|zoned| zoned == "host-managed")
}

/// Whether the target is a file of the service (or in a directory of its own), or a loop device over one. A disk
/// below such a file is mounted, which is a reason already.
fn is_own_file(root: &SysRoot, drive: &Drive, own_files: &[PathBuf]) -> bool {
    let target = match drive.kind {
        DeviceKind::File => Some(drive.path.clone()),
        DeviceKind::Loop => Users::read(root).backing_of(&drive.name).map(Path::to_path_buf),
        _ => None,
    };
    target.is_some_and(|target| own_files.iter().any(|own| same_file(root, own, &target) || target.starts_with(own)))
}

/// Opens the target as the claim will, but for reading, so that a trial is no write to anybody (a device that
/// is closed after writing makes udev look at it again); whether it may be written is asked without opening.
fn trial(drive: &Drive, writes: bool, found: &[RefusedReason]) -> Option<RefusedReason> {
    let exclusive = if writes && drive.kind != DeviceKind::File { libc::O_EXCL } else { 0 };
    let opened =
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECT | libc::O_NONBLOCK | exclusive).open(&drive.path);
    let Some(error) = opened.err() else {
        let allowed = if writes && !drive.read_only { eaccess(&drive.path, AccessFlags::W_OK) } else { Ok(()) };
        let error = io::Error::from(allowed.err()?);
        return Some(RefusedReason::Unreadable { error: said(&drive.path, &error) });
    };
    if error.raw_os_error() != Some(libc::EBUSY) {
        return Some(RefusedReason::Unreadable { error: said(&drive.path, &error) });
    }
    // A mount, a swap space and a holder keep the device exclusively; a mark on the medium does not, so a pool that
    // is marked and active (ZFS) gives both reasons.
    let explained = found.iter().any(|reason| {
        matches!(
            reason,
            RefusedReason::InUse { usage: Usage::Mounted { .. } | Usage::Swap { .. } | Usage::Holder { .. } }
        )
    });
    (!explained).then(|| RefusedReason::InUse { usage: Usage::Exclusive { device: drive.name.clone() } })
}

/// An error with the path it is about.
pub(super) fn said(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
