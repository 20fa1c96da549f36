//! Resolves names to addresses. The system's resolver blocks, so a separate thread calls it.
//!
//! A name that was not found is not looked up again for ten seconds, as in a JVM. A failing lookup may take the
//! system seconds, and all other lookups would have to wait.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::ids::UserId;
pub(crate) use crate::inbox::results::Found;
use crate::inbox::{Inbox, Message};
use crate::net::routes::RouteId;

/// A core's request to resolve a name.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    /// The addresses or names that the plan defines for the host. If there are any, they are resolved instead of
    /// the host.
    pub(crate) aliases: Vec<String>,
    pub(crate) reply_to: Inbox,
}

/// Parses a host that is an IP address.
pub(crate) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Time for which an unknown name is not looked up again: Java's `networkaddress.cache.negative.ttl`.
const UNKNOWN_FOR: Duration = Duration::from_secs(10);

/// Order in which addresses are tried (`java.net.preferIPv6Addresses`, `java.net.preferIPv4Stack`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preference {
    /// IPv4 first: Java's default.
    V4,
    V6,
    /// Addresses in the order of the system's resolver.
    System,
    /// Only IPv4 addresses.
    OnlyV4,
}

/// Starts the resolver thread, which ends when the last sender is dropped.
pub(crate) fn start(preference: Preference) -> std::io::Result<Sender<Question>> {
    let (sender, questions) = channel::<Question>();
    std::thread::Builder::new().name("resolver".into()).spawn(move || {
        let mut unknown = HashMap::<String, Instant>::new();
        for question in questions {
            if !question.aliases.is_empty() {
                let found = question.aliases.iter().flat_map(|alias| {
                    ask(alias, question.port, preference)
                        .into_iter()
                        .map(|address| (shown(alias), address))
                        .collect::<Vec<_>>()
                });
                let addresses = found.collect();
                question.reply_to.send(Message::Looked {
                    user: question.user,
                    route: question.route,
                    addresses,
                });
                continue;
            }
            let found = look_up(&mut unknown, &question.host, Instant::now(), || {
                ask(&question.host, question.port, preference)
            });
            question.reply_to.send(Message::Resolved {
                user: question.user,
                route: question.route,
                host: question.host,
                found,
            });
        }
    })?;
    Ok(sender)
}

/// Resolves a name, unless it was unknown a moment ago.
fn look_up(
    unknown: &mut HashMap<String, Instant>,
    host: &str,
    now: Instant,
    ask: impl FnOnce() -> Vec<SocketAddr>,
) -> Found {
    unknown.retain(|_, since| now.duration_since(*since) < UNKNOWN_FOR);
    if unknown.contains_key(host) {
        return Found::StillUnknown;
    }
    let addresses = ask();
    if addresses.is_empty() {
        unknown.insert(host.to_owned(), now);
        return Found::Unknown;
    }
    Found::Addresses(addresses)
}

/// Returns the name that Java shows beside an address that was found for `alias`; empty if `alias` is an IP address.
pub(crate) fn shown(alias: &str) -> String {
    if literal(alias).is_some() { String::new() } else { alias.to_owned() }
}

/// Returns all addresses of a name, the preferred family first.
fn ask(host: &str, port: u16, preference: Preference) -> Vec<SocketAddr> {
    let mut addresses: Vec<SocketAddr> =
        (host, port).to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    match preference {
        Preference::V4 => addresses.sort_by_key(SocketAddr::is_ipv6),
        Preference::V6 => addresses.sort_by_key(SocketAddr::is_ipv4),
        Preference::System => {}
        Preference::OnlyV4 => addresses.retain(SocketAddr::is_ipv4),
    }
    addresses.dedup();
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_asked_for_again_after_ten_seconds() {
        let (mut unknown, begin) = (HashMap::new(), Instant::now());
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let one = vec![SocketAddr::from(([127, 0, 0, 1], 80))];
        assert_eq!(look_up(&mut unknown, "a", at(0), Vec::new), Found::Unknown);
        assert_eq!(look_up(&mut unknown, "a", at(9), || one.clone()), Found::StillUnknown);
        assert_eq!(
            look_up(&mut unknown, "b", at(9), || one.clone()),
            Found::Addresses(one.clone())
        );
        assert_eq!(look_up(&mut unknown, "a", at(10), || one.clone()), Found::Addresses(one));
        assert!(unknown.is_empty());
    }
}
