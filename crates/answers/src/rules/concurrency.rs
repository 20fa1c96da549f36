//! Detects a target that processes a fixed number of requests at the same time, and a rate that no longer grows
//! with the load.
//!
//! A *worker* is a part of the target that processes one request at a time, such as a thread. There are two ways to
//! determine their number K. With a light load, in this run or in another one (Little's law): K = C·S₀. C is the rate
//! on the plateau, and S₀ is the time of a request alone. Without a light load, if completions are sparse: two
//! completions closer together than the shortest service time cannot come from the same worker. So with K independent
//! workers, pairs within a short slot are rarer by 1/K than by chance (the superposition of K renewal processes: D. R.
//! Cox and P. A. W. Lewis, "The Statistical Analysis of Series of Events", 1966, chapter 8).

use std::collections::{BTreeMap, BTreeSet};

use record::second::SLOTS;
use record::{Record, Second};
use stats::grouped::{count, percent};
use stats::hist::Hist;

use super::figures::{
    Window, Z, answers, deviation, half_width, hist, in_flight, length_s, mean, median,
    mix_differs, ms, requests, service, span, sum, times_of, variation, whole, windows, with_users,
};
use super::light::{is_answered, loaded};
use super::pace::{self, nothing_or_lacks};
use super::run::Run;
use super::say::{capitalized, counted, found, lacks, number, time, words};
use super::{
    defaults,
    errors::per_second,
    generator,
    one_thread::{OneThread, one_thread},
    rate_limit,
    same_work::asks_for_other_work,
    slows::{lacks_time, slows_by_itself, slows_lightly, slows_under_the_same_load},
    waiting_labels::{alone, answered, growths, of, that_wait, typical},
};
use crate::distribution::student_quantile;
use crate::verdict::{About, Confidence, Finding, Said, Words};

/// Length in seconds of a window in which the rate is measured.
const WINDOW: usize = 5;
/// Length in seconds of the shortest window, for a run with less than 30 s of full load.
const SHORTEST: usize = 2;
/// Number of requests that a window should contain. With a slow target the window is longer, as long as there are
/// enough windows.
const WINDOW_REQUESTS: f64 = 30.0;
/// Request rate per second below which the count of a window may vary because responses arrive in batches.
const PER_S_FEW: f64 = 20.0;
/// Smallest number of windows on the plateau: 30 s.
const WINDOWS: usize = 6;
/// Largest variation of the rates of windows, beyond chance, at which the rate counts as flat.
const FLAT: f64 = 0.05;
/// Smallest growth of the rate, as a share, from the windows with fewer users to those with more, at which the rate
/// still grows.
const GROWS: f64 = 0.1;
/// Smallest number of samples from which the time of requests without a wait is known.
const ALONE: u64 = 20;
/// Smallest number of samples from which the time of requests without a wait is known, if the interval of the number of
/// workers contains exactly one whole number.
const ALONE_LEAST: u64 = 10;
/// Smallest ratio of requests in flight to the number of workers at which a flat rate counts as a plateau: the target
/// is overloaded.
const OVERLOAD: f64 = 1.5;
/// Largest median deviation from the usual number of responses in periods of equal length at which responses are as
/// even as under a rate limit. `STEADY_SHARE` of the number's square root is added.
const STEADY: f64 = 1.0;
/// Share of the square root of the number of responses that is added to `STEADY`.
const STEADY_SHARE: f64 = 0.1;
/// Number of responses that a period for `STEADY` should contain.
const STEADY_OF: f64 = 50.0;
/// Largest number of workers that is reported; nobody configures more.
const MOST: f64 = 10_000.0;
/// Smallest number of workers that is reported; a smaller number comes from a rate limit.
const LEAST: f64 = 0.7;
/// Largest relative distance between the number of workers and a whole number, and largest relative uncertainty, at
/// which that whole number is reported.
const NEAR: f64 = 0.1;
/// Factor from a 95 % interval to a 99 % interval, which must contain no other whole number.
const SURE: f64 = 1.31;
/// Largest share of the workers that a light load keeps busy.
const LIGHT: f64 = 0.8;
/// Largest mean wait of requests at which a load counts as light, as a share of their service time.
const WAITING: f64 = 0.1;
/// Value of `WAITING` if the interval of the number of workers contains exactly one whole number.
const WAITING_MOST: f64 = 0.5;
/// Smallest number of seconds in the ramp, with more users than the light load and fewer than the full load.
const BETWEEN: usize = 3;
/// Largest rate under a light load, as a share of the full rate, if there are several workers. If the rate stays the
/// same, the load did not grow, and slower responses do not come from a queue.
const LIGHT_RATE: f64 = 0.85;
/// Failed share of all requests up to which failed requests also count as work of the target.
const FAILED: f64 = 0.01;
/// Quantile of successful responses' times that represents the time of the fastest ones.
const AT_ONCE_OF: f64 = 0.01;
/// Median time of failed requests, as a share of the time of the fastest successful responses, below which the failed
/// requests count as refused immediately.
const AT_ONCE: f64 = 0.5;
/// Largest spread (p5 to p95) of failed requests' times, as a share of their median, at which they count as given up
/// after a wait of fixed length, such as a time limit.
const ALIKE: f64 = 0.25;
/// Smallest ratio of two spreads (p5 to p95), of the times of successful responses and of failed requests, at which the
/// failed requests count as given up after a wait of fixed length.
const WIDER: f64 = 2.0;
/// Range of the exponent with which response time grows over the load; 1 if only the queue grows.
const SLOPE: (f64, f64) = (0.9, 1.1);
/// Smallest growth of the median response time, as a share of the growth of the mean, if all requests wait. A few
/// requests that are slow by themselves change only the mean.
const TYPICAL: f64 = 0.5;
/// Smallest growth of the number of users, or of the mean response time, within the windows of a plateau, as a ratio.
const RANGE: f64 = 2.0;
/// Smallest growth of the number of users within the windows of a plateau, as a ratio, if only the response time grows
/// by [`RANGE`].
const MORE_USERS: f64 = 1.25;
/// Share of processor time from which a host's processors count as saturated.
const FULL: f64 = 0.9;
/// Smallest number of samples for an estimate of the number of workers from pairs of completions.
const PAIRS_SAMPLES: u64 = 400;
/// Shortest time of a request alone, in slots of 100 ms, for an estimate from pairs of completions.
const PAIRS_SLOTS: f64 = 3.0;
/// Smallest ratio of two shares of missing pairs of completions at which the estimate is used: the share in slots of
/// 200 ms, divided by the share in slots of 100 ms.
const PAIRS_ALIKE: f64 = 0.65;
/// Largest number of workers that pairs of completions can show. With more workers, too few pairs are missing.
const PAIRS_MOST: f64 = 12.0;
/// Largest share of users that pause at which regular pairs of completions show workers. If more users pause, a timer
/// may start their requests at even intervals, and their responses are then even, too.
const PAUSING: f64 = 0.1;
/// Number of users that may pause even if they are a larger share than `PAUSING`.
const PAUSING_USERS: f64 = 1.0;

/// An estimated number of workers (K) with its interval.
struct Workers {
    k: f64,
    low: f64,
    high: f64,
    /// Time of a request alone in ms.
    alone: f64,
    /// Requests per second on the plateau.
    rate: f64,
    /// Mean number of requests in flight under full load.
    in_flight: f64,
    /// True if the estimate comes from pairs of completions.
    by_pairs: bool,
    /// True if the target becomes slower by itself, so that the number of workers is unknown.
    slows: bool,
    /// True if requests beyond the number of workers fail.
    fails: bool,
    /// Labels whose requests the workers process, if other labels do not wait; empty for all labels.
    labels: Vec<u32>,
}

/// A formatted number of workers: a whole number with an interval, or a range of numbers.
struct Shown {
    k: String,
    range: Words,
}

impl Workers {
    /// Formats the number of workers. `known`: the number, if it is known. The time of a request alone includes the
    /// network, so the interval may not contain that number.
    fn shown(&self, known: Option<f64>) -> Shown {
        let between = |low: f64, high: f64| match (low.max(1.0) as u64, high as u64) {
            (low, high) if low >= high => count(low),
            (low, high) => format!("{}–{}", count(low), count(high)),
        };
        let Some(k) = known else {
            let k = between(self.low.floor(), self.high.ceil());
            return Shown { k, range: Words::default() };
        };
        let (low, high) = (self.low.ceil().min(k), self.high.floor().max(k));
        let range = if low < high {
            let between = between(low, high);
            words!(range_of_workers(between))
        } else {
            Words::default()
        };
        Shown { k: count(k as u64), range }
    }

    /// Returns the whole number in the 99 % interval, if it contains exactly one.
    fn only(&self) -> Option<f64> {
        let least = (self.k - SURE * (self.k - self.low)).ceil();
        let most = (self.k + SURE * (self.high - self.k)).floor();
        (least >= 1.0 && least == most).then_some(least)
    }

    /// True if more requests are in flight than are processed, and the response time grew with the load, not by itself
    /// and not by failures. `typical`: growth of the labels' medians in ms.
    fn is_overloaded(&self, typical: impl Fn() -> f64) -> bool {
        let heavy = self.in_flight / self.rate * 1000.0;
        let slope = (heavy / self.alone).ln() / (self.in_flight / self.k.max(LEAST)).ln();
        let all_wait = || typical() >= TYPICAL * (heavy - self.alone);
        (LEAST..=MOST).contains(&self.k)
            && self.in_flight >= OVERLOAD * self.k.max(1.0)
            && (SLOPE.0..=SLOPE.1).contains(&slope)
            && all_wait()
    }
}

/// Returns the result of a rule if the full load was too short for a plateau.
fn lacks_full_load(record: &Record) -> Option<Said> {
    let busy = loaded(whole(record));
    let least = (WINDOWS * SHORTEST).max(if requests(&busy) < PAIRS_SAMPLES { 30 } else { 0 });
    (busy.len() < least && super::light::missing_light_load(record).is_none()).then(few_seconds)
}

fn few_seconds() -> Said {
    lacks!(thirty_seconds_of_full_load)
}

/// The seconds in which the target is fully loaded, if its rate is flat.
struct Plateau {
    busy: Vec<Second>,
    /// Requests per second of each window.
    rates: Vec<f64>,
    /// Mean number of requests in flight.
    in_flight: f64,
}

fn flat(record: &Record) -> Option<Plateau> {
    let busy = loaded(whole(record));
    let per_s = requests(&busy) as f64 / busy.len().max(1) as f64;
    let wanted = (WINDOW_REQUESTS / per_s.max(0.1)).ceil() as usize;
    // If the full load lasts less than 30 s, shorter windows with enough requests are used.
    let least = (busy.len() / WINDOWS).clamp(SHORTEST, WINDOW);
    let length = wanted.min(busy.len() / WINDOWS).max(least);
    let flat = windows(&busy, length);
    if flat.len() < WINDOWS {
        return None;
    }
    let rates: Vec<f64> = flat.iter().map(|w| w.rate).collect();
    let in_flight = mean(&flat.iter().map(|w| w.in_flight).collect::<Vec<_>>());
    // Chance varies the count of a window by its square root, and by more if responses arrive in batches.
    let counts: Vec<f64> = busy.iter().map(|s| s.all.count as f64).collect();
    let batches = if per_s < PER_S_FEW { deviation(&counts).powi(2) / mean(&counts) } else { 1.0 };
    let chance = (batches.max(1.0) / (mean(&rates) * length as f64).max(1.0)).sqrt();
    (variation(&rates) <= FLAT + chance).then_some(Plateau { busy, rates, in_flight })
}

fn workers(record: &Record) -> Option<Workers> {
    let seconds = whole(record);
    let failed = sum(seconds, |s| s.all.errors) as f64;
    if failed <= FAILED * requests(seconds) as f64 || !fails_without_work(record) {
        return workers_of(record);
    }
    let good = answered(record);
    let found = workers_of(&good)?;
    // Requests that failed were also in flight, in the seconds in which the rate of responses is flat.
    let times: BTreeSet<i64> = flat(&good)?.busy.iter().map(|second| second.at_ms).collect();
    let own = (!found.labels.is_empty()).then(|| alone(record, &found.labels));
    let all = &own.as_ref().unwrap_or(record).seconds;
    let busy = all.iter().filter(|second| times.contains(&second.at_ms)).map(in_flight);
    let in_flight = mean(&busy.collect::<Vec<_>>());
    Some(Workers { in_flight, fails: true, ..found })
}

/// Returns true if requests that fail cause no work: the target refuses them immediately, or they are given up after a
/// wait of fixed length. Other failed requests, such as those whose assertions fail, occupy a worker, and their times
/// vary as much as those of responses.
fn fails_without_work(record: &Record) -> bool {
    let seconds = whole(record);
    let (good, failed) = (answers(seconds), hist(seconds, |s| &s.all.failed));
    let spread = |of: &Hist| ms(of, 0.95) - ms(of, 0.05);
    let middle = ms(&failed, 0.5);
    let is_one_length = spread(&failed) <= (ALIKE * middle).min(spread(&good) / WIDER);
    middle < AT_ONCE * ms(&good, AT_ONCE_OF) || is_one_length
}

fn workers_of(record: &Record) -> Option<Workers> {
    let plateau = flat(record)?;
    let by_pairs = || by_pairs(&plateau.busy, mean(&plateau.rates), plateau.in_flight);
    by_little(record, &plateau).or_else(|| by_pairs().filter(|_| hardly_pause(record, &plateau)))
}

/// True if nearly all users wait for responses, so that no timer of the plan sets the rate.
fn hardly_pause(record: &Record, plateau: &Plateau) -> bool {
    let users = mean(&plateau.busy.iter().map(|second| second.users as f64).collect::<Vec<_>>());
    record.has.users && users - plateau.in_flight <= (PAUSING * users).max(PAUSING_USERS)
}

/// Estimates the target's number of workers as the rate on the plateau times the time of a request alone. That time is
/// taken from seconds with so few users that no request waits for another one, or only a few do by chance.
fn by_little(record: &Record, plateau: &Plateau) -> Option<Workers> {
    if !record.has.users {
        return None;
    }
    let (mut best, mut is_sound) = (None, false);
    for users in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128] {
        // Only seconds at the beginning count: users that remain at the end may have waited for all others.
        let light: Vec<&Second> = with_users(whole(record))
            .take_while(|(most, _)| *most <= users)
            .filter(|(_, second)| is_answered(second))
            .map(|(_, s)| s)
            .collect();
        let Some(found) = with_light(&light, plateau) else { continue };
        let light_rate = count_of(&light) as f64 * 1000.0
            / light.iter().map(|second| f64::from(second.ms)).sum::<f64>().max(1.0);
        if found.k > OVERLOAD && light_rate > LIGHT_RATE * found.rate {
            continue;
        }
        // With no more users than workers, no request waits: the time is that of a request alone. With more users that
        // pause between requests, some requests wait by chance.
        is_sound = is_sound || is_light(users as f64, found.k);
        let waiting = if is_sound && users as f64 <= found.k.max(1.0) * 1.01 {
            0.0
        } else if users_rise(record, users, plateau) {
            waiting(found.k, &light)
        } else {
            break;
        };
        if waiting > if best.is_none() { WAITING_MOST } else { WAITING } {
            break;
        }
        let found = Workers { low: found.low / (1.0 + waiting), ..found };
        let is_enough = waiting <= WAITING && count_of(&light) >= ALONE;
        if !is_enough && found.only().is_none() {
            continue;
        }
        best = Some((found, light));
    }
    let (found, light) = best?;
    let slows = slows_lightly(record, &light) || slows_under_the_same_load(record);
    let busy = busy_by_name(record, plateau);
    let growths = growths(&by_name(record, light.iter().copied()), &busy);
    let all = busy.values().map(Hist::total).sum();
    if !found.is_overloaded(|| typical(&growths, all)) {
        return None;
    }
    let labels = that_wait(record, &growths);
    if labels.is_empty() {
        return Some(Workers { slows, ..found });
    }
    let own = alone(record, &labels);
    let found = by_little(&own, &flat(&own)?)?;
    // In a run reduced to the waiting labels, the labels that wait can turn out to be fewer.
    let labels = if found.labels.is_empty() { labels } else { found.labels.clone() };
    Some(Workers { labels, slows: slows || found.slows, ..found })
}

/// Estimates the number of workers as the rate on the plateau of a run times the time of a request alone. That time is
/// taken from another run, whose load is so light that requests do not wait.
fn by_light_run(light: &Record, record: &Record) -> Option<Workers> {
    let seconds = whole(light);
    // Skips the first half, which may be a warm-up.
    let seconds = &seconds[seconds.len() / 2..];
    let seconds: Vec<&Second> = seconds.iter().collect();
    let plateau = flat(record)?;
    let found = with_light(&seconds, &plateau)?;
    let flying = mean(&seconds.iter().map(|second| in_flight(second)).collect::<Vec<_>>());
    let enough = count_of(&seconds) >= ALONE && is_light(flying, found.k);
    let typical = || {
        let busy = busy_by_name(record, &plateau);
        let light = by_name(light, seconds.iter().copied());
        typical(&growths(&light, &busy), busy.values().map(Hist::total).sum())
    };
    (enough && found.is_overloaded(typical)).then_some(found)
}

fn count_of(seconds: &[&Second]) -> u64 {
    seconds.iter().map(|second| second.all.count).sum()
}

/// True if `flying` requests in flight do not wait for each other, given that their response time leads to `k` workers.
/// With more requests than workers, any number of workers would be explained by the wait it causes.
fn is_light(flying: f64, k: f64) -> bool {
    flying <= 1.05 || flying <= LIGHT * k
}

/// Returns true if the number of users rises from a light load to the full load and never falls, and the target
/// never did more than under the full load. Then both loads consist of the same work. Groups that run one after the
/// other, or several runs in one file, may cause different work.
fn users_rise(record: &Record, light: u64, plateau: &Plateau) -> bool {
    let (Some(first), Some(full)) =
        (plateau.busy.first(), plateau.busy.iter().map(|second| second.users).max())
    else {
        return false;
    };
    let before = whole(record).iter().take_while(|second| second.at_ms < first.at_ms);
    let users: Vec<u64> = before.map(|second| second.users).collect();
    let between = users.iter().filter(|users| (light + 1..full).contains(users)).count();
    let rate = mean(&plateau.rates);
    let chance = Z / (rate * WINDOW as f64).sqrt();
    let did_more = windows(whole(record), WINDOW)
        .iter()
        .any(|window| window.rate > (1.0 + FLAT + chance) * rate);
    2 * light <= full && between >= BETWEEN && users.is_sorted() && !did_more
}

/// Returns the mean wait of requests for a free worker in the seconds `light`, as a share of their service time, for
/// the largest whole number of workers that is at most [`NEAR`] above the estimate `k`. The formula is Erlang's C,
/// for random arrivals and exponential service times. Users that pause arrive more evenly.
fn waiting(k: f64, light: &[&Second]) -> f64 {
    let workers = ((1.0 + NEAR) * k).floor().max(1.0);
    let wait = |second: &&Second| {
        let flying = in_flight(second);
        if flying >= workers {
            return f64::INFINITY;
        }
        let mut blocked = 1.0;
        for worker in 1..=workers as u32 {
            blocked = flying * blocked / (f64::from(worker) + flying * blocked);
        }
        let waits = workers * blocked / (workers - flying * (1.0 - blocked));
        second.all.count as f64 * waits / (workers - flying)
    };
    light.iter().map(wait).sum::<f64>() / count_of(light).max(1) as f64
}

/// Estimates the number of workers as the rate on the plateau times the mean time of the requests in `light`, the
/// seconds under a light load. Returns `None` if there are too few requests.
fn with_light(light: &[&Second], plateau: &Plateau) -> Option<Workers> {
    let hist = service(light.iter().copied());
    if hist.total() < ALONE_LEAST {
        return None;
    }
    let rates = &plateau.rates;
    let rate = mean(rates);
    let elapsed: u64 = light.iter().map(|s| s.all.elapsed).sum();
    let count: u64 = light.iter().map(|s| s.all.count).sum();
    let alone = elapsed as f64 / count.max(1) as f64 / 1e6;
    let spread: f64 = hist
        .iter()
        .map(|(bin, n)| {
            let value = stats::hist::layout::middle_of(bin) as f64 / 1000.0;
            (value - alone).powi(2) * n as f64
        })
        .sum::<f64>()
        / hist.total() as f64;
    let k = rate * alone / 1000.0;
    let n = hist.total() as f64;
    let error = (spread / (n - 1.0)).sqrt() * student(n) / alone.max(1e-6);
    let windows = rates.len() as f64;
    let of_rate = deviation(rates) / windows.sqrt() * student(windows) / rate;
    let error = error.hypot(of_rate);
    let (low, high) = (k * (1.0 - error), k * (1.0 + error));
    let (in_flight, by_pairs, slows) = (plateau.in_flight, false, false);
    let labels = Vec::new();
    Some(Workers { k, low, high, alone, rate, in_flight, by_pairs, slows, fails: false, labels })
}

/// Returns the times of requests by the name of their label, because the numbers of labels differ between records.
fn by_name<'r, 's>(
    record: &'r Record,
    seconds: impl IntoIterator<Item = &'s Second>,
) -> BTreeMap<&'r str, Hist> {
    let is_request = |label: u32| record.labels.get(label as usize).filter(|one| !one.transaction);
    let times = times_of(seconds, |label| is_request(*label).is_some());
    times.into_iter().filter_map(|(label, hist)| Some((&*is_request(label)?.name, hist))).collect()
}

/// Returns the times of requests under full load by the name of their label.
fn busy_by_name<'r>(record: &'r Record, plateau: &Plateau) -> BTreeMap<&'r str, Hist> {
    let times: BTreeSet<i64> = plateau.busy.iter().map(|second| second.at_ms).collect();
    by_name(record, record.seconds.iter().filter(|s| times.contains(&s.at_ms)))
}

/// Returns the factor on the standard error of the mean of `values` values for a 95 % interval.
fn student(values: f64) -> f64 {
    student_quantile(0.975, values - 1.0)
}

/// Estimates the number of workers from pairs of completions within slots of 100 ms and of 200 ms.
fn by_pairs(busy: &[Second], rate: f64, flying: f64) -> Option<Workers> {
    if requests(busy) < PAIRS_SAMPLES || busy.iter().all(|s| s.all.slots == [0; SLOTS]) {
        return None;
    }
    let slots: Vec<f64> =
        busy.iter().filter(|s| s.ms >= 900).flat_map(|s| s.all.slots).map(f64::from).collect();
    let missing = |slots: &[f64]| {
        let pairs: Vec<f64> = slots.iter().map(|n| n * (n - 1.0)).collect();
        let square = mean(slots).powi(2);
        let share = 1.0 - mean(&pairs) / square;
        (share, Z * deviation(&pairs) / (pairs.len() as f64).sqrt() / square)
    };
    let doubled: Vec<f64> = slots.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
    let ((share, error), (wide, error_wide)) = (missing(&slots), missing(&doubled));
    let (low, high) = (share - error, (share + error).min(1.0));
    // With few responses, the two estimates differ more by chance, so one standard error is allowed.
    if low <= 0.0 || wide + error_wide / Z < PAIRS_ALIKE * share {
        return None;
    }
    let k = 1.0 / share;
    let alone = k / rate * 1000.0;
    let enough = alone >= PAIRS_SLOTS * 100.0 && (LEAST..=PAIRS_MOST).contains(&k);
    (enough && flying >= OVERLOAD * k).then_some(Workers {
        k,
        low: 1.0 / high,
        high: 1.0 / low,
        alone,
        rate,
        in_flight: flying,
        by_pairs: true,
        slows: false,
        fails: false,
        labels: Vec::new(),
    })
}

pub(super) fn concurrency_limit(run: &Run<'_>) -> Said {
    let record = run.record();
    if requests(whole(record)) < 100 {
        return lacks!(hundred_requests);
    }
    if run.finds("rate_limit") || pace::is_planned(record) {
        return Said::Nothing;
    }
    if let Some(lacks) = pace::lacks_schedule(record, false) {
        return lacks;
    }
    workers(record).map_or_else(
        || lacks_full_load(record).unwrap_or_else(|| nothing_or_lacks(record)),
        |found| {
            if found.slows {
                lacks_time()
            } else if pace::are_idle(record) {
                pace::lacks_unpaced(record)
            } else {
                finding(record, &found).said()
            }
        },
    )
}

/// Returns the finding about the concurrency of the target in `record`. The time of a request alone comes from another
/// run, `light`, whose load is so light that requests do not wait, as in a search for capacity.
pub(super) fn with_light_run(light: &Record, record: &Record) -> Option<Finding> {
    if requests(whole(record)) < 100 || rate_limit::rate_limit(record).is_found() {
        return None;
    }
    by_light_run(light, record).map(|found| finding(record, &found))
}

fn finding(record: &Record, w: &Workers) -> Finding {
    let seconds = whole(record);
    let only = w.only();
    let nearest = only.unwrap_or_else(|| w.k.round().max(1.0));
    let is_narrow = w.high - w.low <= 2.0 * NEAR * nearest;
    let is_near = only.is_some() || is_narrow && (w.k - nearest).abs() <= NEAR * nearest;
    let Shown { k, range } = w.shown(is_near.then_some(nearest));
    let of = of(record, &w.labels);
    let (product, about) = (counted(w.k), if is_near { "" } else { "about " });
    let (noun, workers) = if k == "1" { ("request", "worker") } else { ("requests", "workers") };
    let or_fail = if w.fails { words!(or_fail) } else { Words::default() };
    let (rate, alone) = (per_second(w.rate), time(w.alone));
    let (rate_small, flying) = (number(w.rate), counted(w.in_flight));
    let rate = if w.rate < 10.0 { rate_small } else { rate };
    let words = if w.by_pairs {
        words!(concurrency_by_spacing(k, noun, of, range, or_fail, flying, rate, workers, alone))
    } else {
        words!(concurrency_by_product(k, noun, of, range, or_fail, rate, alone, product, flying))
    };
    let confidence = if w.by_pairs { Confidence::Statistical } else { Confidence::Arithmetic };
    let finding = found("concurrency_limit", About::Target, confidence, words)
        .between("concurrency", w.k, "requests", Some((w.low, w.high)), span(seconds))
        .with("rate", w.rate, "1/s", span(seconds))
        .with("alone", w.alone, "ms", span(seconds))
        .with("in_flight", w.in_flight, "requests", span(seconds))
        .advise(defaults::beside(
            words!(concurrency_advice(about, k)),
            if is_near { nearest } else { 0.0 },
        ))
        .explaining(&["plateau", "warmup_unfinished", "drift", "bimodal", "late_starts"]);
    with_causes(record, w, &k, &rate, finding)
}

/// Adds to the finding what else is known of the limit: a single thread, a limit of the rate, or a host at full CPU.
/// `k`, `rate`: number of requests at once and rate per second, as the finding shows them.
fn with_causes(record: &Record, w: &Workers, k: &str, rate: &str, mut finding: Finding) -> Finding {
    let host = full_host(record);
    if k == "1" {
        finding.advice = words!(single_worker_advice(rate));
        if let Some(thread) = lone_thread(record) {
            let clause = capitalized(thread.clause());
            finding.words.push(&words!(one_thread_sentence(clause)));
            finding = thread.explain(finding);
        }
    }
    if k != "1" && !w.by_pairs && host.is_none() && are_even(record, w) {
        finding.words.push(&rate_limit::or_delayed(rate));
    }
    if let Some((host, share)) = host {
        finding.advice = words!(full_processors_advice(host, share));
    }
    clear(record, finding)
}

/// True if about the same number of responses comes in equal times under full load, as from a limit of the rate. The
/// work of several workers varies more, unless all requests take the same time.
fn are_even(record: &Record, found: &Workers) -> bool {
    let own = (!found.labels.is_empty()).then(|| alone(record, &found.labels));
    let busy = loaded(whole(own.as_ref().unwrap_or(record)));
    let good = |s: &Second| s.all.count.saturating_sub(if found.fails { s.all.errors } else { 0 });
    let seconds = (STEADY_OF / found.rate.max(1.0)).ceil().max(1.0) as usize;
    let per_s = |part: &[Second]| sum(part, good) as f64 / length_s(part).max(1e-3);
    let counts: Vec<f64> =
        busy.chunks_exact(seconds).map(|part| per_s(part) * seconds as f64).collect();
    let usual = median(&counts);
    let apart: Vec<f64> = counts.iter().map(|count| (count - usual).abs()).collect();
    counts.len() >= WINDOWS && median(&apart) <= STEADY + STEADY_SHARE * usual.sqrt()
}

/// Returns the thread that saturates one processor of a host with several processors.
fn lone_thread(record: &Record) -> Option<OneThread> {
    one_thread(record).filter(|_| full_host(record).is_none())
}

/// Adds to a finding the causes that the metrics rule out.
fn clear(record: &Record, finding: Finding) -> Finding {
    let seconds = whole(record);
    let opening = sum(seconds, |s| s.all.phases.connect + s.all.phases.tls + s.all.phases.dns);
    let all = sum(seconds, |s| s.all.elapsed).max(1);
    let mut finding = finding;
    if record.has.generator {
        finding = finding.rules_out(generator::cleared(record));
    }
    let share = opening as f64 / all as f64;
    if record.has.phases && share < 0.05 {
        let share = percent(share);
        finding = finding.rules_out(words!(opening_connections_share(share)));
    }
    finding
}

/// Returns the watched host whose processors are saturated, if there is one.
pub(super) fn full_host(record: &Record) -> Option<(String, String)> {
    hosts(record).into_iter().find(|host| host.1 >= FULL).map(|(host, cpu)| (host, percent(cpu)))
}

/// Returns the watched hosts with their mean processor use under the run's load.
fn hosts(record: &Record) -> Vec<(String, f64)> {
    let busy = loaded(whole(record));
    let cpus = record.series.iter().enumerate().filter(|(_, series)| &*series.metric == "cpu");
    cpus.filter_map(|(at, series)| {
        let values: Vec<f64> = busy
            .iter()
            .flat_map(|s| &s.watched)
            .filter(|(n, _)| *n as usize == at)
            .map(|(_, value)| *value)
            .collect();
        (!values.is_empty()).then(|| (series.host.to_string(), mean(&values)))
    })
    .collect()
}

pub(super) fn plateau(run: &Run<'_>) -> Said {
    let record = run.record();
    if !record.has.users {
        return lacks!(number_of_users);
    }
    // A finding about the number of workers says more than a plateau, and so does a finding about a rate limit.
    if run.finds("concurrency_limit") || run.finds("rate_limit") || pace::is_planned(record) {
        return Said::Nothing;
    }
    let all = windows(whole(record), WINDOW);
    let Some(flat) = flat_part(&all) else {
        return if all.len() < WINDOWS { few_seconds() } else { nothing_or_lacks(record) };
    };
    if let Some(lacks) = pace::lacks_schedule(record, flat.len() == all.len()) {
        return lacks;
    }
    if !pace::wait(record, &flat[0], &flat[flat.len() - 1]) {
        return pace::lacks_unpaced(record);
    }
    let (low, high) = (flat[0].users, flat[flat.len() - 1].users);
    if let Some(said) = other_reason(record, low, high) {
        return said;
    }
    let rates: Vec<f64> = flat.iter().map(|w| w.rate).collect();
    let (rate, width) = (mean(&rates), half_width(&rates));
    let (from, to, each) = (low.round(), high.round(), per_second(rate));
    let (before, after) = (time(flat[0].mean), time(flat[flat.len() - 1].mean));
    let thread = lone_thread(record);
    let alone = thread.as_ref().map(OneThread::clause).unwrap_or_default();
    let said: Words = match (full_host(record), hosts(record).is_empty()) {
        (Some((host, share)), _) => {
            words!(plateau_with_full_processors(each, from, to, before, after, host, share))
        }
        _ if thread.is_some() => {
            words!(plateau_with_other_limit(each, from, to, before, after, alone))
        }
        (None, false) => words!(plateau_without_full_processors(each, from, to, before, after)),
        (None, true) => words!(plateau_found(each, from, to, before, after)),
    };
    let at = (flat[0].at_ms, flat[flat.len() - 1].at_ms);
    let finding = found("plateau", About::Target, Confidence::Statistical, said)
        .between("rate", rate, "1/s", Some((rate - width, rate + width)), at)
        .with("users_from", low, "users", at)
        .with("users_to", high, "users", at)
        .advise(words!(plateau_advice))
        .explaining(&["warmup_unfinished", "drift"]);
    let finding = thread.iter().fold(finding, |finding, thread| thread.explain(finding));
    clear(record, finding).said()
}

/// Returns the result of the rule if more users do different work, or if the target becomes slower by itself.
fn other_reason(record: &Record, low: f64, high: f64) -> Option<Said> {
    if is_other_work(record, low, high) {
        return Some(nothing_or_lacks(record));
    }
    slows_by_itself(record, whole(record), low / 2.0).then(lacks_time)
}

/// True if many users request other labels than few users did. The times under both loads are then times of different
/// work.
fn is_other_work(record: &Record, low: f64, high: f64) -> bool {
    let middle = f64::midpoint(low, high);
    let seconds = whole(record).iter().filter(|s| s.users as f64 >= 0.9 * low);
    let (few, many): (Vec<&Second>, Vec<&Second>) =
        seconds.partition(|s| (s.users as f64) < middle);
    let span_of = |of: &[&Second]| {
        let from = of.first().map_or(0, |s| s.at_ms - i64::from(s.ms));
        (from, of.last().map_or(from, |s| s.at_ms))
    };
    let spans = [span_of(&few), span_of(&many)];
    mix_differs(record, few, many) || asks_for_other_work(record, None, spans)
}

/// True if the rate of the windows with more users is higher than that of the windows with fewer users, by more than
/// chance. The windows are sorted by users.
fn still_grows(part: &[Window]) -> bool {
    let middle = f64::midpoint(part[0].users, part[part.len() - 1].users);
    let rates = |of: &[Window]| of.iter().map(|w| w.rate).collect::<Vec<_>>();
    let (few, many) = part.split_at(part.partition_point(|w| w.users <= middle));
    let (few, many) = (rates(few), rates(many));
    let squares = |of: &[f64]| deviation(of).powi(2) * of.len().saturating_sub(1) as f64;
    let freedom = (part.len() as f64 - 2.0).max(1.0);
    let scatter = ((squares(&few) + squares(&many)) / freedom).sqrt();
    let each = 1.0 / few.len().max(1) as f64 + 1.0 / many.len().max(1) as f64;
    let chance = student_quantile(0.975, freedom) * scatter * each.sqrt();
    !few.is_empty()
        && !many.is_empty()
        && mean(&many) - mean(&few) > (GROWS * mean(&few)).max(chance)
}

/// Returns the windows at the largest loads in which the rate is flat, while the users or the response time at least
/// double and the response time grows with the users.
fn flat_part(all: &[Window]) -> Option<Vec<Window>> {
    let mut sorted = all.to_vec();
    sorted.sort_by(|a, b| a.users.total_cmp(&b.users));
    let last = *sorted.last()?;
    for from in 0..sorted.len().saturating_sub(WINDOWS - 1) {
        let part = &sorted[from..];
        let rates: Vec<f64> = part.iter().map(|w| w.rate).collect();
        let chance = 1.0 / (mean(&rates) * WINDOW as f64).max(1.0).sqrt();
        if variation(&rates) > FLAT + chance || still_grows(part) {
            continue;
        }
        // At least two windows with half of the load are needed, so that a single outlier is not enough. Users that
        // pause between requests reach a plateau late: from there on, the response time grows faster than the number of
        // users.
        let by_users = part.iter().filter(|w| RANGE * w.users.max(1.0) <= last.users).count();
        let by_time = part
            .iter()
            .filter(|w| RANGE * w.mean <= last.mean && MORE_USERS * w.users.max(1.0) <= last.users);
        let grows = last.mean >= 0.8 * part[0].mean * last.users / part[0].users.max(1.0);
        if grows && by_users.max(by_time.count()) >= 2 {
            return Some(part.to_vec());
        }
    }
    None
}
