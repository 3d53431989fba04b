//! Made-up values for the tests of this room.

use serde_json::{Value, json};
use uuid::Uuid;

use super::active::Active;
use crate::model::drive::Host;
use crate::model::histogram::Precision;
use crate::model::interval::{Interval, Tally};
use crate::model::options::RunOptions;
use crate::model::plan::Plan;
use crate::model::profile::{Pace, Profile, Target, build};
use crate::model::run::{Life, Progress, Run, RunId, RunState};
use crate::model::surroundings::Surroundings;
use crate::model::units::{Bytes, Nanos};
use crate::sim;

/// A run of one phase, 1000 writes of 4 KiB on a simulated drive, that waits for its turn.
pub fn accepted() -> Active {
    let drive = sim::fleet().remove(0);
    let Value::Object(parameters) = json!({ "rw": "randwrite", "number_ios": 1000 }) else { panic!("an object") };
    let target = Target { capacity: drive.capacity_bytes, logical_block: 512, pace: Pace::DISK, zones: None };
    let built = build(Profile::Custom, &parameters, target).unwrap();
    let plan = Plan {
        profile: Profile::Custom,
        drive: drive.id,
        path: drive.path.clone(),
        destructive: true,
        bytes_to_write: None,
        estimated_s: 4,
        offset_bytes: built.offset,
        size_bytes: built.size,
        interval_ms: built.interval_ms,
        randseed: built.randseed,
        losses: Vec::new(),
        confirm_phrase: drive.confirm_phrase(),
        notes: Vec::new(),
        tunables: std::collections::BTreeMap::new(),
        phases: built.phases,
    };
    let run = Run {
        id: RunId::generate(),
        drive: drive.id,
        drive_title: drive.title(),
        simulated: true,
        profile: Profile::Custom,
        plan,
        state: RunState::Queued,
        stalled: false,
        created_at_ms: 0,
        started_at_ms: None,
        ended_at_ms: None,
        stop_reason: None,
        engine: None,
        host: Host { id: Uuid::nil(), name: "test".to_owned(), kernel: "6.1".to_owned() },
        progress: Progress::default(),
        phases: Vec::new(),
        verdict: None,
        estimates: Vec::new(),
        options: RunOptions::default(),
        life: Life::default(),
        surroundings: Surroundings::default(),
    };
    Active::new(run, drive, None)
}

/// The interval that ends at this second, with so many writes of 4 KiB.
pub fn written(second: u64, ios: u64) -> Interval {
    let mut write = Tally::new(Precision::Interval);
    for _ in 0..ios {
        write.record(Bytes(4096), Nanos::from_millis(10));
    }
    Interval { write, ..Interval::empty(second, 0, Nanos::from_secs(second), Nanos::from_secs(1)) }
}
