//! Records of real runs against bundled targets (`tests/records/make`). Every rule must report in the run of its
//! situation, and be silent in runs that resemble the situation. The list of runs is `tests/records/situations`.
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use answers::rules;
use record::Record;

/// A line of the list of runs.
struct Run {
    name: String,
    /// The rule whose finding must come first; empty if no rule may report.
    first: String,
    /// Further rules whose findings are true as well.
    beside: Vec<String>,
    /// Rules that the run could mislead, and that must be silent.
    near: Vec<String>,
    how: String,
    target: String,
    plan: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records")
}

fn runs() -> Vec<Run> {
    let text = std::fs::read_to_string(folder().join("situations")).expect("the list");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let run = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, first, beside, near, how, target, plan] = fields[..] else {
            panic!("a line of seven fields: {line}")
        };
        let words = |field: &str| {
            field.split_whitespace().filter(|word| *word != "-").map(str::to_owned).collect()
        };
        Run {
            name: name.into(),
            first: first.trim_matches('-').into(),
            beside: words(beside),
            near: words(near),
            how: how.into(),
            target: target.into(),
            plan: plan.into(),
        }
    };
    lines.map(run).collect()
}

fn read(name: &str) -> Record {
    let record = Record::read(&folder().join(format!("{name}.record"))).expect(name);
    assert!(record.flaws.is_empty(), "{name}: {:?}", record.flaws);
    record
}

fn or_none(words: &[&str]) -> String {
    if words.is_empty() { "-".into() } else { words.join(", ") }
}

#[test]
fn the_right_rule_speaks_first_in_every_real_run() {
    let (mut wrong, mut missed, mut table) = (0, Vec::new(), String::new());
    let (mut speaks, mut silent) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    let (all, mut sentences) = (runs(), String::new());
    for run in &all {
        let verdict = rules::verdict(&read(&run.name));
        let spoke: Vec<&str> = verdict.findings.iter().map(|finding| finding.id).collect();
        let hidden: Vec<&str> = verdict.hidden.iter().map(|finding| finding.id).collect();
        let first = spoke.first().copied().unwrap_or("");
        let is_right = |id: &&&str| **id == run.first || run.beside.iter().any(|b| b == **id);
        let false_ones = spoke.iter().filter(|id| !is_right(id)).count();
        wrong += false_ones;
        let taken_in: Vec<&String> =
            run.near.iter().filter(|near| spoke.contains(&near.as_str())).collect();
        if first != run.first || !taken_in.is_empty() {
            missed.push(&run.name);
        }
        spoke.iter().filter(is_right).for_each(|id| speaks.entry(*id).or_default().push(run));
        for near in &run.near {
            silent.entry(near.as_str()).or_default().push(run);
        }
        let mark = if first == run.first && false_ones == 0 { " " } else { "!" };
        let held =
            if hidden.is_empty() { String::new() } else { format!("  (hidden: {hidden:?})") };
        table += &format!("{mark} {:18} {:18} {}{held}\n", run.name, run.first, or_none(&spoke));
        for finding in verdict.findings.iter().chain(&verdict.hidden) {
            sentences += &format!("{:18} {:18} {}\n", run.name, finding.id, finding.words.en);
        }
    }
    let missing = missed.len();
    println!("{table}{missing} runs without the right rule first, {wrong} wrong findings\n");
    println!("{sentences}");
    let names = |of: Option<&Vec<&Run>>| {
        of.map_or("-".into(), |runs| {
            runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", ")
        })
    };
    for rule in rules::ALL {
        let (in_runs, in_near) = (speaks.get(rule.id), silent.get(rule.id));
        println!("{:18} speaks in {}; silent in {}", rule.id, names(in_runs), names(in_near));
    }
    assert!(missed.is_empty(), "{missed:?}\n{table}");
    assert_eq!(wrong, 0, "{table}");
    // Each rule needs a run in which it reports, a run in which it must be silent, and a way to reproduce both.
    for rule in rules::ALL {
        assert!(speaks.contains_key(rule.id), "{} speaks in no run", rule.id);
        assert!(silent.contains_key(rule.id), "{} is not tried where it must be silent", rule.id);
    }
}

#[test]
fn the_list_names_rules_targets_plans_and_every_record() {
    let known: BTreeSet<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/tests/plans");
    let mut names = BTreeSet::new();
    for run in runs() {
        let mut of_rules = run.beside.iter().chain(&run.near).chain([&run.first]);
        assert!(of_rules.all(|id| id.is_empty() || known.contains(id.as_str())), "{}", run.name);
        assert!(!run.how.is_empty() && !run.target.is_empty(), "{}", run.name);
        let plan = run.plan.split_whitespace().next().unwrap_or("");
        assert!(plans.join(format!("{plan}.jmx")).is_file(), "{}: {plan}", run.name);
        assert!(names.insert(run.name.clone()), "{} is there twice", run.name);
    }
    let files = std::fs::read_dir(folder()).expect("the folder").map(|file| file.expect("a file"));
    let mut bytes = 0;
    let records: BTreeSet<String> = files
        .inspect(|file| bytes += file.metadata().map_or(0, |file| file.len()))
        .filter_map(|file| file.file_name().to_str()?.strip_suffix(".record").map(str::to_owned))
        .collect();
    assert_eq!(records, names);
    assert!(bytes < 13 << 18, "{bytes} bytes are too many for a repository");
}
