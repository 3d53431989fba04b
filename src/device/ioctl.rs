//! The questions only a system call answers. **Unsafe room 1**: the functions outward are safe.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::libc;

/// A system call on a device or file that failed.
#[derive(Debug, thiserror::Error)]
#[error("{call} on {}: {source}", path.display())]
pub struct CallError {
    /// The call.
    pub call: &'static str,
    /// The device or file.
    pub path: PathBuf,
    /// What the kernel said.
    #[source]
    pub source: io::Error,
}

mod raw {
    use nix::libc::c_int;
    use nix::{ioctl_read, ioctl_read_bad, request_code_none};

    // include/uapi/linux/fs.h. The kernel writes a u64 to BLKGETSIZE64 although its number is made with size_t.
    ioctl_read!(blkgetsize64, 0x12, 114, usize);
    ioctl_read_bad!(blksszget, request_code_none!(0x12, 104), c_int);
    ioctl_read!(blkgetdiskseq, 0x12, 128, u64);
}

/// The size of a block device, bytes (BLKGETSIZE64).
///
/// # Errors
/// [`CallError`] when the kernel refuses, as it does for anything but a block device.
pub fn size_bytes(device: &File, path: &Path) -> Result<u64, CallError> {
    // The kernel stores 64 bits whatever size_t is; on a 32-bit machine a usize would be overrun.
    let mut size = 0_u64;
    // SAFETY: the descriptor is open for as long as `device` is borrowed, and the pointer is to eight
    // writable bytes, aligned for u64 and so for usize, which is what BLKGETSIZE64 fills.
    let result = unsafe { raw::blkgetsize64(device.as_raw_fd(), (&raw mut size).cast()) };
    result.map_err(|errno| failed("BLKGETSIZE64", path, errno))?;
    Ok(size)
}

/// The logical block of a block device, bytes (BLKSSZGET).
///
/// # Errors
/// [`CallError`] when the kernel refuses, or answers a size that is none.
pub fn logical_block_bytes(device: &File, path: &Path) -> Result<u32, CallError> {
    let mut size: libc::c_int = 0;
    // SAFETY: the descriptor is open for as long as `device` is borrowed, and the pointer is to the one
    // writable int that BLKSSZGET fills.
    let result = unsafe { raw::blksszget(device.as_raw_fd(), &raw mut size) };
    result.map_err(|errno| failed("BLKSSZGET", path, errno))?;
    match u32::try_from(size) {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(failed("BLKSSZGET", path, nix::errno::Errno::ERANGE)),
    }
}

/// The number the kernel gave this disk when it appeared (BLKGETDISKSEQ, Linux 5.15): no two disks of
/// one boot share it, even under one name. `None` where the kernel does not know the question.
#[must_use]
pub fn disk_sequence(device: &File) -> Option<u64> {
    let mut sequence = 0_u64;
    // SAFETY: the descriptor is open for as long as `device` is borrowed, and the pointer is to the one
    // writable u64 that BLKGETDISKSEQ fills.
    unsafe { raw::blkgetdiskseq(device.as_raw_fd(), &raw mut sequence) }.ok().map(|_| sequence)
}

/// What a file's offsets and lengths must be multiples of for O_DIRECT, bytes (statx
/// STATX_DIOALIGN, Linux 6.1). `None` where the kernel or the filesystem does not say.
#[must_use]
pub fn direct_io_alignment(file: &File) -> Option<u32> {
    let mut answer = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the descriptor is open for as long as `file` is borrowed, the name is an empty C string
    // (AT_EMPTY_PATH: the descriptor itself), and the pointer is to a whole, writable `struct statx`.
    let result = unsafe {
        libc::statx(file.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN, answer.as_mut_ptr())
    };
    if result != 0 {
        return None;
    }
    // SAFETY: it was zeroed, every field is a plain integer, and the call has succeeded.
    let answer = unsafe { answer.assume_init() };
    let told = answer.stx_mask & libc::STATX_DIOALIGN != 0 && answer.stx_dio_offset_align != 0;
    told.then_some(answer.stx_dio_offset_align)
}

fn failed(call: &'static str, path: &Path, errno: nix::errno::Errno) -> CallError {
    CallError { call, path: path.to_path_buf(), source: errno.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_file_is_no_block_device_and_the_error_says_which_call_and_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = size_bytes(file.as_file(), file.path()).unwrap_err();
        assert!(error.to_string().contains("BLKGETSIZE64"), "{error}");
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
        assert!(logical_block_bytes(file.as_file(), file.path()).is_err());
        assert_eq!(disk_sequence(file.as_file()), None);
    }

    #[test]
    fn an_alignment_is_a_power_of_two_where_it_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        if let Some(alignment) = direct_io_alignment(file.as_file()) {
            assert!(alignment.is_power_of_two());
        }
    }
}
