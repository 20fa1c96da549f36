//! Cookie Manager, Cache Manager and other managers that apply to a sampler. If several managers of a kind are in
//! scope, the outermost manager is used, because in JMeter the manager added last replaces earlier managers.

use jmx::ElementId;

use super::Walk;
use super::scope::class;
use crate::element::{auth_manager, cache_manager, cookie_manager, dns_cache_manager};
use crate::gateway;
use crate::plan::Managers;

impl Walk<'_> {
    /// Returns the managers for a sampler with these elements in its scope, nearest first.
    pub(super) fn managers(&mut self, configs: &[ElementId]) -> Managers {
        let doc = self.ctx.doc;
        let outermost = |name| configs.iter().rev().copied().find(|id| class(doc, *id) == name);
        let (cookies, cache) = (outermost("CookieManager"), outermost("CacheManager"));
        let (auth, dns) = (outermost("AuthManager"), outermost("DNSCacheManager"));
        let near = configs.iter().copied().find(|id| gateway::is_one(&self.ctx, *id));
        let handler = cookies.and_then(|id| cookie_manager::complaint(&self.ctx, id));
        Managers {
            cookie_handler_missing: handler.is_some(),
            cookies: cookies.and_then(|id| {
                self.tabled(id, cookie_manager::compile, |plan| &mut plan.cookie_managers)
            }),
            cache: cache.and_then(|id| {
                self.tabled(id, cache_manager::compile, |plan| &mut plan.cache_managers)
            }),
            dns: dns.and_then(|id| {
                self.tabled(id, dns_cache_manager::compile, |plan| &mut plan.dns_managers)
            }),
            gateway: match near {
                Some(id) => self.tabled(id, gateway::compile, |plan| &mut plan.gateways),
                None => self.gateway_of_run(),
            },
            auth: auth.and_then(|id| {
                self.tabled(id, auth_manager::compile, |plan| &mut plan.auth_managers)
            }),
        }
    }

    /// Returns the index of the gateway that the run's properties describe. The gateway is added to the plan's table at
    /// its first use.
    fn gateway_of_run(&mut self) -> Option<u32> {
        if let Some(known) = self.gateway_of_run.get() {
            return *known;
        }
        let made = gateway::of_run(self.ctx.settings).map(|made| {
            gateway::review_of_run(&mut self.ctx, &made);
            self.plan.gateways.push(made);
            self.plan.gateways.len() as u32 - 1
        });
        let _ = self.gateway_of_run.set(made);
        made
    }
}
