//! Character sets of requests, responses and data files, by Java's names.
//!
//! Characters that a set lacks are encoded as `?`, as in Java. The common sets are encoded here, the others by
//! `encoding_rs`, whose labels cover what plans use.

use encoding_rs::Encoding;

mod decode;
mod names;

pub use decode::{decode_into, is_known};

/// A character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    Utf8,
    Latin1,
    Ascii,
    /// UTF-16 in big-endian order with a byte order mark, as Java writes it.
    Utf16,
    Utf16Be,
    Utf16Le,
    /// Any other character set, as `encoding_rs` implements it; contains Java's name of the set.
    Other(&'static Encoding, &'static str),
}

impl Charset {
    /// Returns the character set that Java calls `name`, or `None` if the name is unknown.
    pub fn named(name: &str) -> Option<Self> {
        names::find(name.trim_ascii())
    }

    /// Returns Java's name of the character set.
    #[inline]
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Latin1 => "ISO-8859-1",
            Self::Ascii => "US-ASCII",
            Self::Utf16 => "UTF-16",
            Self::Utf16Be => "UTF-16BE",
            Self::Utf16Le => "UTF-16LE",
            Self::Other(_, name) => name,
        }
    }

    /// Returns true if the character set encodes line breaks and quotes as in ASCII, and if the bytes of line breaks
    /// and quotes never occur within other characters.
    #[inline]
    pub fn is_ascii_like(self) -> bool {
        match self {
            Self::Utf8 | Self::Latin1 | Self::Ascii => true,
            Self::Utf16 | Self::Utf16Be | Self::Utf16Le => false,
            Self::Other(encoding, _) => encoding.is_single_byte() && encoding.is_ascii_compatible(),
        }
    }

    /// Decodes `bytes` to text; invalid bytes become U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> String {
        let mut text = String::new();
        decode::decode_as(self, bytes, &mut text);
        text
    }

    /// Returns true if the character set can encode a character.
    pub fn holds(self, c: char) -> bool {
        match self {
            Self::Utf8 | Self::Utf16 | Self::Utf16Be | Self::Utf16Le => true,
            Self::Latin1 => u32::from(c) <= 0xff,
            Self::Ascii => c.is_ascii(),
            Self::Other(encoding, _) => !encoding.encode(c.encode_utf8(&mut [0; 4])).2,
        }
    }

    /// Encodes `text` and appends the bytes.
    #[inline]
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Utf8 => out.extend_from_slice(text.as_bytes()),
            Self::Latin1 => out.extend(text.chars().map(|c| u8::try_from(c).unwrap_or(b'?'))),
            Self::Ascii => {
                out.extend(text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' }));
            }
            Self::Utf16 => {
                if !text.is_empty() {
                    out.extend_from_slice(&[0xfe, 0xff]);
                }
                out.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
            }
            Self::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Self::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Self::Other(encoding, _) => encode_other(encoding, text, out),
        }
    }
}

fn encode_other(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    if encoding == encoding_rs::GBK && text.contains('€') {
        // The web's encoder writes one byte for the euro sign, Java the two bytes of the standard.
        for (nth, piece) in text.split('€').enumerate() {
            if nth > 0 {
                out.extend_from_slice(&[0xa2, 0xe3]);
            }
            encode_other(encoding, piece, out);
        }
        return;
    }
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    loop {
        let room = encoder
            .max_buffer_length_from_utf8_without_replacement(rest.len())
            .unwrap_or(4 * rest.len() + 16);
        let from = out.len();
        out.resize(from + room, 0);
        let (result, read, written) =
            encoder.encode_from_utf8_without_replacement(rest, &mut out[from..], true);
        out.truncate(from + written);
        rest = &rest[read..];
        match result {
            encoding_rs::EncoderResult::InputEmpty => return,
            encoding_rs::EncoderResult::OutputFull => {}
            encoding_rs::EncoderResult::Unmappable(_) => out.push(b'?'),
        }
    }
}
