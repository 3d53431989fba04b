use super::*;
use crate::model::units::{GIB, KIB, MIB};
use crate::sim::preset::{self, Inside};

/// A small one: 64 GiB, of which 4 GiB are spare.
fn stl(prefilled: bool) -> (LogStl, Media) {
    let Inside::Disk { mut media, .. } = preset::dm_red_4tb().inside else { panic!("a disk") };
    media.capacity = 64 * GIB;
    let params = LogStlParams { spare: 1.0 / 16.0, segment_bytes: 64 * MIB, prefilled, ..preset::red_stl() };
    (LogStl::new(params, 64 * GIB), Media::new(media, Noise::new(1)))
}

fn write(offset: u64, len: u64) -> Write {
    Write { offset, len, queue: 1, uncached: false, synced: false, home: false }
}

/// MB/s of `count` writes of 1 MiB all over it.
fn scatter(stl: &mut LogStl, media: &mut Media, count: u64, seed: u64) -> f64 {
    let mut random = Noise::new(seed);
    let ms: f64 = (0..count).map(|_| stl.write(media, write(u64_of(random.uniform() * 65_535.0) * MIB, MIB))).sum();
    f64_of(count * MIB) / ms / 1e3
}

fn live(stl: &LogStl) -> u64 {
    stl.segments.iter().map(|segment| segment.live).sum()
}

#[test]
fn a_full_log_collapses_after_its_spare_space_and_a_fresh_one_when_all_was_used_once() {
    let (mut full, mut media) = stl(true);
    // The spare segments lie at the inner edge.
    let before = scatter(&mut full, &mut media, 2_500, 1);
    scatter(&mut full, &mut media, 4_000, 2);
    let after = scatter(&mut full, &mut media, 2_000, 3);
    assert!(before > 90.0 && after < before / 3.0, "{before} {after}");
    let (mut fresh, mut media) = stl(false);
    let rates: Vec<f64> = (0..6).map(|nth| scatter(&mut fresh, &mut media, 10_000, nth)).collect();
    assert!(rates.iter().all(|rate| *rate > 90.0), "{rates:?}");
    scatter(&mut fresh, &mut media, 20_000, 9);
    let late = scatter(&mut fresh, &mut media, 2_000, 10);
    assert!(late < 80.0, "{late}");
}

#[test]
fn what_is_alive_is_what_the_host_has_written_and_not_given_up() {
    let (mut stl, mut media) = stl(false);
    for nth in 0..32 * 1_024 {
        stl.write(&mut media, write(nth * MIB, MIB));
    }
    assert_eq!(live(&stl), 32 * GIB);
    for nth in 0..32 * 1_024 {
        stl.write(&mut media, write(nth * MIB, MIB));
    }
    assert!(live(&stl).abs_diff(32 * GIB) < GIB / 4, "written in order once more: {}", live(&stl));
    stl.trim(&mut media, 0, 64 * GIB);
    assert!(live(&stl) < 2 * GIB, "{}", live(&stl));
    // Half of the address space at random: each block once or more.
    scatter(&mut stl, &mut media, 40_000, 5);
    let expected = 64.0 * (1.0 - (-40_000.0_f64 / 65_536.0).exp());
    let gib = f64_of(live(&stl)) / f64_of(GIB);
    assert!((gib / expected - 1.0).abs() < 0.1, "{gib} GiB of {expected}");
}

#[test]
fn a_trim_gives_a_full_log_its_speed_back() {
    let (mut stl, mut media) = stl(true);
    scatter(&mut stl, &mut media, 6_000, 1);
    let slow = scatter(&mut stl, &mut media, 1_000, 2);
    stl.trim(&mut media, 0, 64 * GIB);
    stl.idle(&mut media, Nanos(0), Nanos::from_secs(600));
    let fast = scatter(&mut stl, &mut media, 2_000, 3);
    assert!(fast > 3.0 * slow, "{slow} {fast}");
}

#[test]
fn scattered_blocks_stay_scattered_when_it_is_left_alone() {
    let (mut stl, mut media) = stl(true);
    for nth in 0..512 {
        stl.write(&mut media, write(GIB + nth * 128 * KIB, 4 * KIB));
    }
    stl.idle(&mut media, Nanos(0), Nanos::from_secs(3_600));
    let scattered: f64 = (0..64).map(|nth| stl.read(&mut media, GIB + nth * MIB, MIB, 1)).sum();
    let ordered: f64 = (0..64).map(|nth| stl.read(&mut media, 9 * GIB + nth * MIB, MIB, 1)).sum();
    assert!(scattered > 5.0 * ordered, "{scattered} {ordered}");
}

#[test]
fn a_drive_that_cannot_keep_up_answers_as_it_was_told_to() {
    let (mut stl, mut media) = stl(true);
    let answer = OverloadAnswer::IdNotFound;
    stl.params.overload = Some(Overload { after_s: 10.0, share: 0.5, answer });
    scatter(&mut stl, &mut media, 2_000, 1);
    assert!((0..100).all(|_| stl.overload(&mut media).is_none()), "not while there is room");
    scatter(&mut stl, &mut media, 8_000, 2);
    let refused = (0..1_000).filter(|_| stl.overload(&mut media) == Some(answer)).count();
    assert!((400..600).contains(&refused), "{refused} of 1000");
}
