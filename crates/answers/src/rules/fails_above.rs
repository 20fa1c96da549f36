//! Detects errors that begin above some number of requests in flight: a limit that refuses the excess requests (a
//! semaphore, a pool without a queue, a full queue).
//!
//! There are three signs. First, no request fails below that number, and many fail above it. Second, at different
//! loads, the number of successful requests in flight (Little's law) fits an Erlang loss system with K places, which
//! rejects a request when all places are taken. At an offered load of A erlangs, such a system rejects the share
//! B(K, A) (A. K. Erlang, 1917; true for all distributions of the service time). Users that retry immediately make A
//! large, and K is then the number in flight. Third, half of the requests fail at the highest load, or the number of
//! successful requests in flight varies far less than if each request failed by chance. The third sign is needed
//! because errors with a share that grows with the load also fit a loss system while few requests fail. With a rate
//! limit, the limit does not depend on the response time.
//!
//! Under a load that is always above the limit there is only one sign: the number of requests that succeed at the same
//! time is constant. If users failed by chance, that number would vary. If refusals take as long as responses and users
//! do not pause, the number is also constant if one of several instances fails and requests alternate between them. But
//! then the failed share is the same in each second. With 120 users and 100 places, the two cases can be distinguished
//! if times vary, but not if all times are equal.

use record::Record;
use stats::grouped::{count, things};
use stats::hist::{Hist, layout};

use super::figures::{Span, Z, causes, deviation, mean, ms, span, variation, whole};
use super::light::missing_light_load;
use super::places::{LARGEST, MOST, Piece, failing_labels, is_of_limit, piece, times};
use super::run::Run;
use super::say::{found, lacks, words};
use super::whose::{are_of_threads, or_threads};
use super::{defaults, errors::per_second};
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "fails_above";

/// Smallest number of failures that a limit can have caused, for a finding.
const FAILURES: u64 = 100;
/// Failed share of the requests of a time slice from which the slice counts as above the threshold. The time slices are
/// sorted by load; the threshold is the load of the first slice with this failed share.
const FEW: f64 = 0.01;
/// Smallest ratio of the mean load of the time slices with failures to the mean load of the quiet slices, in which
/// hardly any request fails.
const GROWN: f64 = 1.15;
/// Smallest total length in seconds of the quiet time slices, in which hardly any request fails.
const QUIET: usize = 3;
/// Smallest number of samples in the quiet time slices, for a finding.
const QUIET_SAMPLES: u64 = 300;
/// Smallest share of the time slices above the threshold in which requests fail.
const ABOVE: f64 = 0.9;
/// Smallest number of time slices from which the limit is estimated.
const PIECES: usize = 8;
/// Smallest number of failures in a time slice from which the limit is estimated.
const IN_PIECE: u64 = 10;
/// Largest coefficient of variation of the limits that are estimated from single time slices; and largest share
/// by which the number of successful requests in flight may exceed the limit.
const FLAT: f64 = 0.1;
/// Smallest ratio of the largest to the smallest load of the time slices from which the limit is estimated.
const RANGE: f64 = 1.2;
/// Largest relative difference between the limits that are estimated from the time slices with lower load and
/// from those with higher load.
const SAME: f64 = 0.1;
/// Largest distance by which the threshold may lie below the estimated limit, in standard deviations of a Poisson
/// number.
const BELOW: f64 = 4.0;
/// Largest ratio of the threshold to the estimated limit at which the limit explains the threshold.
const BEYOND: f64 = 1.2;
/// Smallest number of requests in flight that counts as a limit.
const LEAST: f64 = 1.5;
/// Range, as a share of their median time, in which nine of ten failures lie if all have the same duration.
const WITHIN: f64 = 0.25;
/// Range in ms in which nine of ten failures lie if all have the same duration; the larger of `WITHIN` and this range
/// counts.
const WITHIN_MS: f64 = 1.5;
/// Share of the usual response time from which failures of one duration may come from a wait.
const WAITS: f64 = 0.3;
/// Largest ratio of the median time of failed requests to the median time of successful requests at which the target
/// refused the failed requests.
const LONGER: f64 = 1.1;
/// Failed share of the requests of a time slice that shows a limit on the number of requests: at twice the load that
/// the limit allows, half of the requests fail.
const HALF: f64 = 0.5;
/// Smallest number of time slices with the failed share `HALF`.
const WITH_HALF: usize = 4;
/// Smallest failed share of two adjacent time slices from which the variance of the number of successful requests is
/// estimated.
const THINNED: f64 = 0.1;
/// Smallest number of pairs of adjacent time slices from which the variance of the number of successful requests is
/// estimated.
const ADJACENT: usize = 20;
/// Largest ratio of the ends of an interval of the limit that counts as narrow.
const NARROW: f64 = 1.3;
/// Smallest number that may be reported as the limit if its interval is not narrow, as a share of the estimate.
const NEAR: f64 = 0.9;
/// Smallest number of time slices under full load, for a finding about a load that is always above the limit.
const ALWAYS: usize = 20;
/// Smallest share of the users that wait for responses at which users count as users without pauses.
const NO_PAUSE: f64 = 0.97;
/// Largest variance of the failures in time slices, relative to the variance of failures by chance, at which requests
/// seem to alternate between instances, one of which fails.
const BY_TURNS: f64 = 0.2;
/// Smallest number of users of a time slice under full load, as a share of the largest number of users.
const TOP: f64 = 0.97;
/// Number of first time slices under full load that are left out, because the number of requests in flight still grows.
const FILLS: usize = 2;
/// Smallest failed share of each time slice under a load that is always above the limit.
const SOME: f64 = 0.02;
/// Largest variance of the number of successful requests in flight, relative to its variance by chance, that shows a
/// limit.
const EVEN: f64 = 0.3;
/// Largest variation of the number of successful requests in flight at which the number counts as constant.
const LEVEL: f64 = 0.05;
/// Smallest number of successful requests in flight in each time slice, as a share of their mean, for a limit that is
/// estimated under a load little above it.
const NEVER_BELOW: f64 = 0.93;
/// Smallest mean number of successful requests in flight while users still arrive, as a share of the mean over all time
/// slices, for a limit that is estimated under a load little above it.
const AT_FIRST: f64 = 0.965;
/// Smallest ratio of all requests in flight to the successful requests in flight, for a limit that is estimated under a
/// load little above it.
const LITTLE: f64 = 1.1;
/// Smallest ratio of the largest number of requests in flight in a quiet time slice to the limit, for a limit that is
/// estimated under a load little above it.
const REACHED: f64 = 0.8;
/// Ratio of the largest to the smallest load below which all loads are little above the limit.
const SMALL: f64 = 1.4;
/// Smallest variation of the number of successful requests in flight at which a failed share that is the same in all
/// time slices rules out a limit, if all loads are little above the limit.
const STEADY: f64 = 0.01;
/// Length of a time slice, as a multiple of the usual response time.
const ANSWERS: f64 = 4.0;
/// Smallest and largest length of a time slice in seconds.
const LENGTH: (f64, f64) = (1.0, 10.0);
/// Relative uncertainty of the estimated limit, because some requests are in flight across the beginning or the end of
/// a time slice.
const EDGE: f64 = 0.02;
/// Smallest failed share of the time slices that show whether the limit is a number of requests in flight or a rate.
const MUCH: f64 = 0.2;
/// Largest correlation of the rate with the response time if the limit is a number of requests in flight: slower
/// responses lower the rate.
const OPPOSED: f64 = -0.5;
/// Smallest correlation of the rate with the response time if the limit is a rate.
const UNRELATED: f64 = -0.25;
/// Smallest ratio of the variation of the response time to the variation of the rate if the limit is a rate.
const STEADIER: f64 = 1.3;

/// The quantity that a limit keeps constant while the load varies: concurrency or rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixed {
    /// The number of requests in flight is constant.
    AtOnce,
    /// The rate of successful responses is constant.
    Rate,
    /// The metrics do not distinguish the two quantities.
    Either,
}

pub(super) struct Limit {
    /// Estimated limit of concurrent requests.
    k: f64,
    /// Lower end of the interval of `k`.
    low: f64,
    /// Upper end of the interval of `k`.
    high: f64,
    /// Successful responses per second under the limit.
    rate: f64,
    pub(super) fixed: Fixed,
    /// Number of requests below the limit, almost none of which failed; 0 if the load was always above it.
    calm: u64,
    /// Number of failed requests above the limit.
    failed: u64,
    /// Number of labels whose requests the limit refuses.
    labels: usize,
    /// Number of users, for a load that is always above the limit.
    users: f64,
}

/// Finds a limit of concurrent requests in a record; `None` if the metrics show none.
pub(super) fn limit(record: &Record) -> Option<Limit> {
    let seconds = whole(record);
    let sums = causes(seconds);
    let ours: u64 = sums.iter().filter(|sum| is_of_limit(record, sum.0)).map(|sum| sum.1).sum();
    let all: u64 = sums.iter().map(|sum| sum.1).sum();
    if ours < FAILURES || (ours as f64) < MOST * all as f64 {
        return None;
    }
    let labels = failing_labels(record, seconds);
    let (good, failed) = times(seconds, &labels);
    // The target refuses a request at once when all places are taken; failures after a wait have another cause.
    let (alone, at_once) = (ms(&good, 0.5), ms(&failed, 0.5));
    if good.total() == 0 || at_once > LONGER * alone || may_be_wait(&failed, alone) {
        return None;
    }
    let length = (ANSWERS * alone / 1000.0).clamp(LENGTH.0, LENGTH.1).ceil() as usize;
    let in_time: Vec<Piece> =
        seconds.chunks_exact(length).map(|seconds| piece(seconds, &labels)).collect();
    // The network time is part of each response time but occupies no place. Failures show its upper bound: none is
    // faster.
    let way = (ms(&failed, 0.05) / mean_ms(&good)).min(0.9);
    let quiet = length * in_time.iter().filter(|piece| piece.lost() < FEW).count();
    let limit = if quiet >= QUIET {
        threshold(&in_time, length)
    } else {
        // Longer time slices show better that a number hardly varies, as long as there are enough of them.
        let longer = (in_time.len().saturating_sub(FILLS) / ALWAYS).max(1) * length;
        let long = seconds.chunks_exact(longer).map(|seconds| piece(seconds, &labels));
        let long: Vec<Piece> = long.collect();
        always(record, &in_time).or_else(|| without_pauses(record, &good, &long))
    }?;
    Some(Limit { low: (limit.low - way * limit.k).max(1.0), labels: labels.len(), ..limit })
}

/// True if all failures take the same time, and that time is a considerable part of a response time.
fn may_be_wait(failed: &Hist, alone: f64) -> bool {
    let (from, middle, to) = (ms(failed, 0.05), ms(failed, 0.5), ms(failed, 0.95));
    middle >= WAITS * alone && to - from <= (WITHIN * middle).max(WITHIN_MS)
}

/// Finds the limit above which failures begin as the load grows.
fn threshold(in_time: &[Piece], length: usize) -> Option<Limit> {
    let mut pieces: Vec<&Piece> = in_time.iter().collect();
    pieces.sort_by(|a, b| a.offered().total_cmp(&b.offered()));
    let first = pieces.iter().position(|piece| piece.lost() >= FEW)?;
    let (below, above) = pieces.split_at(first);
    let calm: u64 = below.iter().map(|piece| piece.count).sum();
    let few: u64 = below.iter().map(|piece| piece.failed).sum();
    let hit = above.iter().filter(|piece| piece.failed > 0).count();
    let telling: Vec<&Piece> =
        above.iter().copied().filter(|piece| piece.failed >= IN_PIECE).collect();
    let is_threshold = hit as f64 >= ABOVE * above.len() as f64 && few as f64 <= FEW * calm as f64;
    if below.len() * length < QUIET
        || calm < QUIET_SAMPLES
        || !is_threshold
        || telling.len() < PIECES
    {
        return None;
    }
    // Under constant load, failures that begin at some moment depend on that moment. So the load must have grown.
    let load = |piece: &Piece| piece.load;
    if mean_of(&telling, load) < GROWN * mean_of(below, load) || may_be_turns(&telling) {
        return None;
    }
    let quiet = below.iter().map(|piece| piece.flying).fold(0.0, f64::max);
    let is_reached = |fit: &Fit| quiet >= REACHED * fit.k;
    let held = fit(&telling).filter(|_| is_held(in_time));
    let Fit { k, half } = held.or_else(|| fit_little(&telling).filter(is_reached))?;
    if in_time.iter().any(|piece| piece.good > (1.0 + FLAT) * k + 1.0) {
        return None;
    }
    let threshold = above[0].flying;
    if threshold < k - BELOW * k.sqrt() || threshold > BEYOND * k + 1.0 {
        return None;
    }
    Some(Limit {
        k,
        low: k - half,
        high: k + half,
        rate: mean_of(&telling, |piece| piece.rate),
        fixed: fixed(in_time),
        calm,
        failed: above.iter().map(|piece| piece.failed).sum(),
        labels: 1,
        users: 0.0,
    })
}

/// True if the number of requests that succeed at the same time is limited, rather than their share. If half of the
/// requests fail, a share of errors that grows with the load does not fit a limit any more. If fewer fail, such errors
/// make the number of successful requests in flight vary by chance. The variance is estimated from the differences
/// between adjacent time slices, because growth of the load hardly affects these differences.
fn is_held(in_time: &[Piece]) -> bool {
    if in_time.iter().filter(|piece| piece.lost() >= HALF).count() >= WITH_HALF {
        return true;
    }
    let is_thinned = |piece: &Piece| piece.lost() >= THINNED && piece.failed >= IN_PIECE;
    let pairs = in_time.windows(2).filter(|pair| pair.iter().all(is_thinned));
    let (mut varies, mut chance, mut n) = (0.0, 0.0, 0);
    for pair in pairs {
        let (a, b) = (&pair[0], &pair[1]);
        varies += (a.good - b.good).powi(2) / 2.0;
        let takes = a.good / a.rate.max(1e-3);
        let by_chance = a.count as f64 * a.lost() * (1.0 - a.lost());
        chance += by_chance * (takes / a.length).powi(2);
        n += 1;
    }
    n >= ADJACENT && varies <= EVEN * chance
}

/// Finds the limit under a load that is always above it: the number of requests that succeed at the same time is
/// constant. If users succeeded by chance, that number would have a binomial variance.
fn always(record: &Record, in_time: &[Piece]) -> Option<Limit> {
    if !record.has.users || in_time.iter().any(|piece| piece.due) {
        return None;
    }
    let users = in_time.iter().map(|piece| piece.load).fold(0.0, f64::max);
    let is_top = |piece: &&Piece| piece.load >= TOP * users;
    let top: Vec<&Piece> = in_time.iter().filter(is_top).skip(FILLS).collect();
    let fails = |piece: &&Piece| piece.failed >= IN_PIECE && piece.lost() >= SOME;
    if top.len() < ALWAYS || !top.iter().all(fails) {
        return None;
    }
    let (good, rates) = (of(&top, |piece| piece.good), of(&top, |piece| piece.rate));
    let places: Vec<f64> = top.iter().filter_map(|piece| piece.places()).collect();
    let (flying, rate, k) = (mean(&good), mean(&rates), mean(&places));
    let takes = flying / rate.max(1e-3);
    // Responses of equal duration are evenly spaced, and few users without a response can only send few requests.
    let idle = (1.0 - flying / users).max(0.0);
    let by_chance = flying * idle.powi(2) * takes / mean_of(&top, |piece| piece.length);
    let is_even = deviation(&good).powi(2) <= EVEN * by_chance
        && variation(&places) <= FLAT
        && variation(&good) < variation(&rates);
    let fixed = fixed(in_time);
    let is_none = !is_even || is_by_turns(&top) || fixed == Fixed::Rate;
    if places.len() < top.len() || is_none || k < LEAST {
        return None;
    }
    let (calm, failed) = (0, top.iter().map(|piece| piece.failed).sum());
    let (low, high) = ((1.0 - EDGE) * flying.min(k), (1.0 + EDGE) * k);
    Some(Limit { k, low, high, rate, fixed, calm, failed, labels: 1, users })
}

/// Finds the limit from consecutive time slices, for users that do not pause and whose refusals take about as long as
/// responses. If requests failed by chance, a user would have no success during several failures in a row. The number
/// of successful requests would then vary like the number of running machines in a set of machines that fail and are
/// repaired (D. R. Cox, Renewal Theory, 1962).
fn without_pauses(record: &Record, good: &Hist, pieces: &[Piece]) -> Option<Limit> {
    if !record.has.users || pieces.iter().any(|piece| piece.due) {
        return None;
    }
    let users = pieces.iter().map(|piece| piece.load).fold(0.0, f64::max);
    let is_top = |piece: &&Piece| piece.load >= TOP * users;
    let top: Vec<&Piece> = pieces.iter().filter(is_top).skip(1).collect();
    let (answered, rates) = (of(&top, |piece| piece.good), of(&top, |piece| piece.rate));
    let (k, rate) = (mean(&answered), mean(&rates));
    let fails = |piece: &&Piece| piece.failed >= IN_PIECE && piece.lost() >= SOME;
    let is_full = mean_of(&top, |piece| piece.flying) >= NO_PAUSE * users;
    // The last part of the ramp may also be missing.
    if top.len() + 2 < ALWAYS || !top.iter().all(fails) || !is_full || k < LEAST {
        return None;
    }
    let failed = top.iter().map(|piece| piece.failed).sum();
    let lost = failed as f64 / top.iter().map(|piece| piece.count).sum::<u64>() as f64;
    let idle = (1.0 - k / users).max(0.0);
    let takes = k / rate.max(1e-3);
    let by_chance = k * idle.powi(2) * takes * (1.0 / lost + varies(good))
        / mean_of(&top, |piece| piece.length);
    let is_even = deviation(&answered).powi(2) <= EVEN * by_chance
        && variation(&answered) <= LEVEL
        && variation(&answered) < variation(&rates);
    let fixed = fixed(pieces);
    if !is_even || is_by_turns(&top) || fixed == Fixed::Rate {
        return None;
    }
    let (low, high) = ((1.0 - EDGE) * k, (1.0 + EDGE) * k);
    Some(Limit { k, low, high, rate, fixed, calm: 0, failed, labels: 1, users })
}

/// True if the failed share is the same in each time slice, as when requests alternate between instances, one of which
/// fails. A share of failures by chance would vary.
fn is_by_turns(pieces: &[&Piece]) -> bool {
    let (count, failed) =
        pieces.iter().fold((0, 0), |sum, piece| (sum.0 + piece.count, sum.1 + piece.failed));
    let (count, lost) = (count as f64, failed as f64 / count.max(1) as f64);
    let beside = |piece: &&Piece| (piece.failed as f64 - lost * piece.count as f64).powi(2);
    let spread: f64 = pieces.iter().map(beside).sum();
    spread < BY_TURNS * lost * (1.0 - lost) * count
}

/// Returns the variance of times relative to the square of their mean.
fn varies(times: &Hist) -> f64 {
    let mean = mean_ms(times).max(1e-6);
    let square = |(bin, n): (u32, u64)| (layout::middle_of(bin) as f64 / 1000.0).powi(2) * n as f64;
    let squares: f64 = times.iter().map(square).sum();
    (squares / times.total().max(1) as f64 / mean.powi(2) - 1.0).max(0.0)
}

fn mean_ms(hist: &Hist) -> f64 {
    let sum: f64 = hist.iter().map(|(bin, n)| layout::middle_of(bin) as f64 * n as f64).sum();
    sum / hist.total().max(1) as f64 / 1000.0
}

struct Fit {
    k: f64,
    half: f64,
}

/// Estimates the number of places from time slices in order of load. Returns `None` if the number is not the same at
/// different loads.
fn fit(telling: &[&Piece]) -> Option<Fit> {
    let places: Vec<f64> = telling.iter().filter_map(|piece| piece.places()).collect();
    let (least, most) = (telling.first()?.offered(), telling.last()?.offered());
    if places.len() < telling.len() || most < RANGE * least {
        return None;
    }
    let middle = (least * most).sqrt();
    let (few, many) = places.split_at(telling.partition_point(|piece| piece.offered() < middle));
    let k = mean(&places);
    // If a fixed share of the requests fails, K grows with the load, but only little within a small range of loads.
    let same = SAME.min((most / least - 1.0) / 4.0);
    let differ = (mean(few) - mean(many)).abs() > same * k;
    if few.len() < 2 || many.len() < 2 || differ || variation(&places) > FLAT {
        return None;
    }
    // The number of requests in flight in a time slice has an error of 2 %: requests cross its beginning and its
    // end.
    let half = (Z * deviation(&places) / (places.len() as f64).sqrt()).max(EDGE * k);
    (LEAST..=LARGEST).contains(&k).then_some(Fit { k, half })
}

/// Estimates the number of places if all loads are only a little above it, so that [`fit`] finds none. Returns `None`
/// unless the number of successful requests in flight is the same in all time slices while more requests are in flight.
fn fit_little(telling: &[&Piece]) -> Option<Fit> {
    let (k, good) = (mean_of(telling, |piece| piece.good), of(telling, |piece| piece.good));
    let flying = mean_of(telling, |piece| piece.flying);
    let users = telling.iter().map(|piece| piece.load).fold(0.0, f64::max);
    let coming: Vec<&Piece> =
        telling.iter().copied().filter(|piece| piece.load < TOP * users).collect();
    let is_level = variation(&good) <= LEVEL
        && good.iter().all(|one| *one >= NEVER_BELOW * k)
        && !coming.is_empty()
        && mean_of(&coming, |piece| piece.good) >= AT_FIRST * k;
    let half = (Z * deviation(&good) / (good.len() as f64).sqrt()).max(EDGE * k);
    let is_limit = is_level && flying >= LITTLE * k && (LEAST..=LARGEST).contains(&k);
    is_limit.then_some(Fit { k, half })
}

/// True if the failures may come from one of several instances, between which requests alternate, and not from a
/// limit: the load is nearly constant, the number of successful requests varies, and the failed share is the same in
/// all time slices under full load.
fn may_be_turns(telling: &[&Piece]) -> bool {
    let (Some(first), Some(last)) = (telling.first(), telling.last()) else { return false };
    let users = telling.iter().map(|piece| piece.load).fold(0.0, f64::max);
    let top: Vec<&Piece> =
        telling.iter().copied().filter(|piece| piece.load >= TOP * users).collect();
    let varies = variation(&of(telling, |piece| piece.good)) > STEADY;
    last.offered() < SMALL * first.offered() && varies && is_by_turns(&top)
}

fn of(pieces: &[&Piece], figure: fn(&Piece) -> f64) -> Vec<f64> {
    pieces.iter().map(|piece| figure(piece)).collect()
}

fn mean_of(pieces: &[&Piece], figure: fn(&Piece) -> f64) -> f64 {
    mean(&of(pieces, figure))
}

/// Determines what the limit keeps constant. With a fixed number of places, there are fewer responses per second when
/// they take longer. A rate limit does not depend on the response time.
fn fixed(in_time: &[Piece]) -> Fixed {
    let full = in_time.iter().filter(|piece| piece.lost() >= MUCH && piece.rate > 0.0);
    let (times, rates): (Vec<f64>, Vec<f64>) =
        full.map(|piece| ((piece.good / piece.rate).ln(), piece.rate.ln())).unzip();
    if times.len() < PIECES {
        return Fixed::Either;
    }
    let (of_times, of_rates) = (deviation(&times), deviation(&rates));
    let (time, rate) = (mean(&times), mean(&rates));
    let both: f64 = times.iter().zip(&rates).map(|(a, b)| (a - time) * (b - rate)).sum();
    let alike = both / (times.len() as f64 - 1.0) / (of_times * of_rates).max(1e-12);
    match () {
        () if alike <= OPPOSED => Fixed::AtOnce,
        () if alike >= UNRELATED && of_times >= STEADIER * of_rates => Fixed::Rate,
        () => Fixed::Either,
    }
}

/// Describes a limit of `k` requests at once as another possible explanation of a constant rate.
pub(super) fn or_at_once(k: f64) -> Words {
    let requests = things(k.max(1.0) as u64, "request");
    let n = count(k.max(1.0) as u64);
    words!(or_limit_of_requests(requests, n))
}

impl Limit {
    /// Returns a number that people would configure: a default within the interval, else a power of two, else the
    /// roundest number. In a wide interval, the number must be near the estimate.
    fn named(&self) -> f64 {
        let low = if self.high <= NARROW * self.low { self.low } else { NEAR * self.k };
        let powers = (1..16).map(|n| f64::from(1_u32 << n));
        let within = |n: &f64| (low..=self.high).contains(n);
        let steps = [1000.0, 500.0, 100.0, 50.0, 10.0, 5.0, 1.0];
        let rounded = steps.map(|step| (f64::midpoint(low, self.high) / step).round() * step);
        defaults::between(low, self.high)
            .map(f64::from)
            .or_else(|| powers.rev().find(within))
            .or_else(|| rounded.into_iter().find(within))
            .unwrap_or_else(|| self.k.round())
    }

    /// Describes the limit as another possible explanation of a constant rate.
    pub(super) fn or(&self) -> Words {
        or_at_once(self.named())
    }

    /// Describes the limit with its interval. `k`: the limit as text.
    fn words(&self, k: &str) -> Words {
        let named = self.named();
        let (low, high) = (self.low.ceil().min(named), self.high.floor().max(named));
        let range = if low < high {
            let (low, high) = (count(low as u64), count(high as u64));
            words!(range_of_limit(low, high))
        } else {
            Words::default()
        };
        let (calm, failed, rate) = (count(self.calm), count(self.failed), per_second(self.rate));
        let of = match self.labels {
            1 => Words::default(),
            n => words!(of_labels_together(n)),
        };
        let or = if self.fixed == Fixed::Either {
            words!(or_limit_of_rate(rate))
        } else {
            Words::default()
        };
        if self.calm == 0 {
            let users = count(self.users.round() as u64);
            return words!(refused_beyond_number(k, of, range, users, failed, or));
        }
        words!(errors_above_number(k, of, range, failed, calm, or))
    }

    fn finding(&self, record: &Record, at: Span) -> Finding {
        let named = self.named();
        let k = count(named as u64);
        let mut said = self.words(&k);
        said.push(&or_threads(record));
        let finding = found(ID, About::Target, Confidence::Statistical, said);
        finding
            .between("limit", self.k, "requests", Some((self.low, self.high)), at)
            .with("rate", self.rate, "1/s", at)
            .with("failed", self.failed as f64, "requests", at)
            .rules_out(words!(errors_above_not_slow_target))
            .advise(defaults::beside(words!(errors_above_advice(k)), named))
            .explaining(&[
                "errors_named",
                "reset_under_load",
                "circuit_breaker",
                "bimodal",
                "plateau",
                "step_change",
            ])
    }
}

pub(super) fn fails_above(run: &Run<'_>) -> Said {
    let record = run.record();
    if !record.knows_errors() {
        return lacks!(success_column);
    }
    if run.finds("rate_limit") || run.finds("target_down") || are_of_threads(record) {
        return Said::Nothing;
    }
    match limit(record).filter(|limit| limit.fixed != Fixed::Rate) {
        Some(limit) => limit.finding(record, span(whole(record))).said(),
        None if causes(whole(record)).iter().any(|sum| is_of_limit(record, sum.0)) => {
            missing_light_load(record).map_or(Said::Nothing, Said::lacks_load)
        }
        None => Said::Nothing,
    }
}
