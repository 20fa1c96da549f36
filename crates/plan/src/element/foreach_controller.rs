//! ForEach Controller: runs its children once per variable of a series `name_1`, `name_2` and so on.
//!
//! Without an end index, the series is not limited. An end index that is empty or not a number counts as 0.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::{ControllerKind, ForEach};
use crate::template::Template;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let end = match ctx.props(id).str("ForeachController.endIndex") {
        None => Template::default(),
        Some("") => Template::Fixed("0".into()),
        Some(source) => ctx.text(id, source),
    };
    ControllerKind::ForEach(ForEach {
        input: ctx.prop(id, "ForeachController.inputVal"),
        output: ctx.prop(id, "ForeachController.returnVal"),
        start: ctx.prop(id, "ForeachController.startIndex"),
        end,
        separator: ctx.flag(id, "ForeachController.useSeparator", true),
    })
}
