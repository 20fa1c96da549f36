//! DNS Cache Manager: static hosts, custom name servers, and name resolution per user.

use jmx::{ElementId, Value};

use crate::compile::Context;
use crate::plan::{DnsCacheManager, StaticHost};

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<DnsCacheManager> {
    let mut hosts = Vec::new();
    for prop in ctx.props(id).collection("DNSCacheManager.hosts") {
        let Some(host) = prop.object() else { continue };
        let mut text = |name: &str| ctx.text(id, host.props.str(name).unwrap_or(""));
        hosts.push(StaticHost {
            name: text("StaticHost.Name"),
            addresses: text("StaticHost.Address"),
        });
    }
    let mut servers = Vec::new();
    if ctx.flag(id, "DNSCacheManager.isCustomResolver", false) {
        for server in ctx.props(id).collection("DNSCacheManager.servers") {
            if let Value::Text(_, name) = &server.value {
                servers.push(ctx.text(id, name));
            }
        }
    }
    Some(DnsCacheManager {
        servers,
        clear_each_iteration: ctx.flag(id, "DNSCacheManager.clearEachIteration", false),
        hosts,
    })
}
