//! Recognises backends in kept samples, by the response headers that usually name them.
//!
//! The run itself reads no headers for this rule: the record keeps about 64 randomly chosen samples, which
//! represent all. Samples are compared only within a label, because two services of one plan have different names
//! and times, and within equal requests. Only names of instances of one kind that occur at the same time are
//! backends. A backend is reported if nearly all of its samples are slower or fail, and nearly all other samples
//! are not. Names of different kinds, such as `alpha` and `beta`, may be backends or services. In this case the
//! finding names the header and claims no more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use record::kept::Why;
use record::{Kept, Record};
use stats::grouped::percent;

use super::alike::are_alike;
use super::figures::{median, span, whole};
use super::request_keys::request_keys;
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
/// Headers that name an instance even if their values have nothing in common.
const OF_INSTANCES: [&str; 11] = [
    "x-served-by",
    "x-backend",
    "x-backend-server",
    "x-upstream",
    "x-upstream-server",
    "x-server-id",
    "x-instance",
    "x-instance-id",
    "x-node",
    "x-pod",
    "x-pod-name",
];
/// Metrics of `Server-Timing` whose description names the instance that answered; other metrics describe states and
/// queries.
const METRICS: [&str; 10] = [
    "app",
    "backend",
    "host",
    "hostname",
    "instance",
    "node",
    "pod",
    "server",
    "served-by",
    "upstream",
];
/// Status codes that a gateway returns in place of a backend.
const OF_GATEWAY: [&str; 3] = ["502", "503", "504"];
/// Smallest number of samples of the reported backend; if it fails, smallest number of its failed samples.
const EACH: usize = 5;
/// Smallest number of samples of all other backends together, for a finding about one backend.
const OTHERS: usize = 10;
/// Largest number of values of a header that count as backends.
const MOST: usize = 16;
/// Smallest ratio of a backend's median time to the median of the others at which the backend counts as slow.
/// `SLOWER_MS` must hold, too.
const SLOWER: f64 = 2.0;
/// Smallest difference in ms between a backend's median time and the median of the others at which the backend counts
/// as slow. `SLOWER` must hold, too.
const SLOWER_MS: f64 = 1.0;
/// Smallest share of the samples that must lie on the expected side of the middle between the medians of a slow backend
/// and of the others: above it for the slow backend, below it for the others.
const APART: f64 = 0.9;
/// Smallest share of failed samples at which a backend counts as failing. `FAIL_NOT` must hold, too.
const FAILS: f64 = 0.3;
/// Largest share of failed samples of the other backends at which a backend counts as failing.
const FAIL_NOT: f64 = 0.05;

/// A kept sample of a backend: its start, its time relative to the median of comparable samples, and its time in ms.
struct Answer {
    at_ms: i64,
    relative: f64,
    ms: f64,
    failed: bool,
    code: Arc<str>,
}

/// Samples by the name of their backend.
type Backends = BTreeMap<String, Vec<Answer>>;
/// A kept sample with the backend names in its response head, by header.
type Named<'k> = (&'k Kept, Vec<(String, String)>);

/// Returns the finding about a slow or failing backend, based on the names in kept responses, with advice.
pub(super) fn ill_by_name(record: &Record, of_backends: Words) -> Option<Finding> {
    let named = named(record.kept.iter().filter(|kept| kept.why == Why::Random));
    let ill_of = |header: &str, kind: &BTreeSet<&str>, are_alike: bool| {
        let backends = of_kind(&named, header, kind);
        let fits = backends.len() > 1 && backends.len() <= MOST;
        fits.then(|| ill(record, header, &backends, are_alike)).flatten()
    };
    let of_one_kind = headers(&named).into_iter().find_map(|header| {
        kinds(&named, header).iter().find_map(|kind| ill_of(header, kind, true))
    });
    if let Some(finding) = of_one_kind {
        return Some(finding.advise(of_backends));
    }
    let of_any_kind = headers(&named).into_iter().find_map(|header| {
        let values: BTreeSet<&str> = named.iter().filter_map(|one| value(one, header)).collect();
        let can_be = OF_INSTANCES.contains(&&*header.to_ascii_lowercase())
            && values.iter().all(|value| is_one_word(value));
        can_be.then(|| ill_of(header, &values, false)).flatten()
    });
    of_any_kind.map(|finding| finding.advise(compare_values()))
}

/// Returns true for a value that is neither a list nor a sentence.
fn is_one_word(value: &str) -> bool {
    !value.contains([' ', ',', ';'])
}

fn compare_values() -> Words {
    words!(backend_names_advice)
}

/// True if kept responses name more than one backend.
pub(super) fn has_names(record: &Record) -> bool {
    let named = named(record.kept.iter());
    headers(&named)
        .into_iter()
        .any(|header| kinds(&named, header).iter().any(|kind| kind.len() > 1))
}

fn named<'k>(kept: impl Iterator<Item = &'k Kept>) -> Vec<Named<'k>> {
    kept.map(|kept| (kept, names(&kept.response))).collect()
}

fn headers<'n>(named: &'n [Named<'_>]) -> BTreeSet<&'n str> {
    named.iter().flat_map(|(_, names)| names).map(|(header, _)| &**header).collect()
}

fn value<'n>((_, names): &'n Named<'_>, header: &str) -> Option<&'n str> {
    names.iter().find(|(name, _)| name == header).map(|(_, value)| &**value)
}

/// Groups the values of a header by the kind of instance that they name.
fn kinds<'n>(named: &'n [Named<'_>], header: &str) -> Vec<BTreeSet<&'n str>> {
    let values: BTreeSet<&str> = named.iter().filter_map(|one| value(one, header)).collect();
    let mut kinds: Vec<BTreeSet<&str>> = Vec::new();
    for value in values {
        let is_alike =
            |kind: &&mut BTreeSet<&str>| kind.first().is_some_and(|one| are_alike(one, value));
        match kinds.iter_mut().find(is_alike) {
            Some(kind) => _ = kind.insert(value),
            None => kinds.push(BTreeSet::from([value])),
        }
    }
    kinds
}

/// Groups samples by the value of a header, for the values in `kind`; only requests that several instances answered
/// count.
fn of_kind(named: &[Named<'_>], header: &str, kind: &BTreeSet<&str>) -> Backends {
    let mut by_label: BTreeMap<u32, Vec<(&Kept, &str)>> = BTreeMap::new();
    for one in named {
        if let Some(value) = value(one, header).filter(|value| kind.contains(value)) {
            by_label.entry(one.0.label).or_default().push((one.0, value));
        }
    }
    let mut backends = Backends::new();
    for samples in by_label.into_values() {
        let keys = request_keys(&samples.iter().map(|(kept, _)| *kept).collect::<Vec<_>>(), true);
        let mut by_request: BTreeMap<String, Vec<(&Kept, &str)>> = BTreeMap::new();
        for (key, sample) in keys.into_iter().zip(samples) {
            by_request.entry(key).or_default().push(sample);
        }
        for samples in by_request.into_values() {
            add(&mut backends, samples);
        }
    }
    backends
}

/// Adds samples of equal requests if several backends answered them.
fn add(backends: &mut Backends, samples: Vec<(&Kept, &str)>) {
    if samples.iter().all(|(_, value)| *value == samples[0].1) {
        return;
    }
    let ms = |kept: &Kept| kept.elapsed as f64 / 1e6;
    let middle = median(&samples.iter().map(|(kept, _)| ms(kept)).collect::<Vec<_>>());
    for (kept, value) in samples {
        let (ms, failed) = (ms(kept), kept.outcome != stats::Outcome::Ok);
        let (at_ms, relative, code) =
            (kept.start_ms, ms / middle.max(1e-6), Arc::clone(&kept.code));
        backends.entry(value.to_owned()).or_default().push(Answer {
            at_ms,
            relative,
            ms,
            failed,
            code,
        });
    }
}

/// Limits two sets of samples to the time span that they share, so that an instance is not compared with the
/// instance that it replaced.
fn together<'a>(mine: &[&'a Answer], others: &[&'a Answer]) -> [Vec<&'a Answer>; 2] {
    let ends = |all: &[&Answer]| {
        let times = all.iter().map(|one| one.at_ms);
        (times.clone().min().unwrap_or(i64::MAX), times.max().unwrap_or(i64::MIN))
    };
    let (a, b) = (ends(mine), ends(others));
    let both = a.0.max(b.0)..=a.1.min(b.1);
    [mine, others].map(|all| all.iter().copied().filter(|one| both.contains(&one.at_ms)).collect())
}

fn ill(record: &Record, header: &str, backends: &Backends, are_alike: bool) -> Option<Finding> {
    let total = backends.len();
    backends.iter().find_map(|(value, mine)| {
        let others: Vec<&Answer> =
            backends.iter().filter(|(name, _)| *name != value).flat_map(|(_, all)| all).collect();
        let [mine, others] = together(&mine.iter().collect::<Vec<_>>(), &others);
        if mine.len() < EACH || others.len() < OTHERS || is_gateway(header, &mine, &others) {
            return None;
        }
        // A value that occurs only in failed responses may come from a gateway that answers in place of all servers.
        if !are_alike && mine.iter().all(|one| one.failed) {
            return None;
        }
        let all = mine.len() + others.len();
        let said = slow(&mine, &others).map(|(slow, usual)| {
            let (slow, usual, n) = (time(slow), time(usual), mine.len());
            if !are_alike {
                return words!(value_is_slow(header, value, slow, usual, n, all));
            }
            words!(backend_by_value_is_slow(total, header, value, slow, usual, n, all))
        });
        let said = said.or_else(|| {
            fails(&mine, &others).map(|(bad, usual)| {
                let (bad, usual, n) = (percent(bad), percent(usual), mine.len());
                if !are_alike {
                    return words!(value_fails(header, value, bad, usual, n, all));
                }
                words!(backend_by_value_fails(total, header, value, bad, usual, n, all))
            })
        })?;
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

/// True if the failed responses are error pages of the gateway itself. A header that names the upstream shows that a
/// backend sent them.
fn is_gateway(header: &str, mine: &[&Answer], others: &[&Answer]) -> bool {
    let by_itself = |one: &&Answer| one.failed && OF_GATEWAY.contains(&&*one.code);
    mine.iter().all(by_itself)
        && !others.iter().any(|one| one.failed)
        && !header.to_ascii_lowercase().starts_with("x-upstream")
}

/// Returns the medians in ms of a slow backend and of the others. Failed samples do not count: their times differ.
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
    let codes = |all: &[&Answer]| -> BTreeSet<Arc<str>> {
        all.iter().filter(|one| !one.failed).map(|one| Arc::clone(&one.code)).collect()
    };
    if codes(mine).is_disjoint(&codes(others)) {
        return None;
    }
    let apart = share(mine, &|time| time > middle) >= APART
        && share(others, &|time| time < middle) >= APART;
    (apart && slow >= SLOWER * usual && slow_ms - usual_ms >= SLOWER_MS)
        .then_some((slow_ms, usual_ms))
}

/// Returns the shares of failures of a failing backend and of the others.
fn fails(mine: &[&Answer], others: &[&Answer]) -> Option<(f64, f64)> {
    let share = |all: &[&Answer]| {
        all.iter().filter(|one| one.failed).count() as f64 / all.len().max(1) as f64
    };
    let (bad, usual) = (share(mine), share(others));
    let enough = bad * mine.len() as f64 >= EACH as f64;
    (enough && bad >= FAILS && usual <= FAIL_NOT).then_some((bad, usual))
}

/// Returns the backend names in a response head: the header, with the cookie's name if there is one, and its value.
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

/// Returns the route in a cookie, with the cookie's name. Everything else was masked when the sample was kept.
fn route(cookie: &str) -> Option<(String, String)> {
    let (name, value) = cookie.split(';').next()?.split_once('=')?;
    let to = value.trim_start_matches(record::mask::MASK).trim_start_matches('.');
    (!to.is_empty()).then(|| (name.trim().into(), to.into()))
}

/// Returns the description of the `Server-Timing` metric that names the instance; durations differ between responses.
fn described(value: &str) -> Option<String> {
    value.split(',').find_map(|metric| {
        let mut parts = metric.split(';').map(str::trim);
        let name = parts.next()?.to_ascii_lowercase();
        let desc = parts.find_map(|part| part.strip_prefix("desc="))?.trim_matches('"');
        (METRICS.contains(&&*name) && !desc.is_empty()).then(|| desc.to_owned())
    })
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
        assert_eq!(of("Server-Timing: db;dur=3, app; desc=web-1"), one("Server-Timing", "web-1"));
        assert_eq!(of("Server-Timing: app;dur=5.2"), []);
        assert_eq!(of("Server-Timing: cdn-cache; desc=MISS"), []);
        assert_eq!(of("Server-Timing: db;desc=\"index 7\";dur=1"), []);
        assert_eq!(
            of("Set-Cookie: JSESSIONID=***.node2; Path=/"),
            one("Set-Cookie JSESSIONID", "node2")
        );
        assert_eq!(of("Set-Cookie: SERVERID=s1"), one("Set-Cookie SERVERID", "s1"));
        assert_eq!(of("Set-Cookie: ***"), []);
        assert_eq!(of("Content-Type: text/html"), []);
    }
}
