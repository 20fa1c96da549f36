//! The address on which the server listens, and the host names that requests may use for the server.
//!
//! DNS rebinding: a page of another site can have its own host name resolve to this server's address. The browser then
//! treats the page and this server as one site. But its requests name the foreign host, so the server accepts only
//! requests for a host name that it knows as its own. Ports are not compared: port forwarding changes them, and no
//! attack depends on the port.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::str::FromStr;

/// An address to listen on: `PORT`, `HOST` or `HOST:PORT`. The defaults are the loopback address and any free port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Host to listen on, as the user wrote it.
    host: String,
    port: u16,
}

impl Default for Address {
    fn default() -> Self {
        Self { host: Ipv4Addr::LOCALHOST.to_string(), port: 0 }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        if let Ok(port) = text.parse() {
            return Ok(Self { port, ..Self::default() });
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { host: address.ip().to_string(), port: address.port() });
        }
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = bare.parse::<IpAddr>() {
            return Ok(Self { host: ip.to_string(), port: 0 });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| mistake(text))?),
            None => (text, 0),
        };
        let named = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if host.is_empty() || !host.chars().all(named) {
            return Err(mistake(text));
        }
        Ok(Self { host: host.to_ascii_lowercase(), port })
    }
}

fn mistake(text: &str) -> String {
    format!("{text:?} is not an address to listen on, like 8080, 127.0.0.1:8080 or 0.0.0.0:8080")
}

impl Address {
    /// Binds the listener. Returns it, with the host name and address by which requests may name this server.
    pub(crate) fn listen(&self) -> io::Result<(TcpListener, Own)> {
        let addresses: Vec<SocketAddr> =
            (self.host.as_str(), self.port).to_socket_addrs()?.collect();
        let listener = TcpListener::bind(&addresses[..])?;
        let bound = listener.local_addr()?;
        Ok((listener, Own { host: self.host.clone(), bound }))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.host, self.port)
    }
}

/// The host name and the address by which requests may name this server.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    host: String,
    pub(crate) bound: SocketAddr,
}

impl Own {
    pub(crate) fn is_loopback(&self) -> bool {
        self.bound.ip().is_loopback()
    }

    /// Returns the URL for a link. A server that listens on all addresses is linked by its loopback address, because
    /// only the user knows which of its other addresses can be reached.
    pub(crate) fn link(&self) -> String {
        let ip = self.bound.ip();
        let host = match ip {
            _ if !ip.is_unspecified() => ip.to_canonical(),
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        format!("http://{}/", SocketAddr::new(host, self.bound.port()))
    }

    /// True if `host`, the value of a request's `Host` header, names this server.
    pub(crate) fn is_called(&self, host: &str) -> bool {
        let name = without_port(host);
        let Some(name) = name else { return false };
        if let Ok(ip) = name.parse::<IpAddr>() {
            let ip = ip.to_canonical();
            let own = self.bound.ip().to_canonical();
            // An IP address is safe: the browser has connected to it, and DNS rebinding needs a host name. Loopback is
            // allowed because a forwarded port has another address on this side.
            return own.is_unspecified() || ip == own || ip.is_loopback();
        }
        name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case(&self.host)
    }
}

/// Returns the host of `HOST` or `HOST:PORT`, with IPv6 addresses without brackets.
fn without_port(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.find(':').map_or((host, ""), |at| host.split_at(at)),
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    (!name.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

/// True if a request comes from a page of this server: its `Origin` header equals its `Host` header.
pub(crate) fn is_own_origin(origin: &str, host: &str) -> bool {
    let of = |scheme| origin.strip_prefix(scheme);
    of("http://").or_else(|| of("https://")).is_some_and(|own| own.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, host, port) in [
            ("", "127.0.0.1", 0),
            ("8080", "127.0.0.1", 8080),
            ("0.0.0.0:80", "0.0.0.0", 80),
            ("[::1]:9", "::1", 9),
            ("::", "::", 0),
            ("10.0.0.1", "10.0.0.1", 0),
            ("Load.example:81", "load.example", 81),
        ] {
            let read: Address = text.parse().expect(text);
            assert_eq!((read.host.as_str(), read.port), (host, port), "{text}");
        }
        for text in ["a b", "host:port", ":80", "plan.jmx:x", "70000x/", "a/b"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_its_own_names_call_it() {
        let own =
            |host: &str, bound: &str| Own { host: host.into(), bound: bound.parse().unwrap() };
        let local = own("127.0.0.1", "127.0.0.1:80");
        for host in ["127.0.0.1:80", "localhost", "LOCALHOST:9000", "[::1]:80", "127.0.0.1"] {
            assert!(local.is_called(host), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
            "[::1",
            "localhost:x",
            "[]:80",
        ] {
            assert!(!local.is_called(host), "{host}");
        }
        let all = own("0.0.0.0", "0.0.0.0:80");
        assert!(all.is_called("10.0.0.1:80") && !all.is_called("evil.example:80"));
        let named = own("load.example", "10.0.0.1:80");
        assert!(named.is_called("load.example:80") && !named.is_called("10.0.0.2"));
    }

    #[test]
    fn an_origin_is_the_host_that_is_asked() {
        assert!(is_own_origin("http://localhost:80", "localhost:80"));
        assert!(!is_own_origin("http://localhost:81", "localhost:80"));
        assert!(!is_own_origin("null", "localhost"));
        assert!(!is_own_origin("http://evil.example", "localhost"));
    }
}
