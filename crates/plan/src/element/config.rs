//! Configuration that does nothing until it holds entries.

use jmx::ElementId;

use crate::compile::{Context, scope};
use crate::support::Level;

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let props = ctx.props(id);
    if scope::class(ctx.doc, id) == "AuthManager" {
        if !props.collection("AuthManager.auth_list").is_empty() {
            ctx.remark(id, Level::Unsupported, "requests are sent without its credentials");
        }
    } else if props.bool("DNSCacheManager.isCustomResolver").unwrap_or(false) {
        ctx.remark(id, Level::Unsupported, "its hosts and name servers are not used");
    }
}
