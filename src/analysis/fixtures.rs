//! Drives, plans and samples made by hand, for the tests of this room.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::model::drive::{
    BlockDeviceCharacteristics, Declared, DeviceKind, Drive, DriveId, Identity, IdentityBasis, QueueLimits, Reading,
    Rotation, Transport, Unknown, ZonedField,
};
use crate::model::interval::{Sample, SampleTally};
use crate::model::page::Pages;
use crate::model::plan::Plan;
use crate::model::profile::{Pace, Profile, Target, build};
use crate::model::recording::Recording;
use crate::model::{Bytes, Nanos};

/// The disk of the fio list (2020): 14 TB, says 5400 rpm and ZONED 0.
pub fn drive() -> Drive {
    let mut declared = Declared::nothing(&Unknown::Absent);
    declared.vpd_b1 = Reading::Known(BlockDeviceCharacteristics {
        rotation: Rotation::Rpm(5400),
        form_factor: 2,
        zoned: Some(ZonedField::NotReported),
    });
    Drive {
        id: DriveId::from_identity("test"),
        name: "sdx".to_owned(),
        path: PathBuf::from("/dev/sdx"),
        paths: vec![PathBuf::from("/dev/sdx")],
        kind: DeviceKind::Disk,
        transport: Transport::Sata,
        simulated: false,
        vendor: Some("WDC".to_owned()),
        model: Some("WD140EMFZ".to_owned()),
        serial: Some("T1".to_owned()),
        firmware: None,
        wwn: None,
        array: None,
        identity: Identity { basis: IdentityBasis::ModelSerial, key: "test".to_owned(), unique: true, note: None },
        capacity_bytes: Bytes(14_000_519_643_136),
        logical_block_bytes: 512,
        physical_block_bytes: Some(4096),
        rotational: Some(true),
        rotation_rpm: None,
        temperature_celsius: None,
        removable: false,
        read_only: false,
        limits: QueueLimits::default(),
        partitions: Vec::new(),
        usage: Vec::new(),
        declared,
        facts: Vec::new(),
        disagreements: Vec::new(),
        pages: Pages::default(),
        recording: Recording::unexamined(),
    }
}

/// The plan of `profile` for [`drive`].
pub fn plan(profile: Profile, parameters: Value) -> Plan {
    let Value::Object(parameters) = parameters else { panic!("an object") };
    planned(profile, &parameters, drive().capacity_bytes)
}

fn planned(profile: Profile, parameters: &Map<String, Value>, capacity: Bytes) -> Plan {
    let built =
        build(profile, parameters, Target { capacity, logical_block: 512, pace: Pace::DISK, zones: None }).unwrap();
    Plan {
        profile,
        drive: drive().id,
        path: drive().path,
        destructive: true,
        bytes_to_write: None,
        estimated_s: 0,
        phases: built.phases,
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: built.interval_ms,
        randseed: built.randseed,
        losses: Vec::new(),
        confirm_phrase: None,
        notes: Vec::new(),
        tunables: std::collections::BTreeMap::new(),
    }
}

/// Samples made one after another.
#[derive(Default)]
pub struct Tape {
    pub samples: Vec<Sample>,
    t: Nanos,
}

impl Tape {
    /// `seconds` seconds of phase `phase` at `ios` per second of `bs` bytes; latency `p50_us`.
    pub fn writes(&mut self, phase: usize, seconds: u64, ios: u64, bs: u64, p50_us: u64) -> &mut Self {
        self.push(phase, seconds, (0, ios), bs, p50_us)
    }

    /// The same of reads.
    pub fn reads(&mut self, phase: usize, seconds: u64, ios: u64, bs: u64, p50_us: u64) -> &mut Self {
        self.push(phase, seconds, (ios, 0), bs, p50_us)
    }

    /// `seconds` seconds of writes at a rate that is no whole number, as published figures are; a failed or stalled second has none.
    pub fn writes_at(&mut self, phase: usize, seconds: u64, per_s: f64, bs: u64) -> &mut Self {
        let mut due = 0.0;
        for _ in 0..seconds {
            due += per_s;
            let ios = crate::model::approx::u64_of(due - 0.5);
            due -= crate::model::approx::f64_of(ios);
            let p50_us = crate::model::approx::u64_of(1e6 / per_s);
            self.second(phase, (0, ios), bs, p50_us);
        }
        self
    }

    fn push(&mut self, phase: usize, seconds: u64, (reads, writes): (u64, u64), bs: u64, p50_us: u64) -> &mut Self {
        for second in 0..seconds {
            // A little unrest, as in any real drive.
            let restless = |ios: u64| if ios > 20 { ios + ios * (second % 5) / 50 - ios / 25 } else { ios };
            self.second(phase, (restless(reads), restless(writes)), bs, p50_us);
        }
        self
    }

    fn second(&mut self, phase: usize, (reads, writes): (u64, u64), bs: u64, p50_us: u64) {
        let tally = |ios: u64| {
            let p50 = Nanos(p50_us * 1_000);
            if ios == 0 {
                SampleTally::default()
            } else {
                SampleTally { ios, bytes: Bytes(ios * bs), p50, p99: p50, max: p50 }
            }
        };
        self.t = self.t + Nanos::from_secs(1);
        self.samples.push(Sample {
            seq: u64::try_from(self.samples.len()).unwrap() + 1,
            phase: u32::try_from(phase).unwrap(),
            t: self.t,
            duration: Nanos::from_secs(1),
            read: tally(reads),
            write: tally(writes),
            errors: 0,
            ramp: false,
            spoilt: false,
        });
    }
}
