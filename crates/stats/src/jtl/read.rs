//! Reads result files: CSV with or without a heading line, with any delimiter, and the samples of XML.
//!
//! Reads the whole file into a table; meant for comparing files and for reports of moderate size. Fields are found by
//! column name; variables are additional columns. Files of a killed writer can be read: their incomplete last row or
//! element is omitted.
use std::io::Read;

use super::columns::Columns;
use super::decode;
use super::elements::{Elements, Next, Sample};
use super::heading::Heading;
use super::rows::Rows;

/// Column names in JMeter's order.
pub const COLUMNS: [&str; 22] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Filename",
    "Latency",
    "Encoding",
    "SampleCount",
    "ErrorCount",
    "Hostname",
    "IdleTime",
    "Connect",
];

/// Maximum length of a heading line in bytes.
pub(super) const LONGEST_HEADING: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

#[derive(Debug)]
pub enum ReadError {
    Io(std::io::Error),
    /// A row with too few fields: its line, from 1, and a description of the error.
    Shape(u64, String),
    /// A row that exceeds the maximum length of a row: its line, from 1.
    Long(u64),
    /// The file has another format, which is named.
    Foreign(String),
    /// Required columns that the heading does not contain.
    Missing(Vec<&'static str>),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Shape(line, what) => write!(f, "line {line}: {what}"),
            Self::Long(line) => {
                write!(
                    f,
                    "line {line}: the row is longer than 16 MiB; this is not a result file, or it is damaged there"
                )
            }
            Self::Foreign(kind) => write!(
                f,
                "not a result file of JMeter or Throng: no columns timeStamp and elapsed; it looks like {kind}"
            ),
            Self::Missing(columns) => {
                let noun = if columns.len() == 1 { "column" } else { "columns" };
                write!(
                    f,
                    "no {noun} {}: check the jmeter.save.saveservice.* properties with which the file was written",
                    columns.join(" and ")
                )
            }
        }
    }
}

impl std::error::Error for ReadError {}

impl Table {
    /// Reads a file. Without a recognizable heading line the columns are those of `expected`, as in JMeter. A row with
    /// too few fields is an error, except for a last row without line end, which a killed writer leaves.
    pub fn read(from: impl Read, expected: &Columns) -> Result<Self, ReadError> {
        let text = decode::text(from)?;
        if text.is_xml {
            return Self::of_document(text.read);
        }
        let mut reader = Rows::new(text.read);
        let heading = Heading::of(reader.first_line(LONGEST_HEADING)?, expected.delimiter);
        let has_heading = heading.is_some();
        let Heading { names, delimiter } = heading.unwrap_or_else(|| Heading::expected(expected));
        reader.delimiter = delimiter;
        let mut table = Self { columns: names, rows: Vec::new() };
        let (mut is_heading, mut short) = (has_heading, None);
        while let Some(row) = reader.next()? {
            if std::mem::replace(&mut is_heading, false) {
                continue;
            }
            if row.len() < table.columns.len() {
                // An unclosed quote or a missing line end: acceptable only at the end of the file.
                let may_be_last = !row.is_whole || !row.is_ended;
                let what = format!("expected {} fields, found {}", table.columns.len(), row.len());
                let error = ReadError::Shape(row.line, what);
                if !may_be_last && short.is_none() {
                    return Err(error);
                }
                short.get_or_insert(error);
                continue;
            }
            if let Some(error) = short {
                return Err(error);
            }
            let text = |field| String::from_utf8_lossy(field).into_owned();
            table.rows.push(row.fields().map(text).collect());
        }
        Ok(table)
    }

    /// Reads the samples of an XML file without their sub-results. The end tag may be missing.
    fn of_document(from: impl Read) -> Result<Self, ReadError> {
        let columns = ATTRIBUTES.iter().map(|(_, column)| (*column).to_owned()).collect();
        let mut table = Self { columns, rows: Vec::new() };
        let mut elements = Elements::new(from);
        loop {
            match elements.next()? {
                Next::Whole => {
                    let value = |name| elements.sample.attribute(name).unwrap_or_default();
                    table.rows.push(ATTRIBUTES.iter().map(|(name, _)| value(name)).collect());
                }
                Next::Torn(_) => {}
                Next::End => return Ok(table),
            }
        }
    }

    /// Returns the position of a column by its name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Returns the fields of one column in file order; empty if there is no such column.
    pub fn values<'t>(&'t self, name: &str) -> impl Iterator<Item = &'t str> + 't {
        let at = self.column(name);
        self.rows.iter().filter_map(move |row| row.get(at?).map(String::as_str))
    }
}

/// Attributes of XML samples, and the columns that they correspond to.
const ATTRIBUTES: [(&str, &str); 19] = [
    ("ts", "timeStamp"),
    ("t", "elapsed"),
    ("lb", "label"),
    ("rc", "responseCode"),
    ("rm", "responseMessage"),
    ("tn", "threadName"),
    ("dt", "dataType"),
    ("s", "success"),
    ("by", "bytes"),
    ("sby", "sentBytes"),
    ("ng", "grpThreads"),
    ("na", "allThreads"),
    ("lt", "Latency"),
    ("de", "Encoding"),
    ("sc", "SampleCount"),
    ("ec", "ErrorCount"),
    ("hn", "Hostname"),
    ("it", "IdleTime"),
    ("ct", "Connect"),
];

/// Returns the field of a sample for a column; `None` if the sample does not have it.
pub(super) fn field(sample: &Sample, column: &str) -> Option<String> {
    match ATTRIBUTES.iter().find(|pair| pair.1 == column) {
        Some((name, _)) => sample.attribute(name),
        None => sample.text(column),
    }
}
