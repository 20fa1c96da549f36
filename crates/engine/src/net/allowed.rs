//! The targets to which plans may connect, on machines that limit them because their agents run plans of other
//! people.
//!
//! An IP address is checked itself, whatever name led to it. A rule with a host name permits only addresses that
//! this machine's own resolver has found: a plan has its own host tables and name servers, and could map any name
//! to any address. With a proxy, the target of the tunnel must be permitted too.

use std::net::{IpAddr, SocketAddr};

/// The permitted targets; an empty list permits all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets(Vec<Target>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    place: HostPattern,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    /// A network: an address and the length of its prefix in bits.
    Network(IpAddr, u32),
    /// One host, by its name.
    Host(String),
    /// All hosts whose names end with this suffix, such as `.example`.
    Hosts(String),
}

impl Targets {
    /// Parses `a.example, *.example:443, 10.0.0.0/8, [::1]:80`. The error is a message for the user.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        texts.map(Target::read).collect::<Result<_, _>>().map(Self)
    }

    /// Returns a list that permits no target, for a setting that cannot be parsed.
    pub(crate) fn nothing() -> Self {
        Self(vec![Target { place: HostPattern::Host(String::new()), port: Some(0) }])
    }

    /// Returns true if a connection to this address of a host is permitted. `by_us` is true if this machine's own
    /// resolver has found the address.
    pub(crate) fn permit(&self, host: &str, to: SocketAddr, by_us: bool) -> bool {
        self.0.is_empty()
            || self.0.iter().any(|target| {
                target.port.is_none_or(|port| port == to.port())
                    && (target.place.has(to.ip()) || (by_us && target.place.is(host)))
            })
    }

    /// Returns true if a tunnel is permitted to a host whose name the proxy resolves.
    pub(crate) fn permit_behind(&self, host: &str, port: u16) -> bool {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let address = bare.parse().ok();
        self.0.is_empty()
            || self.0.iter().any(|target| {
                target.port.is_none_or(|own| own == port)
                    && address.map_or_else(|| target.place.is(host), |ip| target.place.has(ip))
            })
    }
}

impl Target {
    fn read(text: &str) -> Result<Self, String> {
        let odd = || {
            format!(
                "invalid target {text:?}; write for example a.example:443, *.example or 10.0.0.0/8"
            )
        };
        let (place, port) = match text.rsplit_once(':') {
            Some((place, port)) if !place.contains(':') || place.ends_with(']') => {
                (place, Some(port.parse().map_err(|_| odd())?))
            }
            _ => (text, None),
        };
        let bare = place.strip_prefix('[').and_then(|p| p.strip_suffix(']')).unwrap_or(place);
        let (address, bits) =
            bare.split_once('/').map_or((bare, None), |(a, bits)| (a, Some(bits)));
        if let Ok(ip) = address.parse::<IpAddr>() {
            let all = if ip.is_ipv4() { 32 } else { 128 };
            let bits = bits.map_or(Ok(all), |bits| bits.parse().map_err(|_| odd()))?;
            return if bits <= all {
                Ok(Self { place: HostPattern::Network(ip, bits), port })
            } else {
                Err(odd())
            };
        }
        let (name, place): (_, fn(String) -> HostPattern) = match bare.strip_prefix('*') {
            Some(rest) if rest.starts_with('.') => (rest, HostPattern::Hosts),
            _ => (bare, HostPattern::Host),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if name.is_empty() || bits.is_some() || !name.chars().all(plain) {
            return Err(odd());
        }
        Ok(Self { place: place(name.to_ascii_lowercase()), port })
    }
}

impl HostPattern {
    fn has(&self, ip: IpAddr) -> bool {
        let Self::Network(network, bits) = self else { return false };
        let shifted = |value: u128, all: u32| value.checked_shr(all - bits).unwrap_or(0);
        match (*network, ip.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(ip)) => {
                shifted(network.to_bits().into(), 32) == shifted(ip.to_bits().into(), 32)
            }
            (IpAddr::V6(network), IpAddr::V6(ip)) => {
                shifted(network.to_bits(), 128) == shifted(ip.to_bits(), 128)
            }
            _ => false,
        }
    }

    fn is(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        match self {
            Self::Network(..) => false,
            Self::Host(name) => *name == host,
            Self::Hosts(end) => host.ends_with(end.as_str()) && host.len() > end.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_count_as_they_are_and_names_by_our_resolver_alone() {
        let targets =
            Targets::read("a.example:443, *.test, 10.1.0.0/16, [2001:db8::/32], 127.0.0.1:80");
        let targets = targets.expect("targets");
        let permit = |host: &str, to: &str, by_us| {
            targets.permit(host, to.parse().expect("an address"), by_us)
        };
        for (host, to) in [
            ("a.example", "192.0.2.1:443"),
            ("A.Example.", "192.0.2.1:443"),
            ("x.y.test", "192.0.2.1:1"),
            ("any", "10.1.255.255:5"),
            ("any", "[::ffff:10.1.2.3]:5"),
            ("any", "[2001:db8:1::1]:5"),
            ("localhost", "127.0.0.1:80"),
        ] {
            assert!(permit(host, to, true), "{host} {to}");
        }
        for (host, to) in [
            ("a.example", "192.0.2.1:80"),
            ("b.a.example", "192.0.2.1:443"),
            (".test", "192.0.2.1:1"),
            ("test", "192.0.2.1:1"),
            ("any", "10.2.0.0:5"),
            ("127.0.0.1", "127.0.0.2:80"),
            ("any", "127.0.0.1:81"),
        ] {
            assert!(!permit(host, to, true), "{host} {to}");
        }
        assert!(!permit("a.example", "192.0.2.1:443", false), "the plan's own table says so");
        assert!(permit("any", "10.1.0.1:1", false));
        assert!(targets.permit_behind("a.example", 443) && targets.permit_behind("10.1.0.9", 1));
        assert!(!targets.permit_behind("b.example", 443) && !targets.permit_behind("10.2.0.9", 1));
        assert!(Targets::default().permit("any", "192.0.2.1:1".parse().expect("one"), false));
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for bad in
            ["a b", "10.0.0.0/33", "a.example:x", "*", "*a", "a/8", "http://a", ":80", "[::1"]
        {
            assert!(Targets::read(bad).is_err(), "{bad}");
        }
        assert_eq!(Targets::read(" , "), Ok(Targets::default()));
    }
}
