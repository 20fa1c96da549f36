//! Properties that configure the engine, under JMeter's names.

pub(crate) mod bodies;
pub(crate) mod connect;
pub(crate) mod cookies;
pub(crate) mod http;
pub(crate) mod proxy;
pub(crate) mod results;
pub(crate) mod series;
pub(crate) mod tags;
pub(crate) mod websocket;

use std::collections::HashMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::sync::Arc;

use plan::http::{Source, SourceKind};

use crate::settings::bodies::Bodies;
use crate::settings::connect::Connect;
use crate::settings::cookies::Cookies;
use crate::settings::http::{CacheHit, Http};
use crate::settings::proxy::Proxies;
use crate::settings::results::Results;
use crate::settings::series::Series;
use crate::settings::tags::Tags;
use crate::settings::websocket::WebSocket;
use crate::time::clock::Nanos;

/// Settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) connect: Connect,
    pub(crate) http: Http,
    pub(crate) bodies: Bodies,
    pub(crate) cookies: Cookies,
    pub(crate) proxy: Proxies,
    pub(crate) websocket: WebSocket,
    pub(crate) results: Results,
    pub(crate) tags: Tags,
    pub(crate) series: Series,
    /// Maximum number of steps of one extractor, assertion, function or condition (`throng.evaluation.steps`).
    pub(crate) evaluation_steps: u64,
    /// Number of consecutive samples without a connection after which the run stops (`throng.stop.unconnected`).
    pub(crate) most_unconnected: Option<NonZeroU32>,
    /// Message about the first invalid property.
    pub(crate) complaint: Option<String>,
}

/// JMeter's property for the host in front of its thread names.
pub const THREAD_PREFIX: &str = "__jm.D_TG";

/// Returns the prefix of thread names: the host and a dash, or nothing.
pub(crate) fn thread_prefix(properties: &HashMap<String, String>) -> Arc<str> {
    let host = properties.get(THREAD_PREFIX).filter(|host| !host.is_empty());
    host.map_or_else(String::new, |host| format!("{host}-")).into()
}

/// The properties that this module reads, for checks of property names.
pub const PROPERTIES: &[&str] = &[
    "httpclient4.time_to_live",
    "httpclient4.validate_after_inactivity",
    "httpclient4.retrycount",
    "httpclient4.request_sent_retry_enabled",
    "httpclient4.idletimeout",
    "httpclient4.gzip_relax_mode",
    "httpclient4.deflate_relax_mode",
    "httpclient.localaddress",
    "httpclient.socket.http.cps",
    "httpclient.socket.https.cps",
    "httpsampler.redirect.removeslashdotdot",
    "java.net.preferIPv4Stack",
    "java.net.preferIPv6Addresses",
    "sun.net.inetaddr.ttl",
    "jmeter.save.saveservice.base_prefix",
    "throng.http.retry_stale",
    "httpclient.reset_state_on_thread_group_iteration",
    "throng.http.reset_state_every_iteration",
    "https.sessioncontext.shared",
    "https.socket.protocols",
    "https.default.protocol",
    "https.socket.ciphers",
    "https.cipherSuites",
    "https.keyStoreStartIndex",
    "https.keyStoreEndIndex",
    "https.use.cached.ssl.context",
    "javax.net.ssl.keyStore",
    "javax.net.ssl.keyStorePassword",
    "javax.net.ssl.keyStoreType",
    "javax.net.ssl.sessionCacheSize",
    "javax.net.ssl.trustStore",
    "javax.net.ssl.trustStorePassword",
    "javax.net.ssl.trustStoreType",
    "jdk.tls.client.protocols",
    "jsse.enableSNIExtension",
    "throng.tls.verify",
    "throng.tls.check_signature",
    "httpsampler.max_redirects",
    "httpsampler.max_frame_depth",
    "httpsampler.ignore_failed_embedded_resources",
    "httpsampler.max_bytes_to_store_per_request",
    "sampleresult.default.encoding",
    "sampleresult.timestamp.start",
    "sample_variables",
    "subresults.disable_renaming",
    "throng.response.most_bytes",
    "throng.websocket.inbox.bytes",
    "throng.websocket.inbox.full",
    "websocket.result.size_includes_filtered_frames",
    "websocket.thread.stop.policy",
    "throng.save.anywhere",
    "throng.source.addresses",
    "throng.targets.allowed",
    "throng.dns.port",
    "throng.dns.timeout_ms",
    "throng.connect.rate",
    "throng.evaluation.steps",
    THREAD_PREFIX,
    "throng.record.header",
    "throng.series",
    "throng.tag",
    "throng.baggage",
    "throng.traceparent",
    "throng.stop.unconnected",
    "throng.websocket.reconnect.first_ms",
    "throng.websocket.reconnect.most_ms",
    "http.proxyHost",
    "http.proxyPort",
    "http.nonProxyHosts",
    "http.proxyUser",
    "http.proxyPass",
    "http.proxyDomain",
    "http.proxyScheme",
    "httpclient4.auth.preemptive",
    "cacheable_methods",
    "cache_manager.cached_resource_mode",
    "RETURN_200_CACHE.message",
    "RETURN_CUSTOM_STATUS.code",
    "RETURN_CUSTOM_STATUS.message",
    // Properties of Backend Listeners.
    "backend_graphite.send_interval",
    "backend_influxdb.connection_timeout",
    "backend_influxdb.send_interval",
    "backend_influxdb.socket_timeout",
    "backend_metrics_large_window",
    "backend_metrics_percentile_estimator",
    "backend_metrics_window",
    "backend_metrics_window_mode",
    "CookieManager.check.cookies",
    "CookieManager.delete_null_cookies",
    "CookieManager.save.cookies",
    "CookieManager.name.prefix",
    "throng.log.threads",
    "throng.log.samples",
];

/// Properties of a run, by name.
struct Properties<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Properties<'_> {
    fn of(&self, key: &str) -> Option<String> {
        (self.0)(key)
    }

    fn text(&self, key: &str, default: &str) -> String {
        self.of(key).unwrap_or_else(|| default.to_owned())
    }

    fn is(&self, key: &str, default: bool) -> bool {
        self.of(key).map_or(default, |value| value.trim().eq_ignore_ascii_case("true"))
    }

    fn number(&self, key: &str, default: i64) -> i64 {
        self.of(key).and_then(|value| value.trim().parse().ok()).unwrap_or(default)
    }
}

impl Settings {
    pub(crate) fn from_properties(get: impl Fn(&str) -> Option<String>) -> Self {
        let get = &Properties(&get);
        let (connect, tls) = Connect::of(get);
        let (tags, series) = (Tags::of(get), Series::of(get));
        let wrong = || tags.as_ref().err().or(series.as_ref().err()).cloned();
        Self {
            complaint: complaints(get, tls).or_else(wrong),
            connect,
            http: Http::of(get),
            bodies: Bodies::of(get),
            cookies: Cookies::of(get),
            proxy: Proxies::of(get),
            websocket: WebSocket::of(get),
            results: Results::of(get),
            tags: tags.unwrap_or_default(),
            series: series.unwrap_or_default(),
            most_unconnected: get
                .of("throng.stop.unconnected")
                .and_then(|number| number.trim().parse().ok()),
            evaluation_steps: get
                .of("throng.evaluation.steps")
                .and_then(|steps| steps.trim().parse().ok())
                .filter(|steps| *steps > 0)
                .unwrap_or(lang::work::DEFAULT_STEPS),
        }
    }
}

/// Checks a list of permitted targets. The error is a message for the user.
pub fn allowed_targets(text: &str) -> Result<(), String> {
    crate::net::allowed::Targets::read(text).map(drop)
}

/// Returns true if a list of targets permits a host, by its name or address. The error is a message for the user.
pub fn permits(targets: &str, host: &str, port: u16) -> Result<bool, String> {
    Ok(crate::net::allowed::Targets::read(targets)?.permit_behind(host, port))
}

/// Returns a message about the first invalid property.
fn complaints(get: &Properties<'_>, tls: Option<String>) -> Option<String> {
    let sources = crate::net::source::parse(&get.text("throng.source.addresses", ""));
    let sources = sources.err().map(|error| format!("throng.source.addresses: {error}"));
    let targets = || {
        let targets = allowed_targets(&get.text("throng.targets.allowed", ""));
        targets.err().map(|error| format!("throng.targets.allowed: {error}"))
    };
    let mode = || {
        let mode = get.text("cache_manager.cached_resource_mode", "RETURN_NO_SAMPLE");
        CacheHit::of(mode.trim(), |key| get.of(key)).err()
    };
    let scheme = || {
        let scheme = get.text("http.proxyScheme", "http");
        (scheme != "http").then(|| {
            format!("http.proxyScheme: only plain HTTP to proxies is supported, not {scheme}")
        })
    };
    sources.or(tls).or_else(targets).or_else(mode).or_else(scheme)
}

/// Converts a limit to nanoseconds. Numbers of 0 and below mean unlimited.
fn positive(number: i64, unit: Nanos) -> Nanos {
    if number > 0 { number.saturating_mul(unit) } else { Nanos::MAX }
}

/// Returns the prefix that makes file names relative to the plan's folder.
pub(crate) fn base_prefix(get: impl Fn(&str) -> Option<String>) -> String {
    get("jmeter.save.saveservice.base_prefix").unwrap_or_else(|| "~/".to_owned())
}

/// Returns true if responses may be saved in any folder (`throng.save.anywhere`).
pub(crate) fn may_save_anywhere(get: impl Fn(&str) -> Option<String>) -> bool {
    get("throng.save.anywhere").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

/// Returns an address of this host, and the string by which Java shows it: its name, if a name was given, and the
/// address.
fn own_address(name: &str) -> Option<(Source, String)> {
    let literal: Option<IpAddr> = name.parse().ok();
    let mut found = literal.is_none().then(|| (name, 0).to_socket_addrs().ok()).flatten();
    let ip = literal.or_else(|| Some(found.as_mut()?.next()?.ip()))?;
    let source = Source { kind: SourceKind::Host, name: ip.to_string() };
    Some((source, format!("{}/{ip}", if literal.is_some() { "" } else { name })))
}

/// Returns a message about a property that would prevent a run from starting.
pub fn complaint(get: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut settings = Settings::from_properties(get);
    let all = plan::element::KeySelection { first: 0, last: -1, variable: String::new() };
    settings.complaint.or_else(|| settings.connect.secure.load_keys(&all).err())
}
