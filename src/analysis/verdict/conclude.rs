//! From what was measured to a state and a sentence.

use super::super::combine::CONTRADICTION;
use super::super::measured::{
    FloorKind, Found, HEAD_MOVES_NS, Measured, PhaseFacts, Reread, WATCH_S, surely_conventional,
};
use super::super::rho::{CONVENTIONAL_AT_LEAST, Rho, SHINGLED_AT_MOST};
use super::super::words::{block, grouped, percent, rate, ratio};
use super::{
    AT_HOME, ELSEWHERE, ENOUGH_BYTES, ENOUGH_REGION, ENOUGH_WRITES, LEAST_REGION, MOST_SURE, SPOILT_BY_ERRORS,
    SURELY_MOVES_NS,
};
use crate::model::Bytes;
use crate::model::approx::{f64_of, f64_of_len};
use crate::model::drive::{DeviceKind, Drive};
use crate::model::plan::Plan;
use crate::model::recording::{Basis, Recording, RecordingState};
use crate::model::units::KIB;

/// How sure a collapse that shows in stalls more than in the rate can make (syn).
const BY_STALLS: f64 = 0.85;
/// Writes of at most this many bytes fill a map rather than a cache.
const SMALL_BS: u64 = 16 * KIB;

/// Writes so many times as fast as the head are helped by a cache: between 1, in place, and the 2.7 and 7.4 that were read.
const HELPED: f64 = 1.5;
/// Small writes a second, one at a time, that no head can do: half a turn of 15 000 rpm is 2 ms, and the arm takes 3 at the least over
/// a whole drive. Of disks of today 66 to 96 were read.
const NO_HEAD_PER_S: f64 = 200.0;

fn answer(state: RecordingState, basis: Basis, confidence: f64, sentence: String) -> Recording {
    let confidence = confidence.clamp(0.0, MOST_SURE);
    Recording { state, basis, confidence, sentence, evidence: Vec::new() }
}

fn undecided(leading_share: f64, sentence: String) -> Recording {
    answer(RecordingState::Undecided, Basis::Measured, 0.5 * leading_share, sentence)
}

/// The answer of the measurement alone.
pub fn conclude(drive: &Drive, declared: &Recording, plan: &Plan, measured: &Measured) -> Recording {
    let (errors, all) = measured.errors();
    if all == 0 {
        let sentence = "The run ended before anything was measured.".to_owned();
        return answer(RecordingState::NotShown, Basis::None, 0.0, sentence);
    }
    let found = measured.found();
    if (found.is_none() || declared.state == RecordingState::Ssd)
        && let Some(early) = without_a_head(drive, declared, measured)
    {
        return early;
    }
    if declared.state == RecordingState::HostManaged
        && let Some((_, facts)) = measured.writes().find(|(_, facts)| facts.writes.ios >= 1_000)
    {
        return undecided(
            0.5,
            format!(
                "{CONTRADICTION}: it declares host-managed SMR, yet it took {} random writes, which such a drive refuses.",
                grouped(facts.writes.ios)
            ),
        );
    }
    if let Some(found) = found {
        return shingled(drive, declared, measured, &found);
    }
    if f64_of(errors) > SPOILT_BY_ERRORS * f64_of(all) {
        let sentence =
            format!("{} of {} I/Os failed, so what was measured says little.", grouped(errors), grouped(all));
        return undecided(0.0, sentence);
    }
    if measured.writes().next().is_none() {
        return only_read(plan, measured);
    }
    doubtful(measured).unwrap_or_else(|| no_collapse(drive, plan, measured))
}

/// What to call the thing that was measured.
fn subject(drive: &Drive) -> String {
    if is_a_drive(drive) { "This drive".to_owned() } else { format!("What lies under this {}", drive.kind.label()) }
}

/// Whether it is a drive, and not a part or a front of one.
fn is_a_drive(drive: &Drive) -> bool {
    use DeviceKind::{Disk, Mmc, NvmeNamespace, Simulated};
    matches!(drive.kind, Disk | NvmeNamespace | Mmc | Simulated)
}

/// The answers that turn on whether a head moves when a block is read.
fn without_a_head(drive: &Drive, declared: &Recording, measured: &Measured) -> Option<Recording> {
    let floor = measured.floor()?;
    let p50 = floor.read_p50()?;
    let flash = declared.state == RecordingState::Ssd;
    if p50.0 < HEAD_MOVES_NS {
        if flash {
            let sentence = format!("This is an SSD: random reads take {p50}, so no head moves, and it says so itself.");
            return Some(answer(RecordingState::Ssd, Basis::Measured, MOST_SURE, sentence));
        }
        let rpm = drive.rotation_rpm.or_else(|| {
            drive.declared.vpd_b1.known().and_then(|page| match page.rotation {
                crate::model::drive::Rotation::Rpm(rpm) => Some(rpm),
                _ => None,
            })
        });
        let why = match rpm {
            Some(rpm) => format!(
                "It says that it turns at {rpm} rpm, so these reads came out of a cache, or of blocks that were never written."
            ),
            None => "What lies behind it is flash, memory or a cache.".to_owned(),
        };
        let sentence = format!(
            "No head movement was seen: random reads take {p50}. Shingling shows only against the speed of a head, so it \
             cannot be judged here. {why}"
        );
        return Some(answer(RecordingState::NotShown, Basis::Measured, 0.0, sentence));
    }
    (flash && p50.0 >= SURELY_MOVES_NS).then(|| {
        undecided(
            0.5,
            format!(
                "{CONTRADICTION}: it declares that it does not rotate, yet a random read takes {p50}, as if a head had to move."
            ),
        )
    })
}

fn shingled(drive: &Drive, declared: &Recording, measured: &Measured, found: &Found) -> Recording {
    let hidden = match declared.state {
        RecordingState::NotReported => " although it does not say so (hidden drive-managed SMR)",
        RecordingState::NotReadable => " (drive-managed SMR; what it says of itself could not be read)",
        _ => "",
    };
    let (factor, reads) = match measured.floor_of(found.phase) {
        Some((_, _, FloorKind::Same)) => (1.0, "of what its own head can do"),
        Some((_, _, FloorKind::Carried)) => (0.9, "of what its own head can do, estimated from other reads"),
        _ => (0.75, "of what even a slow head can do (none was measured)"),
    };
    let cliff = &found.cliff;
    let workload = measured.phases.get(found.phase).and_then(PhaseFacts::workload);
    let sentence = format!(
        "{} is shingled{hidden}: after {} random writes of {} ({}) its rate fell from {} to {} per second, {} {reads}. Fit for \
         data that is written once; a RAID rebuild or long random writing will crawl.",
        subject(drive),
        grouped(cliff.at_ios),
        block(workload.map_or(Bytes(0), |workload| workload.bs)),
        cliff.at_bytes,
        rate(cliff.before_per_s),
        rate(cliff.after_per_s),
        ratio(found.rho.value),
    );
    // Not that slow on average, but stalled: by the cleaning of bands.
    if found.rho.high > SHINGLED_AT_MOST
        && let Some(stalls) = measured.stalls(found.phase)
    {
        let sentence = format!(
            "{sentence} In most seconds since, a write waited {} (before: {}; the longest read: {}): bands are being rewritten.",
            stalls.after, stalls.before, stalls.floor
        );
        let share = 1.0 - found.rho.share_conventional;
        return answer(RecordingState::DriveManaged, Basis::Measured, factor * BY_STALLS * share, sentence);
    }
    answer(RecordingState::DriveManaged, Basis::Measured, factor * found.rho.share_shingled, sentence)
}

fn only_read(plan: &Plan, measured: &Measured) -> Recording {
    let floor = measured.floor().map_or_else(String::new, |floor| {
        format!(" Its head does {} random reads per second.", rate(floor.reads_per_s()))
    });
    let profile = measured.zone_profile(plan);
    let places = match (profile.first(), profile.last()) {
        (Some((_, outer)), Some((_, inner))) if profile.len() > 1 => format!(
            " In order it reads {} MB/s at the outer edge and {} at the inner.",
            rate(outer / 1e6),
            rate(inner / 1e6)
        ),
        _ => String::new(),
    };
    let wrote = measured.phases.iter().any(|facts| facts.writes.ios > 0);
    let why = if wrote {
        "What this run wrote is no test for shingling"
    } else if plan.destructive {
        "The run ended before anything was written"
    } else {
        "This run wrote nothing"
    };
    let sentence = format!("{why}, so it says nothing about shingling.{floor}{places}");
    answer(RecordingState::NotShown, Basis::None, 0.0, sentence)
}

/// Signs of shingling that are not enough to call it that.
fn doubtful(measured: &Measured) -> Option<Recording> {
    for (index, facts) in measured.writes() {
        if let Some(fall) = measured.unjudged_fall(index)
            && fall.ratio <= SHINGLED_AT_MOST
        {
            return Some(undecided(
                measured.rho_of(index).map_or(0.5, |rho| rho.share_shingled),
                format!(
                    "After {} writes the rate fell from {} to {} per second, but the run ended before it was known whether it \
                     stays below what the head can do. Run it again.",
                    grouped(fall.at_ios),
                    rate(fall.before_per_s),
                    rate(fall.after_per_s)
                ),
            ));
        }
        let Some(rho) = measured.rho_of(index) else { continue };
        if rho.high <= SHINGLED_AT_MOST && facts.seconds >= WATCH_S {
            return Some(undecided(
                rho.share_shingled,
                format!(
                    "It wrote slowly from the first second, {} of what its head can do. A shingled disk whose cache was full \
                     already does that; so does a disk that somebody else was using. Leave it alone over night and run again.",
                    ratio(rho.value)
                ),
            ));
        }
        if rho.high < CONVENTIONAL_AT_LEAST {
            let slow = format!(
                "It writes {} times as fast as its head can move (95 % sure: {} to {}): slower than a conventional disk \
                 ({CONVENTIONAL_AT_LEAST} or more), faster than a shingled one ({SHINGLED_AT_MOST} or less).",
                ratio(rho.value),
                ratio(rho.low),
                ratio(rho.high)
            );
            return Some(if measured.unjudged_fall(index).is_some() {
                undecided(rho.share_shingled.max(rho.share_conventional), slow)
            } else {
                // A write cache that is off, or a bridge, does that to any disk.
                let sentence = format!("Nothing collapsed within what was written, but that proves nothing. {slow}");
                answer(RecordingState::NotShown, Basis::Measured, 0.3, sentence)
            });
        }
    }
    let reread = measured.reread().filter(|reread| reread.ratio <= ELSEWHERE)?;
    // A conventional disk's media cache does the same, most of all with its write cache off: so this is no verdict, and no
    // contradiction either. Nothing collapsed within what was written.
    Some(answer(
        RecordingState::NotShown,
        Basis::Measured,
        0.5,
        format!(
            "No collapse was found, but blocks that were just rewritten are not in their place: the region read back at {} \
             of its speed before. A shingled disk with a cache larger than this run filled does that; so does a conventional \
             one that parks small writes in a media cache.",
            percent(reread.ratio)
        ),
    ))
}

/// No sign of shingling: is that enough to say that there is none?
fn no_collapse(drive: &Drive, plan: &Plan, measured: &Measured) -> Recording {
    let span = span(drive, plan);
    let written: Vec<String> = measured
        .writes()
        .map(|(_, facts)| {
            let bs = facts.workload().map_or(Bytes(0), |workload| workload.bs);
            format!("{} random writes of {} ({})", grouped(facts.writes.ios), block(bs), facts.writes.bytes)
        })
        .collect();
    let written = written.join(" and ");
    let rhos: Vec<Option<Rho>> = measured.writes().map(|(index, _)| measured.rho_of(index)).collect();
    let reread = measured.reread();
    let needs = needs(drive, plan, measured, &rhos, reread);
    let Some(lacking) = Needs::lacking(&needs) else {
        let share = rhos.iter().flatten().map(|rho| rho.share_conventional).fold(1.0, f64::min);
        let fastest = rhos.iter().flatten().map(|rho| rho.value).fold(0.0, f64::max);
        let media_cache = if fastest > HELPED { ", helped by its cache" } else { "" };
        let sentence = format!(
            "{} writes in place, as a conventional (CMR) disk does: {written} over {span} brought no collapse, it kept \
             {} times the rate of its head{media_cache}, and blocks just scattered read back in order at {} of full speed.",
            subject(drive),
            ratio(rhos.iter().flatten().map(|rho| rho.value).fold(f64::INFINITY, f64::min)),
            // Faster than before is no more than at home.
            percent(reread.map_or(0.0, |reread| reread.ratio.min(1.0))),
        );
        return answer(RecordingState::Cmr, Basis::Measured, 0.9 * share, sentence);
    };
    let confidence = 0.6 * needs.iter().map(|need| need.share).sum::<f64>() / f64_of_len(needs.len().max(1));
    let cached = taken_by_a_cache(measured).unwrap_or_default();
    let sentence = format!(
        "No shingling showed in {written} over {span}. That is no proof that it is conventional: {lacking}.{cached}"
    );
    answer(RecordingState::NotShown, Basis::Measured, confidence, sentence)
}

/// Writes that are faster than any head: no sign of either recording, but what a reader would take for one.
fn taken_by_a_cache(measured: &Measured) -> Option<String> {
    measured.writes().find_map(|(index, facts)| {
        let (_, _, kind) = measured.floor_of(index)?;
        let per_s = facts.settled_writes_per_s();
        let alone = facts.workload().is_some_and(|workload| workload.in_flight() == 1 && workload.bs.0 <= SMALL_BS);
        let against = match kind {
            FloorKind::Assumed if alone && per_s > NO_HEAD_PER_S => "than any head can move".to_owned(),
            FloorKind::Same | FloorKind::Carried => {
                let rho = measured.rho_of(index).filter(|rho| rho.low > HELPED)?;
                format!("than its head can move ({} times)", ratio(rho.value))
            }
            FloorKind::Assumed => return None,
        };
        Some(format!(
            " It settles at {} writes a second, faster {against}: a media cache, or its memory, takes them first. Conventional disks \
             have that too.",
            rate(per_s)
        ))
    })
}

/// How much of the drive was written over.
fn span(drive: &Drive, plan: &Plan) -> String {
    let share = f64_of(plan.size_bytes.0) / f64_of(drive.capacity_bytes.0.max(1));
    if share > 0.99 { "all of it".to_owned() } else { format!("{} of it ({:.1} %)", plan.size_bytes, share * 100.0) }
}

/// One thing that `cmr` needs.
struct Needs {
    /// How much of it there is, 0 to 1; 1 is enough.
    share: f64,
    /// What to say where it is not enough.
    missing: String,
}

impl Needs {
    fn lacking(needs: &[Self]) -> Option<String> {
        let missing: Vec<_> = needs.iter().filter(|need| need.share < 1.0).map(|need| need.missing.as_str()).collect();
        (!missing.is_empty()).then(|| missing.join("; "))
    }
}

fn needs(drive: &Drive, plan: &Plan, measured: &Measured, rhos: &[Option<Rho>], reread: Option<Reread>) -> Vec<Needs> {
    let small: u64 = measured
        .writes()
        .filter(|(_, facts)| facts.workload().is_some_and(|workload| workload.bs.0 <= SMALL_BS))
        .map(|(_, facts)| facts.writes.ios)
        .sum();
    let bytes: u64 = measured.writes().map(|(_, facts)| facts.writes.bytes.0).sum();
    // A file or a loop device is a small part of the drive below it, however much of it is written.
    let own = is_a_drive(drive);
    let whole = if own { drive.capacity_bytes.0 / 10 * 9 } else { u64::MAX };
    let region = whole.clamp(LEAST_REGION, ENOUGH_REGION);
    let of = |got: u64, enough: u64| (f64_of(got) / f64_of(enough)).min(1.0);
    let floors = measured.writes().filter_map(|(index, _)| measured.floor_of(index));
    let assumed = floors.into_iter().any(|(_, _, kind)| kind == FloorKind::Assumed);
    let sure = rhos.iter().all(|rho| rho.as_ref().is_some_and(surely_conventional));
    let flag = |enough: bool| if enough { 1.0 } else { 0.0 };
    let reread_share = reread.map_or(0.0, |reread| (reread.ratio / AT_HOME).min(1.0));
    vec![
        Needs {
            share: of(small, ENOUGH_WRITES),
            missing: format!(
                "{} small writes fit into the map of a known shingled disk, {} would not",
                grouped(small),
                grouped(ENOUGH_WRITES)
            ),
        },
        Needs {
            share: of(bytes, ENOUGH_BYTES),
            missing: format!("{} fit into the cache of a known one, {} would not", Bytes(bytes), Bytes(ENOUGH_BYTES)),
        },
        Needs {
            share: of(plan.size_bytes.0, region),
            missing: format!(
                "{} were written over, and only over {} or more would a shingled disk surely show",
                plan.size_bytes,
                Bytes(region)
            ),
        },
        Needs { share: flag(!assumed), missing: "how fast its head can move was not measured".to_owned() },
        Needs { share: flag(sure), missing: "how fast it writes against its head is not known well enough".to_owned() },
        Needs {
            share: reread_share,
            missing: reread.map_or_else(
                || "no region was scattered and read back, which would show writing in place".to_owned(),
                |reread| format!("a scattered region read back at {} of full speed only", percent(reread.ratio)),
            ),
        },
    ]
}
