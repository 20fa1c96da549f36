//! Compares XPath results with recorded results of JMeter with Xerces and Xalan; `tests/data/README.md` describes the
//! recording.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;

/// Returns the values that JMeter would find, or the name and the message of an exception.
fn found(document: &str, query: &str, options: &str) -> Result<Vec<Option<String>>, String> {
    let query = XPath::parse(query)
        .map_err(|unusable| format!("TransformerException: {}", unusable.message()))?;
    let has = |option| options.contains(option);
    let reading =
        xml::Options { namespaces: has('n'), drops_blanks: has('w'), ..xml::Options::default() };
    let tree = xml::read(document.as_bytes(), reading)
        .map_err(|fault| format!("SAXParseException: {}", fault.message))?;
    let mut found = Vec::new();
    query
        .extract(&tree, has('f'), |_| None, &mut |text| found.push(text.map(str::to_owned)))
        .map_err(|message| format!("TransformerException: {message}"))?;
    Ok(found)
}

#[test]
fn expressions_find_what_they_find_with_xalan() {
    let recorded: Json = serde_json::from_str(include_str!("../../tests/data/xpath.json")).unwrap();
    let (mut wrong, mut beyond) = (Vec::new(), Vec::new());
    let cases = recorded["cases"].as_array().unwrap();
    for case in cases {
        let name = case["document"].as_str().unwrap();
        let document = recorded["documents"][name].as_str().unwrap();
        let query = case["query"].as_str().unwrap();
        let options = case["options"].as_str().unwrap_or("");
        if matches!(XPath::parse(query), Err(Unusable::Beyond(_))) {
            beyond.push(query);
            continue;
        }
        let here = match found(document, query, options) {
            Ok(found) => serde_json::json!(found),
            Err(error) => serde_json::json!(error),
        };
        // The class of an exception is ignored, except for errors about bytes.
        let plain = |value: &Json| match value.as_str() {
            Some(error) => serde_json::json!(error.split_once(": ").map_or(error, |(_, m)| m)),
            None => value.clone(),
        };
        let theirs = if case["found"].is_null() { &case["error"] } else { &case["found"] };
        if plain(&here) != plain(theirs) {
            wrong.push(format!("{name} {options} {query}\n  Xalan {theirs}\n  here  {here}"));
        }
    }
    assert!(cases.len() > 900 && beyond.len() < 20, "not read: {beyond:?}");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn what_both_versions_have_in_common_finds_what_it_finds_with_saxon() {
    let recorded: Json =
        serde_json::from_str(include_str!("../../tests/data/xpath2.json")).unwrap();
    let (mut wrong, mut beyond) = (Vec::new(), Vec::new());
    let cases = recorded["cases"].as_array().unwrap();
    for case in cases {
        let name = case["document"].as_str().unwrap();
        let document = recorded["documents"][name].as_str().unwrap();
        let query = case["query"].as_str().unwrap();
        let namespaces = case["namespaces"].as_str().unwrap_or("");
        let parsed = match XPath::parse_second(query, namespaces) {
            Err(Unusable::Beyond(_)) => {
                beyond.push(query);
                continue;
            }
            parsed => parsed.map_err(|unusable| unusable.message().to_owned()),
        };
        let found = parsed.and_then(|parsed| {
            let tree = xml::read_for_saxon(document)?;
            Ok(match parsed.evaluate(&tree)? {
                Value::Nodes(nodes) => {
                    nodes.into_iter().map(|id| Value::Nodes(vec![id]).text(&tree)).collect()
                }
                other => vec![other.text(&tree)],
            })
        });
        let here = match found {
            Ok(found) => serde_json::json!(found),
            Err(message) => serde_json::json!(message),
        };
        let theirs = if case["found"].is_null() { &case["error"] } else { &case["found"] };
        if here != *theirs {
            wrong.push(format!("{name} {query}\n  Saxon {theirs}\n  here  {here}"));
        }
    }
    assert!(cases.len() > 150 && beyond.len() < 40, "{}: {beyond:?}", beyond.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn depth_and_work_are_bounded() {
    for query in [
        "(".repeat(100_000),
        "a[".repeat(100_000),
        "not(".repeat(100_000),
        format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000)),
    ] {
        assert!(XPath::parse(&query).is_err());
    }
    let long = format!("1{}", "+1".repeat(50_000));
    assert_eq!(found("<a/>", &long, "").unwrap(), [Some("50001".into())]);
    let wide = format!("<a>{}</a>", "<b/>".repeat(2_000));
    let given_up = found(&wide, "//b[//b[//b[//b]]]", "").unwrap_err();
    assert!(given_up.contains("too long"), "{given_up}");
}

proptest! {
    #[test]
    fn nothing_panics(
        query in r#"([a-cé*#.,|+$@:/=<>!() -]|\[|\]|::|//|"x"|'|(not|count|string|substring|position|last|id|lang|concat)\(|(ancestor|following|preceding-sibling|namespace)::|text\(\)|node\(\)|[0-9.]| (div|mod|and|or) ){0,14}"#,
    ) {
        let page = "<a xmlns:b='u'><b:c x='1' b:y='é'>t<!-- c --><?p i?></b:c><b>2<![CDATA[3]]></b></a>";
        for options in ["", "n", "nf"] {
            let _ = found(page, &query, options);
        }
    }
}
