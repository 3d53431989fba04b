//! Drives that do not exist.
