//! An open device that is asked: one command at a time, and none any more after one that did not come back.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc;
use nix::sys::stat::{major, minor};

use super::Asked;
use crate::device::command::{Command, Identify};
use crate::device::ioctl::{self, CallError, ScsiAnswer};
use crate::model::drive::{Reading, Unknown};
use crate::model::page::PageId;

/// How long the kernel waits for one command. That is its own default, and long on purpose: when it ends, the kernel
/// aborts the command and may reset the drive and its neighbours on the bus, which a drive that is only spinning up
/// must not bring about. Nobody waits here for so long; see [`Desk`](super::desk::Desk).
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// The unit attention key: something changed, the command was not carried out, and may be sent again.
const UNIT_ATTENTION: u8 = 6;

/// An open device.
pub struct Line {
    file: File,
    path: PathBuf,
    broken: Option<Unknown>,
}

impl Line {
    /// Opens a block device for reading, not exclusively, and without waiting for a medium.
    ///
    /// # Errors
    /// Why it cannot be asked: no node, no permission, or a node of another device than `number` (`major:minor`).
    pub fn open(path: &Path, number: &str) -> Result<Self, Unknown> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Unknown::NotPermitted,
            io::ErrorKind::NotFound => Unknown::NotReadable(format!("there is no {} here", path.display())),
            _ => Unknown::NotReadable(error.to_string()),
        })?;
        let node = file.metadata().map_err(|error| Unknown::NotReadable(error.to_string()))?;
        let is = format!("{}:{}", major(node.rdev()), minor(node.rdev()));
        if !node.file_type().is_block_device() || is != number {
            return Err(Unknown::NotReadable(format!("{} is not the block device {number}", path.display())));
        }
        Ok(Self { file, path: path.to_path_buf(), broken: None })
    }

    /// The open device.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Sends a SCSI command.
    pub fn scsi(&mut self, command: &Command) -> Reading<Vec<u8>> {
        if let Some(why) = &self.broken {
            return Reading::Unknown(why.clone());
        }
        let mut answer = ioctl::scsi(&self.file, &self.path, command, COMMAND_TIMEOUT);
        if matches!(&answer, Ok(ScsiAnswer::Refused(sense)) if sense.key == UNIT_ATTENTION) {
            answer = ioctl::scsi(&self.file, &self.path, command, COMMAND_TIMEOUT);
        }
        let why = match answer {
            Ok(ScsiAnswer::Data(data)) => return Reading::Known(data),
            Ok(ScsiAnswer::Refused(sense)) if sense.is_unsupported() => Unknown::Absent,
            Ok(ScsiAnswer::Refused(sense)) => {
                Unknown::NotReadable(format!("the drive answers {}: {sense}", command.name()))
            }
            Ok(ScsiAnswer::Failed { status, host, driver }) => {
                let what = match (host, status) {
                    (3, _) => "no answer from the drive".to_owned(),
                    (1 | 4, _) => "the drive is gone".to_owned(),
                    _ => format!(
                        "the way to the drive failed (status {status:02x}, host {host:02x}, driver {driver:02x})"
                    ),
                };
                // A bridge that was upset by one command is not sent another.
                self.broken = Some(Unknown::NotReadable(format!("{what}, when asked {}", command.name())));
                self.broken.clone().unwrap_or(Unknown::Absent)
            }
            Err(error) => why_not(&error),
        };
        Reading::Unknown(why)
    }

    /// Sends a SCSI command for a page.
    pub fn ask(&mut self, page: PageId, command: &Command) -> Asked {
        Asked { page, source: format!("SG_IO {}", command.name()), answer: self.scsi(command) }
    }

    /// Sends an NVMe identify command for a page.
    pub fn identify(&mut self, page: PageId, what: Identify, namespace: u32) -> Asked {
        let answer = match ioctl::nvme_identify(&self.file, &self.path, what, namespace, COMMAND_TIMEOUT) {
            Ok(Ok(data)) => Reading::Known(data),
            // Status code type 0, Invalid Opcode, Invalid Field, Invalid Namespace: bits 10:0 without "do not retry".
            Ok(Err(status)) if matches!(status & 0x7ff, 0x01 | 0x02 | 0x0b) => Reading::Unknown(Unknown::Absent),
            Ok(Err(status)) => Reading::Unknown(Unknown::NotReadable(format!("the drive answers status {status:#x}"))),
            Err(error) => Reading::Unknown(why_not(&error)),
        };
        Asked { page, source: what.name().to_owned(), answer }
    }
}

/// What the kernel's refusal to send a command means.
pub fn why_not(error: &CallError) -> Unknown {
    match error.source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Unknown::NotPermitted,
        // The device takes no such commands at all.
        Some(libc::ENOTTY | libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP) => Unknown::Absent,
        _ => Unknown::NotReadable(error.source.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_node_and_a_foreign_one_are_told_apart() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let no_device = Line::open(file.path(), "8:0").err().unwrap();
        assert!(matches!(no_device, Unknown::NotReadable(text) if text.contains("not the block device 8:0")));
        let missing = Line::open(Path::new("/dev/no-such-drive"), "8:0").err().unwrap();
        assert!(matches!(missing, Unknown::NotReadable(text) if text.contains("there is no")));
    }

    #[test]
    fn a_missing_capability_is_a_missing_permission_and_a_foreign_device_has_no_answer() {
        let error =
            |code| CallError { call: "SG_IO", path: "/dev/sda".into(), source: io::Error::from_raw_os_error(code) };
        assert_eq!(why_not(&error(libc::EPERM)), Unknown::NotPermitted);
        assert_eq!(why_not(&error(libc::EACCES)), Unknown::NotPermitted);
        assert_eq!(why_not(&error(libc::ENOTTY)), Unknown::Absent);
        assert!(matches!(why_not(&error(libc::ENODEV)), Unknown::NotReadable(_)));
    }
}
