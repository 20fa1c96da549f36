//! Folding of labels: labels that differ only in numbers and ids become one label.

/// Returns the label with `#` in place of every number, UUID and hexadecimal id.
///
/// A hexadecimal id is a word of at least eight hexadecimal digits with at least one decimal digit.
pub fn pattern(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    let mut rest = label;
    while let Some(first) = rest.chars().next() {
        if !first.is_ascii_alphanumeric() {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        if let Some(behind) = behind_uuid(rest) {
            out.push('#');
            rest = behind;
            continue;
        }
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        if is_id(word) {
            out.push('#');
        } else {
            let mut before = ' ';
            for c in word.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }) {
                if !(c == '#' && before == '#') {
                    out.push(c);
                }
                before = c;
            }
        }
        rest = behind;
    }
    out
}

fn is_id(word: &str) -> bool {
    word.len() >= 8
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
}

/// Returns the rest of `text` after the UUID at its beginning; `None` without a UUID there.
fn behind_uuid(text: &str) -> Option<&str> {
    let mut rest = text;
    for (at, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix('-')?;
        }
        let part = rest.get(..length)?;
        if !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        rest = &rest[length..];
    }
    (!rest.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_are_one_sign() {
        for (label, expected) in [
            ("/item/1234/edit", "/item/#/edit"),
            ("user42x 7", "user#x #"),
            ("/o/550e8400-e29b-41d4-a716-446655440000?x", "/o/#?x"),
            ("/blob/deadbeef01", "/blob/#"),
            ("deadbeef", "deadbeef"),
            ("Größe 12é", "Größe #é"),
            ("", ""),
            ("facade-9", "facade-#"),
        ] {
            assert_eq!(pattern(label), expected, "{label}");
        }
    }
}
