//! Published measurements of known drives, fed in as recorded runs: each must come to its true class, or to an honest "not shown"
//! where the publication leaves open what `cmr` needs. The figures are those of science's tables; rates that a publication gives as
//! a range are at its middle.

use serde_json::{Value, json};

use super::fixtures::{Tape, drive, plan};
use super::{combine, estimates, verdict};
use crate::model::approx::{f64_of, u64_of};
use crate::model::drive::{Drive, Reading, Rotation, ZonedField};
use crate::model::estimate::{Estimate, Quantity};
use crate::model::plan::{Action, Plan};
use crate::model::profile::Profile;
use crate::model::recording::{Basis, Recording, RecordingState};
use crate::model::units::{Bytes, GIB, KIB, MIB};

/// A drive that says of itself what the published one did.
fn named(terabytes: u64, rpm: u16, zoned: ZonedField) -> Drive {
    let mut drive = drive();
    drive.capacity_bytes = Bytes(terabytes * 1_000_000_000_000);
    if let Reading::Known(page) = &mut drive.declared.vpd_b1 {
        (page.rotation, page.zoned) = (Rotation::Rpm(rpm), Some(zoned));
    }
    drive
}

/// A run of one phase of random writes over all of the drive.
fn random(bs: u64, depth: u32) -> Plan {
    plan(
        Profile::Custom,
        json!({ "rw": "randwrite", "bs": bs, "iodepth": depth, "norandommap": 1, "runtime_s": 86_400 }),
    )
}

fn answer(drive: &Drive, plan: &Plan, tape: &Tape) -> Recording {
    let mut plan = plan.clone();
    // Written over the whole of this drive, not of the fixture's.
    plan.size_bytes = drive.capacity_bytes;
    for phase in &mut plan.phases {
        if let Action::Io(workload) = &mut phase.action {
            workload.size_bytes = workload.size_bytes.min(drive.capacity_bytes);
        }
    }
    verdict(drive, &plan, &tape.samples)
}

/// A published cliff: after so many GiB of writes of `bs` bytes the rate falls from one to another, both in I/Os a second.
struct Collapse {
    what: &'static str,
    terabytes: u64,
    rpm: u16,
    zoned: ZonedField,
    bs: u64,
    depth: u32,
    gib: f64,
    before: f64,
    after: f64,
    declared: bool,
}

const COLLAPSES: [Collapse; 7] = [
    // aicodix/smr, digitised: 1 MiB synced, 47 MiB/s to 16.9 GiB, then 0.9 on average of 0.7 and 48.
    Collapse {
        what: "ST8000AS0002, 1 MiB",
        terabytes: 8,
        rpm: 5_900,
        zoned: ZonedField::NotReported,
        bs: MIB,
        depth: 1,
        gib: 16.9,
        before: 47.0,
        after: 0.9,
        declared: false,
    },
    // csurbhi, tables 3, 4 and 10: 191 172 writes of 4 KiB at 10.97 MB/s, then 5 IOPS; it declares host-aware.
    Collapse {
        what: "ST8000AS0022, 4 KiB",
        terabytes: 8,
        rpm: 5_900,
        zoned: ZonedField::HostAware,
        bs: 4 * KIB,
        depth: 64,
        gib: 0.74,
        before: 2_678.0,
        after: 5.0,
        declared: true,
    },
    // The same hidden, as a bridge would hide it; 1 MiB uniform: 28 GiB at 123.6 MB/s, then a median of 6.34 MiB/s.
    Collapse {
        what: "ST8000AS0022 that does not say so, 1 MiB",
        terabytes: 8,
        rpm: 5_900,
        zoned: ZonedField::NotReported,
        bs: MIB,
        depth: 64,
        gib: 28.0,
        before: 118.0,
        after: 6.34,
        declared: false,
    },
    // csurbhi, table 4. No rate after its cliff was read: that of its host-aware sister.
    Collapse {
        what: "ST8000DM004, 4 KiB",
        terabytes: 8,
        rpm: 5_425,
        zoned: ZonedField::NotReported,
        bs: 4 * KIB,
        depth: 64,
        gib: 1.4,
        before: 2_678.0,
        after: 5.0,
        declared: false,
    },
    Collapse {
        what: "ST8000DM004, 1 MiB",
        terabytes: 8,
        rpm: 5_425,
        zoned: ZonedField::NotReported,
        bs: MIB,
        depth: 64,
        gib: 48.3,
        before: 97.0,
        after: 6.34,
        declared: false,
    },
    // sami-lehtinen.net: 2785 writes a minute for 92 minutes, then 1.5 a second; it declares drive-managed.
    Collapse {
        what: "Toshiba Canvio 3 TB, 4 KiB",
        terabytes: 3,
        rpm: 5_400,
        zoned: ZonedField::DriveManaged,
        bs: 4 * KIB,
        depth: 1,
        gib: 256_220.0 * 4.0 / 1_048_576.0,
        before: 2_785.0 / 60.0,
        after: 1.5,
        declared: true,
    },
    // The same behind a bridge that hides it.
    Collapse {
        what: "Toshiba Canvio 3 TB that does not say so, 4 KiB",
        terabytes: 3,
        rpm: 5_400,
        zoned: ZonedField::NotReported,
        bs: 4 * KIB,
        depth: 1,
        gib: 256_220.0 * 4.0 / 1_048_576.0,
        before: 2_785.0 / 60.0,
        after: 1.5,
        declared: false,
    },
];

fn figure(figures: &[Estimate], name: Quantity) -> f64 {
    figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name:?}")).value
}

#[test]
fn every_published_collapse_is_found_out_where_it_was_read() {
    for case in COLLAPSES {
        let plan = random(case.bs, case.depth);
        let drive = named(case.terabytes, case.rpm, case.zoned);
        let ios = case.gib * f64_of(GIB) / f64_of(case.bs);
        let mut tape = Tape::default();
        tape.writes_at(0, u64_of(ios / case.before), case.before, case.bs).writes_at(0, 1_200, case.after, case.bs);
        let found = answer(&drive, &plan, &tape);
        println!("{}: {} {:.2} {}", case.what, found.state.as_str(), found.confidence, found.sentence);
        let (state, basis) = match case.zoned {
            ZonedField::HostAware => (RecordingState::HostAware, Basis::Declared),
            ZonedField::DriveManaged => (RecordingState::DriveManaged, Basis::Declared),
            _ => (RecordingState::DriveManaged, Basis::Measured),
        };
        assert_eq!((found.state, found.basis), (state, basis), "{}: {}", case.what, found.sentence);
        assert_eq!(case.declared, found.sentence.contains("has shown the same"), "{}: {}", case.what, found.sentence);
        let page = combine(&super::classify(&drive), &[found]);
        assert_eq!(page.state, state, "{}: the drive's page", case.what);
        let figures = estimates(&plan, &tape.samples, &[]);
        let off = figure(&figures, Quantity::CliffIos) / ios - 1.0;
        assert!(off.abs() < 0.02, "{}: the cliff is off by {off}", case.what);
        let depth = figure(&figures, Quantity::CliffRatio) / (case.after / case.before) - 1.0;
        assert!(depth.abs() < 0.05, "{}: its depth is off by {depth}", case.what);
    }
}

/// What thread 3 tells of one WD140EMFZ: a baseline of ten hours, the fill, random 1 MiB, and ten hours more.
fn thread_3(parameters: Value) -> (Plan, Tape) {
    let plan = plan(Profile::SmrFull, parameters);
    let at = |name: &str| plan.phases.iter().position(|phase| phase.name == name).unwrap();
    let mut tape = Tape::default();
    // 157 MiB/s for 93 692 s, in writes of the plan's 16 MiB; 104 MiB/s of 1 MiB; 490 and 489 of 4 KiB for 36 000 s.
    tape.writes(at("before-4k"), 36_000, 490, 4 * KIB, 1_876)
        .writes_at(at("fill"), 93_692, 157.0 / 16.0, 16 * MIB)
        .writes(at("random-1m"), 3_600, 104, MIB, 38_000)
        .writes(at("random-4k"), 36_000, 489, 4 * KIB, 1_876);
    (plan, tape)
}

#[test]
fn the_disk_of_thread_3_is_not_shown_to_be_shingled_and_has_a_media_cache() {
    let (plan, tape) = thread_3(json!({}));
    let drive = drive();
    let found = verdict(&drive, &plan, &tape.samples);
    println!("{} {:.2} {}", found.state.as_str(), found.confidence, found.sentence);
    assert_eq!((found.state, found.basis), (RecordingState::NotShown, Basis::Measured), "{}", found.sentence);
    assert!(found.sentence.contains("media cache"), "{}", found.sentence);
    assert!(found.evidence.iter().all(|evidence| evidence.name != "cliff" || evidence.value.starts_with("none")));
    let figures = estimates(&plan, &tape.samples, &[]);
    assert!(figures.iter().all(|figure| figure.name != Quantity::CliffIos));
    let fill = figure(&figures, Quantity::FillBytesPerS);
    assert!((fill / (157.0 * 1_048_576.0) - 1.0).abs() < 0.02, "{fill}");
}

#[test]
fn with_the_floor_of_its_sibling_it_writes_seven_times_as_fast_as_its_head() {
    // WD140EDFZ: 66 random reads a second over all of it.
    let (plan, mut tape) = thread_3(json!({}));
    let floor = plan.phases.iter().position(|phase| phase.name == "floor-qd1").unwrap();
    let mut reads = Tape::default();
    reads.reads(floor, 600, 66, 4 * KIB, 15_000);
    tape.samples.splice(0..0, reads.samples);
    let found = verdict(&drive(), &plan, &tape.samples);
    assert_eq!(found.state, RecordingState::NotShown, "{}", found.sentence);
    assert!(found.sentence.contains("media cache"), "{}", found.sentence);
    let figures = estimates(&plan, &tape.samples, &[]);
    let rho =
        figures.iter().find(|figure| figure.name == Quantity::RhoRatio && figure.bs_bytes == Some(Bytes(4 * KIB)));
    let rho = rho.unwrap().value;
    assert!((rho / 7.4 - 1.0).abs() < 0.05, "{rho}");
}

/// What, rpm, block, depth, writes a second, for how long, and reads a second at the same depth if they were read.
type Steady = (&'static str, u16, u64, u32, f64, u64, Option<u64>);

#[test]
fn no_published_conventional_disk_is_accused() {
    let disks: [Steady; 6] = [
        ("HUS726040ALE614, cache off", 7_200, 4 * KIB, 1, 264.0, 600, None),
        ("HUS726040ALE614, cache on and synced", 7_200, 4 * KIB, 1, 96.0, 600, Some(96)),
        ("WD140EMFZ, 4 KiB", 5_400, 4 * KIB, 1, 490.0, 36_000, Some(66)),
        ("WD80EAZZ, 4 KiB", 5_640, 4 * KIB, 64, 330.0, 1_800, None),
        ("WD80EAZZ, 1 MiB", 5_640, MIB, 64, 85.0, 1_800, None),
        ("HC580, 4 KiB", 7_200, 4 * KIB, 32, 565.0, 1_800, Some(212)),
    ];
    for (what, rpm, bs, depth, per_s, seconds, floor) in disks {
        let mut plan = random(bs, depth);
        let mut tape = Tape::default();
        if let Some(floor) = floor {
            let inspect = super::fixtures::plan(Profile::Inspect, json!({}));
            let mut phase = inspect.phases[0].clone();
            if let Action::Io(workload) = &mut phase.action {
                workload.iodepth = depth;
            }
            plan.phases.push(phase);
            tape.reads(1, 120, floor, 4 * KIB, 14_000);
        }
        tape.writes_at(0, seconds, per_s, bs);
        let found = answer(&named(8, rpm, ZonedField::NotReported), &plan, &tape);
        println!("{what}: {} {}", found.state.as_str(), found.sentence);
        assert_eq!(found.state, RecordingState::NotShown, "{what}: {}", found.sentence);
        assert!(estimates(&plan, &tape.samples, &[]).iter().all(|figure| figure.name != Quantity::CliffIos), "{what}");
    }
}

#[test]
fn what_was_read_of_a_wd140edfz_tells_its_queue_and_its_edges_and_decides_nothing() {
    let plan = plan(Profile::Inspect, json!({ "places": 5 }));
    let mut tape = Tape::default();
    // 66 and 233 reads a second at 1 and 32 in flight; 211 MiB/s at the outer edge, half of it at the inner.
    tape.reads(0, 30, 66, 4 * KIB, 15_000).reads(1, 30, 233, 4 * KIB, 130_000);
    let places = plan.phases.iter().position(|phase| phase.name.starts_with("read-at")).unwrap();
    for (place, rate) in [211, 190, 165, 135, 105].into_iter().enumerate() {
        tape.reads(places + place, 5, rate, MIB, 5_000);
    }
    let found = verdict(&drive(), &plan, &tape.samples);
    assert_eq!((found.state, found.basis), (RecordingState::NotShown, Basis::None), "{}", found.sentence);
    let figures = estimates(&plan, &tape.samples, &[]);
    assert!((figure(&figures, Quantity::QueueGainRatio) / (233.0 / 66.0) - 1.0).abs() < 0.03);
    assert!((figure(&figures, Quantity::RadiusRatio) / (105.0 / 211.0) - 1.0).abs() < 0.03);
}
