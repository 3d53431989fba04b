//! VPD page 0xB6 and the answer to REPORT ZONES.
#![no_main]

use drivescope::device::identity::zoned;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = zoned::characteristics(data);
    for logical_block in [0, 512, 4096, u32::MAX] {
        let _ = zoned::report(data, logical_block);
    }
});
