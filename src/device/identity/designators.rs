//! VPD page 0x83, device identification (SPC-4 §7.8.6): a list of designators. Only those of the
//! logical unit count (association 0): the target port's name is shared by all units behind a bridge.

use super::hex;
use super::page::payload;
use crate::model::drive::Reading;

/// Byte 1 bits 5:4: the designator is of the addressed logical unit.
const OF_LOGICAL_UNIT: u8 = 0;
/// Byte 0 bits 3:0: binary.
const BINARY: u8 = 1;
/// Byte 1 bits 3:0.
const EUI64: u8 = 2;
/// Byte 1 bits 3:0.
const NAA: u8 = 3;

/// The world wide name of the drive, as the kernel's `wwid` writes it: `naa.5000c500b1b2b3b4` or
/// `eui.0025385971b0c0d1`; the longest NAA first. `None` when the page has none.
#[must_use]
pub fn name(page: &[u8]) -> Reading<Option<String>> {
    payload(page, 0x83).map(|list| {
        let mut best: Option<(u8, &[u8])> = None;
        for (kind, designator) in binary_of_unit(list) {
            let better = match best {
                None => true,
                Some((best_kind, best)) => (kind, designator.len()) > (best_kind, best.len()),
            };
            if better && is_name(kind, designator) {
                best = Some((kind, designator));
            }
        }
        best.map(|(kind, designator)| format!("{}.{}", if kind == NAA { "naa" } else { "eui" }, hex(designator)))
    })
}

/// The binary NAA and EUI-64 designators of the logical unit.
fn binary_of_unit(mut list: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        loop {
            let &[coding, kind, _, length, ref rest @ ..] = list else { return None };
            // A designator that says it is longer than the page ends the list: what follows is noise.
            let designator = rest.get(..usize::from(length))?;
            list = rest.get(usize::from(length)..)?;
            let of_unit = (kind >> 4) & 0x3 == OF_LOGICAL_UNIT && coding & 0xf == BINARY;
            if of_unit && matches!(kind & 0xf, EUI64 | NAA) {
                return Some((kind & 0xf, designator));
            }
        }
    })
}

/// Whether a designator is one of the lengths its kind may have, and names something.
fn is_name(kind: u8, designator: &[u8]) -> bool {
    let length_fits = match kind {
        NAA => matches!(designator.len(), 8 | 16),
        _ => matches!(designator.len(), 8 | 12 | 16),
    };
    length_fits && !is_blank(kind == NAA, designator)
}

/// All zeros (behind the NAA's own digit, which says only how to read the rest) or all ones: a blank that
/// was never filled in, and that two drives may well share (seen by scrutiny #435 and jc #451).
fn is_blank(naa: bool, designator: &[u8]) -> bool {
    let first = designator.first().map(|byte| if naa { byte & 0x0f } else { *byte });
    let zeros = first == Some(0) && designator.iter().skip(1).all(|byte| *byte == 0);
    let ones = designator.iter().all(|byte| *byte == 0xff);
    designator.is_empty() || zeros || ones
}

/// A name as the kernel's `wwid` gives it, if it is a world wide name and not blank: lower case.
///
/// `t10.…` is vendor, model and serial in another dress, and so is NVMe's `nvme.…`: both are no names
/// of their own.
#[must_use]
pub fn from_wwid(wwid: &str) -> Option<String> {
    let name = wwid.trim().to_ascii_lowercase();
    let (form, digits) = name.split_once('.')?;
    let digits: Vec<u8> = match form {
        "naa" | "eui" => (0..digits.len())
            .step_by(2)
            .map(|at| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
            .collect::<Option<_>>()?,
        "uuid" => digits.bytes().filter(|byte| *byte != b'-').map(|byte| byte - b'0'.min(byte)).collect(),
        _ => return None,
    };
    (!is_blank(form == "naa", &digits)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded from QEMU's AHCI disk: serial, T10 vendor, NAA.
    fn ahci_page(naa: &[u8]) -> Vec<u8> {
        let mut list = vec![0x02, 0x00, 0x00, 0x04];
        list.extend_from_slice(b"ZCT0");
        list.extend_from_slice(&[0x02, 0x01, 0x00, 0x08]);
        list.extend_from_slice(b"ATA     ");
        list.extend_from_slice(&[0x01, 0x03, 0x00, u8::try_from(naa.len()).unwrap()]);
        list.extend_from_slice(naa);
        let mut page = vec![0x00, 0x83, 0x00, u8::try_from(list.len()).unwrap()];
        page.extend_from_slice(&list);
        page
    }

    #[test]
    fn the_naa_of_the_unit_is_found_among_others() {
        let page = ahci_page(&[0x50, 0x00, 0xc5, 0x00, 0xb1, 0xb2, 0xb3, 0xb4]);
        assert_eq!(name(&page), Reading::Known(Some("naa.5000c500b1b2b3b4".to_owned())));
    }

    #[test]
    fn a_zero_name_is_no_name() {
        assert_eq!(name(&ahci_page(&[0; 8])), Reading::Known(None));
        assert_eq!(name(&ahci_page(&[0x50, 0, 0, 0, 0, 0, 0, 0])), Reading::Known(None));
        assert_eq!(name(&ahci_page(&[0xff; 8])), Reading::Known(None));
        assert_eq!(from_wwid("naa.5000000000000000"), None);
        assert_eq!(from_wwid("eui.00000000000000000000000000000000"), None);
    }

    #[test]
    fn the_name_of_the_target_port_is_not_the_drive() {
        let mut page = ahci_page(&[0x50, 0x00, 0xc5, 0x00, 0xb1, 0xb2, 0xb3, 0xb4]);
        let at = page.len() - 11;
        page[at] |= 0x10;
        assert_eq!(name(&page), Reading::Known(None));
    }

    #[test]
    fn a_designator_beyond_the_page_ends_the_list() {
        assert_eq!(name(&[0, 0x83, 0, 6, 0x01, 0x03, 0, 0xff, 0x50, 0x00]), Reading::Known(None));
    }

    #[test]
    fn only_world_wide_names_count_in_wwid() {
        assert_eq!(from_wwid("naa.5000C500B1B2B3B4").as_deref(), Some("naa.5000c500b1b2b3b4"));
        assert_eq!(from_wwid("eui.0025385971b0c0d1").as_deref(), Some("eui.0025385971b0c0d1"));
        assert!(from_wwid("uuid.12345678-1234-1234-1234-123456789abc").is_some());
        assert_eq!(from_wwid("uuid.00000000-0000-0000-0000-000000000000"), None);
        assert_eq!(from_wwid("t10.ATA     SATASSD  SATASSD1"), None);
        assert_eq!(from_wwid("nvme.1b36-4e564d4553455231-51454d55-00000001"), None);
        assert_eq!(from_wwid("naa.xyz"), None);
        assert_eq!(from_wwid(""), None);
        assert_eq!(from_wwid("naa.ÄÖ"), None);
    }
}
