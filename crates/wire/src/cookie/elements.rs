//! Parser of `Set-Cookie` by RFC 2109: several cookies in a line, separated by commas, with quoted attributes.
//!
//! The comma of an `Expires` date begins another cookie, as in HttpClient. If an attribute occurs more than once, the
//! first value counts. One invalid attribute rejects the whole line.

use std::borrow::Cow;

use super::parse::{Parsed, default_path, is_blank, token, value};
use super::{Origin, Rejected};

/// Parses a line and passes its cookies to `found` in order. If any cookie is malformed, none is passed.
pub(super) fn set_cookies<'a>(
    text: &'a str,
    origin: &'a Origin<'_>,
    host: &'a str,
    now_ms: i64,
    mut found: impl FnMut(Parsed<'a>),
) -> Result<(), Rejected> {
    // An error at the end of a line rejects its first cookies too, so the line is parsed twice instead of being
    // buffered.
    for keep in [false, true] {
        let mut rest = text;
        while !rest.is_empty() {
            let mut pair = pair(&mut rest);
            let cookie = start(&mut pair, origin, host);
            let parsed = attributes(&mut rest, pair.ends, cookie, now_ms)?;
            if keep && !parsed.name.is_empty() {
                found(parsed);
            }
        }
    }
    Ok(())
}

/// Returns whether any cookie of the line has the attribute `Version`, and whether any has `Expires`.
pub(super) fn versions(text: &str) -> (bool, bool) {
    let (mut versioned, mut dated) = (false, false);
    let mut rest = text;
    while !rest.is_empty() {
        let first = pair(&mut rest);
        // A cookie that consists of attributes only does not count.
        let counts = !first.name.is_empty() || first.value.is_some();
        let mut ends = first.ends;
        if !ends {
            skip_white(&mut rest);
        }
        while !ends && !rest.is_empty() {
            let next = pair(&mut rest);
            ends = next.ends;
            versioned |= counts && next.name.eq_ignore_ascii_case("version");
            dated |= counts && next.name.eq_ignore_ascii_case("expires");
        }
    }
    (versioned, dated)
}

/// Name of a cookie or an attribute, with its optional value.
struct Pair<'a> {
    name: Cow<'a, str>,
    value: Option<Cow<'a, str>>,
    /// True if a comma or the end of the line follows, so that the pair is the last of its cookie.
    ends: bool,
}

fn pair<'a>(rest: &mut &'a str) -> Pair<'a> {
    let name = token(rest, b"=;,");
    let Some(delimiter) = rest.chars().next() else {
        return Pair { name, value: None, ends: true };
    };
    *rest = &rest[1..];
    if delimiter != '=' {
        return Pair { name, value: None, ends: delimiter == ',' };
    }
    let value = value(rest, b";,");
    let ends = rest.is_empty() || rest.starts_with(',');
    *rest = rest.get(1..).unwrap_or("");
    Pair { name, value: Some(value), ends }
}

fn skip_white(rest: &mut &str) {
    *rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
}

fn start<'a>(pair: &mut Pair<'a>, origin: &'a Origin<'_>, host: &'a str) -> Parsed<'a> {
    Parsed {
        name: std::mem::take(&mut pair.name),
        value: pair.value.take().unwrap_or(Cow::Borrowed("")),
        domain: Cow::Borrowed(host),
        path: default_path(origin.path()),
        secure: false,
        host_only: true,
        path_given: false,
        version: 0,
        expires_ms: None,
    }
}

/// Parses the attributes of a cookie. If an attribute occurs more than once, its first value counts.
fn attributes<'a>(
    rest: &mut &'a str,
    mut ends: bool,
    mut cookie: Parsed<'a>,
    now_ms: i64,
) -> Result<Parsed<'a>, Rejected> {
    if !ends {
        skip_white(rest);
    }
    // A cookie without a name is skipped together with its attributes.
    let named = !cookie.name.is_empty();
    let (mut versioned, mut aged) = (false, false);
    while !ends && !rest.is_empty() {
        let Pair { name, value, ends: last } = pair(rest);
        ends = last;
        if !named {
            continue;
        }
        match name.len() {
            4 if name.eq_ignore_ascii_case("path") && !cookie.path_given => {
                let value = value.filter(|value| !is_blank(value));
                cookie.path = value.unwrap_or(Cow::Borrowed("/"));
                cookie.path_given = true;
            }
            6 if name.eq_ignore_ascii_case("domain") => {
                let value = value.filter(|value| !value.trim_matches(|c| c <= ' ').is_empty());
                let value = value.ok_or(Rejected::BlankDomain)?;
                if std::mem::replace(&mut cookie.host_only, false) {
                    cookie.domain = if value.chars().any(char::is_uppercase) {
                        Cow::Owned(value.to_lowercase())
                    } else {
                        value
                    };
                }
            }
            6 if name.eq_ignore_ascii_case("secure") => cookie.secure = true,
            7 if name.eq_ignore_ascii_case("version") => {
                let version = value.and_then(|value| value.parse().ok());
                let version = version.ok_or(Rejected::Version)?;
                if !std::mem::replace(&mut versioned, true) {
                    cookie.version = version;
                }
            }
            7 if name.eq_ignore_ascii_case("max-age") => {
                let age = value.and_then(|value| value.parse::<i32>().ok());
                let age = age.filter(|age| *age >= 0).ok_or(Rejected::MaxAge)?;
                if !std::mem::replace(&mut aged, true) {
                    cookie.expires_ms = Some(now_ms.saturating_add(i64::from(age) * 1000));
                }
            }
            _ => {}
        }
    }
    Ok(cookie)
}
