use serde_json::json;

use super::*;
use crate::analysis::fixtures::{Tape, drive, plan};
use crate::model::drive::{DeviceKind, Reading, Rotation, Transport, ZonedField};
use crate::model::plan::PhaseRole;
use crate::model::profile::Profile;
use crate::model::recording::RecordingState;
use crate::model::units::MIB;

fn quick() -> Plan {
    plan(Profile::SmrQuick, json!({}))
}

fn of_role(plan: &Plan, role: PhaseRole) -> usize {
    plan.phases.iter().position(|phase| phase.role == role).unwrap()
}

/// Floors as of a WD140EDFZ.
fn floors(tape: &mut Tape, plan: &Plan) {
    for (index, phase) in plan.phases.iter().enumerate() {
        let crate::model::plan::Action::Io(workload) = &phase.action else { continue };
        match phase.role {
            PhaseRole::Floor => tape.reads(index, 30, 66, 4096, 15_000),
            PhaseRole::FloorDeep if workload.bs.0 == MIB => tape.reads(index, 30, 75, MIB, 60_000),
            PhaseRole::FloorDeep => tape.reads(index, 30, 145, 4096, 50_000),
            _ => continue,
        };
    }
}

fn region(tape: &mut Tape, plan: &Plan, after_mib_per_s: u64) {
    tape.writes(of_role(plan, PhaseRole::RegionFill), 2, 128, MIB, 7_000)
        .reads(of_role(plan, PhaseRole::RegionReadBefore), 2, 128, MIB, 7_000)
        .writes(of_role(plan, PhaseRole::RegionScatter), 10, 410, 4096, 7_000)
        .reads(of_role(plan, PhaseRole::RegionReadAfter), 256 / after_mib_per_s, after_mib_per_s, MIB, 7_000);
}

fn conventional(after_mib_per_s: u64) -> (Plan, Tape) {
    let plan = quick();
    let mut tape = Tape::default();
    floors(&mut tape, &plan);
    tape.writes(of_role(&plan, PhaseRole::RandomSmall), 1_230, 490, 4096, 16_000);
    tape.writes(of_role(&plan, PhaseRole::RandomLarge), 680, 97, MIB, 80_000);
    region(&mut tape, &plan, after_mib_per_s);
    (plan, tape)
}

fn judged(plan: &Plan, tape: &Tape) -> Recording {
    verdict(&drive(), plan, &tape.samples)
}

#[test]
fn no_collapse_and_blocks_at_home_is_conventional() {
    let (plan, tape) = conventional(128);
    let answer = judged(&plan, &tape);
    assert_eq!((answer.state, answer.basis), (RecordingState::Cmr, Basis::Measured), "{}", answer.sentence);
    assert!(answer.confidence > 0.8 && answer.confidence < 0.95);
    assert!(answer.evidence.iter().any(|evidence| evidence.name == "vpd-b1-zoned"), "declared evidence stays beside");
}

#[test]
fn the_figures_of_the_fio_list_alone_do_not_prove_a_conventional_disk() {
    // 490 writes a second for ten hours at QD1, 67.4 GiB; no floor, nothing read back.
    let plan = plan(Profile::Custom, json!({"rw": "randwrite", "bs": "4k", "iodepth": 1, "runtime_s": 36_000}));
    let mut tape = Tape::default();
    tape.writes(0, 36_000, 490, 4096, 1_876);
    let answer = judged(&plan, &tape);
    assert_eq!((answer.state, answer.basis), (RecordingState::NotShown, Basis::Measured), "{}", answer.sentence);
    assert!(answer.sentence.contains("GiB") && answer.sentence.contains("no proof"), "{}", answer.sentence);
    assert!(
        answer.sentence.contains("read back") && answer.sentence.contains("was not measured"),
        "{}",
        answer.sentence
    );
}

#[test]
fn slow_rereading_without_a_collapse_shows_nothing_and_is_never_conventional() {
    let (plan, tape) = conventional(2);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::NotShown, "{}", answer.sentence);
    assert!(answer.sentence.contains("media cache"), "{}", answer.sentence);
    let (plan, tape) = conventional(43);
    assert_eq!(judged(&plan, &tape).state, RecordingState::NotShown, "neither at home nor surely elsewhere");
}

#[test]
fn a_run_that_was_cut_short_says_what_is_missing() {
    let (plan, mut tape) = conventional(128);
    tape.samples.truncate(300);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::NotShown, "{}", answer.sentence);
    assert!(
        answer.sentence.contains("387,235") && answer.confidence < 0.4,
        "{} {}",
        answer.sentence,
        answer.confidence
    );
    tape.samples.truncate(40);
    let answer = judged(&plan, &tape);
    assert_eq!((answer.state, answer.basis), (RecordingState::NotShown, Basis::None));
    assert!(answer.sentence.contains("before anything was written"), "{}", answer.sentence);
    assert_eq!(judged(&plan, &Tape::default()).confidence, 0.0);
}

fn collapsed(after_s: u64) -> (Plan, Tape) {
    let plan = quick();
    let mut tape = Tape::default();
    floors(&mut tape, &plan);
    let small = of_role(&plan, PhaseRole::RandomSmall);
    tape.writes(small, 126, 2_930, 4096, 2_700).writes(small, after_s, 9, 4096, 900_000);
    (plan, tape)
}

#[test]
fn a_collapse_below_the_head_is_a_hidden_shingled_disk() {
    let (plan, tape) = collapsed(70);
    let answer = judged(&plan, &tape);
    assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Measured), "{}", answer.sentence);
    assert!(answer.confidence > 0.95 && answer.confidence <= MOST_SURE);
    assert!(answer.sentence.contains("does not say so"), "{}", answer.sentence);
}

#[test]
fn a_fall_that_could_not_be_watched_is_no_verdict() {
    let (plan, tape) = collapsed(20);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::Undecided, "{}", answer.sentence);
    assert!(answer.sentence.contains("Run it again"), "{}", answer.sentence);
    let (plan, tape) = collapsed(8);
    assert_ne!(judged(&plan, &tape).state, RecordingState::DriveManaged);
}

#[test]
fn a_stall_of_a_minute_and_a_half_that_passes_is_no_collapse() {
    let plan = quick();
    let mut tape = Tape::default();
    floors(&mut tape, &plan);
    let small = of_role(&plan, PhaseRole::RandomSmall);
    tape.writes(small, 300, 490, 4096, 16_000).writes(small, 90, 0, 4096, 0).writes(small, 930, 490, 4096, 16_000);
    tape.writes(of_role(&plan, PhaseRole::RandomLarge), 680, 97, MIB, 80_000);
    region(&mut tape, &plan, 128);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::Cmr, "{}", answer.sentence);
}

#[test]
fn a_cache_that_fills_and_settles_above_the_head_is_no_collapse() {
    let plan = quick();
    let mut tape = Tape::default();
    floors(&mut tape, &plan);
    let small = of_role(&plan, PhaseRole::RandomSmall);
    tape.writes(small, 60, 3_000, 4096, 2_700).writes(small, 1_400, 300, 4096, 27_000);
    tape.writes(of_role(&plan, PhaseRole::RandomLarge), 680, 97, MIB, 80_000);
    region(&mut tape, &plan, 128);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::Cmr, "{}", answer.sentence);
}

#[test]
fn slow_from_the_first_second_is_undecided() {
    let plan = quick();
    let mut tape = Tape::default();
    floors(&mut tape, &plan);
    tape.writes(of_role(&plan, PhaseRole::RandomSmall), 600, 10, 4096, 800_000);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::Undecided);
    assert!(answer.sentence.contains("over night"), "{}", answer.sentence);
}

#[test]
fn between_the_classes_without_a_fall_nothing_is_shown_and_its_numbers_are_told() {
    let plan = quick();
    let mut tape = Tape::default();
    floors(&mut tape, &plan);
    tape.writes(of_role(&plan, PhaseRole::RandomSmall), 7_200, 80, 4096, 100_000);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::NotShown);
    assert!(answer.sentence.contains("0.55"), "{}", answer.sentence);
}

#[test]
fn where_no_head_moves_shingling_cannot_be_judged() {
    let plan = quick();
    let mut tape = Tape::default();
    tape.reads(0, 30, 9_000, 4096, 90).writes(of_role(&plan, PhaseRole::RandomSmall), 60, 10_000, 4096, 90);
    let mut other = drive();
    other.kind = DeviceKind::Loop;
    other.transport = Transport::Kernel;
    other.declared.vpd_b1 = Reading::Unknown(crate::model::drive::Unknown::Absent);
    let answer = verdict(&other, &plan, &tape.samples);
    assert_eq!(answer.state, RecordingState::NotShown);
    assert!(answer.sentence.contains("No head movement was seen"), "{}", answer.sentence);
    let mut flash = drive();
    if let Reading::Known(page) = &mut flash.declared.vpd_b1 {
        page.rotation = Rotation::NonRotating;
    }
    let answer = verdict(&flash, &plan, &tape.samples);
    assert_eq!((answer.state, answer.confidence), (RecordingState::Ssd, MOST_SURE), "{}", answer.sentence);
    let rotating = judged(&plan, &tape);
    assert_eq!(rotating.state, RecordingState::NotShown);
    assert!(rotating.sentence.contains("5400 rpm"), "{}", rotating.sentence);
}

#[test]
fn a_collapse_shows_even_where_the_reads_moved_no_head() {
    // A new shingled disk answers reads of blocks that were never written at once.
    let plan = quick();
    let small = of_role(&plan, PhaseRole::RandomSmall);
    let mut tape = Tape::default();
    tape.reads(0, 30, 9_000, 4096, 90).writes(small, 126, 2_930, 4096, 2_700).writes(small, 70, 9, 4096, 900_000);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::DriveManaged, "{}", answer.sentence);
    assert!(answer.confidence <= 0.75, "the floor was assumed: {}", answer.confidence);
}

#[test]
fn a_small_part_of_a_drive_proves_nothing_of_the_whole() {
    let (mut plan, tape) = conventional(128);
    plan.size_bytes = crate::model::Bytes(300 << 30);
    let answer = judged(&plan, &tape);
    assert_eq!(answer.state, RecordingState::NotShown);
    assert!(answer.sentence.contains("300 GiB") && answer.sentence.contains("1.0 TiB"), "{}", answer.sentence);
    let mut small = drive();
    small.capacity_bytes = crate::model::Bytes(300 << 30);
    assert_eq!(
        verdict(&small, &plan, &tape.samples).state,
        RecordingState::Cmr,
        "the whole of a smaller drive will do"
    );
}

#[test]
fn a_week_of_samples_is_judged_in_a_moment() {
    let plan = plan(Profile::Custom, json!({"rw": "randwrite", "bs": "4k", "iodepth": 8, "runtime_s": 604_800}));
    let mut tape = Tape::default();
    tape.writes(0, 130, 2_930, 4096, 2_700).writes(0, 604_000, 9, 4096, 900_000);
    let began = std::time::Instant::now();
    assert_eq!(judged(&plan, &tape).state, RecordingState::DriveManaged);
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    println!("a week took {:?}", began.elapsed());
}

#[test]
fn flash_that_reads_like_a_disk_contradicts_itself() {
    let (plan, tape) = conventional(128);
    let mut flash = drive();
    if let Reading::Known(page) = &mut flash.declared.vpd_b1 {
        page.rotation = Rotation::NonRotating;
    }
    let answer = verdict(&flash, &plan, &tape.samples);
    assert!(answer.sentence.starts_with("CONTRADICTION"), "{}", answer.sentence);
}

#[test]
fn a_declared_state_stays_and_the_run_is_held_against_it() {
    let mut honest = drive();
    if let Reading::Known(page) = &mut honest.declared.vpd_b1 {
        page.zoned = Some(ZonedField::DriveManaged);
    }
    let (plan, tape) = collapsed(70);
    let answer = verdict(&honest, &plan, &tape.samples);
    assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Declared));
    assert!(answer.sentence.contains("has shown the same"), "{}", answer.sentence);
    let (plan, tape) = conventional(128);
    let answer = verdict(&honest, &plan, &tape.samples);
    assert_eq!((answer.state, answer.basis), (RecordingState::DriveManaged, Basis::Declared));
    assert!(answer.sentence.starts_with("CONTRADICTION"), "{}", answer.sentence);
    let page = crate::analysis::combine(&super::classify(&honest), &[answer]);
    assert!(page.sentence.starts_with("CONTRADICTION"), "the drive's page shouts it too: {}", page.sentence);
    honest.declared.device_type = Reading::Known(0x14);
    let answer = verdict(&honest, &plan, &tape.samples);
    assert_eq!(answer.state, RecordingState::HostManaged);
    assert!(answer.sentence.starts_with("CONTRADICTION") && answer.sentence.contains("refuses"), "{}", answer.sentence);
}

#[test]
fn an_inspection_tells_what_it_read_and_decides_nothing() {
    let plan = plan(Profile::Inspect, json!({"places": 5}));
    let mut tape = Tape::default();
    tape.reads(0, 30, 66, 4096, 15_000).reads(1, 30, 233, 4096, 130_000);
    for (place, rate) in [200, 180, 160, 130, 105].into_iter().enumerate() {
        tape.reads(2 + place, 2, rate, MIB, 5_000);
    }
    let mut plan = plan;
    plan.destructive = false;
    let answer = judged(&plan, &tape);
    assert_eq!((answer.state, answer.basis), (RecordingState::NotShown, Basis::None));
    let profile = answer.evidence.iter().find(|evidence| evidence.name == "zone-profile").unwrap();
    assert!(profile.value.contains("falls as on a rotating disk"), "{}", profile.value);
    assert!(answer.sentence.contains("wrote nothing"), "{}", answer.sentence);
}

#[test]
fn many_failed_ios_spoil_a_run() {
    let (plan, mut tape) = conventional(128);
    for sample in &mut tape.samples {
        sample.errors = 20;
    }
    assert_eq!(judged(&plan, &tape).state, RecordingState::Undecided);
}
