//! Summaries, read by an independent Markdown parser. Labels are always plain text, whatever characters they
//! contain.

use std::sync::Arc;

use answers::compare::{Settings, changes, compare, compare_runs};
use answers::random::Random;
use answers::verdict::{Language, Verdict};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use record::{CauseName, Ending, Frame, Label, Part, Record, Second};
use report::model::{Agents, Compared, ComparisonPage, Criterion, Given, RunPage, words};
use stats::Outcome;

/// Names with characters that Markdown or a service interprets.
const HOSTILE: [&str; 17] = [
    "a | b",
    "a \\| b",
    "`code`",
    "``",
    "`|`",
    "<script>alert(1)</script>",
    "[link](http://evil.example)",
    "![picture](http://evil.example/x.png)",
    "@everyone @all",
    "fixes #12 !3",
    "two\r\n\r\n# lines",
    "**bold** _it_ ~~gone~~",
    "http://evil.example www.evil.example",
    "&lt;b&gt; &#64;all",
    "| --- | --- |",
    "</details>\u{202e}",
    "1. = - +",
];

fn part(random: &mut Random, slower: f64) -> Part {
    let mut part = Part { errors: 2, ..Part::default() };
    let mut times: Vec<u64> =
        (0..20).map(|_| ((2000.0 + random.exponential(30_000.0)) * slower) as u64).collect();
    times.sort_unstable();
    for us in times {
        part.count += 1;
        part.elapsed += us * 1000;
        part.longest = part.longest.max(us * 1000);
        part.service.add(stats::hist::layout::index_of(us), 1);
    }
    part
}

/// Returns a record of half a minute with these labels. Its plan, ending and errors have the name of the first label.
fn record(labels: &[String], slower: f64) -> Record {
    let mut random = Random::new(3);
    let second = |i: i64| {
        let parts: Vec<(u32, Part)> =
            (0..labels.len() as u32).map(|n| (n, part(&mut random, slower))).collect();
        let mut all = Part::default();
        for (_, part) in &parts {
            all.merge(part);
        }
        let at_ms = 1_700_000_000_000 + i * 1000;
        Second {
            at_ms,
            ms: 1000,
            all,
            labels: parts.into(),
            causes: vec![(0, 2)],
            ..Second::default()
        }
    };
    let name: Arc<str> = labels[0].as_str().into();
    Record {
        frame: Frame {
            length_ms: 30_000,
            plan: format!("plans/{}.jmx", labels[0].replace('/', "")),
            ending: Ending::Aborted(labels[0].clone()),
            ..Frame::default()
        },
        seconds: (1..=30).map(second).collect(),
        labels: labels
            .iter()
            .map(|name| Label { name: name.as_str().into(), transaction: false, folded: 0 })
            .collect(),
        causes: vec![CauseName {
            outcome: Outcome::Ok,
            code: Arc::clone(&name),
            message: Arc::clone(&name),
            first_label: name,
        }],
        ..Record::default()
    }
}

fn criterion(label: &str) -> Criterion {
    Criterion {
        text: format!("p99 < 1s for label {label}"),
        met: Some(false),
        value: Some(2.0),
        shown: words("2 s", "2 s"),
        reason: None,
        of: Some(label.to_owned()),
    }
}

fn of_run(labels: &[String], language: Language) -> String {
    let page = RunPage::new(&Given {
        record: &record(labels, 1.0),
        verdict: &Verdict::default(),
        run: "run",
        criteria: &[criterion(&labels[0])],
        properties: &[],
        notes: &[],
        jmeter: None,
        agents: &Agents::default(),
        live: false,
    });
    report::markdown::run(&page, language)
}

fn of_two(labels: &[String], language: Language) -> String {
    let (a, b) = (record(labels, 1.0), record(labels, 1.5));
    let settings = Settings::default();
    let page = ComparisonPage::new(&[Compared {
        names: (&labels[0], &labels[0]),
        a: std::slice::from_ref(&a),
        b: std::slice::from_ref(&b),
        doubts: &[],
        comparison: Some(&compare(&a, &b, &settings)),
        changed: &changes(std::slice::from_ref(&a), std::slice::from_ref(&b)),
        criteria: &[criterion(&labels[0])],
        settings: &settings,
        at: None,
    }]);
    report::markdown::comparison(&page.expect("a page"), language)
}

#[test]
fn repeated_runs_say_how_many_they_are() {
    let labels = ["Search".to_owned()];
    let (a, b) = (vec![record(&labels, 1.0); 3], vec![record(&labels, 1.5); 3]);
    let settings = Settings::default();
    let page = ComparisonPage::new(&[Compared {
        names: ("a", "b"),
        a: &a,
        b: &b,
        doubts: &[],
        comparison: Some(&compare_runs(&a, &b, &settings)),
        changed: &changes(&a, &b),
        criteria: &[],
        settings: &settings,
        at: None,
    }]);
    let text = report::markdown::comparison(&page.expect("a page"), Language::English);
    let note = "- A is 3 runs, B is 3 runs; date and length are those of the first.\n";
    assert!(text.contains(note), "{text}");
    assert!(!of_two(&labels, Language::English).contains("those of the first"));
}

#[test]
fn alerts_are_listed_from_their_begin_to_their_end() {
    let mut record = record(&["Search".into()], 1.0);
    let alert = record::Alert {
        name: "Disk full".into(),
        labels: "instance=db:9100, severity=page".into(),
        summary: "It is full.".into(),
        from_ms: record.frame.start_ms + 61_000,
        until_ms: None,
    };
    let old = record::Alert {
        from_ms: record.frame.start_ms - 1,
        until_ms: Some(record.frame.start_ms + 5_000),
        name: "Old".into(),
        ..alert.clone()
    };
    record.facts = vec![alert.fact("the Alertmanager", "1"), old.fact("the Alertmanager", "2")];
    let verdict = Verdict::default();
    let agents = Agents::default();
    let page = RunPage::new(&Given {
        record: &record,
        verdict: &verdict,
        run: "run",
        criteria: &[],
        properties: &[],
        notes: &[],
        jmeter: None,
        agents: &agents,
        live: false,
    });
    let text = report::markdown::run(&page, Language::English);
    let (_, rows) = text.split_once("### Alerts").expect("a section");
    assert!(rows.contains("| before the run | 00:05 |"), "{rows}");
    assert!(rows.contains("| 01:01 | still firing at the end |"), "{rows}");
    assert!(rows.contains("instance=db:9100, severity=page"), "{rows}");
}

/// A summary as a reader sees it.
#[derive(Debug, Default)]
struct Read {
    /// Names in code spans, with the index of their table column.
    names: Vec<(usize, String)>,
    /// All text outside of code spans.
    text: String,
    headings: usize,
}

/// Parses a summary, and checks that it contains only the markup of this program.
fn read(markdown: &str) -> Read {
    let (mut read, mut column) = (Read::default(), 0);
    for event in Parser::new_ext(markdown, Options::all()) {
        match event {
            Event::Start(Tag::TableRow | Tag::TableHead) => column = 0,
            Event::End(TagEnd::TableCell) => column += 1,
            Event::Start(Tag::Heading { .. }) => read.headings += 1,
            Event::Code(code) => read.names.push((column, code.to_string())),
            Event::Text(text) => read.text.push_str(&text),
            Event::End(_) => read.text.push('\n'),
            Event::Start(
                Tag::Paragraph
                | Tag::List(None)
                | Tag::Item
                | Tag::Emphasis
                | Tag::Strong
                | Tag::Table(_)
                | Tag::TableCell,
            ) => {}
            odd => panic!("{odd:?} in\n{markdown}"),
        }
    }
    read
}

/// Returns the name as a summary shows it: on one line, with invisible characters replaced.
fn shown(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{202e}', "\u{fffd}")
}

#[test]
fn labels_are_text_whatever_stands_in_them() {
    for name in HOSTILE {
        let labels = [name.to_owned(), "Login".to_owned()];
        for language in [Language::English, Language::Chinese] {
            for (markdown, headings) in
                [(of_run(&labels, language), 6), (of_two(&labels, language), 5)]
            {
                let found = read(&markdown);
                assert_eq!(found.headings, headings, "{name}\n{markdown}");
                let label = |of: &str| found.names.iter().any(|(at, text)| *at == 0 && text == of);
                assert!(label(&shown(name)) && label("Login"), "{name}: {found:?}\n{markdown}");
                let criterion = format!("p99 < 1s for label {}", shown(name));
                assert!(found.names.contains(&(1, criterion)), "{name}\n{markdown}");
                // Character sequences that services interpret after Markdown, in text outside of code spans.
                let pairs: Vec<(char, char)> =
                    found.text.chars().zip(found.text.chars().skip(1)).collect();
                let is_called = |(a, b): &(char, char)| {
                    matches!(a, '@' | '#' | '!' | '~') && b.is_alphanumeric()
                };
                assert!(!pairs.iter().any(is_called), "{name}: {}", found.text);
                assert!(!found.text.contains("://") && !found.text.contains("www."), "{name}");
            }
        }
    }
}

#[test]
fn a_summary_of_many_labels_fits_into_a_comment() {
    let labels: Vec<String> =
        (0..300).map(|n| format!("{} {n}", "Ärger @all | ".repeat(40))).collect();
    for (markdown, words) in [
        (of_run(&labels, Language::English), "280 more labels are in the report"),
        (of_two(&labels, Language::English), "further rows are in the report"),
    ] {
        assert!(markdown.contains(words), "{markdown}");
        assert!(markdown.chars().count() < 65_536, "{} characters", markdown.chars().count());
        read(&markdown);
    }
}

#[test]
fn the_verdict_and_the_criteria_are_first() {
    let markdown = of_run(&["Login".to_owned()], Language::English);
    let at = |words: &str| markdown.find(words).unwrap_or_else(|| panic!("{words}:\n{markdown}"));
    assert!(
        markdown.starts_with("## ❌ Load test: `Login.jmx` – 1 of 1 criteria not met\n"),
        "{markdown}"
    );
    let order =
        ["### Verdict", "### Criteria", "❌ not met", "### Numbers", "### Labels", "### Errors"];
    let places: Vec<usize> = order.iter().map(|words| at(words)).collect();
    assert!(places.is_sorted(), "{places:?}\n{markdown}");
    at("| ❌ not met | `p99 < 1s for label Login` | 2 s |");
}

/// Returns the page of a short record without findings, with a criterion that is met or not.
fn without_findings(met: bool, change: impl FnOnce(&mut Record)) -> RunPage {
    let mut record = record(&["Pay".to_owned(), "Shop".to_owned()], 1.0);
    change(&mut record);
    let verdict = answers::rules::verdict(&Record::default());
    RunPage::new(&Given {
        record: &record,
        verdict: &Verdict { findings: Vec::new(), hidden: Vec::new(), undecided: None, ..verdict },
        run: "run",
        criteria: &[Criterion { met: Some(met), ..criterion("Pay") }],
        properties: &[],
        notes: &[],
        jmeter: None,
        agents: &Agents::default(),
        live: false,
    })
}

fn html(page: RunPage, language: Language) -> String {
    report::Page::Run(Box::new(page)).html(language)
}

#[test]
fn causes_that_were_not_checked_have_their_reasons() {
    let lacking = answers::rules::verdict(&Record::default()).lacking();
    assert!(lacking.iter().all(|line| line.zh.starts_with("需要")), "{lacking:?}");
    let reason = lacking[0].en.strip_prefix("needs ").and_then(|rest| rest.split(':').next());
    let reason = reason.expect("a reason");
    let markdown = report::markdown::run(&without_findings(true, |_| {}), Language::English);
    assert!(markdown.contains("No problem found."), "{markdown}");
    assert!(markdown.contains("Not checked for lack of data:"), "{markdown}");
    assert!(markdown.contains(&format!("needs {reason}")), "{reason} in {markdown}");
    let html = html(without_findings(true, |_| {}), Language::English);
    assert!(html.contains(&format!("needs {reason}")), "{reason}");
}

#[test]
fn beside_a_criterion_that_is_not_met_nothing_says_that_nothing_stands_out() {
    for (language, nothing, cause) in [
        (Language::English, "No problem found", "No cause was found"),
        (Language::Chinese, "没有发现异常", "未找到判定标准未达标的原因"),
    ] {
        let markdown = report::markdown::run(&without_findings(false, |_| {}), language);
        assert!(!markdown.contains(nothing) && markdown.contains(cause), "{markdown}");
        let html = html(without_findings(false, |_| {}), language);
        let (first, _) = html.split_once("<script").expect("a script behind the first screen");
        assert!(!first.contains(nothing) && first.contains(cause), "{language:?}");
    }
}

#[test]
fn numbers_of_errors_say_whether_they_are_of_requests() {
    let plain = report::markdown::run(&without_findings(true, |_| {}), Language::English);
    assert!(plain.contains("| Failed | ") && !plain.contains("Failed requests"), "{plain}");
    let page = || without_findings(true, |record| record.labels[1].transaction = true);
    let markdown = report::markdown::run(&page(), Language::English);
    assert!(markdown.contains("| Failed requests | "), "{markdown}");
    assert!(markdown.contains("| Failed transactions | 60 (10 % of 600) | "), "{markdown}");
    let html = html(page(), Language::English);
    assert!(html.contains(">Failed requests<") && html.contains(">Failed transactions<"));
}

#[test]
fn series_of_numbers_have_a_table() {
    let page = |has_series: bool| {
        without_findings(true, |record| {
            let value = if has_series { "load=loadNow\nidle=idleNow" } else { "" };
            record.frame.settings = vec![("-Jthrong.series".into(), value.into())];
            for (second, value) in record.seconds.iter_mut().zip([1.0, 190.0, 2.5]) {
                let mut number = stats::Number::default();
                number.add(Some(value));
                second.numbers = vec![(0, number)];
            }
        })
    };
    let markdown = report::markdown::run(&page(true), Language::English);
    assert!(markdown.contains("| `load` | 3 | 64.5 | 1 | 190 |"), "{markdown}");
    assert!(markdown.contains("| `idle` | 0 |  |  |  |"), "{markdown}");
    let markdown = report::markdown::run(&page(false), Language::English);
    assert!(!markdown.contains("Series"), "{markdown}");
}
