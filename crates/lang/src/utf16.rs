//! Builds text from single UTF-16 units, which the escapes in JSON and JMESPath denote.
//!
//! A character beyond the basic plane is a pair of escapes. An unpaired half becomes the replacement character.

/// Appends a UTF-16 unit. The first half of a pair is kept in `high` until the next unit.
pub(crate) fn push_unit(out: &mut String, high: &mut Option<u16>, unit: u16) {
    if let Some(first) = high.take() {
        if let Some(Ok(both)) = char::decode_utf16([first, unit]).next() {
            out.push(both);
            return;
        }
        out.push(char::REPLACEMENT_CHARACTER);
    }
    match char::from_u32(u32::from(unit)) {
        Some(value) => out.push(value),
        None if unit < 0xDC00 => *high = Some(unit),
        None => out.push(char::REPLACEMENT_CHARACTER),
    }
}
