//! What the kernel says of a device: records of `/dev/kmsg` (Documentation/ABI/testing/dev-kmsg).
//!
//! ```text
//! 3,1234,98765432,-;blk_update_request: I/O error, dev sda, sector 2048 op 0x1:(WRITE) flags 0x8800
//! │ │    │        │ └ text, escaped; lines that follow begin with a blank and are a dictionary
//! │ │    │        └ flags                      └ microseconds since the host started
//! └ level and facility   └ sequence number
//! ```

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;

use super::sysfs::SysRoot;
use crate::model::drive::{DeviceKind, Drive};
use crate::model::surroundings::KernelLine;

const KMSG: &str = "/dev/kmsg";
/// No record is longer: the kernel refuses a shorter buffer with EINVAL, and its own is PRINTK_MESSAGE_MAX, 2048.
const LONGEST_RECORD: usize = 8192;
/// What is kept of one text.
const LONGEST_TEXT: usize = 400;
/// Lines that are kept, the last ones: a disk that dies says the same thing thousands of times.
pub const MOST_LINES: usize = 50;
/// Records looked at in one go; the rest comes with the next.
const MOST_RECORDS: usize = 20_000;

/// The words by which the kernel calls one device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl Names {
    /// Of a target: its kernel name, its SCSI address, the ATA port, USB port and NVMe controller it hangs on. A file has
    /// none: its disk serves others too.
    #[must_use]
    pub fn of(root: &SysRoot, drive: &Drive) -> Self {
        if matches!(drive.kind, DeviceKind::File | DeviceKind::Simulated) {
            return Self::default();
        }
        let path = root.device_path(&drive.name).unwrap_or_default();
        Self::from_path(&drive.name, &path)
    }

    fn from_path(name: &str, path: &str) -> Self {
        let mut names = vec![name.to_owned()];
        // The last step that looks like an address is the drive's; what is above it may be a hub's.
        let steps: Vec<&str> = path.split('/').collect();
        let last = |is: fn(&str) -> bool| steps.iter().rev().find(|step| is(step)).map(|step| (*step).to_owned());
        names.extend(last(is_scsi_address));
        names.extend(last(is_ata_port));
        names.extend(last(is_usb_port));
        names.extend(last(is_nvme_controller));
        Self(names)
    }

    /// Whether a text speaks of the device: one of its names stands there as a word, or with a partition's number behind.
    fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|name| {
            text.match_indices(name.as_str()).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let mut after = text[at + name.len()..].chars();
                let next = after.next();
                let ends_in_digit = name.ends_with(|c: char| c.is_ascii_digit());
                let partition = match next {
                    Some(c) if c.is_ascii_digit() => !ends_in_digit,
                    // As sda1 is a partition of sda, so is nvme0n1p1 of nvme0n1.
                    Some('p') => ends_in_digit && after.next().is_some_and(|c| c.is_ascii_digit()),
                    Some(c) => !c.is_ascii_alphabetic() && c != '_' && !(c == '-' && ends_in_digit),
                    None => true,
                };
                !before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) && partition
            })
        })
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_scsi_address(step: &str) -> bool {
    step.split(':').count() == 4 && step.split(':').all(digits)
}

fn is_ata_port(step: &str) -> bool {
    step.strip_prefix("ata").is_some_and(digits)
}

/// `2-1` or `2-1.4`, not `2-1:1.0`.
fn is_usb_port(step: &str) -> bool {
    step.split_once('-').is_some_and(|(bus, port)| digits(bus) && port.split('.').all(digits))
}

fn is_nvme_controller(step: &str) -> bool {
    step.strip_prefix("nvme").is_some_and(digits)
}

/// One record; `None` for what is none.
fn parse(record: &[u8]) -> Option<KernelLine> {
    let record = String::from_utf8_lossy(record);
    let (head, text) = record.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let t_us = fields.nth(1)?.parse().ok()?;
    // A dictionary follows on lines of its own.
    let text = text.split('\n').next().unwrap_or_default();
    let text = text.chars().take(LONGEST_TEXT).collect();
    Some(KernelLine { t_us, level: u8::try_from(priority & 7).ok()?, text })
}

/// The log from one moment on, for one device.
#[derive(Debug)]
pub struct KernelLog {
    file: Result<File, String>,
    names: Names,
    lines: Vec<KernelLine>,
    note: Option<String>,
}

impl KernelLog {
    /// From now on.
    #[must_use]
    pub fn from_now(root: &SysRoot, names: Names) -> Self {
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(root.at(KMSG));
        let opened = opened.and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| file));
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => format!(
                "{KMSG} may not be read by this process: run the service with CAP_SYSLOG, or sysctl kernel.dmesg_restrict=0"
            ),
            _ => format!("{KMSG} cannot be read: {error}"),
        });
        Self { file, names, lines: Vec::new(), note: None }
    }

    /// Reads what has come. Whether there was anything of the device.
    pub fn read(&mut self) -> bool {
        let Ok(file) = &mut self.file else { return false };
        let mut record = [0_u8; LONGEST_RECORD];
        let mut found = false;
        for _ in 0..MOST_RECORDS {
            match file.read(&mut record) {
                Ok(len) => {
                    let line = record.get(..len).and_then(parse);
                    let Some(line) = line.filter(|line| self.names.are_in(&line.text)) else { continue };
                    found = true;
                    self.lines.push(line);
                    if self.lines.len() > MOST_LINES {
                        self.lines.remove(0);
                        self.note = Some(format!("Only the last {MOST_LINES} lines are kept."));
                    }
                }
                // Overwritten before it was read; the next read goes on behind the gap.
                Err(error) if error.raw_os_error() == Some(libc::EPIPE) => {
                    self.note = Some("The kernel has overwritten records before they could be read.".to_owned());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        found
    }

    /// The lines so far, oldest first, and what is missing of them or why there are none.
    #[must_use]
    pub fn told(&self) -> (Vec<KernelLine>, Option<String>) {
        (self.lines.clone(), self.file.as_ref().err().cloned().or_else(|| self.note.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SATA: &str = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    const USB: &str =
        "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1.4/2-1.4:1.0/host6/target6:0:0/6:0:0:0/block/sdc";

    #[test]
    fn a_record_is_read_with_its_time_and_level() {
        let record = b"3,1234,98765432,-;blk_update_request: I/O error, dev sda, sector 2048\n SUBSYSTEM=block\n";
        let line = parse(record).unwrap();
        assert_eq!((line.t_us, line.level), (98_765_432, 3));
        assert_eq!(line.text, "blk_update_request: I/O error, dev sda, sector 2048");
        // Facility 1, as a program writes it.
        assert_eq!(parse(b"12,9,1,-;hello").map(|line| line.level), Some(4));
        for nonsense in [&b""[..], b";", b"x,1,2,-;t", b"3,1;t", b"3,1,2,-"] {
            assert_eq!(parse(nonsense), None);
        }
    }

    #[test]
    fn real_messages_are_given_to_the_drive_they_are_of() {
        let sda = Names::from_path("sda", SATA);
        for text in [
            "sd 0:0:0:0: [sda] tag#12 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=30s",
            "blk_update_request: critical medium error, dev sda, sector 7814037160 op 0x0:(READ) flags 0x80700",
            "ata1.00: exception Emask 0x0 SAct 0x40000 SErr 0x0 action 0x6 frozen",
            "ata1: hard resetting link",
            "Buffer I/O error on dev sda1, logical block 0, async page read",
        ] {
            assert!(sda.are_in(text), "{text}");
        }
        for text in [
            "sd 10:0:0:0: [sdaa] Attached SCSI disk",
            "ata11.00: failed command: READ FPDMA QUEUED",
            "I/O error, dev nvme0n1, sector 0",
            "EXT4-fs (dm-0): mounted filesystem",
            "usb 2-1: USB disconnect, device number 3",
        ] {
            assert!(!sda.are_in(text), "{text}");
        }
        let usb = Names::from_path("sdc", USB);
        assert!(usb.are_in("usb 2-1.4: reset SuperSpeed USB device number 4 using xhci_hcd"));
        assert!(usb.are_in("sd 6:0:0:0: [sdc] tag#3 uas_eh_abort_handler 0 uas-tag 4 inflight: CMD OUT"));
        assert!(!usb.are_in("usb 2-1.3: USB disconnect, device number 3"));
        let nvme = Names::from_path("nvme0n1", "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1");
        assert!(nvme.are_in("nvme nvme0: I/O 22 (I/O Cmd) QID 1 timeout, aborting"));
        assert!(nvme.are_in("I/O error, dev nvme0n1p2, sector 5"));
        assert!(!nvme.are_in("nvme nvme1: controller is down") && !nvme.are_in("I/O error, dev nvme0n10, sector 5"));
        let loop1 = Names::from_path("loop1", "/sys/devices/virtual/block/loop1");
        assert!(loop1.are_in("I/O error, dev loop1, sector 0 op 0x0:(READ)") && !loop1.are_in("dev loop12, sector 0"));
    }

    #[test]
    fn a_log_that_cannot_be_read_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = KernelLog::from_now(&SysRoot::recorded(dir.path()), Names::default());
        assert!(!log.read());
        assert!(log.told().1.is_some_and(|why| why.contains("/dev/kmsg")));
    }
}
