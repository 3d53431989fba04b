//! The body of POST runs.
#![no_main]

use drivescope::web;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = web::reads_as_a_submission(data);
});
