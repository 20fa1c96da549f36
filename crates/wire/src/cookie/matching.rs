//! Which origins a cookie may come from and goes to.

use super::{Cookie, Policy, Rejected};
use std::net::{IpAddr, Ipv4Addr};

/// Whether a host may set a cookie for a domain.
pub(super) fn validate(domain: &str, host: &str, policy: Policy) -> Result<(), Rejected> {
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

pub(super) fn fits(cookie: &Cookie, host: &str, path: &str, secure: bool, policy: Policy) -> bool {
    let domain = cookie.domain.as_str();
    let domain_fits = if policy == Policy::Netscape {
        host.ends_with(domain)
    } else {
        let bare = domain.strip_prefix('.').unwrap_or(domain);
        host.eq_ignore_ascii_case(bare) || !cookie.host_only && domain_match(bare, host)
    };
    domain_fits && (secure || !cookie.secure) && path_match(&cookie.path, path)
}

/// Host names only: an address has no parent domain.
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

/// The top-level domains under which two parts are enough for the original draft.
fn is_special(domain: &str) -> bool {
    let top = domain.rsplit('.').next().unwrap_or_default();
    domain.contains('.')
        && ["com", "edu", "net", "gov", "mil", "org", "int"]
            .iter()
            .any(|t| top.eq_ignore_ascii_case(t))
}
