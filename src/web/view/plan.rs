//! What a run would do, cost and destroy, with the field that lets it.

use askama::Template;
use serde_json::{Map, Value};

use super::Frame;
use super::new_run::text;
use super::timeline::{self, Segment};
use crate::model::drive::Drive;
use crate::model::parameters::FieldError;
use crate::model::plan::{Action, Phase, Plan};
use crate::model::run::RefusedReason;
use crate::model::workload::{Zbd, ZoneOpening, ZoneTask};

/// `GET /drives/{id}/runs/plan?profile=…`, and again when the start was refused.
#[derive(Template)]
#[template(path = "plan.html")]
pub struct PlanPage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
    /// The drive.
    pub drive: &'a Drive,
    /// The plan.
    pub plan: &'a Plan,
    /// The parameters it was made of; they are sent again with the start.
    pub given: &'a Map<String, Value>,
    /// Everything that speaks against starting it now.
    pub refused: &'a [RefusedReason],
    /// What was wrong with an attempt to start it (field `confirm`).
    pub errors: &'a [FieldError],
}

impl PlanPage<'_> {
    fn segments(&self) -> Vec<Segment<'_>> {
        timeline::of_plan(self.plan)
    }

    fn parameters(&self) -> Vec<(&String, String)> {
        self.given.iter().map(|(name, value)| (name, text(value))).collect()
    }

    fn confirm_error(&self) -> Option<&str> {
        self.errors.iter().find(|error| error.field == "confirm").map(|error| error.detail.as_str())
    }

    fn other_errors(&self) -> Vec<&FieldError> {
        self.errors.iter().filter(|error| error.field != "confirm").collect()
    }

    /// The form that made this plan, filled in again.
    fn change_url(&self) -> String {
        let mut url = format!("/drives/{}/runs/new?profile={}", self.drive.id, self.plan.profile.as_str());
        for (name, value) in self.parameters() {
            url.push_str(&format!("&{}={}", encoded(name), encoded(&value)));
        }
        url
    }

    fn whole_drive(&self) -> bool {
        self.plan.offset_bytes.0 == 0 && self.plan.size_bytes == self.drive.capacity_bytes
    }
}

/// Percent-encoding of everything that is not unreserved (RFC 3986 §2.3).
fn encoded(text: &str) -> String {
    let mut url = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

/// What is done with zones, after the rest of the line.
fn zones_of(zbd: Zbd) -> String {
    let opened = match zbd.opening {
        ZoneOpening::Implicit => "",
        ZoneOpening::Explicit => ", opened and closed",
    };
    match zbd.task {
        ZoneTask::Write if zbd.max_open_zones == 1 => format!(", 1 zone{opened}"),
        ZoneTask::Write => format!(", {} zones{opened}", zbd.max_open_zones),
        ZoneTask::Report => ", report zones".to_owned(),
        ZoneTask::Reset => ", reset zones".to_owned(),
    }
}

/// A phase's I/O in a line: `randwrite, 4.0 KiB, 8 in flight`.
pub(super) fn io_of(phase: &Phase) -> String {
    match &phase.action {
        Action::Idle { .. } => "no I/O".to_owned(),
        Action::Io(workload) => {
            let up_to = if workload.bssplit.is_empty() { "" } else { "up to " };
            let bs = workload.bs.binary();
            let zones = workload.zbd.map(zones_of).unwrap_or_default();
            format!("{}, {up_to}{bs}, {} in flight{zones}", workload.rw.as_str(), workload.in_flight())
        }
    }
}
