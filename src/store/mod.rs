//! All SQL. One writer, several readers, on one SQLite file in WAL mode.
//!
//! ```text
//!   scheduler ──▶ Store::record(batch) ── one short transaction ──▶ SQLite (one connection)
//!   web       ──▶ Store::{run, runs, intervals, …} ───────────────▶ SQLite (a few connections)
//! ```
//! Rows are not domain types: `rows` is the only place where one becomes the other. No transaction
//! is ever held open while something else is awaited, so a reader or a long run blocks nobody.

mod drives;
mod intervals;
mod rollups;
mod rows;
mod runs;
mod standing;
mod surroundings;
mod zone_ops;

use std::path::Path;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

pub use intervals::{Entry, PhaseLatencies, Range};
pub use runs::{RunFigures, RunFilter};
pub use zone_ops::ZoneLatencies;

/// Connections that read. More would not read faster from one file on a small machine.
const READERS: u32 = 4;

/// The store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite said no.
    #[error("the database: {0}")]
    Sqlite(#[from] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("the database's schema: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A row holds something that this version does not understand.
    #[error("a stored {what} cannot be read: {why}")]
    Row {
        /// What kind of value.
        what: &'static str,
        /// Why not.
        why: String,
    },
}

/// The database.
#[derive(Debug, Clone)]
pub struct Store {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl Store {
    /// Opens the database at `path`, makes it if it does not exist, and brings its schema up to date.
    ///
    /// # Errors
    /// When the file cannot be opened or its schema is newer than this program.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .foreign_keys(true)
            // WAL: readers do not wait for the writer. NORMAL: a commit survives the death of the
            // process; a power cut may cost the last commits, never the file.
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_secs(10));
        let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
        sqlx::migrate!().run(&writer).await?;
        let reader = SqlitePoolOptions::new()
            .max_connections(READERS)
            .min_connections(1)
            .connect_with(options.read_only(true))
            .await?;
        Ok(Self { writer, reader })
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// What SQLite said.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.reader).await?;
        Ok(())
    }

    /// Closes all connections; the write-ahead log is folded into the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}
