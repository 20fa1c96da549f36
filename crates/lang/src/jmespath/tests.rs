//! Compares with recorded answers of jmespath-jackson 0.6.0 and Jackson 2.16.1; `tests/data/README.md` describes how
//! they are recorded.

use proptest::prelude::*;

use super::*;

/// Recorded result of a case: JSON, or the step that failed with its message.
type Answer = Result<String, (&'static str, String)>;

fn answer(json: &str, expression: &str) -> Answer {
    let document = read(json).map_err(|failure| ("unreadable", failure.0))?;
    let expression = JmesPath::new(expression).map_err(|failure| ("malformed", failure.0))?;
    let value = expression.search(&document).map_err(|failure| ("failure", failure.0))?;
    let mut out = String::new();
    value.write(&mut out);
    Ok(out)
}

/// Removes the details of a syntax error: JMeter's come from a parser generator, and this crate words them differently.
fn unworded(answer: Answer) -> Answer {
    answer.map_err(|(step, message)| match message.split_once(": syntax error ") {
        Some((what, _)) if step == "malformed" => (step, what.into()),
        _ => (step, message),
    })
}

#[test]
fn answers_are_those_of_the_library() {
    let recorded: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/data/jmespath.json")).unwrap();
    let cases = recorded["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    let (mut unread, mut worded) = (0, 0);
    for case in cases {
        let expression = case["expression"].as_str().unwrap();
        let json = match case["document"].as_str() {
            Some(name) => recorded["documents"][name].as_str().unwrap(),
            None => case["json"].as_str().unwrap(),
        };
        let expected = match case["value"].as_str() {
            Some(value) => Ok(value.to_owned()),
            None => {
                let failed = |step| Some((step, case[step].as_str()?.to_owned()));
                let steps = ["unreadable", "malformed", "failure"];
                Err(steps.into_iter().find_map(failed).unwrap())
            }
        };
        let answered = answer(json, expression);
        if case["malformed"].is_string() {
            unread += 1;
            worded += u32::from(answered == expected);
        }
        if unworded(answered.clone()) != unworded(expected.clone()) {
            let json: String = json.chars().take(200).collect();
            wrong.push(format!(
                "{expression} of {json}\n  expected {expected:?}\n  answered {answered:?}"
            ));
        }
    }
    assert!(cases.len() > 1000, "the record is incomplete");
    assert!(
        worded * 10 > unread * 8,
        "{worded} of {unread} errors of syntax have the library's words"
    );
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn expressions_of_any_size_end() {
    for part in
        ["a.", "(", "[", "!", "*[", "{a:", "a[?", "a||", "a[*].", "[]", "length(", "`[", "\"", "a|"]
    {
        let _ = JmesPath::new(&part.repeat(20_000));
        let _ = JmesPath::new(&part.repeat(390));
    }
    let deep = format!("@{}", "[*]".repeat(140));
    assert!(JmesPath::new(&deep).unwrap().search(&read("[1]").unwrap()).is_ok());
}

proptest! {
    #[test]
    fn any_expression_on_any_document_ends(
        expression in r#"(a|b|\.|\[|\]|\*|\[\?|\(|\)|\{|\}|:|,|@|&|&&|\|\||\||!|==|<|-?[0-9]|`1`|`\[1,null\]`|'a'|"b"|sort_by\(|length\(|map\(&| ){0,12}"#,
        json in r#"[\[\]{}:,"\\abntrue0-9.eE+ é-]{0,24}"#,
    ) {
        let document = read(&json).or_else(|_| read(r#"{"a":[1,{"b":[2,null,"x"]}],"b":{"a":1}}"#));
        if let (Ok(expression), Ok(document)) = (JmesPath::new(&expression), document)
            && let Ok(value) = expression.search(&document)
        {
            let mut out = String::new();
            value.write(&mut out);
            prop_assert!(read(&out).is_ok());
        }
    }
}
