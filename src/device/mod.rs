//! Linux only: what the host has.
