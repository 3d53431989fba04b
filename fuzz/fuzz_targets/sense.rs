//! SCSI sense data.
#![no_main]

use drivescope::device::sense::Sense;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = Sense::decode(data);
});
