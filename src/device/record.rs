//! The recording of one drive: the files the inventory reads of it, in a tree that serves as a host (`--sysroot`).
//!
//! What is read is not listed here a second time: the inventory itself is taken with a [`SysRoot`] that notes every file, and
//! those files are copied. So a recording can never lack what the inventory has learned to read. Who uses the drive (mounts,
//! holders, swap) and who the host is are not recorded: they are nobody's business.

pub(super) mod disguise;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::inventory;
use super::ownership::Users;
use super::sysfs::SysRoot;
use crate::model::drive::{Reading, Unknown};
use disguise::Disguise;

/// More files than any drive has; a tree that offers more is not what it seems.
const MOST_FILES: usize = 2_000;

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The kernel's name of the drive.
    pub name: String,
    /// Files written.
    pub files: usize,
    /// Serial numbers and names that were replaced by made-up ones of the same form.
    pub replaced: usize,
}

/// One file of the recording: its path on the host, and what it holds.
struct Piece {
    path: String,
    bytes: Vec<u8>,
}

/// Records the whole block device `name` into `output`, which must not hold a recording yet.
///
/// # Errors
/// When the output exists already or cannot be written.
pub fn record(root: &SysRoot, name: &str, output: &Path, keep_serials: bool) -> io::Result<Recorded> {
    if output.join("sys").exists() {
        let what = format!("{} holds a recording already", output.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    let noted = root.noting();
    let host = inventory::host(root);
    let _ = inventory::why_left_out(&noted, name);
    let _ = inventory::drive(&noted, &host, &Users::default(), name);
    let device = format!("/sys/block/{name}/device");
    // All pages the kernel shows, also those that nothing here reads yet: a recording is made once.
    let pages = root.list(&device).into_iter().filter(|file| file.starts_with("vpd_pg") || file == "inquiry");
    let mut paths = noted.noted();
    paths.extend(pages.map(|file| format!("{device}/{file}")));
    paths.retain(|path| path.starts_with("/sys/") && path != "/sys/block" && !path.contains("/holders"));
    if paths.len() > MOST_FILES {
        return Err(io::Error::other(format!("{name} has {} files, more than a drive can have", paths.len())));
    }

    let mut pieces: Vec<Piece> = paths.iter().filter_map(|path| piece(root, path)).collect();
    let replaced = if keep_serials { 0 } else { hide(&mut pieces) };
    if let Some(place) = root.device_path(name) {
        pieces.push(Piece { path: format!("/sys/block/{name}.readlink"), bytes: format!("{place}\n").into_bytes() });
    }
    let kernel = format!("{}\n", host.kernel).into_bytes();
    pieces.push(Piece { path: "/proc/sys/kernel/osrelease".to_owned(), bytes: kernel });

    for directory in paths.iter().filter(|path| *path != &format!("/sys/block/{name}")) {
        for entry in root.list(directory) {
            if root.at(&format!("{directory}/{entry}")).is_dir() {
                fs::create_dir_all(inside(output, &format!("{directory}/{entry}"))?)?;
            }
        }
    }
    for piece in &pieces {
        let at = inside(output, &piece.path)?;
        if let Some(parent) = at.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(at, &piece.bytes)?;
    }
    Ok(Recorded { name: name.to_owned(), files: pieces.len(), replaced })
}

/// A file that was looked for. What is not there is not recorded; what may not be read is an empty file.
fn piece(root: &SysRoot, path: &str) -> Option<Piece> {
    let bytes = match root.bytes(path) {
        Reading::Known(bytes) => bytes,
        Reading::Unknown(Unknown::Absent) => return None,
        Reading::Unknown(_) => Vec::new(),
    };
    Some(Piece { path: path.to_owned(), bytes })
}

fn hide(pieces: &mut [Piece]) -> usize {
    let mut disguise = Disguise::default();
    for piece in pieces.iter() {
        disguise.learn(&piece.path, &piece.bytes);
    }
    for piece in pieces.iter_mut() {
        piece.bytes = disguise.apply(&piece.path, &piece.bytes);
    }
    disguise.found()
}

/// Where a path of the host goes: never outside the output.
fn inside(output: &Path, path: &str) -> io::Result<PathBuf> {
    let relative = Path::new(path.trim_start_matches('/'));
    if relative.components().all(|step| matches!(step, Component::Normal(_))) {
        Ok(output.join(relative))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path} leads out of the recording")))
    }
}
