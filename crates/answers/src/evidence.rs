//! Evidence that criteria need in addition to a value within their limit: the samples must mean what the user
//! expects of the metric.
//!
//! A refused connection takes no time, and a label that never occurred has no errors. The rules, in their order:
//!
//! 1. A criterion about errors is undecided where the samples do not say which of them failed.
//!    A criterion on `checks%` is undecided where no assertion checked a response.
//!    A criterion about a series is undecided where no response had a number for the series.
//! 2. Without a sample no criterion is met, except `count = 0` of a label that the plan has.
//! 3. A criterion about times is not met without a successful sample; nor is `checks%` if all requests failed.
//! 4. Criteria about times, rates and counts are not met where more samples failed than succeeded, and no criterion is
//!    about the errors of the same samples.
//!    The same applies where more than half of the transactions failed by their own assertions.
//! 5. An upper limit of times is not met where samples in flight at the end have already waited so long that the limit
//!    is exceeded. The limit is undecided where these samples may exceed it later.
//! 6. A criterion that holds is undecided where more than [`MOST_MISSED`] of the starts were not made, or the rate of
//!    the plan was not reached: the missing samples would have been the slowest, and the first to fail.
//! 7. An upper limit of a percentile above p99 that holds is undecided if there are fewer samples than the percentile
//!    needs: 1000 for p99.9. With fewer samples the percentile is just the slowest sample. Lower percentiles are judged
//!    with any number of samples, because short tests use them.
//! 8. A criterion that holds in a run that ended early is undecided: the rest of the load was not made. The same
//!    applies where a target stopped answering until the end.
//!
//! If a criterion holds, but more than [`FEW_ERRORS`] of the samples failed and no criterion is about errors, the
//! judgement contains a warning.
//!
//! The cost is a few comparisons per criterion.

use record::{Record, Second};
use stats::Transactions;
use stats::grouped::{count, things};

use crate::criterion::{Criterion, Figure, Figures, Judged, Op, Outcome, Stat, of_limit};
use crate::rules;
use crate::verdict::Words;

/// Largest share of missing starts with which times and rates are still decided.
pub const MOST_MISSED: f64 = 0.01;

/// Share of failed samples above which a criterion that is met gets a warning, if no criterion is about errors.
pub const FEW_ERRORS: f64 = 0.01;

/// Share of transactions that failed by their own assertions above which a criterion that ignores errors is not met.
const MOST_OWN_FAILURES: f64 = 0.5;

/// The part of the planned load that a run did not make.
#[derive(Clone, Debug, Default)]
pub struct Shortfall {
    /// Number of starts that the configured rate required.
    pub due: u64,
    /// Number of due starts that were not made.
    pub missed: u64,
    /// Reason why the run, or the load in it, ended early.
    pub early: Option<Words>,
}

impl Shortfall {
    /// Returns the shortfall of a run that has ended. `due`, `missed`: numbers of starts by the counters of an open
    /// load; `due` is 0 for other loads.
    pub fn of(due: u64, missed: u64, record: Option<&Record>) -> Self {
        let by_rate = || record.and_then(rules::missed_starts).unwrap_or_default();
        let (due, missed) = if due > 0 { (due, missed) } else { by_rate() };
        let early = record.and_then(early);
        Self { due, missed, early: early.as_ref().map(met_so_far) }
    }
}

/// Returns the reason why the samples do not represent the whole load: errors ended it, or the target answered
/// nothing until the end.
fn early(record: &Record) -> Option<Words> {
    let unanswered = || rules::unanswered(record).as_ref().map(rules::part);
    rules::cut_short(record).or_else(unanswered)
}

/// Returns the reason why the samples of a run do not represent its whole load: starts of an open load were missed,
/// or the run ended early. Missed rates of timers are ignored, because such a rate is often only an upper limit for
/// the users of a plan.
///
/// `seconds` are those whose starts count: all of the record, or a measured part.
pub fn partial_load(record: &Record, seconds: &[Second]) -> Option<Words> {
    let sum = |of: fn(&Second) -> u64| seconds.iter().map(of).sum::<u64>();
    missing(sum(|second| second.missed), sum(|second| second.due)).or_else(|| early(record))
}

/// Returns the sentence for a criterion that holds, but is undecided because only a part of the load was generated.
pub fn met_so_far(why: &Words) -> Words {
    words(format!("met so far; {}", why.en), format!("目前满足；{}", why.zh))
}

/// Facts about the run whose criteria are judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// All criteria of the run that must hold.
    pub criteria: &'a [Criterion],
    /// Missing load; `None` if the whole load was generated.
    pub shortfall: Option<&'a Shortfall>,
}

impl Evidence<'_> {
    /// Judges a criterion by a set of samples of the run.
    pub fn judge(&self, criterion: &Criterion, of: &dyn Figures) -> Judged {
        let mut judged = criterion.judge(of);
        if let Some((outcome, reason)) = self.lacks(&judged, of) {
            judged.outcome = outcome;
            judged.reason = Some(reason);
        }
        judged
    }

    /// Judges a criterion by all samples of a run. If the run has no samples for the criterion, `nothing` is the
    /// reason.
    pub fn judge_whole(
        &self,
        criterion: &Criterion,
        of: &dyn Figures,
        nothing: &Nothing,
    ) -> Judged {
        let mut judged = self.judge(criterion, of);
        if of.count() > 0 {
            return of_enough(judged, of.count());
        }
        match nothing {
            Nothing::Planned if asks_for_none(criterion) => {}
            _ => {
                judged.outcome = Outcome::NotMet;
                judged.value = None;
                judged.reason = Some(nothing.words(criterion));
            }
        }
        judged
    }

    fn lacks(&self, judged: &Judged, of: &dyn Figures) -> Option<(Outcome, Words)> {
        let Judged { criterion, outcome, .. } = judged;
        let all = of.count();
        let is_time = matches!(criterion.figure, Figure::Time(..));
        let is_error = is_of_errors(criterion);
        match ignored(criterion, of) {
            _ if all == 0 => {}
            Some(errors) if errors >= all && is_without_number(judged) => {
                return Some((Outcome::NotMet, failed(errors, all)));
            }
            _ if is_without_number(judged) => {
                return Some((Outcome::Undecided, no_number(criterion)));
            }
            Some(errors) if errors >= all && is_unchecked(criterion, of) => {
                return Some((Outcome::NotMet, none_to_check(errors, all)));
            }
            _ if is_unchecked(criterion, of) => {
                return Some((Outcome::Undecided, unchecked(criterion)));
            }
            None if is_error => {
                let en = "the samples do not say which of them failed";
                return Some((Outcome::Undecided, words(en, "样本未说明哪些失败")));
            }
            Some(errors) if is_time && errors >= all => {
                return Some((Outcome::NotMet, failed(errors, all)));
            }
            Some(errors) if self.is_doubtful(criterion, errors, all) => {
                return Some((Outcome::NotMet, self.unasked(criterion, errors, all)));
            }
            _ => {}
        }
        if let Some(reason) = self.unasked_transactions(criterion, of, MOST_OWN_FAILURES) {
            return Some((Outcome::NotMet, reason));
        }
        if *outcome != Outcome::Met {
            return None;
        }
        let unanswered = unanswered(criterion, of);
        let few = || {
            let of_requests = self.unasked_few(criterion, of);
            let few = || self.unasked_transactions(criterion, of, FEW_ERRORS);
            of_requests.or_else(few).map(|words| (Outcome::Met, words))
        };
        unanswered.or_else(|| self.shortened(criterion)).or_else(few)
    }

    /// Returns the outcome "undecided" and the reason, for a criterion that holds, if a part of the load is missing.
    fn shortened(&self, criterion: &Criterion) -> Option<(Outcome, Words)> {
        let Shortfall { due, missed, early } = self.shortfall?;
        let lacks =
            missing(*missed, *due).or_else(|| early.clone()).filter(|_| !stays_met(criterion));
        lacks.map(|reason| (Outcome::Undecided, reason))
    }

    /// Returns the warning for a criterion that holds although some samples failed, if no criterion is about the
    /// failures.
    fn unasked_few(&self, criterion: &Criterion, of: &dyn Figures) -> Option<Words> {
        let (errors, all) = (ignored(criterion, of)?, of.count());
        let is_few = errors as f64 <= FEW_ERRORS * all as f64;
        let is_asked = is_of_errors(criterion) || self.asks_for_errors(criterion);
        (!is_few && !is_asked).then(|| self.unasked(criterion, errors, all))
    }

    /// Returns the reason for a criterion that ignores errors, if more than this share of the transactions failed by
    /// their own assertions, and no criterion covers these failures.
    fn unasked_transactions(
        &self,
        criterion: &Criterion,
        of: &dyn Figures,
        share: f64,
    ) -> Option<Words> {
        let Transactions { count: all, own_failures, .. } = of.transactions();
        let is_few = own_failures as f64 <= share * all as f64;
        let is_asked = is_of_errors(criterion)
            || criterion.figure == Figure::CheckShare
            || self.asks_for_errors(criterion);
        if of.count() == 0 || is_few || is_asked {
            return None;
        }
        let Words { en, zh } = failed_of("transaction", own_failures, all);
        Some(words(
            format!(
                "{en} by their own assertions, and no criterion is about the errors of the whole run: add 'error% < 1'"
            ),
            format!("{zh}（因其自身的断言），且没有关于整个运行的错误的标准：请添加 'error% < 1'"),
        ))
    }

    /// True if a criterion ignores errors, most samples failed, and no other criterion covers those errors.
    fn is_doubtful(&self, criterion: &Criterion, errors: u64, all: u64) -> bool {
        let most = errors > all - errors.min(all);
        most && !is_of_errors(criterion) && !self.asks_for_errors(criterion)
    }

    /// Returns the reason why a criterion that ignores errors is not met. A criterion about the errors of other
    /// samples does not help: the error share of all requests hides a label that fails.
    fn unasked(&self, criterion: &Criterion, errors: u64, all: u64) -> Words {
        let Words { en, zh } = match criterion.figure {
            Figure::CheckShare => failed_by_themselves(errors, all),
            _ => failed(errors, all),
        };
        let label = criterion.label.as_deref();
        let of = label.map_or_else(String::new, |label| format!(" for label {label}"));
        let about = match label {
            _ if !self.criteria.iter().any(is_of_errors) => ("errors", "错误"),
            Some(_) => ("the errors of this label", "该标签的错误"),
            None => ("the errors of all requests", "全部请求的错误"),
        };
        words(
            format!("{en}, and no criterion is about {}: add 'error% < 1{of}'", about.0),
            format!("{zh}，且没有关于{}的标准：请添加 'error% < 1{of}'", about.1),
        )
    }

    /// True if some criterion is about the errors of the same samples.
    fn asks_for_errors(&self, criterion: &Criterion) -> bool {
        self.criteria.iter().any(|other| is_of_errors(other) && other.label == criterion.label)
    }
}

/// Returns the smallest number of samples for a criterion's percentile: one sample is beyond the percentile on average.
pub fn least_samples(criterion: &Criterion) -> u64 {
    match criterion.figure {
        Figure::Time(_, Stat::Percentile(percent)) => {
            (100.0 / (100.0 - percent).max(1e-4) - 1e-6).ceil() as u64
        }
        _ => 1,
    }
}

/// Makes a criterion undecided that is a met upper limit of a percentile above p99, if there are fewer samples than the
/// percentile needs.
pub fn of_enough(judged: Judged, samples: u64) -> Judged {
    let Figure::Time(_, Stat::Percentile(percent)) = judged.criterion.figure else { return judged };
    let least = least_samples(&judged.criterion);
    let is_upper = matches!(judged.criterion.op, Op::Less | Op::AtMost);
    if samples >= least || percent <= 99.0 || !is_upper || judged.outcome != Outcome::Met {
        return judged;
    }
    let (n, of_least) = (things(samples, "sample"), count(least));
    let reason = words(
        format!("{n}, at least {of_least} needed for p{percent}"),
        format!("{} 个样本，p{percent} 至少需要 {of_least} 个", count(samples)),
    );
    Judged { outcome: Outcome::Undecided, reason: Some(reason), ..judged }
}

/// Returns the outcome of an upper limit of times that is not met, or not decided, because of samples in flight at the
/// end.
fn unanswered(criterion: &Criterion, of: &dyn Figures) -> Option<(Outcome, Words)> {
    let Figure::Time(times, stat) = criterion.figure else { return None };
    if !matches!(criterion.op, Op::Less | Op::AtMost) {
        return None;
    }
    let bounds = of.with_unanswered(times, stat)?;
    let (n, least) = (bounds.samples, criterion.shown(Some(bounds.least_ms)));
    let (en, zh) = (things(n, "sample"), count(n));
    if !criterion.holds(bounds.least_ms) {
        let en = format!("at least {least} with {en} in flight at the end");
        return Some((
            Outcome::NotMet,
            words(en, format!("计入结束时在途的 {zh} 个样本，至少 {least}")),
        ));
    }
    let en = format!(
        "of those answered; {en} in flight at the end had waited much longer than any answer took"
    );
    let zh = format!("仅含已响应的样本；结束时在途的 {zh} 个样本等待时间远超任何响应");
    bounds.is_open.then(|| (Outcome::Undecided, words(en, zh)))
}

/// Reason why a criterion has no sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// The whole run has no samples.
    Run,
    /// The main thread groups have no samples, but setUp or tearDown groups have some.
    Main,
    /// The plan has the label, but the run has no sample of it.
    Planned,
    /// No sampler has the label. Contains the label that the user probably meant.
    Unknown(Option<String>),
}

impl Nothing {
    /// Returns the reason as a message for the user.
    pub fn words(&self, criterion: &Criterion) -> Words {
        if *self == Self::Main {
            let en = "the main thread groups have no samples";
            return words(en, "主线程组没有样本");
        }
        let Some(label) = criterion.label.as_ref().filter(|_| *self != Self::Run) else {
            return words("the run has no samples", "本次运行没有样本");
        };
        let (en, zh) = match self {
            Self::Unknown(Some(near)) => {
                (format!(": did you mean {near:?}?"), format!("，是否应为 {near:?}？"))
            }
            _ => (String::new(), String::new()),
        };
        words(
            format!("no samples have the label {label:?}{en}"),
            format!("没有标签为 {label:?} 的样本{zh}"),
        )
    }
}

/// Returns the number of failed samples that a criterion ignores. A criterion about assertions covers samples that
/// assertions failed, but not requests that failed by transport or status. Such a request counts as a success if an
/// assertion ignores the status.
fn ignored(criterion: &Criterion, of: &dyn Figures) -> Option<u64> {
    match (criterion.figure, of.checks(), of.errors()) {
        (Figure::CheckShare, Some(checks), Some(errors)) => {
            Some(errors.saturating_sub(checks.unexpected))
        }
        (Figure::CheckShare, Some(checks), None) => Some(checks.failed),
        (.., errors) => errors,
    }
}

/// True if a criterion is about assertions, and no assertion checked a response.
pub fn is_unchecked(criterion: &Criterion, of: &dyn Figures) -> bool {
    criterion.figure == Figure::CheckShare
        && of.checks().is_none_or(|checks| checks.checked == 0)
        && of.transactions().checks.checked == 0
}

/// True if a criterion is about a series that has no number.
pub fn is_without_number(judged: &Judged) -> bool {
    matches!(judged.criterion.figure, Figure::Series(_)) && judged.value.is_none()
}

/// Returns the reason why a criterion about a series without values is undecided.
pub fn no_number(criterion: &Criterion) -> Words {
    let series = criterion.series.as_deref().unwrap_or_default();
    words(
        format!("no answer had a number for the series {series}"),
        format!("没有响应包含序列 {series} 的数值"),
    )
}

/// Returns the reason why a criterion about assertions is undecided: no assertion checked a response.
pub fn unchecked(criterion: &Criterion) -> Words {
    let (en, zh) = match &criterion.label {
        Some(label) => (format!(" of label {label}"), format!("标签 {label} 的")),
        None => Default::default(),
    };
    words(
        format!("no assertion checked an answer{en}: add an assertion to the plan"),
        format!("没有断言检查过{zh}任何响应：请在计划中添加断言"),
    )
}

/// Returns the reason why a criterion about assertions is not met: no response could be checked.
fn none_to_check(errors: u64, all: u64) -> Words {
    let Words { en, zh } = failed_by_themselves(errors, all);
    words(
        format!("{en}, and no assertion checked an answer"),
        format!("{zh}，没有断言检查过任何响应"),
    )
}

/// True if only the absence of samples can meet the criterion.
fn asks_for_none(criterion: &Criterion) -> bool {
    let most = match (criterion.op, of_limit(criterion)) {
        (Op::Equal | Op::AtMost, Some(limit)) => limit,
        (Op::Less, Some(limit)) => limit - 1.0,
        _ => return false,
    };
    criterion.figure == Figure::Count && most <= 0.0
}

/// Returns true if the criterion will stay met whatever further samples arrive.
fn stays_met(criterion: &Criterion) -> bool {
    matches!(criterion.figure, Figure::Count | Figure::Errors)
        && matches!(criterion.op, Op::More | Op::AtLeast)
}

fn is_of_errors(criterion: &Criterion) -> bool {
    matches!(criterion.figure, Figure::Errors | Figure::ErrorShare)
}

/// Returns the sentence about the share of samples that failed.
pub fn failed(errors: u64, all: u64) -> Words {
    failed_of("sample", errors, all)
}

/// Returns the sentence about the share of requests that failed by transport or status, regardless of assertions.
fn failed_by_themselves(errors: u64, all: u64) -> Words {
    let Words { en, zh } = failed_of("request", errors, all);
    words(format!("{en} by transport or status"), format!("{zh}（传输或状态码）"))
}

fn failed_of(thing: &str, errors: u64, all: u64) -> Words {
    let en = match (errors, all) {
        (1, 1) => format!("the only {thing} failed"),
        _ if errors >= all => format!("all {} failed", things(all, thing)),
        _ => format!("{} of {} failed", count(errors), things(all, thing)),
    };
    let zh = match thing {
        "request" => "请求",
        "transaction" => "事务",
        _ => "样本",
    };
    words(en, format!("{} 个{zh}中 {} 个失败", count(all), count(errors)))
}

/// Returns a message about missed starts if their share is larger than `MOST_MISSED`.
fn missing(missed: u64, due: u64) -> Option<Words> {
    let share = missed as f64 / due.max(1) as f64;
    if share <= MOST_MISSED {
        return None;
    }
    let share = (share * 100.0).round().max(1.0);
    let (missed, due) = (count(missed), count(due));
    Some(words(
        format!(
            "{share}% of the starts were not made ({missed} of {due}): the slowest samples are missing"
        ),
        format!("{share}% 的启动未执行（{due} 个中的 {missed} 个）：缺少最慢的样本"),
    ))
}

fn words(en: impl Into<String>, zh: impl Into<String>) -> Words {
    Words { en: en.into(), zh: zh.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::{Stat, Times};
    use stats::{Checks, Counter};

    #[derive(Default)]
    struct Set {
        count: u64,
        errors: Option<u64>,
        checks: Option<Checks>,
        transactions: Transactions,
    }

    impl Figures for Set {
        fn count(&self) -> u64 {
            self.count
        }
        fn errors(&self) -> Option<u64> {
            self.errors
        }
        fn checks(&self) -> Option<Checks> {
            self.checks
        }
        fn transactions(&self) -> Transactions {
            self.transactions
        }
        fn seconds(&self) -> f64 {
            1.0
        }
        fn time_ms(&self, _: Times, _: Stat) -> Option<f64> {
            (self.count > 0).then_some(5.0)
        }
    }

    fn judged(texts: &[&str], set: &Set, due: u64, missed: u64) -> Judged {
        let read = |text: &&str| Criterion::parse(text).expect("a criterion");
        let criteria: Vec<Criterion> = texts.iter().map(read).collect();
        let shortfall = Shortfall { due, missed, early: None };
        let evidence = Evidence { criteria: &criteria, shortfall: Some(&shortfall) };
        evidence.judge(&criteria[0], set)
    }

    #[test]
    fn times_rates_and_counts_need_successful_samples() {
        use Outcome::{Met, NotMet};
        for (texts, count, errors, expected) in [
            (&["p95 < 1s"][..], 10, 10, NotMet),
            (&["p95 < 1s", "error% <= 100"], 10, 10, NotMet),
            (&["p95 < 1s"], 10, 6, NotMet),
            (&["p95 < 1s"], 10, 5, Met),
            (&["p95 < 1s"], 1000, 10, Met),
            (&["p95 < 1s", "errors < 9"], 10, 6, Met),
            (&["p95 < 1s", "errors < 9 for label A"], 10, 6, NotMet),
            (&["p95 < 1s for label A", "errors < 9"], 10, 6, NotMet),
            (&["p95 < 1s for label A", "errors < 9 for label A"], 10, 6, Met),
            (&["rate > 5"], 10, 10, NotMet),
            (&["rate > 5", "error% > 99"], 10, 10, Met),
            (&["count = 10"], 10, 6, NotMet),
            (&["error% <= 100"], 10, 10, Met),
        ] {
            let judged =
                judged(texts, &Set { count, errors: Some(errors), ..Set::default() }, 0, 0);
            assert_eq!(judged.outcome, expected, "{texts:?} {errors}: {judged:?}");
            let is_silent = expected == Met && (texts.len() > 1 || errors <= count / 100);
            let is_silent = is_silent || texts[0].starts_with("error");
            assert_eq!(judged.reason.is_none(), is_silent, "{judged:?}");
        }
        let of = |texts: &[&str], errors| {
            judged(texts, &Set { count: 1000, errors: Some(errors), ..Set::default() }, 0, 0)
                .shown()
        };
        assert_eq!(of(&["p95 < 1s"], 1000), "5ms (all 1 000 samples failed)");
        assert_eq!(
            of(&["p95 < 1s for label A"], 600),
            "5ms (600 of 1 000 samples failed, and no criterion is about errors: add 'error% < 1 for label A')"
        );
        assert_eq!(
            of(&["p95 < 1s"], 500),
            "5ms (500 of 1 000 samples failed, and no criterion is about errors: add 'error% < 1')"
        );
        let other = of(&["p95 < 1s for label A", "error% < 1"], 600);
        assert!(other.contains("no criterion is about the errors of this label: add"), "{other}");
        let other = of(&["p95 < 1s", "error% < 1 for label A"], 600);
        assert!(other.contains("about the errors of all requests: add 'error% < 1')"), "{other}");
    }

    #[test]
    fn times_rates_and_counts_need_transactions_that_succeeded() {
        use Outcome::{Met, NotMet};
        let of = |texts: &[&str], own: u64| {
            let checks = Checks { checked: 100, unexpected: own, failed: 0 };
            let transactions = Transactions::with(100, own, checks);
            let set = Set { count: 1000, errors: Some(0), transactions, ..Set::default() };
            let judged = judged(texts, &set, 0, 0);
            (judged.outcome, judged.shown())
        };
        let (outcome, shown) = of(&["p95 < 1s"], 100);
        let words = "5ms (all 100 transactions failed by their own assertions, and no criterion is about the errors of the whole run: add 'error% < 1')";
        assert_eq!((outcome, &*shown), (NotMet, words));
        assert_eq!(of(&["p95 < 1s", "error% < 1 for label A"], 100).0, NotMet);
        assert_eq!(of(&["p95 < 1s", "error% <= 100"], 100), (Met, "5ms".into()));
        let (outcome, shown) = of(&["count = 1000"], 50);
        assert!(outcome == Met && shown.contains("(50 of 100 transactions failed by"), "{shown}");
        assert_eq!(of(&["count = 1000"], 1), (Met, "1000".into()));
        let by_own = "100% of transactions, by their own assertions";
        assert_eq!(of(&["error% < 1"], 100), (NotMet, by_own.into()));
        // No assertion checked a request, but assertions checked the transactions.
        let checked = "0% of checked transactions";
        assert_eq!(of(&["checks% > 99"], 100), (NotMet, checked.into()));
    }

    #[test]
    fn answers_as_expected_need_checked_answers_and_requests_that_succeeded() {
        use Outcome::{Met, NotMet, Undecided};
        let outcome = |texts: &[&str], checked, unexpected, failed| {
            let checks = Some(Checks { checked, unexpected, failed });
            let set =
                Set { count: 1000, errors: Some(unexpected + failed), checks, ..Set::default() };
            let judged = judged(texts, &set, 0, 0);
            (judged.outcome, judged.shown())
        };
        let (met, shown) = outcome(&["checks% > 99"], 1000, 5, 0);
        assert_eq!((met, &*shown), (Met, "99.5% of checked answers"));
        assert_eq!(outcome(&["checks% > 99"], 100, 50, 0).0, NotMet);
        // The criterion itself is about responses that failed assertions, so a majority of them does not matter.
        assert_eq!(outcome(&["checks% > 10"], 1000, 800, 0).0, Met);
        // The criterion is not about requests that failed by transport.
        let (not_met, shown) = outcome(&["checks% > 99"], 400, 0, 600);
        let words = "600 of 1 000 requests failed by transport or status, and no criterion";
        assert!(not_met == NotMet && shown.contains(words), "{shown}");
        assert_eq!(outcome(&["checks% > 99", "error% < 70"], 400, 0, 600).0, Met);
        let (undecided, shown) = outcome(&["checks% > 99"], 0, 0, 0);
        assert!(undecided == Undecided && shown.starts_with("no assertion"), "{shown}");
        let (_, shown) = outcome(&["checks% > 99 for label A"], 0, 0, 0);
        assert!(shown.starts_with("no assertion checked an answer of label A"), "{shown}");
        let (not_met, shown) = outcome(&["checks% > 99", "error% <= 100"], 0, 0, 1000);
        let words = "all 1 000 requests failed by transport or status, and no assertion checked";
        assert!(not_met == NotMet && shown.starts_with(words), "{shown}");
    }

    #[test]
    fn a_status_that_assertions_accept_is_no_failure() {
        let checks = Some(Checks { checked: 40, unexpected: 0, failed: 40 });
        let set = Set { count: 40, errors: Some(0), checks, ..Set::default() };
        let met = judged(&["checks% > 99"], &set, 0, 0);
        assert_eq!((met.outcome, &*met.shown()), (Outcome::Met, "100% of checked answers"));
        // An assertion that held does not turn a failed status into a success.
        let set = Set { errors: Some(40), ..set };
        let not_met = judged(&["checks% > 99"], &set, 0, 0);
        let words = "all 40 requests failed by transport or status";
        assert!(!not_met.is_met() && not_met.shown().contains(words), "{}", not_met.shown());
    }

    #[test]
    fn samples_that_do_not_say_whether_they_failed_decide_no_criterion_on_errors() {
        let set = Set { count: 10, ..Set::default() };
        for text in ["error% < 1", "errors = 0", "error% > 1"] {
            let judged = judged(&[text], &set, 0, 0);
            assert_eq!((judged.outcome, judged.value), (Outcome::Undecided, None), "{text}");
            assert_eq!(judged.shown(), "the samples do not say which of them failed");
        }
        assert!(judged(&["p95 < 1s"], &set, 0, 0).is_met());
    }

    #[test]
    fn a_percentile_that_few_samples_cannot_show_is_undecided() {
        let outcome = |text: &str, count| {
            let set = Set { count, errors: Some(0), ..Set::default() };
            let criterion = Criterion::parse(text).expect("a criterion");
            let judged = Evidence::default().judge_whole(&criterion, &set, &Nothing::Planned);
            (judged.outcome, judged.shown())
        };
        for (text, least) in
            [("p99.9 < 1s", 1000), ("service p99.9 <= 1s", 1000), ("p99.999 < 1s", 100_000)]
        {
            assert_eq!(outcome(text, least).0, Outcome::Met, "{text}");
            assert_eq!(outcome(text, least - 1).0, Outcome::Undecided, "{text}");
        }
        let shown = outcome("p99.9 < 1s", 94).1;
        assert_eq!(shown, "5ms (94 samples, at least 1 000 needed for p99.9)");
        for text in ["p99.9 > 1ms", "p99 < 1s", "median < 1s", "max < 1s", "mean < 1s"] {
            assert_eq!(outcome(text, 1).0, Outcome::Met, "{text}");
        }
        assert_eq!(outcome("p99.9 < 1ms", 94).0, Outcome::NotMet, "a sample is above it");
    }

    #[test]
    fn missing_starts_leave_what_holds_undecided() {
        let set = Set { count: 81, errors: Some(0), ..Set::default() };
        let outcome = |text: &str, missed| judged(&[text], &set, 100, missed).outcome;
        for text in ["p95 < 1s", "rate > 5"] {
            assert_eq!(outcome(text, 1), Outcome::Met, "{text}");
            assert_eq!(outcome(text, 19), Outcome::Undecided, "{text}");
        }
        assert_eq!(outcome("p95 < 1ms", 19), Outcome::NotMet);
        assert_eq!(outcome("error% < 1", 19), Outcome::Undecided);
        assert_eq!(outcome("count > 80", 19), Outcome::Met);
        let words = judged(&["p95 < 1s"], &set, 100, 19).shown();
        assert!(words.starts_with("5ms (19% of the starts were not made (19 of 100)"), "{words}");
    }

    #[test]
    fn the_samples_of_a_run_that_ended_early_meet_nothing_for_good() {
        use Outcome::{Met, NotMet, Undecided};
        let early = Some(words("met so far", "目前满足"));
        let shortfall = Shortfall { early, ..Shortfall::default() };
        let set = Set { count: 10, errors: Some(1), ..Set::default() };
        for (text, expected) in [
            ("p95 < 1s", Undecided),
            ("p95 < 1ms", NotMet),
            ("error% < 20", Undecided),
            ("rate > 5", Undecided),
            ("count < 20", Undecided),
            ("count >= 10", Met),
            ("errors > 0", Met),
        ] {
            let criterion = Criterion::parse(text).expect("a criterion");
            let evidence = Evidence { criteria: &[], shortfall: Some(&shortfall) };
            assert_eq!(evidence.judge(&criterion, &set).outcome, expected, "{text}");
        }
    }

    #[test]
    fn errors_that_end_the_run_or_many_users_leave_a_shortfall() {
        let record = |counter, n, started, open| {
            let mut record = Record::default();
            record.seconds.push(record::Second {
                at_ms: 1000,
                ms: 1000,
                started,
                ..Default::default()
            });
            record.seconds[0].counters.add(counter, n);
            (record.frame.load.length_ms, record.frame.load.open) = (Some(30_000), open);
            record
        };
        let early = |record: &Record| Shortfall::of(0, 0, Some(record)).early.map(|words| words.en);
        let run = record(Counter::RunStoppedByError, 1, 20, true);
        assert_eq!(
            early(&run).as_deref(),
            Some("met so far; the run ended at 0:01 of 0:30: it was to stop after an error")
        );
        let users = |ended, open| early(&record(Counter::UsersStoppedByError, ended, 20, open));
        assert_eq!(
            users(20, false).as_deref(),
            Some("met so far; 20 of 20 users were stopped after an error, as the plan says")
        );
        assert_eq!((users(2, false), users(20, true)), (None, None));
        let mut at_the_end = record(Counter::RunStoppedByError, 1, 20, false);
        at_the_end.frame.load.length_ms = Some(2_000);
        assert_eq!(early(&at_the_end), None);
    }

    #[test]
    fn an_error_that_ends_a_run_of_loops_leaves_a_shortfall_where_work_was_left() {
        let record = |counter, not_begun| {
            let mut record = Record::default();
            for at_ms in [1000, 2000] {
                let second = record::Second { at_ms, ms: 1000, started: 20, ..Default::default() };
                record.seconds.push(second);
            }
            record.seconds[1].counters.add(counter, 1);
            record.seconds[1].counters.add(Counter::SamplersNotBegun, not_begun);
            record.frame.load.users = 20;
            record
        };
        let is_early = |record: &Record| Shortfall::of(0, 0, Some(record)).early.is_some();
        let run = |not_begun| record(Counter::RunStoppedByError, not_begun);
        assert_eq!((is_early(&run(0)), is_early(&run(1))), (false, true));
        let mut ramp = run(0);
        ramp.frame.load.users = 21;
        let mut cut = run(0);
        cut.seconds[1].all.cut = 3;
        assert!(is_early(&ramp) && is_early(&cut));
        let users = |not_begun| {
            let mut users = record(Counter::UsersStoppedByError, not_begun);
            users.seconds[1].counters.add(Counter::UsersStoppedByError, 19);
            users
        };
        assert!(!is_early(&users(0)) && rules::cut_by_errors(&users(0)).is_some());
        assert!(is_early(&users(20)));
        // A user whose loop is endless still had work to do when the run stopped.
        for mut endless in [run(0), users(0)] {
            endless.frame.settings = vec![(record::frame::ENDLESS.into(), "true".into())];
            assert!(is_early(&endless));
        }
    }

    #[test]
    fn nothing_is_met_without_a_sample_but_its_absence() {
        let none = Set { errors: Some(0), ..Set::default() };
        let evidence = Evidence::default();
        let judge = |text: &str, nothing: &Nothing| {
            let criterion = Criterion::parse(text).expect("a criterion");
            let judged = evidence.judge_whole(&criterion, &none, nothing);
            (judged.is_met(), judged.shown())
        };
        for text in ["errors = 0", "count < 100", "count = 0", "rate < 5", "error% < 1", "p95 < 1s"]
        {
            let (met, words) = judge(text, &Nothing::Run);
            assert_eq!((met, &*words), (false, "the run has no samples"), "{text}");
            let near = Nothing::Unknown(Some("Login".into()));
            let (met, words) = judge(&format!("{text} for label Logn"), &near);
            assert!(!met && words.ends_with("did you mean \"Login\"?"), "{text}: {words}");
        }
        for (text, met) in [
            ("count = 0 for label Fallback", true),
            ("count <= 0 for label Fallback", true),
            ("count < 1 for label Fallback", true),
            ("count < 2 for label Fallback", false),
            ("errors = 0 for label Fallback", false),
        ] {
            assert_eq!(judge(text, &Nothing::Planned).0, met, "{text}");
        }
    }
}
