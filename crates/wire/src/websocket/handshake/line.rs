//! Lines of a head as Java reads them in the WebSocket plug-in of JMeter: they end with a line feed, carriage returns count for
//! nothing wherever they stand, white space is everything up to the blank, and bytes beyond ASCII are no letters.

/// One line without its line feed; carriage returns are still in it and are to be passed over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'b>(pub(super) &'b [u8]);

impl<'b> Line<'b> {
    /// The characters, carriage returns left out.
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> + 'b {
        self.0.iter().copied().filter(|&b| b != b'\r')
    }

    /// Without white space at both ends.
    pub(super) fn trimmed(self) -> Self {
        let is_white = |b: &u8| *b <= b' ';
        let start = self.0.iter().position(|b| !is_white(b)).unwrap_or(self.0.len());
        let end = self.0.iter().rposition(|b| !is_white(b)).map_or(start, |at| at + 1);
        Self(&self.0[start..end])
    }

    /// Name and value of a header; the name as it stands, the value trimmed. `None` without a colon.
    pub(super) fn header(self) -> Option<(Self, Self)> {
        let colon = memchr::memchr(b':', self.0)?;
        Some((Self(&self.0[..colon]), Self(&self.0[colon + 1..]).trimmed()))
    }

    pub(super) fn is(self, text: &[u8]) -> bool {
        self.bytes().eq(text.iter().copied())
    }

    /// `text` in lower case.
    pub(super) fn is_ignoring_case(self, text: &[u8]) -> bool {
        self.bytes().map(|b| b.to_ascii_lowercase()).eq(text.iter().copied())
    }

    pub(super) fn text(self) -> String {
        let letter = |b: u8| if b.is_ascii() { char::from(b) } else { char::REPLACEMENT_CHARACTER };
        self.bytes().map(letter).collect()
    }
}

/// The first line of `bytes` and the size of it with its line feed.
pub(super) fn first(bytes: &[u8]) -> Option<(Line<'_>, usize)> {
    memchr::memchr(b'\n', bytes).map(|end| (Line(&bytes[..end]), end + 1))
}
