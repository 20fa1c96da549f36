//! Redis Data Sets: a value for each iteration, on connections that users of a core share.
//!
//! An iteration that needs values waits before it begins: the user asks for one after the other, and goes on when it has all of
//! them. They are kept until the iteration sets its variables. There is no sample.

use plan::element::{RedisCall, Stop};
use plan::plan::{Controller, OnIteration, SamplerId};
use wire::redis::{self, kind};
use wire::session::Ticket;

use crate::core::Core;
use crate::ids::UserId;
use crate::net::outcome::{Failure, socket_text};
use crate::session::exchange::{Call, Ending};
use crate::session::line::Place;
use crate::time::clock::{MS, Nanos};
use crate::users::Wait;

/// Values that a user has fetched for an iteration that has not begun.
#[derive(Debug, Default)]
struct Fetched(Vec<(u32, Result<String, String>)>);

/// No sampler: an iteration's start asks.
const NO_SAMPLER: SamplerId = SamplerId(u32::MAX);

/// The reason for which users end that find no value.
const NO_DATA: &str = "End of redis data detected";

impl Core<'_> {
    /// Whether all values that an iteration needs are there. False: the user waits for the first that is not.
    pub(crate) fn has_data(&mut self, index: UserId, controller: &Controller) -> bool {
        controller.on_iteration.iter().all(|event| match event {
            OnIteration::Redis(at) => {
                let known = self.cx.users[index].extra.as_ref();
                let known = known.and_then(|extra| extra.parts.get::<Fetched>());
                let known = known.is_some_and(|all| all.0.iter().any(|(of, _)| of == at));
                if !known {
                    self.fetch(index, *at);
                }
                known
            }
            _ => true,
        })
    }

    /// Sets the variables of a value that was fetched. False: there was none, and the user has ended.
    pub(crate) fn set_data(&mut self, index: UserId, at: u32) -> bool {
        let known = &mut self.cx.users[index].extra().parts.or_default::<Fetched>().0;
        let Some(place) = known.iter().position(|(of, _)| *of == at) else { return true };
        let (_, value) = known.swap_remove(place);
        match value {
            Ok(value) => {
                let set = &self.cx.plan.redis[at as usize];
                set.fill(&value, &mut self.cx.env(index, ""));
                true
            }
            Err(reason) => {
                self.on_stop(index, &Stop::User(reason));
                false
            }
        }
    }

    fn fetch(&mut self, index: UserId, at: u32) {
        let ticket = self.sessions.exchange(index, NO_SAMPLER);
        let mut call = match std::mem::take(&mut self.sessions.exchanges[ticket].call) {
            Call::Redis(call) => call,
            _ => Box::default(),
        };
        call.back = None;
        self.cx.plan.redis[at as usize].call(&mut call, &mut self.cx.env(index, ""));
        let mut arguments = Vec::with_capacity(5);
        call.take.arguments(call.key.as_bytes(), &mut arguments);
        redis::push_command(&arguments, &mut self.sessions.exchanges[ticket].request);
        drop(arguments);
        self.start_fetch(index, ticket, (at, call));
    }

    fn start_fetch(&mut self, index: UserId, ticket: Ticket, (at, call): (u32, Box<RedisCall>)) {
        let source = plan::http::Source::default();
        let route = self.cx.net.routes.to(call.secure, &call.host, call.port, &source);
        let tls = call.secure.then(|| self.tls_config(index)).transpose();
        let exchange = &mut self.sessions.exchanges[ticket];
        match tls {
            Ok(tls) => exchange.tls = tls,
            Err(error) => exchange.unwritable = Some(error.to_string()),
        }
        exchange.route = route;
        exchange.place = Place::Named { pool: at, most: call.most };
        exchange.start = self.cx.clock.now();
        exchange.intended = exchange.start;
        exchange.limit = Nanos::from(call.timeout_ms) * MS;
        exchange.connect_limit = exchange.limit;
        exchange.room_limit = call.wait_ms.map(|ms| Nanos::from(ms) * MS);
        exchange.call = Call::Redis(call);
        let (sessions, mut around) = self.sessions();
        sessions.start(&mut around, ticket);
    }

    /// A value has come, or none.
    pub(crate) fn end_redis(&mut self, ticket: Ticket) {
        let exchange = &mut self.sessions.exchanges[ticket];
        let (index, ended, head) = (exchange.user, exchange.ended, exchange.answer.head);
        let ending = std::mem::take(&mut exchange.ending);
        let bytes = std::mem::take(&mut exchange.answer.bytes);
        let nil = exchange.answer.nil;
        let Call::Redis(mut call) = std::mem::take(&mut exchange.call) else { return };
        let route = exchange.route;
        let Place::Named { pool: at, .. } = exchange.place else { return };
        let answer = String::from_utf8_lossy(&bytes).into_owned();
        let (kept, got) = match ending {
            Ending::Complete { .. } if head == kind::ERROR => (true, Err(Some(answer))),
            Ending::Complete { .. } if nil => (true, Err(None)),
            Ending::Complete { .. } => (true, Ok(answer)),
            Ending::Thrown(words) | Ending::Broken(words) => (false, Err(Some(words))),
            Ending::Eof | Ending::None => {
                (false, Err(Some("the server closed the connection".to_owned())))
            }
            Ending::Failed { failure: Failure::Cut, .. } => {
                let (sessions, mut around) = self.sessions();
                sessions.leave_pool(&mut around, ticket, false);
                sessions.exchanges.end(ticket);
                return self.end_user(index);
            }
            Ending::Failed { failure, .. } => {
                let route = &self.cx.net.routes[route];
                let words = match &failure {
                    Failure::ConnectTimeout => "connecting took too long".to_owned(),
                    Failure::ResponseTimeout => "no answer came in time".to_owned(),
                    Failure::UnknownHost { .. } => format!("the host {} is unknown", route.host),
                    _ => socket_text(&failure, route),
                };
                (false, Err(Some(format!("{}:{}: {words}", route.host, route.port))))
            }
        };
        let (sessions, mut around) = self.sessions();
        sessions.leave_pool(&mut around, ticket, kept);
        let user = &mut self.cx.users[index];
        // The iteration is late by no fault of this process.
        user.intended = user.intended.max(ended);
        let value = match (got, call.back.take(), call.take.puts_back()) {
            // It is there again.
            (Ok(_), Some(value), _) => Ok(value),
            (Ok(value), None, Some(command)) => {
                self.sessions.exchanges.end(ticket);
                let ticket = self.sessions.exchange(index, NO_SAMPLER);
                let request = &mut self.sessions.exchanges[ticket].request;
                let key = call.key.as_bytes();
                redis::push_command(&[command.as_bytes(), key, value.as_bytes()], request);
                call.back = Some(value);
                return self.start_fetch(index, ticket, (at, call));
            }
            (Ok(value), None, None) => Ok(value),
            (Err(None), ..) => Err(NO_DATA.to_owned()),
            (Err(Some(words)), ..) => {
                let name = self.cx.plan.redis[at as usize].name();
                let key = &call.key;
                let reason =
                    format!("Failed to retrieve data from redis key {key}: {words} ({name})");
                if kept {
                    // The server has no such data: to JMeter that is their end.
                    self.cx.log(reason);
                    Err(NO_DATA.to_owned())
                } else {
                    Err(reason)
                }
            }
        };
        self.sessions.exchanges[ticket].call = Call::Redis(call);
        self.sessions.exchanges.end(ticket);
        let user = &mut self.cx.users[index];
        user.extra().parts.or_default::<Fetched>().0.push((at, value));
        user.wait = Wait::Ready;
        self.cx.go_on(index);
    }
}
