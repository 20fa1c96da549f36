//! Reads messages from Java. No content of a message is trusted: every length is compared with the remaining bytes,
//! and every number that controls a decision is checked against its range.
//!
//! Strings are borrowed from the message. Every fault in a message becomes a [`Malformed`] with a description.

/// Description of the fault in a message that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot parse the JVM's reply: {}", self.0)
    }
}

/// The part of a message that is not read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed("it is truncated"))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        self.take().map(|[byte]| byte)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("a flag is neither 0 nor 1")),
        }
    }

    pub(crate) fn short(&mut self) -> Result<u16, Malformed> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn int(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn signed_int(&mut self) -> Result<i32, Malformed> {
        self.take().map(i32::from_le_bytes)
    }

    pub(crate) fn long(&mut self) -> Result<u64, Malformed> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Malformed> {
        self.take().map(i64::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.int()? as usize;
        let (bytes, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(Malformed("a length exceeds the rest of the message"))?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed("a string is not UTF-8"))
    }

    /// Reads an optional value.
    pub(crate) fn maybe<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    /// Reads a list. Each entry takes at least one byte, so that a wrong length cannot cause a large allocation.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.int()? as usize;
        if count > self.0.len() {
            return Err(Malformed("a list is longer than the rest of the message"));
        }
        let mut entries = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            entries.push(read(self)?);
        }
        Ok(entries)
    }

    /// Checks that the message has no further bytes.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed("bytes follow its end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::Writer;
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut message = Vec::new();
        let mut writer = Writer(&mut message);
        writer.byte(7);
        writer.int(300);
        writer.long(u64::MAX);
        writer.signed(-5);
        writer.maybe(Some("ä"));
        writer.maybe(None);
        writer.ids([1, 2].into_iter());
        writer.list(&[("a", "b")], |out, pair| {
            out.text(pair.0);
            out.text(pair.1);
        });
        let mut reader = Reader::new(&message);
        assert_eq!((reader.byte(), reader.int()), (Ok(7), Ok(300)));
        assert_eq!((reader.long(), reader.signed()), (Ok(u64::MAX), Ok(-5)));
        assert_eq!(reader.maybe(Reader::text), Ok(Some("ä")));
        assert_eq!(reader.maybe(Reader::text), Ok(None));
        assert_eq!(reader.list(Reader::int), Ok(vec![1, 2]));
        assert_eq!(reader.list(|r| Ok((r.text()?, r.text()?))), Ok(vec![("a", "b")]));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn lengths_are_held_against_what_is_there() {
        let huge = u32::MAX.to_le_bytes();
        assert!(Reader::new(&huge).bytes().is_err());
        assert!(Reader::new(&huge).list(Reader::byte).is_err());
        assert!(Reader::new(&[2]).flag().is_err());
        assert!(Reader::new(&[1, 0, 0, 0, 0xff]).text().is_err());
        assert!(Reader::new(&[0]).end().is_err());
    }
}
