//! Made-up values for tests of pages.

use std::path::PathBuf;

use serde_json::Map;
use uuid::Uuid;

use crate::model::approx::{f64_of, u64_of};
use crate::model::conditions::{Change, Condition, Conditions};
use crate::model::drive::{
    BlockDeviceCharacteristics, Content, Declared, DeviceKind, Drive, DriveId, Fact, Host, Identity, IdentityBasis,
    Inventory, LeftOut, Partition, QueueLimits, Reading, Rotation, Transport, Unknown, Usage, ZonedField,
};
use crate::model::estimate::{Estimate, Quantity};
use crate::model::histogram::Precision;
use crate::model::interval::{Interval, Tally};
use crate::model::options::RunOptions;
use crate::model::page::Pages;
use crate::model::plan::{Action, Phase, Plan};
use crate::model::profile::{Pace, Profile, Target, build};
use crate::model::recording::{Basis, Evidence, Points, Recording, RecordingState};
use crate::model::run::{Life, PhaseOutcome, Progress, Run, RunId, RunState, StopReason};
use crate::model::seen::PhaseSeen;
use crate::model::split::{Fate, Limit, LimitOwner, Split};
use crate::model::suitability::{Duration, Grade, Ground, Judgement, Pool, Suitability, Use};
use crate::model::surroundings::{KernelLine, Surroundings, Temperature};
use crate::model::tunable::{Tunable, WRITE_BACK, WRITE_THROUGH};
use crate::model::{Bytes, Nanos};

/// The present of all samples: 2026-11-30 18:30 UTC.
pub const NOW_MS: i64 = 1_796_063_400_000;

pub fn host() -> Host {
    Host { id: Uuid::from_u128(7), name: "bench-3".to_owned(), kernel: "6.18.2".to_owned() }
}

pub fn evidence(name: &str, basis: Basis, value: &str, points: Points, weight: f64) -> Evidence {
    Evidence {
        name: name.to_owned(),
        basis,
        value: value.to_owned(),
        number: None,
        unit: None,
        source: match basis {
            Basis::Measured => "phases random-4k, floor-qd8".to_owned(),
            _ => "/sys/block/sdb/device/vpd_pgb1 byte 8 bits 5:4".to_owned(),
        },
        if_conventional: Some("0, or the page is absent".to_owned()),
        if_shingled: Some("1 or 2; many drive-managed disks say 0".to_owned()),
        points,
        weight,
    }
}

pub fn recording(state: RecordingState, basis: Basis, confidence: f64, sentence: &str) -> Recording {
    Recording { state, basis, confidence, sentence: sentence.to_owned(), evidence: Vec::new() }
}

/// One use of each grade, with all that a judgement may have.
pub fn suitability() -> Suitability {
    let grades = [Grade::Suitable, Grade::WithCare, Grade::Unsuitable, Grade::NotKnown];
    let judged = |grade| Judgement {
        purpose: Use::RaidzResilver,
        grade,
        sentence: "A resilver takes <b>about</b> 9 d.".to_owned(),
        estimate: Some(Duration { value_s: 777_600.0, low_s: 500_000.0, high_s: 1e6 }),
        reasoning: Some("4.8 TB to write: 81 % of it in order.".to_owned()),
        because: vec![
            Ground { text: "Drive-managed SMR (measured)".to_owned(), run: None },
            Ground { text: "random writes of 4 KiB: 12.5 a second".to_owned(), run: Some(RunId(Uuid::from_u128(3))) },
        ],
        missing: vec!["Reads in order, all of it: not measured; run inspect".to_owned()],
    };
    Suitability { pool: Pool::default(), uses: grades.map(judged).to_vec(), limits: figures() }
}

/// Figures as of a shingled disk; one with an open end, and text that wants to be markup.
pub fn figures() -> Vec<Estimate> {
    let cliff = Estimate::new(Quantity::CliffIos, (368_795.0, 366_000.0, 370_000.0), "Best split of ln(rate).");
    let cliff = cliff.map(|figure| figure.of("random writes of 4 KiB, 8 at a time").at(Bytes(4096), 8));
    let trigger = Estimate::bounded(Quantity::IdleTriggerS, 120.0, Some(120.0), None, "Nothing was <i>cleaned</i>.");
    let figures = [cliff, trigger].into_iter().flatten();
    figures.map(|figure| figure.from_phases(["random-4k"])).collect()
}

pub fn shingled() -> Recording {
    let mut answer = recording(
        RecordingState::DriveManaged,
        Basis::Measured,
        0.97,
        "This drive is shingled and does not say so: after 1.4 GiB of small writes its rate fell from 2 710 to 5 \
         writes per second.",
    );
    let mut cliff =
        evidence("cliff", Basis::Measured, "2 710 → 5 IOPS after 368 795 writes (1.4 GiB)", Points::Shingled, 0.9);
    cliff.if_conventional = Some("no lasting step, or down to about the floor".to_owned());
    cliff.if_shingled = Some("a step down by a factor of 10 to 500 that stays".to_owned());
    let mut rho = evidence("rho", Basis::Measured, "0.02 (5 IOPS of a floor of 310)", Points::Shingled, 0.9);
    rho.if_conventional = Some("0.8 or more".to_owned());
    rho.if_shingled = Some("0.3 or less".to_owned());
    answer.evidence = vec![
        cliff,
        rho,
        evidence("vpd-b1-zoned", Basis::Declared, "0, not reported", Points::Neither, 0.0),
        evidence("trim", Basis::Declared, "takes TRIM although it rotates", Points::Shingled, 0.2),
    ];
    answer
}

pub fn drive(name: &str, model: &str, serial: Option<&str>) -> Drive {
    let mut declared = Declared::nothing(&Unknown::Absent);
    declared.vpd_b1 = Reading::Known(BlockDeviceCharacteristics {
        rotation: Rotation::Rpm(5400),
        form_factor: 2,
        zoned: Some(ZonedField::NotReported),
    });
    Drive {
        id: DriveId::from_identity(&format!("{model}/{serial:?}/{name}")),
        name: name.to_owned(),
        path: PathBuf::from(format!("/dev/{name}")),
        paths: vec![PathBuf::from(format!("/dev/{name}"))],
        kind: DeviceKind::Disk,
        transport: Transport::Sata,
        simulated: false,
        vendor: Some("WDC".to_owned()),
        model: Some(model.to_owned()),
        serial: serial.map(str::to_owned),
        firmware: Some("82.00A82".to_owned()),
        wwn: Some("naa.50014ee2bd1f7a90".to_owned()),
        array: None,
        identity: Identity {
            basis: IdentityBasis::Wwn,
            key: "wwn:naa.50014ee2bd1f7a90".to_owned(),
            unique: true,
            note: None,
        },
        capacity_bytes: Bytes(4_000_787_030_016),
        logical_block_bytes: 512,
        physical_block_bytes: Some(4096),
        rotational: Some(true),
        rotation_rpm: Some(5400),
        temperature_celsius: None,
        removable: false,
        read_only: false,
        limits: QueueLimits {
            max_hw_sectors_kb: Some(32_767),
            max_sectors_kb: Some(1_280),
            max_segments: Some(168),
            max_segment_size_bytes: Some(65_536),
            nr_requests: Some(32),
            discard_max_bytes: Some(2_147_450_880),
            zoned: Some("none".to_owned()),
            write_cache: Some("write back".to_owned()),
            fua: Some(false),
            scheduler: Some("mq-deadline".to_owned()),
            timeout_s: Some(30),
            ..QueueLimits::default()
        },
        partitions: Vec::new(),
        usage: Vec::new(),
        declared,
        facts: facts(),
        disagreements: Vec::new(),
        pages: Pages::default(),
        recording: recording(
            RecordingState::NotReported,
            Basis::None,
            0.0,
            "The drive does not say how it records, and nothing has been measured.",
        ),
    }
}

fn facts() -> Vec<Fact> {
    let known = |name: &str, value: &str, source: &str| Fact {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        unknown: None,
        source: source.to_owned(),
        remedy: None,
    };
    vec![
        known("vpd-b1/zoned", "0, not reported", "/sys/block/sdb/device/vpd_pgb1 byte 8 bits 5:4"),
        known("vpd-b1/rotation-rate", "5400 rpm", "/sys/block/sdb/device/vpd_pgb1 bytes 4-5"),
        known("queue/zoned", "none", "/sys/block/sdb/queue/zoned"),
        known("queue/discard_max_bytes", "2147450880", "/sys/block/sdb/queue/discard_max_bytes"),
        Fact {
            name: "ata-identify/zoned".to_owned(),
            value: None,
            unknown: Some(Unknown::NotPermitted),
            source: "SG_IO ATA IDENTIFY word 69 bits 1:0".to_owned(),
            remedy: Some("run the service with CAP_SYS_RAWIO".to_owned()),
        },
        Fact {
            name: "scsi_disk/zoned_cap".to_owned(),
            value: None,
            unknown: Some(Unknown::Absent),
            source: "/sys/block/sdb/device/scsi_disk/1:0:0:0/zoned_cap".to_owned(),
            remedy: Some("Linux 5.8 or newer".to_owned()),
        },
    ]
}

/// A drive that tries to be a page.
pub fn evil_drive() -> Drive {
    let mut evil = drive("sdx", "<script>alert(1)</script>", Some("\"><img src=x onerror=alert(2)>"));
    evil.recording.sentence = "<b>bold</b> & 'quoted'".to_owned();
    evil.recording.evidence = vec![evidence("<i>", Basis::Declared, "<u>", Points::Neither, 0.1)];
    evil.usage = vec![Usage::Mounted {
        device: "sdx".to_owned(),
        mount_point: "/mnt/<script>x</script>".to_owned(),
        fs_type: "ext4".to_owned(),
    }];
    evil
}

/// One drive of every sort.
pub fn fleet() -> Vec<Drive> {
    let mut hidden = drive("sdb", "WDC WD40EFAX-68JH4N1", Some("WD-WX42D80F1C7T"));
    hidden.recording = shingled();

    let mut usb = drive("sdc", "WDC WD140EMFZ-11A0WA0", Some("9LG5T3NA"));
    usb.transport = Transport::Usb;
    usb.capacity_bytes = Bytes(14_000_519_643_136);
    usb.partitions = vec![
        Partition { name: "sdc1".to_owned(), start_bytes: Bytes(1 << 20), size_bytes: Bytes(8_000_000_000_000) },
        Partition {
            name: "sdc2".to_owned(),
            start_bytes: Bytes(8_000_001_048_576),
            size_bytes: Bytes(6_000_000_000_000),
        },
    ];
    usb.usage = vec![
        Usage::Mounted { device: "sdc1".to_owned(), mount_point: "/srv/backup".to_owned(), fs_type: "xfs".to_owned() },
        Usage::Member { device: "sdc2".to_owned(), of: "ZFS pool member “tank”".to_owned() },
    ];

    let mut managed = drive("sdd", "HGST HSH721415ALN6M0", Some("VAHD3A1L"));
    managed.transport = Transport::Sas;
    managed.capacity_bytes = Bytes(15_000_000_000_000);
    managed.declared.device_type = Reading::Known(0x14);
    managed.limits.zoned = Some("host-managed".to_owned());
    managed.limits.nr_zones = Some(55_880);
    managed.limits.chunk_bytes = Some(1 << 28);
    managed.limits.max_open_zones = Some(128);
    managed.recording = recording(
        RecordingState::HostManaged,
        Basis::Declared,
        1.0,
        "Shingled, and says so: it takes writes only at the write pointers of its zones.",
    );

    let mut cmr = drive("sde", "HUS726040ALE614", Some("K7GK2W3L"));
    cmr.recording = recording(
        RecordingState::Cmr,
        Basis::Measured,
        0.86,
        "Conventional: 600 000 small writes did not slow it down, and scattered blocks read back from their own place.",
    );
    let mut open = drive("sdf", "ST4000VN008-2DR166", Some("ZGY8W5KX"));
    open.recording = recording(
        RecordingState::NotShown,
        Basis::Measured,
        0.55,
        "No shingling showed within 600 000 small writes and 64 GiB of large ones over the whole drive.",
    );
    let mut split = drive("sdg", "TOSHIBA HDWD320", None);
    split.identity.basis = IdentityBasis::Path;
    split.identity.unique = false;
    split.identity.note = Some("the bridge reports no serial number".to_owned());
    split.recording = recording(
        RecordingState::Undecided,
        Basis::Measured,
        0.3,
        "The rate fell once, but another process was using the drive at that time.",
    );
    let mut silent = drive("sdh", "Generic USB Bridge", None);
    silent.transport = Transport::Usb;
    silent.declared = Declared::nothing(&Unknown::NotPermitted);
    silent.rotation_rpm = None;
    silent.recording =
        recording(RecordingState::NotReadable, Basis::None, 0.0, "The USB bridge does not pass the question on.");

    let mut ssd = drive("nvme0n1", "Samsung SSD 990 PRO 2TB", Some("S7KHNJ0X123456"));
    ssd.kind = DeviceKind::NvmeNamespace;
    ssd.transport = Transport::Nvme;
    ssd.capacity_bytes = Bytes(2_000_398_934_016);
    ssd.rotation_rpm = None;
    ssd.usage = vec![
        Usage::Mounted { device: "nvme0n1p2".to_owned(), mount_point: "/".to_owned(), fs_type: "ext4".to_owned() },
        Usage::Swap { device: "nvme0n1p3".to_owned() },
    ];
    ssd.recording = recording(RecordingState::Ssd, Basis::Declared, 0.95, "Flash: it says that nothing rotates.");

    let mut fleet = vec![hidden, usb, managed, cmr, open, split, silent, ssd];
    fleet.extend([simulated("dm-barracuda-8tb", "ST8000DM004"), simulated("zns-ssd", "ZN540-like")]);
    fleet
}

fn simulated(name: &str, model: &str) -> Drive {
    let mut drive = drive(name, model, Some(&format!("SIM-{name}")));
    drive.kind = DeviceKind::Simulated;
    drive.transport = Transport::Simulated;
    drive.simulated = true;
    drive.path = PathBuf::from(format!("sim:{name}"));
    drive.identity.basis = IdentityBasis::Simulated;
    if name == "zns-ssd" {
        drive.rotation_rpm = None;
        drive.recording =
            recording(RecordingState::Zns, Basis::Declared, 1.0, "A zoned SSD: NVMe Zoned Namespaces, and says so.");
    }
    drive
}

pub fn inventory(drives: Vec<Drive>) -> Inventory {
    let left_out = vec![
        LeftOut { name: "loop0".to_owned(), why: "it is not bound to a file".to_owned() },
        LeftOut { name: "sr0".to_owned(), why: "no medium is in it".to_owned() },
    ];
    Inventory { host: host(), scanned_at_ms: NOW_MS - 125_000, drives, left_out }
}

pub fn plan(drive: &Drive, profile: Profile) -> Plan {
    let mut given = Map::new();
    if profile == Profile::Custom {
        given.insert("rw".to_owned(), "randrw".into());
        given.insert("runtime_s".to_owned(), 600.into());
    }
    if profile == Profile::Replay {
        given.insert("log".to_owned(), "fio version 2 iolog\nf write 0 4096\n".into());
    }
    let target = Target {
        capacity: drive.capacity_bytes,
        logical_block: drive.logical_block_bytes,
        pace: Pace::DISK,
        zones: None,
    };
    let built = build(profile, &given, target).unwrap();
    let destructive = built.phases.iter().any(Phase::destroys);
    let losses = vec![
        Content { device: drive.name.clone(), what: "GPT partition table".to_owned(), label: None },
        Content {
            device: format!("{}1", drive.name),
            what: "ext4 filesystem (4.0 TB)".to_owned(),
            label: Some("photos".to_owned()),
        },
    ];
    Plan {
        profile,
        drive: drive.id,
        path: drive.path.clone(),
        destructive,
        bytes_to_write: built.phases.iter().map(|phase| phase.bytes_to_write).sum::<Option<Bytes>>(),
        estimated_s: built.phases.iter().map(|phase| phase.estimated_s).sum(),
        phases: built.phases,
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: built.interval_ms,
        randseed: built.randseed,
        losses: if destructive { losses } else { Vec::new() },
        confirm_phrase: if destructive { drive.confirm_phrase() } else { None },
        notes: vec!["USB passes one request at a time: queue depths above 1 will not be faster.".to_owned()],
        tunables: std::collections::BTreeMap::new(),
    }
}

/// A run of `profile` that has come through `phases_done` phases (all of them: it is finished).
pub fn run(drive: &Drive, profile: Profile, phases_done: usize) -> Run {
    let plan = plan(drive, profile);
    let done = phases_done >= plan.phases.len();
    let mut t_ms = 0;
    let mut phases = Vec::new();
    for (index, phase) in plan.phases.iter().enumerate().take(phases_done + 1) {
        let left_out = phase.gate == crate::model::plan::Gate::UnlessCliff;
        let length = phase.estimated_s * 1_000;
        phases.push(PhaseOutcome {
            phase: u32::try_from(index).unwrap(),
            started_t_ms: (!left_out).then_some(t_ms),
            ended_t_ms: (!left_out && index < phases_done).then_some(t_ms + length),
            ended_by: if left_out {
                Some("left out: the collapse had shown before".to_owned())
            } else {
                (index < phases_done).then(|| "its time was over".to_owned())
            },
            seen: (!left_out).then(|| Box::new(seen())),
        });
        if !left_out {
            t_ms += if index < phases_done { length } else { length / 3 };
        }
    }
    let fraction = if done { 1.0 } else { f64_of(t_ms) / 1e3 / f64_of(plan.estimated_s.max(1)) };
    Run {
        id: RunId(Uuid::from_u128(0x0193_7f00_0000_7000_8000_0000_0000_0001)),
        drive: drive.id,
        drive_title: drive.title(),
        simulated: drive.simulated,
        profile,
        state: if done { RunState::Finished } else { RunState::Running },
        stalled: false,
        created_at_ms: NOW_MS - 4_000_000,
        started_at_ms: Some(NOW_MS - 3_990_000),
        ended_at_ms: done.then_some(NOW_MS - 300_000),
        stop_reason: done.then_some(StopReason::Completed),
        engine: Some("io_uring".to_owned()),
        host: host(),
        progress: Progress {
            fraction,
            phase: u32::try_from(phases_done.min(plan.phases.len() - 1)).unwrap(),
            elapsed_s: f64_of(t_ms) / 1e3,
            remaining_s: (!done).then_some(f64_of(plan.estimated_s) - f64_of(t_ms) / 1e3),
            written_bytes: Bytes(1_510_600_000),
            read_bytes: Bytes(84_300_000),
            last_seq: t_ms / 1_000,
        },
        phases,
        surroundings: surroundings(),
        verdict: (done && profile == Profile::SmrQuick).then(shingled),
        estimates: if done { figures() } else { Vec::new() },
        plan,
        options: RunOptions::default(),
        life: Life::default(),
    }
}

/// What was seen of a phase whose requests were split.
fn seen() -> PhaseSeen {
    let mut seen = PhaseSeen {
        intervals: 60,
        spoilt_intervals: 2,
        asked_ios: 100,
        asked_bytes: Bytes(100 << 20),
        device_intervals: 60,
        device_ios: 400,
        device_bytes: Bytes(100 << 20),
        device_queue_ms: 3_100,
        ..PhaseSeen::default()
    };
    seen.split = Some(Split {
        fate: Fate::Split,
        asked_mean_bytes: Bytes(1 << 20),
        device_mean_bytes: Bytes(256 << 10),
        parts: 4.0,
        limit: Some(Limit::MaxHwSectors),
        limit_bytes: Some(Bytes(256 << 10)),
        owner: Some(LimitOwner::Usb),
        sentence: "Requests of 1.0 MiB reached the device as 4 of 256.0 KiB each: max_hw_sectors_kb is 256.".to_owned(),
    });
    seen
}

/// Conditions, a temperature and a kernel's log that tries to be a page.
fn surroundings() -> Surroundings {
    let condition = |name: &str, value: Option<&str>| Condition {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        unknown: value.is_none().then(|| "this host or device has no such source".to_owned()),
        source: format!("/sys/block/sdb/{name}"),
    };
    let change = Change {
        tunable: Tunable::CacheType,
        path: "/sys/block/sdb/device/scsi_disk/1:0:0:0/cache_type".to_owned(),
        found: WRITE_BACK.to_owned(),
        wanted: vec![WRITE_THROUGH.to_owned()],
        set: Some(WRITE_THROUGH.to_owned()),
        restored: true,
        problem: None,
    };
    let conditions = Conditions {
        found: vec![condition("queue/scheduler", Some("none [mq-deadline]")), condition("queue/wbt_lat_usec", None)],
        changed: vec![change],
        ..Conditions::default()
    };
    let text = "blk_update_request: I/O error, dev sdb, sector <script>9</script>".to_owned();
    Surroundings {
        conditions: Some(Box::new(conditions)),
        temperature_celsius: Some(Temperature { latest: 38.0, max: 41.5 }),
        kernel_log: vec![KernelLine { t_us: 98_765_432, level: 3, text }],
        kernel_log_note: None,
    }
}

/// One interval a second of everything `run` has done.
pub fn intervals(run: &Run) -> Vec<Interval> {
    let mut intervals = Vec::new();
    let mut seed = 12_345_u64;
    for outcome in &run.phases {
        let Some(started) = outcome.started_t_ms else { continue };
        let ended = outcome.ended_t_ms.unwrap_or_else(|| u64_of(run.progress.elapsed_s * 1e3));
        let phase = &run.plan.phases[usize::try_from(outcome.phase).unwrap()];
        let seconds = (ended - started) / 1_000;
        for second in 0..seconds {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = 0.85 + f64_of(seed >> 44) / f64_of(1 << 20) * 0.3;
            let mut interval = empty(u64::try_from(intervals.len()).unwrap() + 1, outcome.phase);
            interval.t = Nanos::from_millis(started + (second + 1) * 1_000);
            if let Action::Io(workload) = &phase.action {
                // The last two fifths of a long random write are behind the cliff.
                let fallen = workload.rw.writes() && seconds > 300 && second * 5 > seconds * 3;
                let iops = if fallen { 6.0 } else { 60.0 * f64_of(u64::from(workload.iodepth)).sqrt() } * noise;
                let writes = workload.rw.writes();
                for _ in 0..u64_of(iops).min(40) {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let latency = Nanos(u64_of(1e9 / iops * (0.4 + f64_of(seed >> 44) / f64_of(1 << 20) * 1.4)));
                    let tally = if writes { &mut interval.write } else { &mut interval.read };
                    tally.record(workload.bs, latency);
                }
                let tally = if writes { &mut interval.write } else { &mut interval.read };
                tally.ios = u64_of(iops);
                tally.bytes = Bytes(tally.ios * workload.bs.0);
            }
            intervals.push(interval);
        }
    }
    intervals
}

fn empty(seq: u64, phase: u32) -> Interval {
    Interval::empty(seq, phase, Nanos(0), Nanos::from_secs(1))
}

/// The intervals of each phase as one.
pub fn totals(intervals: &[Interval]) -> Vec<Interval> {
    let mut totals: Vec<Interval> = Vec::new();
    for interval in intervals {
        if totals.last().is_none_or(|total| total.phase != interval.phase) {
            let mut total = empty(interval.seq, interval.phase);
            total.duration = Nanos(0);
            total.read = Tally::new(Precision::Phase);
            total.write = Tally::new(Precision::Phase);
            totals.push(total);
        }
        if let Some(total) = totals.last_mut() {
            total.read.merge(&interval.read);
            total.write.merge(&interval.write);
            total.duration = total.duration + interval.duration;
            total.t = interval.t;
        }
    }
    totals
}
