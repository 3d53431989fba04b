//! Every page: renders empty, with one and with many; escapes; holds the content security policy.

use scraper::{Html, Selector};
use serde_json::{Map, Value};

use super::samples::{self, NOW_MS};
use super::*;
use crate::model::drive::{Inventory, Usage};
use crate::model::page::{OtherBytes, PageField, PageId, PageReport};
use crate::model::parameters::FieldError;
use crate::model::profile::Profile;
use crate::model::run::{Hold, RefusedReason, Run, RunState, StopReason};
use crate::model::zone::{NoZones, ZoneCondition, ZoneType};

const NO_IO_URING: EngineProblem<'static> =
    EngineProblem { error: "Operation not permitted", remedy: Some("sysctl kernel.io_uring_disabled=0") };

/// Every page there is, by name, in every state worth looking at.
pub(super) fn pages() -> Vec<(String, String)> {
    let host = samples::host();
    let frame = Frame { host: &host, now_ms: NOW_MS };
    let fleet = samples::fleet();
    let mut pages = Vec::new();
    let mut add = |name: &str, html: Result<String, askama::Error>| pages.push((name.to_owned(), html.unwrap()));

    let running = [samples::run(&fleet[0], Profile::SmrQuick, 2)];
    let many = samples::inventory(fleet.clone());
    let empty = Inventory { left_out: Vec::new(), ..samples::inventory(Vec::new()) };
    let one = samples::inventory(vec![samples::evil_drive()]);
    add("drives", DrivesPage { frame, inventory: &many, running: &running, engine_problem: None }.render());
    let problem = Some(NO_IO_URING);
    add("drives-one", DrivesPage { frame, inventory: &one, running: &[], engine_problem: problem }.render());
    add("drives-empty", DrivesPage { frame, inventory: &empty, running: &[], engine_problem: None }.render());

    let in_use: Vec<_> = fleet[1].usage.iter().map(|usage| RefusedReason::InUse { usage: usage.clone() }).collect();
    let free = Profile::ALL.map(|profile| ProfileChoice { profile, refused: &[] });
    let refused = Profile::ALL
        .map(|profile| ProfileChoice { profile, refused: if profile == Profile::Inspect { &[] } else { &in_use } });
    let finished = samples::run(&fleet[0], Profile::SmrQuick, 99);
    let runs = [running[0].clone(), finished.clone()];
    let evil = samples::evil_drive();
    let suitability = samples::suitability();
    let notes = ["When it was probed on 2026-11-30 it had blocks of 512 bytes, now of 4096: caution.".to_owned()];
    add(
        "drive",
        DrivePage {
            frame,
            drive: &fleet[0],
            suitability: &suitability,
            runs: &runs,
            history_notes: &notes,
            profiles: &free,
            attached: true,
            pages: &[],
            zones: None,
        }
        .render(),
    );
    add(
        "drive-used",
        DrivePage {
            frame,
            drive: &fleet[1],
            suitability: &suitability,
            runs: &[],
            history_notes: &[],
            profiles: &refused,
            attached: true,
            pages: &[],
            zones: None,
        }
        .render(),
    );
    add(
        "drive-gone",
        DrivePage {
            frame,
            drive: &fleet[8],
            suitability: &suitability,
            runs: &[],
            history_notes: &[],
            profiles: &free,
            attached: false,
            pages: &[],
            zones: None,
        }
        .render(),
    );
    add(
        "drive-evil",
        DrivePage {
            frame,
            drive: &evil,
            suitability: &suitability,
            runs: &[],
            history_notes: &[],
            profiles: &free,
            attached: true,
            pages: &[],
            zones: None,
        }
        .render(),
    );

    let reports = [page_report()];
    let zoned = |last| {
        let zones = Some(zones::ZoneMap::of(&fleet[0], last));
        DrivePage {
            frame,
            drive: &fleet[0],
            suitability: &suitability,
            runs: &[],
            history_notes: &[],
            profiles: &free,
            attached: true,
            pages: &reports,
            zones,
        }
        .render()
    };
    let report = zones::tests::report(
        |number| match number {
            0..=3 => (ZoneType::Conventional, ZoneCondition::NotWritePointer),
            7 => (ZoneType::SequentialWriteRequired, ZoneCondition::Offline),
            _ => (ZoneType::SequentialWriteRequired, ZoneCondition::Empty),
        },
        200,
    );
    let (report, silent) = (Ok(std::sync::Arc::new(report)), Err(NoZones::Failed("<b>no</b> answer".to_owned())));
    add("drive-zoned", zoned(Some(&report)));
    add("drive-zoned-silent", zoned(Some(&silent)));
    add("drive-zoned-asked", zoned(None));

    let mut given = Map::new();
    let new = |profiles: &[ProfileChoice<'_>], chosen, given: &Map<String, Value>, errors: &[FieldError]| {
        NewRunPage { frame, drive: &fleet[0], profiles, chosen, given, errors }.render()
    };
    add("new", new(&refused, None, &given, &[]));
    add("new-quick", new(&free, Some(Profile::SmrQuick), &given, &[]));
    given.insert("bs".to_owned(), "\"><script>4q".into());
    given.insert("size".to_owned(), 7.into());
    let errors = [
        FieldError::new("parameters.rw", "is required: read, write, randread, randwrite, rw or randrw"),
        FieldError::new("parameters.bs", "is \"4q\"; must be a number of bytes"),
        FieldError::new("parameters.size", "is 7, not a multiple of the logical block of 512 bytes"),
        FieldError::new("parameters.speed", "is not a parameter of this profile"),
    ];
    add("new-errors", new(&free, Some(Profile::Custom), &given, &errors));

    let plan = samples::plan(&fleet[0], Profile::SmrQuick);
    let reading = samples::plan(&fleet[0], Profile::Inspect);
    let wrong = [FieldError::new("confirm", "is \"wd\", must be exactly WD-WX42D80F1C7T")];
    let show = |plan, refused: &[RefusedReason], errors: &[FieldError]| {
        PlanPage { frame, drive: &fleet[0], plan, given: &given, refused, errors }.render()
    };
    add("plan", show(&plan, &[], &[]));
    add("plan-wrong", show(&plan, &[], &wrong));
    add("plan-refused", show(&plan, &in_use, &[]));
    add("plan-reads", show(&reading, &[], &[]));

    let page = |run: &Run| {
        let intervals = samples::intervals(run);
        let recent = &intervals[intervals.len().saturating_sub(90)..];
        RunPage { frame, run, phase_totals: &samples::totals(&intervals), recent }.render()
    };
    let mut queued = samples::run(&fleet[0], Profile::Inspect, 0);
    queued.phases = Vec::new();
    queued.state = RunState::Queued;
    let mut failed = samples::run(&fleet[0], Profile::Inspect, 3);
    failed.state = RunState::Failed;
    failed.stop_reason = Some(StopReason::IoError("read of 4096 bytes at 81920: Input/output error <EIO>".to_owned()));
    add("run", page(&running[0]));
    add("run-finished", page(&finished));
    add("run-queued", page(&queued));
    add("run-failed", page(&failed));

    let listed = [queued, failed, running[0].clone(), finished];
    add("runs", RunsPage { frame, runs: &listed, older: Some("/runs?before=1") }.render());
    add("runs-empty", RunsPage { frame, runs: &[], older: None }.render());
    let all = RefusedReason::InUse { usage: Usage::Swap { device: "sda2".to_owned() } };
    let reasons = [all, RefusedReason::ReadOnly, RefusedReason::SequentialOnly];
    let problem = |reasons, errors, advice| {
        ProblemPage {
            frame,
            status: 409,
            title: "The drive is not free",
            detail: Some("It is <b>used</b>."),
            reasons,
            errors,
            advice,
        }
        .render()
    };
    add("problem", problem(&reasons, &[], None));
    add("problem-short", problem(&[], &errors, Some("Look at the list of drives.")));
    add("methods", MethodsPage { frame }.render());
    pages
}

/// A page with everything a report may have, and with text that wants to be markup.
fn page_report() -> PageReport {
    let field = |raw: Option<&str>, note: Option<&str>| PageField {
        name: "ZONED <i>".to_owned(),
        byte: 8,
        bytes: 2,
        bits: Some("5:4".to_owned()),
        raw: raw.map(str::to_owned),
        value: "drive-managed".to_owned(),
        note: note.map(str::to_owned),
    };
    PageReport {
        page: PageId::Vpd(0xb1),
        title: PageId::Vpd(0xb1).title(),
        source: "SG_IO INQUIRY VPD page B1h".to_owned(),
        length: 64,
        bytes_hex: format!("00b1003c{}", "00".repeat(60)),
        fields: vec![field(Some("0x2"), Some("a <note>")), field(None, None)],
        also: vec![OtherBytes { source: "/sys/x".to_owned(), bytes_hex: "00b1".to_owned() }],
    }
}

fn select<'a>(html: &'a Html, selector: &str) -> Vec<scraper::ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

#[test]
fn no_page_has_an_inline_script_style_or_handler_or_asks_another_host() {
    for (name, page) in pages() {
        let html = Html::parse_document(&page);
        assert!(html.errors.is_empty(), "{name}: {:?}", html.errors);
        for element in select(&html, "*") {
            for (attribute, value) in element.value().attrs() {
                assert!(attribute != "style" && !attribute.starts_with("on"), "{name}: {attribute}={value}");
                if matches!(attribute, "src" | "href" | "action") {
                    let ours = value.starts_with(['/', '#', '?']) && !value.starts_with("//");
                    assert!(ours && value != "/static/missing", "{name}: {attribute}={value}");
                }
            }
        }
        assert!(select(&html, "style").is_empty(), "{name}");
        for script in select(&html, "script") {
            assert!(script.value().attr("src").is_some() && script.text().next().is_none(), "{name}");
        }
    }
}

#[test]
fn every_page_can_be_read_by_a_machine_that_reads_aloud() {
    for (name, page) in pages() {
        let html = Html::parse_document(&page);
        assert_eq!(select(&html, "h1").len(), 1, "{name}");
        assert_eq!(select(&html, "main#main").len(), 1, "{name}");
        assert!(select(&html, "a.skip").len() == 1 && select(&html, "html[lang]").len() == 1, "{name}");
        let mut ids: Vec<_> = select(&html, "[id]").iter().filter_map(|element| element.value().id()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{name}: an id stands twice");
        for attribute in ["aria-labelledby", "aria-describedby", "for"] {
            for element in select(&html, &format!("[{attribute}]")) {
                for id in element.value().attr(attribute).unwrap().split_whitespace() {
                    assert!(ids.contains(&id), "{name}: {attribute} names {id}, which is not there");
                }
            }
        }
        for used in select(&html, "use") {
            let id = used.value().attr("href").unwrap().trim_start_matches('#').to_owned();
            assert!(ids.contains(&id.as_str()), "{name}: the symbol {id} is not there");
        }
        for image in select(&html, "svg[role=img], progress") {
            assert!(image.value().attr("aria-label").is_some(), "{name}: {}", image.html());
        }
    }
}

#[test]
fn what_a_drive_says_of_itself_stays_text() {
    for (name, page) in pages().into_iter().filter(|(name, _)| matches!(name.as_str(), "drives-one" | "drive-evil")) {
        let html = Html::parse_document(&page);
        assert!(!page.contains("<script>alert") && !page.contains("<img"), "{name}");
        assert!(select(&html, "main").iter().any(|main| main.text().any(|text| text == "<script>alert(1)</script>")));
    }
}

#[test]
fn errors_stand_at_their_fields_and_values_come_back() {
    let (_, page) = pages().into_iter().find(|(name, _)| name == "new-errors").unwrap();
    let html = Html::parse_document(&page);
    let wrong = select(&html, ".field.wrong [name]");
    let names: Vec<_> = wrong.iter().filter_map(|field| field.value().attr("name")).collect();
    assert_eq!(names, ["rw", "bs", "size_bytes"]);
    assert_eq!(wrong[1].value().attr("value"), Some("\"><script>4q"));
    assert_eq!(wrong[2].value().attr("value"), Some("7"), "an alias fills its field");
    assert!(select(&html, ".note.bad li").iter().any(|item| item.text().any(|text| text.contains("not a parameter"))));
}

#[test]
fn a_destructive_plan_names_what_is_lost_and_wants_the_phrase_and_a_refused_one_has_no_button() {
    let pages = pages();
    let page = |wanted: &str| pages.iter().find(|(name, _)| name == wanted).map(|(_, page)| page.clone()).unwrap();
    let html = Html::parse_document(&page("plan"));
    assert_eq!(select(&html, ".losses li").len(), 2);
    assert_eq!(select(&html, "form[action='/runs'] input[name=confirm][required]").len(), 1);
    assert_eq!(select(&html, "form input[name=bs]").len(), 1, "parameters are sent again");
    let html = Html::parse_document(&page("plan-refused"));
    assert!(select(&html, "form[action='/runs']").is_empty());
    let html = Html::parse_document(&page("plan-reads"));
    assert!(select(&html, "[name=confirm]").is_empty());
}

#[test]
fn buttons_of_a_run_follow_its_state() {
    let buttons = |state: RunState, holds: &[Hold]| {
        let mut run = samples::run(&samples::drive("sda", "M", Some("S")), Profile::Inspect, 1);
        run.state = state;
        run.life.holds = holds.to_vec();
        let host = samples::host();
        let frame = Frame { host: &host, now_ms: NOW_MS };
        let page = RunPage { frame, run: &run, phase_totals: &[], recent: &[] }.render().unwrap();
        let html = Html::parse_document(&page);
        let actions = select(&html, "form[action^='/runs/']");
        actions
            .iter()
            .filter_map(|form| form.value().attr("action")?.rsplit('/').next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(buttons(RunState::Running, &[]), ["pause", "cancel"]);
    assert_eq!(buttons(RunState::Paused, &[Hold::User]), ["resume", "cancel"]);
    assert_eq!(buttons(RunState::Paused, &[Hold::Temperature]), ["pause", "cancel"], "it cools, and goes on by itself");
    assert_eq!(buttons(RunState::Queued, &[]), ["pause", "cancel"]);
    assert_eq!(buttons(RunState::Queued, &[Hold::User]), ["resume", "cancel"]);
    assert_eq!(buttons(RunState::Interrupted, &[]), ["resume"]);
    assert!(buttons(RunState::Draining, &[]).is_empty() && buttons(RunState::Finished, &[]).is_empty());
}

#[test]
fn a_run_has_three_charts_of_plain_data() {
    let run = samples::run(&samples::drive("sda", "M", Some("S")), Profile::SmrQuick, 4);
    let charts = chart::run_charts(&run);
    let list = charts["charts"].as_array().unwrap();
    let ids: Vec<_> = list.iter().map(|chart| chart["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["throughput", "iops", "latency"]);
    assert_eq!(list[2]["option"]["yAxis"]["type"], "log");
    for chart in list {
        assert_eq!(chart["option"]["tooltip"]["renderMode"], "richText");
        assert_eq!(chart["option"]["aria"]["enabled"], true);
        assert_eq!(chart["option"]["dataZoom"].as_array().unwrap().len(), 2);
        let series = chart["option"]["series"].as_array().unwrap();
        let phases = series.iter().find(|series| series["id"] == "phases").unwrap();
        let areas = phases["markArea"]["data"].as_array().unwrap();
        let begun = run.phases.iter().filter(|outcome| outcome.started_t_ms.is_some()).count();
        assert_eq!(areas.len(), begun);
    }
    for chart in list {
        let series = chart["option"]["series"].as_array().unwrap();
        let spoilt = series.iter().find(|series| series["id"] == "spoilt").unwrap();
        assert!(spoilt["markArea"]["data"].as_array().unwrap().is_empty(), "the browser knows them from the intervals");
    }
    let text = charts.to_string();
    assert!(!text.contains("function") && !text.contains("=>"), "a browser would have to evaluate it");
}
