//! Writer of the `Cookie` header by RFC 2109 and 2965: `$Version=1; a="b"; $Path="/"; $Domain=".example.com"`.
//!
//! If one path contains the other, the cookie with the longer path goes first. The order of other cookies is what
//! Java's sort yields for a comparison that is not transitive. The policies `rfc2109` and `rfc2965` write one line with
//! the lowest version of all cookies. The policy `compatibility` writes a line for each cookie, and JMeter joins the
//! lines without a separator.

use std::cmp::Ordering;

use super::{Cookie, Put};

/// Sorts and writes the cookies at the given positions: into one line if `joined` is true, otherwise one line per
/// cookie.
pub(super) fn write(
    cookies: &[Cookie],
    places: &mut [u32],
    joined: bool,
    put: Put,
    out: &mut Vec<u8>,
) {
    sort(places, |a, b| by_path(&cookies[a as usize], &cookies[b as usize]));
    let chosen = || places.iter().map(|at| &cookies[*at as usize]);
    let lowest = chosen().map(|cookie| cookie.version).min().unwrap_or(0);
    if joined {
        number(b"$Version=", lowest, out);
    }
    for cookie in chosen() {
        let version = if joined { lowest } else { cookie.version };
        let start = out.len();
        if !joined {
            number(b"$Version=", version, out);
        }
        out.extend_from_slice(b"; ");
        parameter(&cookie.name, &cookie.value, version, put, out);
        if cookie.path_given {
            out.extend_from_slice(b"; ");
            parameter("$Path", &cookie.path, version, put, out);
        }
        if !cookie.host_only {
            out.extend_from_slice(b"; ");
            let domain = cookie.domain.as_str();
            if domain.bytes().any(|byte| byte.is_ascii_uppercase()) {
                parameter("$Domain", &domain.to_ascii_lowercase(), version, put, out);
            } else {
                parameter("$Domain", domain, version, put, out);
            }
        }
        if !joined {
            super::trim(start, out);
        }
    }
}

fn number(name: &[u8], version: i32, out: &mut Vec<u8>) {
    use std::io::Write;
    out.extend_from_slice(name);
    // Writing to a vector cannot fail.
    let _ = write!(out, "{version}");
}

fn parameter(name: &str, value: &str, version: i32, put: Put, out: &mut Vec<u8>) {
    let quote: &[u8] = if version > 0 { b"\"" } else { b"" };
    put(name, out);
    out.push(b'=');
    out.extend_from_slice(quote);
    put(value, out);
    out.extend_from_slice(quote);
}

/// Orders two cookies if the path of one contains the path of the other: the longer path first. HttpClient treats all
/// other paths as equal.
fn by_path(a: &Cookie, b: &Cookie) -> Ordering {
    let whole = |path: &str| path.len() + usize::from(!path.ends_with('/'));
    let begins = |long: &str, short: &str| {
        let bare = short.strip_suffix('/').unwrap_or(short);
        long.strip_prefix(bare).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let (a, b) = (a.path.as_str(), b.path.as_str());
    match whole(a).cmp(&whole(b)) {
        Ordering::Greater if begins(a, b) => Ordering::Less,
        Ordering::Less if begins(b, a) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// Sorts as Java does for fewer than 32 elements: finds the initial run, then inserts by binary search. The comparison
/// is not transitive, so the result depends on the algorithm.
fn sort(places: &mut [u32], compare: impl Fn(u32, u32) -> Ordering) {
    if places.len() < 2 {
        return;
    }
    let mut run = 2;
    if compare(places[1], places[0]) == Ordering::Less {
        while run < places.len() && compare(places[run], places[run - 1]) == Ordering::Less {
            run += 1;
        }
        places[..run].reverse();
    } else {
        while run < places.len() && compare(places[run], places[run - 1]) != Ordering::Less {
            run += 1;
        }
    }
    for at in run..places.len() {
        let pivot = places[at];
        let (mut left, mut right) = (0, at);
        while left < right {
            let middle = usize::midpoint(left, right);
            match compare(pivot, places[middle]) {
                Ordering::Less => right = middle,
                _ => left = middle + 1,
            }
        }
        places[left..=at].rotate_right(1);
    }
}
