//! fio's own recording (`write_iolog`): version 2 with `wait`, version 3 with a time on each line.

use super::{Recorded, RecordedOp, io, push};

/// All I/Os of the file; times as written.
pub fn parse(text: &str) -> Result<Vec<Recorded>, String> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let timed = match lines.next().map(|(line, _)| line.trim()) {
        Some("fio version 2 iolog") => false,
        Some("fio version 3 iolog") => true,
        other => {
            return Err(format!(
                "line 1: {:?}; must be fio version 2 iolog or fio version 3 iolog",
                other.unwrap_or_default()
            ));
        }
    };
    let mut ios = Vec::new();
    let mut now_us = 0_u64;
    for (text, line) in lines {
        let mut words = text.split_whitespace();
        let number = |word: Option<&str>, what: &str| {
            let word = word.ok_or_else(|| format!("line {line}: its {what} is missing"))?;
            word.parse::<u64>().map_err(|_| format!("line {line}: {word:?} is no {what}"))
        };
        if timed {
            // Microseconds, as fio 3.33 writes them.
            now_us = number(words.next(), "time")?;
        }
        let _file = words.next();
        let action = words.next().ok_or_else(|| format!("line {line}: its action is missing"))?;
        let op = match action {
            "add" | "open" | "close" => continue,
            "wait" if !timed => {
                // Counted from the wait before.
                now_us = now_us.saturating_add(number(words.next(), "time")?);
                continue;
            }
            "read" => RecordedOp::Read,
            "write" => RecordedOp::Write,
            "trim" => RecordedOp::Trim,
            "sync" => RecordedOp::Flush,
            "datasync" => RecordedOp::FlushData,
            other => return Err(format!("line {line}: {other:?} is no action of fio's")),
        };
        let (offset, len) = match op {
            RecordedOp::Flush | RecordedOp::FlushData => (0, 0),
            _ => (number(words.next(), "offset")?, number(words.next(), "length")?),
        };
        push(&mut ios, line, io(line, now_us, op, offset, len)?)?;
    }
    Ok(ios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_have_no_place_and_management_is_skipped() {
        let ios = parse("fio version 2 iolog\nf add\nf sync 0 0\nf datasync\nf trim 512 1024\n").unwrap();
        let ops: Vec<_> = ios.iter().map(|io| (io.op, io.offset, io.len)).collect();
        assert_eq!(ops, [(RecordedOp::Flush, 0, 0), (RecordedOp::FlushData, 0, 0), (RecordedOp::Trim, 512, 1024)]);
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        for (text, part) in [
            ("fio version 1 iolog\n", "line 1"),
            ("fio version 2 iolog\nf read 0\n", "line 2: its length is missing"),
            ("fio version 2 iolog\n\nf read x 4096\n", "line 3: \"x\" is no offset"),
            ("fio version 2 iolog\nf read 0 0\n", "line 2: an I/O of 0 bytes"),
            ("fio version 2 iolog\nf read 0 5000000000\n", "line 2: 5000000000 bytes"),
            ("fio version 2 iolog\nf read 18446744073709551615 4096\n", "line 2: it ends past"),
            ("fio version 3 iolog\nf read 0 4096\n", "line 2: \"f\" is no time"),
            ("fio version 3 iolog\n5 f wait 10 0\n", "line 2: \"wait\""),
            ("fio version 2 iolog\nf dance 0 1\n", "line 2: \"dance\""),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(part), "{why}");
        }
    }
}
