//! The work of two sides by the labels of their requests. Metrics of all requests are comparable only if the work
//! is the same.
//!
//! The work differs if a label with more than [`MISSING`] of a side's requests is missing on the other side, if the
//! missing labels together have more than [`MOST`] of a side's requests, or if the share of a label differs by more
//! than [`SHIFT`]. Names that are new in each run are rare individually, and tolerated up to the limit of the sum.

use std::collections::BTreeMap;

use record::Record;
use stats::grouped::percent;

use super::Counts;
use crate::verdict::Words;

/// Largest share of a side's requests that a label missing on the other side may have.
const MISSING: f64 = 0.01;
/// Largest share of a side's requests that all labels missing on the other side may have together.
const MOST: f64 = 0.5;
/// Largest difference of a label's share of the requests between the two sides that is not reported.
const SHIFT: f64 = 0.1;
/// Largest number of labels that a message names.
const MOST_NAMES: usize = 3;

/// Differences between the work of two sides.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Sentence about labels that a side does not have.
    pub(super) missing: Option<Words>,
    /// Sentence about a label whose share differs.
    pub(super) shifted: Option<Words>,
}

impl Work {
    pub(super) fn of(a: &[Record], b: &[Record]) -> Self {
        let (of_a, of_b) = (shares(a), shares(b));
        if of_a.is_empty() || of_b.is_empty() {
            return Self::default();
        }
        let missing = if of_a.keys().any(|label| of_b.contains_key(label)) {
            missing(&of_a, &of_b, "A", "B").or_else(|| missing(&of_b, &of_a, "B", "A"))
        } else {
            Some(words("A and B have no label in common", "A 和 B 没有共同的标签"))
        };
        Self { missing, shifted: shifted(&of_a, &of_b) }
    }
}

/// Returns the share of each label among the requests of the given runs.
fn shares(runs: &[Record]) -> BTreeMap<&str, f64> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for run in runs {
        let labels = run.labels.iter().zip(Counts::of(run).labels);
        for (label, (count, _)) in labels.filter(|(label, of)| !label.transaction && of.0 > 0) {
            *counts.entry(&label.name).or_default() += count;
        }
    }
    let all = counts.values().sum::<u64>().max(1) as f64;
    counts.into_iter().map(|(label, count)| (label, count as f64 / all)).collect()
}

/// Returns the sentence about labels of one side (`side`) that the other side (`lacks`) does not have. `of`, `other`:
/// the shares of labels on these sides.
fn missing(
    of: &BTreeMap<&str, f64>,
    other: &BTreeMap<&str, f64>,
    side: &str,
    lacks: &str,
) -> Option<Words> {
    let mut gone: Vec<(&str, f64)> = of
        .iter()
        .filter(|(label, _)| !other.contains_key(*label))
        .map(|(label, share)| (*label, *share))
        .collect();
    let all: f64 = gone.iter().map(|(_, share)| share).sum();
    gone.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = gone.first()?.1;
    if most <= MISSING && all <= MOST {
        return None;
    }
    let names: Vec<String> =
        gone.iter().take(MOST_NAMES).map(|(name, _)| format!("{name:?}")).collect();
    let (more, more_zh) = match gone.len() - names.len() {
        0 => (String::new(), String::new()),
        more => (format!(" and {more} more"), format!("等另外 {more} 个")),
    };
    let (noun, verb) = if gone.len() == 1 { ("label", "is") } else { ("labels", "are") };
    let (share, list, list_zh) = (percent(all), names.join(", "), names.join("、"));
    Some(words(
        format!("{noun} {list}{more} ({share} of {side}'s requests) {verb} missing in {lacks}"),
        format!("{lacks} 缺少标签 {list_zh}{more_zh}（占 {side} 请求的 {share}）"),
    ))
}

/// Returns the sentence about the label whose share differs most, if the difference is above the limit.
fn shifted(a: &BTreeMap<&str, f64>, b: &BTreeMap<&str, f64>) -> Option<Words> {
    let both = a.iter().filter_map(|(label, of_a)| Some((*label, *of_a, *b.get(label)?)));
    let apart = |one: &(&str, f64, f64)| (one.1 - one.2).abs();
    let (label, of_a, of_b) = both.max_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    ((of_a - of_b).abs() > SHIFT).then(|| {
        let (of_a, of_b) = (percent(of_a), percent(of_b));
        words(
            format!("label {label:?} is {of_a} of A's requests and {of_b} of B's"),
            format!("标签 {label:?} 占 A 请求的 {of_a}，占 B 请求的 {of_b}"),
        )
    })
}

fn words(en: impl Into<String>, zh: impl Into<String>) -> Words {
    Words { en: en.into(), zh: zh.into() }
}
