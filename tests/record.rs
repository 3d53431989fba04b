//! `drivescope record`: a recording gives the same drive, and no trace of its true names.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::fs;
use std::path::{Path, PathBuf};

use drivescope::device::{SysRoot, record, scan};
use drivescope::model::drive::{Drive, Inventory};
use harness::{LoopDevice, output, scratch};

const BINARY: &str = env!("CARGO_BIN_EXE_drivescope");

fn hosts() -> Vec<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts");
    let mut hosts: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    hosts.sort();
    hosts
}

/// Everything the inventory tells of a drive, with its names taken out.
fn without_names(drive: &Drive) -> String {
    let mut drive = drive.clone();
    drive.identity.key = String::new();
    drive.id = drivescope::model::drive::DriveId::from_identity("");
    let mut text = serde_json::to_string_pretty(&drive).unwrap();
    let backing =
        drive.facts.iter().find(|fact| fact.name.ends_with("backing_file")).and_then(|fact| fact.value.clone());
    let dm_name = drive.facts.iter().find(|fact| fact.name == "dm/name").and_then(|fact| fact.value.clone());
    // A serial number on the page that is not the drive's own (scsi_debug's IDENTIFY) shows nowhere.
    for name in [drive.serial, drive.wwn, backing, dm_name].into_iter().flatten() {
        text = text.replace(&format!("\"{name}\""), "\"NAME\"");
    }
    for fact in &drive.facts {
        if let (true, Some(value)) = (fact.name.contains("wwid") || fact.name.contains("serial"), &fact.value) {
            text = text.replace(&format!("\"{value}\""), "\"NAME\"");
        }
    }
    text
}

fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else {
            found.push((entry.clone(), fs::read(&entry).unwrap()));
        }
    }
    found
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Each pair of bytes exchanged, as IDENTIFY has its text.
fn swapped(text: &[u8]) -> Vec<u8> {
    text.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn assert_no_trace(dir: &Path, drive: &Drive, host: &str) {
    // A serial of two letters is in every file by chance; where it is looked up it is compared by the caller.
    let serial = drive.serial.as_deref().filter(|serial| serial.len() >= 6).unwrap_or("there is none");
    let wwn = drive.wwn.as_deref().and_then(|wwn| wwn.split_once('.')).map_or("it has no name", |(_, digits)| digits);
    let binary: Vec<u8> =
        (0..wwn.len() / 2).filter_map(|at| u8::from_str_radix(&wwn[2 * at..2 * at + 2], 16).ok()).collect();
    let mut traces = vec![serial.as_bytes().to_vec(), swapped(serial.as_bytes()), hex(serial.as_bytes()).into_bytes()];
    traces.extend([wwn.as_bytes().to_vec(), wwn.to_ascii_uppercase().into_bytes()]);
    if binary.len() >= 8 {
        traces.push(swapped(&binary));
        traces.push(binary);
    }
    for (path, bytes) in files(dir) {
        for trace in &traces {
            assert!(!contains(&bytes, trace), "{host}: {trace:02x?} in {}", path.display());
        }
    }
}

#[test]
fn the_recording_of_every_fixture_is_the_same_drive_under_other_names() {
    for host in hosts() {
        let name = host.file_name().unwrap().to_string_lossy().into_owned();
        let root = SysRoot::recorded(&host);
        let Inventory { drives, .. } = scan(&root);
        let [drive] = &drives[..] else { continue };
        let dir = tempfile::tempdir().unwrap();
        let recorded = record(&root, &drive.name, dir.path(), false).unwrap();
        assert!(recorded.files > 5 && recorded.files < 200, "{name}: {recorded:?}");
        let again = scan(&SysRoot::recorded(dir.path())).drives.remove(0);
        assert_eq!(without_names(drive), without_names(&again), "{name}");
        for (old, new) in [(&drive.serial, &again.serial), (&drive.wwn, &again.wwn)] {
            assert_eq!(old.is_some(), new.is_some(), "{name}");
            assert!(old.is_none() || old != new, "{name}: {old:?} is still there");
            assert_eq!(old.as_ref().map(String::len), new.as_ref().map(String::len), "{name}");
        }
        assert_no_trace(dir.path(), drive, &name);
        // Twice is the same.
        let second = tempfile::tempdir().unwrap();
        record(&root, &drive.name, second.path(), false).unwrap();
        assert_eq!(scan(&SysRoot::recorded(second.path())).drives[0].serial, again.serial, "{name}");
    }
}

#[test]
fn serials_are_kept_when_asked() {
    let root = SysRoot::recorded(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts/qemu-ahci-ST8000DM004-2CX1@6.12.95"),
    );
    let drive = scan(&root).drives.remove(0);
    let dir = tempfile::tempdir().unwrap();
    record(&root, &drive.name, dir.path(), true).unwrap();
    let again = scan(&SysRoot::recorded(dir.path())).drives.remove(0);
    assert_eq!((again.id, again.serial, again.wwn), (drive.id, drive.serial, drive.wwn));
    assert!(record(&root, &drive.name, dir.path(), true).is_err(), "a recording is never overwritten");
}

#[test]
fn a_real_loop_device_is_recorded_by_the_program_and_read_back() {
    let dir = scratch();
    let device = LoopDevice::new(dir.path(), 8 << 20, &[]);
    let to = dir.path().join("recording");
    let said = output(BINARY, &["record", &device.path, "--output", to.to_str().unwrap()]);
    assert!(said.contains("--sysroot") && said.contains("tests/fixtures/hosts"), "{said}");
    let listed = output(BINARY, &["list", "--json", "--sysroot", to.to_str().unwrap()]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["drives"][0]["name"], device.name.as_str());
    assert_eq!(listed["drives"][0]["capacity_bytes"], 8 << 20);
    let path = device.backing.to_str().unwrap();
    assert!(files(&to).iter().all(|(_, bytes)| !contains(bytes, path.as_bytes())), "the path of a file is private");
}
