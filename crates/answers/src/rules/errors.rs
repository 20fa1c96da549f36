//! Errors by their cause, and two that say more about the test than about the target.

use record::{CauseName, Record, Second};
use stats::Outcome;
use stats::grouped::{count, percent, rate};

use super::figures::{causes, hist, in_flight, ms, requests, span, stop_ms, sum, whole};
use super::gateway;
use super::say::{clock, found, lacks, number, words};
use crate::verdict::{About, Confidence, Said};

/// Errors as seen from the lightest load on: k6's rule takes 15 % in the first 100 iterations.
const EARLY_SAMPLES: u64 = 100;
const EARLY_SHARE: f64 = 0.15;
/// A label that fails this often fails always.
const ALWAYS: f64 = 0.9;
/// Share of a run's most users up to which the load is light, and the factor within which the share of errors is the same
/// under the full load.
const LIGHT: f64 = 0.25;
const SAME: f64 = 2.0;
/// Share of all errors that must lie after the stop, and how many there must be.
const AFTER_STOP: f64 = 0.9;
const AFTER_STOP_LEAST: u64 = 1;
/// The same for records that do not know when the stop began: its last milliseconds, and more errors.
const END_MS: i64 = 2000;
const END_LEAST: u64 = 10;

/// An error as it reads: code and message, on one line and not too long.
pub(super) fn reads(record: &Record, cause: usize) -> String {
    const MOST: usize = 120;
    let Some(cause) = record.causes.get(cause) else { return String::new() };
    let parts = [&*cause.code, &*cause.message];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join(": ").replace(['\r', '\n'], " ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

/// The load in a second: users, where they are known, and requests in flight.
fn load_of(record: &Record, second: &record::Second) -> (String, String) {
    let flying = number(in_flight(second));
    match second.users {
        _ if !record.has.users => {
            (format!("{flying} requests in flight"), format!("有 {flying} 个请求在途"))
        }
        users => {
            let noun = if users == 1 { "user" } else { "users" };
            (
                format!("{users} {noun} and {flying} requests in flight"),
                format!(" {users} 个用户、{flying} 个请求在途"),
            )
        }
    }
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
    let first = seconds.iter().find(|s| s.causes.iter().any(|(cause, _)| *cause as usize == most));
    let first = first.unwrap_or(&seconds[0]);
    let since = clock(first.at_ms - i64::from(first.ms) - record.frame.start_ms);
    let (load, load_zh) = load_of(record, first);
    let (share, text) = (percent(errors as f64 / all as f64), reads(record, most));
    let total = if errors == 1 { "1 request".into() } else { count(errors) + " requests" };
    let (total_zh, those) = (count(errors), count(n));
    let (the, more, more_zh) = match causes.len() - 1 {
        0 => ("The cause", String::new(), String::new()),
        1 => ("The most frequent cause", "; 1 other cause".into(), "；另有 1 种原因".into()),
        more => {
            let (en, zh) = (format!("; {more} other causes"), format!("；另有 {more} 种原因"));
            ("The most frequent cause", en, zh)
        }
    };
    let times = if n == 1 { "once".into() } else { format!("{those} times") };
    let cause = record.causes.get(most);
    let kind = cause.map_or("", |cause| cause.outcome.as_str());
    let span = span(seconds);
    found(
        "errors_named",
        About::Run,
        Confidence::Certain,
        words!(
            "{total} failed ({share}). {the}, {times}: {text} (since {since}, with {load}){more}.",
            "{total_zh} 个请求失败（{share}）。最常见的原因，{those} 次：{text}（自 {since} 起，当时{load_zh}）{more_zh}。"
        ),
    )
    .with("errors", errors as f64, "requests", span)
    .with("error_share", errors as f64 / all as f64, "share", span)
    .with("first_error", first.at_ms as f64, "epoch ms", (first.at_ms, first.at_ms))
    .advise(cause.and_then(gateway::advice).unwrap_or_else(|| advice(kind)))
    .said()
}

/// Advice on an error: the first place to look, by the kind of an error.
fn advice(kind: &str) -> crate::verdict::Words {
    match kind {
        "refused" => words!(
            "Nothing listens at that address, or the accept queue is full: look whether the service runs.",
            "该地址没有监听，或接受队列已满：请检查服务是否在运行。"
        ),
        "reset" | "closed" => words!(
            "The target or a proxy before it closed the connection: look at its time limits, its limits of connections and its log.",
            "被测系统或其前面的代理关闭了连接：请查看其超时、连接数上限和日志。"
        ),
        "dns" => words!("Check the host name and the name server.", "请检查主机名和域名服务器。"),
        "assertion" => words!(
            "The answer came but is not the one that the plan expects: look at the kept samples.",
            "收到了响应，但不是计划所期望的：请查看保留的样本。"
        ),
        _ => words!(
            "Look at the kept samples of this cause, and at the target's log of that time.",
            "请查看该原因的保留样本，以及被测系统当时的日志。"
        ),
    }
}

/// Errors by which a server sheds load are no fault of the plan.
pub(super) fn sheds(cause: &CauseName) -> bool {
    matches!(&*cause.code, "429" | "503" | "504") || gateway::limits(cause)
}

/// The first requests of a label: their number, errors, the second in which they end; and the share of errors in all.
struct Early {
    n: u64,
    errors: u64,
    end: usize,
    share: f64,
}

fn early(seconds: &[Second], label: usize) -> Early {
    let part = |s: &Second| {
        let found = s.labels.counts().find(|(n, ..)| *n as usize == label);
        found.map_or((0, 0), |(_, count, errors)| (count, errors))
    };
    let (all, errors) =
        seconds.iter().map(part).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let share = errors as f64 / all.max(1) as f64;
    let mut early = Early { n: 0, errors: 0, end: 0, share };
    for (index, second) in seconds.iter().enumerate() {
        let (n, errors) = part(second);
        early = Early { n: early.n + n, errors: early.errors + errors, end: index, share };
        if early.n >= EARLY_SAMPLES {
            break;
        }
    }
    early
}

pub(super) fn plan_fault(record: &Record) -> Said {
    if !record.knows_errors() {
        return lacks!("the column success", "success 列");
    }
    let seconds = whole(record);
    if requests(seconds) < EARLY_SAMPLES {
        return lacks!("100 requests", "100 个请求");
    }
    let most_users = seconds.iter().map(|s| s.users).max().unwrap_or(0);
    for (at, label) in record.labels.iter().enumerate().filter(|(_, label)| !label.transaction) {
        let Early { n: early, errors: early_errors, end, share } = early(seconds, at);
        if early < EARLY_SAMPLES || (early_errors as f64) < EARLY_SHARE * early as f64 {
            continue;
        }
        let share_early = early_errors as f64 / early as f64;
        let light = record.has.users && (seconds[end].users as f64) <= LIGHT * most_users as f64;
        // Without a light load at the start, only what fails always has nothing to do with load.
        let by_plan = if light {
            share * SAME >= share_early && share <= share_early * SAME
        } else {
            share >= ALWAYS
        };
        let shed = causes(seconds)
            .iter()
            .take(1)
            .any(|(cause, _)| record.causes.get(*cause).is_some_and(sheds));
        if !by_plan || shed {
            continue;
        }
        let name = &label.name;
        let text =
            causes(seconds).first().map(|(cause, _)| reads(record, *cause)).unwrap_or_default();
        let (at_first, over) = (percent(share_early), percent(share));
        let early = count(early);
        return found(
            "plan_fault",
            About::Test,
            Confidence::Statistical,
            words!(
                "\"{name}\" fails from its first requests on ({at_first} of the first {early}, {over} in all): the cause is in the plan, its data or the address, not in the load. {text}",
                "“{name}”从最初的请求就失败（前 {early} 个中 {at_first}，总计 {over}）：原因在计划、数据或地址，而不是负载。{text}"
            ),
        )
        .with("early_error_share", share_early, "share", span(&seconds[..=end]))
        .with("error_share", share, "share", span(seconds))
        .rules_out(words!("load: it fails at the lightest, too", "负载：最轻时也失败"))
        .advise(words!(
            "Run the plan with one user and look at the kept samples; then correct URL, data, login or assertion.",
            "用一个用户运行计划并查看保留的样本；然后更正 URL、数据、登录或断言。"
        ))
        .explaining(&["errors_named"])
        .said();
    }
    Said::Nothing
}

/// Words on samples that were cut off beside errors at the end.
fn beside(cut: u64) -> (String, String) {
    let n = count(cut);
    let en = match cut {
        0 => return Default::default(),
        1 => "1 more sample was cut off and is in no figure".to_owned(),
        _ => format!("{n} more samples were cut off and are in no figure"),
    };
    (format!(" {en}."), format!("另有 {n} 个样本被截断，不计入任何数据。"))
}

pub(super) fn cut_by_end(record: &Record) -> Said {
    if !record.knows_errors() {
        return lacks!("the column success", "success 列");
    }
    let seconds = &record.seconds;
    let cut = sum(seconds, |s| s.all.cut);
    let errors = sum(seconds, |s| s.all.errors);
    let stop = stop_ms(record);
    let from = stop.unwrap_or_else(|| span(seconds).1 - END_MS);
    let least = if stop.is_some() { AFTER_STOP_LEAST } else { END_LEAST };
    let after = sum(seconds, |s| if s.at_ms > from { s.all.errors } else { 0 });
    let refused = causes(seconds).iter().any(|(cause, n)| {
        record.causes.get(*cause).is_some_and(|cause| cause.outcome == Outcome::Refused) && *n > 0
    });
    // A run that is not longer than its end had none.
    let began = seconds.first().map_or(from, |s| s.at_ms - i64::from(s.ms));
    let at_end =
        errors >= least && after as f64 >= AFTER_STOP * errors as f64 && !refused && began < from;
    let (n, all_errors, late) = (count(cut), count(errors), count(after));
    let span = (from, span(seconds).1);
    if at_end {
        let (more, more_zh) = beside(cut);
        return found(
            "cut_by_end",
            About::Run,
            if stop.is_some() { Confidence::Certain } else { Confidence::Statistical },
            words!(
                "{late} of {all_errors} errors came when the run was ended: they say how it was stopped, not what the target can take.{more}",
                "{all_errors} 个错误中有 {late} 个发生在运行结束时：它们反映的是停止方式，而不是被测系统的能力。{more_zh}"
            ),
        )
        .with("errors_at_end", after as f64, "requests", span)
        .with("cut", cut as f64, "samples", span)
        .rules_out(words!("the load: until the end there were hardly any errors", "负载：结束之前几乎没有错误"))
        .advise(words!(
            "Let samples in flight finish (one Ctrl-C, or the end by duration), and judge the run without them.",
            "让在途样本完成（按一次 Ctrl-C，或按时长结束），并在不计它们的情况下评价本次运行。"
        ))
        .explaining(&["errors_named", "reset_under_load", "step_change"])
        .said();
    }
    let oldest = ms(&hist(seconds, |s| &s.all.service), 0.5);
    if cut == 0 {
        return Said::Nothing;
    }
    let typical = super::say::time(oldest);
    found(
        "cut_by_end",
        About::Run,
        Confidence::Hint,
        words!(
            "{n} requests were in flight when the run ended; they are counted apart, neither as answers nor as errors (a request took {typical} at the median).",
            "运行结束时有 {n} 个请求在途；它们单独计数，既不算响应也不算错误（请求时间中位数 {typical}）。"
        ),
    )
    .with("cut", cut as f64, "samples", span)
    .advise(words!(
        "Nothing to do; run longer than a few response times if they are many.",
        "无需处理；如果数量很多，请让运行时长超过若干个响应时间。"
    ))
    .said()
}

/// Requests per second, for people.
pub(super) fn per_second(value: f64) -> String {
    rate(value)
}
