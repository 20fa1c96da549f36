//! While Controller: repeats its children while a condition is true. `LAST` and a blank condition check the last
//! sample.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::{ControllerKind, WhileCondition};

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let text = ctx.prop(id, "WhileController.condition");
    ControllerKind::While(match text.fixed().map(str::trim) {
        Some("") => WhileCondition::Blank,
        Some(word) if word.eq_ignore_ascii_case("LAST") => WhileCondition::Last,
        _ => WhileCondition::Expression(text),
    })
}
