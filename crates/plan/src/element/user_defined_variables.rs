//! User Defined Variables: evaluated once when the run starts, before any user, wherever the elements are in the
//! plan.
//!
//! All values of one element are evaluated before any of them is set, so that they cannot refer to each other. If a
//! name occurs twice within an element, the first value is used; between elements, the later element wins.

use jmx::{ElementId, Props};

use crate::compile::Context;
use crate::template::Template;
use crate::vars::VarId;

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Vec<(VarId, Template)> {
    let props = ctx.props(id);
    block(ctx, id, props)
}

/// Compiles the variables of an `Arguments` element.
pub(super) fn block(ctx: &mut Context<'_>, id: ElementId, props: &Props) -> Vec<(VarId, Template)> {
    let mut found: Vec<(VarId, Template)> = Vec::new();
    for argument in props.collection("Arguments.arguments") {
        let Some(argument) = argument.object() else { continue };
        let name = argument.props.str("Argument.name").unwrap_or("");
        let value = argument.props.str("Argument.value").unwrap_or("");
        if name.contains("${") {
            let message = format!("the name of the variable {name} contains an expression");
            ctx.warn(
                id,
                "variable-name",
                message,
                "use a fixed name; this variable is not defined",
            );
            continue;
        }
        let name = ctx.text.names.intern(name);
        let value = ctx.text(id, value);
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, value));
        }
    }
    found
}
