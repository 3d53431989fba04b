//! Who runs when, and what becomes of it. Everything the web sees of running things is a [`Handle`].
//!
//! ```text
//!  web ─▶ Handle ──plan (blocking pool)──▶ Backend: resolve, check, losses
//!            │
//!            └─Command──▶ Driver ◀──JobEvent── job threads (claim, carry out, drain)
//!                           │ select → apply
//!                           ├─ every 100 ms or 1000 entries: Store::record(batch), and only then
//!                           └─ Head (watch per run) ──▶ live streams read the table up to it
//! ```
//! | file | what |
//! |---|---|
//! | `admission` | pure: may this run start beside the others? |
//! | `queue` | pure: who of those that wait may go now? |
//! | `planning` `zoned_plan` | a request made into a plan; what it needs to know of zones |
//! | `driver` | the one task that owns all run state |
//! | `active` | how a run's state follows from orders and events |
//! | `job` | one run on its own thread |
//! | `watch` | temperature and kernel log, on a thread beside a run |
//! | `restoring` | settings that a killed service left changed |
//! | `progress` | pure: how far, how long still |
//! | `inventory` | the drives, classified and kept fresh |
//! | `zones` | reports of zones, asked for and kept |
//! | `handle` | what others may ask |

mod active;
mod admission;
mod clock;
mod driver;
mod handle;
mod inventory;
mod job;
mod planning;
mod progress;
mod queue;
mod restoring;
#[cfg(test)]
mod testing;
mod watch;
mod zoned_plan;
mod zones;

pub use crate::backend::ResolveError;
pub use clock::now_ms;
pub use driver::start;
pub use handle::{Closed, Handle, Order, OrderError, SubmitError};
pub use inventory::take_inventory;
pub use queue::Limits;
