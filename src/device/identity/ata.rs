//! VPD page 0x89, ATA information (SAT-3 §12.4.3): IDENTIFY DEVICE of the drive behind a SCSI face, read at
//! boot by the kernel, so without root and without a pass-through command.
//!
//! IDENTIFY (ACS-4 §7.13.6) is 256 words at byte 60, each little endian. Its strings keep the first
//! character in the high byte of a word.

use super::characteristics::{rotation, zoned};
use super::page::{HEADER, not_trusted, payload};
use super::{ascii, hex};
use crate::model::drive::{Reading, Rotation, ZonedField};

/// Where IDENTIFY begins in the page.
const IDENTIFY: usize = 60;
/// Byte 56: the command that was used to identify the drive.
const COMMAND: usize = 56;
/// IDENTIFY DEVICE; 0xA1 would be a packet device (an optical drive).
const IDENTIFY_DEVICE: u8 = 0xec;

/// What IDENTIFY DEVICE says, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtaIdentity {
    /// Words 27-46, all 40 characters.
    pub model: Option<String>,
    /// Words 10-19.
    pub serial: Option<String>,
    /// Words 23-26.
    pub firmware: Option<String>,
    /// Words 108-111, when word 87 bit 8 says they hold a name: `naa.5000c500b1b2b3b4`.
    pub wwn: Option<String>,
    /// Word 69 bits 1:0 (ACS-4; obsolete in ACS-5).
    pub zoned: ZonedField,
    /// Word 168 bits 3:0: nominal form factor, coded as in VPD page 0xB1.
    pub form_factor: u8,
    /// Word 169 bit 0: DATA SET MANAGEMENT with TRIM.
    pub trim: bool,
    /// Word 217.
    pub rotation: Rotation,
    /// Word 84 or 87 bit 5: the drive has general purpose logs.
    pub logs: bool,
    /// Word 119 bit 3: they can be read by READ LOG DMA EXT.
    pub dma_logs: bool,
}

/// Decodes page 0x89.
#[must_use]
pub fn decode(page: &[u8]) -> Reading<AtaIdentity> {
    payload(page, 0x89).and_then(|payload| {
        let Some(identify) = payload.get(IDENTIFY - HEADER..IDENTIFY - HEADER + 512) else {
            return not_trusted(format!("page 0x89 is {} bytes long, too short for IDENTIFY", payload.len() + HEADER));
        };
        match payload.get(COMMAND - HEADER) {
            Some(&IDENTIFY_DEVICE) => decode_identify(identify),
            other => not_trusted(format!("page 0x89 byte 56 is {other:02x?}, not IDENTIFY DEVICE")),
        }
    })
}

/// Decodes the 512 bytes of IDENTIFY DEVICE itself, as a pass-through command returns them.
#[must_use]
pub fn decode_identify(identify: &[u8]) -> Reading<AtaIdentity> {
    if identify.len() < 512 {
        return not_trusted(format!("IDENTIFY is {} bytes long, must be 512", identify.len()));
    }
    if identify.iter().all(|byte| *byte == 0) {
        return not_trusted("IDENTIFY is empty".to_owned());
    }
    Reading::Known(AtaIdentity {
        model: string(identify, 27, 46),
        serial: string(identify, 10, 19),
        firmware: string(identify, 23, 26),
        wwn: wwn(identify),
        zoned: zoned(word(identify, 69).to_le_bytes()[0]),
        form_factor: word(identify, 168).to_le_bytes()[0] & 0x0f,
        trim: word(identify, 169) & 1 == 1,
        rotation: rotation(word(identify, 217)),
        logs: word(identify, 84) & 0xc020 == 0x4020 || word(identify, 87) & 0xc020 == 0x4020,
        dma_logs: word(identify, 119) & 0xc008 == 0x4008,
    })
}

/// Word `index`; 0 beyond the end, which no caller reaches.
fn word(identify: &[u8], index: usize) -> u16 {
    match identify.get(2 * index..2 * index + 2) {
        Some(&[low, high]) => u16::from_le_bytes([low, high]),
        _ => 0,
    }
}

/// Words `first..=last` as text.
fn string(identify: &[u8], first: usize, last: usize) -> Option<String> {
    let bytes: Vec<u8> = (first..=last).flat_map(|index| word(identify, index).to_be_bytes()).collect();
    ascii(&bytes)
}

/// Words 108-111, most significant first.
fn wwn(identify: &[u8]) -> Option<String> {
    // Word 87: bits 15:14 are 01 when the word is valid, bit 8 says that there is a name.
    if word(identify, 87) & 0xc100 != 0x4100 {
        return None;
    }
    let bytes: Vec<u8> = (108..=111).flat_map(|index| word(identify, index).to_be_bytes()).collect();
    super::designators::from_wwid(&format!("naa.{}", hex(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Vec<u8> {
        let mut page = vec![0_u8; 572];
        page[1] = 0x89;
        page[2..4].copy_from_slice(&[0x02, 0x38]);
        page[56] = 0xec;
        put(&mut page, 27, b"TS0800MD00-4C21X88                      ");
        put(&mut page, 10, b"CZ0TAAAA            ");
        page
    }

    /// Strings are given as they lie in the page: each pair swapped.
    fn put(page: &mut [u8], index: usize, bytes: &[u8]) {
        page[60 + 2 * index..60 + 2 * index + bytes.len()].copy_from_slice(bytes);
    }

    #[test]
    fn the_whole_model_is_read_where_inquiry_cuts_it() {
        let ata = decode(&page()).into_known().unwrap();
        assert_eq!(ata.model.as_deref(), Some("ST8000DM004-2CX188"));
        assert_eq!(ata.serial.as_deref(), Some("ZCT0AAAA"));
        assert_eq!(ata.zoned, ZonedField::NotReported);
    }

    #[test]
    fn word_69_says_drive_managed_in_its_two_low_bits() {
        let mut page = page();
        put(&mut page, 69, &[0xfe, 0x40]);
        put(&mut page, 217, &[0x18, 0x15]);
        put(&mut page, 169, &[0x01, 0x00]);
        let ata = decode(&page).into_known().unwrap();
        assert_eq!(ata.zoned, ZonedField::DriveManaged);
        assert_eq!(ata.rotation, Rotation::Rpm(5400));
        assert!(ata.trim);
    }

    #[test]
    fn a_name_counts_only_when_word_87_says_so() {
        let mut page = page();
        put(&mut page, 108, &[0x00, 0x50, 0x00, 0xc5, 0xb2, 0xb1, 0xb4, 0xb3]);
        assert_eq!(decode(&page).into_known().unwrap().wwn, None);
        put(&mut page, 87, &[0x00, 0x41]);
        assert_eq!(decode(&page).into_known().unwrap().wwn.as_deref(), Some("naa.5000c500b1b2b3b4"));
    }

    #[test]
    fn a_packet_device_and_an_empty_page_are_not_believed() {
        let mut packet = page();
        packet[56] = 0xa1;
        assert!(decode(&packet).known().is_none());
        let mut empty = vec![0_u8; 572];
        empty[1..4].copy_from_slice(&[0x89, 0x02, 0x38]);
        empty[56] = 0xec;
        assert!(decode(&empty).known().is_none());
        assert!(decode(&page()[..200]).known().is_none());
    }
}
