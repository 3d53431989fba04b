//! Composition: which parts there are, how they are joined, and in which order they end.
//!
//! Shutdown (SIGTERM, SIGINT): the token is cancelled → live streams end, no run is accepted any more,
//! every probe stops issuing → what is in flight is awaited → everything is committed → the database is
//! closed → exit. A second signal ends the process at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::backend::{Backend, EngineChoice, Fresh};
use crate::config::{Drives, List, Record, Serve};
use crate::device::SysRoot;
use crate::scheduler::{self, Limits, take_inventory};
use crate::store::{Store, StoreError};
use crate::{table, web};

/// Why the program ended.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A flag does not make sense.
    #[error("{0}")]
    Config(String),
    /// A path could not be used.
    #[error("{path}: {source}")]
    Path {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Another service has the data directory.
    #[error("{0} is in use by another drivescope; end it, or give another --data-dir")]
    Locked(PathBuf),
    /// The address could not be had.
    #[error("cannot listen on {address}: {source}; give another with --listen")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// The store failed.
    #[error("{path}: {source}")]
    Store {
        /// The database.
        path: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// Something of the operating system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn root(drives: &Drives) -> Result<SysRoot, AppError> {
    match &drives.sysroot {
        None => Ok(SysRoot::host()),
        Some(dir) if dir.join("sys").is_dir() => Ok(SysRoot::recorded(dir)),
        Some(dir) => Err(AppError::Config(format!("{} has no directory sys: it is no recorded host", dir.display()))),
    }
}

/// `drivescope list`
///
/// # Errors
/// When the recorded host does not exist or standard output is closed.
pub fn list(list: &List) -> Result<(), AppError> {
    let backend = Backend::new(root(&list.drives)?, list.drives.sim, None, EngineChoice::Psync, Vec::new());
    backend.settle();
    let inventory = take_inventory(&backend, &std::collections::HashMap::new(), &Fresh::All);
    let text = if list.json {
        serde_json::to_string_pretty(&inventory).map_err(io::Error::from)? + "\n"
    } else {
        table::inventory(&inventory)
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        // A reader that has seen enough (`| head`) is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// `drivescope record`
///
/// # Errors
/// When there is no such drive, or the recording cannot be written.
pub fn record(record: &Record) -> Result<(), AppError> {
    let backend = Backend::new(root(&record.drives)?, record.drives.sim, None, EngineChoice::Psync, Vec::new());
    let output = record.output.clone().unwrap_or_else(|| {
        let kernel = take_inventory(&backend, &std::collections::HashMap::new(), &Fresh::nothing()).host.kernel;
        let device = record.device.rsplit('/').next().unwrap_or_default();
        PathBuf::from(format!("{device}@{kernel}"))
    });
    let failed = |source: io::Error| match source.kind() {
        // There is no such drive: the directory has nothing to do with it.
        io::ErrorKind::Other => AppError::Config(source.to_string()),
        _ => AppError::Path { path: output.clone(), source },
    };
    let recorded = backend.record(&record.device, &output, record.keep_serials).map_err(failed)?;
    let place = output.display();
    let names = if record.keep_serials {
        "Serial numbers and world wide names are in it as they are.".to_owned()
    } else {
        format!("{} serial numbers and names were replaced by made-up ones.", recorded.replaced)
    };
    println!(
        "{place}: {} files of {}. {names}\n\
         Look at it:     drivescope list --sysroot {place}\n\
         Make it a test: move it to tests/fixtures/hosts/ and add what the drive really is to RECORDED in tests/inventory.rs.",
        recorded.files, recorded.name
    );
    Ok(())
}

/// `drivescope serve`
///
/// # Errors
/// When the service cannot start.
pub fn serve(config: &Serve) -> Result<(), AppError> {
    if !config.listen.ip().is_loopback() && !config.allow_remote_without_authentication {
        return Err(AppError::Config(format!(
            "{} can be reached from other machines, and whoever reaches it can overwrite drives; listen on 127.0.0.1, \
             or say --allow-remote-without-authentication",
            config.listen
        )));
    }
    if config.max_runs == 0 || config.max_runs_per_adapter == 0 {
        return Err(AppError::Config("--max-runs and --max-runs-per-adapter must be at least 1".to_owned()));
    }
    if !config.sim_speed.is_finite() || config.sim_speed < 0.0 {
        return Err(AppError::Config(format!("--sim-speed is {}, must be 0 or more", config.sim_speed)));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(run(config));
    // A scan or a check that a drive never answers must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

async fn run(config: &Serve) -> Result<(), AppError> {
    let data_dir = config.data_dir().map_err(AppError::Config)?;
    let _lock = lock(&data_dir)?;
    let database = data_dir.join("drivescope.db");
    let store_error = |source| AppError::Store { path: database.clone(), source };
    let store = Store::open(&database).await.map_err(store_error)?;
    let sim_speed = (config.sim_speed > 0.0).then_some(config.sim_speed);
    let own_files =
        ["drivescope.db", "drivescope.db-wal", "drivescope.db-shm", "lock"].map(|name| data_dir.join(name)).to_vec();
    let backend = Backend::new(root(&config.drives)?, config.drives.sim, sim_speed, config.engine, own_files)
        .with_file_dirs(file_dirs(&config.file_dirs)?);
    let backend = Arc::new(backend);
    if let Some(problem) = backend.engine_problem() {
        tracing::warn!(
            error = problem.error,
            remedy = problem.remedy,
            "io_uring is refused: real drives cannot be probed"
        );
    }
    let shutdown = CancellationToken::new();
    let limits = Limits { in_all: config.max_runs, per_adapter: config.max_runs_per_adapter };
    let drain_limit = Duration::from_secs(config.drain_limit);
    let (handle, scheduler) =
        scheduler::start(backend, store.clone(), limits, drain_limit, shutdown.clone()).await.map_err(store_error)?;

    let listen_error = |source| AppError::Listen { address: config.listen, source };
    let listener = TcpListener::bind(config.listen).await.map_err(listen_error)?;
    let address = listener.local_addr()?;
    let router = web::router(handle, store.clone(), shutdown.clone(), address);
    let server = tokio::spawn({
        let shutdown = shutdown.clone();
        async move { axum::serve(listener, router).with_graceful_shutdown(shutdown.cancelled_owned()).await }
    });
    println!("Drivescope is at http://{address}/");
    io::stdout().flush()?;

    wait_for_signal().await?;
    tracing::info!("stopping: what is in flight is awaited; a second signal ends at once");
    shutdown.cancel();
    tokio::spawn(async {
        if wait_for_signal().await.is_ok() {
            std::process::exit(130);
        }
    });
    if scheduler.await.is_err() {
        tracing::error!("the scheduler ended by a defect of this program");
    }
    // Clients that hold a connection open get a moment, no more.
    let _ = tokio::time::timeout(Duration::from_secs(2), server).await;
    store.close().await;
    Ok(())
}

/// Directories with all links followed, as a target's path is.
fn file_dirs(given: &[PathBuf]) -> Result<Vec<PathBuf>, AppError> {
    let canonical =
        |dir: &PathBuf| std::fs::canonicalize(dir).map_err(|source| AppError::Path { path: dir.clone(), source });
    given.iter().map(canonical).collect()
}

async fn wait_for_signal() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Makes the data directory, for its owner only, and holds it for this process.
fn lock(data_dir: &Path) -> Result<Flock<File>, AppError> {
    let path_error = |source| AppError::Path { path: data_dir.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir).map_err(path_error)?;
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).open(data_dir.join("lock")).map_err(path_error)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| AppError::Locked(data_dir.to_owned()))
}
