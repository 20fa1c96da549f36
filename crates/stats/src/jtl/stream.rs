//! Reads result files row by row, in little memory however long they are.
//!
//! The last row is left out if its writer was killed or its disk full before it was whole; rows of another form are
//! counted. Of XML, samples are read without what is inside of them.
use std::borrow::Cow;
use std::io::{BufRead, Read};

use super::columns::Columns;
use super::read::{ATTRIBUTES, COLUMNS, ReadError, attribute, heading};

/// Bytes in which a heading line ends.
const LONGEST_HEADING: u64 = 1 << 20;

/// A row: fields by their place in [`COLUMNS`].
#[derive(Debug)]
pub struct Fields<'a> {
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    /// With the place of each known column.
    Row(&'a csv::ByteRecord, &'a [Option<usize>; COLUMNS.len()]),
    Tag(&'a str),
}

/// The rows that were not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Bytes of a last row that is not whole.
    pub torn: u64,
    /// Rows with fewer fields than there are columns, and the line of the first (from 1).
    pub odd: u64,
    pub first_line: u64,
}

impl Left {
    /// Counts a row that is not what a row should be.
    pub fn add(&mut self, line: u64) {
        self.odd += 1;
        if self.odd == 1 {
            self.first_line = line;
        }
    }
}

impl Fields<'_> {
    /// The field of a column, named as in CSV; `None` where the file does not have it.
    pub fn get(&self, column: &str) -> Option<Cow<'_, str>> {
        match &self.kind {
            Kind::Row(row, places) => {
                let at = COLUMNS.iter().position(|name| *name == column)?;
                row.get(places[at]?).map(String::from_utf8_lossy)
            }
            Kind::Tag(tag) => {
                let (name, _) = ATTRIBUTES.iter().find(|pair| pair.1 == column)?;
                attribute(tag, name).map(Cow::Owned)
            }
        }
    }

    /// The line of the row in its file, from 1; 0 where it is not known. The first row of a file without a heading is in
    /// line 1.
    pub fn line(&self) -> u64 {
        match &self.kind {
            Kind::Row(row, _) => row.position().map_or(0, csv::Position::line),
            Kind::Tag(_) => 0,
        }
    }

    /// A field that is a whole number.
    pub fn number(&self, column: &str) -> Option<i64> {
        self.get(column)?.trim().parse().ok()
    }

    /// The time stamp, ms since 1970. It may be a text of year, month, day and time, with `/` or `-`.
    pub fn time_ms(&self) -> Option<i64> {
        let text = self.get("timeStamp")?;
        let text = text.trim();
        text.parse().ok().or_else(|| written_time(text))
    }
}

fn written_time(text: &str) -> Option<i64> {
    let forms = ["%Y/%m/%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"];
    let time = forms.iter().find_map(|form| jiff::civil::DateTime::strptime(form, text).ok())?;
    let time = time.to_zoned(jiff::tz::TimeZone::system()).ok()?;
    Some(time.timestamp().as_millisecond())
}

/// Gives each row and its line to `each`, which says whether it could be read. Without a recognisable heading line the
/// columns are `expected`'s, as in JMeter.
pub fn each(
    mut from: impl BufRead,
    expected: &Columns,
    mut each: impl FnMut(&Fields<'_>) -> bool,
) -> Result<Left, ReadError> {
    let mut first = Vec::new();
    from.by_ref().take(LONGEST_HEADING).read_until(b'\n', &mut first).map_err(ReadError::Io)?;
    let begins = first.trim_ascii_start();
    let document = begins.starts_with(b"<?xml") || begins.starts_with(b"<testResults");
    let from = first.as_slice().chain(from);
    if document {
        return each_element(from, each);
    }
    let first = first.strip_suffix(b"\n").unwrap_or(&first);
    let first = String::from_utf8_lossy(first);
    let first = first.trim_end_matches('\r').trim_start_matches('\u{feff}');
    let found = heading(first, expected.delimiter);
    let has_heading = found.is_some();
    let (columns, delimiter) = found.unwrap_or_else(|| {
        let mut line = Vec::new();
        expected.header(&[], &mut line);
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        heading(&line, expected.delimiter).unwrap_or_default()
    });
    let places = COLUMNS.map(|name| columns.iter().position(|column| column == name));
    let mut last = LastByte { from, byte: b'\n' };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(has_heading)
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(&mut last);
    let mut left = Left::default();
    // A row is given when the next one shows that it is whole.
    let (mut row, mut next) = (csv::ByteRecord::new(), csv::ByteRecord::new());
    let mut waiting = false;
    let mut give = |row: &csv::ByteRecord, left: &mut Left| {
        let line = row.position().map_or(0, csv::Position::line);
        let fields = Fields { kind: Kind::Row(row, &places) };
        if row.len() < columns.len() || !each(&fields) {
            left.add(line);
        }
    };
    // The reader has a buffer of its own: the byte is known when all is read.
    while reader.read_byte_record(&mut next).map_err(ReadError::Csv)? {
        if std::mem::replace(&mut waiting, true) {
            give(&row, &mut left);
        }
        std::mem::swap(&mut row, &mut next);
    }
    let at = row.position().map_or(0, csv::Position::byte);
    let end = reader.position().byte();
    drop(reader);
    if waiting && last.byte == b'\n' {
        give(&row, &mut left);
    } else if waiting {
        left.torn = end.saturating_sub(at);
    }
    Ok(left)
}

/// Remembers the last byte.
struct LastByte<R> {
    from: R,
    byte: u8,
}

impl<R: BufRead> Read for LastByte<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n = self.from.read(into)?;
        if let Some(last) = into[..n].last() {
            self.byte = *last;
        }
        Ok(n)
    }
}

/// Samples begin and end at lines of their own: inside of them lines are indented and `<` is escaped.
fn each_element(
    mut from: impl BufRead,
    mut each: impl FnMut(&Fields<'_>) -> bool,
) -> Result<Left, ReadError> {
    let mut left = Left::default();
    let mut line = Vec::new();
    // The start tag of the sample that has not ended.
    let mut tag: Option<(String, u64)> = None;
    let (mut number, mut open) = (0, 0u64);
    loop {
        line.clear();
        let n = from.read_until(b'\n', &mut line).map_err(ReadError::Io)?;
        if n == 0 {
            break;
        }
        number += 1;
        open += n as u64;
        let whole = line.ends_with(b"\n");
        let text = line.trim_ascii_end();
        if text.starts_with(b"<httpSample ") || text.starts_with(b"<sample ") {
            let end = text.iter().position(|byte| *byte == b'>').unwrap_or(text.len());
            tag = Some((String::from_utf8_lossy(&text[..end]).into_owned(), number));
            open = n as u64;
        }
        let ends = text == b"</httpSample>"
            || text == b"</sample>"
            || tag.as_ref().is_some_and(|tag| tag.1 == number) && text.ends_with(b"/>");
        if ends
            && whole
            && let Some((tag, line)) = tag.take()
            && !each(&Fields { kind: Kind::Tag(&tag) })
        {
            left.add(line);
        }
    }
    if tag.is_some() {
        left.torn = open;
    }
    Ok(left)
}
