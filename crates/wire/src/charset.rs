//! Finds the charset that a `Content-Type` header or an HTML page names.

use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// Returns the charset parameter of a `Content-Type` value in its original spelling, without quotes.
pub fn charset_of(content_type: &[u8]) -> Option<&str> {
    const PREFIX: &[u8] = b"charset=";
    let at = content_type
        .windows(PREFIX.len())
        .position(|window| window.eq_ignore_ascii_case(PREFIX))?;
    let value = &content_type[at + PREFIX.len()..];
    let end = value.iter().position(|&b| b == b';').unwrap_or(value.len());
    let mut value = value[..end].trim_ascii();
    if let [quote @ (b'"' | b'\''), rest @ ..] = value {
        value = rest.strip_suffix(&[*quote]).unwrap_or(rest).trim_ascii();
    }
    std::str::from_utf8(value).ok().filter(|name| !name.is_empty())
}

/// Returns the charset that an HTML page names in its first 2000 bytes. Only the spelling of the `meta` tag that JMeter
/// recognises is found.
pub fn charset_in_html(body: &[u8]) -> Option<&str> {
    const TAG: &[u8] = b"<meta http-equiv=\"content-type\" content=\"";
    let start = &body[..body.len().min(2000)];
    // The letter after `<` excludes most other tags.
    let is_tag = |at: &usize| {
        matches!(start.get(at + 1), Some(b'm' | b'M'))
            && start.get(*at..at + TAG.len()).is_some_and(|text| text.eq_ignore_ascii_case(TAG))
    };
    let at = memchr::memchr_iter(b'<', start).find(is_tag)?;
    let value = &start[at + TAG.len()..];
    charset_of(&value[..memchr::memchr(b'"', value)?])
}

/// Decodes bytes as Latin-1 text.
pub(crate) fn latin1(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        _ => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}
