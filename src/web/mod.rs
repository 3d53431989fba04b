//! The face of the service.
pub mod assets;
pub mod view;
