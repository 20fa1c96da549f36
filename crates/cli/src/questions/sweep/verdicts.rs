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

/// Formats the findings of all points, ordered by their importance at the heaviest point. Then lists the points whose
/// runs are undecided, and the points without findings.
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
    let other = if out.is_empty() { "" } else { "other " };
    for (reason, there) in undecided(points) {
        out.push_str(&format!("  Undecided at {}: {}.\n", at(&there, unit), reason.en));
    }
    let quiet: Vec<&Point> = points.iter().filter(|p| is_quiet(p)).collect();
    match (quiet.len(), points.len()) {
        (0, _) => {}
        (n, all) if n == all => out.push_str("  No problem found at any of them.\n"),
        _ => out.push_str(&format!("  No {other}problem found at {}.\n", at(&quiet, unit))),
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
            let told = words(
                format!("At {}: {}", at(points, &unit.en), finding.words.en),
                format!("{} {}时：{}", loads_zh(points), unit.zh, finding.words.zh),
            );
            all.findings.push(Finding { words: told, ..finding.clone() });
        }
    }
    for hidden in points.iter().rev().flat_map(|point| &point.verdict.hidden) {
        if all.hidden.iter().chain(&all.findings).all(|known| known.id != hidden.id) {
            all.hidden.push(hidden.clone());
        }
    }
    let reasons: Vec<Words> = undecided(points)
        .into_iter()
        .map(|(reason, there)| {
            words(
                format!("at {}, {}", at(&there, &unit.en), reason.en),
                format!("{} {}时，{}", loads_zh(&there), unit.zh, reason.zh),
            )
        })
        .collect();
    if !reasons.is_empty() {
        let joined = |of: fn(&Words) -> &str, between: &str| {
            reasons.iter().map(of).collect::<Vec<_>>().join(between)
        };
        all.undecided = Some(words(joined(|w| &w.en, "; "), joined(|w| &w.zh, "；")));
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

/// Returns the reasons why runs of points are undecided, each with its points.
fn undecided(points: &[Point]) -> Vec<(&Words, Vec<&Point>)> {
    let mut reasons: Vec<(&Words, Vec<&Point>)> = Vec::new();
    for point in points {
        let Some(reason) = &point.verdict.undecided else { continue };
        match reasons.iter_mut().find(|known| known.0 == reason) {
            Some((_, there)) => there.push(point),
            None => reasons.push((reason, vec![point])),
        }
    }
    reasons
}

/// True if there are no findings about a point, and its run is not undecided.
fn is_quiet(point: &Point) -> bool {
    findings(point).next().is_none() && point.verdict.undecided.is_none()
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

/// Lists loads for a Chinese sentence, without their unit.
fn loads_zh(points: &[&Point]) -> String {
    points.iter().map(|point| load(point.load)).collect::<Vec<_>>().join("、")
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

#[cfg(test)]
mod tests {
    use answers::verdict::{About, Confidence};
    use record::{Ending, Part, Record, Second};

    use super::super::super::child::Made;
    use super::*;

    fn point(load: f64, verdict: Verdict) -> Point {
        let made = Made { folder: "point".into(), record: Record::default(), seconds: 1.0 };
        let mut point = Point::of(load, &made, 0.1);
        (point.verdict, point.figures.samples) = (verdict, 100);
        point
    }

    fn found() -> Verdict {
        let finding = Finding {
            id: "plateau",
            about: About::Target,
            confidence: Confidence::Hint,
            words: words("X.", "甲。"),
            evidence: Vec::new(),
            exonerates: Vec::new(),
            advice: words("", ""),
            doc: "throng explain plateau".into(),
            explains: &[],
            subjects: Vec::new(),
        };
        Verdict { findings: vec![finding], ..Verdict::default() }
    }

    fn open(reason: Words) -> Verdict {
        Verdict { undecided: Some(reason), ..Verdict::default() }
    }

    #[test]
    fn another_problem_is_named_only_beside_a_problem() {
        let calm = Verdict::default;
        let both = text(&[point(1.0, calm()), point(2.0, calm())], "users");
        assert_eq!(both, "Verdict on the points\n  No problem found at any of them.\n");
        let one = text(&[point(1.0, calm()), point(2.0, found())], "users");
        assert!(one.ends_with("  No other problem found at 1 user.\n"), "{one}");
    }

    #[test]
    fn undecided_points_are_not_points_without_a_problem() {
        let reason = || words("a file is missing", "缺少文件");
        let points = [1.0, 2.0, 4.0]
            .map(|load| point(load, if load < 4.0 { open(reason()) } else { found() }));
        let said = text(&points, "users");
        assert!(said.ends_with("  Undecided at 1 and 2 users: a file is missing.\n"), "{said}");
        let told = together(&points, &words("users", "个用户")).undecided.expect("undecided");
        assert_eq!(told, words("at 1 and 2 users, a file is missing", "1、2 个用户时，缺少文件"));
        let said = text(&[point(1.0, open(reason())), point(2.0, Verdict::default())], "users");
        assert!(said.ends_with("missing.\n  No problem found at 2 users.\n"), "{said}");
    }

    #[test]
    fn a_point_that_the_sweep_ended_is_decided() {
        let second = |n: i64| Second {
            at_ms: 1000 * n,
            ms: 1000,
            all: Part { count: 1, ..Part::default() },
            ..Second::default()
        };
        let mut record = Record { seconds: (1..=10).map(second).collect(), ..Record::default() };
        record.frame.ending = Ending::Interrupted;
        let verdict = answers::rules::verdict(&record);
        assert_eq!(verdict.undecided, Some(answers::rules::interrupted()));
        let made = Made { folder: "point".into(), record, seconds: 10.0 };
        assert_eq!(Point::of(1.0, &made, 0.1).verdict.undecided, None);
    }
}
