//! Redis Data Sets: fetch a value for each iteration, over connections that the users of a core share.
//!
//! An iteration that needs values waits before it begins. The user requests one value after the other, and
//! continues when it has all values. The values are kept until the iteration sets its variables. No sample is
//! recorded.

use plan::element::RedisCall;
use plan::plan::{Controller, OnIteration};
use wire::redis::{self, kind};
use wire::session::Ticket;

use crate::context::Context;
use crate::ids::UserId;
use crate::net::outcome::{Failure, socket_text};
use crate::net::routes::Route;
use crate::session::Sessions;
use crate::session::exchange::{Call, Ending, Limit, Trouble};
use crate::session::line::{ConnectionScope, LineId};
use crate::time::clock::{MS, Nanos};
use crate::users::{User, Wait};

/// Values that a user has fetched for an iteration that has not begun yet.
#[derive(Debug, Default)]
struct Fetched(Vec<(u32, Result<String, String>)>);

impl crate::users::Part for Fetched {}

/// The reason that is logged when a user ends because there is no value for it.
const NO_DATA: &str = "End of redis data detected";

/// Returns the first missing value that an iteration needs. The user must wait for it.
pub(crate) fn missing(cx: &Context<'_>, index: UserId, controller: &Controller) -> Option<u32> {
    controller.on_iteration.iter().find_map(|event| match event {
        OnIteration::Redis(at) if !has_fetched(&cx.users[index], *at) => Some(*at),
        _ => None,
    })
}

fn has_fetched(user: &User, at: u32) -> bool {
    let known = user.extra.as_ref().and_then(|extra| extra.parts.get::<Fetched>());
    known.is_some_and(|all| all.0.iter().any(|(of, _)| *of == at))
}

/// Sets the variables from a fetched value. `Err`: there was no value; the string is the reason why the user ends.
pub(crate) fn set_data(cx: &mut Context<'_>, index: UserId, at: u32) -> Result<(), String> {
    let known = &mut cx.users[index].extra().parts.or_default::<Fetched>().0;
    let Some(place) = known.iter().position(|(of, _)| *of == at) else { return Ok(()) };
    let (_, value) = known.swap_remove(place);
    let set = &cx.plan.redis[at as usize];
    set.fill(&value?, &mut cx.env(index, ""));
    Ok(())
}

/// Requests a value from the Redis server; the user waits for it.
pub(crate) fn fetch(cx: &mut Context<'_>, sessions: &mut Sessions, index: UserId, at: u32) {
    let ticket = sessions.exchange(index, None);
    let exchange = &mut sessions.exchanges[ticket];
    let mut call = match std::mem::take(&mut exchange.call) {
        Call::Redis(call) => call,
        _ => Box::default(),
    };
    call.back = None;
    cx.plan.redis[at as usize].call(&mut call, &mut cx.env(index, ""));
    let mut arguments = Vec::with_capacity(5);
    call.take.arguments(call.key.as_bytes(), &mut arguments);
    redis::push_command(&arguments, &mut exchange.request);
    drop(arguments);
    start_fetch(cx, sessions, ticket, at, call);
}

fn start_fetch(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    at: u32,
    call: Box<RedisCall>,
) {
    let exchange = &mut sessions.exchanges[ticket];
    let source = plan::http::Source::default();
    exchange.route = cx.net.routes.to(call.secure, &call.host, call.port, &source);
    exchange.place = ConnectionScope::Named(at);
    exchange.terms.most_lines = call.most;
    exchange.start = cx.clock.now();
    exchange.limit = Limit::of_ms(call.timeout_ms);
    exchange.connect_limit = exchange.limit;
    exchange.terms.room_limit = call.wait_ms.map(|ms| Nanos::from(ms) * MS);
    exchange.call = Call::Redis(call);
    sessions.start(&mut cx.around(), ticket);
}

/// Handles the end of a request to a Redis server: stores the fetched value and continues the user, or first sends a
/// request that puts the value back into the server's list. Returns false if the end of the run has cut the request;
/// then the user ends too.
pub(crate) fn end(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) -> bool {
    let exchange = &mut sessions.exchanges[ticket];
    let (index, ended, head) = (exchange.user, exchange.ended, exchange.answer.head);
    let ending = std::mem::take(&mut exchange.ending);
    let bytes = std::mem::take(&mut exchange.answer.bytes);
    let nil = exchange.answer.nil;
    let Call::Redis(mut call) = std::mem::take(&mut exchange.call) else { return true };
    let ConnectionScope::Named(at) = exchange.place else { return true };
    let answer = String::from_utf8_lossy(&bytes).into_owned();
    let (kept, got) = match ending {
        Ending::Complete { .. } if head == kind::ERROR => (true, Err(Some(answer))),
        Ending::Complete { .. } if nil => (true, Err(None)),
        Ending::Complete { .. } => (true, Ok(answer)),
        Ending::Eof | Ending::None => {
            (false, Err(Some("the server closed the connection".to_owned())))
        }
        Ending::Bad(trouble) => match *trouble {
            Trouble::Thrown(words) | Trouble::Broken(words) => (false, Err(Some(words))),
            Trouble::Failed { failure: Failure::Cut, .. } => {
                sessions.leave_pool(&mut cx.around(), ticket, false);
                sessions.exchanges.end(ticket);
                return false;
            }
            Trouble::Failed { failure, .. } => {
                (false, Err(Some(words(&failure, &cx.net.routes[exchange.route]))))
            }
        },
    };
    let line = sessions.exchanges[ticket].line;
    if line != LineId::NONE {
        // No sample is recorded, so the exchange is counted only for its address.
        let took = (ended - sessions.exchanges[ticket].start).max(0) as u64;
        cx.recorder.exchanged(sessions.lines[line].class, took, !kept || got.is_err());
    }
    sessions.leave_pool(&mut cx.around(), ticket, kept);
    let user = &mut cx.users[index];
    // The wait for the server is not a delay of this process.
    user.intended = user.intended.max(ended);
    let value = match (got, call.back.take(), call.take.puts_back()) {
        // The fetched value was put back into the list of the server.
        (Ok(_), Some(value), _) => Ok(value),
        (Ok(value), None, Some(command)) => {
            sessions.exchanges.end(ticket);
            let ticket = sessions.exchange(index, None);
            let request = &mut sessions.exchanges[ticket].request;
            let key = call.key.as_bytes();
            redis::push_command(&[command.as_bytes(), key, value.as_bytes()], request);
            call.back = Some(value);
            start_fetch(cx, sessions, ticket, at, call);
            return true;
        }
        (Ok(value), None, None) => Ok(value),
        (Err(None), ..) => Err(NO_DATA.to_owned()),
        (Err(Some(words)), ..) => Err(reason(cx, at, &call.key, &words, kept)),
    };
    sessions.exchanges[ticket].call = Call::Redis(call);
    sessions.exchanges.end(ticket);
    let user = &mut cx.users[index];
    user.extra().parts.or_default::<Fetched>().0.push((at, value));
    user.wait = Wait::Ready;
    cx.make_ready(index);
    true
}

/// Returns the reason why a user without a value ends. `kept` is true if its connection is still usable.
fn reason(cx: &Context<'_>, at: u32, key: &str, words: &str, kept: bool) -> String {
    let name = cx.plan.redis[at as usize].name();
    let reason = format!("Failed to retrieve data from redis key {key}: {words} ({name})");
    if kept {
        // The server has no such data: JMeter treats this as the end of the data.
        cx.log(reason);
        return NO_DATA.to_owned();
    }
    reason
}

/// Returns the message for a failed exchange.
fn words(failure: &Failure, route: &Route) -> String {
    let words = match failure {
        Failure::Tls(error) => error.to_string(),
        Failure::ConnectTimeout => "connection timed out".to_owned(),
        Failure::ResponseTimeout => "the server sent no reply in time".to_owned(),
        Failure::UnknownHost { .. } => format!("unknown host {}", route.host),
        _ => socket_text(failure, route),
    };
    format!("{}:{}: {words}", route.host, route.port)
}
