//! The routes of one core: a list that plans and servers can make as long as they like, by ever new hosts and ports.
//!
//! Once a second, if there are many, those that nothing leads to any more are forgotten, and their places are used again: 1024 routes or
//! twice those in use, whichever is more, is the most that outlives a second. A number stays valid for as long as a connection, a
//! user or a fixed request has it; a resolver's late answer names its host besides.

use std::net::SocketAddr;
use std::ops::{Index, IndexMut};

use plan::http::Source;
use stats::ClassId;

pub(crate) use crate::ids::RouteId;
use crate::time::clock::Nanos;

/// Below this nothing is forgotten.
const FEW: usize = 1024;

/// Where a connection leads.
#[derive(Debug, Default)]
pub(crate) struct Route {
    pub(crate) secure: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Behind a proxy: where it leads; host and port are then the proxy's.
    pub(crate) tunnel: Option<Tunnel>,
    pub(crate) source: Source,
    /// Known addresses, and until when they may be used.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) fresh_until: Nanos,
    /// A route of the same kind that only some users have: the addresses are theirs, as they looked them up.
    pub(crate) pinned: bool,
    /// Names that the addresses were found under, if not that of the host; empty for one that was written out.
    pub(crate) found_as: Vec<String>,
    /// The last body from there was large and nobody read it.
    pub(crate) large_unread: bool,
    /// The class of the address that a WebSocket of it was opened to last.
    pub(crate) class: ClassId,
    /// The place is free for another.
    pub(crate) forgotten: bool,
}

impl Route {
    /// The content of a free place.
    pub(crate) fn forgotten() -> Self {
        Self { forgotten: true, ..Self::default() }
    }
}

/// A server that is reached through a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tunnel {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Requests name it and the proxy passes them on, instead of making a tunnel.
    pub(crate) forwarded: bool,
    /// For the proxy.
    pub(crate) credentials: Option<wire::auth::Credentials>,
}

#[derive(Debug, Default)]
pub(crate) struct Routes {
    all: Vec<Route>,
    /// Places without a route.
    free: Vec<RouteId>,
    /// With so many routes they are looked through.
    limit: usize,
}

impl Routes {
    /// The number of the first route that is meant.
    pub(crate) fn position(&self, same: impl Fn(&Route) -> bool) -> Option<RouteId> {
        let at = self.all.iter().position(|route| !route.forgotten && same(route));
        at.map(|at| RouteId(at as u32))
    }

    /// Adds a route; its number.
    pub(crate) fn add(&mut self, route: Route) -> RouteId {
        if let Some(at) = self.free.pop() {
            self.all[at.0 as usize] = route;
            return at;
        }
        self.all.push(route);
        RouteId((self.all.len() - 1) as u32)
    }

    /// The route to a peer; made at its first use.
    pub(crate) fn to(&mut self, secure: bool, host: &str, port: u16, source: &Source) -> RouteId {
        let same = |route: &Route| {
            route.tunnel.is_none()
                && !route.pinned
                && route.port == port
                && route.secure == secure
                && route.host == host
                && route.source == *source
        };
        if let Some(at) = self.position(same) {
            return at;
        }
        self.add(Route {
            secure,
            host: host.to_owned(),
            port,
            source: source.clone(),
            ..Route::default()
        })
    }

    /// The route like `route` that is pinned to these addresses; made at its first use.
    pub(crate) fn pin(
        &mut self,
        route: RouteId,
        mut addresses: Vec<SocketAddr>,
        found_as: Vec<String>,
    ) -> RouteId {
        let like = &self[route];
        for address in &mut addresses {
            address.set_port(like.port);
        }
        let same = |route: &Route| {
            route.pinned
                && (&route.addresses, &route.found_as) == (&addresses, &found_as)
                && (&route.host, route.port) == (&like.host, like.port)
                && (route.secure, &route.tunnel, &route.source)
                    == (like.secure, &like.tunnel, &like.source)
        };
        if let Some(at) = self.position(same) {
            return at;
        }
        let pinned = Route {
            secure: like.secure,
            host: like.host.clone(),
            port: like.port,
            tunnel: like.tunnel.clone(),
            source: like.source.clone(),
            addresses,
            fresh_until: 0,
            pinned: true,
            found_as,
            large_unread: false,
            class: ClassId::NONE,
            forgotten: false,
        };
        self.add(pinned)
    }

    /// A mark for each route, if there are so many that those not used are to be forgotten.
    pub(crate) fn marks(&self) -> Option<Marks> {
        self.are_many().then(|| Marks(vec![false; self.all.len()]))
    }

    fn are_many(&self) -> bool {
        self.all.len() - self.free.len() > self.limit.max(FEW)
    }

    /// Forgets those that are not marked.
    pub(crate) fn keep(&mut self, Marks(used): &Marks) {
        for (at, route) in (0..).zip(&mut self.all) {
            if !used[at as usize] && !route.forgotten {
                *route = Route::forgotten();
                self.free.push(RouteId(at));
            }
        }
        self.limit = 2 * (self.all.len() - self.free.len());
    }
}

/// The routes that are used.
#[derive(Debug)]
pub(crate) struct Marks(Vec<bool>);

impl Marks {
    pub(crate) fn mark(&mut self, route: RouteId) {
        self.0[route.0 as usize] = true;
    }
}

impl Index<RouteId> for Routes {
    type Output = Route;
    fn index(&self, at: RouteId) -> &Route {
        &self.all[at.0 as usize]
    }
}

impl IndexMut<RouteId> for Routes {
    fn index_mut(&mut self, at: RouteId) -> &mut Route {
        &mut self.all[at.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(port: u16) -> Route {
        Route { port, forgotten: false, ..Route::forgotten() }
    }

    #[test]
    fn what_is_not_used_is_forgotten_and_its_place_used_again() {
        let mut routes = Routes::default();
        let numbers: Vec<RouteId> = (0..4).map(|port| routes.add(to(port))).collect();
        assert_eq!(numbers, [0, 1, 2, 3].map(RouteId));
        routes.keep(&Marks(vec![true, false, true, false]));
        assert_eq!(routes.position(|route| route.port == 2), Some(RouteId(2)));
        assert_eq!(routes.position(|route| route.port == 1), None);
        assert_eq!(
            routes.position(|route| route.host.is_empty() && route.port == 0),
            Some(RouteId(0))
        );
        let mut again = [routes.add(to(7)).0, routes.add(to(8)).0];
        again.sort_unstable();
        assert_eq!(again, [1, 3]);
        assert_eq!(routes.add(to(9)), RouteId(4));
    }

    #[test]
    fn they_are_looked_through_when_there_are_twice_as_many_as_were_kept() {
        let mut routes = Routes::default();
        for port in 0..=FEW {
            assert!(!routes.are_many());
            routes.add(to(port as u16));
        }
        assert!(routes.are_many());
        let used = vec![true; FEW + 1];
        routes.keep(&Marks(used));
        for port in 0..=FEW {
            assert!(!routes.are_many());
            routes.add(to(port as u16));
        }
        routes.add(to(0));
        assert!(routes.are_many());
    }
}
