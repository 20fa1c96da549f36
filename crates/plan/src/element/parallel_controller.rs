//! bzm Parallel Controller: what it holds runs side by side, each child a branch of its own. To the tree it is a sampler as
//! well: timers, processors and assertions in its scope apply to it too, once before or after all of its branches.

use jmx::{Document, ElementId};

use crate::compile::{Context, scope};
use crate::plan::Parallel;

/// Whether an element is one.
pub(crate) fn is(doc: &Document, id: ElementId) -> bool {
    scope::class(doc, id) == "com.blazemeter.jmeter.controller.ParallelSampler"
}

/// A Parallel Controller that holds nothing yet.
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Parallel {
    const USUAL: &str = "6";
    let limited = ctx.flag(id, "LIMIT_MAX_THREAD_NUMBER", false);
    Parallel {
        parent: ctx.flag(id, "PARENT_SAMPLE", false),
        most: limited.then(|| ctx.prop_or(id, "MAX_THREAD_NUMBER", USUAL)),
        branches: Vec::new(),
    }
}
