//! Constant Timer: the same delay each time.

use jmx::ElementId;

use super::Timer;
use crate::compile::Context;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Timer {
    Timer::Constant(ctx.prop(id, "ConstantTimer.delay"))
}
