//! VPD page 0x89 with IDENTIFY DEVICE.
#![no_main]

use drivescope::device::identity::ata;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = ata::decode(data);
});
