//! Pages: what each shows (a struct that borrows model values) and how (an askama template).
//!
//! Nothing here asks anything of anybody: a handler fetches, fills a page struct and calls
//! [`askama::Template::render`]. Everything that is written into a page is escaped by askama.
//!
//! | file | what |
//! |---|---|
//! | `format` | numbers and times as written on pages |
//! | `estimates` | a run's figures with their intervals |
//! | `mark` | a shape and a word for every state |
//! | `says` | what a drive declares, apart from what was measured |
//! | `seen` | what others than the engine saw of a run |
//! | `timeline` | phases as segments of a line |
//! | `zones` | a map of zones over the LBA range |
//! | `chart` | the three charts of a run as ECharts options |
//! | `drives` `drive` `new_run` `plan` `run` `runs` `problem` `methods` | one page each |

pub mod chart;
pub mod drive;
pub mod drives;
pub mod estimates;
pub mod format;
pub mod mark;
pub mod methods;
pub mod new_run;
pub mod plan;
pub mod problem;
pub mod run;
pub mod runs;
pub mod says;
pub mod seen;
pub mod timeline;
pub mod zones;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use askama::Template;
pub use drive::DrivePage;
pub use drives::{DrivesPage, EngineProblem};
pub use methods::MethodsPage;
pub use new_run::{NewRunPage, ProfileChoice};
pub use plan::PlanPage;
pub use problem::ProblemPage;
pub use run::RunPage;
pub use runs::RunsPage;

use crate::model::drive::Host;
use crate::web::assets::asset_url;

/// What every page shows around its content.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The host that is served.
    pub host: &'a Host,
    /// The present, milliseconds since 1970 UTC; relative times are told from it.
    pub now_ms: i64,
}

impl Frame<'_> {
    /// The address of a static file.
    #[must_use]
    pub fn asset(&self, name: &str) -> &'static str {
        asset_url(name)
    }

    /// The version of the service.
    #[must_use]
    pub fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
