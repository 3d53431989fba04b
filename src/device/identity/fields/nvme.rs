//! Identify data of NVMe controllers and namespaces (NVMe base 2.0 §5.17, ZNS 1.1 §4.1.5).

use super::super::nvme;
use super::{Holds, Order, Row, bits, number, of, or_silent, plain, rows, yes_no};
use crate::model::page::PageField;

/// CNS 01h.
pub const CONTROLLER: &[Row] = &[
    number("VID", 0, 2, super::scsi::code).noting("PCI vendor"),
    of("SN", 4, 20, Holds::Text).noting("serial number"),
    of("MN", 24, 40, Holds::Text).noting("model number"),
    of("FR", 64, 8, Holds::Text).noting("firmware revision"),
    number("MDTS", 77, 1, transfer).noting("largest transfer, as a power of two of the smallest memory page"),
    number("CNTLID", 78, 2, plain),
    number("VER", 80, 4, version),
    number("OACS", 256, 2, super::scsi::code),
    number("WCTEMP", 266, 2, kelvin).noting("warning temperature"),
    number("CCTEMP", 268, 2, kelvin).noting("critical temperature"),
    number("NN", 516, 4, plain).noting("number of namespaces"),
    number("ONCS", 520, 2, super::scsi::code).noting("bit 2: Dataset Management (TRIM)"),
    bits("VWC", 525, 1, 0, 0, yes_no).noting("a volatile write cache"),
    of("SUBNQN", 768, 256, Holds::Text),
];

const NAMESPACE: &[Row] = &[
    number("NSZE", 0, 8, blocks).noting("size"),
    number("NCAP", 8, 8, blocks).noting("capacity"),
    number("NUSE", 16, 8, blocks).noting("in use"),
    number("NSFEAT", 24, 1, super::scsi::code),
    number("NLBAF", 25, 1, plain).noting("formats, less one"),
    number("FLBAS", 26, 1, super::scsi::code).noting("bits 3:0: the format in use"),
    number("DLFEAT", 33, 1, super::scsi::code),
    number("NOIOB", 46, 2, or_silent).noting("optimal I/O boundary, blocks"),
    number("NPWG", 64, 2, plain).noting("preferred write granularity, blocks, less one"),
    of("NGUID", 104, 16, Holds::Bytes),
    of("EUI64", 120, 8, Holds::Bytes),
];

const ZONED_NAMESPACE: &[Row] = &[
    bits("ZOC: variable zone capacity", 0, 2, 0, 0, yes_no),
    bits("ZOC: zone active excursions", 0, 2, 1, 1, yes_no),
    bits("OZCS: reads across zones", 2, 2, 0, 0, yes_no),
    number("MAR", 4, 4, zero_based).noting("zones that may be active; stored less one"),
    number("MOR", 8, 4, zero_based).noting("zones that may be open; stored less one"),
    number("RRL", 12, 4, seconds).noting("reset recommended limit"),
    number("FRL", 16, 4, seconds).noting("finish recommended limit"),
];

/// CNS 06h, CSI 02h.
pub const ZONED_CONTROLLER: &[Row] = &[number("ZASL", 0, 1, transfer)
    .noting("largest zone append, as a power of two of the smallest memory page; 0: MDTS")];

/// CNS 00h: the fixed fields and the format in use.
pub fn namespace(page: &[u8]) -> Vec<PageField> {
    let mut fields = rows(NAMESPACE, page, Order::Little);
    if let Some(namespace) = nvme::namespace(page).known() {
        let at = 128 + 4 * namespace.format;
        fields.push(number("LBADS of the format in use", at + 2, 1, exponent).read(page, Order::Little));
        fields
            .push(number("MS of the format in use", at, 2, plain).noting("metadata, bytes").read(page, Order::Little));
    }
    fields
}

/// CNS 05h, CSI 02h: the fixed fields and each format's zone size.
pub fn zoned_namespace(page: &[u8]) -> Vec<PageField> {
    const FORMATS: usize = 64;
    let mut fields = rows(ZONED_NAMESPACE, page, Order::Little);
    for format in 0..FORMATS {
        let field = number("ZSZE", 2816 + 16 * format, 8, blocks).read(page, Order::Little);
        if field.raw.as_deref().is_some_and(|raw| raw != "0x0") {
            fields.push(PageField { note: Some(format!("zone size with LBA format {format}")), ..field });
        }
    }
    fields
}

fn blocks(number: u64) -> String {
    format!("{number} blocks")
}

fn seconds(number: u64) -> String {
    if number == 0 { "not reported".to_owned() } else { format!("{number} s") }
}

fn zero_based(number: u64) -> String {
    if number == 0xffff_ffff { "no limit".to_owned() } else { (number + 1).to_string() }
}

fn transfer(number: u64) -> String {
    if number == 0 { "no limit of its own".to_owned() } else { format!("2^{number} pages") }
}

fn exponent(number: u64) -> String {
    match u32::try_from(number).ok().and_then(|exponent| 1_u64.checked_shl(exponent)) {
        Some(bytes) => format!("{bytes} bytes"),
        None => "impossible".to_owned(),
    }
}

fn version(number: u64) -> String {
    format!("{}.{}.{}", number >> 16, (number >> 8) & 0xff, number & 0xff)
}

fn kelvin(number: u64) -> String {
    match number.checked_sub(273) {
        Some(celsius) if number != 0 => format!("{celsius} °C"),
        _ if number == 0 => "not reported".to_owned(),
        _ => format!("{number} K"),
    }
}
