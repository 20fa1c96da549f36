//! Merging old seconds of a long run into one interval of 10 s, 1 min, 10 min or 1 h.
//!
//! Counts, sums, errors and histograms of all requests are added exactly; extremes are stored in [`Coarse`]. An
//! interval stores the highest value of a gauge, or the lowest if low values are bad (ports left, memory left).
//! Fractions are averaged with weights by time. The histograms of labels share [`MOST_OF_LABELS`] bins, which bounds
//! the size of an interval for any number of labels. Slots of 100 ms are dropped, because slots of different seconds do
//! not add up.

use stats::hist::Bins;
use stats::machine::Machine;

use crate::file::bytes::In;
use crate::file::parts::{add_part, fewer};
use crate::labels::Labels;
use crate::second::{Generator, Part, SLOTS, Second, settle};
use crate::sum::Sum;

/// Pairs of an interval length in ms and the age in ms at which seconds are merged into intervals of that length.
pub const LEVELS: [(u32, i64); 4] = [
    (10_000, 2 * HOUR_MS),
    (60_000, 12 * HOUR_MS),
    (600_000, 48 * HOUR_MS),
    (3_600_000, 30 * 24 * HOUR_MS),
];
const HOUR_MS: i64 = 3_600_000;
/// Largest number of bins in the histograms of all labels of an interval together. A single histogram may always have
/// [`LEAST`] bins.
const MOST_OF_LABELS: usize = 8192;
/// Number of bins that every histogram may have, however many labels share [`MOST_OF_LABELS`].
const LEAST: usize = 64;
/// Shortest second, in ms, whose rates count for the extremes of an interval. Shorter ones are partial.
const WHOLE_MS: u32 = 900;
/// Largest delay of a second's measured end after its nominal end, ms.
const LATE_MS: i64 = 500;

/// Metrics of an interval that cannot be computed from sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coarse {
    /// Length of the interval, ms: one of the lengths in [`LEVELS`].
    pub step_ms: u32,
    /// Lowest and highest request rate of the full seconds in the interval, per second; `None` if the interval has
    /// only partial seconds.
    pub rates: Option<(f64, f64)>,
    /// Highest error rate of a second in the interval, errors per second.
    pub errors: f64,
    /// Highest CPU usage of the generator in a second of the interval, in CPU seconds per second.
    pub cpu: f64,
    pub watched: Vec<Range>,
}

/// Range of a watched metric in an interval. `Second::watched` has the mean of the metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Index of the metric's series in the record.
    pub series: u32,
    pub least: f64,
    pub most: f64,
    /// Time for which the metric has values, ms.
    pub ms: u64,
}

impl Coarse {
    /// Returns the extremes of a second: the lowest and the highest value of each metric are the second's value. For an
    /// interval, returns the stored extremes.
    fn of(second: &Second) -> Self {
        if let Some(coarse) = &second.coarse {
            return (**coarse).clone();
        }
        let per_s = |n: f64| n * 1000.0 / f64::from(second.ms.max(1));
        let is_whole = second.ms >= WHOLE_MS;
        let rate = per_s(second.all.count as f64);
        let range = |(series, value): &(u32, f64)| Range {
            series: *series,
            least: *value,
            most: *value,
            ms: u64::from(second.ms),
        };
        Self {
            step_ms: 0,
            rates: is_whole.then_some((rate, rate)),
            errors: if is_whole { per_s(second.all.errors as f64) } else { 0.0 },
            cpu: if is_whole { per_s(second.generator.cpu_s) } else { 0.0 },
            watched: second.watched.iter().map(range).collect(),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.rates = match (self.rates, other.rates) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.errors = self.errors.max(other.errors);
        self.cpu = self.cpu.max(other.cpu);
        for range in &other.watched {
            match self.watched.iter_mut().find(|known| known.series == range.series) {
                Some(known) => {
                    known.least = known.least.min(range.least);
                    known.most = known.most.max(range.most);
                    known.ms += range.ms;
                }
                None => self.watched.push(*range),
            }
        }
    }
}

impl Second {
    /// Returns the lowest and the highest request rate of the seconds in the interval, per second. A single second has
    /// one rate, which is both; a partial second has `None`.
    pub fn rates(&self) -> Option<(f64, f64)> {
        match &self.coarse {
            Some(coarse) => coarse.rates,
            None => Coarse::of(self).rates,
        }
    }

    /// Joins a later second into this one, except its samples and histograms. This second becomes an interval.
    fn join(&mut self, other: &Self) {
        let mut coarse = self.coarse.take().unwrap_or_else(|| Box::new(Coarse::of(self)));
        self.join_watched(other, &coarse);
        coarse.merge(&Coarse::of(other));
        self.coarse = Some(coarse);
        self.generator.join(&other.generator, f64::from(self.ms), f64::from(other.ms));
        match (&mut self.machine, &other.machine) {
            (Some(a), Some(b)) => join_machine(a, b, f64::from(self.ms), f64::from(other.ms)),
            (None, Some(b)) => self.machine = Some(b.clone()),
            _ => {}
        }
        self.at_ms = self.at_ms.max(other.at_ms);
        self.ms = self.ms.saturating_add(other.ms);
        self.users = self.users.max(other.users);
        self.started = self.started.max(other.started);
        self.due += other.due;
        self.missed += other.missed;
        self.counters.merge(&other.counters);
        for (cause, n) in &other.causes {
            match self.causes.binary_search_by_key(cause, |known| known.0) {
                Ok(at) => self.causes[at].1 += n,
                Err(at) => self.causes.insert(at, (*cause, *n)),
            }
        }
        stats::close::merge(&mut self.closes, &other.closes, &mut Vec::new());
        for (number, class) in &other.classes {
            match self.classes.binary_search_by_key(number, |known| known.0) {
                Ok(at) => self.classes[at].1.merge(class),
                Err(at) => self.classes.insert(at, (*number, class.clone())),
            }
        }
        self.stalled.merge(&other.stalled);
        for (at, number) in &other.numbers {
            match self.numbers.binary_search_by_key(at, |known| known.0) {
                Ok(found) => self.numbers[found].1.merge(number),
                Err(place) => self.numbers.insert(place, (*at, *number)),
            }
        }
        self.checks.extend_from_slice(&other.checks);
        settle(&mut self.checks);
    }

    /// Joins the watched metrics: their means, weighted by the time for which they have values.
    fn join_watched(&mut self, other: &Self, coarse: &Coarse) {
        let known = |ranges: &[Range], series: u32, or: u32| {
            ranges
                .iter()
                .find(|range| range.series == series)
                .map_or(u64::from(or), |range| range.ms)
        };
        for (series, value) in &other.watched {
            let Some(mine) = self.watched.iter_mut().find(|mine| mine.0 == *series) else {
                self.watched.push((*series, *value));
                continue;
            };
            let before = known(&coarse.watched, *series, self.ms) as f64;
            let theirs = other.coarse.as_ref().map_or(&[][..], |coarse| &coarse.watched);
            let more = known(theirs, *series, other.ms) as f64;
            mine.1 = weighted((mine.1, before), (*value, more));
        }
    }

    /// Completes an interval of `step_ms` from a second or from joined seconds.
    fn finish(&mut self, step_ms: u32) {
        let mut coarse = self.coarse.take().unwrap_or_else(|| Box::new(Coarse::of(self)));
        coarse.step_ms = coarse.step_ms.max(step_ms);
        self.coarse = Some(coarse);
        self.all.slots = [0; SLOTS];
        let mut labels = std::mem::take(&mut self.labels).into_list();
        let most = (MOST_OF_LABELS / labels.len().max(1)).max(LEAST);
        for label in &mut labels {
            label.1.shorten(most);
        }
        self.labels = Labels::from(labels);
        let most = (MOST_OF_LABELS / self.classes.len().max(1)).max(LEAST);
        for (_, class) in &mut self.classes {
            if let Some(bins) = fewer(&class.service, most) {
                class.service = bins;
            }
        }
        self.shrink();
    }
}

impl Part {
    /// Drops the slots of 100 ms, and merges neighbouring bins until each histogram has at most `most` bins.
    fn shorten(&mut self, most: usize) {
        self.slots = [0; SLOTS];
        for bins in [&mut self.service, &mut self.response, &mut self.failed] {
            if let Some(fewer) = fewer(bins, most) {
                *bins = fewer;
            }
        }
    }
}

impl Generator {
    fn join(&mut self, other: &Self, mine_ms: f64, other_ms: f64) {
        self.stolen = weighted((self.stolen, mine_ms), (other.stolen, other_ms));
        self.cpu_s += other.cpu_s;
        self.memory = self.memory.max(other.memory);
        self.threads = self.threads.max(other.threads);
        self.workers = self.workers.max(other.workers);
        self.run_queue_s += other.run_queue_s;
        self.quota = self.quota.max(other.quota);
        self.quota_periods += other.quota_periods;
        self.quota_stopped += other.quota_stopped;
        self.stall = self.stall.max(other.stall);
        self.connect_retries += other.connect_retries;
        self.ports_left = match (self.ports_left, other.ports_left) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.time_wait = self.time_wait.max(other.time_wait);
        self.rows_waiting = self.rows_waiting.max(other.rows_waiting);
        self.write_s += other.write_s;
        self.heap = match (self.heap, other.heap) {
            (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.collections += other.collections;
        self.collection_s += other.collection_s;
    }
}

fn join_machine(mine: &mut Machine, other: &Machine, mine_ms: f64, other_ms: f64) {
    let before = std::mem::replace(mine, other.clone());
    for (sum, n) in [
        (&mut mine.segments_out, before.segments_out),
        (&mut mine.retransmitted, before.retransmitted),
        (&mut mine.syn_retransmitted, before.syn_retransmitted),
        (&mut mine.zero_windows_offered, before.zero_windows_offered),
        (&mut mine.zero_windows_wanted, before.zero_windows_wanted),
        (&mut mine.zero_windows_left, before.zero_windows_left),
        (&mut mine.listen_overflows, before.listen_overflows),
        (&mut mine.listen_drops, before.listen_drops),
        (&mut mine.aborted_memory, before.aborted_memory),
        (&mut mine.aborted_timeout, before.aborted_timeout),
        (&mut mine.aborted_unread, before.aborted_unread),
        (&mut mine.memory_pressures, before.memory_pressures),
        (&mut mine.time_wait_overflows, before.time_wait_overflows),
        (&mut mine.resets_sent, before.resets_sent),
    ] {
        *sum += n;
    }
    mine.load = mine.load.max(before.load);
    mine.cpu = weighted((before.cpu, mine_ms), (mine.cpu, other_ms));
    mine.stolen = weighted((before.stolen, mine_ms), (mine.stolen, other_ms));
    mine.memory_available = mine.memory_available.min(before.memory_available);
    for (most, n) in [
        (&mut mine.sockets.in_use, before.sockets.in_use),
        (&mut mine.sockets.established, before.sockets.established),
        (&mut mine.sockets.time_wait, before.sockets.time_wait),
    ] {
        *most = (*most).max(n);
    }
}

/// Returns the weighted mean of two pairs of value and weight.
fn weighted(a: (f64, f64), b: (f64, f64)) -> f64 {
    let weights = a.1 + b.1;
    if weights > 0.0 { (a.0 * a.1 + b.0 * b.1) / weights } else { a.0 }
}

/// Returns the length in ms of the interval that a second belongs to; 0 for a second that is too young to be
/// joined. All age limits are halved `tight` times.
pub(crate) fn step_of(at_ms: i64, start_ms: i64, now_ms: i64, tight: u32) -> u32 {
    let is_old = |(step, age): &&(u32, i64)| {
        let end_ms = start_ms + (bucket(at_ms, start_ms, *step) + 1) * i64::from(*step);
        now_ms - end_ms >= age >> tight.min(16)
    };
    LEVELS.iter().rev().find(is_old).map_or(0, |level| level.0)
}

/// Returns the number, counted from the start of the run, of the interval in which a second ends.
fn bucket(at_ms: i64, start_ms: i64, step_ms: u32) -> i64 {
    (at_ms - start_ms - LATE_MS).div_euclid(i64::from(step_ms.max(1)))
}

/// Joins seconds, given in chronological order, into intervals.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    start_ms: i64,
    /// Length in ms and number of the interval that is being built.
    key: (u32, i64),
    /// The seconds of the interval that is being built.
    open: Vec<Second>,
    sum: Sum,
}

impl Joiner {
    pub(crate) fn new(start_ms: i64) -> Self {
        Self { start_ms, ..Self::default() }
    }

    /// Adds a second to an interval of length `step_ms`. Returns the previous interval if this second begins a new
    /// one. An entry that is a longer interval already keeps its length.
    pub(crate) fn add(&mut self, second: Second, step_ms: u32) -> Option<Second> {
        let own = second.coarse.as_ref().map_or(0, |coarse| coarse.step_ms);
        let step_ms = step_ms.max(own);
        let key = (step_ms, bucket(second.at_ms, self.start_ms, step_ms));
        let before = if self.key == key { None } else { self.end() };
        self.key = key;
        self.open.push(second);
        before
    }

    /// Returns the last interval; `None` if no second was added since the last interval was returned.
    pub(crate) fn end(&mut self) -> Option<Second> {
        let open = std::mem::take(&mut self.open);
        let is_single = open.len() == 1;
        let mut second = joined(open, &mut self.sum)?;
        // A single entry that is an interval of the requested length already stays unchanged.
        let is_done = |coarse: &Coarse| is_single && coarse.step_ms >= self.key.0;
        if !second.coarse.as_deref().is_some_and(is_done) {
            second.finish(self.key.0);
        }
        Some(second)
    }
}

/// Joins seconds in chronological order. Histograms are summed bin by bin.
fn joined(mut seconds: Vec<Second>, sum: &mut Sum) -> Option<Second> {
    if seconds.len() <= 1 {
        return seconds.pop();
    }
    let all = sum_of(seconds.iter().map(|second| &second.all), sum);
    for second in &mut seconds {
        second.labels.pack();
    }
    let labels = labels_of(&seconds, sum);
    let times = HISTOGRAMS.map(|of| {
        let service = sum.times(false).service;
        for second in &mut seconds {
            service.add(&std::mem::take(of(second)));
        }
        service.take()
    });
    let mut seconds = seconds.into_iter();
    let mut joined = seconds.next()?;
    seconds.for_each(|second| joined.join(&second));
    (joined.all, joined.labels) = (all, labels.into());
    HISTOGRAMS.iter().zip(times).for_each(|(of, bins)| *of(&mut joined) = bins);
    Some(joined)
}

/// The histograms of a second other than those of its samples.
const HISTOGRAMS: [fn(&mut Second) -> &mut Bins; 4] = [
    |second| &mut second.connect,
    |second| &mut second.tls,
    |second| &mut second.room,
    |second| &mut second.lag,
];

fn sum_of<'p>(parts: impl Iterator<Item = &'p Part>, sum: &mut Sum) -> Part {
    parts.for_each(|part| sum.add(part));
    sum.take()
}

/// Returns the sums of the labels of packed seconds. Labels are summed one after the other, so that only one sum is in
/// memory.
fn labels_of(seconds: &[Second], sum: &mut Sum) -> Vec<(u32, Part)> {
    let mut parts: Vec<_> = seconds.iter().flat_map(|second| second.labels.packed()).collect();
    parts.sort_by_key(|part| part.0);
    let of_label = |label: &[(u32, In<'_>)]| {
        for (_, part) in label {
            add_part(part.clone(), sum);
        }
        (label[0].0, sum.take())
    };
    parts.chunk_by(|a, b| a.0 == b.0).map(of_label).collect()
}

/// Joins seconds, given in chronological order, into intervals of length `step_ms`.
pub(crate) fn even(seconds: Vec<Second>, start_ms: i64, step_ms: u32) -> Vec<Second> {
    let mut joiner = Joiner::new(start_ms);
    let mut found = Vec::new();
    for second in seconds {
        found.extend(joiner.add(second, step_ms));
    }
    found.extend(joiner.end());
    found.shrink_to_fit();
    found
}

impl crate::Record {
    /// Returns the record with its seconds joined into intervals of length `step_ms`.
    #[must_use]
    pub fn joined(mut self, step_ms: u32) -> Self {
        self.seconds = even(self.seconds, self.frame.start_ms, step_ms);
        self.has.slots = false;
        self
    }

    /// Returns the length in ms of the intervals of a long run; `None` if no seconds have been joined.
    pub fn step_ms(&self) -> Option<u32> {
        self.seconds.iter().filter_map(|second| second.coarse.as_ref()).map(|one| one.step_ms).max()
    }
}

/// Largest number of seconds in a record that is read. The seconds of a longer run are joined into intervals of equal
/// length.
pub const MOST_SECONDS: usize = 10_800;

/// The seconds of a record that is being read. They are kept as written until there are more than [`MOST_SECONDS`]
/// of them or one of them is an interval. Then they are joined into the shortest intervals that fit. So memory is
/// bounded for a run of any length.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    pub(crate) list: Vec<Second>,
    /// Length of the intervals, ms; 0 as long as seconds are kept as measured.
    step_ms: u32,
    /// Number of entries in the list above which they are joined into longer intervals.
    full: usize,
}

impl Seconds {
    pub(crate) fn push(&mut self, second: Second, start_ms: i64) {
        if let Some(coarse) = &second.coarse {
            self.step_ms = self.step_ms.max(coarse.step_ms);
        }
        self.list.push(second);
        if self.list.len() > self.full.max(MOST_SECONDS) {
            self.join(start_ms);
            self.full = self.list.len() + MOST_SECONDS / 4;
        }
    }

    fn join(&mut self, start_ms: i64) {
        self.list.sort_by_key(|second| second.at_ms);
        if self.step_ms == 0 {
            self.step_ms = LEVELS[0].0;
        }
        loop {
            self.list = even(std::mem::take(&mut self.list), start_ms, self.step_ms);
            let longer = LEVELS.iter().find(|level| level.0 > self.step_ms);
            match longer {
                Some((step, _)) if self.list.len() > MOST_SECONDS => self.step_ms = *step,
                _ => return,
            }
        }
    }

    /// Returns all seconds or intervals of the record in chronological order.
    pub(crate) fn end(mut self, start_ms: i64) -> Vec<Second> {
        if self.step_ms > 0 {
            self.join(start_ms);
        } else {
            self.list.sort_by_key(|second| second.at_ms);
        }
        self.list
    }
}

/// Joins the seconds of a record that has more than [`MOST_SECONDS`].
pub(crate) fn bound(record: &mut crate::Record) {
    if record.seconds.len() <= MOST_SECONDS {
        return;
    }
    let start_ms = record.frame.start_ms;
    let mut seconds = Seconds::default();
    for second in std::mem::take(&mut record.seconds) {
        seconds.push(second, start_ms);
    }
    record.seconds = seconds.end(start_ms);
    record.has.slots = false;
}
