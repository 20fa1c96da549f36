//! Criteria of a run: those that it must meet at its end, and those that end it early.

use std::collections::VecDeque;
use std::time::Duration;

use answers::criterion::{Criterion, Figures, Judged, Stat, Times, of_hist};
use record::Lamp;
use serde_json::{Value, json};
use stats::Snapshot;
use stats::hist::Hist;
use stats::totals::Totals;

/// Criteria as they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Criteria {
    /// They must hold.
    pub(crate) fail: Vec<Criterion>,
    /// The first of them that holds ends the run.
    pub(crate) abort: Vec<Criterion>,
}

/// The run's judgement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Judgement {
    pub(crate) judged: Vec<Judged>,
    /// The criterion that ended the run, with the value at that moment.
    pub(crate) aborted: Option<Judged>,
}

/// Samples of a time.
#[derive(Clone, Debug, Default)]
struct Part {
    count: u64,
    errors: u64,
    service: Hist,
    response: Hist,
    /// Length, ms.
    ms: i64,
}

impl Part {
    fn add(&mut self, snapshot: &Snapshot, label: Option<&str>) {
        // A label that is both is its request.
        let of = |transaction: bool| {
            let deltas =
                snapshot.labels.iter().filter(move |delta| delta.transaction == transaction);
            deltas.filter(move |delta| label.is_none_or(|label| *delta.name == *label))
        };
        let only_transaction = label.is_some() && of(false).next().is_none();
        for delta in of(only_transaction) {
            self.count += delta.tally.count;
            self.errors += delta.tally.errors;
            self.service.add(&delta.service);
            self.response.add(&delta.response);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.ms += other.ms;
    }
}

impl Figures for Part {
    fn count(&self) -> u64 {
        self.count
    }

    fn errors(&self) -> u64 {
        self.errors
    }

    fn seconds(&self) -> f64 {
        self.ms as f64 / 1000.0
    }

    fn time_ms(&self, times: Times, stat: Stat) -> Option<f64> {
        of_hist(if times == Times::Service { &self.service } else { &self.response }, stat)
    }
}

/// The samples of the run that a criterion is about.
struct Whole<'a> {
    totals: &'a Totals,
    label: Option<&'a str>,
    seconds: f64,
}

impl Whole<'_> {
    fn row(&self) -> Option<stats::totals::Row> {
        let Some(label) = self.label else { return Some(self.totals.requests()) };
        let rows = || self.totals.rows().iter().filter(|row| *row.name == *label);
        rows().find(|row| !row.transaction).or_else(|| rows().next()).cloned()
    }
}

impl Figures for Whole<'_> {
    fn count(&self) -> u64 {
        self.row().map_or(0, |row| row.tally.count)
    }

    fn errors(&self) -> u64 {
        self.row().map_or(0, |row| row.tally.errors)
    }

    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn time_ms(&self, times: Times, stat: Stat) -> Option<f64> {
        let row = self.row()?;
        of_hist(if times == Times::Service { &row.service } else { &row.response }, stat)
    }
}

/// A criterion over a window that rolls, or over all that was measured so far.
#[derive(Debug)]
struct Window {
    criterion: Criterion,
    seconds: VecDeque<Part>,
    /// The second that is being gathered.
    open: Part,
    ends: bool,
    /// The value furthest on the wrong side, of a criterion that must hold.
    worst: Option<Judged>,
    /// The judgement of the last second; `None` until the window is full.
    last: Option<Judged>,
}

impl Window {
    fn new(criterion: &Criterion, ends: bool) -> Self {
        let (seconds, open, worst, last) = (VecDeque::new(), Part::default(), None, None);
        Self { criterion: criterion.clone(), seconds, open, ends, worst, last }
    }

    /// The criterion by now, for those who follow the run.
    fn lamp(&self) -> Lamp {
        let Self { criterion, ends, worst, last, .. } = self;
        let value = last.as_ref().and_then(|judged| judged.value);
        let judged = last.as_ref().filter(|judged| judged.value.is_some());
        let rolls = criterion.over.is_some();
        Lamp {
            criterion: criterion.to_string(),
            value: criterion.shown(value),
            holds: judged.map(|judged| judged.holds),
            ends: *ends,
            lost: !ends && rolls && worst.as_ref().is_some_and(|worst| !worst.holds),
        }
    }

    /// A second is over; its judgement, where the window is full.
    fn close(&mut self, ms: i64) -> Option<Judged> {
        let mut part = std::mem::take(&mut self.open);
        part.ms = ms;
        let Some(over) = self.criterion.over else {
            let mut all = self.seconds.pop_front().unwrap_or_default();
            all.merge(&part);
            let judged = self.criterion.judge(&all);
            self.seconds.push_back(all);
            return Some(judged);
        };
        self.seconds.push_back(part);
        let over = over.as_millis() as i64;
        let mut length: i64 = self.seconds.iter().map(|part| part.ms).sum();
        // Snapshots are never quite a second apart.
        while let Some(first) = self.seconds.front()
            && length - first.ms >= over - 500
        {
            length -= first.ms;
            self.seconds.pop_front();
        }
        if length < over - 500 {
            return None;
        }
        let mut sum = Part::default();
        self.seconds.iter().for_each(|part| sum.merge(part));
        Some(self.criterion.judge(&sum))
    }
}

/// Criteria that are judged while the run goes on.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    windows: Vec<Window>,
    last_ms: i64,
    aborted: Option<Judged>,
}

impl Watch {
    pub(crate) fn new(criteria: &Criteria, start_ms: i64) -> Self {
        // Those without a window are judged at the end of the run, and shown while it goes on.
        let fail = criteria.fail.iter().map(|criterion| Window::new(criterion, false));
        let ends = criteria.abort.iter().map(|criterion| Window::new(criterion, true));
        Self { windows: fail.chain(ends).collect(), last_ms: start_ms, aborted: None }
    }

    /// Whether a criterion has ended the run.
    pub(crate) fn has_ended(&self) -> bool {
        self.aborted.is_some()
    }

    /// The criteria by now, in the order in which they were given: `--fail`, then `--abort-if`.
    pub(crate) fn lamps(&self) -> Vec<Lamp> {
        self.windows.iter().map(Window::lamp).collect()
    }

    /// The measurements of a second of the run.
    pub(crate) fn add(&mut self, snapshot: &Snapshot) {
        for window in &mut self.windows {
            window.open.add(snapshot, window.criterion.label.as_deref());
        }
    }

    /// A second of the run is over. `Some`: this ends the run.
    pub(crate) fn close(&mut self, at_ms: i64) -> Option<Judged> {
        let ms = (at_ms - self.last_ms).max(0);
        self.last_ms = at_ms;
        let mut ended = None;
        for window in &mut self.windows {
            let Some(judged) = window.close(ms) else { continue };
            window.last = Some(judged.clone());
            if window.ends {
                ended = ended.or_else(|| judged.holds.then_some(judged));
            } else if window.worst.as_ref().is_none_or(|worst| worst.holds) {
                window.worst = Some(judged);
            }
        }
        if self.aborted.is_some() {
            return None;
        }
        self.aborted.clone_from(&ended);
        ended
    }

    /// The judgement at the end of the run.
    pub(crate) fn judge(
        &self,
        criteria: &Criteria,
        totals: &Totals,
        length: Duration,
    ) -> Judgement {
        let judge = |criterion: &Criterion| {
            let window = self.windows.iter().find(|window| {
                !window.ends && criterion.over.is_some() && window.criterion == *criterion
            });
            // A run that is shorter than the window is judged as a whole.
            if let Some(worst) = window.and_then(|window| window.worst.clone()) {
                return worst;
            }
            let label = criterion.label.as_deref();
            criterion.judge(&Whole { totals, label, seconds: length.as_secs_f64() })
        };
        let judged = criteria.fail.iter().map(judge).collect();
        Judgement { judged, aborted: self.aborted.clone() }
    }
}

impl Judgement {
    /// Whether the run is what was asked for.
    pub(crate) fn passes(&self) -> bool {
        self.aborted.is_none() && self.judged.iter().all(|judged| judged.holds)
    }

    /// The criteria with their values; empty where there are none.
    pub(crate) fn text(&self) -> String {
        if self.judged.is_empty() && self.aborted.is_none() {
            return String::new();
        }
        let mut out = String::from("Criteria\n");
        if let Some(aborted) = &self.aborted {
            out.push_str(&format!("  ENDED THE RUN  {}\n", words(aborted)));
        }
        for judged in &self.judged {
            let word = if judged.holds { "met    " } else { "NOT MET" };
            out.push_str(&format!("  {word}  {}\n", words(judged)));
        }
        out.push('\n');
        out
    }

    /// The summary's JSON with `criteria`, where there are some.
    pub(crate) fn add_to_json(&self, json: String) -> String {
        if self.judged.is_empty() && self.aborted.is_none() {
            return json;
        }
        let Ok(Value::Object(mut summary)) = serde_json::from_str(&json) else { return json };
        let of = |judged: &Judged| {
            json!({
                "criterion": judged.criterion.to_string(),
                "label": judged.criterion.label,
                "value": judged.value,
                "shown": judged.criterion.shown(judged.value),
                "holds": judged.holds,
            })
        };
        let (judged, passed): (Vec<Value>, bool) =
            (self.judged.iter().map(of).collect(), self.passes());
        let aborted = self.aborted.as_ref().map(of);
        let value = json!({ "passed": passed, "judged": judged, "ended_by": aborted });
        summary.insert("criteria".into(), value);
        serde_json::to_string_pretty(&summary).unwrap_or(json)
    }
}

/// A criterion and its value.
pub(crate) fn words(judged: &Judged) -> String {
    format!("{}: {}", judged.criterion, judged.criterion.shown(judged.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(count: u64, errors: u64) -> Part {
        Part { count, errors, ..Part::default() }
    }

    fn window(text: &str) -> Window {
        Window::new(&Criterion::parse(text).expect("a criterion"), true)
    }

    #[test]
    fn a_window_is_judged_when_it_is_full_and_forgets_what_is_older() {
        let mut window = window("error% > 50 over 3s");
        let mut close = |errors: u64| {
            window.open = part(10, errors);
            window.close(1_000).map(|judged| judged.value.expect("samples"))
        };
        assert_eq!([close(10), close(10)], [None, None]);
        assert_eq!(
            [close(10), close(0), close(0), close(0)].map(Option::unwrap_or_default),
            [100.0, 200.0 / 3.0, 100.0 / 3.0, 0.0]
        );
    }

    #[test]
    fn without_a_window_all_so_far_counts() {
        let mut window = window("count >= 25");
        let mut close = || {
            window.open = part(10, 0);
            window.close(1_000).expect("judged").holds
        };
        assert_eq!([close(), close(), close()], [false, false, true]);
    }

    #[test]
    fn lamps_say_how_criteria_stand_and_a_failed_window_is_not_forgotten() {
        let parse = |text: &str| Criterion::parse(text).expect("a criterion");
        let criteria = Criteria {
            fail: vec![parse("count >= 15"), parse("error% < 50 over 2s")],
            abort: vec![parse("errors > 100")],
        };
        let mut watch = Watch::new(&criteria, 0);
        let mut at_ms = 0;
        let mut good = |errors: u64| {
            watch.windows.iter_mut().for_each(|window| window.open = part(10, errors));
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
        assert_eq!((lamps[1].holds, lamps[1].lost, &*lamps[1].value), (Some(true), true, "0%"));
        assert!(lamps[2].ends && lamps[2].criterion == "errors > 100");
        let judged = watch.judge(&criteria, &Totals::new(), Duration::from_secs(4)).judged;
        assert!(!judged[0].holds, "what has no window is judged by the totals");
    }
}
