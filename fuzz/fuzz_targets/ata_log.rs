//! The ATA log directory and log 0x30, pages 0x03 and 0x09; IDENTIFY as pass-through brings it.
#![no_main]

use drivescope::device::identity::{ata, ata_log};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = ata_log::pages_of(data, 0x30);
    let _ = ata_log::offers(data, 0x09);
    let _ = ata_log::capabilities_zoned(data);
    let _ = ata_log::zoned_device(data);
    let _ = ata::decode_identify(data);
});
