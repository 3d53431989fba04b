//! `custom`: one workload in fio's words.

mod words;
mod zonemode;

use super::definition::Definition;
use super::making::{Making, SMALL, phase};
use super::words::{BS, IO_SIZE_BYTES, IODEPTH, NUMBER_IOS, RUNTIME_S, RW, RWMIXREAD};
use crate::model::plan::{Action, Phase, PhaseRole};

use crate::model::workload::{Distribution, Rw, SteadyOf, SteadyRule, Verify, VerifyStep, Workload, parse_bssplit};
use words::{
    BLOCKALIGN, BSSPLIT, END_FSYNC, FDATASYNC, FSYNC, MAX_OPEN_ZONES, NORANDOMMAP, NUMJOBS, RAMP_TIME_S,
    RANDOM_DISTRIBUTION, RATE, RATE_IOPS, SKIP_BYTES, SS, SS_RANGE_PERCENT, SS_ROUND_S, SS_ROUNDS, SS_SLOPE_PERCENT,
    THINKTIME_BLOCKS, THINKTIME_US, VERIFY, ZONE_OPENING, ZONE_START, ZONEMODE,
};

/// See its description.
pub const PROFILE: Definition = Definition {
    name: "custom",
    question: "What does it do under a workload of mine?",
    description: "One workload, as fio names its words: rw, bs, iodepth, offset, size, runtime and many more.",
    writes: None,
    parameters: &[
        RW,
        BS,
        IODEPTH,
        RUNTIME_S,
        NUMBER_IOS,
        IO_SIZE_BYTES,
        RWMIXREAD,
        RANDOM_DISTRIBUTION,
        NORANDOMMAP,
        BSSPLIT,
        BLOCKALIGN,
        SKIP_BYTES,
        NUMJOBS,
        RATE,
        RATE_IOPS,
        THINKTIME_US,
        THINKTIME_BLOCKS,
        RAMP_TIME_S,
        FSYNC,
        FDATASYNC,
        END_FSYNC,
        VERIFY,
        SS,
        SS_ROUND_S,
        SS_ROUNDS,
        SS_RANGE_PERCENT,
        SS_SLOPE_PERCENT,
        ZONEMODE,
        MAX_OPEN_ZONES,
        ZONE_OPENING,
        ZONE_START,
    ],
    phases,
};

fn phases(making: &mut Making<'_>) -> Vec<Phase> {
    let word = making.reader.word(&RW);
    let rw = word.and_then(|word| Rw::ALL.into_iter().find(|(name, _)| *name == word));
    let Some((name, rw)) = rw else {
        making.reader.refuse(RW.name, format!("is required: {}", Rw::WORDS.join(", ")));
        return Vec::new();
    };
    let bs = making.block_size(&BS, SMALL);
    let iodepth = making.depth(1);
    let mut workload = making.whole(rw, bs, iodepth, making.randseed);
    sizes(making, &mut workload);
    places(making, &mut workload);
    limits(making, &mut workload);
    timing(making, &mut workload);
    flushes(making, &mut workload);
    zonemode::apply(making, &mut workload);
    let streams = workload.numjobs;
    making.check_buffers(
        &BS,
        if workload.rw.trims() && rw != Rw::TrimWrite { 0 } else { workload.bs.0 },
        workload.in_flight(),
    );
    if workload.in_flight() > 1_024 {
        let problem = format!("times iodepth is {} I/Os in flight; at most 1024 are allowed", workload.in_flight());
        making.reader.refuse(NUMJOBS.name, problem);
    }
    let sizes = match workload.bssplit.as_slice() {
        [] => format!("{} blocks", workload.bs),
        parts => {
            let parts: Vec<_> = parts.iter().map(|part| format!("{} % {}", part.percent, part.bs)).collect();
            format!("blocks of {}", parts.join(", "))
        }
    };
    let mut purpose = format!("{name}, {sizes}, {iodepth} in flight");
    if streams > 1 {
        purpose.push_str(&format!(" in each of {streams} streams"));
    }
    let blocks = workload.size_bytes.0 / workload.smallest_bs().0.max(1);
    if let Some(skew) = workload.random_distribution.in_words(blocks) {
        purpose.push_str(&format!("; {}: {skew}", workload.random_distribution));
    }
    if let Some(zbd) = workload.zbd {
        purpose.push_str(&format!("; at the write pointers of {} zones side by side", zbd.max_open_zones));
    }
    let check = verify(making, &mut workload);
    let mut phases = vec![phase(name, purpose, PhaseRole::Custom, Action::Io(workload))];
    phases.extend(check);
    phases
}

fn sizes(making: &mut Making<'_>, workload: &mut Workload) {
    let block = making.region.block;
    if let Some(parts) = making.reader.parsed(&BSSPLIT, parse_bssplit) {
        if making.reader.bytes(&BS).is_some() {
            making.reader.refuse(BSSPLIT.name, "is given beside bs; give one of them");
        }
        if let Some(part) = parts.iter().find(|part| !part.bs.0.is_multiple_of(block)) {
            let problem = format!("has {}, must be multiples of the logical block of {block} bytes", part.bs.0);
            making.reader.refuse(BSSPLIT.name, problem);
        }
        workload.bs = parts.iter().map(|part| part.bs).max().unwrap_or(workload.bs);
        workload.bssplit = parts;
    }
    if let Some(align) = making.reader.bytes(&BLOCKALIGN) {
        let name = making.reader.spelled(&BLOCKALIGN);
        if align.0 == 0 || !align.0.is_multiple_of(block) {
            let problem = format!("is {}, must be a multiple of the logical block of {block} bytes", align.0);
            making.reader.refuse(name, problem);
        }
        if !workload.rw.is_random() {
            making.reader.refuse(name, "is for random I/O; this rw goes in order");
        }
        workload.blockalign = Some(align);
    }
    if let Some(skip) = making.reader.bytes(&SKIP_BYTES) {
        if !skip.0.is_multiple_of(block) {
            let problem = format!("is {}, must be a multiple of the logical block of {block} bytes", skip.0);
            making.reader.refuse(SKIP_BYTES.name, problem);
        }
        if workload.rw.is_random() {
            making.reader.refuse(SKIP_BYTES.name, "is for I/O in order; this rw is random");
        }
        workload.skip_bytes = skip;
    }
    workload.numjobs = u32::try_from(making.number(&NUMJOBS, 1)).unwrap_or(1);
    let part = workload.size_bytes.0 / u64::from(workload.numjobs);
    if workload.bs.0 > part {
        let (bs, size) = (workload.bs.0, workload.size_bytes.0);
        let (name, whose) = match workload.numjobs {
            1 if workload.bssplit.is_empty() => (BS.name, format!("is {bs}, larger than the region of {size} bytes")),
            1 => (BSSPLIT.name, format!("has {bs}, larger than the region of {size} bytes")),
            jobs => (NUMJOBS.name, format!("is {jobs}: each part of the region is then smaller than {bs} bytes")),
        };
        making.reader.refuse(name, whose);
    }
}

fn places(making: &mut Making<'_>, workload: &mut Workload) {
    if let Some(distribution) = making.reader.parsed(&RANDOM_DISTRIBUTION, str::parse::<Distribution>) {
        if !workload.rw.is_random() && !distribution.is_uniform() {
            making.reader.refuse(RANDOM_DISTRIBUTION.name, "is for random I/O; this rw goes in order");
        }
        workload.random_distribution = distribution;
    }
    let can_remember = workload.random_distribution.is_uniform() && workload.bssplit.is_empty();
    let norandommap = making.reader.flag(&NORANDOMMAP);
    if norandommap == Some(false) && !can_remember {
        let problem = "cannot be false with bssplit or a skewed distribution: blocks come up again by their nature";
        making.reader.refuse(NORANDOMMAP.name, problem);
    }
    // fio's default: each block once.
    workload.norandommap = norandommap.unwrap_or(!can_remember);
    workload.rwmixread = making.reader.integer(&RWMIXREAD).and_then(|mix| u8::try_from(mix).ok()).unwrap_or(50);
    if workload.rw.is_mixed() && workload.rwmixread == 100 {
        making.reader.refuse(RWMIXREAD.name, "is 100, so nothing would be written: use rw read or randread");
    }
}

fn limits(making: &mut Making<'_>, workload: &mut Workload) {
    workload.runtime_s = making.reader.integer(&RUNTIME_S);
    workload.number_ios = making.reader.integer(&NUMBER_IOS);
    workload.io_size_bytes = making.reader.bytes(&IO_SIZE_BYTES);
    if let Some(bytes) = workload.io_size_bytes
        && bytes < workload.bs
    {
        let spelled = making.reader.spelled(&IO_SIZE_BYTES);
        making.reader.refuse(spelled, format!("is {}, less than one block of {} bytes", bytes.0, workload.bs.0));
    }
    // As fio does: without a time or a count, the region is covered once.
    if workload.runtime_s.is_none() && workload.number_ios.is_none() && workload.io_size_bytes.is_none() {
        workload.io_size_bytes = Some(workload.size_bytes);
    }
}

fn timing(making: &mut Making<'_>, workload: &mut Workload) {
    workload.ramp_time_s = making.number(&RAMP_TIME_S, 0);
    workload.rate_bytes_per_s = making.reader.bytes(&RATE);
    workload.rate_iops = making.reader.integer(&RATE_IOPS);
    workload.thinktime_us = making.number(&THINKTIME_US, 0);
    workload.thinktime_blocks = u32::try_from(making.number(&THINKTIME_BLOCKS, 1)).unwrap_or(1);
    let of = match making.reader.word(&SS) {
        Some("iops") => SteadyOf::Iops,
        Some("bw") => SteadyOf::Bw,
        _ => {
            for parameter in [SS_ROUND_S, SS_ROUNDS, SS_RANGE_PERCENT, SS_SLOPE_PERCENT] {
                if making.reader.integer(&parameter).is_some() {
                    making.reader.refuse(parameter.name, "needs ss: iops or bw");
                }
            }
            return;
        }
    };
    let number = |parameter, default| u32::try_from(making.number(parameter, default)).unwrap_or(u32::MAX);
    workload.steady = Some(SteadyRule {
        of,
        round_s: making.number(&SS_ROUND_S, 60),
        rounds: number(&SS_ROUNDS, 5),
        range_percent: number(&SS_RANGE_PERCENT, 20),
        slope_percent: number(&SS_SLOPE_PERCENT, 10),
    });
}

fn flushes(making: &mut Making<'_>, workload: &mut Workload) {
    let number = |parameter| u32::try_from(making.number(parameter, 0)).unwrap_or(u32::MAX);
    workload.fsync = number(&FSYNC);
    workload.fdatasync = number(&FDATASYNC);
    workload.end_fsync = making.reader.flag(&END_FSYNC).unwrap_or(false);
    if !workload.rw.writes() {
        for (parameter, asked) in
            [(&FSYNC, workload.fsync > 0), (&FDATASYNC, workload.fdatasync > 0), (&END_FSYNC, workload.end_fsync)]
        {
            if asked {
                making.reader.refuse(parameter.name, "is for writes; this rw only reads");
            }
        }
    }
}

/// The phase that reads back what this one wrote, if asked for.
fn verify(making: &mut Making<'_>, workload: &mut Workload) -> Option<Phase> {
    if making.reader.flag(&VERIFY) != Some(true) {
        return None;
    }
    let whole = workload.number_ios.is_none()
        && workload.runtime_s.is_none()
        && workload.ramp_time_s == 0
        && workload.io_size_bytes == Some(workload.size_bytes)
        && workload.skip_bytes.0 == 0
        && workload.blockalign.is_none();
    let once = match workload.rw {
        Rw::Write => workload.numjobs == 1,
        Rw::RandWrite => !workload.norandommap && workload.numjobs == 1,
        _ => false,
    };
    if !whole || !once || workload.steady.is_some() {
        let problem = "needs every block of the region to be written once: rw write, or randwrite without norandommap, in one \
                       stream and without bssplit, blockalign, skip_bytes, ss or any limit of time or amount";
        making.reader.refuse(VERIFY.name, problem);
        return None;
    }
    let generation = 1;
    workload.verify = Some(Verify { step: VerifyStep::Write, generation });
    let mut check = Workload { fsync: 0, fdatasync: 0, end_fsync: false, ..workload.clone() };
    check.rw = Rw::Read;
    check.norandommap = true;
    check.verify = Some(Verify { step: VerifyStep::Check, generation });
    Some(phase("verify", "Does everything read back as it was written?", PhaseRole::Verify, Action::Io(check)))
}

#[cfg(test)]
mod tests {
    use super::super::{Pace, Profile, Target, build};
    use super::*;
    use crate::model::parameters::FieldError;
    use crate::model::units::{Bytes, GIB, KIB, MIB};
    use serde_json::{Value, json};

    fn built(parameters: Value) -> Result<Vec<Workload>, Vec<FieldError>> {
        let Value::Object(given) = parameters else { panic!("an object") };
        let target = Target { capacity: Bytes(GIB), logical_block: 512, pace: Pace::DISK, zones: None };
        let built = build(Profile::Custom, &given, target)?;
        let workloads = built.phases.into_iter().filter_map(|phase| match phase.action {
            Action::Io(workload) => Some(workload),
            Action::Idle { .. } => None,
        });
        Ok(workloads.collect())
    }

    #[test]
    fn fio_words_arrive_in_the_workload() {
        let asked = json!({
            "rw": "randwrite", "bssplit": "4k/60:64k/40", "blockalign": "8k", "iodepth": 2, "numjobs": 3, "offset": "1m",
            "size": "64m", "io_size": "8m", "runtime": 9, "ramp_time": 2, "rate": "1m", "rate_iops": 50, "thinktime": 7,
            "thinktime_blocks": 4, "fsync": 8, "fdatasync": 16, "end_fsync": 1, "random_distribution": "zipf:1.1",
            "randseed": 11, "ss": "iops", "ss_round_s": 10,
        });
        let found = built(asked).unwrap().remove(0);
        let shares: Vec<_> = found.bssplit.iter().map(|part| (part.bs.0, part.percent)).collect();
        assert_eq!(shares, [(4 * KIB, 60), (64 * KIB, 40)]);
        assert_eq!((found.bs.0, found.blockalign, found.in_flight()), (64 * KIB, Some(Bytes(8 * KIB)), 6));
        assert_eq!(
            (found.offset_bytes.0, found.size_bytes.0, found.io_size_bytes),
            (MIB, 64 * MIB, Some(Bytes(8 * MIB)))
        );
        assert_eq!((found.rate_bytes_per_s, found.rate_iops), (Some(Bytes(MIB)), Some(50)));
        assert_eq!((found.thinktime_us, found.thinktime_blocks, found.ramp_time_s), (7, 4, 2));
        assert_eq!((found.fsync, found.fdatasync, found.end_fsync, found.randseed), (8, 16, true, 11));
        assert_eq!(found.random_distribution, Distribution::Zipf(1.1));
        assert_eq!(found.steady.map(|rule| (rule.round_s, rule.rounds, rule.range_percent)), Some((10, 5, 20)));
    }

    #[test]
    fn as_in_fio_each_block_comes_once_unless_it_is_said_otherwise_or_cannot_be() {
        for (more, norandommap) in [
            (json!({}), false),
            (json!({ "norandommap": true }), true),
            (json!({ "norandommap": 0 }), false),
            (json!({ "random_distribution": "pareto:0.2" }), true),
            (json!({ "bssplit": "4k:8k" }), true),
        ] {
            let mut asked = json!({ "rw": "randwrite" });
            asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(built(asked).unwrap()[0].norandommap, norandommap, "{more}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_name_before_anything_is_written() {
        for (more, field) in [
            (json!({ "rw": "randrw", "rwmixread": 100 }), "rwmixread"),
            (json!({ "rw": "randwrite", "bssplit": "4k/50:513/50" }), "bssplit"),
            (json!({ "rw": "randwrite", "bssplit": "4k/50:2g/50" }), "bssplit"),
            (json!({ "rw": "randwrite", "bssplit": "4k/50" }), "bssplit"),
            (json!({ "rw": "randwrite", "bs": "4k", "bssplit": "4k:8k" }), "bssplit"),
            (json!({ "rw": "randwrite", "blockalign": 100 }), "blockalign"),
            (json!({ "rw": "write", "random_distribution": "zipf:1.1" }), "random_distribution"),
            (json!({ "rw": "randwrite", "random_distribution": "zipf:1" }), "random_distribution"),
            (json!({ "rw": "randwrite", "random_distribution": "zipf:1.1", "norandommap": false }), "norandommap"),
            (json!({ "rw": "read", "fsync": 1 }), "fsync"),
            (json!({ "rw": "write", "size": "64k", "bs": "16k", "numjobs": 5 }), "numjobs"),
            (json!({ "rw": "write", "iodepth": 512, "numjobs": 3, "bs": 512 }), "numjobs"),
            (json!({ "rw": "randwrite", "norandommap": true, "verify": true }), "verify"),
            (json!({ "rw": "write", "runtime": 5, "verify": true }), "verify"),
            (json!({ "rw": "write", "ss_rounds": 5 }), "ss_rounds"),
            (json!({ "rw": "write", "end_fsync": "perhaps" }), "end_fsync"),
            (json!({ "rw": "write", "thinktime": -1 }), "thinktime"),
        ] {
            let found = built(more.clone()).err().unwrap_or_else(|| panic!("{more} was taken"));
            assert!(found.iter().any(|error| error.field == format!("parameters.{field}")), "{more}: {found:?}");
        }
    }

    #[test]
    fn verify_adds_a_phase_that_reads_everything_back() {
        let found = built(json!({ "rw": "randwrite", "bs": "64k", "size": "10m", "verify": true })).unwrap();
        assert_eq!((found.len(), found[1].rw, found[1].io_size_bytes), (2, Rw::Read, Some(Bytes(10 * MIB))));
        assert_eq!(found[1].verify.map(|verify| verify.step), Some(VerifyStep::Check));
    }
}
