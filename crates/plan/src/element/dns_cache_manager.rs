//! DNS Cache Manager: hosts of the plan's own, and names that each user looks up for itself.

use jmx::{ElementId, Value};

use crate::compile::Context;
use crate::plan::{DnsCacheManager, StaticHost};
use crate::support::Level;

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
    Some(DnsCacheManager {
        clear_each_iteration: ctx.flag(id, "DNSCacheManager.clearEachIteration", false),
        hosts,
    })
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let props = ctx.props(id);
    let custom = props.bool("DNSCacheManager.isCustomResolver").unwrap_or(false);
    let named = props
        .collection("DNSCacheManager.servers")
        .iter()
        .any(|server| matches!(&server.value, Value::Text(_, name) if !name.is_empty()));
    if custom && named {
        ctx.remark(
            id,
            Level::Unsupported,
            "its name servers (DNSCacheManager.servers) are not asked",
        );
    }
}
