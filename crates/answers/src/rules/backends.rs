//! Detects one of several backends that is slow, fails, or is not used.

use record::{ClassName, Record};
use stats::grouped::{count, percent};
use stats::hist::Hist;

use super::alike::are_alike;
use super::backend_names::{has_names, ill_by_name};
use super::figures::{ClassSum, classes, ms, span, whole};
use super::realism::is_shared;
use super::request_keys::answered_other_requests;
use super::say::{found, lacks, time, words};
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest number of requests to all backends of a service for a comparison.
const SAMPLES: u64 = 1000;
/// Smallest number of requests to a backend for a comparison of its times.
const EACH: u64 = 30;
/// Smallest ratio of a backend's median time to the largest median of the others at which the backend counts as slow.
const SLOWER: f64 = 2.0;
/// Smallest share of failed requests at which a backend counts as failing.
const FAILS: f64 = 0.05;
/// Smallest ratio of a backend's failed share to the largest failed share of the others at which the backend counts as
/// failing.
const FAILS_MORE: f64 = 5.0;
/// Smallest number of failed requests at which a backend counts as failing.
const FAILS_LEAST: u64 = 5;
/// Smallest share of requests under common labels, for each of two classes of responses that count as backends of one
/// service. A common label is one that both classes served.
const SAME: f64 = 0.8;
/// Smallest and largest number of a backend's requests, as a multiple of an equal share, at which backends count as
/// evenly used.
const UNEVEN: (f64, f64) = (0.5, 2.0);
/// Smallest χ² at which an uneven use of backends is significant (p < .001, few degrees of freedom). For each backend,
/// 2 is added to it.
const BEYOND: f64 = 27.0;
/// Largest number of values of a header that count as backends.
const MOST: usize = 50;
/// Rules whose findings can be symptoms of a slow or failing backend.
const EXPLAINS: &[&str] =
    &["errors_named", "bimodal", "concurrency_limit", "plateau", "fixed_timeout", "constant_load"];

struct Backend<'r> {
    class: &'r ClassName,
    name: String,
    count: u64,
    errors: u64,
    times: Hist,
}

impl Backend<'_> {
    fn failing(&self) -> f64 {
        self.errors as f64 / self.count.max(1) as f64
    }

    /// True if the backend fails clearly more often than the others, whose failed share is `others`.
    fn fails_beside(&self, others: f64) -> bool {
        let fails = self.errors >= FAILS_LEAST && self.failing() >= FAILS;
        fails && self.failing() >= FAILS_MORE * others
    }
}

/// True for a header that tells cache hits from misses; its values do not name backends.
pub(super) fn is_cache(name: &ClassName) -> bool {
    let ClassName::Header { name, value } = name else { return false };
    let name = name.to_ascii_lowercase();
    name.contains("cache")
        || name == "age"
        || ["HIT", "MISS"].contains(&&*value.to_ascii_uppercase())
}

/// Groups addresses by the labels whose requests they served. Addresses with different labels belong to different
/// services of the plan, and the rule compares only backends of one service.
struct Services<'r> {
    record: &'r Record,
    /// Number of requests of each label.
    counts: Vec<u64>,
}

impl<'r> Services<'r> {
    fn of(record: &'r Record) -> Self {
        let mut counts = vec![0; record.labels.len()];
        for (label, count, _) in whole(record).iter().flat_map(|second| second.labels.counts()) {
            counts[label as usize] += count;
        }
        Self { record, counts }
    }

    /// Returns the labels that identify the service of a class of responses. Labels that several samplers share are
    /// left out, because these samplers may send requests to several services.
    fn labels(&self, class: u32) -> Vec<u32> {
        let own = self.record.served.iter().filter(|pair| pair.0 == class).map(|pair| pair.1);
        let tells = |label: &u32| {
            let name = &self.record.labels[*label as usize].name;
            !is_shared(self.record, name)
        };
        own.filter(tells).collect()
    }

    /// True if two classes of responses serve the same labels, apart from rare ones.
    fn are_one(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.labels(a), self.labels(b));
        let weight = |labels: &[u32]| -> u64 {
            labels.iter().map(|label| self.counts[*label as usize]).sum()
        };
        let both: Vec<u32> = a.iter().copied().filter(|label| b.contains(label)).collect();
        let both = weight(&both) as f64;
        both > 0.0 && both >= SAME * weight(&a) as f64 && both >= SAME * weight(&b) as f64
    }

    /// True if the record says which labels each class of responses served, or if the run has at most one label.
    fn are_known(&self) -> bool {
        let used = |(label, count): (&record::Label, &u64)| !label.transaction && *count > 0;
        !self.record.served.is_empty()
            || self.record.labels.iter().zip(&self.counts).filter(|l| used(*l)).count() <= 1
    }
}

/// Returns true if two classes of responses can come from backends of one service. A different port is chosen
/// deliberately, and names that differ in words do not belong to instances of one kind.
fn are_of_a_kind(a: &ClassName, b: &ClassName) -> bool {
    let port = |address: &str| address.rsplit(':').next().map(str::to_owned);
    match (a, b) {
        (ClassName::Address(a), ClassName::Address(b)) => port(a) == port(b),
        (
            ClassName::Header { name: a, value: of_a },
            ClassName::Header { name: b, value: of_b },
        ) => a == b && are_alike(of_a, of_b),
        _ => false,
    }
}

/// Groups the classes of responses by service, by address and by header.
fn groups(record: &Record) -> Vec<Vec<Backend<'_>>> {
    let services = Services::of(record);
    let of_one = record.served.is_empty();
    let mut groups: Vec<(u32, Vec<Backend<'_>>)> = Vec::new();
    for ClassSum { name: at, sum: class, times } in classes(whole(record)) {
        let Some(name) = record.classes.get(at as usize).filter(|name| !is_cache(name)) else {
            continue;
        };
        // An address to which the plan never sends requests is not an unused backend.
        if class.count == 0 {
            continue;
        }
        let words = match name {
            ClassName::Address(address) => address.to_string(),
            ClassName::Header { name, value } => format!("{name}: {value}"),
        };
        let (count, errors) = (class.count, class.errors);
        let backend = Backend { class: name, name: words, count, errors, times };
        let is_same = |of: &(u32, Vec<Backend<'_>>)| {
            are_of_a_kind(of.1[0].class, name) && (of_one || services.are_one(of.0, at))
        };
        match groups.iter().position(is_same) {
            Some(group) => groups[group].1.push(backend),
            None => groups.push((at, vec![backend])),
        }
    }
    groups.into_iter().map(|group| group.1).collect()
}

pub(super) fn backend_uneven(record: &Record) -> Said {
    // Addresses of different services are not compared with each other.
    let is_known = record.has.classes && Services::of(record).are_known();
    let mut groups = if is_known { groups(record) } else { Vec::new() };
    groups.retain(|group| group.len() > 1 && group.len() <= MOST);
    if let Some(said) = groups.iter().find_map(|group| ill(record, group)) {
        return said;
    }
    if let Some(finding) = ill_by_name(record, take_out()) {
        return finding.explaining(EXPLAINS).said();
    }
    if groups.is_empty() && !has_names(record) {
        if record.has.classes && !is_known {
            return lacks!(run: labels_of_each_address);
        }
        return lacks!(several_addresses_or_header_values);
    }
    groups.iter().find_map(|group| unused(record, group)).unwrap_or(Said::Nothing)
}

fn take_out() -> Words {
    words!(backend_advice)
}

fn ill(record: &Record, group: &[Backend<'_>]) -> Option<Said> {
    let all: u64 = group.iter().map(|b| b.count).sum();
    if all < SAMPLES {
        return None;
    }
    let span = span(whole(record));
    let total = group.len();
    for (at, backend) in group.iter().enumerate().filter(|(_, b)| b.count >= EACH) {
        let others: Vec<&Backend<'_>> = group
            .iter()
            .enumerate()
            .filter(|(n, b)| *n != at && b.count >= EACH)
            .map(|o| o.1)
            .collect();
        let classes: Vec<&ClassName> = others.iter().map(|other| other.class).collect();
        if others.is_empty() {
            continue;
        }
        let mut rest = Hist::new();
        for other in &others {
            rest.merge(&other.times);
        }
        let (mine, theirs) = (ms(&backend.times, 0.5), ms(&rest, 0.5));
        let worst = others.iter().map(|b| ms(&b.times, 0.5)).fold(0.0, f64::max);
        let rest_failing = others.iter().map(|b| b.failing()).fold(0.0, f64::max);
        let (name, n) = (&backend.name, count(backend.count));
        let said: Words;
        let (metric, value, unit) = if mine >= SLOWER * worst && mine - worst >= 1.0 {
            let (slow, usual) = (time(mine), time(theirs));
            said = words!(backend_is_slow(total, name, slow, usual, n));
            ("median_ratio", mine / theirs.max(1e-3), "times")
        } else if backend.fails_beside(rest_failing) {
            let (bad, usual) = (percent(backend.failing()), percent(rest_failing));
            said = words!(backend_fails(total, name, bad, n, usual));
            ("error_share", backend.failing(), "share")
        } else {
            continue;
        };
        if answered_other_requests(record, backend.class, &classes) {
            continue;
        }
        return Some(
            found("backend_uneven", About::Target, Confidence::Statistical, said)
                .with(metric, value, unit, span)
                .with("median", mine, "ms", span)
                .with("median_of_others", theirs, "ms", span)
                .advise(take_out())
                .explaining(EXPLAINS)
                .said(),
        );
    }
    None
}

fn unused(record: &Record, group: &[Backend<'_>]) -> Option<Said> {
    let all: u64 = group.iter().map(|b| b.count).sum();
    let fair = all as f64 / group.len() as f64;
    let chi: f64 = group.iter().map(|b| (b.count as f64 - fair).powi(2) / fair.max(1.0)).sum();
    if all < SAMPLES || chi < BEYOND + 2.0 * group.len() as f64 {
        return None;
    }
    let off = group.iter().find(|b| {
        let part = b.count as f64 / fair;
        part < UNEVEN.0 || part > UNEVEN.1
    })?;
    let (name, share, total) = (&off.name, percent(off.count as f64 / all as f64), group.len());
    let expected = percent(1.0 / total as f64);
    Some(
        found(
            "backend_uneven",
            About::Target,
            Confidence::Hint,
            words!(backends_are_uneven(total, name, share, expected)),
        )
        .with("share", off.count as f64 / all as f64, "share", span(whole(record)))
        .advise(words!(backends_uneven_advice))
        .said(),
    )
}
