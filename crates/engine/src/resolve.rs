//! Names to addresses, off the cores: the system's resolver blocks, so a thread of its own asks it.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Sender, channel};

use crate::run::{Inbox, Message};
use crate::wheel::Index;

/// A question from a core.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Index,
    pub(crate) route: u32,
    /// Asked for instead, if there are any: the plan's own addresses of the host.
    pub(crate) aliases: Vec<String>,
    pub(crate) reply_to: Inbox,
}

/// The address that a host name spells out, if it does.
pub(crate) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Which addresses are tried first (`java.net.preferIPv6Addresses`, `java.net.preferIPv4Stack`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preference {
    /// IPv4 first: Java's default.
    V4,
    V6,
    /// In the order of the system's resolver.
    System,
    /// There is no IPv6.
    OnlyV4,
}

/// Starts the resolver; it ends when the last sender is dropped.
pub(crate) fn start(preference: Preference) -> std::io::Result<Sender<Question>> {
    let (sender, questions) = channel::<Question>();
    std::thread::Builder::new().name("resolver".into()).spawn(move || {
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
            let addresses = ask(&question.host, question.port, preference);
            question.reply_to.send(Message::Resolved {
                user: question.user,
                route: question.route,
                addresses,
            });
        }
    })?;
    Ok(sender)
}

/// The name that an address was found under, as Java shows it: none where it was written out.
pub(crate) fn shown(alias: &str) -> String {
    if literal(alias).is_some() { String::new() } else { alias.to_owned() }
}

/// All addresses of a name, the preferred ones first.
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
