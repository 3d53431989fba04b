//! ATA general purpose logs (ACS-4 §9): the directory, and the IDENTIFY DEVICE data log 0x30.

use super::characteristics::zoned;
use super::page::not_trusted;
use crate::model::drive::{Reading, ZonedField};

/// The log that tells what IDENTIFY tells, and more.
pub const IDENTIFY_LOG: u8 = 0x30;
/// Its page of supported capabilities.
pub const CAPABILITIES: u8 = 0x03;
/// Its page of zoned device information (ZAC-2).
pub const ZONED_DEVICE: u8 = 0x09;

/// What page 0x09 of log 0x30 says. `None` where the valid bit is off or all ones say "no limit".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZonedDevice {
    /// Qword 8 bit 0: zones that must be written in order may be read anywhere.
    pub unrestricted_reads: Option<bool>,
    /// Qword at 24: optimal number of open sequential-write-preferred zones.
    pub optimal_open: Option<u32>,
    /// Qword at 32: optimal number of those written out of order.
    pub optimal_non_sequential: Option<u32>,
    /// Qword at 40: how many sequential-write-required zones may be open.
    pub max_open: Option<u32>,
}

/// How many pages a log has, by the directory (log 0x00 page 0x00, word N for log N).
#[must_use]
pub fn pages_of(directory: &[u8], log: u8) -> Reading<u16> {
    let at = 2 * usize::from(log);
    match (directory.len(), directory.get(at..at + 2)) {
        (512.., Some(&[low, high])) => Reading::Known(u16::from_le_bytes([low, high])),
        (length, _) => not_trusted(format!("the log directory is {length} bytes long, must be 512")),
    }
}

/// Whether log 0x30 has a page, by its page 0x00.
#[must_use]
pub fn offers(list: &[u8], page: u8) -> bool {
    let count = list.get(8).copied().map_or(0, usize::from);
    list.get(9..).unwrap_or_default().iter().take(count).any(|offered| *offered == page)
}

/// The qword at `at` of a page of log 0x30, when its bit 63 says that it is valid.
fn qword(data: &[u8], at: usize) -> Option<u64> {
    let field = data.get(at..at + 8).and_then(|field| <[u8; 8]>::try_from(field).ok())?;
    Some(u64::from_le_bytes(field)).filter(|number| number >> 63 == 1)
}

/// Whether this is the page of log 0x30 that was asked for: bits 23:16 of its first qword.
fn checked(data: &[u8], page: u8) -> Reading<()> {
    match qword(data, 0) {
        Some(header) if header.to_le_bytes()[2] == page => Reading::Known(()),
        Some(header) => {
            not_trusted(format!("asked for page 0x{page:02x} of log 0x30, got page 0x{:02x}", header.to_le_bytes()[2]))
        }
        None => not_trusted(format!("page 0x{page:02x} of log 0x30 has no valid header")),
    }
}

/// Page 0x03: ZONED, which took the place of IDENTIFY word 69 bits 1:0.
#[must_use]
pub fn capabilities_zoned(data: &[u8]) -> Reading<ZonedField> {
    checked(data, CAPABILITIES).and_then(|()| match qword(data, 104) {
        Some(number) => Reading::Known(zoned(number.to_le_bytes()[0])),
        None => not_trusted("page 0x03 of log 0x30 has no valid zoned capabilities".to_owned()),
    })
}

/// Page 0x09.
#[must_use]
pub fn zoned_device(data: &[u8]) -> Reading<ZonedDevice> {
    checked(data, ZONED_DEVICE).map(|()| {
        let count = |at| {
            let low = qword(data, at).and_then(|number| u32::try_from(number & 0xffff_ffff).ok());
            low.filter(|number| *number != u32::MAX)
        };
        ZonedDevice {
            unrestricted_reads: qword(data, 8).map(|number| number & 1 == 1),
            optimal_open: count(24),
            optimal_non_sequential: count(32),
            max_open: count(40),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u8, qwords: &[(usize, u64)]) -> Vec<u8> {
        let mut data = vec![0_u8; 512];
        let header = (1_u64 << 63) | (u64::from(number) << 16) | 1;
        for (at, value) in [(0, header)].iter().chain(qwords) {
            data[*at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        data
    }

    const VALID: u64 = 1 << 63;

    #[test]
    fn zoned_of_the_log_counts_only_with_its_valid_bit() {
        assert_eq!(capabilities_zoned(&page(3, &[(104, VALID | 2)])).into_known(), Some(ZonedField::DriveManaged));
        assert!(capabilities_zoned(&page(3, &[(104, 2)])).known().is_none());
        assert!(capabilities_zoned(&page(9, &[(104, VALID | 2)])).known().is_none(), "another page's bytes");
        assert!(capabilities_zoned(&[0; 512]).known().is_none());
    }

    #[test]
    fn limits_of_a_zac_drive_read() {
        let data = page(9, &[(8, VALID | 1), (24, VALID | 0xffff_ffff), (40, VALID | 128)]);
        let zoned = zoned_device(&data).into_known().unwrap();
        assert_eq!((zoned.unrestricted_reads, zoned.optimal_open), (Some(true), None));
        assert_eq!((zoned.optimal_non_sequential, zoned.max_open), (None, Some(128)));
    }

    #[test]
    fn a_log_is_asked_for_only_where_the_directory_has_it() {
        let mut directory = vec![0_u8; 512];
        directory[0x60] = 10;
        assert_eq!(pages_of(&directory, 0x30), Reading::Known(10));
        assert_eq!(pages_of(&directory, 0x10), Reading::Known(0));
        assert!(pages_of(&directory[..100], 0x30).known().is_none());
        let mut list = vec![0_u8; 512];
        list[8..13].copy_from_slice(&[3, 0, 1, 3, 9]);
        assert!(offers(&list, 3) && !offers(&list, 9), "the fourth is beyond the count");
        assert!(!offers(&[], 0));
    }
}
