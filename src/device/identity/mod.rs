//! Pure decoders of what a drive says of itself: bytes in, values out, no I/O.
//!
//! Every decoder takes any bytes at all, never panics, and answers a reading that says why when it is
//! not what it should be. Bridges answer one page with another, cut pages short and claim
//! lengths they do not deliver; each of these is told apart.
//!
//! | file | what | standard |
//! |---|---|---|
//! | `page` | the header all VPD pages share | SPC-4 §7.8 |
//! | `inquiry` | standard INQUIRY data | SPC-4 §6.6.2 |
//! | `pages` | 0x00 supported pages, 0x80 unit serial number | SPC-4 §7.8.15, §7.8.18 |
//! | `designators` | 0x83 device identification | SPC-4 §7.8.6 |
//! | `ata` | 0x89 ATA information with IDENTIFY DEVICE | SAT-3 §12.4.3, ACS-4 §7.13.6 |
//! | `limits` | 0xB0 block limits, 0xB2 logical block provisioning | SBC-4 §6.6.4, §6.6.7 |
//! | `characteristics` | 0xB1 block device characteristics | SBC-4 §6.6.2 |
//! | `zoned` | 0xB6 zoned block device characteristics, REPORT ZONES | ZBC-2 §6.5, §5.5 |
//! | `ata_log` | ATA log 0x30, pages 0x03 and 0x09 | ACS-4 §9, ZAC-2 |
//! | `nvme` | Identify controller and namespace, also of ZNS | NVMe 2.0 §5.17, ZNS 1.1 |
//! | `fields/` | every field of a page with its place, for showing | as above |

pub mod ata;
pub mod ata_log;
pub mod characteristics;
pub mod designators;
pub mod fields;
pub mod inquiry;
pub mod limits;
pub mod nvme;
pub mod page;
pub mod pages;
pub mod zoned;

pub use ata::AtaIdentity;
pub use inquiry::StandardInquiry;

/// Bytes of a device as text: ASCII, without the padding around it, with control characters dropped.
/// `None` when nothing is left.
#[must_use]
pub fn ascii(bytes: &[u8]) -> Option<String> {
    let text: String =
        bytes.iter().copied().filter(|byte| byte.is_ascii_graphic() || *byte == b' ').map(char::from).collect();
    let trimmed = text.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        /// A bridge may answer anything.
        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..700), number in any::<u8>()) {
            decode_all(&bytes, number);
        }

        /// NVMe structures are 4096 bytes, ATA log pages 512 with their number in the third.
        #[test]
        fn no_structure_makes_a_decoder_panic(mut bytes in proptest::collection::vec(any::<u8>(), 4096..4200), page in any::<u8>()) {
            bytes[2] = page % 12;
            bytes[7] |= 0x80;
            decode_all(&bytes, page);
            decode_all(&bytes[..512], page);
        }

        /// The same with a header that lets it pass.
        #[test]
        fn no_page_makes_a_decoder_panic(mut bytes in proptest::collection::vec(any::<u8>(), 4..700), number in any::<u8>()) {
            for page in [0x00, 0x80, 0x83, 0x89, 0xb0, 0xb1, 0xb2, 0xb6] {
                bytes[1] = page;
                bytes[2] = 0;
                bytes[3] = number;
                decode_all(&bytes, number);
            }
        }
    }

    fn decode_all(bytes: &[u8], number: u8) {
        let _ = super::inquiry::decode(bytes);
        let _ = super::page::payload(bytes, number);
        let _ = super::pages::supported(bytes);
        let _ = super::pages::unit_serial(bytes);
        let _ = super::designators::name(bytes);
        let _ = super::ata::decode(bytes);
        let _ = super::characteristics::decode(bytes);
        let _ = super::limits::block_limits(bytes);
        let _ = super::limits::provisioning(bytes);
        let _ = super::zoned::characteristics(bytes);
        let _ = super::zoned::report(bytes, u32::from(number) * 512);
        let _ = super::ata_log::pages_of(bytes, number);
        let _ = super::ata_log::offers(bytes, number);
        let _ = super::ata_log::capabilities_zoned(bytes);
        let _ = super::ata_log::zoned_device(bytes);
        let _ = super::ata::decode_identify(bytes);
        let _ = super::nvme::controller(bytes);
        let _ = super::nvme::append_limit_exponent(bytes);
        let namespace = super::nvme::namespace(bytes).into_known();
        let _ = super::nvme::zoned_namespace(bytes, namespace.as_ref());
        for id in [
            "inquiry",
            "identify",
            "log-00-00",
            "log-30-00",
            "log-30-03",
            "log-30-09",
            "nvme-controller",
            "nvme-namespace",
            "nvme-zoned-namespace",
            "nvme-zoned-controller",
            "00",
            "80",
            "83",
            "89",
            "b0",
            "b1",
            "b2",
            "b6",
            "b7",
        ] {
            let id = crate::model::page::PageId::parse(id).unwrap();
            for field in super::fields::decode(id, bytes) {
                assert!(!field.name.is_empty() && field.bytes > 0);
            }
        }
    }
}
