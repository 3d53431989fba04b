//! The text of `blkparse` with its default format:
//! `device cpu sequence seconds.nanoseconds pid action rwbs sector + sectors [process]`.

use super::{Recorded, RecordedOp, io, push};

/// All I/Os that were queued (`Q`); where a trace has none of those, all that were issued to the device (`D`).
/// Other lines, such as the summary at the end, are skipped: the tool prints many kinds.
pub fn parse(text: &str) -> Result<Vec<Recorded>, String> {
    let queued = of_action(text, "Q")?;
    if queued.is_empty() { of_action(text, "D") } else { Ok(queued) }
}

fn of_action(text: &str, wanted: &str) -> Result<Vec<Recorded>, String> {
    let mut ios = Vec::new();
    for (text, line) in text.lines().zip(1..) {
        let words: Vec<&str> = text.split_whitespace().take(10).collect();
        let [device, _cpu, _sequence, time, _pid, action, rwbs, place @ ..] = words.as_slice() else { continue };
        if *action != wanted || !device.contains(',') {
            continue;
        }
        let at_us = microseconds(time).ok_or_else(|| format!("line {line}: {time:?} is no time"))?;
        // An I/O without a place carries only a flush; a flush before a write is the drive's own business here.
        let placeless = place.first().is_none_or(|word| word.starts_with('['));
        let op = match rwbs.trim_start_matches('F').chars().next() {
            _ if placeless && rwbs.starts_with('F') => RecordedOp::Flush,
            Some('D') => RecordedOp::Trim,
            Some('R') => RecordedOp::Read,
            Some('W') => RecordedOp::Write,
            _ => continue,
        };
        let number = |word: Option<&&str>, what: &str| {
            let word = word.ok_or_else(|| format!("line {line}: its {what} is missing"))?;
            word.parse::<u64>().map_err(|_| format!("line {line}: {word:?} is no {what}"))
        };
        let (offset, len) = match op {
            RecordedOp::Flush => (0, 0),
            _ => {
                let sector = number(place.first(), "sector")?;
                let sectors = number(place.get(2), "number of sectors")?;
                let bytes = |sectors: u64| {
                    sectors.checked_mul(512).ok_or_else(|| format!("line {line}: {sectors} sectors are too many"))
                };
                (bytes(sector)?, bytes(sectors)?)
            }
        };
        push(&mut ios, line, io(line, at_us, op, offset, len)?)?;
    }
    Ok(ios)
}

fn microseconds(time: &str) -> Option<u64> {
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let fraction = format!("{fraction:0<6}");
    let micros: u64 = fraction.get(..6)?.parse().ok()?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_are_skipped_and_discards_and_flushes_known() {
        let text = "\
  8,0    3        1     0.000000000   697  G   R 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  Q   R 8 + 8 [kjournald]
  8,0    3        3     0.5           697  Q  DS 16 + 2048 [fstrim]
  8,0    3        4     1.000000000   697  Q FWS [jbd2]
  8,0    3        5     1.000000000   697  Q FWFS 32 + 8 [jbd2]
CPU3 (8,0):
 Reads Queued:           1,        4KiB\t Writes Queued:           0,        0KiB
";
        let ios = parse(text).unwrap();
        let ops: Vec<_> = ios.iter().map(|io| (io.at_us, io.op, io.offset, io.len)).collect();
        assert_eq!(
            ops,
            [
                (1, RecordedOp::Read, 4096, 4096),
                (500_000, RecordedOp::Trim, 8192, 1_048_576),
                (1_000_000, RecordedOp::Flush, 0, 0),
                (1_000_000, RecordedOp::Write, 16_384, 4096),
            ]
        );
    }

    #[test]
    fn a_trace_of_issues_alone_serves_too_and_a_broken_line_is_named() {
        let line = "8,0 3 2 0.000001829 697 D R 8 + 8 [x]\n";
        assert_eq!(parse(line).unwrap().len(), 1);
        assert!(parse(&line.replace("0.000001829", "soon")).unwrap_err().contains("line 1: \"soon\""));
        assert!(parse(&line.replace("+ 8", "+ x")).unwrap_err().contains("number of sectors"));
        assert!(parse(&line.replace("R 8", "R 18446744073709551615")).unwrap_err().contains("too many"));
    }
}
