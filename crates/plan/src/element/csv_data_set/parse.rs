//! Parser for lines whose values may be quoted, by JMeter's rules: a quote inside an unquoted value is an error,
//! and so is any character but a delimiter after a closing quote.

/// The error for an invalid line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine;

/// Calls `each` for every value of the line. Characters after the line break are not read.
pub(super) fn quoted(
    line: &str,
    delimiter: char,
    mut each: impl FnMut(&str),
) -> Result<(), BadLine> {
    let mut rest = line;
    if rest.is_empty() {
        return Ok(());
    }
    loop {
        let (end, mark) = match rest.strip_prefix('"') {
            Some(inner) => quoted_value(inner, delimiter, &mut each)?,
            None => {
                let end = rest.find(|c| c == delimiter || is_end(c)).unwrap_or(rest.len());
                if rest[..end].contains('"') {
                    return Err(BadLine);
                }
                each(&rest[..end]);
                (&rest[end..], rest[end..].chars().next())
            }
        };
        match mark {
            Some(mark) if mark == delimiter && !is_end(mark) => rest = &end[mark.len_utf8()..],
            _ => return Ok(()),
        }
        if rest.is_empty() {
            // After a delimiter at the end of the line, one more, empty value follows.
            each("");
            return Ok(());
        }
    }
}

fn is_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// Parses a value after its opening quote; returns the text after the closing quote.
fn quoted_value<'a>(
    inner: &'a str,
    delimiter: char,
    each: &mut impl FnMut(&str),
) -> Result<(&'a str, Option<char>), BadLine> {
    let mut value = std::borrow::Cow::Borrowed("");
    let mut rest = inner;
    loop {
        let quote = rest.find('"').ok_or(BadLine)?;
        if value.is_empty() {
            value = std::borrow::Cow::Borrowed(&rest[..quote]);
        } else {
            value.to_mut().push_str(&rest[..quote]);
        }
        rest = &rest[quote + 1..];
        let next = rest.chars().next();
        match next {
            Some('"') => {
                value.to_mut().push('"');
                rest = &rest[1..];
            }
            Some(c) if c != delimiter && !is_end(c) => return Err(BadLine),
            _ => {
                each(&value);
                return Ok((rest, next));
            }
        }
    }
}

/// Returns the length of the first line of `text`, including its line break. Line breaks inside quotes do not end
/// the line.
pub(super) fn quoted_line(text: &str, delimiter: char) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    // True at the start of a value. Only at this position does a quote open a quoted value.
    let mut fresh = true;
    while at < bytes.len() {
        match bytes[at] {
            b'"' if fresh => {
                at += 1;
                loop {
                    match bytes[at..].iter().position(|b| *b == b'"') {
                        None => return bytes.len(),
                        Some(n) if bytes.get(at + n + 1) == Some(&b'"') => at += n + 2,
                        Some(n) => {
                            at += n + 1;
                            break;
                        }
                    }
                }
                fresh = false;
                // Any other character after the closing quote is an error. The line ends right after that
                // character.
                match text[at..].chars().next() {
                    Some(c) if c != delimiter && !is_end(c) => return at + c.len_utf8(),
                    _ => {}
                }
            }
            b'"' => return at + 1,
            b'\n' => return at + 1,
            b'\r' => return at + 1 + usize::from(bytes.get(at + 1) == Some(&b'\n')),
            _ => {
                let width = text[at..].chars().next().map_or(1, char::len_utf8);
                fresh = text[at..].starts_with(delimiter);
                at += width;
            }
        }
    }
    bytes.len()
}

/// Returns the length of the first line, including its line break. Quotes are not interpreted.
pub(super) fn plain_line(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
        Some(at) if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') => at + 2,
        Some(at) => at + 1,
        None => bytes.len(),
    }
}

/// Returns a line without its line break.
pub(super) fn without_break(line: &str) -> &str {
    line.strip_suffix("\r\n").or_else(|| line.strip_suffix(['\n', '\r'])).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &str, delimiter: char) -> Option<Vec<String>> {
        let mut found = Vec::new();
        quoted(line, delimiter, |value| found.push(value.to_string())).ok()?;
        Some(found)
    }

    #[test]
    fn values_may_be_quoted() {
        let of = |line: &str| values(line, ',').expect("sound");
        assert_eq!(of("a,b"), ["a", "b"]);
        assert_eq!(of(r#""a,1","say ""hi""",c"#), ["a,1", "say \"hi\"", "c"]);
        assert_eq!(of("a,,"), ["a", "", ""]);
        assert_eq!(of("\n"), [""]);
        assert_eq!(of("\"\"\n"), [""]);
        assert_eq!(of("\"a\nb\",c\r\n"), ["a\nb", "c"]);
        assert_eq!(of(""), [""; 0]);
        assert_eq!(values("a\tb", '\t').expect("sound"), ["a", "b"]);
        assert_eq!(of("\"\"\"x\""), ["\"x"]);
        for bad in ["a\"b", "\"a\"b", "\"a"] {
            assert_eq!(values(bad, ','), None, "{bad}");
        }
    }

    #[test]
    fn line_breaks_between_quotes_do_not_end_a_line() {
        assert_eq!(quoted_line("a,\"b\nc\"\nd", ','), 8);
        assert_eq!(quoted_line("a\r\nb", ','), 3);
        assert_eq!(quoted_line("a\rb", ','), 2);
        assert_eq!(plain_line("a,\"b\nc\"\nd"), 5);
        assert_eq!(without_break("a\r\n"), "a");
    }
}
