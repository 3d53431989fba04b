//! The same drive in another form: what a bridge or another way to it has changed since it was probed.

use jiff::Timestamp;

use super::drive::Drive;
use super::units::Bytes;

/// A drive as it was when it was probed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Logical block, bytes.
    pub logical_block_bytes: u32,
    /// How large it was.
    pub capacity_bytes: Bytes,
    /// Its serial number, if it told one.
    pub serial: Option<String>,
    /// How commands reached it, as in the API.
    pub transport: String,
    /// When it was last probed in this form, milliseconds since 1970 UTC.
    pub last_seen_ms: i64,
}

impl Form {
    /// The form a drive has now.
    #[must_use]
    pub fn of(drive: &Drive, now_ms: i64) -> Self {
        Self {
            logical_block_bytes: drive.logical_block_bytes,
            capacity_bytes: drive.capacity_bytes,
            serial: drive.serial.clone(),
            transport: drive.transport.as_str().to_owned(),
            last_seen_ms: now_ms,
        }
    }
}

/// What a reader of its earlier runs must know: in what the drive differs now from each form it was probed in.
///
/// That the same name stands for the same disk is an assumption; what differs is told, so that a person can doubt it.
#[must_use]
pub fn history_notes(forms: &[Form], now: &Drive) -> Vec<String> {
    let serial = |serial: Option<&str>| serial.map_or("none".to_owned(), |serial| format!("`{serial}`"));
    let mut notes = Vec::new();
    for form in forms {
        let mut differs = Vec::new();
        if form.logical_block_bytes != now.logical_block_bytes {
            differs.push(format!("blocks of {} bytes, now of {}", form.logical_block_bytes, now.logical_block_bytes));
        }
        if form.capacity_bytes != now.capacity_bytes {
            differs.push(format!("{} bytes, now {}", form.capacity_bytes.get(), now.capacity_bytes.get()));
        }
        if form.serial != now.serial {
            let (was, is) = (serial(form.serial.as_deref()), serial(now.serial.as_deref()));
            differs.push(format!("the serial number {was}, now {is}"));
        }
        if form.transport != now.transport.as_str() {
            differs.push(format!("{} as its transport, now {}", form.transport, now.transport.as_str()));
        }
        if !differs.is_empty() {
            notes.push(format!(
                "When it was probed on {} it had {}: results of runs before and after may not be comparable.",
                day(form.last_seen_ms),
                differs.join("; ")
            ));
        }
    }
    notes
}

fn day(ms: i64) -> String {
    Timestamp::from_millisecond(ms)
        .map_or_else(|_| "an unknown day".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}
