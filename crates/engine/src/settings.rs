//! Properties that change how the engine works, under JMeter's names.

use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

use plan::http::{Source, SourceKind};
use wire::coding::Coding;

use crate::net::resolve::Preference;
use crate::net::tls::Secure;
use crate::time::clock::{MS, Nanos, SECOND};

/// Settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How long after it was opened a connection may be used (`httpclient4.time_to_live`, ms).
    pub(crate) time_to_live: Nanos,
    /// A request that met a connection the peer had given up is sent once more on a new one
    /// (`throng.http.retry_stale`, default false: the sample fails, as it does in JMeter).
    pub(crate) retry_stale: bool,
    /// How often requests are sent again that got no answer (`httpclient4.retrycount`), and whether those that might do
    /// harm are, too (`httpclient4.request_sent_retry_enabled`).
    pub(crate) retry_count: u32,
    pub(crate) retry_sent: bool,
    /// How long an idle connection may be used of which the server does not say so (`httpclient4.idletimeout`, ms).
    pub(crate) idle_timeout: Nanos,
    /// Compressed bodies may end early (`httpclient4.gzip_relax_mode`, `httpclient4.deflate_relax_mode`).
    pub(crate) relaxed: (bool, bool),
    /// Where HTTP requests come from that name no source (`httpclient.localaddress`), and how that is shown.
    pub(crate) local_address: Option<(Source, String)>,
    /// How long an address may be used without asking again (`sun.net.inetaddr.ttl`, s; 30 as in Java).
    pub(crate) address_life: Nanos,
    pub(crate) addresses: Preference,
    /// `httpsampler.redirect.removeslashdotdot`.
    pub(crate) remove_dots: bool,
    /// Before names of files that are looked for in the plan's folder (`jmeter.save.saveservice.base_prefix`).
    pub(crate) base_prefix: String,
    /// An idle connection is looked at before it is used again only after this (`httpclient4.validate_after_inactivity`, ms).
    pub(crate) validate_after: Nanos,
    /// Iterations that are different users drop connections (`httpclient.reset_state_on_thread_group_iteration`).
    pub(crate) reset_state: bool,
    /// All iterations do, as in JMeter 5.0 and 5.1 (`throng.http.reset_state_every_iteration`).
    pub(crate) reset_always: bool,
    pub(crate) secure: Secure,
    /// `httpsampler.max_redirects`.
    pub(crate) max_redirects: u32,
    /// Pages within pages (`httpsampler.max_frame_depth`).
    pub(crate) max_frame_depth: i64,
    /// A page passes where what is embedded in it cannot be loaded (`httpsampler.ignore_failed_embedded_resources`).
    pub(crate) ignore_failed_resources: bool,
    /// Bytes of an HTTP body that are kept (`httpsampler.max_bytes_to_store_per_request`; 0 there is no limit).
    pub(crate) max_body: usize,
    /// The same of a file; without the property 10 MiB.
    pub(crate) max_file: usize,
    /// Bytes of any response that are kept, and of a WebSocket frame or message that are taken
    /// (`throng.response.most_bytes`).
    pub(crate) max_response: usize,
    /// Time stamps are those of the end (`sampleresult.timestamp.start` is false, or not set at all).
    pub(crate) stamp_end: bool,
    /// `sampleresult.default.encoding`.
    pub(crate) default_encoding: String,
    /// Sub-results keep their URL as label (`subresults.disable_renaming`).
    pub(crate) keep_sub_labels: bool,
    /// `sample_variables`.
    pub(crate) sample_variables: Vec<String>,
    /// Bytes that may wait for a user that does not read (`throng.websocket.inbox.bytes`).
    pub(crate) inbox_bytes: usize,
    /// The deed of an inbox that is full (`throng.websocket.inbox.full`).
    pub(crate) inbox_full: WhenFull,
    /// Frames that filters take out count in a sample's size (`websocket.result.size_includes_filtered_frames`).
    pub(crate) count_discarded: bool,
    /// The end of a WebSocket connection whose user ends (`websocket.thread.stop.policy`).
    pub(crate) at_user_end: AtUserEnd,
    /// How name servers of the plan's own are asked (`throng.dns.port`, `throng.dns.timeout_ms`).
    pub(crate) names: crate::net::nameserver::Manners,
    /// Local addresses to connect from (`throng.source.addresses`).
    pub(crate) sources: Vec<std::net::IpAddr>,
    /// Steps that one evaluation may take (`throng.evaluation.steps`).
    pub(crate) evaluation_steps: u64,
    /// Connections opened per second by the whole run at most; 0 is no limit (`throng.connect.rate`).
    pub(crate) connect_rate: f64,
    /// Before a user opens a WebSocket connection after one that failed or was lost
    /// (`throng.websocket.reconnect.first_ms`, `throng.websocket.reconnect.most_ms`).
    pub(crate) backoff: crate::net::pace::Backoff,
    /// A proxy for all connections (`http.proxyHost`, `http.proxyPort`, `http.nonProxyHosts`).
    pub(crate) proxy: Option<Proxy>,
    /// User and password for it (`http.proxyUser`, `http.proxyPass`).
    pub(crate) proxy_credentials: Option<(String, String)>,
    /// The same as HTTP requests have them, with a domain (`http.proxyDomain`).
    pub(crate) proxy_login: Option<wire::auth::Credentials>,
    /// The domain alone, for proxies of the plan's own.
    pub(crate) proxy_domain: String,
    /// The result of a request that need not be sent (`cache_manager.cached_resource_mode`).
    pub(crate) cache_hit: CacheHit,
    /// Credentials are sent before a server asks for them (`httpclient4.auth.preemptive`).
    pub(crate) auth_preemptive: bool,
    /// Methods whose answers may be cached (`cacheable_methods`).
    pub(crate) cacheable_methods: Vec<String>,
    /// The first of these that cannot be understood, in words.
    pub(crate) complaint: Option<String>,
    /// `CookieManager.check.cookies`.
    pub(crate) cookie_check: bool,
    /// `CookieManager.delete_null_cookies`.
    pub(crate) cookie_delete_null: bool,
    /// `CookieManager.save.cookies`.
    pub(crate) cookie_save: bool,
    /// `CookieManager.name.prefix`.
    pub(crate) cookie_prefix: String,
}

/// The result of a request that need not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CacheHit {
    /// No sample.
    NoSample,
    /// A sample with this response code and message.
    Sample { code: String, message: String },
}

impl CacheHit {
    fn of(mode: &str, get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        // Where the property is missing, JMeter writes Java's word for nothing.
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
                "cache_manager.cached_resource_mode: {mode} is none of RETURN_NO_SAMPLE, RETURN_200_CACHE, \
                 RETURN_CUSTOM_STATUS"
            )),
        }
    }
}

/// The deed of an inbox that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// Nothing more is read until the user reads: the peer's sends stall.
    Stop,
    DropOldest,
    /// The connection is closed.
    Fail,
}

/// The end of a WebSocket connection whose user ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtUserEnd {
    /// It is closed without a word.
    Tcp,
    /// A close frame is sent first.
    CloseFrame,
}

/// A proxy for the whole run.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Hosts that are reached without it; `*` at the start stands for any text.
    pub(crate) except: Vec<String>,
    /// Java's own exceptions count for its own client: the property is not there, or not empty.
    pub(crate) javas_own: bool,
}

impl Proxy {
    /// Whether a host is reached through it by HttpClient.
    pub(crate) fn serves(&self, host: &str) -> bool {
        !self.except.iter().any(|name| match name.strip_prefix('*') {
            Some(end) => host.ends_with(end),
            None => name == host,
        })
    }

    /// Whether a host is reached through it by Java's own client. `*` may stand at the end, too, and case does not count; hosts that
    /// Java excepts by itself are added to those of the property, unless that is there and empty.
    pub(crate) fn serves_java(&self, host: &str) -> bool {
        let mut host = host.to_ascii_lowercase();
        if host.contains(':') {
            host = format!("[{host}]");
        }
        let fits = |name: &str| {
            let name = name.to_ascii_lowercase();
            let (start, end) = (name.starts_with('*'), name.len() > 1 && name.ends_with('*'));
            let bare = &name[usize::from(start)..name.len() - usize::from(end)];
            match (start, end) {
                (true, true) => host.contains(bare),
                (true, false) => host.ends_with(bare),
                (false, true) => host.starts_with(bare),
                (false, false) => host == bare,
            }
        };
        let own = self.javas_own && JAVAS_OWN.iter().any(|name| fits(name));
        !own && !self.except.iter().any(|name| fits(name))
    }
}

/// Hosts that Java itself reaches without a proxy.
const JAVAS_OWN: [&str; 5] = ["localhost", "127.*", "[::1]", "0.0.0.0", "[::0]"];

/// The properties read here, for those who tell users which ones count.
pub const PROPERTIES: &[&str] = &[
    "httpclient4.time_to_live",
    "httpclient4.validate_after_inactivity",
    "httpclient4.retrycount",
    "httpclient4.request_sent_retry_enabled",
    "httpclient4.idletimeout",
    "httpclient4.gzip_relax_mode",
    "httpclient4.deflate_relax_mode",
    "httpclient.localaddress",
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
    "throng.dns.port",
    "throng.dns.timeout_ms",
    "throng.connect.rate",
    "throng.evaluation.steps",
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
    // Backend Listeners.
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

impl Settings {
    /// How many bytes of a body are kept, and how many as it comes: one that is compressed may be a little longer than
    /// what comes out of it. JMeter digests all of a body, whatever it would store.
    pub(crate) fn most_of_body(&self, digested: bool) -> (usize, usize) {
        let most = if digested { self.max_response } else { self.max_body };
        (most, most.saturating_add(most / 64).saturating_add(64 * 1024))
    }

    /// Whether a body of this coding passes that ends too early.
    pub(crate) fn forgives_end_of(&self, coding: Coding) -> bool {
        match coding {
            Coding::Gzip => self.relaxed.0,
            Coding::Deflate => self.relaxed.1,
            Coding::Identity | Coding::Brotli => false,
        }
    }
}

/// Of a response no more is kept unless a property says so: 512 MiB.
const MAX_RESPONSE: usize = 512 << 20;
/// Of a file JMeter keeps no more unless its property says so.
const MAX_FILE: i64 = 10 << 20;

impl Settings {
    pub(crate) fn from_properties(get: impl Fn(&str) -> Option<String>) -> Self {
        let text = |key: &str, default: &str| get(key).unwrap_or_else(|| default.to_owned());
        let is = |key: &str, default: bool| {
            get(key).map_or(default, |value| value.trim().eq_ignore_ascii_case("true"))
        };
        let number = |key: &str, default: i64| {
            get(key).and_then(|value| value.trim().parse().ok()).unwrap_or(default)
        };
        let max_response = match number("throng.response.most_bytes", 0) {
            n if n <= 0 => MAX_RESPONSE,
            n => n as usize,
        };
        let max_body = match number("httpsampler.max_bytes_to_store_per_request", 0) {
            n if n <= 0 => max_response,
            n => (n as usize).min(max_response),
        };
        let max_file = number("httpsampler.max_bytes_to_store_per_request", MAX_FILE);
        let max_file = usize::try_from(max_file).unwrap_or(0).min(max_response);
        let mode = text("cache_manager.cached_resource_mode", "RETURN_NO_SAMPLE");
        let (cache_hit, unknown_mode) = match CacheHit::of(mode.trim(), &get) {
            Ok(hit) => (hit, None),
            Err(complaint) => (CacheHit::NoSample, Some(complaint)),
        };
        let scheme = text("http.proxyScheme", "http");
        let unknown_scheme = (scheme != "http").then(|| {
            format!("http.proxyScheme: proxies are talked to in plain HTTP, not {scheme}")
        });
        let (sources, complaint) =
            match crate::net::source::parse(&text("throng.source.addresses", "")) {
                Ok(sources) => (sources, None),
                Err(error) => (Vec::new(), Some(format!("throng.source.addresses: {error}"))),
            };
        let (secure, tls_complaint) = Secure::from_properties(&get);
        let complaint = complaint.or(tls_complaint);
        let proxy =
            get("http.proxyHost").filter(|host| !host.trim().is_empty()).map(|host| Proxy {
                host,
                port: number("http.proxyPort", 0).clamp(0, 65_535) as u16,
                except: text("http.nonProxyHosts", "")
                    .split('|')
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
                javas_own: get("http.nonProxyHosts").is_none_or(|hosts| !hosts.is_empty()),
            });
        let local_address = get("httpclient.localaddress")
            .filter(|name| !name.is_empty())
            .and_then(|name| own_address(&name));
        let only_v4 = is("java.net.preferIPv4Stack", false);
        let addresses = match text("java.net.preferIPv6Addresses", "").trim() {
            _ if only_v4 => Preference::OnlyV4,
            first if first.eq_ignore_ascii_case("true") => Preference::V6,
            first if first.eq_ignore_ascii_case("system") => Preference::System,
            _ => Preference::V4,
        };
        Self {
            retry_count: number("httpclient4.retrycount", 0).clamp(0, 255) as u32,
            retry_sent: is("httpclient4.request_sent_retry_enabled", false),
            idle_timeout: positive(number("httpclient4.idletimeout", 0), MS),
            relaxed: (
                is("httpclient4.gzip_relax_mode", false),
                is("httpclient4.deflate_relax_mode", false),
            ),
            local_address,
            address_life: match number("sun.net.inetaddr.ttl", 30) {
                forever if forever < 0 => Nanos::MAX,
                seconds => seconds.saturating_mul(SECOND),
            },
            addresses,
            remove_dots: is("httpsampler.redirect.removeslashdotdot", true),
            base_prefix: base_prefix(&get),
            names: crate::net::nameserver::Manners {
                port: number("throng.dns.port", 53).clamp(0, 65_535) as u16,
                patience: Duration::from_millis(number("throng.dns.timeout_ms", 5000).max(1) as u64),
            },
            inbox_bytes: number("throng.websocket.inbox.bytes", 65_536).max(0) as usize,
            inbox_full: match text("throng.websocket.inbox.full", "stop").trim() {
                "drop_oldest" => WhenFull::DropOldest,
                "fail" => WhenFull::Fail,
                _ => WhenFull::Stop,
            },
            count_discarded: is("websocket.result.size_includes_filtered_frames", false),
            at_user_end: if text("websocket.thread.stop.policy", "none")
                .trim()
                .eq_ignore_ascii_case("wsclose")
            {
                AtUserEnd::CloseFrame
            } else {
                AtUserEnd::Tcp
            },
            sources,
            complaint: complaint.or(unknown_mode).or(unknown_scheme),
            cache_hit,
            auth_preemptive: is("httpclient4.auth.preemptive", true),
            cacheable_methods: text("cacheable_methods", "GET")
                .split([' ', ','])
                .map(str::to_owned)
                .collect(),
            evaluation_steps: get("throng.evaluation.steps")
                .and_then(|steps| steps.trim().parse().ok())
                .filter(|steps| *steps > 0)
                .unwrap_or(lang::work::DEFAULT_STEPS),
            connect_rate: get("throng.connect.rate")
                .and_then(|rate| rate.trim().parse().ok())
                .unwrap_or(0.0),
            backoff: crate::net::pace::Backoff {
                first: number("throng.websocket.reconnect.first_ms", 100).max(0) * MS,
                most: number("throng.websocket.reconnect.most_ms", 10_000).max(0) * MS,
            },
            proxy,
            proxy_login: get("http.proxyUser").filter(|user| !user.is_empty()).map(|user| {
                let password = text("http.proxyPass", "");
                wire::auth::Credentials::new(&text("http.proxyDomain", ""), &user, &password)
            }),
            proxy_domain: text("http.proxyDomain", ""),
            proxy_credentials: get("http.proxyUser").zip(get("http.proxyPass")),
            time_to_live: positive(number("httpclient4.time_to_live", 60_000), MS),
            retry_stale: is("throng.http.retry_stale", false),
            validate_after: number("httpclient4.validate_after_inactivity", 4_900) * MS,
            reset_state: is("httpclient.reset_state_on_thread_group_iteration", true),
            reset_always: is("throng.http.reset_state_every_iteration", false),
            secure,
            max_redirects: number("httpsampler.max_redirects", 20).max(0) as u32,
            max_frame_depth: number("httpsampler.max_frame_depth", 5),
            ignore_failed_resources: is("httpsampler.ignore_failed_embedded_resources", false),
            max_body,
            max_file,
            max_response,
            stamp_end: !is("sampleresult.timestamp.start", false),
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

/// A limit, where 0 and less are none.
fn positive(number: i64, unit: Nanos) -> Nanos {
    if number > 0 { number.saturating_mul(unit) } else { Nanos::MAX }
}

/// The prefix of names of files that are looked for in the plan's folder.
pub(crate) fn base_prefix(get: impl Fn(&str) -> Option<String>) -> String {
    get("jmeter.save.saveservice.base_prefix").unwrap_or_else(|| "~/".to_owned())
}

/// Whether responses may be saved wherever their names lead (`throng.save.anywhere`).
pub(crate) fn anywhere(get: impl Fn(&str) -> Option<String>) -> bool {
    get("throng.save.anywhere").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

/// An address of this host and how Java shows it: its name, if it was given one, and the address.
fn own_address(name: &str) -> Option<(Source, String)> {
    let literal: Option<IpAddr> = name.parse().ok();
    let mut found = literal.is_none().then(|| (name, 0).to_socket_addrs().ok()).flatten();
    let ip = literal.or_else(|| Some(found.as_mut()?.next()?.ip()))?;
    let source = Source { kind: SourceKind::Host, name: ip.to_string() };
    Some((source, format!("{}/{ip}", if literal.is_some() { "" } else { name })))
}

/// The property that a run would refuse to start with, in words.
pub fn complaint(get: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut settings = Settings::from_properties(get);
    let all = plan::element::KeySelection { first: 0, last: -1, variable: String::new() };
    settings.complaint.or_else(|| settings.secure.load_keys(&all).err())
}
