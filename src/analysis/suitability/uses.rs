//! A grade for each use, because of which numbers.

use super::super::words::{block, grouped, rate};
use super::known::{Known, Rate};
use super::resilver::{self, RECORD};
use crate::model::Bytes;
use crate::model::approx::{f64_of, u64_of};
use crate::model::estimate::Quantity;
use crate::model::recording::RecordingState;
use crate::model::suitability::{Duration, Grade, Ground, Judgement, Pool, Use};
use crate::model::units::human_seconds;

/// A resilver up to here is what people put up with: twice and more the sixteen hours that are published of conventional disks.
const SHORT_S: f64 = 48.0 * 3_600.0;
/// From here on the pool is without its redundancy for too long: half of the nine days that made the matter known.
const LONG_S: f64 = 108.0 * 3_600.0;
/// Random writes a second that no disk comes up to: the most that was read is 565 (HC580, deep queue).
const BEYOND_DISKS: f64 = 1_000.0;
/// And that any conventional disk does: the least that was read is 96 (HUS726040ALE614, synced); half of it.
const LEAST_OF_DISKS: f64 = 48.0;

const AT_POINTERS: &str = "It takes writes only at the write pointers of its zones, and this writes anywhere.";

fn judged(purpose: Use, grade: Grade, sentence: impl Into<String>) -> Judgement {
    let sentence = sentence.into();
    Judgement { purpose, grade, sentence, estimate: None, reasoning: None, because: Vec::new(), missing: Vec::new() }
}

/// What keeps a rate from being known.
fn missing(quantity: Quantity) -> String {
    format!("{}: not measured; run {}", quantity.label(), quantity.measured_by().as_str())
}

/// How it records, as a ground.
fn recorded(known: &Known<'_>) -> Ground {
    let recording = &known.recording;
    Ground { text: format!("{} ({})", recording.state.label(), recording.basis.as_str()), run: None }
}

/// The resilver of a RAIDZ vdev.
pub fn raidz(known: &Known<'_>, pool: Pool) -> Judgement {
    resilvered(known, Use::RaidzResilver, resilver::piece(pool), pool)
}

/// The resilver of a mirror.
pub fn mirror(known: &Known<'_>, pool: Pool) -> Judgement {
    resilvered(known, Use::MirrorResilver, RECORD, pool)
}

fn resilvered(known: &Known<'_>, purpose: Use, piece: u64, pool: Pool) -> Judgement {
    if known.only_at_pointers() {
        return Judgement { because: vec![recorded(known)], ..judged(purpose, Grade::Unsuitable, AT_POINTERS) };
    }
    let bytes = f64_of(known.drive.capacity_bytes.0) * f64::from(pool.fill_percent) / 100.0;
    let (Some(stream), Some(scattered)) = (&known.stream, &known.scattered) else {
        let mut answer = match known.is_shingled() {
            true => judged(
                purpose,
                Grade::Unsuitable,
                "Shingled disks take days where others take hours, or are thrown out by the pool; how long this one takes is not known.",
            ),
            false => {
                judged(purpose, Grade::NotKnown, "How fast it writes, in order and at random, has not been measured.")
            }
        };
        answer.because.push(recorded(known));
        answer.because.extend([&known.stream, &known.scattered].into_iter().flatten().map(|rate| rate.ground.clone()));
        answer.missing.extend(known.stream.is_none().then(|| missing(Quantity::MeanReadBytesPerS)));
        answer.missing.extend(known.scattered.is_none().then(|| missing(Quantity::SettledIops)));
        return answer;
    };
    let mut time = resilver::duration(bytes, f64_of(piece), stream, scattered);
    // If all of it came in short runs with gaps, as the rebuild profile writes, and not a part alone.
    let rebuilt = known.figure(Quantity::RebuildBytesPerS);
    if let Some((figure, _)) = rebuilt.filter(|(figure, _)| figure.value > 0.0) {
        time.high_s = time.high_s.max(bytes / figure.value);
    }
    let about = in_words(&time);
    let (grade, sentence) = match (known.is_shingled(), time.value_s) {
        (true, seconds) if seconds > LONG_S => (
            Grade::Unsuitable,
            format!("A resilver takes {about}, and the pool is without its redundancy for as long."),
        ),
        (true, _) => (
            Grade::WithCare,
            format!(
                "A resilver takes {about}; a shingled disk may stall for so long in it that the pool throws it out."
            ),
        ),
        (false, seconds) if seconds > LONG_S => (Grade::Unsuitable, format!("A resilver takes {about}.")),
        (false, seconds) if seconds > SHORT_S || !known.is_plain() => {
            let doubt =
                if known.is_plain() { "" } else { ", if it is not shingled after all, which has not been ruled out" };
            (Grade::WithCare, format!("A resilver takes {about}{doubt}."))
        }
        (false, _) => (Grade::Suitable, format!("A resilver takes {about}.")),
    };
    let mut because = vec![recorded(known), stream.ground.clone(), scattered.ground.clone()];
    because.extend(rebuilt.map(|(figure, run)| {
        let text = format!("short runs with gaps: {} MB/s", rate(figure.value / 1e6));
        Ground { text, run: Some(run.run) }
    }));
    Judgement {
        estimate: Some(time),
        reasoning: Some(resilver::reasoning(bytes, piece, stream, scattered)),
        because,
        missing: if scattered.own { Vec::new() } else { vec![missing(Quantity::SettledIops)] },
        ..judged(purpose, grade, sentence)
    }
}

/// `about 16 h (12 h to 21 h)`
fn in_words(time: &Duration) -> String {
    let words = |seconds: f64| human_seconds(u64_of(seconds));
    format!("about {} ({} to {})", words(time.value_s), words(time.low_s), words(time.high_s))
}

/// The time to write all of it in order.
fn all_of_it(known: &Known<'_>, stream: &Rate) -> Duration {
    let bytes = f64_of(known.drive.capacity_bytes.0);
    let rate = stream.per_s;
    Duration { value_s: bytes / rate.value, low_s: bytes / rate.high, high_s: bytes / rate.low }
}

/// The rebuild of an array that copies block by block.
pub fn raid(known: &Known<'_>) -> Judgement {
    let purpose = Use::RaidRebuild;
    if known.only_at_pointers() {
        return Judgement { because: vec![recorded(known)], ..judged(purpose, Grade::Unsuitable, AT_POINTERS) };
    }
    let Some(stream) = &known.stream else {
        let sentence = "How fast it is in order has not been measured.";
        return Judgement {
            because: vec![recorded(known)],
            missing: vec![missing(Quantity::MeanReadBytesPerS)],
            ..judged(purpose, Grade::NotKnown, sentence)
        };
    };
    let time = all_of_it(known, stream);
    let about = in_words(&time);
    let (grade, sentence) = if known.is_shingled() {
        // Ars Technica rebuilt a RAID6 of eight onto a WD Red EFAX in about the time of its conventional sisters (2020).
        let sentence = format!(
            "A rebuild writes in order, which its cache lets pass: {about}, as long as onto others, if nothing else is written \
             meanwhile. Under load it may stall and be thrown out."
        );
        (Grade::WithCare, sentence)
    } else if known.is_plain() {
        (Grade::Suitable, format!("A rebuild takes {about} at the least."))
    } else {
        (Grade::WithCare, format!("A rebuild takes {about} at the least; that it is shingled has not been ruled out."))
    };
    let reasoning = "All of its capacity in order, as an array copies it, full or empty.".to_owned();
    Judgement {
        estimate: Some(time),
        reasoning: Some(reasoning),
        because: vec![recorded(known), stream.ground.clone()],
        ..judged(purpose, grade, sentence)
    }
}

/// Backups and archives.
pub fn backup(known: &Known<'_>) -> Judgement {
    let purpose = Use::SequentialBackup;
    // Blocks of zones that were never written are zeros, however fast they come.
    let stream = known.stream.as_ref().filter(|_| !known.only_at_pointers());
    let time = stream.map(|stream| all_of_it(known, stream));
    let filled = time.as_ref().map_or_else(String::new, |time| format!(" All of it takes {}.", in_words(time)));
    let (grade, sentence) = if known.only_at_pointers() {
        (
            Grade::WithCare,
            "Only with software that writes zones in order; an ordinary filesystem cannot use it.".to_owned(),
        )
    } else if known.is_shingled() {
        (
            Grade::Suitable,
            format!("What is written once and in order passes by its cache.{filled} Rewriting in place would not."),
        )
    } else if time.is_some() {
        (Grade::Suitable, format!("Whatever it is inside, in order it is as fast as its tracks.{filled}"))
    } else {
        (Grade::NotKnown, "How fast it is in order has not been measured.".to_owned())
    };
    let mut because = vec![recorded(known)];
    because.extend(stream.map(|stream| stream.ground.clone()));
    let missing = if known.stream.is_none() && !known.only_at_pointers() {
        vec![missing(Quantity::MeanReadBytesPerS)]
    } else {
        Vec::new()
    };
    Judgement { estimate: time, because, missing, ..judged(purpose, grade, sentence) }
}

/// A database.
pub fn database(known: &Known<'_>) -> Judgement {
    let purpose = Use::RandomWriteDatabase;
    let mut because = vec![recorded(known)];
    if known.only_at_pointers() {
        return Judgement { because, ..judged(purpose, Grade::Unsuitable, AT_POINTERS) };
    }
    let Some(scattered) = &known.scattered else {
        let sentence = "How fast it writes at random has not been measured.";
        let missing = vec![missing(Quantity::SettledIops)];
        return Judgement { because, missing, ..judged(purpose, Grade::NotKnown, sentence) };
    };
    because.push(scattered.ground.clone());
    let each = scattered.per_s.value;
    let (grade, sentence) = match each {
        _ if known.is_shingled() => {
            let full = || "Once its cache is full".to_owned();
            let until = known.cliff_of(scattered).map_or_else(full, |(cliff, run)| {
                let text = format!("its rate collapses after {} writes", grouped(u64_of(cliff.value)));
                because.push(Ground { text, run: Some(run.run) });
                format!("After {} writes without a rest", grouped(u64_of(cliff.value)))
            });
            (Grade::Unsuitable, format!("{until} it does {} a second.", rate(each)))
        }
        each if each >= BEYOND_DISKS => {
            (Grade::Suitable, format!("It settles at {} random writes a second.", rate(each)))
        }
        each if each >= LEAST_OF_DISKS => (
            Grade::WithCare,
            format!("It settles at {} random writes a second: enough for a small load, as of any disk.", rate(each)),
        ),
        each => (Grade::Unsuitable, format!("It settles at {} random writes a second.", rate(each))),
    };
    Judgement { because, ..judged(purpose, grade, sentence) }
}

/// A filesystem that writes zones in order.
pub fn zoned(known: &Known<'_>) -> Judgement {
    let purpose = Use::ZonedFilesystem;
    let limits = &known.drive.limits;
    let mut because = vec![recorded(known)];
    if let Some(open) = limits.max_open_zones.filter(|open| *open > 0) {
        because.push(Ground { text: format!("at most {} zones open", grouped(open)), run: None });
    }
    if let Some(chunk) = limits.chunk_bytes.filter(|chunk| *chunk > 0) {
        because.push(Ground { text: format!("zones of {}", block(Bytes(chunk))), run: None });
    }
    let told = |name: Quantity, text: &dyn Fn(f64) -> String| {
        known.figure(name).map(|(figure, run)| Ground { text: text(figure.value), run: Some(run.run) })
    };
    because.extend(told(Quantity::OpenZones, &|zones| format!("fastest with {zones:.0} open at once")));
    because.extend(told(Quantity::ExplicitZoneS, &|seconds| format!("OPEN and CLOSE cost {} s a zone", rate(seconds))));
    let lacking = || match known.figure(Quantity::OpenZones) {
        Some(_) => Vec::new(),
        None => vec![missing(Quantity::OpenZones)],
    };
    let (grade, sentence, missing) = match known.recording.state {
        RecordingState::HostManaged | RecordingState::Zns => (
            Grade::Suitable,
            "The host sees its zones and has to write them in order, which such a filesystem does.",
            lacking(),
        ),
        RecordingState::HostAware => (
            Grade::WithCare,
            "It has zones, but Linux from 6.8 on uses host-aware drives as ordinary disks, and its own OPEN and CLOSE may be slow.",
            lacking(),
        ),
        RecordingState::NotReadable => {
            (Grade::NotKnown, "Whether it has zones that a host can see could not be read.", Vec::new())
        }
        RecordingState::DriveManaged => {
            (Grade::Unsuitable, "It is shingled, but keeps its zones to itself: the host cannot see them.", Vec::new())
        }
        _ => (Grade::Unsuitable, "It has no zones that a host can see.", Vec::new()),
    };
    Judgement { because, missing, ..judged(purpose, grade, sentence) }
}
