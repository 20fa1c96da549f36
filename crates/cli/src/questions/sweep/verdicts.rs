//! Verdicts on the points of a sweep, merged: each finding once, with the loads of its points.

use std::collections::BTreeMap;

use answers::lines;
use answers::verdict::{Finding, Language, Unchecked, Verdict, Words};
use report::model::words;

use super::super::figures::load;
use super::point::Point;
use crate::judge::verdict;
use crate::print::tty;

/// Id of the finding about too few samples. The finding is not reported for a point, because a point ends when its mean
/// is precise, and brackets in the table mark percentiles with too few samples.
const FEW: &str = "too_few_samples";

/// Formats the findings of all points, ordered by their importance at the heaviest point, and lists the points
/// without findings.
pub(super) fn text(points: &[Point], unit: &str) -> String {
    let mut ids: Vec<&str> = Vec::new();
    for finding in points.iter().rev().flat_map(findings) {
        if !ids.contains(&finding.id) {
            ids.push(finding.id);
        }
    }
    let mut out = String::new();
    for id in ids {
        let of = |point: &'_ Point| point.verdict.findings.iter().position(|f| f.id == id);
        let there: Vec<&Point> = points.iter().filter(|point| of(point).is_some()).collect();
        // The finding of the heaviest point is used, because its metrics show most.
        let Some(finding) = there.last().and_then(|p| Some(&p.verdict.findings[of(p)?])) else {
            continue;
        };
        out.push_str(&told(finding, &there, unit));
    }
    let quiet: Vec<&Point> = points.iter().filter(|p| is_quiet(p)).collect();
    match (quiet.len(), points.len()) {
        (0, _) => {}
        (n, all) if n == all => out.push_str("  No other problem found at any of them.\n"),
        _ => out.push_str(&format!("  No other problem found at {}.\n", at(&quiet, unit))),
    }
    if out.is_empty() { out } else { format!("Verdict on the points\n{out}") }
}

/// Merges the verdicts of all points into one. Each finding has the wording of the heaviest point that shows it.
pub(super) fn together(points: &[Point], unit: &Words) -> Verdict {
    let mut all = Verdict::default();
    // Names of rules, each with the points that have its finding.
    let mut there: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
    for point in points {
        for finding in findings(point) {
            there.entry(finding.id).or_default().push(point);
        }
    }
    for finding in points.iter().rev().flat_map(findings) {
        let is_new = all.findings.iter().all(|known| known.id != finding.id);
        if is_new {
            let points = &there[finding.id];
            let zh: Vec<String> = points.iter().map(|point| load(point.load)).collect();
            let told = words(
                format!("At {}: {}", at(points, &unit.en), finding.words.en),
                format!("{} {}时：{}", zh.join("、"), unit.zh, finding.words.zh),
            );
            all.findings.push(Finding { words: told, ..finding.clone() });
        }
    }
    for hidden in points.iter().rev().flat_map(|point| &point.verdict.hidden) {
        if all.hidden.iter().chain(&all.findings).all(|known| known.id != hidden.id) {
            all.hidden.push(hidden.clone());
        }
    }
    let is_told = |id: &str| all.findings.iter().chain(&all.hidden).any(|known| known.id == id);
    let Some(last) = points.last() else { return all };
    let silent = last.verdict.silent.iter().copied();
    let unchecked: Vec<Unchecked> =
        last.verdict.unchecked.iter().filter(|one| !is_told(one.id)).cloned().collect();
    let silent = silent.filter(|id| !is_told(id) && !there.contains_key(id)).collect();
    Verdict { silent, unchecked, ..all }
}

/// Returns the reportable findings about a point.
fn findings(point: &Point) -> impl Iterator<Item = &Finding> {
    let is_empty = point.figures.samples == 0;
    point.verdict.findings.iter().filter(move |finding| finding.id != FEW || is_empty)
}

fn is_quiet(point: &Point) -> bool {
    findings(point).next().is_none()
}

fn told(finding: &Finding, there: &[&Point], unit: &str) -> String {
    let last = match there {
        [.., last] if there.len() > 1 => format!(" (here of {})", load(last.load)),
        _ => String::new(),
    };
    let said = format!("At {}{last}: {}", at(there, unit), finding.words.en);
    let placed = Finding { words: words(said, ""), ..finding.clone() };
    verdict::layout(&lines::finding(&placed), Language::English, tty::output_width())
}

/// Lists loads with their unit: "1, 2 and 4 users".
fn at(points: &[&Point], unit: &str) -> String {
    let loads: Vec<String> = points.iter().map(|point| load(point.load)).collect();
    let unit = if loads == ["1"] && unit == "users" { "user" } else { unit };
    match &loads[..] {
        [] => String::new(),
        [one] => format!("{one} {unit}"),
        [first @ .., last] => format!("{} and {last} {unit}", first.join(", ")),
    }
}
