//! Judges the criteria of a search for one probe: over its whole duration, in windows, and by margin.

use answers::criterion::{Criterion, Limit, OfPart, Op, Times};
use answers::evidence::{self, Evidence, least_samples};
use answers::precision::precision;
use answers::search::{self, Trial};
use answers::verdict::Words;
use record::{Change, Part, Record, Second};
use serde::{Deserialize, Serialize};
use stats::{Checks, Transactions};

use super::super::sweep::Figures;

/// Length of a trial window in seconds.
const WINDOW: usize = 5;
/// Window lengths in seconds for estimating the error of a probe's margin. The first length that gives enough
/// samples per window is used.
pub(crate) const WINDOWS: &[usize] = &[WINDOW, 2 * WINDOW];

/// Result of a criterion in a probe.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Judged {
    pub(crate) criterion: String,
    /// The value as it is shown to the user.
    pub(crate) shown: String,
    /// The value in Chinese. Empty in results that an older version stored.
    #[serde(default)]
    pub(crate) shown_zh: String,
    pub(crate) holds: bool,
    /// True if the value is within its limit, but the probe has too few samples for the criterion's percentile.
    #[serde(default)]
    pub(crate) undecided: bool,
    /// Value divided by limit, or limit divided by value if larger values are better. Absent if the limit is 0.
    pub(crate) margin: Option<f64>,
}

/// Name that takes the place of a criterion in the result of a probe that made only a part of its load.
const WHOLE_LOAD: &str = "whole load";

impl Judged {
    /// Describes a criterion that does not hold.
    pub(crate) fn broken(&self) -> Words {
        let Self { criterion, shown: en, shown_zh, .. } = self;
        let zh = if shown_zh.is_empty() { en } else { shown_zh };
        if criterion == WHOLE_LOAD {
            return Words { en: en.clone(), zh: zh.clone() };
        }
        Words { en: format!("{criterion}: {en}"), zh: format!("{criterion}: {zh}") }
    }
}

/// Returns the measured whole seconds of a record: those after the settling time, for `length` seconds.
pub(crate) fn measured(record: &Record, settle: f64, length: f64) -> &[Second] {
    let start = record.frame.start_ms + (settle * 1000.0) as i64;
    // Answers that arrive after the end of the load do not count for the rate of the load.
    let end = start + (length * 1000.0) as i64 + 500;
    let stop = record.marks.iter().find(|mark| matches!(mark.change, Change::Stop { .. }));
    let end = stop.map_or(end, |stop| end.min(stop.at_ms));
    let first =
        record.seconds.iter().position(|second| second.at_ms - i64::from(second.ms) >= start - 500);
    let last = record
        .seconds
        .iter()
        .rposition(|second| second.ms >= 500 && second.at_ms <= end)
        .map_or(0, |last| last + 1);
    let first = first.unwrap_or(last).min(last);
    &record.seconds[first..last]
}

/// Judges the criteria over all measured seconds. The result is true if all values are within their limits, whatever
/// the number of samples: a caller that needs evidence reads [`Judged::undecided`].
pub(crate) fn whole(
    criteria: &[Criterion],
    record: &Record,
    seconds: &[Second],
) -> (bool, Vec<Judged>) {
    let evidence = Evidence { criteria, ..Evidence::default() };
    let judged: Vec<Judged> = criteria
        .iter()
        .map(|criterion| {
            let part = part(criterion, record, seconds);
            let found = evidence.judge(criterion, &part.of());
            let is_within = found.is_met();
            let found = evidence::of_enough(found, part.part.count);
            let Words { en, zh } = found.shown_words();
            Judged {
                criterion: criterion.to_string(),
                shown: en,
                shown_zh: zh,
                holds: found.is_met(),
                undecided: is_within && !found.is_met(),
                margin: found.value.and_then(|value| by_limit(criterion, value)),
            }
        })
        .collect();
    (judged.iter().all(|judged| judged.holds || judged.undecided), judged)
}

/// The judgement of a probe.
pub(crate) struct Judgement {
    /// True if all criteria hold, and the probe made its whole load.
    pub(crate) holds: bool,
    /// True if all values are within their limits, but the probe has too few samples for a percentile.
    pub(crate) undecided: bool,
    pub(crate) judged: Vec<Judged>,
    /// Largest margin of the criteria; `None` without one, or if a part of the load is missing.
    pub(crate) margin: Option<f64>,
    pub(crate) trials: Vec<Trial>,
}

/// Judges a probe by its measured seconds. A probe that made only a part of its load, for example because errors ended
/// users, does not show that the load holds. Neither does a probe with too few samples for a percentile. `clear` is the
/// planned duration of a probe that ended early because its result was clear.
pub(crate) fn probe(
    criteria: &[Criterion],
    record: &Record,
    seconds: &[Second],
    clear: Option<f64>,
) -> Judgement {
    let (is_within, mut judged) = whole(criteria, record, seconds);
    let undecided = is_within && judged.iter().any(|judged| judged.undecided);
    let holds = is_within && !undecided;
    let mut trials = trials(criteria, record, seconds, holds, clear);
    if undecided {
        trials.clear();
    }
    let Some(Words { en, zh }) = evidence::partial_load(record, seconds) else {
        return Judgement { holds, undecided, margin: margin(&judged), judged, trials };
    };
    judged.push(Judged {
        criterion: WHOLE_LOAD.to_owned(),
        shown: en,
        shown_zh: zh,
        holds: false,
        undecided: false,
        margin: None,
    });
    for trial in &mut trials {
        trial.good = false;
    }
    Judgement { holds: false, undecided: false, judged, margin: None, trials }
}

/// Returns the largest margin (value divided by limit) of the criteria.
pub(crate) fn margin(judged: &[Judged]) -> Option<f64> {
    judged.iter().filter_map(|judged| judged.margin).reduce(f64::max)
}

fn by_limit(criterion: &Criterion, value: f64) -> Option<f64> {
    let Limit::Absolute(limit) = criterion.limit else { return None };
    if limit <= 0.0 || value <= 0.0 {
        return None;
    }
    match criterion.op {
        Op::Less | Op::AtMost => Some(value / limit),
        Op::More | Op::AtLeast => Some(limit / value),
        Op::Equal | Op::NotEqual => None,
    }
}

/// Returns the windows of a probe as trials, or the whole probe as one trial if windows have too few samples for
/// the percentiles. A probe that ended early because its result was clear (`clear`) counts with its planned
/// duration.
fn trials(
    criteria: &[Criterion],
    record: &Record,
    seconds: &[Second],
    holds: bool,
    clear: Option<f64>,
) -> Vec<Trial> {
    let measured = || seconds.iter().map(|second| f64::from(second.ms) / 1000.0).sum();
    let all: f64 = clear.unwrap_or_else(measured);
    let Some(windows) = windows(criteria, record, seconds, WINDOW) else {
        return vec![Trial { seconds: all, good: holds, full: true }];
    };
    let each = all / windows.len() as f64;
    let good = |window: &[Second]| whole(criteria, record, window).0;
    windows.iter().map(|window| Trial { seconds: each, good: good(window), full: true }).collect()
}

/// Divides the seconds into windows of equal length. Returns `None` if there is no window, or if one has too few
/// samples for the percentiles.
fn windows<'r>(
    criteria: &[Criterion],
    record: &Record,
    seconds: &'r [Second],
    length: usize,
) -> Option<Vec<&'r [Second]>> {
    let windows: Vec<&[Second]> = seconds.chunks_exact(length).collect();
    let enough = |window: &&[Second]| {
        criteria
            .iter()
            .all(|criterion| part(criterion, record, window).part.count >= least_samples(criterion))
    };
    (!windows.is_empty() && windows.iter().all(enough)).then_some(windows)
}

/// Returns the standard error of the margin's logarithm. It is computed from windows of the first of `lengths`
/// that has enough samples.
pub(crate) fn noise(
    criteria: &[Criterion],
    record: &Record,
    seconds: &[Second],
    lengths: &[usize],
) -> Option<f64> {
    let windows = lengths.iter().find_map(|length| windows(criteria, record, seconds, *length))?;
    let of = |window: &[Second]| margin(&whole(criteria, record, window).1);
    let margins: Option<Vec<f64>> = windows.into_iter().map(of).collect();
    search::noise(&margins?)
}

/// Distance from the limit, in standard errors of the margin, at which a result is clear. Chance exceeds it in fewer
/// than one of a thousand cases.
const CLEAR: f64 = 4.0;

/// Returns true if a running probe has a clear result: it is clearly on one side of the limit, its mean has the
/// required precision, and its percentiles have enough samples.
pub(crate) fn is_clear(
    criteria: &[Criterion],
    record: &Record,
    seconds: &[Second],
    wanted: f64,
) -> bool {
    let units = answers::compare::units(seconds, None, Times::Service);
    if !precision(&units).is_some_and(|found| found.relative() <= wanted) {
        return false;
    }
    let figures = Figures::of(seconds);
    if needed(criteria, figures.rate, worth(&figures)) > seconds.len() as f64 {
        return false;
    }
    let (holds, judged) = whole(criteria, record, seconds);
    if fails_for_certain(&judged) {
        return true;
    }
    // The samples of a label may be too few although those of all labels suffice.
    if judged.iter().any(|judged| judged.undecided) {
        return false;
    }
    // A criterion without a margin, such as zero errors, holds only if it has held for the whole time.
    if holds && judged.iter().any(|judged| judged.margin.is_none()) {
        return false;
    }
    let is_same = |window: &[Second]| whole(criteria, record, window).0 == holds;
    let all_same = windows(criteria, record, seconds, WINDOW)
        .is_some_and(|windows| windows.into_iter().all(is_same));
    let by_margin = margin(&judged).zip(noise(criteria, record, seconds, &[2, 3, WINDOW]));
    all_same && by_margin.is_some_and(|(margin, noise)| margin.ln().abs() > CLEAR * noise)
}

/// True if a criterion without a margin was missed.
pub(crate) fn fails_for_certain(judged: &[Judged]) -> bool {
    judged.iter().any(|judged| !judged.holds && !judged.undecided && judged.margin.is_none())
}

/// Returns the factor by which a probe must be longer so that each undecided criterion has the samples that its
/// percentile needs; 1 if no criterion is undecided. A fifth is added, because rates vary.
pub(crate) fn longer(criteria: &[Criterion], record: &Record, seconds: &[Second]) -> f64 {
    let (_, judged) = whole(criteria, record, seconds);
    let undecided = criteria.iter().zip(&judged).filter(|(_, judged)| judged.undecided);
    let factor = |criterion: &Criterion| {
        let samples = part(criterion, record, seconds).part.count.max(1);
        1.2 * least_samples(criterion) as f64 / samples as f64
    };
    undecided.map(|(criterion, _)| factor(criterion)).fold(1.0, f64::max)
}

/// Returns the seconds that a probe needs for its percentiles at this rate: ten independent samples beyond each
/// percentile.
pub(crate) fn needed(criteria: &[Criterion], rate: f64, worth: f64) -> f64 {
    if rate <= 0.0 {
        return 0.0;
    }
    criteria
        .iter()
        .map(|criterion| least_samples(criterion) as f64 * 10.0 * worth / rate)
        .filter(|s| *s > 0.0)
        .fold(0.0, f64::max)
}

/// Returns the number of samples that contain as much information as one independent sample, at most ten.
pub(crate) fn worth(figures: &Figures) -> f64 {
    (figures.samples as f64 / figures.effective_samples.max(1e-9)).clamp(1.0, 10.0)
}

/// A merged part of the record, with its duration.
#[derive(Default)]
struct Merged {
    part: Part,
    checks: Checks,
    transactions: Transactions,
    seconds: f64,
}

impl Merged {
    fn of(&self) -> OfPart<'_> {
        let Self { part, checks, transactions, seconds } = self;
        let (checks, transactions) = (*checks, *transactions);
        OfPart { part, checks, transactions, seconds: *seconds }
    }
}

fn part(criterion: &Criterion, record: &Record, seconds: &[Second]) -> Merged {
    let number = |name: &String| {
        record.labels.iter().position(|label| *label.name == **name).map(|at| at as u32)
    };
    let label = criterion.label.as_ref().map(|name| number(name).unwrap_or(u32::MAX));
    let mut merged = Merged::default();
    for second in seconds {
        merged.seconds += f64::from(second.ms) / 1000.0;
        merged.checks.merge(&second.checks_of(label, &record.labels));
        match label {
            None => {
                merged.part.merge(&second.all);
                merged.transactions.merge(&second.transactions(&record.labels));
            }
            Some(label) => {
                if let Some(of) = second.labels.get(label) {
                    merged.part.merge(&of);
                }
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use stats::hist::{Bins, layout};

    use super::*;

    fn judgement(missed: u64) -> Judgement {
        let second = |n: i64| Second {
            at_ms: n * 1000,
            ms: 1000,
            due: 100,
            missed,
            all: Part { count: 100 - missed, ..Part::default() },
            ..Second::default()
        };
        let record = Record { seconds: (1..=10).map(second).collect(), ..Record::default() };
        let criteria = [Criterion::parse("count > 10").expect("a criterion")];
        probe(&criteria, &record, &record.seconds, None)
    }

    #[test]
    fn a_probe_with_too_few_samples_for_a_percentile_is_undecided() {
        let probe_of = |each: u64, us: u64, text: &str| {
            let second = |n: i64| {
                let mut service = Bins::default();
                service.add(layout::index_of(us), each);
                service.settle();
                let all = Part { count: each, service, ..Part::default() };
                Second { at_ms: n * 1000, ms: 1000, all, ..Second::default() }
            };
            let record = Record { seconds: (1..=20).map(second).collect(), ..Record::default() };
            let criteria = [Criterion::parse(text).expect("a criterion")];
            let found = probe(&criteria, &record, &record.seconds, None);
            let factor = longer(&criteria, &record, &record.seconds);
            (found.holds, found.undecided, found.judged[0].shown.clone(), factor)
        };
        let (holds, undecided, shown, factor) = probe_of(7, 5000, "p99.9 < 1s");
        assert!(!holds && undecided, "{shown}");
        assert!(shown.ends_with("(140 samples, at least 1 000 needed for p99.9)"), "{shown}");
        assert!((8.0..9.0).contains(&factor), "{factor}");
        let (holds, undecided, _, factor) = probe_of(50, 5000, "p99.9 < 1s");
        assert!(holds && !undecided && factor <= 1.0);
        let (holds, undecided, ..) = probe_of(7, 5_000_000, "p99.9 < 1s");
        assert!(!holds && !undecided, "a sample is above the limit");
        let (holds, undecided, ..) = probe_of(7, 5000, "p99 < 1s");
        assert!(holds && !undecided);
    }

    #[test]
    fn a_probe_with_a_part_of_its_load_does_not_hold() {
        let whole = judgement(0);
        assert!(whole.holds && whole.trials.iter().all(|trial| trial.good));
        assert_eq!(whole.judged.len(), 1);
        let part = judgement(30);
        assert!(!part.holds && part.trials.iter().all(|trial| !trial.good));
        assert!(part.judged[0].holds, "the criterion itself");
        let Judged { criterion, shown, .. } = &part.judged[1];
        assert_eq!(criterion, "whole load");
        assert!(shown.starts_with("30% of the starts were not made"), "{shown}");
        assert!(fails_for_certain(&part.judged));
    }
}
