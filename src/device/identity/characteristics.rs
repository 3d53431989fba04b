//! VPD page 0xB1, block device characteristics (SBC-4 §6.6.2): rotation rate, form factor, ZONED.

use super::page::{not_trusted, payload};
use crate::model::drive::{BlockDeviceCharacteristics, Reading, Rotation, ZonedField};

/// Decodes page 0xB1.
///
/// Three readers of this page demand three lengths: smartctl more than 2 bytes, libzbc exactly 0x3C,
/// and the kernel skips it only below 8 bytes but then reads byte 8. Byte 8 is believed here only when the
/// page has it: a page that ends before says nothing of zones, which is not "none".
#[must_use]
pub fn decode(page: &[u8]) -> Reading<BlockDeviceCharacteristics> {
    payload(page, 0xb1).and_then(|payload| {
        let &[high, low, _product_type, form_factor, ref rest @ ..] = payload else {
            return not_trusted(format!("page 0xb1 ends after byte {}, before the form factor", payload.len() + 3));
        };
        Reading::Known(BlockDeviceCharacteristics {
            rotation: rotation(u16::from_be_bytes([high, low])),
            form_factor: form_factor & 0x0f,
            zoned: rest.first().map(|byte| zoned(byte >> 4)),
        })
    })
}

/// Medium rotation rate: page 0xB1 bytes 4-5, or ATA IDENTIFY word 217 (ACS-4 §7.13.6.83).
#[must_use]
pub fn rotation(rate: u16) -> Rotation {
    match rate {
        0 => Rotation::NotReported,
        1 => Rotation::NonRotating,
        0x0401..=0xfffe => Rotation::Rpm(rate),
        reserved => Rotation::Reserved(reserved),
    }
}

/// The two low bits of `field` as the ZONED field.
///
/// The number is what counts: sg_vpd prints 2 as host-managed, while the kernel, libzbc, smartctl
/// and FreeBSD agree that it is drive-managed.
#[must_use]
pub fn zoned(field: u8) -> ZonedField {
    match field & 0x3 {
        0 => ZonedField::NotReported,
        1 => ZonedField::HostAware,
        2 => ZonedField::DriveManaged,
        _ => ZonedField::Reserved,
    }
}

/// What the form factor code means.
#[must_use]
pub fn form_factor(code: u8) -> &'static str {
    match code {
        0 => "not reported",
        1 => "5.25 inch",
        2 => "3.5 inch",
        3 => "2.5 inch",
        4 => "1.8 inch",
        5 => "smaller than 1.8 inch",
        _ => "reserved",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(start: &[u8]) -> Vec<u8> {
        let mut page = start.to_vec();
        page.resize(64, 0);
        page
    }

    #[test]
    fn the_disk_of_the_main_case_reports_5400_and_nothing_of_zones() {
        let b1 = decode(&page(&[0x00, 0xb1, 0x00, 0x3c, 0x15, 0x18])).into_known().unwrap();
        assert_eq!(b1.rotation, Rotation::Rpm(5400));
        assert_eq!(b1.zoned, Some(ZonedField::NotReported));
    }

    #[test]
    fn every_value_of_zoned_reads() {
        for (byte, meaning) in [
            (0x00, ZonedField::NotReported),
            (0x10, ZonedField::HostAware),
            (0x20, ZonedField::DriveManaged),
            (0x30, ZonedField::Reserved),
            (0xcf, ZonedField::NotReported),
        ] {
            let b1 = decode(&page(&[0, 0xb1, 0, 0x3c, 0x15, 0x18, 0, 0x02, byte])).into_known().unwrap();
            assert_eq!(b1.zoned, Some(meaning), "byte 8 is 0x{byte:02x}");
            assert_eq!(b1.form_factor, 2);
        }
    }

    #[test]
    fn a_page_that_ends_before_byte_8_says_nothing_of_zones() {
        let b1 = decode(&[0x00, 0xb1, 0x00, 0x04, 0x1c, 0x20, 0x00, 0x02]).into_known().unwrap();
        assert_eq!(b1.rotation, Rotation::Rpm(7200));
        assert_eq!(b1.zoned, None);
        let exactly = decode(&[0x00, 0xb1, 0x00, 0x05, 0x1c, 0x20, 0x00, 0x02, 0x20]).into_known().unwrap();
        assert_eq!(exactly.zoned, Some(ZonedField::DriveManaged));
        assert!(decode(&[0x00, 0xb1, 0x00, 0x02, 0x1c, 0x20]).known().is_none());
    }

    #[test]
    fn reserved_rotation_rates_are_no_rates() {
        assert_eq!(rotation(1), Rotation::NonRotating);
        assert_eq!(rotation(0x0400), Rotation::Reserved(0x0400));
        assert_eq!(rotation(0x0401), Rotation::Rpm(1025));
        assert_eq!(rotation(0xffff), Rotation::Reserved(0xffff));
    }
}
