//! ST8000AS0002 against what was digitised from the plots of aicodix/smr, to ±5 %: chunks written at random places with `O_SYNC`, one at a
//! time. Before its cliff that is the time of an ordinary write, without the checkpoints between them.

use super::*;
use crate::model::approx::u64_of;

const FLUSH: Op = Op::Flush { data_only: false };

/// Writes chunks and flushes each, until one waits for a band to be cleaned; then `more`. Milliseconds of each, and of which one that was.
fn synced(bs: u64, more: usize) -> (Vec<f64>, usize) {
    let preset = preset::dm_archive_8tb();
    let mut host = Host::of(&preset);
    let mut each = Vec::new();
    let mut cliff = None;
    while cliff.is_none_or(|cliff| each.len() < cliff + more) {
        assert!(each.len() < 60_000, "no cliff within twice its cache");
        let before = host.now;
        let offset = host.random.random_range(0..preset.capacity() / bs) * bs;
        host.io(Op::Write, offset, bs, 1);
        host.io(FLUSH, 0, 0, 1);
        host.wait();
        each.push((host.now - before).as_secs_f64() * 1e3);
        // A checkpoint takes 900 ms and a band 1.43 s.
        if each.last().is_some_and(|ms| *ms > 1_150.0) {
            cliff.get_or_insert(each.len() - 1);
        }
    }
    (each, cliff.unwrap())
}

fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[test]
fn synced_chunks_of_the_archive_disk_collapse_after_the_published_amounts() {
    for (mib, cliff_gib, before) in [(1, 16.9, 47.0), (2, 22.5, 69.0), (4, 27.1, 91.0), (8, 27.8, 88.0)] {
        let (each, cliff) = synced(mib * MIB, 0);
        let written = f64_of(u64::try_from(cliff).unwrap() * mib) / 1_024.0;
        near(&format!("dm-archive {mib} MiB synced, cliff, GiB"), written, cliff_gib, 5.0);
        let typical = f64_of(mib) / median(&each[..cliff]) * 1e3;
        near(&format!("dm-archive {mib} MiB synced before, MiB/s"), typical, before, 15.0);
    }
}

#[test]
fn after_its_cliff_a_write_to_the_archive_disk_waits_for_a_band() {
    let (each, cliff) = synced(MIB, 2_000);
    let after = &each[cliff..];
    let slow: Vec<f64> = after.iter().copied().filter(|ms| *ms > 1_000.0).collect();
    near("dm-archive 1 MiB synced after, slow ones, s", median(&slow) / 1e3, 1.43, 20.0);
    // The mean of 0.7 to 0.9.
    let average = f64_of(u64::try_from(after.len()).unwrap()) / (after.iter().sum::<f64>() / 1e3);
    near("dm-archive 1 MiB synced after, average, MiB/s", average, 0.8, 20.0);
}

#[test]
fn the_archive_disk_keeps_writing_in_order() {
    let preset = preset::dm_archive_8tb();
    let mut host = Host::of(&preset);
    let rates: Vec<f64> =
        (0..10).map(|nth| host.sequential(Op::Write, MIB, nth * 8 * GIB, 8 * GIB, 4) * 1e6 / f64_of(MIB)).collect();
    // 187 to 201.
    near("dm-archive in order, first 80 GiB, MiB/s", rates.iter().sum::<f64>() / 10.0, 194.0, 8.0);
    assert!(rates.iter().all(|rate| rate / rates[0] > 0.92), "no cliff: {rates:?}");
}

#[test]
fn left_alone_the_archive_disk_cleans_a_band_a_second_from_the_first_second_on() {
    let preset = preset::dm_archive_8tb();
    let mut host = Host::of(&preset);
    host.random(Op::Write, 4 * KIB, preset.capacity(), 1, 0, 5_000);
    host.io(FLUSH, 0, 0, 1);
    host.wait();
    let full = host.drive.away_bytes();
    host.drive.submit(host.now + Nanos::from_secs(601), Op::Read, 0, 4_096).unwrap();
    let bands = u64_of(f64_of(full.saturating_sub(host.drive.away_bytes())) / 4_096.0);
    // "Skylight": 0.6 to 1.6 s a band; a few bands hold two blocks.
    assert!((375..1_000).contains(&bands), "{bands} blocks went home in ten minutes");
}
