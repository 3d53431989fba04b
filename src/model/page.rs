//! The pages a drive answers, as bytes: what every fact of it was read from.
//!
//! They stand beside a [`Drive`](super::drive::Drive) in memory and are shown one by one; a list of drives does not
//! carry them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// Which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageId {
    /// Standard INQUIRY data (SPC-4 §6.6.2).
    Inquiry,
    /// A vital product data page, by its code (SPC-4 §7.8).
    Vpd(u8),
    /// ATA IDENTIFY DEVICE, 512 bytes (ACS-4 §7.13).
    AtaIdentify,
    /// One page of an ATA general purpose log.
    AtaLog {
        /// Log address.
        log: u8,
        /// Page number.
        page: u8,
    },
    /// NVMe Identify Controller, CNS 01h.
    NvmeController,
    /// NVMe Identify Namespace, CNS 00h.
    NvmeNamespace,
    /// NVMe Identify Namespace of the Zoned Namespace command set, CNS 05h with CSI 02h.
    NvmeZonedNamespace,
    /// NVMe Identify Controller of the Zoned Namespace command set, CNS 06h with CSI 02h.
    NvmeZonedController,
}

impl PageId {
    /// The page that a word of the API names: two hex digits for a VPD page, `inquiry`, `identify`, `log-30-09`,
    /// `nvme-controller`, … `None` for any other word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let byte = |digits: &str| {
            let two = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            two.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
        };
        match word {
            "inquiry" => Some(Self::Inquiry),
            "identify" => Some(Self::AtaIdentify),
            "nvme-controller" => Some(Self::NvmeController),
            "nvme-namespace" => Some(Self::NvmeNamespace),
            "nvme-zoned-namespace" => Some(Self::NvmeZonedNamespace),
            "nvme-zoned-controller" => Some(Self::NvmeZonedController),
            _ => match word.strip_prefix("log-").and_then(|rest| rest.split_once('-')) {
                Some((log, page)) => Some(Self::AtaLog { log: byte(log)?, page: byte(page)? }),
                None => byte(word).map(Self::Vpd),
            },
        }
    }

    /// What the names of the facts begin with that are read from it; empty where none is.
    #[must_use]
    pub fn fact_prefix(self) -> &'static str {
        match self {
            Self::Inquiry => "inquiry/",
            Self::Vpd(0x00) => "vpd-0/",
            Self::Vpd(0x80) => "vpd-80/",
            Self::Vpd(0x83) => "wwn",
            Self::Vpd(0x89) | Self::AtaIdentify => "vpd-89/",
            Self::Vpd(0xb0) => "vpd-b0/",
            Self::Vpd(0xb1) => "vpd-b1/",
            Self::Vpd(0xb2) => "vpd-b2/",
            Self::Vpd(0xb6) => "vpd-b6/",
            Self::AtaLog { log: 0x30, page: 0x03 } => "log-30-03/",
            Self::AtaLog { log: 0x30, page: 0x09 } => "log-30-09/",
            Self::NvmeController | Self::NvmeNamespace => "nvme/mdts",
            Self::NvmeZonedNamespace | Self::NvmeZonedController => "zns/",
            Self::Vpd(_) | Self::AtaLog { .. } => "",
        }
    }

    /// Its name for a person.
    #[must_use]
    pub fn title(self) -> String {
        match self {
            Self::Inquiry => "Standard INQUIRY".to_owned(),
            Self::Vpd(code) => {
                let name = match code {
                    0x00 => "supported pages",
                    0x80 => "unit serial number",
                    0x83 => "device identification",
                    0x89 => "ATA information",
                    0xb0 => "block limits",
                    0xb1 => "block device characteristics",
                    0xb2 => "logical block provisioning",
                    0xb6 => "zoned block device characteristics",
                    0xb7 => "block limits extension",
                    0xb9 => "concurrent positioning ranges",
                    _ => return format!("VPD page 0x{code:02X}"),
                };
                format!("VPD page 0x{code:02X}, {name}")
            }
            Self::AtaIdentify => "ATA IDENTIFY DEVICE".to_owned(),
            Self::AtaLog { log, page } => {
                let name = match (log, page) {
                    (0x00, _) => ", directory",
                    (0x30, 0x00) => ", supported pages",
                    (0x30, 0x03) => ", supported capabilities",
                    (0x30, 0x09) => ", zoned device information",
                    _ => "",
                };
                format!("ATA log 0x{log:02X} page 0x{page:02X}{name}")
            }
            Self::NvmeController => "NVMe identify controller".to_owned(),
            Self::NvmeNamespace => "NVMe identify namespace".to_owned(),
            Self::NvmeZonedNamespace => "NVMe identify namespace, zoned".to_owned(),
            Self::NvmeZonedController => "NVMe identify controller, zoned".to_owned(),
        }
    }
}

/// The word of the API.
impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inquiry => f.write_str("inquiry"),
            Self::Vpd(code) => write!(f, "{code:02x}"),
            Self::AtaIdentify => f.write_str("identify"),
            Self::AtaLog { log, page } => write!(f, "log-{log:02x}-{page:02x}"),
            Self::NvmeController => f.write_str("nvme-controller"),
            Self::NvmeNamespace => f.write_str("nvme-namespace"),
            Self::NvmeZonedNamespace => f.write_str("nvme-zoned-namespace"),
            Self::NvmeZonedController => f.write_str("nvme-zoned-controller"),
        }
    }
}

impl Serialize for PageId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The bytes of one page, and where they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawPage {
    /// A file, or the command that was sent.
    pub source: String,
    /// As they came.
    pub bytes: Vec<u8>,
}

/// The pages of one drive. Cheap to clone: an inventory is cloned for every answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages(Arc<BTreeMap<PageId, Vec<RawPage>>>);

impl Pages {
    /// Adds a page. When there is one already, this one is preferred; the older one is kept only if it differs. That one
    /// source asked for fewer bytes than the other is no difference: the longer answer stays.
    pub fn prefer(&mut self, id: PageId, page: RawPage) {
        let all = Arc::make_mut(&mut self.0).entry(id).or_default();
        if all.iter().any(|known| known.bytes.len() > page.bytes.len() && known.bytes.starts_with(&page.bytes)) {
            return;
        }
        all.retain(|known| !page.bytes.starts_with(&known.bytes));
        all.insert(0, page);
    }

    /// A page: the bytes that are preferred, and every differing answer of another source after it.
    #[must_use]
    pub fn get(&self, id: PageId) -> Option<(&RawPage, &[RawPage])> {
        self.0.get(&id).and_then(|all| all.split_first())
    }

    /// Which pages there are, in order.
    pub fn ids(&self) -> impl Iterator<Item = PageId> + '_ {
        self.0.keys().copied()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One field of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageField {
    /// The standard's name for it.
    pub name: String,
    /// Its first byte, counted from 0.
    pub byte: usize,
    /// How many bytes it is in.
    pub bytes: usize,
    /// Its bits within the byte or word, `5:4` or `0`; `null` when it is all of them.
    pub bits: Option<String>,
    /// The number as it stands there, `0x…`, or the text's bytes; `null` when the page ends before it.
    pub raw: Option<String>,
    /// What it means.
    pub value: String,
    /// What a reader should know of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Another source's bytes for the same page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OtherBytes {
    /// Where they were read.
    pub source: String,
    /// Two digits a byte.
    pub bytes_hex: String,
}

/// A page with its fields beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageReport {
    /// Which page.
    pub page: PageId,
    /// Its name for a person.
    pub title: String,
    /// Where the bytes were read.
    pub source: String,
    /// How many bytes there are.
    pub length: usize,
    /// The bytes, two digits each.
    pub bytes_hex: String,
    /// The fields, in order of their place.
    pub fields: Vec<PageField>,
    /// What other sources have for this page, where it differs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<OtherBytes>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_page_has_a_word_that_leads_back_to_it() {
        for id in [
            PageId::Inquiry,
            PageId::Vpd(0xb1),
            PageId::Vpd(0),
            PageId::AtaIdentify,
            PageId::AtaLog { log: 0x30, page: 9 },
            PageId::NvmeController,
            PageId::NvmeNamespace,
            PageId::NvmeZonedNamespace,
            PageId::NvmeZonedController,
        ] {
            assert_eq!(PageId::parse(&id.to_string()), Some(id));
        }
        assert_eq!(PageId::parse("B1"), Some(PageId::Vpd(0xb1)));
        for wrong in ["", "b", "0xb1", "b1 ", "+1", "zz", "b11", "log-30", "log-30-", "log-3-9", "é1"] {
            assert_eq!(PageId::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_differing_older_page_is_kept_and_an_equal_one_is_not() {
        let page = |source: &str, bytes: &[u8]| RawPage { source: source.to_owned(), bytes: bytes.to_vec() };
        let mut pages = Pages::default();
        pages.prefer(PageId::Vpd(0xb1), page("sysfs", &[1]));
        pages.prefer(PageId::Vpd(0xb1), page("the drive", &[1]));
        let (first, rest) = pages.get(PageId::Vpd(0xb1)).unwrap();
        assert_eq!((first.source.as_str(), rest.len()), ("the drive", 0));
        pages.prefer(PageId::Vpd(0xb1), page("later", &[2]));
        let (first, rest) = pages.get(PageId::Vpd(0xb1)).unwrap();
        assert_eq!((first.source.as_str(), rest.len()), ("later", 1));
        pages.prefer(PageId::Inquiry, page("long", &[0, 1, 2]));
        pages.prefer(PageId::Inquiry, page("short", &[0, 1]));
        let (first, rest) = pages.get(PageId::Inquiry).unwrap();
        assert_eq!((first.source.as_str(), rest.len()), ("long", 0));
    }

    proptest! {
        #[test]
        fn any_word_gives_an_answer(word in ".{0,12}") {
            let _ = PageId::parse(&word);
        }
    }
}
