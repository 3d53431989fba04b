//! The report of one drive.

use askama::Template;

use super::new_run::ProfileChoice;
use super::says::Marks;
use super::zones::ZoneMap;
use super::{Frame, estimates, format, mark};
use crate::model::drive::{Drive, Fact, IdentityBasis, Usage};
use crate::model::page::PageReport;
use crate::model::run::Run;
use crate::model::suitability::Suitability;

/// `GET /drives/{id}`
#[derive(Template)]
#[template(path = "drive.html")]
pub struct DrivePage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
    /// The drive.
    pub drive: &'a Drive,
    /// What it is good for.
    pub suitability: &'a Suitability,
    /// Its runs, newest first.
    pub runs: &'a [Run],
    /// What has changed about it since it was probed.
    pub history_notes: &'a [String],
    /// The profiles that may be run on it, each with what speaks against it now.
    pub profiles: &'a [ProfileChoice<'a>],
    /// False when the drive is known from earlier runs but not attached now.
    pub attached: bool,
    /// The pages it answered, with their fields.
    pub pages: &'a [PageReport],
    /// Its zones, if it has some.
    pub zones: Option<ZoneMap<'a>>,
}

impl DrivePage<'_> {
    fn marks(&self) -> Marks {
        Marks::of(self.drive)
    }

    /// The limits that several runs together tell.
    fn cache_limits(&self) -> Vec<estimates::Row<'_>> {
        estimates::rows(&self.suitability.limits)
    }

    fn known_facts(&self) -> Vec<&Fact> {
        self.drive.facts.iter().filter(|fact| fact.value.is_some()).collect()
    }

    fn unknown_facts(&self) -> Vec<&Fact> {
        self.drive.facts.iter().filter(|fact| fact.value.is_none()).collect()
    }

    fn why_unknown(&self, fact: &Fact) -> String {
        fact.unknown.as_ref().map_or_else(|| "not told".to_owned(), ToString::to_string)
    }

    fn identity_basis(&self) -> &'static str {
        match self.drive.identity.basis {
            IdentityBasis::Wwn => "its world wide name",
            IdentityBasis::ModelSerial => "its model and serial number",
            IdentityBasis::Path => "only the place it is plugged in: a swap would go unnoticed",
            IdentityBasis::Simulated => "the preset of the simulated fleet",
        }
    }

    /// What becomes of its runs when it is moved.
    fn history_basis(&self) -> &'static str {
        match self.drive.identity.basis {
            _ if !self.drive.identity.unique => "stay with this place: it cannot be told apart from another drive",
            IdentityBasis::Wwn => "follow it to any port, name or bridge that passes its world wide name on",
            IdentityBasis::ModelSerial => {
                "follow it to any port or name; behind a bridge that rewrites model or serial it is another drive"
            }
            IdentityBasis::Path => "stay with this place and do not follow the device",
            IdentityBasis::Simulated => "stay with the preset",
        }
    }

    /// The users of one partition (or, by the device's own name, of the whole device).
    fn users_of(&self, device: &str) -> Vec<&Usage> {
        self.drive.usage.iter().filter(|usage| usage_device(usage) == device).collect()
    }

    /// Users that hang on neither the device itself nor a listed partition.
    fn users_elsewhere(&self) -> Vec<&Usage> {
        let listed = |name: &str| name == self.drive.name || self.drive.partitions.iter().any(|part| part.name == name);
        self.drive.usage.iter().filter(|usage| !listed(usage_device(usage))).collect()
    }

    /// The block layer's limits that are told: name, value, what it means.
    fn limits(&self) -> Vec<(&'static str, String, &'static str)> {
        let limits = &self.drive.limits;
        let kib = |value: Option<u64>| value.map(|kib| format!("{kib} KiB"));
        let plain = |value: Option<u64>| value.map(format::grouped);
        let zero_is = |value: Option<u64>, zero: &str| {
            value.map(|number| if number == 0 { zero.to_owned() } else { format::grouped(number) })
        };
        let bytes = |value: Option<u64>| value.map(|number| crate::model::Bytes(number).binary());
        let rows = [
            ("Largest request, hardware", kib(limits.max_hw_sectors_kb), "larger I/Os are split on the way"),
            ("Largest request, kernel", kib(limits.max_sectors_kb), "what the kernel will send at once"),
            ("Segments per request", plain(limits.max_segments), ""),
            ("Segment size", bytes(limits.max_segment_size_bytes), ""),
            ("Requests in the queue", plain(limits.nr_requests), ""),
            (
                "Discard (TRIM)",
                limits
                    .discard_max_bytes
                    .map(|number| if number == 0 { "none".to_owned() } else { crate::model::Bytes(number).binary() }),
                "a rotating disk that takes TRIM is a hint at shingling",
            ),
            ("Zones, as the kernel sees it", limits.zoned.clone(), "drive-managed disks show none"),
            ("Number of zones", plain(limits.nr_zones), ""),
            ("Zone size", bytes(limits.chunk_bytes), ""),
            ("Open zones at most", zero_is(limits.max_open_zones, "no limit"), ""),
            ("Active zones at most", zero_is(limits.max_active_zones, "no limit"), ""),
            ("Write cache", limits.write_cache.clone(), ""),
            ("Forced unit access", limits.fua.map(|fua| if fua { "yes" } else { "no" }.to_owned()), ""),
            ("Scheduler", limits.scheduler.clone(), ""),
            ("Command timeout", limits.timeout_s.map(|s| format!("{s} s")), ""),
        ];
        rows.into_iter().filter_map(|(name, value, note)| Some((name, value?, note))).collect()
    }

    fn gigabytes_exact(&self) -> String {
        format::grouped(self.drive.capacity_bytes.get())
    }
}

fn usage_device(usage: &Usage) -> &str {
    match usage {
        Usage::Mounted { device, .. }
        | Usage::Swap { device }
        | Usage::Holder { device, .. }
        | Usage::Member { device, .. }
        | Usage::LoopBacking { device, .. }
        | Usage::Exclusive { device } => device,
    }
}
