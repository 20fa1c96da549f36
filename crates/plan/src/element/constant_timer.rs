//! Constant Timer: delays by the same time before each sample.

use jmx::ElementId;

use super::Timer;
use crate::compile::Context;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Timer {
    Timer::Constant(ctx.prop(id, "ConstantTimer.delay"))
}
