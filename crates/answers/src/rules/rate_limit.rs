//! Detects a rate limit: the target refuses requests, or delays them so that responses arrive at a fixed rate.

use record::{Record, Second};
use stats::grouped::{count, percent};

use super::errors::{per_second, reads};
use super::fails_above::{self, Fixed};
use super::figures::{
    Span, by_label, causes, hist, mean, mix_differs, ms, requests, service, span, steady,
    variation, whole, windows,
};
use super::gateway;
use super::light::{is_answered, loaded};
use super::pace::{self, nothing_or_lacks};
use super::places::{Piece, failing_labels, piece};
use super::say::{found, time, words};
use super::short_wait::short_wait;
use super::whose::{are_of_threads, or_threads};
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "rate_limit";

/// Smallest number of refusals for a finding.
const REFUSED: u64 = 10;
/// Smallest share of refusals among all requests for a finding.
const REFUSED_SHARE: f64 = 0.001;
/// Smallest number of adjacent seconds with refusals that determine the rate of accepted requests.
const REFUSING: usize = 5;
/// Number of blocks of seconds with refusals whose rates of accepted requests are compared.
const BLOCKS: usize = 3;
/// Largest relative difference of the rates of accepted requests in blocks of seconds with refusals at which the rate
/// counts as constant.
const ALIKE: f64 = 0.3;
/// Largest variation of the rate of successful responses, between blocks of 10 s, that counts as a fixed rate.
const FIXED: f64 = 0.02;
/// Smallest relative range of the requested rate that shows a fixed rate of responses.
const OFFERED: f64 = 0.3;
/// Largest variation of mean response times over blocks of seconds at which they count as equal.
const EQUAL: f64 = 0.1;
/// Failed share of a label's requests from which the label counts as one without successful responses.
const MOSTLY: f64 = 0.95;
/// Largest ratio of the median time of failed requests to the p90 of the times of all requests at which the failed
/// requests count as refused.
const FASTER: f64 = 0.5;
/// Smallest number of requests for a limit that only the constant rate shows.
const SAMPLES: u64 = 1000;
/// Smallest number of seconds with failures for a limit that only the constant rate shows; number of first seconds that
/// show the light load.
const SECONDS: usize = 30;
/// Length in seconds of a window in which the rate of delayed responses is measured.
const WINDOW: usize = 5;
/// Smallest number of windows in which the rate of delayed responses is measured.
const WINDOWS: usize = 6;
/// Largest coefficient of variation of the rate of delayed responses between windows at which the rate counts as
/// constant.
const FLAT: f64 = 0.05;
/// Smallest number of samples under light load from which the time of a request alone is known.
const ALONE: u64 = 20;
/// Smallest mean number of requests in flight under full load at which requests wait.
const WAITS: f64 = 1.5;
/// Number of workers, computed as the rate times the time of a request alone, below which workers are not the limit:
/// even a single worker could process more requests.
const LESS_THAN_ONE: f64 = 0.7;
/// Header names in responses that identify a rate limiter.
const HEADERS: [&str; 3] = ["retry-after:", "x-ratelimit-", "ratelimit-"];

pub(super) fn rate_limit(record: &Record) -> Said {
    let delayed = || {
        let said = delayed(record).filter(|_| !pace::is_planned(record))?;
        Some(if pace::are_idle(record) { pace::lacks_unpaced(record) } else { said })
    };
    said_by_server(record)
        .or_else(|| constant_answers(record))
        .or_else(delayed)
        .unwrap_or_else(|| nothing_or_lacks(record))
}

/// Returns the rate of successful responses in the seconds with refusals.
fn passed(seconds: &[Second]) -> f64 {
    let good: u64 = seconds.iter().map(|s| s.all.count - s.all.errors.min(s.all.count)).sum();
    good as f64 / super::figures::length_s(seconds).max(1e-3)
}

/// Returns the labels whose requests are refused in the given seconds, and words on them if there are other labels.
/// `None` if requests of several labels fail, some of them for other causes.
fn refused_labels(record: &Record, cause: usize, seconds: &[&Second]) -> Option<(Vec<u32>, Words)> {
    let sums = by_label(record, seconds.iter().copied());
    let refused: Vec<u32> =
        sums.iter().filter(|(_, sum)| sum.1 > 0).map(|(label, _)| *label).collect();
    let mut causes = seconds.iter().flat_map(|second| &second.causes);
    if refused.len() > 1 && causes.any(|(at, n)| *at as usize != cause && *n > 0) {
        return None;
    }
    let of = match &refused[..] {
        _ if refused.len() == sums.len() => Words::default(),
        [label] => {
            let name = &record.labels[*label as usize].name;
            words!(refused_of_label(name))
        }
        _ => words!(refused_of_labels),
    };
    Some((refused, of))
}

/// Returns the rate of successful responses of the refused labels during refusals, and words on these labels. `None` if
/// the time is too short, or if the rate is not constant.
fn let_through(record: &Record, cause: usize) -> Option<(f64, Words)> {
    let seconds = whole(record);
    let refuses = |second: &Second| second.causes.iter().any(|(at, _)| *at as usize == cause);
    let adjacent = |a: &Second, b: &Second| b.at_ms - i64::from(b.ms) <= a.at_ms;
    let times = seconds.chunk_by(|a, b| refuses(a) && refuses(b) && adjacent(a, b));
    // A second next to a second without refusals may itself be partly without refusals.
    let within =
        times.filter(|time| time.len() >= REFUSING).flat_map(|time| &time[1..time.len() - 1]);
    let within: Vec<&Second> = within.collect();
    if within.is_empty() {
        return None;
    }
    let (labels, of) = refused_labels(record, cause, &within)?;
    let good = |seconds: &[&Second]| -> f64 {
        let counts = seconds.iter().flat_map(|second| second.labels.counts());
        let own = counts.filter(|(label, ..)| labels.contains(label));
        let good: u64 = own.map(|(_, all, bad)| all.saturating_sub(bad)).sum();
        let ms: u64 = seconds.iter().map(|second| u64::from(second.ms)).sum();
        good as f64 * 1000.0 / ms.max(1) as f64
    };
    let blocks = within.chunks_exact((within.len() / BLOCKS).max(1));
    let rates: Vec<f64> = blocks.map(good).collect();
    let (least, most) = rates
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
    (most - least <= ALIKE * most).then(|| (good(&within), of))
}

fn advice() -> Words {
    words!(rate_limit_advice)
}

fn said_by_server(record: &Record) -> Option<Said> {
    let seconds = whole(record);
    let named = |cause: usize| {
        let Some(name) = record.causes.get(cause) else { return false };
        let by_header = || {
            record.kept.iter().any(|kept| {
                let head = kept.response.to_ascii_lowercase();
                kept.cause == Some(cause as u32) && HEADERS.iter().any(|words| head.contains(words))
            })
        };
        &*name.code == "429" || &*name.code == "503" && by_header() || gateway::limits(name)
    };
    let (cause, n) = causes(&record.seconds).into_iter().find(|(cause, _)| named(*cause))?;
    let all = requests(&record.seconds);
    if n < REFUSED || (n as f64) < REFUSED_SHARE * all as f64 {
        return None;
    }
    let (through, span) = (let_through(record, cause), span(seconds));
    if !names_a_rate(record, cause) {
        return Some(asks_to_wait(record, cause, n, through));
    }
    let (refused, share, text) = (count(n), percent(n as f64 / all as f64), reads(record, cause));
    let passed = match &through {
        None => Words::default(),
        Some((rate, of)) if *rate > 0.0 => {
            let rate = per_second(*rate);
            words!(let_through_meanwhile(rate, of))
        }
        Some((_, of)) => words!(none_let_through_meanwhile(of)),
    };
    let finding = found(
        ID,
        About::Target,
        Confidence::Certain,
        words!(rate_limit_found(refused, share, text, passed)),
    );
    let finding = with_rate(finding.with("refused", n as f64, "requests", span), through, span);
    Some(
        finding
            .rules_out(words!(rate_limit_not_capacity))
            .advise(advice())
            .explaining(&["errors_named", "plan_fault", "circuit_breaker", "bimodal"])
            .said(),
    )
}

/// Adds the rate of accepted requests to a finding, if the rate is known.
fn with_rate(finding: Finding, through: Option<(f64, Words)>, span: Span) -> Finding {
    match through {
        Some((rate, _)) => finding.with("passed", rate, "1/s", span),
        None => finding,
    }
}

/// Returns true if the server names a rate, and not only a time to wait. If it names only a time, it may be
/// overloaded, or unavailable for a while.
fn names_a_rate(record: &Record, cause: usize) -> bool {
    let Some(name) = record.causes.get(cause) else { return false };
    let of_rate = || {
        record.kept.iter().any(|kept| {
            let head = kept.response.to_ascii_lowercase();
            kept.cause == Some(cause as u32) && head.contains("ratelimit-")
        })
    };
    &*name.code == "429" || gateway::limits(name) || of_rate()
}

fn asks_to_wait(record: &Record, cause: usize, n: u64, through: Option<(f64, Words)>) -> Said {
    let seconds = whole(record);
    let (refused, text) = (count(n), reads(record, cause));
    let share = percent(n as f64 / requests(seconds).max(1) as f64);
    let meanwhile = match &through {
        None => Words::default(),
        Some((rate, of)) if *rate > 0.0 => {
            let rate = per_second(*rate);
            words!(answered_meanwhile(rate, of))
        }
        Some((_, of)) => words!(none_answered_meanwhile(of)),
    };
    let finding = found(
        ID,
        About::Target,
        Confidence::Certain,
        words!(retry_after_found(refused, share, text, meanwhile)),
    );
    with_rate(finding.with("refused", n as f64, "requests", span(seconds)), through, span(seconds))
        .advise(words!(retry_after_advice))
        .explaining(&["errors_named", "plan_fault", "circuit_breaker", "bimodal"])
        .said()
}

/// True if the failing labels also have successful requests. Otherwise failed and successful requests are different
/// requests.
fn fails_and_succeeds(record: &Record, seconds: &[Second]) -> bool {
    let sums = by_label(record, seconds);
    let failed: u64 = sums.values().map(|sum| sum.1).sum();
    let mixed = sums.values().filter(|(good, bad)| (*bad as f64) < MOSTLY * (good + bad) as f64);
    10 * mixed.map(|sum| sum.1).sum::<u64>() >= 9 * failed
}

/// True if the status rules out a rate limiter: the request is invalid, or its user is not allowed to send it.
fn is_of_request(record: &Record, cause: usize) -> bool {
    let code = record.causes.get(cause).and_then(|cause| cause.code.parse::<u16>().ok());
    code.is_some_and(|code| (400..500).contains(&code) && code != 429)
}

/// Returns the finding about responses at a fixed rate, regardless of the requested rate, with refusals faster than
/// responses.
fn constant_answers(record: &Record) -> Option<Said> {
    let seconds = whole(record);
    let failing = seconds.iter().filter(|s| s.all.errors > 0).count();
    if requests(seconds) < SAMPLES || failing < SECONDS {
        return None;
    }
    let blocks: Vec<&[Second]> = seconds.chunks_exact(10).collect();
    // A block in which refusals begin or end mixes two rates.
    let hit: Vec<&[Second]> =
        blocks.into_iter().filter(|b| b.iter().all(|s| s.all.errors > 0)).collect();
    let good: Vec<f64> = hit.iter().map(|block| passed(block)).collect();
    let asked: Vec<f64> = hit.iter().map(|block| super::figures::rate(block)).collect();
    let failed = ms(&hist(seconds, |s| &s.all.failed), 0.5);
    let fast = failed < FASTER * ms(&service(seconds), 0.9);
    let range = asked.iter().copied().fold(0.0, f64::max)
        / asked.iter().copied().fold(f64::MAX, f64::min).max(1e-9);
    let sums = causes(seconds);
    let of_requests = sums.iter().filter(|sum| is_of_request(record, sum.0)).map(|sum| sum.1);
    let is_wrong = 2 * of_requests.sum::<u64>() > sums.iter().map(|sum| sum.1).sum();
    if is_wrong || !fails_and_succeeds(record, seconds) {
        return None;
    }
    if good.len() < 3 || variation(&good) > FIXED || range < 1.0 + OFFERED || !fast {
        return None;
    }
    if are_of_threads(record) {
        return None;
    }
    // A rate limiter refuses requests at once. If failed requests have waited before they failed, the limit is a
    // pool or a queue.
    if short_wait(record).is_some() {
        return None;
    }
    let at_once = fails_above::limit(record);
    if at_once.as_ref().is_some_and(|limit| limit.fixed == Fixed::AtOnce) {
        return None;
    }
    let or = match at_once {
        Some(limit) => (limit.fixed == Fixed::Either).then(|| limit.or()),
        None => at_once_of_equal_times(record, &hit),
    };
    let or = or.unwrap_or_default();
    let else_of = or_threads(record);
    let rate = mean(&good);
    let (through, most) = (per_second(rate), per_second(asked.iter().copied().fold(0.0, f64::max)));
    Some(
        found(
            ID,
            About::Target,
            Confidence::Statistical,
            words!(rate_limit_fixed_rate(through, most, or, else_of)),
        )
        .with("passed", rate, "1/s", span(seconds))
        .with("asked", mean(&asked), "1/s", span(seconds))
        .advise(advice())
        .explaining(&["errors_named", "circuit_breaker"])
        .said(),
    )
}

/// Returns a phrase about a limit of requests at once, which explains a constant rate as well as a rate limit does
/// if responses always take the same time. `None` if their times vary: a limit of requests at once would then
/// change the rate.
fn at_once_of_equal_times(record: &Record, blocks: &[&[Second]]) -> Option<Words> {
    let labels = failing_labels(record, whole(record));
    let pieces: Vec<Piece> = blocks.iter().map(|block| piece(block, &labels)).collect();
    let takes: Vec<f64> = pieces.iter().map(|piece| piece.good / piece.rate.max(1e-3)).collect();
    let k = mean(&pieces.iter().map(|piece| piece.good).collect::<Vec<_>>());
    (variation(&takes) <= EQUAL && k >= LESS_THAN_ONE).then(|| fails_above::or_at_once(k.round()))
}

/// Returns the constant rate, and the time of a request alone in ms, if a single worker could exceed that rate.
fn too_few_for_one(record: &Record) -> Option<(f64, f64)> {
    let seconds = whole(record);
    let busy = loaded(seconds);
    let flat = windows(&busy, WINDOW);
    let rates: Vec<f64> = flat.iter().map(|w| w.rate).collect();
    // In seconds with at most half of the constant rate, hardly any request waits.
    let half = 0.5 * mean(&rates);
    let is_light = |s: &&Second| s.all.count > 0 && (s.all.count as f64) <= half && is_answered(s);
    let light: Vec<&Second> = seconds.iter().filter(is_light).collect();
    let elapsed: u64 = light.iter().map(|s| s.all.elapsed).sum();
    let count: u64 = light.iter().map(|s| s.all.count).sum();
    let flying = mean(&flat.iter().map(|w| w.in_flight).collect::<Vec<_>>());
    let alone = elapsed as f64 / count.max(1) as f64 / 1e9;
    let enough = count >= ALONE && flat.len() >= WINDOWS;
    let waits = flying >= WAITS && variation(&rates) <= FLAT;
    (enough && waits && mean(&rates) * alone < LESS_THAN_ONE)
        .then(|| (mean(&rates), alone * 1000.0))
}

/// Returns the finding about responses at a fixed rate that is lower than the rate that a single worker could reach.
fn delayed(record: &Record) -> Option<Said> {
    let (rate, alone) = too_few_for_one(record)?;
    let seconds = steady(record);
    // The seconds of light load that show the time of a request alone are mostly at the beginning.
    let early = &whole(record)[..whole(record).len().min(SECONDS)];
    let quiet: Vec<Second> =
        early.iter().filter(|s| s.all.count as f64 <= 0.5 * rate).cloned().collect();
    if mix_differs(record, &quiet, seconds) {
        return None;
    }
    let counts: Vec<f64> = seconds.iter().map(|s| s.all.count as f64).collect();
    if requests(seconds) < SAMPLES || seconds.len() < SECONDS || variation(&counts) > OFFERED / 2.0
    {
        return None;
    }
    let (through, by_itself) = (per_second(rate), time(alone));
    let one = per_second(1000.0 / alone);
    Some(
        found(
            ID,
            About::Target,
            Confidence::Arithmetic,
            words!(rate_limit_delays(through, by_itself, one)),
        )
        .with("rate", rate, "1/s", span(seconds))
        .with("alone", alone, "ms", span(whole(record)))
        .rules_out(words!(rate_limit_not_workers))
        .advise(advice())
        .explaining(&["plateau", "warmup_unfinished", "drift"])
        .said(),
    )
}

/// Returns the sentence that a limit of the rate is another explanation of evenly spaced responses.
pub(super) fn or_delayed(rate: &str) -> Words {
    words!(or_rate_limit_delays(rate))
}
