//! Compares the outcomes of extractors and assertions with recorded outcomes of JMeter's elements;
//! `tests/data/README.md` describes the recording.

use std::collections::BTreeMap;

use lang::xml::escaped;
use serde_json::Value;

use super::*;
use crate::assertion::{self, Assertion};
use crate::function::Shared;
use crate::world::World;

/// Returns an element with these properties.
fn element(class: &str, props: &Value) -> Element {
    let mut xml = String::from("<jmeterTestPlan version=\"1.2\"><hashTree>");
    xml.push_str(&format!("<{class} testclass=\"{class}\" testname=\"Name\">"));
    for (name, value) in props.as_object().unwrap() {
        match value {
            Value::Array(values) => {
                xml.push_str(&format!("<collectionProp name=\"{name}\">"));
                for value in values {
                    let value = escaped(value.as_str().unwrap());
                    xml.push_str(&format!("<stringProp name=\"1\">{value}</stringProp>"));
                }
                xml.push_str("</collectionProp>");
            }
            value => {
                let value = escaped(value.as_str().unwrap());
                xml.push_str(&format!("<stringProp name=\"{name}\">{value}</stringProp>"));
            }
        }
    }
    xml.push_str(&format!("</{class}><hashTree/></hashTree></jmeterTestPlan>"));
    let document = jmx::parse("test.jmx", xml.into_bytes()).expect("a plan").0;
    document.element(document.roots()[0]).clone()
}

fn fill(result: &mut SampleResult, fields: &Value) {
    let text = |name: &str| fields[name].as_str().unwrap_or("").to_string();
    result.clear();
    result.text = text("text");
    result.response_headers = text("response_headers");
    result.request_headers = text("request_headers");
    result.code = text("code");
    result.message = text("message");
    result.sampler_data = text("sampler_data");
    result.url = text("url");
    result.success = fields["success"].as_bool().unwrap_or(true);
    result.elapsed = fields["elapsed"].as_u64().unwrap_or(5) * 1_000_000;
    for sub in fields["subs"].as_array().into_iter().flatten() {
        fill(result.add_sub(), sub);
    }
}

fn checked(result: &SampleResult) -> Value {
    let findings = result.assertions().iter().map(|entry| {
        serde_json::json!({
            "name": entry.name,
            "failure": entry.failure,
            "error": entry.error,
            "message": entry.has_message.then_some(&entry.message),
        })
    });
    serde_json::json!({
        "success": result.success,
        "assertions": findings.collect::<Vec<_>>(),
        "subs": result.subs().iter().map(checked).collect::<Vec<_>>(),
    })
}

enum Made {
    Extractor(Extractor),
    Assertion(Assertion),
}

/// Runs an element on a sample result, and returns the variables or the assertion results that it sets.
fn answer(class: &str, props: &Value, before: &Value, fields: &Value) -> Value {
    let element = element(class, props);
    let mut compiler = TemplateCompiler::default();
    let made = match compile(&element, &mut compiler) {
        Some(made) => Made::Extractor(made.expect("it runs natively").0),
        None => Made::Assertion(
            assertion::compile(&element, &mut compiler).unwrap().expect("it runs natively").0,
        ),
    };
    let mut world = World::named(compiler.names, Shared::default());
    for (name, value) in before.as_object().into_iter().flatten() {
        world.set(name, value.as_str().unwrap());
    }
    let mut result = SampleResult::default();
    fill(&mut result, fields);
    match made {
        Made::Extractor(extractor) => {
            world.with(|_, env| extractor.run(&mut result, env));
            let left: BTreeMap<_, _> = world.vars.iter(&world.plan.names).collect();
            serde_json::to_value(left).unwrap()
        }
        Made::Assertion(assertion) => {
            world.with(|_, env| assertion.run(&mut result, env));
            checked(&result)
        }
    }
}

#[test]
fn elements_do_what_those_of_jmeter_do() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../tests/data/elements.json")).unwrap();
    let cases = recorded["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let (class, props) = (case["class"].as_str().unwrap(), &case["props"]);
        let fields = &recorded["results"][case["result"].as_str().unwrap()];
        let expected = case.get("variables").or(case.get("checked")).unwrap();
        let answer = answer(class, props, &case["vars"], fields);
        if answer != *expected {
            let (before, fields) = (&case["vars"], fields.to_string());
            let fields: String = fields.chars().take(300).collect();
            wrong.push(format!(
                "{class} {props} {before} {fields}\n  expected {expected}\n  answered {answer}"
            ));
        }
    }
    assert!(cases.len() > 1100, "the record is incomplete");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn number_zero_chooses_any_match() {
    let fields = serde_json::json!({ "text": "[1,2,3]" });
    for (class, props) in [
        (
            "RegexExtractor",
            serde_json::json!({
                "RegexExtractor.refname": "v", "RegexExtractor.regex": "\\d", "RegexExtractor.template": "$0$",
                "RegexExtractor.match_number": "0",
            }),
        ),
        (
            "JSONPostProcessor",
            serde_json::json!({
                "JSONPostProcessor.referenceNames": "v", "JSONPostProcessor.jsonPathExprs": "$[*]",
            }),
        ),
    ] {
        let element = element(class, &props);
        let mut compiler = TemplateCompiler::default();
        let (extractor, _) = compile(&element, &mut compiler).unwrap().unwrap();
        let mut result = SampleResult::default();
        fill(&mut result, &fields);
        let mut chosen = std::collections::BTreeSet::new();
        World::named(compiler.names, Shared::default()).with(|_, env| {
            for _ in 0..200 {
                extractor.run(&mut result, env);
                chosen.insert(env.vars.get_named(env.names, "v").map(String::from));
            }
        });
        let all: Vec<_> = chosen.iter().flatten().map(String::as_str).collect();
        assert_eq!(all, ["1", "2", "3"], "{class}");
    }
}

#[test]
fn documents_need_a_jvm() {
    for (class, property, value) in [
        ("RegexExtractor", "RegexExtractor.useHeaders", "as_document"),
        ("BoundaryExtractor", "BoundaryExtractor.useHeaders", "as_document"),
    ] {
        let element = element(class, &serde_json::json!({ property: value }));
        let made = compile(&element, &mut TemplateCompiler::default()).unwrap();
        assert!(made.is_err_and(|problem| problem.needs_jvm), "{class}");
    }
    let field =
        serde_json::json!({ "Assertion.test_field": "Assertion.response_data_as_document" });
    let made =
        assertion::compile(&element("ResponseAssertion", &field), &mut TemplateCompiler::default())
            .unwrap();
    assert!(made.is_err_and(|problem| problem.needs_jvm));
}

#[test]
fn what_cannot_be_read_is_told_before_the_run() {
    let complaint = |class: &str, props: &Value| {
        let element = element(class, props);
        let mut compiler = TemplateCompiler::default();
        match compile(&element, &mut compiler) {
            Some(made) => made.unwrap().0.complaint(),
            None => assertion::compile(&element, &mut compiler).unwrap().unwrap().0.complaint(),
        }
    };
    let malformed = "Invalid expression: a++\nNested repetitions *?+ in expression";
    let regex = serde_json::json!({ "RegexExtractor.regex": "a++" });
    assert_eq!(complaint("RegexExtractor", &regex).as_deref(), Some(malformed));
    let response =
        serde_json::json!({ "Asserion.test_strings": ["a", "a++"], "Assertion.test_type": "2" });
    assert_eq!(complaint("ResponseAssertion", &response).as_deref(), Some(malformed));
    let paths = serde_json::json!({ "JSONPostProcessor.jsonPathExprs": "$.a;$." });
    assert!(complaint("JSONPostProcessor", &paths).is_some());
    assert!(complaint("JSONPathAssertion", &serde_json::json!({ "JSON_PATH": "$." })).is_some());
    assert!(complaint("JSONPathAssertion", &serde_json::json!({ "JSON_PATH": "$.a" })).is_none());
}

#[test]
fn needs_follow_field_and_scope() {
    let needs = |class: &str, props: Value| {
        let element = element(class, &props);
        let mut compiler = TemplateCompiler::default();
        match compile(&element, &mut compiler) {
            Some(made) => made.unwrap().1,
            None => assertion::compile(&element, &mut compiler).unwrap().unwrap().1,
        }
    };
    assert_eq!(needs("RegexExtractor", serde_json::json!({})), Needs::TEXT);
    let headers = serde_json::json!({ "RegexExtractor.useHeaders": "true", "Sample.scope": "all" });
    assert_eq!(needs("RegexExtractor", headers), Needs::HEADERS | Needs::SUBS);
    let variable = serde_json::json!({ "Sample.scope": "variable", "Scope.variable": "x" });
    assert_eq!(needs("JSONPostProcessor", variable), Needs::empty());
    let code = serde_json::json!({ "Assertion.test_field": "Assertion.response_code" });
    assert_eq!(needs("ResponseAssertion", code), Needs::empty());
    assert_eq!(needs("DurationAssertion", serde_json::json!({})), Needs::empty());
    assert_eq!(needs("JSONPathAssertion", serde_json::json!({})), Needs::TEXT);
}
