//! Simulated drives against the published figures they are modelled on. Tolerances are the simulator's, not the drives'.
//!
//! As a table: `cargo test --lib sim::acceptance -- --nocapture | grep '^|'`.

use std::collections::BinaryHeap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::drive::SimDrive;
use super::interface::InterfaceParams;
use super::media::millis;
use super::preset::{self, Inside, Preset};
use crate::model::Nanos;
use crate::model::approx::f64_of;
use crate::model::units::{GIB, KIB, MIB};
use crate::model::zone::ZoneOp;
use crate::probe::engine::Op;

mod archive;
mod skewed;

/// A host that keeps `depth` I/Os in flight.
struct Host {
    drive: SimDrive,
    now: Nanos,
    random: Xoshiro256PlusPlus,
    in_flight: BinaryHeap<std::cmp::Reverse<Nanos>>,
}

impl Host {
    fn of(preset: &Preset) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(11);
        Self { drive: SimDrive::new(preset, 3), now: Nanos(0), random, in_flight: BinaryHeap::new() }
    }

    fn io(&mut self, op: Op, offset: u64, len: u64, depth: usize) {
        while self.in_flight.len() >= depth {
            if let Some(std::cmp::Reverse(done)) = self.in_flight.pop() {
                self.now = self.now.max(done);
            }
        }
        let done = self.drive.submit(self.now, op, offset, len).unwrap();
        self.in_flight.push(std::cmp::Reverse(done));
    }

    /// Until nothing is in flight.
    fn wait(&mut self) {
        while let Some(std::cmp::Reverse(done)) = self.in_flight.pop() {
            self.now = self.now.max(done);
        }
    }

    /// I/Os per second of `count` random I/Os after `skipped`.
    fn random(&mut self, op: Op, bs: u64, span: u64, depth: usize, skipped: u64, count: u64) -> f64 {
        let mut from = self.now;
        for nth in 0..skipped + count {
            if nth == skipped {
                from = self.now;
            }
            let offset = self.random.random_range(0..span / bs) * bs;
            self.io(op, offset, bs, depth);
        }
        f64_of(count) / (self.now - from).as_secs_f64()
    }

    fn sequential(&mut self, op: Op, bs: u64, start: u64, bytes: u64, depth: usize) -> f64 {
        let from = self.now;
        for nth in 0..bytes / bs {
            self.io(op, start + nth * bs, bs, depth);
        }
        f64_of(bytes) / (self.now - from).as_secs_f64() / 1e6
    }
}

fn near(what: &str, got: f64, expected: f64, tolerance_percent: f64) {
    println!("| {what} | {expected} | {got:.2} | {:+.1} % of {tolerance_percent} |", (got / expected - 1.0) * 100.0);
    assert!((got / expected - 1.0).abs() * 100.0 <= tolerance_percent, "{what}: {got:.2} against {expected}");
}

fn without_usb(mut preset: Preset) -> Preset {
    preset.interface = InterfaceParams::SATA;
    preset
}

/// GiB of random writes over the whole drive before the first one waits for a band to be cleaned.
fn cliff_gib(preset: &Preset, bs: u64, cleaning_ms: f64) -> f64 {
    let mut host = Host::of(preset);
    let mut written = 0_u64;
    loop {
        let before = host.now;
        let offset = host.random.random_range(0..preset.capacity() / bs) * bs;
        host.io(Op::Write, offset, bs, 1);
        if host.now - before > millis(cleaning_ms) {
            return f64_of(written) / f64_of(GIB);
        }
        written += bs;
    }
}

/// Names a drive, and for each block size the GiB at which csurbhi (tables 3 and 4, uniform, whole drive) read its cliff.
fn cliffs(preset: &Preset, published: &[(u64, f64)]) {
    for &(bs, gib) in published {
        // Above the longest append of 256 KiB, below one band.
        near(&format!("{} cliff at {} KiB, GiB", preset.name, bs / KIB), cliff_gib(preset, bs, 100.0), gib, 2.0);
    }
}

#[test]
fn the_cliff_of_the_barracuda_comes_after_the_published_amounts() {
    let published = [(4 * KIB, 1.4), (32 * KIB, 11.2), (64 * KIB, 22.4), (128 * KIB, 44.8), (256 * KIB, 48.3)];
    cliffs(&preset::dm_8tb(), &published);
}

#[test]
fn the_cliff_of_the_host_aware_disk_comes_after_the_published_amounts() {
    let published = [(4 * KIB, 0.74), (32 * KIB, 5.83), (64 * KIB, 11.66), (128 * KIB, 23.33), (256 * KIB, 28.0)];
    cliffs(&preset::ha_8tb(), &published);
}

#[test]
fn after_the_cliff_shingled_disks_are_slower_than_their_heads() {
    let preset = preset::dm_8tb();
    let mut host = Host::of(&preset);
    let before = host.random(Op::Write, 4 * KIB, preset.capacity(), 8, 2_000, 100_000);
    near("sim-dm-8tb 4K before the cliff, MB/s (prototype)", before * 4096.0 / 1e6, 12.0, 10.0);
    // No rate of ST8000DM004 after its cliff was read; this is the model's own prototype.
    let after = host.random(Op::Write, 4 * KIB, preset.capacity(), 8, 300_000, 1_000);
    near("sim-dm-8tb 4K after the cliff, IOPS (prototype)", after, 12.5, 15.0);
    let preset = preset::ha_8tb();
    let after = Host::of(&preset).random(Op::Write, 4 * KIB, preset.capacity(), 64, 192_500, 1_000);
    assert!((2.5..20.0).contains(&after), "csurbhi read 5 to 10 IOPS, to a factor of two: {after}");
    let after = Host::of(&preset).random(Op::Write, MIB, preset.capacity(), 64, 29_000, 1_000);
    near("sim-ha-8tb 1M QD64 after the cliff, MiB/s", after, 6.34, 15.0);
}

#[test]
fn the_canvio_collapses_after_an_hour_and_a_half() {
    let preset = preset::dm_3tb();
    let mut host = Host::of(&preset);
    let before = host.random(Op::Write, 4 * KIB, preset.capacity(), 1, 2_000, 20_000);
    near("sim-dm-3tb 4K before the cliff, IOPS", before, 46.0, 10.0);
    let cliff = cliff_gib(&preset, 4 * KIB, 1_000.0) * f64_of(GIB) / 4096.0;
    near("sim-dm-3tb cliff, minutes", cliff / before / 60.0, 92.0, 10.0);
    let after = host.random(Op::Write, 4 * KIB, preset.capacity(), 1, 245_000, 300);
    near("sim-dm-3tb 4K after the cliff, IOPS", after, 1.5, 35.0);
}

/// GiB freed of a cache filled with 1 MiB blocks, after so many idle hours.
fn freed(preset: &Preset, writes: u64, hours: &[f64]) -> Vec<f64> {
    let mut host = Host::of(preset);
    host.random(Op::Write, MIB, preset.capacity(), 1, 0, writes);
    let full = host.drive.away_bytes();
    hours
        .iter()
        .map(|hours| {
            let mut drive = host.drive.clone();
            drive.submit(host.now + millis(hours * 3.6e6), Op::Read, 0, 4096).unwrap();
            // Slightly negative when nothing was freed: what was in DRAM has joined the rest.
            (f64_of(full) - f64_of(drive.away_bytes())) / f64_of(GIB)
        })
        .collect()
}

#[test]
fn shingled_disks_free_their_cache_over_night() {
    let barracuda = freed(&preset::dm_8tb(), 49_400, &[2.0, 9.0]);
    near("sim-dm-8tb freed in 2 h, GiB", barracuda[0], 6.0, 15.0);
    near("sim-dm-8tb freed in 9 h, GiB", barracuda[1], 48.3, 15.0);
    let host_aware = freed(&preset::ha_8tb(), 28_650, &[2.0, 2.97, 7.0, 8.0]);
    assert!(host_aware[0].abs() < 0.2 && host_aware[1].abs() < 0.2, "nothing before about three hours: {host_aware:?}");
    near("sim-ha-8tb freed in 7 h, GiB", host_aware[2], 16.6, 25.0);
    near("sim-ha-8tb freed in 8 h, GiB", host_aware[3], 28.0, 25.0);
}

#[test]
fn the_conventional_14_tb_writes_as_the_fio_list_read_it() {
    let preset = preset::cmr_14tb();
    let whole = preset.capacity();
    let rate = |span, count| Host::of(&preset).random(Op::Write, 4 * KIB, span, 1, 1_000, count);
    near("cmr-14tb 4K QD1 whole span, IOPS", rate(whole, 50_000), 490.0, 13.0);
    near("cmr-14tb 4K QD1 1 GiB, IOPS", rate(GIB, 50_000), 816.0, 13.0);
    near("cmr-14tb 4K QD1 10 GiB, IOPS", rate(10 * GIB, 50_000), 721.0, 13.0);
    for (mib, published) in [(1, 100.0), (10, 130.0), (100, 160.0)] {
        let bs = mib * MIB;
        let ios = Host::of(&preset).random(Op::Write, bs, whole, 1, 60, 1_000);
        near(&format!("cmr-14tb {mib} MiB QD1 writes, MB/s"), ios * f64_of(bs) / 1e6, published, 15.0);
    }
    let fill = Host::of(&preset).sequential(Op::Write, 512 * MIB, 0, 64 * GIB, 4) * 1e6 / f64_of(MIB);
    near("cmr-14tb 512 MiB QD4 sequential fill, MiB/s", fill, 157.0, 5.0);
}

#[test]
fn the_conventional_14_tb_never_slows_down_as_a_shingled_one_does() {
    let preset = preset::cmr_14tb();
    let mut host = Host::of(&preset);
    let rates: Vec<_> = (0..12).map(|_| host.random(Op::Write, 4 * KIB, preset.capacity(), 8, 0, 50_000)).collect();
    assert!(rates.iter().all(|rate| (rate / 490.0 - 1.0).abs() < 0.13), "{rates:?}");
}

#[test]
fn the_conventional_14_tb_reads_as_its_sibling() {
    let preset = without_usb(preset::cmr_14tb());
    let whole = preset.capacity();
    let rate = |span, depth| Host::of(&preset).random(Op::Read, 4 * KIB, span, depth, 100, 20_000);
    near("cmr-14tb 4K read QD1 whole span, IOPS", rate(whole, 1), 66.0, 5.0);
    near("cmr-14tb 4K read QD32 whole span, IOPS", rate(whole, 32), 233.0, 5.0);
    near("cmr-14tb 4K read QD1 1 GiB, IOPS", rate(GIB, 1), 175.0, 5.0);
    near("cmr-14tb 4K read QD32 1 GiB, IOPS", rate(GIB, 32), 717.0, 5.0);
}

#[test]
fn the_conventional_4_tb_with_its_cache_off_and_with_synced_writes() {
    let off = preset::cmr_4tb();
    let span = off.capacity();
    near("cmr-4tb 4K WCE off, IOPS", Host::of(&off).random(Op::Write, 4 * KIB, span, 1, 100, 50_000), 264.0, 5.0);
    let mut host = Host::of(&off);
    let mut now = Nanos(0);
    for _ in 0..5_000 {
        let offset = host.random.random_range(0..span / 4096) * 4096;
        now = host.drive.submit_flagged(now, Op::Write, offset, 4096, true).unwrap();
    }
    near("cmr-4tb 4K synced to its place, IOPS", 5_000.0 / now.as_secs_f64(), 96.0, 5.0);
}

#[test]
fn a_synced_write_with_the_cache_on_costs_a_write_and_its_flush_no_more() {
    let mut on = preset::cmr_4tb();
    if let Inside::Disk { cache, .. } = &mut on.inside {
        cache.write_back = true;
    }
    let mut host = Host::of(&on);
    for _ in 0..5_000 {
        let offset = host.random.random_range(0..on.capacity() / 4096) * 4096;
        host.io(Op::Write, offset, 4096, 1);
        host.io(Op::Flush { data_only: false }, 0, 0, 1);
    }
    host.wait();
    near("cmr-4tb 4K WCE on and flushed, IOPS", 5_000.0 / host.now.as_secs_f64(), 96.0, 5.0);
}

#[test]
fn the_conventional_14_tb_writes_seven_times_as_often_as_its_head_reads() {
    let preset = preset::cmr_14tb();
    let rate = |op| Host::of(&preset).random(op, 4 * KIB, preset.capacity(), 1, 1_000, 20_000);
    near("cmr-14tb rho, 4K QD1", rate(Op::Write) / rate(Op::Read), 7.4, 13.0);
}

#[test]
fn the_conventional_24_tb_does_what_its_data_sheet_says_with_its_cache_on_or_off() {
    for write_back in [true, false] {
        let mut preset = preset::cmr_24tb();
        if let Inside::Disk { cache, .. } = &mut preset.inside {
            cache.write_back = write_back;
        }
        let rate = |op, skipped| Host::of(&preset).random(op, 4 * KIB, preset.capacity(), 32, skipped, 30_000);
        let what = |rw: &str| format!("cmr-24tb 4K {rw} QD32, WCE {}, IOPS", u8::from(write_back));
        near(&what("read"), rate(Op::Read, 100), 212.0, 5.0);
        near(&what("write"), rate(Op::Write, 1_000), 565.0, 5.0);
    }
}

#[test]
fn after_its_cliff_the_host_aware_disk_spreads_as_published() {
    let preset = preset::ha_8tb();
    let mut host = Host::of(&preset);
    host.random(Op::Write, MIB, preset.capacity(), 64, 0, 29_000);
    // Quartiles of what is read every few seconds, as fio logs it.
    let mut rates: Vec<f64> = (0..200).map(|_| host.random(Op::Write, MIB, preset.capacity(), 64, 0, 8)).collect();
    rates.sort_by(f64::total_cmp);
    for (what, nth, published) in [("25", 50, 5.8), ("50", 100, 6.34), ("75", 150, 6.82)] {
        near(&format!("ha-8tb 1M QD64 after, p{what}, MiB/s"), rates[nth], published, 15.0);
    }
}

#[test]
fn the_fast_cells_of_an_ssd_are_full_after_as_much_as_they_hold() {
    let preset = preset::ssd_1tb();
    let mut host = Host::of(&preset);
    let fast = host.sequential(Op::Write, MIB, 0, GIB, 8);
    let mut written = GIB;
    while host.sequential(Op::Write, MIB, written, GIB / 4, 8) > 0.8 * fast {
        written += GIB / 4;
    }
    near("ssd-1tb fill, fast for, GB (syn)", f64_of(written) / 1e9, 30.0, 20.0);
    let reads = host.random(Op::Read, 4 * KIB, preset.capacity(), 1, 10, 5_000);
    assert!(reads > 1_000.0, "a read takes under a millisecond: {reads}");
}

#[test]
fn an_ssd_reads_without_moving_and_slows_down_only_some() {
    let preset = preset::ssd_1tb();
    let mut host = Host::of(&preset);
    let reads = host.random(Op::Read, 4 * KIB, preset.capacity(), 1, 10, 5_000);
    assert!(reads > 5_000.0, "{reads}");
    let fresh = host.random(Op::Write, MIB, preset.capacity(), 8, 100, 2_000);
    let full = host.random(Op::Write, MIB, preset.capacity(), 8, 40_000, 2_000);
    near("ssd-1tb 1M sustained, MiB/s", full, 370.0, 5.0);
    assert!(fresh / full > 1.2 && fresh / full < 6.0, "{fresh} {full}");
}

/// Writes a region in order, scatters `count` blocks over it, and reads it in order before and after, MB/s.
fn reread(preset: &Preset, count: u64) -> (f64, f64) {
    let mut host = Host::of(preset);
    let start = preset.capacity() / 2 / MIB * MIB;
    host.sequential(Op::Write, MIB, start, 256 * MIB, 1);
    let before = host.sequential(Op::Read, MIB, start, 256 * MIB, 1);
    for _ in 0..count {
        let offset = start + host.random.random_range(0..256 * MIB / 4096) * 4096;
        host.io(Op::Write, offset, 4096, 8);
    }
    (before, host.sequential(Op::Read, MIB, start, 256 * MIB, 1))
}

#[test]
fn scattered_blocks_read_back_from_home_on_a_conventional_disk_and_not_on_a_shingled_one() {
    let (before, after) = reread(&preset::cmr_14tb(), 4_096);
    println!("cmr-14tb re-read {before:.1} -> {after:.1} MB/s");
    assert!(after / before > 0.7, "{before} {after}");
    let (before, after) = reread(&preset::dm_14tb(), 4_096);
    println!("dm-14tb re-read {before:.1} -> {after:.1} MB/s");
    assert!(before > 50.0 && after / before < 0.1, "{before} {after}");
}

#[test]
fn a_narrow_range_of_a_shingled_disk_cleans_more_blocks_at_once() {
    let Inside::Disk { translation, .. } = preset::dm_8tb().inside else { panic!("a disk") };
    let super::translation::TranslationParams::CachedStl(params) = translation else { panic!("shingled") };
    let mut small = preset::dm_8tb();
    if let Inside::Disk { translation, .. } = &mut small.inside {
        let params = super::translation::CachedStlParams { map_entries: 20_000, ..params };
        *translation = super::translation::TranslationParams::CachedStl(params);
    }
    let capacity = small.capacity();
    let wide = Host::of(&small).random(Op::Write, 4 * KIB, capacity, 8, 25_000, 2_000);
    let narrow = Host::of(&small).random(Op::Write, 4 * KIB, 20 * GIB, 8, 25_000, 20_000);
    assert!(narrow > 5.0 * wide, "{narrow} {wide}");
}

/// Writes of `bs` at the pointers of `count` zones spread over the drive, chosen at random, MiB/s.
fn random_zones(preset: &Preset, bs: u64, count: u64, depth: usize, ios: u64) -> f64 {
    let zones = preset.zones.unwrap();
    let usable = preset.capacity() / zones.zone_bytes - zones.conventional;
    let mut pointers: Vec<u64> =
        (0..count).map(|nth| (zones.conventional + nth * (usable / count)) * zones.zone_bytes).collect();
    let mut host = Host::of(preset);
    for _ in 0..ios {
        let zone = host.random.random_range(0..pointers.len());
        host.io(Op::Write, pointers[zone], bs, depth);
        pointers[zone] += bs;
    }
    f64_of(ios * bs) / host.now.as_secs_f64() / f64_of(MIB)
}

#[test]
fn the_host_managed_15_tb_writes_and_reads_its_zones_as_published() {
    let preset = preset::hm_15tb();
    let first = 524 * 256 * MIB;
    let mib = |mb: f64| mb * 1e6 / f64_of(MIB);
    let in_order = mib(Host::of(&preset).sequential(Op::Write, 256 * KIB, first, 2 * GIB, 8));
    near("hm-15tb 256K QD8 in order, MiB/s", in_order, 236.0, 10.0);
    let empty = mib(Host::of(&preset).sequential(Op::Read, 256 * KIB, first, GIB, 8));
    near("hm-15tb 256K QD8 reads of empty zones, MiB/s", empty, 353.0, 10.0);
    // fio keeps 128 zones open at most there, as the drive does.
    near(
        "hm-15tb 256K 4 x QD4 into zones at random, MiB/s",
        random_zones(&preset, 256 * KIB, 120, 16, 5_000),
        40.0,
        10.0,
    );
}

#[test]
fn the_zns_ssd_writes_its_zones_as_published() {
    let preset = preset::zns_1tb();
    near("zns-1tb 128K into 14 zones, MiB/s", random_zones(&preset, 128 * KIB, 14, 14, 60_000), 1_894.0, 10.0);
}

/// Seconds to write 1 GiB in order, 1 MiB at a time, to a zone after the other; with OPEN and CLOSE for each if asked.
fn four_zones(preset: &Preset, explicit: bool) -> f64 {
    let mut host = Host::of(preset);
    for zone in 64..68 {
        let start = zone * 256 * MIB;
        let manage = |host: &mut Host, op| {
            host.now = host.drive.submit(host.now, Op::Zone(op), start, 0).unwrap();
        };
        if explicit {
            manage(&mut host, ZoneOp::Open);
        }
        host.sequential(Op::Write, MIB, start, 255 * MIB, 1);
        if explicit {
            manage(&mut host, ZoneOp::Close);
        }
        host.io(Op::Write, start + 255 * MIB, MIB, 1);
    }
    host.now.as_secs_f64()
}

#[test]
fn opening_and_closing_each_zone_costs_the_host_aware_disk_five_times_the_time() {
    // ceph-devel: 1 GB in 7 s plainly and in 34 s zone by zone.
    let preset = preset::ha_8tb();
    let (plain, explicit) = (four_zones(&preset, false), four_zones(&preset, true));
    near("ha-8tb 1 GiB zone by zone against plainly", explicit / plain, 34.0 / 7.0, 30.0);
}
