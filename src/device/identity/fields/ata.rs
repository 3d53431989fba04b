//! IDENTIFY DEVICE and general purpose logs (ACS-4, ZAC-2).

use super::super::ata_log::{CAPABILITIES, IDENTIFY_LOG, ZONED_DEVICE};
use super::{Holds, Order, Row, bits, form_factor, number, of, plain, rotation, rows, yes_no, zoned};
use crate::model::page::PageField;

/// IDENTIFY DEVICE (ACS-4 §7.13.6): word N is at byte 2 N.
const IDENTIFY: &[Row] = &[
    of("Serial number", 20, 20, Holds::SwappedText).noting("words 10-19"),
    of("Firmware revision", 46, 8, Holds::SwappedText).noting("words 23-26"),
    of("Model number", 54, 40, Holds::SwappedText).noting("words 27-46"),
    bits("TRIM reads zeros (word 69)", 138, 2, 5, 5, yes_no),
    bits("TRIM is deterministic (word 69)", 138, 2, 14, 14, yes_no),
    bits("ZONED (word 69)", 138, 2, 1, 0, zoned).noting("obsolete since ACS-5; log 30h page 03h took its place"),
    bits("General purpose logging (word 84)", 168, 2, 5, 5, yes_no),
    of("World wide name (words 108-111)", 216, 8, Holds::Bytes).noting("as it stands: the bytes of each word swapped"),
    bits("READ LOG DMA EXT (word 119)", 238, 2, 3, 3, yes_no),
    bits("Nominal form factor (word 168)", 336, 2, 3, 0, form_factor),
    bits("TRIM (word 169)", 338, 2, 0, 0, yes_no),
    number("Rotation rate (word 217)", 434, 2, rotation),
];

/// Log 0x30 page 0x03, as far as it matters here.
const SUPPORTED_CAPABILITIES: &[Row] = &[
    bits("Page number", 0, 8, 23, 16, plain),
    bits("Zoned capabilities: valid", 104, 8, 63, 63, yes_no),
    bits("ZONED", 104, 8, 1, 0, zoned),
];

/// Log 0x30 page 0x09 (ZAC-2 §11.7).
const ZONED_INFORMATION: &[Row] = &[
    bits("Page number", 0, 8, 23, 16, plain),
    bits("URSWRZ", 8, 8, 0, 0, yes_no).noting("zones that must be written in order may be read anywhere"),
    bits("Optimal number of open sequential write preferred zones", 24, 8, 31, 0, or_unlimited),
    bits("Optimal number of non-sequentially written ones", 32, 8, 31, 0, or_unlimited),
    bits("Maximum number of open sequential write required zones", 40, 8, 31, 0, or_unlimited),
    bits("ZAC minor version", 48, 8, 15, 0, super::scsi::code),
];

/// IDENTIFY DEVICE that begins at `offset` of a page.
pub fn identify(page: &[u8], offset: usize) -> Vec<PageField> {
    let mut fields = rows(IDENTIFY, page.get(offset..).unwrap_or_default(), Order::Little);
    for field in &mut fields {
        field.byte += offset;
    }
    fields
}

/// One page of a general purpose log.
pub fn log(log: u8, number: u8, page: &[u8]) -> Vec<PageField> {
    match (log, number) {
        (0, 0) => directory(page),
        (IDENTIFY_LOG, 0) => list(page),
        (IDENTIFY_LOG, CAPABILITIES) => rows(SUPPORTED_CAPABILITIES, page, Order::Little),
        (IDENTIFY_LOG, ZONED_DEVICE) => rows(ZONED_INFORMATION, page, Order::Little),
        _ => Vec::new(),
    }
}

/// The logs that have pages: word N tells how many log N has.
fn directory(page: &[u8]) -> Vec<PageField> {
    let mut fields = vec![number("Version", 0, 2, plain).read(page, Order::Little)];
    for log in 1..page.len() / 2 {
        let mut field = number("Log", 2 * log, 2, plain).read(page, Order::Little);
        if field.raw.as_deref() != Some("0x0") {
            field.value = format!("log {log:02X}h: {} pages", field.value);
            fields.push(field);
        }
    }
    fields
}

/// The pages that log 0x30 has.
fn list(page: &[u8]) -> Vec<PageField> {
    let mut fields = vec![number("Number of pages", 8, 1, plain).read(page, Order::Little)];
    let count = page.get(8).copied().map_or(0, usize::from);
    for at in (9..page.len()).take(count) {
        fields.push(number("Supported page", at, 1, super::scsi::code).read(page, Order::Little));
    }
    fields
}

fn or_unlimited(number: u64) -> String {
    if number == 0xffff_ffff { "not reported, or no limit".to_owned() } else { number.to_string() }
}
