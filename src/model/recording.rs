//! The answer to "what is this drive?": how it records, on what ground, and with what evidence.

use serde::{Deserialize, Serialize};

/// How a drive records, or why that is not known.
///
/// `NotReported` and `NotReadable` are answers of the inventory; `NotShown` and `Undecided`
/// are answers of a probe. None of the four is a polite word for "conventional".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordingState {
    /// Shingled; the host must write at write pointers (ZBC host-managed, device type 0x14).
    HostManaged,
    /// Shingled; the host may write at write pointers (ZBC host-aware, ZONED = 1).
    HostAware,
    /// Shingled behind a translation layer of its own (ZONED = 2, or found by a probe).
    DriveManaged,
    /// An NVMe namespace of the Zoned Namespace command set.
    Zns,
    /// Flash, or another medium that does not rotate.
    Ssd,
    /// Conventional: no shingling showed, and writing in place was shown.
    Cmr,
    /// No shingling showed within a stated amount of writing; not a proof of its absence.
    NotShown,
    /// The evidence contradicts itself, or was spoilt.
    Undecided,
    /// The drive was asked and does not say.
    NotReported,
    /// The drive could not be asked: a permission, a bridge, a kernel that skipped the page.
    NotReadable,
}

impl RecordingState {
    /// The state as written in the API and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HostManaged => "host-managed",
            Self::HostAware => "host-aware",
            Self::DriveManaged => "drive-managed",
            Self::Zns => "zns",
            Self::Ssd => "ssd",
            Self::Cmr => "cmr",
            Self::NotShown => "not-shown",
            Self::Undecided => "undecided",
            Self::NotReported => "not-reported",
            Self::NotReadable => "not-readable",
        }
    }

    /// The state as a person says it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::HostManaged => "Host-managed SMR",
            Self::HostAware => "Host-aware SMR",
            Self::DriveManaged => "Drive-managed SMR",
            Self::Zns => "Zoned SSD (ZNS)",
            Self::Ssd => "SSD",
            Self::Cmr => "Conventional (CMR)",
            Self::NotShown => "SMR not shown",
            Self::Undecided => "Undecided",
            Self::NotReported => "Not reported",
            Self::NotReadable => "Not readable",
        }
    }
}

/// On what ground a state stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The drive says so itself.
    Declared,
    /// A probe showed it.
    Measured,
    /// A list of models says so: a hint, never more.
    Listed,
    /// No ground: nothing was said and nothing was measured.
    None,
}

impl Basis {
    /// The basis as written in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Measured => "measured",
            Self::Listed => "listed",
            Self::None => "none",
        }
    }
}

/// Which way a piece of evidence points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Points {
    /// Towards shingled recording.
    Shingled,
    /// Towards conventional recording.
    Conventional,
    /// Towards flash.
    Flash,
    /// Neither way: told for completeness, or spoilt.
    Neither,
}

/// One observation, with what it would look like either way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// A stable word for machines: `cliff`, `rho`, `vpd-b1-zoned`, …
    pub name: String,
    /// Declared, measured or listed.
    pub basis: Basis,
    /// What was seen, for a person, with its unit.
    pub value: String,
    /// The same as a number, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// The unit of `number`, in the field's words (`IOPS`, `bytes`, `ratio`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Where it comes from: a file and byte, a page, or the phases of a run.
    pub source: String,
    /// What a conventional drive would show here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_conventional: Option<String>,
    /// What a shingled drive would show here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_shingled: Option<String>,
    /// Which way it points.
    pub points: Points,
    /// How much it counts, 0 (told only) to 1 (decisive alone).
    pub weight: f64,
}

impl Recording {
    /// The answer of an inventory that has not been digested yet.
    #[must_use]
    pub fn unexamined() -> Self {
        Self {
            state: RecordingState::NotReported,
            basis: Basis::None,
            confidence: 0.0,
            sentence: "Nothing is known of how this drive records.".to_owned(),
            evidence: Vec::new(),
        }
    }
}

/// A drive's or a run's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// How the drive records, or why that is not known.
    pub state: RecordingState,
    /// On what ground.
    pub basis: Basis,
    /// How sure, 0 (nothing known) to 1. See the methods page for how each verdict sets it.
    pub confidence: f64,
    /// The answer in one sentence that anybody understands.
    pub sentence: String,
    /// Everything it rests on, also what speaks against it.
    pub evidence: Vec<Evidence>,
}
