//! The loop's work on connections of all protocols: opens queued connections, and removes unused routes.

use crate::core::Core;
use crate::net::slot::Slot;
use crate::session;

impl Core<'_> {
    /// Opens queued connections, the oldest first, up to the limit per iteration of the loop.
    pub(crate) fn connect_queued(&mut self) {
        self.cx.net.begin_turn();
        while let Some(token) = self.cx.net.next_queued() {
            let slab = Slot::of(token).slab;
            if slab != session::held::SLAB {
                let Some(line) = self.sessions.lines.by_token(token) else { continue };
                let (sessions, mut around) = self.sessions();
                sessions.connect(&mut around, line);
            } else if let Some(line) = self.sessions.held.by_token(token) {
                self.sessions.held.connect(&mut self.cx.around(), line);
            }
        }
    }

    /// Removes unused routes if the core has many routes.
    pub(crate) fn forget_routes(&mut self) {
        let Some(mut used) = self.cx.net.routes.marks() else { return };
        self.http.routes().for_each(|route| used.mark(route));
        self.sessions.lines.routes().for_each(|route| used.mark(route));
        self.sessions.pools.routes().for_each(|route| used.mark(route));
        self.sessions.held.routes().for_each(|route| used.mark(route));
        for extra in self.cx.users.all.iter().filter_map(|user| user.extra.as_ref()) {
            extra.names.iter().flatten().for_each(|(_, via)| used.mark(*via));
            extra.credential_routes().for_each(|route| used.mark(route));
        }
        self.cx.net.routes.keep(&used);
    }
}
