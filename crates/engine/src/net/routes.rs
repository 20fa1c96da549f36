//! The routes of one core. Plans and servers can let this list grow without limit by using new hosts and ports.
//!
//! Therefore unused routes are removed once a second if there are many, and their indices are reused. Of the
//! routes, at most 1024 are kept, or twice the number in use if that is more. An index stays valid as long as a
//! connection, a user or a constant request holds it. A late answer of the resolver includes its host for
//! comparison.

use std::net::SocketAddr;
use std::ops::{Index, IndexMut};

use plan::http::Source;
use stats::ClassId;

pub(crate) use crate::ids::RouteId;
use crate::time::clock::Nanos;

/// Number of routes up to which no route is removed.
const FEW: usize = 1024;

/// The target of a connection.
#[derive(Debug, Default)]
pub(crate) struct Route {
    pub(crate) secure: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The server behind a proxy. If it is set, the route's host and port belong to the proxy.
    pub(crate) tunnel: Option<Tunnel>,
    pub(crate) source: Source,
    /// Known addresses, and the time until which they may be used.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) fresh_until: Nanos,
    /// True for a copy of a route that only some users use, with the addresses that these users have resolved.
    pub(crate) pinned: bool,
    /// Names that were looked up for the addresses, if different from the host; empty for an IP address.
    pub(crate) found_as: Vec<String>,
    /// True if the last response body from this route was large and was not read by any element.
    pub(crate) large_unread: bool,
    /// Class under which the statistics count the address to which the route's last WebSocket was opened.
    pub(crate) class: ClassId,
    /// True if the slot is free for another route.
    pub(crate) forgotten: bool,
}

impl Route {
    /// Returns the placeholder for a free slot of the route table.
    pub(crate) fn forgotten() -> Self {
        Self { forgotten: true, ..Self::default() }
    }
}

/// A server that is reached through a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tunnel {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// True if requests name the server and the proxy forwards them, without a tunnel.
    pub(crate) forwarded: bool,
    /// Credentials for the proxy.
    pub(crate) credentials: Option<wire::auth::Credentials>,
}

#[derive(Debug, Default)]
pub(crate) struct Routes {
    all: Vec<Route>,
    /// Slots without a route.
    free: Vec<RouteId>,
    /// Above this number of routes, unused routes are removed.
    limit: usize,
}

impl Routes {
    /// Returns the index of the first matching route.
    pub(crate) fn position(&self, same: impl Fn(&Route) -> bool) -> Option<RouteId> {
        let at = self.all.iter().position(|route| !route.forgotten && same(route));
        at.map(|at| RouteId(at as u32))
    }

    /// Adds a route and returns its index.
    pub(crate) fn add(&mut self, route: Route) -> RouteId {
        if let Some(at) = self.free.pop() {
            self.all[at.0 as usize] = route;
            return at;
        }
        self.all.push(route);
        RouteId((self.all.len() - 1) as u32)
    }

    /// Returns the route to a peer, created at its first use.
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

    /// Returns a copy of `route` that has only these addresses, created at its first use.
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

    /// Returns unset marks for all routes, if there are so many routes that unused ones must be removed. The caller
    /// marks the routes in use.
    pub(crate) fn marks(&self) -> Option<Marks> {
        self.are_many().then(|| Marks(vec![false; self.all.len()]))
    }

    fn are_many(&self) -> bool {
        self.all.len() - self.free.len() > self.limit.max(FEW)
    }

    /// Removes routes that are not marked.
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

/// Marks of the routes that are in use.
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
