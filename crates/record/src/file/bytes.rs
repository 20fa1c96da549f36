//! Encoding of numbers and strings. Numbers are LEB128: 7 bits per byte, the lowest first.
//!
//! Reading never fails: absent data is read as 0 or empty. So a field that a newer program appends is 0 in an older
//! file, and an older program ignores fields that it does not know. [`In::is_odd`] reports malformed data.

use stats::hist::{Adder, Bins};

/// A buffer that fields are written to.
#[derive(Debug, Default)]
pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// Writes a signed number in zigzag form, so that small numbers of either sign are short.
    pub(crate) fn signed(&mut self, n: i64) {
        self.number(((n << 1) ^ (n >> 63)) as u64);
    }

    /// Writes a floating-point number as eight bytes.
    pub(crate) fn float(&mut self, n: f64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(crate) fn truth(&mut self, is: bool) {
        self.0.push(u8::from(is));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Writes a list: its length, then each element.
    pub(crate) fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        for one in list {
            each(self, one);
        }
    }

    /// Writes a histogram. Each bin is written as its distance from the previous bin, doubled, plus one if a count
    /// other than 1 follows.
    pub(crate) fn bins(&mut self, bins: &Bins) {
        if let Some(packed) = bins.packed() {
            return self.0.extend_from_slice(packed);
        }
        self.number(bins.len() as u64);
        let mut before = 0;
        for (bin, count) in bins.iter() {
            self.number(u64::from(bin - before) << 1 | u64::from(count != 1));
            if count != 1 {
                self.number(count);
            }
            before = bin;
        }
    }
}

/// Largest number of list elements for which memory is reserved before the elements are read.
const MOST_ROOM: u64 = 64;

/// A reader of encoded fields.
#[derive(Clone, Debug)]
pub(crate) struct In<'a> {
    rest: &'a [u8],
    odd: bool,
}

impl<'a> In<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, odd: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of remaining bytes.
    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    /// Returns true if a number, string or histogram read so far was malformed.
    pub(crate) fn is_odd(&self) -> bool {
        self.odd
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    pub(crate) fn number(&mut self) -> u64 {
        let mut n = 0u64;
        for shift in (0..).step_by(7) {
            if self.rest.is_empty() {
                self.odd |= shift > 0;
                break;
            }
            let byte = self.byte();
            if shift >= 64 {
                self.odd = true;
                break;
            }
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        n
    }

    pub(crate) fn small(&mut self) -> u32 {
        let n = self.number();
        self.odd |= n > u64::from(u32::MAX);
        n as u32
    }

    pub(crate) fn signed(&mut self) -> i64 {
        let n = self.number();
        (n >> 1) as i64 ^ -((n & 1) as i64)
    }

    pub(crate) fn float(&mut self) -> f64 {
        self.some(8).try_into().map_or(0.0, f64::from_le_bytes)
    }

    pub(crate) fn truth(&mut self) -> bool {
        self.byte() != 0
    }

    /// Reads `length` bytes; returns an empty slice if fewer remain.
    pub(crate) fn some(&mut self, length: u64) -> &'a [u8] {
        match usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length)) {
            Some((some, rest)) => {
                self.rest = rest;
                some
            }
            None => {
                self.odd |= !self.rest.is_empty();
                self.rest = &[];
                &[]
            }
        }
    }

    pub(crate) fn text(&mut self) -> String {
        let length = self.number();
        String::from_utf8_lossy(self.some(length)).into_owned()
    }

    /// Reads a list. Each element occupies at least one byte.
    pub(crate) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = self.number();
        // An element occupies at least one byte; memory is not reserved for a damaged length.
        let room = length.min(self.rest.len() as u64).min(MOST_ROOM) as usize;
        let mut list = Vec::with_capacity(room);
        for _ in 0..length {
            if self.rest.is_empty() {
                self.odd = true;
                break;
            }
            list.push(each(self));
        }
        list
    }

    /// Skips a histogram.
    pub(crate) fn pass_bins(&mut self) {
        if !self.rest.is_empty() {
            self.odd |= Bins::pass_packed(&mut self.rest).is_none();
        }
    }

    /// Adds a histogram, which has been validated before, to several sums.
    pub(crate) fn add_bins<'s>(&mut self, sums: impl IntoIterator<Item = &'s mut Adder>) {
        let begin = self.rest;
        for sum in sums.into_iter().filter(|_| !begin.is_empty()) {
            self.rest = begin;
            Bins::add_packed(&mut self.rest, sum);
        }
    }

    /// Returns the bytes from the current position up to the position of `end`, a copy of this reader that has read on.
    pub(crate) fn up_to(&self, end: &Self) -> &'a [u8] {
        &self.rest[..self.rest.len() - end.rest.len()]
    }

    pub(crate) fn bins(&mut self) -> Bins {
        if self.rest.is_empty() {
            return Bins::default();
        }
        // Packed histograms have the same encoding in memory and in the file.
        let bins = Bins::take_packed(&mut self.rest);
        self.odd |= bins.is_none();
        bins.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_as_they_went() {
        let mut out = Out::default();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let signed = [0, -1, 1, i64::MIN, i64::MAX];
        for n in numbers {
            out.number(n);
        }
        for n in signed {
            out.signed(n);
        }
        out.float(-0.25);
        out.text("a — b");
        let mut from = In::new(&out.0);
        assert_eq!(numbers.map(|_| from.number()), numbers);
        assert_eq!(signed.map(|_| from.signed()), signed);
        assert_eq!((from.float(), &*from.text()), (-0.25, "a — b"));
        assert!(from.is_empty() && !from.is_odd());
        // No bytes are left: an absent field is 0.
        assert_eq!((from.number(), &*from.text(), from.is_odd()), (0, "", false));
    }

    #[test]
    fn what_is_no_histogram_is_odd() {
        let mut bins = Bins::default();
        bins.add(5, 1);
        bins.add(700, 9);
        let mut out = Out::default();
        out.bins(&bins);
        assert_eq!(In::new(&out.0).bins(), bins);
        // The same bin twice; an invalid bin; more bins than bytes.
        for bytes in [&[2, 10, 0][..], &[1, 0xfe, 0xff, 0xff, 0x7f], &[9, 10]] {
            let mut from = In::new(bytes);
            from.bins();
            assert!(from.is_odd(), "{bytes:?}");
        }
        let mut endless = In::new(&[0xff; 20]);
        endless.number();
        assert!(endless.is_odd());
    }
}
