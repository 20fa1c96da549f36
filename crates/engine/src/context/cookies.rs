//! Cookies of users. Requests of HTTP, of WebSocket and of scripts all read the same cookie jars.

use wire::cookie::{Cookie, Jar, Policy, Rules};

use crate::context::Context;
use crate::ids::UserId;
use crate::users::NO_USER;

impl Context<'_> {
    /// Returns the branch or user that owns the cookies of a request: the request's own branch, or the nearest
    /// enclosing branch or user that has a cookie jar.
    pub(crate) fn jar_around(&self, index: UserId, manager: u32) -> UserId {
        let mut index = index;
        loop {
            let user = &self.users[index];
            let jars = user.extra.as_ref().map_or(&[][..], |extra| &extra.jars[..]);
            let has = jars.get(manager as usize).is_some_and(Option::is_some);
            if has || user.branch_of == NO_USER {
                return index;
            }
            index = user.branch_of;
        }
    }

    /// Returns the index of the user's cookie jar for a Cookie Manager. At the first use the jar is created with the
    /// plan's own cookies. `None` if a function in a cookie has thrown.
    pub(crate) fn jar(&mut self, index: UserId, manager: u32) -> Option<usize> {
        let at = manager as usize;
        let extra = self.users[index].extra();
        if extra.jars.len() <= at {
            extra.jars.resize_with(at + 1, || None);
        }
        if extra.jars[at].is_none() {
            let settings = &self.run.settings;
            let named = Policy::named(&self.plan.cookie_managers[at].policy);
            let rules = Rules {
                policy: named.unwrap_or_default(),
                check: settings.cookies.check,
                delete_empty: settings.cookies.delete_null,
                ..Rules::default()
            };
            let mut jar = Box::new(Jar::with_rules(rules));
            self.add_own_cookies(index, manager, &mut jar);
            if self.has_thrown() {
                return None;
            }
            self.users[index].extra().jars[at] = Some(jar);
        }
        Some(at)
    }

    fn add_own_cookies(&mut self, index: UserId, manager: u32, jar: &mut Jar) {
        let plan = self.plan;
        for own in &plan.cookie_managers[manager as usize].cookies {
            let mut env = self.env(index, "");
            let mut text = |text: &plan::template::Template| {
                let mut value = String::new();
                text.eval(&mut env, &mut value);
                value
            };
            jar.add_beside(Cookie {
                name: text(&own.name),
                value: text(&own.value),
                domain: text(&own.domain),
                path: text(&own.path),
                secure: own.secure,
                host_only: !own.domain_given,
                path_given: own.path_given,
                version: own.version,
                expires_ms: None,
            });
        }
    }
}
