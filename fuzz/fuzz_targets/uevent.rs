//! A kernel's event.
#![no_main]

use drivescope::device::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = fuzzing::uevent(data);
});
