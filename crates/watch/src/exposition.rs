//! Parser for the text format of Prometheus exporters: one sample per line, `name{label="value",…} value [timestamp]`.
//!
//! Lines that do not match the format are skipped. Parsing takes one pass and allocates no memory, whatever the input.

use std::borrow::Cow;

/// Maximum number of samples read from one response; further samples are ignored.
pub const MOST_SAMPLES: usize = 200_000;

/// A sample, parsed from one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'t> {
    pub name: &'t str,
    pub labels: Labels<'t>,
    pub value: f64,
    /// Time of the sample in ms since 1970, if the exporter sends one. Most exporters do not.
    pub at_ms: Option<i64>,
}

/// The labels of a sample: the text between the braces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels<'t>(&'t str);

/// Returns the samples in an exporter's response, in their order.
pub fn samples(text: &str) -> impl Iterator<Item = Sample<'_>> {
    text.lines().filter_map(sample).take(MOST_SAMPLES)
}

fn sample(line: &str) -> Option<Sample<'_>> {
    let line = line.trim_matches([' ', '\t', '\r']);
    let end = line.find(|c: char| !is_name(c)).filter(|end| *end > 0)?;
    if line.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start_matches([' ', '\t']);
    let (labels, rest) = match rest.strip_prefix('{') {
        None => ("", rest),
        Some(rest) => rest.split_at(closing_brace(rest)?),
    };
    let rest = rest.strip_prefix('}').unwrap_or(rest);
    let mut words = rest.split([' ', '\t']).filter(|word| !word.is_empty());
    let value = number(words.next()?)?;
    let at_ms = words.next().and_then(|word| word.parse().ok());
    Some(Sample { name, labels: Labels(labels), value, at_ms })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

/// Returns the position of the closing brace after labels, which is outside of quoted values.
fn closing_brace(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// Parses a number in Go's notation: `+Inf`, `NaN`, `1.5e+09`.
fn number(word: &str) -> Option<f64> {
    match word {
        "+Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        _ if word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            word.parse().ok()
        }
        _ => None,
    }
}

impl<'t> Labels<'t> {
    /// Iterates over names and values of the labels, up to the first syntax error.
    pub fn iter(self) -> impl Iterator<Item = (&'t str, Cow<'t, str>)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (name, after) = rest.split_once('=')?;
            let after = after.trim_start().strip_prefix('"')?;
            let mut escaped = false;
            let end = after.bytes().position(|byte| {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            })?;
            rest = after[end + 1..].trim_start().trim_start_matches(',');
            Some((name.trim(), unescaped(&after[..end])))
        })
    }

    /// True if the name or value of a label contains the string `words`.
    pub fn mentions(self, words: &str) -> bool {
        self.0.contains(words)
    }

    pub fn get(self, name: &str) -> Option<Cow<'t, str>> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (char, char == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            (other, false) => out.push(other),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_read_as_exporters_write_them() {
        let text = "# HELP a b\n# TYPE a counter\na 1\nb{x=\"1\",y=\"}\\\"\\n\\\\\",} 1.5e+09 1700000000000\n\
                    c{} NaN\nd{e=\"f\"} +Inf # {trace=\"1\"} 2\n\nhttp:rule 0x\n1a 2\nbroken{x=\"\nno\n  g\t-3 \r\n";
        let found: Vec<_> = samples(text).collect();
        let names: Vec<_> = found.iter().map(|sample| sample.name).collect();
        assert_eq!(names, ["a", "b", "c", "d", "g"]);
        assert_eq!((found[1].value, found[1].at_ms), (1.5e9, Some(1_700_000_000_000)));
        let labels: Vec<_> = found[1].labels.iter().collect();
        assert_eq!(labels, [("x", "1".into()), ("y", "}\"\n\\".into())]);
        assert_eq!(found[3].labels.get("e").as_deref(), Some("f"));
        assert!(found[2].value.is_nan() && found[3].value.is_infinite());
        assert_eq!(found[4].value, -3.0);
    }

    #[test]
    fn a_text_without_end_has_a_bound() {
        assert_eq!(samples(&"a 1\n".repeat(MOST_SAMPLES + 10)).count(), MOST_SAMPLES);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-z{}\",=\\\\ 0-9\n#é]{0,200}") {
            for sample in samples(&text) {
                prop_assert!(!sample.name.is_empty());
                let _ = sample.labels.iter().count();
            }
        }
    }
}
