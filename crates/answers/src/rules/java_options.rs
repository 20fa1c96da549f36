//! Detects JVM options that follow `-jar` or the main class on a command line: Java passes them to the program as
//! arguments.
//!
//! This check is not in the list of rules, because hardly any exporter reports command lines, and without them a
//! run cannot be checked.

use record::Record;

use super::figures::{span, whole};
use super::say::{found, words};
use crate::machines::machines;
use crate::verdict::{About, Confidence, Finding, Verdict, Words, in_order};

pub(super) const ID: &str = "java_options";

/// Adds a finding for each watched host with misplaced options.
pub(super) fn add(verdict: &mut Verdict, record: &Record) {
    let machines = machines(record);
    let lines = machines.iter().filter_map(|one| Some((one.host, one.misplaced_options?)));
    verdict.findings.extend(lines.filter_map(|(host, lines)| finding(record, host, lines)));
    verdict.findings = in_order(std::mem::take(&mut verdict.findings));
}

fn finding(record: &Record, host: &str, lines: &str) -> Option<Finding> {
    let lines: Vec<(String, &str)> = lines.split("; ").filter_map(parts).collect();
    let (program, options) = lines.first()?;
    let (n, of_others) = (lines.len() - 1, lines.len() > 1);
    let more = if of_others { words!(java_options_of_others(n)) } else { Words::default() };
    let count = options.split(' ').count();
    let (are, they, them) =
        if count == 1 { ("option", "is", "it") } else { ("options", "are", "them") };
    Some(
        found(
            ID,
            About::Target,
            Confidence::Certain,
            words!(java_options_found(are, options, program, host, they, them, more)),
        )
        .on_hosts([host])
        .with("misplaced_options", count as f64, "options", span(whole(record)))
        .advise(words!(java_options_advice(them, options, program))),
    )
}

/// Splits a line such as `-jar app.jar -Xmx1g -XX:+UseG1GC` into program and options.
fn parts(line: &str) -> Option<(String, &str)> {
    let behind = if line.starts_with("-jar ") { "-jar ".len() } else { 0 };
    let at = behind + line[behind..].find(" -")?;
    Some((line[..at].to_owned(), &line[at + 1..]))
}

#[cfg(test)]
mod tests {
    use record::Fact;

    use super::*;

    fn said(facts: &[(&str, &str)]) -> Vec<String> {
        let fact = |(name, value): &(&str, &str)| Fact {
            host: "app".into(),
            name: (*name).into(),
            value: (*value).into(),
        };
        let record = Record { facts: facts.iter().map(fact).collect(), ..Record::default() };
        let mut verdict = Verdict::default();
        add(&mut verdict, &record);
        verdict.findings.into_iter().map(|one| one.words.en + " " + &one.advice.en).collect()
    }

    #[test]
    fn options_behind_the_jar_are_named() {
        let words = "The options -Xmx1g -XX:+UseG1GC behind -jar app.jar on app are not in force: Java gives them to the program \
                     as arguments. Put them before: java -Xmx1g -XX:+UseG1GC -jar app.jar. Then repeat the run.";
        assert_eq!(said(&[(Fact::MISPLACED, "-jar app.jar -Xmx1g -XX:+UseG1GC")]), [words]);
        let words = said(&[(Fact::MISPLACED, "com.App -Xss1m; -jar b.jar -Xmx1g")]);
        assert_eq!(
            words,
            [
                "The option -Xss1m behind com.App on app is not in force: Java gives it to the program as arguments. So are those \
              of 1 more on this host. Put it before: java -Xss1m com.App. Then repeat the run."
            ]
        );
    }

    #[test]
    fn nothing_is_said_of_other_settings() {
        let others = [(Fact::ARGUMENTS, "-Xmx1g"), (Fact::HEAP_MAX, "1073741824")];
        assert!(said(&others).is_empty() && said(&[(Fact::MISPLACED, "odd")]).is_empty());
    }
}
