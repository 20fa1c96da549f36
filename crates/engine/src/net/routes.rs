//! The routes of one core: a list that plans and servers can make as long as they like, by ever new hosts and ports.
//!
//! Once a second, if there are many, those that nothing leads to any more are forgotten, and their places are used again: 1024 routes or
//! twice those in use, whichever is more, is the most that outlives a second. A number stays valid for as long as a connection, a
//! user or a fixed request has it; a resolver's late answer names its host besides.

use std::ops::{Index, IndexMut};

use crate::core::Core;
pub(crate) use crate::ids::RouteId;
use crate::net::conn::{Route, State};
use crate::websocket;

/// Below this nothing is forgotten.
const FEW: usize = 1024;

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

    fn are_many(&self) -> bool {
        self.all.len() - self.free.len() > self.limit.max(FEW)
    }

    /// Forgets those that are not used.
    fn keep(&mut self, used: &[bool]) {
        for (at, route) in (0..).zip(&mut self.all) {
            if !used[at as usize] && !route.forgotten {
                *route = Route::forgotten();
                self.free.push(RouteId(at));
            }
        }
        self.limit = 2 * (self.all.len() - self.free.len());
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

impl Core<'_> {
    /// Forgets routes that nothing leads to, if there are many.
    pub(crate) fn forget_routes(&mut self) {
        if !self.net.routes.are_many() {
            return;
        }
        let mut used = vec![false; self.net.routes.all.len()];
        let mut mark = |route: RouteId| used[route.0 as usize] = true;
        self.http.fixed.iter().flatten().for_each(|fixed| mark(fixed.route));
        for conn in self.net.conns.all.iter().filter(|conn| conn.state != State::Closed) {
            mark(conn.route);
            mark(conn.via);
        }
        let held = |one: &&websocket::Socket| one.state != websocket::State::Free;
        self.websocket.sockets.all.iter().filter(held).for_each(|one| mark(one.route));
        for extra in self.users.all.iter().filter_map(|user| user.extra.as_ref()) {
            extra.names.iter().flatten().for_each(|(_, via)| mark(*via));
            extra.credential_routes().for_each(&mut mark);
        }
        self.net.routes.keep(&used);
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
        routes.keep(&[true, false, true, false]);
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
        routes.keep(&used);
        for port in 0..=FEW {
            assert!(!routes.are_many());
            routes.add(to(port as u16));
        }
        routes.add(to(0));
        assert!(routes.are_many());
    }
}
