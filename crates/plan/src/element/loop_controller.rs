//! Loop Controller: runs its children a number of times.
//!
//! The number is evaluated when the loop starts. A value that is not a number counts as 0, and a negative number
//! means an endless loop.

use jmx::{ElementId, Props};

use crate::compile::Context;
use crate::plan::{ControllerKind, LoopCount};

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let once = !ctx.flag(id, "LoopController.continue_forever", true);
    let count = count(ctx, id, ctx.props(id));
    ControllerKind::Loop { count, once }
}

pub(super) fn count(ctx: &mut Context<'_>, id: ElementId, props: &Props) -> LoopCount {
    let source = props.str("LoopController.loops").unwrap_or("");
    match source.parse::<i32>() {
        Ok(count) if count < 0 => LoopCount::Forever,
        Ok(_) => LoopCount::Count(ctx.text(id, source)),
        Err(_) => {
            if !source.contains("${") {
                let message =
                    format!("the loop count {source:?} is not a number: the loop does not run");
                ctx.warn(id, "bad-number", message, "write a number, or -1 for an endless loop");
            }
            LoopCount::Count(ctx.text(id, source))
        }
    }
}
