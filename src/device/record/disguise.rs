//! Serial numbers and world wide names replaced by made-up ones of the same form, everywhere alike.
//!
//! A digit becomes a digit, a letter a letter of the same case, and the maker's part of a world wide name stays, so that
//! every decoder reads a disguised page as it read the true one. The same number always gets the same disguise, so that
//! two recordings of one drive are still of one drive.

use uuid::Uuid;

use super::super::identity::{ascii, hex};
use super::super::naming::is_placeholder;

/// The UUIDv5 namespace of disguises, drawn at random once.
const NAMESPACE: Uuid = Uuid::from_u128(0x51c7_7e0d_9a36_4b1f_8d24_c0ba_73e9_1f58);
/// A shorter text is replaced only where a serial number stands by itself: elsewhere it may be part of another word.
const LONG_ENOUGH: usize = 6;
/// A number must be longer: a serial `104857` may begin a size.
const LONG_ENOUGH_NUMBER: usize = 8;
/// Where IDENTIFY DEVICE lies in VPD page 0x89 (SAT-3 §12.4.3).
const IDENTIFY: std::ops::Range<usize> = 60..572;

/// What to replace by what.
#[derive(Debug, Default)]
pub struct Disguise {
    pairs: Vec<Pair>,
    /// Different names and numbers; each has several forms among the pairs.
    found: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Pair {
    old: Vec<u8>,
    new: Vec<u8>,
    /// May be replaced anywhere.
    anywhere: bool,
}

impl Disguise {
    /// How many different names and numbers have been found.
    #[must_use]
    pub fn found(&self) -> usize {
        self.found
    }

    /// Finds the names and numbers in a file, by its name.
    pub fn learn(&mut self, path: &str, bytes: &[u8]) {
        let text = ascii(bytes).unwrap_or_default();
        match path.rsplit('/').next().unwrap_or_default() {
            "vpd_pg80" => self.serial(&ascii(bytes.get(4..).unwrap_or_default()).unwrap_or_default()),
            "serial" | "nguid" | "eui" | "uuid" | "cid" => self.serial(&text),
            // A path of the host, or what a person called a volume.
            "backing_file" | "name" if path.contains("/loop/") || path.contains("/dm/") => self.serial(&text),
            "vpd_pg83" => self.designators(bytes.get(4..).unwrap_or_default()),
            "vpd_pg89" => {
                let identify = swapped(bytes.get(IDENTIFY).unwrap_or_default());
                let words = |first: usize, last: usize| identify.get(2 * first..2 * last + 2).unwrap_or_default();
                self.serial(&ascii(words(10, 19)).unwrap_or_default());
                self.name(words(108, 111));
            }
            "wwid" => self.wwid(&text),
            _ => {}
        }
    }

    fn wwid(&mut self, text: &str) {
        match text.split_once('.') {
            Some(("naa" | "eui", digits)) => self.name(&unhex(digits)),
            Some(("uuid", digits)) => self.serial(digits),
            // nvme.<vendor>-<serial in hexadecimal>-<model in hexadecimal>-<namespace>
            Some(("nvme", rest)) => {
                let serial = unhex(rest.split('-').nth(1).unwrap_or_default());
                self.serial(&ascii(&serial).unwrap_or_default());
            }
            _ => {}
        }
    }

    /// The designators of page 0x83 (SPC-4 §7.8.6), those of ports too.
    fn designators(&mut self, mut list: &[u8]) {
        while let &[_, kind, _, length, ref rest @ ..] = list {
            let Some(designator) = rest.get(..usize::from(length)) else { return };
            match kind & 0x0f {
                2 | 3 => self.name(designator),
                8 => self.wwid(&ascii(designator).unwrap_or_default().to_ascii_lowercase()),
                _ => {}
            }
            list = rest.get(usize::from(length)..).unwrap_or_default();
        }
    }

    fn serial(&mut self, text: &str) {
        if text.len() < 2 || is_placeholder(text) {
            return;
        }
        let old = text.as_bytes();
        let new = other_text(old);
        let number = old.iter().all(u8::is_ascii_digit);
        let anywhere = old.len() >= if number { LONG_ENOUGH_NUMBER } else { LONG_ENOUGH };
        // NVMe's wwid writes the serial number in hexadecimal.
        self.add(hex(old).into_bytes(), hex(&new).into_bytes(), true);
        self.found += usize::from(self.add(old.to_vec(), new, anywhere));
    }

    fn name(&mut self, old: &[u8]) {
        let blank = old.iter().all(|byte| *byte == 0) || old.iter().all(|byte| *byte == 0xff);
        if !matches!(old.len(), 8 | 12 | 16) || blank {
            return;
        }
        let new = other_name(old);
        self.add(hex(old).into_bytes(), hex(&new).into_bytes(), true);
        self.add(hex(old).to_ascii_uppercase().into_bytes(), hex(&new).to_ascii_uppercase().into_bytes(), true);
        self.found += usize::from(self.add(old.to_vec(), new, true));
    }

    /// Whether it was not known yet.
    fn add(&mut self, old: Vec<u8>, new: Vec<u8>, anywhere: bool) -> bool {
        let is_new = self.pairs.iter().all(|pair| pair.old != old);
        if is_new {
            self.pairs.push(Pair { old, new, anywhere });
            // A number inside a longer one must not break it.
            self.pairs.sort_by_key(|pair| std::cmp::Reverse(pair.old.len()));
        }
        is_new
    }

    /// A file in disguise, as long as it was.
    #[must_use]
    pub fn apply(&self, path: &str, bytes: &[u8]) -> Vec<u8> {
        let file = path.rsplit('/').next().unwrap_or_default();
        let names_the_drive =
            matches!(file, "vpd_pg80" | "vpd_pg83" | "serial" | "wwid" | "backing_file" | "name" | "cid");
        let mut bytes = self.replaced(bytes, names_the_drive);
        if file == "vpd_pg89"
            && let Some(identify) = bytes.get_mut(IDENTIFY)
        {
            let mut words = self.replaced(&swapped(identify), false);
            // Its own serial field, words 10-19, however short the number in it.
            if let Some(field) = words.get_mut(20..40) {
                let hidden = self.replaced(field, true);
                field.copy_from_slice(&hidden);
            }
            identify.copy_from_slice(&swapped(&words));
            mend_checksum(identify);
        }
        bytes
    }

    fn replaced(&self, bytes: &[u8], also_short: bool) -> Vec<u8> {
        let mut result = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let hit = self.pairs.iter().find(|pair| {
                rest.starts_with(&pair.old)
                    && (pair.anywhere || (also_short && stands_alone(result.last(), rest.get(pair.old.len()))))
            });
            match hit {
                Some(pair) => {
                    // What was replaced in the original is not looked at again, so that a disguise is never disguised.
                    result.extend_from_slice(&pair.new);
                    rest = rest.get(pair.old.len()..).unwrap_or_default();
                }
                None => {
                    result.push(first);
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
        result
    }
}

/// Whether neither neighbour continues the word.
fn stands_alone(before: Option<&u8>, after: Option<&u8>) -> bool {
    [before, after].into_iter().flatten().all(|byte| !byte.is_ascii_alphanumeric())
}

/// Bytes in pairs exchanged: IDENTIFY's words with the high byte first.
fn swapped(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect()
}

/// Word 255 (ACS-4 §7.13.6.94): with the signature 0xA5 in its low byte, all 512 bytes add up to 0.
fn mend_checksum(identify: &mut [u8]) {
    if identify.len() == 512
        && let [head @ .., sum] = identify
        && head.last() == Some(&0xa5)
    {
        *sum = head.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).wrapping_neg();
    }
}

/// Bytes that depend on `old` alone.
fn stream(old: &[u8], salt: u8) -> impl Iterator<Item = u8> {
    let seed = [&[salt], old].concat();
    (0_u8..).flat_map(move |block| Uuid::new_v5(&NAMESPACE, &[&[block], &seed[..]].concat()).into_bytes())
}

fn other_text(old: &[u8]) -> Vec<u8> {
    let with = |salt: u8| -> Vec<u8> {
        let replace = |(byte, random): (&u8, u8)| match byte {
            b'0'..=b'9' => b'0' + random % 10,
            b'A'..=b'Z' => b'A' + random % 26,
            b'a'..=b'z' => b'a' + random % 26,
            other => *other,
        };
        old.iter().zip(stream(old, salt)).map(replace).collect()
    };
    // It must look like a serial number, and not be the old one by chance.
    let good = |text: &Vec<u8>| text != old && !is_placeholder(&String::from_utf8_lossy(text));
    (0..=u8::MAX).map(with).find(good).unwrap_or_else(|| with(0))
}

/// The first four bytes keep the kind of the name and nearly all of the maker's number (NAA 5: 4 + 24 bits; EUI-64: 24 bits).
fn other_name(old: &[u8]) -> Vec<u8> {
    let kept = old.get(..4).unwrap_or_default().iter().copied();
    kept.chain(stream(old, 0).map(|byte| byte.max(1))).take(old.len()).collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let nibbles: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    nibbles
        .unwrap_or_default()
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, nibble| byte << 4 | nibble))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disguise_has_the_same_form_and_is_always_the_same() {
        let hidden = other_text(b"WD-WX11A12345678 z");
        assert_eq!(hidden.len(), 18);
        assert_eq!((hidden[2], hidden[16]), (b'-', b' '));
        assert!(hidden[0].is_ascii_uppercase() && hidden[5].is_ascii_digit() && hidden[17].is_ascii_lowercase());
        assert_eq!(hidden, other_text(b"WD-WX11A12345678 z"));
        let name = other_name(&unhex("5000c500a1b2c3d4"));
        assert!(hex(&name).starts_with("5000c500") && hex(&name) != "5000c500a1b2c3d4");
    }

    #[test]
    fn every_form_of_a_name_is_replaced_alike() {
        let mut disguise = Disguise::default();
        disguise.learn("/sys/block/sda/device/wwid", b"naa.5000c500a1b2c3d4\n");
        disguise.learn("/sys/block/sda/device/serial", b"ZCT0AAAA\n");
        let lower = disguise.apply("a", b"x 5000c500a1b2c3d4 ZCT0AAAA");
        let upper = disguise.apply("a", b"x 5000C500A1B2C3D4 ZCT0AAAA");
        assert_eq!(lower.to_ascii_uppercase(), upper.to_ascii_uppercase());
        let binary = disguise.apply("a", &unhex("5000c500a1b2c3d4"));
        assert!(String::from_utf8(lower).unwrap().contains(&hex(&binary)));
    }

    #[test]
    fn a_short_serial_is_replaced_only_where_it_stands_alone() {
        let mut disguise = Disguise::default();
        disguise.learn("/sys/block/sda/device/serial", b"M1\n");
        assert_eq!(disguise.apply("/sys/block/sda/device/model", b"M1 MODEL\n"), b"M1 MODEL\n");
        assert_eq!(disguise.apply("/sys/block/sda/device/wwid", b"t10.XM1MODEL\n"), b"t10.XM1MODEL\n");
        assert_ne!(disguise.apply("/sys/block/sda/device/wwid", b"t10.X  M1\n"), b"t10.X  M1\n");
    }

    #[test]
    fn identify_still_adds_up_in_disguise() {
        let mut page = vec![0_u8; 572];
        page[60 + 20..60 + 28].copy_from_slice(b"CZ0TAAAA");
        page[570] = 0xa5;
        mend_checksum(&mut page[60..572]);
        let mut disguise = Disguise::default();
        disguise.learn("/d/vpd_pg89", &page);
        let hidden = disguise.apply("/d/vpd_pg89", &page);
        assert_ne!(hidden, page);
        assert_eq!(hidden[60..].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)), 0);
    }
}
