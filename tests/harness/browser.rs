//! A headless Chromium of a test's own, and what tests do with it.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{PATIENCE, scratch};

const INSTALL: &str = "the browser tests need Chromium and its driver; on Debian: apt install chromium chromium-driver";
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A chromedriver, and one session in it.
pub struct Browser {
    driver: Child,
    /// Open, so that the driver can go on writing to it.
    _output: BufReader<ChildStdout>,
    address: String,
    session: String,
    agent: ureq::Agent,
    pub client: Client,
    _profile: TempDir,
}

/// The first of these programs that `PATH` has.
fn installed(names: &[&str]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|dir| names.iter().map(move |name| dir.join(name)))
        .find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{} is not installed: {INSTALL}", names[0]))
}

impl Browser {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    pub async fn start_with(more: &[&str]) -> Self {
        let chromium = installed(&["chromium", "chromium-browser", "google-chrome"]);
        let mut driver = Command::new(installed(&["chromedriver"]))
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("chromedriver does not start ({error}): {INSTALL}"));
        let mut output = BufReader::new(driver.stdout.take().unwrap());
        let port = port_told(&mut output).unwrap_or_else(|| panic!("chromedriver ends at once: {INSTALL}"));
        let address = format!("http://127.0.0.1:{port}");

        let profile = scratch();
        let mut arguments: Vec<String> = ARGUMENTS.iter().chain(more).map(|&argument| argument.to_owned()).collect();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        let wishes = json!({
            "goog:chromeOptions": { "binary": chromium, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wishes.as_object().unwrap().clone())
            .connect(&address)
            .await
            .unwrap_or_else(|error| panic!("Chromium does not start ({error}): {INSTALL}"));
        let session = client.session_id().await.unwrap().unwrap();
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { driver, _output: output, address, session, agent, client, _profile: profile }
    }

    pub async fn goto(&self, address: &str) {
        self.client.goto(address).await.unwrap();
    }

    /// What a script says: `return …`.
    pub async fn ask(&self, script: &str) -> Value {
        self.client.execute(script, vec![]).await.unwrap_or_else(|error| panic!("{error} in {script}"))
    }

    /// Waits until an expression is truthy. Its value.
    pub async fn wait_until(&self, expression: &str) -> Value {
        let began = Instant::now();
        loop {
            // A page that is being replaced answers with an error; the next one is asked again.
            let value = self.client.execute(&format!("return {expression}"), vec![]).await;
            match value {
                Ok(value) if truthy(&value) => return value,
                value => assert!(
                    began.elapsed() < PATIENCE,
                    "waited in vain for {expression}: {value:?} at {:?}, console {:?}",
                    self.client.current_url().await.ok().map(|url| url.to_string()),
                    self.console(),
                ),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The element of this selector, once it is there.
    pub async fn find(&self, css: &str) -> Element {
        let waiting = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        waiting.unwrap_or_else(|error| panic!("no {css}: {error}"))
    }

    pub async fn text(&self, css: &str) -> String {
        self.find(css).await.text().await.unwrap()
    }

    pub async fn type_into(&self, css: &str, text: &str) {
        self.find(css).await.send_keys(text).await.unwrap();
    }

    /// Clicks what this selector finds, even if the page replaces it meanwhile.
    pub async fn click(&self, css: &str) {
        let began = Instant::now();
        while let Err(error) = self.find(css).await.click().await {
            assert!(error.is_stale_element_reference() && began.elapsed() < PATIENCE, "cannot click {css}: {error}");
        }
    }

    fn vendor(&self, path: &str, body: &Value) -> Value {
        let address = format!("{}/session/{}/{path}", self.address, self.session);
        let mut answer = self.agent.post(address).send_json(body).unwrap();
        let answer: Value = answer.body_mut().with_config().limit(1 << 28).read_json().unwrap();
        assert!(answer["value"]["error"].is_null(), "{path} {body}: {answer}");
        answer["value"].clone()
    }

    /// A command of the Chrome DevTools Protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.vendor("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// What the console got since it was last asked, of every level.
    pub fn console(&self) -> Vec<String> {
        let entries = self.vendor("se/log", &json!({ "type": "browser" }));
        entries.as_array().unwrap().iter().map(|entry| format!("{} {}", entry["level"], entry["message"])).collect()
    }

    /// No error, no warning, no violation of the content security policy; nothing at all was said,
    /// but that the page itself came with `status`, which Chromium notes there too.
    pub fn assert_console_is_clean(&self, status: u16) {
        let mut said = self.console();
        said.retain(|line| status == 200 || !line.contains(&format!("with a status of {status}")));
        assert!(said.is_empty(), "{said:#?}");
    }

    /// As on a screen of this size.
    pub fn screen(&self, width: u32, height: u32) {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &screen);
    }

    pub fn prefer(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", &features);
    }

    /// Writes a picture of the whole page: the screen is made as high as the page is.
    pub async fn photograph(&self, file: &Path, width: u32) {
        let height = self.ask("return document.documentElement.scrollHeight").await;
        self.screen(width, u32::try_from(height.as_u64().unwrap()).unwrap());
        std::fs::write(file, self.client.screenshot().await.unwrap()).unwrap();
    }

    pub fn press_tab(&self) {
        for kind in ["rawKeyDown", "keyUp"] {
            let key = json!({ "type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9 });
            self.devtools("Input.dispatchKeyEvent", &key);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its Chromium; killed outright it would leave it behind.
        let _ = self.agent.get(format!("{}/shutdown", self.address)).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn port_told(output: &mut impl BufRead) -> Option<String> {
    output.lines().map_while(Result::ok).find_map(|line| {
        let (_, port) = line.split_once("successfully on port ")?;
        Some(port.trim_end_matches('.').to_owned())
    })
}

fn truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}
