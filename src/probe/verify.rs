//! Data that says where and when it was written, so that what comes back wrong says what is wrong.
//!
//! Each unit of 512 bytes (little-endian):
//! ```text
//!   0 magic (8) │ 8 offset on the target (8) │ 16 seed (8) │ 24 generation (4) │ 28 CRC-32 of the rest (4) │ 32 noise
//! ```
//! The noise is drawn from the header, so no two units are alike and none compresses or deduplicates.

use super::engine::{Io, Op};
use super::pattern::mixed;
use crate::model::workload::{Verify, VerifyStep};

/// The smallest logical block: every I/O is a whole number of them.
const UNIT: usize = 512;
const HEADER: usize = 32;
const MAGIC: u64 = u64::from_le_bytes(*b"drvscope");

/// Writes and checks such data.
#[derive(Debug, Clone)]
pub struct Verifier {
    verify: Verify,
    seed: u64,
    checked: u64,
    reads: u64,
    /// Reads that failed or brought wrong data before an interruption, whose details are lost.
    wrong_before: u64,
    wrong: Vec<(Wrong, Finding)>,
}

/// What can be found in the place of what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Zeros,
    OtherPlace,
    OlderPass,
    OtherRun,
    Damaged,
    Foreign,
}

/// Where it was found first, what else it told there, and how often.
#[derive(Debug, Clone, Copy)]
struct Finding {
    first: u64,
    found: u64,
    count: u64,
}

impl Verifier {
    /// For a phase of a run with this seed.
    #[must_use]
    pub fn new(verify: Verify, seed: u64) -> Self {
        Self { verify, seed, checked: 0, reads: 0, wrong_before: 0, wrong: Vec::with_capacity(6) }
    }

    /// Goes on after an interruption, before which so many reads failed or brought wrong data.
    pub fn go_on(&mut self, wrong_before: u64) {
        self.wrong_before = wrong_before;
    }

    /// Fills what will be written at the place of `io`. Says whether it did.
    #[must_use]
    pub fn prepare(&self, io: &Io, data: &mut [u8]) -> bool {
        if io.op != Op::Write {
            return false;
        }
        let mut at = io.offset;
        for unit in data.chunks_exact_mut(UNIT) {
            self.fill(at, unit);
            at += 512;
        }
        true
    }

    fn fill(&self, at: u64, unit: &mut [u8]) {
        let mut noise = mixed(at ^ mixed(self.seed ^ u64::from(self.verify.generation)));
        for word in unit[HEADER..].chunks_exact_mut(8) {
            // xorshift64 (Marsaglia 2003): fast, and good enough not to compress.
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            word.copy_from_slice(&noise.to_le_bytes());
        }
        unit[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        unit[8..16].copy_from_slice(&at.to_le_bytes());
        unit[16..24].copy_from_slice(&self.seed.to_le_bytes());
        unit[24..28].copy_from_slice(&self.verify.generation.to_le_bytes());
        let checksum = checksum(unit);
        unit[28..32].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Holds what a read brought against what was written there. Says whether all of it is right.
    pub fn examine(&mut self, io: &Io, data: &[u8]) -> bool {
        if self.verify.step != VerifyStep::Check || io.op != Op::Read {
            return true;
        }
        self.reads += 1;
        let before = self.wrong.iter().map(|(_, finding)| finding.count).sum::<u64>();
        let mut at = io.offset;
        for unit in data.chunks_exact(UNIT) {
            self.checked += 1;
            if let Some((wrong, found)) = self.look(at, unit) {
                match self.wrong.iter_mut().find(|(kind, _)| *kind == wrong) {
                    Some((_, finding)) => {
                        finding.count += 1;
                        // Reads come back in any order.
                        if at < finding.first {
                            (finding.first, finding.found) = (at, found);
                        }
                    }
                    None => self.wrong.push((wrong, Finding { first: at, found, count: 1 })),
                }
            }
            at += 512;
        }
        self.wrong.iter().map(|(_, finding)| finding.count).sum::<u64>() == before
    }

    fn look(&self, at: u64, unit: &[u8]) -> Option<(Wrong, u64)> {
        let magic = u64_at(unit, 0);
        if magic != MAGIC {
            let zeros = unit.iter().all(|byte| *byte == 0);
            return Some(if zeros { (Wrong::Zeros, 0) } else { (Wrong::Foreign, magic) });
        }
        let (place, seed) = (u64_at(unit, 8), u64_at(unit, 16));
        let generation = u64_at(unit, 24) & u64::from(u32::MAX);
        if u64_at(unit, 24) >> 32 != u64::from(checksum(unit)) {
            return Some((Wrong::Damaged, 0));
        }
        if seed != self.seed {
            return Some((Wrong::OtherRun, seed));
        }
        if place != at {
            return Some((Wrong::OtherPlace, place));
        }
        (generation != u64::from(self.verify.generation)).then_some((Wrong::OlderPass, generation))
    }

    /// What a check found; `None` if this phase checks nothing.
    ///
    /// # Errors
    /// What was wrong, where first and how often, in units of 512 bytes.
    #[must_use]
    pub fn result(&self) -> Option<Result<String, String>> {
        if self.verify.step != VerifyStep::Check {
            return None;
        }
        if self.reads == 0 {
            return Some(Ok("nothing could be checked, as this drive keeps no data".to_owned()));
        }
        if self.wrong.is_empty() && self.wrong_before > 0 {
            return Some(Err(format!(
                "{} reads failed or brought wrong data before the run was interrupted; since then all {} sectors of 512 \
                 bytes came back as they were written",
                self.wrong_before, self.checked
            )));
        }
        if self.wrong.is_empty() {
            return Some(Ok(format!("all {} sectors of 512 bytes came back as they were written", self.checked)));
        }
        let count: u64 = self.wrong.iter().map(|(_, finding)| finding.count).sum();
        let kinds: Vec<_> = self.wrong.iter().map(|(wrong, finding)| told(*wrong, *finding)).collect();
        let checked = self.checked;
        Some(Err(format!(
            "{count} of {checked} sectors of 512 bytes came back otherwise than they were written: {}",
            kinds.join("; ")
        )))
    }
}

fn told(wrong: Wrong, Finding { first, found, count }: Finding) -> String {
    let what = match wrong {
        Wrong::Zeros => "only zeros: never written, or lost".to_owned(),
        Wrong::OtherPlace => format!(
            "what was written at byte {found}, {} bytes away: a drive smaller than it says, which begins again at its start, does that",
            first.abs_diff(found)
        ),
        Wrong::OlderPass => format!("what pass {found} wrote: a later write was acknowledged and lost"),
        Wrong::OtherRun => format!("what a run with seed {found} wrote: this one's write was acknowledged and lost"),
        Wrong::Damaged => "the right header, with data that its checksum does not fit".to_owned(),
        Wrong::Foreign => format!("something else, beginning with {found:016x}"),
    };
    format!("{count} (first at byte {first}) hold {what}")
}

fn checksum(unit: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&unit[..28]);
    hasher.update(&unit[HEADER..]);
    hasher.finalize()
}

fn u64_at(unit: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&unit[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 4096;

    fn io(op: Op, offset: u64) -> Io {
        Io { op, offset, len: 4096 }
    }

    fn verifier(step: VerifyStep, generation: u32, seed: u64) -> Verifier {
        Verifier::new(Verify { step, generation }, seed)
    }

    fn written(offset: u64, generation: u32, seed: u64) -> Vec<u8> {
        let mut data = vec![0xaa; LEN];
        assert!(verifier(VerifyStep::Write, generation, seed).prepare(&io(Op::Write, offset), &mut data));
        data
    }

    fn found_at_8192(data: &[u8]) -> String {
        let mut check = verifier(VerifyStep::Check, 2, 7);
        let right = check.examine(&io(Op::Read, 8192), data);
        let result = check.result().unwrap();
        assert_eq!(right, result.is_ok());
        result.unwrap_or_else(|wrong| wrong)
    }

    #[test]
    fn what_was_written_there_in_this_pass_is_right_and_anything_else_says_what_it_is() {
        let good = written(8192, 2, 7);
        assert_eq!(found_at_8192(&good), "all 8 sectors of 512 bytes came back as they were written");
        let mut flipped = good.clone();
        flipped[1_000] ^= 4;
        for (data, part) in [
            (
                vec![0; LEN],
                "8 of 8 sectors of 512 bytes came back otherwise than they were written: 8 (first at byte 8192) hold only zeros",
            ),
            (written(1 << 40, 2, 7), "written at byte 1099511627776, 1099511619584 bytes away"),
            (written(8192, 1, 7), "what pass 1 wrote"),
            (written(8192, 2, 8), "seed 8"),
            (
                flipped,
                "1 of 8 sectors of 512 bytes came back otherwise than they were written: 1 (first at byte 8704) hold the right header",
            ),
            (vec![0x55; LEN], "beginning with 5555555555555555"),
        ] {
            let told = found_at_8192(&data);
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn no_two_sectors_are_alike() {
        let data = written(0, 1, 1);
        let mut noise: Vec<_> = data.chunks(UNIT).map(|unit| &unit[HEADER..]).collect();
        noise.sort_unstable();
        noise.dedup();
        assert_eq!(noise.len(), 8);
    }

    #[test]
    fn a_check_without_data_claims_nothing() {
        let told = verifier(VerifyStep::Check, 1, 1).result().unwrap().unwrap();
        assert!(told.contains("nothing could be checked"));
        assert!(verifier(VerifyStep::Write, 1, 1).result().is_none());
    }
}
