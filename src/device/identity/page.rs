//! The header that all vital product data pages share (SPC-4 §7.8.1): byte 0 peripheral, byte 1 page code,
//! bytes 2-3 length of what follows, big endian.

use crate::model::drive::{Reading, Unknown};

/// Bytes before the payload.
pub const HEADER: usize = 4;

/// What follows the header of page `code`, exactly as long as the page says.
///
/// A drive or bridge that does not know the page often answers with standard INQUIRY data (seen by
/// libstoragemgmt and go-tcg-storage: `00 00 80 00 01 1f …` when asked for 0x83), so the page code is
/// checked before anything is believed.
#[must_use]
pub fn payload(page: &[u8], code: u8) -> Reading<&[u8]> {
    let &[_, got, high, low, ref rest @ ..] = page else {
        return not_trusted(format!("page 0x{code:02x} is {} bytes long, shorter than its header", page.len()));
    };
    if got != code {
        let instead = if got == 0 { ", perhaps standard INQUIRY data" } else { "" };
        return not_trusted(format!("asked for page 0x{code:02x}, got page 0x{got:02x}{instead}"));
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    match rest.get(..length) {
        Some(payload) => Reading::Known(payload),
        None => not_trusted(format!(
            "page 0x{code:02x} says it has {length} bytes after its header, and has {}",
            rest.len()
        )),
    }
}

/// Why something that was read is not believed.
pub(super) fn not_trusted<T>(detail: String) -> Reading<T> {
    Reading::Unknown(Unknown::NotTrusted(detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(page: &[u8], code: u8) -> String {
        match payload(page, code) {
            Reading::Unknown(Unknown::NotTrusted(detail)) => detail,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_fault_is_told_apart() {
        assert!(detail(&[0x00, 0xb1], 0xb1).contains("shorter than its header"));
        assert!(detail(&[0x00, 0x00, 0x80, 0x00, 0x01, 0x1f], 0x83).contains("standard INQUIRY"));
        assert!(detail(&[0x00, 0xb1, 0x00, 0x3c, 0x15], 0xb1).contains("says it has 60 bytes"));
    }

    #[test]
    fn bytes_beyond_the_length_are_no_part_of_the_page() {
        assert_eq!(payload(&[0, 0x80, 0, 1, b'A', b'B'], 0x80), Reading::Known(&b"A"[..]));
    }
}
