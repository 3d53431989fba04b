//! The command line and its environment. Each flag is also a variable `DRIVESCOPE_…`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::backend::EngineChoice;

/// Tells what your drives really are.
#[derive(Debug, Parser)]
#[command(name = "drivescope", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service and its web pages
    Serve(Serve),
    /// Print the drives of this host
    List(List),
    /// Record what a drive says of itself, its serial numbers replaced, to be read elsewhere or to make a test of it
    Record(Record),
}

/// Where drives come from.
#[derive(Debug, Clone, Args)]
pub struct Drives {
    /// Read a recorded host: DIR/sys in place of /sys, DIR/proc of /proc
    #[arg(long, value_name = "DIR", env = "DRIVESCOPE_SYSROOT")]
    pub sysroot: Option<PathBuf>,

    /// Add the simulated fleet
    #[arg(long, env = "DRIVESCOPE_SIM")]
    pub sim: bool,
}

/// `drivescope serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Where drives come from.
    #[command(flatten)]
    pub drives: Drives,

    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", env = "DRIVESCOPE_LISTEN")]
    pub listen: SocketAddr,

    /// Where the database is kept [default: drivescope in the user's data directory]
    #[arg(long, value_name = "DIR", env = "DRIVESCOPE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,

    /// Simulated seconds that pass in a real one, so that one can watch; 0 is as fast as possible
    #[arg(long, value_name = "FACTOR", default_value_t = 240.0, env = "DRIVESCOPE_SIM_SPEED")]
    pub sim_speed: f64,

    /// What carries out I/O on real drives; psync serves where io_uring is refused, a little slower
    #[arg(long, value_enum, default_value_t = EngineChoice::IoUring, env = "DRIVESCOPE_ENGINE")]
    pub engine: EngineChoice,

    /// A directory in which files may be probed; may be given several times [default: anywhere but in the system's own]
    #[arg(long = "file-dir", value_name = "DIR", env = "DRIVESCOPE_FILE_DIR", value_delimiter = ':')]
    pub file_dirs: Vec<PathBuf>,

    /// Runs that go at once on this host; more wait in the queue
    #[arg(long, value_name = "N", default_value_t = 64, env = "DRIVESCOPE_MAX_RUNS")]
    pub max_runs: usize,

    /// Runs that go at once on the drives of one adapter: eight disks of 270 MB/s fill four SAS lanes of 6 Gb/s
    #[arg(long, value_name = "N", default_value_t = 8, env = "DRIVESCOPE_MAX_RUNS_PER_ADAPTER")]
    pub max_runs_per_adapter: usize,

    /// Seconds that a stop of the service waits for drives to give back what is in flight; then it ends without them
    #[arg(long, value_name = "SECONDS", default_value_t = 60, env = "DRIVESCOPE_DRAIN_LIMIT")]
    pub drain_limit: u64,

    /// Listen beyond loopback although whoever reaches the port can overwrite drives
    #[arg(long, env = "DRIVESCOPE_ALLOW_REMOTE_WITHOUT_AUTHENTICATION")]
    pub allow_remote_without_authentication: bool,
}

/// `drivescope list`
#[derive(Debug, Args)]
pub struct List {
    /// Where drives come from.
    #[command(flatten)]
    pub drives: Drives,

    /// Print what GET /api/v1/drives answers
    #[arg(long)]
    pub json: bool,
}

/// `drivescope record`
#[derive(Debug, Args)]
pub struct Record {
    /// Where drives come from.
    #[command(flatten)]
    pub drives: Drives,

    /// The drive: its kernel name, a device path or its id
    pub device: String,

    /// The directory to make; without it `DEVICE@KERNEL` in the current directory
    #[arg(long, value_name = "DIR", env = "DRIVESCOPE_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Keep serial numbers and world wide names as they are
    #[arg(long, env = "DRIVESCOPE_KEEP_SERIALS")]
    pub keep_serials: bool,
}

impl Serve {
    /// The data directory, and how it was chosen if it was not given.
    ///
    /// # Errors
    /// When none was given and the user has no home.
    pub fn data_dir(&self) -> Result<PathBuf, String> {
        if let Some(dir) = &self.data_dir {
            return Ok(dir.clone());
        }
        user_data_dir(std::env::var_os("XDG_DATA_HOME").map(PathBuf::from), std::env::home_dir())
            .map(|dir| dir.join("drivescope"))
            .ok_or_else(|| "there is no home directory to keep the database in: give --data-dir".to_owned())
    }
}

/// The user's data directory by the XDG base directory rules: a relative `$XDG_DATA_HOME` does not count.
fn user_data_dir(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    xdg.filter(absolute).or_else(|| home.filter(absolute).map(|home| home.join(".local/share")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_is_that_of_the_user_or_unknown() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(user_data_dir(path("/data"), path("/home/a")), path("/data"));
        assert_eq!(user_data_dir(path("data"), path("/home/a")), path("/home/a/.local/share"));
        assert_eq!(user_data_dir(None, path("/home/a")), path("/home/a/.local/share"));
        assert_eq!(user_data_dir(None, None), None);
    }
}
