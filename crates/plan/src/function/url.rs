//! `__urlencode` and `__urldecode`: form encoding in UTF-8, like Java's `URLEncoder` and `URLDecoder`.

use std::fmt::Write;

use super::Call;
use crate::env::Env;
use crate::template::{Outcome, Thrown};

/// Runs `__urlencode(text)`.
pub(super) fn encode(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let text = call.arg(0, env)?;
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => _ = write!(out, "%{byte:02X}"),
        }
    }
    env.core.give(text);
    Ok(())
}

/// Runs `__urldecode(text)`.
pub(super) fn decode(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let text = call.arg(0, env)?;
    // The reused buffer holds bytes, which are valid UTF-8 only when the string is complete.
    let mut bytes = env.core.take().into_bytes();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = rest
                    .get(..2)
                    .ok_or_else(|| illegal("Incomplete trailing escape (%) pattern"))?;
                bytes.push(hex(digits)?);
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
    bytes.clear();
    env.core.give(String::from_utf8(bytes).unwrap_or_default());
    env.core.give(text);
    Ok(())
}

/// Parses two hexadecimal digits as Java's number parser does, which accepts a sign as the first character.
fn hex(digits: &[u8]) -> Result<u8, Thrown> {
    let text = String::from_utf8_lossy(digits);
    let complain =
        |words: String| illegal(&format!("Illegal hex characters in escape (%) pattern - {words}"));
    if let Some(at) = digits.iter().position(|b| !b.is_ascii_hexdigit()) {
        return match (digits, digits[1].is_ascii_hexdigit()) {
            ([b'+', _], true) => u8::from_str_radix(&text, 16).map_err(|_| complain(String::new())),
            ([b'-', b'0'], true) => Ok(0),
            ([b'-', _], true) => Err(complain("negative value".into())),
            _ => Err(complain(format!("Error at index {at} in: \"{text}\""))),
        };
    }
    u8::from_str_radix(&text, 16).map_err(|_| complain(String::new()))
}

fn illegal(words: &str) -> Thrown {
    Thrown::new("java.lang.IllegalArgumentException", format!("URLDecoder: {words}"))
}
