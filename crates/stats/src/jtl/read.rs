//! Reads result files: CSV with or without a heading line, with any delimiter, and the samples of XML.
//!
//! Reads the whole file into a table: meant for comparing files and for reports of moderate
//! size. Fields are found by column name; variables are columns of their own. What a killed writer leaves can be read:
//! the row or element that it was writing is left out.
use std::io::Read;

use super::columns::Columns;
use super::whole::Form;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

#[derive(Debug)]
pub enum ReadError {
    Io(std::io::Error),
    Csv(csv::Error),
    /// Line (from 1) and what is wrong there.
    Shape(u64, String),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Csv(error) => error.fmt(f),
            Self::Shape(line, what) => write!(f, "line {line}: {what}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl Table {
    /// Reads a file. Without a recognisable heading line the columns are `expected`'s, as in
    /// JMeter. A last line without line end, as a killed writer leaves it, is dropped.
    pub fn read(mut from: impl Read, expected: &Columns) -> Result<Self, ReadError> {
        let mut text = Vec::new();
        from.read_to_end(&mut text).map_err(ReadError::Io)?;
        if text.trim_ascii_start().starts_with(b"<?xml") {
            return Ok(Self::of_document(&text));
        }
        text.truncate(Form::Rows.ends(&text).last().unwrap_or(0));
        let first = text.split(|b| *b == b'\n').next().unwrap_or_default();
        let first = String::from_utf8_lossy(first);
        let first = first.trim_end_matches('\r');
        let found = heading(first, expected.delimiter);
        let has_heading = found.is_some();
        let (columns, delimiter) = found.unwrap_or_else(|| {
            let mut line = Vec::new();
            expected.header(&[], &mut line);
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            heading(&line, expected.delimiter).unwrap_or_default()
        });
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(has_heading)
            .delimiter(delimiter)
            .flexible(true)
            .from_reader(&text[..]);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for record in reader.byte_records() {
            let record = record.map_err(ReadError::Csv)?;
            let line = record.position().map_or(0, csv::Position::line);
            let row: Vec<String> =
                record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect();
            if row.len() < columns.len() {
                let what = format!("{} fields where {} are expected", row.len(), columns.len());
                return Err(ReadError::Shape(line, what));
            }
            rows.push(row);
        }
        Ok(Self { columns, rows })
    }

    /// The samples of an XML file, without what is inside of them. The end tag may be missing.
    fn of_document(text: &[u8]) -> Self {
        let mut from = 0;
        let mut rows = Vec::new();
        for end in Form::Elements.ends(text) {
            let element = String::from_utf8_lossy(&text[from..end]);
            // Before the first sample stands the beginning of the document, before those of a further run an empty line.
            let tag = ["<httpSample ", "<sample "].iter().filter_map(|tag| element.find(tag)).min();
            let tag = element[tag.unwrap_or(0)..].split('>').next().unwrap_or_default();
            let row = ATTRIBUTES.iter().map(|(name, _)| attribute(tag, name).unwrap_or_default());
            rows.push(row.collect());
            from = end;
        }
        Self { columns: ATTRIBUTES.iter().map(|(_, column)| (*column).to_owned()).collect(), rows }
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The fields of one column, top down; empty if there is no such column.
    pub fn values<'t>(&'t self, name: &str) -> impl Iterator<Item = &'t str> + 't {
        let at = self.column(name);
        self.rows.iter().filter_map(move |row| row.get(at?).map(String::as_str))
    }
}

/// Attributes of samples, and the columns that they are.
pub(super) const ATTRIBUTES: [(&str, &str); 19] = [
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

/// The value of an attribute, with its references resolved.
pub(super) fn attribute(tag: &str, name: &str) -> Option<String> {
    let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    let mut rest = tag[from..].split('"').next()?;
    let mut value = String::new();
    while let Some((before, reference)) = rest.split_once('&') {
        value.push_str(before);
        let (reference, after) = reference.split_once(';')?;
        value.push(match reference {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => {
                let number = u32::from_str_radix(number.strip_prefix("#x")?, 16).ok()?;
                char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
        });
        rest = after;
    }
    value.push_str(rest);
    Some(value)
}

/// Names and delimiter, if the line is a heading: known names in JMeter's order, then quoted
/// variable names.
pub(super) fn heading(line: &str, preferred: u8) -> Option<(Vec<String>, u8)> {
    let other = line.bytes().find(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    [Some(preferred), other].into_iter().flatten().find_map(|delimiter| {
        let mut last = None;
        let mut names = Vec::new();
        for name in line.split(char::from(delimiter)) {
            if let Some(variable) = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
                last = Some(COLUMNS.len());
                names.push(variable.to_owned());
            } else {
                let at = COLUMNS.iter().position(|column| *column == name)?;
                if last.is_some_and(|last| last >= at) {
                    return None;
                }
                last = Some(at);
                names.push(name.to_owned());
            }
        }
        Some((names, delimiter))
    })
}
