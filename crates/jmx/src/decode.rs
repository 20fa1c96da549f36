//! Decodes the bytes of a plan file to text.
//!
//! JMeter reads plan files as UTF-8 whatever their declaration says. Valid UTF-8 is therefore read as UTF-8 here too,
//! without a copy. Other bytes are decoded by the byte order mark or the declared encoding, where JMeter would insert
//! replacement characters.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::{Diag, NotXml, Span};

/// Maximum size of a plan file in bytes: positions in spans have 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

/// Decodes a file without its byte order mark. Adds a finding if the bytes are not UTF-8.
pub(crate) fn decode(mut bytes: Vec<u8>, diags: &mut Vec<Diag>) -> Result<String, NotXml> {
    if bytes.len() > MAX_BYTES {
        return Err(NotXml(Box::new(Diag::error("too-large", "the file is larger than 4 GiB"))));
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    let encoding = wide_encoding(&bytes);
    if encoding.is_none() {
        match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(error) => bytes = error.into_bytes(),
        }
    }
    let encoding = encoding.or_else(|| declared(&bytes)).unwrap_or(UTF_8);
    let (text, _, replaced) = encoding.decode(&bytes);
    if replaced {
        let at = text.find('\u{FFFD}').unwrap_or(0);
        let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u32;
        let span = Span { start: at as u32, end: (at + '\u{FFFD}'.len_utf8()) as u32 };
        let message = format!("replaced bytes that are not valid {}", encoding.name());
        let help = "save the file as UTF-8, or declare its encoding in the XML declaration";
        diags.push(Diag::warning("bad-encoding", message).at(span, line).help(help));
    }
    if text.len() > MAX_BYTES {
        return Err(NotXml(Box::new(Diag::error("too-large", "the file is larger than 4 GiB"))));
    }
    Ok(text.into_owned())
}

/// Detects UTF-16 by its byte order mark, or by the zero byte next to the first `<`.
fn wide_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [0xFE, 0xFF, ..] | [0, b'<', ..] => Some(UTF_16BE),
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => Some(UTF_16LE),
        _ => None,
    }
}

/// Returns the encoding that `<?xml … encoding="…"?>` declares.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(200)];
    let end = memchr::memmem::find(head, b"?>")?;
    let at = memchr::memmem::find(&head[..end], b"encoding")? + b"encoding".len();
    let rest = head[at..end].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = rest.split_first()?;
    let length = memchr::memchr(*quote, rest)?;
    Encoding::for_label(&rest[..length])
}
