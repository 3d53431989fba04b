//! NVMe Identify data (NVMe base 2.0 §5.17, ZNS 1.1 §4.1.5). All numbers are little endian.

use super::page::not_trusted;
use crate::model::drive::Reading;
use crate::model::units::Bytes;

/// What Identify Controller says, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Controller {
    /// Byte 77, MDTS: the largest transfer is 2^n pages of the controller's smallest size; `None` is "no limit".
    pub max_transfer_exponent: Option<u8>,
    /// Byte 525 bit 0: there is a volatile write cache.
    pub volatile_cache: bool,
}

/// What Identify Namespace says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespace {
    /// Bytes 0-7: size, logical blocks.
    pub size_blocks: u64,
    /// Bytes 8-15: capacity, logical blocks.
    pub capacity_blocks: u64,
    /// Byte 26 bits 3:0 (and 6:5 when there are more than 16): which format is in use.
    pub format: usize,
    /// The format's LBADS: the logical block, bytes.
    pub logical_block: Option<u32>,
}

/// What Identify Namespace of the Zoned Namespace command set says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZonedNamespace {
    /// Bytes 0-1, ZOC bit 0: the zone capacity may change when a zone is reset.
    pub variable_capacity: bool,
    /// Bytes 4-7, MAR, zero based there: zones that may be active; `None` is "no limit".
    pub max_active: Option<u64>,
    /// Bytes 8-11, MOR, zero based there: zones that may be open; `None` is "no limit".
    pub max_open: Option<u64>,
    /// ZSZE of the format in use: zone size, bytes.
    pub zone_size: Option<Bytes>,
}

fn number(data: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let field = data.get(at..at.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// 4096 bytes, and not all zero: a drive that does not know the structure may send nothing but zeros.
fn whole(data: &[u8]) -> Reading<&[u8]> {
    if data.len() < 4096 {
        return not_trusted(format!("Identify data is {} bytes long, must be 4096", data.len()));
    }
    if data.iter().all(|byte| *byte == 0) {
        return not_trusted("Identify data is empty".to_owned());
    }
    Reading::Known(data)
}

/// Decodes Identify Controller.
#[must_use]
pub fn controller(data: &[u8]) -> Reading<Controller> {
    whole(data).map(|data| Controller {
        max_transfer_exponent: data.get(77).copied().filter(|exponent| *exponent != 0),
        volatile_cache: data.get(525).is_some_and(|flags| flags & 1 == 1),
    })
}

/// Decodes Identify Namespace.
#[must_use]
pub fn namespace(data: &[u8]) -> Reading<Namespace> {
    whole(data).map(|data| {
        let byte = |at: usize| data.get(at).copied().map_or(0, usize::from);
        let format = if byte(25) > 15 { byte(26) & 0xf | (byte(26) & 0x60) >> 1 } else { byte(26) & 0xf };
        // LBA format N is at 128 + 4 N; its third byte is the exponent, at least 9.
        let exponent = data.get(128 + 4 * format + 2).copied().filter(|exponent| (9..32).contains(exponent));
        Namespace {
            size_blocks: number(data, 0, 8).unwrap_or(0),
            capacity_blocks: number(data, 8, 8).unwrap_or(0),
            format,
            logical_block: exponent.map(|exponent| 1 << exponent),
        }
    })
}

/// Decodes Identify Namespace of the Zoned Namespace command set, for the format and block that [`namespace`] gave.
#[must_use]
pub fn zoned_namespace(data: &[u8], namespace: Option<&Namespace>) -> Reading<ZonedNamespace> {
    // An empty answer is possible here: no limits and no characteristics; the zone size is then missing as well.
    whole(data).map(|data| {
        // Zero based, and all ones is "no limit".
        let limit = |at| number(data, at, 4).filter(|limit| *limit != 0xffff_ffff).map(|limit| limit + 1);
        // LBA format extension N is at 2816 + 16 N.
        let zone_size = namespace.and_then(|namespace| {
            let blocks = number(data, 2816 + 16 * namespace.format, 8)?;
            Some(Bytes(blocks.checked_mul(u64::from(namespace.logical_block?))?))
        });
        ZonedNamespace {
            variable_capacity: number(data, 0, 2).is_some_and(|zoc| zoc & 1 == 1),
            max_active: limit(4),
            max_open: limit(8),
            zone_size,
        }
    })
}

/// Byte 0 of Identify Controller of the Zoned Namespace command set, ZASL: the largest zone append is 2^n smallest
/// pages; `None` when MDTS is the limit.
#[must_use]
pub fn append_limit_exponent(data: &[u8]) -> Option<u8> {
    data.first().copied().filter(|exponent| *exponent != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut data = vec![0_u8; 4096];
        for (at, bytes) in fields {
            data[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        data
    }

    #[test]
    fn the_zoned_namespace_of_qemu_reads_as_nvme_cli_prints_it() {
        let ns = structure(&[(0, &[0, 0, 4]), (8, &[0, 0, 4]), (25, &[7, 4]), (128 + 16, &[0, 0, 12, 0])]);
        let ns = namespace(&ns).into_known().unwrap();
        assert_eq!((ns.size_blocks, ns.format, ns.logical_block), (0x40000, 4, Some(4096)));
        let zns = structure(&[(4, &[0x0b, 0, 0, 0, 7, 0, 0, 0]), (2816 + 64, &[0, 0x10])]);
        let zns = zoned_namespace(&zns, Some(&ns)).into_known().unwrap();
        assert_eq!((zns.max_active, zns.max_open), (Some(12), Some(8)));
        assert_eq!(zns.zone_size, Some(Bytes(4096 * 4096)));
    }

    #[test]
    fn all_ones_is_no_limit_and_an_impossible_block_is_none() {
        let zns = structure(&[(4, &[0xff; 8])]);
        let zns = zoned_namespace(&zns, None).into_known().unwrap();
        assert_eq!((zns.max_active, zns.max_open, zns.zone_size), (None, None, None));
        let ns = namespace(&structure(&[(0, &[1]), (130, &[200])])).into_known().unwrap();
        assert_eq!(ns.logical_block, None);
        assert!(namespace(&[0; 4096]).known().is_none());
        assert!(controller(&[1; 100]).known().is_none());
    }
}
