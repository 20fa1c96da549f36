//! Absolute addresses with a host, to which requests can be sent.

use std::fmt;
use std::net::Ipv6Addr;

use super::split;

/// The parts of an absolute address with a host, borrowed from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absolute<'a> {
    /// Scheme of the address as written; it must be compared ignoring case.
    pub scheme: &'a str,
    /// User info, which precedes `@`.
    pub user_info: Option<&'a str>,
    /// Host of the address; an IPv6 address has no brackets here.
    pub host: &'a str,
    pub port: Option<u16>,
    /// Path and query of the address: begins with `/` or `?`, or is empty.
    pub path_and_query: &'a str,
    pub fragment: Option<&'a str>,
}

impl<'a> Absolute<'a> {
    pub fn is_https(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https")
    }

    /// Returns the port of the address, or the default port of its scheme.
    pub fn port_or_default(&self) -> u16 {
        self.port.unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    /// Returns the path without the query; `/` if the address has no path.
    pub fn path(&self) -> &'a str {
        match self.path_and_query.split('?').next() {
            None | Some("") => "/",
            Some(path) => path,
        }
    }
}

/// Splits an absolute address; an error if it has no valid host or port. Allocates nothing.
pub fn absolute(text: &str) -> Result<Absolute<'_>, NoAddress> {
    let parts = split(text);
    let scheme = &text[parts.protocol.clone()];
    if !is_scheme(scheme) {
        return Err(NoAddress::NoScheme);
    }
    if !text[scheme.len() + 1..].starts_with("//") {
        return Err(NoAddress::NoHost);
    }
    let user_info = (parts.host.start > parts.authority.start)
        .then(|| &text[parts.authority.start..parts.host.start - 1]);
    let mut host = &text[parts.host.clone()];
    if host.starts_with('[') {
        host = host[1..].strip_suffix(']').ok_or(NoAddress::BadHost)?;
        // A zone may follow the IPv6 address.
        let address = host.split('%').next().unwrap_or(host);
        address.parse::<Ipv6Addr>().map_err(|_| NoAddress::BadHost)?;
    } else if host.contains(':') {
        return Err(NoAddress::BadPort);
    }
    if host.is_empty() {
        return Err(NoAddress::NoHost);
    }
    if host.bytes().any(|b| b <= b' ' || b"\x7f\"<>\\^`{|}".contains(&b)) {
        return Err(NoAddress::BadHost);
    }
    let port = match text[parts.host.end..parts.authority.end].strip_prefix(':').unwrap_or("") {
        "" => None,
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some(digits.parse().map_err(|_| NoAddress::BadPort)?)
        }
        _ => return Err(NoAddress::BadPort),
    };
    let end = parts.query.as_ref().map_or(parts.path.end, |query| query.end);
    let fragment = text[end..].strip_prefix('#');
    let path_and_query = &text[parts.path.start..end];
    Ok(Absolute { scheme, user_info, host, port, path_and_query, fragment })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// The reason why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAddress {
    /// The address is not absolute.
    NoScheme,
    NoHost,
    BadHost,
    /// The port of the address is not a number up to 65535.
    BadPort,
}

impl fmt::Display for NoAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoScheme => "no protocol",
            Self::NoHost => "no host",
            Self::BadHost => "invalid host",
            Self::BadPort => "invalid port",
        })
    }
}

impl std::error::Error for NoAddress {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_split_into_parts() {
        let url = absolute("http://example.com").unwrap();
        assert_eq!(
            (url.scheme, url.host, url.port, url.path_and_query, url.fragment),
            ("http", "example.com", None, "", None)
        );
        assert_eq!((url.path(), url.port_or_default(), url.is_https()), ("/", 80, false));
        let url = absolute("HTTPS://u:p@w@Example.com:8443/a/b?x=/y?z#f#g").unwrap();
        assert_eq!(
            (url.scheme, url.user_info, url.host, url.port),
            ("HTTPS", Some("u:p@w"), "Example.com", Some(8443))
        );
        assert_eq!(
            (url.path_and_query, url.fragment, url.path()),
            ("/a/b?x=/y?z", Some("f#g"), "/a/b")
        );
        assert!(url.is_https());
        let url = absolute("http://[2001:db8::1]:81?q").unwrap();
        assert_eq!(
            (url.host, url.port, url.path_and_query, url.path()),
            ("2001:db8::1", Some(81), "?q", "/")
        );
        assert_eq!(absolute("http://[::1]/").unwrap().host, "::1");
        assert_eq!(absolute("http://[fe80::1%eth0]/").unwrap().host, "fe80::1%eth0");
        assert_eq!(absolute("http://h:/x").unwrap().port, None);
        assert_eq!(absolute("https://h#f").unwrap().port_or_default(), 443);
        assert_eq!(absolute("http://my_host.ü/ä b").unwrap().path_and_query, "/ä b");
    }

    #[test]
    fn what_is_no_address() {
        for (text, error) in [
            ("", NoAddress::NoScheme),
            ("/a/b", NoAddress::NoScheme),
            ("example.com/a:b", NoAddress::NoScheme),
            ("1http://h", NoAddress::NoScheme),
            ("http:/h", NoAddress::NoHost),
            ("http:", NoAddress::NoHost),
            ("http://", NoAddress::NoHost),
            ("http:///a", NoAddress::NoHost),
            ("http://:80/", NoAddress::NoHost),
            ("http://u@/", NoAddress::NoHost),
            ("http://h:x/", NoAddress::BadPort),
            ("http://h:65536/", NoAddress::BadPort),
            ("http://h:-1/", NoAddress::BadPort),
            ("http://::1/", NoAddress::NoHost),
            ("http://h h/", NoAddress::BadHost),
            ("http://${host}/", NoAddress::BadHost),
            ("http://[::1/", NoAddress::BadHost),
            ("http://[::1]x/", NoAddress::BadHost),
            ("http://[h]/", NoAddress::BadHost),
        ] {
            assert_eq!(absolute(text), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_splits_or_fails(text in ".{0,40}") {
            if let Ok(url) = absolute(&text) {
                prop_assert!(!url.host.is_empty());
                prop_assert!(matches!(url.path_and_query.bytes().next(), None | Some(b'/' | b'?')));
            }
        }
    }
}
