//! Every page with its fields beside its bytes: the first byte chooses the page.
#![no_main]

use drivescope::device::identity::fields;
use drivescope::model::page::PageId;
use libfuzzer_sys::fuzz_target;

const PAGES: [&str; 15] = [
    "00", "80", "83", "89", "b0", "b1", "b2", "b6", "inquiry", "identify", "log-30-03", "log-30-09", "nvme-controller",
    "nvme-namespace", "nvme-zoned-namespace",
];

fuzz_target!(|data: &[u8]| {
    let Some((first, page)) = data.split_first() else { return };
    if let Some(id) = PageId::parse(PAGES[usize::from(*first) % PAGES.len()]) {
        let _ = fields::decode(id, page);
    }
});
