//! Names that users look up for themselves, where a plan has a DNS Cache Manager: hosts of the plan's own, and answers
//! that each user keeps until they are cleared.
//!
//! The address that a user found is a route of its own kind, pinned to its addresses; users with the same addresses share it.
//! Connections are still told apart by the route proper: a kept one is used again whatever the name means by now.
//!
//! The samplers of WebSocket, TCP and UDP know nothing of the element, in JMeter's plug-ins as here: it is HTTP's alone.

use std::net::SocketAddr;

use plan::plan::{SamplerId, SamplerKind};
use stats::Counter;

use crate::context::Context;
use crate::http::conn::{ConnId, NO_CONN};
use crate::http::requests::Requests;
use crate::ids::UserId;
use crate::net::nameserver::{Found, Lookup};
use crate::net::outcome::Failure;
use crate::net::resolve::{self, Question};
use crate::net::routes::{Route, RouteId};
use crate::time::clock::Nanos;
use crate::users::Wait;

impl Requests {
    /// Finds the addresses for a new connection among what the user keeps. True: it is being connected, or waits for
    /// addresses of the plan's own.
    pub(crate) fn look_up_name(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        conn: ConnId,
    ) -> bool {
        let Some(manager) = dns_manager(cx, id) else { return false };
        let route = self.conns[conn].route;
        let Route { host, port, .. } = &cx.net.routes[route];
        let (host, port) = (host.clone(), *port);
        let owner = cx.users.root(index);
        let kept = cx.users[owner].extra.as_ref().and_then(|extra| extra.names.get(manager));
        let kept = kept.and_then(|names| names.iter().find(|(name, _)| *name == host));
        if let Some((_, via)) = kept {
            let via = &cx.net.routes[*via];
            let (addresses, found_as) = (via.addresses.clone(), via.found_as.clone());
            self.conns[conn].opening.route = cx.net.routes.pin(route, addresses, found_as);
            self.connect(cx, conn);
            return true;
        }
        let mut aliases = None;
        for entry in &cx.plan.dns_managers[manager].hosts {
            let name = cx.text_of(index, id, &entry.name);
            if !name.eq_ignore_ascii_case(&host) {
                continue;
            }
            aliases.get_or_insert_with(Vec::new);
            // JMeter finds a host whatever its case, but its addresses only by the same.
            if name == host {
                let text = cx.text_of(index, id, &entry.addresses);
                aliases = Some(text.split(',').map(|alias| alias.trim().to_owned()).collect());
                break;
            }
        }
        let servers = &cx.plan.dns_managers[manager].servers;
        if !servers.is_empty() {
            let servers = servers.iter().map(|server| cx.text_of(index, id, server)).collect();
            let reply_to = cx.run.inbox(cx.index);
            let lookup = Lookup { host, aliases, servers, turn: 0, user: index, route, reply_to };
            ask_servers(cx, id, manager, lookup);
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
            self.conns[conn].opening.route = via;
            self.connect(cx, conn);
            return true;
        }
        cx.users[index].wait = Wait::Resolve(id);
        let reply_to = cx.run.inbox(cx.index);
        let question = Question { host, port, user: index, route, aliases, reply_to };
        let _ = cx.run.resolver.send(question);
        true
    }

    /// Name servers of the plan's own have answered.
    pub(crate) fn on_named(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        route: RouteId,
        found: Found,
    ) {
        let user = &cx.users[index];
        let (Wait::Resolve(id), conn) = (user.wait, user.conn) else { return };
        if conn == NO_CONN || self.conns[conn].route != route {
            return;
        }
        self.note_name(cx, conn);
        match found {
            Ok(addresses) => self.on_looked(cx, index, route, addresses),
            Err(words) => {
                cx.users[index].wait = Wait::Exchange(id);
                self.fail(cx, conn, &Failure::NotFound(words));
            }
        }
    }

    /// Addresses of the plan's own were found.
    pub(crate) fn on_looked(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        route: RouteId,
        addresses: Vec<(String, SocketAddr)>,
    ) {
        let (Wait::Resolve(id), conn) = (cx.users[index].wait, cx.users[index].conn) else {
            return;
        };
        if conn == NO_CONN || self.conns[conn].route != route {
            return;
        }
        cx.users[index].wait = Wait::Exchange(id);
        let (found_as, addresses) = addresses.into_iter().unzip();
        let via = cx.net.routes.pin(route, addresses, found_as);
        if let Some(manager) = dns_manager(cx, id) {
            let host = cx.net.routes[route].host.clone();
            keep(cx, cx.users.root(index), manager, host, via);
        }
        self.conns[conn].opening.route = via;
        self.connect(cx, conn);
    }

    /// The system's resolver has answered: a user with a DNS Cache Manager keeps what it said.
    pub(crate) fn keep_name(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        conn: ConnId,
    ) {
        let Some(manager) = dns_manager(cx, id) else { return };
        let route = self.conns[conn].route;
        let data = &cx.net.routes[route];
        if resolve::literal(&data.host).is_some() {
            return;
        }
        let (host, addresses) = (data.host.clone(), data.addresses.clone());
        let via = cx.net.routes.pin(route, addresses, Vec::new());
        keep(cx, cx.users.root(index), manager, host, via);
        self.conns[conn].opening.route = via;
    }
}

/// Asks name servers of the plan's own; each question of a user begins with another.
fn ask_servers(cx: &mut Context<'_>, id: SamplerId, manager: usize, mut lookup: Lookup) {
    let index = lookup.user;
    let owner = cx.users.owner(index);
    let turns = &mut cx.users[owner].extra().lookups;
    if turns.len() <= manager {
        turns.resize(manager + 1, 0);
    }
    lookup.turn = turns[manager];
    turns[manager] = lookup.turn.wrapping_add(1);
    cx.recorder.add(Counter::DnsLookups, 1);
    let user = &mut cx.users[index];
    (user.wait, user.limit) = (Wait::Resolve(id), Nanos::MAX);
    if let Some(names) = &cx.run.names {
        names.ask(lookup);
    }
}

fn dns_manager(cx: &Context<'_>, id: SamplerId) -> Option<usize> {
    match &cx.plan.samplers[id.0 as usize].kind {
        SamplerKind::Http(http) => http.dns.map(|at| at as usize),
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
