//! NVMe identify structures.
#![no_main]

use drivescope::device::identity::nvme;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = nvme::controller(data);
    let namespace = nvme::namespace(data);
    let _ = nvme::zoned_namespace(data, namespace.known());
    let _ = nvme::append_limit_exponent(data);
});
