//! Listeners: maps each listener class to its file, and states the parts of a sample that a listener reads.

use jmx::ElementId;

use super::{backend_listener, response_saver, result_collector};
use crate::compile::{Context, Settings, scope};
use crate::plan::{Listener, ListenerKind, Needs};
use crate::support::Level;

/// Compiles the listener; `None` if it does not process results.
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<Listener> {
    let kind = match scope::class(ctx.doc, id) {
        "ResultSaver" => ListenerKind::Saver(Box::new(response_saver::compile(ctx, id))),
        "BackendListener" => ListenerKind::Backend(backend_listener::compile(ctx, id)?),
        _ => ListenerKind::File(result_collector::compile(ctx, id)?),
    };
    Some(Listener { name: ctx.doc.element(id).name.clone(), kind })
}

/// Marks a summariser as ignored unless it is a child of the Test Plan: only the whole run is summarized.
pub(super) fn review_summariser(ctx: &mut Context<'_>, id: ElementId) {
    let doc = ctx.doc;
    let at_the_top = |plan: &ElementId| {
        scope::class(doc, *plan) == "TestPlan" && doc.element(*plan).children.contains(&id)
    };
    if !doc.roots().iter().any(at_the_top) {
        ctx.remark(id, Level::Ignored, "the summary of a part of the run is not printed");
    }
}

/// Returns the parts of a sample that a listener reads.
pub(crate) fn needs(listener: &Listener, settings: &Settings, functional: bool) -> Needs {
    match &listener.kind {
        ListenerKind::File(file) => result_collector::needs(file, settings, functional),
        ListenerKind::Saver(_) => Needs::ROW | Needs::BODY,
        ListenerKind::JavaBacked(_) => Needs::all(),
        ListenerKind::Backend(_) => Needs::ROW,
    }
}
