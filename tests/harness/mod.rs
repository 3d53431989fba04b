//! The built binary as a child process, and what tests do with it.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test calls it a hang. Not a measurement.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A running service with a data directory of its own.
pub struct Service {
    child: Child,
    pub base: String,
    pub data_dir: PathBuf,
    pub agent: ureq::Agent,
}

/// An answer: status, content type, body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {:?}", self.text))
    }

    /// The body, after a check that it is a problem of this status and of RFC 9457's shape.
    pub fn problem(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.content_type, "application/problem+json", "{}", self.text);
        let body = self.json();
        assert_eq!(body["status"], status);
        for field in ["type", "title", "detail"] {
            assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {body}");
        }
        body
    }
}

pub fn scratch() -> TempDir {
    // On the filesystem of the target directory: /tmp may be a tmpfs, which has no real direct I/O.
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

impl Service {
    /// Starts `drivescope serve` on a free port.
    pub fn start(data_dir: &Path, arguments: &[&str]) -> Self {
        Self::try_start(data_dir, arguments).unwrap_or_else(|| panic!("the service did not start"))
    }

    /// `None` when it refuses to start.
    pub fn try_start(data_dir: &Path, arguments: &[&str]) -> Option<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_drivescope"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data_dir)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(base) = line.trim().strip_prefix("Drivescope is at ") else {
            child.wait().unwrap();
            return None;
        };
        let base = base.trim_end_matches('/').to_owned();
        let agent = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        Some(Self { child, base, data_dir: data_dir.to_owned(), agent })
    }

    /// With the simulated fleet, as fast as possible.
    pub fn simulated(data_dir: &Path) -> Self {
        Self::start(data_dir, &["--sim", "--sim-speed", "0"])
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn answer(response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Answer {
        let mut response = response.unwrap();
        let content_type = response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
        Answer {
            status: response.status().as_u16(),
            content_type: content_type.unwrap_or_default(),
            text: response.body_mut().read_to_string().unwrap(),
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        Self::answer(self.agent.get(format!("{}{path}", self.base)).call())
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        Self::answer(self.agent.post(format!("{}{path}", self.base)).send_json(body))
    }

    pub fn post_bytes(&self, path: &str, content_type: &str, body: &[u8]) -> Answer {
        let request = self.agent.post(format!("{}{path}", self.base)).header("content-type", content_type);
        Self::answer(request.send(body))
    }

    pub fn delete(&self, path: &str) -> Answer {
        Self::answer(self.agent.delete(format!("{}{path}", self.base)).call())
    }

    /// The drive of this kernel name.
    pub fn drive(&self, name: &str) -> Value {
        let drives = self.get("/api/v1/drives").json();
        let found = drives["drives"].as_array().unwrap().iter().find(|drive| drive["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {drives}")).clone()
    }

    /// Asks for the plan, types its phrase back, and starts the run. Its id.
    pub fn begin(&self, drive: &str, profile: &str, parameters: Value) -> String {
        let mut body = json!({ "drive": drive, "profile": profile, "parameters": parameters, "dry_run": true });
        let plan = self.post("/api/v1/runs", &body);
        assert_eq!(plan.status, 200, "{}", plan.text);
        body["confirm"] = plan.json()["confirm_phrase"].clone();
        body["dry_run"] = json!(false);
        let run = self.post("/api/v1/runs", &body);
        assert_eq!(run.status, 202, "{}", run.text);
        run.json()["id"].as_str().unwrap().to_owned()
    }

    pub fn run(&self, id: &str) -> Value {
        self.get(&format!("/api/v1/runs/{id}")).json()
    }

    /// Waits until `done` holds for the run.
    pub fn wait_for(&self, id: &str, what: &str, done: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let run = self.run(id);
            if done(&run) {
                return run;
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain for {what}: {run}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn wait_until_over(&self, id: &str) -> Value {
        self.wait_for(id, "the end", |run| is_over(run["state"].as_str().unwrap()))
    }

    pub fn wait_for_intervals(&self, id: &str, count: u64) -> Value {
        self.wait_for(id, "intervals", |run| run["progress"]["last_seq"].as_u64().unwrap() >= count)
    }

    /// All intervals as stored, after a check that none is missing or doubled.
    pub fn intervals(&self, id: &str) -> Vec<Value> {
        let body = self.get(&format!("/api/v1/runs/{id}/intervals")).json();
        let intervals = body["intervals"].as_array().unwrap().clone();
        let seqs: Vec<_> = intervals.iter().map(|interval| interval["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
        intervals
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits for the process to end. Its exit code, if it was not killed.
    pub fn wait(&mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(began.elapsed() < PATIENCE, "the service does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reads a live stream to its end: `(event, id, data)`.
    pub fn events(&self, id: &str, last_event_id: Option<u64>) -> Vec<(String, Option<u64>, Value)> {
        let mut request = self.agent.get(format!("{}/api/v1/runs/{id}/events", self.base));
        if let Some(last) = last_event_id {
            request = request.header("last-event-id", last.to_string());
        }
        let mut text = String::new();
        request.call().unwrap().body_mut().as_reader().read_to_string(&mut text).unwrap();
        text.split("\n\n").filter(|block| block.contains("event:")).map(event).collect()
    }
}

fn event(block: &str) -> (String, Option<u64>, Value) {
    let field =
        |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    let data = field("data:").unwrap_or_default();
    let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
    (field("event:").unwrap(), field("id:").map(|id| id.parse().unwrap()), data)
}

pub fn is_over(state: &str) -> bool {
    ["finished", "cancelled", "failed", "interrupted"].contains(&state)
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A loop device over a file in a directory of the test's own; detached on drop.
pub struct LoopDevice {
    pub path: String,
    pub name: String,
    pub backing: PathBuf,
}

impl LoopDevice {
    /// Needs root, as every mount does: a test without it fails and says so.
    pub fn new(dir: &Path, len: u64, arguments: &[&str]) -> Self {
        assert!(nix::unistd::geteuid().is_root(), "this test binds a loop device and must be run as root");
        let backing = dir.join(format!("backing-{}", arguments.len()));
        std::fs::File::create(&backing).unwrap().set_len(len).unwrap();
        let path = output("losetup", &[&["--find", "--show"], arguments, &[backing.to_str().unwrap()]].concat());
        let name = path.trim_start_matches("/dev/").to_owned();
        Self { path, name, backing }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.path]).status();
    }
}

/// Runs a command that must succeed; its trimmed output.
pub fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
