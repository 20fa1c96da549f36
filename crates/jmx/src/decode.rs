//! Bytes to UTF-8.
