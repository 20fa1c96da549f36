//! The limit behind a load that never changes. Signs of it are early responses from before the queue built up,
//! saturated processors, or a constant number of bytes per second.
//!
//! Without a light load, the mean alone cannot distinguish waiting from work. But the queue has to build up: if users
//! start together, the first responses come from an idle target, and no later responses are as fast. A healthy target
//! sends fast responses throughout.

use record::second::SLOTS;
use record::{Record, Second};
use stats::grouped::{bytes, count, percent};
use stats::hist::Hist;

use super::concurrency;
use super::errors::per_second;
use super::figures::{
    is_one_load, length_s, mean, ms, rate, requests, seconds_in, service, span, steady, sum,
    variation, whole, windows, without,
};
use super::light::missing_light_load;
use super::network::{self, Moving};
use super::one_thread::one_thread;
use super::pace::{self, nothing_or_lacks};
use super::regular::are_regular;
use super::run::Run;
use super::say::{capitalized, found, lacks, time, words};
use super::slows::slows_by_itself;
use crate::shared::shared;
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "constant_load";

/// Smallest number of seconds under the same load, after the seconds in which the queue builds up.
const SECONDS: usize = 6;
/// Smallest number of samples under the same load, after the queue has built up, for a finding.
const SAMPLES: u64 = 100;
/// Time until the queue has built up, as a multiple of the usual response time.
const ROUNDS: f64 = 2.0;
/// Largest number of seconds at the beginning that are left out because the queue builds up.
const BUILDS_UP: usize = 3;
/// Smallest number of windows in which the rate and the medians are compared.
const WINDOWS: usize = 4;
/// Length of a window in seconds; shorter in a short run.
const WINDOW: usize = 5;
/// Largest coefficient of variation of the request rate between windows, beyond chance, at which the rate counts as
/// constant.
const FLAT: f64 = 0.05;
/// Largest coefficient of variation of a label's median times between windows at which responses stay slow.
const FLAT_MEDIAN: f64 = 0.15;
/// Largest variation of the rate if responses depend on each other: on a busy machine the limit itself varies.
const UNSTEADY: f64 = 0.25;
/// Largest share of failures at which the rule applies: failures have other response times than successes.
const FAILED: f64 = 0.05;
/// Smallest share of the response time of all requests that a label must have.
const WEIGHS: f64 = 0.1;
/// Length in ms of the period with a label's first responses.
const FIRST_MS: u32 = 2000;
/// Rank of the response, among the first ones, whose time counts as the time of an idle target; the period must have
/// twice as many responses.
const FIRST: u64 = 3;
/// Largest ratio to the time of an idle target at which a response counts as fast.
const AS_FAST: f64 = 1.5;
/// Largest ratio of two rates of fast responses, after and before the queue has built up, at which fast responses count
/// as gone.
const RARER: f64 = 0.1;
/// Smallest ratio of the usual response time to the time of an idle target, for a finding.
const LONGER: f64 = 2.0;
/// Smallest difference in ms between the usual response time and the time of an idle target, for a finding. In smaller
/// differences, costs of system calls dominate.
const LONGER_MS: f64 = 5.0;
/// Share of all users that must have started for a queue to have its full length.
const FULL: f64 = 0.95;
/// Smallest response time that shows a full queue, as a share of the usual response time.
const BUILT: f64 = 0.6;
/// Time in ms before the queue is full within which a second may begin and still count as a second with a full queue.
const BESIDE_MS: f64 = 50.0;
/// Smallest ratio of the usual response time to the response time of an idle target at which the rule checks for
/// responses of medium length, which a growing queue causes.
const STEEP: f64 = 3.0;
/// Smallest number of responses of medium length, longer than from an idle target and shorter than usual, as a share of
/// the number that a growing queue would cause.
const BETWEEN: f64 = 0.3;
/// Longest time of a response of medium length, as a share of the usual response time.
const NEARLY: f64 = 0.75;
/// Largest ratio of the size of a response to the usual size at which the response comes from different work.
const SMALLER: f64 = 0.5;
/// Number of responses of a limited label that may exceed its usual rate at the beginning, as a multiple of the
/// requests processed at the same time.
const BURST: f64 = 2.0;
/// Number of responses in a second that may exceed the usual number, in standard deviations of chance.
const BY_CHANCE: f64 = 2.0;
/// Smallest share of the response time that passes in waiting for the first byte, where phases are known.
const IN_WAIT: f64 = 0.5;
/// Largest mean time from the first to the last byte of a response, as a share of the time by which responses became
/// slower, at which the slower part counts as a wait.
const BEHIND: f64 = 0.5;
/// Smallest number of bytes per second for a finding about a line that may be full.
const BYTES_LEAST: f64 = 1e5;
/// Shortest time in seconds in which nearly all users start, for a run that counts as a ramp. The advice of this rule
/// recommends `--ramp 30s`, with which 95 % of the users have started after 28.5 s.
const RAMP: usize = 25;

pub(super) fn constant_load(run: &Run<'_>) -> Said {
    let record = run.record();
    if !record.has.users {
        return lacks!(number_of_users);
    }
    // The findings of `rate_limit`, `concurrency_limit`, `plateau` and `bandwidth` describe the same metrics in
    // more detail.
    let more = ["rate_limit", "concurrency_limit", "plateau", "bandwidth"];
    if more.iter().any(|id| run.finds(id)) {
        return Said::Nothing;
    }
    if is_ramped(record) {
        return nothing_or_lacks(record);
    }
    let seconds = with_queue(steady(record));
    if seconds.len() < SECONDS || requests(seconds) < SAMPLES {
        return lacks!(ten_seconds_of_same_load);
    }
    let failed = sum(seconds, |s| s.all.errors) as f64 / requests(seconds) as f64;
    // A rate set by the plan is not a limit of the target.
    let by_plan =
        record.frame.load.open || seconds.iter().any(|s| s.due > 0) || pace::is_planned(record);
    if failed > FAILED || by_plan || !is_flat(seconds, UNSTEADY) {
        return nothing_or_lacks(record);
    }
    let steady = is_flat(seconds, FLAT).then_some(seconds);
    steady
        .and_then(|seconds| full_processors(record, seconds))
        .or_else(|| waiting(record, seconds, steady.is_some()))
        .or_else(|| one_direction(record, steady?))
        .map_or_else(|| nothing_or_lacks(record), Finding::said)
}

/// True if users started one after the other for so long that the run is a ramp, whose growth other rules judge.
fn is_ramped(record: &Record) -> bool {
    let seconds = whole(record);
    let full = FULL * seconds.iter().map(|second| second.users).max().unwrap_or(0) as f64;
    let coming = seconds.iter().take_while(|second| (second.users as f64) < full);
    seconds_in(coming) >= RAMP
}

/// Returns the seconds in which the queue is complete: all except the first ones, in which it builds up.
fn with_queue(seconds: &[Second]) -> &[Second] {
    let builds_up = ROUNDS * ms(&service(seconds), 0.5) / 1000.0;
    let first = (builds_up.ceil() as usize).clamp(1, BUILDS_UP);
    &seconds[seconds.len().min(first)..]
}

/// Returns the length of a window in seconds, so that there are at least four windows.
fn window(seconds: &[Second]) -> usize {
    (seconds.len() / WINDOWS).clamp(1, WINDOW)
}

/// True if the coefficient of variation of the request rate between windows is at most `most` more than chance
/// explains.
fn is_flat(seconds: &[Second], most: f64) -> bool {
    let length = window(seconds);
    let rates: Vec<f64> = windows(seconds, length).iter().map(|w| w.rate).collect();
    let chance = 1.0 / (mean(&rates) * length as f64).max(1.0).sqrt();
    variation(&rates) <= most + chance
}

/// Returns the rate and the users with which a sentence begins: "200/s at 40 users".
fn known(seconds: &[Second]) -> Words {
    let users = mean(&seconds.iter().map(|s| s.users as f64).collect::<Vec<_>>()).round() as u64;
    let (each, n, noun) =
        (per_second(rate(seconds)), count(users), if users == 1 { "user" } else { "users" });
    words!(rate_at_users(each, n, noun))
}

fn finding(record: &Record, seconds: &[Second], said: Words) -> Finding {
    let advice = if missing_light_load(record).is_some() {
        words!(constant_load_advice_without_light_load)
    } else {
        words!(constant_load_advice)
    };
    found(ID, About::Target, Confidence::Statistical, said)
        .with("rate", rate(seconds), "1/s", span(seconds))
        .with("usual", ms(&service(seconds), 0.5), "ms", span(seconds))
        .advise(advice)
}

/// Returns the finding about fully used processors of a watched host while the load does not change.
fn full_processors(record: &Record, seconds: &[Second]) -> Option<Finding> {
    let (host, share) = concurrency::full_host(record)?;
    let load = known(seconds);
    let said = words!(constant_load_with_full_processors(load, host, share));
    Some(finding(record, seconds, said).explaining(&["bimodal"]))
}

/// Times of a label in ms: of an idle target at the beginning, and the usual one.
struct Waits {
    first: f64,
    usual: f64,
    label: usize,
}

/// Returns the finding about responses that became slower when the queue built up, and stayed slow. `is_steady`:
/// the rate hardly varies.
fn waiting(record: &Record, seconds: &[Second], is_steady: bool) -> Option<Finding> {
    let phases = sum(seconds, |s| s.all.phases.wait);
    let all = sum(seconds, |s| s.all.elapsed).max(1);
    if record.has.phases && (phases as f64) < IN_WAIT * all as f64 {
        return None;
    }
    // The time from a response's first byte to its last is not spent in a queue.
    let receive = sum(seconds, |s| s.all.phases.receive) as f64 / requests(seconds) as f64 / 1e6;
    let real = |at: &usize| !record.labels[*at].transaction;
    let mut labels: Vec<usize> = (0..record.labels.len()).filter(real).collect();
    let mut weights = vec![0; record.labels.len()];
    for (label, part) in seconds.iter().flat_map(|second| &second.labels) {
        if let Some(weight) = weights.get_mut(label as usize) {
            *weight += part.elapsed;
        }
    }
    labels.retain(|at| weights[*at] as f64 >= WEIGHS * all as f64);
    labels.sort_by_key(|at| std::cmp::Reverse(weights[*at]));
    let several = (0..record.labels.len()).filter(real).count() > 1;
    let waits = labels.into_iter().find_map(|label| waits(record, seconds, label, is_steady))?;
    if record.has.phases && receive > BEHIND * (waits.usual - waits.first) {
        return None;
    }
    let load = known(seconds);
    let (usual, first) = (time(waits.usual), time(waits.first));
    let of = if several {
        let name = &record.labels[waits.label].name;
        let share = percent(weights[waits.label] as f64 / all as f64);
        words!(most_of_median_of_label(share, name, usual))
    } else {
        words!(most_of_median(usual))
    };
    let cause = one_thread(record)
        .map(|thread| words!(constant_load_cause(cause = thread.clause())))
        .unwrap_or_default();
    let shared = shared(record, seconds);
    // Other programs may have saturated the machine, so the sentence calls it a possible limit, not the cause.
    let full = shared.as_ref().map_or_else(Words::default, |shared| {
        let shared = capitalized(Words { en: shared.words(), zh: shared.words_zh() });
        words!(shared_machine_may_be_limit(shared))
    });
    let said = words!(constant_load_waits(load, of, first, cause, full));
    let finding = finding(record, seconds, said)
        .explaining(&["bimodal", "warmup_unfinished"])
        .with("first", waits.first, "ms", span(seconds))
        .with("waiting", 1.0 - waits.first / waits.usual, "share", span(seconds));
    Some(match shared {
        Some(shared) => finding.with("machine_cpu", shared.machine, "share", span(seconds)),
        None => finding,
    })
}

/// Returns the times of a label's successful samples in the given seconds.
fn good<'s>(seconds: impl IntoIterator<Item = &'s Second>, label: usize) -> Hist {
    let (mut all, mut failed) = (Hist::new(), Hist::new());
    for part in seconds.into_iter().filter_map(|s| s.labels.get(label as u32)) {
        all.add(&part.service);
        failed.add(&part.failed);
    }
    without(&all, &failed)
}

/// True if a label's responses are slow as soon as all users wait: in the first second that begins after nearly all
/// users have started and their first responses have arrived. If a target becomes slower later, its queue is not the
/// reason.
fn builds_up_at_once(seconds: &[Second], usual: f64, label: usize) -> bool {
    let full = FULL * seconds.iter().map(|s| s.users).max().unwrap_or(0) as f64;
    let Some(at) = seconds.iter().position(|s| s.users as f64 >= full) else { return false };
    let rounds_ms = seconds[at].at_ms as f64 + usual;
    let begins = |s: &&Second| (s.at_ms - i64::from(s.ms)) as f64 >= rounds_ms - BESIDE_MS;
    let later = seconds[at..].iter().filter(begins).map(|s| good([s], label));
    later
        .into_iter()
        .find(|hist| hist.total() > 0)
        .is_some_and(|hist| ms(&hist, 0.5) >= BUILT * usual)
}

/// True if responses became slower gradually, as a queue grows. If the first requests of users or the first rows of
/// data are cheap, responses become slower at once. If users start together, the first round of responses is spread
/// evenly up to the usual time.
fn grows(seconds: &[Second], first: f64, usual: f64, label: usize) -> bool {
    let ratio = usual / first.max(1e-3);
    if ratio < STEEP {
        return true;
    }
    let users = seconds.iter().map(|s| s.users).max().unwrap_or(0) as f64;
    let full = seconds.iter().position(|s| s.users as f64 >= FULL * users).unwrap_or(0);
    let rounds_ms = seconds[full].at_ms as f64 + ROUNDS * usual;
    let until = seconds.partition_point(|s| ((s.at_ms - i64::from(s.ms)) as f64) < rounds_ms);
    let between = good(&seconds[..until], label)
        .iter()
        .filter(|(bin, _)| {
            let took = stats::hist::layout::middle_of(*bin) as f64 / 1000.0;
            took > AS_FAST * first && took < NEARLY * usual
        })
        .map(|(_, n)| n)
        .sum::<u64>();
    between as f64 >= (BETWEEN * users * (ratio - 2.0) / ratio).max(FIRST as f64)
}

/// True if many of a label's early responses were smaller than later ones: the early requests were different work.
fn are_smaller(early: &[&Second], seconds: &[Second], label: usize, n: u64) -> bool {
    let bytes = |seconds: &mut dyn Iterator<Item = &Second>| {
        let parts = seconds.filter_map(|s| s.labels.get(label as u32));
        parts.fold((0, 0), |sum, part| (sum.0 + part.received, sum.1 + part.count))
    };
    let (early, all) = (bytes(&mut early.iter().copied()), bytes(&mut seconds.iter()));
    let usual = all.0 as f64 / all.1.max(1) as f64;
    usual * early.1 as f64 - early.0 as f64 >= (1.0 - SMALLER) * usual * n as f64 && usual > 0.0
}

/// Completions of a second, in total and by slots.
type Completed = (u64, [u32; SLOTS]);

/// True if responses never arrived faster than at the usual rate, apart from a burst at the beginning. If they arrived
/// faster at some time, the target did not have this limit at that time.
fn keeps_rate(
    early: &[&Second],
    usual: f64,
    burst: impl Fn(&Second) -> f64,
    completed: impl Fn(&Second) -> Completed,
) -> bool {
    let is_due = |n: u64, ms: f64, burst: f64| {
        let due = usual * ms / 1000.0;
        n as f64 <= (1.0 + FLAT) * due + burst + BY_CHANCE * due.sqrt()
    };
    early.iter().all(|s| {
        let (burst, of_slot, (n, slots)) = (burst(s), 1000.0 / SLOTS as f64, completed(s));
        slots.iter().all(|n| is_due(u64::from(*n), of_slot, burst))
            && is_due(n, f64::from(s.ms), burst)
    })
}

fn waits(record: &Record, seconds: &[Second], label: usize, is_steady: bool) -> Option<Waits> {
    let has = |s: &&Second| s.labels.get(label as u32).is_some_and(|part| part.count > 0);
    let from = record.seconds.iter().position(|s| has(&s))?;
    let until = record.seconds.partition_point(|s| s.at_ms <= seconds[seconds.len() - 1].at_ms);
    // The first responses to another group, or of another run in the same file, are no evidence about this load.
    if !is_one_load(&record.seconds[from..until.max(from)]) {
        return None;
    }
    let mut length = 0;
    let early = record.seconds[from..].iter().take_while(|second| {
        length += second.ms;
        length <= FIRST_MS + FIRST_MS / 4
    });
    let early: Vec<&Second> = early.collect();
    let early_s = early.iter().map(|s| f64::from(s.ms)).sum::<f64>() / 1000.0;
    let usual = good(seconds, label);
    // Responses that depend on each other come from a queue, regardless of how it began and of its order. Requests that
    // a schedule starts get equally regular responses, and a result file does not say whether there was a schedule.
    let is_shared = record.has.load && are_regular(seconds, label as u32);
    let builds_up = || builds_up_at_once(&record.seconds[from..], ms(&usual, 0.5), label);
    if !(is_shared || is_steady && builds_up()) {
        return None;
    }
    let answers = good(early.iter().copied(), label);
    if answers.total() < 2 * FIRST || usual.total() < SAMPLES {
        return None;
    }
    let first = ms(&answers, (FIRST as f64 - 0.5) / answers.total() as f64);
    // The limit applies either to all requests, and then the first burst has one response per user; or only to the
    // label, and then the first burst has the requests that are processed at the same time.
    let of_all =
        keeps_rate(&early, rate(seconds), |s| s.users as f64, |s| (s.all.count, s.all.slots));
    let each = usual.total() as f64 / length_s(seconds).max(1e-3);
    let at_once = BURST * each * first / 1000.0 + 1.0;
    let part = |s: &Second| {
        s.labels.get(label as u32).map_or_else(Default::default, |part| (part.count, part.slots))
    };
    let is_limited = || of_all || keeps_rate(&early, each, |_| at_once, part);
    let enough = rate(seconds) * first / 1000.0;
    if !is_shared && (!is_limited() || slows_by_itself(record, &record.seconds[from..], enough)) {
        return None;
    }
    let other_work = |n: u64| are_smaller(&early, seconds, label, n);
    let early = answers;
    let as_fast = |hist: &Hist| -> u64 {
        let limit = first * AS_FAST * 1000.0;
        let is_fast = |bin: u32| stats::hist::layout::middle_of(bin) as f64 <= limit;
        hist.iter().filter(|(bin, _)| is_fast(*bin)).map(|(_, n)| n).sum()
    };
    let (before, later) =
        (as_fast(&early) as f64 / early_s.max(1e-3), as_fast(&usual) as f64 / length_s(seconds));
    let medians: Vec<f64> = seconds
        .chunks_exact(window(seconds))
        .map(|window| ms(&good(window, label), 0.5))
        .filter(|median| *median > 0.0)
        .collect();
    let middle = ms(&usual, 0.5);
    let longer = middle >= LONGER * first && middle - first >= LONGER_MS;
    let lasts = is_shared || variation(&medians) <= FLAT_MEDIAN;
    let is_rarer = later <= RARER * before;
    let is_queue =
        || grows(&record.seconds[from..], first, middle, label) && !other_work(as_fast(&early));
    // A queue that serves new requests before waiting ones sends fast responses throughout.
    let is_queue = || if is_rarer { is_queue() } else { is_shared };
    (longer && lasts && is_queue()).then_some(Waits { first, usual: middle, label })
}

/// Returns the finding if most of the time is spent in receiving or sending, at a constant number of bytes per second.
fn one_direction(record: &Record, seconds: &[Second]) -> Option<Finding> {
    if !record.has.phases {
        return None;
    }
    let Moving { rate, share, verb } = network::moving(seconds, BYTES_LEAST)?;
    let (load, each, part) = (known(seconds), bytes(rate as u64), percent(share));
    let said = words!(constant_load_on_full_line(load, each, part, verb));
    Some(finding(record, seconds, said).with("bytes_per_s", rate, "bytes/s", span(seconds)).with(
        "moving_share",
        share,
        "share",
        span(seconds),
    ))
}
