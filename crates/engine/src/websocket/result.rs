//! Results of WebSocket samples: the contents that all have, and the messages of failures.

use std::fmt::Write;

use plan::result::SampleResult;
use plan::websocket::{Act, wording};
use stats::{Outcome, Phase};
use wire::websocket::handshake::Refusal;

use super::close::ending_text;
use super::sample::{Fault, socket_sampler_of};
use super::{On, Work};
use crate::context::Context;
use crate::ids::UserId;
use crate::net::outcome;
use crate::net::routes::RouteId;
use crate::session::held::close::Ending;
use crate::session::held::open::Failed;

/// Sets the response message of a result to the text of a failure.
pub(super) fn word(
    on: &On<'_, '_>,
    at: u32,
    route: RouteId,
    fault: &Fault,
    result: &mut SampleResult,
) -> Outcome {
    match fault {
        Fault::Failed(Failed::Refused(refusal)) => word_refusal(refusal, result),
        Fault::Failed(Failed::Proxy(status)) => {
            let text = format!("Connecting proxy failed with status code {status}");
            wording::refused(Err(&text), result);
            result.code.push_str(itoa::Buffer::new().format(*status));
            Outcome::Status
        }
        Fault::Failed(Failed::Failure(failure)) => {
            let route = &on.cx.net.routes[route];
            wording::io_error(&outcome::socket_text(failure, route), result);
            outcome::kind(failure, route)
        }
        Fault::Failed(Failed::Ended(Ending::CloseFrame)) => {
            let text =
                "java.lang.IllegalStateException: Cannot connect when state is CLOSED_SERVER";
            wording::error(text, result);
            Outcome::Closed
        }
        Fault::Failed(Failed::Ended(ending)) => {
            wording::io_error(&ending_text(on.held, at, *ending), result);
            ending.outcome()
        }
        Fault::ReadTimeout => {
            wording::io_error("Read timed out", result);
            Outcome::Timeout(Phase::Response)
        }
        Fault::Protocol(text) => {
            wording::io_error(text, result);
            Outcome::Protocol
        }
        Fault::Beyond(text) => {
            wording::error(text, result);
            Outcome::Protocol
        }
        Fault::Problem(problem) => {
            wording::unmade(problem, result);
            Outcome::File
        }
        Fault::Cut => {
            wording::io_error("Socket closed", result);
            Outcome::CutByEnd
        }
    }
}
/// Sets the response message of a result to the text of a refused upgrade.
fn word_refusal(refusal: &Refusal, result: &mut SampleResult) -> Outcome {
    let fault = match refusal {
        Refusal::Status { status, line } => {
            wording::refused(Ok((*status, line)), result);
            return Outcome::Status;
        }
        Refusal::Empty => {
            wording::io_error("Empty response; connection closed.", result);
            return Outcome::Closed;
        }
        Refusal::InvalidStatusLine => {
            wording::io_error("Invalid status line", result);
            return Outcome::Protocol;
        }
        Refusal::TooLarge => {
            wording::io_error("the response header is larger than 64 KiB", result);
            return Outcome::Protocol;
        }
        Refusal::NoUpgrade => wording::fault::NO_UPGRADE,
        Refusal::NoConnection => wording::fault::NO_CONNECTION,
        Refusal::NoAccept => wording::fault::NO_ACCEPT,
        Refusal::WrongAccept => wording::fault::WRONG_ACCEPT,
    };
    wording::refused(Err(fault), result);
    Outcome::Protocol
}

/// Returns a result with the fields that all WebSocket samples set: start time, request, sub-results.
pub(super) fn start_result(
    cx: &mut Context<'_>,
    index: UserId,
    work: &mut Work,
) -> Box<SampleResult> {
    let mut result = cx.take_named_result(index, work.sampler);
    result.start_ms = cx.clock.wall_ms(work.start);
    if let Some(sampler) = socket_sampler_of(cx, index, work.sampler)
        && work.observed
    {
        wording::begin(&work.shown.url, work.existing, &mut result);
        if work.performed || matches!(sampler.act, Act::Exchange(_)) {
            wording::request(&sampler.act, &work.shown.data, &mut result);
        }
        result.request_headers.push_str(&work.shown.headers);
    }
    let keep_labels = cx.run.settings.results.keep_sub_labels;
    for (n, mut sub) in work.discarded.drain(..).enumerate() {
        if !keep_labels {
            sub.label.clear();
            let _ = write!(sub.label, "{}-{n}", result.label);
        }
        *result.add_sub() = sub;
    }
    result
}
