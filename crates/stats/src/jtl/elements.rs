//! The samples of an XML result file, one by one, without the samples inside of them.
//!
//! The samples inside of a transaction are requests of their own: they are given, and then the transaction.
//!
//! Tags are found by themselves: indented or all in one line, with attributes of plug-ins in any order. A sample that was
//! not written whole is seen by what follows it: the beginning of a document, a sample in a place where none can be, or
//! one as far to the left as the first. Only it is lost. Nothing is allocated per tag once warm.
use std::io::Read;

use super::buffer::Buffer;
use super::foreign;
use super::read::ReadError;

/// Longest text of a child that is kept, bytes.
const MOST_TEXT: usize = 64 << 10;
/// Children whose text is kept, the columns that they are, and their depth below the outside of the sample.
const TEXTS: [(&[u8], &str, usize); 2] =
    [(b"failureMessage", "failureMessage", 3), (b"java.net.URL", "URL", 2)];

/// Depth of an assertion's result below the outside of the sample, and of what is in it.
const ASSERTION: usize = 2;
const FINDING: usize = 3;

/// The message of a transaction begins so.
const TRANSACTION: &str = "Number of samples in transaction : ";

/// A sample: its attributes, and the texts of its children.
#[derive(Debug, Default)]
pub(super) struct Sample {
    tag: Vec<u8>,
    texts: [Vec<u8>; TEXTS.len()],
    /// Whether it has results of assertions, and whether one of them is a failure or an error.
    pub(super) assertions: (bool, bool),
    /// Line of its start tag, from 1.
    pub(super) line: u64,
    offset: u64,
    /// Elements around it.
    depth: usize,
}

impl Sample {
    /// The value of an attribute, its references resolved.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = &self.tag[..];
        loop {
            let equals = memchr::memchr(b'=', rest)?;
            let found = rest[..equals].trim_ascii();
            let value = rest[equals + 1..].trim_ascii_start();
            let quote = *value.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
            let end = memchr::memchr(quote, &value[1..])? + 1;
            if found == name.as_bytes() {
                return Some(resolved(&value[1..end]));
            }
            rest = &value[end + 1..];
        }
    }

    fn is_transaction(&self) -> bool {
        self.attribute("rm").is_some_and(|message| message.starts_with(TRANSACTION))
    }

    /// The text of a child by its column, if it is one that is kept.
    pub(super) fn text(&self, column: &str) -> Option<String> {
        let at = TEXTS.iter().position(|text| text.1 == column)?;
        (!self.texts[at].is_empty()).then(|| resolved(&self.texts[at]))
    }
}

/// The element behind the last sample.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A whole sample; [`Elements::sample`] has it.
    Whole,
    /// A sample that was not written whole, and its line.
    Torn(u64),
    End,
}

#[derive(Debug)]
pub(super) struct Elements<R> {
    buffer: Buffer<R>,
    /// Names of the open elements, one behind the other, and where each begins.
    names: Vec<u8>,
    open: Vec<usize>,
    pub(super) sample: Sample,
    is_open: bool,
    /// Open transactions around the sample, the outermost first.
    around: Vec<Sample>,
    /// Blanks before the first sample, where it begins a line.
    indent: Option<usize>,
    /// Blanks before the tag at the front, where it begins a line.
    blanks: Option<usize>,
    some: bool,
    has_root: bool,
    /// The root has ended, and lines of text behind it.
    is_behind: bool,
    pub(super) stray: Stray,
}

/// Lines of text behind the document, such as rows of CSV that were appended to it.
#[derive(Debug, Default)]
pub(super) struct Stray {
    pub(super) lines: u64,
    pub(super) first_line: u64,
    /// The last of them goes on.
    is_open: bool,
}

impl Stray {
    fn add(&mut self, text: &[u8], first_line: u64) {
        for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
            self.is_open &= at == 0;
            if self.is_open || line.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
                continue;
            }
            self.is_open = true;
            self.lines += 1;
            if self.lines == 1 {
                self.first_line = first_line + at as u64;
            }
        }
    }
}

impl<R: Read> Elements<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            buffer: Buffer::new(from),
            names: Vec::new(),
            open: Vec::new(),
            sample: Sample::default(),
            is_open: false,
            around: Vec::new(),
            indent: None,
            blanks: None,
            some: false,
            has_root: false,
            is_behind: false,
            stray: Stray::default(),
        }
    }

    /// Bytes of a sample that the end of the file cut.
    pub(super) fn torn(&self) -> u64 {
        let open = self.open_sample().map(|sample| sample.offset);
        open.map_or(0, |offset| self.buffer.offset - offset)
    }

    /// The innermost sample that has begun and not ended.
    fn open_sample(&self) -> Option<&Sample> {
        if self.is_open { Some(&self.sample) } else { self.around.last() }
    }

    /// Goes on to the end of the next sample.
    pub(super) fn next(&mut self) -> Result<Next, ReadError> {
        loop {
            if !self.skip_text()? {
                return Ok(Next::End);
            }
            let Some(length) = self.tag_length()? else { return Ok(Next::End) };
            let tag = &self.buffer.text()[..length];
            if !tag.ends_with(b">") {
                // A tag within a tag: the first was not written whole.
                let open = self.open_sample().map(|sample| sample.line);
                let lost = open.is_some() || may_be_sample(name(&tag[1..]));
                let line = open.unwrap_or(self.buffer.line);
                self.consume(length);
                self.close_all();
                if lost {
                    return Ok(Next::Torn(line));
                }
                continue;
            }
            let next = match tag[1] {
                b'?' if tag.starts_with(b"<?xml") => self.torn_sample(),
                b'?' | b'!' => None,
                b'/' => self.end_tag(length),
                _ => self.start_tag(length)?,
            };
            // A sample that was torn by another one is given before that one is taken.
            if !matches!(next, Some(Next::Torn(_))) {
                self.consume(length);
            }
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    /// Gives up the open sample, if there is one, and the transactions around it.
    fn torn_sample(&mut self) -> Option<Next> {
        let line = self.open_sample().map(|sample| sample.line);
        self.close_all();
        line.map(Next::Torn)
    }

    fn close_all(&mut self) {
        self.is_open = false;
        self.around.clear();
        self.open.clear();
        self.names.clear();
    }

    fn consume(&mut self, length: usize) {
        let lines = memchr::memchr_iter(b'\n', &self.buffer.text()[..length]).count();
        self.buffer.consume(length, lines as u64);
    }

    /// Skips to the next `<`, and counts the blanks before it if they begin its line. False: the file ends.
    fn skip_text(&mut self) -> Result<bool, ReadError> {
        let (kept, is_finding) = (self.kept_text(), self.is_finding());
        let mut blanks = None;
        loop {
            let text = self.buffer.text();
            let found = memchr::memchr(b'<', text);
            let length = found.unwrap_or(text.len());
            let text = &text[..length];
            if let Some(at) = kept {
                let room = MOST_TEXT.saturating_sub(self.sample.texts[at].len());
                self.sample.texts[at].extend_from_slice(&text[..text.len().min(room)]);
            }
            // A finding is `true` or `false`.
            self.sample.assertions.1 |= is_finding && text.contains(&b't');
            if self.is_behind {
                self.stray.add(text, self.buffer.line);
            }
            let line = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
            let is_begun = line > 0 || self.buffer.offset == 0;
            let before = if is_begun { Some(0) } else { blanks };
            let is_blank = text[line..].iter().all(u8::is_ascii_whitespace);
            blanks = before.filter(|_| is_blank).map(|n| n + text.len() - line);
            self.consume(length);
            if found.is_some() {
                self.blanks = blanks;
                return Ok(true);
            }
            if self.buffer.ended {
                return Ok(false);
            }
            self.buffer.more().map_err(ReadError::Io)?;
        }
    }

    /// The text that is to be kept, if the open element is one of those and the first of its kind.
    fn kept_text(&self) -> Option<usize> {
        let last = &self.names[*self.open.last()?..];
        let at = TEXTS.iter().position(|text| text.0 == last)?;
        let depth = self.open.len().saturating_sub(self.sample.depth);
        let is_new = depth == TEXTS[at].2 && self.sample.texts[at].is_empty();
        (self.is_open && is_new).then_some(at)
    }

    /// Whether the open element says if an assertion holds.
    fn is_finding(&self) -> bool {
        let Some(last) = self.open.last() else { return false };
        let depth = self.open.len().saturating_sub(self.sample.depth);
        self.is_open && depth == FINDING && matches!(&self.names[*last..], b"failure" | b"error")
    }

    /// Length of the tag, comment or instruction at the front, which ends with `>`; where another tag begins within
    /// it, the length up to that. `None`: the file ends in it.
    fn tag_length(&mut self) -> Result<Option<usize>, ReadError> {
        loop {
            let text = self.buffer.text();
            let enough = text.len() >= 9 || self.buffer.ended;
            if let Some(length) = enough.then(|| tag_end(text)).flatten() {
                return Ok(Some(length));
            }
            if self.buffer.ended {
                if !self.is_open && may_be_sample(name(text.get(1..).unwrap_or_default())) {
                    self.begin(0);
                }
                self.consume(self.buffer.text().len());
                return Ok(None);
            }
            if self.buffer.is_full() {
                return Err(ReadError::Long(self.buffer.line));
            }
            self.buffer.more().map_err(ReadError::Io)?;
        }
    }

    fn start_tag(&mut self, length: usize) -> Result<Option<Next>, ReadError> {
        let indent = self.blanks;
        let tag = &self.buffer.text()[1..length - 1];
        let closed = tag.ends_with(b"/");
        let named = name(tag);
        if named == b"testResults" {
            (self.has_root, self.is_behind) = (true, false);
            if let Some(torn) = self.torn_sample() {
                return Ok(Some(torn));
            }
            self.close_all();
        } else if is_sample(named) {
            if self.open_sample().is_some() && self.is_outermost(indent) {
                return Ok(self.torn_sample());
            }
            if self.is_open && self.sample.is_transaction() {
                self.around.push(std::mem::take(&mut self.sample));
                self.is_open = false;
            }
            if !self.is_open {
                self.indent = if self.some { self.indent } else { indent };
                (self.some, self.has_root) = (true, true);
                self.begin(length);
                if closed {
                    self.is_open = false;
                    return Ok(Some(Next::Whole));
                }
            }
        } else if !self.has_root {
            return Err(ReadError::Foreign(foreign::document(named)));
        }
        if !closed {
            let tag = &self.buffer.text()[1..length - 1];
            self.open.push(self.names.len());
            self.names.extend_from_slice(name(tag));
            let depth = self.open.len().saturating_sub(self.sample.depth);
            self.sample.assertions.0 |=
                self.is_open && depth == ASSERTION && name(tag) == b"assertionResult";
        }
        Ok(None)
    }

    /// Whether a sample that begins while another is open cannot be a part of it.
    fn is_outermost(&self, indent: Option<usize>) -> bool {
        let parent = self.open.last().map_or(&[][..], |last| &self.names[*last..]);
        !is_sample(parent) || indent.is_some() && indent == self.indent
    }

    fn begin(&mut self, length: usize) {
        let tag = &self.buffer.text()[..length];
        let attributes = name(tag.get(1..).unwrap_or_default()).len() + 1;
        self.sample.tag.clear();
        self.sample.tag.extend_from_slice(tag.get(attributes..).unwrap_or_default());
        self.sample.texts.iter_mut().for_each(Vec::clear);
        self.sample.assertions = (false, false);
        (self.sample.line, self.sample.offset) = (self.buffer.line, self.buffer.offset);
        self.sample.depth = self.open.len();
        self.is_open = true;
    }

    fn end_tag(&mut self, length: usize) -> Option<Next> {
        let tag = &self.buffer.text()[2..length - 1];
        let named = tag.trim_ascii();
        let at = (0..self.open.len()).rev().find(|at| {
            let end = self.open.get(at + 1).copied().unwrap_or(self.names.len());
            self.names[self.open[*at]..end] == *named
        });
        let Some(at) = at else {
            return if named == b"testResults" { self.torn_sample() } else { None };
        };
        self.is_behind |= named == b"testResults";
        self.names.truncate(self.open[at]);
        self.open.truncate(at);
        let depth = self.open_sample().filter(|sample| at <= sample.depth)?.depth;
        if !std::mem::take(&mut self.is_open)
            && let Some(transaction) = self.around.pop()
        {
            self.sample = transaction;
        }
        let line = self.sample.line;
        self.around.retain(|around| around.depth < at);
        Some(if at == depth { Next::Whole } else { Next::Torn(line) })
    }
}

fn is_sample(name: &[u8]) -> bool {
    name == b"httpSample" || name == b"sample"
}

/// Whether a name that was cut can be one of a sample.
fn may_be_sample(name: &[u8]) -> bool {
    !name.is_empty() && (b"httpSample".starts_with(name) || b"sample".starts_with(name))
}

/// The name at the beginning of a tag.
fn name(tag: &[u8]) -> &[u8] {
    let end = tag.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
    &tag[..end.unwrap_or(tag.len())]
}

/// The end of the tag, comment or instruction that a text begins with.
fn tag_end(text: &[u8]) -> Option<usize> {
    let behind = |end: &[u8]| memchr::memmem::find(text, end).map(|at| at + end.len());
    if text.starts_with(b"<!--") {
        return behind(b"-->");
    }
    if text.starts_with(b"<![CDATA[") {
        return behind(b"]]>");
    }
    let mut quote = None;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match (quote, byte) {
            (_, b'<') => return Some(at),
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Resolves references; those that are unknown stay as they are.
fn resolved(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut rest = &*text;
    let mut out = String::with_capacity(rest.len());
    while let Some((before, reference)) = rest.split_once('&') {
        out.push_str(before);
        let found =
            reference.split_once(';').and_then(|(name, behind)| Some((character(name)?, behind)));
        match found {
            Some((c, behind)) => {
                out.push(c);
                rest = behind;
            }
            None => {
                out.push('&');
                rest = reference;
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    let number = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => name.strip_prefix('#')?,
    };
    let code = match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    Some(char::from_u32(code.ok()?).unwrap_or(char::REPLACEMENT_CHARACTER))
}
