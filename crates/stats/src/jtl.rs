//! JMeter's result files: rows as CSV or as XML, and reading CSV back.
//!
//! `Columns` says which columns are on and how they are written; it renders header and rows, or elements, into
//! a byte buffer without allocating. `source` opens files and pipes, `stream` reads their rows, `read` a whole table.
//!
//! | module | holds |
//! |---|---|
//! | `decode`, `foreign` | gzip, encodings, byte-order marks; files of other programs, refused by name |
//! | `buffer`, `rows`, `elements` | the rows of CSV, the samples of XML, torn ones too |
//! | `heading`, `times` | columns by name, time stamps in any format |
mod buffer;
mod columns;
mod decode;
mod element;
mod elements;
mod foreign;
mod heading;
mod pattern;
pub mod read;
mod row;
mod rows;
pub mod source;
pub mod stream;
#[cfg(test)]
mod tests;
mod times;
mod unassigned;
mod whole;
mod xml;

pub use columns::{Assertions, Columns, DelimiterError, TimestampFormat};
pub use element::{Detail, END, Finding, Http};
pub use heading::unlike_rows;
pub use pattern::Pattern;
pub use row::Row;
pub use whole::Form;
pub use xml::Printer;
