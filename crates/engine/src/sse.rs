//! Server-sent events (SSE Sampler): sends a request, and receives events until the sampler's duration has passed
//! or the stream ends.
//!
//! The end of the duration ends the sample without failure, even if no response has arrived. As in the plug-in,
//! each sample has its own connection, which is closed afterwards.

use plan::element::SseCall;
use plan::http::Source;
use plan::plan::SamplerId;
use plan::result::SampleResult;
use stats::{Counter, Outcome};
use wire::session::Ticket;

use crate::context::Context;
use crate::ids::{RouteId, UserId};
use crate::net::outcome::{Failure, kind, socket_text};
use crate::net::resolve::literal;
use crate::net::routes::{Route, Routes};
use crate::session::Sessions;
use crate::session::exchange::{Call, Ending, Exchange, Limit, Trouble};
use crate::session::line::ConnectionScope;
use crate::time::clock::SECOND;

/// Time limit for connecting: OkHttp's connect timeout in the plug-in.
const CONNECT: Limit = Limit::of_ms(10_000);

/// Begins a sample of an SSE Sampler.
pub(crate) fn begin(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    id: SamplerId,
    call: SseCall,
) {
    let ticket = sessions.exchange(index, id);
    let exchange = &mut sessions.exchanges[ticket];
    exchange.start = cx.clock.now();
    exchange.answer.most = cx.run.settings.bodies.max_response;
    if build_exchange(exchange, &mut cx.net.routes, call) {
        let trace = cx.tags.begin();
        exchange.terms.trace = cx.tags.put(trace, &mut exchange.request);
        sessions.start(&mut cx.around(), ticket);
    } else {
        end(cx, sessions, ticket);
    }
}

/// Ends the sample of an exchange of server-sent events, and closes its connection.
pub(crate) fn end(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let exchange = &mut sessions.exchanges[ticket];
    let (index, Some(id)) = (exchange.user, exchange.sampler()) else { return };
    if exchange.ended == 0 {
        exchange.ended = cx.clock.now();
    }
    let counter = if exchange.sent_at > 0 { Counter::ConnClosedByUs } else { Counter::ConnFailed };
    sessions.close(&mut cx.around(), ticket, counter);
    let mut result = cx.take_named_result(index, id);
    let exchange = &mut sessions.exchanges[ticket];
    let outcome = show(exchange, &cx.net.routes, &mut result);
    let mut timing = exchange.timing(cx.users[index].intended);
    timing.trace = exchange.terms.trace;
    timing.received = exchange.answer.dropped as u64 + result.text.encode_utf16().count() as u64;
    sessions.exchanges.end(ticket);
    cx.conclude_shown(index, id, timing, outcome, result);
}

/// Fills in the request and the settings of an exchange. Returns false if the exchange ends before anything is sent.
fn build_exchange(exchange: &mut Exchange, routes: &mut Routes, call: SseCall) -> bool {
    let sends = match (&call.request, &call.seconds) {
        (Err(words), _) | (Ok(_), Err(words)) => {
            exchange.ending = Ending::thrown(words.clone());
            false
        }
        (Ok(_), Ok(..=0)) => {
            exchange.ending = Ending::Complete { closed: false };
            false
        }
        (Ok(request), Ok(seconds)) => {
            exchange.route =
                routes.to(request.secure, &request.host, request.port, &Source::default());
            exchange.place = ConnectionScope::Fresh;
            exchange.connect_limit = CONNECT;
            exchange.terms.until = exchange.start.saturating_add(seconds.saturating_mul(SECOND));
            exchange.request.extend_from_slice(&request.bytes);
            true
        }
    };
    exchange.call = Call::Sse(Box::new(call));
    sends
}

/// Fills a result from an ended exchange.
fn show(exchange: &mut Exchange, routes: &Routes, result: &mut SampleResult) -> Outcome {
    let ending = std::mem::take(&mut exchange.ending);
    let Call::Sse(call) = std::mem::take(&mut exchange.call) else { return Outcome::Other };
    result.sampler_data.push_str("Connecting to: ");
    result.sampler_data.push_str(&call.url);
    result.encoding.push_str("UTF-8");
    let answer = &exchange.answer;
    result.body.extend_from_slice(&answer.bytes);
    lang::charset::decode_into(Some("UTF-8"), &result.body, &mut result.text);
    let (reason, kind_of_body) = parts_of(&answer.head_bytes);
    let (code, message, outcome) = match ending {
        _ if answer.head != 0 && !(200..300).contains(&answer.head) => {
            let status = answer.head;
            (status.to_string(), format!("HTTP {status}: {reason}"), Outcome::Status)
        }
        _ if answer.head != 0 && !answer.streams => {
            let kind = kind_of_body.as_deref().unwrap_or("null");
            let words = format!("Error: Invalid content-type: {kind}");
            (answer.head.to_string(), words, Outcome::Status)
        }
        Ending::Complete { .. } | Ending::None => (
            "200".to_owned(),
            format!("OK \u{2014} {} events received", answer.events),
            Outcome::Ok,
        ),
        Ending::Eof => {
            ("500".to_owned(), "Error: unexpected end of stream".to_owned(), Outcome::Closed)
        }
        Ending::Bad(trouble) => {
            let (message, outcome) = failure_result(*trouble, routes, exchange.route);
            ("500".to_owned(), message, outcome)
        }
    };
    result.success = outcome == Outcome::Ok;
    result.code = code;
    result.message = message;
    outcome
}

/// Returns the message and the outcome of a sample whose exchange has no response.
fn failure_result(trouble: Trouble, routes: &Routes, at: RouteId) -> (String, Outcome) {
    match trouble {
        Trouble::Thrown(words) => (words, Outcome::Other),
        Trouble::Broken(words) => (format!("Error: {words}"), Outcome::Protocol),
        Trouble::Failed { failure, .. } => {
            let route = &routes[at];
            (format!("Error: {}", words(&failure, route)), kind(&failure, route))
        }
    }
}

/// Returns the exception's message as the plug-in shows it.
fn words(failure: &Failure, route: &Route) -> String {
    match failure {
        Failure::UnknownHost { still: false } => {
            format!("{}: Name or service not known", route.host)
        }
        Failure::Connect(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            let named = if literal(&route.host).is_some() { "" } else { &*route.host };
            let address = route.addresses.first().map(ToString::to_string).unwrap_or_default();
            format!("Failed to connect to {named}/{address}")
        }
        Failure::Tls(error) => error.to_string(),
        Failure::TlsClosed => "Remote host terminated the handshake".to_owned(),
        _ => socket_text(failure, route),
    }
}

/// Returns the reason phrase and the media type of a response head.
fn parts_of(head: &[u8]) -> (String, Option<String>) {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let reason = lines.next().and_then(|line| line.splitn(3, ' ').nth(2)).unwrap_or_default();
    let mut kinds = lines.filter_map(|line| line.split_once(':'));
    let kind = kinds.rfind(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    (reason.trim().to_owned(), kind.map(|(_, kind)| kind.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let head = b"HTTP/1.1 404 Not Found\r\ncontent-type: a\r\nContent-Type: text/html\r\n\r\n";
        assert_eq!(parts_of(head), ("Not Found".to_owned(), Some("text/html".to_owned())));
        assert_eq!(parts_of(b"HTTP/1.1 200\r\n\r\n"), (String::new(), None));
        assert_eq!(parts_of(b""), (String::new(), None));
    }
}
