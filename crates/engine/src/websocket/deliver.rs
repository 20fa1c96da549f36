//! Frames to who waits for them: the sample that reads, the hold that listens, or the inbox. Hot.

use plan::websocket::{Act, FilterId, Frame, FrameFilter, FrameKind, wording};
use stats::Counter;
use wire::websocket::session::order::{Kind, Misplaced};
use wire::websocket::{Head, Opcode};

use super::inbox::{FrameHead, Queued};
use super::{Ending, Level, State, Step, Task, WebSockets};
use crate::context::Context;
use crate::settings::websocket::WhenFull;
use crate::time::clock::{MS, Nanos};
use crate::websocket::sample::Fault;

/// A compressed message, before or after decompression, is larger than may be.
const TOO_LARGE: &str = "the message has more bytes than throng.response.most_bytes";

/// A frame that has just come.
#[derive(Clone, Copy)]
pub(super) struct Arrived<'b> {
    pub(super) head: Head,
    pub(super) payload: &'b [u8],
    /// When it came to this host, and when it was read.
    pub(super) arrival: Nanos,
    pub(super) now: Nanos,
}

/// How a frame is to be understood.
enum Understood<'a> {
    Frame(Frame<'a>),
    /// It cannot be; the failure of who reads it.
    Fault(Fault),
}

impl WebSockets {
    /// A whole frame has arrived.
    pub(super) fn on_frame(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        arrived: &Arrived<'_>,
        answers: Option<Nanos>,
        kept: bool,
    ) {
        let Arrived { head, payload, arrival, now } = *arrived;
        let opcode = head.opcode;
        if !opcode.is_control() {
            cx.recorder.add(Counter::MessageBytesIn, payload.len() as u64);
            if head.fin {
                cx.recorder.add(Counter::MessagesIn, 1);
            }
        }
        if opcode == Opcode::CLOSE && !self.sockets[at].session.is_closing() {
            let code = payload.first_chunk::<2>().map_or(0, |code| u16::from_be_bytes(*code));
            self.count_close(cx, at, stats::CloseCause::PeerFrame, code, now);
        }
        if self.sockets[at].session.heartbeat().is_some() {
            self.keep_up(cx, at, answers, now);
        }
        if kept {
            return;
        }
        match &mut self.sockets[at].task {
            Task::Work(work) if work.step == Step::Reading => {
                work.arrival = arrival;
                let limit = cx.users[self.sockets[at].user].limit;
                if arrival > limit.saturating_add(MS) {
                    // Only a stall of this process made it look as if it had come in time. It is for who reads next.
                    let generation = self.sockets[at].transport.generation;
                    self.fault(cx, at, Fault::ReadTimeout);
                    if self.sockets[at].transport.generation == generation {
                        let (head, payload) = (FrameHead::of(&head), payload.into());
                        self.queue(cx, at, Queued { head, arrival, payload });
                    }
                    return;
                }
                self.give_to_sample(cx, at, FrameHead::of(&head), payload, now);
            }
            Task::Hold(_) => {
                self.hold_frame(cx, at, FrameHead::of(&head), payload, arrival, now);
            }
            _ => {
                let (head, payload) = (FrameHead::of(&head), payload.into());
                self.queue(cx, at, Queued { head, arrival, payload });
            }
        }
    }

    /// Gives a frame to the sample that reads.
    fn give_to_sample(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        head: FrameHead,
        payload: &[u8],
        now: Nanos,
    ) {
        let mut inflated = std::mem::take(&mut self.inflated);
        inflated.clear();
        match self.understand(cx, at, head, payload, &mut inflated) {
            Understood::Fault(fault) => self.fault(cx, at, fault),
            Understood::Frame(frame) => self.offer(cx, at, &frame, now),
        }
        self.inflated = inflated;
    }

    /// The meaning of a frame, given those before it.
    fn understand<'a>(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        head: FrameHead,
        payload: &'a [u8],
        inflated: &'a mut Vec<u8>,
    ) -> Understood<'a> {
        let FrameHead { opcode, fin, size, .. } = head;
        let protocol = |text: &'static str| Understood::Fault(Fault::Protocol(text));
        let order = self.sockets[at].session.order().copied().unwrap_or_default();
        let kind = match order.kind(opcode) {
            Ok(kind) => kind,
            Err(Misplaced::Unknown(other)) => {
                let text = format!("java.lang.RuntimeException: unsupported frame type: {other}");
                return Understood::Fault(Fault::Beyond(text));
            }
            Err(_) => return protocol("no continuation frame expected"),
        };
        let compressed = order.compressed(head.said());
        let mut shown = payload;
        if compressed {
            if let Err(text) = self.inflate(cx, at, payload, fin, inflated) {
                return Understood::Fault(Fault::Beyond(text.into()));
            }
            shown = inflated;
        }
        if let Some(order) = self.sockets[at].session.order()
            && order.take(head.said(), kind).is_err()
        {
            return protocol("missing continuation frame");
        }
        Understood::Frame(Frame {
            kind: shown_kind(kind),
            fin,
            continuation: opcode == Opcode::CONTINUATION,
            payload: shown,
            size,
            placeholder: compressed && !fin,
        })
    }

    /// Inflates the message that a frame completes; of one that does not, nothing comes out yet.
    pub(super) fn inflate(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        payload: &[u8],
        fin: bool,
        inflated: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        let rest = self.sockets[at].rest.as_mut();
        let Some(deflate) = rest.and_then(|rest| rest.deflate.as_mut()) else {
            return Err(wording::NOT_INFLATED);
        };
        let most = cx.run.settings.bodies.max_response;
        if deflate.parts.len() + payload.len() > most {
            deflate.parts = Vec::new();
            return Err(TOO_LARGE);
        }
        if !fin {
            deflate.parts.extend_from_slice(payload);
            return Ok(());
        }
        let parts = std::mem::take(&mut deflate.parts);
        let mut whole = parts;
        let input = if whole.is_empty() {
            payload
        } else {
            whole.extend_from_slice(payload);
            &whole
        };
        self.inflater.message(deflate.window.as_mut(), input, inflated, most).map_err(|error| {
            match error {
                wire::websocket::deflate::Error::TooLarge { .. } => TOO_LARGE,
                wire::websocket::deflate::Error::Invalid => {
                    "java.lang.RuntimeException: java.util.zip.DataFormatException"
                }
            }
        })
    }

    /// Offers a frame to the filters, and to the sampler if none discards it.
    fn offer(&mut self, cx: &mut Context<'_>, at: u32, frame: &Frame<'_>, now: Nanos) {
        let Task::Work(work) = &self.sockets[at].task else { return };
        let Some(sampler) = self.socket_sampler(cx, at, work.sampler) else { return };
        if !sampler.filters.is_empty() && !self.passes_filters(cx, at, &sampler.filters, frame, now)
        {
            return;
        }
        let fits = match &sampler.act {
            Act::RequestResponse(want) | Act::Read(want) => want.admits(frame),
            Act::PingPong => frame.kind == FrameKind::Pong,
            Act::Close => frame.kind == FrameKind::Close,
            Act::Exchange(_) => return self.hear_message(cx, at, frame, now),
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) => true,
        };
        if fits {
            self.succeed(cx, at, Some(frame), now);
        } else {
            self.surprise(cx, at, frame, now);
        }
    }

    /// Whether a frame passes all filters. The innermost reads from the connection; what it lets pass comes to the one
    /// around it. Each level's time runs as the plug-in has it ([`plan::websocket::filter`]).
    fn passes_filters(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        filters: &[FilterId],
        frame: &Frame<'_>,
        now: Nanos,
    ) -> bool {
        let plan = cx.plan;
        let index = self.sockets[at].user;
        for level in (0..filters.len()).rev() {
            let filter = &plan.frame_filters[filters[level].0 as usize];
            let discards = filter.discards(frame, &mut cx.env(index, ""));
            if discards {
                self.discard(cx, at, filter, level, frame, now);
            }
            let Task::Work(work) = &mut self.sockets[at].task else { return false };
            let Some(times) = work.levels.get_mut(level) else { return false };
            // What came in time did, however late it is read here.
            let spent = (work.arrival.clamp(times.since, now.max(times.since)) - times.since) / MS;
            if spent >= times.left {
                self.fault(cx, at, Fault::ReadTimeout);
                return false;
            }
            times.left -= spent;
            times.since = now;
            if discards {
                let left = times.left;
                work.levels.truncate(level + 1);
                work.levels.resize(filters.len(), Level { left, since: now });
                cx.arm(index, now + left * MS);
                return false;
            }
        }
        true
    }

    /// A filter takes a frame out: it may answer it, and the result shows it.
    fn discard(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        filter: &FrameFilter,
        level: usize,
        frame: &Frame<'_>,
        now: Nanos,
    ) {
        let index = self.sockets[at].user;
        let mut sent = 0;
        if frame.kind == FrameKind::Ping && filter.replies(&mut cx.env(index, "")) {
            sent = self.send_frame(cx, at, Opcode::PONG, frame.payload).0 as u64;
        }
        let Task::Work(work) = &self.sockets[at].task else { return };
        let since = work.levels.get(level).map_or(now, |times| times.since);
        if work.observed {
            let mut name = cx.texts.take();
            filter.name(&mut cx.env(index, ""), &mut name);
            let mut sub = plan::result::SampleResult::default();
            sub.clear();
            wording::discarded(&name, frame, &mut sub);
            sub.sent = sent;
            sub.start_ms = cx.clock.wall_ms(since);
            sub.elapsed = (now - since).max(0) as u64;
            cx.texts.give(name);
            if let Task::Work(work) = &mut self.sockets[at].task {
                work.discarded.push(sub);
            }
        }
        if cx.run.settings.websocket.count_discarded
            && let Task::Work(work) = &mut self.sockets[at].task
        {
            work.sizes.discarded(frame, sent);
        }
    }

    /// Sets up the levels of a sample that reads through filters. False: a filter cannot work, and the sample has failed.
    fn begin_levels(&mut self, cx: &mut Context<'_>, at: u32, now: Nanos) -> bool {
        let Task::Work(work) = &self.sockets[at].task else { return false };
        let limit = work.read_limit / MS;
        let Some(sampler) = self.socket_sampler(cx, at, work.sampler) else { return false };
        let plan = cx.plan;
        let index = self.sockets[at].user;
        for id in &sampler.filters {
            let filter = &plan.frame_filters[id.0 as usize];
            if let Some(text) = filter.fault(&mut cx.env(index, "")) {
                self.fault(cx, at, Fault::Beyond(text));
                return false;
            }
        }
        if let Task::Work(work) = &mut self.sockets[at].task {
            work.levels.clear();
            work.levels.resize(sampler.filters.len(), Level { left: limit, since: now });
        }
        true
    }

    /// A sample begins to read: what waits in the inbox comes first.
    pub(super) fn read_frame(&mut self, cx: &mut Context<'_>, at: u32, now: Nanos) {
        if !self.begin_levels(cx, at, now) {
            return;
        }
        let generation = self.sockets[at].transport.generation;
        while let Some(frame) = self.take_from_inbox(cx, at) {
            if let Task::Work(work) = &mut self.sockets[at].task {
                work.arrival = work.start;
            }
            self.give_to_sample(cx, at, frame.head, &frame.payload, now);
            let socket = &self.sockets[at];
            if socket.transport.generation != generation || !matches!(socket.task, Task::Work(_)) {
                return;
            }
        }
        match self.sockets[at].state {
            State::Ended(ending) => self.fault(cx, at, Fault::Ended(ending)),
            _ => {
                self.resume_reading(cx, at);
                self.read_limit(cx, at);
            }
        }
    }

    /// Somebody takes what comes: where reading had stopped, it goes on.
    pub(super) fn resume_reading(&mut self, cx: &mut Context<'_>, at: u32) {
        if std::mem::take(&mut self.sockets[at].stopped) {
            cx.recorder.add(Counter::ReadingResumed, 1);
            self.resumed.push(self.sockets.token(at));
        }
    }

    /// Takes the oldest frame out of the inbox; where that had filled, reading goes on.
    pub(super) fn take_from_inbox(&mut self, cx: &mut Context<'_>, at: u32) -> Option<Queued> {
        let rest = self.sockets[at].rest.as_mut()?;
        let frame = rest.inbox.pop()?;
        let left = rest.inbox.bytes();
        cx.recorder.add(Counter::InboxOut, frame.weight() as u64);
        if left <= cx.run.settings.websocket.inbox_bytes / 2 {
            self.resume_reading(cx, at);
        }
        Some(frame)
    }

    /// Puts a frame into the inbox.
    fn queue(&mut self, cx: &mut Context<'_>, at: u32, frame: Queued) {
        let weight = frame.weight();
        cx.recorder.add(Counter::InboxIn, weight as u64);
        let rest = self.sockets.rest(at);
        rest.inbox.push(frame);
        if rest.inbox.bytes() > cx.run.settings.websocket.inbox_bytes {
            self.inbox_is_full(cx, at);
        }
    }

    /// The inbox holds what it may hold.
    pub(super) fn inbox_is_full(&mut self, cx: &mut Context<'_>, at: u32) {
        match cx.run.settings.websocket.inbox_full {
            WhenFull::Stop => {
                if !std::mem::replace(&mut self.sockets[at].stopped, true) {
                    cx.recorder.add(Counter::ReadingStopped, 1);
                    self.tell_stopped(cx);
                }
            }
            WhenFull::DropOldest => {
                while self.sockets.rest(at).inbox.bytes() > cx.run.settings.websocket.inbox_bytes {
                    let Some(frame) = self.sockets.rest(at).inbox.pop() else { break };
                    cx.recorder.add(Counter::InboxOut, frame.weight() as u64);
                    cx.recorder.add(Counter::InboxDropped, 1);
                }
            }
            WhenFull::Fail => self.socket_ended(cx, at, Ending::InboxFull),
        }
    }

    /// Says once that reading stopped somewhere.
    fn tell_stopped(&mut self, cx: &mut Context<'_>) {
        if !std::mem::replace(&mut self.told_stopped, true) {
            let bytes = cx.run.settings.websocket.inbox_bytes;
            cx.log(format!(
                "reading stopped on a WebSocket connection: {bytes} bytes wait for a user that does not read; the \
                 server's sends will stall (throng.websocket.inbox.bytes, throng.websocket.inbox.full)"
            ));
        }
    }
}

/// The kind of a frame as the plan has it.
fn shown_kind(kind: Kind) -> FrameKind {
    match kind {
        Kind::Text => FrameKind::Text,
        Kind::Binary => FrameKind::Binary,
        Kind::Close => FrameKind::Close,
        Kind::Ping => FrameKind::Ping,
        Kind::Pong => FrameKind::Pong,
    }
}
