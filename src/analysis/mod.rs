//! Intervals in, evidence out.
