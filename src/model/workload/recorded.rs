//! A workload that was recorded elsewhere: fio's iolog (versions 2 and 3) and the text of `blkparse`.

mod blkparse;
mod iolog;

use serde::{Deserialize, Serialize};

use crate::model::approx::{f64_of, u64_of};

/// What one recorded I/O did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordedOp {
    /// Read.
    #[serde(rename = "r")]
    Read,
    /// Write.
    #[serde(rename = "w")]
    Write,
    /// Trim.
    #[serde(rename = "t")]
    Trim,
    /// Flush; of a file, with its metadata.
    #[serde(rename = "f")]
    Flush,
    /// Flush of the data alone.
    #[serde(rename = "d")]
    FlushData,
}

/// One recorded I/O. In JSON a short list, as there may be thousands: `[at_us, "w", offset, len]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u64, RecordedOp, u64, u32)", from = "(u64, RecordedOp, u64, u32)")]
pub struct Recorded {
    /// When it is due, microseconds from the first one.
    pub at_us: u64,
    /// What it does.
    pub op: RecordedOp,
    /// First byte; 0 for a flush.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub len: u32,
}

impl From<Recorded> for (u64, RecordedOp, u64, u32) {
    fn from(io: Recorded) -> Self {
        (io.at_us, io.op, io.offset, io.len)
    }
}

impl From<(u64, RecordedOp, u64, u32)> for Recorded {
    fn from((at_us, op, offset, len): (u64, RecordedOp, u64, u32)) -> Self {
        Self { at_us, op, offset, len }
    }
}

/// Most I/Os of one recording.
const MAX_IOS: usize = 100_000;
/// Longest recording, microseconds: 30 days.
const MAX_US: u64 = 30 * 86_400 * 1_000_000;

/// Reads a recording, whichever of the forms it has. Times then count from its first I/O, which never come before an
/// earlier one's.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn parse_recording(text: &str) -> Result<Vec<Recorded>, String> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut ios = if first.starts_with("fio version") { iolog::parse(text)? } else { blkparse::parse(text)? };
    // blkparse merges the lines of several CPUs, which may be a little out of order.
    ios.sort_by_key(|io| io.at_us);
    let Some(began) = ios.first().map(|io| io.at_us) else {
        return Err("has no I/O; it must be a fio iolog of version 2 or 3, or the text of blkparse".to_owned());
    };
    for io in &mut ios {
        io.at_us -= began;
    }
    match ios.last() {
        Some(last) if last.at_us > MAX_US => Err("lasts more than 30 days".to_owned()),
        _ => Ok(ios),
    }
}

/// One I/O of a line, checked.
fn io(line: usize, at_us: u64, op: RecordedOp, offset: u64, len: u64) -> Result<Recorded, String> {
    let flush = matches!(op, RecordedOp::Flush | RecordedOp::FlushData);
    let (offset, len) = if flush { (0, 0) } else { (offset, len) };
    if !flush && len == 0 {
        return Err(format!("line {line}: an I/O of 0 bytes"));
    }
    let len = u32::try_from(len).map_err(|_| format!("line {line}: {len} bytes in one I/O are too many"))?;
    if offset.checked_add(u64::from(len)).is_none() {
        return Err(format!("line {line}: it ends past 2^64 bytes"));
    }
    Ok(Recorded { at_us, op, offset, len })
}

fn push(ios: &mut Vec<Recorded>, line: usize, io: Recorded) -> Result<(), String> {
    if ios.len() == MAX_IOS {
        return Err(format!("line {line}: more than {MAX_IOS} I/Os"));
    }
    ios.push(io);
    Ok(())
}

/// Maps a recording onto `size` bytes from `start`, in blocks of `block`: as it is where it fits, else with all offsets
/// scaled down alike. No I/O lies outside, and none is longer than the region.
#[must_use]
pub fn fitted(ios: &[Recorded], start: u64, size: u64, block: u64) -> Vec<Recorded> {
    let end = ios.iter().map(|io| io.offset + u64::from(io.len)).max().unwrap_or(0);
    let shrink = if end > size { f64_of(size) / f64_of(end) } else { 1.0 };
    let whole = size - size % block.max(1);
    ios.iter()
        .map(|io| {
            if io.len == 0 {
                return *io;
            }
            let len = u64::from(io.len).div_ceil(block) * block;
            let len = len.min(whole).min(u64::from(u32::MAX) / block * block);
            let offset = if end > size { u64_of(f64_of(io.offset) * shrink) } else { io.offset };
            let offset = offset.min(whole - len) / block * block;
            Recorded { offset: start + offset, len: u32::try_from(len).unwrap_or(u32::MAX), ..*io }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_three_forms_of_the_same_two_writes_read_alike() {
        let expected = [
            Recorded { at_us: 0, op: RecordedOp::Write, offset: 4096, len: 8192 },
            Recorded { at_us: 250, op: RecordedOp::Write, offset: 1_048_576, len: 4096 },
        ];
        let v2 = "fio version 2 iolog\nf add\nf open\nf write 4096 8192\nf wait 250 0\nf write 1048576 4096\nf close\n";
        let v3 =
            "fio version 3 iolog\n0 f add\n0 f open\n90 f write 4096 8192\n340 f write 1048576 4096\n400 f close\n";
        let blk = "  8,16   1        1     2.000090000  4162  Q  WS 8 + 16 [fio]\n  \
                   8,16   1        2     2.000095000  4162  D  WS 8 + 16 [fio]\n  \
                   8,16   0        3     2.000340000  4162  Q   W 2048 + 8 [fio]\n";
        for text in [v2, v3, blk] {
            assert_eq!(parse_recording(text).unwrap(), expected, "{text}");
        }
        let json = serde_json::to_string(&expected[0]).unwrap();
        assert_eq!(json, r#"[0,"w",4096,8192]"#);
        assert_eq!(serde_json::from_str::<Recorded>(&json).unwrap(), expected[0]);
    }

    #[test]
    fn a_recording_that_fits_is_left_as_it_is_and_a_larger_one_is_scaled() {
        let io = |offset, len| Recorded { at_us: 0, op: RecordedOp::Read, offset, len };
        let small = [io(0, 4096), io(8192, 512)];
        assert_eq!(fitted(&small, 1 << 20, 1 << 20, 512)[1], io((1 << 20) + 8192, 512));
        let large = [io(0, 4096), io(1 << 40, 4096), io((1 << 41) - 4096, 4096)];
        let offsets: Vec<_> = fitted(&large, 0, 1 << 20, 4096).iter().map(|io| io.offset).collect();
        assert_eq!(offsets, [0, 1 << 19, (1 << 20) - 4096]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail_otherwise_than_by_saying_so(text in ".{0,300}", lines in 0usize..4) {
            for head in ["", "fio version 2 iolog\n", "fio version 3 iolog\n"] {
                let _ = parse_recording(&format!("{head}{}", format!("{text}\n").repeat(lines)));
            }
        }

        #[test]
        fn nothing_that_was_fitted_lies_outside(
            offset in 0u64..u64::MAX / 2, len in 1u32.., start in 0u64..1 << 40, sectors in 8u64..1 << 30
        ) {
            let ios = [Recorded { at_us: 0, op: RecordedOp::Write, offset, len }];
            for io in fitted(&ios, start * 512, sectors * 512, 512) {
                prop_assert!(io.len > 0 && io.len % 512 == 0 && io.offset % 512 == 0);
                prop_assert!(io.offset >= start * 512);
                prop_assert!(io.offset + u64::from(io.len) <= (start + sectors) * 512);
            }
        }
    }
}
