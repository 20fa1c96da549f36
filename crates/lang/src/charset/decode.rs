//! Decodes text as Java does. Charset names are the JVM's, Latin-1 is exactly Latin-1, a byte order mark stays in the
//! text, and undecodable bytes become U+FFFD.

use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::Charset;

#[cfg(test)]
mod tests;

/// Returns true if [`decode_into`] supports the charset.
pub fn is_known(charset: &str) -> bool {
    Charset::named(charset).is_some()
}

/// Decodes `bytes` and appends the text. Unknown or absent charsets are read as UTF-8.
pub fn decode_into(charset: Option<&str>, bytes: &[u8], out: &mut String) {
    // Nearly all text is valid UTF-8, for which no charset has to be looked up.
    if charset.is_none_or(|name| name.eq_ignore_ascii_case("utf-8"))
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return out.push_str(text);
    }
    decode_as(charset.and_then(Charset::named).unwrap_or(Charset::Utf8), bytes, out);
}

/// Decodes `bytes` in the given character set as Java does, and appends the text.
pub(super) fn decode_as(charset: Charset, bytes: &[u8], out: &mut String) {
    match charset {
        Charset::Utf8 => decode(UTF_8, bytes, out),
        Charset::Ascii => {
            each(bytes, out, |b| if b < 0x80 { char::from(b) } else { '\u{fffd}' });
        }
        Charset::Latin1 => each(bytes, out, char::from),
        // A byte order mark sets the byte order; without a mark it is big-endian.
        Charset::Utf16 => match bytes {
            [0xff, 0xfe, rest @ ..] => decode(UTF_16LE, rest, out),
            [0xfe, 0xff, rest @ ..] => decode(UTF_16BE, rest, out),
            _ => decode(UTF_16BE, bytes, out),
        },
        Charset::Utf16Be => decode(UTF_16BE, bytes, out),
        Charset::Utf16Le => decode(UTF_16LE, bytes, out),
        // ISO charsets have control characters where their Windows supersets have letters.
        Charset::Other(encoding, "ISO-8859-9" | "x-iso-8859-11" | "TIS-620") => {
            for piece in bytes.split_inclusive(|b| (0x80..=0x9f).contains(b)) {
                match piece.split_last() {
                    Some((control @ 0x80..=0x9f, text)) => {
                        decode(encoding, text, out);
                        out.push(char::from(*control));
                    }
                    _ => decode(encoding, piece, out),
                }
            }
        }
        Charset::Other(encoding, _) => decode(encoding, bytes, out),
    }
}

fn each(bytes: &[u8], out: &mut String, char_of: impl Fn(u8) -> char) {
    let ascii = bytes.iter().take_while(|b| b.is_ascii()).count();
    let (plain, rest) = bytes.split_at(ascii);
    out.push_str(std::str::from_utf8(plain).unwrap_or_default());
    out.extend(rest.iter().map(|&b| char_of(b)));
}

fn decode(encoding: &'static Encoding, mut bytes: &[u8], out: &mut String) {
    if encoding == UTF_8
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        out.push_str(text);
        return;
    }
    let mut decoder = encoding.new_decoder_without_bom_handling();
    loop {
        out.reserve(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len()));
        let (result, read, _) = decoder.decode_to_string(bytes, out, true);
        bytes = &bytes[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}
