//! If Controller: runs its children if a condition holds, which is asked once, or before each of them.

use jmx::ElementId;

use crate::compile::Context;
use crate::condition::{Condition, is_native_script};
use crate::plan::ControllerKind;
use crate::support::Level;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let text = ctx.prop(id, "IfController.condition");
    let condition = if ctx.flag(id, "IfController.useExpression", false) {
        Condition::Expression(text)
    } else {
        Condition::Script(text)
    };
    ControllerKind::If { condition, evaluate_all: ctx.flag(id, "IfController.evaluateAll", false) }
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let props = ctx.props(id);
    let source = props.str("IfController.condition").unwrap_or("").trim();
    if !props.bool("IfController.useExpression").unwrap_or(false) && !is_native_script(source) {
        let what = format!("the condition is JavaScript, which needs a JVM: {source}");
        ctx.remark(id, Level::Jvm, what);
    }
}
