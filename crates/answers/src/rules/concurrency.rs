//! A target that works on a fixed number of requests at once, and a rate that no longer grows.
//!
//! Two ways to the number K. With a light load in the run, or in another one (Little's law): K = C·S₀, the rate at which the
//! run is flat times the time of a request alone. Without one, if completions are sparse: two completions closer together than the
//! shortest service cannot come from the same worker, so of K independent workers pairs within a short slot are fewer
//! than chance gives by 1/K (the superposition of K renewal processes: D. R. Cox and P. A. W. Lewis, "The Statistical
//! Analysis of Series of Events", 1966, chapter 8).

use std::collections::{BTreeMap, BTreeSet};

use record::second::SLOTS;
use record::{Record, Second};
use stats::grouped::{count, percent};
use stats::hist::Hist;

use super::figures::{
    Window, Z, deviation, half_width, in_flight, mean, mix_differs, requests, service, span, sum,
    times_of, variation, whole, windows, with_users,
};
use super::light::{is_answered, loaded, nothing_or_lacks};
use super::run::Run;
use super::say::{found, lacks, number, time, words};
use super::{
    defaults,
    errors::per_second,
    generator,
    one_thread::{OneThread, one_thread},
    rate_limit,
    slows::{lacks_time, slows_by_itself, slows_lightly, slows_under_the_same_load},
    waiting_labels::{alone, growths, of, that_wait, typical},
};
use crate::distribution::student_quantile;
use crate::verdict::{About, Confidence, Finding, Said, Words};

/// Seconds of a window.
const WINDOW: usize = 5;
/// Seconds of the shortest window, of a run with less than 30 s of its load.
const SHORTEST: usize = 2;
/// Requests that a window should hold: of a slow target it is longer, as long as there are enough windows.
const WINDOW_REQUESTS: f64 = 30.0;
/// Requests per second below which answers that come in batches make a window's count vary.
const PER_S_FEW: f64 = 20.0;
/// Windows on the plateau, and their variation at most: 30 s; the rms of report's rule.
const WINDOWS: usize = 6;
const FLAT: f64 = 0.05;
/// Samples alone that say how long a request takes. With fewer, down to the second, the interval must hold one whole number and
/// no other.
const ALONE: u64 = 20;
const ALONE_LEAST: u64 = 10;
/// More requests in flight than K, by this factor, are a plateau: the target is overloaded.
const OVERLOAD: f64 = 1.5;
/// A larger number is no limit that anybody set, and a smaller one is a limiter of the rate.
const MOST: f64 = 10_000.0;
const LEAST: f64 = 0.7;
/// Of an integer at most so far, and known as well, the number is named as that integer.
const NEAR: f64 = 0.1;
/// From a 95 % interval to one of 99 %, in which no other whole number may lie.
const SURE: f64 = 1.31;
/// Share of the workers that a light load keeps busy, at most.
const LIGHT: f64 = 0.8;
/// Time that requests of a light load wait at most, as a share of the time that they are worked on. With more, up to the
/// second, the interval must hold one whole number and no other.
const WAITING: f64 = 0.1;
const WAITING_MOST: f64 = 0.5;
/// Seconds of a ramp between the light load and the full one.
const BETWEEN: usize = 3;
/// Share of the full rate that a light load of several workers has at most: at a rate that stays the same the load did not
/// grow, and longer answers are no queue.
const LIGHT_RATE: f64 = 0.85;
/// Share of the starts of a rate that are missed where the plan, and not the target, sets the rate.
const MISSED: f64 = 0.01;
/// Users more than at first, as a share of the starts, from which on answers do not keep up with them.
const BEHIND: f64 = 0.05;
/// Share of the seconds in which users leave, from which on nobody keeps their number.
const COME_AND_GO: f64 = 0.1;
/// Response time grows with the load by a power of this: 1 where only the queue grows.
const SLOPE: (f64, f64) = (0.9, 1.1);
/// Part of what a mean request waits longer by which the median grows, too, where all requests wait: a few that take long by
/// themselves move the mean alone.
const TYPICAL: f64 = 0.5;
/// Load that varies by this factor shows a plateau without a request alone.
const RANGE: f64 = 2.0;
/// Users grow by this factor at least where the response time shows a plateau.
const MORE_USERS: f64 = 1.25;
/// A host's processors count as full.
const FULL: f64 = 0.9;
/// Completions apart: samples, mean per slot, least time in slots of a request, and how alike two widths must be.
const PAIRS_SAMPLES: u64 = 400;
const PAIRS_SLOTS: f64 = 3.0;
const PAIRS_ALIKE: f64 = 0.65;
/// Workers that pairs can count: beyond, what is missing is too little.
const PAIRS_MOST: f64 = 12.0;

/// A number of workers with its interval.
struct Workers {
    k: f64,
    low: f64,
    high: f64,
    /// Time of a request alone, ms.
    alone: f64,
    /// The rate that does not grow.
    rate: f64,
    in_flight: f64,
    by_pairs: bool,
    /// The target gets slower by itself, and the number is not known.
    slows: bool,
    /// The labels whose requests they work on, where others do not wait.
    labels: Vec<u32>,
}

/// Workers as they read: a whole number with an interval, or the numbers that may be.
struct Shown {
    k: String,
    range: String,
    range_zh: String,
}

impl Workers {
    /// `known`: the number, where it is known. The time of a request alone has the way there and back in it, so that the
    /// interval may lie beside the number.
    fn shown(&self, known: Option<f64>) -> Shown {
        let between =
            |low: f64, high: f64| format!("{}–{}", count(low.max(1.0) as u64), count(high as u64));
        let Some(k) = known else {
            let k = between(self.low.floor(), self.high.ceil());
            return Shown { k, range: String::new(), range_zh: String::new() };
        };
        let (low, high) = (self.low.ceil().min(k), self.high.floor().max(k));
        let (range, range_zh) = if low < high {
            let between = between(low, high);
            (format!(" ({between})"), format!("（{between}）"))
        } else {
            Default::default()
        };
        Shown { k: count(k as u64), range, range_zh }
    }

    /// The whole number that lies in the 99 % interval, if no other does.
    fn only(&self) -> Option<f64> {
        let least = (self.k - SURE * (self.k - self.low)).ceil();
        let most = (self.k + SURE * (self.high - self.k)).floor();
        (least >= 1.0 && least == most).then_some(least)
    }

    /// Whether more are in flight than are worked on, and time has grown as the load did: by itself, and not by failures.
    /// `typical`: how much medians of labels have grown, ms.
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

/// The verdict of a rule where the full load did not last for as long as a plateau needs.
fn lacks_full_load(record: &Record) -> Option<Said> {
    let busy = loaded(whole(record));
    let least = (WINDOWS * SHORTEST).max(if requests(&busy) < PAIRS_SAMPLES { 30 } else { 0 });
    (busy.len() < least && super::light::missing_light_load(record).is_none()).then(few_seconds)
}

fn few_seconds() -> Said {
    lacks!(
        "30 s under the full load behind a light one: run with --ramp 30s --hold 30s",
        "轻负载之后 30 秒的满负载：使用 --ramp 30s --hold 30s 运行"
    )
}

/// The seconds of all the work that the target can do, as long as its rate is flat.
struct Plateau {
    busy: Vec<Second>,
    /// Rates of its windows.
    rates: Vec<f64>,
    in_flight: f64,
}

fn flat(record: &Record) -> Option<Plateau> {
    let busy = loaded(whole(record));
    let per_s = requests(&busy) as f64 / busy.len().max(1) as f64;
    let wanted = (WINDOW_REQUESTS / per_s.max(0.1)).ceil() as usize;
    // Where 30 s are not there, shorter windows that hold enough requests do.
    let least = (busy.len() / WINDOWS).clamp(SHORTEST, WINDOW);
    let length = wanted.min(busy.len() / WINDOWS).max(least);
    let flat = windows(&busy, length);
    if flat.len() < WINDOWS {
        return None;
    }
    let rates: Vec<f64> = flat.iter().map(|w| w.rate).collect();
    let in_flight = mean(&flat.iter().map(|w| w.in_flight).collect::<Vec<_>>());
    // Chance alone moves a window's count by the root of it, and more where answers come in batches.
    let counts: Vec<f64> = busy.iter().map(|s| s.all.count as f64).collect();
    let batches = if per_s < PER_S_FEW { deviation(&counts).powi(2) / mean(&counts) } else { 1.0 };
    let chance = (batches.max(1.0) / (mean(&rates) * length as f64).max(1.0)).sqrt();
    (variation(&rates) <= FLAT + chance).then_some(Plateau { busy, rates, in_flight })
}

fn workers(record: &Record) -> Option<Workers> {
    let plateau = flat(record)?;
    let by_pairs = || by_pairs(&plateau.busy, mean(&plateau.rates), plateau.in_flight);
    by_little(record, &plateau).or_else(by_pairs)
}

/// K = C·S₀, from seconds with so few users that none waits for another.
fn by_little(record: &Record, plateau: &Plateau) -> Option<Workers> {
    if !record.has.users {
        return None;
    }
    let (mut best, mut is_sound) = (None, false);
    for users in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128] {
        // Of the beginning: who is left at the end may have waited behind all the others.
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
        // With no more users than workers no request waits: the time is that of a request alone. Of more users, which pause
        // between their requests, some wait by chance.
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
    // Fewer of them may wait for each other than did beside the others.
    let labels = if found.labels.is_empty() { labels } else { found.labels.clone() };
    Some(Workers { labels, slows: slows || found.slows, ..found })
}

/// K = C·S₀, from the plateau of a run and another one with so light a load that requests do not wait.
fn by_light_run(light: &Record, record: &Record) -> Option<Workers> {
    let seconds = whole(light);
    // Behind what may be a warm-up.
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

/// Whether the plan sets the rate, all of its starts were made, and as many came to their end: then it says nothing of the
/// target.
fn is_planned_rate(record: &Record) -> bool {
    let busy = loaded(whole(record));
    let (due, missed) = (sum(&busy, |s| s.due), sum(&busy, |s| s.missed));
    due > 0 && missed as f64 <= MISSED * due as f64 && grown(&busy) <= BEHIND * due as f64
}

/// The most users beyond those at the begin.
fn grown(seconds: &[Second]) -> f64 {
    let first = seconds.first().map_or(0, |second| second.users);
    let most = seconds.iter().map(|second| second.users).max().unwrap_or(0);
    most.saturating_sub(first) as f64
}

/// A result file does not say which rate was asked for. That of a schedule has users that come and go, or is the same with the
/// fewest users (`is_one_rate`) while as many end as start.
fn lacks_schedule(record: &Record, is_one_rate: bool) -> Option<Said> {
    let seconds = whole(record);
    let keeps_up = || grown(seconds) <= BEHIND * requests(seconds) as f64;
    let is_unknown = !record.has.load && (users_come_and_go(seconds) || is_one_rate && keeps_up());
    is_unknown.then(|| lacks!("the rate that was asked for", "所要求的速率"))
}

/// Whether users leave in many seconds while others come behind them: loops that go on keep theirs.
fn users_come_and_go(seconds: &[Second]) -> bool {
    let users: Vec<u64> = seconds.iter().map(|second| second.users).collect();
    let last = users.windows(2).rposition(|pair| pair[1] > pair[0]).unwrap_or(0);
    let falls = users[..last].windows(2).filter(|pair| pair[1] < pair[0]).count();
    falls as f64 >= COME_AND_GO * users.len() as f64
}

/// Whether so many requests in flight do not wait for each other, where the time that they take gives that number of
/// workers: with more of them than workers, each number would be explained by its own waiting.
fn is_light(flying: f64, k: f64) -> bool {
    flying <= 1.05 || flying <= LIGHT * k
}

/// True if the users rise from a light load to the full one and never fall, and the target never did more than under the
/// full one: then both ask for the same work. Those of groups in series, and of runs in one file, may not.
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

/// Time that requests wait for one of K workers, as a share of the time that they are worked on: Erlang's formula C, of
/// arrivals by chance and times that vary as an exponential distribution. Users that pause arrive more evenly than that.
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

/// K by the time of requests in seconds of light load; `None` where they are too few.
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
    Some(Workers { k, low, high, alone, rate, in_flight, by_pairs, slows, labels })
}

/// Times of requests by the name of their label: numbers of labels differ between records.
fn by_name<'r, 's>(
    record: &'r Record,
    seconds: impl IntoIterator<Item = &'s Second>,
) -> BTreeMap<&'r str, Hist> {
    let is_request = |label: u32| record.labels.get(label as usize).filter(|one| !one.transaction);
    let times = times_of(seconds, |label| is_request(*label).is_some());
    times.into_iter().filter_map(|(label, hist)| Some((&*is_request(label)?.name, hist))).collect()
}

/// The same under the full load.
fn busy_by_name<'r>(record: &'r Record, plateau: &Plateau) -> BTreeMap<&'r str, Hist> {
    let times: BTreeSet<i64> = plateau.busy.iter().map(|second| second.at_ms).collect();
    by_name(record, record.seconds.iter().filter(|s| times.contains(&s.at_ms)))
}

/// The factor of the standard error of so many values in a 95 % interval.
fn student(values: f64) -> f64 {
    student_quantile(0.975, values - 1.0)
}

/// K from pairs of completions within slots of 100 ms and of 200 ms.
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
    // Of few answers the two are less alike by chance: a standard error is allowed.
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
        labels: Vec::new(),
    })
}

pub(super) fn concurrency_limit(run: &Run<'_>) -> Said {
    let record = run.record();
    if requests(whole(record)) < 100 {
        return lacks!("100 requests", "100 个请求");
    }
    if run.finds("rate_limit") || is_planned_rate(record) {
        return Said::Nothing;
    }
    if let Some(lacks) = lacks_schedule(record, false) {
        return lacks;
    }
    workers(record).map_or_else(
        || lacks_full_load(record).unwrap_or_else(|| nothing_or_lacks(record)),
        |found| if found.slows { lacks_time() } else { finding(record, &found).said() },
    )
}

/// The finding on a run by another one with a load so light that requests do not wait, as a search for capacity has one.
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
    let Shown { k, range, range_zh } = w.shown(is_near.then_some(nearest));
    let Words { en: of, zh: of_zh } = of(record, &w.labels);
    let (product, about) = (number(w.k), if is_near { "" } else { "about " });
    let noun = if k == "1" { "request" } else { "requests" };
    let (rate, alone) = (per_second(w.rate), time(w.alone));
    let (rate_small, flying) = (number(w.rate), number(w.in_flight));
    let rate = if w.rate < 10.0 { rate_small } else { rate };
    let words = if w.by_pairs {
        words!(
            "The target works on about {k} {noun}{of} at once{range}. More users only wait longer: {flying} were in flight, and the rate stays at {rate}/s; answers come apart from each other as from {k} workers of {alone} each.",
            "被测系统同时只处理约 {k} 个{of_zh}请求{range_zh}。更多用户只会等待更久：在途 {flying} 个，而速率停在 {rate}/s；响应的间隔如同由 {k} 个工作者、每个耗时 {alone} 给出。"
        )
    } else {
        words!(
            "The target works on about {k} {noun}{of} at once{range}. More users only wait longer: {rate} requests/s × {alone} alone = {product}, while {flying} were in flight.",
            "被测系统同时只处理约 {k} 个{of_zh}请求{range_zh}。更多用户只会等待更久：{rate} 请求/s × 单独 {alone} = {product}，而在途 {flying} 个。"
        )
    };
    let confidence = if w.by_pairs { Confidence::Statistical } else { Confidence::Arithmetic };
    let host = full_host(record);
    let mut finding = found("concurrency_limit", About::Target, confidence, words)
        .between("concurrency", w.k, "requests", Some((w.low, w.high)), span(seconds))
        .with("rate", w.rate, "1/s", span(seconds))
        .with("alone", w.alone, "ms", span(seconds))
        .with("in_flight", w.in_flight, "requests", span(seconds))
        .advise(defaults::beside(
            words!(
                "Look for a limit of {about}{k} that a request holds for all of its time, or a smaller one that it holds for a part of it (the network or another service takes the rest): worker or I/O threads, a pool of connections behind the target, processors, a lock.",
                "查找数值为 {k}、请求全程占用的限制，或数值更小、请求只在部分时间占用的限制（其余时间花在网络或其他服务上）：工作线程或 I/O 线程、后端连接池、处理器数、锁。"
            ),
            if is_near { nearest } else { 0.0 },
        ))
        .explaining(&["plateau", "warmup_unfinished", "drift", "bimodal", "late_starts"]);
    if k == "1" {
        finding.advice = words!(
            "Look for a lock, a single worker, a single thread that never rests (top -H), a single connection behind the target, or a limit of the rate that delays requests to {rate}/s.",
            "查找锁、单个工作者、一直忙碌的单个线程（top -H）、后端的单个连接，或把请求延迟到 {rate}/s 的限流。"
        );
        if let Some(thread) = lone_thread(record) {
            let Words { en, zh } = thread.clause();
            let (first, rest) = en.split_at(1);
            finding.words.en += &format!(" {}{rest}.", first.to_uppercase());
            finding.words.zh += &format!("{zh}。");
            finding = thread.explain(finding);
        }
    }
    if let Some((host, share)) = host {
        finding.advice = words!(
            "The processors of {host} are full ({share}): give it more, or make a request cheaper.",
            "主机 {host} 的处理器已满（{share}）：增加处理器，或降低每个请求的开销。"
        );
    }
    clear(record, finding)
}

/// The thread that uses one processor of a host that has more of them.
fn lone_thread(record: &Record) -> Option<OneThread> {
    one_thread(record).filter(|_| full_host(record).is_none())
}

/// Adds what the figures rule out.
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
        finding = finding.rules_out(words!(
            "opening connections ({share} of the response time)",
            "建立连接（占响应时间 {share}）"
        ));
    }
    finding
}

/// The watched host whose processors are full, if there is one.
pub(super) fn full_host(record: &Record) -> Option<(String, String)> {
    hosts(record).into_iter().find(|host| host.1 >= FULL).map(|(host, cpu)| (host, percent(cpu)))
}

/// Watched hosts and their processors' use on average under the run's load.
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
        return lacks!("the number of users", "用户数");
    }
    // The number says more; a limit of the rate, too.
    if run.finds("concurrency_limit") || run.finds("rate_limit") || is_planned_rate(record) {
        return Said::Nothing;
    }
    let all = windows(whole(record), WINDOW);
    let Some(flat) = flat_part(&all) else {
        return if all.len() < WINDOWS { few_seconds() } else { nothing_or_lacks(record) };
    };
    if let Some(lacks) = lacks_schedule(record, flat.len() == all.len()) {
        return lacks;
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
    let clause = thread.as_ref().map_or_else(|| words!("", ""), OneThread::clause);
    let (alone, alone_zh) = (clause.en, clause.zh);
    let said: Words = match (full_host(record), hosts(record).is_empty()) {
        (Some((host, share)), _) => words!(
            "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}). The processors of {host} are full ({share}).",
            "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}）。主机 {host} 的处理器已满（{share}）。"
        ),
        _ if thread.is_some() => words!(
            "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}), and {alone}.",
            "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}）；{alone_zh}。"
        ),
        (None, false) => words!(
            "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}), and no watched host's processors are full: look at the network, pools and locks.",
            "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}），而被监视的主机处理器都未满：请检查网络、连接池和锁。"
        ),
        (None, true) => words!(
            "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}).",
            "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}）。"
        ),
    };
    let at = (flat[0].at_ms, flat[flat.len() - 1].at_ms);
    let finding = found("plateau", About::Target, Confidence::Statistical, said)
        .between("rate", rate, "1/s", Some((rate - width, rate + width)), at)
        .with("users_from", low, "users", at)
        .with("users_to", high, "users", at)
        .advise(words!(
            "Watch the target's hosts (--watch NAME=URL) to see whose processors are full; begin the run with one user, and the number of requests it works on at once can be told.",
            "监视被测主机（--watch NAME=URL）以查看谁的处理器已满；以一个用户开始运行，就能得出它同时处理的请求数。"
        ))
        .explaining(&["warmup_unfinished", "drift"]);
    let finding = match thread {
        Some(thread) => thread.explain(finding),
        None => finding,
    };
    clear(record, finding).said()
}

/// The verdict where more users ask for other work, or the target gets slower by itself.
fn other_reason(record: &Record, low: f64, high: f64) -> Option<Said> {
    if is_other_work(record, low, high) {
        return Some(nothing_or_lacks(record));
    }
    slows_by_itself(record, whole(record), low / 2.0).then(lacks_time)
}

/// Whether more users ask for other labels than fewer did: their times are not those of the same work.
fn is_other_work(record: &Record, low: f64, high: f64) -> bool {
    let middle = f64::midpoint(low, high);
    let seconds = whole(record).iter().filter(|s| s.users as f64 >= 0.9 * low);
    let (few, many): (Vec<&Second>, Vec<&Second>) =
        seconds.partition(|s| (s.users as f64) < middle);
    mix_differs(record, few, many)
}

/// The windows at the largest loads in which the rate is flat while the users at least double and time follows.
fn flat_part(all: &[Window]) -> Option<Vec<Window>> {
    let mut sorted = all.to_vec();
    sorted.sort_by(|a, b| a.users.total_cmp(&b.users));
    let last = *sorted.last()?;
    for from in 0..sorted.len().saturating_sub(WINDOWS - 1) {
        let part = &sorted[from..];
        let rates: Vec<f64> = part.iter().map(|w| w.rate).collect();
        let chance = 1.0 / (mean(&rates) * WINDOW as f64).max(1.0).sqrt();
        if variation(&rates) > FLAT + chance {
            continue;
        }
        // Two windows at least with half of the load, so that it is no single outlier. Users that pause between their
        // requests reach a plateau late: from there on the time grows faster than their number.
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
