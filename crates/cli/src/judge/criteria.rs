//! Criteria of a run: criteria that must hold at its end, and criteria that end the run early.
//!
//! `window` collects the samples to which a criterion applies during the run. `judgement` contains the outcome and
//! formats it for the console and for files.

mod judgement;
mod window;

use std::time::Duration;

use answers::criterion::{Bounds, Criterion, Figures, Judged, Outcome, Stat, Times, of_hist};
use answers::evidence::{self, Evidence, Nothing, Shortfall};
use answers::unanswered::bounds;
use answers::verdict::Words;
use plan::plan::{ControllerKind, Needs, Plan, SamplerKind};
use record::{Frame, Lamp};
use stats::hist::Hist;
use stats::totals::{Row, Totals};
use stats::{Checks, Counter, Number, Snapshot, Transactions};

pub(crate) use self::judgement::{Judgement, words};
use self::window::{Window, is_lost};
use crate::inputs::properties::Properties;
use crate::inputs::suggest::nearest;

/// Name of the property that defines the series: numbers in responses that are charted over time.
pub(crate) const SERIES: &str = "throng.series";

/// The criteria that the user has defined.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Criteria {
    /// Criteria that the run must meet.
    pub(crate) fail: Vec<Criterion>,
    /// Criteria that end the run: the first one that holds stops it.
    pub(crate) abort: Vec<Criterion>,
    /// Criteria from the project file, each with its file and line. Criteria from the command line have no entry.
    pub(crate) places: Vec<(Criterion, String)>,
}

impl Criteria {
    /// Returns the file and line of a criterion as the prefix of a message; empty for a criterion from the command
    /// line.
    fn place(&self, criterion: &Criterion) -> String {
        let place = self.places.iter().find(|(one, _)| one == criterion);
        place.map_or_else(String::new, |(_, place)| format!("{place}: "))
    }
}

/// All samples of the run to which a criterion applies.
struct Whole<'a> {
    totals: &'a Totals,
    label: Option<&'a str>,
    seconds: f64,
    /// Names of the run's series.
    series: &'a [String],
    /// True if only setUp and tearDown groups sent requests. A criterion without a label ignores their samples.
    without_load: bool,
}

impl Whole<'_> {
    fn row(&self) -> Row {
        match self.label {
            None if self.without_load => Row::new("".into(), false),
            Some(label) => self.totals.of_name(label),
            None => self.totals.requests(),
        }
    }
}

impl Figures for Whole<'_> {
    fn count(&self) -> u64 {
        self.row().tally.count
    }

    fn errors(&self) -> Option<u64> {
        Some(self.row().tally.errors)
    }

    fn checks(&self) -> Option<Checks> {
        Some(self.row().tally.checks)
    }

    fn transactions(&self) -> Transactions {
        let has_label = self.label.is_some() || self.without_load;
        if has_label { Transactions::default() } else { self.totals.transactions() }
    }

    fn series(&self, name: &str) -> Option<Number> {
        let at = self.series.iter().position(|one| one == name)?;
        self.totals.numbers().get(at).copied()
    }

    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn time_ms(&self, times: Times, stat: Stat) -> Option<f64> {
        let row = self.row();
        of_hist(times_of(&row, times), stat)
    }

    fn with_unanswered(&self, times: Times, stat: Stat) -> Option<Bounds> {
        let row = self.row();
        bounds(times_of(&row, times), &row.unanswered, stat)
    }
}

fn times_of(row: &Row, times: Times) -> &Hist {
    if times == Times::Service { &row.service } else { &row.response }
}

/// Judges criteria during the run.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    criteria: Criteria,
    windows: Vec<Window>,
    start_ms: i64,
    last_ms: i64,
    /// True if the first request of the run has started.
    begun: bool,
    /// The criterion that has ended the run.
    aborted: Option<Judged>,
    /// Number of iteration starts that were due, and number of those that were skipped.
    starts: (u64, u64),
    /// Labels in criteria that the plan defines. A run may have no samples of such a label.
    planned: Vec<String>,
    /// Names of the run's series.
    series: Vec<String>,
    /// True if the plan has an enabled sampler.
    has_samplers: bool,
    /// True if the plan has a main thread group.
    has_main_group: bool,
}

impl Watch {
    pub(crate) fn new(criteria: &Criteria) -> Self {
        // Criteria without a window are judged at the end of the run, and their current state is shown during it.
        let fail = criteria.fail.iter().map(|criterion| Window::new(criterion, false));
        let ends = criteria.abort.iter().map(|criterion| Window::new(criterion, true));
        let windows = fail.chain(ends).collect();
        Self { criteria: criteria.clone(), windows, ..Self::default() }
    }

    /// Adds facts about the plan (labels of criteria, samplers and main thread groups) and the names of the run's
    /// series.
    pub(crate) fn knowing(mut self, plan: &Plan, frame: &Frame) -> Self {
        self.planned = planned(&self.criteria, plan);
        (self.has_samplers, self.has_main_group) = (!plan.samplers.is_empty(), plan.has_main_group);
        self.series = frame.series().map(|(name, _)| name.to_owned()).collect();
        for window in &mut self.windows {
            let name = window.criterion.series.as_deref();
            window.series = name.and_then(|name| self.series.iter().position(|one| one == name));
        }
        self
    }

    /// Sets the start of the run in epoch milliseconds.
    pub(crate) fn starting(self, start_ms: i64) -> Self {
        Self { start_ms, last_ms: start_ms, ..self }
    }

    /// True if only setUp and tearDown groups sent requests, in a plan that has main thread groups.
    pub(crate) fn lacks_load(&self, totals: &Totals) -> bool {
        let aside = totals.counters.get(Counter::RequestsAside);
        self.has_main_group && aside > 0 && totals.requests().tally.count <= aside
    }

    pub(crate) fn has_samplers(&self) -> bool {
        self.has_samplers
    }

    /// True if a criterion has ended the run.
    pub(crate) fn has_ended(&self) -> bool {
        self.aborted.is_some()
    }

    /// Returns the criterion that has ended the run, with the value at that moment.
    pub(crate) fn aborted(&self) -> Option<&Judged> {
        self.aborted.as_ref()
    }

    /// Returns the current state of the criteria in the order in which they were given: `--fail`, then `--abort-if`.
    pub(crate) fn lamps(&self) -> Vec<Lamp> {
        self.windows.iter().map(Window::lamp).collect()
    }

    /// Adds the measurements of a second of the run.
    pub(crate) fn add(&mut self, snapshot: &Snapshot) {
        self.starts.0 += snapshot.counters.get(Counter::StartsDue);
        self.starts.1 += snapshot.counters.get(Counter::StartsMissed);
        // A machine delivers a second late. Its time is counted already, by the seconds of the other machines.
        let is_late = snapshot.at_ms <= self.last_ms;
        for window in &mut self.windows {
            if !(is_late && window.counts_samples()) {
                window.add(snapshot);
            }
        }
    }

    /// Sets the start of the first request, from which rates are computed. Later calls have no effect.
    pub(crate) fn begin(&mut self, first_ms: i64) {
        if !std::mem::replace(&mut self.begun, true) {
            self.last_ms = first_ms;
        }
    }

    /// Ends a second of the run. Returns the criterion that ends the run, if there is one.
    pub(crate) fn close(&mut self, at_ms: i64) -> Option<Judged> {
        let ms = (at_ms - self.last_ms).max(0);
        // A machine can deliver a second late.
        self.last_ms = self.last_ms.max(at_ms);
        let since_start = Duration::from_millis((at_ms - self.start_ms).max(0) as u64);
        let (due, missed) = self.starts;
        let shortfall = Shortfall { due, missed, early: None };
        let evidence = Evidence { criteria: &self.criteria.fail, shortfall: Some(&shortfall) };
        let mut ended = None;
        for window in &mut self.windows {
            let Some(judged) = window.close(ms, &evidence) else { continue };
            window.last = Some(judged.clone());
            if window.ends {
                ended = ended.or_else(|| judged.is_met().then_some(judged));
            } else if window.worst.as_ref().is_none_or(|(worst, _)| judged.is_worse(worst)) {
                window.worst = Some((judged, since_start));
            }
        }
        if self.aborted.is_some() {
            return None;
        }
        self.aborted.clone_from(&ended);
        ended
    }

    /// Judges all criteria at the end of the run.
    pub(crate) fn judge(
        &self,
        totals: &Totals,
        length: Duration,
        shortfall: &Shortfall,
    ) -> Judgement {
        let end = AtEnd {
            evidence: Evidence { criteria: &self.criteria.fail, shortfall: Some(shortfall) },
            totals,
            length,
            planned: &self.planned,
            series: &self.series,
            without_load: self.lacks_load(totals),
        };
        let (fail, abort): (Vec<&Window>, Vec<&Window>) =
            self.windows.iter().partition(|window| !window.ends);
        Judgement {
            judged: fail.into_iter().map(|window| end.judge(window)).collect(),
            aborted: self.aborted.clone(),
            unguarded: match self.aborted {
                Some(_) => Vec::new(),
                None => abort.into_iter().filter_map(|window| end.unguarded(window)).collect(),
            },
            ..Judgement::default()
        }
    }
}

/// Data for judging criteria at the end of the run.
struct AtEnd<'a> {
    evidence: Evidence<'a>,
    totals: &'a Totals,
    length: Duration,
    planned: &'a [String],
    series: &'a [String],
    without_load: bool,
}

impl AtEnd<'_> {
    fn whole<'c>(&'c self, criterion: &'c Criterion) -> Whole<'c> {
        let seconds = self.length.as_secs_f64();
        let (totals, label) = (self.totals, criterion.label.as_deref());
        Whole { totals, label, seconds, series: self.series, without_load: self.without_load }
    }

    /// Judges a criterion that the run must meet.
    fn judge(&self, window: &Window) -> Judged {
        let criterion = &window.criterion;
        let (whole, nothing) = (self.whole(criterion), self.nothing(criterion));
        let mut judged = self.evidence.judge_whole(criterion, &whole, &nothing);
        let Some(over) = criterion.over.filter(|_| whole.count() > 0) else { return judged };
        match &window.worst {
            Some((worst, at)) if is_lost(worst) || judged.outcome != Outcome::Undecided => {
                // The window with the most samples sets the scale, because windows during a ramp have few samples.
                let mut worst = evidence::of_enough(worst.clone(), window.most_samples);
                if worst.value.is_none() && worst.reason.is_none() {
                    worst.reason = Some(empty_window(over));
                }
                worst.reason = Some(ended_at(*at, worst.reason));
                worst
            }
            Some(_) => judged,
            None => {
                if judged.outcome == Outcome::Met {
                    judged.outcome = Outcome::Undecided;
                    judged.reason = None;
                }
                judged.reason = judged.reason.or_else(|| Some(short(self.length, over)));
                judged
            }
        }
    }

    /// Returns an undecided result for a criterion that could have ended the run but had no data. Returns `None` if
    /// it had data.
    fn unguarded(&self, window: &Window) -> Option<Judged> {
        let criterion = &window.criterion;
        let (whole, nothing) = (self.whole(criterion), self.nothing(criterion));
        let mut judged = criterion.judge(&whole);
        judged.reason = Some(match (&nothing, criterion.over) {
            (Nothing::Run | Nothing::Main | Nothing::Unknown(_), _) if whole.count() == 0 => {
                nothing.words(criterion)
            }
            // For a planned label without samples, the count is 0. All other metrics have no value.
            (Nothing::Planned, _) if whole.count() == 0 && judged.value.is_none() => {
                nothing.words(criterion)
            }
            _ if evidence::is_unchecked(criterion, &whole) => evidence::unchecked(criterion),
            _ if evidence::is_without_number(&judged) => evidence::no_number(criterion),
            (_, Some(over)) if window.last.is_none() && judged.is_met() => short(self.length, over),
            _ => return None,
        });
        judged.outcome = Outcome::Undecided;
        Some(judged)
    }

    /// Returns the reason why a criterion has no samples.
    fn nothing(&self, criterion: &Criterion) -> Nothing {
        match &criterion.label {
            _ if self.totals.rows().iter().all(|row| row.tally.count == 0) => Nothing::Run,
            None if self.without_load => Nothing::Main,
            Some(label) if !self.planned.contains(label) => {
                let names = self.totals.rows().iter().map(|row| &*row.name);
                Nothing::Unknown(nearest(label, names).map(str::to_owned))
            }
            _ => Nothing::Planned,
        }
    }
}

/// Returns the reason for an undecided criterion if the run is shorter than the criterion's window.
fn short(length: Duration, over: Duration) -> Words {
    let (length, over) = (seconds(length), seconds(over));
    Words {
        en: format!("the run took {length}, the window takes {over}"),
        zh: format!("运行时长 {length}，窗口为 {over}"),
    }
}

/// Adds the end time of the worst window to the reason.
fn ended_at(at: Duration, reason: Option<Words>) -> Words {
    // The end of a second may be some milliseconds early or late, so the time is rounded.
    let s = at.as_secs_f64().round() as u64;
    let clock = format!("{}:{:02}", s / 60, s % 60);
    let (en, zh) = (format!("worst window ended at {clock}"), format!("最差窗口结束于 {clock}"));
    match reason {
        Some(reason) => {
            Words { en: format!("{}; {en}", reason.en), zh: format!("{}；{zh}", reason.zh) }
        }
        None => Words { en, zh },
    }
}

fn empty_window(over: Duration) -> Words {
    let over = seconds(over);
    Words { en: format!("no samples within {over}"), zh: format!("{over} 内没有样本") }
}

fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 10.0 {
        format!("{seconds:.1}s").replace(".0s", "s")
    } else {
        format!("{seconds:.0}s")
    }
}

/// Returns the labels in criteria that the plan defines as constant strings.
fn planned(criteria: &Criteria, plan: &Plan) -> Vec<String> {
    let labels = criteria.fail.iter().chain(&criteria.abort).filter_map(|one| one.label.as_ref());
    let is_planned = |label: &&String| {
        let samplers = plan.samplers.iter().map(|sampler| &sampler.name);
        let names = samplers.chain(plan.controllers.iter().map(|controller| &controller.name));
        names.filter_map(|name| name.fixed()).any(|name| name == *label)
    };
    labels.filter(is_planned).cloned().collect()
}

/// Returns error messages about criteria whose label no sample can have. Returns no messages if not all labels of
/// the plan are known.
pub(crate) fn unknown_labels(criteria: &Criteria, plan: &Plan) -> Vec<String> {
    let Some(names) = labels(plan) else { return Vec::new() };
    let all = criteria.fail.iter().chain(&criteria.abort);
    let unknown = all.filter_map(|one| {
        let label = one.label.as_deref().filter(|label| !names.contains(label))?;
        let meant = nearest(label, names.iter().copied());
        let meant = meant.map_or_else(String::new, |near| format!(": did you mean {near:?}?"));
        let lacks = "no enabled sampler or transaction of the plan has the label";
        Some(format!("{}{one}: {lacks} {label:?}{meant}", criteria.place(one)))
    });
    unknown.collect()
}

/// Returns error messages about criteria for series that the run does not have.
pub(crate) fn unknown_series(criteria: &Criteria, properties: &Properties) -> Vec<String> {
    let lines = properties.get(SERIES).unwrap_or_default();
    let names: Vec<&str> =
        lines.lines().filter_map(|line| Some(line.split_once('=')?.0.trim())).collect();
    let all = criteria.fail.iter().chain(&criteria.abort);
    let unknown = all.filter_map(|one| {
        let series = one.series.as_deref().filter(|series| !names.contains(series))?;
        let meant = match nearest(series, names.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("give --series '{series}=SOURCE', or [series] in throng.toml"),
        };
        Some(format!("{}{one}: the run has no series {series:?}: {meant}", criteria.place(one)))
    });
    unknown.collect()
}

/// Returns the labels that samples of the plan can have, or `None` if variables, scripts or Java create some of them.
fn labels(plan: &Plan) -> Option<Vec<&str>> {
    let is_made =
        |kind: &SamplerKind| matches!(kind, SamplerKind::JavaBacked(_) | SamplerKind::Script(_));
    let mut samplers = plan.samplers.iter();
    let is_free = samplers.any(|one| one.needs.contains(Needs::LABEL) || is_made(&one.kind));
    if plan.samplers.is_empty() || !plan.java_backed.elements.is_empty() || is_free {
        return None;
    }
    let is_transaction = |kind: &ControllerKind| matches!(kind, ControllerKind::Transaction(_));
    let transactions = plan.controllers.iter().filter(|one| is_transaction(&one.kind));
    let names = plan.samplers.iter().map(|one| &one.name);
    names.chain(transactions.map(|one| &one.name)).map(|name| name.fixed()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lamps_say_how_criteria_stand_and_a_failed_window_is_not_forgotten() {
        let parse = |text: &str| Criterion::parse(text).expect("a criterion");
        let criteria = Criteria {
            fail: vec![parse("count >= 15"), parse("error% < 50 over 2s")],
            abort: vec![parse("errors > 100")],
            ..Criteria::default()
        };
        let mut watch = Watch::new(&criteria);
        let mut at_ms = 0;
        let mut good = |errors: u64| {
            watch.windows.iter_mut().for_each(|window| window.add_counts(10, errors));
            at_ms += 1_000;
            watch.close(at_ms);
            watch.lamps().iter().map(Lamp::is_good).collect::<Vec<_>>()
        };
        assert_eq!(good(10), [Some(false), None, Some(true)]);
        assert_eq!(good(10), [Some(true), Some(false), Some(true)]);
        assert_eq!(good(0), [Some(true), Some(false), Some(true)]);
        let last = good(0);
        assert_eq!(last, [Some(true), Some(false), Some(true)], "its window holds, and it is lost");
        let lamps = watch.lamps();
        let shown = (lamps[1].holds, lamps[1].lost, &*lamps[1].value);
        assert_eq!(shown, (Some(true), true, "0% of requests"));
        assert!(lamps[2].ends && lamps[2].criterion == "errors > 100");
        let judged =
            watch.judge(&Totals::new(), Duration::from_secs(4), &Shortfall::default()).judged;
        assert!(!judged[0].is_met(), "what has no window is judged by the totals");
    }

    #[test]
    fn a_late_second_does_not_lengthen_a_window() {
        let fail = vec![Criterion::parse("error% < 50 over 2s").expect("a criterion")];
        let mut watch = Watch::new(&Criteria { fail, ..Criteria::default() });
        let is_full = |at_ms| {
            watch.windows[0].add_counts(10, 0);
            watch.close(at_ms);
            watch.lamps()[0].is_good().is_some()
        };
        assert_eq!([1_000, 200, 1_200, 2_000].map(is_full), [false, false, false, true]);
    }

    #[test]
    fn late_seconds_do_not_raise_the_rate_of_a_window() {
        let abort = vec![Criterion::parse("rate > 15 over 2s").expect("a criterion")];
        let mut watch = Watch::new(&Criteria { abort, ..Criteria::default() });
        let is_met = |at_ms| {
            let mut recorder = stats::Recorder::new();
            let label = recorder.intern("a");
            for _ in 0..10 {
                recorder.record(&stats::Sample::new(label, at_ms));
            }
            let mut snapshot = Snapshot::new();
            recorder.drain(&mut snapshot);
            snapshot.at_ms = at_ms;
            watch.add(&snapshot);
            watch.close(at_ms).is_some()
        };
        assert_eq!([1_000, 2_000, 500, 600, 3_000].map(is_met), [false; 5]);
    }

    #[test]
    fn the_worst_window_is_shown_with_its_end() {
        let parse = |text: &str| Criterion::parse(text).expect("a criterion");
        let fail = vec![parse("error% < 30 over 2s"), parse("count > 1 over 2s")];
        let criteria = Criteria { fail, ..Criteria::default() };
        let mut watch = Watch::new(&criteria).starting(500);
        for (at, errors) in [0, 4, 10, 10, 3, 0].into_iter().enumerate() {
            watch.windows.iter_mut().for_each(|window| window.add_counts(10 + at as u64, errors));
            watch.close(1_490 + at as i64 * 1_000);
        }
        let worst = |at: usize| {
            let (worst, at) = watch.windows[at].worst.clone().expect("a full window");
            (worst.value.expect("samples").round(), ended_at(at, worst.reason).en)
        };
        assert_eq!(worst(0), (80.0, "worst window ended at 0:04".into()));
        assert_eq!(worst(1), (21.0, "worst window ended at 0:02".into()));
    }
}
