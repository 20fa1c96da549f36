//! Decodes text as Java does: names of the JVM are known, Latin-1 is Latin-1, a byte order mark stays in the text, and what
//! cannot be decoded becomes U+FFFD.

use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::Charset;

#[cfg(test)]
mod tests;

/// Whether [`decode_into`] knows the charset.
pub fn is_known(charset: &str) -> bool {
    find(charset).is_some()
}

/// Appends `bytes` as text. Unknown or absent charsets read as UTF-8.
pub fn decode_into(charset: Option<&str>, bytes: &[u8], out: &mut String) {
    // Nearly all text is sound UTF-8, and its charset need not be looked up.
    if charset.is_none_or(|name| name.eq_ignore_ascii_case("utf-8"))
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return out.push_str(text);
    }
    let kind = charset.map_or(Some(Kind::Other(UTF_8)), find).unwrap_or(Kind::Other(UTF_8));
    kind.decode(bytes, out);
}

/// Appends `bytes`, which are text of a set, as Java reads them.
pub(super) fn decode_as(charset: Charset, bytes: &[u8], out: &mut String) {
    Kind::of(charset).decode(bytes, out);
}

enum Kind {
    Ascii,
    Latin1,
    /// A byte order mark decides; without one, big-endian.
    Utf16,
    Iso(&'static Encoding),
    Other(&'static Encoding),
}

impl Kind {
    fn of(charset: Charset) -> Self {
        match charset {
            Charset::Utf8 => Self::Other(UTF_8),
            Charset::Latin1 => Self::Latin1,
            Charset::Ascii => Self::Ascii,
            Charset::Utf16 => Self::Utf16,
            Charset::Utf16Be => Self::Other(UTF_16BE),
            Charset::Utf16Le => Self::Other(UTF_16LE),
            Charset::Other(encoding, "ISO-8859-9" | "ISO-8859-11" | "TIS-620") => {
                Self::Iso(encoding)
            }
            Charset::Other(encoding, _) => Self::Other(encoding),
        }
    }

    fn decode(self, bytes: &[u8], out: &mut String) {
        match self {
            Self::Ascii => each(bytes, out, |b| if b < 0x80 { char::from(b) } else { '\u{fffd}' }),
            Self::Latin1 => each(bytes, out, char::from),
            Self::Utf16 => match bytes {
                [0xff, 0xfe, rest @ ..] => decode(UTF_16LE, rest, out),
                [0xfe, 0xff, rest @ ..] => decode(UTF_16BE, rest, out),
                _ => decode(UTF_16BE, bytes, out),
            },
            // ISO charsets have control characters where the Windows ones that contain them have letters.
            Self::Iso(encoding) => {
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
            Self::Other(encoding) => decode(encoding, bytes, out),
        }
    }
}

/// Names of Java's that `encoding_rs` does not know.
const JAVA_NAMES: &[(&str, &Encoding)] = &[
    ("utf8", UTF_8),
    ("utf-16be", UTF_16BE),
    ("utf_16be", UTF_16BE),
    ("utf-16le", UTF_16LE),
    ("utf_16le", UTF_16LE),
    ("unicodebigunmarked", UTF_16BE),
    ("unicodelittleunmarked", UTF_16LE),
    ("x-utf-16le-bom", UTF_16LE),
    ("cp936", encoding_rs::GBK),
    ("ms936", encoding_rs::GBK),
    ("x-mswin-936", encoding_rs::GBK),
    ("euc_cn", encoding_rs::GBK),
    ("euc-cn", encoding_rs::GBK),
    ("ms950", encoding_rs::BIG5),
    ("cp950", encoding_rs::BIG5),
    ("ms932", encoding_rs::SHIFT_JIS),
    ("windows-932", encoding_rs::SHIFT_JIS),
    ("sjis", encoding_rs::SHIFT_JIS),
    ("euc_jp", encoding_rs::EUC_JP),
    ("eucjp", encoding_rs::EUC_JP),
    ("euc_kr", encoding_rs::EUC_KR),
    ("ms949", encoding_rs::EUC_KR),
    ("x-windows-949", encoding_rs::EUC_KR),
    ("koi8_r", encoding_rs::KOI8_R),
    ("koi8_u", encoding_rs::KOI8_U),
];

fn find(name: &str) -> Option<Kind> {
    let name = name.trim_ascii();
    let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
    // Names for which browsers, and so encoding_rs, read something else than Java, or that only Java knows.
    if is(&[
        "iso-8859-1",
        "iso8859-1",
        "iso8859_1",
        "iso_8859-1",
        "iso_8859_1",
        "8859_1",
        "latin1",
        "l1",
        "cp819",
        "ibm819",
    ]) {
        return Some(Kind::Latin1);
    }
    if is(&["us-ascii", "ascii", "ascii7", "iso646-us", "ansi_x3.4-1968", "646", "cp367", "us"]) {
        return Some(Kind::Ascii);
    }
    if is(&["utf-16", "utf16", "utf_16", "unicode", "unicodebig"]) {
        return Some(Kind::Utf16);
    }
    if is(&["iso-8859-9", "iso8859-9", "iso8859_9", "latin5", "l5"]) {
        return Some(Kind::Iso(encoding_rs::WINDOWS_1254));
    }
    if is(&["tis-620", "tis620", "iso-8859-11", "iso8859_11", "x-iso-8859-11"]) {
        return Some(Kind::Iso(encoding_rs::WINDOWS_874));
    }
    if let Some((_, encoding)) =
        JAVA_NAMES.iter().find(|(other, _)| name.eq_ignore_ascii_case(other))
    {
        return Some(Kind::Other(encoding));
    }
    if let Some(encoding) = Encoding::for_label_no_replacement(name.as_bytes()) {
        return Some(Kind::Other(encoding));
    }
    numbered(name)
}

/// `Cp1252` is windows-1252, `ISO8859_2` is iso-8859-2.
fn numbered(name: &str) -> Option<Kind> {
    let mut label = [0; 16];
    let (prefix, number) =
        if let Some(number) = name.get(2..).filter(|_| name[..2].eq_ignore_ascii_case("cp")) {
            ("windows-", number)
        } else {
            let number = name.get(8..).filter(|_| name[..8].eq_ignore_ascii_case("iso8859_"))?;
            ("iso-8859-", number)
        };
    let len = prefix.len() + number.len();
    label.get_mut(..prefix.len())?.copy_from_slice(prefix.as_bytes());
    label.get_mut(prefix.len()..len)?.copy_from_slice(number.as_bytes());
    Encoding::for_label_no_replacement(&label[..len]).map(Kind::Other)
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
