//! Cache Manager: which answers users keep, for how long, and when they are forgotten.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::CacheManager;

/// The most entries, where the plan does not say.
const MOST: &str = "5000";

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<CacheManager> {
    Some(CacheManager {
        clear_each_iteration: ctx.flag(id, "clearEachIteration", false),
        controlled_by_group: ctx.flag(id, "CacheManager.controlledByThread", false),
        use_expires: ctx.flag(id, "useExpires", false),
        most: ctx.prop_or(id, "maxSize", MOST),
    })
}
