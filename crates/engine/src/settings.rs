//! Properties that change how the engine works, under JMeter's names.

use crate::clock::{MS, Nanos};

/// Settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How long a connection may be used (`httpclient4.time_to_live`, ms).
    pub(crate) time_to_live: Nanos,
    /// A request that met a connection the peer had given up is sent once more on a new one
    /// (`throng.http.retry_stale`, default false: the sample fails, as it does in JMeter).
    pub(crate) retry_stale: bool,
    /// An idle connection is looked at before it is used again only after this (`httpclient4.validate_after_inactivity`, ms).
    pub(crate) validate_after: Nanos,
    /// Iterations that are different users drop connections (`httpclient.reset_state_on_thread_group_iteration`).
    pub(crate) reset_state: bool,
    /// One TLS session cache for all users (`https.sessioncontext.shared`).
    pub(crate) tls_shared: bool,
    pub(crate) tls: wire::tls::Settings,
    /// `httpsampler.max_redirects`.
    pub(crate) max_redirects: u32,
    /// Bytes of a body that are kept (`httpsampler.max_bytes_to_store_per_request`; 0 there is no limit).
    pub(crate) max_body: usize,
    /// `sampleresult.default.encoding`.
    pub(crate) default_encoding: String,
    /// Sub-results keep their URL as label (`subresults.disable_renaming`).
    pub(crate) keep_sub_labels: bool,
    /// `sample_variables`.
    pub(crate) sample_variables: Vec<String>,
    /// `CookieManager.check.cookies`.
    pub(crate) cookie_check: bool,
    /// `CookieManager.delete_null_cookies`.
    pub(crate) cookie_delete_null: bool,
    /// `CookieManager.save.cookies`.
    pub(crate) cookie_save: bool,
    /// `CookieManager.name.prefix`.
    pub(crate) cookie_prefix: String,
}

/// The properties read here, for those who tell users which ones count.
pub const PROPERTIES: &[&str] = &[
    "httpclient4.time_to_live",
    "httpclient4.validate_after_inactivity",
    "throng.http.retry_stale",
    "httpclient.reset_state_on_thread_group_iteration",
    "https.sessioncontext.shared",
    "https.socket.protocols",
    "https.default.protocol",
    "httpsampler.max_redirects",
    "httpsampler.max_bytes_to_store_per_request",
    "sampleresult.default.encoding",
    "sample_variables",
    "subresults.disable_renaming",
    "CookieManager.check.cookies",
    "CookieManager.delete_null_cookies",
    "CookieManager.save.cookies",
    "CookieManager.name.prefix",
];

/// Bodies are never kept beyond this, whatever the property says: 512 MiB.
const BODY_LIMIT: usize = 512 << 20;

impl Settings {
    pub(crate) fn from_properties(get: impl Fn(&str) -> Option<String>) -> Self {
        let text = |key: &str, default: &str| get(key).unwrap_or_else(|| default.to_owned());
        let is = |key: &str, default: bool| {
            get(key).map_or(default, |value| value.trim().eq_ignore_ascii_case("true"))
        };
        let number = |key: &str, default: i64| {
            get(key).and_then(|value| value.trim().parse().ok()).unwrap_or(default)
        };
        let max_body = match number("httpsampler.max_bytes_to_store_per_request", 0) {
            n if n <= 0 => BODY_LIMIT,
            n => (n as usize).min(BODY_LIMIT),
        };
        let protocols = get("https.socket.protocols")
            .or_else(|| get("https.default.protocol"))
            .unwrap_or_default();
        let named = protocols.contains("TLSv1");
        let versions = if named {
            (protocols.contains("TLSv1.2"), protocols.contains("TLSv1.3"))
        } else {
            (true, true)
        };
        let versions = if versions == (false, false) { (true, true) } else { versions };
        Self {
            time_to_live: number("httpclient4.time_to_live", 60_000).max(0) * MS,
            retry_stale: is("throng.http.retry_stale", false),
            validate_after: number("httpclient4.validate_after_inactivity", 4_900) * MS,
            reset_state: is("httpclient.reset_state_on_thread_group_iteration", true),
            tls_shared: is("https.sessioncontext.shared", false),
            tls: wire::tls::Settings { versions, ..wire::tls::Settings::default() },
            max_redirects: number("httpsampler.max_redirects", 20).max(0) as u32,
            max_body,
            default_encoding: text("sampleresult.default.encoding", "UTF-8"),
            keep_sub_labels: is("subresults.disable_renaming", false),
            sample_variables: text("sample_variables", "")
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            cookie_check: is("CookieManager.check.cookies", true),
            cookie_delete_null: is("CookieManager.delete_null_cookies", true),
            cookie_save: is("CookieManager.save.cookies", false),
            cookie_prefix: text("CookieManager.name.prefix", "COOKIE_"),
        }
    }
}
