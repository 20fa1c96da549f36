//! Reads and writes the text format of `java.util.Properties`.
//!
//! Bytes are ISO-8859-1; `\uXXXX` stands for any other character. Reading takes one pass. The rules are those in the
//! documentation of Java's `load(InputStream)`.

/// Reads key and value pairs in the order of the text. The error names the line of a malformed `\uXXXX`.
pub fn read(bytes: &[u8]) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        let (mut line, after) = natural_line(rest);
        rest = after;
        number += 1;
        let first = number;
        line = trim_start(line);
        if line.is_empty() || line[0] == b'#' || line[0] == b'!' {
            continue;
        }
        let mut logical = Vec::new();
        while continues(line) {
            logical.extend_from_slice(&line[..line.len() - 1]);
            if rest.is_empty() {
                line = &[];
                break;
            }
            let (next, after) = natural_line(rest);
            rest = after;
            number += 1;
            line = trim_start(next);
        }
        logical.extend_from_slice(line);
        pairs.push(split(&logical).ok_or_else(|| format!("line {first}: malformed \\uXXXX"))?);
    }
    Ok(pairs)
}

/// Splits the text after its first line; the line is returned without its end.
fn natural_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        None => (bytes, &[]),
        Some(at) => {
            let end = if bytes[at..].starts_with(b"\r\n") { at + 2 } else { at + 1 };
            (&bytes[..at], &bytes[end..])
        }
    }
}

fn trim_start(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !is_space(*byte)).unwrap_or(line.len());
    &line[start..]
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0C)
}

/// Returns true if the next line continues this line, because this line ends in an odd number of backslashes.
fn continues(line: &[u8]) -> bool {
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn split(line: &[u8]) -> Option<(String, String)> {
    let mut at = 0;
    while at < line.len() && !is_space(line[at]) && line[at] != b'=' && line[at] != b':' {
        at += if line[at] == b'\\' { 2 } else { 1 };
    }
    let at = at.min(line.len());
    let mut value = trim_start(&line[at..]);
    if let Some(b'=' | b':') = value.first() {
        value = trim_start(&value[1..]);
    }
    Some((unescape(&line[..at])?, unescape(value)?))
}

fn unescape(text: &[u8]) -> Option<String> {
    let mut units = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte != b'\\' {
            units.push(u16::from(byte));
            continue;
        }
        let Some(escaped) = text.get(at) else { break };
        at += 1;
        units.push(match escaped {
            b't' => 9,
            b'n' => 10,
            b'f' => 12,
            b'r' => 13,
            b'u' => {
                let digits = text.get(at..at + 4)?;
                at += 4;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            other => u16::from(*other),
        });
    }
    Some(String::from_utf16_lossy(&units))
}

/// Formats a `key=value` line that [`read`] parses to the same key and value.
pub fn line(key: &str, value: &str) -> String {
    let mut out = String::new();
    escape(&mut out, key, true);
    out.push('=');
    escape(&mut out, value, false);
    out.push('\n');
    out
}

fn escape(out: &mut String, text: &str, key: bool) {
    for (at, char) in text.chars().enumerate() {
        match char {
            ' ' if key || at == 0 => out.push_str("\\ "),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\x0C' => out.push_str("\\f"),
            '\\' | '=' | ':' | '#' | '!' => {
                out.push('\\');
                out.push(char);
            }
            ' '..='~' => out.push(char),
            _ => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let latin: Vec<u8> = text.chars().map(|char| char as u8).collect();
        read(&latin).unwrap()
    }

    fn pair(text: &str) -> (String, String) {
        let [pair] =
            <[_; 1]>::try_from(pairs(text)).unwrap_or_else(|pairs| panic!("{text:?}: {pairs:?}"));
        pair
    }

    #[test]
    fn separators_are_equals_colon_or_space() {
        for text in ["k=v", "k:v", "k v", "  k \t=  v", "k : v", "k\x0Cv"] {
            assert_eq!(pair(text), ("k".into(), "v".into()), "{text:?}");
        }
        assert_eq!(pair("k"), ("k".into(), String::new()));
        assert_eq!(pair("=v"), (String::new(), "v".into()));
        assert_eq!(pair("k==v"), ("k".into(), "=v".into()));
        assert_eq!(pair("k = v \t"), ("k".into(), "v \t".into()), "white space at the end stays");
        assert_eq!(pair("a\\=b\\ c\\:d=e"), ("a=b c:d".into(), "e".into()));
    }

    #[test]
    fn comments_and_blank_lines_are_left_out() {
        assert_eq!(
            pairs("# a=b\n  ! c=d\\\n\n \t\r\nk=v # no comment\r"),
            [("k".into(), "v # no comment".into())]
        );
    }

    #[test]
    fn lines_continue_behind_an_odd_number_of_backslashes() {
        assert_eq!(pair("k=a,\\\n   b,\\\r\n\tc"), ("k".into(), "a,b,c".into()));
        assert_eq!(pair("k=a\\\n# no comment"), ("k".into(), "a# no comment".into()));
        assert_eq!(pairs("k=a\\\\\nl=b").len(), 2);
        assert_eq!(pair("k=a\\"), ("k".into(), "a".into()));
    }

    #[test]
    fn escapes_and_bytes_are_characters() {
        assert_eq!(
            pair("k=\\t\\n\\r\\f\\q\\u4F60\\uD83D\\uDE00\u{E9}"),
            ("k".into(), "\t\n\r\u{C}q你😀é".into())
        );
        assert_eq!(read(b"a=b\nk=\\u12"), Err("line 2: malformed \\uXXXX".into()));
        assert_eq!(read(b"k=\\u12+4"), Err("line 1: malformed \\uXXXX".into()));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(key in any::<String>(), value in any::<String>()) {
            let text = line(&key, &value);
            prop_assert_eq!(read(text.as_bytes()).unwrap(), [(key, value)]);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
