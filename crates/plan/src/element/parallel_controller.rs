//! bzm Parallel Controller: runs its children in parallel, each in its own branch. In the plan it is also a
//! sampler: timers, processors and assertions in its scope apply to the controller as a whole, before or after all
//! branches.

use jmx::{Document, ElementId};

use crate::compile::{Context, scope};
use crate::plan::Parallel;

/// Returns true if the element is a Parallel Controller.
pub(crate) fn is(doc: &Document, id: ElementId) -> bool {
    scope::class(doc, id) == "com.blazemeter.jmeter.controller.ParallelSampler"
}

/// Compiles a Parallel Controller. Its branches are added later.
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Parallel {
    const USUAL: &str = "6";
    let limited = ctx.flag(id, "LIMIT_MAX_THREAD_NUMBER", false);
    Parallel {
        parent: ctx.flag(id, "PARENT_SAMPLE", false),
        most: limited.then(|| ctx.prop_or(id, "MAX_THREAD_NUMBER", USUAL)),
        branches: Vec::new(),
    }
}
