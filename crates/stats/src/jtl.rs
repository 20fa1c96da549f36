//! JMeter's result files: rows as CSV, and reading them back.
//!
//! `Columns` says which columns are on and how they are written; it renders header and rows into
//! a byte buffer without allocating. `read` reads such files for comparing and reporting.
mod columns;
mod pattern;
pub mod read;
mod row;
#[cfg(test)]
mod tests;

pub use columns::{Assertions, Columns, DelimiterError, TimestampFormat};
pub use pattern::Pattern;
pub use row::Row;
