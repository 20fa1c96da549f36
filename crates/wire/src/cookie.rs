//! Cookies of one user, stored and sent as Apache HttpClient 4.5 and JMeter's cookie manager do.
//!
//! Strings are Latin-1, like header values, so that a server gets its cookies back byte for byte. Cookies with longer
//! paths are sent first; among equally long paths, cookies that were set earlier. Replacing a cookie by one of equal or
//! smaller size allocates nothing. Sending allocates only what the output lacks in capacity.

mod date;
mod elements;
mod index;
mod matching;
mod parse;
mod versioned;

#[cfg(test)]
mod tests;

use index::CookieIndex;
use parse::Parsed;
use std::cmp::Reverse;
use std::fmt;

/// The parts of a request's destination that cookies depend on.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub host: &'a str,
    /// Path of the request's URL without the query.
    pub path: &'a str,
    /// True if the request's connection is encrypted.
    pub secure: bool,
}

impl Origin<'_> {
    fn path(&self) -> &str {
        if self.path.trim_ascii().is_empty() { "/" } else { self.path }
    }
}

/// A cookie policy: the rules by which `Set-Cookie` is parsed and checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Cookie policy by RFC 6265; date parts may be in any order, and an unreadable `Max-Age` is ignored.
    #[default]
    Standard,
    /// Cookie policy by RFC 6265, but an unreadable or negative `Max-Age` rejects the cookie.
    Strict,
    /// Cookie policy that neither stores nor sends cookies.
    Ignore,
    /// Cookie policy by Netscape's original draft: no `Max-Age`, no quotes, and a cookie's domain needs two or three
    /// labels.
    Netscape,
    /// Netscape's draft with the domain rules of RFC 6265, and RFC 2109 for cookies with a version. HttpClient's list
    /// of public suffixes is not used.
    Compatibility,
    /// Cookie policy by RFC 2109: several cookies in a line, no dates, `$Version` in requests.
    Rfc2109,
    /// RFC 2965 as JMeter uses it: `Set-Cookie` is ignored, and the cookies of the plan are sent by RFC 2109.
    Rfc2965,
}

impl Policy {
    /// Returns the policy by its name in JMeter, in any letter case.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "standard" => Self::Standard,
            "standard-strict" => Self::Strict,
            "ignorecookies" => Self::Ignore,
            "netscape" => Self::Netscape,
            "default" | "compatibility" | "best-match" => Self::Compatibility,
            "rfc2109" => Self::Rfc2109,
            "rfc2965" => Self::Rfc2965,
            _ => return None,
        })
    }
}

/// A stored cookie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    pub domain: String,
    pub path: String,
    pub secure: bool,
    /// True if the cookie is sent only to the host `domain` itself, because `Set-Cookie` had no `Domain` attribute.
    pub host_only: bool,
    /// True if `Set-Cookie` had a `Path` attribute, so that `path` was not derived from the request.
    pub path_given: bool,
    /// Value of the cookie's `Version` attribute; 0 without one.
    pub version: i32,
    /// Expiry of the cookie in milliseconds since 1970, a multiple of 1000; `None` for a session cookie.
    pub expires_ms: Option<i64>,
}

/// Settings of a cookie manager. The defaults are JMeter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Policy for parsing `Set-Cookie` and writing `Cookie`.
    pub policy: Policy,
    /// If true, a cookie is stored only if its domain matches the host that set the cookie.
    pub check: bool,
    /// If true, `Set-Cookie` with an empty value deletes the cookie.
    pub delete_empty: bool,
    /// If true, cookies that expired after they were stored are not sent. JMeter sends them.
    pub drop_expired: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { policy: Policy::Standard, check: true, delete_empty: true, drop_expired: false }
    }
}

/// The cookies of one user.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    /// Cookies in the order in which they were last set; in any order if the jar has an index (`index`).
    cookies: Vec<Cookie>,
    /// Index of a jar with many cookies: the position of each cookie, and the time at which it was last set.
    many: Option<Box<CookieIndex>>,
    rules: Rules,
    /// True if several cookies may have the same name, domain and path.
    doubled: bool,
    /// Scratch buffer for sorting the positions of the cookies to send.
    places: Vec<u32>,
}

/// The result of [`Jar::store`] for one cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored<'a> {
    /// The cookie was stored in the jar.
    Set(&'a Cookie),
    /// The new cookie was expired or empty; a stored cookie of the same name, domain and path was removed.
    Deleted,
}

impl Jar {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_rules(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Removes all cookies and keeps the allocated capacity.
    pub fn clear(&mut self) {
        self.cookies.clear();
        self.many = None;
        self.doubled = false;
    }

    /// Adds a cookie without checks; replaces a stored cookie of the same name, domain and path.
    pub fn add(&mut self, cookie: Cookie) {
        self.remove_doubles(&cookie.name, &cookie.domain, &cookie.path);
        let old = self.position(&cookie.name, &cookie.domain, &cookie.path);
        if let Some(old) = old {
            self.remove(old);
        }
        if !(self.rules.delete_empty && cookie.value.is_empty()) {
            self.push(cookie);
        }
    }

    /// Adds a cookie without replacing any, as JMeter does with cookies of the plan. Two cookies of the same name,
    /// domain and path are both sent.
    pub fn add_beside(&mut self, cookie: Cookie) {
        self.doubled |= self.position(&cookie.name, &cookie.domain, &cookie.path).is_some();
        self.push(cookie);
    }

    /// Removes cookies of this name, domain and path until only one is left.
    fn remove_doubles(&mut self, name: &str, domain: &str, path: &str) {
        if !self.doubled {
            return;
        }
        let is = |c: &Cookie| c.name == name && c.path == path && c.domain == domain;
        while self.cookies.iter().filter(|cookie| is(cookie)).count() > 1 {
            let Some(at) = self.position(name, domain, path) else { return };
            self.remove(at);
        }
    }

    fn push(&mut self, cookie: Cookie) {
        match &mut self.many {
            Some(many) => many.push(&cookie),
            None if self.cookies.len() >= index::FEW => {
                let mut many = CookieIndex::of(&self.cookies);
                many.push(&cookie);
                self.many = Some(Box::new(many));
            }
            None => {}
        }
        self.cookies.push(cookie);
    }

    fn remove(&mut self, at: usize) {
        match &mut self.many {
            Some(many) => many.remove(&mut self.cookies, at),
            None => _ = self.cookies.remove(at),
        }
    }

    /// Parses one `Set-Cookie` value and calls `stored` for each cookie that it stores or deletes. Does nothing if the
    /// policy ignores `Set-Cookie`. If cookies are rejected, the first rejection is returned; the others are still
    /// stored.
    pub fn store(
        &mut self,
        origin: &Origin,
        set_cookie: &[u8],
        now_ms: i64,
        mut stored: impl FnMut(Stored<'_>),
    ) -> Result<(), Rejected> {
        let policy = self.rules.policy;
        let text = crate::charset::latin1(set_cookie);
        let host = lower(origin.host);
        let by_elements = match policy {
            Policy::Ignore | Policy::Rfc2965 => return Ok(()),
            Policy::Rfc2109 => true,
            Policy::Compatibility => elements::versions(&text) == (true, false),
            _ => false,
        };
        let mut first = Ok(());
        if by_elements {
            elements::set_cookies(&text, origin, &host, now_ms, |parsed| {
                match self.store_parsed(&parsed, &host, now_ms) {
                    Ok(done) => stored(done),
                    Err(error) => first = first.and(Err(error)),
                }
            })?;
        } else if let Some(parsed) = parse::set_cookie(&text, origin, &host, now_ms, policy)? {
            stored(self.store_parsed(&parsed, &host, now_ms)?);
        }
        first
    }

    fn store_parsed(
        &mut self,
        parsed: &Parsed<'_>,
        host: &str,
        now_ms: i64,
    ) -> Result<Stored<'_>, Rejected> {
        if self.rules.check {
            matching::validate(parsed, host, self.rules.policy)?;
        }
        self.remove_doubles(&parsed.name, &parsed.domain, &parsed.path);
        let old = self.position(&parsed.name, &parsed.domain, &parsed.path);
        let delete = self.rules.delete_empty && parsed.value.is_empty();
        // JMeter treats an expiry of 0 ms after 1970 as "no expiry".
        let expired = parsed.expires_ms.is_some_and(|expires| expires != 0 && expires <= now_ms);
        if delete || expired {
            if let Some(old) = old {
                self.remove(old);
            }
            return Ok(Stored::Deleted);
        }
        let at = match (old, &mut self.many) {
            (Some(old), Some(many)) => {
                many.renew(old);
                old
            }
            (Some(old), None) => {
                // Cookies are in the order of setting, so the renewed cookie moves to the end.
                self.cookies[old..].rotate_left(1);
                self.cookies.len() - 1
            }
            (None, _) => {
                self.push(Cookie {
                    name: parsed.name.as_ref().to_owned(),
                    domain: parsed.domain.as_ref().to_owned(),
                    path: parsed.path.as_ref().to_owned(),
                    ..Cookie::default()
                });
                self.cookies.len() - 1
            }
        };
        renew(&mut self.cookies[at], parsed);
        Ok(Stored::Set(&self.cookies[at]))
    }

    /// Appends the matching cookies, `a=b; c=d`, for a request; returns false if none matches. Line ends within cookies
    /// become blanks, as in HttpClient.
    pub fn header(&mut self, origin: &Origin, now_ms: i64, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let any = self.write(origin, now_ms, latin1, out);
        for byte in &mut out[start..] {
            if matches!(*byte, b'\r' | b'\n' | 0x0b | 0x0c) {
                *byte = b' ';
            }
        }
        any
    }

    /// Appends the matching cookies like [`header`](Self::header), but in UTF-8 and with the line ends in the plan's
    /// cookies. The caller must reject line ends.
    pub fn header_as_it_is(&mut self, origin: &Origin, now_ms: i64, out: &mut Vec<u8>) -> bool {
        self.write(origin, now_ms, utf8, out)
    }

    fn write(&mut self, origin: &Origin, now_ms: i64, put: Put, out: &mut Vec<u8>) -> bool {
        let Self { cookies, many, rules, places, .. } = self;
        if cookies.is_empty() || rules.policy == Policy::Ignore {
            return false;
        }
        let host = lower(origin.host);
        let sends = |cookie: &Cookie| {
            let expired =
                rules.drop_expired && cookie.expires_ms.is_some_and(|expires| expires <= now_ms);
            !expired && matching::fits(cookie, &host, origin.path(), origin.secure, rules.policy)
        };
        let start = out.len();
        match rules.policy {
            policy if many.is_some() => {
                places.clear();
                places.extend((0u32..).zip(&*cookies).filter(|(_, c)| sends(c)).map(|(at, _)| at));
                let age = |at| many.as_ref().map(|many| many.age(at));
                write_sorted(cookies, places, age, policy, put, out);
            }
            Policy::Standard | Policy::Strict => {
                // One pass for each path length, of which there are few. This avoids allocating a sorted list.
                let mut below = usize::MAX;
                while let Some(length) =
                    cookies.iter().map(|cookie| cookie.path.len()).filter(|&n| n < below).max()
                {
                    let of_length = |cookie: &&Cookie| cookie.path.len() == length && sends(cookie);
                    cookies.iter().filter(of_length).for_each(|c| write(c, start, true, put, out));
                    below = length;
                }
            }
            policy => {
                let joined = policy != Policy::Compatibility;
                let sent = || cookies.iter().filter(|cookie| sends(cookie));
                let versioned = joined || sent().all(|cookie| cookie.version > 0);
                if policy == Policy::Netscape || !versioned {
                    sent().for_each(|cookie| write(cookie, start, false, put, out));
                } else {
                    places.clear();
                    places.extend(
                        (0u32..).zip(&*cookies).filter(|(_, c)| sends(c)).map(|(at, _)| at),
                    );
                    if !places.is_empty() {
                        versioned::write(cookies, places, joined, put, out);
                    }
                }
            }
        }
        trim(start, out);
        out.len() > start
    }

    /// Iterates over the cookies in the order in which they were last set.
    pub fn iter(&self) -> impl Iterator<Item = &Cookie> {
        let mut places: Vec<usize> = (0..self.cookies.len()).collect();
        if let Some(many) = &self.many {
            places.sort_unstable_by_key(|at| many.age(*at));
        }
        places.into_iter().map(|at| &self.cookies[at])
    }

    fn position(&self, name: &str, domain: &str, path: &str) -> Option<usize> {
        if let Some(many) = &self.many {
            return many.find(&self.cookies, name, domain, path);
        }
        self.cookies.iter().position(|c| c.name == name && c.path == path && c.domain == domain)
    }
}

/// Copies all fields of a new cookie except name, domain and path, which identify it.
fn renew(cookie: &mut Cookie, parsed: &Parsed<'_>) {
    cookie.value.clear();
    cookie.value.push_str(&parsed.value);
    cookie.secure = parsed.secure;
    cookie.host_only = parsed.host_only;
    cookie.path_given = parsed.path_given;
    cookie.version = parsed.version;
    cookie.expires_ms = parsed
        .expires_ms
        .map(|expires| expires.div_euclid(1000) * 1000)
        .filter(|&expires| expires != 0);
}

/// Writes the matching cookies of a large jar: longer paths first if the policy demands it, then cookies set earlier.
fn write_sorted<A: Ord>(
    cookies: &[Cookie],
    places: &mut [u32],
    age: impl Fn(usize) -> A,
    policy: Policy,
    put: Put,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    let by_path = matches!(policy, Policy::Standard | Policy::Strict);
    places.sort_unstable_by_key(|&at| {
        let path = if by_path { cookies[at as usize].path.len() } else { 0 };
        (Reverse(path), age(at as usize))
    });
    let sent = || places.iter().map(|&at| &cookies[at as usize]);
    let versioned = match policy {
        Policy::Standard | Policy::Strict | Policy::Netscape => false,
        Policy::Compatibility => sent().all(|cookie| cookie.version > 0),
        _ => true,
    };
    if !versioned {
        sent().for_each(|cookie| write(cookie, start, by_path, put, out));
    } else if !places.is_empty() {
        versioned::write(cookies, places, policy != Policy::Compatibility, put, out);
    }
}

fn trim(start: usize, out: &mut Vec<u8>) {
    let white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    while out.len() > start && out.last().is_some_and(white) {
        out.pop();
    }
    let before = out[start..].iter().take_while(|byte| white(byte)).count();
    out.drain(start..start + before);
}

/// Appends one `name=value` pair. With `quotes`, a value with special characters is quoted.
fn write(cookie: &Cookie, start: usize, quotes: bool, put: Put, out: &mut Vec<u8>) {
    if out.len() > start {
        out.extend_from_slice(b"; ");
    }
    put(&cookie.name, out);
    out.push(b'=');
    if quotes && cookie.value.bytes().any(|b| b" \",;\\".contains(&b)) {
        out.push(b'"');
        for piece in cookie.value.split_inclusive(['"', '\\']) {
            let (text, special) = match piece.as_bytes().last() {
                Some(b'"' | b'\\') => piece.split_at(piece.len() - 1),
                _ => (piece, ""),
            };
            put(text, out);
            if !special.is_empty() {
                out.push(b'\\');
                put(special, out);
            }
        }
        out.push(b'"');
    } else {
        put(&cookie.value, out);
    }
}

/// Function that appends a string in the charset of a header.
type Put = fn(&str, &mut Vec<u8>);

fn utf8(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

fn latin1(text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.extend_from_slice(text.as_bytes());
    } else {
        out.extend(text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')));
    }
}

fn lower(host: &str) -> std::borrow::Cow<'_, str> {
    if host.bytes().any(|b| b.is_ascii_uppercase()) {
        host.to_ascii_lowercase().into()
    } else {
        host.into()
    }
}

/// The reason why a cookie was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// The cookie's name is not followed by `=`.
    NoValue,
    /// The cookie's `Domain` attribute is blank.
    BlankDomain,
    /// The cookie's `Domain` attribute does not cover the host that set the cookie.
    Domain,
    /// The cookie's `Expires` attribute is not a date.
    Expires,
    /// The cookie's `Max-Age` attribute is not a number.
    MaxAge,
    /// The cookie's `Version` attribute is negative or not a number.
    Version,
    /// The cookie's name contains a blank or begins with `$`.
    Name,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoValue => "cookie without a value",
            Self::BlankDomain => "blank 'domain' attribute",
            Self::Domain => "'domain' attribute does not cover the host",
            Self::Expires => "invalid 'expires' attribute",
            Self::MaxAge => "invalid 'max-age' attribute",
            Self::Version => "invalid 'version' attribute",
            Self::Name => "a name with a blank or a '$' at its start",
        })
    }
}

impl std::error::Error for Rejected {}
