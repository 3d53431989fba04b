//! Sense data: why a drive refused a command (SPC-4 §4.5).

use std::fmt;

/// The three numbers that say why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sense {
    /// Sense key.
    pub key: u8,
    /// Additional sense code.
    pub asc: u8,
    /// Additional sense code qualifier.
    pub ascq: u8,
}

/// Sense key 5: the drive does not know the command, or a field of it.
pub const ILLEGAL_REQUEST: u8 = 0x5;
/// Sense key 0xB: SAT's answer when an ATA drive aborts a command that it does not know.
pub const ABORTED_COMMAND: u8 = 0xb;
/// Sense key 2.
pub const NOT_READY: u8 = 0x2;

impl Sense {
    /// Reads sense data of either format; `None` when it is neither.
    #[must_use]
    pub fn decode(data: &[u8]) -> Option<Self> {
        let at = |index: usize| data.get(index).copied().unwrap_or(0);
        match data.first()? & 0x7f {
            // Fixed: bytes 2, 12, 13.
            0x70 | 0x71 => Some(Self { key: data.get(2)? & 0x0f, asc: at(12), ascq: at(13) }),
            // Descriptor: bytes 1, 2, 3.
            0x72 | 0x73 => Some(Self { key: data.get(1)? & 0x0f, asc: at(2), ascq: at(3) }),
            _ => None,
        }
    }

    /// Whether it says that the drive does not have what was asked for.
    #[must_use]
    pub fn is_unsupported(self) -> bool {
        matches!(self.key, ILLEGAL_REQUEST | ABORTED_COMMAND)
    }
}

impl fmt::Display for Sense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = match self.key {
            0x0 => "no sense",
            0x1 => "recovered error",
            NOT_READY => "not ready",
            0x3 => "medium error",
            0x4 => "hardware error",
            ILLEGAL_REQUEST => "illegal request",
            0x6 => "unit attention",
            0x7 => "data protect",
            ABORTED_COMMAND => "aborted command",
            _ => "other",
        };
        write!(f, "{key} (sense {:x}/{:02x}/{:02x})", self.key, self.asc, self.ascq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_formats_read() {
        let fixed = [0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0x00, 0, 0, 0, 0];
        assert_eq!(Sense::decode(&fixed), Some(Sense { key: 5, asc: 0x24, ascq: 0 }));
        assert_eq!(Sense::decode(&[0x72, 0x0b, 0x00, 0x1d]), Some(Sense { key: 0xb, asc: 0, ascq: 0x1d }));
        assert_eq!(Sense::decode(&[0x00, 5, 0x24]), None);
        assert_eq!(Sense::decode(&[]), None);
        let short = Sense::decode(&[0xf0, 0, 2]).unwrap();
        assert_eq!((short.key, short.asc), (2, 0), "the valid bit is no part of the format");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Sense::decode(&bytes).map(|sense| sense.to_string());
        }
    }
}
