//! Compares matches of regular expressions with recorded matches of ORO 2.0.8; `tests/data/README.md` describes the
//! recording.

use std::ops::ControlFlow;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Patterns and texts for which this engine's groups differ from ORO's: groups inside a repeated group, which ORO
/// clears or keeps by different rules.
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

/// The positions of a match's groups.
type Spans = Vec<Option<(usize, usize)>>;

/// Returns all matches found by backtracking. If `hurried` is true, the search remembers failed positions from its
/// first step on.
fn backtracked(pattern: &str, text: &str, hurried: bool) -> Option<Vec<Spans>> {
    let read = syntax::read(pattern).ok()?;
    let groups = read.groups as usize;
    let program = Backtrack::new(&read)?;
    let mut memory = backtrack::Memory::default();
    memory.renew(text);
    if hurried {
        memory.start_remembering();
    }
    let (mut from, mut all) = (0, Vec::new());
    let mut spans = vec![None; groups + 1];
    while from <= text.len() && program.search(text, from, Kind::Any, &mut memory, &mut spans) {
        all.push(spans.clone());
        let (start, end) = spans[0]?;
        from = if end > start {
            end
        } else {
            end + text[end..].chars().next().map_or(1, char::len_utf8)
        };
    }
    Some(all)
}

fn fancied(pattern: &str, text: &str) -> Option<Vec<Spans>> {
    let regex = fancy_regex::Regex::new(&format!("(?s){pattern}")).ok()?;
    let (mut from, mut all) = (0, Vec::new());
    while from <= text.len() {
        let Ok(Some(captures)) = regex.captures_from_pos(text, from) else { break };
        let of = |n: usize| captures.get(n).map(|found| (found.start(), found.end()));
        all.push((0..captures.len()).map(of).collect());
        let (start, end) = of(0)?;
        from = if end > start {
            end
        } else {
            end + text[end..].chars().next().map_or(1, char::len_utf8)
        };
    }
    Some(all)
}

/// Generates patterns with the same meaning in all Perl-like engines: nothing that may be empty is repeated.
fn common_pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        "[abc]".prop_map(String::from),
        Just("[ab]".to_owned()),
        Just("[^a]".to_owned()),
        Just("\\b".to_owned()),
        Just("é".to_owned()),
    ];
    let one = prop_oneof![
        "[abc]".prop_map(String::from),
        Just("[ab]".to_owned()),
        Just("[^a]".to_owned()),
    ];
    let count = prop_oneof![
        Just("*"),
        Just("+"),
        Just("?"),
        Just("*?"),
        Just("+?"),
        Just("??"),
        Just("{2}"),
        Just("{1,3}"),
        Just("{0,2}?"),
        Just("{2,}")
    ];
    let counted = (one.clone(), count.clone()).prop_map(|(one, count)| one + count);
    prop_oneof![atom, counted].prop_recursive(4, 24, 4, move |inner| {
        let many = proptest::collection::vec(inner, 1..4);
        let repeated = (one.clone(), many.clone(), count.clone())
            .prop_map(|(one, parts, count)| format!("(?:{one}{}){count}", parts.concat()));
        prop_oneof![
            many.clone().prop_map(|parts| parts.concat()),
            many.clone().prop_map(|parts| format!("(?:{})", parts.join("|"))),
            many.clone().prop_map(|parts| format!("({})", parts.concat())),
            many.clone().prop_map(|parts| format!("(?={})", parts.concat())),
            many.prop_map(|parts| format!("(?!{})", parts.join("|"))),
            repeated,
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn backtracking_finds_what_others_find(pattern in common_pattern(), text in "[abcé]{0,14}") {
        let found = backtracked(&pattern, &text, false);
        // In some cases the other engine backtracks by bytes, so only ASCII text is compared.
        let fancied = fancied(&pattern, &text).filter(|_| text.is_ascii());
        if let (Some(found), Some(fancied)) = (&found, &fancied) {
            prop_assert_eq!(found, fancied);
        }
        prop_assert_eq!(found, backtracked(&pattern, &text, true), "remembering");
    }
}

#[test]
fn searches_that_backtrack_are_linear() {
    let hostile = [
        ("(?:a(?=a*))+b", "a"),
        ("(?:a(?=a*))+b", "aab"),
        ("(a*)*(?=c)b", "a"),
        ("(?:a|a)*(?=c)b", "a"),
        ("(?:a?){20}(?=b)a*b", "a"),
        (".*b(?=c)", "a"),
        ("<.*?>(?=x)", "<"),
        ("<(.*?)>(.*?)</(?=x)", "<a>"),
        ("(?=.*(?=.*(?=.*b)))", "a"),
        ("(?!.*(?!.*b))x", "ax"),
        ("(?:.*?b(?=c)|a)", "a"),
        ("[^c]+(?!.)x", "ab"),
        ("(?=a+b)a", "a"),
        ("(?=(a+)b)a", "a"),
    ];
    for (pattern, part) in hostile {
        let all = |regexp: &Regexp, text: &str| {
            regexp.each(text, |_| ControlFlow::Continue(()));
            regexp.is_found_in(text);
            regexp.matches(text);
        };
        let regexp = Regexp::new(pattern).unwrap();
        let [small, large] = [2_000, 32_000].map(|n| {
            let text = part.repeat(n / part.len());
            crate::work::steps_of(|| all(&regexp, &text))
        });
        assert!(large < small.max(2_000) * 20, "{pattern} in {part}…: {small} and {large} steps");
        assert!(large < 32_000 * 200, "{pattern} in {part}…: {large} steps");
    }
}
