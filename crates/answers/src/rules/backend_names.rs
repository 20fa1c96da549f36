//! Backends by the headers with which answers usually name them, of samples that were kept.
//!
//! Nothing is read for it while the run goes on: the samples chosen at random are some 64, a fair choice of all. Samples are
//! compared within a label, since two services of one plan have other names and other times. A name counts if nearly
//! all of its samples are slower, or fail, and nearly all others do not.

use std::collections::BTreeMap;

use record::kept::Why;
use record::{Kept, Record};
use stats::grouped::percent;

use super::figures::{median, span, whole};
use super::say::{found, time, words};
use crate::verdict::{About, Confidence, Finding, Words};

/// Headers that name the host, process or cache node that answered.
const HEADERS: [&str; 17] = [
    "x-served-by",
    "x-backend",
    "x-backend-server",
    "x-upstream",
    "x-upstream-addr",
    "x-upstream-server",
    "x-server",
    "x-server-name",
    "x-server-id",
    "x-instance",
    "x-instance-id",
    "x-node",
    "x-host",
    "x-hostname",
    "x-pod",
    "x-pod-name",
    "via",
];
/// Samples of a name, and of all others together.
const EACH: usize = 5;
const OTHERS: usize = 10;
/// More values of a header are no backends.
const MOST: usize = 16;
/// A backend is slow from this ratio of medians on, and this many ms; this share of samples lies on its side of the middle.
const SLOWER: f64 = 2.0;
const SLOWER_MS: f64 = 1.0;
const APART: f64 = 0.9;
/// A backend fails with this share of its samples, where the others fail with this one at most.
const FAILS: f64 = 0.3;
const FAIL_NOT: f64 = 0.05;

/// A sample as one of a backend: its time relative to the median of its label, and as it is, ms.
struct Answer {
    relative: f64,
    ms: f64,
    failed: bool,
}

/// The finding on a backend that is ill by the names in kept answers.
pub(super) fn ill_by_name(record: &Record) -> Option<Finding> {
    let random = record.kept.iter().filter(|kept| kept.why == Why::Random);
    let named: Vec<(&Kept, Vec<(String, String)>)> =
        random.map(|kept| (kept, names(&kept.response))).collect();
    let mut headers: Vec<&str> =
        named.iter().flat_map(|(_, names)| names).map(|(header, _)| &**header).collect();
    headers.sort_unstable();
    headers.dedup();
    headers.into_iter().find_map(|header| {
        let backends = of_header(&named, header);
        let fits = backends.len() > 1 && backends.len() <= MOST;
        fits.then(|| ill(record, header, &backends)).flatten()
    })
}

/// Whether kept answers name more than one backend.
pub(super) fn has_names(record: &Record) -> bool {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    record.kept.iter().flat_map(|kept| names(&kept.response)).any(|(header, value)| {
        let first = seen.entry(header).or_insert_with(|| value.clone());
        *first != value
    })
}

/// Answers by the value of a header, of labels with more than one value.
fn of_header(
    named: &[(&Kept, Vec<(String, String)>)],
    header: &str,
) -> BTreeMap<String, Vec<Answer>> {
    let mut by_label: BTreeMap<u32, Vec<(&Kept, &str)>> = BTreeMap::new();
    for (kept, names) in named {
        if let Some((_, value)) = names.iter().find(|(name, _)| name == header) {
            by_label.entry(kept.label).or_default().push((kept, value));
        }
    }
    let mut backends: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
    for samples in by_label.into_values() {
        if samples.iter().all(|(_, value)| *value == samples[0].1) {
            continue;
        }
        let ms = |kept: &Kept| kept.elapsed as f64 / 1e6;
        let middle = median(&samples.iter().map(|(kept, _)| ms(kept)).collect::<Vec<_>>());
        for (kept, value) in samples {
            let (ms, failed) = (ms(kept), kept.outcome != stats::Outcome::Ok);
            let relative = ms / middle.max(1e-6);
            backends.entry(value.to_owned()).or_default().push(Answer { relative, ms, failed });
        }
    }
    backends
}

fn ill(record: &Record, header: &str, backends: &BTreeMap<String, Vec<Answer>>) -> Option<Finding> {
    let total = backends.len();
    backends.iter().find_map(|(value, mine)| {
        let others: Vec<&Answer> =
            backends.iter().filter(|(name, _)| *name != value).flat_map(|(_, all)| all).collect();
        if mine.len() < EACH || others.len() < OTHERS {
            return None;
        }
        let mine: Vec<&Answer> = mine.iter().collect();
        let all = mine.len() + others.len();
        let said = slow(&mine, &others).map(|(slow, usual)| {
            let (slow, usual, n) = (time(slow), time(usual), mine.len());
            words!(
                "One of {total} backends is slow: {header}: {value} takes {slow} at the median, the others {usual} ({n} of {all} answers kept at random are its own).",
                "{total} 个后端中有一个慢：{header}: {value} 中位数 {slow}，其他为 {usual}（随机保留的 {all} 个响应中有 {n} 个来自它）。"
            )
        });
        let said = said.or_else(|| fails(&mine, &others).map(|(bad, usual)| {
            let (bad, usual, n) = (percent(bad), percent(usual), mine.len());
            words!(
                "One of {total} backends fails: {header}: {value} fails {bad} of its answers, the others {usual} ({n} of {all} answers kept at random are its own).",
                "{total} 个后端中有一个出错：{header}: {value} 的响应失败 {bad}，其他为 {usual}（随机保留的 {all} 个响应中有 {n} 个来自它）。"
            )
        }))?;
        Some(finding(record, said, &mine, &others))
    })
}

fn finding(record: &Record, said: Words, mine: &[&Answer], others: &[&Answer]) -> Finding {
    let span = span(whole(record));
    let middle = |all: &[&Answer]| median(&all.iter().map(|one| one.ms).collect::<Vec<_>>());
    found("backend_uneven", About::Target, Confidence::Statistical, said)
        .with("median", middle(mine), "ms", span)
        .with("median_of_others", middle(others), "ms", span)
        .with("kept_samples", (mine.len() + others.len()) as f64, "samples", span)
}

/// Medians of a backend that is slow and of the others, ms.
fn slow(mine: &[&Answer], others: &[&Answer]) -> Option<(f64, f64)> {
    let of = |all: &[&Answer], value: fn(&Answer) -> f64| {
        median(&all.iter().filter(|one| !one.failed).map(|one| value(one)).collect::<Vec<_>>())
    };
    let (slow, usual) = (of(mine, |one| one.relative), of(others, |one| one.relative));
    let (slow_ms, usual_ms) = (of(mine, |one| one.ms), of(others, |one| one.ms));
    let middle = (slow * usual).sqrt();
    let share = |all: &[&Answer], is: &dyn Fn(f64) -> bool| {
        all.iter().filter(|one| is(one.relative)).count() as f64 / all.len() as f64
    };
    let apart = share(mine, &|time| time > middle) >= APART
        && share(others, &|time| time < middle) >= APART;
    (apart && slow >= SLOWER * usual && slow_ms - usual_ms >= SLOWER_MS)
        .then_some((slow_ms, usual_ms))
}

/// Shares of failures of a backend that fails and of the others.
fn fails(mine: &[&Answer], others: &[&Answer]) -> Option<(f64, f64)> {
    let share = |all: &[&Answer]| {
        all.iter().filter(|one| one.failed).count() as f64 / all.len().max(1) as f64
    };
    let (bad, usual) = (share(mine), share(others));
    let enough = bad * mine.len() as f64 >= EACH as f64;
    (enough && bad >= FAILS && usual <= FAIL_NOT).then_some((bad, usual))
}

/// Names of the backend in an answer's head: header, or header with the cookie's name, and value.
fn names(response: &str) -> Vec<(String, String)> {
    let lines = response.lines().skip(1).take_while(|line| !line.trim().is_empty());
    lines
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            let (name, value) = (name.trim(), value.trim());
            let lower = name.to_ascii_lowercase();
            match &*lower {
                "set-cookie" => route(value).map(|(cookie, to)| (format!("{name} {cookie}"), to)),
                "server-timing" => described(value).map(|to| (name.to_owned(), to)),
                _ if HEADERS.contains(&&*lower) && !value.is_empty() => {
                    Some((name.to_owned(), value.to_owned()))
                }
                _ => None,
            }
        })
        .collect()
}

/// The route in a cookie, with the cookie's name: all that is not a route was masked when the sample was kept.
fn route(cookie: &str) -> Option<(String, String)> {
    let (name, value) = cookie.split(';').next()?.split_once('=')?;
    let to = value.trim_start_matches(record::mask::MASK).trim_start_matches('.');
    (!to.is_empty()).then(|| (name.trim().into(), to.into()))
}

/// The description in a `Server-Timing` header: durations differ with each answer.
fn described(value: &str) -> Option<String> {
    let desc = value.split(';').map(str::trim).find_map(|part| part.strip_prefix("desc="))?;
    let desc = desc.split(',').next()?.trim().trim_matches('"');
    (!desc.is_empty()).then(|| desc.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_usual_headers() {
        let of = |line: &str| names(&format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\nX-Host: body"));
        let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(of("X-Served-By: web-2"), one("X-Served-By", "web-2"));
        assert_eq!(of("via: 1.1 proxy-1"), one("via", "1.1 proxy-1"));
        assert_eq!(of("Server-Timing: app;desc=\"web-1\";dur=5.2"), one("Server-Timing", "web-1"));
        assert_eq!(of("Server-Timing: app;dur=5.2"), []);
        assert_eq!(
            of("Set-Cookie: JSESSIONID=***.node2; Path=/"),
            one("Set-Cookie JSESSIONID", "node2")
        );
        assert_eq!(of("Set-Cookie: SERVERID=s1"), one("Set-Cookie SERVERID", "s1"));
        assert_eq!(of("Set-Cookie: ***"), []);
        assert_eq!(of("Content-Type: text/html"), []);
    }
}
