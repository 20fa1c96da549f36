//! Java's `String.replaceAll`: its regular expressions and its references to groups in the replacement.
//!
//! A Java pattern is translated to a pattern of `fancy_regex` if the two differ: character classes are ASCII, `.`
//! and `$` recognize five line ends, `\Q…\E` quotes, and POSIX classes are written `\p{…}`. A pattern that cannot
//! be translated is refused with Java's exception.

use std::fmt::Write as _;

use fancy_regex::{Captures, Regex, RegexBuilder};

use crate::work;

/// Maximum number of backtracking steps of one search.
const MAX_BACKTRACKS: usize = 1_000_000;

/// Names of Java's POSIX character classes, with the characters of each in the syntax of `fancy_regex`.
const POSIX: &[(&str, &str)] = &[
    ("ASCII", r"\x00-\x7F"),
    ("Alnum", "a-zA-Z0-9"),
    ("Alpha", "a-zA-Z"),
    ("Blank", r" \t"),
    ("Cntrl", r"\x00-\x1F\x7F"),
    ("Digit", "0-9"),
    ("Graph", "!-~"),
    ("Lower", "a-z"),
    ("Print", " -~"),
    ("Punct", r"!-/:-@\[-`\{-~"),
    ("Space", r" \t\n\x0B\f\r"),
    ("Upper", "A-Z"),
    ("XDigit", "0-9a-fA-F"),
];

/// A Java exception: its class and its message.
pub type Exception = (&'static str, String);

/// Replaces all matches of a pattern in a string. The error is the exception that Java throws.
pub fn replace_all(text: &str, pattern: &str, new: &str) -> Result<String, Exception> {
    let refused = |message: String| ("java.util.regex.PatternSyntaxException", message);
    let source =
        translated(pattern).ok_or_else(|| refused(format!("not supported near {pattern}")))?;
    let regex = RegexBuilder::new(&source)
        .backtrack_limit(MAX_BACKTRACKS)
        .build()
        .map_err(|error| refused(format!("{error} near {pattern}")))?;
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut from) = (0, 0);
    while from <= text.len() {
        let found = regex.captures_from_pos(text, from);
        let found = found.map_err(|_| ("java.lang.StackOverflowError", "null".to_owned()))?;
        let Some((groups, whole)) = found.and_then(|groups| groups.get(0).map(|at| (groups, at)))
        else {
            break;
        };
        out.push_str(&text[copied..whole.start()]);
        push_replacement(new, &groups, &regex, &mut out)?;
        copied = whole.end();
        // After an empty match the search continues one character later.
        let next = text[copied..].chars().next().map_or(1, char::len_utf8);
        from = if whole.start() == whole.end() { copied + next } else { copied };
        if !work::spend_bytes(whole.end() - whole.start() + new.len() + 1) {
            return Err(("java.lang.OutOfMemoryError", "Java heap space".to_owned()));
        }
    }
    out.push_str(&text[copied..]);
    Ok(out)
}

/// Appends the replacement of a match, with references replaced by the groups' text.
fn push_replacement(
    new: &str,
    groups: &Captures<'_, str>,
    regex: &Regex,
    out: &mut String,
) -> Result<(), Exception> {
    let illegal = |message: &str| ("java.lang.IllegalArgumentException", message.to_owned());
    let mut chars = new.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped) => out.push(escaped),
                None => return Err(illegal("character to be escaped is missing")),
            },
            '$' => match chars.next() {
                None => return Err(illegal("Illegal group reference: group index is missing")),
                Some('{') => {
                    let name: String =
                        chars.by_ref().take_while(char::is_ascii_alphanumeric).collect();
                    if regex.capture_names().flatten().all(|known| known != name) {
                        return Err(illegal(&format!("No group with name {{{name}}}")));
                    }
                    out.push_str(groups.name(&name).map_or("", |group| group.as_str()));
                }
                Some(digit) => {
                    let Some(mut number) = digit.to_digit(10).map(|digit| digit as usize) else {
                        return Err(illegal("Illegal group reference"));
                    };
                    if number >= groups.len() {
                        let message = format!("No group {number}");
                        return Err(("java.lang.IndexOutOfBoundsException", message));
                    }
                    // Further digits belong to the group number as long as a group with the longer number exists.
                    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                        let longer = number * 10 + digit as usize;
                        if longer >= groups.len() {
                            break;
                        }
                        number = longer;
                        chars.next();
                    }
                    out.push_str(groups.get(number).map_or("", |group| group.as_str()));
                }
            },
            c => out.push(c),
        }
    }
    Ok(())
}

/// Translates a pattern of Java to a pattern of `fancy_regex`.
fn translated(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    // Nesting depth of brackets; and whether the pattern contains flags, which change the meaning of `.` and `$`.
    let mut classes = 0_u32;
    let has_flags = pattern.match_indices("(?").any(|(at, _)| {
        pattern[at + 2..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '-')
    });
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = push_escape(rest, classes > 0, &mut out)?,
            '[' => {
                classes += 1;
                out.push('[');
            }
            ']' if classes > 0 => {
                classes -= 1;
                out.push(']');
            }
            '.' if classes == 0 && !has_flags => out.push_str(r"[^\n\r\u{85}\u{2028}\u{2029}]"),
            '$' if classes == 0 && !has_flags => {
                // There is no line end between CR and LF.
                out.push_str(r"(?:(?=(?:\r\n|[\r\u{85}\u{2028}\u{2029}])?\z)|(?<!\r)(?=\n\z))");
            }
            // These double characters are operators in classes of `fancy_regex`, but not of Java.
            '~' | '-' if classes > 0 && rest.starts_with(c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// Translates the escape that begins at `text`, after the backslash. Returns the text after the escape.
fn push_escape<'t>(text: &'t str, in_class: bool, out: &mut String) -> Option<&'t str> {
    let c = text.chars().next()?;
    let rest = &text[c.len_utf8()..];
    let mut class = |negated: bool, holds: &str| {
        let sign = if negated { "^" } else { "" };
        let _ = if in_class && !negated {
            write!(out, "{holds}")
        } else {
            write!(out, "[{sign}{holds}]")
        };
    };
    match c {
        'd' | 'D' => class(c == 'D', "0-9"),
        'w' | 'W' => class(c == 'W', "a-zA-Z_0-9"),
        's' | 'S' => class(c == 'S', r" \t\n\x0B\f\r"),
        'h' | 'H' => {
            class(c == 'H', r" \t\u{A0}\u{1680}\u{180E}\u{2000}-\u{200A}\u{202F}\u{205F}\u{3000}");
        }
        'v' | 'V' => class(c == 'V', r"\n\x0B\f\r\u{85}\u{2028}\u{2029}"),
        'p' | 'P' => {
            let name = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            if let Some((holds, behind)) = name.and_then(|(name, behind)| {
                Some((POSIX.iter().find(|(known, _)| *known == name)?.1, behind))
            }) {
                class(c == 'P', holds);
                return Some(behind);
            }
            if name.is_some_and(|(name, _)| name.starts_with("java")) {
                return None;
            }
            out.push('\\');
            out.push(c);
        }
        'Q' => {
            let (quoted, behind) = rest.split_once(r"\E").unwrap_or((rest, ""));
            out.push_str(&fancy_regex::escape(quoted));
            return Some(behind);
        }
        'u' => {
            let code = u32::from_str_radix(rest.get(..4)?, 16).ok()?;
            let _ = write!(out, r"\x{{{code:X}}}");
            return Some(&rest[4..]);
        }
        'e' => out.push_str(r"\x1B"),
        'R' if !in_class => out.push_str(r"(?:\r\n|[\n\x0B\f\r\u{85}\u{2028}\u{2029}])"),
        '0' | 'c' | 'G' | 'N' | 'X' => return None,
        c if c.is_alphanumeric() => {
            out.push('\\');
            out.push(c);
        }
        // After a backslash, any punctuation character stands for itself.
        c => out.push_str(&fancy_regex::escape(c.encode_utf8(&mut [0; 4]))),
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases recorded with `String.replaceAll` of Java 17: text, pattern, replacement, and result or exception.
    const TABLE: &str = include_str!("java_regexp/table.tsv");

    fn plain(text: &str) -> String {
        let text = text.replace("<CR>", "\r").replace("<LF>", "\n").replace("<TAB>", "\t");
        text.replace("<E>", "")
    }

    #[test]
    fn texts_are_those_that_java_makes() {
        let mut count = 0;
        for line in TABLE.lines().filter(|line| !line.is_empty()) {
            let cells: Vec<String> = line.split('\t').map(plain).collect();
            let [text, pattern, new, expected] = &cells[..] else { panic!("{line}") };
            let got = match replace_all(text, pattern, new) {
                Ok(text) => text,
                Err((class, _)) => format!("!{class}"),
            };
            assert_eq!(got, *expected, "{line}");
            count += 1;
        }
        assert!(count > 50, "{count}");
    }
}
