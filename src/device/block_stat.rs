//! `/sys/block/X/stat`: the block layer's own count (Documentation/block/stat.rst).

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};

use nix::sys::stat::{major, minor};

use super::names;
use super::sysfs::SysRoot;
use crate::model::conditions::CountSource;
use crate::model::drive::{DeviceKind, Drive, Reading};
use crate::model::seen::DeviceCount;
use crate::model::units::Bytes;

/// The numbers of one reading, in the order of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters([u64; 17]);

// Where each number stands.
const READ_IOS: usize = 0;
const READ_MERGES: usize = 1;
const READ_SECTORS: usize = 2;
const WRITE_IOS: usize = 4;
const WRITE_MERGES: usize = 5;
const WRITE_SECTORS: usize = 6;
const IN_FLIGHT: usize = 8;
const IO_TICKS: usize = 9;
const TIME_IN_QUEUE: usize = 10;
const DISCARD_IOS: usize = 11;
const DISCARD_MERGES: usize = 12;
const DISCARD_SECTORS: usize = 13;
const FLUSH_IOS: usize = 15;

impl Counters {
    /// Linux 4.18 and older tell 11 numbers, 5.4 and older 15: the rest stays 0.
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let mut numbers = [0; 17];
        let mut count = 0;
        for (place, word) in numbers.iter_mut().zip(text.split_ascii_whitespace()) {
            *place = word.parse().ok()?;
            count += 1;
        }
        (count >= 11).then_some(Self(numbers))
    }

    /// What has come since `before`. `None` when a count has gone back: another device has come under this name.
    fn since(&self, before: &Self) -> Option<DeviceCount> {
        let count = |place: usize| self.0[place].checked_sub(before.0[place]);
        // The kernel keeps milliseconds in 32 bits: at queue depth 128 they begin anew every nine hours.
        let ms = |place: usize| (self.0[place].wrapping_sub(before.0[place])) & u64::from(u32::MAX);
        let bytes = |place| count(place).map(Bytes::from_sectors);
        Some(DeviceCount {
            read_ios: count(READ_IOS)?,
            read_bytes: bytes(READ_SECTORS)?,
            write_ios: count(WRITE_IOS)?,
            write_bytes: bytes(WRITE_SECTORS)?,
            discard_ios: count(DISCARD_IOS)?,
            discard_bytes: bytes(DISCARD_SECTORS)?,
            flush_ios: count(FLUSH_IOS)?,
            merges: count(READ_MERGES)?.saturating_add(count(WRITE_MERGES)?).saturating_add(count(DISCARD_MERGES)?),
            queue_ms: ms(TIME_IN_QUEUE),
            busy_ms: ms(IO_TICKS),
            in_flight: self.0[IN_FLIGHT],
        })
    }
}

/// The count of one device, kept open.
#[derive(Debug)]
pub struct BlockStat {
    stat: File,
    last: Counters,
}

impl BlockStat {
    /// Opens the count that belongs to a target: its own, or for a file that of the disk or partition below its filesystem.
    /// Says which that is, or why there is none.
    #[must_use]
    pub fn open(root: &SysRoot, drive: &Drive) -> (Option<Self>, CountSource) {
        let place = match place(root, drive) {
            Ok(place) => place,
            Err(why) => return (None, CountSource { source: None, shared: false, unknown: Some(why) }),
        };
        let shared = drive.kind == DeviceKind::File;
        let unknown = |why: String| CountSource { source: Some(place.stat.clone()), shared, unknown: Some(why) };
        if root.number(&place.iostats) == Reading::Known(0) {
            return (None, unknown("the kernel does not count: queue/iostats is 0".to_owned()));
        }
        let opened = File::open(root.at(&place.stat)).map(|stat| Self { stat, last: Counters::default() });
        match opened {
            Ok(mut count) => match count.read() {
                Some(now) => {
                    count.last = now;
                    (Some(count), CountSource { source: Some(place.stat), shared, unknown: None })
                }
                None => (None, unknown("it is not in the form that is known".to_owned())),
            },
            Err(error) => (None, unknown(error.to_string())),
        }
    }

    fn read(&self) -> Option<Counters> {
        // The file is at most 17 numbers of 20 digits.
        let mut text = [0_u8; 512];
        let len = self.stat.read_at(&mut text, 0).ok()?;
        Counters::parse(text.get(..len)?)
    }

    /// What has come since the last time. `None` when it cannot be read any more.
    pub fn since(&mut self) -> Option<DeviceCount> {
        let now = self.read()?;
        let since = now.since(&self.last);
        self.last = now;
        since
    }
}

struct Place {
    stat: String,
    iostats: String,
}

fn place(root: &SysRoot, drive: &Drive) -> Result<Place, String> {
    let of_whole = |name: &str| Place {
        stat: format!("/sys/block/{name}/stat"),
        iostats: format!("/sys/block/{name}/queue/iostats"),
    };
    if drive.kind != DeviceKind::File {
        return Ok(of_whole(&drive.name));
    }
    let metadata = fs::metadata(&drive.path).map_err(|error| error.to_string())?;
    let (major, minor) = (major(metadata.dev()), minor(metadata.dev()));
    // Filesystems of several disks (btrfs, ZFS), of none (tmpfs) and of another host have numbers that are no device's.
    let name = names::by_number(root, major, minor)
        .ok_or_else(|| format!("the file's filesystem is on no single block device ({major}:{minor})"))?;
    let whole = names::whole_device(root, &name).unwrap_or_else(|| name.clone());
    let place = of_whole(&whole);
    if whole == name { Ok(place) } else { Ok(Place { stat: format!("/sys/block/{whole}/{name}/stat"), ..place }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &[u8] =
        b"  3828425    59512 104091618  7589830  2505465   649176 340020677  2290848        0   375560 \
                            4294967290   486996      120 282808664    84659    43288    21164\n";

    #[test]
    fn the_difference_of_two_readings_is_what_happened_between() {
        let before = Counters::parse(BEFORE).unwrap();
        let mut after = before;
        for (place, more) in [
            (WRITE_IOS, 2_048),
            (WRITE_SECTORS, 1_048_576),
            (FLUSH_IOS, 1),
            (WRITE_MERGES, 3),
            (READ_MERGES, 1),
            (IO_TICKS, 900),
        ] {
            after.0[place] += more;
        }
        after.0[IN_FLIGHT] = 4;
        let seen = after.since(&before).unwrap();
        assert_eq!((seen.write_ios, seen.write_bytes), (2_048, Bytes(512 << 20)));
        assert_eq!((seen.flush_ios, seen.merges, seen.busy_ms, seen.in_flight), (1, 4, 900, 4));
        assert_eq!((seen.read_ios, seen.discard_ios), (0, 0));
    }

    #[test]
    fn milliseconds_that_begin_anew_are_followed_and_counts_that_go_back_are_not_believed() {
        let before = Counters::parse(BEFORE).unwrap();
        let mut after = before;
        after.0[TIME_IN_QUEUE] = 994;
        assert_eq!(after.since(&before).map(|seen| seen.queue_ms), Some(1_000));
        after.0[READ_IOS] = 3;
        assert_eq!(after.since(&before), None);
    }

    #[test]
    fn old_kernels_tell_fewer_numbers_and_nonsense_none() {
        let old = b"1 0 8 1 1 0 8 1 0 2 2\n";
        assert_eq!(Counters::parse(old).map(|counters| counters.0[DISCARD_IOS]), Some(0));
        for nonsense in [&b"1 2 3"[..], b"", b"1 0 8 1 1 0 8 1 0 2 x", b"\xff"] {
            assert_eq!(Counters::parse(nonsense), None);
        }
    }

    #[test]
    fn a_partition_below_a_file_is_counted_and_a_count_that_is_off_is_no_zero() {
        let dir = tempfile::tempdir().unwrap();
        let root = SysRoot::recorded(dir.path());
        let queue = root.at("/sys/block/sda/queue");
        fs::create_dir_all(&queue).unwrap();
        fs::write(root.at("/sys/block/sda/stat"), BEFORE).unwrap();
        fs::write(root.at("/sys/block/sda/size"), "2048\n").unwrap();
        let drive = crate::device::scan(&root).drives.remove(0);
        let (count, source) = BlockStat::open(&root, &drive);
        assert_eq!((count.is_some(), source.source.as_deref()), (true, Some("/sys/block/sda/stat")));
        fs::write(queue.join("iostats"), "0\n").unwrap();
        let (count, source) = BlockStat::open(&root, &drive);
        assert!(count.is_none() && source.unknown.is_some_and(|why| why.contains("iostats")));

        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        let metadata = fs::metadata(&file).unwrap();
        let number = format!("{}:{}", major(metadata.dev()), minor(metadata.dev()));
        let drive = Drive { path: file, kind: DeviceKind::File, ..drive };
        assert!(BlockStat::open(&root, &drive).1.unknown.is_some_and(|why| why.contains(&number)));
        fs::create_dir_all(root.at("/sys/dev/block")).unwrap();
        fs::create_dir_all(root.at("/sys/block/sdb/sdb1")).unwrap();
        fs::write(root.at("/sys/block/sdb/sdb1/partition"), "1\n").unwrap();
        fs::write(root.at("/sys/block/sdb/sdb1/stat"), BEFORE).unwrap();
        let link = root.at(&format!("/sys/dev/block/{number}"));
        std::os::unix::fs::symlink("../../devices/x/block/sdb/sdb1", link).unwrap();
        let (count, source) = BlockStat::open(&root, &drive);
        assert_eq!(source.source.as_deref(), Some("/sys/block/sdb/sdb1/stat"));
        assert!(source.shared && count.is_some_and(|mut count| count.since() == Some(DeviceCount::default())));
    }
}
