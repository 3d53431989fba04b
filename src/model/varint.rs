//! Numbers as few bytes as they need: LEB128, seven bits a byte, the lowest first.

/// What a number of 64 bits takes at most, bits.
const LONGEST: u32 = 70;

/// The bytes end within a number, or the number has more than 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a number ends early or is too large")]
pub struct VarintError;

/// Appends a number.
pub fn put(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// Takes a number from the front.
///
/// # Errors
/// [`VarintError`] when there is none.
pub fn take(bytes: &mut &[u8]) -> Result<u64, VarintError> {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let (byte, rest) = bytes.split_first().ok_or(VarintError)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift).ok_or(VarintError)?;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
        shift += 7;
        if shift >= LONGEST {
            return Err(VarintError);
        }
    }
}
