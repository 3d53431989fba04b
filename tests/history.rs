//! A drive's history follows the drive: to another name, and through a bridge, with a word about what changed.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;
mod tree;

use drivescope::device::scan;
use drivescope::model::Bytes;
use drivescope::model::drive::{Drive, Host};
use drivescope::model::history::history_notes;
use drivescope::model::options::RunOptions;
use drivescope::model::plan::Plan;
use drivescope::model::profile::Profile;
use drivescope::model::run::{Life, Progress, Run, RunId, RunState};
use drivescope::model::surroundings::Surroundings;
use drivescope::store::{RunFilter, Store};
use harness::{Service, scratch};
use tree::Tree;

/// 2026-11-30 in the afternoon.
const THEN_MS: i64 = 1_796_050_800_000;

fn drive(name: &str, wwn: &str, serial: &str, block: &str) -> Drive {
    let page = [&[0, 0x80, 0, u8::try_from(serial.len()).unwrap()], serial.as_bytes()].concat();
    let tree = Tree::new()
        .disk(name, "8:0")
        .file(&format!("/sys/block/{name}/device/wwid"), wwn)
        .file(&format!("/sys/block/{name}/device/model"), "ST8000NM0075\n")
        .file(&format!("/sys/block/{name}/device/vpd_pg80"), page)
        .file(&format!("/sys/block/{name}/queue/logical_block_size"), block);
    scan(&tree.root()).drives.remove(0)
}

fn run_on(drive: &Drive) -> Run {
    Run {
        id: RunId::generate(),
        drive: drive.id,
        drive_title: drive.title(),
        simulated: false,
        profile: Profile::Inspect,
        plan: Plan {
            profile: Profile::Inspect,
            drive: drive.id,
            path: drive.path.clone(),
            phases: Vec::new(),
            destructive: false,
            bytes_to_write: Some(Bytes(0)),
            estimated_s: 1,
            offset_bytes: Bytes(0),
            size_bytes: drive.capacity_bytes,
            interval_ms: 1000,
            randseed: 1,
            losses: Vec::new(),
            confirm_phrase: None,
            notes: Vec::new(),
            tunables: std::collections::BTreeMap::new(),
        },
        state: RunState::Finished,
        stalled: false,
        created_at_ms: THEN_MS,
        started_at_ms: None,
        ended_at_ms: None,
        stop_reason: None,
        engine: None,
        host: Host::default(),
        progress: Progress::default(),
        phases: Vec::new(),
        verdict: None,
        estimates: Vec::new(),
        options: RunOptions::default(),
        life: Life::default(),
        surroundings: Surroundings::default(),
    }
}

async fn probed(drive: &Drive) -> (tempfile::TempDir, Store, RunId) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("drivescope.db")).await.unwrap();
    store.remember_drive(drive, &Host::default(), THEN_MS).await.unwrap();
    let run = run_on(drive);
    store.insert_run(&run).await.unwrap();
    (dir, store, run.id)
}

const WWN: &str = "naa.5000c500a1b2c3d4\n";

#[tokio::test]
async fn a_drive_that_moves_from_sda_to_sdb_keeps_its_runs() {
    let before = drive("sda", WWN, "ZA1AAAAA", "512\n");
    let (_dir, store, run) = probed(&before).await;
    let after = drive("sdb", WWN, "ZA1AAAAA", "512\n");
    let runs = store.runs(RunFilter { drive: Some(after.id), limit: 10, ..RunFilter::default() }).await.unwrap();
    assert_eq!(runs.iter().map(|found| found.id).collect::<Vec<_>>(), [run]);
    assert!(history_notes(&store.forms(after.id).await.unwrap(), &after).is_empty(), "nothing has changed");
}

#[tokio::test]
async fn row_34_other_blocks_or_another_serial_under_the_same_name_are_told_with_the_day() {
    let before = drive("sda", WWN, "ZA1AAAAA", "512\n");
    let (_dir, store, _) = probed(&before).await;
    let after = drive("sdb", WWN, "BRIDGE77X", "4096\n");
    assert_eq!(before.id, after.id);
    let notes = history_notes(&store.forms(after.id).await.unwrap(), &after);
    assert_eq!(notes.len(), 1);
    for words in ["2026-11-30", "512", "4096", "ZA1AAAAA", "BRIDGE77X", "may not be comparable"] {
        assert!(notes[0].contains(words), "{words} in {}", notes[0]);
    }
    // A run in the new form does not wash the old one away.
    store.remember_drive(&after, &Host::default(), THEN_MS + 1).await.unwrap();
    assert_eq!(history_notes(&store.forms(after.id).await.unwrap(), &after), notes);
}

#[tokio::test]
async fn without_a_world_wide_name_a_rewritten_serial_is_honestly_another_drive() {
    let before = drive("sda", "", "ZA1AAAAA", "512\n");
    let (_dir, store, _) = probed(&before).await;
    let after = drive("sda", "", "BRIDGE77X", "512\n");
    assert_ne!(before.id, after.id);
    let runs = store.runs(RunFilter { drive: Some(after.id), limit: 10, ..RunFilter::default() }).await.unwrap();
    assert!(runs.is_empty());
}

#[test]
fn the_answer_for_one_drive_has_its_history_notes() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let drive = service.drive("sim-cmr-14tb");
    let answer = service.get(&format!("/api/v1/drives/{}", drive["id"].as_str().unwrap())).json();
    assert_eq!(answer["history_notes"], serde_json::json!([]));
    assert_eq!(answer["name"], "sim-cmr-14tb");
    assert_eq!(answer["paths"].as_array().map(Vec::len), Some(1));
}
