//! Parser for the part of BER (a superset of DER) that key stores use, including indefinite lengths and octet strings
//! in segments.

use super::KeyStoreError;
use std::borrow::Cow;

pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const BMP_STRING: u8 = 0x1E;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
/// BER tag `[0]` of a constructed context-specific field.
pub(super) const CONTEXT_0: u8 = 0xA0;

const CONSTRUCTED: u8 = 0x20;
/// Maximum nesting depth of BER values with indefinite length.
const DEPTH_MOST: usize = 32;

/// One value in BER, the encoding of key stores.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) tag: u8,
    /// Content of the BER value without tag and length.
    pub(super) content: &'a [u8],
    /// The BER value with tag, length and content.
    pub(super) whole: &'a [u8],
}

impl<'a> Value<'a> {
    /// Returns a reader of the values inside a constructed value.
    pub(super) fn inside(&self) -> Result<Reader<'a>, KeyStoreError> {
        match self.tag & CONSTRUCTED {
            0 => Err(KeyStoreError::Malformed),
            _ => Ok(Reader::new(self.content)),
        }
    }

    /// Returns the octets of an octet string; segments are joined.
    pub(super) fn octets(&self) -> Result<Cow<'a, [u8]>, KeyStoreError> {
        if self.tag & CONSTRUCTED == 0 {
            return Ok(Cow::Borrowed(self.content));
        }
        let mut all = Vec::new();
        self.pieces(&mut all, 0)?;
        Ok(Cow::Owned(all))
    }

    fn pieces(&self, all: &mut Vec<u8>, depth: usize) -> Result<(), KeyStoreError> {
        if self.tag & CONSTRUCTED == 0 {
            all.extend_from_slice(self.content);
            return Ok(());
        }
        for piece in self.inside()? {
            let piece = piece?;
            if piece.tag & !CONSTRUCTED != OCTETS || depth == DEPTH_MOST {
                return Err(KeyStoreError::Malformed);
            }
            piece.pieces(all, depth + 1)?;
        }
        Ok(())
    }

    /// Parses a BER integer from 0 to 2³² − 1.
    pub(super) fn number(&self) -> Result<u32, KeyStoreError> {
        let number = match self.content {
            [0, rest @ ..] => rest,
            [1..0x80, ..] => self.content,
            _ => return Err(KeyStoreError::Malformed),
        };
        if number.len() > 4 {
            return Err(KeyStoreError::Malformed);
        }
        Ok(number.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)))
    }
}

/// Reader of consecutive BER values.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Reads the next BER value, which must have this tag.
    pub(super) fn expect(&mut self, tag: u8) -> Result<Value<'a>, KeyStoreError> {
        match self.next() {
            Some(Ok(value)) if value.tag == tag => Ok(value),
            _ => Err(KeyStoreError::Malformed),
        }
    }

    /// Reads the octets of the next value, which must be an octet string, whole or in segments.
    pub(super) fn octets(&mut self) -> Result<Cow<'a, [u8]>, KeyStoreError> {
        match self.next() {
            Some(Ok(value)) if value.tag & !CONSTRUCTED == OCTETS => value.octets(),
            _ => Err(KeyStoreError::Malformed),
        }
    }

    /// Reads the next BER value if it has this tag.
    pub(super) fn optional(&mut self, tag: u8) -> Result<Option<Value<'a>>, KeyStoreError> {
        match self.rest.first() {
            Some(first) if *first == tag => self.expect(tag).map(Some),
            _ => Ok(None),
        }
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Value<'a>, KeyStoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let value = first(self.rest, 0).ok_or(KeyStoreError::Malformed);
        // After a malformed BER value, the position of the next value is unknown.
        self.rest = value.as_ref().map_or(&[], |value| &self.rest[value.whole.len()..]);
        Some(value)
    }
}

/// Parses the first BER value in `bytes`; `None` if it is incomplete.
fn first(bytes: &[u8], depth: usize) -> Option<Value<'_>> {
    let [tag, length, ..] = *bytes else { return None };
    // Key stores contain no BER tags of several bytes.
    if tag & 0x1F == 0x1F {
        return None;
    }
    let (header, length) = match length {
        0..0x80 => (2, usize::from(length)),
        0x80 => return ended(tag, bytes, depth),
        0x81..=0x84 => {
            let header = 2 + usize::from(length & 0x7F);
            let digits = bytes.get(2..header)?;
            (header, digits.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)))
        }
        _ => return None,
    };
    let whole = bytes.get(..header.checked_add(length)?)?;
    Some(Value { tag, content: &whole[header..], whole })
}

/// Parses a value of indefinite length, which ends with two zero bytes.
fn ended(tag: u8, bytes: &[u8], depth: usize) -> Option<Value<'_>> {
    if tag & CONSTRUCTED == 0 || depth == DEPTH_MOST {
        return None;
    }
    let mut at = 2;
    while !bytes[at..].starts_with(&[0, 0]) {
        at += first(&bytes[at..], depth + 1)?.whole.len();
    }
    Some(Value { tag, content: &bytes[2..at], whole: &bytes[..at + 2] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> Option<(u8, &[u8])> {
        first(bytes, 0).map(|value| (value.tag, value.content))
    }

    #[test]
    fn lengths_stand_before_or_at_the_end() {
        assert_eq!(one(&[4, 2, 7, 8, 9]), Some((4, [7, 8].as_slice())));
        assert_eq!(one(&[4, 0x81, 2, 7, 8]), Some((4, [7, 8].as_slice())));
        assert_eq!(one(&[4, 0x82, 0, 1, 7]), Some((4, [7].as_slice())));
        assert_eq!(one(&[0x30, 0x80, 4, 1, 7, 0, 0, 9]), Some((0x30, [4, 1, 7].as_slice())));
        let nested = [0x30, 0x80, 0x30, 0x80, 4, 1, 7, 0, 0, 0, 0];
        assert_eq!(one(&nested), Some((0x30, &nested[2..9])));
    }

    #[test]
    fn values_that_are_not_whole_are_none() {
        for bytes in [
            [4].as_slice(),
            &[4, 2, 7],
            &[4, 0x81],
            &[4, 0x85, 0, 0, 0, 0, 1, 7],
            &[4, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 7],
            &[4, 0x80, 0, 0],
            &[0x30, 0x80],
            &[0x30, 0x80, 0],
            &[0x30, 0x80, 4, 1, 7],
            &[0x1F, 1, 7],
        ] {
            assert_eq!(one(bytes), None, "{bytes:?}");
        }
        let deep = [[0x30, 0x80].repeat(10_000), [0, 0].repeat(10_000)].concat();
        assert_eq!(one(&deep), None);
    }

    #[test]
    fn pieces_are_put_together() {
        let octets = |bytes| Reader::new(bytes).next().unwrap()?.octets();
        assert_eq!(*octets(&[4, 2, 7, 8]).unwrap(), [7, 8]);
        assert_eq!(*octets(&[0x24, 7, 4, 1, 7, 4, 2, 8, 9]).unwrap(), [7, 8, 9]);
        assert_eq!(*octets(&[0xA0, 0x80, 0x24, 3, 4, 1, 7, 4, 1, 8, 0, 0]).unwrap(), [7, 8]);
        assert_eq!(octets(&[0x24, 3, 2, 1, 7]).unwrap_err(), KeyStoreError::Malformed);
        let mut deep = vec![4, 1, 7];
        for _ in 0..40 {
            deep = [&[0x24, u8::try_from(deep.len()).unwrap()], &*deep].concat();
        }
        assert_eq!(octets(&deep).unwrap_err(), KeyStoreError::Malformed);
    }

    #[test]
    fn numbers_are_not_negative_and_fit() {
        let number = |content: &[u8]| Value { tag: INTEGER, content, whole: content }.number();
        assert_eq!(number(&[3]), Ok(3));
        assert_eq!(number(&[0]), Ok(0));
        assert_eq!(number(&[0x27, 0x10]), Ok(10_000));
        assert_eq!(number(&[0, 0xFF, 0xFF, 0xFF, 0xFF]), Ok(u32::MAX));
        for content in [[].as_slice(), &[0x80], &[1, 0, 0, 0, 0]] {
            assert_eq!(number(content), Err(KeyStoreError::Malformed), "{content:?}");
        }
    }
}
