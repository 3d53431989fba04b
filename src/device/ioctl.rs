//! The questions only a system call answers. **Unsafe room 1**: the functions outward are safe.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use nix::libc;

use super::command::{Command, Identify};
use super::sense::Sense;

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
    use nix::{ioctl_read, ioctl_read_bad, ioctl_readwrite, ioctl_readwrite_bad, ioctl_write_ptr, request_code_none};

    // include/uapi/linux/fs.h. The kernel writes a u64 to BLKGETSIZE64 although its number is made with size_t.
    ioctl_read!(blkgetsize64, 0x12, 114, usize);
    ioctl_read_bad!(blksszget, request_code_none!(0x12, 104), c_int);
    ioctl_read!(blkgetdiskseq, 0x12, 128, u64);
    // include/uapi/linux/blkzoned.h
    ioctl_readwrite!(blkreportzone, 0x12, 130, super::ZoneReportHeader);
    ioctl_write_ptr!(blkresetzone, 0x12, 131, super::ZoneRange);
    ioctl_read!(blkgetzonesz, 0x12, 132, u32);
    ioctl_read!(blkgetnrzones, 0x12, 133, u32);
    ioctl_write_ptr!(blkopenzone, 0x12, 134, super::ZoneRange);
    ioctl_write_ptr!(blkclosezone, 0x12, 135, super::ZoneRange);
    ioctl_write_ptr!(blkfinishzone, 0x12, 136, super::ZoneRange);
    // include/scsi/sg.h
    ioctl_readwrite_bad!(sg_io, 0x2285, super::SgIoHeader);
    // include/uapi/linux/nvme_ioctl.h
    ioctl_readwrite!(nvme_admin, b'N', 0x41, super::NvmeAdminCommand);
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

/// Gives up `len` bytes from `offset`: a discard on a block device (Linux 4.9, block/fops.c), a hole in a file.
///
/// Not by nix: its offsets are 32 bits wide on a 32-bit machine.
///
/// # Errors
/// What the kernel said.
pub fn punch_hole(file: &File, offset: u64, len: u32) -> io::Result<()> {
    let offset = i64::try_from(offset).map_err(|_| io::Error::from(nix::errno::Errno::EFBIG))?;
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and no memory is handed over.
    let result = unsafe { libc::fallocate64(file.as_raw_fd(), mode, offset, i64::from(len)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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

/// `struct sg_io_hdr` of include/scsi/sg.h, version 3.
#[repr(C)]
pub(super) struct SgIoHeader {
    interface_id: i32,
    dxfer_direction: i32,
    cmd_len: u8,
    mx_sb_len: u8,
    iovec_count: u16,
    dxfer_len: u32,
    dxferp: *mut c_void,
    cmdp: *const u8,
    sbp: *mut u8,
    timeout: u32,
    flags: u32,
    pack_id: i32,
    usr_ptr: *mut c_void,
    status: u8,
    masked_status: u8,
    msg_status: u8,
    sb_len_wr: u8,
    host_status: u16,
    driver_status: u16,
    resid: i32,
    duration: u32,
    info: u32,
}

/// What a SCSI command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScsiAnswer {
    /// The data, as long as the drive sent it.
    Data(Vec<u8>),
    /// CHECK CONDITION with this sense.
    Refused(Sense),
    /// Neither: it did not reach the drive or come back. The numbers are the kernel's.
    Failed {
        /// SCSI status.
        status: u8,
        /// DID_…; 3 is a timeout, 1 "no connection".
        host: u16,
        /// DRIVER_…; 8 means that there is sense data.
        driver: u16,
    },
}

/// Sends one command that returns data (SG_IO, version 3). Blocks until the drive answers, or until the kernel gives it
/// up after `timeout` and resets what it must: let it be long, and wait on another thread.
///
/// # Errors
/// [`CallError`] when the kernel does not send it: no permission, or a device that takes no SCSI commands.
pub fn scsi(device: &File, path: &Path, command: &Command, timeout: Duration) -> Result<ScsiAnswer, CallError> {
    /// SG_DXFER_FROM_DEV
    const FROM_DEVICE: i32 = -3;
    const CHECK_CONDITION: u8 = 0x02;
    let cdb = command.cdb();
    let mut data = vec![0_u8; command.allocation()];
    let mut sense = [0_u8; 64];
    let too_long = || failed("SG_IO", path, nix::errno::Errno::EINVAL);
    let mut header = SgIoHeader {
        interface_id: i32::from(b'S'),
        dxfer_direction: FROM_DEVICE,
        cmd_len: u8::try_from(cdb.len()).map_err(|_| too_long())?,
        mx_sb_len: 64,
        iovec_count: 0,
        dxfer_len: u32::try_from(data.len()).map_err(|_| too_long())?,
        dxferp: data.as_mut_ptr().cast(),
        cmdp: cdb.as_ptr(),
        sbp: sense.as_mut_ptr(),
        timeout: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
        flags: 0,
        pack_id: 0,
        usr_ptr: ptr::null_mut(),
        status: 0,
        masked_status: 0,
        msg_status: 0,
        sb_len_wr: 0,
        host_status: 0,
        driver_status: 0,
        resid: 0,
        duration: 0,
        info: 0,
    };
    // SAFETY: the descriptor is open for as long as `device` is borrowed. The header has the layout of struct sg_io_hdr;
    // its three pointers are to the command, to `data` and to `sense`, which outlive the call, and the lengths beside
    // them are theirs. The direction is from the device, so the kernel only reads the command.
    let result = unsafe { raw::sg_io(device.as_raw_fd(), &raw mut header) };
    result.map_err(|errno| failed("SG_IO", path, errno))?;
    let told = sense.get(..usize::from(header.sb_len_wr)).unwrap_or_default();
    if header.status == CHECK_CONDITION
        && let Some(sense) = Sense::decode(told)
        // Key 1 is a success that has something to tell.
        && sense.key > 1
    {
        return Ok(ScsiAnswer::Refused(sense));
    }
    // DRIVER_SENSE (8) beside a recovered error is no failure.
    let well = matches!(header.status, 0 | CHECK_CONDITION) && header.host_status == 0 && header.driver_status & 7 == 0;
    if !well {
        let (status, host, driver) = (header.status, header.host_status, header.driver_status);
        return Ok(ScsiAnswer::Failed { status, host, driver });
    }
    let missing = usize::try_from(header.resid).unwrap_or(0);
    data.truncate(data.len().saturating_sub(missing));
    Ok(ScsiAnswer::Data(data))
}

/// `struct nvme_admin_cmd` of include/uapi/linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
pub(super) struct NvmeAdminCommand {
    opcode: u8,
    flags: u8,
    rsvd1: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

/// What an NVMe identify command returns always.
const IDENTIFY_BYTES: usize = 4096;

/// Sends NVMe Identify (admin command 06h, NVME_IOCTL_ADMIN_CMD). Blocks like [`scsi`].
///
/// # Errors
/// [`CallError`] when the kernel does not send it; `Ok(Err(status))` when the drive refuses it.
pub fn nvme_identify(
    device: &File,
    path: &Path,
    what: Identify,
    namespace: u32,
    timeout: Duration,
) -> Result<Result<Vec<u8>, u16>, CallError> {
    const IDENTIFY: u8 = 0x06;
    let mut data = vec![0_u8; IDENTIFY_BYTES];
    let (cdw10, cdw11) = what.dwords();
    let mut command = NvmeAdminCommand {
        opcode: IDENTIFY,
        nsid: if what.is_of_namespace() { namespace } else { 0 },
        addr: data.as_mut_ptr().expose_provenance() as u64,
        data_len: 4096,
        cdw10,
        cdw11,
        timeout_ms: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
        ..NvmeAdminCommand::default()
    };
    // SAFETY: the descriptor is open for as long as `device` is borrowed. The command has the layout of struct
    // nvme_admin_cmd, its opcode is Identify, which returns 4096 bytes, and `addr` leads to as many writable ones.
    let status = unsafe { raw::nvme_admin(device.as_raw_fd(), &raw mut command) };
    match status.map_err(|errno| failed("NVME_IOCTL_ADMIN_CMD", path, errno))? {
        0 => Ok(Ok(data)),
        status => Ok(Err(u16::try_from(status).unwrap_or(u16::MAX))),
    }
}

/// `struct blk_zone_report` of include/uapi/linux/blkzoned.h, without the array at its end.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ZoneReportHeader {
    sector: u64,
    nr_zones: u32,
    flags: u32,
}

/// `struct blk_zone` of include/uapi/linux/blkzoned.h. Sectors are of 512 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlkZone {
    /// Where it begins, sectors.
    pub start: u64,
    /// Its length, sectors.
    pub len: u64,
    /// Its write pointer, sectors.
    pub wp: u64,
    /// Its type, as ZBC numbers it.
    pub zone_type: u8,
    /// Its condition, as ZBC numbers it.
    pub cond: u8,
    /// Written out of order.
    pub non_seq: u8,
    /// A reset is advised.
    pub reset: u8,
    resv: [u8; 4],
    /// How much of it can be written, sectors; meaningful when the report's flag says so.
    pub capacity: u64,
    reserved: [u8; 24],
}

/// Zones asked for at once.
const ZONES_AT_ONCE: usize = 4096;

#[repr(C)]
struct ZoneBuffer {
    header: ZoneReportHeader,
    zones: [BlkZone; ZONES_AT_ONCE],
}

// The kernel's layouts: a slip here would be an overrun there.
const _: () = {
    assert!(size_of::<BlkZone>() == 64);
    assert!(size_of::<ZoneReportHeader>() == 16);
    assert!(size_of::<ZoneRange>() == 16);
    assert!(size_of::<ZoneBuffer>() == 16 + 64 * ZONES_AT_ONCE);
    assert!(size_of::<NvmeAdminCommand>() == 72);
    assert!(cfg!(not(target_pointer_width = "64")) || size_of::<SgIoHeader>() == 88);
};

/// The zones from the one at `sector` (of 512 bytes) on, as many as one call gives (BLKREPORTZONE, Linux 4.10); each
/// with its capacity, which on a kernel before 5.9 is its length.
///
/// # Errors
/// [`CallError`] when the kernel refuses, as it does for what it does not have as a zoned device.
pub fn report_zones(device: &File, path: &Path, sector: u64) -> Result<Vec<BlkZone>, CallError> {
    /// BLK_ZONE_REP_CAPACITY
    const HAS_CAPACITY: u32 = 1;
    let zones = u32::try_from(ZONES_AT_ONCE).unwrap_or(0);
    let mut buffer = Box::new(ZoneBuffer {
        header: ZoneReportHeader { sector, nr_zones: zones, flags: 0 },
        zones: [BlkZone::default(); ZONES_AT_ONCE],
    });
    // SAFETY: the descriptor is open for as long as `device` is borrowed. The pointer is to the whole buffer, a header
    // followed at once by as many zones as the header says there is room for; all of it is plain integers.
    let result = unsafe { raw::blkreportzone(device.as_raw_fd(), (&raw mut *buffer).cast()) };
    result.map_err(|errno| failed("BLKREPORTZONE", path, errno))?;
    let count = usize::try_from(buffer.header.nr_zones).unwrap_or(0);
    let mut found = buffer.zones.get(..count).unwrap_or(&buffer.zones).to_vec();
    if buffer.header.flags & HAS_CAPACITY == 0 {
        for zone in &mut found {
            zone.capacity = zone.len;
        }
    }
    Ok(found)
}

/// `struct blk_zone_range` of include/uapi/linux/blkzoned.h. Sectors are of 512 bytes.
#[repr(C)]
pub(super) struct ZoneRange {
    sector: u64,
    nr_sectors: u64,
}

/// What can be done to a zone by an ioctl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ZoneAction {
    Reset,
    Open,
    Close,
    Finish,
}

/// Resets, opens, closes or finishes the zones of `sector..sector+sectors`, of 512 bytes (BLKRESETZONE, Linux 4.10; the others
/// 5.5). Blocks until the drive has done it. Whoever calls it holds a claim for writing: see `zone_management`.
///
/// # Errors
/// [`CallError`] with `ETOOMANYREFS` when the drive takes no more open zones, `EOVERFLOW` no more active ones, `EINVAL` for a
/// range that is no whole zone, `EBADF` for a descriptor that cannot write, and whatever else the kernel says.
pub(super) fn manage_zones(
    device: &File,
    path: &Path,
    action: ZoneAction,
    sector: u64,
    sectors: u64,
) -> Result<(), CallError> {
    let range = ZoneRange { sector, nr_sectors: sectors };
    let descriptor = device.as_raw_fd();
    let (call, result) = match action {
        ZoneAction::Reset => {
            // SAFETY: the descriptor is open for as long as `device` is borrowed, and the pointer is to the whole
            // `struct blk_zone_range` that the kernel reads.
            ("BLKRESETZONE", unsafe { raw::blkresetzone(descriptor, &raw const range) })
        }
        // SAFETY: as above.
        ZoneAction::Open => ("BLKOPENZONE", unsafe { raw::blkopenzone(descriptor, &raw const range) }),
        // SAFETY: as above.
        ZoneAction::Close => ("BLKCLOSEZONE", unsafe { raw::blkclosezone(descriptor, &raw const range) }),
        // SAFETY: as above.
        ZoneAction::Finish => ("BLKFINISHZONE", unsafe { raw::blkfinishzone(descriptor, &raw const range) }),
    };
    result.map(drop).map_err(|errno| failed(call, path, errno))
}

/// The zone size in sectors of 512 bytes and the number of zones (BLKGETZONESZ, BLKGETNRZONES, Linux 4.20). Both are 0
/// for what the kernel does not have as a zoned device; `None` where it does not know the questions.
#[must_use]
pub fn zone_geometry(device: &File) -> Option<(u32, u32)> {
    let (mut size, mut count) = (0_u32, 0_u32);
    // SAFETY: the descriptor is open for as long as `device` is borrowed, and the pointer is to the one writable u32
    // that BLKGETZONESZ fills.
    unsafe { raw::blkgetzonesz(device.as_raw_fd(), &raw mut size) }.ok()?;
    // SAFETY: as above, for BLKGETNRZONES.
    unsafe { raw::blkgetnrzones(device.as_raw_fd(), &raw mut count) }.ok()?;
    Some((size, count))
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
        let second = Duration::from_secs(1);
        let asked = scsi(file.as_file(), file.path(), &Command::inquiry(), second).unwrap_err();
        assert!(asked.to_string().contains("SG_IO"), "{asked}");
        assert!(nvme_identify(file.as_file(), file.path(), Identify::Controller, 0, second).is_err());
        assert!(report_zones(file.as_file(), file.path(), 0).is_err());
        assert_eq!(zone_geometry(file.as_file()), None);
        for action in [ZoneAction::Reset, ZoneAction::Open, ZoneAction::Close, ZoneAction::Finish] {
            assert!(manage_zones(file.as_file(), file.path(), action, 0, 8).is_err());
        }
    }

    #[test]
    fn an_alignment_is_a_power_of_two_where_it_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        if let Some(alignment) = direct_io_alignment(file.as_file()) {
            assert!(alignment.is_power_of_two());
        }
    }
}
