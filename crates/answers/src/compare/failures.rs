//! Failures of two sides over their whole runs: that they happened is a fact, how often they happen is a question of chance.
//!
//! Shares are those of all seconds, ramp and warm-up included. The difference is tested by counts: of all failures, the
//! side with the larger share has as many as chance gives it by its part of the samples (a binomial). Failures in clusters
//! are worth fewer: as many as the variance of sums over seconds says, compared with that of independent ones (the design
//! effect; L. Kish, "Survey Sampling", 1965). If nearly all failures of the side that fails more are one event, the clusters
//! are those of the other side: an outage of one side alone did happen there, and seconds that depend on each other do not
//! make it a matter of chance. Else the geometric mean of both sides' effects counts.

use record::Record;
use serde::Serialize;
use stats::grouped::count;

use crate::distribution::incomplete_beta;
use crate::evidence::failed;
use crate::rules::clock;
use crate::verdict::Words;

/// Chance of calling equal sides different.
const CHANCE: f64 = 0.001;
/// Seconds of the sums that show clusters; and the number of parts of a run whose sums show long ones.
const LENGTHS: [usize; 3] = [1, 3, 10];
const PARTS: usize = 10;
/// Share of a side's failures that an event holds at least, and the largest share of the run that it takes.
const NEARLY_ALL: f64 = 0.95;
const LONGEST: f64 = 0.5;
/// 97.5 % of the standard normal distribution are below.
const Z: f64 = 1.96;

/// The failures of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failures {
    /// Share of B less share of A.
    pub change: f64,
    /// 95 % interval by the counts alone (R. Newcombe, Statistics in Medicine 17, 1998).
    pub interval: (f64, f64),
    /// The difference is beyond chance.
    pub is_beyond: bool,
    /// Nearly all failures of the side with the larger share lie in this part of its run, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_ms: Option<(i64, i64)>,
    /// The event has all of them; it lasts until the end of the run.
    #[serde(skip)]
    is_all: bool,
    #[serde(skip)]
    is_until_end: bool,
    /// Samples and failures of both sides.
    #[serde(skip)]
    sides: [(u64, u64); 2],
    /// Each side is one run.
    #[serde(skip)]
    is_single: bool,
}

/// Samples of a second.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    end_ms: i64,
    ms: u32,
    all: u64,
    failed: u64,
}

/// The seconds of a run with the samples of a label, or of all requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Course(Vec<Unit>);

/// The courses of these labels in a run, in their order; `None` is that of all requests.
pub(super) fn courses(record: &Record, labels: &[Option<u32>]) -> Vec<Course> {
    let start = record.seconds.first().map_or(0, |first| first.at_ms - i64::from(first.ms));
    let empty = |second: &record::Second| Unit {
        end_ms: second.at_ms - start,
        ms: second.ms,
        ..Unit::default()
    };
    let each: Vec<Unit> = record.seconds.iter().map(empty).collect();
    let mut courses = vec![Course(each); labels.len()];
    let mut place = vec![None; record.labels.len()];
    for (at, label) in labels.iter().enumerate() {
        if let Some(place) = label.and_then(|label| place.get_mut(label as usize)) {
            *place = Some(at);
        }
    }
    for (n, second) in record.seconds.iter().enumerate() {
        let all = labels.iter().position(Option::is_none).into_iter();
        let all = all.map(|at| (at, second.all.count, second.all.errors));
        let of_labels = second.labels.counts().filter_map(|(label, count, errors)| {
            Some(((*place.get(label as usize)?)?, count, errors))
        });
        for (at, count, errors) in all.chain(of_labels) {
            (courses[at].0[n].all, courses[at].0[n].failed) = (count, errors);
        }
    }
    courses
}

/// Samples of these runs and those that failed.
pub(super) fn counted(runs: &[&Course]) -> (u64, u64) {
    let units = runs.iter().flat_map(|run| &run.0);
    units.fold((0, 0), |sum, unit| (sum.0 + unit.all, sum.1 + unit.failed))
}

impl Failures {
    /// `None` if a side has no samples.
    pub(super) fn of(a: &[&Course], b: &[&Course]) -> Option<Self> {
        let sides = [counted(a), counted(b)];
        if sides.iter().any(|(all, _)| *all == 0) {
            return None;
        }
        let [of_a, of_b] = sides.map(|(all, failed)| failed as f64 / all as f64);
        let (more, less) = if of_b >= of_a { (1, 0) } else { (0, 1) };
        let runs = [a, b];
        let event = event(runs[more]);
        let end = runs[more].last().and_then(|run| run.0.iter().rfind(|unit| unit.all > 0));
        let is_last = |(_, to): (i64, i64)| end.is_some_and(|end| end.end_ms <= to);
        let [of_more, of_less] = [more, less].map(|at| design_effect(runs[at]));
        let effect =
            if event.is_some() { of_less } else { (of_less * of_more.max(of_less)).sqrt() };
        Some(Self {
            change: of_b - of_a,
            interval: interval(sides),
            is_beyond: chance(sides[more], sides[less], effect) < CHANCE,
            event_ms: event.map(|(span, _)| span),
            is_all: event.is_some_and(|(_, share)| share >= 1.0),
            is_until_end: event.is_some_and(|(span, _)| is_last(span)),
            sides,
            is_single: runs.iter().all(|runs| runs.len() == 1),
        })
    }

    /// Failures of the side with the larger share, when they happened, and those of the other one.
    pub fn words(&self) -> Words {
        let more = usize::from(self.change >= 0.0);
        let names = ["A", "B"];
        let ((all, errors), (of, other)) = (self.sides[more], self.sides[1 - more]);
        let Words { en, zh } = failed(errors, all);
        let (name, less) = (names[more], names[1 - more]);
        let (none, none_zh) = (
            format!(
                "{less}: {} of {}",
                if other == 0 { "none".into() } else { count(other) },
                count(of)
            ),
            format!("{less}：{} 个中 {} 个", count(of), count(other)),
        );
        let (runs, runs_zh) = if self.is_single {
            ("the whole run", "整个运行")
        } else {
            ("all runs", "全部运行")
        };
        let (when, when_zh) = self.when();
        Words {
            en: format!("{name}: {en} in {runs}{when}; {none}"),
            zh: format!("{name}：{runs_zh}中{zh}{when_zh}；{none_zh}"),
        }
    }

    fn when(&self) -> (String, String) {
        let Some((from, to)) = self.event_ms else { return Default::default() };
        // Seconds of a run end some milliseconds early or late.
        let (from, to) = (clock(from + 500), clock(to + 500));
        let (part, part_zh) = if self.is_all {
            ("all of them", "全部")
        } else {
            ("nearly all of them", "几乎全部")
        };
        if self.is_until_end {
            return (
                format!(", {part} from {from} until the end"),
                format!("，{part_zh}发生在 {from} 直至结束"),
            );
        }
        (
            format!(", {part} from {from} to {to}: one event does not say how often it happens"),
            format!("，{part_zh}发生在 {from} 至 {to}：单次事件无法说明其发生频率"),
        )
    }
}

/// Chance of as many failures on the side with the larger share, or more, if both sides fail alike.
fn chance((all, failed): (u64, u64), (of, other): (u64, u64), effect: f64) -> f64 {
    let (n, k) = ((all + of) as f64, (failed + other) as f64);
    if failed == 0 || other == of {
        return 1.0;
    }
    // Of shares that are not small, failures vary less than counts do.
    let worth = 1.0 / (effect * (1.0 - k / n).max(1.0 / n));
    let (k, failed) = (k * worth, failed as f64 * worth);
    2.0 * incomplete_beta(all as f64 / n, failed, k - failed + 1.0)
}

/// Variance of the failures in sums of neighbouring seconds, by that of independent ones; at least 1.
fn design_effect(runs: &[&Course]) -> f64 {
    let (all, failed) = counted(runs);
    let share = failed as f64 / all.max(1) as f64;
    let independent = share * (1.0 - share) * all as f64;
    if independent <= 0.0 {
        return 1.0;
    }
    let by_sums = |parts: usize, of: Option<usize>| {
        let sums = runs.iter().flat_map(|run| {
            let length = of.unwrap_or(run.0.len().div_ceil(parts)).max(1);
            run.0.chunks(length).map(|units| {
                units.iter().map(|unit| unit.failed as f64 - share * unit.all as f64).sum::<f64>()
            })
        });
        sums.map(|sum| sum * sum).sum::<f64>() / independent
    };
    let effects = LENGTHS.into_iter().map(Some).chain([None]).map(|of| by_sums(PARTS, of));
    effects.fold(1.0, f64::max)
}

/// The shortest part of a run with nearly all failures, ms, and its share of them; `None` if it is not short, or there are
/// several runs.
fn event(runs: &[&Course]) -> Option<((i64, i64), f64)> {
    let [run] = runs else { return None };
    let units = &run.0;
    let failed: u64 = units.iter().map(|unit| unit.failed).sum();
    let least = (failed as f64 * NEARLY_ALL).ceil() as u64;
    let most = (units.len() as f64 * LONGEST) as usize;
    let (mut first, mut within) = (0, 0);
    let mut shortest: Option<(usize, usize)> = None;
    for (last, unit) in units.iter().enumerate() {
        within += unit.failed;
        while within - units[first].failed >= least && first < last {
            within -= units[first].failed;
            first += 1;
        }
        let is_shorter = shortest.is_none_or(|(from, to)| last - first < to - from);
        if within >= least && is_shorter {
            shortest = Some((first, last));
        }
    }
    let (mut first, mut last) = shortest.filter(|(first, last)| last + 1 - first <= most)?;
    // Failures right beside belong to it.
    let fails = |at: &usize| units.get(*at).is_some_and(|unit| unit.failed > 0);
    while first.checked_sub(1).is_some_and(|at| fails(&at)) {
        first -= 1;
    }
    while fails(&(last + 1)) {
        last += 1;
    }
    let within: u64 = units[first..=last].iter().map(|unit| unit.failed).sum();
    let length = last + 1 - first;
    // Single failures that lie near each other are no event.
    let is_dense = 2 * units[first..=last].iter().filter(|unit| unit.failed > 0).count() > length;
    let span = (units[first].end_ms - i64::from(units[first].ms), units[last].end_ms);
    (failed > 1 && is_dense && length <= most).then_some((span, within as f64 / failed as f64))
}

/// The interval of the difference of two shares.
fn interval([a, b]: [(u64, u64); 2]) -> (f64, f64) {
    let (a, b) = (wilson(a), wilson(b));
    let low = (b.0 - a.0) - ((b.0 - b.1).powi(2) + (a.2 - a.0).powi(2)).sqrt();
    let high = (b.0 - a.0) + ((b.2 - b.0).powi(2) + (a.0 - a.1).powi(2)).sqrt();
    (low, high)
}

/// A share, and its 95 % interval by the score test (E. Wilson, 1927).
fn wilson((all, failed): (u64, u64)) -> (f64, f64, f64) {
    let (n, square) = (all as f64, Z * Z);
    let share = failed as f64 / n;
    let middle = share + square / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let whole = 1.0 + square / n;
    (share, (middle - half) / whole, (middle + half) / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A run of 50 samples a second whose share of failures is that of the second.
    fn course(seed: u64, seconds: usize, share: impl Fn(usize) -> f64) -> Course {
        let mut random = Random::new(seed);
        let unit = |at: usize| Unit {
            end_ms: (at as i64 + 1) * 1000,
            ms: 1000,
            all: 50,
            failed: (0..50).filter(|_| random.uniform() < share(at)).count() as u64,
        };
        Course((0..seconds).map(unit).collect())
    }

    fn of(a: &Course, b: &Course) -> Failures {
        Failures::of(&[a], &[b]).expect("samples")
    }

    #[test]
    fn an_outage_of_one_side_is_beyond_chance_and_has_its_time() {
        let good = course(1, 100, |_| 0.0);
        for (from, to, when) in [
            (0, 20, "0:00 to 0:20: one event does not say how often it happens"),
            (40, 60, "0:40 to 1:00: one event does not say how often it happens"),
            (80, 100, "1:20 until the end"),
        ] {
            let bad = course(2, 100, |at| if (from..to).contains(&at) { 1.0 } else { 0.0 });
            let found = of(&good, &bad);
            assert!(found.is_beyond && (found.change - 0.2).abs() < 1e-9, "{found:?}");
            let expected = format!(
                "B: 1 000 of 5 000 samples failed in the whole run, all of them from {when}; A: none of 5 000"
            );
            assert_eq!(found.words().en, expected);
            let other = of(&bad, &good);
            assert!(other.is_beyond && other.change < 0.0, "{other:?}");
        }
        let spread = of(&good, &course(3, 100, |_| 0.03));
        assert!(spread.is_beyond && spread.event_ms.is_none(), "{spread:?}");
        let few = Course(vec![Unit { all: 1, failed: 1, ms: 1000, end_ms: 1000 }]);
        assert!(!of(&good, &Course([good.0[..3].to_vec(), few.0].concat())).is_beyond);
    }

    #[test]
    fn sides_that_fail_alike_are_hardly_ever_called_different() {
        // Independent failures; a share that lasts for some seconds; outages of a second, 5 in a run on average.
        let bursts = |seed: u64| {
            let mut random = Random::new(seed);
            let down: Vec<bool> = (0..100).map(|_| random.uniform() < 0.05).collect();
            course(seed, 100, move |at| if down[at] { 1.0 } else { 0.0 })
        };
        let wanders = |seed: u64| {
            let mut random = Random::new(seed);
            let mut level = 0.0;
            let levels: Vec<f64> = (0..100)
                .map(|_| {
                    level = 0.8 * level + 0.6 * random.normal();
                    0.01 * f64::exp(0.7 * level)
                })
                .collect();
            course(seed, 100, move |at| levels[at])
        };
        let called = |make: &dyn Fn(u64) -> Course| {
            let pairs = (0..2000).map(|seed| of(&make(2 * seed + 1), &make(2 * seed + 2)));
            pairs.filter(|found| found.is_beyond).count()
        };
        for share in [0.001, 0.01, 0.2, 0.9] {
            let called = called(&|seed| course(seed, 100, |_| share));
            println!("share {share}: {called} of 2000 pairs called different");
            assert!(called <= 8, "{share}: {called}");
        }
        let (bursts, wanders) = (called(&bursts), called(&wanders));
        println!("outages: {bursts}, a wandering share: {wanders} of 2000 pairs called different");
        assert!(bursts <= 60 && wanders <= 60, "{bursts}, {wanders}");
    }

    #[test]
    fn intervals_by_counts_hold_the_true_change() {
        let held = |a: f64, b: f64| {
            let pair =
                |seed: u64| of(&course(2 * seed, 20, |_| a), &course(2 * seed + 1, 20, |_| b));
            let holds = |found: &Failures| found.interval.0 <= b - a && b - a <= found.interval.1;
            (0..1000).map(pair).filter(holds).count()
        };
        for (a, b) in [(0.0, 0.0), (0.01, 0.01), (0.01, 0.04), (0.5, 0.4)] {
            assert!(held(a, b) >= 930, "{a} {b}: {}", held(a, b));
        }
    }
}
