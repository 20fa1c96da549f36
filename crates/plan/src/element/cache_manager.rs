//! Cache Manager: the HTTP cache of each user.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::CacheManager;

/// Default of the maximum number of cache entries per user.
const MOST: &str = "5000";

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<CacheManager> {
    Some(CacheManager {
        clear_each_iteration: ctx.flag(id, "clearEachIteration", false),
        controlled_by_group: ctx.flag(id, "CacheManager.controlledByThread", false),
        use_expires: ctx.flag(id, "useExpires", false),
        most: ctx.prop_or(id, "maxSize", MOST),
    })
}
