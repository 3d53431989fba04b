//! A file of a recording: in disguise it is as long as before, whatever it holds.
#![no_main]

use drivescope::device::fuzzing;
use libfuzzer_sys::fuzz_target;

const FILES: [&str; 6] = ["vpd_pg80", "vpd_pg83", "vpd_pg89", "wwid", "serial", "inquiry"];

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let path = format!("/sys/block/sda/device/{}", FILES[usize::from(*first) % FILES.len()]);
    assert_eq!(fuzzing::disguised(&path, bytes).len(), bytes.len());
});
