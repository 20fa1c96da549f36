//! If Controller: runs its children if a condition is true, evaluated once or before each child.

use jmx::ElementId;

use crate::compile::Context;
use crate::condition::{Condition, is_native_script};
use crate::java_backed::CONDITION;
use crate::plan::ControllerKind;
use crate::support::Level;
use crate::template::Template;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let condition = if ctx.flag(id, "IfController.useExpression", false) {
        Condition::Expression(ctx.prop(id, "IfController.condition"))
    } else if is_foreign(ctx, id) {
        Condition::Expression(in_java(ctx, id))
    } else {
        Condition::Script(ctx.prop(id, "IfController.condition"))
    };
    ControllerKind::If { condition, evaluate_all: ctx.flag(id, "IfController.evaluateAll", false) }
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let props = ctx.props(id);
    let source = props.str("IfController.condition").unwrap_or("").trim();
    if props.bool("IfController.useExpression").unwrap_or(false) || is_native_script(source) {
        return;
    }
    let what = if ctx.settings.java_backing {
        "the condition is JavaScript and runs in Java"
    } else {
        "the condition is JavaScript and needs a JVM"
    };
    ctx.remark(id, Level::Jvm, format!("{what}: {source}"));
}

/// Returns true if the condition is JavaScript that only Java can evaluate.
fn is_foreign(ctx: &Context<'_>, id: ElementId) -> bool {
    let source = ctx.props(id).str("IfController.condition").unwrap_or("");
    ctx.settings.java_backing && !is_native_script(source.trim())
}

/// Compiles the condition as a template that Java evaluates.
fn in_java(ctx: &mut Context<'_>, id: ElementId) -> Template {
    let source = ctx.props(id).str("IfController.condition").unwrap_or("");
    let name = &ctx.doc.element(id).name;
    // Compiles the source only to collect the names of variables in it, because scripts may set them.
    let mark = ctx.text.java_backed.len();
    Template::compile(source, &mut ctx.text);
    ctx.text.problems.clear();
    ctx.text.java_backed.truncate(mark);
    Template::in_java(source, format!("{CONDITION}{name}{CONDITION}{source}").into(), &mut ctx.text)
}
