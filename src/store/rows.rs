//! Between rows and values of the model.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::{RunFigures, StoreError};
use crate::model::drive::DriveId;
use crate::model::histogram::{LatencyHistogram, Precision};
use crate::model::interval::{Interval, Tally, ZoneTallies};
use crate::model::profile::Profile;
use crate::model::recording::Recording;
use crate::model::run::{PhaseOutcome, Run, RunId, RunState};
use crate::model::seen::Seen;
use crate::model::surroundings::Surroundings;
use crate::model::units::{Bytes, Nanos};

/// An unsigned number as SQLite's signed one. 2^63 bytes are 9 EB and 2^63 ns are 292 years: what is
/// larger is not a measurement, and is kept as the largest.
pub fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number that cannot be negative.
pub fn unsigned(row: &SqliteRow, column: &str) -> Result<u64, StoreError> {
    let value: i64 = row.try_get(column)?;
    u64::try_from(value).map_err(|_| StoreError::Row { what: "number", why: format!("{column} is {value}") })
}

fn optional_unsigned(row: &SqliteRow, column: &str) -> Result<Option<u64>, StoreError> {
    let value: Option<i64> = row.try_get(column)?;
    Ok(value.and_then(|value| u64::try_from(value).ok()))
}

/// A value of the model as JSON text.
pub fn json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Row { what: "value", why: error.to_string() })
}

/// The reverse of [`json`].
pub fn from_json<T: DeserializeOwned>(text: &str, what: &'static str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Row { what, why: error.to_string() })
}

fn json_column<T: DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<T, StoreError> {
    from_json(row.try_get(column)?, column)
}

fn optional_json_column<T: DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<Option<T>, StoreError> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(|text| from_json(text, column)).transpose()
}

fn uuid_column(row: &SqliteRow, column: &'static str) -> Result<Uuid, StoreError> {
    let text: &str = row.try_get(column)?;
    Uuid::parse_str(text).map_err(|error| StoreError::Row { what: column, why: error.to_string() })
}

/// A row of `runs`, without its phases.
pub fn run(row: &SqliteRow) -> Result<Run, StoreError> {
    let state: &str = row.try_get("state")?;
    let profile: &str = row.try_get("profile")?;
    Ok(Run {
        id: RunId(uuid_column(row, "id")?),
        drive: DriveId(uuid_column(row, "drive_id")?),
        drive_title: row.try_get("drive_title")?,
        simulated: row.try_get("simulated")?,
        profile: Profile::parse(profile)
            .ok_or_else(|| StoreError::Row { what: "profile", why: format!("it is {profile:?}") })?,
        plan: json_column(row, "plan")?,
        state: RunState::parse(state)
            .ok_or_else(|| StoreError::Row { what: "run state", why: format!("it is {state:?}") })?,
        stalled: row.try_get("stalled")?,
        created_at_ms: row.try_get("created_at_ms")?,
        started_at_ms: row.try_get("started_at_ms")?,
        ended_at_ms: row.try_get("ended_at_ms")?,
        stop_reason: optional_json_column(row, "stop_reason")?,
        engine: row.try_get("engine")?,
        host: json_column(row, "host")?,
        progress: json_column(row, "progress")?,
        phases: Vec::new(),
        verdict: optional_json_column(row, "verdict")?,
        estimates: json_column(row, "estimates")?,
        options: json_column(row, "options")?,
        life: json_column(row, "life")?,
        surroundings: Surroundings::default(),
    })
}

/// A drive's id and one verdict on it.
pub fn verdict(row: &SqliteRow) -> Result<(DriveId, Recording), StoreError> {
    Ok((DriveId(uuid_column(row, "drive_id")?), json_column(row, "verdict")?))
}

/// What one run measured and found.
pub fn figures(row: &SqliteRow) -> Result<RunFigures, StoreError> {
    Ok(RunFigures {
        run: RunId(uuid_column(row, "id")?),
        estimates: json_column(row, "estimates")?,
        verdict: optional_json_column(row, "verdict")?,
    })
}

/// A row of `phases`.
pub fn phase(row: &SqliteRow) -> Result<PhaseOutcome, StoreError> {
    Ok(PhaseOutcome {
        phase: u32::try_from(unsigned(row, "phase")?).unwrap_or(u32::MAX),
        started_t_ms: optional_unsigned(row, "started_t_ms")?,
        ended_t_ms: optional_unsigned(row, "ended_t_ms")?,
        ended_by: row.try_get("ended_by")?,
        seen: optional_json_column(row, "seen")?,
    })
}

/// A histogram column.
pub fn histogram(row: &SqliteRow, column: &str, precision: Precision) -> Result<LatencyHistogram, StoreError> {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    LatencyHistogram::decode(bytes.unwrap_or_default(), precision)
        .map_err(|error| StoreError::Row { what: "histogram", why: error.to_string() })
}

/// A tally that most intervals do not have.
fn rare_tally(row: &SqliteRow, ios: &str, bytes: Option<&str>, lat: &str) -> Result<Option<Box<Tally>>, StoreError> {
    let Some(ios) = optional_unsigned(row, ios)? else { return Ok(None) };
    let bytes = bytes.map(|column| optional_unsigned(row, column)).transpose()?.flatten().unwrap_or(0);
    Ok(Some(Box::new(Tally { ios, bytes: Bytes(bytes), lat: histogram(row, lat, Precision::Interval)? })))
}

/// What others than the engine saw of an interval.
fn seen(row: &SqliteRow) -> Result<Option<Box<Seen>>, StoreError> {
    let Some(bytes) = row.try_get::<Option<&[u8]>, _>("seen")? else { return Ok(None) };
    let unpacked = Seen::unpack(bytes).map_err(|error| StoreError::Row { what: "interval", why: error.to_string() })?;
    Ok(Some(Box::new(unpacked)))
}

/// A row of `intervals`.
pub fn interval(row: &SqliteRow) -> Result<Interval, StoreError> {
    Ok(Interval {
        seq: unsigned(row, "seq")?,
        phase: u32::try_from(unsigned(row, "phase")?).unwrap_or(u32::MAX),
        t: Nanos(unsigned(row, "t_ns")?),
        duration: Nanos(unsigned(row, "duration_ns")?),
        read: Tally {
            ios: unsigned(row, "read_ios")?,
            bytes: Bytes(unsigned(row, "read_bytes")?),
            lat: histogram(row, "read_lat", Precision::Interval)?,
        },
        write: Tally {
            ios: unsigned(row, "write_ios")?,
            bytes: Bytes(unsigned(row, "write_bytes")?),
            lat: histogram(row, "write_lat", Precision::Interval)?,
        },
        errors: unsigned(row, "errors")?,
        // A flush moves no bytes, so it has no column for them.
        flush: rare_tally(row, "flush_ios", None, "flush_lat")?,
        trim: rare_tally(row, "trim_ios", Some("trim_bytes"), "trim_lat")?,
        // They are in a table of their own.
        zone_ops: ZoneTallies::new(),
        ramp: optional_unsigned(row, "ramp")?.is_some(),
        seen: seen(row)?,
        extremes: None,
    })
}
