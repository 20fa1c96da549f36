//! Recorded runs that resemble users' tests: every sentence about them must be right, and all expected findings must be
//! reported. The list `tests/ordinary/list` describes how each run was made and, from that alone, what is true of the
//! run.
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use answers::rules;
use answers::verdict::Finding;
use flate2::read::GzDecoder;
use record::Record;

/// Largest total size of all records in bytes.
const SIZE: u64 = 12 << 20;

/// A line of the list of runs.
struct Run {
    name: String,
    /// Rules that must report, in the order in which their findings must appear.
    right: Vec<Right>,
    /// Further rules whose findings are true as well.
    allowed: Vec<String>,
    /// Strings to look for in the sentences of rules: the rule, true if its sentence must contain the string or false
    /// if it must not, and the string.
    words: Vec<(String, bool, String)>,
    plan: String,
}

/// A rule that must report, or several rules one of which must report.
struct Right {
    ids: Vec<String>,
    /// The rule may miss this run.
    may_miss: bool,
}

/// Counts of a rule over all runs.
#[derive(Default)]
struct Count {
    due: u32,
    found: u32,
    beside: u32,
    wrong: Vec<String>,
    missed: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ordinary")
}

fn list_of(field: &str) -> impl Iterator<Item = String> {
    field.split_whitespace().filter(|word| *word != "-").map(str::to_owned)
}

fn words_of(field: &str) -> Vec<(String, bool, String)> {
    let word = |part: &str| {
        let part = part.trim();
        let end = part.find([':', '!']).expect("a rule, : or !, and words");
        (part[..end].to_owned(), part[end..].starts_with(':'), part[end + 1..].trim().to_owned())
    };
    field.split(';').filter(|part| part.trim() != "-").map(word).collect()
}

fn runs() -> Vec<Run> {
    let text = std::fs::read_to_string(folder().join("list")).expect("the list");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let run = |line: &str| {
        let fields: Vec<&str> = line.splitn(7, '|').map(str::trim).collect();
        let [name, right, allowed, words, _how, _target, plan] = fields[..] else {
            panic!("a line of seven fields: {line}")
        };
        let one = |word: String| Right {
            ids: word.trim_end_matches('?').split('/').map(str::to_owned).collect(),
            may_miss: word.ends_with('?'),
        };
        Run {
            name: name.into(),
            right: list_of(right).map(one).collect(),
            allowed: list_of(allowed).collect(),
            words: words_of(words),
            plan: plan.into(),
        }
    };
    lines.map(run).collect()
}

/// Returns the record of a run, or the record made from its result file.
fn read(name: &str) -> Record {
    let path = folder().join(format!("{name}.record"));
    if path.is_file() {
        let record = Record::read(&path).expect(name);
        assert!(record.flaws.is_empty(), "{name}: {:?}", record.flaws);
        return record;
    }
    let rows = std::fs::File::open(folder().join(format!("{name}.rows.gz"))).expect(name);
    Record::of_rows(BufReader::new(GzDecoder::new(rows))).expect(name)
}

/// Returns the reasons why the findings about a run are wrong.
fn judge(run: &Run, findings: &[Finding], counts: &mut BTreeMap<String, Count>) -> Vec<String> {
    let mut wrong = Vec::new();
    let spoken: Vec<&str> = findings.iter().map(|finding| finding.id).collect();
    let (mut last, mut counted) = (0, BTreeSet::new());
    for Right { ids, may_miss } in &run.right {
        let place = ids.iter().find_map(|id| spoken.iter().position(|spoke| spoke == id));
        let count = counts.entry(place.map_or(&*ids[0], |at| spoken[at]).to_owned()).or_default();
        count.due += 1;
        if let Some(at) = place {
            count.found += 1;
            counted.insert(spoken[at]);
            if at < last {
                wrong.push(format!("{} stands too early", spoken[at]));
            }
            last = last.max(at);
        } else {
            count.missed.push(run.name.clone());
            if !may_miss {
                wrong.push(format!("{} is missing", ids.join("/")));
            }
        }
    }
    for id in spoken.iter().filter(|id| !counted.contains(*id)) {
        let count = counts.entry((*id).to_owned()).or_default();
        let mut others = run.right.iter().flat_map(|right| &right.ids).chain(&run.allowed);
        if others.any(|one| one == id) {
            count.beside += 1;
        } else {
            count.wrong.push(run.name.clone());
            wrong.push(format!("{id} is false"));
        }
    }
    for (id, has, words) in &run.words {
        for finding in findings.iter().filter(|finding| finding.id == id) {
            if finding.words.en.contains(words.as_str()) != *has {
                let verb = if *has { "lacks" } else { "has" };
                wrong.push(format!("{id} {verb} {words:?}"));
            }
        }
    }
    wrong
}

fn table(counts: &BTreeMap<String, Count>) -> String {
    let mut table = format!(
        "{:20} {:>4} {:>5} {:>6} {:>5} {:>9} {:>6}\n",
        "rule", "due", "found", "beside", "wrong", "precision", "recall"
    );
    let percent = |part: u32, whole: u32| {
        if whole == 0 {
            "-".to_owned()
        } else {
            format!("{:.0} %", f64::from(part) / f64::from(whole) * 100.0)
        }
    };
    let mut all = Count::default();
    let mut line = |name: &str, count: &Count, wrong: u32, names: &str| {
        let right = count.found + count.beside;
        table += &format!(
            "{name:20} {:>4} {:>5} {:>6} {wrong:>5} {:>9} {:>6}{names}\n",
            count.due,
            count.found,
            count.beside,
            percent(right, right + wrong),
            percent(count.found, count.due),
        );
    };
    let mut wrongs = 0;
    for rule in rules::ALL {
        let Some(count) = counts.get(rule.id) else { continue };
        let wrong = u32::try_from(count.wrong.len()).unwrap_or(u32::MAX);
        let of = |what, names: &[String]| {
            if names.is_empty() { String::new() } else { format!("  {what} {}", names.join(", ")) }
        };
        let names = of("wrong in", &count.wrong) + &of("misses", &count.missed);
        line(rule.id, count, wrong, &names);
        all.due += count.due;
        all.found += count.found;
        all.beside += count.beside;
        wrongs += wrong;
    }
    line("all", &all, wrongs, "");
    table
}

#[test]
fn every_sentence_on_an_ordinary_test_is_right() {
    let (mut counts, mut failures, mut sentences) = (BTreeMap::new(), String::new(), String::new());
    let all = runs();
    for run in &all {
        let verdict = rules::verdict(&read(&run.name));
        // Findings that are hidden because of doubts about the generator must be true as well.
        let findings: Vec<Finding> = verdict.findings.into_iter().chain(verdict.hidden).collect();
        let wrong = judge(run, &findings, &mut counts);
        if !wrong.is_empty() {
            failures += &format!("{}: {}\n", run.name, wrong.join("; "));
        }
        sentences += &format!("{}{}\n", run.name, if findings.is_empty() { ": -" } else { "" });
        for Finding { id, confidence, words, .. } in &findings {
            sentences += &format!("    {id} ({confidence:?}) {}\n", words.en);
        }
    }
    let table = table(&counts);
    println!("{sentences}\n{table}\n{} runs\n{failures}", all.len());
    assert!(failures.is_empty(), "{failures}\n{table}");
    assert!(all.len() >= 60, "{} runs", all.len());
}

#[test]
fn the_list_names_rules_and_plans_and_every_record() {
    let known: BTreeSet<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/tests/plans");
    let mut names = BTreeSet::new();
    for run in runs() {
        let words = run.words.iter().map(|(id, ..)| id);
        let right = run.right.iter().flat_map(|right| &right.ids);
        let mut of_rules = right.chain(&run.allowed).chain(words);
        assert!(of_rules.all(|id| known.contains(id.as_str())), "{}", run.name);
        let plan = run.plan.split_whitespace().next().unwrap_or("");
        let is_made = plan == "made" && run.plan.contains(" : ");
        assert!(is_made || plans.join(format!("{plan}.jmx")).is_file(), "{}: {plan}", run.name);
        assert!(names.insert(run.name.clone()), "{} is there twice", run.name);
    }
    let (mut records, mut bytes) = (BTreeSet::new(), 0);
    for file in std::fs::read_dir(folder()).expect("the folder").map(|file| file.expect("a file")) {
        bytes += file.metadata().map_or(0, |file| file.len());
        let name = file.file_name().into_string().expect("a name");
        let record = name.strip_suffix(".record").or_else(|| name.strip_suffix(".rows.gz"));
        if let Some(record) = record {
            assert!(records.insert(record.to_owned()), "{record} is there twice");
        }
    }
    assert_eq!(records, names);
    assert!(bytes < SIZE, "{bytes} bytes are too many for a repository");
}
