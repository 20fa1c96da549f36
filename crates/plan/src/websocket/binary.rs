//! Bytes in hexadecimal notation, as the plug-in parses and prints them.
//!
//! Tokens are separated by single blanks. `0x1f` is one byte, `cafe` are two bytes. Of a longer number after `0x`,
//! only the last byte is used.

use std::fmt::Write;

/// Appends the bytes that a string describes. Returns an error if the string is not hexadecimal.
pub(crate) fn parse(text: &str, out: &mut Vec<u8>) -> Result<(), ()> {
    if text.trim_matches(|c: char| c <= ' ').is_empty() {
        return Ok(());
    }
    for token in text.split(' ') {
        if let Some(digits) = token.strip_prefix("0x") {
            out.push(number(digits, false)? as u8);
            continue;
        }
        let mut rest = token;
        while let Some(first) = rest.chars().next() {
            let second = rest[first.len_utf8()..].chars().next();
            let (pair, after) = rest.split_at(first.len_utf8() + second.map_or(0, char::len_utf8));
            out.push(number(pair, true)? as u8);
            rest = after;
        }
    }
    Ok(())
}

/// Parses a hexadecimal number as Java does. A sign is allowed unless `0x` precedes.
fn number(digits: &str, sign: bool) -> Result<i32, ()> {
    if !sign && digits.starts_with(['+', '-']) {
        return Err(());
    }
    i32::from_str_radix(digits, 16).map_err(|_| ())
}

/// Appends bytes in the form `0x00 0xff`: at most `limit` bytes, and then `more` if there are further bytes.
pub(crate) fn format(bytes: &[u8], limit: usize, more: &str, out: &mut String) {
    for (at, byte) in bytes.iter().take(limit).enumerate() {
        let blank = if at > 0 { " " } else { "" };
        let _ = write!(out, "{blank}{byte:#04x}");
    }
    if bytes.len() > limit {
        out.push_str(more);
    }
}

/// True if `needle` occurs in `bytes`; false if `needle` is empty.
pub(crate) fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    !needle.is_empty() && memchr::memmem::find(bytes, needle).is_some()
}
