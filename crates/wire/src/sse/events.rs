//! Parser of event streams by the HTML standard (9.2.6): lines, fields, events.
//!
//! Text is not decoded: names and data are reported as raw bytes, and the receiver of an event handles invalid UTF-8.
//! An event without a blank line after it is dropped. Lines end in LF, CR or both. An event is reported at the first
//! byte that ends it, even if an LF follows.

use memchr::memchr2;

use crate::session::Broken;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Limits on the buffered parts of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length in bytes of a line in an event stream.
    pub line: usize,
    /// Maximum length in bytes of a server-sent event's data.
    pub event: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 1 << 20, event: 4 << 20 }
    }
}

/// State of parsing an event stream.
#[derive(Debug, Default)]
pub struct Events {
    limits: Limits,
    /// The incomplete last line of the event stream.
    line: Vec<u8>,
    data: Vec<u8>,
    name: Vec<u8>,
    /// The id that was received last; it becomes the last event id when the next event is complete.
    id: Vec<u8>,
    last_id: Vec<u8>,
    retry_ms: Option<u64>,
    /// True if the last byte was a CR, so that an LF after it ends no further line.
    after_cr: bool,
    /// True if a byte order mark can no longer follow: the first line was read, or the stream began without one.
    begun: bool,
}

impl Events {
    /// Creates a parser of an event stream with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Returns the id of the last event that had an id; empty if no event had one. A new request sends it as
    /// `Last-Event-ID`.
    #[must_use]
    pub fn last_id(&self) -> &[u8] {
        &self.last_id
    }

    /// Returns the delay before a reconnect in milliseconds, if the stream set a delay.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Drops an incomplete line and an incomplete event before another stream is parsed. The last event id and the
    /// reconnect delay are kept.
    pub fn restart(&mut self) {
        let (last_id, retry_ms) = (std::mem::take(&mut self.last_id), self.retry_ms);
        *self = Self { id: last_id.clone(), last_id, retry_ms, ..Self::new(self.limits) };
    }

    /// Parses a piece of the stream and reports each event: its name, the last event id, and its data. The name is
    /// empty if the stream names none; the standard calls such an event `message`.
    ///
    /// # Errors
    ///
    /// A line or an event exceeds its limit.
    pub fn feed(
        &mut self,
        mut input: &[u8],
        emit: &mut impl FnMut(&[u8], &[u8], &[u8]),
    ) -> Result<(), Broken> {
        while let Some(first) = input.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                input = &input[1..];
                continue;
            }
            let end = memchr2(b'\r', b'\n', input);
            let part = &input[..end.unwrap_or(input.len())];
            if self.line.len() + part.len() > self.limits.line {
                return Err(Broken(format!(
                    "a line of the event stream has more than {} bytes",
                    self.limits.line
                )));
            }
            let Some(end) = end else {
                self.line.extend_from_slice(part);
                return Ok(());
            };
            self.after_cr = input[end] == b'\r';
            input = &input[end + 1..];
            if self.line.is_empty() {
                self.end_of_line(part, emit)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(part);
                let ended = self.end_of_line(&line, emit);
                line.clear();
                self.line = line;
                ended?;
            }
        }
        Ok(())
    }

    fn end_of_line(
        &mut self,
        line: &[u8],
        emit: &mut impl FnMut(&[u8], &[u8], &[u8]),
    ) -> Result<(), Broken> {
        let begun = std::mem::replace(&mut self.begun, true);
        let line = if begun { line } else { line.strip_prefix(BOM).unwrap_or(line) };
        if line.is_empty() {
            self.end_of_event(emit);
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                // The LF after the last data line is not part of the event's data.
                if self.data.len() + value.len() > self.limits.event {
                    return Err(Broken(format!(
                        "an event has more than {} bytes",
                        self.limits.event
                    )));
                }
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => value.clone_into(&mut self.name),
            b"id" if !value.contains(&0) => value.clone_into(&mut self.id),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.retry_ms = digits.or(self.retry_ms);
            }
            _ => {}
        }
        Ok(())
    }

    fn end_of_event(&mut self, emit: &mut impl FnMut(&[u8], &[u8], &[u8])) {
        self.id.clone_into(&mut self.last_id);
        if self.data.pop().is_some() {
            emit(&self.name, &self.last_id, &self.data);
        }
        self.data.clear();
        self.name.clear();
    }
}
