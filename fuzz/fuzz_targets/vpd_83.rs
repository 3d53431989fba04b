//! VPD page 0x83.
#![no_main]

use drivescope::device::identity::designators;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = designators::name(data);
});
