//! Flow Control Action: pauses, ends the user or the run, or leaves the current iteration. Produces no result.

use jmx::ElementId;

use crate::action::Action;
use crate::compile::Context;
use crate::template::Template;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Action {
    const WHOLE_TEST: i64 = 2;
    let target = ctx.props(id).int("ActionProcessor.target").unwrap_or(0);
    match (ctx.props(id).int("ActionProcessor.action").unwrap_or(0), target) {
        (0 | 2, 0) => Action::StopUser,
        (0, WHOLE_TEST) => Action::StopTest,
        (2, WHOLE_TEST) => Action::StopTestNow,
        (1, _) => Action::Pause(ctx.prop(id, "ActionProcessor.duration")),
        (3, _) => Action::NextIteration,
        (4, _) => Action::NextLoopIteration,
        (5, _) => Action::BreakLoop,
        // For any other action, JMeter does nothing.
        _ => Action::Pause(Template::default()),
    }
}
