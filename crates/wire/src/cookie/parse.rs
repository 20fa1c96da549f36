//! Parser of `Set-Cookie`: a pair, then attributes. Unknown attributes are ignored; if an attribute occurs more than
//! once, its last value counts.
//!
//! A run of white space within a token becomes one blank, and quotes around a value are removed, as in HttpClient's
//! token parser. Strings borrow the input where possible.

use super::{Origin, Policy, Rejected, date};
use std::borrow::Cow;

pub(super) struct Parsed<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) value: Cow<'a, str>,
    pub(super) domain: Cow<'a, str>,
    pub(super) path: Cow<'a, str>,
    pub(super) secure: bool,
    pub(super) host_only: bool,
    /// True if the cookie has the attribute `Path`.
    pub(super) path_given: bool,
    /// Value of the cookie's attribute `Version`, if the policy supports it.
    pub(super) version: i32,
    /// Expiry of the cookie by `Expires` or `Max-Age` in milliseconds since 1970; may be in the past.
    pub(super) expires_ms: Option<i64>,
}

/// Raw values of the supported attributes; an attribute without a value is blank.
#[derive(Default)]
struct Attributes<'a> {
    domain: Option<Cow<'a, str>>,
    path: Option<Cow<'a, str>>,
    expires: Option<Cow<'a, str>>,
    max_age: Option<Cow<'a, str>>,
    secure: bool,
}

pub(super) fn set_cookie<'a>(
    text: &'a str,
    origin: &'a Origin<'_>,
    host: &'a str,
    now_ms: i64,
    policy: Policy,
) -> Result<Option<Parsed<'a>>, Rejected> {
    let draft = matches!(policy, Policy::Netscape | Policy::Compatibility);
    let mut rest = text;
    let name = token(&mut rest, b"=;");
    if name.is_empty() {
        return Ok(None);
    }
    let value = match rest.as_bytes().first() {
        Some(b'=') => {
            rest = &rest[1..];
            if draft { token(&mut rest, b";") } else { value(&mut rest, b";") }
        }
        // In the draft, a name without `=` is a cookie with an empty value. Other policies reject it, or ignore it at
        // the end of the line.
        Some(_) if !draft => return Err(Rejected::NoValue),
        None if !draft => return Ok(None),
        _ => Cow::Borrowed(""),
    };
    let attributes = attributes(rest.strip_prefix(';').unwrap_or(rest), draft, policy)?;

    let (domain, host_only) = match attributes.domain {
        None => (Cow::Borrowed(host), true),
        Some(domain) => (domain_of(domain, host, policy)?, false),
    };
    let path_given = attributes.path.is_some();
    let path = match attributes.path {
        None => default_path(origin.path()),
        Some(path) if is_blank(&path) => Cow::Borrowed("/"),
        Some(path) => path,
    };
    let expires_ms = if draft {
        attributes.expires.map(|expires| draft_date(&expires)).transpose()?
    } else if let Some(age) = attributes.max_age {
        age_of(&age, now_ms, policy)?
    } else {
        date_of(attributes.expires.as_deref(), policy)?
    };
    let secure = attributes.secure;
    let version = 0;
    Ok(Some(Parsed {
        name,
        value,
        domain,
        path,
        secure,
        host_only,
        path_given,
        version,
        expires_ms,
    }))
}

fn attributes(mut rest: &str, draft: bool, policy: Policy) -> Result<Attributes<'_>, Rejected> {
    let mut found = Attributes::default();
    while !rest.is_empty() {
        let name = token(&mut rest, b"=;");
        let mut value = Cow::Borrowed("");
        if rest.starts_with('=') {
            rest = &rest[1..];
            value = token(&mut rest, b";");
        }
        rest = rest.strip_prefix(';').unwrap_or(rest);
        let slot = match name.len() {
            4 if name.eq_ignore_ascii_case("path") => &mut found.path,
            6 if name.eq_ignore_ascii_case("domain") => &mut found.domain,
            7 if name.eq_ignore_ascii_case("expires") => &mut found.expires,
            7 if name.eq_ignore_ascii_case("max-age") => &mut found.max_age,
            6 if name.eq_ignore_ascii_case("secure") => {
                found.secure = true;
                continue;
            }
            _ => continue,
        };
        // For the draft, HttpClient reads attributes from the end: if an attribute occurs more than once, its first
        // value counts, but all values must be valid.
        if draft {
            match name.len() {
                6 if is_blank(&value) => return Err(Rejected::BlankDomain),
                7 if name.eq_ignore_ascii_case("expires") => draft_date(&value).map(|_| ())?,
                _ => {}
            }
        }
        // A `Domain` that ends with a dot is ignored, except by the Netscape policy.
        let passed_over = |old: &str| {
            policy == Policy::Compatibility
                && name.eq_ignore_ascii_case("domain")
                && old.ends_with('.')
        };
        if !draft || slot.as_deref().is_none_or(passed_over) {
            *slot = Some(value);
        }
    }
    Ok(found)
}

fn domain_of<'a>(
    domain: Cow<'a, str>,
    host: &'a str,
    policy: Policy,
) -> Result<Cow<'a, str>, Rejected> {
    if is_blank(&domain) {
        return Err(Rejected::BlankDomain);
    }
    let bare = match policy {
        Policy::Netscape => &domain,
        _ if domain.ends_with('.') => return Ok(Cow::Borrowed(host)),
        _ => domain.strip_prefix('.').unwrap_or(&domain),
    };
    if bare.len() == domain.len() && !bare.bytes().any(|b| b.is_ascii_uppercase()) {
        return Ok(domain);
    }
    Ok(Cow::Owned(bare.to_ascii_lowercase()))
}

/// Returns the directory of the request path, the default of a cookie's `Path`.
pub(super) fn default_path(path: &str) -> Cow<'_, str> {
    match path.rfind('/') {
        Some(0) => Cow::Borrowed("/"),
        Some(end) => Cow::Borrowed(&path[..end]),
        None => Cow::Borrowed(path),
    }
}

/// Converts `Max-Age` in seconds to an expiry; a negative age becomes an expiry long ago.
fn age_of(age: &str, now_ms: i64, policy: Policy) -> Result<Option<i64>, Rejected> {
    let strict = policy == Policy::Strict;
    let digits = age.strip_prefix('-').unwrap_or(age);
    let number =
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| age.parse::<i32>().ok()).flatten();
    match number {
        None if strict => Err(Rejected::MaxAge),
        Some(..0) if strict => Err(Rejected::MaxAge),
        None => Ok(None),
        Some(..0) => Ok(Some(i64::MIN)),
        Some(age) => Ok(Some(now_ms.saturating_add(i64::from(age) * 1000))),
    }
}

fn date_of(expires: Option<&str>, policy: Policy) -> Result<Option<i64>, Rejected> {
    match expires {
        Some(text)
            if policy == Policy::Strict && text.bytes().filter(|b| *b == b'-').count() == 2 =>
        {
            draft_date(text).map(Some)
        }
        Some(text) if !is_blank(text) => date::parse(text).map(Some).ok_or(Rejected::Expires),
        Some(_) if policy == Policy::Strict => Err(Rejected::Expires),
        _ => Ok(None),
    }
}

/// Parses the draft's only date form, whose parts are joined by hyphens. A two-digit year is in this century.
fn draft_date(expires: &str) -> Result<i64, Rejected> {
    let mut parts = expires.splitn(4, '-');
    let (Some(day), Some(month), Some(rest), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Rejected::Expires);
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let date = match digits {
        2 => date::parse(&format!("{day}-{month}-20{rest}")),
        _ => date::parse(expires),
    };
    date.ok_or(Rejected::Expires)
}

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Cuts the text up to a delimiter from `rest` and returns it; the delimiter stays in `rest`. Runs of white space
/// become one blank, and white space at both ends is removed.
pub(super) fn token<'a>(rest: &mut &'a str, delimiters: &[u8]) -> Cow<'a, str> {
    let end = end_of(rest, delimiters);
    let (text, after) = rest.split_at(end);
    *rest = after;
    shrink(text)
}

/// Returns the position of the first delimiter, or the length of the text if there is none.
fn end_of(text: &str, delimiters: &[u8]) -> usize {
    let text = text.as_bytes();
    let end = match *delimiters {
        [a] => memchr::memchr(a, text),
        [a, b] => memchr::memchr2(a, b, text),
        _ => text.iter().position(|byte| delimiters.contains(byte)),
    };
    end.unwrap_or(text.len())
}

fn shrink(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(is_white);
    let plain = text.bytes().zip(text.bytes().skip(1)).all(|(a, b)| match a {
        b'\t' | b'\r' | b'\n' => false,
        b' ' => b != b' ' && b != b'\t' && b != b'\r' && b != b'\n',
        _ => true,
    });
    if plain {
        return Cow::Borrowed(text);
    }
    let mut shrunk = String::with_capacity(text.len());
    for word in text.split(is_white).filter(|word| !word.is_empty()) {
        if !shrunk.is_empty() {
            shrunk.push(' ');
        }
        shrunk.push_str(word);
    }
    Cow::Owned(shrunk)
}

/// Reads a cookie's value up to a delimiter that is outside quotes.
pub(super) fn value<'a>(rest: &mut &'a str, delimiters: &[u8]) -> Cow<'a, str> {
    let end = end_of(rest, delimiters);
    if memchr::memchr(b'"', &rest.as_bytes()[..end]).is_none() {
        return token(rest, delimiters);
    }
    let mut value = String::with_capacity(end);
    let mut blank = false;
    let mut chars = rest.char_indices().peekable();
    let mut at = rest.len();
    while let Some((i, c)) = chars.next() {
        if u8::try_from(c).is_ok_and(|c| delimiters.contains(&c)) {
            at = i;
            break;
        }
        if is_white(c) {
            blank = true;
            continue;
        }
        if blank && !value.is_empty() {
            value.push(' ');
        }
        blank = false;
        if c == '"' {
            quoted(&mut chars, &mut value);
        } else {
            value.push(c);
        }
    }
    *rest = &rest[at..];
    Cow::Owned(value)
}

/// Reads the inside of quotes after the opening quote. A backslash escapes a quote or a backslash.
fn quoted(chars: &mut impl Iterator<Item = (usize, char)>, value: &mut String) {
    let mut escaped = false;
    for (_, c) in chars.filter(|(_, c)| !matches!(c, '\r' | '\n')) {
        if escaped {
            if c != '"' && c != '\\' {
                value.push('\\');
            }
            value.push(c);
            escaped = false;
        } else if c == '"' {
            return;
        } else if c == '\\' {
            escaped = true;
        } else {
            value.push(c);
        }
    }
}
