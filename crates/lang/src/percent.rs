//! Percent encoding like Java's `URLEncoder` and `URLDecoder`, and like HttpClient for paths.

use crate::charset::Charset;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

fn push_escaped(byte: u8, out: &mut String) {
    out.push('%');
    out.push(HEX[usize::from(byte >> 4)] as char);
    out.push(HEX[usize::from(byte & 15)] as char);
}

/// Appends `text` encoded as `application/x-www-form-urlencoded`; `bytes` is a scratch buffer.
pub fn form(text: &str, charset: Charset, bytes: &mut Vec<u8>, out: &mut String) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if is_form_safe(first) {
            out.push(first);
            rest = &rest[1..];
        } else if first == ' ' {
            out.push('+');
            rest = &rest[1..];
        } else {
            // Encode a run of characters together: the result differs for charsets with byte order marks or shift
            // sequences.
            let end = rest.find(|c| is_form_safe(c) || c == ' ').unwrap_or(rest.len());
            bytes.clear();
            charset.encode(&rest[..end], bytes);
            for byte in bytes.iter() {
                push_escaped(*byte, out);
            }
            rest = &rest[end..];
        }
    }
}

/// Appends `text` encoded as HttpClient encodes a form: the bytes of the text in `charset` one by one, where bytes that
/// are ASCII letters stay unchanged.
pub fn form_bytes(text: &str, charset: Charset, bytes: &mut Vec<u8>, out: &mut String) {
    bytes.clear();
    charset.encode(text, bytes);
    for byte in bytes.iter() {
        match *byte as char {
            ' ' => out.push('+'),
            c if is_form_safe(c) => out.push(c),
            _ => push_escaped(*byte, out),
        }
    }
}

fn is_form_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*')
}

/// Decodes the `%XX` escapes of a path into bytes; invalid escapes are unchanged.
#[inline]
pub fn unescape(text: &str, bytes: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[2..] } else { after };
    }
}

/// Appends a path segment, given by its bytes, with escapes where a URI requires them.
pub fn segment(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let c = *byte as char;
        let safe = c.is_ascii_alphanumeric() || b"_-.*!~'();:@&=+$,".contains(byte);
        if safe { out.push(c) } else { push_escaped(*byte, out) }
    }
}

/// Appends `text` with all non-ASCII characters escaped as UTF-8.
#[inline]
pub fn beyond_ascii(text: &str, out: &mut String) {
    if text.is_ascii() {
        return out.push_str(text);
    }
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push_escaped(byte, out));
        }
    }
}

/// Decodes `+` and `%XX` like `URLDecoder`; `run` is a scratch buffer. The error is the message of Java's exception.
pub fn decode(
    text: &str,
    charset: Charset,
    run: &mut Vec<u8>,
    out: &mut String,
) -> Result<(), String> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'+' => {
                out.push(' ');
                at += 1;
            }
            b'%' => at = decode_run(text, at, charset, run, out)?,
            _ => {
                let end = bytes[at..].iter().position(|b| matches!(b, b'+' | b'%'));
                let end = end.map_or(bytes.len(), |n| at + n);
                out.push_str(&text[at..end]);
                at = end;
            }
        }
    }
    Ok(())
}

/// Decodes consecutive `%XX` escapes that begin at `at`, and returns the position after them.
fn decode_run(
    text: &str,
    mut at: usize,
    charset: Charset,
    run: &mut Vec<u8>,
    out: &mut String,
) -> Result<usize, String> {
    const INCOMPLETE: &str = "URLDecoder: Incomplete trailing escape (%) pattern";
    run.clear();
    while text.as_bytes().get(at) == Some(&b'%') {
        let Some(digits) = text.as_bytes().get(at + 1..at + 3) else {
            return Err(INCOMPLETE.to_string());
        };
        let shown = String::from_utf8_lossy(digits).into_owned();
        let value = u8::from_str_radix(&shown, 16).map_err(|_| {
            format!("URLDecoder: Illegal hex characters in escape (%) pattern - Error at index 0 in: \"{shown}\"")
        })?;
        run.push(value);
        at += 3;
    }
    if charset == Charset::Utf8 {
        out.push_str(&String::from_utf8_lossy(run));
    } else {
        out.push_str(&charset.decode(run));
    }
    Ok(at)
}
