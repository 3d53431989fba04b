//! VPD pages 0xB0, block limits, and 0xB2, logical block provisioning (SBC-4 §6.6.4, §6.6.7).

use super::page::{HEADER, payload};
use crate::model::drive::Reading;

/// What page 0xB0 says, as far as it matters here. 0 means "not reported" in each, and is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLimits {
    /// Bytes 6-7: transfers are best a multiple of this, logical blocks.
    pub granularity: Option<u64>,
    /// Bytes 8-11: the largest transfer, logical blocks.
    pub max_transfer: Option<u64>,
    /// Bytes 12-15: the best transfer, logical blocks.
    pub optimal_transfer: Option<u64>,
    /// Bytes 20-23: how many blocks one UNMAP may name; `None` when the page says that there is no UNMAP.
    pub max_unmap: Option<u64>,
}

/// What page 0xB2 says of giving blocks back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provisioning {
    /// Byte 5 bit 7, LBPU: UNMAP is supported.
    pub unmap: bool,
    /// Byte 5 bit 6, LBPWS: WRITE SAME(16) can unmap. That is how libata offers the TRIM of a SATA drive.
    pub write_same: bool,
    /// Byte 6 bits 2:0: 0 fully provisioned or not known, 1 resource, 2 thin.
    pub kind: u8,
}

/// A big-endian number of up to eight bytes at `from`, counted from the start of the page; `None` beyond its end.
pub(super) fn big_endian(payload: &[u8], from: usize, bytes: usize) -> Option<u64> {
    let start = from.checked_sub(HEADER)?;
    let field = payload.get(start..start.checked_add(bytes)?)?;
    Some(field.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Decodes page 0xB0. A short page, as SBC-2 had it (16 bytes), is whole as far as it goes.
#[must_use]
pub fn block_limits(page: &[u8]) -> Reading<BlockLimits> {
    payload(page, 0xb0).map(|payload| {
        let field = |from, bytes| big_endian(payload, from, bytes).filter(|number| *number != 0);
        BlockLimits {
            granularity: field(6, 2),
            max_transfer: field(8, 4),
            optimal_transfer: field(12, 4),
            max_unmap: field(20, 4),
        }
    })
}

/// Decodes page 0xB2.
#[must_use]
pub fn provisioning(page: &[u8]) -> Reading<Provisioning> {
    payload(page, 0xb2).and_then(|payload| match payload {
        &[_, flags, kind, ..] => {
            Reading::Known(Provisioning { unmap: flags & 0x80 != 0, write_same: flags & 0x40 != 0, kind: kind & 0x7 })
        }
        short => super::page::not_trusted(format!("page 0xb2 is {} bytes long, too short", short.len() + HEADER)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_scsi_debug_read_as_sg_vpd_prints_them() {
        let mut page = vec![0x00, 0xb0, 0x00, 0x3c, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 4, 0];
        page.resize(64, 0);
        let limits = block_limits(&page).into_known().unwrap();
        assert_eq!((limits.granularity, limits.max_transfer), (Some(1), Some(524_288)));
        assert_eq!((limits.optimal_transfer, limits.max_unmap), (Some(1024), None));
    }

    #[test]
    fn a_page_of_sbc_2_ends_early_and_says_nothing_of_unmap() {
        let page = [0, 0xb0, 0, 0x0c, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0];
        let limits = block_limits(&page).into_known().unwrap();
        assert_eq!((limits.max_transfer, limits.max_unmap), (Some(65_535), None));
    }

    #[test]
    fn unmap_is_bit_7_of_byte_5_and_write_same_bit_6() {
        let page = |flags, kind| provisioning(&[0, 0xb2, 0, 4, 0, flags, kind, 0]).into_known().unwrap();
        assert_eq!(page(0x80, 2), Provisioning { unmap: true, write_same: false, kind: 2 });
        assert_eq!(page(0x7f, 0xf8), Provisioning { unmap: false, write_same: true, kind: 0 });
        assert!(provisioning(&[0, 0xb2, 0, 2, 0, 0x80]).known().is_none());
    }
}
