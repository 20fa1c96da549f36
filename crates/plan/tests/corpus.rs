//! Compiles all plans of a folder of real plans without a panic, and prints how many run natively.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::collections::BTreeMap;
use std::path::Path;

use jmx::Document;
use plan::compile::{Settings, compile};
use plan::support::{Level, Support};

#[test]
fn real_plans_compile() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/jmx");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return skipped::skip(format!("no corpus at {}", folder.display()));
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut counts = Counts::default();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(bytes) = std::fs::read(file) else { continue };
        match jmx::parse(&name, bytes) {
            Ok((doc, _)) => check(&name, &doc, &mut counts),
            Err(_) => counts.unread += 1,
        }
    }
    println!("{} plans, {} of them no plans", files.len(), counts.unread);
    counts.print();
}

/// Checks that a plan compiles, with the same result each time.
fn check(name: &str, doc: &Document, counts: &mut Counts) {
    let settings = Settings { java_backing: true, ..Settings::default() };
    let compiled = compile(doc, &settings);
    let Some(plan) = compiled.plan else {
        counts.unread += 1;
        println!("{name}: {:?}", compiled.diags);
        return;
    };
    let worst = compiled.support.iter().map(|support| support.level).max();
    let worst = worst.expect("at least the Test Plan");
    counts.add(worst, &compiled.support);
    if worst == Level::Unsupported {
        for support in compiled.support.iter().filter(|one| one.level == worst) {
            println!("{name}: {} {}", support.class, support.consequence);
        }
    }
    if worst <= Level::Ignored {
        assert!(
            !plan.groups.is_empty()
                || compiled.diags.iter().any(|diag| diag.line > 0)
                || plan.samplers.is_empty()
        );
    }
    let again = compile(doc, &settings).plan.expect("a plan");
    assert_eq!(format!("{:?}", plan.controllers), format!("{:?}", again.controllers));
    assert_eq!(plan.hash, again.hash);
}

/// Numbers of plans by support level, and the causes.
#[derive(Default)]
struct Counts {
    /// Number of files that are not valid plans.
    unread: u32,
    levels: BTreeMap<Level, i32>,
    /// Number of elements that need Java or do not run, by class and support level.
    causes: BTreeMap<String, i32>,
    scripts: u32,
    simple_scripts: u32,
    /// Reasons why scripts are not simple, with their numbers.
    reasons: BTreeMap<String, i32>,
}

impl Counts {
    /// Counts a plan; `worst` is the worst support level of its elements.
    fn add(&mut self, worst: Level, elements: &[Support]) {
        *self.levels.entry(worst).or_insert(0) += 1;
        for support in elements.iter().filter(|support| support.level >= Level::Jvm) {
            let cause = format!("{} {}", support.level.word(), support.class);
            *self.causes.entry(cause).or_insert(0) += 1;
        }
        for support in elements.iter().filter(|support| runs_script(&support.class)) {
            self.simple_scripts += u32::from(support.level == Level::Native);
            self.scripts += 1;
            for reason in
                support.consequence.split("; ").filter(|one| one.starts_with("its script"))
            {
                *self.reasons.entry(reason.to_string()).or_insert(0) += 1;
            }
        }
    }

    fn print(&self) {
        for (level, count) in &self.levels {
            println!("{count:4} {}", level.word());
        }
        print_most(&self.causes, 40);
        println!(
            "{} of {} scripts are simple; what others have:",
            self.simple_scripts, self.scripts
        );
        print_most(&self.reasons, usize::MAX);
        let native: i32 = self.levels.range(..=Level::Ignored).map(|(_, count)| *count).sum();
        let with_java = self.levels.get(&Level::Jvm).unwrap_or(&0);
        println!("{native} plans run natively, {with_java} with Java");
    }
}

/// Prints the most frequent entries.
fn print_most(counts: &BTreeMap<String, i32>, most: usize) {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (counted, count) in counts.iter().take(most) {
        println!("{count:6} {counted}");
    }
}

fn runs_script(class: &str) -> bool {
    class.starts_with("JSR223") || class.starts_with("BeanShell")
}
