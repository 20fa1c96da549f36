//! Names of samplers: `GET /path`, and as much more as tells requests apart.

use std::collections::HashMap;

use crate::request::Request;
use crate::word::shown;

/// Largest number of characters of a target in a name.
const MOST: usize = 80;

/// Returns a name for each request. Different requests have different names.
pub(super) fn names(requests: &[Request]) -> Vec<String> {
    let one_host = requests.windows(2).all(|pair| pair[0].address.host == pair[1].address.host);
    let host = |request: &Request| {
        if one_host { String::new() } else { shown(&request.address.host) }
    };
    let short = |request: &Request| {
        format!("{} {}{}", request.method, host(request), cut(&shown(request.address.path())))
    };
    let long = |request: &Request| {
        format!("{} {}{}", request.method, host(request), cut(&shown(&request.address.target)))
    };
    let mut names: Vec<String> = requests.iter().map(short).collect();
    let counts = counts(&names);
    for (name, request) in names.iter_mut().zip(requests) {
        if counts.get(name).is_some_and(|count| *count > 1) {
            *name = long(request);
        }
    }
    number(&mut names);
    names.into_iter().map(plain).collect()
}

fn counts(names: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for name in names {
        *counts.entry(name.clone()).or_insert(0) += 1;
    }
    counts
}

/// Appends numbers to equal names.
fn number(names: &mut [String]) {
    let all = counts(names);
    let mut used: HashMap<String, usize> = HashMap::new();
    for name in names {
        if all.get(name).is_some_and(|count| *count > 1) {
            let count = used.entry(name.clone()).or_insert(0);
            *count += 1;
            *name = format!("{name} #{count}");
        }
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}

/// Returns a name without text that JMeter would evaluate.
fn plain(name: String) -> String {
    name.replace("${", "$ {")
}
