//! Signs that the test differs from real use of the target.

use record::{ClassName, Record};
use stats::grouped::{count, percent};

use super::figures::{classes, median, requests, sum, whole, windows};
use super::say::{found, time, words};
use crate::verdict::{About, Confidence, Finding, Said, Words};

/// Smallest share of responses from a cache that is reported.
const CACHED: f64 = 0.2;
/// Smallest number of kept samples from which the share of responses from a cache is estimated.
const KEPT: usize = 10;
/// Smallest relative fall of the median response time, from the first to the last quarter of the run, that shows that
/// the cache fills.
const FALLS: f64 = 0.3;
/// Number of labels above which the names of labels are assumed to contain data.
const LABELS: u64 = 500;

/// Returns true if a header says that the response came from a cache; `None` if it is not about caches. Headers differ
/// between caches: `X-Cache: HIT`, `CF-Cache-Status: MISS`, `X-Cache-Hits: 2`, `Age: 17`. `Cache-Control` is not one of
/// them.
pub(super) fn is_hit(name: &str, value: &str) -> Option<bool> {
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
    let counts =
        value.split(',').filter_map(|part| part.trim().parse::<u64>().ok()).collect::<Vec<_>>();
    if name == "age" || name.contains("cache") && !counts.is_empty() {
        return Some(counts.iter().any(|count| *count > 0));
    }
    if !name.contains("cache") || name == "cache-control" {
        return None;
    }
    let mut words = value.split(|c: char| !c.is_ascii_alphabetic());
    // If the header names several caches, the last one is the nearest.
    words
        .rfind(|word| matches!(*word, "hit" | "miss" | "expired" | "bypass" | "dynamic"))
        .map(|w| w == "hit")
}

/// Responses that came from a cache.
pub(super) struct Cached {
    /// Share of all responses, from 0 to 1.
    share: f64,
    /// True if every response was counted; false if the share comes from kept samples.
    is_counted: bool,
}

/// Returns the responses that came from a cache; `None` if they are few.
pub(super) fn cached(record: &Record) -> Option<Cached> {
    let (mut hits, mut all, mut is_counted) = (0, 0, true);
    for class in classes(whole(record)) {
        if let Some(ClassName::Header { name, value }) = record.classes.get(class.name as usize)
            && let Some(hit) = is_hit(name, value)
        {
            all += class.sum.count;
            hits += if hit { class.sum.count } else { 0 };
        }
    }
    if all == 0 {
        let kept: Vec<&str> = record
            .kept
            .iter()
            .filter(|kept| kept.why == record::kept::Why::Random && !kept.response.is_empty())
            .map(|kept| &*kept.response)
            .collect();
        let hit = |head: &&&str| {
            let said =
                |line: &str| line.split_once(':').and_then(|(name, value)| is_hit(name, value));
            head.lines().filter_map(said).any(|hit| hit)
        };
        if kept.len() < KEPT {
            return None;
        }
        (hits, all) = (kept.iter().filter(hit).count() as u64, kept.len() as u64);
        is_counted = false;
    }
    let share = hits as f64 / all.max(1) as f64;
    (share >= CACHED).then_some(Cached { share, is_counted })
}

fn from_cache(record: &Record, cached: &Cached) -> Finding {
    let seconds = whole(record);
    let span = super::figures::span(seconds);
    let values: Vec<f64> = windows(seconds, 5).iter().map(|w| w.p50).collect();
    let part = (values.len() / 4).max(1).min(values.len());
    let (first, last) = (median(&values[..part]), median(&values[values.len() - part..]));
    let Cached { share, is_counted } = *cached;
    let hits = percent(share);
    let about = if is_counted { Words::default() } else { words!(about_share) };
    let falls = if last < (1.0 - FALLS) * first {
        let (from, to) = (time(first), time(last));
        words!(median_fell(from, to))
    } else {
        Words::default()
    };
    found(
        "test_realism",
        About::Test,
        if is_counted { Confidence::Certain } else { Confidence::Statistical },
        words!(realism_cache_found(about, hits, falls)),
    )
    .with("cached", share, "share", span)
    .advise(words!(realism_cache_advice))
    .explaining(&["warmup_unfinished", "slow_phase", "step_change", "bimodal"])
}

pub(super) fn test_realism(record: &Record) -> Said {
    let seconds = whole(record);
    let span = super::figures::span(seconds);
    if let Some(cached) = cached(record) {
        return from_cache(record, &cached).said();
    }
    // The label into which others were folded is a placeholder, not a label of the plan.
    let labels: u64 = record.labels.iter().map(|label| u64::from(label.folded.max(1))).sum();
    if labels > LABELS {
        let n = count(labels);
        let also = together(record);
        return found(
            "test_realism",
            About::Test,
            Confidence::Hint,
            words!(realism_labels_found(n, also)),
        )
        .with("labels", labels as f64, "labels", span)
        .advise(words!(realism_labels_advice))
        .said();
    }
    one_address(record).or_else(|| unasserted(record)).unwrap_or(Said::Nothing)
}

/// Returns a phrase about the labels that were folded into one label, if there are any.
fn together(record: &Record) -> Words {
    let folded: u64 = record.labels.iter().map(|label| u64::from(label.folded)).sum();
    let biggest = record.labels.iter().max_by_key(|label| label.folded);
    let Some(biggest) = biggest.filter(|_| folded > 0) else { return Words::default() };
    let (n, name) = (count(folded), format!("{:?}", &*biggest.name));
    words!(labels_under_common_names(n, name))
}

/// True if several samplers of the plan have the name `name`: its requests may be of two kinds by design.
pub(super) fn is_shared(record: &Record, name: &str) -> bool {
    let shared = setting(record, record::frame::SHARED_NAMES);
    shared.is_some_and(|names| names.lines().any(|one| one == name))
}

/// Returns a setting of the run.
pub(super) fn setting<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
    record.frame.settings.iter().find(|setting| setting.0 == name).map(|setting| &*setting.1)
}

fn one_address(record: &Record) -> Option<Said> {
    let address =
        |class: u32| matches!(record.classes.get(class as usize), Some(ClassName::Address(_)));
    let addresses = record.classes.iter().filter(|c| matches!(c, ClassName::Address(_))).count();
    let used = classes(&record.seconds);
    let used = used.iter().filter(|class| address(class.name) && class.sum.count > 0).count();
    // Unused addresses belong to host names with several addresses.
    if setting(record, "dns_pinned") == Some("true") && 0 < used && used < addresses {
        return Some(
            found(
                "test_realism",
                About::Test,
                Confidence::Hint,
                words!(realism_one_address_found(addresses, used)),
            )
            .advise(words!(realism_one_address_advice))
            .said(),
        );
    }
    None
}

fn unasserted(record: &Record) -> Option<Said> {
    let seconds = whole(record);
    let span = super::figures::span(seconds);
    if setting(record, "assertions") == Some("0") && two_sizes(record) {
        return Some(
            found("test_realism", About::Test, Confidence::Hint, words!(realism_two_sizes_found))
                .with("received", sum(seconds, |s| s.all.received) as f64, "bytes", span)
                .with("requests", requests(seconds) as f64, "requests", span)
                .advise(words!(realism_two_sizes_advice))
                .said(),
        );
    }
    None
}

/// True if successful kept responses of a label have two sizes, one at most half of the other, each at least three
/// times.
fn two_sizes(record: &Record) -> bool {
    let mut labels: Vec<u32> = record.kept.iter().map(|kept| kept.label).collect();
    labels.dedup();
    let own = |label: &u32| {
        record.labels.get(*label as usize).is_some_and(|label| !is_shared(record, &label.name))
    };
    labels.into_iter().filter(own).any(|label| {
        let mut sizes: Vec<u64> = record
            .kept
            .iter()
            .filter(|k| k.label == label && k.why == record::kept::Why::Random && &*k.code == "200")
            .map(|kept| kept.received)
            .collect();
        sizes.sort_unstable();
        let split = (1..sizes.len()).find(|at| sizes[*at] > 2 * sizes[at - 1]);
        split.is_some_and(|at| {
            let alike = |part: &[u64]| part.len() >= 3 && part[part.len() - 1] * 10 <= part[0] * 11;
            alike(&sizes[..at]) && alike(&sizes[at..])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_caches_say_whether_they_had_the_answer() {
        for (name, value, right) in [
            ("X-Cache", "HIT", Some(true)),
            ("X-Cache", "Hit from cloudfront", Some(true)),
            ("X-Cache", "HIT, MISS", Some(false)),
            ("CF-Cache-Status", "DYNAMIC", Some(false)),
            ("X-Cache-Hits", "0, 0", Some(false)),
            ("X-Cache-Hits", "0, 3", Some(true)),
            ("Age", "0", Some(false)),
            ("Age", "17", Some(true)),
            ("Cache-Control", "max-age=60, hit", None),
            ("X-White", "hit", None),
        ] {
            assert_eq!(is_hit(name, value), right, "{name}: {value}");
        }
    }
}
