//! A host made by hand in a temporary directory.
#![allow(dead_code, clippy::unwrap_used)] // helpers of tests: not each file uses all, and clippy allows it only inside #[test] functions

use std::fs;

use drivescope::device::SysRoot;

/// A recorded host with the files it is given.
pub struct Tree(tempfile::TempDir);

impl Tree {
    /// An empty host.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A file.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let at = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, content).unwrap();
        self
    }

    /// A symbolic link.
    pub fn link(self, path: &str, target: &str) -> Self {
        let at = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, at).unwrap();
        self
    }

    /// A whole disk of 1 GiB.
    pub fn disk(self, name: &str, number: &str) -> Self {
        let dir = format!("/sys/block/{name}");
        self.file(&format!("{dir}/size"), "2097152\n").file(&format!("{dir}/dev"), format!("{number}\n"))
    }

    /// A partition of 1 MiB.
    pub fn partition(self, disk: &str, index: u32, number: &str) -> Self {
        let dir = format!("/sys/block/{disk}/{disk}{index}");
        self.file(&format!("{dir}/partition"), format!("{index}\n"))
            .file(&format!("{dir}/start"), "2048\n")
            .file(&format!("{dir}/size"), "2048\n")
            .file(&format!("{dir}/dev"), format!("{number}\n"))
    }

    /// As the host that is read.
    pub fn root(&self) -> SysRoot {
        SysRoot::recorded(self.0.path())
    }
}
