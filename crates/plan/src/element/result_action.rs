//! Result Status Action Handler: the stop or loop control that a failed sample requests.
//!
//! In JMeter this element is a listener, although the menu lists it as a post-processor: it runs after the assertions.
//! Handlers at the level of a transaction with a parent sample and above do not apply to the samples inside the
//! transaction.

use jmx::ElementId;

use crate::compile::{Context, scope};
use crate::result::Request;

/// Returns the request of a Result Status Action Handler; `None` for other elements, or if the handler requests
/// nothing.
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
