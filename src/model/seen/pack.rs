//! What was seen in a period as a few bytes: one of 600 000 rows of a week-long run.
//!
//! ```text
//! mask: which of the numbers below follow, a varint
//!   bit 0  the device's count is known    bit 1  run delay is known    bit 2  temperature is known
//!   bit 3… the count's fields in the order below, each only where it is not 0
//! numbers: varints, run delay and temperature first, then the count's fields
//! ```
//! Bytes are kept as sectors of 512, times as they are, a temperature as zigzag of tenths of a degree.

use super::{DeviceCount, RunDelay, Seen};
use crate::model::approx::u64_of;
use crate::model::units::{Bytes, Nanos};
use crate::model::varint::{VarintError, put, take};

const DEVICE: u64 = 1;
const RUN_DELAY: u64 = 1 << 1;
const TEMPERATURE: u64 = 1 << 2;
const FIRST_FIELD: u32 = 3;
const FIELDS: usize = 11;

/// Stored bytes that are no such value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what was seen in an interval ends early, goes on too long, or has parts that this version does not know")]
pub struct PackError;

impl From<VarintError> for PackError {
    fn from(_: VarintError) -> Self {
        Self
    }
}

fn fields(device: &DeviceCount) -> [u64; FIELDS] {
    let sectors = |bytes: Bytes| bytes.0 / 512;
    [
        device.read_ios,
        sectors(device.read_bytes),
        device.write_ios,
        sectors(device.write_bytes),
        device.queue_ms,
        device.busy_ms,
        device.in_flight,
        device.merges,
        device.flush_ios,
        device.discard_ios,
        sectors(device.discard_bytes),
    ]
}

fn device_of(fields: [u64; FIELDS]) -> DeviceCount {
    let [read_ios, read, write_ios, write, queue_ms, busy_ms, in_flight, merges, flush_ios, discard_ios, discard] =
        fields;
    DeviceCount {
        read_ios,
        read_bytes: Bytes::from_sectors(read),
        write_ios,
        write_bytes: Bytes::from_sectors(write),
        discard_ios,
        discard_bytes: Bytes::from_sectors(discard),
        flush_ios,
        merges,
        queue_ms,
        busy_ms,
        in_flight,
    }
}

impl Seen {
    /// The bytes to store; empty when nothing is known.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut mask = 0;
        let mut numbers = Vec::with_capacity(32);
        if let Some(delay) = self.run_delay {
            mask |= RUN_DELAY;
            put(&mut numbers, delay.total.0);
            put(&mut numbers, u64::from(delay.threads));
        }
        if let Some(celsius) = self.temperature_celsius {
            mask |= TEMPERATURE;
            let tenths = u64_of(celsius.abs() * 10.0).saturating_mul(2);
            put(&mut numbers, if celsius < 0.0 { tenths.saturating_sub(1) } else { tenths });
        }
        if let Some(device) = &self.device {
            mask |= DEVICE;
            for (field, bit) in fields(device).into_iter().zip(FIRST_FIELD..).filter(|(field, _)| *field != 0) {
                mask |= 1 << bit;
                put(&mut numbers, field);
            }
        }
        if mask == 0 {
            return Vec::new();
        }
        let mut bytes = Vec::with_capacity(numbers.len() + 2);
        put(&mut bytes, mask);
        bytes.extend(numbers);
        bytes
    }

    /// The reverse of [`pack`](Self::pack).
    ///
    /// # Errors
    /// [`PackError`] for bytes that it did not make.
    pub fn unpack(mut bytes: &[u8]) -> Result<Self, PackError> {
        let mut seen = Self::default();
        if bytes.is_empty() {
            return Ok(seen);
        }
        let bytes = &mut bytes;
        let mask = take(bytes)?;
        if mask >= 1 << (FIRST_FIELD + 11) {
            return Err(PackError);
        }
        if mask & RUN_DELAY != 0 {
            let total = Nanos(take(bytes)?);
            seen.run_delay = Some(RunDelay { total, threads: u32::try_from(take(bytes)?).map_err(|_| PackError)? });
        }
        if mask & TEMPERATURE != 0 {
            let zigzag = take(bytes)?;
            let tenths = i16::try_from(zigzag.div_ceil(2)).map_err(|_| PackError)?;
            let celsius = f64::from(tenths) / 10.0;
            seen.temperature_celsius = Some(if zigzag % 2 == 1 { -celsius } else { celsius });
        }
        if mask & DEVICE != 0 {
            let mut fields = [0; FIELDS];
            for (field, bit) in fields.iter_mut().zip(FIRST_FIELD..) {
                if mask & 1 << bit != 0 {
                    *field = take(bytes)?;
                }
            }
            seen.device = Some(device_of(fields));
        }
        if bytes.is_empty() { Ok(seen) } else { Err(PackError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_second_of_a_disk_takes_some_twenty_bytes() {
        let seen = Seen {
            device: Some(DeviceCount {
                write_ios: 490,
                write_bytes: Bytes(490 * 4096),
                queue_ms: 990,
                busy_ms: 987,
                in_flight: 1,
                ..DeviceCount::default()
            }),
            run_delay: Some(RunDelay { total: Nanos(3_141_592), threads: 1 }),
            temperature_celsius: Some(-1.5),
        };
        let bytes = seen.pack();
        assert!(bytes.len() <= 20, "{}", bytes.len());
        assert_eq!(Seen::unpack(&bytes), Ok(seen));
        assert_eq!((Seen::default().pack().len(), Seen::unpack(&[])), (0, Ok(Seen::default())));
    }

    proptest! {
        #[test]
        fn whatever_was_seen_reads_back(
            numbers in prop::option::of(prop::array::uniform11(0..u64::MAX / 512)),
            delay in prop::option::of((any::<u64>(), any::<u32>())),
            tenths in prop::option::of(-600i16..1_500),
        ) {
            let seen = Seen {
                device: numbers.map(device_of),
                run_delay: delay.map(|(total, threads)| RunDelay { total: Nanos(total), threads }),
                temperature_celsius: tenths.map(|tenths| f64::from(tenths) / 10.0),
            };
            prop_assert_eq!(Seen::unpack(&seen.pack()), Ok(seen));
        }

        #[test]
        fn damaged_bytes_are_refused_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Seen::unpack(&bytes);
        }
    }
}
