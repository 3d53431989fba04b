//! The first page: every drive, what it says it is and what it was found to be.

use askama::Template;

use super::says::Marks;
use super::{Frame, format, mark};
use crate::model::drive::{Drive, Inventory};
use crate::model::run::Run;

/// Why nothing can be probed on this host.
#[derive(Debug, Clone, Copy)]
pub struct EngineProblem<'a> {
    /// What the kernel says.
    pub error: &'a str,
    /// What can be done about it.
    pub remedy: Option<&'a str>,
}

/// `GET /`
#[derive(Template)]
#[template(path = "drives.html")]
pub struct DrivesPage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
    /// The drives.
    pub inventory: &'a Inventory,
    /// Runs that are not over.
    pub running: &'a [Run],
    /// Why io_uring cannot be used, if it cannot.
    pub engine_problem: Option<EngineProblem<'a>>,
}

impl DrivesPage<'_> {
    fn run_of(&self, drive: &Drive) -> Option<&Run> {
        self.running.iter().find(|run| run.drive == drive.id)
    }

    fn marks(&self, drive: &Drive) -> Marks {
        Marks::of(drive)
    }

    fn simulated(&self) -> usize {
        self.inventory.drives.iter().filter(|drive| drive.simulated).count()
    }

    fn real(&self) -> usize {
        self.inventory.drives.len() - self.simulated()
    }

    fn hidden(&self) -> usize {
        self.inventory.drives.iter().filter(|drive| Marks::of(drive).hidden()).count()
    }
}
