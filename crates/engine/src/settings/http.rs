//! Settings of HTTP requests: connections, retries, redirects, pages, caches.

use plan::http::Source;
use wire::coding::Coding;

use super::{Properties, own_address, positive};
use crate::time::clock::{MS, Nanos};

/// The result of a request whose response is in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CacheHit {
    /// No sample is recorded.
    NoSample,
    /// A sample with this response code and message is recorded.
    Sample { code: String, message: String },
}

impl CacheHit {
    pub(super) fn of(mode: &str, get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        // If the property is missing, JMeter uses the string `null`.
        let or_null = |key: &str| get(key).unwrap_or_else(|| "null".into());
        match mode {
            "RETURN_NO_SAMPLE" => Ok(Self::NoSample),
            "RETURN_200_CACHE" => Ok(Self::Sample {
                code: "200".into(),
                message: get("RETURN_200_CACHE.message").unwrap_or_else(|| "(ex cache)".into()),
            }),
            "RETURN_CUSTOM_STATUS" => Ok(Self::Sample {
                code: or_null("RETURN_CUSTOM_STATUS.code"),
                message: or_null("RETURN_CUSTOM_STATUS.message"),
            }),
            _ => Err(format!(
                "cache_manager.cached_resource_mode: unknown mode {mode}; use RETURN_NO_SAMPLE, RETURN_200_CACHE or \
                RETURN_CUSTOM_STATUS"
            )),
        }
    }
}

/// Settings of HTTP requests.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    /// Maximum age of a connection (`httpclient4.time_to_live`, ms).
    pub(crate) time_to_live: Nanos,
    /// True if a request on a connection that the peer had closed is resent on a new connection
    /// (`throng.http.retry_stale`). By default it is not, and the sample fails as in JMeter.
    pub(crate) retry_stale: bool,
    /// Maximum number of retries of a request without response (`httpclient4.retrycount`), and whether requests that
    /// are not idempotent are retried too (`httpclient4.request_sent_retry_enabled`).
    pub(crate) retry_count: u32,
    pub(crate) retry_sent: bool,
    /// Maximum idle time of a connection if the server declares no time (`httpclient4.idletimeout`, ms).
    pub(crate) idle_timeout: Nanos,
    /// True if compressed bodies may be truncated (`httpclient4.gzip_relax_mode`,
    /// `httpclient4.deflate_relax_mode`).
    pub(crate) relaxed: (bool, bool),
    /// Idle time after which a connection is checked before its reuse (`httpclient4.validate_after_inactivity`, ms).
    pub(crate) validate_after: Nanos,
    /// True if a user's connections are closed before an iteration that counts as a different user
    /// (`httpclient.reset_state_on_thread_group_iteration`).
    pub(crate) reset_state: bool,
    /// True if, with `reset_state`, a user's connections are closed before every iteration, as in JMeter 5.0 and 5.1
    /// (`throng.http.reset_state_every_iteration`).
    pub(crate) reset_always: bool,
    /// True if `/../` in redirect URLs is resolved (`httpsampler.redirect.removeslashdotdot`).
    pub(crate) remove_dots: bool,
    /// Maximum number of redirects of a sample (`httpsampler.max_redirects`).
    pub(crate) max_redirects: u32,
    /// Maximum nesting depth of frames within pages (`httpsampler.max_frame_depth`).
    pub(crate) max_frame_depth: i64,
    /// True if a page is successful even when its embedded resources cannot be loaded
    /// (`httpsampler.ignore_failed_embedded_resources`).
    pub(crate) ignore_failed_resources: bool,
    /// Local address for HTTP requests whose sampler sets none (`httpclient.localaddress`), and the string by which
    /// messages show it.
    pub(crate) local_address: Option<(Source, String)>,
    /// The result of a request whose response is in the cache (`cache_manager.cached_resource_mode`).
    pub(crate) cache_hit: CacheHit,
    /// True if credentials are sent before a server asks for them (`httpclient4.auth.preemptive`).
    pub(crate) auth_preemptive: bool,
    /// The response header by whose values the statistics count responses, besides by server address
    /// (`throng.record.header`).
    pub(crate) record_header: Option<String>,
    /// Methods whose responses may be cached (`cacheable_methods`).
    pub(crate) cacheable_methods: Vec<String>,
    /// Maximum speed in characters per second of connections without TLS (`httpclient.socket.http.cps`) and with TLS
    /// (`httpclient.socket.https.cps`); 0 is unlimited.
    pub(crate) cps: (u32, u32),
}

impl Http {
    pub(super) fn of(get: &Properties<'_>) -> Self {
        let local_address = get
            .of("httpclient.localaddress")
            .filter(|name| !name.is_empty())
            .and_then(|name| own_address(&name));
        let mode = get.text("cache_manager.cached_resource_mode", "RETURN_NO_SAMPLE");
        let cache_hit = CacheHit::of(mode.trim(), |key| get.of(key)).unwrap_or(CacheHit::NoSample);
        Self {
            time_to_live: positive(get.number("httpclient4.time_to_live", 60_000), MS),
            retry_stale: get.is("throng.http.retry_stale", false),
            retry_count: get.number("httpclient4.retrycount", 0).clamp(0, 255) as u32,
            retry_sent: get.is("httpclient4.request_sent_retry_enabled", false),
            idle_timeout: positive(get.number("httpclient4.idletimeout", 0), MS),
            relaxed: (
                get.is("httpclient4.gzip_relax_mode", false),
                get.is("httpclient4.deflate_relax_mode", false),
            ),
            validate_after: get.number("httpclient4.validate_after_inactivity", 4_900) * MS,
            reset_state: get.is("httpclient.reset_state_on_thread_group_iteration", true),
            reset_always: get.is("throng.http.reset_state_every_iteration", false),
            remove_dots: get.is("httpsampler.redirect.removeslashdotdot", true),
            max_redirects: get.number("httpsampler.max_redirects", 20).max(0) as u32,
            max_frame_depth: get.number("httpsampler.max_frame_depth", 5),
            ignore_failed_resources: get.is("httpsampler.ignore_failed_embedded_resources", false),
            local_address,
            cache_hit,
            auth_preemptive: get.is("httpclient4.auth.preemptive", true),
            record_header: get
                .of("throng.record.header")
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty()),
            cps: (
                get.number("httpclient.socket.http.cps", 0).clamp(0, i32::MAX.into()) as u32,
                get.number("httpclient.socket.https.cps", 0).clamp(0, i32::MAX.into()) as u32,
            ),
            cacheable_methods: get
                .text("cacheable_methods", "GET")
                .split([' ', ','])
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Returns true if a body with this content coding may be truncated.
    pub(crate) fn allows_truncated(&self, coding: Coding) -> bool {
        match coding {
            Coding::Gzip => self.relaxed.0,
            Coding::Deflate => self.relaxed.1,
            Coding::Identity | Coding::Brotli => false,
        }
    }
}
