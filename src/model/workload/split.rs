//! fio's `bssplit`: I/Os of several sizes in one stream.

use serde::{Deserialize, Serialize};

use crate::model::parameters::bytes_of_text;
use crate::model::units::Bytes;

/// One size and its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeShare {
    /// Bytes per I/O.
    pub bs: Bytes,
    /// Percent of all I/Os.
    pub percent: u8,
}

/// Most sizes that one workload mixes.
const MAX_SIZES: usize = 64;
const EXPECTED: &str = "must be sizes with their percentages, 100 in all, such as 4k/60:64k/40";

/// Reads `4k/60:64k/40`. As in fio, sizes without a percentage share what is left.
///
/// # Errors
/// What is wrong with it.
pub fn parse_bssplit(text: &str) -> Result<Vec<SizeShare>, String> {
    let wrong = || format!("is {text:?}; {EXPECTED}");
    let mut parts = Vec::new();
    for part in text.trim().split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = match percent {
            "" => None,
            text => Some(text.parse::<u8>().ok().filter(|percent| *percent <= 100).ok_or_else(wrong)?),
        };
        let bs = bytes_of_text(size).ok().filter(|bytes| *bytes > 0).ok_or_else(wrong)?;
        parts.push((Bytes(bs), percent));
    }
    let given: u32 = parts.iter().filter_map(|(_, percent)| *percent).map(u32::from).sum();
    let open = u32::try_from(parts.iter().filter(|(_, percent)| percent.is_none()).count()).unwrap_or(u32::MAX);
    if parts.len() > MAX_SIZES || given > 100 || (open == 0 && given != 100) {
        return Err(wrong());
    }
    let left = 100 - given;
    let each = left.checked_div(open).unwrap_or(0);
    // What does not divide evenly goes to the first of the open ones.
    let mut extra = left - each * open;
    let shares = parts.into_iter().map(|(bs, percent)| {
        let percent = percent.unwrap_or_else(|| {
            let percent = each + std::mem::take(&mut extra);
            u8::try_from(percent).unwrap_or(100)
        });
        SizeShare { bs, percent }
    });
    Ok(shares.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(u64, u8)> {
        parse_bssplit(text).unwrap().into_iter().map(|share| (share.bs.0, share.percent)).collect()
    }

    #[test]
    fn shares_are_read_and_open_ones_filled_up() {
        assert_eq!(read("4k/60:64k/40"), [(4096, 60), (65_536, 40)]);
        assert_eq!(read("4k"), [(4096, 100)]);
        assert_eq!(read("4k/10:8k/:16k"), [(4096, 10), (8192, 45), (16_384, 45)]);
        assert_eq!(read("4k:8k:16k"), [(4096, 34), (8192, 33), (16_384, 33)]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "4k/60", "4k/60:8k/50", "4k/101", "0/100", "x/100", "4k/-1:8k/101", "4k/300", "4k//100"] {
            assert!(parse_bssplit(text).is_err_and(|why| why.contains("4k/60:64k/40")), "{text}");
        }
    }
}
