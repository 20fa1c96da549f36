//! The recorded answers of ORO 2.0.8 are the judge; `tests/data/README.md` says how they are recorded.

use std::ops::ControlFlow;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Patterns on which this engine answers differently: groups inside a repeated group, which ORO empties or keeps
/// by rules of its own.
const KNOWN: &[(&str, &str)] =
    &[("(a*)*", "aab"), ("(a*)+", "aab"), ("((a)|(b))+", "ab"), ("(?:(a)|b)*", "ab")];

fn found(regexp: &Regexp, text: &str) -> Vec<Vec<Option<String>>> {
    let mut all = Vec::new();
    regexp.each(text, |groups| {
        all.push((0..=regexp.groups()).map(|n| groups.group(n).map(String::from)).collect());
        if all.len() < 50 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    all
}

#[test]
fn answers_are_those_of_oro() {
    let recorded: Value = serde_json::from_str(include_str!("../../tests/data/oro.json")).unwrap();
    let cases = recorded.as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let (pattern, text) = (case["pattern"].as_str().unwrap(), case["text"].as_str().unwrap());
        let (expected, answer) = match Regexp::new(pattern) {
            Err(malformed) => {
                (case["malformed"].as_str().map(String::from), Some(malformed.to_string()))
            }
            Ok(regexp) => {
                let expected: Option<Vec<Vec<Option<String>>>> =
                    case.get("found").map(|found| serde_json::from_value(found.clone()).unwrap());
                let expected = (case["contains"].as_bool(), case["matches"].as_bool(), expected);
                let answer = (
                    Some(regexp.is_found_in(text)),
                    Some(regexp.matches(text)),
                    Some(found(&regexp, text)),
                );
                (Some(format!("{expected:?}")), Some(format!("{answer:?}")))
            }
        };
        if (expected != answer) != KNOWN.contains(&(pattern, text)) {
            wrong.push(format!(
                "{pattern:?} in {text:?}\n  expected {expected:?}\n  answered {answer:?}"
            ));
        }
    }
    assert!(cases.len() > 250, "the record is incomplete");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn a_remembered_pattern_is_compiled_once() {
    let first = Regexp::remembered("a(b)").unwrap();
    assert!(Rc::ptr_eq(&first, &Regexp::remembered("a(b)").unwrap()));
    for n in 0..REMEMBERED {
        assert!(Regexp::remembered(&format!("a{n}")).unwrap().is_found_in(&format!("xa{n}")));
    }
    assert!(!Rc::ptr_eq(&first, &Regexp::remembered("a(b)").unwrap()));
    assert_eq!(first.groups(), 1);
}

#[test]
fn a_search_inside_a_search_finds_its_own() {
    let outer = Regexp::new("[ab]").unwrap();
    let mut inner = 0;
    outer.each("ab", |_| {
        outer.each("aba", |_| {
            inner += 1;
            ControlFlow::Continue(())
        });
        ControlFlow::Continue(())
    });
    assert_eq!(inner, 6);
}

#[test]
fn deep_nesting_is_rejected() {
    assert!(Regexp::new(&"(".repeat(100_000)).is_err());
    assert!(Regexp::new(&format!("{}a{}", "(".repeat(150), ")".repeat(150))).unwrap().matches("a"));
}

proptest! {
    #[test]
    fn nothing_panics(pattern in r"([a-zA-Z0-9é日\\\[\]\(\)\{\}\^\$\.\|\*\+\?:,<>=!#/ -]|\(\?[ims]*\)|\[:alpha:\]|\\[0-9wdbsx]){0,14}", text in "[a-c0-9 é\n-]{0,12}") {
        if let Ok(regexp) = Regexp::new(&pattern) {
            let found = regexp.is_found_in(&text);
            let mut visited = 0;
            regexp.each(&text, |groups| {
                prop_assert_is_inside(groups, &text);
                visited += 1;
                ControlFlow::Continue(())
            });
            prop_assert_eq!(found, visited > 0);
            if regexp.matches(&text) {
                prop_assert!(found);
            }
        }
    }
}

fn prop_assert_is_inside(groups: Found<'_>, text: &str) {
    for (start, end) in groups.spans().iter().flatten() {
        assert!(start <= end && text.get(*start..*end).is_some());
    }
}
