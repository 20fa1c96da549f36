//! A user's cookies.

use std::fmt;

/// Where a request goes, as far as cookies care.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub host: &'a str,
    /// Without query.
    pub path: &'a str,
    pub secure: bool,
}

/// How `Set-Cookie` is read and checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    #[default]
    Standard,
    Lenient,
    Ignore,
    Netscape,
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
    /// Milliseconds since 1970; `None` for a session cookie.
    pub expires_ms: Option<i64>,
}

/// Deviations from what a browser would do.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Check that a cookie fits its origin before it is stored.
    pub check: bool,
    /// A cookie with an empty value deletes instead of being stored.
    pub delete_empty: bool,
    /// Leave out cookies that expired after they were stored.
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
    cookies: Vec<Cookie>,
}

impl Jar {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_rules(_rules: Rules) -> Self {
        Self::default()
    }

    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Adds a cookie as it is; replaces one of the same name, domain and path.
    pub fn add(&mut self, cookie: Cookie) {
        self.cookies.push(cookie);
    }

    /// Reads one `Set-Cookie` value. `Ok(None)`: nothing was to be stored.
    pub fn store(
        &mut self,
        _origin: &Origin,
        _set_cookie: &[u8],
        _now_ms: i64,
        _policy: Policy,
    ) -> Result<Option<Stored<'_>>, Rejected> {
        Ok(None)
    }

    /// Appends `a=b; c=d` for a request; false if no cookie fits.
    pub fn header(&mut self, _origin: &Origin, _now_ms: i64, _out: &mut Vec<u8>) -> bool {
        false
    }

    pub fn iter(&self) -> impl Iterator<Item = &Cookie> {
        self.cookies.iter()
    }
}

/// What [`Jar::store`] did.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// The cookie is in the jar now.
    Set(&'a Cookie),
    /// The cookie had expired or was empty; one of the same name, domain and path is gone.
    Deleted,
}

/// Why a cookie was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    NoName,
    Domain,
    Path,
    Attribute,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Rejected {}
