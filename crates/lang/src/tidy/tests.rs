//! Compares XPath results on HTML pages with recorded results of JMeter with JTidy; `tests/data/README.md` describes
//! the recording.

use proptest::prelude::*;
use serde_json::Value as Json;

use crate::xpath::XPath;

fn found(page: &str, query: &str) -> Vec<Option<String>> {
    let query = XPath::parse(query).expect("an expression");
    let mut found = Vec::new();
    let tree = super::read(page);
    query.extract(&tree, false, |_| None, &mut |text| found.push(text.map(str::to_owned))).unwrap();
    found
}

#[test]
fn pages_hold_what_jtidy_finds_in_them() {
    let recorded: Json = serde_json::from_str(include_str!("../../tests/data/tidy.json")).unwrap();
    let mut wrong = Vec::new();
    let cases = recorded["cases"].as_array().unwrap();
    for case in cases {
        let name = case["document"].as_str().unwrap();
        let page = recorded["documents"][name].as_str().unwrap();
        let query = case["query"].as_str().unwrap();
        let here = serde_json::json!(found(page, query));
        // A known difference must be marked in the table, and must still exist.
        if (here == case["found"]) != case["differs"].is_null() {
            wrong.push(format!("{name} {query}\n  JTidy {}\n  here  {here}", case["found"]));
        }
    }
    assert!(cases.len() > 100);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

proptest! {
    #[test]
    fn nothing_panics(
        page in r"(<(/?)(p|b|i|table|td|svg|a|select|template|tbody|pre|br|textarea|nav)( id=a| class='b c')?>|[a-c &;\u{a0}]|<!--|-->|<\?xml version='1.0'\?>){0,20}",
    ) {
        let _ = found(&page, "//text()|//@*");
    }
}
