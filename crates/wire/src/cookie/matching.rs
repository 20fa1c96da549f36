//! Cookie matching: which host may set a cookie, and which request carries it.

use super::{Cookie, Policy, Rejected, parse::Parsed};
use std::net::{IpAddr, Ipv4Addr};

/// Checks that the host may set the cookie with its domain.
pub(super) fn validate(cookie: &Parsed<'_>, host: &str, policy: Policy) -> Result<(), Rejected> {
    if follows_2109(cookie.version, policy) {
        return validate_2109(cookie, host);
    }
    let domain = cookie.domain.as_ref();
    if host != domain && !domain_match(domain, host) {
        return Err(Rejected::Domain);
    }
    if policy == Policy::Netscape && host.contains('.') {
        let parts = domain.split('.').filter(|part| !part.is_empty()).count();
        let needed = if is_special(domain) { 2 } else { 3 };
        if parts < needed {
            return Err(Rejected::Domain);
        }
    }
    Ok(())
}

/// True if the rules of RFC 2109 apply to a cookie of this version under this policy.
pub(super) fn follows_2109(version: i32, policy: Policy) -> bool {
    policy == Policy::Rfc2109 || policy == Policy::Compatibility && version > 0
}

fn validate_2109(cookie: &Parsed<'_>, host: &str) -> Result<(), Rejected> {
    if cookie.name.contains(' ') || cookie.name.starts_with('$') {
        return Err(Rejected::Name);
    }
    if cookie.version < 0 {
        return Err(Rejected::Version);
    }
    let domain = cookie.domain.as_ref();
    if domain == host {
        return Ok(());
    }
    // The domain must begin with a dot and contain another dot; the host may have only one label before the domain.
    let inner = domain.strip_prefix('.').ok_or(Rejected::Domain)?;
    let embedded = inner.find('.').is_some_and(|at| at + 1 < inner.len());
    let before = host.strip_suffix(domain).ok_or(Rejected::Domain)?;
    if embedded && !before.contains('.') { Ok(()) } else { Err(Rejected::Domain) }
}

/// True if a host equals the cookie's domain, or ends with a domain that begins with a dot.
fn ends_with_domain(domain: &str, host: &str) -> bool {
    let Some(prefix) = host.len().checked_sub(domain.len()) else { return false };
    let fits = host.as_bytes()[prefix..].eq_ignore_ascii_case(domain.as_bytes());
    fits && (prefix == 0 || domain.starts_with('.'))
}

/// True if the host matches the domain by RFC 2965: `.local` is appended to a name without dots, and the host has at
/// most one label before the domain.
fn fits_2965(domain: &str, host: &str) -> bool {
    let local = if host.contains(['.', ':']) { "" } else { ".local" };
    let length = host.len() + local.len();
    let Some(prefix) = length.checked_sub(domain.len()) else { return false };
    let end = host.bytes().chain(local.bytes()).skip(prefix);
    let fits = end.zip(domain.bytes()).all(|(a, b)| a.eq_ignore_ascii_case(&b));
    let mut before = host.bytes().chain(local.bytes()).take(prefix);
    fits && (prefix == 0 || domain.starts_with('.') && before.all(|byte| byte != b'.'))
}

pub(super) fn fits(cookie: &Cookie, host: &str, path: &str, secure: bool, policy: Policy) -> bool {
    let domain = cookie.domain.as_str();
    let domain_fits = match policy {
        Policy::Netscape => {
            let prefix = host.len().checked_sub(domain.len());
            prefix.is_some_and(|at| host.as_bytes()[at..].eq_ignore_ascii_case(domain.as_bytes()))
        }
        Policy::Rfc2965 => fits_2965(domain, host),
        _ if follows_2109(cookie.version, policy) => ends_with_domain(domain, host),
        _ => {
            let bare = domain.strip_prefix('.').unwrap_or(domain);
            host.eq_ignore_ascii_case(bare) || !cookie.host_only && domain_match(bare, host)
        }
    };
    domain_fits && (secure || !cookie.secure) && path_match(&cookie.path, path)
}

/// True if a host name equals the domain or is below it. IP addresses have no parent domain.
fn domain_match(domain: &str, host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    if bare.parse::<Ipv4Addr>().is_ok() || bare.parse::<IpAddr>().is_ok() {
        return false;
    }
    let domain = domain.strip_prefix('.').unwrap_or(domain);
    let Some(prefix) = host.len().checked_sub(domain.len()) else { return false };
    let (before, end) = host.as_bytes().split_at(prefix);
    end.eq_ignore_ascii_case(domain.as_bytes())
        && (before.is_empty() || before.len() > 1 && before.ends_with(b"."))
}

fn path_match(cookie: &str, path: &str) -> bool {
    let cookie = match cookie.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => cookie,
    };
    match path.strip_prefix(cookie) {
        Some(rest) => cookie == "/" || rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// True for the top-level domains under which Netscape's draft demands only two labels.
fn is_special(domain: &str) -> bool {
    let top = domain.rsplit('.').next().unwrap_or_default();
    domain.contains('.')
        && ["com", "edu", "net", "gov", "mil", "org", "int"]
            .iter()
            .any(|t| top.eq_ignore_ascii_case(t))
}
