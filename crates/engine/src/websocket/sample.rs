//! The WebSocket samplers: from the evaluated call to the concluded sample. Hot.
//!
//! A sample opens its connection or uses the user's, sends what it has to send, reads one frame if it wants one, and
//! is concluded. Whatever goes wrong on the way ends in one place, [`WebSockets::fault`], and becomes a failed sample.

use std::ops::Deref;
use std::sync::Arc;

use plan::http::Source;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use plan::websocket::{Act, Call, Frame, FrameKind, WebSocket, wording};
use stats::{CloseCause, Outcome};
use wire::cookie::Origin;
use wire::websocket::Opcode;
use wire::websocket::handshake::Refusal;
use wire::websocket::session::Wanted;

use super::{Ending, NO_SOCKET, State, Step, Task, WebSockets, Work};
use crate::context::Context;
use crate::ids::UserId;
use crate::net::outcome::Failure;
use crate::net::routes::{Route, RouteId, Tunnel};
use crate::time::clock::{MS, Nanos};
use crate::time::timing::Timing;
use crate::users::Wait;
use crate::websocket::open::write_upgrade;
use crate::websocket::result::start_result;

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
    /// The input breaks the protocol, in the words of an input error.
    Protocol(&'static str),
    /// The plug-in's own code cannot take the input, in the words of its exception.
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

impl WebSockets {
    pub(crate) fn begin(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        sampler: &WebSocket,
    ) {
        if let Act::Hold(hold) = &sampler.act {
            return self.begin_hold(cx, index, id, hold);
        }
        // Before the call is evaluated: what its functions count must be counted once.
        if must_wait(cx, index, id, sampler) {
            return;
        }
        let slot = id.0 as usize;
        if sampler.is_fixed()
            && let Some(call) = self.calls[slot].take()
        {
            self.begin_call(cx, index, id, sampler, &call);
            self.calls[slot] = Some(call);
            return;
        }
        let mut call = std::mem::take(&mut self.call);
        match cx.with_env(index, id, |env, _| sampler.render(env, &mut call)) {
            Ok(()) => {
                self.begin_call(cx, index, id, sampler, &call);
                if sampler.is_fixed() {
                    self.calls[slot] = Some(Box::new(std::mem::take(&mut call)));
                }
            }
            Err(refusal) => {
                refuse(cx, index, id, |result| wording::refused_to_start(&refusal, result));
            }
        }
        self.call = call;
    }

    fn begin_call(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        sampler: &WebSocket,
        call: &Call,
    ) {
        let at = cx.users[index].socket;
        let opens = call.opens && !self.goes_on_talking(at, call);
        if opens {
            if at != NO_SOCKET {
                self.close_socket(cx, at, CloseCause::Replaced);
            }
        } else if at == NO_SOCKET {
            return refuse(cx, index, id, |result| wording::no_connection(&sampler.act, result));
        }
        let mut work = self.sockets.take_work();
        work.sampler = id;
        work.start = cx.clock.now();
        work.arrival = work.start;
        work.intended = cx.users[index].intended;
        work.observed = cx.observes(id);
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
                && let Some(url) = self.sockets.url(at)
            {
                work.shown.url.clear();
                work.shown.url.push_str(url);
            }
            self.sockets[at].task = Task::Work(work);
            cx.users[index].wait = Wait::Socket(id);
            if let Act::Exchange(exchange) = &sampler.act {
                self.begin_talk(cx, index, at, exchange, call, true);
            }
            return self.perform(cx, at);
        }
        let cookie = self.socket_cookies(cx, index, sampler, call);
        let route = socket_route(cx, call);
        let session = write_upgrade(cx, &mut work, call, &cookie, route);
        if work.observed {
            call.show_headers(&cookie, &mut work.shown.headers);
        }
        cx.texts.give(cookie);
        work.deflate = call.deflate;
        work.heartbeat = sampler.heartbeat;
        let at = self.sockets.open(index, route, session);
        if self.shows_urls {
            self.sockets.keep_url(at, &call.url);
        }
        self.sockets[at].task = Task::Work(work);
        cx.users[index].socket = at;
        if let Act::Exchange(exchange) = &sampler.act {
            self.begin_talk(cx, index, at, exchange, call, false);
        }
        self.open_socket(cx, at, id);
    }

    /// Does what the sampler does on a connection that stands.
    pub(super) fn perform(&mut self, cx: &mut Context<'_>, at: u32) {
        let Task::Work(work) = &mut self.sockets[at].task else { return };
        let id = work.sampler;
        if let Some(problem) = work.problem.take() {
            return self.fault(cx, at, Fault::Problem(problem));
        }
        work.performed = true;
        let opcode = work.opcode;
        let Some(sampler) = self.socket_sampler(cx, at, id) else { return };
        if opcode != 0 {
            // A peer that reset the connection is found out by sending; one that only stopped sending is not.
            if let State::Ended(ending) = self.sockets[at].state
                && self.sockets[at].transport.fd.is_none()
            {
                return self.fault(cx, at, Fault::Ended(ending));
            }
            let Task::Work(work) = &mut self.sockets[at].task else { return };
            let frame = std::mem::take(&mut work.frame);
            let (size, sent) = self.send_frame(cx, at, Opcode(opcode), &frame);
            let Task::Work(work) = &mut self.sockets[at].task else { return };
            work.frame = frame;
            work.sizes.sent(size as u64);
            if let Err(error) = sent {
                return self.fault(cx, at, Fault::Failure(Failure::Socket(error)));
            }
        }
        let all_sent = self.all_sent(at);
        let Task::Work(work) = &mut self.sockets[at].task else { return };
        match sampler.act {
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) if all_sent => {
                let now = cx.clock.now();
                self.succeed(cx, at, None, now);
            }
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) => {
                work.step = Step::Sending;
                let index = self.sockets[at].user;
                cx.users[index].limit = Nanos::MAX;
            }
            _ => {
                work.step = Step::Reading;
                let pings = matches!(sampler.act, Act::PingPong);
                let wanted = if pings { Wanted::Pongs } else { Wanted::Frames };
                // Of a connection that was there the start is the sending; another look at the clock would only
                // measure itself.
                let now = if work.opened { cx.clock.now() } else { work.start };
                self.sockets[at].session.want(wanted);
                self.read_frame(cx, at, now);
            }
        }
    }

    /// The WebSocket sampler of that number, which works on a connection.
    pub(super) fn socket_sampler<'p>(
        &self,
        cx: &Context<'p>,
        at: u32,
        id: SamplerId,
    ) -> Option<Sampling<'p>> {
        socket_sampler_of(cx, self.sockets[at].user, id)
    }

    /// Takes the work off a connection whose sample is over; its user may go on.
    pub(super) fn take_finished(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
    ) -> Option<(UserId, Box<Work>)> {
        let socket = &mut self.sockets[at];
        if !matches!(socket.task, Task::Work(_)) {
            return None;
        }
        let Task::Work(work) = std::mem::take(&mut socket.task) else { return None };
        socket.session.want(Wanted::Nothing);
        let index = socket.user;
        cx.users[index].wait = Wait::Ready;
        cx.users[index].limit = Nanos::MAX;
        Some((index, work))
    }

    /// The sample ends well, with the frame that it read if it read one.
    pub(super) fn succeed(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        frame: Option<&Frame<'_>>,
        now: Nanos,
    ) {
        let Some((index, mut work)) = self.take_finished(cx, at) else { return };
        let id = work.sampler;
        let Some(sampler) = self.socket_sampler(cx, at, id) else { return };
        let mut data = 0;
        if let Some(frame) = frame {
            work.sizes.read(frame);
            data = frame.shown().len();
        }
        if work.observed {
            let mut result = start_result(cx, index, &mut work);
            let opened = work.opened.then_some(&work.answer[..]);
            if work.optional && frame.is_none() && matches!(sampler.act, Act::Read(_)) {
                wording::no_response(opened, &mut result);
            } else {
                let env = &mut cx.env(index, "");
                wording::success(&sampler.act, opened, frame, &mut result, env);
            }
            data = result.body.len();
            cx.return_result(result);
        } else if let Some(frame) = frame
            && frame.is_data()
        {
            wording::note_final(frame, &mut cx.env(index, ""));
        }
        let timing = timing(&work, data as u64, now);
        self.sockets.give_work(work);
        if frame.is_some_and(|frame| frame.kind == FrameKind::Close) {
            self.close_socket(cx, at, CloseCause::ByPlan);
        }
        cx.conclude(index, id, timing, Outcome::Ok);
    }

    /// A frame of a kind that the sampler does not take.
    pub(super) fn surprise(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        frame: &Frame<'_>,
        now: Nanos,
    ) {
        let Some((index, mut work)) = self.take_finished(cx, at) else { return };
        let id = work.sampler;
        let mut result = start_result(cx, index, &mut work);
        if let Some(sampler) = self.socket_sampler(cx, at, id) {
            wording::unexpected(&sampler.act, frame, &mut result);
        }
        cx.return_result(result);
        // The plug-in counts only what it accepts.
        let timing = timing(&work, 0, now);
        let opened = work.opened;
        self.sockets.give_work(work);
        if frame.kind == FrameKind::Close {
            self.after_peer_close(cx, at, opened);
        } else if self.sockets[at].session.is_closing() {
            self.close_socket(cx, at, CloseCause::ByPlan);
        }
        cx.conclude(index, id, timing, Outcome::Protocol);
    }

    /// A close frame came instead of what was waited for. The plug-in forgets the connection, unless it opened it in
    /// the same sample: then its next user finds it out.
    fn after_peer_close(&mut self, cx: &mut Context<'_>, at: u32, opened: bool) {
        if opened {
            self.socket_ended(cx, at, Ending::CloseFrame);
        } else {
            self.close_socket(cx, at, CloseCause::PeerFrame);
        }
    }

    /// The sample fails.
    pub(super) fn fault(&mut self, cx: &mut Context<'_>, at: u32, fault: Fault) {
        let now = cx.clock.now();
        let reads = match &self.sockets[at].task {
            Task::Work(work) if work.optional && work.step == Step::Reading => {
                self.socket_sampler(cx, at, work.sampler)
            }
            _ => None,
        };
        if matches!(fault, Fault::ReadTimeout)
            && reads.is_some_and(|sampler| matches!(sampler.act, Act::Read(_)))
        {
            return self.succeed(cx, at, None, now);
        }
        if self.talks(cx, at) {
            return self.finish_talk(cx, at, Some(&fault), now, false);
        }
        let route = self.sockets[at].route;
        let Some((index, mut work)) = self.take_finished(cx, at) else { return };
        let id = work.sampler;
        let mut result = start_result(cx, index, &mut work);
        let outcome = self.word(cx, at, route, &fault, &mut result);
        cx.return_result(result);
        let timing = timing(&work, 0, now);
        let opening = !work.existing && !work.opened;
        self.sockets.give_work(work);
        if opening {
            self.drop_unopened(cx, at);
        } else if self.sockets[at].session.is_closing() {
            self.close_socket(cx, at, CloseCause::ByPlan);
        } else if self.sockets[at].state == State::Ended(Ending::CloseFrame) {
            self.close_socket(cx, at, CloseCause::PeerFrame);
        }
        cx.conclude(index, id, timing, outcome);
    }

    /// The user's cookies for a connection, in a text of the core's.
    fn socket_cookies(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        sampler: &WebSocket,
        call: &Call,
    ) -> String {
        let mut text = cx.texts.take();
        let Some(manager) = sampler.cookies else { return text };
        let now_ms = cx.clock.wall_ms(cx.clock.now());
        let Some(jar) = cx.jar(index, manager) else { return text };
        let mut line = std::mem::take(&mut self.cookie_line);
        line.clear();
        let path = &call.target[..call.path_len.min(call.target.len())];
        let origin = Origin { host: &call.host, path, secure: call.secure };
        let jar = cx.users[index].extra.as_mut().and_then(|extra| extra.jars[jar].as_mut());
        if jar.is_some_and(|jar| jar.header(&origin, now_ms, &mut line)) {
            text.push_str(&String::from_utf8_lossy(&line));
        }
        self.cookie_line = line;
        text
    }
}

/// Whether a user that opens a connection has to wait for its turn: by the connect rate, or after a setback.
fn must_wait(cx: &mut Context<'_>, index: UserId, id: SamplerId, sampler: &WebSocket) -> bool {
    if std::mem::take(&mut cx.users[index].paced) {
        return false;
    }
    if !sampler.opens(&mut cx.env(index, "")) {
        return false;
    }
    let now = cx.clock.now();
    let user = &mut cx.users[index];
    let from = now + cx.net.backoff.after(user.setbacks, &mut cx.random);
    let until = cx.net.connect_pace.place(from);
    if until <= now {
        return false;
    }
    user.paced = true;
    user.wait = Wait::Delay(id);
    cx.timers.wheel.insert(index, until, &mut cx.users);
    true
}

/// A sampler that cannot even start: its result has neither start nor length.
pub(super) fn refuse(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    fill: impl FnOnce(&mut SampleResult),
) {
    let mut result = cx.lend_result();
    result.clear();
    result.label.push_str(cx.sampler_name(index, id));
    fill(&mut result);
    cx.return_result(result);
    let now = cx.clock.now();
    cx.users[index].wait = Wait::Ready;
    let timing = Timing { start: now, end: now, ..Timing::default() };
    cx.conclude(index, id, timing, Outcome::Other);
}

/// The same, of a user.
pub(super) fn socket_sampler_of<'p>(
    cx: &Context<'p>,
    index: UserId,
    id: SamplerId,
) -> Option<Sampling<'p>> {
    let SamplerKind::WebSocket(planned) = &cx.plan.samplers[id.0 as usize].kind else {
        return None;
    };
    Some(match cx.own_sampler(index) {
        Some(own) => Sampling::Own(Arc::clone(own), planned),
        None => Sampling::Planned(planned),
    })
}

/// The route of a connection: to the server, or to the proxy before it.
fn socket_route(cx: &mut Context<'_>, call: &Call) -> RouteId {
    let proxy = cx.run.settings.proxy.server.as_ref().filter(|proxy| proxy.serves(&call.host));
    let Some(proxy) = proxy else {
        return cx.net.routes.to(call.secure, &call.host, call.port, &Source::default());
    };
    let tunnel = Some(Tunnel {
        host: call.host.clone(),
        port: call.port,
        forwarded: false,
        credentials: None,
    });
    let same =
        |route: &Route| route.secure == call.secure && route.tunnel == tunnel && !route.pinned;
    if let Some(at) = cx.net.routes.position(same) {
        return at;
    }
    cx.net.routes.add(Route {
        secure: call.secure,
        host: proxy.host.clone(),
        port: proxy.port,
        tunnel,
        ..Route::default()
    })
}

/// The measurements up to `now`. `data` is the length of the response data, bytes.
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
