//! Response checks (assertions) of requests that succeeded, on the console, in JSON and as criteria.

use super::program::{PLAN, Program, schema};
use super::summary;

/// Returns a Java Request sampler that responds with a fixed text.
pub(super) fn answering(name: &str, text: &str, inside: &str) -> String {
    let argument = |name: &str, value: &str| {
        format!(
            r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>
            <stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>"#
        )
    };
    let arguments = [("Sleep_Time", "1"), ("Sleep_Mask", "0"), ("ResultData", text)];
    let arguments = arguments.map(|(name, value)| argument(name, value)).concat();
    format!(
        r#"<JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="{name}" enabled="true">
        <elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>
        <stringProp name="classname">org.apache.jmeter.protocol.java.test.JavaTest</stringProp></JavaSampler><hashTree>{inside}</hashTree>"#
    )
}

/// Returns a Response Assertion that requires the response to contain a match of the pattern.
fn containing(pattern: &str) -> String {
    format!(
        r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="Check" enabled="true">
        <collectionProp name="Asserion.test_strings"><stringProp name="1">{pattern}</stringProp></collectionProp>
        <stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">2</intProp></ResponseAssertion><hashTree/>"#
    )
}

/// Returns a plan with three samplers: "Answer" fails its assertion in one of ten responses; "Nobody" connects to a
/// closed port, so its assertion has nothing to check; "Free" has no assertion.
fn plan() -> String {
    let nobody = format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Nobody" enabled="true">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp>
        <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree>{}</hashTree>"#,
        containing("x")
    );
    let answer = answering("Answer", "${__counter(FALSE,)}", &containing("[0-8]$"));
    PLAN.replace("<!--more-->", &[answer, nobody, answering("Free", "y", "")].concat())
}

#[test]
fn answers_as_expected_stand_beside_requests_that_succeeded() {
    let program = Program::new();
    program.write("plan.jmx", &plan());
    let criteria = [
        "checks% > 89",
        "checks%(Answer) = 90",
        "checks% > 90",
        "checks%(Free) > 1",
        "checks%(Nobody) > 1",
    ];
    let criteria = criteria.map(|criterion| ["--fail", criterion]).concat();
    let line = [&["run", "plan.jmx", "-Jloops=10", "--junit", "t.xml"], &criteria[..]].concat();
    let ended = program.run(&line);
    assert_eq!(ended.code, 4, "{ended:?}");
    for words in [
        "met        checks% > 89%: 90% of checked answers (10 of 40 requests failed by transport or status, and no criterion is about errors",
        "met        checks% = 90% for label Answer: 90% of checked answers\n",
        "NOT MET    checks% > 90%: 90% of checked answers",
        "UNDECIDED  checks% > 1% for label Free: no assertion checked an answer of label Free",
        "NOT MET    checks% > 1% for label Nobody: all 10 requests failed by transport or status, and no assertion checked",
        "\nRequests        30 of 40 succeeded (75%), by transport and status\n",
        "\nResponses       9 of 10 checked as expected (90%), by their assertions\n",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    let summary = summary(&program);
    schema::check(&summary).expect("the published form");
    let checks = &summary["checks"];
    assert_eq!((&checks["requests_succeeded"], &checks["checked"]), (&30.into(), &10.into()));
    assert_eq!((&checks["as_expected"], &checks["checks_percent"]), (&9.into(), &90.0.into()));
    assert_eq!(checks["labels"].as_array().map(Vec::len), Some(1), "{checks}");
    let xml = program.read("t.xml");
    assert!(xml.contains("failures=\"2\" errors=\"1\""), "{xml}");
}

#[test]
fn a_run_with_assertions_that_checked_nothing_says_so() {
    let program = Program::new();
    let nobody = plan().replace("\"Answer\" enabled=\"true\"", "\"Answer\" enabled=\"false\"");
    program.write(
        "plan.jmx",
        &nobody.replace("\"Free\" enabled=\"true\"", "\"Free\" enabled=\"false\""),
    );
    let ended = program.run(&["run", "plan.jmx", "-Jloops=1"]);
    let words = "\nResponses       none checked: no assertion ran on a response\n";
    assert!(ended.out.contains(words), "{ended:?}");
    let summary = summary(&program);
    schema::check(&summary).expect("the published form");
    let checks = &summary["checks"];
    assert_eq!((&checks["checked"], checks.get("checks_percent")), (&0.into(), None), "{checks}");
    // The connection was refused, so the error cause is the transport, even though the assertion failed on the empty
    // response.
    let cause = summary["errors"].to_string();
    assert!(cause.contains("refused") && !cause.contains("Test failed"), "{cause}");
}

#[test]
fn a_transaction_with_assertions_is_a_label_of_its_own() {
    let program = Program::new();
    let inside = answering("Answer", "y", "") + &containing("^Number of samples in transaction");
    let parent = format!(
        r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="Order" enabled="true">
        <boolProp name="TransactionController.parent">true</boolProp></TransactionController><hashTree>{inside}</hashTree>"#
    );
    program.write("plan.jmx", &PLAN.replace("<!--more-->", &parent));
    let ended = program.run(&["run", "plan.jmx", "-Jloops=2"]);
    let summary = summary(&program);
    schema::check(&summary).expect("the published form");
    let labels = summary["checks"]["labels"].as_array().cloned().unwrap_or_default();
    let order = labels.iter().find(|label| label["label"] == "Order");
    assert!(order.is_some_and(|one| one["transaction"] == true), "{labels:?} {ended:?}");
    assert!(labels.iter().any(|one| one["label"] == "Answer"), "{labels:?}");
}

#[test]
fn without_an_assertion_answers_as_expected_are_undecided_everywhere() {
    let program = Program::new();
    for option in ["--fail", "--abort-if"] {
        let ended = program.run(&["run", "plan.jmx", option, "checks% < 50"]);
        assert_eq!(ended.code, 6, "{option}: {ended:?}");
        assert!(ended.out.contains("checks% < 50%: no assertion checked an answer"), "{ended:?}");
    }
    let ended = program.run(&["run", "plan.jmx", "--fail", "cheks% > 99"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("error%, checks%"), "{ended:?}");
}
