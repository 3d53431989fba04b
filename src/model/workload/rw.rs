//! The kinds of I/O.

use serde::{Deserialize, Serialize};

/// fio's `rw`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential mix, `rwmixread` percent reads.
    Rw,
    /// Random mix, `rwmixread` percent reads.
    RandRw,
    /// Sequential trims: the drive is told that the blocks are no longer needed.
    Trim,
    /// Random trims.
    RandTrim,
    /// In order: each block is trimmed, then written.
    TrimWrite,
}

impl Rw {
    /// All of them, in fio's spelling.
    pub const ALL: [(&'static str, Self); 9] = [
        ("read", Self::Read),
        ("write", Self::Write),
        ("randread", Self::RandRead),
        ("randwrite", Self::RandWrite),
        ("rw", Self::Rw),
        ("randrw", Self::RandRw),
        ("trim", Self::Trim),
        ("randtrim", Self::RandTrim),
        ("trimwrite", Self::TrimWrite),
    ];

    /// Their spellings, for a [`Choice`](crate::model::parameters::Kind::Choice).
    pub const WORDS: &'static [&'static str] =
        &["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim", "trimwrite"];

    /// fio's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::Rw => "rw",
            Self::RandRw => "randrw",
            Self::Trim => "trim",
            Self::RandTrim => "randtrim",
            Self::TrimWrite => "trimwrite",
        }
    }

    /// Whether any of its I/Os change the medium. A trim does: what was there is lost.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }

    /// Whether any of its I/Os are trims.
    #[must_use]
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim | Self::TrimWrite)
    }

    /// Whether offsets are random.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw | Self::RandTrim)
    }

    /// Whether it mixes reads and writes by `rwmixread`.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        matches!(self, Self::Rw | Self::RandRw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_spelling_everywhere() {
        for (index, (word, rw)) in Rw::ALL.into_iter().enumerate() {
            assert_eq!((rw.as_str(), Rw::WORDS[index]), (word, word));
            assert_eq!(serde_json::to_value(rw).unwrap(), word);
        }
    }
}
