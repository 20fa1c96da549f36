//! Splits an expression into tokens as Xalan does: `a-b` is a name, `1-2` a difference, and `1.5-2` is invalid.

use super::query::Unusable;

/// Returns the tokens of an XPath expression; a qualified name consists of three tokens.
pub(super) fn pieces(query: &str) -> Result<Vec<&str>, Unusable> {
    let mut pieces = Pieces { query, found: Vec::new(), start: None, separator: None };
    let mut is_number = false;
    let mut letters = query.char_indices();
    while let Some((at, c)) = letters.next() {
        let is_operator = match c {
            '-' => is_number || pieces.start.is_none(),
            '@' | '(' | '[' | ')' | ']' | '|' | '/' | '*' | '+' | '=' | ',' | '\\' | '^' | '!'
            | '$' | '<' | '>' => true,
            _ => false,
        };
        match c {
            '"' | '\'' => {
                pieces.flush(at)?;
                let Some((end, _)) = letters.by_ref().find(|(_, other)| *other == c) else {
                    let kind = if c == '"' { "double" } else { "single" };
                    return Err(Unusable::wrong(format!(
                        "misquoted literal... expected {kind} quote!"
                    )));
                };
                pieces.found.push(&query[at..=end]);
            }
            ' ' | '\t' | '\n' | '\r' => pieces.flush(at)?,
            _ if is_operator => {
                is_number = false;
                pieces.flush(at)?;
                pieces.found.push(&query[at..at + c.len_utf8()]);
            }
            '-' => {}
            ':' if at > 0 && pieces.separator == Some(at - 1) => {
                is_number = false;
                if let Some(start) = pieces.start.take().filter(|start| *start < at - 1) {
                    pieces.found.push(&query[start..at - 1]);
                }
                pieces.separator = None;
                pieces.found.push(&query[at - 1..=at]);
            }
            _ => {
                if c == ':' && at > 0 {
                    pieces.separator = Some(at);
                }
                is_number = (is_number || pieces.start.is_none()) && c.is_numeric();
                pieces.start.get_or_insert(at);
            }
        }
    }
    pieces.flush(query.len())?;
    if pieces.found.is_empty() {
        return Err(Unusable::wrong("Empty expression!"));
    }
    Ok(pieces.found)
}

struct Pieces<'q> {
    query: &'q str,
    found: Vec<&'q str>,
    start: Option<usize>,
    /// Position of the colon in a qualified name.
    separator: Option<usize>,
}

impl Pieces<'_> {
    /// Ends the current token of the expression at this position.
    fn flush(&mut self, at: usize) -> Result<(), Unusable> {
        let Some(start) = self.start.take() else { return Ok(()) };
        let Some(colon) = self.separator.take() else {
            self.found.push(&self.query[start..at]);
            return Ok(());
        };
        if start == colon {
            return Err(Unusable::wrong("Prefix must resolve to a namespace: "));
        }
        self.found.push(&self.query[start..colon]);
        self.found.push(&self.query[colon..=colon]);
        if colon + 1 < at {
            self.found.push(&self.query[colon + 1..at]);
        }
        Ok(())
    }
}
