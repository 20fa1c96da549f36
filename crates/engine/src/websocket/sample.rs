//! The WebSocket samplers: from the evaluated call to the concluded sample. Hot.
//!
//! A sample opens its connection or uses the user's, sends what it has to send, reads one frame if it wants one, and
//! is concluded. Whatever goes wrong on the way ends in one place, [`Core::fault`], and becomes a failed sample.

use std::fmt::Write;
use std::ops::Deref;
use std::sync::Arc;

use plan::http::Source;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use plan::websocket::{Act, Call, Frame, FrameKind, WebSocket, wording};
use stats::{CloseCause, Outcome, Phase};
use wire::cookie::Origin;
use wire::websocket::Opcode;
use wire::websocket::handshake::Refusal;

use super::{Ending, NO_SOCKET, State, Step, Task, Work};
use crate::core::Core;
use crate::ids::UserId;
use crate::net::outcome::{self, Failure};
use crate::net::routes::{Route, RouteId, Tunnel};
use crate::time::clock::{MS, Nanos};
use crate::time::timing::Timing;
use crate::users::Wait;

/// Why a sample failed.
#[derive(Debug)]
pub(crate) enum Fault {
    Failure(Failure),
    /// The server answered the upgrade with something else.
    Refused(Refusal),
    /// The proxy did not make the tunnel.
    ProxyRefused(u16),
    /// The connection ended.
    Ended(Ending),
    /// Nothing came within the limit.
    ReadTimeout,
    /// What came breaks the protocol, in the words of an input error.
    Protocol(&'static str),
    /// What the plug-in's own code cannot take, in the words of its exception.
    Beyond(String),
    /// The payload could not be made: code and message.
    Problem((String, String)),
    /// The run ends at once.
    Cut,
}

/// A WebSocket sampler at work: the plan's, or as scripts have left it.
pub(super) enum Sampling<'p> {
    Planned(&'p WebSocket),
    /// With the planned one, for which it stands.
    Own(Arc<SamplerKind>, &'p WebSocket),
}

impl Deref for Sampling<'_> {
    type Target = WebSocket;

    fn deref(&self) -> &WebSocket {
        match self {
            Self::Planned(sampler) => sampler,
            Self::Own(own, planned) => match &**own {
                SamplerKind::WebSocket(own) => own,
                _ => planned,
            },
        }
    }
}

impl<'p> Core<'p> {
    pub(crate) fn begin_socket(&mut self, index: UserId, id: SamplerId, sampler: &WebSocket) {
        if let Act::Hold(hold) = &sampler.act {
            return self.begin_hold(index, id, hold);
        }
        // Before the call is evaluated: what its functions count must be counted once.
        if self.must_wait(index, id, sampler) {
            return;
        }
        let slot = id.0 as usize;
        if sampler.is_fixed()
            && let Some(call) = self.websocket.calls[slot].take()
        {
            self.begin_call(index, id, sampler, &call);
            self.websocket.calls[slot] = Some(call);
            return;
        }
        let mut call = std::mem::take(&mut self.websocket.call);
        match self.with_env(index, id, |env, _| sampler.render(env, &mut call)) {
            Ok(()) => {
                self.begin_call(index, id, sampler, &call);
                if sampler.is_fixed() {
                    self.websocket.calls[slot] = Some(Box::new(std::mem::take(&mut call)));
                }
            }
            Err(refusal) => {
                self.refuse(index, id, |result| wording::refused_to_start(&refusal, result));
            }
        }
        self.websocket.call = call;
    }

    /// Whether a user that opens a connection has to wait for its turn: by the connect rate, or after a setback.
    fn must_wait(&mut self, index: UserId, id: SamplerId, sampler: &WebSocket) -> bool {
        if std::mem::take(&mut self.cx.users[index].paced) {
            return false;
        }
        if !sampler.opens(&mut self.cx.env(index, "")) {
            return false;
        }
        let now = self.cx.clock.now();
        let user = &mut self.cx.users[index];
        let from = now + self.cx.net.backoff.after(user.setbacks, &mut self.cx.random);
        let until = self.cx.net.connect_pace.place(from);
        if until <= now {
            return false;
        }
        user.paced = true;
        user.wait = Wait::Delay(id);
        self.cx.timers.wheel.insert(index, until, &mut self.cx.users);
        true
    }

    fn begin_call(&mut self, index: UserId, id: SamplerId, sampler: &WebSocket, call: &Call) {
        let at = self.cx.users[index].socket;
        let opens = call.opens && !self.goes_on_talking(at, call);
        if opens {
            if at != NO_SOCKET {
                self.close_socket(at, CloseCause::Replaced);
            }
        } else if at == NO_SOCKET {
            return self.refuse(index, id, |result| wording::no_connection(&sampler.act, result));
        }
        let mut work = self.websocket.sockets.take_work();
        work.sampler = id;
        work.start = self.cx.clock.now();
        work.arrival = work.start;
        work.intended = self.cx.users[index].intended;
        work.observed = self.observes(id);
        work.optional = call.optional;
        work.opcode = call.opcode;
        work.read_limit = Nanos::from(call.read_timeout_ms) * MS;
        work.connect_limit = Nanos::from(call.connect_timeout_ms) * MS;
        work.problem.clone_from(&call.problem);
        work.frame.extend_from_slice(&call.payload);
        if work.observed {
            work.shown.url.push_str(&call.url);
            work.shown.data.push_str(&call.data);
        }
        if !opens {
            work.existing = true;
            if work.observed
                && let Some(url) = &self.websocket.sockets[at].url
            {
                work.shown.url.clear();
                work.shown.url.push_str(url);
            }
            self.websocket.sockets[at].task = Task::Work(work);
            self.cx.users[index].wait = Wait::Socket(id);
            if let Act::Exchange(exchange) = &sampler.act {
                self.begin_talk(index, at, exchange, call, true);
            }
            return self.perform(at);
        }
        let cookie = self.socket_cookies(index, sampler, call);
        let route = self.socket_route(call);
        self.write_upgrade(&mut work, call, &cookie, route);
        if work.observed {
            call.show_headers(&cookie, &mut work.shown.headers);
        }
        self.cx.texts.give(cookie);
        work.deflate = call.deflate;
        work.heartbeat = sampler.heartbeat;
        let at = self.websocket.sockets.open(index, route);
        if self.websocket.shows_urls {
            self.websocket.sockets[at].url = Some(Box::new(call.url.clone()));
        }
        self.websocket.sockets[at].task = Task::Work(work);
        self.cx.users[index].socket = at;
        if let Act::Exchange(exchange) = &sampler.act {
            self.begin_talk(index, at, exchange, call, false);
        }
        self.open_socket(at, id);
    }

    /// A sampler that cannot even start: its result has neither start nor length.
    pub(super) fn refuse(
        &mut self,
        index: UserId,
        id: SamplerId,
        fill: impl FnOnce(&mut SampleResult),
    ) {
        let mut result = self.cx.lend_result();
        result.clear();
        result.label.push_str(self.cx.sampler_name(index, id));
        fill(&mut result);
        self.cx.return_result(result);
        let now = self.cx.clock.now();
        self.cx.users[index].wait = Wait::Ready;
        let timing = Timing { start: now, end: now, ..Timing::default() };
        self.cx.conclude(index, id, timing, Outcome::Other);
    }

    /// Does what the sampler does on a connection that stands.
    pub(super) fn perform(&mut self, at: u32) {
        let Task::Work(work) = &mut self.websocket.sockets[at].task else { return };
        let id = work.sampler;
        if let Some(problem) = work.problem.take() {
            return self.fault(at, Fault::Problem(problem));
        }
        work.performed = true;
        let opcode = work.opcode;
        let Some(sampler) = self.socket_sampler(at, id) else { return };
        if opcode != 0 {
            // A peer that reset the connection is found out by sending; one that only stopped sending is not.
            if let State::Ended(ending) = self.websocket.sockets[at].state
                && self.websocket.sockets[at].transport.fd.is_none()
            {
                return self.fault(at, Fault::Ended(ending));
            }
            let Task::Work(work) = &mut self.websocket.sockets[at].task else { return };
            let frame = std::mem::take(&mut work.frame);
            self.websocket.sockets[at].closing |= opcode == Opcode::CLOSE.0;
            let (size, sent) = self.send_frame(at, Opcode(opcode), &frame);
            let Task::Work(work) = &mut self.websocket.sockets[at].task else { return };
            work.frame = frame;
            work.sizes.sent(size as u64);
            if let Err(error) = sent {
                return self.fault(at, Fault::Failure(Failure::Socket(error)));
            }
        }
        let all_sent = self.all_sent(at);
        let Task::Work(work) = &mut self.websocket.sockets[at].task else { return };
        match sampler.act {
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) if all_sent => {
                let now = self.cx.clock.now();
                self.succeed(at, None, now);
            }
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) => {
                work.step = Step::Sending;
                let index = self.websocket.sockets[at].user;
                self.cx.users[index].limit = Nanos::MAX;
            }
            _ => {
                work.step = Step::Reading;
                // Of a connection that was there the start is the sending; another look at the clock would only
                // measure itself.
                let now = if work.opened { self.cx.clock.now() } else { work.start };
                self.read_frame(at, now);
            }
        }
    }

    /// The WebSocket sampler of that number, which works on a connection.
    pub(super) fn socket_sampler(&self, at: u32, id: SamplerId) -> Option<Sampling<'p>> {
        self.socket_sampler_of(self.websocket.sockets[at].user, id)
    }

    /// The same, of a user.
    fn socket_sampler_of(&self, index: UserId, id: SamplerId) -> Option<Sampling<'p>> {
        let SamplerKind::WebSocket(planned) = &self.cx.plan.samplers[id.0 as usize].kind else {
            return None;
        };
        Some(match self.cx.own_sampler(index) {
            Some(own) => Sampling::Own(Arc::clone(own), planned),
            None => Sampling::Planned(planned),
        })
    }

    /// Takes the work off a connection whose sample is over; its user may go on.
    pub(super) fn take_finished(&mut self, at: u32) -> Option<(UserId, Box<Work>)> {
        let socket = &mut self.websocket.sockets[at];
        if !matches!(socket.task, Task::Work(_)) {
            return None;
        }
        let Task::Work(work) = std::mem::take(&mut socket.task) else { return None };
        let index = socket.user;
        self.cx.users[index].wait = Wait::Ready;
        self.cx.users[index].limit = Nanos::MAX;
        Some((index, work))
    }

    /// The sample ends well, with the frame that it read if it read one.
    pub(super) fn succeed(&mut self, at: u32, frame: Option<&Frame<'_>>, now: Nanos) {
        let Some((index, mut work)) = self.take_finished(at) else { return };
        let id = work.sampler;
        let Some(sampler) = self.socket_sampler(at, id) else { return };
        let mut data = 0;
        if let Some(frame) = frame {
            work.sizes.read(frame);
            data = frame.shown().len();
        }
        if work.observed {
            let mut result = self.start_result(index, &mut work);
            let opened = work.opened.then_some(&work.answer[..]);
            if work.optional && frame.is_none() && matches!(sampler.act, Act::Read(_)) {
                wording::no_response(opened, &mut result);
            } else {
                let env = &mut self.cx.env(index, "");
                wording::success(&sampler.act, opened, frame, &mut result, env);
            }
            data = result.body.len();
            self.cx.return_result(result);
        } else if let Some(frame) = frame
            && frame.is_data()
        {
            wording::note_final(frame, &mut self.cx.env(index, ""));
        }
        let timing = timing(&work, data as u64, now);
        self.websocket.sockets.give_work(work);
        if frame.is_some_and(|frame| frame.kind == FrameKind::Close) {
            self.close_socket(at, CloseCause::ByPlan);
        }
        self.cx.conclude(index, id, timing, Outcome::Ok);
    }

    /// A frame of a kind that the sampler does not take.
    pub(super) fn surprise(&mut self, at: u32, frame: &Frame<'_>, now: Nanos) {
        let Some((index, mut work)) = self.take_finished(at) else { return };
        let id = work.sampler;
        let mut result = self.start_result(index, &mut work);
        if let Some(sampler) = self.socket_sampler(at, id) {
            wording::unexpected(&sampler.act, frame, &mut result);
        }
        self.cx.return_result(result);
        // The plug-in counts only what it accepts.
        let timing = timing(&work, 0, now);
        let opened = work.opened;
        self.websocket.sockets.give_work(work);
        if frame.kind == FrameKind::Close {
            self.after_peer_close(at, opened);
        } else if self.websocket.sockets[at].closing {
            self.close_socket(at, CloseCause::ByPlan);
        }
        self.cx.conclude(index, id, timing, Outcome::Protocol);
    }

    /// A close frame came instead of what was waited for. The plug-in forgets the connection, unless it opened it in
    /// the same sample: then its next user finds it out.
    fn after_peer_close(&mut self, at: u32, opened: bool) {
        if opened {
            self.socket_ended(at, Ending::CloseFrame);
        } else {
            self.close_socket(at, CloseCause::PeerFrame);
        }
    }

    /// The sample fails.
    pub(super) fn fault(&mut self, at: u32, fault: Fault) {
        let now = self.cx.clock.now();
        let reads = match &self.websocket.sockets[at].task {
            Task::Work(work) if work.optional && work.step == Step::Reading => {
                self.socket_sampler(at, work.sampler)
            }
            _ => None,
        };
        if matches!(fault, Fault::ReadTimeout)
            && reads.is_some_and(|sampler| matches!(sampler.act, Act::Read(_)))
        {
            return self.succeed(at, None, now);
        }
        if self.talks(at) {
            return self.finish_talk(at, Some(&fault), now, false);
        }
        let route = self.websocket.sockets[at].route;
        let Some((index, mut work)) = self.take_finished(at) else { return };
        let id = work.sampler;
        let mut result = self.start_result(index, &mut work);
        let outcome = self.word(at, route, &fault, &mut result);
        self.cx.return_result(result);
        let timing = timing(&work, 0, now);
        let opening = !work.existing && !work.opened;
        self.websocket.sockets.give_work(work);
        if opening {
            self.drop_unopened(at);
        } else if self.websocket.sockets[at].closing {
            self.close_socket(at, CloseCause::ByPlan);
        } else if self.websocket.sockets[at].state == State::Ended(Ending::CloseFrame) {
            self.close_socket(at, CloseCause::PeerFrame);
        }
        self.cx.conclude(index, id, timing, outcome);
    }

    /// Words a failure in the result.
    fn word(&self, at: u32, route: RouteId, fault: &Fault, result: &mut SampleResult) -> Outcome {
        match fault {
            Fault::Refused(Refusal::Status { status, line }) => {
                wording::refused(Ok((*status, line)), result);
                Outcome::Status
            }
            Fault::Refused(Refusal::Empty) => {
                wording::io_error("Empty response; connection closed.", result);
                Outcome::Closed
            }
            Fault::Refused(Refusal::InvalidStatusLine) => {
                wording::io_error("Invalid status line", result);
                Outcome::Protocol
            }
            Fault::Refused(Refusal::TooLarge) => {
                wording::io_error("the head of the answer is larger than 64 KiB", result);
                Outcome::Protocol
            }
            Fault::Refused(refusal) => {
                let text = match refusal {
                    Refusal::NoUpgrade => wording::fault::NO_UPGRADE,
                    Refusal::NoConnection => wording::fault::NO_CONNECTION,
                    Refusal::NoAccept => wording::fault::NO_ACCEPT,
                    _ => wording::fault::WRONG_ACCEPT,
                };
                wording::refused(Err(text), result);
                Outcome::Protocol
            }
            Fault::ProxyRefused(status) => {
                let text = format!("Connecting proxy failed with status code {status}");
                wording::refused(Err(&text), result);
                result.code.push_str(itoa::Buffer::new().format(*status));
                Outcome::Status
            }
            Fault::Failure(failure) => {
                let route = &self.cx.net.routes[route];
                wording::io_error(&outcome::socket_text(failure, route), result);
                outcome::kind(failure, route)
            }
            Fault::Ended(Ending::CloseFrame) => {
                let text =
                    "java.lang.IllegalStateException: Cannot connect when state is CLOSED_SERVER";
                wording::error(text, result);
                Outcome::Closed
            }
            Fault::Ended(ending) => {
                wording::io_error(&self.ending_text(at, *ending), result);
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

    /// The core's result, begun with what is known of a sample.
    pub(super) fn start_result(&mut self, index: UserId, work: &mut Work) -> Box<SampleResult> {
        let mut result = self.cx.lend_result();
        result.clear();
        result.label.push_str(self.cx.sampler_name(index, work.sampler));
        result.start_ms = self.cx.clock.wall_ms(work.start);
        if let Some(sampler) = self.socket_sampler_of(index, work.sampler)
            && work.observed
        {
            wording::begin(&work.shown.url, work.existing, &mut result);
            if work.performed || matches!(sampler.act, Act::Exchange(_)) {
                wording::request(&sampler.act, &work.shown.data, &mut result);
            }
            result.request_headers.push_str(&work.shown.headers);
        }
        let keep_labels = self.cx.run.settings.keep_sub_labels;
        for (n, mut sub) in work.discarded.drain(..).enumerate() {
            if !keep_labels {
                sub.label.clear();
                let _ = write!(sub.label, "{}-{n}", result.label);
            }
            *result.add_sub() = sub;
        }
        result
    }

    /// The route of a connection: to the server, or to the proxy before it.
    fn socket_route(&mut self, call: &Call) -> RouteId {
        let proxy = self.cx.run.settings.proxy.as_ref().filter(|proxy| proxy.serves(&call.host));
        let Some(proxy) = proxy else {
            return self.cx.net.routes.to(call.secure, &call.host, call.port, &Source::default());
        };
        let tunnel = Some(Tunnel {
            host: call.host.clone(),
            port: call.port,
            forwarded: false,
            credentials: None,
        });
        let same =
            |route: &Route| route.secure == call.secure && route.tunnel == tunnel && !route.pinned;
        if let Some(at) = self.cx.net.routes.position(same) {
            return at;
        }
        self.cx.net.routes.add(Route {
            secure: call.secure,
            host: proxy.host.clone(),
            port: proxy.port,
            tunnel,
            ..Route::default()
        })
    }

    /// The user's cookies for a connection, in a text of the core's.
    fn socket_cookies(&mut self, index: UserId, sampler: &WebSocket, call: &Call) -> String {
        let mut text = self.cx.texts.take();
        let Some(manager) = sampler.cookies else { return text };
        let now_ms = self.cx.clock.wall_ms(self.cx.clock.now());
        let Some(jar) = self.cx.jar(index, manager) else { return text };
        let mut line = std::mem::take(&mut self.http.cookie_line);
        line.clear();
        let path = &call.target[..call.path_len.min(call.target.len())];
        let origin = Origin { host: &call.host, path, secure: call.secure };
        let jar = self.cx.users[index].extra.as_mut().and_then(|extra| extra.jars[jar].as_mut());
        if jar.is_some_and(|jar| jar.header(&origin, now_ms, &mut line)) {
            text.push_str(&String::from_utf8_lossy(&line));
        }
        self.http.cookie_line = line;
        text
    }
}

/// What was measured, up to `now`. `data` is the length of the response data, bytes.
pub(super) fn timing(work: &Work, data: u64, now: Nanos) -> Timing {
    let wait = (work.start - work.intended).max(0) as u64;
    let late = if work.arrival > work.start { (now - work.arrival).max(0) as u64 } else { 0 };
    Timing {
        start: work.start,
        end: now,
        connect: work.connect as u64,
        lag: late + wait + work.opening.own(),
        wait,
        sent: work.sizes.sent,
        received: work.sizes.received(data),
        ..Timing::default()
    }
}
