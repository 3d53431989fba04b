//! VPD pages 0xB0 and 0xB2.
#![no_main]

use drivescope::device::identity::limits;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = limits::block_limits(data);
    let _ = limits::provisioning(data);
});
