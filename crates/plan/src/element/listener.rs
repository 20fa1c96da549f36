//! Listeners: which file an element's class belongs to, and what of a sample each reads.

use jmx::ElementId;

use super::{backend_listener, response_saver, result_collector};
use crate::compile::{Context, Settings, scope};
use crate::plan::{Listener, ListenerKind, Needs};
use crate::support::Level;

/// The listener; `None` if it does nothing with results.
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<Listener> {
    let kind = match scope::class(ctx.doc, id) {
        "ResultSaver" => ListenerKind::Saver(Box::new(response_saver::compile(ctx, id))),
        "BackendListener" => ListenerKind::Backend(backend_listener::compile(ctx, id)?),
        _ => ListenerKind::File(result_collector::compile(ctx, id)?),
    };
    Some(Listener { name: ctx.doc.element(id).name.clone(), kind })
}

/// Only the whole run is summed up.
pub(super) fn review_summariser(ctx: &mut Context<'_>, id: ElementId) {
    let doc = ctx.doc;
    let at_the_top = |plan: &ElementId| {
        scope::class(doc, *plan) == "TestPlan" && doc.element(*plan).children.contains(&id)
    };
    if !doc.roots().iter().any(at_the_top) {
        ctx.remark(id, Level::Ignored, "it sums up a part of the run, which is not printed");
    }
}

/// The parts of a sample that a listener reads.
pub(crate) fn needs(listener: &Listener, settings: &Settings, functional: bool) -> Needs {
    match &listener.kind {
        ListenerKind::File(file) => result_collector::needs(file, settings, functional),
        ListenerKind::Saver(_) => Needs::ROW | Needs::BODY,
        ListenerKind::JavaBacked(_) => Needs::all(),
        ListenerKind::Backend(_) => Needs::ROW,
    }
}
