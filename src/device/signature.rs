//! What the first and the last bytes of a device say is on it. Pure: an image in, findings out.
//!
//! The table follows the on-disk formats themselves. libblkid knows more, but its Rust bindings need
//! libclang at build time, and a destructive run needs names for what is lost rather than every format
//! there ever was; what is not recognised is still told as data that is not recognised.

use super::identity::ascii;

mod special;
#[cfg(test)]
mod tests;

/// How much of each end is looked at: ZFS has two labels of 256 KiB at either end, aligned down to 256 KiB.
pub const END_BYTES: u64 = 1024 * 1024;

/// Both ends of a device, partition or file.
#[derive(Debug, Default)]
pub struct Image {
    /// Bytes in all.
    pub size: u64,
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes; empty when the head has them all.
    pub tail: Vec<u8>,
}

impl Image {
    /// `length` bytes at `offset`, if they are in one of the ends.
    pub(super) fn get(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let within = |part: &'_ [u8], start: u64| -> Option<(usize, usize)> {
            let from = usize::try_from(offset.checked_sub(start)?).ok()?;
            let to = from.checked_add(length)?;
            (to <= part.len()).then_some((from, to))
        };
        if let Some((from, to)) = within(&self.head, 0) {
            return self.head.get(from..to);
        }
        let tail_start = self.size.checked_sub(u64::try_from(self.tail.len()).ok()?)?;
        let (from, to) = within(&self.tail, tail_start)?;
        self.tail.get(from..to)
    }

    pub(super) fn has(&self, offset: u64, magic: &[u8]) -> bool {
        self.get(offset, magic.len()) == Some(magic)
    }

    pub(super) fn le32(&self, offset: u64) -> Option<u32> {
        self.get(offset, 4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(super) fn le64(&self, offset: u64) -> Option<u64> {
        self.get(offset, 8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// Text of at most `length` bytes, up to its first NUL.
    pub(super) fn label(&self, offset: u64, length: usize) -> Option<String> {
        let bytes = self.get(offset, length)?;
        ascii(bytes.split(|byte| *byte == 0).next()?)
    }

    /// Whether there is anything but zeros.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.head.iter().chain(&self.tail).all(|byte| *byte == 0)
    }
}

/// What a finding means for a run that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A filesystem, a swap space, an encrypted volume: lost when written over, and confirmed by a human.
    Content,
    /// A partition table: lost only when its own sectors are written.
    Table,
    /// One of several that make up a pool, array or volume group: others depend on it, so writing is refused.
    Member,
}

/// Something recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is, for a person.
    pub what: String,
    /// Its label.
    pub label: Option<String>,
    /// What it means.
    pub role: Role,
}

impl Finding {
    fn new(what: impl Into<String>, label: Option<String>, role: Role) -> Self {
        Self { what: what.into(), label, role }
    }
}

/// A format that is told by one magic at one place.
struct Signature {
    what: &'static str,
    role: Role,
    at: Place,
    magic: &'static [u8],
    /// Where its label is, and how long.
    label: Option<(u64, usize)>,
}

enum Place {
    /// From the first byte.
    Start(u64),
    /// The place that many bytes before the end.
    End(u64),
}

const fn content(what: &'static str, at: u64, magic: &'static [u8], label: Option<(u64, usize)>) -> Signature {
    Signature { what, role: Role::Content, at: Place::Start(at), magic, label }
}

const fn member(what: &'static str, at: Place, magic: &'static [u8], label: Option<(u64, usize)>) -> Signature {
    Signature { what, role: Role::Member, at, magic, label }
}

/// Formats with more than one variant, place or condition are in [`special`].
const SIGNATURES: &[Signature] = &[
    content("XFS filesystem", 0, b"XFSB", Some((108, 12))),
    content("F2FS filesystem", 1024, &[0x10, 0x20, 0xf5, 0xf2], None),
    content("LUKS encrypted volume", 0, b"LUKS\xba\xbe", None),
    content("BitLocker encrypted volume", 3, b"-FVE-FS-", None),
    content("NTFS filesystem", 3, b"NTFS    ", None),
    content("exFAT filesystem", 3, b"EXFAT   ", None),
    content("ISO 9660 filesystem", 32_769, b"CD001", Some((32_808, 32))),
    content("UDF filesystem", 32_769, b"BEA01", None),
    content("HFS+ filesystem", 1024, b"H+\0\x04", None),
    content("HFSX filesystem", 1024, b"HX\0\x05", None),
    content("APFS container", 32, b"NXSB", None),
    content("ReiserFS filesystem", 65_588, b"ReIsEr2Fs", Some((65_636, 16))),
    content("ReiserFS filesystem", 65_588, b"ReIsEr3Fs", Some((65_636, 16))),
    content("JFS filesystem", 32_768, b"JFS1", Some((32_920, 16))),
    content("SquashFS filesystem", 0, b"hsqs", None),
    content("EROFS filesystem", 1024, &[0xe2, 0xe1, 0xf5, 0xe0], None),
    content("bcachefs filesystem", 4120, &BCACHEFS, Some((4168, 32))),
    content("Apple partition map", 512, b"PM\0\0", None),
    member("LVM2 physical volume", Place::Start(512 + 24), b"LVM2 001", None),
    member("LVM2 physical volume", Place::Start(24), b"LVM2 001", None),
    member("LVM2 physical volume", Place::Start(1024 + 24), b"LVM2 001", None),
    member("LVM2 physical volume", Place::Start(1536 + 24), b"LVM2 001", None),
    member("Linux software RAID member", Place::Start(0), &MD_MAGIC, Some((32, 32))),
    member("Linux software RAID member", Place::Start(4096), &MD_MAGIC, Some((4096 + 32, 32))),
    member("bcache device", Place::Start(4120), &BCACHE, None),
    member("Ceph BlueStore device", Place::Start(0), b"bluestore block device", None),
    member("Stratis pool member", Place::Start(516), b"!Stra0tis\x86\xff\x02^\x41rh", None),
    member("VDO device", Place::Start(0), b"dmvdo001", None),
    member("Intel firmware RAID member", Place::End(1024), b"Intel Raid ISM Cfg Sig. ", None),
    member("DDF firmware RAID member", Place::End(512), &[0xde, 0x11, 0xde, 0x11], None),
    member("DDF firmware RAID member", Place::End(512), &[0x11, 0xde, 0x11, 0xde], None),
];

/// 0xa92b4efc, little endian (include/uapi/linux/raid/md_p.h).
pub(super) const MD_MAGIC: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];
const BCACHE: [u8; 16] =
    [0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];
const BCACHEFS: [u8; 16] =
    [0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef];

/// Everything that is recognised. A device may carry several: an old mark is not always wiped.
#[must_use]
pub fn recognise(image: &Image) -> Vec<Finding> {
    let plain = SIGNATURES.iter().filter(|signature| {
        let offset = match signature.at {
            Place::Start(offset) => Some(offset),
            Place::End(back) => image.size.checked_sub(back),
        };
        offset.is_some_and(|offset| image.has(offset, signature.magic))
    });
    let plain = plain.map(|signature| {
        let label = signature.label.and_then(|(offset, length)| image.label(offset, length));
        Finding::new(signature.what, label, signature.role)
    });
    let mut found: Vec<Finding> = Vec::new();
    for finding in special::recognise(image).into_iter().chain(plain) {
        if !found.contains(&finding) {
            found.push(finding);
        }
    }
    found
}
