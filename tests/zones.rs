//! Zones of the simulated fleet through the API of the built binary: what is offered, refused, written, timed and left.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use harness::{Service, scratch};
use serde_json::{Value, json};

fn ask(service: &Service, drive: &str, profile: &str, parameters: &Value) -> harness::Answer {
    let body = json!({ "drive": drive, "profile": profile, "parameters": parameters, "dry_run": true });
    service.post("/api/v1/runs", &body)
}

fn conditions(service: &Service, drive: &str) -> Value {
    let id = service.drive(drive)["id"].as_str().unwrap().to_owned();
    service.get(&format!("/api/v1/drives/{id}/zones")).json()["summary"]["by_condition"].clone()
}

#[test]
fn a_drive_that_takes_writes_only_at_pointers_is_offered_these_and_no_other_writes() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    for drive in ["sim-hm-15tb", "sim-zns-1tb"] {
        for (profile, parameters) in [
            ("smr-quick", json!({})),
            ("rebuild", json!({})),
            ("stream-sweep", json!({})),
            ("custom", json!({ "rw": "randwrite", "runtime": 1 })),
            ("custom", json!({ "rw": "randtrim", "runtime": 1 })),
        ] {
            let refused = ask(&service, drive, profile, &parameters).problem(409);
            assert_eq!(refused["reasons"][0]["code"], "sequential-only", "{drive} {profile}: {refused}");
            assert!(refused.to_string().contains("run the zones profile"), "{refused}");
        }
        for (profile, parameters) in [
            ("inspect", json!({})),
            ("zones", json!({})),
            ("custom", json!({ "rw": "write", "zonemode": "zbd", "runtime": 1 })),
        ] {
            let plan = ask(&service, drive, profile, &parameters);
            assert_eq!(plan.status, 200, "{drive} {profile}: {}", plan.text);
            for phase in plan.json()["phases"].as_array().unwrap() {
                let writes = phase["rw"].as_str().is_some_and(|rw| rw.contains("write"));
                assert!(!writes || phase["zbd"].is_object(), "{drive} {profile}: {phase}");
            }
        }
    }
}

#[test]
fn a_drive_without_zones_is_refused_with_the_reason() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let page = |drive: &str| {
        let id = service.drive(drive)["id"].as_str().unwrap().to_owned();
        service.get(&format!("/drives/{id}/runs/new?profile=zones")).text
    };
    assert!(page("sim-cmr-14tb").contains("it has no zones that a host can see"));
    let managed = page("sim-hm-15tb");
    let zones = managed.split("profile=zones").nth(1).unwrap().split("</li>").next().unwrap();
    assert!(!zones.contains("Not now"), "{zones}");
    assert!(managed.contains("it takes writes only at write pointers"), "the other profiles are refused");
    let refused = ask(&service, "sim-cmr-14tb", "zones", &json!({})).problem(422);
    assert_eq!(refused["errors"][0]["field"], "profile", "{refused}");
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("has no zones that a host can see"), "{refused}");
    let asked = json!({ "rw": "write", "zonemode": "zbd" });
    let refused = ask(&service, "sim-dm-8tb", "custom", &asked).problem(422);
    assert_eq!(refused["errors"][0]["field"], "parameters.zonemode", "{refused}");
    // The conventional zones alone.
    let asked = json!({ "rw": "write", "zonemode": "zbd", "size": "1g" });
    let refused = ask(&service, "sim-hm-15tb", "custom", &asked).problem(422);
    assert_eq!(refused["errors"][0]["field"], "parameters.size_bytes", "{refused}");
}

#[test]
fn every_operation_of_the_zones_profile_is_timed_and_shown() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let parameters = json!({ "open_zones": "1,16,17", "zones": 20, "phase_s": 20, "reports": 3 });
    // The first zones hold less than their length: 1077 of 2048 MiB.
    let run = service.begin("sim-zns-1tb", "zones", parameters);
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "finished", "{over}");
    let phases = over["phases"].as_array().unwrap();
    let ended: Vec<_> = phases.iter().map(|phase| phase["ended_by"].as_str().unwrap()).collect();
    assert_eq!(ended[0], "did its 3 I/Os");
    for past_the_limit in [3, 4, 5, 6] {
        assert!(ended[past_the_limit].contains("took no more than 14 zones side by side"), "{ended:?}");
    }
    assert!(ended.last().unwrap().contains("20"), "each of the zones used was reset: {ended:?}");

    let latency = service.get(&format!("/api/v1/runs/{run}/latency")).json();
    let of = |phase: usize| &latency["phases"][phase]["zone_ops"];
    assert_eq!(of(0)["report"]["ios"], 3);
    assert!(of(1)["open"].is_null(), "implicit: {}", of(1));
    assert!(of(2)["open"]["ios"].as_u64().unwrap() > 5 && of(2)["close"]["ios"].as_u64().unwrap() > 5, "{}", of(2));
    assert!(of(7)["finish"]["lat_ns"]["p50"].as_u64().unwrap() > 50_000_000, "{}", of(7));
    assert!(of(8)["reset"]["ios"].as_u64().unwrap() > 5, "{}", of(8));

    let intervals = service.intervals(&run);
    let with = intervals.iter().filter(|interval| interval["zone_ops"].is_object()).count();
    assert!(with > 5 && with < intervals.len(), "absent where there was none: {with} of {}", intervals.len());
    let page = service.get(&format!("/runs/{run}")).text;
    for line in ["zone report", "zone reset", "zone open", "zone close", "zone finish"] {
        assert!(page.contains(line), "{line} is not on the page");
    }
    assert_eq!(conditions(&service, "sim-zns-1tb"), json!({ "empty": 904 }), "the last phase has reset them");
}

#[test]
fn what_a_run_left_in_zones_is_shown_lost_by_name_and_written_on_if_asked() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    // 2 GiB are eight zones; 128 MiB more are half of the ninth.
    let asked = json!({ "rw": "write", "zonemode": "zbd", "bs": "1m", "io_size": "2176m", "end_fsync": 1 });
    let run = service.begin("sim-hm-15tb", "custom", asked);
    assert_eq!(service.wait_until_over(&run)["state"], "finished");
    let found = conditions(&service, "sim-hm-15tb");
    assert_eq!((&found["full"], &found["implicit-open"]), (&json!(8), &json!(1)), "{found}");

    let plan = ask(&service, "sim-hm-15tb", "zones", &json!({ "zones": 32, "open_zones": "1" })).json();
    let what = plan["losses"][0]["what"].as_str().unwrap();
    assert_eq!(what, "9 of 32 zones with data, 2.1 GiB up to their write pointers", "{plan}");

    let on = json!({ "rw": "write", "zonemode": "zbd", "bs": "1m", "io_size": "128m", "zone_start": "pointer" });
    let run = service.begin("sim-hm-15tb", "custom", on);
    assert_eq!(service.wait_until_over(&run)["state"], "finished");
    let latency = service.get(&format!("/api/v1/runs/{run}/latency")).json();
    assert!(latency["phases"][0]["zone_ops"]["reset"].is_null(), "nothing had to be reset: {latency}");
}

#[test]
fn a_host_aware_disk_is_written_with_and_without_regard_to_its_zones() {
    let dir = scratch();
    let service = Service::simulated(dir.path());
    let parameters = json!({ "open_zones": "1", "zones": 64, "phase_s": 60, "bs": "64k" });
    let run = service.begin("sim-ha-8tb", "zones", parameters);
    let over = service.wait_until_over(&run);
    assert_eq!(over["state"], "finished", "{over}");
    let names: Vec<_> = over["plan"]["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["name"].as_str().unwrap().to_owned())
        .collect();
    let written = |name: &str| -> u64 {
        let phase = names.iter().position(|known| known == name).unwrap();
        let of = service.intervals(&run).into_iter().filter(|interval| interval["phase"] == phase);
        of.map(|interval| interval["write"]["bytes"].as_u64().unwrap()).sum()
    };
    let (implicit, explicit, blind) = (written("implicit-1"), written("explicit-1"), written("blind-write"));
    assert!(implicit > 3 * explicit, "OPEN and CLOSE cost more than the writing: {implicit} {explicit}");
    assert!(blind * 10 > implicit * 7, "in order it makes no difference: {implicit} {blind}");
    assert!(written("aware-randwrite") > written("blind-randwrite"), "{over}");
}
