//! A world wide name as sysfs writes it.
#![no_main]

use drivescope::device::identity::designators;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = designators::from_wwid(&String::from_utf8_lossy(data));
});
