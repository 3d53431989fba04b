//! What went wrong, and what to do.

use askama::Template;

use super::Frame;
use crate::model::parameters::FieldError;
use crate::model::run::RefusedReason;

/// The page beside an RFC 9457 problem document.
#[derive(Template)]
#[template(path = "problem.html")]
pub struct ProblemPage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
    /// The HTTP status.
    pub status: u16,
    /// What sort of problem it is.
    pub title: &'a str,
    /// What it is this time.
    pub detail: Option<&'a str>,
    /// Why the request was refused; each knows its remedy.
    pub reasons: &'a [RefusedReason],
    /// What was wrong with single fields.
    pub errors: &'a [FieldError],
    /// What to do, where no reason says it.
    pub advice: Option<&'a str>,
}
