//! The pages as their users meet them: in a browser, against the built binary.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "harness/browser.rs"]
mod chromium;
mod harness;

use std::path::Path;

use chromium::Browser;
use harness::{Service, scratch};
use serde_json::{Value, json};

/// The verdict as the page shows it.
const VERDICT: &str = "document.querySelector('[data-run-verdict-state]')?.textContent";

const WIDTHS: [(&str, u32, u32); 2] = [("wide", 1440, 900), ("phone", 390, 844)];

/// A service whose simulated seconds pass `speed` to a real one.
fn service(data_dir: &Path, speed: &str) -> Service {
    Service::start(data_dir, &["--sim", "--sim-speed", speed])
}

/// What the run's page knows: its last interval, and how many it has taken.
async fn known(browser: &Browser) -> (Value, Value) {
    (browser.ask("return drivescopeRun.lastSeq").await, browser.ask("return drivescopeRun.counted").await)
}

#[tokio::test]
async fn a_buyer_finds_out_that_a_drive_is_shingled() {
    let dir = scratch();
    let service = service(dir.path(), "60");
    let browser = Browser::start().await;
    browser.goto(&service.base).await;
    let drive = service.drive("sim-dm-8tb");
    browser.click(&format!("a.drive-name[href='/drives/{}']", drive["id"].as_str().unwrap())).await;
    browser.click("a[href$='/runs/new?profile=smr-quick']").await;
    browser.click("form.fields button").await;

    let figures = browser.text("dl.figures").await;
    assert!(figures.contains("GiB") && figures.contains(" min"), "{figures}");
    browser.type_into("#confirm", "yes, do it").await;
    browser.assert_console_is_clean(200);
    browser.click("form.start button").await;
    assert!(browser.text("#e-confirm").await.contains("is not the phrase"));
    let described = browser.ask("return document.querySelector('#confirm').getAttribute('aria-describedby')").await;
    assert_eq!(described, "e-confirm");

    let phrase = browser.text("code.phrase").await;
    browser.type_into("#confirm", &phrase).await;
    browser.click("form.start button").await;
    browser.wait_until("window.drivescopeRun?.points").await;
    browser.ask("window.loadedOnce = true").await;
    let seen = browser.ask("return drivescopeRun.points").await;
    browser.wait_until(&format!("drivescopeRun.points > {seen}")).await;
    assert_ne!(browser.ask(&format!("return {VERDICT}")).await, "Drive-managed SMR");
    browser.wait_until(&format!("window.loadedOnce && {VERDICT} === 'Drive-managed SMR'")).await;
    browser.wait_until("document.querySelector('.evidence tbody')").await;
    // The wrong phrase was answered with 422.
    browser.assert_console_is_clean(422);
}

#[tokio::test]
async fn every_viewer_sees_every_interval_once_whenever_they_come() {
    let dir = scratch();
    let service = service(dir.path(), "150");
    let run = service.begin("sim-cmr-14tb", "smr-quick", json!({}));
    let page = format!("{}/runs/{run}", service.base);
    let browser = Browser::start().await;
    browser.goto(&page).await;
    browser.wait_until("drivescopeRun.points > 100").await;
    // However slow this machine is, what follows happens in the middle of the run.
    service.post(&format!("/api/v1/runs/{run}/pause"), &json!({}));
    service.wait_for(&run, "the pause", |run| run["state"] == "paused");
    browser.client.refresh().await.unwrap();
    let first = browser.client.window().await.unwrap();
    let second = browser.client.new_window(false).await.unwrap().handle;
    browser.client.switch_to_window(second).await.unwrap();
    browser.goto(&page).await;
    browser.wait_until("drivescopeRun.points > 100").await;
    service.post(&format!("/api/v1/runs/{run}/resume"), &json!({}));

    service.wait_until_over(&run);
    let stored = json!(service.intervals(&run).len());
    browser.wait_until("drivescopeRun.state === 'finished'").await;
    browser.wait_until(&format!("drivescopeRun.lastSeq >= {stored}")).await;
    assert_eq!(known(&browser).await, (stored.clone(), stored.clone()), "the second window");
    browser.client.switch_to_window(first).await.unwrap();
    browser.wait_until(&format!("drivescopeRun.lastSeq >= {stored}")).await;
    assert_eq!(known(&browser).await, (stored.clone(), stored.clone()), "the reloaded window");
    browser.goto(&page).await;
    browser.wait_until(&format!("drivescopeRun.lastSeq >= {stored}")).await;
    assert_eq!(known(&browser).await, (stored.clone(), stored.clone()), "after the end");
    browser.assert_console_is_clean(200);
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_cancelled_from_its_page() {
    let dir = scratch();
    let service = service(dir.path(), "20");
    let run = service.begin("sim-cmr-14tb", "smr-quick", json!({}));
    let browser = Browser::start().await;
    browser.goto(&format!("{}/runs/{run}", service.base)).await;
    browser.wait_until("drivescopeRun.points").await;
    browser.click("form[action$='/pause'] button").await;
    browser.wait_until("window.drivescopeRun?.state === 'paused'").await;
    let paused_at = service.run(&run)["progress"]["last_seq"].clone();
    browser.click("form[action$='/resume'] button").await;
    browser
        .wait_until(&format!("window.drivescopeRun?.state === 'running' && drivescopeRun.lastSeq > {paused_at}"))
        .await;
    browser.click("form[action$='/cancel'] button").await;
    browser.wait_until("window.drivescopeRun?.state === 'cancelled'").await;
    browser.wait_until("document.querySelectorAll('.actions form').length === 0").await;
    browser.wait_until("document.querySelector('.status-state .state')?.textContent === 'cancelled'").await;
    assert_eq!(service.run(&run)["state"], "cancelled");
    browser.assert_console_is_clean(200);
}

#[tokio::test]
async fn without_javascript_a_run_is_started_and_read_all_the_same() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let browser = Browser::start_with(&["--blink-settings=scriptEnabled=false"]).await;
    let drive = service.drive("sim-dm-8tb")["id"].as_str().unwrap().to_owned();
    browser.goto(&format!("{}/drives/{drive}/runs/plan?profile=smr-quick", service.base)).await;
    let phrase = browser.text("code.phrase").await;
    browser.type_into("#confirm", &phrase).await;
    browser.click("form.start button").await;
    let heading = browser.text("noscript .note").await;
    assert!(heading.starts_with("Without JavaScript"), "{heading}");
    let runs = service.get("/api/v1/runs").json();
    let run = service.wait_until_over(runs["runs"][0]["id"].as_str().unwrap());
    browser.client.refresh().await.unwrap();
    assert!(browser.text(".status-state").await.starts_with("finished"));
    assert_eq!(browser.text("[data-run-seq]").await, run["progress"]["last_seq"].to_string());
    assert_eq!(browser.text("[data-run-verdict-state]").await, "Drive-managed SMR");
    assert!(browser.text("[data-refresh='totals'] table").await.contains("write"));
    // No chart that would stay empty.
    assert!(!browser.find(".chart").await.is_displayed().await.unwrap());
}

/// A service that has a finished run and one that goes on for minutes: their ids.
fn service_with_runs(data_dir: &Path) -> (Service, String, String) {
    let finished = {
        let service = Service::simulated(data_dir);
        let run = service.begin("sim-cmr-14tb", "smr-quick", json!({}));
        service.wait_until_over(&run);
        run
    };
    let service = service(data_dir, "5");
    let live = service.begin("sim-cmr-4tb", "smr-quick", json!({}));
    (service, finished, live)
}

#[tokio::test]
async fn every_page_fits_wide_and_narrow_light_and_dark_with_a_clean_console() {
    let dir = scratch();
    let (service, finished, live) = service_with_runs(dir.path());
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");
    std::fs::create_dir_all(&pictures).unwrap();
    let id = |name| service.drive(name)["id"].as_str().unwrap().to_owned();
    let probed = id("sim-cmr-14tb");
    let free = id("sim-dm-8tb");
    let pages = [
        ("drives", "/".to_owned(), 200),
        ("drive", format!("/drives/{probed}"), 200),
        ("new-run", format!("/drives/{free}/runs/new?profile=custom"), 200),
        ("plan", format!("/drives/{free}/runs/plan?profile=smr-quick"), 200),
        ("live-run", format!("/runs/{live}"), 200),
        ("finished-run", format!("/runs/{finished}"), 200),
        ("runs", "/runs".to_owned(), 200),
        ("methods", "/methods".to_owned(), 200),
        ("missing", "/no-such-page".to_owned(), 404),
    ];
    let browser = Browser::start().await;
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        for (size, width, height) in WIDTHS {
            for (name, path, status) in &pages {
                browser.screen(width, height);
                browser.goto(&format!("{}{path}", service.base)).await;
                if name.ends_with("-run") && path.starts_with("/runs/") {
                    browser.wait_until("performance.getEntriesByName('first-chart').length").await;
                    browser.wait_until("document.querySelectorAll('.chart canvas').length === 3").await;
                }
                browser.photograph(&pictures.join(format!("{name}-{size}-{scheme}.png")), width).await;
                let wider = browser.ask("return document.documentElement.scrollWidth - innerWidth").await;
                assert!(wider.as_i64().unwrap() <= 0, "{name} is {wider} px wider than a {size} screen");
                browser.assert_console_is_clean(*status);
            }
        }
    }
}

/// Presses Tab until the focus has been everywhere. What it did not reach, and where it did not show.
async fn missed_by_tab(browser: &Browser) -> Value {
    let controls = browser
        .ask(
            "window.missed = new Set([...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')]
                .filter((control) => control.checkVisibility() && !control.disabled && control.type !== 'hidden'));
             window.unseen = [];
             document.addEventListener('focusin', ({ target }) => {
                 missed.delete(target);
                 const { outlineStyle, outlineWidth } = getComputedStyle(target);
                 if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) unseen.push(target.outerHTML);
             });
             return missed.size;",
        )
        .await;
    for _ in 0..controls.as_u64().unwrap() + 2 {
        browser.press_tab();
    }
    browser.ask("return [...missed].map((control) => control.outerHTML).concat(unseen)").await
}

#[tokio::test]
async fn the_keyboard_reaches_every_control_and_shows_where_it_is() {
    let dir = scratch();
    let (service, finished, live) = service_with_runs(dir.path());
    let drive = service.drive("sim-dm-8tb")["id"].as_str().unwrap().to_owned();
    let browser = Browser::start().await;
    for path in [
        "/".to_owned(),
        format!("/drives/{drive}/runs/new?profile=custom"),
        format!("/drives/{drive}/runs/plan?profile=smr-quick"),
        format!("/runs/{live}"),
        format!("/runs/{finished}"),
    ] {
        browser.goto(&format!("{}{path}", service.base)).await;
        assert_eq!(missed_by_tab(&browser).await, json!([]), "{path}");
    }
}

#[tokio::test]
async fn the_drives_page_follows_a_run_without_a_reload_and_the_focus_stays() {
    let dir = scratch();
    let service = service(dir.path(), "20");
    let browser = Browser::start().await;
    browser.goto(&service.base).await;
    browser
        .ask("document.querySelector('tr:last-child a.drive-name').focus(); window.loadedOnce = document.activeElement")
        .await;
    let run = service.begin("sim-cmr-14tb", "smr-quick", json!({}));
    let progress = format!("document.querySelector('tr:has(a[href=\"/runs/{run}\"]) progress')?.value");
    let seen = browser.wait_until(&progress).await;
    browser.wait_until(&format!("{progress} > {seen}")).await;
    service.post(&format!("/api/v1/runs/{run}/cancel"), &json!({}));
    browser.wait_until(&format!("!document.querySelector('a[href=\"/runs/{run}\"]')")).await;
    assert_eq!(browser.ask("return document.activeElement === window.loadedOnce").await, true);
    browser.assert_console_is_clean(200);
    drop(service);
    browser.wait_until("!document.querySelector('[data-connection]').hidden").await;
}

#[tokio::test]
async fn a_drive_that_is_plugged_in_appears_and_one_that_is_pulled_vanishes_by_themselves() {
    let dir = scratch();
    let host = dir.path().join("host");
    let blocks = host.join("sys/block");
    std::fs::create_dir_all(&blocks).unwrap();
    std::fs::create_dir_all(host.join("proc")).unwrap();
    let service = Service::start(&dir.path().join("data"), &["--sysroot", host.to_str().unwrap()]);
    let browser = Browser::start().await;
    browser.goto(&service.base).await;
    assert!(browser.text(".empty").await.contains("No drive was found"));
    std::fs::create_dir(blocks.join("sdz")).unwrap();
    std::fs::write(blocks.join("sdz/dev"), "8:16\n").unwrap();
    std::fs::write(blocks.join("sdz/size"), "2097152\n").unwrap();
    browser.wait_until("document.querySelector('a.drive-name')?.textContent === '/dev/sdz'").await;
    std::fs::remove_dir_all(blocks.join("sdz")).unwrap();
    browser.wait_until("document.querySelector('.empty')").await;
    browser.assert_console_is_clean(200);
}
