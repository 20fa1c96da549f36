//! Settings of Cookie Managers.

use super::Properties;

/// Settings of Cookie Managers.
#[derive(Clone, Debug)]
pub(crate) struct Cookies {
    /// True if the domain of a cookie must match its origin (`CookieManager.check.cookies`).
    pub(crate) check: bool,
    /// True if a cookie with an empty value deletes the stored one (`CookieManager.delete_null_cookies`).
    pub(crate) delete_null: bool,
    /// True if received cookies are stored in variables (`CookieManager.save.cookies`).
    pub(crate) save: bool,
    /// Prefix of the names of variables that hold cookies (`CookieManager.name.prefix`).
    pub(crate) prefix: String,
}

impl Cookies {
    pub(super) fn of(get: &Properties<'_>) -> Self {
        Self {
            check: get.is("CookieManager.check.cookies", true),
            delete_null: get.is("CookieManager.delete_null_cookies", true),
            save: get.is("CookieManager.save.cookies", false),
            prefix: get.text("CookieManager.name.prefix", "COOKIE_"),
        }
    }
}
