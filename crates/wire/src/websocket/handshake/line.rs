//! Lines of a head as JMeter's WebSocket plug-in reads them in Java. A line ends with a line feed; carriage returns are
//! ignored everywhere. Every byte from 0 to 0x20, the space character, is white space, and non-ASCII bytes become
//! replacement characters.

/// One line without its line feed. The line may contain carriage returns, which readers must skip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'b>(pub(super) &'b [u8]);

impl<'b> Line<'b> {
    /// Iterates over the bytes of the header line without carriage returns.
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> + 'b {
        self.0.iter().copied().filter(|&b| b != b'\r')
    }

    /// Returns the header line without white space at both ends.
    pub(super) fn trimmed(self) -> Self {
        let is_white = |b: &u8| *b <= b' ';
        let start = self.0.iter().position(|b| !is_white(b)).unwrap_or(self.0.len());
        let end = self.0.iter().rposition(|b| !is_white(b)).map_or(start, |at| at + 1);
        Self(&self.0[start..end])
    }

    /// Splits a header into name and value; only the value is trimmed. `None` without a colon.
    pub(super) fn header(self) -> Option<(Self, Self)> {
        let colon = memchr::memchr(b':', self.0)?;
        Some((Self(&self.0[..colon]), Self(&self.0[colon + 1..]).trimmed()))
    }

    pub(super) fn is(self, text: &[u8]) -> bool {
        self.bytes().eq(text.iter().copied())
    }

    /// True if the header line equals `text` (lower case) in any letter case.
    pub(super) fn is_ignoring_case(self, text: &[u8]) -> bool {
        self.bytes().map(|b| b.to_ascii_lowercase()).eq(text.iter().copied())
    }

    pub(super) fn text(self) -> String {
        let letter = |b: u8| if b.is_ascii() { char::from(b) } else { char::REPLACEMENT_CHARACTER };
        self.bytes().map(letter).collect()
    }
}

/// Returns the first line of `bytes`, and its length including the line feed.
pub(super) fn first(bytes: &[u8]) -> Option<(Line<'_>, usize)> {
    memchr::memchr(b'\n', bytes).map(|end| (Line(&bytes[..end]), end + 1))
}
