//! Numbers as they stand in a sentence.

use crate::model::Bytes;
use crate::model::approx::u64_of;

/// `368795` as `368,795`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A block size, which is nearly always a whole number of its unit: `4 KiB`.
pub fn block(bs: Bytes) -> String {
    bs.binary().replacen(".0 ", " ", 1)
}

/// A rate: whole from 100 on, one decimal below, two below 1.
pub fn rate(per_s: f64) -> String {
    match per_s {
        r if r >= 99.5 => grouped(u64_of(r)),
        r if r >= 1.0 => format!("{r:.1}"),
        r => format!("{r:.2}"),
    }
}

/// A ratio: two significant digits where it is small, few where it is large.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if r >= 10.0 => format!("{r:.0}"),
        r if r >= 1.0 => format!("{r:.1}"),
        r if r >= 0.095 => format!("{r:.2}"),
        r => format!("{r:.3}"),
    }
}

/// A share as percent.
pub fn percent(share: f64) -> String {
    format!("{} %", u64_of(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(368_795), "368,795");
        assert_eq!(grouped(12), "12");
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!((rate(2_930.4).as_str(), rate(9.26).as_str(), rate(0.5).as_str()), ("2,930", "9.3", "0.50"));
        assert_eq!((block(Bytes(4096)).as_str(), block(Bytes(1536)).as_str()), ("4 KiB", "1.5 KiB"));
        assert_eq!((ratio(0.064).as_str(), ratio(7.42).as_str()), ("0.064", "7.4"));
    }
}
