use super::*;
use crate::model::Nanos;
use crate::model::approx::f64_of;
use crate::probe::engine::Op;
use crate::sim::drive::SimDrive;

const COUNT: u64 = 4_000;

fn population() -> impl Iterator<Item = Specimen> {
    (0..COUNT).map(|index| generate(index, 1))
}

#[test]
fn the_same_index_and_seed_give_the_same_specimen_and_others_give_others() {
    assert_eq!(generate(17, 1), generate(17, 1));
    assert_ne!(generate(17, 1).preset.inside, generate(18, 1).preset.inside);
    assert_ne!(generate(17, 1).preset.inside, generate(17, 2).preset.inside);
}

#[test]
fn every_kind_and_every_disturbance_is_there_often_enough_to_judge() {
    let all: Vec<_> = population().collect();
    let share = |what: &dyn Fn(&Truth) -> bool| {
        f64_of(u64::try_from(all.iter().filter(|specimen| what(&specimen.truth)).count()).unwrap()) / f64_of(COUNT)
    };
    let class = |class| share(&|truth: &Truth| truth.class == class);
    assert!((class(Class::DriveManagedCached) - 0.45).abs() < 0.03);
    assert!((class(Class::DriveManagedLog) - 0.10).abs() < 0.02);
    assert!((class(Class::Conventional) - 0.45).abs() < 0.03);
    use Disturbance::{CompetingReader, Failing, Honest, PretendsToFlush, Stalls, Usb, WriteCacheOff};
    for disturbance in [Usb, WriteCacheOff, PretendsToFlush, Failing, Stalls, CompetingReader, Honest] {
        assert!(share(&|truth| truth.disturbances.contains(&disturbance)) > 0.02, "{disturbance:?}");
    }
    let beyond = share(&|truth| truth.beyond_quick);
    assert!((0.08..0.25).contains(&beyond), "{beyond}");
}

#[test]
fn what_is_drawn_stays_within_the_stated_ranges_and_reaches_their_ends() {
    let cached: Vec<_> = population().filter(|specimen| specimen.truth.class == Class::DriveManagedCached).collect();
    let range = |of: &dyn Fn(&Truth) -> f64| {
        let values = cached.iter().map(|specimen| of(&specimen.truth));
        values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)))
    };
    let (least, most) = range(&|truth| f64_of(truth.map_entries));
    assert!((65_536.0..80_000.0).contains(&least) && (1_800_000.0..=2_097_152.0).contains(&most), "{least} {most}");
    let (least, most) = range(&|truth| f64_of(truth.cache_bytes) / f64_of(GIB));
    assert!((1.0..1.2).contains(&least) && (130.0..=150.0).contains(&most), "{least} {most}");
    let (least, most) = range(&|truth| f64_of(truth.band_bytes) / f64_of(MIB));
    assert!((8.0..9.0).contains(&least) && (230.0..=256.0).contains(&most), "{least} {most}");
    let (least, most) = range(&|truth| truth.idle_trigger_s);
    assert!((0.5..0.6).contains(&least) && (12_000.0..=14_400.0).contains(&most), "{least} {most}");
    let (least, most) = range(&|truth| truth.band_cost_s);
    assert!(least > 0.05 && most < 10.0, "{least} {most}");
}

#[test]
fn every_specimen_does_what_it_is_asked() {
    for specimen in population().step_by(20) {
        let mut drive = SimDrive::new(&specimen.preset, specimen.index);
        let capacity = specimen.preset.capacity();
        let mut now = Nanos(0);
        for nth in 0..200u64 {
            let op = if nth % 3 == 0 { Op::Read } else { Op::Write };
            let offset = (nth * 982_451_653 * 4_096) % capacity;
            let done = drive.submit(now, op, offset, 4_096).unwrap();
            assert!(done >= now && done - now < Nanos::from_secs(60), "{specimen:?}");
            now = done;
        }
    }
}

#[test]
fn the_presets_that_were_measured_are_known_to_be_within_the_quick_protocol_and_the_vast_one_beyond_it() {
    let beyond = |name| Truth::of(&preset::named(name).unwrap(), Vec::new()).beyond_quick;
    for name in ["sim-dm-8tb", "sim-dm-14tb", "sim-dm-3tb", "sim-dm-archive-8tb", "sim-dm-red-4tb-prefilled"] {
        assert!(!beyond(name), "{name}");
    }
    assert!(beyond("sim-dm-8tb-vast") && beyond("sim-dm-red-4tb"));
    assert!(!beyond("sim-cmr-14tb"));
}
