//! Reads dates.
