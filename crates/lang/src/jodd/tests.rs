//! Compares with recorded results of Jodd itself; `tests/data/README.md` describes how they are recorded.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Returns the values found; `None` if page or selector cannot be parsed.
fn found(document: &str, selector: &str, attribute: Option<&str>) -> Option<Vec<Option<String>>> {
    let selectors = Selectors::parse(selector).ok()?;
    let mut found = Vec::new();
    Document::parse(document).ok()?.select(&selectors, attribute, |value| {
        found.push(value.map(str::to_owned));
        std::ops::ControlFlow::Continue(())
    });
    Some(found)
}

#[test]
fn selectors_find_what_those_of_jodd_find() {
    let recorded: Value = serde_json::from_str(include_str!("../../tests/data/jodd.json")).unwrap();
    let cases = recorded["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["document"].as_str().unwrap();
        let document = recorded["documents"][name].as_str().unwrap();
        let selector = case["selector"].as_str().unwrap();
        let attribute = case["attribute"].as_str().filter(|name| !name.trim().is_empty());
        let expected = case["found"].as_array().map(|found| {
            found.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Vec<_>>()
        });
        let answered = found(document, selector, attribute);
        if answered != expected {
            wrong.push(format!(
                "{name} {selector} {attribute:?}\n  jodd {expected:?}\n  here {answered:?}"
            ));
        }
    }
    assert!(cases.len() > 150, "the record is incomplete");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn depth_is_bounded() {
    assert!(Selectors::parse(&":not(".repeat(10_000)).is_err());
    let deep = "<div>".repeat(2_000);
    assert_eq!(found(&deep, "div > div:first-child > p", None), Some(Vec::new()));
}

proptest! {
    #[test]
    fn nothing_panics(
        selector in r#"([a-cé*#.,>+~ \\'"]|\[a\^?=b\]|:(not|has|contains|eq|nth-child)\(|\)|[0-9n+-]|:root|:empty|\n){0,12}"#,
        page in r"(<(/?)(p|b|li|table|td|svg|a|select|textarea|style|script)( id=a| class='b c')?>|[a-cé &;<]|<!--|-->){0,20}",
    ) {
        let _ = found(&page, &selector, None);
        let _ = found(&page, &selector, Some("id"));
    }
}
