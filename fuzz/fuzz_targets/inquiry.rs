//! Standard INQUIRY data.
#![no_main]

use drivescope::device::identity::inquiry;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = inquiry::decode(data);
});
