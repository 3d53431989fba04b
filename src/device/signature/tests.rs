//! Superblocks made by hand, so that no test depends on which mkfs the machine has.

use proptest::prelude::*;

use super::*;

const SIZE: usize = 3 * 1024 * 1024;

/// An image of 3 MiB with bytes put at places; negative places count from the end.
fn image(puts: &[(i64, &[u8])]) -> Image {
    let mut bytes = vec![0_u8; SIZE];
    for (at, put) in puts {
        let at = usize::try_from(if *at < 0 { i64::try_from(SIZE).unwrap() + at } else { *at }).unwrap();
        bytes[at..at + put.len()].copy_from_slice(put);
    }
    let end = usize::try_from(END_BYTES).unwrap();
    Image { size: SIZE as u64, head: bytes[..end].to_vec(), tail: bytes[SIZE - end..].to_vec() }
}

fn only(puts: &[(i64, &[u8])]) -> (String, Option<String>, Role) {
    let mut found = recognise(&image(puts));
    assert_eq!(found.len(), 1, "{found:?}");
    let finding = found.remove(0);
    (finding.what, finding.label, finding.role)
}

fn named(what: &str, label: &str, role: Role) -> (String, Option<String>, Role) {
    (what.to_owned(), (!label.is_empty()).then(|| label.to_owned()), role)
}

#[test]
fn the_three_exts_are_told_apart_by_their_features() {
    let magic: (i64, &[u8]) = (1080, &[0x53, 0xef]);
    let label: (i64, &[u8]) = (1144, b"home");
    assert_eq!(only(&[magic]), named("ext2 filesystem", "", Role::Content));
    assert_eq!(only(&[magic, (1116, &[4])]), named("ext3 filesystem", "", Role::Content));
    assert_eq!(only(&[magic, label, (1116, &[4]), (1120, &[0x42])]), named("ext4 filesystem", "home", Role::Content));
    assert_eq!(only(&[magic, (1120, &[8])]).2, Role::Member);
}

#[test]
fn random_data_with_two_bytes_of_magic_is_no_filesystem() {
    assert!(recognise(&image(&[(1024, &[0xab; 64]), (1080, &[0x53, 0xef])])).is_empty());
    assert!(recognise(&image(&[(1024, &[0xab; 64]), (1040, &[0x8f, 0x13])])).is_empty());
    assert_eq!(only(&[(1040, &[0x8f, 0x13])]).0, "Minix filesystem");
}

#[test]
fn filesystems_give_their_label() {
    assert_eq!(only(&[(0, b"XFSB"), (108, b"tank")]), named("XFS filesystem", "tank", Role::Content));
    assert_eq!(only(&[(65_600, b"_BHRfS_M"), (65_672, &[1])]).2, Role::Content);
    assert_eq!(only(&[(4086, b"SWAPSPACE2"), (1052, b"sw")]), named("swap space", "sw", Role::Content));
    assert_eq!(only(&[(65_526, b"SWAPSPACE2")]).0, "swap space");
    assert_eq!(
        only(&[(510, &[0x55, 0xaa]), (82, b"FAT32   "), (71, b"STICK      ")]),
        named("FAT filesystem", "STICK", Role::Content)
    );
    assert_eq!(only(&[(32_769, b"CD001"), (32_808, b"DEBIAN")]), named("ISO 9660 filesystem", "DEBIAN", Role::Content));
}

#[test]
fn what_others_depend_on_is_a_member() {
    assert_eq!(only(&[(512, b"LABELONE"), (536, b"LVM2 001")]), named("LVM2 physical volume", "", Role::Member));
    assert_eq!(
        only(&[(4096, &MD_MAGIC), (4128, b"nas:0")]),
        named("Linux software RAID member", "nas:0", Role::Member)
    );
    assert_eq!(only(&[(-8192, &MD_MAGIC)]).2, Role::Member, "metadata 1.0");
    assert_eq!(only(&[(-65_536, &MD_MAGIC)]).2, Role::Member, "metadata 0.90");
    assert_eq!(only(&[(-65_536, &[0xa9, 0x2b, 0x4e, 0xfc])]).2, Role::Member, "metadata 0.90, big endian");
    assert_eq!(
        only(&[(65_600, b"_BHRfS_M"), (65_672, &[3])]),
        named("btrfs filesystem over 3 devices", "", Role::Member)
    );
    assert_eq!(only(&[(0, b"bluestore block device\n")]).2, Role::Member);
}

#[test]
fn any_one_label_makes_a_zfs_member() {
    let uberblock = [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0];
    let label = 256 * 1024;
    for start in [0, label, -2 * label, -label] {
        assert_eq!(only(&[(start + 128 * 1024 + 3 * 1024, &uberblock)]).0, "ZFS pool member", "label at {start}");
    }
    let list = b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01\0\0\0\x04tank\0\0\0\x09pool_guid";
    assert_eq!(only(&[(16 * 1024 + 60, list)]), named("ZFS pool member", "tank", Role::Member));
}

#[test]
fn partition_tables_are_no_boot_sectors() {
    let used: (i64, &[u8]) = (446, &[0x80, 0, 0, 0, 0x83]);
    assert_eq!(only(&[(510, &[0x55, 0xaa]), used]), named("DOS partition table", "", Role::Table));
    assert!(recognise(&image(&[(510, &[0x55, 0xaa])])).is_empty());
    assert_eq!(only(&[(512, b"EFI PART"), (510, &[0x55, 0xaa]), used]).0, "GPT partition table");
    assert_eq!(only(&[(4096, b"EFI PART")]).0, "GPT partition table");
    assert_eq!(only(&[(-512, b"EFI PART")]).2, Role::Table);
    assert_eq!(only(&[(510, &[0x55, 0xaa]), used, (3, b"NTFS    ")]).0, "NTFS filesystem");
}

#[test]
fn an_empty_device_has_nothing() {
    assert!(recognise(&image(&[])).is_empty());
    assert!(image(&[]).is_blank());
    assert!(!image(&[(-1, &[1])]).is_blank());
    assert!(recognise(&Image::default()).is_empty());
}

proptest! {
    #[test]
    fn no_medium_makes_it_panic(size in 0_u64..200_000, seed in any::<u8>(), puts in proptest::collection::vec((0_usize..200_000, any::<[u8; 8]>()), 0..20)) {
        let mut bytes = vec![seed; usize::try_from(size).unwrap()];
        for (at, put) in puts {
            if let Some(place) = bytes.get_mut(at..at + 8) {
                place.copy_from_slice(&put);
            }
        }
        let _ = recognise(&Image { size, head: bytes.clone(), tail: Vec::new() });
        // A device that shrank while it was read.
        let _ = recognise(&Image { size: size / 2, head: Vec::new(), tail: bytes });
    }
}
