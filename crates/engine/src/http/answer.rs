//! Handles a complete HTTP response: its connection, cookies and redirects, and its sample. Hot.
//!
//! The module `session` owns the connection and has kept the parts of the response that are needed.

use plan::plan::{Needs, SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::{ClassId, Counter, Outcome, Recorder};
use wire::session::Ticket;

use crate::context::Context;
use crate::http::credentials::{Challenged, answers_challenge};
use crate::http::exchange::Outgoing;
use crate::http::fill::{Bodies, push_reason};
use crate::http::fixed::FixedRequests;
use crate::http::opening::Closing;
use crate::http::tunnel::{self, Tunnelled};
use crate::http::{cache, chain, gateway, redirect, repeat, side_cookies};
use crate::ids::UserId;
use crate::net::outcome::Failure;
use crate::session::Sessions;
use crate::session::exchange::{Call, Ending, Exchange, Trouble};
use crate::session::http1::{HttpExchange, KeptResponse, Stash};
use crate::time::clock::{Nanos, SECOND};
use crate::time::timing::{Timing, TraceId};
use crate::users::Wait;

/// State of a core for handling HTTP responses.
pub(crate) struct Answers {
    bodies: Bodies,
}

impl Answers {
    pub(super) fn new() -> Self {
        Self { bodies: Bodies::new() }
    }

    /// Handles the end of an exchange, with a response or a failure: continues or completes the sample.
    #[inline]
    pub(super) fn end(
        &mut self,
        outgoing: &mut Outgoing,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        ticket: Ticket,
    ) {
        let exchange = &sessions.exchanges[ticket];
        let closing = match exchange.ending {
            Ending::Complete { closed } => {
                Closing::of(!sessions.lines[exchange.line].tail.is_empty(), closed)
            }
            Ending::Bad(_) => return end_failed(&outgoing.fixed, cx, sessions, ticket),
            _ => Closing::Broken,
        };
        if matches!(&exchange.call, Call::Http(http) if http.facts.tunnels) {
            match tunnel::end_tunnelling(cx, sessions, ticket, closing) {
                Tunnelled::GoesOn => return,
                Tunnelled::Answer => {}
                Tunnelled::Failed(failure) => {
                    return repeat::fail(&outgoing.fixed, cx, sessions, ticket, &failure);
                }
            }
        }
        self.finish(outgoing, cx, sessions, ticket, closing);
    }

    /// Handles a complete response: keeps or closes its connection. Resends the request with credentials if the
    /// response is an authentication challenge, otherwise builds the sample's result.
    #[inline]
    fn finish(
        &mut self,
        outgoing: &mut Outgoing,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        ticket: Ticket,
        closing: Closing,
    ) {
        let exchange = &mut sessions.exchanges[ticket];
        let (index, Some(id)) = (exchange.user, exchange.sampler()) else { return };
        let Call::Http(http) = &mut exchange.call else { return };
        if let (Some(name), Some(stash)) = (&cx.run.settings.http.record_header, &http.stash) {
            http.facts.header = class_of(&stash.head, name, &mut cx.recorder);
        }
        if let Some(stash) = &http.stash {
            read_series(cx, &stash.head);
            if let SamplerKind::Http(planned) = &cx.plan.samplers[id.0 as usize].kind {
                outgoing.gateways.judge(planned, &stash.head, &mut http.facts);
            }
        }
        let facts = http.facts;
        let mut moves = false;
        if let Some(stash) = &mut http.stash {
            if facts.fixed {
                outgoing.fixed.show(cx, id, &facts, stash);
            }
            if !stash.connection_fault.is_empty() {
                let fault = std::mem::take(&mut stash.connection_fault);
                let failure = Failure::Connection(fault);
                return repeat::fail(&outgoing.fixed, cx, sessions, ticket, &failure);
            }
            // Java's own client opens another connection to follow a redirect.
            moves = facts.java
                && facts.auto_follow
                && matches!(facts.status, 301..=303 | 305 | 307)
                && redirect::java_follows(stash);
        }
        if facts.has_body && exchange.latency == 0 {
            exchange.latency = exchange.ended - exchange.start;
        }
        let route = exchange.route;
        let trace = http.trace();
        let stash = if facts.challenges { None } else { http.stash.take() };
        let timing = {
            let line = &sessions.lines[exchange.line];
            let intended = cx.users[index].intended;
            let own = line.opening.own();
            Timing { trace, ..timing_of(exchange, &facts, intended, own, line.class) }
        };
        leave_line(cx, sessions, ticket, closing, &facts, moves);
        if !facts.java {
            set_user_token(cx, index);
        }
        let stash = if facts.challenges {
            match answers_challenge(&outgoing.places, cx, sessions, ticket) {
                Challenged::Again => return,
                Challenged::No(stash) => stash,
            }
        } else {
            stash
        };
        sessions.exchanges.end(ticket);
        cx.users[index].wait = Wait::Ready;
        let Some(mut stash) = stash else {
            return conclude(cx, index, id, &facts, timing, false, None);
        };
        redirect::name_sent_url(cx, &facts, route, &mut stash);
        let response = KeptResponse { user: index, sampler: id, exchange: &facts, timing, stash };
        self.answered(outgoing, cx, sessions, response);
    }

    /// Handles a complete response of which parts were kept: stores cookies, follows redirects, fills the result; then
    /// completes the sample.
    fn answered(
        &mut self,
        outgoing: &mut Outgoing,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        mut response: KeptResponse<'_>,
    ) {
        let (index, id, exchange) = (response.user, response.sampler, response.exchange);
        let stash = &response.stash;
        if exchange.cookies && stash.set_cookie && !redirect::is_passed_over(exchange, stash) {
            side_cookies::take_cookies(cx, index, id, stash);
        }
        let mut result = None;
        let seen = self.look_at(outgoing, cx, sessions, &mut response, &mut result);
        let KeptResponse { timing, stash, .. } = response;
        sessions.stashes.give(stash);
        match (seen, result) {
            (Seen::GoesOn, result) => cx.spare_results.extend(result),
            (Seen::Chain, Some(last)) => chain::conclude_chain(cx, index, id, last),
            (Seen::Chain | Seen::Thrown, result) => {
                cx.conclude(index, id, timing, Outcome::Protocol, result);
            }
            (Seen::Whole { filled }, result) => {
                conclude(cx, index, id, exchange, timing, filled, result);
            }
        }
    }

    /// Builds a result from the kept parts of a response if anything reads it. Stores a cacheable response in the
    /// user's cache, and follows a redirect if there is one.
    #[inline]
    fn look_at(
        &mut self,
        outgoing: &mut Outgoing,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        response: &mut KeptResponse<'_>,
        result: &mut Option<Box<SampleResult>>,
    ) -> Seen {
        let (index, id, exchange) = (response.user, response.sampler, response.exchange);
        let success = (200..400).contains(&exchange.status);
        let redirect = matches!(exchange.status, 301 | 302 | 303 | 307 | 308);
        let has_chain = |cx: &Context<'_>| {
            cx.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some())
        };
        let (chain, observed) = (has_chain(cx), cx.observes(id));
        let follows = exchange.follow || exchange.auto_follow;
        let filled = chain || (redirect && follows) || observed;
        if filled {
            let result = result.insert(cx.take_result());
            self.bodies.fill(cx, response, result);
        }
        let mut thrown = exchange.caches
            && !cache::note_answer(cx, index, id, exchange, &response.stash, result);
        let goes_on = (chain || redirect && follows)
            && redirect::follow(outgoing, cx, sessions, response, result);
        let KeptResponse { timing, stash, .. } = response;
        if redirect && !chain && !follows {
            let shown = result.get_or_insert_with(|| cx.take_result());
            if redirect::fail_without_location(cx, id, exchange, stash, None, shown) {
                timing.sent = 0;
                thrown = true;
            }
        }
        let is_unread = !cx.plan.samplers[id.0 as usize].needs.contains(Needs::HEADERS);
        if let Some(result) = result.as_deref_mut().filter(|_| filled && !goes_on)
            && is_unread
            && (exchange.draw.is_small() || !success)
        {
            // The run may keep the details of this sample, so the result must contain the headers.
            result.response_headers.clear();
            result.response_headers.push_str(head_of(stash));
        }
        // A result that is already filled has the cause of a failure, and `show_head` would clear it.
        if !success && !filled {
            let result = show_head(cx, stash, result);
            push_reason(&mut result.message, &stash.head, exchange.java);
        }
        timing.headed =
            success && !filled && !thrown && exchange.result_code == 0 && exchange.draw.is_small();
        if timing.headed {
            show_head(cx, stash, result);
        }
        if success && exchange.result_code != 0 {
            let refused = match result {
                Some(result) if filled => result,
                result => show_head(cx, stash, result),
            };
            gateway::refuse(refused, exchange.result_code);
        }
        if goes_on {
            Seen::GoesOn
        } else if has_chain(cx) {
            Seen::Chain
        } else if thrown {
            Seen::Thrown
        } else {
            Seen::Whole { filled }
        }
    }
}

/// Fills a result with the head of a response that no element reads, for the statistics of error causes and for kept
/// details.
fn show_head<'r>(
    cx: &mut Context<'_>,
    stash: &Stash,
    result: &'r mut Option<Box<SampleResult>>,
) -> &'r mut SampleResult {
    let result = result.get_or_insert_with(|| cx.take_result());
    result.clear();
    result.response_headers.push_str(head_of(stash));
    result.url.push_str(&stash.url);
    result.method.push_str(&stash.method);
    result
}

/// Returns the head of a response; empty if it is not valid UTF-8.
fn head_of(stash: &Stash) -> &str {
    std::str::from_utf8(&stash.head).unwrap_or_default()
}

/// Completes the sample of a response. `filled` is true if the result was filled from the response.
#[inline]
fn conclude(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    exchange: &HttpExchange,
    mut timing: Timing,
    filled: bool,
    mut result: Option<Box<SampleResult>>,
) {
    let success = (200..400).contains(&exchange.status);
    if !success && !filled {
        let mut digits = itoa::Buffer::new();
        let result = result.get_or_insert_with(|| cx.take_result());
        result.code.clear();
        result.code.push_str(digits.format(exchange.status));
        result.success = false;
    }
    let outcome = if !success || exchange.result_code != 0 {
        Outcome::Status
    } else if filled && result.as_ref().is_some_and(|result| !result.success) {
        timing.sent = 0;
        Outcome::Protocol
    } else {
        Outcome::Ok
    };
    cx.conclude(index, id, timing, outcome, result);
}

/// Keeps the connection of a complete response for its user's next request, or closes it. `moves` is true if the
/// client continues on another connection.
#[inline]
fn leave_line(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    closing: Closing,
    facts: &HttpExchange,
    moves: bool,
) {
    if facts.keep_alive && facts.want_keep_alive && !moves && closing != Closing::Broken {
        let settings = &cx.run.settings.http;
        let rest = match facts.keep_alive_s {
            0 => settings.idle_timeout,
            told => Nanos::from(told) * SECOND,
        };
        let line = sessions.rest(ticket, rest, settings.retry_stale);
        if closing == Closing::ByPeer {
            sessions.peer_gave_up(&mut cx.around(), line);
        }
    } else {
        let by_us = facts.keep_alive && closing == Closing::No;
        let counter = if by_us { Counter::ConnClosedByUs } else { Counter::ConnClosedByPeer };
        cx.recorder.add(Counter::ConnClosedByPlan, u64::from(!facts.want_keep_alive));
        sessions.close(&mut cx.around(), ticket, counter);
    }
}

/// Handles a failed exchange: resends its request, or completes its sample as failed.
fn end_failed(
    requests: &FixedRequests,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
) {
    let ending = std::mem::take(&mut sessions.exchanges[ticket].ending);
    if let Ending::Bad(trouble) = ending
        && let Trouble::Failed { failure, .. } = *trouble
    {
        repeat::fail(requests, cx, sessions, ticket, &failure);
    }
}

/// Adds the metrics that response headers report to the user-defined series.
#[inline]
fn read_series(cx: &mut Context<'_>, head: &[u8]) {
    let recorder = &mut cx.recorder;
    cx.run.settings.series.in_head(head, |at, value| recorder.number(at, value));
}

/// Maximum length in bytes of a header value that classifies exchanges.
const LONGEST_CLASS: usize = 100;

/// Returns the class under which the statistics count a response: the class of its value of the header `name`;
/// `ClassId::NONE` without that header.
fn class_of(head: &[u8], name: &str, recorder: &mut Recorder) -> ClassId {
    let mut lines = head.split(|byte| *byte == b'\n').skip(1);
    let value = lines.find_map(|line| {
        let (start, rest) = line.split_at_checked(name.len())?;
        start.eq_ignore_ascii_case(name.as_bytes()).then(|| rest.strip_prefix(b":"))?
    });
    let value = value.and_then(|value| std::str::from_utf8(value.trim_ascii()).ok());
    value.map_or(ClassId::NONE, |value| {
        recorder.class(name, &value[..value.floor_char_boundary(LONGEST_CLASS)])
    })
}

/// Role of a response in its sample: one of several responses, or the final response.
enum Seen {
    /// Another request of the sample was sent, or the sample is already completed.
    GoesOn,
    /// The response is the last response of a chain of redirects.
    Chain,
    /// The response is the sample's final response. If `filled` is true, the parts of the response are in the result;
    /// otherwise no element of the plan reads them.
    Whole { filled: bool },
    /// The response is the sample's final response, and the sample fails with an exception.
    Thrown,
}

/// Returns the times and sizes of a response. `own` is the time that the generator itself needed to open the
/// connection.
#[inline]
fn timing_of(
    exchange: &Exchange,
    facts: &HttpExchange,
    intended: Nanos,
    own: u64,
    class: ClassId,
) -> Timing {
    let now = exchange.ended;
    // The lag consists of two parts: from the intended to the actual start, and from the arrival of the last byte
    // to its reading.
    let wait = (exchange.start - intended).max(0) as u64;
    Timing {
        start: exchange.start,
        end: now,
        idle: 0,
        latency: exchange.latency as u64,
        connect: exchange.connect as u64,
        lag: (now - exchange.arrival).max(0) as u64 + wait + own,
        wait,
        // JMeter does not measure how much Java's own client sends.
        sent: if facts.java { 0 } else { facts.sent },
        received: facts.received,
        phases: exchange.phases(),
        classes: [class, facts.header],
        draw: facts.draw,
        headed: false,
        trace: TraceId::NONE,
    }
}

/// Sets HttpClient's user token variable to the thread name, if the plan uses that variable and has not set it.
fn set_user_token(cx: &mut Context<'_>, index: UserId) {
    let Some(variable) = cx.run.user_token else { return };
    let env = cx.env(index, "");
    if env.vars.get(variable).is_none() {
        let mut name = String::new();
        env.who.thread_name(&mut name);
        env.vars.set(variable, &name);
    }
}
