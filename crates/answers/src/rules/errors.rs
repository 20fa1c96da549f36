//! Rules on errors by their cause, on plans that fail at any load, and on errors caused by the end of the run.

use std::ops::RangeInclusive;

use record::frame::{ENDLESS, Frame, MISSING_INCLUDES};
use record::wordings::System;
use record::{CauseName, Change, Ending, Kept, Mark, Record, Second};
use stats::grouped::{count, percent, rate};
use stats::{Counter, Outcome};

use super::failing_time::{at_intervals, each_fails};
use super::figures::{
    by_label, causes, counter, flying_around, hist, ms, requests, span, stop_ms, sum, with_users,
};
use super::gateway;
use super::hang::{hang, never_answered};
use super::moment::{first_end, first_start};
use super::outlasts::outlasts;
use super::realism::setting;
use super::say::{clock, counted, counted_things, found, lacks, part, same, words};
use super::systems;
use super::whose::{self, Always};
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest share of all errors that must occur after the stop of the run, if the stop is their cause.
const AFTER_STOP: f64 = 0.9;
/// Largest ratio of the failed share of requests before the stop to the failed share after it, if the stop is the cause
/// of the errors.
const BEFORE_STOP: f64 = 0.1;
/// Smallest time in ms from the last error of a cause to the end of the run, for the cause to count as over.
const OVER_MS: i64 = 4000;
/// Smallest time from the last error of a cause to the end of the run, as a share of the run, for the cause to count as
/// over. `OVER_MS` must hold, too.
const OVER: f64 = 0.1;
/// Smallest time in ms from the last error of a cause to the end of the run, for the cause to count as over if `USUAL`
/// errors would have occurred in this time at the earlier rate.
const SOON_OVER_MS: i64 = 1500;
/// Number of errors expected after the last error of a cause from which the shorter time `SOON_OVER_MS` is enough for
/// the cause to count as over.
const USUAL: f64 = 10.0;
/// Shortest time in ms that a request has waited since the stop, for a finding.
const LONG_WAIT_MS: f64 = 2000.0;
/// Smallest ratio of the time that a request has waited since the stop to the longest request of the run, for a
/// finding.
const LONGER: f64 = 3.0;
/// Longest duration in ms of an event: failures within a short time.
const EVENT_MS: i64 = 2000;
/// Shortest run in ms that can have an event.
const EVENT_OF_MS: i64 = 10_000;
/// Smallest number of failures within a short time that count as an event.
const EVENT: u64 = 5;
/// Smallest share of seconds with failures for a sentence about one period ("from 0:20 until 0:41"); below it, the
/// sentence counts the seconds.
const MOSTLY: f64 = 0.7;
/// Longest period of failures in ms for which the sentence says when it began, but not when it ended.
const WITHIN_MS: i64 = 1000;
/// Longest time in ms from the beginning of the first second to the first failure, for errors that began with the run.
const FIRST_MS: i64 = 200;
/// Longest period of failures in ms that may be a restart of the target.
const SHORT_MS: i64 = 10_000;

/// Formats the error with the number `cause` as [`words_of`] does; empty if there is no cause with this number.
pub(super) fn reads(record: &Record, cause: usize) -> String {
    record.causes.get(cause).map_or_else(String::new, words_of)
}

/// Formats an error as code and message on one line, truncated to 120 characters. JMeter's prefixes for errors outside
/// of HTTP are removed.
pub fn words_of(cause: &CauseName) -> String {
    const MOST: usize = 120;
    let code = cause.code.strip_prefix("Non HTTP response code: ");
    let code = code.map_or(&*cause.code, |class| class.rsplit('.').next().unwrap_or(class));
    let message = cause.message.strip_prefix("Non HTTP response message: ");
    let parts = [code, message.unwrap_or(&cause.message)];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join(": ").replace(['\r', '\n'], " ");
    let Some((end, _)) = text.char_indices().nth(MOST) else { return text };
    // An address that is cut in half would be a different address.
    let end = text[..end].rfind(' ').filter(|at| 2 * at > end).unwrap_or(end);
    format!("{} …", &text[..end])
}

/// Returns the description of an error even if the error has neither code nor message.
fn reads_or_lacks(record: &Record, cause: usize) -> Words {
    let text = reads(record, cause);
    if text.trim().is_empty() {
        return words!(without_code_or_message);
    }
    same(text)
}

/// Returns a description of the load in the given seconds: the users or, if they are unknown, the requests in
/// flight.
fn load_in(record: &Record, at: RangeInclusive<usize>) -> Words {
    let range = |least: String, most: String| {
        if least == most { same(least) } else { words!(range_of_load(least, most)) }
    };
    if !record.has.users {
        let flying = at.map(|at| flying_around(&record.seconds, at));
        let (least, most) = flying.fold((f64::MAX, 0.0), |(a, b), n| (n.min(a), n.max(b)));
        let n = range(counted(least), counted(most));
        return words!(with_requests_in_flight(n));
    }
    let users = with_users(&record.seconds).map(|(users, _)| users);
    // A user may start and end within one second.
    let users = users.skip(*at.start()).take(at.count()).filter(|users| *users > 0);
    let (least, most) = users.fold((u64::MAX, 0), |(a, b), n| (n.min(a), n.max(b)));
    let n = range(count(least), count(most));
    match most {
        0 => Words::default(),
        1 => words!(with_one_user),
        _ => words!(with_users(n)),
    }
}

/// True if a cause of errors ended long before the run did. `n`: number of errors of the cause; `at`, `last`: indexes
/// of the first and the last second with such errors.
fn is_over(seconds: &[Second], at: usize, last: usize, n: u64) -> bool {
    let (begins, ends) = span(seconds);
    let answers = |second: &Second| second.all.count > second.all.errors;
    let (during, rest) = seconds.split_at(last + 1);
    let rest_ms = ends - seconds[last].at_ms;
    let is_long = rest_ms >= OVER_MS && rest_ms as f64 >= OVER * (ends - begins) as f64;
    let failing = n as f64 / requests(&during[at..]).max(1) as f64;
    let is_missed = rest_ms >= SOON_OVER_MS && failing * requests(rest) as f64 >= USUAL;
    (is_long || is_missed) && rest.iter().any(answers)
}

/// Time of the last error of a cause, in epoch ms. If it is not exact, it is the end of a second or of an interval.
struct Until {
    at_ms: i64,
    is_exact: bool,
}

impl Until {
    /// Returns the end of the last request that failed with the given cause, if all `n` failed requests were kept.
    /// Otherwise returns the end of its second, or of its interval in a long run.
    fn of(record: &Record, cause: usize, n: u64, last: &Second) -> Self {
        let kept = || record.kept.iter().filter(move |kept| kept.cause == Some(cause as u32));
        let end = |kept: &Kept| kept.start_ms + (kept.elapsed / 1_000_000) as i64;
        match kept().map(end).max() {
            Some(at_ms) if kept().count() as u64 == n => Self { at_ms, is_exact: true },
            _ => Self { at_ms: last.at_ms, is_exact: false },
        }
    }
}

/// Returns a phrase about the time in which a cause occurred: from the start of the first failed request, and until
/// the last error (`to`) if the cause is over. `failing` of `all` seconds in this time have failures.
fn times_of(record: &Record, from_ms: i64, to: Option<Until>, failing: usize, all: usize) -> Words {
    let shown = |ms: i64| clock(ms - record.frame.start_ms);
    let from = shown(from_ms);
    let is_coarse = record.step_ms().is_some() && to.as_ref().is_some_and(|to| !to.is_exact);
    match to.map(|to| to.at_ms) {
        Some(to_ms) if to_ms - from_ms <= WITHIN_MS => {
            words!(when_for_less_than_a_second(from))
        }
        Some(to_ms) if to_ms - from_ms <= EVENT_MS => {
            words!(when_for_less_than_two_seconds(from))
        }
        Some(to_ms) if is_coarse => {
            let to = shown(to_ms);
            words!(when_until_at_the_latest(from, to))
        }
        Some(to_ms) if record.step_ms().is_none() && (failing as f64) < MOSTLY * all as f64 => {
            let to = shown(to_ms);
            words!(when_in_seconds_between(failing, all, from, to))
        }
        Some(to_ms) => {
            let to = shown(to_ms);
            words!(when_until(from, to))
        }
        None => words!(when_since(from)),
    }
}

/// Returns a phrase about errors that all lie within a second or two of a run that succeeded before and after them.
fn as_event(seconds: &[Second]) -> Option<Words> {
    let failing = |second: &Second| second.all.errors > 0;
    let good = |seconds: &[Second]| seconds.iter().any(|s| s.all.count > s.all.errors);
    let first = seconds.iter().position(failing)?;
    let last = seconds.iter().rposition(failing)?;
    let during = &seconds[first..=last];
    let (from, to) = span(during);
    let (begin, end) = span(seconds);
    let errors = sum(during, |s| s.all.errors);
    let is_event = to - from <= EVENT_MS && end - begin >= EVENT_OF_MS && errors >= EVENT;
    if !is_event || !good(&seconds[..first]) || !good(&seconds[last + 1..]) {
        return None;
    }
    let length = stats::grouped::things(during.len() as u64, "second");
    let n = count(during.len() as u64);
    let share = percent(errors as f64 / requests(during).max(1) as f64);
    Some(words!(errors_within_event(length, share, n)))
}

/// Returns the only label with errors and the number of its requests, if there are several labels and a single one has
/// all errors.
fn only_label(record: &Record, errors: u64) -> Option<(u32, u64)> {
    let sums = by_label(record, &record.seconds);
    let mut failing = sums.iter().filter(|(_, (_, bad))| *bad > 0);
    let (label, (good, bad)) = failing.next()?;
    let is_only = sums.len() > 1 && failing.next().is_none() && *bad == errors;
    is_only.then_some((*label, good + bad))
}

/// Returns a phrase about the share of failed requests, and about the label if a single label has all failures.
fn share_of(record: &Record, errors: u64, all: u64) -> Words {
    let share = percent(errors as f64 / all as f64);
    let Some((label, requests)) = only_label(record, errors) else {
        return words!(share_of_errors(share));
    };
    let label = record.labels.get(label as usize).map_or("", |label| &*label.name);
    let own = percent(errors as f64 / requests.max(1) as f64);
    words!(errors_of_only_label(label, own, share))
}

/// Time in ms by which a run must end before its planned end to count as ended early by an error.
pub const EARLIER_MS: i64 = 1500;

/// Share of users ended by errors above which a part of the load is missing.
pub const MOST_ENDED: f64 = 0.1;

/// Load that is missing because errors ended users, or the run.
pub enum Cut {
    /// The whole run: its actual end, and its planned end, in ms from its start.
    Run { at_ms: i64, of_ms: Option<i64> },
    /// Number of users that errors ended, of all users that started.
    Users { ended: u64, of: u64 },
}

/// Returns the users, or the run, that the plan's action on errors ended before the planned end.
pub fn cut_by_errors(record: &Record) -> Option<Cut> {
    let of_ms = record.frame.load.length_ms;
    // At the planned end, an error ends nothing.
    let is_early = |at_ms: i64| of_ms.is_none_or(|of_ms| at_ms + EARLIER_MS <= of_ms);
    let seconds = &record.seconds;
    if counter(seconds, Counter::RunStoppedByError) > 0 {
        let at_ms = stop_ms(record).unwrap_or_else(|| span(seconds).1) - record.frame.start_ms;
        return is_early(at_ms).then_some(Cut::Run { at_ms, of_ms });
    }
    let early = seconds.iter().filter(|second| is_early(second.at_ms - record.frame.start_ms));
    let ended = early.map(|second| second.counters.get(Counter::UsersStoppedByError)).sum();
    let of = seconds.iter().map(|s| s.started).max().unwrap_or(0);
    (ended > 0 && ended <= of).then_some(Cut::Users { ended, of })
}

impl Cut {
    /// True if work was left. Without a planned length, users that an error stopped may have had nothing more to do.
    /// Work was left if one of them had a further sampler, if users had not started, or if samples were cut.
    pub fn left_work(&self, record: &Record) -> bool {
        let (load, seconds) = (&record.frame.load, &record.seconds);
        if load.length_ms.is_some() || setting(record, ENDLESS).is_some() {
            return true;
        }
        let started = seconds.iter().map(|second| second.started).max().unwrap_or(0);
        let stopped = counter(seconds, Counter::RunStoppedByError) > 0;
        let of_run = || started < load.users || seconds.iter().any(|s| s.all.cut > 0);
        counter(seconds, Counter::SamplersNotBegun) > 0 || stopped && of_run()
    }

    /// Describes the missing load in a sentence.
    pub fn words(&self) -> Words {
        match *self {
            Self::Run { at_ms, of_ms } => {
                let (at, of) = (clock(at_ms), of_ms.map(clock));
                let of = of.map_or_else(Default::default, |of| words!(of_planned_time(of)));
                words!(run_stopped_after_error(at, of))
            }
            Self::Users { ended, of } => {
                let noun = if of == 1 { "user" } else { "users" };
                let verb = if ended == 1 { "was" } else { "were" };
                let (n, of) = (count(ended), count(of));
                words!(users_stopped_after_error(n, of, noun, verb))
            }
        }
    }
}

/// Returns the reason why the samples of a run do not represent its whole load: errors ended too much of it, or the
/// plan ran without a file that it includes. A sentence without its full stop.
pub fn cut_short(record: &Record) -> Option<Words> {
    cut_short_by_errors(record).or_else(|| without_includes(&record.frame))
}

/// Returns a sentence, without its full stop, on the files that the plan includes and without which it ran.
pub fn without_includes(frame: &Frame) -> Option<Words> {
    let (_, files) = frame.settings.iter().find(|setting| setting.0 == MISSING_INCLUDES)?;
    let (first, more) = files.split_once('\n').unwrap_or((files, ""));
    let more = more.lines().count() as u64;
    let more = match more {
        0 => Words::default(),
        n => words!(and_other_files(files = counted_things(n, "other file"))),
    };
    Some(words!(include_missing(first, more)))
}

/// Returns the reason why errors ended so much of a run that its samples do not represent the whole load: a
/// sentence without its full stop.
pub fn cut_short_by_errors(record: &Record) -> Option<Words> {
    let cut = cut_by_errors(record).filter(|cut| cut.left_work(record))?;
    // In an open load, another user replaces each user that ends.
    let counts = match cut {
        Cut::Run { .. } => true,
        Cut::Users { ended, of } => {
            !record.frame.load.open && ended as f64 > MOST_ENDED * of as f64
        }
    };
    counts.then(|| part(&cut.words()))
}

/// Returns a phrase about users, or about the whole run, that the plan ended after an error.
fn ended_by_plan(record: &Record) -> Words {
    let of = |cut: Cut| words!(next_sentence(sentence = cut.words()));
    cut_by_errors(record).map(of).unwrap_or_default()
}

/// Returns the beginning of the sentence about the most frequent cause, and the number of other causes as a
/// description.
fn other_causes(more: usize) -> (Words, Words) {
    let first = || words!(most_frequent_cause);
    match more {
        0 => (words!(only_cause), Words::default()),
        1 => (first(), words!(one_other_cause)),
        more => (first(), words!(other_causes(more))),
    }
}

/// Returns the moment of a first failure, ms since 1970: its end if the request failed soon, its start if it waited.
fn moment_of(start_ms: i64, end_ms: i64) -> i64 {
    if end_ms - start_ms < WITHIN_MS { end_ms } else { start_ms }
}

/// Returns the sentence about the threads that have all failures; empty if there are no such threads.
fn whose_words(threads: Option<&Always>) -> Words {
    let of = |threads: &Always| words!(next_sentence(sentence = threads.words()));
    threads.map(of).unwrap_or_default()
}

/// Returns the time in ms since 1970 at which the earliest kept failure of a cause began.
fn begin(record: &Record, cause: u32) -> i64 {
    // A longer wait may end after the first failure, but begin before it. A broken connection fails at its end.
    let moment = |kept: &Kept| {
        let end_ms = kept.start_ms + (kept.elapsed / 1_000_000) as i64;
        match kept.outcome {
            Outcome::Reset | Outcome::Closed | Outcome::Refused => end_ms,
            _ => moment_of(kept.start_ms, end_ms),
        }
    };
    let kept = record.kept.iter().filter(|kept| kept.cause == Some(cause));
    kept.map(moment).min().unwrap_or(i64::MAX)
}

pub(super) fn errors_named(record: &Record) -> Said {
    let seconds = &record.seconds;
    let errors = sum(seconds, |s| s.all.errors);
    let all = requests(seconds);
    if all == 0 {
        return lacks!(any_requests);
    }
    if !record.knows_errors() {
        return lacks!(success_column);
    }
    let causes = causes(seconds);
    let Some((most, n)) = causes.first().copied().filter(|_| errors > 0) else {
        return Said::Nothing;
    };
    let has = |s: &Second| s.causes.iter().any(|(cause, _)| *cause as usize == most);
    let at = seconds.iter().position(has).unwrap_or(0);
    let of_cause = |kept: &Kept| kept.cause == Some(most as u32);
    let first_ms = first_end(record, at, of_cause);
    let start_ms = first_start(record, at, of_cause).min(first_ms);
    let from_ms = begin(record, most as u32).min(moment_of(start_ms, first_ms));
    let last = seconds.iter().rposition(has).unwrap_or(at);
    let event = as_event(seconds);
    let to = (event.is_some() || is_over(seconds, at, last, n)).then(|| &seconds[last]);
    let within = event.unwrap_or_default();
    let failing = seconds[at..=last].iter().filter(|second| has(second)).count();
    let until = to.map(|second| Until::of(record, most, n, second));
    let when = at_intervals(record, most, from_ms)
        .unwrap_or_else(|| times_of(record, from_ms, until, failing, last + 1 - at));
    let end = if to.is_some() { last } else { seconds.len() - 1 };
    let each =
        each_fails(record, &seconds[at..=end], only_label(record, errors), from_ms, to.is_some());
    let load = load_in(record, at..=if to.is_some() { last } else { at });
    let text = reads_or_lacks(record, most);
    let of = share_of(record, errors, all);
    let (total, those) = (counted_things(errors, "request"), count(n));
    let (the, more) = other_causes(causes.len() - 1);
    let times = if n == 1 { "once".into() } else { format!("{those} times") };
    let cause = record.causes.get(most);
    let time = when_failing(seconds, at, start_ms, to);
    let (span, ended) = (span(seconds), ended_by_plan(record));
    let threads = whose::always(record);
    let whose = whose_words(threads.as_ref());
    let advice = || if threads.is_some() { Always::advice() } else { advice(record, most, time) };
    found(
        "errors_named",
        About::Run,
        Confidence::Certain,
        words!(errors_found(
            total, of, within, each, the, times, text, when, load, more, ended, whose, those
        )),
    )
    .with("errors", errors as f64, "requests", span)
    .with("error_share", errors as f64 / all as f64, "share", span)
    .with("first_error", first_ms as f64, "epoch ms", (first_ms, first_ms))
    .advise(cause.and_then(gateway::advice).unwrap_or_else(advice))
    .said()
}

/// The part of a run in which a cause occurred.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// A short period, with successful responses before and after it.
    Between,
    /// From the start of the run, with no successful response before its end and many after it.
    AtFirst,
    Other,
}

/// Returns the part of the run in which a cause occurred. `at`, `from_ms`: the first second of the cause, and the start
/// of its first failed request; `to`: the last second of the cause, if it is over.
fn when_failing(seconds: &[Second], at: usize, from_ms: i64, to: Option<&Second>) -> When {
    let Some(to) = to else { return When::Other };
    let good = |second: &Second| second.all.count > second.all.errors;
    let begins_ms = seconds[at].at_ms - i64::from(seconds[at].ms);
    let is_first = seconds.iter().position(|second| second.all.count > 0) == Some(at);
    let within = seconds.iter().take_while(|second| second.at_ms < to.at_ms);
    if is_first && from_ms - begins_ms <= FIRST_MS && !within.skip(at).any(good) {
        return When::AtFirst;
    }
    let is_good_before = seconds[..=at].iter().any(good);
    if is_good_before && to.at_ms - begins_ms <= SHORT_MS { When::Between } else { When::Other }
}

/// Returns the advice about an error: where to look first, depending on the kind of error and the part of the run.
fn advice(record: &Record, cause: usize, time: When) -> Words {
    let cause = record.causes.get(cause);
    let text = cause.map_or("", |cause| &cause.message);
    let system = System::of(text).or_else(|| systems::system(record));
    match cause.map_or("", |cause| cause.outcome.as_str()) {
        "refused" if time == When::AtFirst => words!(refused_at_start_advice),
        "refused" if time == When::Between => words!(refused_for_a_time_advice),
        "refused" => words!(refused_advice),
        "reset" | "closed" => systems::resets(system, text),
        "timeout (connect)" => systems::connect_timeouts(system),
        "dns" => words!(host_name_advice),
        "tls" => words!(tls_error_advice),
        "unreachable" => words!(route_advice),
        "assertion" => {
            let samples = samples(record);
            words!(unexpected_answer_advice(samples))
        }
        _ => {
            let samples = samples(record);
            words!(other_error_advice(samples))
        }
    }
}

/// Returns the phrase for the samples that show a failure. A run keeps some complete samples; a result file has a row
/// for each sample.
pub(super) fn samples(record: &Record) -> Words {
    if record.has.generator { words!(kept_samples) } else { words!(failed_rows) }
}

/// Returns true for errors with which a server sheds load. They are not faults of the plan.
pub(super) fn sheds(cause: &CauseName) -> bool {
    matches!(&*cause.code, "429" | "503" | "504") || gateway::limits(cause)
}

/// Returns a sentence about samples that were cut off at the end of the run, in addition to the samples that failed
/// there.
fn beside(cut: u64) -> Words {
    let n = count(cut);
    match cut {
        0 => Words::default(),
        1 => words!(one_more_sample_cut_off(n)),
        _ => words!(more_samples_cut_off(n)),
    }
}

/// Returns the time from which errors may come from a stop of the run. A run that ends by itself lets its samples
/// finish.
fn cut_from(record: &Record) -> Option<i64> {
    let at_once = |mark: &&Mark| matches!(mark.change, Change::Stop { at_once: true });
    let by_hand = matches!(record.frame.ending, Ending::Interrupted | Ending::Aborted(_));
    let cut = record.marks.iter().find(at_once).map(|mark| mark.at_ms);
    cut.or_else(|| stop_ms(record).filter(|_| by_hand))
}

/// True for errors that a stop can cause: broken connections, and connections that the client itself closed.
fn by_a_stop(cause: &CauseName) -> bool {
    matches!(cause.outcome, Outcome::Reset | Outcome::Closed) || closed_here(cause)
}

fn closed_here(cause: &CauseName) -> bool {
    cause.outcome != Outcome::Ok && record::wordings::closed_here(&cause.message)
}

/// Returns the errors that the end of the run caused: their number, their start, and true if a mark of the run shows
/// the stop.
fn errors_of_end(record: &Record) -> Option<(u64, i64, bool)> {
    let seconds = &record.seconds;
    let end_ms = span(seconds).1;
    let stop = cut_from(record);
    let of = |second: &Second, kind: fn(&CauseName) -> bool| -> u64 {
        let is = |cause: u32| record.causes.get(cause as usize).is_some_and(kind);
        second.causes.iter().filter(|(cause, _)| is(*cause)).map(|(_, n)| n).sum()
    };
    let kind = if stop.is_some() { by_a_stop } else { closed_here };
    // A result file shows a stop only by connections that the client closed itself.
    let first = seconds.iter().find(|second| of(second, kind) > 0)?.at_ms;
    let from = stop.unwrap_or(first - 1);
    let (before, after): (Vec<&Second>, Vec<&Second>) =
        seconds.iter().partition(|second| second.at_ms <= from);
    let late: u64 = after.iter().map(|second| of(second, kind)).sum();
    let errors = sum(seconds, |s| s.all.errors);
    let failing = |seconds: &[&Second]| {
        let all: u64 = seconds.iter().map(|s| s.all.count).sum();
        seconds.iter().map(|s| s.all.errors).sum::<u64>() as f64 / all.max(1) as f64
    };
    let good_before = before.iter().any(|s| s.all.count > s.all.errors);
    let is_end = late > 0
        && late as f64 >= AFTER_STOP * errors as f64
        && good_before
        && failing(&before) <= BEFORE_STOP * failing(&after)
        && (stop.is_some() || end_ms - first < 2000);
    is_end.then_some((late, from, stop.is_some()))
}

pub(super) fn cut_by_end(record: &Record) -> Said {
    if !record.knows_errors() {
        return lacks!(success_column);
    }
    let seconds = &record.seconds;
    let cut = sum(seconds, |s| s.all.cut);
    let errors = sum(seconds, |s| s.all.errors);
    if let Some((late, from, is_known)) = errors_of_end(record) {
        let more = beside(cut);
        let (late_words, all_errors, span) = (count(late), count(errors), (from, span(seconds).1));
        let were = if errors == 1 { "error was" } else { "errors were" };
        return found(
            "cut_by_end",
            About::Run,
            if is_known { Confidence::Arithmetic } else { Confidence::Statistical },
            words!(errors_by_end_found(late_words, all_errors, were, more)),
        )
        .with("errors_at_end", late as f64, "requests", span)
        .with("cut", cut as f64, "samples", span)
        .rules_out(words!(errors_by_end_not_load))
        .advise(words!(errors_by_end_advice))
        .explaining(&["errors_named", "reset_under_load", "step_change"])
        .said();
    }
    in_flight_at_end(record, cut)
}

/// Returns the finding about requests in flight at the end of the run.
fn in_flight_at_end(record: &Record, cut: u64) -> Said {
    // The rule target_down reports requests without a response until the end.
    if hang(record).is_some() || never_answered(record).is_some() {
        return Said::Nothing;
    }
    if cut == 0 {
        return outlasts(record).unwrap_or(Said::Nothing);
    }
    if let Some(said) = waits_long(record, cut) {
        return said;
    }
    let seconds = &record.seconds;
    let typical = super::say::time(ms(&hist(seconds, |s| &s.all.service), 0.5));
    let requests = match cut {
        1 => words!(one_request_in_flight_at_end),
        _ => {
            let n = count(cut);
            words!(requests_in_flight_at_end(n))
        }
    };
    found("cut_by_end", About::Run, Confidence::Hint, words!(cut_requests_found(requests, typical)))
        .with("cut", cut as f64, "samples", span(seconds))
        .advise(words!(cut_requests_advice))
        .said()
}

/// Returns the finding about requests that waited unusually long after the stop.
fn waits_long(record: &Record, cut: u64) -> Option<Said> {
    let seconds = &record.seconds;
    let times @ (_, end_ms) = span(seconds);
    let waited = (end_ms - stop_ms(record)?) as f64;
    let longest = seconds.iter().map(|s| s.all.longest).max().unwrap_or(0) as f64 / 1e6;
    if waited < LONG_WAIT_MS || waited < LONGER * longest {
        return None;
    }
    let (n, one) = (count(cut), cut == 1);
    let (requests, they) = if one { ("request", "it is") } else { ("requests", "they are") };
    let (for_ms, most) = (super::say::time(waited), super::say::time(longest));
    let others = if longest > 0.0 { words!(longest_other_request(most)) } else { Words::default() };
    let said = words!(never_answered_found(n, requests, for_ms, others, they));
    let finding = found("cut_by_end", About::Run, Confidence::Arithmetic, said)
        .with("cut", cut as f64, "samples", times)
        .with("waited", waited, "ms", times)
        .advise(words!(never_answered_advice));
    Some(finding.said())
}

/// Formats a rate in requests per second for people.
pub(super) fn per_second(value: f64) -> String {
    rate(value)
}
