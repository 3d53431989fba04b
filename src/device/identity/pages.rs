//! VPD pages that are one list or one string: 0x00 and 0x80.

use super::page::payload;
use super::{ascii, page};
use crate::model::drive::Reading;

/// Page 0x00, supported VPD pages (SPC-4 §7.8.15): the codes the drive offers.
///
/// Some drives repeat a code or do not sort them; both are kept as they are.
#[must_use]
pub fn supported(bytes: &[u8]) -> Reading<Vec<u8>> {
    payload(bytes, 0x00).and_then(|codes| {
        // A standard INQUIRY answer has 0x00 in byte 1 as well. A list of pages names page 0x00 itself.
        if codes.contains(&0x00) {
            Reading::Known(codes.to_vec())
        } else {
            page::not_trusted("page 0x00 does not name itself, so it is no list of pages".to_owned())
        }
    })
}

/// Page 0x80, unit serial number (SPC-4 §7.8.18). `None` in the reading when it is all blank.
#[must_use]
pub fn unit_serial(bytes: &[u8]) -> Reading<Option<String>> {
    payload(bytes, 0x80).map(ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_an_ahci_disk_reads() {
        let page = [0, 0, 0, 8, 0x00, 0x80, 0x83, 0x89, 0xb0, 0xb1, 0xb2, 0xb9];
        assert!(supported(&page).known().unwrap().contains(&0xb1));
    }

    #[test]
    fn standard_inquiry_data_is_no_list() {
        assert!(supported(&[0x00, 0x00, 0x05, 0x02, 0x5b, 0x00, 0x00, 0x02]).known().is_none());
        assert!(supported(&[0x00, 0x00, 0x00, 0x02, 0x80, 0xb1]).known().is_none());
    }

    #[test]
    fn a_serial_is_trimmed_and_may_be_blank() {
        assert_eq!(unit_serial(b"\x00\x80\x00\x06ZCT0  "), Reading::Known(Some("ZCT0".to_owned())));
        assert_eq!(unit_serial(b"\x00\x80\x00\x04    "), Reading::Known(None));
    }
}
