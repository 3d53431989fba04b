//! What a drive says of its zones: VPD page 0xB6 (ZBC-2 §6.5), the answer to REPORT ZONES (ZBC-2 §5.5), and the kernel's
//! form of it.

use super::limits::big_endian;
use super::page::{not_trusted, payload};
use crate::device::command::{ZONE_DESCRIPTOR, ZONES_HEADER};
use crate::model::drive::{Reading, ZonedCharacteristics};
use crate::model::units::Bytes;
use crate::model::zone::{Zone, ZoneCondition, ZoneType};

/// Decodes page 0xB6.
#[must_use]
pub fn characteristics(page: &[u8]) -> Reading<ZonedCharacteristics> {
    payload(page, 0xb6).and_then(|payload| {
        let Some(&flags) = payload.first() else { return not_trusted("page 0xb6 is empty".to_owned()) };
        // All ones is "not reported", for the last of the three also "no limit"; so is a page that ends before.
        let count = |from| {
            big_endian(payload, from, 4).and_then(|number| u32::try_from(number).ok()).filter(|n| *n != u32::MAX)
        };
        Reading::Known(ZonedCharacteristics {
            extension: flags >> 4,
            unrestricted_reads: flags & 1 == 1,
            optimal_open: count(8),
            optimal_non_sequential: count(12),
            max_open: count(16),
        })
    })
}

/// The zones in an answer to REPORT ZONES, and the drive's last logical block. Lengths are in logical blocks there.
///
/// The length in the header may tell of more zones than fit, or of none; only what is there counts.
#[must_use]
pub fn report(answer: &[u8], logical_block: u32) -> Reading<(Vec<Zone>, u64)> {
    let number = |from: &[u8], at: usize| {
        let field = from.get(at..at + 8).and_then(|field| <[u8; 8]>::try_from(field).ok());
        field.map_or(0, u64::from_be_bytes)
    };
    let (Some(header), Some(list)) = (answer.get(..ZONES_HEADER), answer.get(ZONES_HEADER..)) else {
        return not_trusted(format!("the report of zones is {} bytes long, shorter than its header", answer.len()));
    };
    let told = header.first_chunk::<4>().map_or(0, |length| u32::from_be_bytes(*length));
    let told = usize::try_from(told).unwrap_or(usize::MAX).min(list.len());
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(u64::from(logical_block)));
    let zones = list
        .get(..told)
        .unwrap_or_default()
        .chunks_exact(ZONE_DESCRIPTOR)
        .map(|descriptor| {
            let byte = |at: usize| descriptor.get(at).copied().unwrap_or(0);
            let length = bytes(number(descriptor, 8));
            Zone::new(
                bytes(number(descriptor, 16)),
                length,
                length,
                bytes(number(descriptor, 24)),
                ZoneType::from_value(byte(0) & 0x0f),
                ZoneCondition::from_value(byte(1) >> 4),
            )
        })
        .collect();
    Reading::Known((zones, number(header, 8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ones_is_no_limit() {
        let mut page = vec![0x14, 0xb6, 0x00, 0x3c, 0x01, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 8];
        page.resize(64, 0);
        let b6 = characteristics(&page).into_known().unwrap();
        assert_eq!((b6.extension, b6.unrestricted_reads), (0, true));
        assert_eq!((b6.optimal_open, b6.optimal_non_sequential, b6.max_open), (None, None, Some(8)));
        page[4] = 0x10;
        assert_eq!(characteristics(&page).into_known().unwrap().extension, 1);
        assert!(characteristics(&[0, 0xb6, 0, 0]).known().is_none());
        assert_eq!(characteristics(&[0, 0xb6, 0, 1, 0x10]).into_known().unwrap().max_open, None);
    }

    fn descriptor(kind: u8, condition: u8, length: u64, start: u64, pointer: u64) -> Vec<u8> {
        let mut bytes = vec![kind, condition << 4, 0, 0, 0, 0, 0, 0];
        for number in [length, start, pointer] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.resize(64, 0);
        bytes
    }

    #[test]
    fn blocks_become_bytes_and_no_zone_is_read_that_is_not_there() {
        let mut answer = vec![0_u8; 64];
        // It tells of three zones, and has two and a half.
        answer[..4].copy_from_slice(&(3_u32 * 64).to_be_bytes());
        answer[8..16].copy_from_slice(&0x3ffff_u64.to_be_bytes());
        answer.extend(descriptor(1, 0, 65_536, 0, u64::MAX));
        answer.extend(descriptor(3, 4, 65_536, 65_536, 65_600));
        answer.extend(&descriptor(3, 1, 65_536, 131_072, 131_072)[..32]);
        let (zones, last) = report(&answer, 4096).into_known().unwrap();
        assert_eq!((zones.len(), last), (2, 0x3ffff));
        assert_eq!(zones[0].write_pointer_bytes, None);
        assert_eq!(zones[1].start_bytes, Bytes(65_536 * 4096));
        assert_eq!(zones[1].write_pointer_bytes, Some(Bytes(65_600 * 4096)));
        assert_eq!(zones[1].condition, ZoneCondition::Closed);
        assert!(report(&answer[..63], 512).known().is_none());
    }
}
