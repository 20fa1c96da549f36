//! Configuration that does nothing until it holds entries.

use jmx::ElementId;

use crate::compile::Context;
use crate::support::Level;

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    if ctx.props(id).bool("DNSCacheManager.isCustomResolver").unwrap_or(false) {
        ctx.remark(id, Level::Unsupported, "its hosts and name servers are not used");
    }
}
