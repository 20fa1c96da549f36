//! The samples to which a criterion applies during a run: those of a rolling window, or all samples so far.
//!
//! A window is a sum. Each second is added to the sum, and old steps are subtracted. A step is a second, or a 600th
//! of a window longer than ten minutes. So the sum can cover up to one step more than the requested window. Adding
//! a second costs only as much as the second has bins, whatever the window's length. Memory is at most
//! [`MOST_STEPS`] packed histograms, and none if the criterion is not about times.

use std::collections::VecDeque;
use std::time::Duration;

use answers::criterion::{Criterion, Figure, Figures, Judged, Outcome, Stat, Times, of_hist};
use answers::evidence::{self, Evidence};
use record::Lamp;
use stats::hist::{Bins, Hist};
use stats::snapshot::LabelDelta;
use stats::{Checks, Number, Snapshot, Transactions};

/// Largest number of steps in a criterion's rolling window.
const MOST_STEPS: i64 = 600;
/// Tolerance for the length of a second in milliseconds, because snapshots are not exactly a second apart.
const SHORTER_MS: i64 = 500;

/// A criterion with the samples of its rolling window, or with all samples so far.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) criterion: Criterion,
    /// True if the criterion ends the run when it holds.
    pub(super) ends: bool,
    /// For a criterion that the run must meet: the window with the worst value, and the window's end since the run's
    /// start.
    pub(super) worst: Option<(Judged, Duration)>,
    /// Judgement at the last second. `None` until the window is full.
    pub(super) last: Option<Judged>,
    /// Largest number of samples in a full window.
    pub(super) most_samples: u64,
    /// Index of the series to which the criterion applies.
    pub(super) series: Option<usize>,
    /// Sum of the samples in the window.
    sum: Sum,
    /// Complete steps in the window's sum, the oldest first.
    steps: VecDeque<Step>,
    /// The step in progress, which is already part of the window's sum.
    open: Step,
}

/// Sum of the samples in a criterion's window.
#[derive(Debug, Default)]
struct Sum {
    count: u64,
    errors: u64,
    checks: Checks,
    /// Counts of all transactions; empty if the criterion has a label.
    transactions: Transactions,
    /// Histogram of the times that the criterion judges.
    times: Hist,
    /// Sum of the values of the criterion's series.
    number: Number,
    /// Length of the window in milliseconds.
    ms: i64,
}

/// The samples of one step of a criterion's window.
#[derive(Debug, Default)]
struct Step {
    count: u64,
    errors: u64,
    checks: Checks,
    transactions: Transactions,
    times: Bins,
    number: Number,
    ms: i64,
}

impl Sum {
    fn subtract(&mut self, step: &Step) {
        self.count -= step.count;
        self.errors -= step.errors;
        self.checks.subtract(&step.checks);
        self.transactions.subtract(&step.transactions);
        self.times.subtract(&step.times);
        self.ms -= step.ms;
    }
}

impl Figures for Sum {
    fn count(&self) -> u64 {
        self.count
    }

    fn errors(&self) -> Option<u64> {
        Some(self.errors)
    }

    fn checks(&self) -> Option<Checks> {
        Some(self.checks)
    }

    fn transactions(&self) -> Transactions {
        self.transactions
    }

    fn series(&self, _: &str) -> Option<Number> {
        Some(self.number)
    }

    fn seconds(&self) -> f64 {
        self.ms as f64 / 1000.0
    }

    fn time_ms(&self, _: Times, stat: Stat) -> Option<f64> {
        of_hist(&self.times, stat)
    }
}

impl Window {
    pub(super) fn new(criterion: &Criterion, ends: bool) -> Self {
        Self {
            criterion: criterion.clone(),
            ends,
            worst: None,
            last: None,
            most_samples: 0,
            series: None,
            sum: Sum::default(),
            steps: VecDeque::new(),
            open: Step::default(),
        }
    }

    /// True if the criterion limits the number of samples in a rolling window.
    pub(super) fn counts_samples(&self) -> bool {
        let Criterion { figure, over, .. } = &self.criterion;
        over.is_some() && matches!(figure, Figure::Rate | Figure::Count)
    }

    /// Adds measurements of the current second to the criterion's window.
    pub(super) fn add(&mut self, snapshot: &Snapshot) {
        let label = self.criterion.label.as_deref();
        // If a sampler and a transaction have the same label, both are included, as in tables.
        let is_meant = |delta: &&LabelDelta| match label {
            Some(label) => *delta.name == *label,
            None => !delta.transaction,
        };
        let times = match self.criterion.figure {
            Figure::Time(times, _) => Some(times),
            _ => None,
        };
        let rolls = self.criterion.over.is_some();
        if let Some(number) = self.series.and_then(|at| snapshot.numbers.get(at)) {
            self.open.number.merge(number);
            // Minimum and maximum of a window cannot be subtracted, so they are computed when the window is judged.
            if !rolls {
                self.sum.number.merge(number);
            }
        }
        for delta in snapshot.labels.iter().filter(|delta| label.is_none() && delta.transaction) {
            let transactions = Transactions::of(&delta.tally);
            self.sum.transactions.merge(&transactions);
            self.open.transactions.merge(&transactions);
        }
        for delta in snapshot.labels.iter().filter(is_meant) {
            let bins = times.map(|times| match times {
                Times::Service => &delta.service,
                Times::Response => &delta.response,
            });
            let (sum, open) = (&mut self.sum, &mut self.open);
            for (count, errors, checks) in [
                (&mut sum.count, &mut sum.errors, &mut sum.checks),
                (&mut open.count, &mut open.errors, &mut open.checks),
            ] {
                *count += delta.tally.count;
                *errors += delta.tally.errors;
                checks.merge(&delta.tally.checks);
            }
            if let Some(bins) = bins {
                self.sum.times.add(bins);
                if rolls {
                    self.open.times.merge(bins);
                }
            }
        }
    }

    /// Ends a second. Returns the judgement if the window is full.
    pub(super) fn close(&mut self, ms: i64, evidence: &Evidence<'_>) -> Option<Judged> {
        self.sum.ms += ms;
        if let Some(over) = self.criterion.over {
            let over = over.as_millis() as i64;
            self.open.ms += ms;
            let step_ms = ((over - 1).div_euclid(1000 * MOST_STEPS) + 1) * 1000;
            if self.open.ms >= step_ms - SHORTER_MS {
                self.open.times.shrink();
                self.steps.push_back(std::mem::take(&mut self.open));
            }
            while let Some(first) = self.steps.front()
                && self.sum.ms - first.ms >= over - SHORTER_MS
            {
                self.sum.subtract(first);
                self.steps.pop_front();
            }
            if self.sum.ms < over - SHORTER_MS {
                return None;
            }
            if self.series.is_some() {
                let steps = self.steps.iter().chain([&self.open]);
                self.sum.number = Number::default();
                steps.for_each(|step| self.sum.number.merge(&step.number));
            }
        }
        self.most_samples = self.most_samples.max(self.sum.count);
        // A criterion that ends the run makes no claim about the target, so it needs no statistical evidence.
        Some(if self.ends {
            self.criterion.judge(&self.sum)
        } else {
            let judged = evidence.judge(&self.criterion, &self.sum);
            if self.criterion.over.is_some() {
                judged
            } else {
                evidence::of_enough(judged, self.sum.count)
            }
        })
    }

    /// Returns the current state of the criterion for displays.
    pub(super) fn lamp(&self) -> Lamp {
        let Self { criterion, ends, worst, last, .. } = self;
        let judged = last.as_ref().filter(|judged| judged.value.is_some());
        let rolls = criterion.over.is_some();
        let value = judged.map_or_else(|| criterion.shown_words(None), Judged::shown_words);
        Lamp {
            criterion: criterion.to_string(),
            value: value.en,
            value_zh: value.zh,
            holds: judged.and_then(|judged| judged.outcome.is_met()),
            ends: *ends,
            lost: !ends && rolls && worst.as_ref().is_some_and(|(worst, _)| is_lost(worst)),
        }
    }

    /// Adds counts of samples and errors to the window, without times.
    #[cfg(test)]
    pub(super) fn add_counts(&mut self, count: u64, errors: u64) {
        self.sum.count += count;
        self.sum.errors += errors;
        self.open.count += count;
        self.open.errors += errors;
    }
}

pub(super) fn is_lost(judged: &Judged) -> bool {
    judged.outcome == Outcome::NotMet
}

#[cfg(test)]
mod tests {
    use answers::criterion::Source;
    use stats::{Recorder, Sample};

    use super::*;

    fn window(text: &str) -> Window {
        Window::new(&Criterion::parse(text).expect("a criterion"), true)
    }

    #[test]
    fn a_window_is_judged_when_it_is_full_and_forgets_what_is_older() {
        let mut window = window("error% > 50 over 3s");
        let mut close = |errors: u64| {
            window.add_counts(10, errors);
            let judged = window.close(1_000, &Evidence::default());
            judged.map(|judged| judged.value.expect("samples"))
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
            window.add_counts(10, 0);
            window.close(1_000, &Evidence::default()).expect("judged").is_met()
        };
        assert_eq!([close(), close(), close()], [false, false, true]);
    }

    #[test]
    fn a_window_has_the_transactions_of_its_seconds() {
        let (mut recorder, mut snapshot) = (Recorder::new(), Snapshot::new());
        let mut window = window("error% > 50 over 2s");
        let label = recorder.intern("Order");
        let mut close = |own: u64| {
            for n in 0..10 {
                recorder.record(&Sample::new(label, 0));
                let success = n >= own;
                let outcome = if success { stats::Outcome::Ok } else { stats::Outcome::Assertion };
                let errors = u32::from(!success);
                let sample = Sample { success, outcome, errors, ..Sample::new(label, 0) };
                recorder.record(&Sample { transaction: true, ..sample });
            }
            recorder.drain(&mut snapshot);
            window.add(&snapshot);
            let judged = window.close(1_000, &Evidence::default());
            judged.map(|judged| (judged.value.expect("samples"), judged.source))
        };
        assert_eq!(close(10), None);
        assert_eq!(close(4), Some((70.0, Source::Transactions)));
        assert_eq!(close(0), Some((20.0, Source::Transactions)));
        assert_eq!(close(0), Some((0.0, Source::Requests)));
    }

    /// Records a second with 20 samples, whose times depend on the second.
    fn second(recorder: &mut Recorder, snapshot: &mut Snapshot, at: u64) {
        let label = recorder.intern("page");
        recorder.begin(at as i64 * 1000);
        for n in 0..20 {
            let elapsed = (1 + (at / 50 + n * 7919) % 97) * 1_000_000;
            recorder.record(&Sample { elapsed, ..Sample::new(label, at as i64 * 1000) });
        }
        recorder.drain(snapshot);
    }

    #[test]
    fn times_of_a_window_are_those_of_its_seconds() {
        let (mut recorder, mut snapshot) = (Recorder::new(), Snapshot::new());
        let mut window = window("service p90 > 50ms over 120s");
        let mut parts: VecDeque<Bins> = VecDeque::new();
        for at in 0..1000 {
            second(&mut recorder, &mut snapshot, at);
            window.add(&snapshot);
            parts.push_back(snapshot.labels[0].service.clone());
            let judged = window.close(1_000, &Evidence::default());
            if parts.len() > 120 {
                parts.pop_front();
            }
            assert_eq!(judged.is_some(), at >= 119, "{at}");
            let Some(judged) = judged else { continue };
            let mut all = Hist::new();
            for bins in &parts {
                all.add(bins);
            }
            assert_eq!(judged.value, of_hist(&all, Stat::Percentile(90.0)), "{at}");
        }
    }

    #[test]
    fn a_window_of_a_day_has_a_bound() {
        const SECONDS: u64 = 100_000;
        let (mut recorder, mut snapshot) = (Recorder::new(), Snapshot::new());
        second(&mut recorder, &mut snapshot, 0);
        let texts = ["count > 0 over 24h", "service p90 > 50ms over 24h", "rate < 1 over 7d"];
        let mut windows = texts.map(window);
        for at in 0..SECONDS {
            for window in &mut windows {
                window.add(&snapshot);
                let judged = window.close(1_000, &Evidence::default());
                let over = window.criterion.over.map_or(0, |over| over.as_secs());
                assert_eq!(judged.is_some(), at + 1 >= over, "{at}");
                assert!(window.steps.len() as i64 <= MOST_STEPS + 1, "{}", window.steps.len());
                let seconds = window.sum.ms as u64 / 1000;
                assert!(seconds <= over + over.div_ceil(MOST_STEPS as u64), "{seconds}");
                let steps = window.steps.iter().map(|step| step.count).sum::<u64>();
                assert_eq!(steps + window.open.count, window.sum.count);
            }
        }
        let bytes: usize =
            windows[1].steps.iter().filter_map(|step| step.times.packed()).map(<[u8]>::len).sum();
        assert!(windows[1].steps.iter().all(|step| step.times.packed().is_some()), "packed");
        assert!(bytes < 600 * 200, "{bytes}");
        assert!(
            windows[0].steps.iter().all(|step| step.times.is_empty()),
            "no times are asked for"
        );
    }
}
