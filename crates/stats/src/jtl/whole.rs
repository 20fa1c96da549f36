//! Finds the ends of complete rows in the text of a result file.
//!
//! The file of a full disk or a killed process may end anywhere. Rows of CSV end at a line end outside quotes. Elements
//! of XML end at a line that begins with their end tag: inner lines are indented and `<` is escaped. One pass, no
//! allocation.
use super::columns::Columns;

/// The file format of a result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// CSV: a row per sample.
    Rows,
    /// XML: an element per sample.
    Elements,
}

impl Form {
    pub fn of(columns: &Columns) -> Self {
        if columns.xml { Self::Elements } else { Self::Rows }
    }

    /// Returns the end of each complete row or element in a string that starts at the beginning of a row or element. A
    /// heading counts as a row; text before the first element of a document belongs to that element.
    pub fn ends(self, text: &[u8]) -> impl Iterator<Item = usize> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let end = match self {
                Self::Rows => row(&text[at..]),
                Self::Elements => element(&text[at..]),
            }?;
            at += end;
            Some(at)
        })
    }

    /// True if a string with these last bytes may end with a complete row or element. The bytes before `tail` are not
    /// known, so the end may still be within a quoted field.
    pub fn may_end(self, tail: &[u8]) -> bool {
        match self {
            Self::Rows => tail.ends_with(b"\n"),
            Self::Elements => CLOSING.iter().any(|tag| {
                let before = tail.strip_suffix(b"\n").and_then(|tail| tail.strip_suffix(*tag));
                before.is_some_and(|before| before.ends_with(b"\n"))
            }),
        }
    }
}

/// End tags of the elements that contain a sample.
const CLOSING: [&[u8]; 2] = [b"</httpSample>", b"</sample>"];
/// Start tags, up to the first attribute, of the elements that contain a sample.
const OPENING: [&[u8]; 2] = [b"<httpSample ", b"<sample "];

fn row(text: &[u8]) -> Option<usize> {
    let mut quoted = false;
    let end = text.iter().position(|byte| {
        quoted ^= *byte == b'"';
        *byte == b'\n' && !quoted
    })?;
    Some(end + 1)
}

fn element(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let length = text[at..].iter().position(|byte| *byte == b'\n')?;
        let line = &text[at..at + length];
        at += length + 1;
        let opens = OPENING.iter().any(|tag| line.starts_with(tag));
        if CLOSING.contains(&line) || opens && line.ends_with(b"/>") {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(form: Form, text: &str) -> Vec<&str> {
        let mut from = 0;
        let ends =
            form.ends(text.as_bytes()).map(|end| &text[std::mem::replace(&mut from, end)..end]);
        ends.collect()
    }

    #[test]
    fn rows_end_at_line_ends_outside_quotes() {
        let text = "a,b\n\"1\n\"\"x\",2\n3,\"4\n5";
        assert_eq!(ends(Form::Rows, text), ["a,b\n", "\"1\n\"\"x\",2\n"]);
        assert!(Form::Rows.may_end(b"x\n") && !Form::Rows.may_end(b"x"));
    }

    #[test]
    fn elements_end_at_lines_of_their_own() {
        let one = "<httpSample t=\"1\">\n  <httpSample/>\n  <x>a\n&lt;/sample>\n</x>\n  </httpSample>\n</httpSample>\n";
        let two = "<sample t=\"1\"/>\n";
        let text = format!("{one}{two}<sample t=\"2\">\n  <a/>\n");
        assert_eq!(ends(Form::Elements, &text), [one, two]);
        assert!(Form::Elements.may_end(one.as_bytes()));
        assert!(!Form::Elements.may_end(b"  </httpSample>\n"));
        assert!(!Form::Elements.may_end(b"  </httpSample>\n</httpSampl"));
    }
}
