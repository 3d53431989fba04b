//! INQUIRY and VPD pages (SPC-4, SBC-4, ZBC-2).

use super::super::hex;
use super::{Holds, Order, Row, bits, form_factor, number, of, or_silent, plain, rotation, rows, yes_no, zoned};
use crate::model::page::PageField;

/// Standard INQUIRY data (SPC-4 §6.6.2).
pub const INQUIRY: &[Row] = &[
    bits("PERIPHERAL QUALIFIER", 0, 1, 7, 5, plain).noting("0: a device is connected"),
    bits("PERIPHERAL DEVICE TYPE", 0, 1, 4, 0, device_type),
    bits("RMB", 1, 1, 7, 7, yes_no).noting("the medium can be taken out"),
    number("VERSION", 2, 1, plain),
    number("ADDITIONAL LENGTH", 4, 1, plain),
    of("T10 VENDOR IDENTIFICATION", 8, 8, Holds::Text),
    of("PRODUCT IDENTIFICATION", 16, 16, Holds::Text).noting("for SATA the first 16 characters of the model"),
    of("PRODUCT REVISION LEVEL", 32, 4, Holds::Text),
];

const HEADER: &[Row] = &[
    bits("PERIPHERAL QUALIFIER", 0, 1, 7, 5, plain),
    bits("PERIPHERAL DEVICE TYPE", 0, 1, 4, 0, device_type),
    number("PAGE CODE", 1, 1, code),
    number("PAGE LENGTH", 2, 2, plain),
];

/// SBC-4 §6.6.4.
const BLOCK_LIMITS: &[Row] = &[
    bits("WSNZ", 4, 1, 0, 0, yes_no).noting("WRITE SAME of no length is refused"),
    number("MAXIMUM COMPARE AND WRITE LENGTH", 5, 1, blocks),
    number("OPTIMAL TRANSFER LENGTH GRANULARITY", 6, 2, blocks),
    number("MAXIMUM TRANSFER LENGTH", 8, 4, blocks),
    number("OPTIMAL TRANSFER LENGTH", 12, 4, blocks),
    number("MAXIMUM PREFETCH LENGTH", 16, 4, blocks),
    number("MAXIMUM UNMAP LBA COUNT", 20, 4, blocks).noting("0: no UNMAP"),
    number("MAXIMUM UNMAP BLOCK DESCRIPTOR COUNT", 24, 4, or_silent),
    number("OPTIMAL UNMAP GRANULARITY", 28, 4, blocks),
    bits("UGAVALID", 32, 4, 31, 31, yes_no),
    bits("UNMAP GRANULARITY ALIGNMENT", 32, 4, 30, 0, plain),
    number("MAXIMUM WRITE SAME LENGTH", 36, 8, blocks),
    number("MAXIMUM ATOMIC TRANSFER LENGTH", 44, 4, blocks),
    number("ATOMIC ALIGNMENT", 48, 4, plain),
    number("ATOMIC TRANSFER LENGTH GRANULARITY", 52, 4, plain),
];

/// SBC-4 §6.6.2.
const CHARACTERISTICS: &[Row] = &[
    number("MEDIUM ROTATION RATE", 4, 2, rotation),
    number("PRODUCT TYPE", 6, 1, or_silent),
    bits("WABEREQ", 7, 1, 7, 6, plain),
    bits("WACEREQ", 7, 1, 5, 4, plain),
    bits("NOMINAL FORM FACTOR", 7, 1, 3, 0, form_factor),
    bits("ZONED", 8, 1, 5, 4, zoned).noting(
        "0 is silence, not a “no”. Host-managed drives have 0 here and say it by their device type. Some versions of \
         sg_vpd print 2 as host-managed.",
    ),
    bits("RBWZ", 8, 1, 3, 3, yes_no),
    bits("BOCS", 8, 1, 2, 2, yes_no),
    bits("FUAB", 8, 1, 1, 1, yes_no),
    bits("VBULS", 8, 1, 0, 0, yes_no),
    number("DEPOPULATION TIME", 12, 4, seconds),
];

/// SBC-4 §6.6.7.
const PROVISIONING: &[Row] = &[
    number("THRESHOLD EXPONENT", 4, 1, plain),
    bits("LBPU", 5, 1, 7, 7, yes_no).noting("UNMAP is supported"),
    bits("LBPWS", 5, 1, 6, 6, yes_no).noting("WRITE SAME(16) can unmap"),
    bits("LBPWS10", 5, 1, 5, 5, yes_no).noting("WRITE SAME(10) can unmap"),
    bits("LBPRZ", 5, 1, 4, 2, plain).noting("1: unmapped blocks read as zeros"),
    bits("ANC_SUP", 5, 1, 1, 1, yes_no),
    bits("DP", 5, 1, 0, 0, yes_no),
    bits("MINIMUM PERCENTAGE", 6, 1, 7, 3, plain),
    bits("PROVISIONING TYPE", 6, 1, 2, 0, provisioning),
    number("THRESHOLD PERCENTAGE", 7, 1, plain),
];

/// ZBC-2 §6.5.
const ZONED: &[Row] = &[
    bits("ZONED BLOCK DEVICE EXTENSION", 4, 1, 7, 4, extension),
    bits("AAORB", 4, 1, 1, 1, yes_no).noting("zones can be activated"),
    bits("URSWRZ", 4, 1, 0, 0, yes_no).noting("zones that must be written in order may be read anywhere"),
    number("OPTIMAL NUMBER OF OPEN SEQUENTIAL WRITE PREFERRED ZONES", 8, 4, or_unlimited),
    number("OPTIMAL NUMBER OF NON-SEQUENTIALLY WRITTEN SEQUENTIAL WRITE PREFERRED ZONES", 12, 4, or_unlimited),
    number("MAXIMUM NUMBER OF OPEN SEQUENTIAL WRITE REQUIRED ZONES", 16, 4, or_unlimited),
    bits("ZONE ALIGNMENT METHOD", 23, 1, 3, 0, alignment),
    number("ZONE STARTING LBA GRANULARITY", 24, 8, or_silent),
];

/// SAT-3 §12.4.3, without IDENTIFY.
const ATA: &[Row] = &[
    of("SAT VENDOR IDENTIFICATION", 8, 8, Holds::Text),
    of("SAT PRODUCT IDENTIFICATION", 16, 16, Holds::Text),
    of("SAT PRODUCT REVISION LEVEL", 32, 4, Holds::Text),
    number("SIGNATURE: LBA MID", 41, 1, code),
    number("SIGNATURE: LBA HIGH", 42, 1, code).noting("ABh with CDh before it: a host-managed drive"),
    number("COMMAND CODE", 56, 1, code).noting("ECh: IDENTIFY DEVICE follows at byte 60"),
];

/// The fields of a VPD page.
pub fn vpd(page_code: u8, page: &[u8]) -> Vec<PageField> {
    let mut fields = rows(HEADER, page, Order::Big);
    match page_code {
        0x00 => list(page, &mut fields),
        0x80 => rest(page, "PRODUCT SERIAL NUMBER", Holds::Text, &mut fields),
        0x83 => designators(page, &mut fields),
        0x89 => {
            fields.extend(rows(ATA, page, Order::Big));
            fields.extend(super::ata::identify(page, 60));
        }
        0xb0 => fields.extend(rows(BLOCK_LIMITS, page, Order::Big)),
        0xb1 => fields.extend(rows(CHARACTERISTICS, page, Order::Big)),
        0xb2 => fields.extend(rows(PROVISIONING, page, Order::Big)),
        0xb6 => fields.extend(rows(ZONED, page, Order::Big)),
        _ => rest(page, "not decoded here", Holds::Bytes, &mut fields),
    }
    fields
}

/// All that follows the header as one field.
fn rest(page: &[u8], name: &'static str, holds: Holds, fields: &mut Vec<PageField>) {
    if page.len() > 4 {
        fields.push(of(name, 4, page.len() - 4, holds).read(page, Order::Big));
    }
}

fn list(page: &[u8], fields: &mut Vec<PageField>) {
    for (at, listed) in page.iter().enumerate().skip(4) {
        let mut field = number("SUPPORTED PAGE", at, 1, code).read(page, Order::Big);
        field.value = crate::model::page::PageId::Vpd(*listed).title();
        fields.push(field);
    }
}

/// Page 0x83: one field a designator. One that says it is longer than the page ends the list.
fn designators(page: &[u8], fields: &mut Vec<PageField>) {
    let mut at = 4;
    while let Some(&[coding, kind, _, length]) = page.get(at..at + 4) {
        let from = at + 4;
        let Some(designator) = page.get(from..from + usize::from(length)) else { return };
        let name = match kind & 0xf {
            0 => "vendor specific designator",
            1 => "T10 vendor designator",
            2 => "EUI-64 designator",
            3 => "NAA designator",
            4 => "relative target port",
            5 => "target port group",
            6 => "logical unit group",
            8 => "SCSI name string",
            10 => "UUID designator",
            _ => "designator",
        };
        let whose = match (kind >> 4) & 0x3 {
            0 => "of the logical unit",
            1 => "of the target port",
            2 => "of the target device",
            _ => "reserved association",
        };
        let text = coding & 0xf != 1;
        if !designator.is_empty() {
            let holds = if text { Holds::Text } else { Holds::Bytes };
            let mut field = of(name, from, designator.len(), holds).read(page, Order::Big);
            field.raw = Some(hex(designator));
            field.note = Some(whose.to_owned());
            fields.push(field);
        }
        at = from + designator.len();
    }
}

fn device_type(number: u64) -> String {
    match number {
        0x00 => "block device",
        0x05 => "optical",
        0x14 => "host-managed zoned block device",
        0x1f => "no device",
        _ => "other",
    }
    .to_owned()
}

pub(super) fn code(number: u64) -> String {
    format!("{number:02X}h")
}

fn blocks(number: u64) -> String {
    if number == 0 { "not reported".to_owned() } else { format!("{number} blocks") }
}

fn seconds(number: u64) -> String {
    if number == 0 { "not reported".to_owned() } else { format!("{number} s") }
}

fn or_unlimited(number: u64) -> String {
    if number == 0xffff_ffff { "not reported, or no limit".to_owned() } else { number.to_string() }
}

fn provisioning(number: u64) -> String {
    match number {
        0 => "fully provisioned, or not known",
        1 => "resource provisioned",
        2 => "thin provisioned",
        _ => "reserved",
    }
    .to_owned()
}

fn extension(number: u64) -> String {
    match number {
        0 => "none; host-managed if the device type is 14h",
        1 => "host-aware",
        2 => "domains and realms",
        _ => "reserved",
    }
    .to_owned()
}

fn alignment(number: u64) -> String {
    match number {
        0 => "not reported",
        1 => "constant zone lengths",
        8 => "constant zone starting LBA offsets",
        _ => "reserved",
    }
    .to_owned()
}
