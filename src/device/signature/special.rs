//! Formats that one magic at one place does not tell: variants, several places, or a condition.

use super::super::identity::ascii;
use super::{Finding, Image, MD_MAGIC, Role};

pub(super) fn recognise(image: &Image) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        [ext(image), minix(image), btrfs(image), swap(image), md_at_the_end(image), zfs(image)]
            .into_iter()
            .flatten()
            .collect();
    let fat = fat(image);
    // The boot sector of a filesystem ends like a partition table, 55 AA, and is none.
    let boot_sector = fat.is_some() || image.has(3, b"NTFS    ") || image.has(3, b"EXFAT   ");
    found.extend(fat);
    if !boot_sector {
        found.extend(partition_table(image));
    }
    found
}

/// ext2, 3 and 4 share a superblock at 1024 (fs/ext4/ext4.h); features tell them apart.
fn ext(image: &Image) -> Option<Finding> {
    const SUPERBLOCK: u64 = 1024;
    const HAS_JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    /// Incompatible features that ext3 knows: filetype, recover, journal device, meta_bg.
    const EXT3_INCOMPATIBLE: u32 = 0x2 | 0x4 | 0x8 | 0x10;
    /// Read-only compatible features that ext3 knows: sparse_super, large_file, btree_dir.
    const EXT3_READ_ONLY: u32 = 0x1 | 0x2 | 0x4;
    // Two bytes of magic are found by chance in one of 65 536 drives full of random data, which this service makes;
    // a log of the block size above 64 KiB and an unknown revision give the chance away.
    let plausible = image.le32(SUPERBLOCK + 0x18)? <= 6 && image.le32(SUPERBLOCK + 0x4c)? <= 1;
    if !plausible || !image.has(SUPERBLOCK + 0x38, &[0x53, 0xef]) {
        return None;
    }
    let compatible = image.le32(SUPERBLOCK + 0x5c)?;
    let incompatible = image.le32(SUPERBLOCK + 0x60)?;
    let read_only = image.le32(SUPERBLOCK + 0x64)?;
    let what = if incompatible & JOURNAL_DEVICE != 0 {
        return Some(Finding::new("ext journal device", image.label(SUPERBLOCK + 0x78, 16), Role::Member));
    } else if incompatible & !EXT3_INCOMPATIBLE != 0 || read_only & !EXT3_READ_ONLY != 0 {
        "ext4 filesystem"
    } else if compatible & HAS_JOURNAL != 0 {
        "ext3 filesystem"
    } else {
        "ext2 filesystem"
    };
    Some(Finding::new(what, image.label(SUPERBLOCK + 0x78, 16), Role::Content))
}

/// Minix, versions 1 and 2 (include/uapi/linux/minix_fs.h): two bytes of magic, so the field before it must fit too.
fn minix(image: &Image) -> Option<Finding> {
    const SUPERBLOCK: u64 = 1024;
    let magic = image.get(SUPERBLOCK + 16, 2)?;
    let known = [[0x7f, 0x13], [0x8f, 0x13], [0x68, 0x24], [0x78, 0x24]].iter().any(|form| form == magic);
    let log_zone_size_is_zero = image.has(SUPERBLOCK + 10, &[0, 0]);
    (known && log_zone_size_is_zero).then(|| Finding::new("Minix filesystem", None, Role::Content))
}

/// btrfs has its superblock at 64 KiB (fs/btrfs/ctree.h). One of several devices is a member.
fn btrfs(image: &Image) -> Option<Finding> {
    const SUPERBLOCK: u64 = 65_536;
    if !image.has(SUPERBLOCK + 0x40, b"_BHRfS_M") {
        return None;
    }
    let label = image.label(SUPERBLOCK + 0x12b, 256);
    Some(match image.le64(SUPERBLOCK + 0x88) {
        Some(devices) if devices > 1 => {
            Finding::new(format!("btrfs filesystem over {devices} devices"), label, Role::Member)
        }
        _ => Finding::new("btrfs filesystem", label, Role::Content),
    })
}

/// Swap has its mark at the end of the first page, whatever the page size of the host that made it.
fn swap(image: &Image) -> Option<Finding> {
    [4096_u64, 8192, 16_384, 32_768, 65_536].into_iter().find_map(|page| {
        let mark = image.get(page - 10, 10)?;
        match mark {
            b"SWAPSPACE2" => Some(Finding::new("swap space", image.label(1052, 16), Role::Content)),
            b"SWAP-SPACE" => Some(Finding::new("swap space (old form)", None, Role::Content)),
            _ if mark.starts_with(b"S1SUSPEND") || mark.starts_with(b"S2SUSPEND") => {
                Some(Finding::new("swap space with a hibernated system", None, Role::Member))
            }
            _ => None,
        }
    })
}

/// md metadata 0.90 and 1.0 are at the end (drivers/md/md.c): 0.90 in the last whole 64 KiB but one, 1.0 between
/// 8 and 12 KiB before the end, on a boundary of 4 KiB.
fn md_at_the_end(image: &Image) -> Option<Finding> {
    let at_1_0 = (image.size / 512).checked_sub(16).map(|sector| (sector & !7) * 512);
    if let Some(at) = at_1_0.filter(|at| image.has(*at, &MD_MAGIC)) {
        return Some(Finding::new("Linux software RAID member", image.label(at + 32, 32), Role::Member));
    }
    let at_0_90 = (image.size & !0xffff).checked_sub(0x1_0000)?;
    let swapped: Vec<u8> = MD_MAGIC.iter().rev().copied().collect();
    (image.has(at_0_90, &MD_MAGIC) || image.has(at_0_90, &swapped))
        .then(|| Finding::new("Linux software RAID member", None, Role::Member))
}

/// ZFS keeps four labels of 256 KiB, two at each end (vdev_label.c): 16 KiB in, a name list; 128 KiB in, a ring of
/// uberblocks with the magic 0x00bab10c. One label left is enough to be a member.
fn zfs(image: &Image) -> Option<Finding> {
    const LABEL: u64 = 256 * 1024;
    const UBERBLOCK: [u8; 8] = [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0];
    let end = image.size - image.size % LABEL;
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    let swapped: Vec<u8> = UBERBLOCK.iter().rev().copied().collect();
    labels.into_iter().flatten().find_map(|label| {
        let ring = image.get(label + LABEL / 2, 128 * 1024)?;
        // An uberblock takes 1 KiB to 8 KiB, by ashift.
        let uberblock = ring.chunks(1024).any(|block| block.starts_with(&UBERBLOCK) || block.starts_with(&swapped));
        let list = image.get(label + 16 * 1024, 112 * 1024)?;
        let named = contains(list, b"pool_guid").is_some();
        (uberblock || named).then(|| Finding::new("ZFS pool member", pool_name(list), Role::Member))
    })
}

/// The string `name` of an XDR name list: its own name, type 9 (string), one element, length, bytes.
fn pool_name(list: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01";
    let after = list.get(contains(list, KEY)? + KEY.len()..)?;
    let length = u32::from_be_bytes(after.get(..4)?.try_into().ok()?);
    ascii(after.get(4..4 + usize::try_from(length).ok()?.min(256))?)
}

fn contains(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// FAT has only words in its boot sector, so the sector's own mark must be there too.
fn fat(image: &Image) -> Option<Finding> {
    if !image.has(510, &[0x55, 0xaa]) {
        return None;
    }
    let label_at = if image.has(82, b"FAT32   ") {
        71
    } else if image.has(54, b"FAT16   ") || image.has(54, b"FAT12   ") || image.has(54, b"FAT     ") {
        43
    } else {
        return None;
    };
    let label = image.label(label_at, 11).filter(|label| label != "NO NAME");
    Some(Finding::new("FAT filesystem", label, Role::Content))
}

/// GPT (UEFI §5.3) at the first block of 512 or 4096 bytes, or its copy in the last; else a DOS partition table.
fn partition_table(image: &Image) -> Option<Finding> {
    const GPT: &[u8] = b"EFI PART";
    let last = |block: u64| image.size.checked_sub(block).is_some_and(|at| image.has(at, GPT));
    if image.has(512, GPT) || image.has(4096, GPT) {
        return Some(Finding::new("GPT partition table", None, Role::Table));
    }
    if last(512) || last(4096) {
        return Some(Finding::new("copy of a GPT partition table at the end", None, Role::Table));
    }
    if !image.has(510, &[0x55, 0xaa]) {
        return None;
    }
    // Four entries of 16 bytes: status 0x00 or 0x80, type at 4, first sector at 8.
    let entries = image.get(446, 64)?;
    let valid = entries.chunks(16).all(|entry| matches!(entry.first(), Some(0x00 | 0x80)));
    let used = entries.chunks(16).any(|entry| entry.get(4).is_some_and(|kind| *kind != 0));
    (valid && used).then(|| Finding::new("DOS partition table", None, Role::Table))
}
