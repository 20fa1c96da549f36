//! Header lines: values by name, and conversion between bytes and text.

/// Returns the value of a header line with this name (given in lower case).
pub(crate) fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    Some(rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii())
}

/// Returns the last `Location` of a head.
pub(crate) fn location(head: &[u8]) -> Option<&[u8]> {
    head.split(|byte| *byte == b'\n').filter_map(|line| value_of(line, b"location")).next_back()
}

/// Returns the first `Location` of a head.
pub(crate) fn first_location(head: &[u8]) -> Option<&[u8]> {
    head.split(|byte| *byte == b'\n').find_map(|line| value_of(line, b"location"))
}

/// Converts a string that was read from a header back to its bytes, one byte per character.
pub(crate) fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()
}

/// Returns a header value as a string, one character per byte.
pub(crate) fn text_of(value: &[u8]) -> String {
    value.iter().map(|byte| *byte as char).collect()
}

/// Appends a header value to a string, one character per byte.
pub(crate) fn push_latin1(out: &mut String, bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && text.is_ascii()
    {
        return out.push_str(text);
    }
    out.extend(bytes.iter().map(|byte| *byte as char));
}
