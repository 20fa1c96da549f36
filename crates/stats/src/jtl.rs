//! JMeter's result files: rows as CSV or as XML, and reading CSV back.
//!
//! `Columns` says which columns are on and how they are written; it renders header and rows, or elements, into
//! a byte buffer without allocating. `read` reads CSV files for comparing and reporting.
mod columns;
mod element;
mod pattern;
pub mod read;
mod row;
pub mod stream;
#[cfg(test)]
mod tests;
mod unassigned;
mod whole;
mod xml;

pub use columns::{Assertions, Columns, DelimiterError, TimestampFormat};
pub use element::{Detail, END, Finding, Http};
pub use pattern::Pattern;
pub use row::Row;
pub use whole::Form;
pub use xml::Printer;
