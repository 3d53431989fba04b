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
//! | `characteristics` | 0xB1 block device characteristics | SBC-4 §6.6.2 |

pub mod ata;
pub mod characteristics;
pub mod designators;
pub mod inquiry;
pub mod page;
pub mod pages;

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

        /// The same with a header that lets it pass.
        #[test]
        fn no_page_makes_a_decoder_panic(mut bytes in proptest::collection::vec(any::<u8>(), 4..700), number in any::<u8>()) {
            for page in [0x00, 0x80, 0x83, 0x89, 0xb1] {
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
    }
}
