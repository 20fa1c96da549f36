//! `throng list` and `throng diff`: the elements of a plan, and the differences of two plans.

use std::path::Path;

use author::Plan;
use author::diff::{Diff, diff};
use author::list::{Entry, entries, list};

use super::file::read;
use crate::args::flags::{DiffFlags, ListFlags};
use crate::exit::Exit;
use crate::print::terminal;

/// Prints the elements of a plan, or the properties of one element.
pub(crate) fn run_list(flags: &ListFlags) -> Exit {
    let text = read(&flags.plan).and_then(|plan| match &flags.element {
        Some(path) => {
            let element = plan.find(path).map_err(|refusal| refusal.message)?;
            let entries = entries(&plan, element);
            Ok(if flags.json { json(&entries) } else { lines(&entries, "") })
        }
        None if flags.json => Ok(json(&list(&plan))),
        None => Ok(tree(&plan, flags.all)),
    });
    print(text, flags.json)
}

fn print(text: Result<String, String>, is_json: bool) -> Exit {
    match text {
        Ok(text) if is_json => terminal::json(&text),
        Ok(text) => terminal::out(&text),
        Err(message) => {
            terminal::error(&message);
            return Exit::Usage;
        }
    }
    Exit::Ok
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Returns a line for each element: path and class; with `all`, its properties on the lines below.
fn tree(plan: &Plan, all: bool) -> String {
    let mut out = String::new();
    for row in list(plan) {
        let state = if row.enabled { "" } else { ", disabled" };
        out.push_str(&format!("{} ({}{state})\n", row.path, row.class));
        if let (true, Ok(element)) = (all, plan.find(&row.path)) {
            out.push_str(&lines(&entries(plan, element), "    "));
        }
    }
    out
}

/// Returns a line for each property; values of several lines are indented below it.
fn lines(entries: &[Entry], indent: &str) -> String {
    let mut out = String::new();
    for entry in entries {
        if entry.value.contains('\n') {
            out.push_str(&format!("{indent}{}:\n", entry.prop));
            for line in entry.value.lines() {
                out.push_str(&format!("{indent}    {line}\n"));
            }
        } else {
            out.push_str(&format!("{indent}{}={}\n", entry.prop, entry.value));
        }
    }
    out
}

/// Prints the differences of two plans.
pub(crate) fn run_diff(flags: &DiffFlags) -> Exit {
    // git gives: path, old file, its hash, its mode, new file, its hash, its mode; more if the file was renamed.
    let (old, new, title) = match &flags.plans[..] {
        [old, new] => (old, new, None),
        [path, old, _, _, new, ..] if flags.plans.len() >= 7 => (old, new, Some(path)),
        _ => {
            terminal::error("throng diff takes 2 plans, or the 7 arguments of git");
            return Exit::Usage;
        }
    };
    let text = compare(old, new).map(|found| match (flags.json, title) {
        (true, _) => found.json() + "\n",
        (false, Some(path)) => format!("{}\n{}", path.display(), found.text()),
        (false, None) => found.text(),
    });
    print(text, flags.json)
}

/// Compares two plans. An empty file, such as /dev/null, is a plan without elements.
fn compare(old: &Path, new: &Path) -> Result<Diff, String> {
    let read = |path: &Path| {
        if std::fs::read(path).is_ok_and(|bytes| bytes.is_empty()) {
            let empty = b"<jmeterTestPlan><hashTree/></jmeterTestPlan>".to_vec();
            return Plan::read("empty", empty).map_err(|refusal| refusal.message);
        }
        read(path)
    };
    Ok(diff(&read(old)?, &read(new)?))
}
