//! Carrying out phases against a claimed drive.

pub mod engine;
