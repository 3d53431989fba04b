//! What a profile is made of.

use super::making::Making;
use super::words::{INTERVAL_MS, OFFSET_BYTES, RANDSEED, SIZE_BYTES};
use crate::model::parameters::Parameter;
use crate::model::plan::Phase;

/// One profile, as data and one pure function.
pub struct Definition {
    /// As written in the API.
    pub name: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// What it does, in a sentence or two.
    pub description: &'static str,
    /// Whether it overwrites what is there; `None` when a parameter decides.
    pub writes: Option<bool>,
    /// Its own parameters, besides those that all have.
    pub parameters: &'static [Parameter],
    /// Its phases, in order. Mistakes are noted in the reader; what is returned then is not looked at.
    pub phases: fn(&mut Making<'_>) -> Vec<Phase>,
}

impl Definition {
    /// All its parameters.
    #[must_use]
    pub fn all_parameters(&self) -> Vec<Parameter> {
        let common = [OFFSET_BYTES, SIZE_BYTES, RANDSEED, INTERVAL_MS];
        self.parameters.iter().copied().chain(common).collect()
    }
}
