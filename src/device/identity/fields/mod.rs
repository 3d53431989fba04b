//! Every field of a page with its place and its number, so that a person can check each fact against the bytes.
//!
//! Unlike the other decoders this one believes nothing and hides nothing: a page that ends early shows which fields it
//! has not, and a page that is another than the one asked for shows that in its second byte.

mod ata;
mod nvme;
mod scsi;

use super::{ascii, hex};
use crate::model::page::{OtherBytes, PageField, PageId, PageReport, Pages};

/// How the bytes of a field stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// SCSI.
    Big,
    /// ATA and NVMe.
    Little,
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Holds {
    /// A number, with what it means.
    Number(fn(u64) -> String),
    /// Text.
    Text,
    /// ATA text: the two characters of each word swapped.
    SwappedText,
    /// Bytes that are shown as they are.
    Bytes,
}

/// One row of the standard's table for a page.
struct Row {
    name: &'static str,
    at: usize,
    bytes: usize,
    /// Highest and lowest bit.
    bits: Option<(u32, u32)>,
    holds: Holds,
    note: &'static str,
}

/// A whole number at `at`.
const fn number(name: &'static str, at: usize, bytes: usize, show: fn(u64) -> String) -> Row {
    Row { name, at, bytes, bits: None, holds: Holds::Number(show), note: "" }
}

/// Bits `high:low` of the number at `at`.
const fn bits(name: &'static str, at: usize, bytes: usize, high: u32, low: u32, show: fn(u64) -> String) -> Row {
    Row { name, at, bytes, bits: Some((high, low)), holds: Holds::Number(show), note: "" }
}

/// Something that is no number.
const fn of(name: &'static str, at: usize, bytes: usize, holds: Holds) -> Row {
    Row { name, at, bytes, bits: None, holds, note: "" }
}

impl Row {
    const fn noting(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    fn read(&self, page: &[u8], order: Order) -> PageField {
        let found = self.at.checked_add(self.bytes).and_then(|end| page.get(self.at..end));
        let (raw, value) = match (found, self.holds) {
            (None, _) => (None, "the page ends before it".to_owned()),
            (Some(bytes), Holds::Text) => (Some(hex(bytes)), ascii(bytes).unwrap_or_else(|| "blank".to_owned())),
            (Some(bytes), Holds::SwappedText) => {
                let swapped: Vec<u8> = bytes.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect();
                (Some(hex(bytes)), ascii(&swapped).unwrap_or_else(|| "blank".to_owned()))
            }
            (Some(bytes), Holds::Bytes) => (Some(hex(bytes)), hex(bytes)),
            (Some(bytes), Holds::Number(show)) => {
                let whole = match order {
                    Order::Big => bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)),
                    Order::Little => bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)),
                };
                let number = match self.bits {
                    Some((high, low)) => (whole >> low) & (u64::MAX >> (63 - (high - low).min(63))),
                    None => whole,
                };
                (Some(format!("0x{number:x}")), show(number))
            }
        };
        PageField {
            name: self.name.to_owned(),
            byte: self.at,
            bytes: self.bytes,
            bits: self.bits.map(|(high, low)| if high == low { high.to_string() } else { format!("{high}:{low}") }),
            raw,
            value,
            note: (!self.note.is_empty()).then(|| self.note.to_owned()),
        }
    }
}

fn rows(rows: &[Row], page: &[u8], order: Order) -> Vec<PageField> {
    rows.iter().map(|row| row.read(page, order)).collect()
}

/// The fields of a page, whatever is in it. None for a page that this program has no table for, but for its header.
#[must_use]
pub fn decode(id: PageId, page: &[u8]) -> Vec<PageField> {
    match id {
        PageId::Inquiry => rows(scsi::INQUIRY, page, Order::Big),
        PageId::Vpd(code) => scsi::vpd(code, page),
        PageId::AtaIdentify => ata::identify(page, 0),
        PageId::AtaLog { log, page: number } => ata::log(log, number, page),
        PageId::NvmeController => rows(nvme::CONTROLLER, page, Order::Little),
        PageId::NvmeNamespace => nvme::namespace(page),
        PageId::NvmeZonedNamespace => nvme::zoned_namespace(page),
        PageId::NvmeZonedController => rows(nvme::ZONED_CONTROLLER, page, Order::Little),
    }
}

/// A page of a drive with its fields beside its bytes; `None` when it is not there.
#[must_use]
pub fn report(pages: &Pages, id: PageId) -> Option<PageReport> {
    let (page, others) = pages.get(id)?;
    Some(PageReport {
        page: id,
        title: id.title(),
        source: page.source.clone(),
        length: page.bytes.len(),
        bytes_hex: hex(&page.bytes),
        fields: decode(id, &page.bytes),
        also: others
            .iter()
            .map(|other| OtherBytes { source: other.source.clone(), bytes_hex: hex(&other.bytes) })
            .collect(),
    })
}

/// The number itself.
fn plain(number: u64) -> String {
    number.to_string()
}

fn yes_no(number: u64) -> String {
    if number == 0 { "no" } else { "yes" }.to_owned()
}

/// A count where 0 is "not reported".
fn or_silent(number: u64) -> String {
    if number == 0 { "not reported".to_owned() } else { number.to_string() }
}

/// The ZONED field.
fn zoned(number: u64) -> String {
    match number {
        0 => "not reported",
        1 => "host-aware",
        2 => "drive-managed",
        _ => "reserved",
    }
    .to_owned()
}

/// A rotation rate.
fn rotation(number: u64) -> String {
    use crate::model::drive::Rotation;
    match u16::try_from(number).map(super::characteristics::rotation) {
        Ok(Rotation::NotReported) => "not reported".to_owned(),
        Ok(Rotation::NonRotating) => "does not rotate".to_owned(),
        Ok(Rotation::Rpm(rpm)) => format!("{rpm} rpm"),
        Ok(Rotation::Reserved(_)) | Err(_) => "reserved".to_owned(),
    }
}

fn form_factor(number: u64) -> String {
    u8::try_from(number).map_or("reserved", super::characteristics::form_factor).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field<'a>(fields: &'a [PageField], name: &str) -> &'a PageField {
        fields.iter().find(|field| field.name == name).unwrap()
    }

    #[test]
    fn zoned_2_stands_at_byte_8_bits_5_to_4_and_is_drive_managed() {
        let mut page = vec![0x00, 0xb1, 0x00, 0x3c, 0x15, 0x18, 0x00, 0x02, 0x20];
        page.resize(64, 0);
        let fields = decode(PageId::Vpd(0xb1), &page);
        let zoned = field(&fields, "ZONED");
        assert_eq!((zoned.byte, zoned.bits.as_deref(), zoned.raw.as_deref()), (8, Some("5:4"), Some("0x2")));
        assert_eq!(zoned.value, "drive-managed");
        assert_eq!(field(&fields, "MEDIUM ROTATION RATE").value, "5400 rpm");
        assert_eq!(field(&fields, "NOMINAL FORM FACTOR").value, "3.5 inch");
    }

    #[test]
    fn a_page_that_ends_early_says_which_fields_it_has_not() {
        let fields = decode(PageId::Vpd(0xb1), &[0x00, 0xb1, 0x00, 0x04, 0x1c, 0x20, 0x00, 0x02]);
        let zoned = field(&fields, "ZONED");
        assert_eq!((zoned.raw.as_deref(), zoned.value.as_str()), (None, "the page ends before it"));
        assert_eq!(field(&fields, "MEDIUM ROTATION RATE").value, "7200 rpm");
    }

    #[test]
    fn a_number_of_sixty_four_bits_is_not_cut() {
        let mut page = vec![0, 0xb0, 0, 0x3c];
        page.resize(64, 0xff);
        assert_eq!(
            field(&decode(PageId::Vpd(0xb0), &page), "MAXIMUM WRITE SAME LENGTH").raw.as_deref(),
            Some("0xffffffffffffffff")
        );
    }

    #[test]
    fn swapped_text_of_identify_reads() {
        let mut identify = vec![0_u8; 512];
        identify[54..94].copy_from_slice(b"TS0800MD00-4C21X88                      ");
        identify[2 * 69] = 0x02;
        let fields = decode(PageId::AtaIdentify, &identify);
        assert_eq!(field(&fields, "Model number").value, "ST8000DM004-2CX188");
        assert_eq!(field(&fields, "ZONED (word 69)").value, "drive-managed");
    }
}
