//! Compares the requests of kept samples, because backends may differ only because they got different requests.

use std::collections::{BTreeMap, BTreeSet};

use record::{ClassName, Kept, Record};

use super::alike::without_ids;
use super::realism::is_hit;

/// Smallest average number of samples per distinct request. If requests repeat less often, they contain data and cannot
/// be used to compare samples.
const MOST: usize = 2;

/// Returns the request of each sample without ids: method, path and query, whether a cache had the response, and with
/// `host` the host and port. The query, or the path as well, is left out where most samples differ in it.
pub(super) fn request_keys(samples: &[&Kept], host: bool) -> Vec<String> {
    let path = |kept: &Kept| target(kept).split('?').next().unwrap_or("").to_owned();
    let all = |of: &dyn Fn(&Kept) -> String| samples.iter().map(|kept| of(kept)).collect();
    let levels: [Vec<String>; 2] = [all(&target), all(&path)];
    let is_known =
        |keys: &Vec<String>| MOST * keys.iter().collect::<BTreeSet<_>>().len() <= keys.len();
    let keys = levels.into_iter().find(is_known).unwrap_or_else(|| all(&|_| String::new()));
    keys.into_iter().zip(samples).map(|(key, kept)| key + &around(kept, host)).collect()
}

/// Returns the first line of a kept request without its version, numbers and ids.
pub(super) fn target(kept: &Kept) -> String {
    let line = kept.request.lines().next().unwrap_or("");
    without_ids(line.trim_end_matches(" HTTP/1.1"))
}

/// Returns the requested host, and whether a cache had the response.
fn around(kept: &Kept, host: bool) -> String {
    let headers = |text: &str, is: &dyn Fn(&str, &str) -> Option<String>| {
        let lines = text.lines().skip(1).take_while(|line| !line.trim().is_empty());
        let mut found = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            is(name.trim(), value.trim())
        });
        found.next().unwrap_or_default()
    };
    let cached =
        headers(&kept.response, &|name, value| is_hit(name, value).map(|hit| format!("{hit}")));
    if !host {
        return format!(" {cached}");
    }
    let is_host =
        |name: &str, value: &str| name.eq_ignore_ascii_case("host").then(|| value.to_owned());
    let port = kept.address.rsplit(':').next().unwrap_or("");
    format!(" {cached} {} {port}", headers(&kept.request, &is_host))
}

/// True if no kept request of a class of responses equals a kept request of the other classes, under any common
/// label. Times and errors of the class may then depend on its requests, not on a backend.
pub(super) fn answered_other_requests(
    record: &Record,
    mine: &ClassName,
    others: &[&ClassName],
) -> bool {
    let mut labels: BTreeMap<u32, Vec<(&Kept, bool)>> = BTreeMap::new();
    for kept in &record.kept {
        let own = is_of(kept, mine);
        if own || others.iter().any(|other| is_of(kept, other)) {
            labels.entry(kept.label).or_default().push((kept, own));
        }
    }
    let is_header = matches!(mine, ClassName::Header { .. });
    let mut is_apart = false;
    for samples in labels.into_values() {
        let all: Vec<&Kept> = samples.iter().map(|(kept, _)| *kept).collect();
        let keys = request_keys(&all, is_header);
        let of = |own: bool| -> BTreeSet<&String> {
            keys.iter()
                .zip(&samples)
                .filter(|(_, sample)| sample.1 == own)
                .map(|(key, _)| key)
                .collect()
        };
        let (mine, theirs) = (of(true), of(false));
        if !mine.is_disjoint(&theirs) {
            return false;
        }
        is_apart |= !mine.is_empty() && !theirs.is_empty();
    }
    is_apart
}

fn is_of(kept: &Kept, class: &ClassName) -> bool {
    match class {
        ClassName::Address(address) => kept.address == *address,
        ClassName::Header { name, value } => kept.response.lines().any(|line| {
            line.split_once(':').is_some_and(|(head, text)| {
                head.trim().eq_ignore_ascii_case(name) && text.trim() == &**value
            })
        }),
    }
}
