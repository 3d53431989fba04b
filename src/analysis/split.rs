//! Why the device had other requests than were asked. Pure.
//!
//! A request passes these gates on its way (block/blk-merge.c, `bio_split_rw` and `get_max_io_size`):
//!
//! ```text
//! engine ─ bio: 256 pieces of memory ─ chunk_sectors ─ max_sectors_kb ─ max_segments ─▶ device
//!                                                       └ the least of: a setting, the kernel's default or the drive's
//!                                                         optimal length, the drive's maximum, max_hw_sectors_kb
//! ```
//! Each gate would leave parts of a certain mean size. The first whose size is the one that was seen is named; if none is,
//! that is said.

use crate::model::approx::{f64_of, u64_of};
use crate::model::drive::Transport;
use crate::model::seen::PhaseSeen;
use crate::model::split::{Fate, Limit, LimitOwner, Split, TransferLimits};
use crate::model::units::{Bytes, KIB, MIB};

/// Counts of the two sides are of slightly different moments, and a phase has few of the largest requests: means within this
/// share of each other are the same.
const SAME: f64 = 0.05;
/// Fewer device requests than this have no mean worth a word.
const FEWEST: u64 = 8;
/// Pieces of memory in one bio (include/linux/bio.h, BIO_MAX_VECS).
const BIO_MAX_VECS: u64 = 256;
/// The kernel's own default of `max_sectors_kb` where nobody else has a wish: 512 KiB before Linux 4.2, 1280 KiB since, 4 MiB
/// since 6.17 (BLK_DEF_MAX_SECTORS, BLK_DEF_MAX_SECTORS_CAP; commit 9b8b84879d4a).
const KERNEL_DEFAULTS_KB: [u64; 3] = [512, 1_280, 4_096];
/// usb-storage: 240 sectors to a full-speed or high-speed device (drivers/usb/storage/scsiglue.c).
const USB_STORAGE_KB: u64 = 120;
/// usb-storage: 2048 sectors to a SuperSpeed device (the same).
const USB_STORAGE_SUPER_KB: u64 = 1_024;
/// One mapping through the bounce buffers of a host without an IOMMU: 128 slots of 2 KiB (include/linux/swiotlb.h).
const SWIOTLB_KB: u64 = 256;
/// An ATA command with 48-bit addresses: 65 535 sectors, in whole KiB (include/linux/ata.h, ATA_MAX_SECTORS_LBA48).
const LBA48_KB: u64 = 32_767;

/// What became of a phase's requests. `None` while too few were counted, or when the phase asked nothing.
#[must_use]
pub fn explain(seen: &PhaseSeen, limits: &TransferLimits) -> Option<Split> {
    if seen.device_ios < FEWEST {
        return None;
    }
    let (asked, device) = (seen.asked_mean_bytes()?, seen.device_mean_bytes()?);
    if device < 1.0 {
        return None;
    }
    let parts = asked / device;
    let sizes = (Bytes(u64_of(asked)), Bytes(u64_of(device)));
    let split = |fate, cause: Option<Cause>, sentence| Split {
        fate,
        asked_mean_bytes: sizes.0,
        device_mean_bytes: sizes.1,
        parts,
        limit: cause.as_ref().map(|cause| cause.limit),
        limit_bytes: cause.as_ref().and_then(|cause| cause.bytes),
        owner: cause.as_ref().map(|cause| cause.owner),
        sentence,
    };
    if parts < 1.0 - SAME {
        let sentence = format!(
            "Requests of {} reached the device merged with their neighbours, {} each on average.",
            sizes.0, sizes.1
        );
        return Some(split(Fate::Merged, None, sentence));
    }
    if parts <= 1.0 + SAME {
        return Some(split(Fate::AsAsked, None, format!("Requests of {} reached the device whole.", sizes.0)));
    }
    let cause = cause(asked, device, limits);
    let count = if parts >= 10.0 { format!("{parts:.0}") } else { trimmed(parts) };
    let sentence =
        format!("Requests of {} reached the device as {count} of {} each: {}.", sizes.0, sizes.1, cause.words);
    Some(split(Fate::Split, Some(cause), sentence))
}

struct Cause {
    limit: Limit,
    bytes: Option<Bytes>,
    owner: LimitOwner,
    words: String,
}

/// One decimal, unless it is 0.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Whether requests of `asked` bytes, cut into pieces of at most `limit`, have the mean `device`.
fn fits(asked: f64, device: f64, limit: u64) -> bool {
    if limit == 0 || f64_of(limit) >= asked {
        return false;
    }
    // Each request leaves whole pieces and a rest.
    let expected = asked / (asked / f64_of(limit)).ceil();
    (expected / device - 1.0).abs() <= SAME
}

fn cause(asked: f64, device: f64, limits: &TransferLimits) -> Cause {
    let kb = |kb: Option<u64>| kb.map(|kb| kb.saturating_mul(KIB));
    let fits = |limit: Option<u64>| limit.filter(|limit| fits(asked, device, *limit));
    if let Some(bytes) = fits(kb(limits.max_sectors_kb)) {
        return of_max_sectors(bytes, limits);
    }
    if let Some(bytes) = fits(limits.chunk_bytes) {
        let words = format!("no request may cross a multiple of chunk_sectors, {} (a zone or a stripe)", Bytes(bytes));
        return Cause { limit: Limit::Chunk, bytes: Some(Bytes(bytes)), owner: LimitOwner::Drive, words };
    }
    let pages = |count: Option<u64>| count.zip(limits.page_bytes).map(|(count, page)| count.saturating_mul(page));
    if let Some(bytes) = fits(pages(limits.max_segments)) {
        let segments = limits.max_segments.unwrap_or_default();
        let words = format!(
            "max_segments is {segments}, and the buffer's memory was in single pages: {} at most ({})",
            Bytes(bytes),
            host_side(limits).1
        );
        let owner = host_side(limits).0;
        return Cause { limit: Limit::MaxSegments, bytes: Some(Bytes(bytes)), owner, words };
    }
    if let Some(bytes) = fits(pages(Some(BIO_MAX_VECS))) {
        let words = format!(
            "the kernel puts {BIO_MAX_VECS} pieces of memory into one request, {} in single pages",
            Bytes(bytes)
        );
        return Cause { limit: Limit::Bio, bytes: Some(Bytes(bytes)), owner: LimitOwner::Kernel, words };
    }
    let told = limits.max_sectors_kb.map_or_else(
        || "max_sectors_kb is not known".to_owned(),
        |kb| format!("max_sectors_kb is {kb}, which does not explain it"),
    );
    let words = format!("by a limit that is not known ({told})");
    Cause { limit: Limit::NotKnown, bytes: None, owner: LimitOwner::NotKnown, words }
}

/// Whose the size of a request is that `max_sectors_kb` allows.
fn of_max_sectors(bytes: u64, limits: &TransferLimits) -> Cause {
    let cause = |limit, owner, words| Cause { limit, bytes: Some(Bytes(bytes)), owner, words };
    let kb = bytes / KIB;
    let hw = limits.max_hw_sectors_kb;
    let hardware = match hw {
        Some(hw) => format!("the driver would take {}", Bytes(hw.saturating_mul(KIB))),
        None => "max_hw_sectors_kb is not known".to_owned(),
    };
    if limits.set_by_run {
        return cause(Limit::MaxSectors, LimitOwner::Run, format!("max_sectors_kb is {kb}, as this run has set it"));
    }
    // What is told in bytes is used in whole KiB.
    let is = |told: Option<u64>| told.is_some_and(|told| told / KIB == kb);
    if is(limits.drive_max_bytes) {
        let words =
            format!("max_sectors_kb is {kb}, the drive's own MAXIMUM TRANSFER LENGTH (VPD page B0); {hardware}");
        return cause(Limit::MaximumTransferLength, LimitOwner::Drive, words);
    }
    if is(limits.drive_optimal_bytes) {
        let words = format!(
            "max_sectors_kb is {kb}, the drive's own OPTIMAL TRANSFER LENGTH (VPD page B0), which the kernel does not go \
             beyond by itself; {hardware}"
        );
        return cause(Limit::OptimalTransferLength, LimitOwner::Drive, words);
    }
    if hw.is_some_and(|hw| hw <= kb) {
        let (owner, whose) = host_side(limits);
        let whose = format!("{whose}{}", known_limit(kb, limits));
        return cause(Limit::MaxHwSectors, owner, format!("max_hw_sectors_kb is {kb}, {whose}"));
    }
    if KERNEL_DEFAULTS_KB.contains(&kb) {
        return cause(
            Limit::MaxSectors,
            LimitOwner::Kernel,
            format!("max_sectors_kb is {kb}, the kernel's default; {hardware}"),
        );
    }
    let words = format!("max_sectors_kb is {kb}, which somebody has set on this host; {hardware}");
    cause(Limit::MaxSectors, LimitOwner::Setting, words)
}

/// Who stands between the kernel and the drive.
fn host_side(limits: &TransferLimits) -> (LimitOwner, String) {
    let driver = limits.driver.as_deref();
    match limits.transport {
        Some(Transport::Usb) => {
            let by = driver.map_or_else(String::new, |driver| format!(" ({driver})"));
            (LimitOwner::Usb, format!("a limit of the USB bridge, its driver{by} or the host's controller"))
        }
        Some(Transport::Nvme) => (LimitOwner::Drive, "a limit of the NVMe controller or its driver".to_owned()),
        Some(Transport::Kernel) => (LimitOwner::Kernel, "a limit of the kernel's own driver".to_owned()),
        Some(Transport::Simulated) => (LimitOwner::Hba, "a limit of the simulated link".to_owned()),
        Some(Transport::Unknown) | None => (LimitOwner::NotKnown, "a limit of the hardware or its driver".to_owned()),
        Some(_) => match driver {
            Some(driver) => (LimitOwner::Hba, format!("a limit of the host adapter or its driver {driver}")),
            None => (LimitOwner::Hba, "a limit of the host adapter or its driver".to_owned()),
        },
    }
}

/// What is known of this very number, to be put in brackets.
fn known_limit(kb: u64, limits: &TransferLimits) -> String {
    let usb = limits.transport == Some(Transport::Usb);
    match kb {
        USB_STORAGE_KB if usb => " (240 sectors: what usb-storage sends by default)".to_owned(),
        USB_STORAGE_SUPER_KB if usb => " (2048 sectors: what usb-storage sends by default to USB 3)".to_owned(),
        SWIOTLB_KB if usb => {
            " (256 KiB is also the most that one transfer can hold through a host's bounce buffers, swiotlb)".to_owned()
        }
        LBA48_KB if limits.transport == Some(Transport::Sata) => {
            format!(" ({} is the most that one ATA command can carry)", Bytes(32 * MIB))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::GIB;

    fn seen(asked: u64, device: u64) -> PhaseSeen {
        let bytes = 16 * GIB;
        PhaseSeen {
            asked_ios: bytes / asked,
            asked_bytes: Bytes(bytes),
            device_ios: bytes / device,
            device_bytes: Bytes(bytes),
            ..PhaseSeen::default()
        }
    }

    fn limits(max_sectors_kb: u64, max_hw_sectors_kb: u64) -> TransferLimits {
        TransferLimits {
            max_sectors_kb: Some(max_sectors_kb),
            max_hw_sectors_kb: Some(max_hw_sectors_kb),
            max_segments: Some(2_048),
            page_bytes: Some(4_096),
            transport: Some(Transport::Sata),
            ..TransferLimits::default()
        }
    }

    fn named(split: Option<Split>) -> (Limit, LimitOwner, String) {
        let split = split.unwrap();
        assert_eq!(split.fate, Fate::Split);
        (split.limit.unwrap(), split.owner.unwrap(), split.sentence)
    }

    #[test]
    fn the_disk_of_the_fio_list_was_split_by_its_usb_path() {
        let usb = TransferLimits { transport: Some(Transport::Usb), ..limits(256, 256) };
        let split = explain(&seen(512 * MIB, 256 * KIB), &usb).unwrap();
        assert_eq!((split.parts, split.limit_bytes), (2_048.0, Some(Bytes(256 * KIB))));
        let (limit, owner, sentence) = named(Some(split));
        assert_eq!((limit, owner), (Limit::MaxHwSectors, LimitOwner::Usb));
        assert!(sentence.starts_with("Requests of 512 MiB reached the device as 2048 of 256 KiB each: "), "{sentence}");
        assert!(sentence.contains("max_hw_sectors_kb is 256, a limit of the USB bridge"), "{sentence}");
    }

    #[test]
    fn a_lowered_limit_is_told_from_the_kernels_default_and_from_the_drives_own() {
        let of = |kb: u64, limits: &TransferLimits| named(explain(&seen(16 * MIB, kb * KIB), limits));
        assert_eq!(of(256, &limits(256, 1_024)).1, LimitOwner::Setting);
        assert_eq!(of(4_096, &limits(4_096, 32_767)).1, LimitOwner::Kernel);
        assert_eq!(of(256, &TransferLimits { set_by_run: true, ..limits(256, 1_024) }).1, LimitOwner::Run);
        let drive = TransferLimits { drive_max_bytes: Some(512 * KIB), ..limits(512, 1_024) };
        assert_eq!(of(512, &drive).0, Limit::MaximumTransferLength);
        let drive = TransferLimits { drive_optimal_bytes: Some(2 * MIB), ..limits(2_048, 32_767) };
        assert_eq!(of(2_048, &drive).0, Limit::OptimalTransferLength);
        let hba = TransferLimits { driver: Some("mpt3sas".to_owned()), ..limits(1_024, 1_024) };
        let (limit, owner, sentence) = of(1_024, &hba);
        assert_eq!((limit, owner), (Limit::MaxHwSectors, LimitOwner::Hba));
        assert!(sentence.contains("mpt3sas"), "{sentence}");
    }

    #[test]
    fn a_request_that_leaves_a_rest_is_still_recognised() {
        // 3 MiB in pieces of 1280 KiB: 1280, 1280 and 512.
        let (limit, owner, _) = named(explain(&seen(3 * MIB, MIB), &limits(1_280, 32_767)));
        assert_eq!((limit, owner), (Limit::MaxSectors, LimitOwner::Kernel));
    }

    #[test]
    fn scattered_memory_is_named_where_no_size_explains_it() {
        let few = TransferLimits { max_segments: Some(128), ..limits(32_767, 32_767) };
        assert_eq!(named(explain(&seen(16 * MIB, 512 * KIB), &few)).0, Limit::MaxSegments);
        assert_eq!(named(explain(&seen(16 * MIB, MIB), &limits(32_767, 32_767))).0, Limit::Bio);
        let (limit, owner, sentence) = named(explain(&seen(16 * MIB, 100 * KIB), &TransferLimits::default()));
        assert_eq!((limit, owner), (Limit::NotKnown, LimitOwner::NotKnown));
        assert!(sentence.contains("max_sectors_kb is not known"), "{sentence}");
    }

    #[test]
    fn what_was_not_split_is_said_too_and_what_was_not_counted_is_not() {
        let fate = |asked, device| explain(&seen(asked, device), &limits(1_280, 32_767)).unwrap().fate;
        assert_eq!(fate(4_096, 4_096), Fate::AsAsked);
        assert_eq!(fate(4_096, 65_536), Fate::Merged);
        assert_eq!(explain(&PhaseSeen::default(), &limits(1_280, 32_767)), None);
    }
}
