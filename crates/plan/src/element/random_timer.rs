//! Uniform, Gaussian and Poisson Random Timer: a constant offset plus a random part.
//!
//! JMeter truncates the absolute value of the sum to whole milliseconds and multiplies it by the property
//! `timer.factor`.

use jmx::ElementId;

use super::{Shape, Timer};
use crate::compile::Context;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId, shape: Shape) -> Timer {
    Timer::Random {
        shape,
        offset: ctx.prop(id, "ConstantTimer.delay"),
        range: ctx.prop(id, "RandomTimer.range"),
        factor: ctx.settings.number("timer.factor", 1.0),
    }
}
