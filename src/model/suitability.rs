//! What a drive is good for, for somebody who is about to build something with it.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::parameters::FieldError;
use super::run::RunId;

/// What it could be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// One of a ZFS RAIDZ vdev: what counts is the resilver onto it.
    RaidzResilver,
    /// One half of a ZFS mirror.
    MirrorResilver,
    /// One of a RAID array that is rebuilt block by block (mdraid, a RAID adapter).
    RaidRebuild,
    /// Backups and archives, written in order.
    SequentialBackup,
    /// A database that writes all over it.
    RandomWriteDatabase,
    /// A filesystem that knows zones.
    ZonedFilesystem,
}

impl Use {
    /// As people say it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::RaidzResilver => "RAIDZ, resilver",
            Self::MirrorResilver => "ZFS mirror, resilver",
            Self::RaidRebuild => "RAID, rebuild",
            Self::SequentialBackup => "Backup or archive, in order",
            Self::RandomWriteDatabase => "Database, random writes",
            Self::ZonedFilesystem => "Zoned filesystem",
        }
    }
}

/// Whether it is good for a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// It is.
    Suitable,
    /// It is, if the sentence is heeded.
    WithCare,
    /// It is not.
    Unsuitable,
    /// Too little has been said or measured.
    NotKnown,
}

impl Grade {
    /// As people say it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Suitable => "suitable",
            Self::WithCare => "with care",
            Self::Unsuitable => "unsuitable",
            Self::NotKnown => "not known",
        }
    }
}

/// A number that a judgement rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ground {
    /// What it is, its value and unit, for a person.
    pub text: String,
    /// The run that measured it; `null` where it was declared or published.
    pub run: Option<RunId>,
}

/// How long something takes, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Duration {
    /// The estimate.
    pub value_s: f64,
    /// Where all goes well.
    pub low_s: f64,
    /// Where all goes badly.
    pub high_s: f64,
}

/// One use, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The use.
    #[serde(rename = "use")]
    pub purpose: Use,
    /// The grade.
    pub grade: Grade,
    /// Why, for a person.
    pub sentence: String,
    /// How long the resilver, rebuild or filling takes, where that can be told.
    pub estimate: Option<Duration>,
    /// How that was reckoned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The numbers that it rests on.
    pub because: Vec<Ground>,
    /// What is missing, each with the profile that measures it.
    pub missing: Vec<String>,
}

/// The pool that a resilver is reckoned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// Drives of the vdev.
    pub width: u32,
    /// How many of them hold parity: RAIDZ1, 2 or 3.
    pub parity: u32,
    /// How full it is.
    pub fill_percent: u32,
}

impl Default for Pool {
    /// Six drives, two of parity, 60 % full: what people build at home. Nothing is measured in it.
    fn default() -> Self {
        Self { width: 6, parity: 2, fill_percent: 60 }
    }
}

impl Pool {
    /// A pool of these numbers; what is `None` is as in the default.
    ///
    /// # Errors
    /// Each number that no RAIDZ vdev can have, by name.
    pub fn new(width: Option<u32>, parity: Option<u32>, fill_percent: Option<u32>) -> Result<Self, Vec<FieldError>> {
        let default = Self::default();
        let width = width.unwrap_or(default.width);
        let parity = parity.unwrap_or_else(|| default.parity.min(width.saturating_sub(1)));
        let fill_percent = fill_percent.unwrap_or(default.fill_percent);
        let mut errors = Vec::new();
        // zpoolconcepts(7): a RAIDZ vdev has up to 255 children, at least one more than parity.
        if !(2..=255).contains(&width) {
            errors.push(FieldError::new("width", format!("is {width}, must be 2 to 255")));
        }
        if !(1..=3).contains(&parity) || parity >= width {
            errors.push(FieldError::new("parity", format!("is {parity}, must be 1 to 3 and less than width")));
        }
        if !(1..=100).contains(&fill_percent) {
            errors.push(FieldError::new("fill_percent", format!("is {fill_percent}, must be 1 to 100")));
        }
        if errors.is_empty() { Ok(Self { width, parity, fill_percent }) } else { Err(errors) }
    }
}

/// What a drive is good for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suitability {
    /// The pool that resilvers are reckoned for.
    pub pool: Pool,
    /// Each use.
    pub uses: Vec<Judgement>,
    /// What only several runs together tell: the limits of a shingled disk's cache, through the cliffs of all block sizes.
    pub limits: Vec<Estimate>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_cannot_be_is_refused_by_every_wrong_number() {
        assert_eq!(Pool::new(None, None, None).unwrap(), Pool::default());
        assert_eq!(Pool::new(Some(2), None, None).unwrap().parity, 1);
        let errors = Pool::new(Some(1), Some(4), Some(101)).unwrap_err();
        assert_eq!(errors.len(), 3);
        assert_eq!(Pool::new(Some(3), Some(3), None).unwrap_err()[0].field, "parity");
    }
}
