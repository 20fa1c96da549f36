//! Compares the work that a label's requests cause in two periods, using randomly kept samples and response sizes.
//! A plan may request something else from some moment on, because of the rows of its data files or another sampler
//! of the same name, and a target may return something else. Then times are no evidence about the speed of the
//! target.

use std::collections::BTreeMap;

use record::kept::Why;
use record::{Record, Second};

use super::courses::Of;
use super::figures::{Span, span};
use super::request_keys::target;
use super::say::{clock, found, size, time, words};
use crate::verdict::{About, Confidence, Finding};

/// Smallest number of kept requests of a label in each of two periods that are compared.
const EACH: usize = 4;
/// Largest share of requests that occur in both periods if their work differs.
const OVERLAP: f64 = 0.25;

/// True if the requests of two periods differ, as far as kept samples show: hardly any request occurs in both. Numbers
/// and ids count as equal, and if hardly any two requests are equal, they are no evidence.
pub(super) fn asks_for_other_work(record: &Record, label: Option<u32>, times: [Span; 2]) -> bool {
    let mut asked: BTreeMap<u32, [BTreeMap<String, usize>; 2]> = BTreeMap::new();
    let random = record.kept.iter().filter(|kept| kept.why == Why::Random);
    for kept in random.filter(|kept| label.is_none_or(|label| kept.label == label)) {
        let end_ms = kept.start_ms + (kept.elapsed / 1_000_000) as i64;
        let within = |(from, to): &Span| (*from..*to).contains(&end_ms);
        if let Some(at) = times.iter().position(within) {
            *asked.entry(kept.label).or_default()[at].entry(target(kept)).or_default() += 1;
        }
    }
    let (mut same, mut others) = (0, 0);
    for both in asked.values() {
        let tells = |of: &BTreeMap<String, usize>| {
            let n: usize = of.values().sum();
            n >= EACH && 2 * of.len() <= n
        };
        let n: usize = both.iter().flat_map(|of| of.values()).sum();
        match both {
            [a, b] if !(tells(a) && tells(b)) => {}
            [a, b] if overlap(a, b) > OVERLAP => same += n,
            _ => others += n,
        }
    }
    others > same
}

/// Smallest ratio of two response sizes that count as different.
const LARGER: f64 = 1.5;
/// Smallest difference in bytes of two response sizes that count as different.
const LARGER_BYTES: f64 = 100.0;
/// Largest difference between the shares of failures with which sizes are compared: errors have other sizes.
const FAILING: f64 = 0.01;

/// Returns the mean response sizes in bytes of two periods if they differ. Failures have other sizes: `None` if their
/// share differs.
pub(super) fn other_sizes(of: Of, [a, b]: [&[Second]; 2]) -> Option<[f64; 2]> {
    let failed = [a, b].map(|seconds| of.failed(seconds) as f64 / of.count(seconds).max(1) as f64);
    if (failed[0] - failed[1]).abs() > FAILING {
        return None;
    }
    let sizes = [a, b].map(|seconds| of.received(seconds) / of.count(seconds).max(1) as f64);
    let (least, most) = (sizes[0].min(sizes[1]), sizes[0].max(sizes[1]));
    (most >= LARGER * least && most - least >= LARGER_BYTES).then_some(sizes)
}

/// Builds the finding about responses whose size and time change from some moment on; times are in ms.
pub(super) fn other_answers(
    id: &'static str,
    record: &Record,
    label: Option<usize>,
    [before, after]: [&[Second]; 2],
    sizes: [f64; 2],
    times: [f64; 2],
) -> Finding {
    let of = label.map_or_else(Default::default, |label| {
        let name = &record.labels[label].name;
        words!(of_label(name))
    });
    let when = clock(span(after).0 - record.frame.start_ms);
    let sizes_of = sizes.map(|size| size.round() as u64);
    let [a, b] = sizes_of.map(size);
    let [slow, fast] = times.map(time);
    found(
        id,
        About::Run,
        Confidence::Statistical,
        words!(other_answers_found(of, when, b, a, fast, slow)),
    )
    .with("size_before", sizes[0], "bytes", span(before))
    .with("size_after", sizes[1], "bytes", span(after))
    .advise(words!(other_answers_advice))
    .explaining(&["bimodal", "warmup_unfinished", "drift", "step_change", "slow_phase"])
}

/// Returns the share of requests that are the same in both periods.
fn overlap(a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>) -> f64 {
    let share = |of: &BTreeMap<String, usize>, line: &String| {
        of.get(line).copied().unwrap_or(0) as f64 / of.values().sum::<usize>().max(1) as f64
    };
    a.keys().map(|line| f64::min(share(a, line), share(b, line))).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use record::{Kept, Record};
    use stats::{Outcome, Phases};

    use super::{Why, asks_for_other_work};

    fn kept(start_ms: i64, request: &str) -> Kept {
        let none: Arc<str> = "".into();
        Kept {
            why: Why::Random,
            label: 0,
            cause: None,
            outcome: Outcome::Ok,
            start_ms,
            elapsed: 10_000_000,
            phases: Phases::default(),
            code: Arc::clone(&none),
            message: Arc::clone(&none),
            address: Arc::clone(&none),
            reused: true,
            sent: 100,
            received: 100,
            trace: 0,
            request: request.into(),
            response: none,
        }
    }

    /// Keeps twenty requests, one per 100 ms; returns true if the requests of the second half count as different.
    fn asks(request: impl Fn(i64) -> String) -> bool {
        let kept = (0..20).map(|n| kept(n * 100, &request(n))).collect();
        let record = Record { kept, ..Record::default() };
        asks_for_other_work(&record, Some(0), [(0, 1000), (1000, 2010)])
    }

    #[test]
    fn data_that_ask_for_something_else_are_seen() {
        let half = |n: i64| if n < 10 { "small" } else { "large" };
        assert!(asks(|n| format!("GET http://shop.example/{}\n", half(n))));
        // The change comes one request before the end of the first period.
        assert!(asks(|n| format!("GET http://shop.example/{}\n", half(n + 1))));
    }

    #[test]
    fn the_same_requests_and_those_that_are_all_different_tell_nothing() {
        assert!(!asks(|_| "GET http://shop.example/\n".to_owned()));
        let version = |n: i64| if n < 10 { "" } else { " HTTP/1.1" };
        assert!(!asks(|n| format!("GET /{}\n", version(n))));
        assert!(!asks(|n| format!("GET http://shop.example/item/{n}\n")));
        let name = |n: i64| (b'a' + n as u8) as char;
        assert!(!asks(|n| format!("GET http://shop.example/user/{}\n", name(n))));
        assert!(!asks(|n| format!(
            "GET http://shop.example/{}\n",
            ["list", "item"][n as usize % 2]
        )));
    }
}
