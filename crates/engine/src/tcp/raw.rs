//! Raw requests (jp@gc HTTP Raw Request): sends bytes and a file; the response consists of all bytes until the
//! server closes the connection.
//!
//! A response ends with its connection, so the server has closed every kept connection. The plug-in writes to such
//! a connection once more, reads the end of the stream, and then fails at each use. Throng does the same without
//! waiting.

use std::os::fd::OwnedFd;

use plan::element::{RawCall, take_apart};
use plan::http::Source;
use plan::plan::SamplerId;
use plan::result::SampleResult;
use stats::{Counter, Outcome};
use wire::session::Ticket;

use crate::context::Context;
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::{Failure, io_words, kind};
use crate::net::routes::Route;
use crate::session::Sessions;
use crate::session::exchange::{After, Call, Ending, Exchange, ExchangeStage, Limit, Trouble};
use crate::session::line::ConnectionScope;

/// Connections that the samplers of a user have kept.
#[derive(Debug, Default)]
struct AllSaved(Vec<(SamplerId, Saved)>);

impl crate::users::Part for AllSaved {}

/// A connection that a sampler has kept.
#[derive(Debug)]
pub(crate) enum Saved {
    /// The connection's server has closed its side.
    Ended(OwnedFd),
    Closed,
    /// The connection was never established.
    Unconnected,
}

/// A failure: Java's exception, and the kind of the failure.
#[derive(Debug)]
pub(crate) struct Thrown {
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
}

impl Thrown {
    pub(crate) fn other(text: String) -> Self {
        Self { text, outcome: Outcome::Other }
    }
}

/// Begins a sample of an HTTP Raw Request.
pub(crate) fn begin(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    id: SamplerId,
    call: RawCall,
) {
    let ticket = sessions.exchange(index, id);
    let exchange = &mut sessions.exchanges[ticket];
    exchange.start = cx.clock.now();
    if call.keep
        && let Some(saved) = saved(cx, index, id)
    {
        let ended = use_saved(cx, index, id, saved, &call);
        return close(cx, sessions, ticket, &call, ended);
    }
    let port = match &call.port {
        Ok(port) => *port,
        Err(text) => {
            let thrown = Thrown::other(text.clone());
            return close(cx, sessions, ticket, &call, Err(thrown));
        }
    };
    // Java treats an empty name as this machine.
    let host = if call.host.is_empty() { "127.0.0.1" } else { &call.host };
    let route = cx.net.routes.to(false, host, port, &Source::default());
    let exchange = &mut sessions.exchanges[ticket];
    (exchange.route, exchange.place) = (route, ConnectionScope::Fresh);
    exchange.limit = Limit::of_ms(call.timeout_ms);
    exchange.connect_limit = exchange.limit;
    exchange.answer.most = cx.run.settings.bodies.max_response;
    (exchange.answer.piece, exchange.answer.enough) = (call.buffer, call.limit);
    exchange.request.extend_from_slice(call.data.as_bytes());
    match &call.file {
        Some(Ok(content)) => exchange.request.extend_from_slice(content),
        Some(Err(text)) => exchange.terms.after = After::Thrown(text.clone()),
        None => {}
    }
    exchange.call = Call::Raw(Box::new(call));
    sessions.start(&mut cx.around(), ticket);
}

/// Ends the exchange of a raw request: closes or keeps its connection, and builds the sample.
pub(crate) fn end(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let exchange = &mut sessions.exchanges[ticket];
    let (index, Some(id)) = (exchange.user, exchange.sampler()) else { return };
    let ending = std::mem::take(&mut exchange.ending);
    let Call::Raw(call) = std::mem::take(&mut exchange.call) else { return };
    let (left, ended, counter) = match ending {
        Ending::Bad(trouble) => match *trouble {
            Trouble::Thrown(text) | Trouble::Broken(text) => {
                (Saved::Closed, Err(Thrown::other(text)), Counter::ConnClosedByUs)
            }
            Trouble::Failed { failure, reached } => {
                let unconnected =
                    matches!(failure, Failure::UnknownHost { .. } | Failure::ConnectTimeout);
                let left = if unconnected { Saved::Unconnected } else { Saved::Closed };
                let opening = reached == ExchangeStage::Opening;
                let counter = if opening { Counter::ConnFailed } else { Counter::ConnClosedByUs };
                let thrown = thrown(&failure, exchange, &cx.net.routes[exchange.route]);
                (left, Err(thrown), counter)
            }
        },
        // The server has closed its side.
        Ending::None | Ending::Eof | Ending::Complete { .. } => {
            let any = call.keep && exchange.answer.total > 0;
            let fd = sessions.lines[exchange.line].transport.fd.take_if(|_| any);
            (fd.map_or(Saved::Closed, Saved::Ended), Ok(()), Counter::ConnClosedByPeer)
        }
    };
    // The plug-in does not report the connect time.
    exchange.connect = 0;
    if call.keep {
        save(cx, index, id, left);
    }
    sessions.close(&mut cx.around(), ticket, counter);
    close(cx, sessions, ticket, &call, ended);
}

/// Builds the result of a raw request, and ends its sample.
fn close(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    call: &RawCall,
    ended: Result<(), Thrown>,
) {
    let answer = &mut sessions.exchanges[ticket].answer;
    let (total, dropped) = (answer.total, answer.dropped);
    let received = std::mem::take(&mut answer.bytes);
    let size = |outcome: Outcome, result: &mut SampleResult| {
        if call.parse && outcome == Outcome::Ok && take_apart(result) {
            result.body.clear();
            result.body.extend_from_slice(result.text.as_bytes());
        }
        // For an empty result, JMeter counts the received bytes, otherwise the size of the body.
        match result.body.len() {
            0 => total,
            bytes => (bytes + dropped) as u64,
        }
    };
    end_sample(cx, sessions, ticket, &call.data, &received, ended, size);
}

/// Ends a sample with a response, or with an exception instead of a response. `size` completes the result and returns
/// the number of received bytes.
pub(crate) fn end_sample(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    data: &str,
    body: &[u8],
    ended: Result<(), Thrown>,
    size: impl FnOnce(Outcome, &mut SampleResult) -> u64,
) {
    let exchange = &mut sessions.exchanges[ticket];
    if exchange.ended == 0 {
        exchange.ended = cx.clock.now();
    }
    let (index, Some(id)) = (exchange.user, exchange.sampler()) else { return };
    let mut timing = exchange.timing(cx.users[index].intended);
    sessions.exchanges.end(ticket);
    let mut result = cx.take_named_result(index, id);
    result.sampler_data.push_str(data);
    result.data_type = "text";
    let outcome = match ended {
        Ok(()) => {
            result.code.push_str("200");
            result.body.extend_from_slice(body);
            Outcome::Ok
        }
        Err(thrown) => {
            result.success = false;
            result.code.push_str("500");
            result.body.extend_from_slice(thrown.text.as_bytes());
            result.body.extend_from_slice(b"\r\n");
            result.message = thrown.text;
            thrown.outcome
        }
    };
    let charset = Some(&*cx.run.settings.bodies.default_encoding);
    lang::charset::decode_into(charset, &result.body, &mut result.text);
    timing.received = size(outcome, &mut result);
    cx.conclude_shown(index, id, timing, outcome, result);
}

/// Takes the connection that the sampler has kept.
fn saved(cx: &mut Context<'_>, index: UserId, id: SamplerId) -> Option<Saved> {
    let owner = cx.users.owner(index);
    let kept = &mut cx.users[owner].extra.as_mut()?.parts.get_mut::<AllSaved>()?.0;
    let at = kept.iter().position(|(of, _)| *of == id)?;
    Some(kept.swap_remove(at).1)
}

fn save(cx: &mut Context<'_>, index: UserId, id: SamplerId, saved: Saved) {
    let owner = cx.users.owner(index);
    let kept = &mut cx.users[owner].extra().parts.or_default::<AllSaved>().0;
    kept.retain(|(of, _)| *of != id);
    kept.push((id, saved));
}

/// Sends a request on a connection that the sampler has kept. If only the server has closed its side, the request is
/// written and the response is empty. On any other kept connection the request fails.
fn use_saved(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    saved: Saved,
    call: &RawCall,
) -> Result<(), Thrown> {
    let thrown = |text: String, outcome| Err(Thrown { text, outcome });
    let (left, ended) = match saved {
        Saved::Closed => {
            let writes = !call.data.is_empty() || call.file.is_some();
            let what = if writes || call.timeout_ms == 0 { "Channel" } else { "Selector" };
            let text = format!("java.nio.channels.Closed{what}Exception");
            (Saved::Closed, thrown(text, Outcome::Closed))
        }
        Saved::Unconnected => {
            let text = "java.nio.channels.NotYetConnectedException".into();
            (Saved::Unconnected, thrown(text, Outcome::Closed))
        }
        Saved::Ended(fd) => {
            let mut pieces = vec![call.data.as_bytes()];
            pieces.extend(call.file.iter().flatten().map(|content| &content[..]));
            let sent = pieces.into_iter().filter(|piece| !piece.is_empty()).try_for_each(|piece| {
                driver::send(&fd, piece).map(|sent| {
                    cx.recorder.add(Counter::BytesOut, sent as u64);
                })
            });
            match (sent, &call.file) {
                (Err(error), _) => {
                    let text = format!("java.io.IOException: {}", io_words(&error));
                    (Saved::Ended(fd), thrown(text, Outcome::Reset))
                }
                (Ok(()), Some(Err(text))) => {
                    (Saved::Ended(fd), thrown(text.clone(), Outcome::Other))
                }
                (Ok(()), _) => (Saved::Closed, Ok(())),
            }
        }
    };
    save(cx, index, id, left);
    ended
}

/// Returns the exception that the plug-in reports for a failed exchange.
fn thrown(failure: &Failure, exchange: &Exchange, route: &Route) -> Thrown {
    let unwritten = exchange.sent_at == 0;
    let text = match failure {
        Failure::UnknownHost { .. } => "java.nio.channels.UnresolvedAddressException".into(),
        Failure::ConnectTimeout => {
            let own =
                if crate::net::resolve::literal(&route.host).is_some() { "" } else { &*route.host };
            let address = route.addresses.first().map(ToString::to_string).unwrap_or_default();
            format!("java.net.SocketTimeoutException: Failed to connect to {own}/{address}")
        }
        // If the plan sets a time limit, the plug-in treats an interruption as a timeout.
        Failure::Interrupted(_) if exchange.limit == Limit::NONE => {
            "java.nio.channels.AsynchronousCloseException".into()
        }
        Failure::ResponseTimeout | Failure::Interrupted(_) => {
            "java.net.SocketTimeoutException: Timeout exceeded while reading from socket".into()
        }
        Failure::Connect(error) => {
            format!("{}: {}", connect_exception(error), io_words(error))
        }
        Failure::Socket(error) if unwritten => {
            format!("java.io.IOException: {}", io_words(error))
        }
        Failure::Socket(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
            "java.net.SocketException: Connection reset".into()
        }
        Failure::Socket(error) => format!("java.io.IOException: {}", io_words(error)),
        _ => "java.nio.channels.AsynchronousCloseException".into(),
    };
    Thrown { text, outcome: kind(failure, route) }
}

/// Returns the class of Java's exception for a failed connection attempt.
fn connect_exception(error: &std::io::Error) -> &'static str {
    use nix::libc;
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED | libc::ETIMEDOUT) => "java.net.ConnectException",
        Some(libc::EHOSTUNREACH) => "java.net.NoRouteToHostException",
        Some(libc::EADDRINUSE | libc::EADDRNOTAVAIL | libc::EACCES) => "java.net.BindException",
        _ => "java.net.SocketException",
    }
}
