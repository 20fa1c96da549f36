//! Criteria on errors and checks in runs whose transactions fail by their own assertions, while all requests succeed.

use super::checks::answering;
use super::program::{PLAN, Program, schema};
use super::summary;

/// Returns a plan with a transaction "Order" around two requests. A Response Assertion fails the transaction by its
/// message, which no request has.
fn plan() -> String {
    let requests = [answering("First", "x", ""), answering("Second", "y", "")].concat();
    let around = format!(
        r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="Order" enabled="true">
        <boolProp name="TransactionController.parent">true</boolProp></TransactionController><hashTree>{requests}
        <ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="Whole" enabled="true">
        <collectionProp name="Asserion.test_strings"><stringProp name="1">Number of samples in transaction</stringProp></collectionProp>
        <stringProp name="Assertion.test_field">Assertion.response_message</stringProp><intProp name="Assertion.test_type">6</intProp></ResponseAssertion><hashTree/></hashTree>"#
    );
    PLAN.replace("<!--more-->", &around)
}

fn program() -> Program {
    let program = Program::new();
    program.write("plan.jmx", &plan());
    program
}

#[test]
fn criteria_without_a_label_cover_transactions_that_failed_by_themselves() {
    let program = program();
    let criteria =
        ["error% < 1", "errors < 1", "checks% > 99", "p95 < 1h", "error% = 0 for label First"];
    let criteria = criteria.map(|criterion| ["--fail", criterion]).concat();
    let files = ["--junit", "t.xml", "--markdown", "s.md", "-l", "rows.jtl"];
    let ended = program.run(&[&["run", "plan.jmx", "-Jloops=5"], &files[..], &criteria].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    for words in [
        "NOT MET  error% < 1%: 100% of transactions, by their own assertions\n",
        "NOT MET  errors < 1: 5 (0 requests and 5 transactions by their own assertions)\n",
        "NOT MET  checks% > 99%: 0% of checked transactions\n",
        "met      error% = 0% for label First: 0%\n",
        "\n0 of 15 requests failed; 5 of 5 transactions failed by their own assertions.\n",
        "5 of 5 transactions failed by their own assertions: no request inside failed",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    let summary = summary(&program);
    schema::check(&summary).expect("the published form");
    assert_eq!(summary["transactions_failed_by_own_assertions"], 5, "{summary}");
    assert_eq!((&summary["failed"], &summary["failed_transactions"]), (&0.into(), &5.into()));
    let judged = &summary["criteria"]["judged"];
    assert_eq!(judged[0]["of"]["en"], " of transactions, by their own assertions", "{judged}");
    assert!(judged[4].get("of").is_none(), "{judged}");
    let xml = program.read("t.xml");
    let words = "message=\"error% &lt; 1%: 100% of transactions, by their own assertions\"";
    assert!(xml.contains(words) && xml.contains("failures=\"3\""), "{xml}");
    let markdown = program.read("s.md");
    assert!(markdown.contains("100% of transactions, by their own assertions"), "{markdown}");
    assert!(markdown.contains("Transactions failed by their own assertions"), "{markdown}");
    let verdict = program.run(&["verdict", "rows.jtl"]);
    let words = "5 of 5 transactions failed by their own assertions";
    assert!(verdict.out.contains(words), "{verdict:?}");
}

#[test]
fn times_alone_do_not_hide_transactions_that_failed_by_themselves() {
    let program = program();
    let ended = program.run(&["run", "plan.jmx", "-Jloops=5", "--fail", "p95 < 1h"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    let words = "all 5 transactions failed by their own assertions, and no criterion is about";
    assert!(ended.out.contains(words), "{}", ended.out);
    // Without criteria, the exit code is that of JMeter, and the summary says what happened.
    let ended = program.run(&["run", "plan.jmx", "-Jloops=5", "--runs", "plain"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let words = "EVERY TRANSACTION FAILED BY ITS OWN ASSERTIONS (5 transactions). The exit code";
    assert!(ended.out.contains(words), "{}", ended.out);
}

#[test]
fn transactions_that_failed_by_themselves_end_a_run() {
    for guard in ["error% > 50", "errors > 3", "error% > 50 over 2s"] {
        let program = program();
        let line = ["run", "plan.jmx", "--users", "2", "--duration", "50m", "-Jms=20"];
        let ended = program.run(&[&line[..], &["--abort-if", guard]].concat());
        assert_eq!(ended.code, 4, "{guard}: {ended:?}");
        assert!(ended.out.contains("ENDED THE RUN"), "{guard}: {}", ended.out);
        assert!(ended.out.contains("by their own assertions"), "{guard}: {}", ended.out);
    }
}

#[test]
fn a_transaction_with_a_failed_request_is_no_second_error() {
    let program = Program::new();
    // The transaction's own assertion fails as well.
    let bad = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Bad" enabled="true">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp>
        <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>"#;
    let plan = plan().replacen("<ResponseAssertion", &format!("{bad}<ResponseAssertion"), 1);
    program.write("plan.jmx", &plan);
    let line = ["run", "plan.jmx", "-Jloops=5", "-l", "rows.jtl", "--fail", "errors = 5"];
    let ended = program.run(&[&line[..], &["--fail", "error% = 25"]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("met      errors = 5: 5\n"), "{}", ended.out);
    assert!(ended.out.contains("met      error% = 25%: 25% of requests\n"), "{}", ended.out);
    let verdict = program.run(&["verdict", "rows.jtl"]);
    assert!(!verdict.out.contains("by their own assertions"), "{verdict:?}");
}

#[test]
fn a_transaction_that_failed_by_itself_fails_the_one_around_it_once() {
    // A transaction with a parent sample contains the other one as a sub-result; without, both are reported.
    for (parent, words) in [("true", "5 of 5 transactions"), ("false", "5 of 10 transactions")] {
        let program = Program::new();
        let around = format!(
            r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="Visit" enabled="true">
            <boolProp name="TransactionController.parent">{parent}</boolProp></TransactionController><hashTree><TransactionController"#
        );
        let plan = plan().replacen("<TransactionController", &around, 1);
        let end = "<hashTree/></hashTree>";
        let at = plan.rfind(end).expect("the end of the transaction") + end.len();
        program.write("plan.jmx", &format!("{}</hashTree>{}", &plan[..at], &plan[at..]));
        let line = ["run", "plan.jmx", "-Jloops=5", "-l", "rows.jtl", "--fail", "errors < 1"];
        let ended = program.run(&line);
        assert_eq!(ended.code, 4, "{ended:?}");
        let five = "errors < 1: 5 (0 requests and 5 transactions by their own assertions)";
        assert!(ended.out.contains(five), "{parent}: {}", ended.out);
        assert!(ended.out.contains(&format!("{words} failed by their own")), "{}", ended.out);
        let verdict = program.run(&["verdict", "rows.jtl"]);
        let words = "5 of 10 transactions failed by their own assertions";
        assert!(verdict.out.contains(words), "{parent}: {verdict:?}");
    }
}
