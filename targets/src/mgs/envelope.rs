//! The body of an encrypted request: two values, each with a tag of one byte and a big-endian length of three bytes.
//!
//! The first value carries the key, encrypted or as a point; the second value is the ciphertext. Nothing is copied, and
//! no bytes may follow.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope<'a> {
    pub(super) key_tag: u8,
    pub(super) key: &'a [u8],
    pub(super) body_tag: u8,
    pub(super) body: &'a [u8],
}

impl<'a> Envelope<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let (key_tag, key, rest) = value(bytes, "the key")?;
        let (body_tag, body, rest) = value(rest, "the ciphertext")?;
        if !rest.is_empty() {
            return Err(format!("the envelope has {} bytes behind the ciphertext", rest.len()));
        }
        Ok(Self { key_tag, key, body_tag, body })
    }
}

fn value<'a>(bytes: &'a [u8], name: &str) -> Result<(u8, &'a [u8], &'a [u8]), String> {
    let [tag, a, b, c, rest @ ..] = bytes else {
        return Err(format!("the envelope ends within tag and length of {name}"));
    };
    let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
    let Some((value, rest)) = rest.split_at_checked(length) else {
        let there = rest.len();
        return Err(format!("the envelope has {there} bytes of {name}, where {length} are said"));
    };
    Ok((*tag, value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_are_read() {
        let read = Envelope::read(b"\x02\0\0\x01k\x0f\0\0\x02bb").unwrap();
        assert_eq!(read, Envelope { key_tag: 2, key: b"k", body_tag: 15, body: b"bb" });
        // The lengths of a captured request: 393 bytes in total.
        let captured = [&[3, 0, 0, 0x21][..], &[7; 33], &[0x0d, 0, 0x01, 0x60], &[9; 352]].concat();
        let read = Envelope::read(&captured).unwrap();
        assert_eq!((captured.len(), read.key.len(), read.body.len()), (393, 33, 352));
    }

    #[test]
    fn what_is_short_or_long_is_refused() {
        let whole = b"\x02\0\0\x01k\x0f\0\0\x02bb";
        for end in 0..whole.len() {
            assert!(Envelope::read(&whole[..end]).is_err(), "{end}");
        }
        let long = [&whole[..], b"x"].concat();
        assert_eq!(
            Envelope::read(&long).unwrap_err(),
            "the envelope has 1 bytes behind the ciphertext"
        );
        assert_eq!(
            Envelope::read(b"\x02\xff\xff\xffk").unwrap_err(),
            "the envelope has 1 bytes of the key, where 16777215 are said"
        );
    }
}
