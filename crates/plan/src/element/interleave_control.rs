//! Interleave Controller and Random Controller: one child a pass.
//!
//! The style says what a child that is a controller is good for: one of its samplers (0, and whatever is no number), or all of what it
//! holds (1).

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
