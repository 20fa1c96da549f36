//! Metrics of a record that several rules use, and basic statistics on them.

use std::collections::{BTreeMap, BTreeSet};

use record::{Change, Class, Record, Second};
use stats::Counter;
use stats::hist::{Bins, Hist};

/// Relative change of users up to which the load counts as the same. It is below the smallest change of response times
/// that a rule reports: one user more makes the times of a saturated target longer by the same share. So fewer than 20
/// users count as the same load only if their number is the same.
const SAME_LOAD: f64 = 0.05;
/// Time in ms before and after a change of the load that belongs to neither side.
const MASKED_MS: i64 = 10_000;
/// Longest time in ms after the planned end of the run at which its last second under load may end.
const OVER_MS: i64 = 500;
/// Length in ms of a gap without requests after which the load counts as ended, if the run has many gaps: users that
/// pause leave gaps.
const PAUSE_MS: i64 = 5000;
/// Length in ms of a gap without requests after which the load counts as ended, if the run has at most `GAPS` such
/// gaps.
const GAP_MS: i64 = 1500;
/// Largest number of gaps longer than `GAP_MS` with which each of them ends the load.
const GAPS: usize = 4;
/// Smallest number of users that start within a second, as a share of all users, at which a new group counts as having
/// replaced the previous users.
const REPLACED: f64 = 0.25;
/// Largest share of the requests by which two mixes of labels may differ, beyond chance, and still count as the same
/// mix.
const MIXED: f64 = 0.05;
/// Smallest number of requests of a label in each period for a comparison.
const HELD_LEAST: u64 = 30;
/// Smallest relative increase of the request rate that counts as another load.
const MORE: f64 = 0.1;
/// Quantile of the response times in a second that is used as the time for which the responses of the second waited.
const USUAL: f64 = 0.9;
/// Largest ratio of the time that responses waited (`USUAL`) to the time since the load became constant at which the
/// queue counts as full.
const LATER: f64 = 0.9;
/// 97.5 % quantile of the standard normal distribution.
pub(crate) const Z: f64 = 1.96;

pub(crate) type Span = (i64, i64);

pub(crate) fn span(seconds: &[Second]) -> Span {
    let from = seconds.first().map_or(0, |s| s.at_ms - i64::from(s.ms));
    (from, seconds.last().map_or(from, |s| s.at_ms))
}

pub(crate) fn length_s(seconds: &[Second]) -> f64 {
    seconds.iter().map(|s| f64::from(s.ms) / 1000.0).sum()
}

/// Returns the total length in whole seconds; in a long run, one entry of the record covers many seconds.
pub(crate) fn seconds_in<'s>(seconds: impl IntoIterator<Item = &'s Second>) -> usize {
    let ms: u64 = seconds.into_iter().map(|second| u64::from(second.ms)).sum();
    (ms as f64 / 1000.0).round() as usize
}

pub(crate) fn sum(seconds: &[Second], of: impl Fn(&Second) -> u64) -> u64 {
    seconds.iter().map(of).sum()
}

pub(crate) fn requests(seconds: &[Second]) -> u64 {
    sum(seconds, |s| s.all.count)
}

pub(crate) fn counter(seconds: &[Second], counter: Counter) -> u64 {
    sum(seconds, |s| s.counters.get(counter))
}

pub(crate) fn hist<'s>(
    seconds: impl IntoIterator<Item = &'s Second>,
    of: impl Fn(&'s Second) -> &'s Bins,
) -> Hist {
    let mut hist = Hist::new();
    seconds.into_iter().for_each(|second| hist.add(of(second)));
    hist
}

pub(crate) fn service<'s>(seconds: impl IntoIterator<Item = &'s Second>) -> Hist {
    hist(seconds, |s| &s.all.service)
}

/// Returns a histogram of the service times of successful requests.
pub(crate) fn answers(seconds: &[Second]) -> Hist {
    let all = service(seconds);
    let failed = hist(seconds, |s| &s.all.failed);
    if failed.total() == 0 { all } else { without(&all, &failed) }
}

/// Returns a quantile of a histogram in ms.
pub(crate) fn ms(hist: &Hist, q: f64) -> f64 {
    hist.quantile(q) as f64 / 1000.0
}

/// Copies a second without its labels and classes, so that the copy is cheap.
pub(crate) fn in_all(second: &Second) -> Second {
    Second {
        at_ms: second.at_ms,
        ms: second.ms,
        users: second.users,
        due: second.due,
        missed: second.missed,
        all: second.all.clone(),
        watched: second.watched.clone(),
        ..Second::default()
    }
}

/// Returns the mean number of requests in flight in a second, by Little's law.
pub(crate) fn in_flight(second: &Second) -> f64 {
    second.all.elapsed as f64 / 1e6 / f64::from(second.ms.max(1))
}

/// Returns the mean number of requests in flight over a period that ends with second `at` and is as long as the longest
/// sample that ended in it, at least 1 s. One second alone gives too high a mean, because a sample's whole time counts
/// in the second of its end.
pub(crate) fn flying_around(seconds: &[Second], at: usize) -> f64 {
    let Some(second) = seconds.get(at) else { return 0.0 };
    let wanted_ms = (second.all.longest / 1_000_000).max(1000);
    let (mut from, mut length_ms) = (at, u64::from(second.ms));
    while length_ms < wanted_ms && from > 0 {
        from -= 1;
        length_ms += u64::from(seconds[from].ms);
    }
    let elapsed: u64 = seconds[from..=at].iter().map(|s| s.all.elapsed).sum();
    elapsed as f64 / 1e6 / length_ms.max(wanted_ms) as f64
}

pub(crate) fn rate(seconds: &[Second]) -> f64 {
    requests(seconds) as f64 / length_s(seconds).max(1e-3)
}

/// Returns the whole seconds with work: from the first request to the stop, without partial seconds at both ends.
pub(crate) fn whole(record: &Record) -> &[Second] {
    let seconds = &record.seconds;
    // After the requested length only the last responses arrive.
    let length = record.frame.load.length_ms;
    let planned = length.map_or(i64::MAX, |length| record.frame.start_ms + length + OVER_MS);
    let stop = stop_ms(record).unwrap_or(i64::MAX).min(planned);
    let Some(first) = seconds.iter().position(|s| s.all.count > 0) else { return &[] };
    let last = seconds.iter().rposition(|s| s.all.count > 0 && s.at_ms <= stop).unwrap_or(first);
    let seconds = &seconds[first..=last.max(first)];
    let is_piece = |s: Option<&Second>| s.is_some_and(|s| s.ms < 900);
    let seconds = if is_piece(seconds.first()) { &seconds[1..] } else { seconds };
    if is_piece(seconds.last()) { &seconds[..seconds.len() - 1] } else { seconds }
}

/// Iterates over seconds with the largest number of active users in each. A second records the users at its end; where
/// users leave, most of the second had more.
pub(crate) fn with_users(seconds: &[Second]) -> impl Iterator<Item = (u64, &Second)> {
    let before = std::iter::once(0).chain(seconds.iter().map(|s| s.users));
    seconds.iter().zip(before).map(|(s, before)| (s.users.max(before), s))
}

/// Returns the time at which the stop began, epoch ms.
pub(crate) fn stop_ms(record: &Record) -> Option<i64> {
    let stops = record.marks.iter().filter(|mark| matches!(mark.change, Change::Stop { .. }));
    stops.map(|mark| mark.at_ms).min()
}

/// Returns the times at which the load was changed.
fn changes(record: &Record) -> impl Iterator<Item = i64> + '_ {
    let is_load = |change: &Change| {
        matches!(
            change,
            Change::Users(_) | Change::Rate(_) | Change::Paused | Change::WentOn | Change::Lost(_)
        )
    };
    record.marks.iter().filter(move |mark| is_load(&mark.change)).map(|mark| mark.at_ms)
}

/// Returns the times at which a phase of the load begins. A steady stretch ends at such a time, but may begin with the
/// next second.
fn phases(record: &Record) -> impl Iterator<Item = i64> + '_ {
    let is_phase = |mark: &&record::Mark| matches!(mark.change, Change::Phase(_));
    record.marks.iter().filter(is_phase).map(|mark| mark.at_ms)
}

/// Returns for each second true if another load begins there although the number of users is the same: other users
/// have replaced them, or there was no request before (a pause between two groups, or two runs in one file). The
/// seconds of such pauses are also true.
fn breaks(all: &[Second]) -> Vec<bool> {
    let started = |at: usize| all[at].started.saturating_sub(all[at - 1].started) as f64;
    let usual = median(&(1..all.len()).map(started).collect::<Vec<_>>());
    let mut breaks: Vec<bool> = (0..all.len())
        .map(|at| {
            let Some(before) = at.checked_sub(1).map(|before| &all[before]) else { return false };
            let gap_ms = all[at].at_ms - i64::from(all[at].ms) - before.at_ms;
            let replaced = started(at) >= (REPLACED * all[at].users as f64).max(1.0);
            gap_ms > PAUSE_MS || replaced && started(at) > 3.0 * usual
        })
        .collect();
    let without = |run: &&[Second]| run[0].all.count == 0;
    let length_of = |run: &[Second]| run.iter().map(|second| i64::from(second.ms)).sum::<i64>();
    let runs = || all.chunk_by(|a, b| (a.all.count == 0) == (b.all.count == 0));
    let gaps = runs().filter(without).filter(|run| length_of(run) > GAP_MS).count();
    let least_ms = if gaps <= GAPS { GAP_MS } else { PAUSE_MS };
    let mut from = 0;
    for run in runs() {
        let end = from + run.len();
        let length_ms = length_of(run);
        // Requests that waited for the target during the gap end after it, and took as long as the gap.
        let waited = all.get(end).is_some_and(|s| s.all.longest as f64 >= 0.8e6 * length_ms as f64);
        if without(&run) && length_ms > least_ms && !waited {
            breaks[from..all.len().min(end + 1)].fill(true);
        }
        from = end;
    }
    breaks
}

/// True if no other load begins within the given seconds. A growing number of users is still the same load.
pub(crate) fn is_one_load(seconds: &[Second]) -> bool {
    let mut most = 0;
    seconds.iter().zip(breaks(seconds)).all(|(second, is_break)| {
        let grows = second.users > most;
        most = most.max(second.users);
        grows || !is_break
    })
}

/// True if the slower of two periods has significantly more requests per second than the usual one: then the load of
/// the plan explains the slower responses. A target that becomes slower by itself does not get more requests.
pub(crate) fn is_of_load(usual: &[Second], slower: &[Second]) -> bool {
    let (usual_rate, slower_rate) = (rate(usual), rate(slower));
    let chance = Z * (slower_rate / length_s(slower).max(1e-3)).sqrt();
    slower_rate > (1.0 + MORE) * usual_rate + chance
}

/// Returns successful and failed requests by label, without transactions.
pub(crate) fn by_label<'s>(
    record: &Record,
    seconds: impl IntoIterator<Item = &'s Second>,
) -> BTreeMap<u32, (u64, u64)> {
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (label, count, bad) in seconds.into_iter().flat_map(|second| second.labels.counts()) {
        if record.labels.get(label as usize).is_some_and(|label| !label.transaction) {
            let sum = sums.entry(label).or_default();
            *sum = (sum.0 + count.saturating_sub(bad), sum.1 + bad);
        }
    }
    sums
}

/// Returns the number of requests by label, without transactions.
pub(crate) fn mix<'s>(
    record: &Record,
    seconds: impl IntoIterator<Item = &'s Second>,
) -> BTreeMap<u32, u64> {
    by_label(record, seconds).into_iter().map(|(label, (good, bad))| (label, good + bad)).collect()
}

/// True if two periods have significantly different mixes of labels: their times are then not those of the same work.
pub(crate) fn mix_differs<'s>(
    record: &Record,
    a: impl IntoIterator<Item = &'s Second>,
    b: impl IntoIterator<Item = &'s Second>,
) -> bool {
    let (a, b) = (mix(record, a), mix(record, b));
    let sum = |of: &BTreeMap<u32, u64>| of.values().sum::<u64>().max(1) as f64;
    let (all_a, all_b) = (sum(&a), sum(&b));
    let share = |of: &BTreeMap<u32, u64>, all: f64, label: &u32| {
        of.get(label).copied().unwrap_or(0) as f64 / all
    };
    let labels: BTreeSet<&u32> = a.keys().chain(b.keys()).collect();
    let apart: f64 = labels
        .iter()
        .map(|label| (share(&a, all_a, label) - share(&b, all_b, label)).abs() / 2.0)
        .sum();
    apart > MIXED + (labels.len() as f64 / all_a.min(all_b)).sqrt()
}

/// Returns, for each selected label, the service times of its successful requests. Makes one pass over the labels of
/// all seconds.
pub(crate) fn times_of<'s>(
    seconds: impl IntoIterator<Item = &'s Second>,
    is_one: impl Fn(&u32) -> bool,
) -> BTreeMap<u32, Hist> {
    let mut times: BTreeMap<u32, (Hist, Hist)> = BTreeMap::new();
    for (label, part) in seconds.into_iter().flat_map(|second| &second.labels) {
        if is_one(&label) {
            let (all, failed) = times.entry(label).or_default();
            all.add(&part.service);
            failed.add(&part.failed);
        }
    }
    let good = |(all, failed): (Hist, Hist)| match failed.total() {
        0 => all,
        _ => without(&all, &failed),
    };
    times.into_iter().map(|(label, both)| (label, good(both))).collect()
}

/// Median service times of a label in two periods, in ms.
pub(crate) struct Held {
    pub(crate) label: u32,
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// Returns the factor by which the service time changed between two periods, with each label compared with itself, and
/// the label with the most requests. `None` if most requests have labels that occur in only one of the periods.
pub(crate) fn held_change(record: &Record, a: &[Second], b: &[Second]) -> Option<(f64, Held)> {
    let (mixes, all) = ([mix(record, a), mix(record, b)], [requests(a), requests(b)]);
    let held =
        |label: &u32| mixes.iter().all(|mix| mix.get(label).is_some_and(|n| *n >= HELD_LEAST));
    let times = [a, b].map(|seconds| times_of(seconds, held));
    let (mut weights, mut sum, mut heaviest) = (0.0, 0.0, None::<(f64, Held)>);
    for (label, n) in &mixes[0] {
        let m = mixes[1].get(label).copied().unwrap_or(0);
        let [Some(before), Some(after)] = [0, 1].map(|at| times[at].get(label)) else { continue };
        let (before, after) = (ms(before, 0.5), ms(after, 0.5));
        let weight = (*n as f64 / all[0].max(1) as f64).min(m as f64 / all[1].max(1) as f64);
        weights += weight;
        sum += weight * (after.max(1e-3) / before.max(1e-3)).ln();
        if heaviest.as_ref().is_none_or(|(most, _)| weight > *most) {
            heaviest = Some((weight, Held { label: *label, before, after }));
        }
    }
    let (_, held) = heaviest.filter(|_| weights >= 0.5)?;
    Some(((sum / weights).exp(), held))
}

/// Returns the longest stretch of whole seconds in which the requested load did not change.
pub(crate) fn steady(record: &Record) -> &[Second] {
    let all = whole(record);
    let sorted = |mut times: Vec<i64>| {
        times.sort_unstable();
        times
    };
    let changes = sorted(changes(record).collect());
    let phases = sorted(phases(record).collect());
    let breaks = breaks(all);
    // A long run may have a change in each of its seconds, so a binary search is used.
    let has_between = |times: &[i64], from: i64, to: i64| {
        times.get(times.partition_point(|at| *at <= from)).is_some_and(|at| *at < to)
    };
    let masked = |s: &Second| {
        has_between(&changes, s.at_ms - MASKED_MS, s.at_ms + MASKED_MS)
            || has_between(&phases, s.at_ms - i64::from(s.ms), s.at_ms + 1)
    };
    // The users of an open load are its requests in flight, and not the load.
    let least_users = if record.frame.load.open { 1.0 } else { 0.0 };
    let same = |a: &Second, b: &Second| {
        let near = |a: u64, b: u64, least: f64| {
            a.abs_diff(b) as f64 <= (SAME_LOAD * a.max(b) as f64).max(least)
        };
        // A rate that is no whole number leads to one request more in some seconds.
        (!record.has.users || near(a.users, b.users, least_users))
            && (a.due == 0 || b.due == 0 || near(a.due, b.due, 1.0))
    };
    let (mut best, mut from) = (0..0, 0);
    for at in 0..=all.len() {
        let begins = at > from && at < all.len() && breaks[at];
        let ends = at == all.len() || begins || masked(&all[at]) || !same(&all[from], &all[at]);
        if ends {
            if at - from > best.len() {
                best = from..at;
            }
            from = if at < all.len() && masked(&all[at]) { at + 1 } else { at };
        }
        if from >= all.len() {
            break;
        }
    }
    &all[best]
}

/// Returns the steady seconds without those at their beginning in which a queue still fills. While a queue fills, each
/// response takes longer than the one before, although users and target are the same. The first returned second is the
/// first in which most responses belong to requests that were sent after the steady part began.
pub(crate) fn settled(record: &Record) -> &[Second] {
    let seconds = steady(record);
    let from_ms = span(seconds).0;
    let is_later = |second: &Second| {
        let waited = ms(&service([second]), USUAL);
        second.all.count > 0 && waited <= LATER * (second.at_ms - from_ms) as f64
    };
    let first = seconds.iter().position(is_later).unwrap_or(seconds.len());
    &seconds[first..]
}

/// Metrics of a few seconds together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub at_ms: i64,
    /// Rate in requests per second.
    pub rate: f64,
    /// Mean service time in ms.
    pub mean: f64,
    pub p50: f64,
    pub p95: f64,
    pub in_flight: f64,
    pub users: f64,
}

/// Returns the metrics of windows of `length` seconds each. A shorter window at the end is dropped.
pub(crate) fn windows(seconds: &[Second], length: usize) -> Vec<Window> {
    let of = |seconds: &[Second]| {
        let (hist, length) = (service(seconds), length_s(seconds).max(1e-3));
        let (count, elapsed) = (requests(seconds), sum(seconds, |s| s.all.elapsed) as f64 / 1e9);
        Window {
            at_ms: span(seconds).1,
            rate: count as f64 / length,
            mean: elapsed * 1000.0 / count.max(1) as f64,
            p50: ms(&hist, 0.5),
            p95: ms(&hist, 0.95),
            in_flight: elapsed / length,
            users: mean(&seconds.iter().map(|s| s.users as f64).collect::<Vec<_>>()),
        }
    };
    seconds.chunks_exact(length.max(1)).map(of).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the standard deviation of a sample of values.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / values.len().saturating_sub(1).max(1) as f64).sqrt()
}

/// Returns the coefficient of variation: the standard deviation as a share of the mean.
pub(crate) fn variation(values: &[f64]) -> f64 {
    match mean(values) {
        0.0 => 0.0,
        mean => deviation(values) / mean,
    }
}

/// Returns half the width of the 95 % interval of the mean of nearly independent values.
pub(crate) fn half_width(values: &[f64]) -> f64 {
    Z * deviation(values) / (values.len().max(1) as f64).sqrt()
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Exchanges of a class, summed over seconds.
pub(crate) struct ClassSum {
    /// Index of the class in the record's list of class names.
    pub(crate) name: u32,
    /// Summed counts of the class. The histogram of service times in this field is empty; `times` has the service
    /// times.
    pub(crate) sum: Class,
    /// Service times of all exchanges of the class.
    pub(crate) times: Hist,
}

/// Returns the summed exchanges of each class.
pub(crate) fn classes(seconds: &[Second]) -> Vec<ClassSum> {
    let mut sums: Vec<ClassSum> = Vec::new();
    for (name, class) in seconds.iter().flat_map(|s| &s.classes) {
        let at = sums.iter().position(|sum| sum.name == *name).unwrap_or_else(|| {
            sums.push(ClassSum { name: *name, sum: Class::default(), times: Hist::new() });
            sums.len() - 1
        });
        let ClassSum { sum, times, .. } = &mut sums[at];
        sum.count += class.count;
        sum.errors += class.errors;
        sum.opened += class.opened;
        sum.retransmitted += class.retransmitted;
        sum.syn_retransmitted += class.syn_retransmitted;
        times.add(&class.service);
    }
    sums
}

/// Returns the index of each cause of errors with its number of errors, the most frequent cause first.
pub(crate) fn causes(seconds: &[Second]) -> Vec<(usize, u64)> {
    let mut sums: Vec<(usize, u64)> = Vec::new();
    for (cause, n) in seconds.iter().flat_map(|s| &s.causes) {
        match sums.iter_mut().find(|sum| sum.0 == *cause as usize) {
            Some(sum) => sum.1 += n,
            None => sums.push((*cause as usize, *n)),
        }
    }
    sums.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    sums
}

/// Returns a histogram without the values of another one; for example without failures, whose times differ.
pub(crate) fn without(all: &Hist, failed: &Hist) -> Hist {
    let failed: std::collections::HashMap<u32, u64> = failed.iter().collect();
    let mut rest = Hist::new();
    for (bin, n) in all.iter() {
        let n = n.saturating_sub(failed.get(&bin).copied().unwrap_or(0));
        if n > 0 {
            rest.record(stats::hist::layout::middle_of(bin), n);
        }
    }
    rest
}
