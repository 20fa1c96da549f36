//! Interleave Controller and Random Controller: run one child per pass.
//!
//! The style defines how much of a child controller runs in one pass: one of its samplers (0, also for a value that
//! is not a number), or all of its children (1).

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::{ControllerKind, Interleave};

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId, random: bool) -> ControllerKind {
    let style = ctx.props(id).int("InterleaveControl.style");
    ControllerKind::Interleave(Interleave {
        random,
        whole_controllers: style == Some(1),
        across_users: ctx.flag(id, "InterleaveControl.accrossThreads", false),
    })
}
