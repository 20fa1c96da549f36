//! Splits addresses, and resolves references as JMeter follows redirects.
//!
//! Splitting allocates nothing. Resolving follows `java.net.URL` where that differs from RFC 3986: a reference that is only
//! a query drops the last segment of the path, and dot segments are removed from relative paths alone.

mod java;

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::Ipv6Addr;

/// The parts of an address; borrows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// As written; compare it without regard to case.
    pub scheme: &'a str,
    /// The part before `@`.
    pub user_info: Option<&'a str>,
    /// Without the brackets of an IPv6 address.
    pub host: &'a str,
    pub port: Option<u16>,
    /// Begins with `/` or `?`, or is empty.
    pub path_and_query: &'a str,
    pub fragment: Option<&'a str>,
}

impl<'a> Url<'a> {
    pub fn is_https(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https")
    }

    /// The port to connect to.
    pub fn port_or_default(&self) -> u16 {
        self.port.unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    /// The path without the query; `/` if there is none.
    pub fn path(&self) -> &'a str {
        match self.path_and_query.split('?').next() {
            None | Some("") => "/",
            Some(path) => path,
        }
    }
}

/// Splits an absolute address.
pub fn split(url: &str) -> Result<Url<'_>, Error> {
    let (scheme, rest) =
        url.split_once(':').filter(|(scheme, _)| is_scheme(scheme)).ok_or(Error::NoScheme)?;
    let rest = rest.strip_prefix("//").ok_or(Error::NoHost)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (user_info, host_and_port) = match authority.rsplit_once('@') {
        Some((user_info, host)) => (Some(user_info), host),
        None => (None, authority),
    };
    let (host, port) = match host_and_port.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed.split_once(']').ok_or(Error::BadHost)?;
            // A zone may follow the address.
            host.split('%')
                .next()
                .unwrap_or(host)
                .parse::<Ipv6Addr>()
                .map_err(|_| Error::BadHost)?;
            (
                host,
                after
                    .strip_prefix(':')
                    .map_or_else(|| after.is_empty().then_some("").ok_or(Error::BadHost), Ok)?,
            )
        }
        None => host_and_port.split_once(':').unwrap_or((host_and_port, "")),
    };
    if host.is_empty() {
        return Err(Error::NoHost);
    }
    if host.bytes().any(|b| b <= b' ' || b"\x7f\"<>\\^`{|}".contains(&b)) {
        return Err(Error::BadHost);
    }
    let port = match port {
        "" => None,
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some(digits.parse().map_err(|_| Error::BadPort)?)
        }
        _ => return Err(Error::BadPort),
    };
    let (path_and_query, fragment) = match rest.split_once('#') {
        Some((before, fragment)) => (before, Some(fragment)),
        None => (rest, None),
    };
    Ok(Url { scheme, user_info, host, port, path_and_query, fragment })
}

/// Resolves what a redirect says against the absolute address that was asked for: white space around it is dropped, spaces
/// in it become `%20`, `..` is collapsed as far as it goes, and characters that no address may have are escaped.
pub fn resolve(base: &str, reference: &str) -> Result<String, Error> {
    let base = java::Url::parse(None, base)?;
    let reference = java::collapse_dots(reference.trim_matches(|c| c <= ' ')).replace(' ', "%20");
    let mut url = java::Url::parse(Some(&base), &reference)?;
    // What leads above the root is cut off the reference, as many steps as did.
    if reference.starts_with("../")
        && let Some(above) = url.steps_above_root()
        && reference.starts_with(above)
    {
        url = java::Url::parse(Some(&base), &reference[above.len()..])?;
    }
    url.escape();
    let text = url.into_text();
    split(&text)?;
    Ok(text)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// The reason why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is not absolute.
    NoScheme,
    /// Neither `http` nor `https`.
    UnknownScheme,
    NoHost,
    BadHost,
    /// The port is not a number up to 65535.
    BadPort,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoScheme => "no protocol",
            Self::UnknownScheme => "unknown protocol",
            Self::NoHost => "no host",
            Self::BadHost => "invalid host",
            Self::BadPort => "invalid port",
        })
    }
}

impl std::error::Error for Error {}
