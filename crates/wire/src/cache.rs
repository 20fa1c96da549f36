//! One user's HTTP cache: validators and expiry of responses by URL, by the rules of JMeter's Cache Manager.
//!
//! No body is kept: a cache only decides which requests are sent, and with which conditional headers. The rules are
//! exactly JMeter's, including its oddities. A later response does not replace the entry of a URL. Header names in
//! `Vary` are compared case-sensitively. Headers that the HTTP client adds itself count when a response is stored, but
//! not when it is looked up. A full cache evicts the least recently used entry.

mod date;

use std::collections::HashMap;
use std::fmt::Write;

/// Divisor: a full cache evicts one eighth of its entries together. Evicting many entries makes each eviction cheap on
/// average.
const EIGHTH: usize = 8;

/// The HTTP cache of one user.
#[derive(Debug, Default)]
pub struct Cache {
    entries: HashMap<Box<str>, Entry>,
    /// Maximum number of entries in the user's HTTP cache.
    most: usize,
    /// Number of uses of the cache so far: the logical time of an entry's last use.
    uses: u64,
}

/// Cached metadata of one HTTP response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    last_modified: Option<Box<str>>,
    etag: Option<Box<str>>,
    /// Expiry in milliseconds since 1970. Without an expiry, each request for the URL is sent with conditional headers.
    expires_ms: Option<i64>,
    /// Value of the header `Vary`: names of request headers on which the response depends. If set, the response is
    /// looked up in another entry, whose key contains the values of these headers.
    vary: Option<Box<str>>,
    /// Logical time of the entry's last use, from the counter of the cache.
    used: u64,
}

/// Conditional headers of a request for a cached URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Value of the conditional header `If-Modified-Since`.
    pub modified_since: Option<Box<str>>,
    /// Value of the conditional header `If-None-Match`.
    pub none_match: Option<Box<str>>,
}

impl Conditions {
    /// True if the request gets no conditional headers.
    pub fn is_empty(&self) -> bool {
        self.modified_since.is_none() && self.none_match.is_none()
    }
}

/// A response header that cannot be parsed, for which JMeter throws an exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// `max-age` in `Cache-Control` is not a number.
    MaxAge(String),
    /// `max-age` in `Cache-Control` has no value.
    NoMaxAge,
    /// The header `Date` is not a date, and the expiry is computed from it.
    Date,
    /// The header `Last-Modified` is not a date, and the expiry is computed from it.
    LastModified,
}

impl Cache {
    /// Creates an empty HTTP cache of at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Returns the conditional headers for a request. `headers` are the header lines that the plan sets, in blocks,
    /// without cookies.
    pub fn conditions(&mut self, url: &str, headers: &[&[u8]]) -> Conditions {
        self.find(url, headers).map_or_else(Conditions::default, |entry| Conditions {
            modified_since: entry.last_modified.clone(),
            none_match: entry.etag.clone(),
        })
    }

    /// True if the cached response to a GET of the URL has not expired, so that no request is sent. `headers` are the
    /// header lines as for [`Cache::conditions`], plus the cookie line.
    pub fn is_fresh(&mut self, url: &str, headers: &[&[u8]], now_ms: i64) -> bool {
        self.find(url, headers)
            .is_some_and(|entry| entry.expires_ms.is_some_and(|expires| expires > now_ms))
    }

    /// Stores the metadata of a response with a cacheable status.
    ///
    /// `head` is the response head, `sent` the header lines of its request without cookies. If `use_expires` is true,
    /// the expiry is computed from `Cache-Control` and `Expires`; if false, the entry has no expiry and only serves
    /// conditional requests.
    pub fn note(
        &mut self,
        url: &str,
        head: &[u8],
        sent: &[u8],
        use_expires: bool,
        now_ms: i64,
    ) -> Result<(), Malformed> {
        let seen = Seen::of(head);
        if seen.vary.as_deref() == Some("*") || !seen.says_something() {
            return Ok(());
        }
        let expires_ms = if use_expires {
            if seen.directive("no-store") {
                return Ok(());
            }
            seen.expires_ms(now_ms)?
        } else {
            None
        };
        let boxed = |text: &Option<String>| text.as_deref().map(Box::from);
        let entry = Entry {
            last_modified: boxed(&seen.last_modified),
            etag: boxed(&seen.etag),
            expires_ms,
            vary: None,
            used: 0,
        };
        match &seen.vary {
            Some(vary) => {
                let key = vary_key(url, vary, &[sent]);
                self.put(url, Entry { vary: Some(vary.as_str().into()), ..entry.clone() });
                self.put(&key, entry);
            }
            None if self.entries.contains_key(url) => self.touch(url),
            None => self.put(url, entry),
        }
        Ok(())
    }

    /// Returns the number of responses in the user's HTTP cache.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if the user's HTTP cache is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&mut self, url: &str, headers: &[&[u8]]) -> Option<&Entry> {
        self.touch(url);
        let vary = self.entries.get(url)?.vary.clone();
        let Some(vary) = vary else { return self.entries.get(url) };
        let key = vary_key(url, &vary, headers);
        self.touch(&key);
        self.entries.get(&*key).filter(|entry| entry.vary.is_none())
    }

    fn touch(&mut self, key: &str) {
        self.uses += 1;
        if let Some(entry) = self.entries.get_mut(key) {
            entry.used = self.uses;
        }
    }

    fn put(&mut self, key: &str, entry: Entry) {
        if self.most == 0 {
            return;
        }
        if self.entries.len() >= self.most && !self.entries.contains_key(key) {
            self.make_room();
        }
        self.uses += 1;
        self.entries.insert(key.into(), Entry { used: self.uses, ..entry });
    }

    /// Evicts the least recently used eighth of the cache's entries.
    fn make_room(&mut self) {
        let mut uses: Vec<u64> = self.entries.values().map(|entry| entry.used).collect();
        let goes = (uses.len() / EIGHTH).max(1) - 1;
        let (_, last, _) = uses.select_nth_unstable(goes);
        let last = *last;
        self.entries.retain(|_, entry| entry.used > last);
    }
}

/// Response headers that decide whether and how a response is cached. If a header occurs more than once, its last value
/// counts.
#[derive(Debug, Default)]
struct Seen {
    vary: Option<String>,
    last_modified: Option<String>,
    expires: Option<String>,
    etag: Option<String>,
    cache_control: Option<String>,
    date: Option<String>,
}

impl Seen {
    fn of(head: &[u8]) -> Self {
        let mut seen = Self::default();
        for line in head.split(|byte| *byte == b'\n').skip(1) {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let name = line[..colon].trim_ascii();
            let slot = match name.len() {
                4 if name.eq_ignore_ascii_case(b"vary") => &mut seen.vary,
                13 if name.eq_ignore_ascii_case(b"last-modified") => &mut seen.last_modified,
                7 if name.eq_ignore_ascii_case(b"expires") => &mut seen.expires,
                4 if name.eq_ignore_ascii_case(b"etag") => &mut seen.etag,
                13 if name.eq_ignore_ascii_case(b"cache-control") => &mut seen.cache_control,
                4 if name.eq_ignore_ascii_case(b"date") => &mut seen.date,
                _ => continue,
            };
            let value = line[colon + 1..].trim_ascii();
            *slot = Some(value.iter().map(|byte| char::from(*byte)).collect());
        }
        seen
    }

    /// True if the response has a header with which a cache can validate it or compute its expiry.
    fn says_something(&self) -> bool {
        [&self.last_modified, &self.expires, &self.etag, &self.cache_control]
            .into_iter()
            .flatten()
            .any(|text| !text.trim().is_empty())
    }

    /// True if the header `Cache-Control` contains this text anywhere.
    fn directive(&self, name: &str) -> bool {
        self.cache_control.as_deref().is_some_and(|control| control.contains(name))
    }

    fn expires_ms(&self, now_ms: i64) -> Result<Option<i64>, Malformed> {
        const MAX_AGE: &str = "max-age=";
        const YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;
        let told = self.expires.as_deref().and_then(date::parse);
        if self.directive("no-cache") {
            return Ok(told);
        }
        if let Some((_, rest)) = self.cache_control.as_deref().and_then(|c| c.split_once(MAX_AGE)) {
            let word = rest.split([',', ' ']).next().unwrap_or_default();
            if !rest.is_empty() && rest.chars().all(|c| matches!(c, ',' | ' ')) {
                return Err(Malformed::NoMaxAge);
            }
            let age: i64 = word.parse().map_err(|_| Malformed::MaxAge(word.to_owned()))?;
            return Ok(Some(now_ms.wrapping_add(age.wrapping_mul(1000))));
        }
        if self.expires.is_some() {
            return Ok(told);
        }
        let full = |text: &'_ Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        if !full(&self.last_modified) || !full(&self.date) {
            return Ok(Some(now_ms + YEAR_MS));
        }
        let date = self.date.as_deref().and_then(date::parse).ok_or(Malformed::Date)?;
        let modified = self.last_modified.as_deref().and_then(date::parse);
        let modified = modified.ok_or(Malformed::LastModified)?;
        let tenth = ((date - modified) as f64 * 0.1 + 0.5).floor() as i64;
        Ok(Some(now_ms + tenth))
    }
}

/// Builds the cache key of a response that depends on request headers: from the URL, `Vary` and the values of these
/// headers.
fn vary_key(url: &str, vary: &str, headers: &[&[u8]]) -> String {
    let mut key = format!("vary-{vary}-");
    let mut names: Vec<&str> = vary.split(',').map(str::trim_start).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let _ = write!(key, "{name}=");
        for line in headers.iter().flat_map(|block| block.split(|byte| *byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let value = line.strip_prefix(name.as_bytes()).and_then(|l| l.strip_prefix(b": "));
            if let Some(value) = value {
                key.extend(value.iter().map(|byte| char::from(*byte)));
                key.push('\n');
            }
        }
        key.push(';');
    }
    let _ = write!(key, "-{url}");
    key
}

#[cfg(test)]
mod tests;
