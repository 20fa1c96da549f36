//! A run as a JUnit test suite, for CI servers: one test for the run's end, and one for each criterion. An undecided
//! criterion, missing results and a run without samples are JUnit errors, which CI servers show in red like failures.

use std::fmt::Write as _;

use answers::criterion::Outcome;
use lang::xml::escaped;

use crate::judge::criteria::{Judgement, words};

/// Facts about the run for the test suite.
pub(crate) struct Facts<'a> {
    pub(crate) plan: &'a str,
    pub(crate) start_ms: i64,
    pub(crate) length_ms: i64,
    /// Reason why the run did not end as planned: a JUnit failure for `--abort-if` and lost workers, a JUnit error for
    /// an interrupt or an error.
    pub(crate) broken: Option<(Tag, String)>,
    /// Message about missing results of the run. Empty if no results are missing.
    pub(crate) lost: &'a str,
}

/// Returns the content of the JUnit file of a run.
pub(crate) fn xml(facts: &Facts<'_>, judgement: &Judgement) -> String {
    let seconds = format!("{:.3}", facts.length_ms as f64 / 1000.0);
    let mut cases = Vec::new();
    let cut_short = judgement.cut_short.as_ref().map(|why| (ERROR, &*why.en));
    let broken = facts.broken.as_ref().map(|(tag, words)| (*tag, &**words)).or(cut_short);
    cases.push(case("the run comes to its end", broken, &seconds));
    if !facts.lost.is_empty() {
        cases.push(case("the results are complete", Some((LOST, facts.lost)), &seconds));
    }
    if let Some(why) = judgement.without_samples {
        cases.push(case("the run has samples", Some((ERROR, why)), &seconds));
    }
    if let Some(aborted) = &judgement.aborted {
        let name = format!("the run is not ended by {}", aborted.criterion);
        cases.push(case(&name, Some((FAILURE, &words(aborted))), &seconds));
    }
    let unguarded = judgement.unguarded.iter().map(|judged| ("the run is not ended by ", judged));
    for (before, judged) in judgement.judged.iter().map(|judged| ("", judged)).chain(unguarded) {
        let name = format!("{before}{}", judged.criterion);
        let words = words(judged);
        let result = match judged.outcome {
            Outcome::Met => None,
            Outcome::NotMet => Some((FAILURE, &*words)),
            Outcome::Undecided => Some((ERROR, &*words)),
        };
        let noted = judged.reason.is_some() && result.is_none();
        cases.push(if noted {
            noted_case(&name, &words, &seconds)
        } else {
            case(&name, result, &seconds)
        });
    }
    suite(facts.plan, facts.start_ms, &seconds, cases)
}

/// Formats a test suite as JUnit XML.
fn suite(name: &str, start_ms: i64, seconds: &str, cases: Vec<(String, Option<Tag>)>) -> String {
    let number = |tag: Tag| {
        cases
            .iter()
            .filter(|(_, result)| result.is_some_and(|(element, _)| element == tag.0))
            .count()
    };
    let (failures, errors) = (number(FAILURE), number(ERROR));
    let at = jiff::Timestamp::from_millisecond(start_ms).unwrap_or_default();
    let stamp = at.strftime("%Y-%m-%dT%H:%M:%S");
    let (name, tests) = (escaped(name), cases.len());
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds}\"");
    let mut out = format!(
        "{HEAD}{counts}>\n  <testsuite name=\"{name}\" {counts} skipped=\"0\" timestamp=\"{stamp}\">\n"
    );
    for (text, _) in cases {
        out.push_str(&text);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// First line of each JUnit file.
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ";

/// Returns a test suite whose only test has an error, for a command without a result.
pub(crate) fn without_result(name: &str, why: &str) -> String {
    let cases = vec![case("the run comes to its end", Some((NO_RESULT, why)), "0.000")];
    suite(name, jiff::Timestamp::now().as_millisecond(), "0.000", cases)
}

/// Formats the plans of `throng check` as a test suite. Each plan is a test, with the reason why it does not run,
/// or with its findings.
pub(crate) fn of_plans<'a>(
    plans: impl Iterator<Item = (&'a str, Option<&'a str>, Option<&'a str>)>,
) -> String {
    let one = |(name, reason, note): (&str, Option<&str>, Option<&str>)| match (reason, note) {
        (Some(reason), _) => case(name, Some((("failure", "plan"), reason)), "0.000"),
        (None, Some(note)) => noted_case(name, note, "0.000"),
        (None, None) => case(name, None, "0.000"),
    };
    let cases = plans.map(one).collect();
    suite("throng check", jiff::Timestamp::now().as_millisecond(), "0.000", cases)
}

/// XML element and type of the result of a test that did not pass.
pub(crate) type Tag = (&'static str, &'static str);

/// Result of a test for a criterion that was missed.
pub(crate) const FAILURE: Tag = ("failure", "criterion");
/// Result of a test for a criterion that is undecided, and for a run without samples or with an early end.
pub(crate) const ERROR: Tag = ("error", "undecided");
/// Result of the test that checks whether results of the run are missing.
const LOST: Tag = ("error", "lost");
/// Result of the only test of a command that has no result.
const NO_RESULT: Tag = ("error", "no result");

/// Formats a passed JUnit test that has a note.
fn noted_case(name: &str, words: &str, seconds: &str) -> (String, Option<Tag>) {
    let (name, words) = (masked(name), masked(words));
    let text = format!(
        "    <testcase classname=\"throng\" name=\"{name}\" time=\"{seconds}\">\n      <system-out>{words}</system-out>\n    </testcase>\n"
    );
    (text, None)
}

/// Escapes a string for XML, with secrets masked.
fn masked(text: &str) -> String {
    escaped(&record::mask::urls(text))
}

/// Formats a JUnit test, with its result if it did not pass.
fn case(name: &str, result: Option<(Tag, &str)>, seconds: &str) -> (String, Option<Tag>) {
    let mut out =
        format!("    <testcase classname=\"throng\" name=\"{}\" time=\"{seconds}\"", masked(name));
    match result {
        None => out.push_str("/>\n"),
        Some(((tag, kind), words)) => {
            let words = masked(words);
            let _ = write!(
                out,
                ">\n      <{tag} type=\"{kind}\" message=\"{words}\">{words}</{tag}>\n    </testcase>\n"
            );
        }
    }
    (out, result.map(|(tag, _)| tag))
}
