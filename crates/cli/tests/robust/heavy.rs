//! Responses that would keep a core busy for minutes: elements that read them give up with a message, and the run
//! continues and reacts to Ctrl-C.

use crate::asked_to_end::{interrupt_twice, until};
use crate::peer::answering;
use crate::trial::{JTL, Trial};

/// Elements below the request. Each element except the first would take minutes without a limit.
const HEAVY: &str = r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="linear">
  <stringProp name="RegexExtractor.refname">linear</stringProp>
  <stringProp name="RegexExtractor.regex">(?:a(?=a*))+b</stringProp>
  <stringProp name="RegexExtractor.template">$0$</stringProp>
  <stringProp name="RegexExtractor.default">none</stringProp>
  <stringProp name="RegexExtractor.match_number">1</stringProp>
</RegexExtractor><hashTree/>
<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="groups">
  <stringProp name="RegexExtractor.refname">groups</stringProp>
  <stringProp name="RegexExtractor.regex">(a+)+\1c</stringProp>
  <stringProp name="RegexExtractor.template">$0$</stringProp>
  <stringProp name="RegexExtractor.default">none</stringProp>
  <stringProp name="RegexExtractor.match_number">1</stringProp>
</RegexExtractor><hashTree/>
<HtmlExtractor guiclass="HtmlExtractorGui" testclass="HtmlExtractor" testname="deep">
  <stringProp name="HtmlExtractor.refname">deep</stringProp>
  <stringProp name="HtmlExtractor.expr">a</stringProp>
  <stringProp name="HtmlExtractor.default">none</stringProp>
  <stringProp name="HtmlExtractor.match_number">1</stringProp>
</HtmlExtractor><hashTree/>
<XPathExtractor guiclass="XPathExtractorGui" testclass="XPathExtractor" testname="tidied">
  <stringProp name="XPathExtractor.refname">tidied</stringProp>
  <stringProp name="XPathExtractor.xpathQuery">//a</stringProp>
  <stringProp name="XPathExtractor.default">none</stringProp>
  <stringProp name="XPathExtractor.matchNumber">1</stringProp>
  <boolProp name="XPathExtractor.tolerant">true</boolProp>
</XPathExtractor><hashTree/>"#;

const ASSERTION: &str = r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="no groups">
  <collectionProp name="Asserion.test_strings"><stringProp name="1">(a+)+\1c</stringProp></collectionProp>
  <stringProp name="Assertion.test_field">Assertion.response_data</stringProp>
  <intProp name="Assertion.test_type">6</intProp>
</ResponseAssertion><hashTree/>"#;

/// Returns a response with 2 000 letters followed by 100 000 unclosed elements.
fn answer() -> String {
    let body = "a".repeat(2_000) + &"<div>".repeat(100_000);
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn log(trial: &Trial) -> String {
    std::fs::read_to_string(trial.program.run_folder().join("throng.log")).expect("a log")
}

#[test]
fn extractors_that_would_take_minutes_give_up_in_words() {
    let trial = Trial::with(HEAVY);
    let steps = "-Jthrong.evaluation.steps=1000000";
    let (ended, rows) = trial.against(answering(answer()), &["-Jusers=2", "-Jloops=2", steps]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.success), "{rows:?}");
    let log = log(&trial);
    for kind in ["Regular Expression Extractor", "CSS Selector Extractor", "XPath Extractor"] {
        let said = format!("{kind} of Request: stopped after 1000000 steps");
        assert!(log.contains(&said), "{kind}: {log}");
    }
}

#[test]
fn pages_that_are_deep_and_no_more_are_read() {
    let from = HEAVY.find("<HtmlExtractor").expect("extractors of pages");
    let said = r#"<DebugSampler testclass="DebugSampler" testname="${deep} ${tidied}" enabled="true"/><hashTree/>"#;
    let trial = Trial::with(&[&HEAVY[from..], said].concat());
    let page = format!("{}<a>x</a>", "<div>".repeat(20_000));
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
        page.len()
    );
    let (ended, rows) = trial.against(answering(head + &page), &["-Jusers=1", "-Jloops=1"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!log(&trial).contains("stopped after"), "{}", log(&trial));
    assert_eq!(rows[1].label, "x x", "{rows:?}");
}

#[test]
fn an_assertion_that_gave_up_fails() {
    // An assertion that gives up does not know the result, so it must fail.
    let trial = Trial::with(ASSERTION);
    let steps = "-Jthrong.evaluation.steps=100000";
    let (ended, rows) = trial.against(answering(answer()), &["-Jusers=1", "-Jloops=2", steps]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(rows.iter().filter(|row| !row.success).count(), 2, "{rows:?}");
    let written = trial.program.read(JTL);
    assert!(written.contains("stopped after 100000 steps"), "{written}");
}

#[test]
fn asking_twice_ends_what_would_take_for_ever() {
    let trial = Trial::with(ASSERTION);
    let steps = "-Jthrong.evaluation.steps=9000000000000000000";
    let child = trial.start(answering(answer()), &["-Jusers=20", steps]);
    until("a run", || std::fs::read_dir(trial.program.path("runs")).is_ok());
    std::thread::sleep(std::time::Duration::from_secs(2));
    interrupt_twice(&trial, &child);
    assert_eq!(trial.finish(child).code, 130);
}
