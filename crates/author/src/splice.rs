//! Replacements in a text, and their inverse.

/// One replacement: `removed` bytes at the position `at` become `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) at: usize,
    pub(crate) removed: usize,
    pub(crate) text: String,
}

impl Splice {
    pub(crate) fn new(range: std::ops::Range<usize>, text: impl Into<String>) -> Self {
        Self { at: range.start, removed: range.len(), text: text.into() }
    }

    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { at, removed: 0, text: text.into() }
    }
}

/// Makes replacements that do not overlap. Insertions at one position keep their order. Returns the new text and the
/// replacements that restore the old one; `None` if two replacements overlap.
pub(crate) fn apply(text: &str, mut splices: Vec<Splice>) -> Option<(String, Vec<Splice>)> {
    splices.sort_by_key(|one| (one.at, one.removed > 0));
    let mut out = String::with_capacity(text.len());
    let mut inverse = Vec::with_capacity(splices.len());
    let mut at = 0;
    for splice in splices {
        let end = splice.at + splice.removed;
        out.push_str(text.get(at..splice.at)?);
        let removed = text.get(splice.at..end)?;
        inverse.push(Splice {
            at: out.len(),
            removed: splice.text.len(),
            text: removed.to_owned(),
        });
        out.push_str(&splice.text);
        at = end;
    }
    out.push_str(text.get(at..)?);
    Some((out, inverse))
}

/// Returns the start of the line of a position, if only spaces and tabs precede the position on its line.
pub(crate) fn blank_before(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    (before.is_empty() || before.ends_with('\n')).then_some(before.len())
}

/// Returns the position behind the line feed that follows, if only spaces and tabs precede the line feed.
pub(crate) fn blank_after(text: &str, at: usize) -> Option<usize> {
    let after = text[at..].trim_start_matches([' ', '\t']);
    let rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'))?;
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_restores_the_text() {
        let splices = vec![
            Splice::new(4..6, "EFG"),
            Splice::insert(0, "1"),
            Splice::insert(0, "2"),
            Splice::new(0..1, ""),
        ];
        let (changed, inverse) = apply("abcdefg", splices).expect("no overlap");
        assert_eq!(changed, "12bcdEFGg");
        let (restored, _) = apply(&changed, inverse).expect("no overlap");
        assert_eq!(restored, "abcdefg");
        let overlapping = vec![Splice::new(0..3, ""), Splice::new(2..4, "")];
        assert_eq!(apply("abcdefg", overlapping), None);
    }

    #[test]
    fn blank_parts_of_lines() {
        assert_eq!(blank_before("a\n  b", 4), Some(2));
        assert_eq!(blank_before("a b", 2), None);
        assert_eq!(blank_after("a \r\nb", 1), Some(4));
        assert_eq!(blank_after("a b", 1), None);
    }
}
