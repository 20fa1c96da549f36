//! Compares with JMeter's own element; `tests/data/README.md` describes the recording.

use super::*;

/// Parts of pages that JTidy parses differently from HTML's rules: empty forms, nested forms, fields in the body
/// after a form, overlapping tags, entity names without a semicolon, attributes without a value or given twice, and
/// tags in invalid positions.
const KNOWN: &[&str] = &[
    "</form><form action=\"/e2\">",
    "<form action=\"f\"></form>",
    "</form>text <input",
    "</form> <input",
    "</form><input",
    "<form action=\"/1\"><form",
    "&amp; <b>b</b></textarea>",
    "</b>y</a>",
    "&copy=",
    "<a href>",
    "<noframes>",
    "href=\"/dup1\" href",
    "<h1>title<a",
    "<option><a",
    "<title><a",
];

fn found(url: &str, page: &str) -> Vec<String> {
    let page = Page { is_http: true, url: url.into(), text: page.into() };
    let shown = |link: Link| {
        let Target { protocol, domain, path } = &link.target;
        let method = if link.is_form { "POST" } else { "GET" };
        let mut out = format!("{method} {protocol}://{domain}{path}");
        for Added { name, value, equals, .. } in &link.arguments {
            let _ = write!(out, " [{name}{}{value}]", if *equals { "=" } else { "" });
        }
        out
    };
    page.links().into_iter().map(shown).collect()
}

#[test]
fn links_are_those_of_jmeter() {
    let recorded: serde_json::Value =
        serde_json::from_str(include_str!("../../../tests/data/anchors.json")).unwrap();
    let cases = recorded["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let page = case["page"].as_str().unwrap();
        let Some(expected) = case["links"].as_array() else { continue };
        let found = found(case["url"].as_str().unwrap(), page);
        let is_known = KNOWN.iter().any(|part| page.contains(part)) || page == "<a href=\"/x";
        if (found == *expected) == is_known {
            wrong.push(format!("{page:?}\n  expected {expected:?}\n  found {found:?}"));
        }
    }
    assert!(cases.len() > 70, "the record is incomplete");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn a_text_fits_itself_and_its_patterns() {
    assert!(fits("a.b", "a.b") && fits("a+", "a+") && fits("item17", "item\\d+"));
    assert!(!fits("xitem17", "item\\d+") && !fits("a", "("));
}
