//! Incremental check of UTF-8: the first invalid byte is found on arrival, however the input is split.
//!
//! The state consists of at most three bytes: the bytes of an incomplete character.

use std::str::from_utf8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Utf8 {
    pending: [u8; 4],
    length: u8,
}

impl Utf8 {
    /// Checks a piece of UTF-8 text; true if the text is valid so far.
    pub(super) fn accept(&mut self, mut bytes: &[u8]) -> bool {
        while self.length > 0 {
            let Some((&first, rest)) = bytes.split_first() else { return true };
            self.pending[usize::from(self.length)] = first;
            self.length += 1;
            bytes = rest;
            match from_utf8(&self.pending[..usize::from(self.length)]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let tail = &bytes[error.valid_up_to()..];
                self.pending[..tail.len()].copy_from_slice(tail);
                self.length = tail.len() as u8;
                true
            }
        }
    }

    /// True if the last UTF-8 character is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_impossible_byte_is_found() {
        // Bytes, and the number of leading bytes that can begin valid text.
        for (text, good) in [
            (&b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited"[..], 12),
            (b"\xf4\x90\x80\x80", 1),
            (b"\xc0\xaf", 0),
            (b"\xe0\x9f", 1),
            (b"a\x80", 1),
            (b"\xf8", 0),
            (b"\xed\xa0", 1),
            (b"\xf0\x9f\x98\x80", 4),
        ] {
            let mut utf8 = Utf8::default();
            let found = text.iter().take_while(|&&byte| utf8.accept(&[byte])).count();
            assert_eq!(found, good, "{text:x?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_are_judged_as_the_whole(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..8),
                "\\PC{0,6}".prop_map(String::into_bytes),
                ("\\PC{0,6}", any::<u8>()).prop_map(|(text, byte)| {
                    let mut bytes = text.into_bytes();
                    bytes.push(byte);
                    bytes
                }),
            ],
            cuts in proptest::collection::vec(1usize..4, 0..20),
        ) {
            let mut utf8 = Utf8::default();
            let mut valid = true;
            let mut rest = &bytes[..];
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                rest = after;
                valid = valid && utf8.accept(piece);
            }
            valid = valid && utf8.accept(rest);
            prop_assert_eq!(valid && utf8.is_complete(), from_utf8(&bytes).is_ok());
        }
    }
}
