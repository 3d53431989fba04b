//! No writing without the check: the types see to it.
//!
//! ```text
//! Drive ──check──→ Unclaimed ──claim──→ Claimed::Writable(ClaimedDrive)   O_EXCL | O_DIRECT | O_RDWR
//!          │            │             └→ Claimed::ReadOnly(ReadOnlyDrive)  O_DIRECT | O_RDONLY
//!          └─ all reasons └─ all reasons, looked for once more
//! ```
//! Invariants: an [`Unclaimed`] is made only by [`check_for`] when it finds no reason; a
//! [`ClaimedDrive`] only by [`Unclaimed::claim`]; what writes takes a `&ClaimedDrive`. A claim is
//! released when it is dropped, as the kernel's hold ends with the descriptor.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc;
use nix::sys::stat::{major, minor};

use super::check::{Access, check_for, said};
use super::sysfs::SysRoot;
use super::target::file_drive;
use super::{inventory, ioctl};
use crate::model::drive::{DeviceKind, Drive, Usage};
use crate::model::run::RefusedReason;
use crate::model::units::Bytes;

/// Which appearance of a device or file it is: a name can be taken over within a second (a hot-added disk got
/// the freed `sda` at once), a number of the kernel's counting not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Incarnation {
    /// `sys/block/X/dev`, and `diskseq` where the kernel has it (Linux 5.15).
    Device { number: String, sequence: Option<u64> },
    /// Device number and inode.
    File { device: u64, inode: u64 },
}

/// A target that the check found no reason to refuse, a moment ago. Not yet opened.
///
/// ```compile_fail,E0624
/// # use drivescope::device::Unclaimed;
/// let forge = Unclaimed::proved;
/// ```
#[derive(Debug)]
#[must_use = "it is a proof, to be turned into a claim"]
pub struct Unclaimed {
    root: SysRoot,
    drive: Drive,
    access: Access,
    own_files: Vec<PathBuf>,
    incarnation: Incarnation,
}

impl Unclaimed {
    /// Only the check calls this.
    pub(super) fn proved(
        root: SysRoot,
        drive: Drive,
        access: Access,
        own_files: Vec<PathBuf>,
        incarnation: Incarnation,
    ) -> Self {
        Self { root, drive, access, own_files, incarnation }
    }

    /// The target, as the check saw it.
    #[must_use]
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Takes hold of the target: the whole check once more, as a run may have waited in the queue for days; then the
    /// open; then a look at what was opened, as a name may have changed hands in between.
    ///
    /// # Errors
    /// All reasons, when the target has changed or is in use now.
    pub fn claim(self) -> Result<Claimed, Vec<RefusedReason>> {
        let now = check_for(&self.root, &self.drive, self.access, &self.own_files)?;
        if now.incarnation != self.incarnation {
            let what = "it went away and something came back under its name".to_owned();
            return Err(vec![RefusedReason::Changed { what }]);
        }
        let file = open(&now.drive, now.access.writes()).map_err(|reason| vec![reason])?;
        verify(&file, &now.drive, &now.incarnation).map_err(|reason| vec![reason])?;
        Ok(if now.access.writes() {
            Claimed::Writable(ClaimedDrive { file, drive: now.drive })
        } else {
            Claimed::ReadOnly(ReadOnlyDrive { file, drive: now.drive })
        })
    }
}

/// A target that is open.
#[derive(Debug)]
pub enum Claimed {
    /// Held exclusively, for writing.
    Writable(ClaimedDrive),
    /// Open for reading; others may use it.
    ReadOnly(ReadOnlyDrive),
}

impl Claimed {
    /// A claim on `/dev/null`, which takes everything and keeps nothing: with it an engine can be measured alone. It says
    /// that it has `capacity` bytes.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn of_nothing(capacity: Bytes) -> io::Result<Self> {
        let path = Path::new("/dev/null");
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let root = SysRoot::host();
        let drive = file_drive(&root, &inventory::host(&root), path, &file, &file.metadata()?);
        Ok(Self::Writable(ClaimedDrive { file, drive: Drive { capacity_bytes: capacity, ..drive } }))
    }
}

/// A target held exclusively, that may be written to.
///
/// Nobody else can make one:
/// ```compile_fail,E0451
/// # use drivescope::{device::ClaimedDrive, model::drive::Drive};
/// fn forge(file: std::fs::File, drive: Drive) -> ClaimedDrive {
///     ClaimedDrive { file, drive }
/// }
/// ```
#[derive(Debug)]
pub struct ClaimedDrive {
    file: File,
    drive: Drive,
}

/// A target that can only be read: its descriptor does not write.
#[derive(Debug)]
pub struct ReadOnlyDrive {
    file: File,
    drive: Drive,
}

/// What both sorts of claim have.
macro_rules! claim_accessors {
    ($claim:ty) => {
        impl $claim {
            /// The open file, with O_DIRECT. A clone of it keeps the claim.
            #[must_use]
            pub fn file(&self) -> &File {
                &self.file
            }

            /// The drive, as it was at the moment of the claim.
            #[must_use]
            pub fn drive(&self) -> &Drive {
                &self.drive
            }

            /// Where it was opened.
            #[must_use]
            pub fn path(&self) -> &Path {
                &self.drive.path
            }

            /// How large it is.
            #[must_use]
            pub fn capacity(&self) -> Bytes {
                self.drive.capacity_bytes
            }

            /// Logical block, bytes: every offset and length is a multiple of it.
            #[must_use]
            pub fn logical_block(&self) -> u32 {
                self.drive.logical_block_bytes
            }
        }
    };
}

claim_accessors!(ClaimedDrive);
claim_accessors!(ReadOnlyDrive);

impl Claimed {
    /// The open file, with O_DIRECT. A clone of it keeps the claim.
    #[must_use]
    pub fn file(&self) -> &File {
        match self {
            Self::Writable(claim) => claim.file(),
            Self::ReadOnly(claim) => claim.file(),
        }
    }

    /// The drive, as it was at the moment of the claim.
    #[must_use]
    pub fn drive(&self) -> &Drive {
        match self {
            Self::Writable(claim) => claim.drive(),
            Self::ReadOnly(claim) => claim.drive(),
        }
    }

    /// Where it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.drive().path
    }

    /// How large it is.
    #[must_use]
    pub fn capacity(&self) -> Bytes {
        self.drive().capacity_bytes
    }

    /// Logical block, bytes.
    #[must_use]
    pub fn logical_block(&self) -> u32 {
        self.drive().logical_block_bytes
    }

    /// The claim that may be written to, if it is one.
    #[must_use]
    pub fn writable(&self) -> Option<&ClaimedDrive> {
        match self {
            Self::Writable(claim) => Some(claim),
            Self::ReadOnly(_) => None,
        }
    }
}

fn open(drive: &Drive, writes: bool) -> Result<File, RefusedReason> {
    let is_file = drive.kind == DeviceKind::File;
    // For a block device O_EXCL without O_CREAT is the kernel's exclusive hold (open(2)): mounts, swapon and dm need it
    // too. The last step of the path of a file must still be the file itself.
    let flags = match (is_file, writes) {
        (true, _) => libc::O_DIRECT | libc::O_NOFOLLOW,
        (false, true) => libc::O_DIRECT | libc::O_EXCL,
        (false, false) => libc::O_DIRECT,
    };
    let file = OpenOptions::new().read(true).write(writes).custom_flags(flags).open(&drive.path);
    let file = file.map_err(|error| refused(drive, &error))?;
    if is_file && writes {
        // A file has no exclusive open; the lock keeps out a second run, and whoever else asks for locks.
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(exclusive(drive)),
            Err(TryLockError::Error(error)) => return Err(refused(drive, &error)),
        }
    }
    Ok(file)
}

/// Whether what was opened is what was checked.
fn verify(file: &File, drive: &Drive, incarnation: &Incarnation) -> Result<(), RefusedReason> {
    let changed = |what: &str| RefusedReason::Changed { what: what.to_owned() };
    let metadata = file.metadata().map_err(|error| refused(drive, &error))?;
    match incarnation {
        Incarnation::File { device, inode } => {
            if (metadata.dev(), metadata.ino()) != (*device, *inode) {
                return Err(changed("another file has taken its name"));
            }
            if metadata.len() != drive.capacity_bytes.get() {
                return Err(changed("its length has changed"));
            }
        }
        Incarnation::Device { number, sequence } => {
            let call = |error: ioctl::CallError| RefusedReason::Unreadable { error: error.to_string() };
            if format!("{}:{}", major(metadata.rdev()), minor(metadata.rdev())) != *number {
                return Err(changed("its node leads to another device"));
            }
            if ioctl::size_bytes(file, &drive.path).map_err(call)? != drive.capacity_bytes.get() {
                return Err(changed("its size has changed"));
            }
            if ioctl::logical_block_bytes(file, &drive.path).map_err(call)? != drive.logical_block_bytes {
                return Err(changed("its logical block has changed"));
            }
            let opened = ioctl::disk_sequence(file);
            if opened.is_some() && sequence.is_some() && opened != *sequence {
                return Err(changed("another disk has come under its name"));
            }
        }
    }
    Ok(())
}

fn refused(drive: &Drive, error: &io::Error) -> RefusedReason {
    match error.raw_os_error() {
        Some(libc::EBUSY) => exclusive(drive),
        Some(libc::EROFS) => RefusedReason::ReadOnly,
        _ => RefusedReason::Unreadable { error: said(&drive.path, error) },
    }
}

fn exclusive(drive: &Drive) -> RefusedReason {
    RefusedReason::InUse { usage: Usage::Exclusive { device: drive.name.clone() } }
}
