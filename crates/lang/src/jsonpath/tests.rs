//! Compares with recorded answers of Jayway 2.8.0 and json-smart 2.5.0; `tests/data/README.md` describes how they are
//! recorded.

use proptest::prelude::*;

use super::*;
use crate::java::write_double_plain;

/// Paths for which this crate's answer differs from the recorded one: Jayway has two different messages for an empty
/// path.
const KNOWN: &[&str] = &[""];

/// Returns the text of a value as JMeter's JSON Extractor shows it.
fn text(value: &Value<'_>) -> Option<String> {
    let mut out = String::new();
    match value {
        Value::Null => return None,
        Value::Object(_) => value.write_json_hashed(&mut out),
        other => other.write_java(&mut out),
    }
    Some(out)
}

/// Returns the text of a value as JMeter's JSON Assertion shows it.
fn shown(value: &Value<'_>) -> String {
    let mut out = String::new();
    match value {
        Value::Double(value) => write_double_plain(*value, &mut out),
        other => return text(other).unwrap_or_else(|| "null".into()),
    }
    out
}

#[test]
fn answers_are_those_of_jayway() {
    let recorded: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/data/jsonpath.json")).unwrap();
    let cases = recorded["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let path = case["path"].as_str().unwrap();
        let json = match case["document"].as_str() {
            Some(name) => recorded["documents"][name].as_str().unwrap(),
            None => case["json"].as_str().unwrap(),
        };
        let document = read(json).map_err(|error| {
            Failure::Other(format!("net.minidev.json.parser.ParseException: {}", error.0))
        });
        let read = || Ok((JsonPath::new(path)?, document.clone()?));
        let projected = read().and_then(|(path, _)| {
            let mut projection = Projection::default();
            path.project(&mut projection);
            let document = read_for(json, &projection).unwrap();
            Ok(path.list(&document)?.iter().map(|value| text(value)).collect::<Vec<_>>())
        });
        let list = read().and_then(|(path, document)| {
            Ok(path.list(&document)?.iter().map(|value| text(value)).collect::<Vec<_>>())
        });
        let message =
            |key: &str| case[key].as_str().map(|text| text.split_once(": ").unwrap().1.to_string());
        let expected = match (case.get("list"), case["not_found"].as_str()) {
            (Some(list), _) => Ok(serde_json::from_value(list.clone()).unwrap()),
            (_, Some(not_found)) => Err(not_found.to_string()),
            _ => Err(message("list_error").unwrap()),
        };
        let kind_is_right =
            case["not_found"].is_string() == matches!(list, Err(Failure::NotFound(_)));
        let list = list.map_err(|error| error.to_string());
        let value = read().and_then(|(path, document)| {
            let value = path.value(&document)?;
            let mut java = String::new();
            value.write_java(&mut java);
            Ok((shown(&value), java))
        });
        let value = value.map_err(|error| error.to_string());
        let expected_value = match case["value"].as_str() {
            Some(value) => {
                Ok((value.to_string(), case["java"].as_str().unwrap_or(value).to_string()))
            }
            None => Err(message("value_error").unwrap()),
        };
        let projected = projected.map_err(|error| error.to_string());
        let right =
            kind_is_right && projected == list && list == expected && value == expected_value;
        if right == KNOWN.contains(&path) {
            let json: String = json.chars().take(200).collect();
            wrong.push(format!(
                "{path} of {json}\n  expected {expected:?}\n  answered {list:?}\n  expected {expected_value:?}\n  \
                 answered {value:?}"
            ));
        }
    }
    assert!(cases.len() > 400, "the record is incomplete");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn document(number: &'static str) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_string()),
        Just("true".to_string()),
        number,
        "\"[a-c\\$@'/\\[\\]é]{0,4}\"",
        "[a-c:{}\\[\\],'\"\\\\ ]{0,5}",
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(("[a-c]", inner), 0..4).prop_map(|all| {
                let members: Vec<_> =
                    all.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_path_on_any_document_ends(
        path in r"\$?(\.|\.\.|[a-c]|\*|\[[0-9,:-]{0,4}\]|\['[a-c]'\]|\[\*\]|\[\?\(|@\.?[a-c]?|\)\]|==|=~|<|&&|\|\||!|in|size|empty|'[a-c]'|/[a-c]/|[0-9]| |\[|\]|\(|\)|\.length\(\)|\.sum\(|\$|true|null){0,9}",
        json in document("-?[0-9]{1,22}(\\.[0-9]{1,3})?(e[0-9]{1,2})?"),
    ) {
        if let (Ok(path), Ok(document)) = (JsonPath::new(&path), read(&json)) {
            let list = path.list(&document).map(|found| found.len());
            let value = path.value(&document);
            if let (Ok(count), Ok(value)) = (list, value) {
                prop_assert_eq!(path.is_definite(), count == 1 && path.is_definite());
                let mut out = String::new();
                value.write_java(&mut out);
                value.write_json_hashed(&mut out);
            }
        }
    }

    #[test]
    fn what_is_written_reads_as_the_same(json in document("-?[0-9]{1,22}")) {
        if let Ok(value) = read(&json) {
            let mut written = String::new();
            value.write_json(&mut written);
            let again = read(&written);
            prop_assert_eq!(again, Ok(value));
        }
    }

    #[test]
    fn any_text_is_read_or_rejected(json in r#"[\[\]{}:,'"\\a-fu0-9.eE+ é\x1a\n-]{0,24}"#) {
        let _ = read(&json);
    }
}
