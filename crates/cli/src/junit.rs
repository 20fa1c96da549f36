//! The run as a suite of JUnit tests, for what shows those: one test for the run's end, one for each criterion.

use std::fmt::Write as _;

use answers::criterion::Judged;
use lang::xml::escaped;

use crate::criteria::{Judgement, words};

/// Facts about the run.
pub(crate) struct Facts<'a> {
    pub(crate) plan: &'a str,
    pub(crate) start_ms: i64,
    pub(crate) length_ms: i64,
    /// Why the run did not come to its end.
    pub(crate) broken: Option<String>,
}

/// The text of the file.
pub(crate) fn xml(facts: &Facts<'_>, judgement: &Judgement) -> String {
    let seconds = format!("{:.3}", facts.length_ms as f64 / 1000.0);
    let mut cases = Vec::new();
    cases.push(case("the run comes to its end", facts.broken.as_deref(), &seconds));
    let broken = |judged: &Judged| (!judged.holds).then(|| words(judged));
    if let Some(aborted) = &judgement.aborted {
        let name = format!("the run is not ended by {}", aborted.criterion);
        cases.push(case(&name, Some(&words(aborted)), &seconds));
    }
    for judged in &judgement.judged {
        let name = judged.criterion.to_string();
        cases.push(case(&name, broken(judged).as_deref(), &seconds));
    }
    let failures = cases.iter().filter(|(_, failed)| *failed).count();
    let at = jiff::Timestamp::from_millisecond(facts.start_ms).unwrap_or_default();
    let stamp = at.strftime("%Y-%m-%dT%H:%M:%S");
    let (plan, tests) = (escaped(facts.plan), cases.len());
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds}\"");
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"{plan}\" {counts} skipped=\"0\" timestamp=\"{stamp}\">\n"
    );
    for (text, _) in cases {
        out.push_str(&text);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// A test and whether it failed.
fn case(name: &str, failure: Option<&str>, seconds: &str) -> (String, bool) {
    let mut out =
        format!("    <testcase classname=\"throng\" name=\"{}\" time=\"{seconds}\"", escaped(name));
    match failure {
        None => out.push_str("/>\n"),
        Some(words) => {
            let words = escaped(words);
            let _ = write!(
                out,
                ">\n      <failure type=\"criterion\" message=\"{words}\">{words}</failure>\n    </testcase>\n"
            );
        }
    }
    (out, failure.is_some())
}
