//! Character references and line ends in text and attribute values.
//!
//! XStream writes and reads references to characters that XML forbids, such as `&#x1;`; so does this module. Only the
//! five predefined entities are expanded; others stay as they are.

/// The result of decoding a character reference, given the text between `&` and `;`.
pub(crate) enum Reference {
    Char(char),
    /// A character reference whose number is not a character, such as a surrogate.
    Invalid,
    /// An entity name that is not one of the predefined entities.
    Unknown,
}

pub(crate) fn resolve(name: &str) -> Reference {
    let Some(number) = name.strip_prefix('#') else {
        return match name {
            "lt" => Reference::Char('<'),
            "gt" => Reference::Char('>'),
            "amp" => Reference::Char('&'),
            "apos" => Reference::Char('\''),
            "quot" => Reference::Char('"'),
            _ => Reference::Unknown,
        };
    };
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Reference::Invalid;
    }
    match u32::from_str_radix(digits, radix).ok().and_then(char::from_u32) {
        Some(char) => Reference::Char(char),
        None => Reference::Invalid,
    }
}

/// Appends text with `\r\n` and `\r` converted to `\n`, as every XML parser does.
pub(crate) fn push_lines(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        out.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    out.push_str(rest);
}

/// Decodes the text between a start tag and its end tag: references are resolved, CDATA sections are joined, and each
/// line end becomes `\n`. Returns `None` if the text contains a comment, another tag, or an invalid reference.
pub fn tag_text(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr2(b'&', b'<', rest.as_bytes()) {
        push_lines(&mut out, &rest[..at]);
        rest = &rest[at..];
        if let Some(section) = rest.strip_prefix("<![CDATA[") {
            let end = section.find("]]>")?;
            push_lines(&mut out, &section[..end]);
            rest = &section[end + 3..];
            continue;
        }
        let name = rest.strip_prefix('&')?;
        let end = name.find(';').filter(|end| *end <= 32)?;
        match resolve(&name[..end]) {
            Reference::Char(char) => out.push(char),
            Reference::Invalid | Reference::Unknown => return None,
        }
        rest = &name[end + 1..];
    }
    push_lines(&mut out, rest);
    Some(out)
}

/// Decodes an attribute value: references are resolved, and literal white space becomes spaces. Returns the value, and
/// true if a reference is invalid.
pub fn attribute_value(raw: &str) -> (String, bool) {
    let mut out = String::with_capacity(raw.len());
    let mut bad = false;
    let mut rest = raw;
    while let Some(at) = memchr::memchr3(b'&', b'\n', b'\r', rest.as_bytes()) {
        push_spaces(&mut out, &rest[..at]);
        let tail = &rest[at..];
        if let Some(after) = tail.strip_prefix('&') {
            let end = after.find(';').filter(|end| *end <= 32);
            rest = match end {
                Some(end) => {
                    match resolve(&after[..end]) {
                        Reference::Char(char) => out.push(char),
                        Reference::Invalid => {
                            out.push('\u{FFFD}');
                            bad = true;
                        }
                        Reference::Unknown => {
                            out.push_str(&tail[..end + 2]);
                            bad = true;
                        }
                    }
                    &after[end + 1..]
                }
                None => {
                    out.push('&');
                    bad = true;
                    after
                }
            };
        } else {
            out.push(' ');
            rest = tail.strip_prefix("\r\n").unwrap_or(&tail[1..]);
        }
    }
    push_spaces(&mut out, rest);
    (out, bad)
}

fn push_spaces(out: &mut String, text: &str) {
    if text.contains('\t') { out.push_str(&text.replace('\t', " ")) } else { out.push_str(text) }
}

/// Decodes `application/x-www-form-urlencoded`, the encoding of names and values in plan files of format 1.0.
pub(crate) fn url_decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes.get(at + 1..at + 3).filter(|pair| pair.iter().all(u8::is_ascii_hexdigit));
        let pair = pair.and_then(|pair| std::str::from_utf8(pair).ok());
        match (bytes[at], pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (b'+', _) => {
                out.push(b' ');
                at += 1;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_read_and_numbers_that_are_no_character_are_not() {
        assert!(matches!(resolve("#x1"), Reference::Char('\u{1}')));
        assert!(matches!(resolve("#0"), Reference::Char('\0')));
        assert!(matches!(resolve("#xD800"), Reference::Invalid));
        assert!(matches!(resolve("#x110000"), Reference::Invalid));
        assert!(matches!(resolve("#-1"), Reference::Invalid));
        assert!(matches!(resolve("#+1"), Reference::Invalid));
        assert!(matches!(resolve("lol"), Reference::Unknown));
    }

    #[test]
    fn literal_white_space_in_attributes_becomes_spaces_and_references_do_not() {
        assert_eq!(
            attribute_value("a\r\nb\tc\nd&#xa;e&amp;&lt;"),
            ("a b c d\ne&<".to_string(), false)
        );
        assert_eq!(attribute_value("a&b"), ("a&b".to_string(), true));
        assert_eq!(attribute_value("a&x;b"), ("a&x;b".to_string(), true));
    }

    #[test]
    fn texts_of_tags_join_sections_and_refuse_comments() {
        let text = tag_text("a\r\n<![CDATA[<b>&amp;]]>&lt;&#xd;").expect("a text");
        assert_eq!(text, "a\n<b>&amp;<\r");
        for raw in ["a<!-- -->", "a & b", "&nbsp;", "&#xd800;", "<b/>", "<![CDATA[", "&"] {
            assert_eq!(tag_text(raw), None, "{raw}");
        }
    }

    #[test]
    fn line_ends_are_one_newline() {
        let mut out = String::new();
        push_lines(&mut out, "a\r\nb\rc\n\r\n");
        assert_eq!(out, "a\nb\nc\n\n");
    }

    #[test]
    fn format_1_0_is_url_decoded_and_broken_escapes_stay() {
        assert_eq!(url_decode("a%2Fb+c%E4%BD%A0%zz%+2%"), "a/b c你%zz% 2%");
    }
}
