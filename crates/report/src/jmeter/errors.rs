//! The tables of errors: by type, and the five most frequent of each label.
//!
//! Types with equal counts are in the order of Java's hash tables, in which JMeter counts types as text escaped for
//! HTML. The order may differ from JMeter's for Greek letters and typographic characters, which have HTML names, too.

use std::collections::HashMap;

use serde::Serialize;

/// Number of most frequent errors that the table shows for a label.
const TOP: usize = 5;

/// HTML names of the characters from U+00A0 to U+00FF.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 \
    sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc \
    Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve \
    Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute \
    acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde \
    ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// A type of error with its count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorRow {
    pub message: String,
    pub count: u64,
    /// Percentage of all errors that are of this type.
    pub of_errors: f64,
    /// Percentage of all samples that failed with this type of error.
    pub of_all: f64,
}

/// The most frequent errors of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Top {
    pub label: String,
    pub samples: u64,
    pub errors: u64,
    pub top: Vec<(String, u64)>,
}

/// Number of errors of each type.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    pub(super) samples: u64,
    pub(super) errors: u64,
    places: HashMap<Box<str>, usize>,
    counts: Vec<(Box<str>, u64)>,
}

impl Count {
    pub(super) fn add(&mut self, error: Option<&str>) {
        self.samples += 1;
        let Some(key) = error else { return };
        self.errors += 1;
        if let Some(at) = self.places.get(key) {
            self.counts[*at].1 += 1;
            return;
        }
        self.places.insert(key.into(), self.counts.len());
        self.counts.push((key.into(), 1));
    }

    /// Returns the types of errors with their counts, most frequent first. `with_empty` is true if JMeter's hash table
    /// also contains an empty key.
    fn sorted(&self, with_empty: bool) -> Vec<(&str, u64)> {
        let mut keys: Vec<String> = self.counts.iter().map(|(key, _)| escaped(key)).collect();
        if with_empty {
            keys.push(String::new());
        }
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let order = order_in_java(&keys).into_iter().filter_map(|at| self.counts.get(at));
        let mut sorted: Vec<_> = order.map(|(key, count)| (&**key, *count)).collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        sorted
    }

    pub(super) fn top(&self, label: &str) -> Top {
        let top = self.sorted(false).into_iter().take(TOP);
        Top {
            label: label.to_owned(),
            samples: self.samples,
            errors: self.errors,
            top: top.map(|(key, count)| (key.to_owned(), count)).collect(),
        }
    }

    pub(super) fn rows(&self) -> Vec<ErrorRow> {
        let row = |(message, count): (&str, u64)| ErrorRow {
            message: message.to_owned(),
            count,
            of_errors: count as f64 * 100.0 / self.errors as f64,
            of_all: count as f64 * 100.0 / self.samples as f64,
        };
        // JMeter counts samples without an error under an empty key.
        self.sorted(self.samples > self.errors).into_iter().map(row).collect()
    }
}

/// Returns the type of a failed sample's error.
pub(super) fn key(code: &str, message: &str, failure: &str, failure_messages: bool) -> String {
    let failure_given = failure.chars().any(|c| !java_blank(c));
    if is_success(code) || (code.is_empty() && failure_given) {
        return if failure_messages && failure_given {
            failure.to_owned()
        } else {
            "Assertion failed".to_owned()
        };
    }
    if message.is_empty() { code.to_owned() } else { format!("{code}/{message}") }
}

/// Returns true for white space by Java's `Character.isWhitespace`, which excludes non-breaking spaces.
fn java_blank(c: char) -> bool {
    (c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}'))
        || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn is_success(code: &str) -> bool {
    !code.is_empty()
        && code.bytes().all(|byte| byte.is_ascii_digit())
        && code.parse::<i32>().is_ok_and(|code| (200..=399).contains(&code))
}

/// Escapes a message as JMeter does in its tables: for HTML, then for JSON.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{a0}'..='\u{ff}' => {
                let name = LATIN.split(' ').nth(c as usize - 0xa0).unwrap_or_default();
                out.push_str(&format!("&{name};"));
            }
            c if c < ' ' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Returns the order in which a `java.util.HashMap` iterates over keys that were inserted in the given order, as
/// indices.
pub(super) fn order_in_java(keys: &[&str]) -> Vec<usize> {
    let mut capacity = 16usize;
    while keys.len() * 4 > capacity * 3 {
        capacity *= 2;
    }
    let bucket = |key: &str| {
        let hash = key
            .encode_utf16()
            .fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
        (hash ^ (hash >> 16)) as usize & (capacity - 1)
    };
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|at| bucket(keys[*at]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_jmeter() {
        assert_eq!(key("404", "Not Found", "", true), "404/Not Found");
        assert_eq!(key("404", "", "x", true), "404");
        assert_eq!(key("200", "OK", "Test failed", true), "Test failed");
        assert_eq!(key("200", "OK", "Test failed", false), "Assertion failed");
        assert_eq!(key("399", "OK", " \t", true), "Assertion failed");
        assert_eq!(key("", "OK", "x", true), "x");
        assert_eq!(key("", "OK", "", true), "/OK");
        assert_eq!(key("Non HTTP response code: x", "y", "z", true), "Non HTTP response code: x/y");
    }

    #[test]
    fn messages_are_counted_as_jmeter_escapes_them() {
        assert_eq!(
            escaped("<ü \"é\" ÿ\u{a0}☃\n\\"),
            "&lt;&uuml; &quot;&eacute;&quot; &yuml;&nbsp;☃\\n\\\\"
        );
    }

    #[test]
    fn equal_counts_are_in_the_order_of_javas_tables() {
        // The expected order is that of a HashMap in Java 17.
        let keys: Vec<String> =
            (0..8).map(|n| format!("Non HTTP response code: java.net.E{n}/m{n}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        assert_eq!(order_in_java(&keys), [7, 5, 6, 3, 4, 0, 1, 2]);
    }
}
