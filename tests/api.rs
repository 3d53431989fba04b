//! The API of the built binary on the simulated fleet: what it answers, and what bad input gets.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use harness::{Service, scratch};
use serde_json::{Value, json};

#[test]
fn bad_input_gets_a_problem_that_names_it_and_starts_nothing() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let ask = |parameters: Value| {
        service.post("/api/v1/runs", &json!({ "drive": "sim-cmr-14tb", "profile": "custom", "parameters": parameters }))
    };
    let named = |parameters: Value, field: &str| {
        let problem = ask(parameters.clone()).problem(422);
        let fields: Vec<_> = problem["errors"].as_array().unwrap().iter().map(|error| error["field"].clone()).collect();
        assert!(fields.contains(&json!(format!("parameters.{field}"))), "{parameters}: {problem}");
    };
    let capacity = service.drive("sim-cmr-14tb")["capacity_bytes"].as_u64().unwrap();
    named(json!({ "rw": "read", "size": 0 }), "size");
    named(json!({ "rw": "read", "size_bytes": "" }), "size_bytes");
    named(json!({ "rw": "read", "size": 1000 }), "size");
    named(json!({ "rw": "read", "size": capacity + 512 }), "size");
    named(json!({ "rw": "read", "offset": capacity }), "offset");
    named(json!({ "rw": "read", "offset": 512, "size": capacity }), "size");
    named(json!({ "rw": "read", "bs": 0 }), "bs");
    named(json!({ "rw": "read", "bs": 513 }), "bs");
    named(json!({ "rw": "read", "bs": "8k", "size": "4k" }), "bs");
    named(json!({ "rw": "read", "bs": "1g", "iodepth": 2 }), "bs");
    named(json!({ "rw": "read", "iodepth": 0 }), "iodepth");
    named(json!({ "rw": "read", "iodepth": 1025 }), "iodepth");
    named(json!({ "rw": "scan" }), "rw");
    named(json!({}), "rw");
    named(json!({ "rw": "read", "runtime": 0 }), "runtime");
    named(json!({ "rw": "read", "interval_ms": 0 }), "interval_ms");
    named(json!({ "rw": "read", "seed": 1 }), "seed");
    named(json!({ "rw": "randrw", "rwmixread": 100 }), "rwmixread");
    named(json!({ "rw": "randwrite", "random_distribution": "zipf" }), "random_distribution");
    named(json!({ "rw": "randwrite", "bssplit": "4k/90" }), "bssplit");
    named(json!({ "rw": "write", "numjobs": 1025 }), "numjobs");
    assert_eq!(service.get("/api/v1/runs").json()["runs"], json!([]));
}

#[test]
fn a_body_that_is_no_request_is_a_client_error() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    service.post_bytes("/api/v1/runs", "application/json", b"{").problem(400);
    service.post_bytes("/api/v1/runs", "application/json", b"\xff\xfe{}").problem(400);
    service.post_bytes("/api/v1/runs", "application/json", "[".repeat(50_000).as_bytes()).problem(400);
    service.post_bytes("/api/v1/runs", "application/json", b"[]").problem(422);
    service.post_bytes("/api/v1/runs", "text/plain", b"{}").problem(415);
    service.post_bytes("/api/v1/runs", "application/json", &vec![b' '; 100_000]).problem(413);
    let problem = service.post("/api/v1/runs", &json!({ "drive": 3, "profile": "smr-slow" })).problem(422);
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2, "{problem}");
}

#[test]
fn what_does_not_exist_is_404_and_what_cannot_be_done_405() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let no_uuid = "00000000-0000-0000-0000-000000000000";
    for path in [
        "/api/v1/drives/nonsense".to_owned(),
        format!("/api/v1/drives/{no_uuid}"),
        "/api/v1/runs/nonsense".to_owned(),
        format!("/api/v1/runs/{no_uuid}"),
        format!("/api/v1/runs/{no_uuid}/events"),
        format!("/api/v1/runs/{no_uuid}/intervals"),
        "/api/v1/nothing".to_owned(),
    ] {
        service.get(&path).problem(404);
    }
    service.post("/api/v1/runs", &json!({ "drive": "sdzz", "profile": "inspect" })).problem(404);
    service.post("/api/v1/runs", &json!({ "drive": "/nowhere/file", "profile": "inspect" })).problem(404);
    service.post(&format!("/api/v1/runs/{no_uuid}/cancel"), &json!({})).problem(404);
    service.delete("/api/v1/drives").problem(405);
    let page = service.get("/nothing");
    assert_eq!((page.status, page.content_type.as_str()), (404, "text/html; charset=utf-8"));
}

#[test]
fn a_destructive_run_needs_the_phrase_and_a_dry_run_tells_it() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let mut body = json!({ "drive": "sim-cmr-14tb", "profile": "smr-quick" });
    service.post("/api/v1/runs", &body).problem(428);
    body["confirm"] = json!("SIM-DM-0001");
    service.post("/api/v1/runs", &body).problem(409);
    body["dry_run"] = json!(true);
    let plan = service.post("/api/v1/runs", &body);
    assert_eq!(plan.status, 200);
    let plan = plan.json();
    assert_eq!(plan["confirm_phrase"], "SIM-CMR-0001");
    assert!(plan["bytes_to_write"].as_u64().unwrap() > 64 << 30, "{plan}");
    assert!(plan["estimated_s"].as_u64().unwrap() > 600, "{plan}");
    assert!(plan["phases"].as_array().unwrap().len() >= 4, "{plan}");
    assert_eq!(plan["losses"], json!([]));
    assert_eq!(service.get("/api/v1/runs").json()["runs"], json!([]), "nothing was started");
}

#[test]
fn a_drive_that_is_being_probed_is_refused_with_the_run_that_has_it() {
    let dir = scratch();
    // A fleet in real time is still running when it is asked again.
    let service = Service::start(dir.path(), &["--sim", "--sim-speed", "1"]);
    let run = service.begin("sim-cmr-14tb", "inspect", json!({}));
    for dry_run in [true, false] {
        let body = json!({ "drive": "sim-cmr-14tb", "profile": "inspect", "dry_run": dry_run });
        let problem = service.post("/api/v1/runs", &body).problem(409);
        assert_eq!(problem["reasons"][0]["code"], "already-probed", "{problem}");
        assert_eq!(problem["reasons"][0]["run"], json!(run));
    }
    let other = service.post("/api/v1/runs", &json!({ "drive": "sim-dm-14tb", "profile": "inspect" }));
    assert_eq!(other.status, 202, "another drive is free: {}", other.text);
    service.delete(&format!("/api/v1/runs/{run}")).problem(409);
    for _ in 0..2 {
        let cancelled = service.post(&format!("/api/v1/runs/{run}/cancel"), &json!({}));
        assert_eq!(cancelled.status, 200, "cancelling twice is no mistake: {}", cancelled.text);
    }
    let over = service.wait_until_over(&run);
    assert_eq!((&over["state"], &over["stop_reason"]["reason"]), (&json!("cancelled"), &json!("cancelled")));
    assert_eq!(service.delete(&format!("/api/v1/runs/{run}")).status, 204);
    service.get(&format!("/api/v1/runs/{run}")).problem(404);
}

#[test]
fn pausing_and_resuming_is_idempotent_and_loses_nothing() {
    let dir = scratch();
    let service = Service::start(dir.path(), &["--sim", "--sim-speed", "20"]);
    let run = service.begin("sim-cmr-14tb", "custom", json!({ "rw": "randread", "runtime": 60 }));
    service.wait_for_intervals(&run, 3);
    for order in ["pause", "pause", "resume", "resume"] {
        let answer = service.post(&format!("/api/v1/runs/{run}/{order}"), &json!({}));
        let expected = if order == "pause" { "paused" } else { "running" };
        assert_eq!(answer.json()["state"], expected);
        if order == "pause" {
            let before = service.run(&run)["progress"]["last_seq"].clone();
            std::thread::sleep(std::time::Duration::from_millis(400));
            let after = service.run(&run)["progress"]["last_seq"].clone();
            assert!(after.as_u64().unwrap() <= before.as_u64().unwrap() + 1, "{before} → {after}");
        }
    }
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "finished", "{over}");
    assert!(service.intervals(&run).len() >= 60);
    service.post(&format!("/api/v1/runs/{run}/pause"), &json!({})).problem(409);
}

#[test]
fn a_stream_replays_from_any_point_without_gap_or_doubles_and_ends_with_the_run() {
    let dir = scratch();
    let service = Service::start(dir.path(), &["--sim", "--sim-speed", "60"]);
    let run = service.begin("sim-dm-8tb", "custom", json!({ "rw": "randread", "runtime": 120 }));
    service.wait_for_intervals(&run, 5);
    let numbers = |events: &[(String, Option<u64>, Value)]| {
        events.iter().filter(|(name, ..)| name == "interval").map(|(_, id, _)| id.unwrap()).collect::<Vec<_>>()
    };
    // From the middle of the run to its end, then again after it.
    let live = service.events(&run, Some(3));
    let count = service.intervals(&run).len() as u64;
    assert_eq!(numbers(&live), (4..=count).collect::<Vec<_>>());
    assert_eq!(live.last().map(|(name, ..)| name.as_str()), Some("end"));
    let after = service.events(&run, None);
    assert_eq!(numbers(&after), (1..=count).collect::<Vec<_>>());
    let told = after.iter().rfind(|(name, ..)| name == "run").unwrap();
    assert_eq!(told.2["state"], "finished");
    service.get(&format!("/api/v1/runs/{run}/events?from=x")).problem(400);
}

#[test]
fn intervals_can_be_had_in_parts_and_merged() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let run = service.begin("sim-cmr-14tb", "custom", json!({ "rw": "randread", "runtime": 100 }));
    service.wait_until_over(&run);
    let get = |query: &str| service.get(&format!("/api/v1/runs/{run}/intervals?{query}")).json();
    let part = get("from=10&to=12");
    let seqs: Vec<_> = part["intervals"].as_array().unwrap().iter().map(|interval| interval["seq"].clone()).collect();
    assert_eq!(seqs, [json!(10), json!(11), json!(12)]);
    let merged = get("points=10");
    assert_eq!(merged["downsampled"], true);
    let ios = |body: &Value| {
        body["intervals"].as_array().unwrap().iter().map(|i| i["read"]["ios"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(ios(&merged), ios(&get("")));
    service.get(&format!("/api/v1/runs/{run}/intervals?points=0")).problem(422);
    service.get(&format!("/api/v1/runs/{run}/intervals?from=-1")).problem(422);
    let latency = service.get(&format!("/api/v1/runs/{run}/latency")).json();
    assert_eq!(latency["phases"][0]["read"]["ios"].as_u64().unwrap(), ios(&merged));
}

#[test]
fn a_long_run_is_told_in_columns_that_fit_a_screen_and_lose_no_spike() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let parameters = json!({ "rw": "randread", "rate_iops": 2, "runtime": 9_000, "interval_ms": 1000 });
    let run = service.begin("sim-cmr-4tb", "custom", parameters);
    assert_eq!(service.wait_until_over(&run)["state"], "finished");
    let answer = service.get(&format!("/api/v1/runs/{run}/series"));
    assert!(answer.text.len() < 150_000, "{} bytes", answer.text.len());
    let columns = answer.json();
    assert_eq!((&columns["merged"], &columns["last_seq"]), (&json!(true), &json!(9_000)));
    let seqs = columns["seq"].as_array().unwrap();
    assert!((200..=1_000).contains(&seqs.len()), "{}", seqs.len());
    let lasted: u64 = columns["duration_ms"].as_array().unwrap().iter().map(|ms| ms.as_u64().unwrap()).sum();
    assert_eq!(lasted, 9_000_000);
    let longest = |text: &Value| text.as_array().unwrap().iter().filter_map(Value::as_f64).fold(0.0, f64::max);
    let all = service.intervals(&run);
    let exact = all.iter().filter_map(|interval| interval["read"]["lat_ns"]["max"].as_f64()).fold(0.0, f64::max) / 1e6;
    assert!((longest(&columns["read"]["max_ms"]) / exact - 1.0).abs() < 0.001);
    // Closer: every interval by itself.
    let part = service.get(&format!("/api/v1/runs/{run}/series?from=1000&to=1499")).json();
    assert_eq!((&part["merged"], part["seq"].as_array().unwrap().len()), (&json!(false), 500));
    assert_eq!(part["write"], Value::Null);
    service.get(&format!("/api/v1/runs/{run}/series?points=0")).problem(422);
}

#[test]
fn a_page_of_another_site_is_not_obeyed() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let post = |name: &str, value: &str| {
        let request = service.agent.post(format!("{}/drives/rescan", service.base)).header(name, value);
        request.send_empty().unwrap().status().as_u16()
    };
    assert_eq!(post("sec-fetch-site", "cross-site"), 403);
    assert_eq!(post("origin", "http://evil.example"), 403);
    assert_eq!(post("host", "evil.example"), 403, "a name that was rebound to this address");
    assert_eq!(post("origin", &service.base), 303);
    let page = service.agent.get(&service.base).call().unwrap();
    let policy = page.headers().get("content-security-policy").unwrap().to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
}

#[test]
fn the_hidden_shingled_disk_is_found_out_the_conventional_one_is_not_accused_and_both_stay_known() {
    let dir = scratch();
    let recording = |service: &Service, name: &str| {
        service.post("/api/v1/drives/rescan", &json!({}));
        service.drive(name)["recording"].clone()
    };
    let expected = [("sim-dm-14tb", "drive-managed"), ("sim-cmr-14tb", "cmr")];
    {
        let service = Service::simulated(dir.path());
        for (name, state) in expected {
            let before = recording(&service, name);
            assert_eq!((&before["state"], &before["basis"]), (&json!("not-reported"), &json!("none")), "{before}");
            let run = service.begin(name, "smr-quick", json!({}));
            let over = service.wait_until_over(&run);
            assert_eq!(over["verdict"]["state"], state, "{}", over["verdict"]);
            assert_eq!(over["verdict"]["basis"], "measured");
            assert!(over["verdict"]["evidence"].as_array().unwrap().len() > 5);
            assert_eq!(recording(&service, name)["state"], state);
        }
    }
    let service = Service::simulated(dir.path());
    for (name, state) in expected {
        assert_eq!(recording(&service, name)["state"], state, "after a restart");
    }
    // Without its run nothing is known of the drive any more.
    let runs = service.get("/api/v1/runs").json();
    for run in runs["runs"].as_array().unwrap() {
        assert_eq!(service.delete(&format!("/api/v1/runs/{}", run["id"].as_str().unwrap())).status, 204);
    }
    assert_eq!(recording(&service, "sim-dm-14tb")["state"], "not-reported");
}

#[test]
fn figures_of_runs_tell_what_a_drive_is_good_for_and_outlive_a_restart() {
    let dir = scratch();
    let judged = |service: &Service, query: &str| {
        let id = service.drive("sim-dm-8tb")["id"].as_str().unwrap().to_owned();
        service.get(&format!("/api/v1/drives/{id}/suitability{query}"))
    };
    let raidz = |service: &Service, query: &str| {
        let answer = judged(service, query).json();
        answer["uses"].as_array().unwrap().iter().find(|judged| judged["use"] == "raidz-resilver").unwrap().clone()
    };
    {
        let service = Service::simulated(dir.path());
        assert_eq!(raidz(&service, "")["grade"], "not-known");
        for profile in ["inspect", "smr-quick"] {
            let over = service.wait_until_over(&service.begin("sim-dm-8tb", profile, json!({})));
            let estimates = over["estimates"].as_array().unwrap();
            assert!(estimates.len() > 5, "{over}");
            for figure in estimates {
                let (value, low) = (figure["value"].as_f64().unwrap(), figure["low"].as_f64().unwrap());
                assert!(low <= value && figure["how"].as_str().unwrap().len() > 20, "{figure}");
            }
        }
    }
    let service = Service::simulated(dir.path());
    let six_wide = raidz(&service, "");
    assert_eq!(six_wide["grade"], "unsuitable", "{six_wide}");
    assert!(six_wide["estimate"]["value_s"].as_f64().unwrap() > 9.0 * 86_400.0, "{six_wide}");
    let emptier = raidz(&service, "?width=4&parity=1&fill_percent=10");
    assert!(emptier["estimate"]["value_s"].as_f64() < six_wide["estimate"]["value_s"].as_f64());
    let problem = judged(&service, "?width=3&parity=3").problem(422);
    assert_eq!(problem["errors"][0]["field"], "parity");
    judged(&service, "?fill_percent=much").problem(422);
    service.get("/api/v1/drives/nobody/suitability").problem(404);
}

#[test]
fn a_simulated_drive_shows_its_page_b1_with_fields_beside_bytes() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let drive = service.drive("sim-dm-14tb");
    let id = drive["id"].as_str().unwrap();
    assert!(drive.get("pages").is_none(), "bytes are no part of a list");
    let page = service.get(&format!("/api/v1/drives/{id}/vpd/b1")).json();
    assert_eq!((page["page"].as_str(), page["length"].as_u64()), (Some("b1"), Some(64)));
    assert!(page["bytes_hex"].as_str().unwrap().starts_with("00b1003c"));
    let fields = page["fields"].as_array().unwrap();
    let zoned = fields.iter().find(|field| field["name"] == "ZONED").unwrap();
    assert_eq!((zoned["byte"].as_u64(), zoned["bits"].as_str()), (Some(8), Some("5:4")));
    assert_eq!(service.get(&format!("/api/v1/drives/{id}/vpd/B1")).json()["page"], "b1");

    let problem = service.get(&format!("/api/v1/drives/{id}/vpd/b6")).problem(404);
    assert!(problem["detail"].as_str().unwrap().contains("00, b1"), "{problem}");
    for wrong in ["b", "0xb1", "zz", "b1b1", "log-30"] {
        service.get(&format!("/api/v1/drives/{id}/vpd/{wrong}")).problem(422);
    }
    service.get("/api/v1/drives/00000000-0000-0000-0000-000000000000/vpd/b1").problem(404);
}

#[test]
fn a_drive_without_zones_says_so_and_why() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let id = service.drive("sim-cmr-14tb")["id"].as_str().unwrap().to_owned();
    let problem = service.get(&format!("/api/v1/drives/{id}/zones")).problem(409);
    assert!(problem["detail"].as_str().unwrap().contains("no zones"), "{problem}");
    service.get(&format!("/api/v1/drives/{id}/zones?from=x")).problem(422);
}

#[test]
fn a_recorded_host_shows_the_pages_it_was_recorded_with() {
    let dir = scratch();
    let hosts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts");
    let usb = format!("{hosts}/qemu-usb-storage-QEMUHARDDISK@6.1.0");
    let service = Service::start(dir.path(), &["--sysroot", &usb]);
    let id = service.drive("sdg")["id"].as_str().unwrap().to_owned();
    let problem = service.get(&format!("/api/v1/drives/{id}/vpd/b1")).problem(404);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("USB") && detail.contains("what helps"), "{detail}");
    drop(service);

    let dir = scratch();
    let ahci = format!("{hosts}/qemu-ahci-ST8000DM004-2CX1@6.12.95");
    let service = Service::start(dir.path(), &["--sysroot", &ahci]);
    let drives = service.get("/api/v1/drives").json();
    let id = drives["drives"][0]["id"].as_str().unwrap().to_owned();
    let page = service.get(&format!("/api/v1/drives/{id}/vpd/89")).json();
    let fields = page["fields"].as_array().unwrap();
    let model = fields.iter().find(|field| field["name"] == "Model number").unwrap();
    assert!(model["value"].as_str().unwrap().starts_with("ST8000DM004-2CX"), "{model}");
    assert!(page["source"].as_str().unwrap().ends_with("vpd_pg89"));
    let page = service.get(&format!("/drives/{id}"));
    assert!(page.text.contains("Pages the drive answered") && page.text.contains("ZONED"));
}

#[test]
fn every_profile_can_be_planned_and_its_sums_are_those_of_its_phases() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    for profile in service.get("/api/v1/profiles").json()["profiles"].as_array().unwrap() {
        let parameters = match profile["profile"].as_str() {
            Some("custom") => json!({ "rw": "trimwrite" }),
            Some("replay") => json!({ "log": "fio version 2 iolog\nf write 0 4096\n" }),
            _ => json!({}),
        };
        // Only a zoned drive can be asked for its zones.
        let drive = if profile["profile"] == "zones" { "sim-ha-8tb" } else { "sim-cmr-14tb" };
        let body = json!({ "drive": drive, "profile": profile["profile"], "parameters": parameters, "dry_run": true });
        let answer = service.post("/api/v1/runs", &body);
        assert_eq!(answer.status, 200, "{profile}: {}", answer.text);
        let plan = answer.json();
        let phases = plan["phases"].as_array().unwrap();
        let seconds: u64 = phases.iter().map(|phase| phase["estimated_s"].as_u64().unwrap()).sum();
        assert_eq!(plan["estimated_s"], seconds);
        let bytes: Option<u64> = phases.iter().map(|phase| phase["bytes_to_write"].as_u64()).sum();
        assert_eq!(plan["bytes_to_write"].as_u64(), bytes);
        assert_eq!(plan["confirm_phrase"].is_string(), plan["destructive"].as_bool().unwrap(), "{plan}");
    }
}

#[test]
fn flushes_and_trims_of_a_simulated_drive_are_kept_and_told() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let parameters = json!({ "rw": "randwrite", "number_ios": 400, "fsync": 100, "ramp_time": 2, "runtime": 60 });
    let run = service.begin("sim-cmr-14tb", "custom", parameters);
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "finished", "{over}");
    let intervals = service.get(&format!("/api/v1/runs/{run}/intervals")).json();
    let intervals = intervals["intervals"].as_array().unwrap();
    let of = |ramp: bool, tally: &str| -> u64 {
        let wanted = intervals.iter().filter(|interval| (interval["ramp"] == true) == ramp);
        wanted.filter_map(|interval| interval[tally]["ios"].as_u64()).sum()
    };
    assert!(of(true, "write") > 0 && of(true, "flush") > 0, "the ramp is recorded");
    assert_eq!(of(false, "write"), 400, "and counts for no limit");
    let latency = service.get(&format!("/api/v1/runs/{run}/latency")).json();
    assert_eq!(latency["phases"][0]["write"]["ios"], 400, "nor for the sums");
    assert_eq!(latency["phases"][0]["flush"]["ios"], of(false, "flush"));
    let page = |run: &str| service.get(&format!("/runs/{run}")).text;
    assert!(page(&run).contains(">flush</td>"), "the table of phases has them too");
    let run = service.begin("sim-dm-14tb", "custom", json!({ "rw": "randtrim", "bs": "1m", "number_ios": 50 }));
    let over = service.wait_until_over(&run);
    assert_eq!((&over["state"], &over["progress"]["written_bytes"]), (&json!("finished"), &json!(0)), "{over}");
    let latency = service.get(&format!("/api/v1/runs/{run}/latency")).json();
    assert_eq!(latency["phases"][0]["trim"]["ios"], 50);
    assert!(page(&run).contains(">trim</td>"));
}

#[test]
fn sweeps_and_benches_run_and_claim_nothing_about_shingling() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    for (profile, parameters) in [
        ("queue-depth-sweep", json!({ "rw": "randwrite", "phase_s": 30, "depths": "1,8" })),
        ("stream-sweep", json!({ "phase_s": 2, "streams": "1,8" })),
        ("rebuild", json!({ "rebuild_bytes": "2g", "floor_s": 5 })),
        ("verify", json!({ "size": "64m" })),
        (
            "replay",
            json!({ "log": "fio version 3 iolog\n0 f write 0 4096\n9000000 f write 8192 4096\n9000001 f sync 0 0\n" }),
        ),
    ] {
        let run = service.begin("sim-dm-14tb", profile, parameters);
        let over = service.wait_until_over(&run);
        assert_eq!(over["state"], "finished", "{over}");
        assert_eq!(over["verdict"]["state"], "not-shown", "{profile}: {}", over["verdict"]);
        let sentence = over["verdict"]["sentence"].as_str().unwrap();
        assert!(sentence.contains("no test for shingling"), "{profile}: {sentence}");
    }
}
