//! Response times over the run under constant load; each label is compared with itself. The value of a second is the
//! mean of the logarithms of its times, which a few long responses do not change much.

use record::{Part, Record, Second};
use stats::hist::{Hist, layout::middle_of};

use super::figures::{
    is_one_load, mean, mix, mix_differs, requests, seconds_in, service, settled, sum, without,
};
use super::say::words;
use crate::verdict::Words;

/// Smallest number of seconds under the same load for a comparison of their times.
const LEAST: usize = 7;
/// Smallest number of requests under the same load for a comparison of their times.
pub(super) const SAMPLES: u64 = 200;
/// Largest share of failures with which response times are compared: failures have other times.
const FAILED: f64 = 0.05;
/// Smallest ratio of two times that count as different.
pub(super) const SLOWER: f64 = 1.5;
/// Smallest difference in ms of two times that count as different. Below, costs of system calls dominate.
const LONGER_MS: f64 = 5.0;
/// Smallest distance of slow seconds from the usual seconds at which the slow seconds count, as a multiple of the
/// variation of the usual seconds.
const CLEAR: f64 = 3.0;
/// The limit `CLEAR` for one of several labels. It is larger, because each label adds a chance of error.
const CLEAR_OF_LABEL: f64 = 5.0;
/// Smallest share of the seconds that must have requests of a label.
const PRESENT: f64 = 0.9;
/// Smallest number of requests in a slow period, or on each side of a step, for a finding.
pub(super) const PHASE_SAMPLES: u64 = 30;
/// Largest share of the seconds outside of a slow period that may be slow as well.
pub(super) const STRAY: f64 = 0.05;
/// Length in ns from which a pause of the generator makes responses look slow.
const OWN: u64 = 50_000_000;
/// Number of neighbouring seconds on each side over which values are averaged.
pub(super) const SMOOTH: usize = 1;

/// Returns for each label true if its samples send requests. A script of the plan runs in the generator and sends
/// nothing.
fn requesting(record: &Record, sent: &[u64]) -> Vec<bool> {
    let is_real = |at: usize| record.labels.get(at).is_some_and(|label| !label.transaction);
    let is_known = sent.iter().enumerate().any(|(at, sent)| *sent > 0 && is_real(at));
    sent.iter().enumerate().map(|(at, sent)| is_real(at) && (*sent > 0 || !is_known)).collect()
}

/// Times of one label in a second: their number, the sum of their logarithms, and their sum in ms.
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

/// Returns the times of the successful samples of a label in a second.
fn times(part: &Part) -> Times {
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
        without(&all, &failed).iter().for_each(&mut add);
    }
    times
}

/// Selects the requests whose times are examined: all requests, or those of one label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Of {
    All,
    Label(usize),
}

impl Of {
    pub(super) fn clear(self) -> f64 {
        if matches!(self, Self::All) { CLEAR } else { CLEAR_OF_LABEL }
    }

    pub(super) fn count(self, seconds: &[Second]) -> u64 {
        match self {
            Self::All => requests(seconds),
            Self::Label(label) => requests_of(seconds, label),
        }
    }

    /// Returns the number of received bytes.
    pub(super) fn received(self, seconds: &[Second]) -> f64 {
        let of = |second: &Second| match self {
            Self::All => second.all.received,
            Self::Label(label) => second.labels.get(label as u32).map_or(0, |part| part.received),
        };
        seconds.iter().map(of).sum::<u64>() as f64
    }

    pub(super) fn failed(self, seconds: &[Second]) -> u64 {
        let of = |second: &Second| match self {
            Self::All => second.all.errors,
            Self::Label(label) => second.labels.get(label as u32).map_or(0, |part| part.errors),
        };
        seconds.iter().map(of).sum()
    }

    /// Returns the mean time in ms.
    pub(super) fn mean(self, seconds: &[Second]) -> f64 {
        let mut all = Times::default();
        match self {
            Self::All => seconds.iter().for_each(|second| all.add(times(&second.all))),
            Self::Label(label) => {
                let parts = seconds.iter().filter_map(|second| second.labels.get(label as u32));
                parts.for_each(|part| all.add(times(&part)));
            }
        }
        all.ms / all.count.max(1.0)
    }

    /// Returns the number of the selected label.
    pub(super) fn label(self) -> Option<usize> {
        if let Self::Label(label) = self { Some(label) } else { None }
    }

    /// Returns the words that name the label in a sentence; empty for all requests.
    pub(super) fn name(self, record: &Record) -> Words {
        self.label().map_or_else(Default::default, |label| {
            let name = &record.labels[label].name;
            words!(of_label(name))
        })
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
    let of = |second: &Second| second.labels.counts().find(|(at, ..)| *at as usize == label);
    seconds.iter().filter_map(of).map(|(_, count, _)| count).sum()
}

/// The times of each second relative to those of the same requests in the whole period, as a logarithm; `None` for a
/// second without requests.
pub(super) struct Course {
    pub(super) of: Of,
    pub(super) values: Vec<Option<f64>>,
}

impl Course {
    fn new(of: Of, sums: impl Iterator<Item = (f64, f64)>) -> Self {
        let values = sums.map(|(sum, weight)| (weight > 0.0).then(|| sum / weight)).collect();
        Self { of, values }
    }

    /// Returns the values averaged over neighbouring seconds.
    pub(super) fn smooth(&self) -> Vec<f64> {
        smooth(&self.values)
    }
}

/// Courses of all requests together, and of each label that occurs throughout with enough requests.
pub(super) struct Courses<'r> {
    pub(super) record: &'r Record,
    pub(super) seconds: &'r [Second],
    /// Courses of the labels, with the course of all requests first.
    pub(super) each: Vec<Course>,
    /// True for each label whose samples send requests.
    requesting: Vec<bool>,
}

impl<'r> Courses<'r> {
    /// Returns the courses over the seconds that have comparable times. `finds` returns true if a rule has a
    /// finding.
    pub(super) fn of(record: &'r Record, finds: impl Fn(&str) -> bool) -> Option<Self> {
        comparable(record, finds).map(|seconds| Self::new(record, seconds))
    }

    /// Builds the courses in one pass over the labels of all seconds: there may be many of both.
    fn new(record: &'r Record, seconds: &'r [Second]) -> Self {
        let mut parts: Vec<(usize, usize, Times)> = Vec::new();
        let mut labels = vec![(Times::default(), 0_usize); record.labels.len()];
        let mut sent = vec![0; labels.len()];
        for (at, second) in seconds.iter().enumerate() {
            for (label, part) in &second.labels {
                let label = label as usize;
                let Some((all, present)) = labels.get_mut(label) else { continue };
                let times = times(&part);
                all.add(times);
                *present += usize::from(times.count > 0.0);
                sent[label] += part.sent;
                parts.push((at, label, times));
            }
        }
        let requesting = requesting(record, &sent);
        parts.retain(|(_, label, _)| requesting[*label]);
        let usual = |label: usize| labels[label].0.logarithms / labels[label].0.count.max(1.0);
        let several = requesting.iter().filter(|is_one| **is_one).count() > 1;
        let is_looked_at = |label: usize| {
            let (all, present) = labels[label];
            several
                && requesting[label]
                && all.count >= PHASE_SAMPLES as f64
                && present as f64 >= PRESENT * seconds.len() as f64
        };
        let single: Vec<usize> = (0..labels.len()).filter(|at| is_looked_at(*at)).collect();
        let mut sums = vec![vec![(0.0, 0.0); seconds.len()]; 1 + single.len()];
        for (at, label, times) in parts {
            let own = single.binary_search(&label).ok().map(|place| place + 1);
            for place in std::iter::once(0).chain(own) {
                let (sum, weight) = &mut sums[place][at];
                *sum += times.logarithms - times.count * usual(label);
                *weight += times.count;
            }
        }
        let of = std::iter::once(Of::All).chain(single.into_iter().map(Of::Label));
        let each = of.zip(sums).map(|(of, sums)| Course::new(of, sums.into_iter())).collect();
        Self { record, seconds, each, requesting }
    }

    /// Returns the requests whose times a sentence about slow seconds names: all requests if each label became
    /// slower, otherwise the slower label with the most requests.
    pub(super) fn named(&self, of: Of, slow: &[Second], usual: &[Second]) -> Option<Of> {
        let real = self.record.labels.iter().filter(|label| !label.transaction).count();
        if real == 1 || matches!(of, Of::Label(_)) {
            return Some(of);
        }
        let mix = mix(self.record, slow);
        let is_asked = |label: &&usize| self.requesting[**label];
        let labels: Vec<usize> = mix.keys().map(|label| *label as usize).collect();
        let is_slower = |label: &usize| {
            let of = Of::Label(*label);
            let is_known = of.count(usual) > 0;
            is_known && of.mean(slow) >= SLOWER.sqrt() * of.mean(usual)
        };
        let slower: Vec<usize> =
            labels.iter().filter(is_asked).copied().filter(is_slower).collect();
        let is_all = slower.len() == labels.len() && !mix_differs(self.record, slow, usual);
        let requests = |label: &usize| mix.get(&(*label as u32)).copied().unwrap_or(0);
        let most = slower.into_iter().max_by_key(requests);
        let most = most.or_else(|| {
            labels.into_iter().filter(|label| self.requesting[*label]).max_by_key(requests)
        });
        if is_all { Some(Of::All) } else { most.map(Of::Label) }
    }
}

/// Averages values over neighbouring seconds; a second without a value gets the average of its neighbours.
fn smooth(values: &[Option<f64>]) -> Vec<f64> {
    let around = |at: usize| {
        let near = &values[at.saturating_sub(SMOOTH)..(at + SMOOTH + 1).min(values.len())];
        let near: Vec<f64> = near.iter().flatten().copied().collect();
        if near.is_empty() { f64::INFINITY } else { mean(&near) }
    };
    (0..values.len()).map(around).collect()
}

/// True if a mean time in ms is longer than the usual one by a relevant amount.
pub(super) fn is_longer(slow: f64, usual: f64) -> bool {
    slow >= SLOWER * usual && slow - usual >= LONGER_MS
}

/// Returns the seconds whose times are comparable with each other.
fn comparable(record: &Record, finds: impl Fn(&str) -> bool) -> Option<&[Second]> {
    if !knows_load(record) {
        return None;
    }
    let seconds = settled(record);
    let failed = sum(seconds, |s| s.all.errors) as f64 / requests(seconds).max(1) as f64;
    let enough = seconds_in(seconds) >= LEAST && requests(seconds) >= SAMPLES;
    // The rules on stalls and on a target that is gone say more about the same period.
    let other = || finds("stalls") || finds("target_down");
    (enough && failed <= FAILED && is_one_load(seconds) && !other()).then_some(seconds)
}

pub(super) fn knows_load(record: &Record) -> bool {
    record.has.users || record.seconds.iter().any(|second| second.due > 0)
}

/// True if the generator itself paused in the given seconds.
pub(super) fn paused(seconds: &[Second]) -> bool {
    seconds.iter().any(|second| second.generator.stall >= OWN)
}

#[cfg(test)]
mod tests {
    use record::Label;
    use stats::hist::{Bins, layout};

    use super::*;

    /// Returns a part with `count` samples of `us` µs each and `sent` bytes sent in total.
    fn part(count: u64, us: u64, sent: u64) -> Part {
        let service = Bins::try_from(vec![(layout::index_of(us), count)]).expect("bins");
        Part { count, sent, service, ..Part::default() }
    }

    /// Returns ten seconds with five labels: a page that is three times as slow in the last two seconds, a form, a page
    /// that is requested once, a script that sends nothing, and a transaction.
    fn record() -> Record {
        let label =
            |name: &str| Label { name: name.into(), transaction: name == "transaction", folded: 0 };
        let second = |at: u64| {
            let page = if at < 8 { 10_000 } else { 30_000 };
            let mut labels = vec![(0, part(30, page, 90)), (1, part(10, 5000, 10))];
            labels.extend((at == 3).then(|| (2, part(1, 80_000, 1))));
            labels.extend([(3, part(50, 500_000, 0)), (4, part(40, page, 100))]);
            Second { ms: 1000, labels: labels.into(), ..Second::default() }
        };
        let names = ["page", "form", "once", "script", "transaction"];
        let (labels, seconds) = (names.map(label).to_vec(), (0..10).map(second).collect());
        Record { labels, seconds, ..Record::default() }
    }

    #[test]
    fn all_requests_have_a_course_and_each_label_that_is_asked_all_the_time() {
        let record = record();
        let courses = Courses::new(&record, &record.seconds);
        let labels: Vec<Option<usize>> = courses
            .each
            .iter()
            .map(|course| if let Of::Label(label) = course.of { Some(label) } else { None })
            .collect();
        assert_eq!(labels, [None, Some(0), Some(1)]);
        let rise = |course: &Course| course.values[9].unwrap() - course.values[0].unwrap();
        let rises: Vec<f64> = courses.each.iter().map(rise).collect();
        let near = |value: f64, wanted: f64| (value - wanted).abs() < 0.01;
        assert!(near(rises[1], 3_f64.ln()) && near(rises[2], 0.0), "{rises:?}");
        // Three of four requests are for the page.
        assert!(near(rises[0], 0.75 * 3_f64.ln()), "{rises:?}");
        let (usual, slow) = record.seconds.split_at(8);
        assert_eq!(courses.named(Of::All, slow, usual), Some(Of::Label(0)));
        assert_eq!(courses.named(Of::Label(1), slow, usual), Some(Of::Label(1)));
    }

    #[test]
    fn no_label_is_named_where_all_got_slower() {
        let mut record = record();
        record.labels.truncate(2);
        for (at, second) in (0..).zip(&mut record.seconds) {
            let times = if at < 8 { 1 } else { 3 };
            let labels = vec![(0, part(30, times * 10_000, 90)), (1, part(10, times * 5000, 10))];
            second.labels = labels.into();
        }
        let courses = Courses::new(&record, &record.seconds);
        let (usual, slow) = record.seconds.split_at(8);
        assert_eq!(courses.named(Of::All, slow, usual), Some(Of::All));
    }

    #[test]
    fn a_plan_that_sends_nothing_is_looked_at_by_its_scripts() {
        let mut record = record();
        for second in &mut record.seconds {
            second.labels = vec![(3, part(50, 500_000, 0))].into();
        }
        let courses = Courses::new(&record, &record.seconds);
        assert!(matches!(courses.each[..], [Course { of: Of::All, .. }, ..]));
        assert_eq!(courses.named(Of::All, &record.seconds, &[]), Some(Of::Label(3)));
        assert!(courses.each[0].values.iter().all(Option::is_some));
    }
}
