//! VPD page 0x80.
#![no_main]

use drivescope::device::identity::pages;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = pages::unit_serial(data);
});
