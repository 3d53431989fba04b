//! Prepares what the web pages load: hashes and packs `static/`, and fetches Apache ECharts out of
//! the `charming` package that cargo has already downloaded, so that no third-party script is kept
//! in this repository and no page asks anything of another host.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

const ECHARTS: &str = "src/asset/echarts-5.5.1.min.js";

fn main() {
    if let Err(error) = prepare() {
        // A build script speaks through its exit status; `cargo:error` puts the sentence where people look.
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn prepare() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=static");
    // sqlx::migrate! embeds the folder without telling cargo.
    println!("cargo::rerun-if-changed=migrations");
    println!("cargo::rerun-if-changed=Cargo.lock");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let packages = packages(&root)?;

    let mut own = Vec::new();
    let mut entries = fs::read_dir(root.join("static"))?.collect::<Result<Vec<_>, io::Error>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        own.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    // One version for all own files: a module then finds its neighbours by a relative import.
    let own_version = version(own.iter().map(|(_, body)| body.as_slice()));

    let mut table = String::from("static ASSETS: &[Asset] = &[\n");
    for (name, body) in &own {
        entry(&mut table, &out, name, &own_version, body)?;
    }
    let echarts = echarts(&packages)?;
    // Its own version: a change of ours must not make browsers fetch a megabyte again.
    entry(&mut table, &out, "echarts.min.js", &version([echarts.as_slice()]), &echarts)?;
    let notice = notice(&echarts, &packages);
    entry(&mut table, &out, "third-party.txt", &version([notice.as_bytes()]), notice.as_bytes())?;
    table.push_str("];\n");
    fs::write(out.join("assets.rs"), table)?;
    Ok(())
}

/// Every package of the lock file that this target needs: name and folder.
fn packages(root: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = env::var("TARGET")?;
    let metadata = |network: &[&str]| {
        Command::new(&cargo)
            .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", &target, "--manifest-path"])
            .arg(root.join("Cargo.toml"))
            .args(network)
            .output()
    };
    // Without the network first: that is fast, and works on a closed one. A first `cargo build` has
    // not fetched what only tests need, though, and metadata wants to see everything.
    let mut output = metadata(&["--offline"])?;
    if !output.status.success() {
        output = metadata(&[])?;
    }
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", one_line(&output.stderr)).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    Ok(packages
        .iter()
        .filter_map(|package| {
            let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
            Some((package["name"].as_str()?.to_owned(), folder))
        })
        .collect())
}

fn folder<'a>(packages: &'a [(String, PathBuf)], name: &str) -> Option<&'a Path> {
    packages.iter().find(|(package, _)| package == name).map(|(_, folder)| folder.as_path())
}

fn echarts(packages: &[(String, PathBuf)]) -> Result<Vec<u8>, Box<dyn Error>> {
    let folder = folder(packages, "charming").ok_or("the package `charming` is not among the dependencies")?;
    let path = folder.join(ECHARTS);
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read(&path).map_err(|error| {
        format!(
            "the chart script is not at {} ({error}): this version of `charming` ships another ECharts; \
             set ECHARTS in build.rs to the file under its src/asset",
            path.display()
        )
        .into()
    })
}

/// What the licences of shipped third-party files ask to be shown.
fn notice(echarts: &[u8], packages: &[(String, PathBuf)]) -> String {
    let header: String = String::from_utf8_lossy(echarts)
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| !line.contains("*/"))
        .map(|line| format!("{}\n", line.trim_start_matches(['/', '*', ' '])))
        .collect();
    // The full text travels with a package that every build has; the header above names it otherwise.
    let licence = folder(packages, "serde_json")
        .and_then(|folder| fs::read_to_string(folder.join("LICENSE-APACHE")).ok())
        .unwrap_or_default();
    format!(
        "Drivescope serves one third-party file, unchanged:\n\n\
         Apache ECharts 5.5.1 (echarts.min.js), https://echarts.apache.org\n\
         Copyright 2017-2024 The Apache Software Foundation\n\
         This product includes software developed at The Apache Software Foundation (https://www.apache.org/).\n\
         {header}\n{licence}"
    )
}

/// Adds one asset to the table: where its bytes are, plain and packed.
fn entry(table: &mut String, out: &Path, name: &str, version: &str, body: &[u8]) -> Result<(), Box<dyn Error>> {
    let plain = out.join(name);
    let packed = out.join(format!("{name}.gz"));
    fs::write(&plain, body)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body)?;
    fs::write(&packed, encoder.finish()?)?;
    writeln!(
        table,
        "    Asset {{ name: {name:?}, version: {version:?}, url: {:?}, plain: include_bytes!({plain:?}), \
         gzip: include_bytes!({packed:?}) }},",
        format!("/static/{version}/{name}")
    )?;
    Ok(())
}

/// A short content hash (FNV-1a, 64 bit): it must only differ when the content does.
fn version<'a>(bodies: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bodies.into_iter().flatten() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

fn one_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
