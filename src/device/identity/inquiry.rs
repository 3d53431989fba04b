//! Standard INQUIRY data (SPC-4 §6.6.2).

use super::ascii;
use super::page::not_trusted;
use crate::model::drive::Reading;

/// What standard INQUIRY data says, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandardInquiry {
    /// Byte 0 bits 4:0, peripheral device type: 0x00 block device, 0x05 CD, 0x14 host-managed zoned.
    pub device_type: u8,
    /// Bytes 8-15.
    pub vendor: Option<String>,
    /// Bytes 16-31. For a SATA drive the first 16 characters of the model.
    pub product: Option<String>,
    /// Bytes 32-35.
    pub revision: Option<String>,
}

/// Decodes standard INQUIRY data.
#[must_use]
pub fn decode(data: &[u8]) -> Reading<StandardInquiry> {
    let Some(&peripheral) = data.first() else { return not_trusted("INQUIRY data is empty".to_owned()) };
    // Byte 0 bits 7:5, the peripheral qualifier: 0 is "connected".
    if peripheral >> 5 != 0 {
        return not_trusted(format!("INQUIRY byte 0 is 0x{peripheral:02x}: no device at this address"));
    }
    let field = |from: usize, to: usize| data.get(from..to).and_then(ascii);
    Reading::Known(StandardInquiry {
        device_type: peripheral & 0x1f,
        vendor: field(8, 16),
        product: field(16, 32),
        revision: field(32, 36),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_managed_disk_has_type_0x14() {
        let mut data = vec![0x14, 0, 5, 2, 0x5b, 0, 0, 2];
        data.extend_from_slice(b"ATA     ST11000NS0001-2DSN02");
        let inquiry = decode(&data).into_known().unwrap();
        assert_eq!(inquiry.device_type, 0x14);
        assert_eq!(inquiry.vendor.as_deref(), Some("ATA"));
        assert_eq!(inquiry.product.as_deref(), Some("ST11000NS0001-2D"));
        assert_eq!(inquiry.revision.as_deref(), Some("SN02"));
    }

    #[test]
    fn a_short_answer_still_has_its_type() {
        let inquiry = decode(&[0x00]).into_known().unwrap();
        assert_eq!((inquiry.device_type, inquiry.vendor), (0, None));
        assert!(decode(&[]).known().is_none());
        assert!(decode(&[0x7f]).known().is_none(), "qualifier 3: nothing is there");
    }
}
