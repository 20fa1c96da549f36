//! Reads the samples of an XML result file one by one, without their sub-results.
//!
//! The samples inside of a transaction are separate requests: they are returned before the transaction.
//!
//! Tags are recognized independently of layout: indented or all in one line, with attributes of plug-ins in any order.
//! A torn sample is recognized by what follows it: the start of a document, a sample where none is allowed, or a sample
//! with the indentation of the first one. Only the torn sample is lost. Nothing is allocated per tag after the first
//! samples.
use std::io::Read;

use super::buffer::Buffer;
use super::foreign;
use super::read::ReadError;

/// Maximum stored length of a child's text in bytes.
const MOST_TEXT: usize = 64 << 10;
/// Children whose text is stored, the columns that they correspond to, and their depth relative to the sample's parent.
const TEXTS: [(&[u8], &str, usize); 2] =
    [(b"failureMessage", "failureMessage", 3), (b"java.net.URL", "URL", 2)];

/// Depth of an assertion result relative to the sample's parent.
const ASSERTION: usize = 2;
/// Depth of the children of an assertion result relative to the sample's parent.
const FINDING: usize = 3;

/// Prefix of a transaction's message.
const TRANSACTION: &str = "Number of samples in transaction : ";

/// A sample: its attributes and the stored contents of its children.
#[derive(Debug, Default)]
pub(super) struct Sample {
    tag: Vec<u8>,
    texts: [Vec<u8>; TEXTS.len()],
    /// True if the sample has assertion results, and true if one of them is a failure or an error.
    pub(super) assertions: (bool, bool),
    /// Line of the start tag, from 1.
    pub(super) line: u64,
    offset: u64,
    /// Number of elements around the sample.
    depth: usize,
}

impl Sample {
    /// Returns the value of an attribute with resolved references.
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

    /// Returns the text of a child by its column, if it is stored.
    pub(super) fn text(&self, column: &str) -> Option<String> {
        let at = TEXTS.iter().position(|text| text.1 == column)?;
        (!self.texts[at].is_empty()).then(|| resolved(&self.texts[at]))
    }
}

/// The result of reading up to the next sample.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A complete sample; it is in [`Elements::sample`].
    Whole,
    /// A sample that was not written completely, with its line.
    Torn(u64),
    End,
}

#[derive(Debug)]
pub(super) struct Elements<R> {
    buffer: Buffer<R>,
    /// Concatenated names of the open elements.
    names: Vec<u8>,
    /// Start in `names` of the name of each open element.
    open: Vec<usize>,
    pub(super) sample: Sample,
    is_open: bool,
    /// Open transactions around the sample, the outermost first.
    around: Vec<Sample>,
    /// Indentation of the first sample, if its tag starts a line.
    indent: Option<usize>,
    /// Indentation of the current tag, if it starts a line.
    blanks: Option<usize>,
    some: bool,
    has_root: bool,
    /// True if the root element has ended. Text after the root element is counted in `stray`.
    is_behind: bool,
    pub(super) stray: Stray,
}

/// Lines of text after the end of the document, such as appended rows of CSV.
#[derive(Debug, Default)]
pub(super) struct Stray {
    pub(super) lines: u64,
    pub(super) first_line: u64,
    /// True if the last line continues in the next block of text.
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

    /// Returns the number of bytes of a sample that the end of the file cut off.
    pub(super) fn torn(&self) -> u64 {
        let open = self.open_sample().map(|sample| sample.offset);
        open.map_or(0, |offset| self.buffer.offset - offset)
    }

    /// Returns the innermost sample that has started but not ended.
    fn open_sample(&self) -> Option<&Sample> {
        if self.is_open { Some(&self.sample) } else { self.around.last() }
    }

    /// Reads up to the end of the next sample.
    pub(super) fn next(&mut self) -> Result<Next, ReadError> {
        loop {
            if !self.skip_text()? {
                return Ok(Next::End);
            }
            let Some(length) = self.tag_length()? else { return Ok(Next::End) };
            let tag = &self.buffer.text()[..length];
            if !tag.ends_with(b">") {
                // A tag inside a tag: the outer tag was not written completely.
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
            // If a new sample shows that the open sample is torn, the torn sample is reported first, and the new tag is
            // not consumed yet.
            if !matches!(next, Some(Next::Torn(_))) {
                self.consume(length);
            }
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    /// Drops the open sample, if there is one, and the transactions around it. Returns the line of the dropped sample
    /// as [`Next::Torn`].
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

    /// Skips to the next `<`, and counts the indentation before it if the tag starts its line. Returns false at the end
    /// of the file.
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
            // The text is `true` or `false`; only `true` contains a `t`.
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

    /// Returns the index of the text to store, if the open element is the first of a stored kind.
    fn kept_text(&self) -> Option<usize> {
        let last = &self.names[*self.open.last()?..];
        let at = TEXTS.iter().position(|text| text.0 == last)?;
        let depth = self.open.len().saturating_sub(self.sample.depth);
        let is_new = depth == TEXTS[at].2 && self.sample.texts[at].is_empty();
        (self.is_open && is_new).then_some(at)
    }

    /// True if the open element contains the result of an assertion.
    fn is_finding(&self) -> bool {
        let Some(last) = self.open.last() else { return false };
        let depth = self.open.len().saturating_sub(self.sample.depth);
        self.is_open && depth == FINDING && matches!(&self.names[*last..], b"failure" | b"error")
    }

    /// Returns the length of the tag, comment or instruction at the front including its `>`. If another tag starts
    /// inside, returns the length up to that tag. `None`: the file ends inside the tag.
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

    /// True if a sample that starts inside an open sample cannot be a part of it.
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

/// True if a truncated name can be the beginning of a sample's name.
fn may_be_sample(name: &[u8]) -> bool {
    !name.is_empty() && (b"httpSample".starts_with(name) || b"sample".starts_with(name))
}

/// Returns the name at the beginning of a tag.
fn name(tag: &[u8]) -> &[u8] {
    let end = tag.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
    &tag[..end.unwrap_or(tag.len())]
}

/// Returns the end of the tag, comment or instruction at the start of a string.
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

/// Resolves references. Unknown references stay unchanged.
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
