//! Pure values: what a drive, a workload, a run, an interval and a verdict are.
//!
//! Nothing in here does I/O, and nothing in here depends on another room of the crate:
//! no sqlx, no axum, no tokio, no libc. Every other room speaks in these types, so a
//! quantity carries its unit in its type ([`Bytes`], [`Nanos`]) or in its name.
//!
//! | file | what |
//! |---|---|
//! | `units` | bytes and nanoseconds, and how people read them |
//! | `approx` | the one place where exact integers become floating point |
//! | `drive` | a drive as the inventory sees it, with the source of each fact |
//! | `page` | the raw pages a drive answers, by name |
//! | `zone` | zones in ZBC's words, and a zoned drive's summary |
//! | `recording` | the answer: state, basis, confidence, sentence, evidence |
//! | `estimate` | a figure that a run measured, with its 95 % interval |
//! | `workload` | what is asked of a drive, in fio's words |
//! | `parameters` | a profile's parameters: ranges, parsing, errors that name the field |
//! | `profile` | the profiles as data: ordered phases |
//! | `plan` | what a run would do, cost and destroy, before it does it |
//! | `conditions` | what of host and kernel a run's figures depend on, as found and as set |
//! | `tunable` | the settings that a run may change |
//! | `surroundings` | conditions, temperature and kernel log of a run |
//! | `suitability` | what a drive is good for |
//! | `run` | run states with their diagram, stop and refusal reasons |
//! | `interval` | one period of a run |
//! | `seen` | what the block layer and the host saw of it |
//! | `split` | what became of requests on their way to the device, and whose limit it was |
//! | `histogram` | latency histograms |
//! | `varint` | numbers as few bytes as they need |

pub mod approx;
pub mod conditions;
pub mod drive;
pub mod estimate;
pub mod histogram;
pub mod history;
pub mod interval;
pub mod options;
pub mod page;
pub mod parameters;
pub mod plan;
pub mod profile;
pub mod recording;
pub mod run;
pub mod seen;
pub mod split;
pub mod standing;
pub mod suitability;
pub mod surroundings;
pub mod tunable;
pub mod units;
pub mod varint;
pub mod workload;
pub mod zone;

pub use units::{Bytes, Nanos};
