//! Text output of a comparison: first the conclusion, then the metrics, then the other changes.

use answers::compare::{CHECKS, Comparison, Difference, ERRORS, Outcome, SERIES, is_share};
use report::captions::{comparison, points, signed};

use super::super::figures::{number, table};
use super::Compared;

pub(super) fn page(compared: &Compared) -> String {
    let mut out = format!("A {}\nB {}\n\n", compared.a, compared.b);
    for doubt in &compared.doubts {
        let word = if doubt.refuses && compared.comparison.is_none() {
            "cannot be compared"
        } else {
            "take care"
        };
        out.push_str(&format!("{word}: {}\n", doubt.words));
    }
    match &compared.comparison {
        Some(comparison) => {
            for judged in &compared.failed {
                out.push_str(&fail_if(judged));
            }
            out.push_str(&sentences(comparison));
            for counted in comparison::counted(comparison) {
                out.push_str(&format!("{}\n", counted.en));
            }
            out.push('\n');
            out.push_str(&figures(comparison));
        }
        None => out.push_str("--anyway compares them nevertheless.\n"),
    }
    if !compared.changed.is_empty() {
        out.push_str("\nAlso changed:\n");
        for changed in &compared.changed {
            out.push_str(&format!("- {}: A {}, B {}\n", changed.what, changed.a, changed.b));
        }
    }
    out
}

fn fail_if(judged: &super::change::Judged) -> String {
    let found = judged.shown().map_or_else(|| "no such figure".to_owned(), |words| words.en);
    let word = if judged.is_there {
        "FAILED"
    } else if judged.unknown {
        "UNDECIDED"
    } else {
        "passed"
    };
    let reason = judged.reason.as_ref().map_or_else(String::new, |why| format!("; {}", why.en));
    format!("{word}: {} (found {found}{reason})\n", judged.change)
}

fn sentences(comparison: &Comparison) -> String {
    comparison::sentences(comparison).iter().map(|words| words.en.clone() + "\n").collect()
}

/// Formats all metrics of all requests. For labels, formats the metrics that differ and the p95.
fn figures(comparison: &Comparison) -> String {
    let name = |metric: &str| comparison::metric(metric, comparison.times).en;
    let heading = ["", "A", "B", "change", "95 % interval", ""].map(str::to_owned).to_vec();
    let mut rows = vec![heading];
    rows.extend(
        comparison
            .all
            .differences
            .iter()
            .map(|difference| row(name(difference.metric), difference)),
    );
    for of_label in &comparison.labels {
        let shown =
            |d: &&Difference| d.result == Outcome::Different || matches!(d.metric, "rate" | "p95");
        rows.extend(
            of_label
                .differences
                .iter()
                .filter(shown)
                .map(|d| row(format!("{}: {}", of_label.label, name(d.metric)), d)),
        );
    }
    for series in &comparison.series {
        let of = |one| row(format!("series {}", series.label), one);
        rows.extend(series.differences.iter().map(of));
    }
    let mut out = table(&rows);
    if let Some(words) = comparison::may_be_chance(comparison) {
        out.push_str(&format!("{}\n", words.en));
    }
    let lists = [("only in A", &comparison.only_a), ("only in B", &comparison.only_b)];
    for (what, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        out.push_str(&format!("{what}: {}\n", names.join(", ")));
    }
    if comparison.left_out > 0 {
        out.push_str(&format!(
            "{} labels have too few samples to compare, or are beyond the first 100\n",
            comparison.left_out
        ));
    }
    out
}

fn row(name: String, difference: &Difference) -> Vec<String> {
    let value = |v: f64| match difference.metric {
        ERRORS | CHECKS => format!("{:.2} %", v * 100.0),
        "rate" => format!("{}/s", number(v)),
        SERIES => number(v),
        _ => format!("{} ms", number(v)),
    };
    let interval = difference.interval.map_or_else(
        || "-".to_owned(),
        |(low, high)| format!("{} to {}", changed(difference, low), changed(difference, high)),
    );
    let result = match difference.result {
        Outcome::Different => "different",
        Outcome::BelowFloor => "too small to count",
        Outcome::MayBeChance => "may be chance",
        Outcome::None => "no difference",
        Outcome::OtherWork => "other work",
        Outcome::MostlyFailed => "mostly failed",
        Outcome::Unread => "undecided: unread rows",
        Outcome::Unknown => "",
    };
    let change = changed(difference, difference.change);
    vec![name, value(difference.a), value(difference.b), change, interval, result.to_owned()]
}

/// Formats a change of this metric in percentage points or percent.
fn changed(of: &Difference, change: f64) -> String {
    if is_share(of.metric) { points(change).en } else { signed(change) }
}

/// Formats the cell of a difference in the table of two sweeps.
fn cell(difference: &Difference) -> String {
    let change = changed(difference, difference.change);
    match difference.result {
        Outcome::Different => change,
        Outcome::BelowFloor | Outcome::None | Outcome::MayBeChance => format!("({change})"),
        Outcome::Unknown | Outcome::OtherWork | Outcome::MostlyFailed | Outcome::Unread => {
            format!("{change} ?")
        }
    }
}

/// Formats the comparison of two sweeps: a row per load, and the conclusions for the loads that differ.
pub(super) fn sweeps(points: &[&Compared]) -> String {
    let times = points.iter().find_map(|point| point.comparison.as_ref());
    let times = times.map(|comparison| comparison.times).unwrap_or_default();
    let mut heading = vec![String::new(), "rate".to_owned()];
    heading.extend(["mean", "p50", "p95", "p99"].map(|name| comparison::metric(name, times).en));
    heading.push("errors".to_owned());
    let mut rows = vec![heading];
    let mut notes = String::new();
    // A remark that applies to several points is printed once.
    let mut care: Vec<&str> = Vec::new();
    for doubt in points.iter().flat_map(|point| &point.doubts).filter(|doubt| !doubt.refuses) {
        if !care.contains(&&*doubt.words) {
            care.push(&doubt.words);
            notes.push_str(&format!("take care: {}\n", doubt.words));
        }
    }
    for point in points {
        let name = point.sources.at.clone().unwrap_or_default();
        let Some(comparison) = &point.comparison else {
            for doubt in point.doubts.iter().filter(|doubt| doubt.refuses) {
                notes.push_str(&format!("{name}: cannot be compared: {}\n", doubt.words));
            }
            continue;
        };
        let cell = |metric: &str| {
            let found = comparison.all.differences.iter().find(|d| d.metric == metric);
            found.map_or_else(|| "-".to_owned(), cell)
        };
        rows.push(
            std::iter::once(name.clone())
                .chain(["rate", "mean", "p50", "p95", "p99", "error%"].map(cell))
                .collect(),
        );
        for judged in point.failed.iter().filter(|one| one.is_there || one.reason.is_some()) {
            notes.push_str(&format!("{name}: {}", fail_if(judged)));
        }
        for words in comparison::differences(comparison) {
            notes.push_str(&format!("{name}: {}\n", words.en));
        }
    }
    for change in passed(points) {
        notes.push_str(&format!("passed at all of these loads: {change}\n"));
    }
    notes.extend(points.first().map(|point| point.sources.apart.text()));
    format!(
        "Changes from A to B; in brackets: none that these runs can show, or below the floor; ?: no interval, other work, mostly failures or unread rows\n\n{}\n{notes}",
        table(&rows)
    )
}

/// Returns the changes of `--fail-if` that are ruled out at every load.
fn passed<'c>(points: &[&'c Compared]) -> Vec<&'c str> {
    let Some(first) = points.first() else { return Vec::new() };
    let passed = |at: usize| {
        let is_clear = |judged: &super::change::Judged| !judged.is_there && !judged.unknown;
        points.iter().all(|point| point.failed.get(at).is_some_and(is_clear))
    };
    let changes = first.failed.iter().enumerate().filter(|(at, _)| passed(*at));
    changes.map(|(_, judged)| &*judged.change).collect()
}
