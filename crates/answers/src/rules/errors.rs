//! Rules on errors by their cause, on plans that fail at any load, and on errors caused by the end of the run.

use std::ops::RangeInclusive;

use record::frame::{ENDLESS, Frame, MISSING_INCLUDES};
use record::wordings::System;
use record::{CauseName, Change, Ending, Kept, Mark, Record, Second};
use stats::grouped::{count, percent, rate, things};
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
use super::say::{clock, counted, found, lacks, part, words};
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

/// Returns the description of an error in both languages, even if the error has neither code nor message.
fn reads_or_lacks(record: &Record, cause: usize) -> (String, String) {
    let text = reads(record, cause);
    if text.trim().is_empty() {
        return ("without code or message".into(), "没有代码和消息".into());
    }
    (text.clone(), text)
}

/// Returns a description of the load in the given seconds: the users or, if they are unknown, the requests in
/// flight.
fn load_in(record: &Record, at: RangeInclusive<usize>) -> (String, String) {
    let range = |least: String, most: String| {
        if least == most {
            (least.clone(), least)
        } else {
            (format!("{least} to {most}"), format!("{least} 到 {most}"))
        }
    };
    if !record.has.users {
        let flying = at.map(|at| flying_around(&record.seconds, at));
        let (least, most) = flying.fold((f64::MAX, 0.0), |(a, b), n| (n.min(a), n.max(b)));
        let (n, n_zh) = range(counted(least), counted(most));
        return (format!(", with {n} requests in flight"), format!("，当时有 {n_zh} 个请求在途"));
    }
    let users = with_users(&record.seconds).map(|(users, _)| users);
    // A user may start and end within one second.
    let users = users.skip(*at.start()).take(at.count()).filter(|users| *users > 0);
    let (least, most) = users.fold((u64::MAX, 0), |(a, b), n| (n.min(a), n.max(b)));
    let (n, n_zh) = range(count(least), count(most));
    match most {
        0 => Default::default(),
        1 => (", with 1 user".to_owned(), "，当时有 1 个用户".to_owned()),
        _ => (format!(", with {n} users"), format!("，当时有 {n_zh} 个用户")),
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
fn times_of(
    record: &Record,
    from_ms: i64,
    to: Option<Until>,
    failing: usize,
    all: usize,
) -> (String, String) {
    let shown = |ms: i64| clock(ms - record.frame.start_ms);
    let from = shown(from_ms);
    let is_coarse = record.step_ms().is_some() && to.as_ref().is_some_and(|to| !to.is_exact);
    match to.map(|to| to.at_ms) {
        Some(to_ms) if to_ms - from_ms <= WITHIN_MS => {
            (format!("at {from}, for less than a second"), format!("{from}，不到一秒"))
        }
        Some(to_ms) if to_ms - from_ms <= EVENT_MS => {
            (format!("at {from}, for less than 2 seconds"), format!("{from}，不到 2 秒"))
        }
        Some(to_ms) if is_coarse => {
            let to = shown(to_ms);
            (format!("from {from} until {to} at the latest"), format!("{from} 起，最迟至 {to}"))
        }
        Some(to_ms) if record.step_ms().is_none() && (failing as f64) < MOSTLY * all as f64 => {
            let to = shown(to_ms);
            (
                format!("in {failing} of {all} seconds between {from} and {to}"),
                format!("{from} 至 {to} 的 {all} 秒中有 {failing} 秒"),
            )
        }
        Some(to_ms) => {
            let to = shown(to_ms);
            (format!("from {from} until {to}"), format!("{from} 至 {to}"))
        }
        None => (format!("since {from}"), format!("自 {from} 起")),
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
    Some(words!(
        ", all within {length}, in which {share} of the requests failed",
        "，全部集中在 {n} 秒内，其间 {share} 的请求失败"
    ))
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
        return words!(" ({share})", "（{share}）");
    };
    let label = record.labels.get(label as usize).map_or("", |label| &*label.name);
    let own = percent(errors as f64 / requests.max(1) as f64);
    words!(
        ", all of \"{label}\" ({own} of its requests, {share} of all)",
        "，均为“{label}”（占其请求的 {own}，占全部的 {share}）"
    )
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
                let (of, of_zh) = of.map_or_else(Default::default, |of| {
                    (format!(" of {of}"), format!("（计划 {of}）"))
                });
                words!(
                    "The run ended at {at}{of}: it was to stop after an error.",
                    "运行在 {at}{of_zh} 结束：按设置在出错后停止。"
                )
            }
            Self::Users { ended, of } => {
                let noun = if of == 1 { "user" } else { "users" };
                let verb = if ended == 1 { "was" } else { "were" };
                let (n, of) = (count(ended), count(of));
                words!(
                    "{n} of {of} {noun} {verb} stopped after an error, as the plan says.",
                    "{of} 个用户中有 {n} 个在出错后被停止：计划如此设置。"
                )
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
    let (en, zh) = match more {
        0 => Default::default(),
        n => (format!(" and {}", things(n, "other file")), format!("及另外 {} 个文件", count(n))),
    };
    Some(words!(
        "the plan ran without {first}{en}: an Include Controller could not include it",
        "计划运行时缺少 {first}{zh}：Include Controller 无法包含该文件"
    ))
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
fn ended_by_plan(record: &Record) -> (String, String) {
    let of = |cut: Cut| {
        let Words { en, zh } = cut.words();
        (format!(" {en}"), zh)
    };
    cut_by_errors(record).map_or_else(Default::default, of)
}

/// Returns the beginning of the sentence about the most frequent cause, and the number of other causes as a
/// description.
fn other_causes(more: usize) -> (Words, Words) {
    let first = || words!("The most frequent cause", "最常见的原因");
    match more {
        0 => (words!("The cause", "原因"), words!("", "")),
        1 => (first(), words!("; 1 other cause", "；另有 1 种原因")),
        more => (first(), words!("; {more} other causes", "；另有 {more} 种原因")),
    }
}

/// Returns the moment of a first failure, ms since 1970: its end if the request failed soon, its start if it waited.
fn moment_of(start_ms: i64, end_ms: i64) -> i64 {
    if end_ms - start_ms < WITHIN_MS { end_ms } else { start_ms }
}

/// Returns the sentence about the threads that have all failures; empty if there are no such threads.
fn whose_words(threads: Option<&Always>) -> (String, String) {
    let Some(Words { en, zh }) = threads.map(Always::words) else { return Default::default() };
    (format!(" {en}"), zh)
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
        return lacks!("requests", "请求");
    }
    if !record.knows_errors() {
        return lacks!("the column success", "success 列");
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
    let Words { en: within, zh: within_zh } = event.unwrap_or_else(|| words!("", ""));
    let failing = seconds[at..=last].iter().filter(|second| has(second)).count();
    let until = to.map(|second| Until::of(record, most, n, second));
    let (when, when_zh) = at_intervals(record, most, from_ms)
        .unwrap_or_else(|| times_of(record, from_ms, until, failing, last + 1 - at));
    let end = if to.is_some() { last } else { seconds.len() - 1 };
    let Words { en: each, zh: each_zh } =
        each_fails(record, &seconds[at..=end], only_label(record, errors), from_ms, to.is_some());
    let (load, load_zh) = load_in(record, at..=if to.is_some() { last } else { at });
    let (text, text_zh) = reads_or_lacks(record, most);
    let Words { en: of, zh: of_zh } = share_of(record, errors, all);
    let total = if errors == 1 { "1 request".into() } else { count(errors) + " requests" };
    let (total_zh, those) = (count(errors), count(n));
    let (Words { en: the, zh: the_zh }, Words { en: more, zh: more_zh }) =
        other_causes(causes.len() - 1);
    let times = if n == 1 { "once".into() } else { format!("{those} times") };
    let cause = record.causes.get(most);
    let time = when_failing(seconds, at, start_ms, to);
    let (span, (ended, ended_zh)) = (span(seconds), ended_by_plan(record));
    let threads = whose::always(record);
    let (whose, whose_zh) = whose_words(threads.as_ref());
    let advice = || if threads.is_some() { Always::advice() } else { advice(record, most, time) };
    found(
        "errors_named",
        About::Run,
        Confidence::Certain,
        words!(
            "{total} failed{of}{within}{each}. {the}, {times}: {text} ({when}{load}){more}.{ended}{whose}",
            "{total_zh} 个请求失败{of_zh}{within_zh}{each_zh}。{the_zh}，{those} 次：{text_zh}（{when_zh}{load_zh}）{more_zh}。{ended_zh}{whose_zh}"
        ),
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
        "refused" if time == When::AtFirst => words!(
            "Nothing listened at that address when the run began: start the next run when the service answers, and judge this run without its first seconds.",
            "运行开始时该地址没有监听：请在服务能够响应后再开始，并在不计最初几秒的情况下评价本次运行。"
        ),
        "refused" if time == When::Between => words!(
            "Connections are refused while nothing listens: check whether the service, or one of its instances, was restarted at that time.",
            "没有监听时连接会被拒绝：请检查服务或其某个实例当时是否重启。"
        ),
        "refused" => words!(
            "Nothing listens at that address, or the accept queue is full: check whether the service runs.",
            "该地址没有监听，或接受队列已满：请检查服务是否在运行。"
        ),
        "reset" | "closed" => systems::resets(system, text),
        "timeout (connect)" => systems::connect_timeouts(system),
        "dns" => words!("Check the host name and the name server.", "请检查主机名和域名服务器。"),
        "tls" => words!(
            "Look at the certificate of that host (its chain, its names, its dates), and at the versions of TLS that both sides allow.",
            "请检查该主机的证书（证书链、名称、有效期），以及双方允许的 TLS 版本。"
        ),
        "unreachable" => words!(
            "Look at the routes and firewalls between the generator and that address.",
            "请检查负载机与该地址之间的路由和防火墙。"
        ),
        "assertion" => {
            let Words { en, zh } = samples(record);
            words!(
                "The answer came but is not the one that the plan expects: look at {en}.",
                "收到了响应，但不是计划所期望的：请查看{zh}。"
            )
        }
        _ => {
            let Words { en, zh } = samples(record);
            words!(
                "Look at {en} of this cause, and at the target's log for that time.",
                "请查看该原因的{zh}，以及被测系统当时的日志。"
            )
        }
    }
}

/// Returns the phrase for the samples that show a failure. A run keeps some complete samples; a result file has a row
/// for each sample.
pub(super) fn samples(record: &Record) -> Words {
    if record.has.generator {
        words!("the kept samples", "保留的样本")
    } else {
        words!("the failed rows", "失败的行")
    }
}

/// Returns true for errors with which a server sheds load. They are not faults of the plan.
pub(super) fn sheds(cause: &CauseName) -> bool {
    matches!(&*cause.code, "429" | "503" | "504") || gateway::limits(cause)
}

/// Returns a sentence about samples that were cut off at the end of the run, in addition to the samples that failed
/// there.
fn beside(cut: u64) -> (String, String) {
    let n = count(cut);
    let en = match cut {
        0 => return Default::default(),
        1 => "1 more sample was cut off and is in no figure".to_owned(),
        _ => format!("{n} more samples were cut off and are in no figure"),
    };
    (format!(" {en}."), format!("另有 {n} 个样本被截断，不计入任何数据。"))
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
        return lacks!("the column success", "success 列");
    }
    let seconds = &record.seconds;
    let cut = sum(seconds, |s| s.all.cut);
    let errors = sum(seconds, |s| s.all.errors);
    if let Some((late, from, is_known)) = errors_of_end(record) {
        let (more, more_zh) = beside(cut);
        let (late_words, all_errors, span) = (count(late), count(errors), (from, span(seconds).1));
        let were = if errors == 1 { "error was" } else { "errors were" };
        return found(
            "cut_by_end",
            About::Run,
            if is_known { Confidence::Arithmetic } else { Confidence::Statistical },
            words!(
                "{late_words} of {all_errors} {were} caused by stopping the run, not by the target.{more}",
                "{all_errors} 个错误中有 {late_words} 个由停止运行引起，而不是被测系统引起。{more_zh}"
            ),
        )
        .with("errors_at_end", late as f64, "requests", span)
        .with("cut", cut as f64, "samples", span)
        .rules_out(words!("the load: there were almost no errors before the stop", "负载：停止之前几乎没有错误"))
        .advise(words!(
            "Let samples in flight finish (one Ctrl-C, or the end by duration), and judge the run without them.",
            "让在途样本完成（按一次 Ctrl-C，或按时长结束），并在不计它们的情况下评价本次运行。"
        ))
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
    let (en, zh) = match cut {
        1 => ("1 request was in flight when the run ended; it is counted apart, neither as an answer nor as an error".to_owned(), "1 个请求".to_owned()),
        _ => {
            let n = count(cut);
            (format!("{n} requests were in flight when the run ended; they are counted apart, neither as answers nor as errors"), format!("{n} 个请求"))
        }
    };
    found(
        "cut_by_end",
        About::Run,
        Confidence::Hint,
        words!(
            "{en} (a request took {typical} at the median).",
            "运行结束时有 {zh}在途；单独计数，既不算响应也不算错误（请求时间中位数 {typical}）。"
        ),
    )
    .with("cut", cut as f64, "samples", span(seconds))
    .advise(words!(
        "Nothing to do; run longer than a few response times if they are many.",
        "无需处理；如果数量很多，请让运行时长超过若干个响应时间。"
    ))
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
    let (others, others_zh) = if longest > 0.0 {
        (
            format!(", where no other took longer than {most}"),
            format!("，而其他请求最长只用了 {most}"),
        )
    } else {
        Default::default()
    };
    let said = words!(
        "{n} {requests} still had no answer {for_ms} after the run was stopped{others}; {they} counted apart, neither as answers nor as errors.",
        "运行停止 {for_ms} 后仍有 {n} 个请求没有响应{others_zh}；它们单独计数，既不算响应也不算错误。"
    );
    let finding = found("cut_by_end", About::Run, Confidence::Arithmetic, said)
        .with("cut", cut as f64, "samples", times)
        .with("waited", waited, "ms", times)
        .advise(words!(
            "Look at the target for requests that it never answers, and give the samplers a response timeout: then such requests are errors.",
            "检查被测系统从不响应的请求，并为采样器设置响应超时：这样的请求就会算作错误。"
        ));
    Some(finding.said())
}

/// Formats a rate in requests per second for people.
pub(super) fn per_second(value: f64) -> String {
    rate(value)
}
