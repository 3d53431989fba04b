//! What is on a medium. The input is a size and short writes at places, as superblocks lie far apart: 8 bytes of size,
//! then again and again 4 bytes of place, 1 of length, and the bytes.
#![no_main]

use drivescope::device::fuzzing;
use libfuzzer_sys::fuzz_target;

/// Less than the megabyte that is really read, so that more is tried: up to the first uberblocks of ZFS.
const END: usize = 160 << 10;

fuzz_target!(|data: &[u8]| {
    let Some((size, mut rest)) = data.split_first_chunk::<8>() else { return };
    let mut ends = vec![0_u8; 2 * END];
    while let Some((&[a, b, c, d, length], more)) = rest.split_first_chunk::<5>() {
        let at = u32::from_le_bytes([a, b, c, d]) as usize % ends.len();
        let put = &more[..more.len().min(usize::from(length)).min(ends.len() - at)];
        ends[at..at + put.len()].copy_from_slice(put);
        rest = &more[put.len()..];
    }
    let tail = ends.split_off(END);
    let _ = fuzzing::signatures(u64::from_le_bytes(*size), ends, tail);
});
