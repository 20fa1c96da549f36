//! Reads the rows of a CSV file one by one.
//!
//! Quotes, doubled quotes and line ends inside quotes follow JMeter. A row with unbalanced quotes is torn: its first
//! line is returned as torn, and reading continues with the next line. So one missing quote costs one row. Nothing is
//! allocated per row; rows without a quote are not copied.
use std::io::Read;
use std::ops::Range;

use super::buffer::{Buffer, MOST_ROW};
use super::read::ReadError;

/// A row of a CSV file, split into fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    text: &'a [u8],
    fields: &'a [Range<u32>],
    /// Line number of the row's first byte, from 1.
    pub(super) line: u64,
    /// Number of bytes in the file before the row.
    pub(super) offset: u64,
    /// True if the quotes are balanced.
    pub(super) is_whole: bool,
    /// True if a line end follows the row.
    pub(super) is_ended: bool,
}

impl<'a> Row<'a> {
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// True if the row contains NUL bytes, which disks or file systems leave where data were lost.
    pub(super) fn has_nul(&self) -> bool {
        memchr::memchr(0, self.text).is_some()
    }

    /// Estimates how many ordinary rows this row may contain: its length divided by the mean length of the lines before
    /// it.
    pub(super) fn rows_worth(&self) -> u64 {
        let mean = self.offset / self.line.saturating_sub(1).max(1);
        (self.text.len() as u64).checked_div(mean).map_or(1, |rows| rows.max(1))
    }

    pub(super) fn get(&self, at: usize) -> Option<&'a [u8]> {
        let field = self.fields.get(at)?;
        Some(&self.text[field.start as usize..field.end as usize])
    }

    pub(super) fn fields(self) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().map(move |field| &self.text[field.start as usize..field.end as usize])
    }
}

/// Reader of the rows of a CSV file.
#[derive(Debug)]
pub(super) struct Rows<R> {
    buffer: Buffer<R>,
    pub(super) delimiter: u8,
    split: Split,
    /// Length of the last returned row in bytes.
    last: usize,
}

impl<R: Read> Rows<R> {
    pub(super) fn new(from: R) -> Self {
        Self { buffer: Buffer::new(from), delimiter: b',', split: Split::default(), last: 0 }
    }

    /// Returns the first non-empty line without its end, cut to `most` bytes. Consumes only the empty lines before it.
    pub(super) fn first_line(&mut self, most: usize) -> Result<&[u8], ReadError> {
        loop {
            let text = self.buffer.text();
            let empty = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            let (empty, lines) =
                empty.fold((0, 0), |(n, lines), byte| (n + 1, lines + u64::from(*byte == b'\n')));
            self.buffer.consume(empty, lines);
            let text = self.buffer.text();
            let end = memchr::memchr(b'\n', text);
            if end.is_some() || text.len() >= most || self.buffer.ended {
                break;
            }
            self.buffer.more().map_err(ReadError::Io)?;
        }
        let text = self.buffer.text();
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len()).min(most);
        Ok(text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]))
    }

    /// Returns the next non-empty row.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>, ReadError> {
        let found = loop {
            let text = self.buffer.text();
            if text.is_empty() && self.buffer.ended {
                return Ok(None);
            }
            match self.split.row(text, self.delimiter, self.buffer.ended) {
                Found::Empty(bytes) => self.buffer.consume(bytes, 1),
                Found::More { quoted } if self.buffer.is_full() => {
                    // A quote that is never closed.
                    match memchr::memchr(b'\n', text).filter(|_| quoted) {
                        Some(end) => break Found::Torn(end + 1),
                        None => return Err(ReadError::Long(self.buffer.line)),
                    }
                }
                Found::More { .. } => self.buffer.more().map_err(ReadError::Io)?,
                found => break found,
            }
        };
        let (line, offset) = (self.buffer.line, self.buffer.offset);
        let (bytes, is_whole) = match found {
            Found::Row(bytes) => (bytes, true),
            Found::Torn(bytes) => (bytes, false),
            Found::Empty(_) | Found::More { .. } => return Ok(None),
        };
        let text = &self.buffer.text()[..bytes];
        let is_ended = text.ends_with(b"\n");
        let lines = memchr::memchr_iter(b'\n', text).count() as u64;
        // The bytes stay in the window until more bytes are read.
        self.buffer.consume(bytes, lines);
        self.last = bytes;
        let text = if self.split.copied { &self.split.copy[..] } else { self.buffer.before(bytes) };
        let fields = if is_whole { &self.split.fields[..] } else { &[] };
        Ok(Some(Row { text, fields, line, offset, is_whole, is_ended }))
    }

    /// Moves back to the second line of the last returned row, if it has one. The quotes of several torn rows may look
    /// like the quotes of one long row.
    pub(super) fn back_to_second_line(&mut self) {
        let text = self.buffer.before(self.last);
        let end = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
        let rest = &text[end..];
        let (bytes, lines) = (rest.len(), memchr::memchr_iter(b'\n', rest).count() as u64);
        self.buffer.give_back(bytes, lines);
    }

    /// Moves back to the start of the last returned row.
    pub(super) fn back(&mut self) {
        let text = self.buffer.before(self.last);
        let (bytes, lines) = (text.len(), memchr::memchr_iter(b'\n', text).count() as u64);
        self.buffer.give_back(bytes, lines);
    }

    /// Returns the number of bytes read so far.
    pub(super) fn offset(&self) -> u64 {
        self.buffer.offset
    }
}

/// The fields of the row that was split last.
#[derive(Debug, Default)]
struct Split {
    fields: Vec<Range<u32>>,
    /// True if the row has quotes; then its fields are in `copy`.
    copied: bool,
    copy: Vec<u8>,
}

/// The kind of the row at the beginning of a string, with its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Row(usize),
    Empty(usize),
    /// The first line of a row with invalid quotes: a quote that is not closed, or a character after a closing quote.
    Torn(usize),
    /// The text does not contain the end of the row.
    More {
        quoted: bool,
    },
}

impl Split {
    /// Splits the row at the beginning of a string. `ended` is true if the text is the rest of the file.
    fn row(&mut self, text: &[u8], delimiter: u8, ended: bool) -> Found {
        self.fields.clear();
        let found = memchr::memchr2(b'\n', b'"', text);
        if found.is_some_and(|at| text[at] == b'"') {
            return self.quoted(text, delimiter, ended);
        }
        let (line, bytes) = match found {
            Some(end) => (&text[..end], end + 1),
            None if ended => (text, text.len()),
            None => return Found::More { quoted: false },
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Found::Empty(bytes);
        }
        self.copied = false;
        let mut from = 0;
        for at in memchr::memchr_iter(delimiter, line) {
            self.fields.push(from..at as u32);
            from = at as u32 + 1;
        }
        self.fields.push(from..line.len() as u32);
        Found::Row(bytes)
    }

    fn quoted(&mut self, text: &[u8], delimiter: u8, ended: bool) -> Found {
        self.copied = true;
        self.copy.clear();
        let mut at = 0;
        loop {
            let from = self.copy.len() as u32;
            let field = if text.get(at) == Some(&b'"') {
                self.quoted_field(text, at + 1, delimiter, ended)
            } else {
                self.plain_field(text, at, delimiter, ended)
            };
            match field {
                Field::Next(next) | Field::Last(next) => {
                    self.fields.push(from..self.copy.len() as u32);
                    if let Field::Last(bytes) = field {
                        return Found::Row(bytes);
                    }
                    at = next;
                }
                Field::More => return Found::More { quoted: true },
                Field::Torn => {
                    let end = memchr::memchr(b'\n', text);
                    return Found::Torn(end.map_or(text.len(), |end| end + 1));
                }
            }
        }
    }

    fn plain_field(&mut self, text: &[u8], at: usize, delimiter: u8, ended: bool) -> Field {
        let end = memchr::memchr2(delimiter, b'\n', &text[at..]).map(|n| at + n);
        let Some(end) = end else {
            if !ended {
                return Field::More;
            }
            self.copy.extend_from_slice(&text[at..]);
            return Field::Last(text.len());
        };
        let field = &text[at..end];
        if text[end] == delimiter {
            self.copy.extend_from_slice(field);
            return Field::Next(end + 1);
        }
        self.copy.extend_from_slice(field.strip_suffix(b"\r").unwrap_or(field));
        Field::Last(end + 1)
    }

    /// Reads a quoted field; `at` is the position after the opening quote.
    fn quoted_field(&mut self, text: &[u8], mut at: usize, delimiter: u8, ended: bool) -> Field {
        loop {
            let Some(n) = memchr::memchr(b'"', &text[at..]) else {
                return if ended { Field::Torn } else { Field::More };
            };
            self.copy.extend_from_slice(&text[at..at + n]);
            at += n + 1;
            return match (text.get(at), text.get(at + 1)) {
                (Some(b'"'), _) => {
                    self.copy.push(b'"');
                    at += 1;
                    continue;
                }
                (Some(byte), _) if *byte == delimiter => Field::Next(at + 1),
                (Some(b'\n'), _) => Field::Last(at + 1),
                (Some(b'\r'), Some(b'\n')) => Field::Last(at + 2),
                (None, _) | (Some(b'\r'), None) if !ended => Field::More,
                (None, _) | (Some(b'\r'), None) => Field::Last(text.len()),
                _ => Field::Torn,
            };
        }
    }
}

/// How a field ends, with the position after its end.
enum Field {
    Next(usize),
    Last(usize),
    More,
    Torn,
}

/// Returns the fields of one line.
pub(super) fn split(line: &[u8], delimiter: u8) -> Option<Vec<Vec<u8>>> {
    let mut split = Split::default();
    let Found::Row(_) = split.row(line, delimiter, true) else { return None };
    let text = if split.copied { &split.copy } else { line };
    let field = |field: &Range<u32>| text[field.start as usize..field.end as usize].to_vec();
    Some(split.fields.iter().map(field).collect())
}

/// Field positions have 32 bits, so rows must be shorter than 4 GiB.
const _: () = assert!(2 * MOST_ROW < u32::MAX as usize);
