//! Datagrams (jp@gc UDP Request): sends a datagram; the next received datagram is the response.
//!
//! Each sampler of a user has its own socket, which stays open unless the plan or a failure closes it. A datagram
//! that arrives between samples stays in the kernel and becomes the response of the next sample, as in the plug-in.

use plan::element::UdpCall;
use plan::http::Source;
use plan::plan::SamplerId;
use plan::result::SampleResult;
use stats::Counter;
use wire::session::Ticket;

use crate::context::Context;
use crate::ids::{RouteId, UserId};
use crate::net::outcome::{Failure, io_words, kind};
use crate::net::source::bound;
use crate::session::Sessions;
use crate::session::exchange::{After, Call, Ending, ExchangeStage, Limit, Trouble};
use crate::session::line::ConnectionScope;
use crate::tcp::raw::{Thrown, end_sample};

/// Begins a sample of a UDP Request.
pub(crate) fn begin(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    id: SamplerId,
    call: UdpCall,
) {
    let ticket = sessions.exchange(index, id);
    let exchange = &mut sessions.exchanges[ticket];
    exchange.start = cx.clock.now();
    let place = ConnectionScope::Held(id);
    let kept = sessions.kept(index, place, RouteId::NONE);
    let route = match kept {
        Some(line) => sessions.lines[line].route,
        None => {
            let port = match bound(&call).and(call.port.clone()) {
                Ok(port) => port,
                Err(text) => return close(cx, sessions, ticket, &call, Err(Thrown::other(text))),
            };
            let host = if call.host.is_empty() { "127.0.0.1" } else { &call.host };
            cx.net.routes.to(false, host, port, &Source::default())
        }
    };
    let exchange = &mut sessions.exchanges[ticket];
    (exchange.route, exchange.place) = (route, place);
    match &call.bytes {
        Ok(bytes) => exchange.request.extend_from_slice(bytes),
        Err(text) => exchange.terms.unwritable = Some(text.clone()),
    }
    exchange.terms.after = match (call.wait, &call.timeout_ms) {
        (false, _) => After::Nothing,
        (true, Ok(limit)) => {
            exchange.limit = Limit::of_ms(*limit);
            After::Answer
        }
        (true, Err(text)) => After::Thrown(text.clone()),
    };
    exchange.call = Call::Udp(Box::new(call));
    sessions.start(&mut cx.around(), ticket);
}

/// Ends an exchange of datagrams: closes or keeps its socket, and builds the sample.
pub(crate) fn end(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let exchange = &mut sessions.exchanges[ticket];
    let ending = std::mem::take(&mut exchange.ending);
    let Call::Udp(call) = std::mem::take(&mut exchange.call) else { return };
    let mut counter = Counter::ConnClosedByUs;
    let (closes, ended) = match ending {
        Ending::None | Ending::Eof | Ending::Complete { .. } => {
            exchange.latency = exchange.ended - exchange.start;
            (call.close, Ok(()))
        }
        Ending::Bad(trouble) => match *trouble {
            Trouble::Thrown(text) | Trouble::Broken(text) => (false, Err(Thrown::other(text))),
            Trouble::Failed { failure, reached } => {
                if reached == ExchangeStage::Opening {
                    counter = Counter::ConnFailed;
                }
                let outcome = kind(&failure, &cx.net.routes[exchange.route]);
                let thrown = Thrown { text: words(&failure), outcome };
                // If sending fails, the socket stays open.
                (reached != ExchangeStage::Connected, Err(thrown))
            }
        },
    };
    if closes {
        sessions.close(&mut cx.around(), ticket, counter);
    } else {
        sessions.keep(ticket, false);
    }
    close(cx, sessions, ticket, &call, ended);
}

/// Builds the result of a UDP Request, and ends its sample.
fn close(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    call: &UdpCall,
    ended: Result<(), Thrown>,
) {
    let received = &sessions.exchanges[ticket].answer.bytes;
    let answer = match ended {
        Ok(()) => call.encoder.decode(&received[..received.len().min(call.buffer)]),
        Err(_) => Vec::new(),
    };
    let size = |_, result: &mut SampleResult| result.body.len() as u64;
    end_sample(cx, sessions, ticket, &call.data, &answer, ended, size);
}

/// Returns the exception that the plug-in reports for a failed exchange.
fn words(failure: &Failure) -> String {
    match failure {
            Failure::UnknownHost { .. } => "java.nio.channels.UnresolvedAddressException".into(),
            // The plug-in logs this failure, and then writes to a channel that does not exist.
            Failure::Connect(_) => "java.lang.NullPointerException: Cannot invoke \
                \"java.nio.channels.DatagramChannel.write(java.nio.ByteBuffer)\" because \"this.channel\" is null"
                .into(),
            // The plug-in treats an interruption as a timeout.
            Failure::ResponseTimeout | Failure::Interrupted(_) => {
                "java.net.SocketTimeoutException: Timeout exceeded while reading from socket".into()
            }
            Failure::Socket(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                "java.net.PortUnreachableException".into()
            }
            Failure::Socket(error) => format!("java.io.IOException: {}", io_words(error)),
            _ => "java.nio.channels.AsynchronousCloseException".into(),
        }
}
