//! Decodes a document's bytes to text: the encoding is given by a byte order mark or the XML declaration, otherwise it
//! is UTF-8.
//!
//! Invalid bytes end the text. The part before them is parsed first, and may contain another error.

use std::borrow::Cow;

use super::fault::Fault;

/// Returns a document's text up to the first invalid bytes, and the error about these bytes, if there are any. Fails
/// for an unknown encoding.
pub(super) fn decode(bytes: &[u8]) -> Result<(Cow<'_, str>, Option<Fault>), Fault> {
    let (encoding, bytes) = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => (None, rest),
        [0xFE, 0xFF, rest @ ..] => (Some(encoding_rs::UTF_16BE), rest),
        [0xFF, 0xFE, rest @ ..] => (Some(encoding_rs::UTF_16LE), rest),
        [0, b'<', 0, b'?', ..] => (Some(encoding_rs::UTF_16BE), bytes),
        [b'<', 0, b'?', 0, ..] => (Some(encoding_rs::UTF_16LE), bytes),
        _ => (None, bytes),
    };
    if let Some(encoding) = encoding {
        return Ok((encoding.decode_without_bom_handling(bytes).0, None));
    }
    let Some(name) = declared(bytes) else { return Ok(utf8(bytes)) };
    match name.to_ascii_uppercase().as_str() {
        "UTF-8" | "UTF8" => Ok(utf8(bytes)),
        "ISO-8859-1" | "LATIN1" | "L1" | "ISO_8859-1" => {
            Ok((encoding_rs::mem::decode_latin1(bytes), None))
        }
        "US-ASCII" | "ASCII" => Ok(ascii(bytes)),
        _ => match encoding_rs::Encoding::for_label(name.as_bytes()) {
            Some(encoding) => Ok((encoding.decode_without_bom_handling(bytes).0, None)),
            None => Err(Fault::new(format!("Invalid encoding name \"{name}\"."))),
        },
    }
}

/// Returns the encoding that the XML declaration names.
fn declared(bytes: &[u8]) -> Option<&str> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(declaration, b"?>")?;
    let declaration = std::str::from_utf8(&declaration[..end]).ok()?;
    let (_, rest) = declaration.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(name, _)| name)
}

fn utf8(bytes: &[u8]) -> (Cow<'_, str>, Option<Fault>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(error) => {
            let (text, rest) = bytes.split_at(error.valid_up_to());
            let fault = Fault::io(malformed(rest));
            (
                std::str::from_utf8(text).map_or_else(|_| Cow::Borrowed(""), Cow::Borrowed),
                Some(fault),
            )
        }
    }
}

/// Returns Xerces's message for bytes that do not begin with a UTF-8 character.
fn malformed(bytes: &[u8]) -> String {
    let first = bytes[0];
    let length = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    for at in 1..length {
        let Some(byte) = bytes.get(at) else {
            return format!("Expected byte {} of {length}-byte UTF-8 sequence.", at + 1);
        };
        let is_wrong = byte & 0xC0 != 0x80
            || at == 1
                && (first == 0xED && *byte >= 0xA0
                    || first == 0xE0 && byte & 0x20 == 0
                    || first == 0xF0 && byte & 0x30 == 0);
        if is_wrong {
            return format!("Invalid byte {} of {length}-byte UTF-8 sequence.", at + 1);
        }
    }
    if length == 4 {
        let bits = (u32::from(first) & 7) << 2 | (u32::from(bytes[1]) >> 4) & 3;
        return format!(
            "High surrogate bits in UTF-8 sequence must not exceed 0x10 but found 0x{bits:x}."
        );
    }
    "Invalid byte 1 of 1-byte UTF-8 sequence.".into()
}

fn ascii(bytes: &[u8]) -> (Cow<'_, str>, Option<Fault>) {
    let end = bytes.iter().position(|byte| !byte.is_ascii());
    let fault = end.map(|end| {
        let byte = bytes[end];
        Fault::io(format!("Byte \"{byte}\" is not a member of the (7-bit) ASCII character set."))
    });
    let text = &bytes[..end.unwrap_or(bytes.len())];
    (std::str::from_utf8(text).map_or(Cow::Borrowed(""), Cow::Borrowed), fault)
}
