//! Drivescope tells what drives really are. ARCHITECTURE.md has the map and two walks through it.
//!
//! ```text
//! main → app → web ───────→ scheduler (Handle), store, model
//!         │     scheduler ─→ backend, store, analysis, model
//!         │     backend ───→ device, probe, sim
//!         │     sim ───────→ probe (engine trait), model
//!         │     probe ─────→ device (ClaimedDrive only), model
//!         │     device, store, analysis → model
//!         └───────────────────────────── model → nothing of ours
//! ```
//! Unsafe code lives in two files, `device/ioctl.rs` and `probe/buffer.rs`; everywhere else it is denied.
#![deny(unsafe_code)]

pub mod analysis;
pub mod app;
pub mod backend;
pub mod config;
pub mod device;
pub mod model;
pub mod probe;
pub mod scheduler;
pub mod sim;
pub mod store;
mod table;
pub mod web;
