//! Output of `throng check` for several plans: a line, a JSON object and a JUnit test for each plan.

use jmx::Severity;
use record::mask::source;
use serde_json::{Value, json};
use stats::grouped::things;

use super::Checked;
use crate::judge::junit;

/// A plan's name, with its check or the reason why it could not be read.
type Named = (String, Result<Checked, String>);

/// Formats a line for each plan, and the number of plans. If `quiet` is true, leaves out plans without findings and
/// the number.
pub(super) fn text(all: &[Named], quiet: bool) -> String {
    let mut out = String::new();
    for (name, result) in all {
        let (fails, words) = match result {
            Ok(checked) => (!checked.loaded.runs(), words(checked)),
            Err(message) => (true, Some(message.clone())),
        };
        let word = if fails { "FAIL" } else { "ok  " };
        match words {
            Some(words) => out.push_str(&format!("{word}  {name}: {words}\n")),
            None if quiet => {}
            None => out.push_str(&format!("{word}  {name}\n")),
        }
    }
    if !quiet {
        let good = all.iter().filter(|(_, result)| reason(result).is_none()).count();
        let plans = things(all.len() as u64, "plan");
        let bad = all.len() - good;
        let end = if bad == 1 { "does not" } else { "do not" };
        out.push_str(&match (good, bad) {
            (_, 0) => {
                let warned = |(_, result): &&Named| {
                    result.as_ref().is_ok_and(|one| !super::with_warnings(&one.loaded).is_empty())
                };
                match all.iter().filter(warned).count() {
                    0 => format!("{plans}: all run.\n"),
                    warned => format!("{plans}: all run, {warned} with warnings.\n"),
                }
            }
            _ => format!("{plans}: {bad} {end} run.\n"),
        });
    }
    out
}

/// Returns the numbers of errors, of elements that cannot run and of warnings, followed by the first finding among the
/// most severe ones. Returns `None` if there are no findings.
fn words(checked: &Checked) -> Option<String> {
    let loaded = &checked.loaded;
    let number = |severity| loaded.diags.iter().filter(|diag| diag.severity == severity).count();
    let cannot = loaded.obstacles().count();
    let counts = [
        (number(Severity::Error), "error"),
        (cannot, "element that cannot run"),
        (number(Severity::Warning), "warning"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| match name {
            "element that cannot run" if count > 1 => format!("{count} elements that cannot run"),
            name => things(count as u64, name),
        })
        .collect();
    if counts.is_empty() {
        return None;
    }
    Some(format!("{}; {}", counts.join(", "), first(checked)?))
}

/// Returns the first finding among the most severe ones.
fn first(checked: &Checked) -> Option<String> {
    let loaded = &checked.loaded;
    let of = |severity| {
        let found = loaded.diags.iter().find(|diag| diag.severity == severity)?;
        Some(format!("line {}: {}", found.line, source(&found.message)))
    };
    let cannot = || {
        let element = loaded.obstacles().next()?;
        let (class, line) = (&element.class, element.line);
        Some(format!("line {line}: {class}: {}", source(&element.consequence)))
    };
    of(Severity::Error).or_else(cannot).or_else(|| of(Severity::Warning))
}

/// Returns the reason why a plan does not run, or `None` if it runs.
fn reason(result: &Result<Checked, String>) -> Option<String> {
    match result {
        Ok(checked) if checked.loaded.runs() => None,
        Ok(checked) => Some(words(checked).unwrap_or_else(|| "the plan does not run".into())),
        Err(message) => Some(message.clone()),
    }
}

pub(super) fn data(name: &str, result: &Result<Checked, String>) -> Value {
    match result {
        Ok(checked) => checked.data(),
        Err(message) => json!({ "file": name, "runs": false, "error": message }),
    }
}

pub(super) fn junit(all: &[Named]) -> String {
    let note = |result: &Result<Checked, String>| words(result.as_ref().ok()?);
    let results: Vec<_> =
        all.iter().map(|(name, result)| (name, reason(result), note(result))).collect();
    junit::of_plans(
        results
            .iter()
            .map(|(name, reason, note)| (name.as_str(), reason.as_deref(), note.as_deref())),
    )
}
