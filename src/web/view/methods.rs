//! How the answers are found, in plain words.

use askama::Template;

use super::Frame;
use crate::model::profile::Profile;

/// `GET /methods`
#[derive(Template)]
#[template(path = "methods.html")]
pub struct MethodsPage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
}

impl MethodsPage<'_> {
    fn profiles(&self) -> [Profile; Profile::ALL.len()] {
        Profile::ALL
    }
}
