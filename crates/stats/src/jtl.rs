//! JMeter's result files: writes rows as CSV or XML, and reads both.
//!
//! `Columns` determines which columns are written and how. `Columns` renders header and rows, or XML elements, into a
//! byte buffer without allocating. `source` opens files and pipes, `stream` reads row by row, `read` reads a whole
//! table.
//!
//! | module | holds |
//! |---|---|
//! | `decode`, `foreign` | gzip, encodings, byte-order marks; rejection of files of other programs by their format |
//! | `buffer`, `rows`, `elements` | the rows of CSV and the samples of XML, including torn ones |
//! | `heading`, `times` | columns by name, timestamps in any format |
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
pub use heading::{unlike_columns, unlike_rows};
pub use pattern::Pattern;
pub use row::Row;
pub use whole::Form;
pub use xml::Printer;
