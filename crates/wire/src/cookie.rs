//! A user's cookies, as Apache HttpClient 4.5 and JMeter's cookie manager keep and send them.
//!
//! Texts are Latin-1, as header values are there, so that what a server set comes back to it byte for byte. Order of
//! sending: longer paths first, then the order in which cookies were last set. A cookie that is replaced by one of equal or
//! smaller size allocates nothing, and sending allocates only what the output lacks in capacity.

mod date;
mod matching;
mod parse;

#[cfg(test)]
mod tests;

use parse::Parsed;
use std::fmt;

/// Where a request goes, as far as cookies care.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub host: &'a str,
    /// Without query.
    pub path: &'a str,
    /// The connection is encrypted.
    pub secure: bool,
}

impl Origin<'_> {
    fn path(&self) -> &str {
        if self.path.trim_ascii().is_empty() { "/" } else { self.path }
    }
}

/// How `Set-Cookie` is read and checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// RFC 6265 with dates in any order and unreadable ages ignored.
    #[default]
    Standard,
    /// RFC 6265, but a bad or negative age rejects the cookie.
    Strict,
    /// Nothing is stored or sent.
    Ignore,
    /// The original draft: no ages, domains need two or three parts, no quotes.
    Netscape,
    /// The original draft with the domain rules of RFC 6265. Of RFC 2109, which HttpClient tries for cookies with a version,
    /// and of its list of public suffixes there is nothing here.
    Compatibility,
}

/// One cookie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    pub domain: String,
    pub path: String,
    pub secure: bool,
    /// Sent to exactly `domain`, because no `Domain` attribute was given.
    pub host_only: bool,
    /// Milliseconds since 1970, a multiple of 1000; `None` for a session cookie.
    pub expires_ms: Option<i64>,
}

/// What may differ between cookie managers. The default is JMeter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Check that a cookie's domain fits its origin before it is stored.
    pub check: bool,
    /// A cookie with an empty value deletes instead of being stored.
    pub delete_empty: bool,
    /// Leave out cookies that expired after they were stored. JMeter sends them.
    pub drop_expired: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { check: true, delete_empty: true, drop_expired: false }
    }
}

/// The cookies of one user.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    /// In the order in which they were last set.
    cookies: Vec<Cookie>,
    rules: Rules,
    /// Of the last `Set-Cookie`; decides how cookies are matched and written.
    policy: Policy,
}

/// What [`Jar::store`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored<'a> {
    /// The cookie is in the jar now.
    Set(&'a Cookie),
    /// The cookie had expired or was empty; one of the same name, domain and path is gone.
    Deleted,
}

impl Jar {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_rules(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Removes all cookies and keeps the room they took.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Adds a cookie as it is; replaces one of the same name, domain and path.
    pub fn add(&mut self, cookie: Cookie) {
        let old = self.position(&cookie.name, &cookie.domain, &cookie.path);
        if let Some(old) = old {
            self.cookies.remove(old);
        }
        if !(self.rules.delete_empty && cookie.value.is_empty()) {
            self.cookies.push(cookie);
        }
    }

    /// Reads one `Set-Cookie` value. `Ok(None)`: it holds no cookie, or the policy ignores it.
    pub fn store(
        &mut self,
        origin: &Origin,
        set_cookie: &[u8],
        now_ms: i64,
        policy: Policy,
    ) -> Result<Option<Stored<'_>>, Rejected> {
        self.policy = policy;
        if policy == Policy::Ignore {
            return Ok(None);
        }
        let text = crate::charset::latin1(set_cookie);
        let host = lower(origin.host);
        let Some(parsed) = parse::set_cookie(&text, origin, &host, now_ms, policy)? else {
            return Ok(None);
        };
        if self.rules.check {
            matching::validate(&parsed.domain, &host, policy)?;
        }
        let old = self.position(&parsed.name, &parsed.domain, &parsed.path);
        let delete = self.rules.delete_empty && parsed.value.is_empty();
        // The very first millisecond of 1970 counts as "no expiry", as it does for JMeter.
        let expired = parsed.expires_ms.is_some_and(|expires| expires != 0 && expires <= now_ms);
        if delete || expired {
            if let Some(old) = old {
                self.cookies.remove(old);
            }
            return Ok(Some(Stored::Deleted));
        }
        match old {
            Some(old) => {
                // The order is that of setting: the renewed cookie goes to the end.
                self.cookies[old..].rotate_left(1);
                let last = self.cookies.len() - 1;
                renew(&mut self.cookies[last], &parsed);
            }
            None => {
                let mut cookie = Cookie {
                    name: parsed.name.as_ref().to_owned(),
                    domain: parsed.domain.as_ref().to_owned(),
                    path: parsed.path.as_ref().to_owned(),
                    ..Cookie::default()
                };
                renew(&mut cookie, &parsed);
                self.cookies.push(cookie);
            }
        }
        Ok(self.cookies.last().map(Stored::Set))
    }

    /// Appends `a=b; c=d` for a request; false if no cookie fits.
    pub fn header(&mut self, origin: &Origin, now_ms: i64, out: &mut Vec<u8>) -> bool {
        if self.cookies.is_empty() || self.policy == Policy::Ignore {
            return false;
        }
        let host = lower(origin.host);
        let sends = |cookie: &Cookie| {
            let expired = self.rules.drop_expired
                && cookie.expires_ms.is_some_and(|expires| expires <= now_ms);
            !expired && matching::fits(cookie, &host, origin.path(), origin.secure, self.policy)
        };
        let start = out.len();
        let sorted = matches!(self.policy, Policy::Standard | Policy::Strict);
        if !sorted {
            self.cookies
                .iter()
                .filter(|cookie| sends(cookie))
                .for_each(|cookie| write(cookie, start, false, out));
            return out.len() > start;
        }
        // One round for each length of path, which are few: no list of references needs room.
        let mut below = usize::MAX;
        while let Some(length) =
            self.cookies.iter().map(|cookie| cookie.path.len()).filter(|&n| n < below).max()
        {
            for cookie in
                self.cookies.iter().filter(|cookie| cookie.path.len() == length && sends(cookie))
            {
                write(cookie, start, true, out);
            }
            below = length;
        }
        out.len() > start
    }

    /// In the order in which they were last set.
    pub fn iter(&self) -> impl Iterator<Item = &Cookie> {
        self.cookies.iter()
    }

    fn position(&self, name: &str, domain: &str, path: &str) -> Option<usize> {
        self.cookies.iter().position(|c| c.name == name && c.path == path && c.domain == domain)
    }
}

/// Takes over all but the three texts that make up a cookie's identity.
fn renew(cookie: &mut Cookie, parsed: &Parsed<'_>) {
    cookie.value.clear();
    cookie.value.push_str(&parsed.value);
    cookie.secure = parsed.secure;
    cookie.host_only = parsed.host_only;
    cookie.expires_ms = parsed
        .expires_ms
        .map(|expires| expires.div_euclid(1000) * 1000)
        .filter(|&expires| expires != 0);
}

/// Appends one pair; quotes what would not come through bare, if asked.
fn write(cookie: &Cookie, start: usize, quotes: bool, out: &mut Vec<u8>) {
    if out.len() > start {
        out.extend_from_slice(b"; ");
    }
    latin1(&cookie.name, out);
    out.push(b'=');
    if quotes && cookie.value.bytes().any(|b| b" \",;\\".contains(&b)) {
        out.push(b'"');
        for piece in cookie.value.split_inclusive(['"', '\\']) {
            let (text, special) = match piece.as_bytes().last() {
                Some(b'"' | b'\\') => piece.split_at(piece.len() - 1),
                _ => (piece, ""),
            };
            latin1(text, out);
            if !special.is_empty() {
                out.push(b'\\');
                latin1(special, out);
            }
        }
        out.push(b'"');
    } else {
        latin1(&cookie.value, out);
    }
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

/// Why a cookie was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// There is no `=` after the name.
    NoValue,
    /// `Domain` is blank.
    BlankDomain,
    /// `Domain` does not cover the host that set the cookie.
    Domain,
    /// `Expires` is no date.
    Expires,
    /// `Max-Age` is no number.
    MaxAge,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoValue => "cookie without a value",
            Self::BlankDomain => "blank 'domain' attribute",
            Self::Domain => "'domain' attribute does not cover the host",
            Self::Expires => "invalid 'expires' attribute",
            Self::MaxAge => "invalid 'max-age' attribute",
        })
    }
}

impl std::error::Error for Rejected {}
