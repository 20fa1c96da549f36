//! TCP Samplers: send a request; the rule of the plan's TCP client decides where the response ends.
//!
//! The connection belongs to the session module (`session`). This module builds the call and the result. Bytes
//! after a response are kept for the next sample, and a connection that the server has closed is kept until a write
//! to it fails.

use plan::element::{Client, TcpCall, TcpSampler};
use plan::http::Source;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::{Counter, Outcome};
use wire::session::Ticket;
use wire::stream::End;

use crate::context::Context;
use crate::ids::{RouteId, UserId};
use crate::net::driver;
use crate::net::outcome::{Failure, kind, socket_text};
use crate::net::routes::Routes;
use crate::session::Sessions;
use crate::session::exchange::{self, Answer, Call, ExchangeStage, Limit, Trouble};
use crate::session::line::ConnectionScope;

/// Evaluates a call into an exchange, which [`begin`] starts.
pub(crate) fn evaluate(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    id: SamplerId,
    sampler: &TcpSampler,
) -> Ticket {
    let ticket = sessions.exchange(index, id);
    let exchange = &mut sessions.exchanges[ticket];
    let mut call = match std::mem::take(&mut exchange.call) {
        Call::Tcp(call) => call,
        _ => Box::default(),
    };
    cx.with_env(index, id, |env| sampler.call(&mut call, env));
    exchange.call = Call::Tcp(call);
    ticket
}

/// Begins a sample of a TCP Sampler with an evaluated call.
pub(crate) fn begin(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let exchange = &sessions.exchanges[ticket];
    let (index, Call::Tcp(call)) = (exchange.user, &exchange.call) else { return };
    let route = cx.net.routes.to(false, &call.host, call.port, &Source::default());
    if !call.reuse {
        sessions.close_kept(&mut cx.around(), index, ConnectionScope::Own, route);
    }
    let exchange = &mut sessions.exchanges[ticket];
    let Call::Tcp(call) = &exchange.call else { return };
    (exchange.route, exchange.place) = (route, ConnectionScope::Own);
    exchange.start = cx.clock.now();
    exchange.limit = Limit::of_ms(call.timeout_ms);
    exchange.connect_limit = Limit::of_ms(call.connect_timeout_ms);
    exchange.answer.most = cx.run.settings.bodies.max_response / shown_as(call.client);
    exchange.terms.end = match (call.client, call.end) {
        (Client::Prefixed(length), _) => End::Length(length),
        (_, Some(byte)) => End::Byte(byte),
        (_, None) => End::Stream,
    };
    if call.unwritable.is_some() {
        exchange.terms.unwritable.clone_from(&call.unwritable);
    } else {
        exchange.request.extend_from_slice(&call.bytes);
    }
    sessions.start(&mut cx.around(), ticket);
}

/// Ends an exchange: keeps or closes its connection, and builds the sample.
pub(crate) fn end(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let exchange = &mut sessions.exchanges[ticket];
    let (index, Some(id)) = (exchange.user, exchange.sampler()) else { return };
    let ending = std::mem::take(&mut exchange.ending);
    let Call::Tcp(call) = std::mem::take(&mut exchange.call) else { return };
    let ending = Ending::of(ending, &cx.net.routes, exchange.route);
    let opening = matches!(ending, Ending::Unconnected { opening: true, .. });
    let (exception, outcome, kept) = failure_result(&call, &mut exchange.answer, &ending);
    if kept && call.reuse && !call.close {
        let ended = matches!(ending, Ending::Eof | Ending::Complete { closed: true });
        let exchange = &mut sessions.exchanges[ticket];
        exchange.class = sessions.lines[exchange.line].class;
        // As in JMeter, the connection is kept until a write to it fails.
        sessions.keep(ticket, ended);
    } else {
        let line = sessions.exchanges[ticket].line;
        if let (Some(linger), Some(fd)) =
            (call.linger_s, sessions.lines[line].transport.fd.as_ref())
        {
            driver::linger(fd, linger);
        }
        let counter = if opening { Counter::ConnFailed } else { Counter::ConnClosedByUs };
        sessions.close(&mut cx.around(), ticket, counter);
    }
    let mut timing = sessions.exchanges[ticket].timing(cx.users[index].intended);
    let received = std::mem::take(&mut sessions.exchanges[ticket].answer.bytes);
    let mut result = cx.take_named_result(index, id);
    let own = cx.own_sampler(index).cloned();
    let kind = own.as_deref().unwrap_or(&cx.plan.samplers[id.0 as usize].kind);
    if let SamplerKind::Tcp(sampler) = kind {
        show(sampler, &call, &received, exception.as_deref(), &ending, &mut result);
    }
    let exchange = &mut sessions.exchanges[ticket];
    let dropped = exchange.answer.dropped * shown_as(call.client);
    timing.received = (result.body.len() + dropped) as u64;
    exchange.answer.bytes = received;
    exchange.call = Call::Tcp(call);
    sessions.exchanges.end(ticket);
    cx.conclude_shown(index, id, timing, outcome, result);
}

/// Fills a result from an ended call.
fn show(
    sampler: &TcpSampler,
    call: &TcpCall,
    received: &[u8],
    exception: Option<&str>,
    ending: &Ending,
    result: &mut SampleResult,
) {
    if matches!(ending, Ending::Unconnected { .. }) {
        result.sampler_data.push_str(&call.unsent());
        result.code.push_str("500");
        result.message.push_str(exception.unwrap_or_default());
        result.success = false;
        return;
    }
    result.sampler_data.push_str(&call.request);
    result.data_type = "text";
    match call.client {
        Client::Text => {
            result.encoding.push_str(sampler.charset());
            lang::charset::decode_into(Some(sampler.charset()), received, &mut result.text);
        }
        Client::Binary | Client::Prefixed(_) => {
            result.encoding.push_str("UTF-8");
            for byte in received {
                for digit in [byte >> 4, byte & 15] {
                    result.text.extend(char::from_digit(digit.into(), 16));
                }
            }
        }
    }
    let text = std::mem::take(&mut result.text);
    result.body.extend_from_slice(text.as_bytes());
    let SampleResult { code, message, success, .. } = result;
    *success = sampler.judge(&text, exception, code, message);
    result.text = text;
}

/// The way in which a sample's exchange ended.
#[derive(Debug)]
enum Ending {
    /// The response is complete; the stream may have ended too.
    Complete { closed: bool },
    /// The server has closed its side.
    Eof,
    /// The read timeout was reached.
    Timeout,
    /// The connection broke.
    Broken(Outcome),
    /// The connection was never established, or the run ended. Contains JMeter's exception.
    Unconnected { words: String, outcome: Outcome, opening: bool },
    /// The call failed with this exception.
    Thrown(String),
}

impl Ending {
    /// Returns the ending in the terms of JMeter's client.
    fn of(ending: exchange::Ending, routes: &Routes, at: RouteId) -> Self {
        let (failure, reached) = match ending {
            exchange::Ending::Complete { closed } => return Self::Complete { closed },
            exchange::Ending::Eof | exchange::Ending::None => return Self::Eof,
            exchange::Ending::Bad(trouble) => match *trouble {
                Trouble::Thrown(words) | Trouble::Broken(words) => return Self::Thrown(words),
                Trouble::Failed { failure, reached } => (failure, reached),
            },
        };
        let route = &routes[at];
        let words = match &failure {
            Failure::Connect(_) => {
                format!("java.net.ConnectException: {}", socket_text(&failure, route))
            }
            Failure::ConnectTimeout => "java.net.SocketTimeoutException: Connect timed out".into(),
            Failure::UnknownHost { .. } => format!("java.net.UnknownHostException: {}", route.host),
            _ => format!("java.net.SocketException: {}", socket_text(&failure, route)),
        };
        let outcome = kind(&failure, route);
        match &failure {
            Failure::Socket(error) if reached == ExchangeStage::Connected => {
                let reset = error.kind() == std::io::ErrorKind::ConnectionReset;
                let words = if reset { "Connection reset" } else { "Broken pipe" };
                Self::Thrown(format!("java.net.SocketException: {words}"))
            }
            Failure::ResponseTimeout => Self::Timeout,
            _ if reached != ExchangeStage::Opening && outcome != Outcome::CutByEnd => {
                Self::Broken(outcome)
            }
            _ => Self::Unconnected { words, outcome, opening: reached == ExchangeStage::Opening },
        }
    }
}

/// Returns the number of characters in the result per byte of the response.
fn shown_as(client: Client) -> usize {
    match client {
        Client::Text => 1,
        // Two hexadecimal digits per byte.
        Client::Binary | Client::Prefixed(_) => 2,
    }
}

/// Returns JMeter's exception, the outcome, and true if the connection is kept.
fn failure_result(
    call: &TcpCall,
    answer: &mut Answer,
    ending: &Ending,
) -> (Option<String>, Outcome, bool) {
    let thrown =
        |text: String| format!("org.apache.jmeter.protocol.tcp.sampler.ReadException: {text}");
    let read = answer.bytes.len() + answer.dropped;
    let unread = |call: &TcpCall| match call.client {
        Client::Text => format!("Error reading from server, bytes read: {read}"),
        Client::Binary if matches!(ending, Ending::Timeout) => {
            "Socket timed out while looking for EOM".into()
        }
        Client::Binary => "Problems while trying to read".into(),
        Client::Prefixed(_) => String::new(),
    };
    // A message that is too short is padded with zeros.
    if let Some(expected) = answer.expected {
        let expected = expected as usize;
        answer.bytes.resize(expected.min(answer.most), 0);
        answer.dropped = expected - answer.bytes.len();
    }
    match ending {
        Ending::Complete { .. } => (None, Outcome::Ok, true),
        Ending::Eof => (None, Outcome::Ok, true),
        Ending::Timeout if call.client == Client::Binary && call.end.is_none() => {
            (None, Outcome::Ok, true)
        }
        Ending::Timeout => {
            (Some(thrown(unread(call))), Outcome::Timeout(stats::Phase::Response), false)
        }
        Ending::Broken(outcome) => (Some(thrown(unread(call))), *outcome, false),
        Ending::Unconnected { words, outcome, .. } => (Some(words.clone()), *outcome, false),
        Ending::Thrown(text) => (Some(text.clone()), Outcome::Other, false),
    }
}
