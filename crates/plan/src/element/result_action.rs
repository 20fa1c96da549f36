//! Result Status Action Handler: what a failed sample asks of its user.
//!
//! In JMeter it is a listener, whatever the menu says: it comes after the assertions, and a transaction with a parent sample keeps those of
//! its level and of those around it from the samples inside.

use jmx::ElementId;

use crate::compile::{Context, scope};
use crate::result::Request;

/// The request of a Result Status Action Handler; `None` for another element, or if it asks for nothing.
pub(crate) fn compile(ctx: &Context<'_>, id: ElementId) -> Option<Request> {
    if scope::class(ctx.doc, id) != "ResultAction" {
        return None;
    }
    match ctx.props(id).int("OnError.action")? {
        1 => Some(Request::StopUser),
        2 => Some(Request::StopTest),
        3 => Some(Request::StopTestNow),
        4 => Some(Request::NextIteration),
        5 => Some(Request::NextLoopIteration),
        6 => Some(Request::BreakLoop),
        _ => None,
    }
}
