//! Compares with recorded results of jsoup itself; `tests/data/README.md` describes how they are recorded.

use proptest::prelude::*;
use serde_json::Value;

use super::selector::Unreadable;
use super::*;

fn found(
    document: &str,
    selector: &str,
    attribute: Option<&str>,
) -> Result<Vec<String>, Unreadable> {
    let selector = Selector::parse(selector)?;
    let mut found = Vec::new();
    Document::parse(document).select(&selector, attribute, |value| {
        found.push(value.to_string());
        std::ops::ControlFlow::Continue(())
    });
    Ok(found)
}

#[test]
fn selectors_find_what_those_of_jsoup_find() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../tests/data/jsoup.json")).unwrap();
    let (mut wrong, mut unread) = (Vec::new(), Vec::new());
    let cases = recorded["cases"].as_array().unwrap();
    for case in cases {
        let name = case["document"].as_str().unwrap();
        let document = recorded["documents"][name].as_str().unwrap();
        let selector = case["selector"].as_str().unwrap();
        let attribute = case["attribute"].as_str().filter(|name| !name.is_empty());
        match (found(document, selector, attribute), case["found"].as_array()) {
            (Ok(found), Some(expected)) => {
                if found != *expected {
                    wrong.push(format!(
                        "{name} {selector} {attribute:?}\n  jsoup {expected:?}\n  here  {found:?}"
                    ));
                }
            }
            (Ok(found), None) => wrong.push(format!("{selector} is no selector: {found:?}")),
            (Err(_), Some(_)) => unread.push(selector),
            (Err(_), None) => {}
        }
    }
    assert!(
        cases.len() > 150 && unread.len() * 10 < cases.len(),
        "{} not read: {unread:?}",
        unread.len()
    );
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn depth_is_bounded() {
    assert!(Selector::parse(&":not(".repeat(10_000)).is_err());
    assert!(Selector::parse(&format!("{}a{}", ":not(".repeat(40), ")".repeat(40))).is_err());
    let deep = "<div>".repeat(2_000);
    assert_eq!(
        found(&deep, "body > div > div > div:nth-child(1) > div:eq(0) > div > p", None)
            .unwrap()
            .len(),
        0
    );
}

proptest! {
    #[test]
    fn nothing_panics(
        selector in r"([a-cé*#.,>+~ ]|\[a\^?=b\]|:(not|has|is|contains|eq|nth-child)\(|\)|[0-9n+-]|:root|:empty){0,12}",
        page in r"(<(/?)(p|b|i|table|td|svg|a|select|template)( id=a| class='b c')?>|[a-c &;]|<!--|-->){0,20}",
    ) {
        let _ = found(&page, &selector, None);
        let _ = found(&page, &selector, Some("id"));
    }
}
