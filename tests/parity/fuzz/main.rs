//! Compares Throng with JMeter 5.6.3 on random small plans; its `README.md` describes the usage.
//!
//! Plans are generated from a seed (`grammar.rs`) and run by both programs against the target of the parity cases
//! (`engines.rs`). The outcomes are compared like the outcomes of parity cases, and a plan is shrunk if its outcomes
//! differ (`shrink.rs`). Differences with a known cause are counted by cause (`known.rs`).

mod around;
mod controllers;
mod dice;
mod difference;
mod engines;
mod grammar;
mod known;
mod samplers;
mod shrink;
mod tree;
mod values;

use crate::dice::Dice;
use crate::difference::Difference;
use crate::engines::Bench;
use crate::tree::Element;
use parity::normal::Rules;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Number of runs in which a difference must occur to be reported.
const SHOWS: usize = 3;
/// Maximum time for shrinking one plan.
const SHRINKING: Duration = Duration::from_secs(20);

/// The command-line options of the comparison.
struct Options {
    seed: u64,
    first: u64,
    plans: u64,
    out: PathBuf,
    source: PathBuf,
    throng: PathBuf,
    home: PathBuf,
    classes: PathBuf,
    twice: bool,
    files: Vec<PathBuf>,
    show: bool,
}

fn main() -> ExitCode {
    every_native_class_has_its_place();
    let options = match options() {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    if options.show {
        let plan = grammar::plan(&mut Dice::new(options.seed, options.first));
        print!("{}", plan.jmx());
        return ExitCode::SUCCESS;
    }
    let work = Scratch::new();
    let mut bench = Bench::new(
        &options.source,
        &work.0,
        options.throng.clone(),
        options.home.clone(),
        options.classes.clone(),
    );
    let good = if !options.files.is_empty() {
        files(&mut bench, &options.files)
    } else if options.twice {
        twice(&mut bench, &options)
    } else {
        search(&mut bench, &options)
    };
    ExitCode::from(u8::from(!good))
}

fn options() -> Result<Options, String> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options {
        seed: 1,
        first: 0,
        plans: 200,
        out: PathBuf::from("differing"),
        source: PathBuf::new(),
        throng: PathBuf::new(),
        home: PathBuf::new(),
        classes: PathBuf::new(),
        twice: false,
        files: Vec::new(),
        show: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
        match argument.as_str() {
            "--seed" => options.seed = number(value()?)?,
            "--first" => options.first = number(value()?)?,
            "--plans" => options.plans = number(value()?)?,
            "--out" => options.out = value()?.into(),
            "--source" => options.source = value()?.into(),
            "--throng" => options.throng = absolute(&value()?)?,
            "--jmeter" => options.home = value()?.into(),
            "--classes" => options.classes = value()?.into(),
            "--twice" => options.twice = true,
            "--show" => options.show = true,
            "--plan" => options.files.push(value()?.into()),
            other => {
                return Err(format!(
                    "{other}: there are --seed --plans --first --out --twice --show --plan"
                ));
            }
        }
    }
    Ok(options)
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    fs::canonicalize(path).map_err(|problem| format!("{path}: {problem}"))
}

/// Folder for the runs' files, in memory if possible, because runs write many files and none is kept.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let work = place.join(format!("parity-fuzz-{}", std::process::id()));
        let _ = fs::remove_dir_all(&work);
        Self(work)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks that every class that the support table calls native is in the grammar or in the list of exceptions.
fn every_native_class_has_its_place() {
    let made = |name: &str| {
        let tables =
            controllers::CONTROLLERS.iter().chain(samplers::SAMPLERS).chain(around::AROUND);
        tables.into_iter().any(|(_, (class, _))| *class == name)
            || around::LEFT_OUT.iter().any(|(class, _)| *class == name)
    };
    let lost: Vec<_> = plan::support::table()
        .iter()
        .filter(|class| class.level == plan::support::Level::Native && !made(class.name))
        .map(|class| class.name)
        .collect();
    assert!(lost.is_empty(), "neither in the grammar nor left out of it: {lost:?}");
}

/// True if a plan's result is random. Causes are JMeter's random numbers, and races: between users if something ends
/// the run or is shared, or between the end of a run and the start of its next group.
fn is_chance(plan: &Element) -> bool {
    let (mut several, mut ends, mut ends_run, mut shares, mut dice) =
        (false, false, false, false, false);
    let mut groups = 0;
    plan.each(&mut |element| {
        let class = element.class.as_str();
        let value = |name| element.value(name).unwrap_or_default();
        dice |= matches!(class, "RandomController" | "RandomOrderController")
            && element.children.len() > 1;
        several |= value("ThreadGroup.num_threads") == "2";
        ends |= matches!(class, "TestAction" | "ResultAction")
            || value("ThreadGroup.on_sample_error").starts_with("stop");
        ends_run |= value("ThreadGroup.on_sample_error").starts_with("stoptest")
            || class == "TestAction" && value("ActionProcessor.target") == "2"
            || class == "ResultAction" && matches!(value("OnError.action"), "2" | "3");
        shares |= class == "CounterConfig" && value("CounterConfig.per_user") != "true"
            || class == "CSVDataSet" && value("shareMode") != "shareMode.thread"
            || class == "ThroughputController"
            || value("InterleaveControl.accrossThreads") == "true";
        groups += usize::from(class.ends_with("ThreadGroup"));
    });
    if several {
        let text = plan.jmx();
        let functions = [
            "${__counter(FALSE",
            "${__CSVRead",
            "${__StringFromFile",
            "${__setProperty",
            "/flaky",
            "/cookie",
        ];
        shares |= functions.iter().any(|function| text.contains(function));
    }
    several && (ends || shares) || groups > 1 && ends_run || dice
}

/// Returns the comparison rules for a plan.
fn rules(plan: &Element) -> Rules {
    let mut rules = Rules::default();
    let mut groups = 0;
    plan.each(&mut |element| {
        if element.class.ends_with("ThreadGroup") {
            groups += usize::from(element.class == "ThreadGroup");
            rules.users |=
                element.value("ThreadGroup.num_threads").is_some_and(|users| users != "1");
        }
        rules.claims |= element.class.ends_with("DummySampler");
        rules.traces |= ["TransactionController", "HTTPRawSampler", "TCPSampler"]
            .iter()
            .any(|class| element.class.ends_with(class))
            || element.value("HTTPSampler.image_parser").is_some();
    });
    plan.each(&mut |element| {
        if element.value("displayJMeterVariables") != Some("false")
            && element.class == "DebugSampler"
        {
            rules.varies.push(element.name.clone());
        }
    });
    rules.users |= groups > 1 && plan.value("TestPlan.serialize_threadgroups") != Some("true");
    let text = plan.jmx();
    // An object's number in the listed variables varies in length, and an echoed boundary is random; transactions sum
    // up these sizes.
    rules.sizes = !rules.varies.is_empty() && text.contains("<TransactionController");
    rules.boundaries = text.contains("DO_MULTIPART_POST") || text.contains("HTTPFileArg");
    rules.sizes |= rules.boundaries && text.contains("/echo");
    rules
}

/// Runs a plan and returns the difference, if there is one.
fn compare(bench: &mut Bench, plan: &Element) -> Option<Difference> {
    let (jmeter, throng) = bench.both(&plan.jmx(), &rules(plan));
    Difference::between(&jmeter, &throng)
}

/// Numbers of equal, random, unstable, refused and differing plans.
#[derive(Default)]
struct Counts {
    equal: u64,
    /// Plans that were not run because their result is random.
    chance: u64,
    unstable: u64,
    refused: BTreeMap<String, u64>,
    known: BTreeMap<&'static str, (u64, &'static str)>,
    new: BTreeMap<String, (u64, PathBuf)>,
    /// Number of shrunk plans per combination of element classes.
    shapes: BTreeMap<String, u64>,
}

fn search(bench: &mut Bench, options: &Options) -> bool {
    println!(
        "seed {}, plans {} to {}",
        options.seed,
        options.first,
        options.first + options.plans - 1
    );
    let begin = Instant::now();
    let mut counts = Counts::default();
    for number in options.first..options.first + options.plans {
        let plan = grammar::plan(&mut Dice::new(options.seed, number));
        if is_chance(&plan) {
            counts.chance += 1;
        } else {
            judge(bench, options, number, &plan, &mut counts);
        }
        let done = number + 1 - options.first;
        if done.is_multiple_of(100) {
            let new: u64 = counts.new.values().map(|(count, _)| count).sum();
            println!("{done} plans, {} s, {new} differ", begin.elapsed().as_secs());
        }
    }
    print(&counts, options.plans, begin);
    counts.new.is_empty()
}

fn judge(bench: &mut Bench, options: &Options, number: u64, plan: &Element, counts: &mut Counts) {
    let Some(difference) = compare(bench, plan) else {
        counts.equal += 1;
        return;
    };
    if let Some(text) = difference.refused() {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("  plan.jmx:"));
        let reason = lines.nth(1).unwrap_or("no reason");
        *counts.refused.entry(reason_of(reason)).or_default() += 1;
        return;
    }
    if let Some(known) = known::cause(plan, &difference) {
        counts.known.entry(known.name).or_insert((0, known.documented)).0 += 1;
        return;
    }
    // Runs that do not end take long, so they are repeated less often.
    let slow = difference.text.contains("did not end");
    let shows = if slow { 2 } else { SHOWS };
    if !(1..shows).all(|_| compare(bench, plan).is_some()) {
        counts.unstable += 1;
        return;
    }
    let begin = Instant::now();
    let first = difference.kind.clone();
    let mut last = difference;
    // At most two plans with the same classes are shrunk completely.
    let enough = |plan: &Element| {
        begin.elapsed() > SHRINKING
            || counts.shapes.get(&classes(plan)).is_some_and(|seen| *seen >= 2)
    };
    let tries = if slow { 6 } else { 250 };
    let smallest = shrink::smallest(plan, tries, &enough, &mut |smaller| {
        let worth = begin.elapsed() < SHRINKING && !is_chance(smaller);
        let found = worth.then(|| compare(bench, smaller)).flatten();
        let found = found.filter(|found| {
            let other = found.refused().is_some() || known::cause(smaller, found).is_some();
            !other && found.is_part_of(&first)
        });
        found.map(|found| last = found).is_some()
    });
    *counts.shapes.entry(classes(&smallest)).or_default() += 1;
    let signature = format!("{}: {}", last.kind, classes(&smallest));
    let folder = options.out.join(format!("{}-{number}", options.seed));
    let entry = counts.new.entry(signature.clone()).or_insert((0, folder.clone()));
    entry.0 += 1;
    println!("plan {number} differs: {signature}");
    fs::create_dir_all(&folder).expect("a folder for what differs");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
    write("plan.jmx", &smallest.jmx());
    write("found.jmx", &plan.jmx());
    write("difference.txt", &format!("{signature}\n{}", last.text));
}

/// Lists the element classes of a plan.
fn classes(plan: &Element) -> String {
    let mut classes = Vec::new();
    plan.each(&mut |element| {
        if element.class != "TestPlan" && element.name != "Target" {
            classes.push(element.class.rsplit('.').next().unwrap_or_default());
        }
    });
    classes.sort_unstable();
    classes.dedup();
    classes.join(" ")
}

/// Returns the reason of a refusal without the expression that cannot be parsed, which differs between plans.
fn reason_of(line: &str) -> String {
    let line = line.trim();
    let reason = line.split_once("cannot be parsed: ").map_or(line, |(_, reason)| reason);
    reason.split(" in ${").next().unwrap_or_default().to_owned()
}

fn print(counts: &Counts, plans: u64, begin: Instant) {
    println!(
        "\n{plans} plans in {} s: {} equal, {} differ now and then",
        begin.elapsed().as_secs(),
        counts.equal,
        counts.unstable
    );
    println!("{} not compared: a matter of chance", counts.chance);
    let refused: u64 = counts.refused.values().sum();
    println!("{refused} refused in words");
    counts.refused.iter().for_each(|(reason, count)| println!("  {count:6}  {reason}"));
    println!(
        "{} differ for a known cause",
        counts.known.values().map(|(count, _)| count).sum::<u64>()
    );
    for (name, (count, documented)) in &counts.known {
        println!("  {count:6}  {name} ({documented})");
    }
    println!("{} differ for another", counts.new.values().map(|(count, _)| count).sum::<u64>());
    for (signature, (count, folder)) in &counts.new {
        println!("  {count:6}  {signature}  {}", folder.display());
    }
}

/// Checks that a warm JMeter yields the same outcome twice.
fn twice(bench: &mut Bench, options: &Options) -> bool {
    let mut differing = 0;
    for number in options.first..options.first + options.plans {
        let plan = grammar::plan(&mut Dice::new(options.seed, number));
        let rules = rules(&plan);
        let first = bench.jmeter(&plan.jmx(), &rules);
        let second = bench.jmeter(&plan.jmx(), &rules);
        if let Some(difference) = Difference::between(&first, &second) {
            println!("plan {number}: {}\n{}", difference.kind, difference.text);
            differing += 1;
        }
    }
    println!("{differing} of {} plans differ from themselves in JMeter", options.plans);
    differing == 0
}

/// Compares plans from files and shows their differences.
fn files(bench: &mut Bench, files: &[PathBuf]) -> bool {
    let mut good = true;
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let users = text.contains("num_threads\">2");
        let rules = Rules { traces: true, boundaries: true, users, ..Rules::default() };
        let (jmeter, throng) = bench.both(&text, &rules);
        let verdict = Difference::between(&jmeter, &throng);
        println!("{}: {}", name(file), verdict.as_ref().map_or("equal", |d| d.kind.as_str()));
        if let Some(difference) = verdict {
            print!("{}", difference.text);
            good = false;
        }
    }
    good
}

fn name(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_native_class_has_its_place() {
        super::every_native_class_has_its_place();
    }
}
