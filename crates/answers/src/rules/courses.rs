//! The course of response times under the same load, with each label compared with itself: by the mean of the logarithms of
//! its times in each second, which a few long answers do not move.

use record::{Record, Second};
use stats::hist::{Hist, layout::middle_of};

use super::figures::{is_one_load, mean, requests, seconds_in, service, steady, sum};
use super::{bimodal, down, stalls};

/// Requests under the same load.
pub(super) const SAMPLES: u64 = 200;
/// Share of failures from which on nothing is compared: failures have times of their own.
const FAILED: f64 = 0.05;
/// Times that differ: by this factor and so many ms. Below are costs of system calls.
pub(super) const SLOWER: f64 = 1.5;
const LONGER_MS: f64 = 5.0;
/// The usual seconds must vary by this much less than the slower ones are away from them.
const CLEAR: f64 = 3.0;
/// The same of one of several labels: each is another chance of being wrong. And the share of seconds that have its requests.
const CLEAR_OF_LABEL: f64 = 5.0;
const PRESENT: f64 = 0.9;
/// Requests in a slower time.
pub(super) const PHASE_SAMPLES: u64 = 30;
/// Share of the other seconds that may be slow, too.
pub(super) const STRAY: f64 = 0.05;
/// A pause of the generator makes answers look slow from this length on, ns.
const OWN: u64 = 50_000_000;
/// Seconds over which values are averaged, on each side.
pub(super) const SMOOTH: usize = 1;

/// Labels of requests: a script of the plan takes its time in the generator, and sends nothing.
pub(super) fn requesting<'s>(
    record: &Record,
    seconds: impl Iterator<Item = &'s Second> + Clone,
) -> Vec<usize> {
    let sent = |label: usize| -> u64 {
        seconds.clone().filter_map(|s| s.labels.get(label as u32)).map(|part| part.sent).sum()
    };
    let real: Vec<(usize, u64)> = (0..record.labels.len())
        .filter(|at| !record.labels[*at].transaction)
        .map(|at| (at, sent(at)))
        .collect();
    let is_known = real.iter().any(|(_, sent)| *sent > 0);
    real.into_iter().filter(|(_, sent)| *sent > 0 || !is_known).map(|(at, _)| at).collect()
}

/// The times of one label in a second: their number, the sum of their logarithms, and their sum in ms.
#[derive(Clone, Copy, Default)]
struct Times {
    count: f64,
    logarithms: f64,
    ms: f64,
}

impl Times {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.logarithms += other.logarithms;
        self.ms += other.ms;
    }
}

/// The times of the samples of a label in a second that did not fail.
fn times(second: &Second, label: usize) -> Times {
    let Some(part) = second.labels.get(label as u32) else { return Times::default() };
    let mut times = Times::default();
    let mut add = |(bin, n): (u32, u64)| {
        let (us, n) = (middle_of(bin) as f64, n as f64);
        times.add(Times { count: n, logarithms: n * us.max(1.0).ln(), ms: n * us / 1000.0 });
    };
    if part.failed.is_empty() {
        part.service.iter().for_each(add);
    } else {
        let (mut all, mut failed) = (Hist::new(), Hist::new());
        all.add(&part.service);
        failed.add(&part.failed);
        bimodal::without(&all, &failed).iter().for_each(&mut add);
    }
    times
}

/// Requests whose course is looked at: all, or those of one label.
#[derive(Clone, Copy)]
pub(super) enum Of {
    All,
    Label(usize),
}

impl Of {
    /// All requests, then each label by itself.
    pub(super) fn each(record: &Record, seconds: &[Second]) -> impl Iterator<Item = Self> {
        let labels = requesting(record, seconds.iter());
        let several = labels.len() > 1;
        let single = labels.into_iter().filter(move |_| several).map(Self::Label);
        std::iter::once(Self::All).chain(single)
    }

    pub(super) fn clear(self) -> f64 {
        if matches!(self, Self::All) { CLEAR } else { CLEAR_OF_LABEL }
    }

    /// The label whose times a sentence names: the one with the most of these requests.
    pub(super) fn label(self, record: &Record, seconds: &[Second]) -> Option<usize> {
        match self {
            Self::All => {
                let labels = requesting(record, seconds.iter());
                labels.into_iter().max_by_key(|label| requests_of(seconds, *label))
            }
            Self::Label(label) => Some(label),
        }
    }

    pub(super) fn count(self, seconds: &[Second]) -> u64 {
        match self {
            Self::All => requests(seconds),
            Self::Label(label) => requests_of(seconds, label),
        }
    }

    pub(super) fn times(self, seconds: &[Second]) -> Hist {
        match self {
            Self::All => service(seconds),
            Self::Label(label) => {
                let mut hist = Hist::new();
                let parts = seconds.iter().filter_map(|s| s.labels.get(label as u32));
                parts.for_each(|part| hist.add(&part.service));
                hist
            }
        }
    }
}

pub(super) fn requests_of(seconds: &[Second], label: usize) -> u64 {
    seconds.iter().filter_map(|s| s.labels.get(label as u32)).map(|part| part.count).sum()
}

/// Each second's times against those of the same labels in the whole part, as a logarithm; `None` of a second without any.
/// Nothing of a label that is not asked all the time.
pub(super) fn course(record: &Record, seconds: &[Second], of: Of) -> Option<Vec<Option<f64>>> {
    let labels = match of {
        Of::All => requesting(record, seconds.iter()),
        Of::Label(label) => vec![label],
    };
    let (mut sums, mut weights) = (vec![0.0; seconds.len()], vec![0.0; seconds.len()]);
    for label in labels {
        let times: Vec<Times> = seconds.iter().map(|second| times(second, label)).collect();
        let mut all = Times::default();
        for one in &times {
            all.add(*one);
        }
        let usual = all.logarithms / all.count.max(1.0);
        for (at, one) in times.iter().enumerate() {
            sums[at] += one.logarithms - one.count * usual;
            weights[at] += one.count;
        }
    }
    let values: Vec<Option<f64>> = sums
        .iter()
        .zip(weights)
        .map(|(sum, weight)| (weight > 0.0).then(|| sum / weight))
        .collect();
    let present = values.iter().flatten().count() as f64 >= PRESENT * seconds.len() as f64;
    (present || matches!(of, Of::All)).then_some(values)
}

/// The same, averaged over the neighbours of each second.
pub(super) fn smooth_course(record: &Record, seconds: &[Second], of: Of) -> Option<Vec<f64>> {
    course(record, seconds, of).map(|values| smooth(&values))
}

/// Averages over the neighbours; a second without a value has that of its neighbours.
fn smooth(values: &[Option<f64>]) -> Vec<f64> {
    let around = |at: usize| {
        let near = &values[at.saturating_sub(SMOOTH)..(at + SMOOTH + 1).min(values.len())];
        let near: Vec<f64> = near.iter().flatten().copied().collect();
        if near.is_empty() { f64::INFINITY } else { mean(&near) }
    };
    (0..values.len()).map(around).collect()
}

/// Whether a mean time, ms, is longer than the usual one as far as it matters.
pub(super) fn is_longer(slow: f64, usual: f64) -> bool {
    slow >= SLOWER * usual && slow - usual >= LONGER_MS
}

/// Mean time of a label, ms.
pub(super) fn mean_of(seconds: &[Second], label: usize) -> f64 {
    let mut all = Times::default();
    for second in seconds {
        all.add(times(second, label));
    }
    all.ms / all.count.max(1.0)
}

/// Seconds whose times can be compared with each other, at least so many.
pub(super) fn comparable(record: &Record, least: usize) -> Option<&[Second]> {
    let seconds = steady(record);
    let failed = sum(seconds, |s| s.all.errors) as f64 / requests(seconds).max(1) as f64;
    // They say more about the same time.
    let other = stalls::stalls(record).is_found() || down::target_down(record).is_found();
    let enough = seconds_in(seconds) >= least && requests(seconds) >= SAMPLES;
    (enough && knows_load(record) && failed <= FAILED && !other && is_one_load(seconds))
        .then_some(seconds)
}

pub(super) fn knows_load(record: &Record) -> bool {
    record.has.users || record.seconds.iter().any(|second| second.due > 0)
}

/// Whether the generator itself stood still in these seconds.
pub(super) fn paused(seconds: &[Second]) -> bool {
    seconds.iter().any(|second| second.generator.stall >= OWN)
}
