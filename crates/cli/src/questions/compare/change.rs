//! Changes that make a comparison fail: `p95 > +5%`, `rate < -3%`, `error% > +0.1%`.
//!
//! A change is found if it is statistically significant and passes the limit: the estimate is past the limit, and
//! the confidence interval does not contain 0. For shares (`error%`, `checks%`) the limit is in percentage points,
//! and significance is decided by the counts of the whole runs ([`answers::compare::Failures`]): errors in a ramp
//! or in a lasting outage are a change, and a single short event is not. A change is ruled out if the runs would
//! have shown it: the interval excludes the limit, or extends to each side by at most the size of the limit. All
//! other changes are undecided. Metrics of all requests are also undecided if a side lacks labels of the other
//! side; only a change in errors is still found then.
//!
//! If rows could not be read, all changes that these rows could reverse are undecided.
//!
//! If the limit lies within the interval, the result also states why the change was decided.

mod partial;
mod unread;

use answers::compare::{CHECKS, Comparison, Difference, ERRORS, Failures, Row, Settings, is_share};
use answers::criterion::{Criterion, Figure, Limit, Op, Stat, Times};
use answers::evidence;
use answers::verdict::Words;
use record::Record;
use report::captions::{points, signed};
use report::model::words;
use serde::Serialize;
use stats::grouped::things;

/// The changes that `--fail-if` names.
#[derive(Debug, Default)]
pub(super) struct FailIf(Vec<Criterion>);

/// Result for a change that `--fail-if` names.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Judged {
    pub(super) change: String,
    /// Label of the requests; empty for all requests.
    pub(super) label: String,
    /// Measured change. `None` if the comparison does not have the metric.
    pub(super) found: Option<f64>,
    /// True if the metric is a share, so that its change is in percentage points.
    #[serde(skip)]
    is_points: bool,
    /// True if the change was found and is statistically significant.
    pub(super) is_there: bool,
    /// True if the runs cannot decide about the change.
    pub(super) unknown: bool,
    /// Reason for an undecided change, or a remark on a decided one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Words>,
}

impl Judged {
    /// Formats the measured change for the user.
    pub(super) fn shown(&self) -> Option<Words> {
        let change = |found| {
            if self.is_points { points(found) } else { words(signed(found), signed(found)) }
        };
        self.found.map(change)
    }
}

impl FailIf {
    /// Parses the arguments of `--fail-if`. The error is a message for the user.
    pub(super) fn read(texts: &[String]) -> Result<Self, String> {
        let read = texts.iter().map(|text| {
            let criterion = Criterion::parse_any(text)
                .map_err(|why| format!("{why}; a change is written like 'p95 > +5%'"))?;
            if !matches!(criterion.limit, Limit::Relative(_)) {
                return Err(format!(
                    "{text:?} is not a change: write it with a sign, like 'p95 > +5%'"
                ));
            }
            if metric(&criterion).is_none() {
                return Err(format!(
                    "{text:?}: only rate, error%, checks%, mean, p50, p90, p95, p99 and p99.9 are compared"
                ));
            }
            // A limit like 'p95 < +5%' would fail a side B that is equal to A.
            let is_cost = !matches!(criterion.figure, Figure::Rate | Figure::CheckShare);
            if let Limit::Relative(limit) = criterion.limit
                && matches!(criterion.op, Op::Less | Op::AtMost)
                && is_cost
                && limit > 0.0
            {
                return Err(format!(
                    "{text:?} would fail where B is as good as A: a change that fails is written like 'p95 > +5%'"
                ));
            }
            if !matches!(criterion.op, Op::More | Op::AtLeast | Op::Less | Op::AtMost) {
                return Err(format!("{text:?}: a change needs <, <=, > or >="));
            }
            Ok(criterion)
        });
        let read = Self(read.collect::<Result<_, _>>()?);
        let is_of = |times: Times| {
            let mut figures = read.0.iter().map(|criterion| criterion.figure);
            figures.any(|figure| matches!(figure, Figure::Time(of, _) if of == times))
        };
        if is_of(Times::Service) && is_of(Times::Response) {
            return Err("one comparison is of response times or of service times: write service before all times, or before \
                        none"
                .into());
        }
        Ok(read)
    }

    /// Returns the kind of time to which the criteria refer: service or response time.
    pub(super) fn times(&self) -> Times {
        let mut figures = self.0.iter().map(|criterion| criterion.figure);
        let asked = figures.find_map(|figure| match figure {
            Figure::Time(times, _) => Some(times),
            _ => None,
        });
        asked.unwrap_or_default()
    }

    /// Returns the first label that a criterion names and that no record has.
    pub(super) fn unknown_label<'r>(
        &self,
        records: impl Iterator<Item = &'r Record> + Clone,
    ) -> Option<&str> {
        let is_there =
            |name: &str| records.clone().any(|r| r.labels.iter().any(|label| *label.name == *name));
        self.0.iter().filter_map(|one| one.label.as_deref()).find(|name| !is_there(name))
    }

    /// Judges each metric that `--fail-if` names by its own interval, with the limit as the smallest change that
    /// counts.
    pub(super) fn name(&self, comparison: &mut Comparison, settings: &Settings) {
        for criterion in &self.0 {
            if let (Some(metric), Limit::Relative(percent)) = (metric(criterion), criterion.limit) {
                let label = criterion.label.as_deref().unwrap_or_default();
                comparison.name(label, metric, percent / 100.0, settings);
            }
        }
    }

    pub(super) fn judge(&self, comparison: &Comparison) -> Vec<Judged> {
        self.0.iter().map(|criterion| self.judge_one(criterion, comparison)).collect()
    }

    fn judge_one(&self, criterion: &Criterion, comparison: &Comparison) -> Judged {
        let label = criterion.label.clone().unwrap_or_default();
        let row = row(&label, comparison);
        let name = metric(criterion);
        let difference =
            row.and_then(|row| row.differences.iter().find(|d| Some(d.metric) == name));
        let is_of_all = criterion.label.is_none();
        let missing = comparison.missing_labels.clone().filter(|_| is_of_all);
        let counts = row.and_then(|row| counts(criterion, row));
        let is_there = difference.is_some_and(|difference| is_there(criterion, difference, counts));
        let shifted = comparison.shifted_label.clone().filter(|_| is_of_all);
        // A change is not found if the sides did different work. Only a change in errors is valid for different
        // work.
        let doubt = match row {
            _ if is_there && is_share(name.unwrap_or_default()) => None,
            _ if missing.is_some() => missing,
            None => Some(no_row(&label, comparison)),
            // If errors are unknown, times are unknown too, because a side that fails immediately looks fast.
            Some(_) if !comparison.errors_unknown.is_empty() => Some(unknown_errors(comparison)),
            Some(row) if name == Some(CHECKS) => unchecked(row),
            Some(row) => {
                let failed = failed(criterion, row);
                let failed = failed.or_else(|| self.failed_label(criterion, comparison));
                failed.or_else(|| self.failed_more(criterion, row)).or(shifted)
            }
        };
        let is_there = is_there && doubt.is_none();
        let open = || match (row?, difference) {
            (row, None) => Some(few(row)),
            (row, Some(difference)) => open(criterion, row, difference, comparison),
        };
        let unknown = if is_there { None } else { doubt.or_else(open) };
        let beside = row.zip(difference).and_then(|(row, difference)| {
            let slow = || slow_at_first(criterion, row, difference).filter(|_| !is_there);
            slow().or_else(|| within(criterion, difference, counts, is_there))
        });
        Judged {
            change: of_times(criterion, comparison.times).to_string(),
            label,
            found: difference.map(|difference| difference.change),
            is_points: is_share(name.unwrap_or_default()),
            is_there,
            unknown: unknown.is_some(),
            reason: unknown.or(beside),
        }
    }

    /// Returns the reason for not comparing times and rates if one side failed much more often than the other: the
    /// times of failed samples differ from those of successful ones. If side B failed more often and a criterion is
    /// about errors, that criterion decides instead.
    fn failed_more(&self, criterion: &Criterion, row: &Row) -> Option<Words> {
        if is_share(metric(criterion).unwrap_or_default()) {
            return None;
        }
        let is_asked = self.0.iter().any(|one| is_of_errors(one) && one.label == criterion.label);
        let shares = sides(row).map(|(_, all, failed)| failed as f64 / all.max(1) as f64);
        let at = usize::from(shares[1] > shares[0]);
        let (side, all, failed) = sides(row)[at];
        if shares[at] - shares[1 - at] <= FAILED_MORE || is_asked && at == 1 {
            return None;
        }
        let Words { en, zh } = evidence::failed(failed, all);
        let (why, why_zh) = if is_asked {
            (
                ": its times and rate are not a basis for a comparison",
                "：其时间和速率不能作为比较基准",
            )
        } else {
            (
                ", and no criterion is about errors: add 'error% > +1%'",
                "，且没有关于错误的标准：请添加 'error% > +1%'",
            )
        };
        Some(words(
            format!("{side}: {en} in the whole run{why}"),
            format!("{side}：整个运行中{zh}{why_zh}"),
        ))
    }

    /// Returns the reason for not comparing metrics of all requests if one label failed mostly on one side, and no
    /// criterion is about errors.
    fn failed_label(&self, criterion: &Criterion, comparison: &Comparison) -> Option<Words> {
        let asks = |one: &Criterion| is_of_errors(one) && one.label.is_none();
        if criterion.label.is_some() || self.0.iter().any(asks) {
            return None;
        }
        let fails = |(_, all, errors): &(&str, u64, u64)| 2 * errors > *all;
        comparison.labels.iter().filter(|row| !row.transaction).find_map(|row| {
            let mut failing = sides(row).into_iter().filter(fails);
            let ((side, all, errors), None) = (failing.next()?, failing.next()) else {
                return None;
            };
            let (label, Words { en, zh }) = (&row.label, evidence::failed(errors, all));
            Some(words(
                format!("{side}: of label {label:?}, {en}"),
                format!("{side}：标签 {label:?} 的 {zh}"),
            ))
        })
    }
}

/// Returns sides A and B with their numbers of samples and failures.
fn sides(row: &Row) -> [(&'static str, u64, u64); 2] {
    [("A", row.recorded.0, row.failed.0), ("B", row.recorded.1, row.failed.1)]
}

/// Returns the criterion with the kind of time that was compared.
fn of_times(criterion: &Criterion, times: Times) -> Criterion {
    let figure = match criterion.figure {
        Figure::Time(_, stat) => Figure::Time(times, stat),
        other => other,
    };
    Criterion { figure, ..criterion.clone() }
}

/// Returns the row of a label. Returns the row of all requests if the label is empty, or if the only label has no
/// separate row.
fn row<'c>(label: &str, comparison: &'c Comparison) -> Option<&'c Row> {
    if label.is_empty() {
        return Some(&comparison.all);
    }
    let named = comparison.labels.iter().find(|row| row.label == label);
    let is_single = comparison.labels.is_empty()
        && comparison.left_out == 0
        && comparison.only_a.is_empty()
        && comparison.only_b.is_empty();
    named.or_else(|| is_single.then_some(&comparison.all))
}

fn is_of_errors(criterion: &Criterion) -> bool {
    criterion.figure == Figure::ErrorShare
}

fn unknown_errors(comparison: &Comparison) -> Words {
    let sides = &comparison.errors_unknown;
    words(
        format!("the samples of {} do not say which of them failed", sides.join(" and ")),
        format!("{} 的样本未说明哪些失败", sides.join(" 和 ")),
    )
}

/// Returns the failure counts that decide about the criterion's metric.
fn counts<'r>(criterion: &Criterion, row: &'r Row) -> Option<&'r Failures> {
    match metric(criterion) {
        Some(ERRORS) => row.failures.as_ref(),
        Some(CHECKS) => row.unexpected.as_ref(),
        _ => None,
    }
}

fn is_there(criterion: &Criterion, difference: &Difference, counts: Option<&Failures>) -> bool {
    let Limit::Relative(percent) = criterion.limit else { return false };
    let is_beyond = match counts {
        Some(counts) => counts.is_beyond,
        None => difference.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
    };
    is_beyond && criterion.op.holds(difference.change, percent / 100.0)
}

/// Difference between the failure shares of two sides above which their times and rates cannot be compared, because
/// the times of failed samples differ from those of successful ones.
const FAILED_MORE: f64 = 0.05;

/// Returns the reason for not judging times and rates if more than half of a side's samples failed.
fn failed(criterion: &Criterion, row: &Row) -> Option<Words> {
    let is_share = is_share(metric(criterion).unwrap_or_default());
    let lacks = |(_, all, errors): &(&str, u64, u64)| 2 * errors > *all && *all > 0;
    let (side, all, errors) = sides(row).into_iter().find(lacks).filter(|_| !is_share)?;
    let Words { en, zh } = evidence::failed(errors, all);
    Some(words(format!("{side}: {en}"), format!("{side}：{zh}")))
}

/// Returns the reason for not judging checks if assertions checked no response of a side.
fn unchecked(row: &Row) -> Option<Words> {
    let checked = [("A", row.checked.0), ("B", row.checked.1)];
    let none: Vec<&str> =
        checked.into_iter().filter(|(_, n)| *n == 0).map(|(side, _)| side).collect();
    (!none.is_empty()).then(|| {
        words(
            format!("no assertion checked an answer of {}", none.join(" or ")),
            format!("{} 没有经断言检查的响应", none.join(" 和 ")),
        )
    })
}

/// Difference between the sides' shares of samples in ramp and warm-up above which a change that appears only in these
/// samples leaves the result undecided.
const UNEVEN: f64 = 0.15;

/// Returns the reason why a change that was not found may nevertheless exist.
fn open(
    criterion: &Criterion,
    row: &Row,
    difference: &Difference,
    comparison: &Comparison,
) -> Option<Words> {
    let Limit::Relative(percent) = criterion.limit else { return None };
    let limit = percent / 100.0;
    if let Some(counts) = counts(criterion, row) {
        let is_past = criterion.op.holds(difference.change, limit);
        // With a limit of 0, half of all comparisons of equal sides would be past the limit.
        let is_small = limit == 0.0 && counts.is_within_chance(LEAST_SHARE);
        if is_past && !is_small {
            return Some(counts.undecided());
        }
        // A change below the limit in these runs is ruled out as far as the number of samples allows.
        let gains = difference.metric == CHECKS;
        let (low, high) = counts.by_counts;
        let ends = if gains { (0.0 - high, 0.0 - low) } else { (low, high) };
        return wide(criterion, ends, limit.abs()).filter(|_| limit != 0.0);
    }
    let slow = slow_at_first(criterion, row, difference);
    if let Some(slow) = slow.filter(|_| uneven(row).1 > UNEVEN) {
        return Some(slow);
    }
    let Some(interval) = difference.interval else {
        if let Some(en) = row.refusal.clone() {
            return Some(words(en, "数据太少，没有区间"));
        }
        return Some(words(
            "a side has 0 ms, from which no relative change can be computed",
            "一方为 0 ms，无法计算相对变化",
        ));
    };
    let least = match limit {
        // With a limit of 0, half of all comparisons of equal sides would be past the limit.
        0.0 if criterion.op.holds(difference.change, limit) => LEAST_CHANGE,
        0.0 => return None,
        limit => limit.abs(),
    };
    let open = wide(criterion, interval, least)?;
    Some(coarse(criterion, difference, comparison).unwrap_or(open))
}

/// Largest half-width of an interval that decides about times or rates if the limit is 0: 2 %.
const LEAST_CHANGE: f64 = 0.02;
/// Largest half-width of an interval that decides about a share if the limit is 0: 1 percentage point.
const LEAST_SHARE: f64 = 0.01;

/// Returns the reason for an undecided change if the interval contains the limit and extends more than `least` to a
/// side.
fn wide(criterion: &Criterion, (low, high): (f64, f64), least: f64) -> Option<Words> {
    let Limit::Relative(percent) = criterion.limit else { return None };
    let limit = percent / 100.0;
    if (high - low) / 2.0 <= least || !(low..=high).contains(&limit) {
        return None;
    }
    let [low, high, limit] = [low, high, limit].map(|change| shown(criterion, change));
    Some(words(
        format!(
            "the interval {} to {} does not exclude {}: longer or repeated runs narrow it",
            low.en, high.en, limit.en
        ),
        format!("区间 {} 至 {} 未排除 {}：更长或重复的运行可使其变窄", low.zh, high.zh, limit.zh),
    ))
}

/// Formats a change of the criterion's metric for the user.
fn shown(criterion: &Criterion, change: f64) -> Words {
    if is_share(metric(criterion).unwrap_or_default()) {
        return points(change);
    }
    words(signed(change), signed(change))
}

/// Returns a remark about a decided change: the failures of a side, or the reason why the change is decided
/// although the limit lies within the interval.
fn within(
    criterion: &Criterion,
    difference: &Difference,
    counts: Option<&Failures>,
    is_there: bool,
) -> Option<Words> {
    let Limit::Relative(percent) = criterion.limit else { return None };
    let contains = |(low, high): &(f64, f64)| (*low..=*high).contains(&(percent / 100.0));
    let why = difference.interval.filter(contains).filter(|(low, high)| low < high).map(|ends| {
        let [low, high] = [ends.0, ends.1].map(|end| shown(criterion, end));
        let (then, then_zh) = match (is_there, percent == 0.0) {
            (true, _) => (
                "the change is beyond chance, but its exact size is not known",
                "变化本身超出偶然，其大小则不确定",
            ),
            (false, true) => ("no change beyond chance", "没有超出偶然的变化"),
            (false, false) if counts.is_some() => {
                ("what happened in these runs is below the limit", "这些运行中发生的低于限值")
            }
            (false, false) => {
                ("each half of the interval is smaller than the limit", "其每侧宽度小于限值")
            }
        };
        words(
            format!("the limit lies within the interval {} to {}: {then}", low.en, high.en),
            format!("限值位于区间 {} 至 {} 内：{then_zh}", low.zh, high.zh),
        )
    });
    let happened =
        counts.filter(|counts| is_there || counts.short_events.is_some()).map(Failures::words);
    match (happened, why) {
        (Some(happened), Some(why)) => Some(words(
            format!("{}; {}", happened.en, why.en),
            format!("{}；{}", happened.zh, why.zh),
        )),
        (happened, why) => happened.or(why),
    }
}

/// Returns the reason why a percentile has too coarse a resolution for the limit: a side's times are in whole
/// milliseconds.
fn coarse(criterion: &Criterion, difference: &Difference, of: &Comparison) -> Option<Words> {
    let (Figure::Time(_, Stat::Percentile(_)), Limit::Relative(percent)) =
        (criterion.figure, criterion.limit)
    else {
        return None;
    };
    let ms = difference.a.min(difference.b).max(1.0);
    if of.whole_ms.is_empty() || 100.0 / ms <= percent.abs() {
        return None;
    }
    let (step, limit) = (signed(1.0 / ms), signed(percent / 100.0));
    let sides = |and: &str| of.whole_ms.join(and);
    let verb = if of.whole_ms.len() == 1 { "has" } else { "have" };
    Some(words(
        format!(
            "{} {verb} whole milliseconds, and one of them is {step} here, more than {limit}: compare the mean, or the folders of Throng's runs, whose times are finer",
            sides(" and ")
        ),
        format!(
            "{} 只有整毫秒精度，此处一毫秒即 {step}，大于 {limit}：请比较平均值，或比较时间更精细的 Throng 运行目录",
            sides(" 和 ")
        ),
    ))
}

/// Returns the side with the larger share of samples in ramp and warm-up, and the difference of the shares.
fn uneven(row: &Row) -> (usize, f64) {
    let [left_a, left_b] = left_out(row);
    if left_b > left_a { (1, left_b - left_a) } else { (0, left_a - left_b) }
}

/// Returns for both sides the share of samples that are left out as ramp and warm-up.
fn left_out(row: &Row) -> [f64; 2] {
    let [(_, all_a, _), (_, all_b, _)] = sides(row);
    let share = |part: u64, of: u64| 1.0 - part as f64 / of.max(1) as f64;
    [share(row.samples.0, all_a), share(row.samples.1, all_b)]
}

/// Returns a remark if the change appears only in the samples that are left out as warm-up, not in the compared
/// samples.
fn slow_at_first(criterion: &Criterion, row: &Row, difference: &Difference) -> Option<Words> {
    let Limit::Relative(percent) = criterion.limit else { return None };
    if is_of_errors(criterion) {
        return None;
    }
    let holds = |change: f64| criterion.op.holds(change, percent / 100.0);
    let (a, b) = difference.with_warm_up.filter(|_| difference.change.is_finite())?;
    let change = if a > 0.0 { b / a - 1.0 } else { 0.0 };
    (holds(change) && !holds(difference.change)).then(|| {
        let at = uneven(row).0;
        let (side, part) = (sides(row)[at].0, stats::grouped::percent(left_out(row)[at]));
        let change = signed(change);
        words(
            format!("{side}: {part} of its samples are left out as ramp or warm-up; with the warm-up the change is {change}"),
            format!("{side}：其 {part} 的样本作为爬升或预热被排除；计入预热时变化为 {change}"),
        )
    })
}

fn no_row(label: &str, comparison: &Comparison) -> Words {
    let has = |list: &[String]| list.iter().any(|name| name == label);
    let only = [("A", has(&comparison.only_a)), ("B", has(&comparison.only_b))];
    match only.into_iter().find(|(_, has)| *has) {
        Some((side, _)) => words(
            format!("only {side} has samples with this label"),
            format!("只有 {side} 有此标签的样本"),
        ),
        None => words("the label has too few samples", "此标签的样本太少"),
    }
}

fn few(row: &Row) -> Words {
    let least = row.samples.0.min(row.samples.1);
    let en = match least {
        0 => "a side has no samples".to_owned(),
        least => format!("{} are too few for this figure", things(least, "sample")),
    };
    words(en, format!("{least} 个样本对该数据太少"))
}

/// Returns the name of the criterion's metric in a comparison.
fn metric(criterion: &Criterion) -> Option<&'static str> {
    match criterion.figure {
        Figure::Rate => Some("rate"),
        Figure::ErrorShare => Some(ERRORS),
        Figure::CheckShare => Some(CHECKS),
        Figure::Time(_, Stat::Mean) => Some("mean"),
        Figure::Time(_, Stat::Percentile(percent)) => {
            let known =
                [(50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p99.9")];
            known.iter().find(|(p, _)| *p == percent).map(|(_, name)| *name)
        }
        Figure::Time(_, Stat::Max) | Figure::Count | Figure::Errors | Figure::Series(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_a_figure_that_is_compared() {
        let read = |text: &str| FailIf::read(&[text.to_owned()]);
        for good in [
            "p95 > +5%",
            "rate < -3%",
            "checks% < -1%",
            "error% > +0.1%",
            "mean >= +2% for label Login",
        ] {
            assert!(read(good).is_ok(), "{good}");
        }
        for (bad, words) in [
            ("p95 > 5s", "is not a change"),
            ("max > +5%", "are compared"),
            ("p95 > +5", "a change is written like 'p95 > +5%'"),
            ("p95 = +5%", "a change needs"),
        ] {
            assert!(read(bad).unwrap_err().contains(words), "{bad}");
        }
    }
}
