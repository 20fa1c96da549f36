//! Escaping of text from outside in Markdown, so that it never becomes markup, a link, a mention or a second line.
//!
//! Names (labels, messages, values) become code spans, which services do not interpret. Sentences of this program may
//! contain names, too. Their special characters are escaped, and a zero-width space follows each character that starts
//! a link or a mention.

use crate::html::hidden;

/// Zero-width space that splits a string that a service would take for a mention, a reference or an address.
const SPLIT: char = '\u{200b}';

/// Returns a name as a code span of at most `most` characters.
pub(super) fn code(text: &str, most: usize) -> String {
    let text = line(text, most);
    if text.is_empty() {
        return "–".to_owned();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Markdown removes one space at both ends of a code span. A backtick at an end would belong to the fence.
    let apart = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let blank = if apart { " " } else { "" };
    // In a table, a bar ends the cell even within a code span. Markdown removes the backslash before it.
    format!("{fence}{blank}{}{blank}{fence}", text.replace('|', "\\|"))
}

/// Escapes a sentence and cuts it to `most` characters.
pub(super) fn sentence(text: &str, most: usize) -> String {
    let text = line(text, most);
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut digits_alone = true;
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '|' | '~' | '#' | '!' | '$' | '^' => {
                out.push('\\');
                out.push(c);
            }
            // Markers of lists and headings, which are special only at the beginning.
            '-' | '+' | '=' | ':' if out.is_empty() => {
                out.push('\\');
                out.push(c);
            }
            '.' | ')'
                if digits_alone && !out.is_empty() && chars.peek().is_none_or(|c| *c == ' ') =>
            {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        digits_alone &= c.is_ascii_digit();
        let next = chars.peek().copied().unwrap_or(' ');
        let begins = match c {
            '@' | '#' | '!' | '~' | '$' | '&' | '%' => next.is_alphanumeric() || next == '_',
            // Colons of addresses and of emoji names.
            ':' => next == '/' || next.is_ascii_alphabetic() || next == '_' || next == '+',
            'w' | 'W' => next == '.',
            _ => false,
        };
        if begins {
            out.push(SPLIT);
        }
    }
    out
}

/// Converts text to one line of visible characters, and marks a cut with an ellipsis.
fn line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            blank = !out.is_empty();
            continue;
        }
        if count >= most {
            out.push('…');
            return out;
        }
        if blank {
            out.push(' ');
            count += 1;
        }
        blank = false;
        count += 1;
        out.push(if hidden(c) || c == SPLIT { '\u{fffd}' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_code_whatever_stands_in_them() {
        for (text, shown) in [
            ("Login", "`Login`"),
            ("a|b", "`a\\|b`"),
            ("`", "`` ` ``"),
            ("a``b", "```a``b```"),
            ("two\r\nlines\tof it ", "`two lines of it`"),
            ("", "–"),
            ("\u{202e}x", "`\u{fffd}x`"),
        ] {
            assert_eq!(code(text, 80), shown);
        }
        assert_eq!(code("abcdef", 3), "`abc…`");
    }

    #[test]
    fn sentences_keep_their_words() {
        for (text, shown) in [
            ("p99 is 2 s (1.9 – 2.1), 5 % failed.", "p99 is 2 s (1.9 – 2.1), 5 % failed."),
            ("1. no list", "1\\. no list"),
            ("- no list", "\\- no list"),
            ("@all see #1", "@\u{200b}all see \\#\u{200b}1"),
            ("http://a.example", "http:\u{200b}//a.example"),
            ("www.a.example", "www\u{200b}.a.example"),
            ("<b> & *c*", "&lt;b&gt; &amp; \\*c\\*"),
        ] {
            assert_eq!(sentence(text, 200), shown);
        }
    }
}
