//! XML references in a link: JMeter resolves them after it has resolved HTML's references.
//!
//! Supported are the five names of XML and numbers, all with a semicolon; everything else is unchanged.

use std::borrow::Cow;

const NAMES: [(&str, char); 5] =
    [("&quot;", '"'), ("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&apos;", '\'')];

/// Resolves the XML references in a link. The error is Java's exception for a number beyond Unicode.
pub(super) fn decode(text: &str) -> Result<Cow<'_, str>, String> {
    if !text.contains('&') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((name, c)) = NAMES.iter().find(|(name, _)| rest.starts_with(name)) {
            out.push(*c);
            rest = &rest[name.len()..];
        } else if let Some((value, length)) = number(rest) {
            if value > 0x10_ffff {
                return Err(format!(
                    "java.lang.IllegalArgumentException: Not a valid Unicode code point: 0x{value:X}"
                ));
            }
            // Unpaired surrogates, which Java would keep, become question marks.
            out.push(char::from_u32(value).unwrap_or('?'));
            rest = &rest[length..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

/// Returns the number in the numeric reference at the start of `text`, and the length of the reference.
fn number(text: &str) -> Option<(u32, usize)> {
    let digits = text.strip_prefix("&#")?;
    let (digits, radix, start) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 3),
        None => (digits, 10, 2),
    };
    let end = digits.find(|c: char| !c.is_ascii_hexdigit())?;
    if !digits[end..].starts_with(';') {
        return None;
    }
    let value = i32::from_str_radix(&digits[..end], radix).ok()?;
    Some((u32::try_from(value).ok()?, start + end + 1))
}
