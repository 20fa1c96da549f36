//! The envelope of an encrypted body: two fields of tag (1 byte), length (3 bytes, big-endian) and value. The first
//! field carries the request key for the gateway, the second the encrypted body.

/// Maximum length of a value in the envelope, in bytes.
pub const LONGEST: usize = 0xff_ffff;

/// Length of an envelope field's tag and length, before its value, in bytes.
pub const HEAD: usize = 4;

/// The parsed envelope of an encrypted body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    pub key_tag: u8,
    pub key: &'a [u8],
    pub body_tag: u8,
    pub body: &'a [u8],
}

/// Parses the envelope of an encrypted body.
pub fn parse(bytes: &[u8]) -> Result<Envelope<'_>, String> {
    let (key_tag, key, rest) = field(bytes, "first")?;
    let (body_tag, body, rest) = field(rest, "second")?;
    if !rest.is_empty() {
        return Err(format!("{} bytes follow the second field of the envelope", rest.len()));
    }
    Ok(Envelope { key_tag, key, body_tag, body })
}

fn field<'a>(bytes: &'a [u8], which: &str) -> Result<(u8, &'a [u8], &'a [u8]), String> {
    let Some(([tag, length @ ..], rest)) = bytes.split_first_chunk::<HEAD>() else {
        return Err(format!(
            "the {which} field of the envelope is too short: it needs a tag and a length, 4 bytes in \
            total"
        ));
    };
    let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    match rest.split_at_checked(length) {
        Some((value, rest)) => Ok((*tag, value, rest)),
        None => Err(format!(
            "the {which} field of the envelope claims {length} bytes, but only {} follow",
            rest.len()
        )),
    }
}

/// Appends the tag of a field and a placeholder for its length, which [`end_field`] fills in. Returns the start
/// position of the value, for [`end_field`].
pub fn begin_field(tag: u8, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[tag, 0, 0, 0]);
    out.len()
}

/// Fills in the length of a field whose value begins at `from`. False: the value is too long.
pub fn end_field(from: usize, out: &mut [u8]) -> bool {
    let length = out.len() - from;
    out[from - 3..from].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
    length <= LONGEST
}
