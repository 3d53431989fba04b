//! All runs.

use askama::Template;

use super::{Frame, format, mark};
use crate::model::run::Run;

/// `GET /runs`
#[derive(Template)]
#[template(path = "runs.html")]
pub struct RunsPage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
    /// The runs, newest first.
    pub runs: &'a [Run],
    /// Where older runs are, if there are more.
    pub older: Option<&'a str>,
}
