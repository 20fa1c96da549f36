//! Bodies of the mirror in content codings and character sets.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::Asked;
use super::reply::Reply;

const TEXT: &str =
    "A text that is worth compressing, because it says compressing, compressing, compressing.\n";

/// Answers `/gzip`, `/deflate` (zlib, or raw deflate with `raw`) and `/br`.
pub(super) fn coded(asked: &Asked<'_>, coding: &str) -> Reply {
    let text = repeated(asked);
    let level = Compression::default();
    let body = match coding {
        "gzip" => written(GzEncoder::new(Vec::new(), level), &text, GzEncoder::finish),
        "deflate" if asked.text("raw").is_some() => {
            written(DeflateEncoder::new(Vec::new(), level), &text, DeflateEncoder::finish)
        }
        "deflate" => written(ZlibEncoder::new(Vec::new(), level), &text, ZlibEncoder::finish),
        _ => brotli(&text),
    };
    Reply::new("text/plain; charset=utf-8", body).header("Content-Encoding", coding)
}

/// Answers `/text` with text in the character set of the query. Content-Type names the character set unless
/// `undeclared` is in the query.
pub(super) fn text(asked: &Asked<'_>) -> Reply {
    let text = repeated(asked);
    let charset = asked.text("charset").unwrap_or("utf-8");
    let kind = asked.text("type").unwrap_or("text/plain");
    let body = match charset.to_ascii_lowercase().as_str() {
        "iso-8859-1" | "latin1" => {
            text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect()
        }
        label => match encoding_rs::Encoding::for_label(label.as_bytes()) {
            Some(encoding) => encoding.encode(&text).0.into_owned(),
            None => text.into_bytes(),
        },
    };
    let declared = if asked.text("undeclared").is_some() {
        String::new()
    } else {
        format!("; charset={charset}")
    };
    Reply::new(&format!("{kind}{declared}"), body)
}

fn repeated(asked: &Asked<'_>) -> String {
    let count = asked.number("n", 1).min(1 << 20) as usize;
    asked.text("text").unwrap_or(TEXT).repeat(count)
}

/// Encodes text with a compressor that writes to a vector, which cannot fail.
fn written<W: Write>(
    mut encoder: W,
    text: &str,
    finish: impl FnOnce(W) -> std::io::Result<Vec<u8>>,
) -> Vec<u8> {
    encoder.write_all(text.as_bytes()).and_then(|()| finish(encoder)).unwrap_or_default()
}

/// Maximum length in bytes of an uncompressed Brotli block: the length minus one is stored in 16 bits.
const PART: usize = 1 << 16;

/// Encodes Brotli (RFC 7932) without compression, which avoids a dependency on an encoder. Bits are numbered from the
/// lowest.
fn brotli(text: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(text.len() + 4 + 3 * text.len().div_ceil(PART));
    // One bit selects Brotli's window of 16 bits.
    let mut before = 1;
    for part in text.as_bytes().chunks(PART) {
        // Header of a Brotli block: not the last block, four hexadecimal digits of length, the length, uncompressed.
        let head = ((part.len() as u32 - 1) << 3 | 1 << 19) << before;
        body.extend_from_slice(&head.to_le_bytes()[..3]);
        body.extend_from_slice(part);
        before = 0;
    }
    // An empty last Brotli block.
    body.push(0b11 << before);
    body
}
