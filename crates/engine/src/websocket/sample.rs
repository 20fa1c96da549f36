//! The WebSocket samplers, from the evaluated call to the completed sample. Hot path: runs for each sample.
//!
//! A sample opens its connection or uses the user's connection, sends its frame if it has one, reads one frame if
//! it waits for one, and completes. Every failure calls [`WebSockets::fault`] and results in a failed sample.

use std::ops::Deref;
use std::sync::Arc;

use plan::http::Source;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use plan::websocket::{Act, Call, Frame, FrameKind, WebSocket, wording};
use stats::{ClassId, CloseCause, Outcome};
use wire::cookie::Origin;
use wire::websocket::Opcode;
use wire::websocket::handshake;
use wire::websocket::session::{Wanted, WebSocket as LineSession};

use super::{On, Step, Task, WebSockets, Work};
use crate::context::Context;
use crate::ids::{NO_SOCKET, UserId};
use crate::net::outcome::Failure;
use crate::net::routes::{Route, RouteId, Tunnel};
use crate::session::held::close::Ending;
use crate::session::held::open::{Failed, Opening};
use crate::session::held::{Listener, State};
use crate::time::clock::{MS, Nanos};
use crate::time::milestones::{Milestones, Times};
use crate::time::timing::Timing;
use crate::users::Wait;
use crate::websocket::result::{start_result, word};

/// The reason why a WebSocket sample failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The connection could not be opened, was lost, or has ended.
    Failed(Failed),
    /// The read timeout was reached.
    ReadTimeout,
    /// The input violates the protocol; with the message of an input error.
    Protocol(&'static str),
    /// The plug-in's own code throws an exception on this input; contains the exception's message.
    Beyond(String),
    /// The payload could not be built; contains response code and message.
    Problem((String, String)),
    /// The sample was cut because the run was stopped immediately.
    Cut,
}

/// A WebSocket sampler that is running: the plan's sampler, or a sampler that scripts have changed.
pub(super) enum Sampling<'p> {
    Planned(&'p WebSocket),
    /// The sampler that scripts have changed for this user, and the plan's sampler.
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

impl Fault {
    pub(super) const fn ended(ending: Ending) -> Self {
        Self::Failed(Failed::Ended(ending))
    }
}

impl WebSockets {
    pub(crate) fn begin(
        &mut self,
        on: &mut On<'_, '_>,
        index: UserId,
        id: SamplerId,
        sampler: &WebSocket,
    ) {
        if let Act::Hold(hold) = &sampler.act {
            return self.begin_hold(on, index, id, hold);
        }
        // Checked before the call is evaluated, so that functions with side effects run only once.
        if must_wait(on.cx, index, id, sampler) {
            return;
        }
        let slot = id.0 as usize;
        if sampler.is_fixed()
            && let Some(call) = self.calls[slot].take()
        {
            self.begin_call(on, index, id, sampler, &call);
            self.calls[slot] = Some(call);
            return;
        }
        let mut call = std::mem::take(&mut self.call);
        match on.cx.with_env(index, id, |env| sampler.render(env, &mut call)) {
            Ok(()) => {
                self.begin_call(on, index, id, sampler, &call);
                if sampler.is_fixed() {
                    self.calls[slot] = Some(Box::new(std::mem::take(&mut call)));
                }
            }
            Err(refusal) => {
                refuse(on.cx, index, id, |result| wording::refused_to_start(&refusal, result));
            }
        }
        self.call = call;
    }

    fn begin_call(
        &mut self,
        on: &mut On<'_, '_>,
        index: UserId,
        id: SamplerId,
        sampler: &WebSocket,
        call: &Call,
    ) {
        let at = on.cx.users[index].socket;
        let opens = call.opens && !self.reuses_connection(on, at, call);
        if opens {
            if at != NO_SOCKET {
                on.held.close(&mut on.cx.around(), at, CloseCause::Replaced);
            }
        } else if at == NO_SOCKET {
            return refuse(on.cx, index, id, |result| wording::no_connection(&sampler.act, result));
        }
        let mut work = self.take_work();
        work.sampler = id;
        work.start = on.cx.clock.now();
        work.arrival = work.start;
        work.intended = on.cx.users[index].intended;
        work.observed = on.cx.observes(id);
        work.optional = call.optional;
        work.opcode = call.opcode;
        work.read_limit = Nanos::from(call.read_timeout_ms) * MS;
        work.problem.clone_from(&call.problem);
        work.frame.extend_from_slice(&call.payload);
        if work.observed {
            work.shown.url.push_str(&call.url);
            work.shown.data.push_str(&call.data);
        }
        if !opens {
            work.existing = true;
            work.class = on.cx.net.routes[on.held[at].route].class;
            if work.observed
                && let Some(url) = self.urls.get(at as usize)
            {
                work.shown.url.clear();
                work.shown.url.push_str(url);
            }
            self.tasks[at as usize] = Task::Work(work);
            on.cx.users[index].wait = Wait::WebSocket(id);
            if let Act::Exchange(exchange) = &sampler.act {
                self.begin_conversation(on, index, exchange, call, true);
            }
            return self.perform(on, at);
        }
        let cookie = self.socket_cookies(on, index, sampler, call);
        let route = socket_route(on.cx, call);
        let (mut opening, session) = self.prepare(on, index, sampler, call, &cookie, route);
        opening.start = work.start;
        let trace = on.cx.tags.begin();
        work.trace = on.cx.tags.put(trace, &mut opening.request);
        if work.observed {
            call.show_headers(&cookie, &mut work.shown.headers);
        }
        on.cx.texts.give(cookie);
        let at = on.held.add(index, route, session);
        self.store_task(at, Task::Work(work), call);
        on.cx.users[index].socket = at;
        on.cx.users[index].wait = Wait::WebSocket(id);
        if let Act::Exchange(exchange) = &sampler.act {
            self.begin_conversation(on, index, exchange, call, false);
        }
        on.held.open(&mut on.cx.around(), at, opening);
    }

    /// Runs the sampler on an established connection.
    pub(super) fn perform(&mut self, on: &mut On<'_, '_>, at: u32) {
        let Task::Work(work) = &mut self.tasks[at as usize] else { return };
        let id = work.sampler;
        if let Some(problem) = work.problem.take() {
            return self.fault(on, at, Fault::Problem(problem));
        }
        work.performed = true;
        let opcode = work.opcode;
        let Some(sampler) = sampler_on(on, at, id) else { return };
        if opcode != 0 {
            // Sending detects a connection that was reset, but not one whose peer has only closed its side.
            if let State::Ended(ending) = on.held[at].state
                && on.held[at].transport.fd.is_none()
            {
                return self.fault(on, at, Fault::ended(ending));
            }
            let Task::Work(work) = &mut self.tasks[at as usize] else { return };
            let frame = std::mem::take(&mut work.frame);
            let (size, sent) = on.held.send_frame(&mut on.cx.around(), at, Opcode(opcode), &frame);
            let Task::Work(work) = &mut self.tasks[at as usize] else { return };
            work.frame = frame;
            work.sizes.sent(size as u64);
            if let Err(error) = sent {
                return self.fault(on, at, Fault::Failed(Failed::Failure(Failure::Socket(error))));
            }
        }
        let all_sent = on.held.all_sent(at);
        let Task::Work(work) = &mut self.tasks[at as usize] else { return };
        match sampler.act {
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) if all_sent => {
                let now = on.cx.clock.now();
                self.succeed(on, at, None, now);
            }
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) => {
                work.step = Step::Sending;
                on.held[at].listener = Listener::Sending;
                let index = on.held[at].user;
                on.cx.users[index].limit = Nanos::MAX;
            }
            _ => {
                work.step = Step::Reading;
                let pings = matches!(sampler.act, Act::PingPong);
                let wanted = if pings { Wanted::Pongs } else { Wanted::Frames };
                // On a reused connection, the start time is used as the send time. Another reading of the clock
                // would only measure itself.
                let now = if work.opened { on.cx.clock.now() } else { work.start };
                on.held[at].session.want(wanted);
                self.read_frame(on, at, now);
            }
        }
    }

    /// Removes the finished sample from its connection, and returns the sample with its user.
    pub(super) fn take_finished(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
    ) -> Option<(UserId, Box<Work>)> {
        let task = &mut self.tasks[at as usize];
        if !matches!(task, Task::Work(_)) {
            return None;
        }
        let Task::Work(work) = std::mem::take(task) else { return None };
        let line = &mut on.held[at];
        line.session.want(Wanted::Nothing);
        line.listener = Listener::None;
        let index = line.user;
        on.cx.users[index].wait = Wait::Ready;
        on.cx.users[index].limit = Nanos::MAX;
        Some((index, work))
    }

    /// Completes the sample as successful. `frame` is the frame that the sample read, if any.
    pub(super) fn succeed(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        frame: Option<&Frame<'_>>,
        now: Nanos,
    ) {
        let Some((index, mut work)) = self.take_finished(on, at) else { return };
        let id = work.sampler;
        let Some(sampler) = sampler_on(on, at, id) else { return };
        let (mut data, mut result) = (0, None);
        if let Some(frame) = frame {
            work.sizes.read(frame);
            data = frame.shown().len();
        }
        if work.observed {
            let result = result.insert(start_result(on.cx, index, &mut work));
            let opened = work.opened.then_some(&work.answer[..]);
            if work.optional && frame.is_none() && matches!(sampler.act, Act::Read(_)) {
                wording::no_response(opened, result);
            } else {
                let env = &mut on.cx.env(index, "");
                wording::success(&sampler.act, opened, frame, result, env);
            }
            data = result.body.len();
        } else if let Some(frame) = frame
            && frame.is_data()
        {
            wording::note_final(frame, &mut on.cx.env(index, ""));
        }
        let timing = timing(&work, data as u64, now);
        self.give_work(work);
        if frame.is_some_and(|frame| frame.kind == FrameKind::Close) {
            on.held.close(&mut on.cx.around(), at, CloseCause::ByPlan);
        }
        on.cx.conclude(index, id, timing, Outcome::Ok, result);
    }

    /// Fails a sample that read a frame of an unexpected kind.
    pub(super) fn fail_unexpected_frame(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        frame: &Frame<'_>,
        now: Nanos,
    ) {
        let Some((index, mut work)) = self.take_finished(on, at) else { return };
        let id = work.sampler;
        let mut result = start_result(on.cx, index, &mut work);
        if let Some(sampler) = sampler_on(on, at, id) {
            wording::unexpected(&sampler.act, frame, &mut result);
        }
        // The plug-in counts only frames that it accepts.
        let timing = timing(&work, 0, now);
        let opened = work.opened;
        self.give_work(work);
        if frame.kind == FrameKind::Close {
            after_peer_close(on, at, opened);
        } else if on.held[at].session.is_closing() {
            on.held.close(&mut on.cx.around(), at, CloseCause::ByPlan);
        }
        on.cx.conclude(index, id, timing, Outcome::Protocol, Some(result));
    }

    /// Fails the sample and completes it.
    pub(super) fn fault(&mut self, on: &mut On<'_, '_>, at: u32, fault: Fault) {
        let now = on.cx.clock.now();
        let reads = match &self.tasks[at as usize] {
            Task::Work(work) if work.optional && work.step == Step::Reading => {
                sampler_on(on, at, work.sampler)
            }
            _ => None,
        };
        if matches!(fault, Fault::ReadTimeout)
            && reads.is_some_and(|sampler| matches!(sampler.act, Act::Read(_)))
        {
            return self.succeed(on, at, None, now);
        }
        if self.conversations(on, at) {
            return self.finish_conversation(on, at, Some(&fault), now, false);
        }
        let route = on.held[at].route;
        self.end_opening(on, at);
        let Some((index, mut work)) = self.take_finished(on, at) else { return };
        let id = work.sampler;
        let mut result = start_result(on.cx, index, &mut work);
        let outcome = word(on, at, route, &fault, &mut result);
        let timing = timing(&work, 0, now);
        let opening = !work.existing && !work.opened;
        self.give_work(work);
        if opening {
            on.held.drop_unopened(&mut on.cx.around(), at);
        } else if on.held[at].session.is_closing() {
            on.held.close(&mut on.cx.around(), at, CloseCause::ByPlan);
        } else if on.held[at].state == State::Ended(Ending::CloseFrame) {
            on.held.close(&mut on.cx.around(), at, CloseCause::PeerFrame);
        }
        on.cx.conclude(index, id, timing, outcome, Some(result));
    }

    /// Builds the upgrade request and the limits for opening the connection of a call.
    fn prepare(
        &mut self,
        on: &mut On<'_, '_>,
        index: UserId,
        sampler: &WebSocket,
        call: &Call,
        cookie: &str,
        route: RouteId,
    ) -> (Box<Opening>, LineSession) {
        let heartbeat = sampler.heartbeat.map(|id| self.heartbeat(on.cx, index, id));
        let cx = &mut *on.cx;
        let mut opening = on.held.new_opening();
        opening.connect_limit = Nanos::from(call.connect_timeout_ms) * MS;
        opening.read_limit = Nanos::from(call.read_timeout_ms) * MS;
        opening.tls = call.secure.then(|| cx.tls_config(index));
        opening.heartbeat = heartbeat;
        opening.deflate = call.deflate.map(|offer| offer.server_no_context_takeover);
        let proxied = cx.net.routes[route].tunnel.is_some();
        if proxied {
            opening.credentials.clone_from(&cx.run.settings.proxy.credentials);
        }
        let mut random = [0; 16];
        for half in random.chunks_exact_mut(8) {
            half.copy_from_slice(&cx.random.bits().to_ne_bytes());
        }
        let key = handshake::key(random);
        call.write_request(&key, cookie, proxied, &mut opening.request);
        (opening, LineSession::new(random))
    }

    /// Returns the `Cookie` header for a user's upgrade request, in a buffer of the core.
    fn socket_cookies(
        &mut self,
        on: &mut On<'_, '_>,
        index: UserId,
        sampler: &WebSocket,
        call: &Call,
    ) -> String {
        let mut text = on.cx.texts.take();
        let Some(manager) = sampler.cookies else { return text };
        let now_ms = on.cx.clock.wall_ms(on.cx.clock.now());
        let Some(jar) = on.cx.jar(index, manager) else { return text };
        let mut line = std::mem::take(&mut self.cookie_line);
        line.clear();
        let path = &call.target[..call.path_len.min(call.target.len())];
        let origin = Origin { host: &call.host, path, secure: call.secure };
        let jar = on.cx.users[index].extra.as_mut().and_then(|extra| extra.jars[jar].as_mut());
        if jar.is_some_and(|jar| jar.header(&origin, now_ms, &mut line)) {
            text.push_str(&String::from_utf8_lossy(&line));
        }
        self.cookie_line = line;
        text
    }
}

/// Returns true if a user must wait before it opens a connection, because of the limit of connections per second or
/// after a lost or failed connection. Then the user's timer is set.
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

/// Records a failed sample that did not start: its start and end are the present time.
pub(super) fn refuse(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    fill: impl FnOnce(&mut SampleResult),
) {
    let mut result = cx.take_named_result(index, id);
    fill(&mut result);
    let now = cx.clock.now();
    cx.users[index].wait = Wait::Ready;
    let timing = Timing { start: now, end: now, ..Timing::default() };
    cx.conclude(index, id, timing, Outcome::Other, Some(result));
}

/// Returns the WebSocket sampler `id` of a user, with the changes that scripts made for the user.
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

/// Returns the route of a connection: directly to the server, or through the proxy.
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

/// Returns the times, phases and byte counts of a sample that ends at `now`. `data` is the length of the response data
/// in bytes.
pub(super) fn timing(work: &Work, data: u64, now: Nanos) -> Timing {
    let wait = (work.start - work.intended).max(0) as u64;
    let late = if work.arrival > work.start { (now - work.arrival).max(0) as u64 } else { 0 };
    // A sample waits for the response to an upgrade, and for a frame.
    let reading = work.step == Step::Reading;
    let first =
        if work.arrival > work.start { Milestones::micros(work.arrival - work.start) } else { 0 };
    let steps = if reading { Milestones { first, ..work.steps } } else { work.steps };
    let sent_at = match (work.existing, reading) {
        (true, true) => work.start,
        // A sample that only writes is sending until its end.
        (true, false) => 0,
        (false, _) => work.stood,
    };
    let connect = match (work.stood, steps.tls) {
        (0, _) => 0,
        // Without TLS, the connection was ready when the TCP connection was established, rounded to microseconds.
        (_, 0) => Nanos::from(steps.tcp) * 1000,
        (stood, _) => stood - work.start,
    };
    let times = Times { start: work.start, end: now, connect, sent_at, reused: work.existing };
    Timing {
        phases: steps.phases(&times),
        classes: [work.class, ClassId::NONE],
        trace: work.trace,
        start: work.start,
        end: now,
        connect: work.connect as u64,
        lag: late + wait + work.own,
        wait,
        sent: work.sizes.sent,
        received: work.sizes.received(data),
        ..Timing::default()
    }
}

/// Handles a close frame that arrived instead of the expected frame. The plug-in drops a connection that an earlier
/// sample opened. A connection that this sample opened remains; the next sample finds it closed.
fn after_peer_close(on: &mut On<'_, '_>, at: u32, opened: bool) {
    let around = &mut on.cx.around();
    if opened {
        on.held.on_ended(around, at, Ending::CloseFrame);
    } else {
        on.held.close(around, at, CloseCause::PeerFrame);
    }
}

/// Returns the WebSocket sampler `id` as the user of this connection runs it, with the changes of scripts.
pub(super) fn sampler_on<'p>(on: &On<'_, 'p>, at: u32, id: SamplerId) -> Option<Sampling<'p>> {
    socket_sampler_of(on.cx, on.held[at].user, id)
}
