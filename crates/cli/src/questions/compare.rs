//! `throng compare`: two runs, two sweeps, two result files, or two plans that are run in turns.

mod change;
mod sweeps;
mod text;

use std::path::{Path, PathBuf};

use answers::compare::{
    Changed, Comparison, Doubt, Settings, changes, compare, compare_runs, doubts,
};
use record::Record;
use serde::Serialize;

use super::child::{self, Asked, Load};
use super::sweep::{fail, stopped};
use super::{place, results};
use crate::exit::Exit;
use crate::flags::CompareFlags;
use crate::interrupt::Interrupt;
use crate::terminal;
use change::FailIf;

/// A comparison as its JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    a: String,
    b: String,
    /// Reasons against comparing, or for care.
    doubts: Vec<Doubt>,
    /// Absent where the two cannot be compared.
    comparison: Option<Comparison>,
    /// Other things that changed.
    changed: Vec<Changed>,
    /// Changes of `--fail-if` that are there, or that are not.
    failed: Vec<change::Judged>,
}

/// The comparison of one pair, before it is printed.
struct Pair<'a> {
    names: (String, String),
    a: &'a [Record],
    b: &'a [Record],
}

pub(crate) fn run(flags: CompareFlags) -> Exit {
    let fail_if = match FailIf::read(&flags.fail_if) {
        Ok(fail_if) => fail_if,
        Err(message) => return fail(&message, Exit::Usage),
    };
    let sides = if flags.plans.is_empty() { flags.sides.clone() } else { flags.plans.clone() };
    let [a, b] = &sides[..] else {
        let what = "two folders of runs, sweeps or result files, or two plans";
        return fail(&format!("throng compare takes {what}: A and B"), Exit::Usage);
    };
    let are_plans = !flags.plans.is_empty() || [a, b].iter().all(|side| is_plan(side));
    if are_plans {
        return plans(&flags, (a.clone(), b.clone()), &fail_if);
    }
    if flags.repeat.is_some() {
        return fail("--repeat runs plans: give two plans, not results", Exit::Usage);
    }
    if [a, b].iter().any(|side| is_plan(side)) {
        return fail(
            "a plan can only be compared with a plan: give two plans, or two results",
            Exit::Usage,
        );
    }
    if [a, b].iter().all(|side| sweeps::is_sweep(side)) {
        return sweeps::run(&flags, a, b, &fail_if);
    }
    let records = match (results::read(a), results::read(b)) {
        (Ok(of_a), Ok(of_b)) => (of_a, of_b),
        (Err(message), _) | (_, Err(message)) => return fail(&message, Exit::Usage),
    };
    let pair = Pair {
        names: (a.display().to_string(), b.display().to_string()),
        a: std::slice::from_ref(&records.0),
        b: std::slice::from_ref(&records.1),
    };
    let compared = pair.compare(&flags, &fail_if);
    tell(&compared, &flags)
}

fn is_plan(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"))
}

impl Pair<'_> {
    fn compare(&self, flags: &CompareFlags, fail_if: &FailIf) -> Compared {
        let (Some(a), Some(b)) = (self.a.first(), self.b.first()) else {
            unreachable!("each side has a run")
        };
        let limited = (finding(self.a), finding(self.b));
        let doubts = doubts(a, b, (limited.0.as_deref(), limited.1.as_deref()));
        let refused = !flags.anyway && doubts.iter().any(|doubt| doubt.refuses);
        let settings = Settings { floor: flags.floor, ..Settings::default() };
        let comparison = (!refused).then(|| match (self.a, self.b) {
            ([a], [b]) => compare(a, b, &settings),
            (a, b) => compare_runs(a, b, &settings),
        });
        Compared {
            a: self.names.0.clone(),
            b: self.names.1.clone(),
            failed: comparison
                .as_ref()
                .map(|comparison| fail_if.judge(comparison))
                .unwrap_or_default(),
            doubts,
            comparison,
            changed: changes(a, b),
        }
    }
}

/// The first finding on a generator among runs.
fn finding(runs: &[Record]) -> Option<String> {
    runs.iter().find_map(results::generator_at_limit)
}

/// Prints a comparison; the exit code.
fn tell(compared: &Compared, flags: &CompareFlags) -> Exit {
    if flags.output.json {
        terminal::json(&place::json(compared));
    } else {
        terminal::out(&text::page(compared));
    }
    exit(std::slice::from_ref(compared))
}

fn exit(compared: &[Compared]) -> Exit {
    if compared.iter().any(|compared| compared.comparison.is_none()) {
        Exit::Plan
    } else if compared.iter().any(|compared| compared.failed.iter().any(|judged| judged.is_there)) {
        Exit::Criteria
    } else {
        Exit::Ok
    }
}

/// Runs two plans in turns, and compares the runs.
fn plans(flags: &CompareFlags, plans: (PathBuf, PathBuf), fail_if: &FailIf) -> Exit {
    let folder = match place::create(&flags.output.runs, "compare", &plans.0) {
        Ok(folder) => folder,
        Err(message) => return fail(&message, Exit::Aborted),
    };
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let options = flags.passed.arguments();
    let load = match (flags.users, flags.rps) {
        (Some(users), _) => Load::Users(users),
        (None, Some(rate)) => Load::Rate(rate),
        (None, None) => Load::Plan,
    };
    let times = flags.repeat.unwrap_or(1);
    let (mut runs_a, mut runs_b) = (Vec::new(), Vec::new());
    let mut exit = Exit::Ok;
    'all: for turn in 1..=times {
        for (side, plan, runs) in [("A", &plans.0, &mut runs_a), ("B", &plans.1, &mut runs_b)] {
            let asked = Asked {
                plan,
                options: &options,
                folder: folder.join(format!("{side}-{turn}")),
                load,
                ramp: None,
                duration: flags.duration,
                name: format!("{side}, run {turn} of {times}, {}", load.words()),
            };
            match child::run(&asked, &interrupt, |_| false) {
                Ok(made) => {
                    terminal::err(&format!(
                        "{}: {:.0} s, {}\n",
                        asked.name,
                        made.seconds,
                        made.folder.display()
                    ));
                    runs.push(made.record);
                }
                Err(failed) => {
                    exit = stopped(&asked.name, failed);
                    break 'all;
                }
            }
        }
    }
    if runs_a.is_empty() || runs_b.is_empty() {
        return exit;
    }
    // As many on each side: the last turn may be half.
    runs_a.truncate(runs_b.len());
    let names = (plans.0.display().to_string(), plans.1.display().to_string());
    let compared = Pair { names, a: &runs_a, b: &runs_b }.compare(flags, fail_if);
    let written = place::write(&folder, "compare.json", &compared);
    let told = tell(&compared, flags);
    if let Err(message) = written {
        return fail(&message, Exit::Lost);
    }
    if told == Exit::Ok { exit } else { told }
}
