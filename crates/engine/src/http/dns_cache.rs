//! Host names that users resolve themselves under a DNS Cache Manager: hosts that the plan defines, and addresses that
//! each user caches until they are cleared.
//!
//! Addresses that a user has resolved form a separate route with only these addresses; users with the same
//! addresses share it. Connections still belong to the original route: an open connection is reused even if the
//! name now resolves differently.
//!
//! Samplers of WebSocket, TCP and UDP ignore the DNS Cache Manager, as in JMeter's plug-ins. Only HTTP uses it.

use std::net::SocketAddr;

use plan::plan::{SamplerId, SamplerKind};
use stats::Counter;
use wire::session::Ticket;

use crate::context::Context;
use crate::ids::UserId;
use crate::net::nameserver::{Found, Lookup};
use crate::net::outcome::Failure;
use crate::net::resolve::{self, Question};
use crate::net::routes::{Route, RouteId};
use crate::session::Sessions;
use crate::time::clock::Nanos;
use crate::users::Wait;

/// Looks up the host of an exchange in the user's cache and among the hosts that the plan defines. Returns true if the
/// connection is being opened or waits for addresses; false if the host must be resolved by the system.
pub(crate) fn look_up_name(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) -> bool {
    let exchange = &sessions.exchanges[ticket];
    let (index, route) = (exchange.user, exchange.route);
    let Some((id, manager)) = dns_manager(cx, exchange.sampler()) else { return false };
    let Route { host, port, .. } = &cx.net.routes[route];
    let (host, port) = (host.clone(), *port);
    let owner = cx.users.root(index);
    if let Some(via) = kept(cx, owner, manager, &host) {
        let via = &cx.net.routes[via];
        let (addresses, found_as) = (via.addresses.clone(), via.found_as.clone());
        let via = cx.net.routes.pin(route, addresses, found_as);
        sessions.connect_to(&mut cx.around(), ticket, via);
        return true;
    }
    let aliases = aliases(cx, index, id, manager, &host);
    let servers = &cx.plan.dns_managers[manager].servers;
    if !servers.is_empty() {
        let servers = servers.iter().map(|server| cx.text_of(index, id, server)).collect();
        let reply_to = cx.run.inbox(cx.index);
        let lookup = Lookup { host, aliases, servers, turn: 0, user: index, route, reply_to };
        ask_servers(cx, manager, lookup);
        return true;
    }
    let Some(aliases) = aliases else { return false };
    let written: Option<Vec<_>> = aliases
        .iter()
        .map(|alias| resolve::literal(alias).map(|ip| SocketAddr::new(ip, port)))
        .collect();
    if let Some(addresses) = written {
        let found_as = vec![String::new(); addresses.len()];
        let via = cx.net.routes.pin(route, addresses, found_as);
        keep(cx, owner, manager, host, via);
        sessions.connect_to(&mut cx.around(), ticket, via);
        return true;
    }
    cx.users[index].limit = Nanos::MAX;
    let reply_to = cx.run.inbox(cx.index);
    let question = Question { host, port, user: index, route, aliases, reply_to };
    let _ = cx.run.resolver.send(question);
    true
}

/// Returns the route to a host's addresses that the user has cached.
fn kept(cx: &Context<'_>, owner: UserId, manager: usize, host: &str) -> Option<RouteId> {
    let names = cx.users[owner].extra.as_ref()?.names.get(manager)?;
    names.iter().find(|(name, _)| name == host).map(|(_, via)| *via)
}

/// Returns the addresses or names that the plan defines for a host.
fn aliases(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    manager: usize,
    host: &str,
) -> Option<Vec<String>> {
    let mut aliases = None;
    for entry in &cx.plan.dns_managers[manager].hosts {
        let name = cx.text_of(index, id, &entry.name);
        if !name.eq_ignore_ascii_case(host) {
            continue;
        }
        aliases.get_or_insert_with(Vec::new);
        // JMeter finds the host regardless of case, but its addresses only in the same case.
        if name == host {
            let text = cx.text_of(index, id, &entry.addresses);
            aliases = Some(text.split(',').map(|alias| alias.trim().to_owned()).collect());
            break;
        }
    }
    aliases
}

/// Stores addresses from the system's resolver in the cache of a user with a DNS Cache Manager, before the exchange
/// connects to them.
pub(crate) fn keep_name(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let exchange = &sessions.exchanges[ticket];
    let (index, line) = (exchange.user, exchange.line);
    let Some((_, manager)) = dns_manager(cx, exchange.sampler()) else { return };
    let route = exchange.route;
    let data = &cx.net.routes[route];
    if resolve::literal(&data.host).is_some() {
        return;
    }
    let (host, addresses) = (data.host.clone(), data.addresses.clone());
    let via = cx.net.routes.pin(route, addresses, Vec::new());
    keep(cx, cx.users.root(index), manager, host, via);
    sessions.lines[line].opening.route = via;
}

/// Handles the addresses of a host that the plan defines, or the answer of the plan's own name servers: connects to the
/// addresses, or fails the exchange.
pub(crate) fn on_named(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    route: RouteId,
    found: Found,
) {
    let Wait::Session(ticket) = cx.users[index].wait else { return };
    if sessions.naming(ticket, route).is_none() {
        return;
    }
    sessions.note_name(&cx.around(), ticket);
    let addresses = match found {
        Ok(addresses) => addresses,
        Err(words) => {
            return sessions.fail(&mut cx.around(), ticket, Failure::NotFound(words));
        }
    };
    let (found_as, addresses) = addresses.into_iter().unzip();
    let via = cx.net.routes.pin(route, addresses, found_as);
    if let Some((_, manager)) = dns_manager(cx, sessions.exchanges[ticket].sampler()) {
        let host = cx.net.routes[route].host.clone();
        keep(cx, cx.users.root(index), manager, host, via);
    }
    sessions.connect_to(&mut cx.around(), ticket, via);
}

/// Queries the plan's own name servers. Each query of a user starts with the next server.
fn ask_servers(cx: &mut Context<'_>, manager: usize, mut lookup: Lookup) {
    let index = lookup.user;
    let owner = cx.users.owner(index);
    let turns = &mut cx.users[owner].extra().lookups;
    if turns.len() <= manager {
        turns.resize(manager + 1, 0);
    }
    lookup.turn = turns[manager];
    turns[manager] = lookup.turn.wrapping_add(1);
    cx.recorder.add(Counter::DnsLookups, 1);
    cx.users[index].limit = Nanos::MAX;
    if let Some(names) = &cx.run.names {
        names.ask(lookup);
    }
}

/// Returns the DNS Cache Manager of an HTTP sampler; `None` for an exchange without a sampler.
fn dns_manager(cx: &Context<'_>, sampler: Option<SamplerId>) -> Option<(SamplerId, usize)> {
    match cx.plan.kind_of(sampler)? {
        SamplerKind::Http(http) => Some((sampler?, http.dns? as usize)),
        _ => None,
    }
}

fn keep(cx: &mut Context<'_>, owner: UserId, manager: usize, host: String, via: RouteId) {
    let names = &mut cx.users[owner].extra().names;
    if names.len() <= manager {
        names.resize_with(manager + 1, Vec::new);
    }
    names[manager].retain(|(name, _)| *name != host);
    names[manager].push((host, via));
}
