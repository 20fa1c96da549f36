//! Templates for matches: text with placeholders `$1$` for groups, as in the Regular Expression Extractor and in
//! `__regexFunction`.

use crate::env::Env;
use crate::template::Template;

/// A match template; it is split before the run unless it contains expressions.
#[derive(Debug)]
pub(crate) enum GroupTemplate {
    Fixed(Vec<Piece>),
    Made(Template),
}

/// Piece of a match template.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// Literal text.
    Text(String),
    /// The content of the group with this number.
    Group(usize),
}

impl GroupTemplate {
    pub(crate) fn new(text: Template) -> Self {
        match text.fixed() {
            Some(fixed) => Self::Fixed(pieces(fixed)),
            None => Self::Made(text),
        }
    }

    /// Appends the template, with its placeholders replaced by the groups of a match.
    pub(crate) fn eval<'m>(
        &self,
        group: impl Fn(usize) -> Option<&'m str>,
        env: &mut Env<'_>,
        out: &mut String,
    ) {
        match self {
            Self::Fixed(pieces) => write(pieces, group, out),
            Self::Made(text) => {
                let mut source = env.core.take();
                text.eval(env, &mut source);
                write(&pieces(&source), group, out);
                env.core.give(source);
            }
        }
    }
}

/// Appends the pieces of a template. A group that did not match, or does not exist, becomes the word `null`.
pub(crate) fn write<'m>(
    pieces: &[Piece],
    group: impl Fn(usize) -> Option<&'m str>,
    out: &mut String,
) {
    for piece in pieces {
        out.push_str(match piece {
            Piece::Text(text) => text,
            Piece::Group(number) => group(*number).unwrap_or("null"),
        });
    }
}

/// Splits a template at every `$digits$`.
pub(crate) fn pieces(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut rest, mut from) = (template, 0);
    while let Some(at) = rest[from..].find('$').map(|at| from + at) {
        let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + 1 + digits;
        match rest[at + 1..end].parse() {
            Ok(group) if rest[end..].starts_with('$') => {
                if at > 0 {
                    pieces.push(Piece::Text(rest[..at].into()));
                }
                pieces.push(Piece::Group(group));
                (rest, from) = (&rest[end + 1..], 0);
            }
            _ => from = at + 1,
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.into()));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_split_at_group_references() {
        let text = |text: &str| Piece::Text(text.into());
        assert_eq!(pieces(""), []);
        assert_eq!(pieces("$1$"), [Piece::Group(1)]);
        assert_eq!(pieces("a$1$$2$b"), [text("a"), Piece::Group(1), Piece::Group(2), text("b")]);
        assert_eq!(pieces("$$1$$"), [text("$"), Piece::Group(1), text("$")]);
        assert_eq!(pieces("$1$2$"), [Piece::Group(1), text("2$")]);
        assert_eq!(pieces("$x$1"), [text("$x$1")]);
        assert_eq!(pieces("$99999999999999999999$"), [text("$99999999999999999999$")]);
    }
}
