//! VPD page 0xB1.
#![no_main]

use drivescope::device::identity::characteristics;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = characteristics::decode(data);
});
