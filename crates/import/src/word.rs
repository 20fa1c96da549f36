//! Texts of a source that may contain references to shell variables, and their form in a plan.
//!
//! A reference is kept inside a text between two noncharacters of Unicode, so that the text can be divided and joined
//! like any other. [`expression`] turns it into `${NAME}`, and protects everything that JMeter would take for an
//! expression or an escape. Noncharacters in the input become U+FFFD ([`plain`]).

/// Start of a reference inside a text.
const OPEN: char = '\u{FDD0}';
/// End of a reference inside a text.
const CLOSE: char = '\u{FDD1}';

/// JMeter's expression for a dollar sign that begins no expression.
const DOLLAR: &str = "${__char(36)}";

/// Appends a reference to a variable.
pub(crate) fn push_reference(out: &mut String, name: &str) {
    out.push(OPEN);
    out.push_str(name);
    out.push(CLOSE);
}

/// True if the text contains a reference to a variable.
pub(crate) fn has_reference(text: &str) -> bool {
    text.contains(OPEN)
}

/// Replaces the two noncharacters that mark references.
pub(crate) fn plain(text: &str) -> String {
    text.replace([OPEN, CLOSE], "\u{FFFD}")
}

/// A part of a text.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    /// Literal text.
    Text(&'a str),
    /// Name of a variable.
    Reference(&'a str),
}

/// Splits a text into literal text and references.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        if !before.is_empty() {
            found.push(Piece::Text(before));
        }
        let (name, behind) = after.split_once(CLOSE).unwrap_or((after, ""));
        found.push(Piece::Reference(name));
        rest = behind;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    found
}

/// Applies a function to the literal text, and leaves references unchanged.
pub(crate) fn map(text: &str, change: impl Fn(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => change(text, &mut out),
            Piece::Reference(name) => push_reference(&mut out, name),
        }
    }
    out
}

/// Returns the text as a person reads it: references are `$NAME`.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Reference(name) => {
                out.push('$');
                out.push_str(name);
            }
        }
    }
    out
}

/// Returns the text as a string of a plan. JMeter sends the literal text unchanged, and replaces references.
///
/// In a string with an expression, JMeter removes a backslash before `$`, `,` and `\`, so backslashes are doubled in such
/// strings. In other strings JMeter keeps them.
pub(crate) fn expression(text: &str) -> String {
    if !has_reference(text) && !text.contains("${") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => {
                let text = text.replace('\\', "\\\\");
                out.push_str(&text.replace("${", &format!("{DOLLAR}{{")));
            }
            Piece::Reference(name) => {
                out.push_str("${");
                out.push_str(name);
                out.push('}');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(before: &str, name: &str, after: &str) -> String {
        let mut text = before.to_owned();
        push_reference(&mut text, name);
        text + after
    }

    #[test]
    fn text_without_expressions_is_unchanged() {
        for text in ["", r"a\b\\c,\,", "$5 {x}", "$", "{$}", "100%"] {
            assert_eq!(expression(text), text);
        }
    }

    #[test]
    fn text_that_looks_like_an_expression_is_protected() {
        assert_eq!(expression("a${b}"), "a${__char(36)}{b}");
        assert_eq!(expression(r#"{"a":"\n${__time()}"}"#), r#"{"a":"\\n${__char(36)}{__time()}"}"#);
        assert_eq!(expression("${"), "${__char(36)}{");
    }

    #[test]
    fn references_become_variables_and_backslashes_are_doubled() {
        assert_eq!(expression(&with("Bearer ", "TOKEN", "")), "Bearer ${TOKEN}");
        assert_eq!(expression(&with(r"a\", "B", r"\,c")), r"a\\${B}\\,c");
        assert_eq!(shown(&with("a", "B", "c")), "a$Bc");
        assert_eq!(expression(&plain("a\u{FDD0}b")), "a\u{FFFD}b");
    }

    #[test]
    fn an_open_reference_ends_with_the_text() {
        assert_eq!(pieces("a\u{FDD0}b"), [Piece::Text("a"), Piece::Reference("b")]);
        assert!(
            map("a\u{FDD0}b\u{FDD1}c", |text, out| out.push_str(&text.to_uppercase()))
                == "A\u{FDD0}b\u{FDD1}C"
        );
    }
}
