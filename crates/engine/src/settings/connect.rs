//! Settings of connections: names, addresses, the connect rate, TLS.

use std::time::Duration;

use super::Properties;
use crate::net::allowed::Targets;
use crate::net::resolve::Preference;
use crate::net::tls::Secure;
use crate::time::clock::{Nanos, SECOND};

/// Settings of connections: name resolution, local addresses, permitted targets, rate, and TLS.
#[derive(Clone, Debug)]
pub(crate) struct Connect {
    /// Time in nanoseconds for which a resolved address is used (`sun.net.inetaddr.ttl` in seconds; 30 s as in
    /// Java).
    pub(crate) address_life: Nanos,
    pub(crate) addresses: Preference,
    /// Parameters of queries to the plan's own name servers (`throng.dns.port`, `throng.dns.timeout_ms`).
    pub(crate) names: crate::net::nameserver::QuerySettings,
    /// Local addresses to connect from (`throng.source.addresses`).
    pub(crate) sources: Vec<std::net::IpAddr>,
    /// Targets to which plans may connect; an empty list permits all (`throng.targets.allowed`).
    pub(crate) allowed: Targets,
    /// Maximum number of connections that the whole run opens per second; 0 is unlimited (`throng.connect.rate`).
    pub(crate) rate: f64,
    pub(crate) secure: Secure,
}

impl Connect {
    /// Reads the settings. The second value is a message about an invalid TLS setting. This function returns the
    /// message, because these settings are read only once.
    pub(super) fn of(get: &Properties<'_>) -> (Self, Option<String>) {
        let only_v4 = get.is("java.net.preferIPv4Stack", false);
        let addresses = match get.text("java.net.preferIPv6Addresses", "").trim() {
            _ if only_v4 => Preference::OnlyV4,
            first if first.eq_ignore_ascii_case("true") => Preference::V6,
            first if first.eq_ignore_ascii_case("system") => Preference::System,
            _ => Preference::V4,
        };
        let sources = crate::net::source::parse(&get.text("throng.source.addresses", ""));
        let sources = sources.unwrap_or_default();
        let allowed = Targets::read(&get.text("throng.targets.allowed", ""));
        let allowed = allowed.unwrap_or_else(|_| Targets::nothing());
        let (secure, complaint) = Secure::from_properties(&|key: &str| get.of(key));
        let settings = Self {
            address_life: match get.number("sun.net.inetaddr.ttl", 30) {
                forever if forever < 0 => Nanos::MAX,
                seconds => seconds.saturating_mul(SECOND),
            },
            addresses,
            names: crate::net::nameserver::QuerySettings {
                port: get.number("throng.dns.port", 53).clamp(0, 65_535) as u16,
                patience: Duration::from_millis(
                    get.number("throng.dns.timeout_ms", 5000).max(1) as u64
                ),
                allowed: allowed.clone(),
            },
            sources,
            allowed,
            rate: get
                .of("throng.connect.rate")
                .and_then(|rate| rate.trim().parse().ok())
                .unwrap_or(0.0),
            secure,
        };
        (settings, complaint)
    }
}
