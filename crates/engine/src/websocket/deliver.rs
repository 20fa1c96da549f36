//! Delivers frames: to the sample that reads, to the hold sampler, or into the user's inbox. Hot path: runs for each
//! frame.

use plan::websocket::{Act, FilterId, Frame, FrameFilter, FrameKind, wording};
use wire::websocket::Opcode;
use wire::websocket::session::order::{Kind, Misplaced};

use super::{Level, On, Step, Task, WebSockets};
use crate::session::held::inbox::FrameHead;
use crate::session::held::push::Push;
use crate::session::held::{Listener, State};
use crate::time::clock::{MS, Nanos};
use crate::websocket::sample::{Fault, sampler_on};

/// Message for a compressed message that exceeds the limit, before or after decompression.
const TOO_LARGE: &str = "the message is larger than throng.response.most_bytes";

/// The result of decoding a frame.
enum Understood<'a> {
    Frame(Frame<'a>),
    /// The frame is invalid; contains the failure of the sample that reads the frame.
    Fault(Fault),
}

impl WebSockets {
    /// Passes a received frame to the waiting sample or hold sampler, or else to the user's inbox.
    pub(super) fn on_push(&mut self, on: &mut On<'_, '_>, at: u32, push: &Push, payload: &[u8]) {
        let Push { head, arrival, now, .. } = *push;
        match &mut self.tasks[at as usize] {
            Task::Work(work) if work.step == Step::Reading => {
                work.arrival = arrival;
                let limit = on.cx.users[on.held[at].user].limit;
                if arrival > limit.saturating_add(MS) {
                    // The frame arrived after the time limit; a stall of this process hid that. It is kept for the
                    // next sample that reads.
                    self.fault(on, at, Fault::ReadTimeout);
                    if on.held[at].state != State::Free {
                        on.held.keep_push(&mut on.cx.around(), at, push, payload);
                    }
                    return;
                }
                self.give_to_sample(on, at, head, payload, now);
                // Frames that arrived later are read next, unless the sample waited for a single frame.
                if push.only && self.is_reading(at) {
                    self.read_on(on, at, now);
                }
            }
            Task::Hold(_) => self.hold_frame(on, at, head, payload, arrival, now),
            _ => on.held.keep_push(&mut on.cx.around(), at, push, payload),
        }
    }

    /// Passes a frame to the sample that reads.
    fn give_to_sample(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        head: FrameHead,
        payload: &[u8],
        now: Nanos,
    ) {
        let mut inflated = std::mem::take(&mut self.inflated);
        inflated.clear();
        match self.understand(on, at, head, payload, &mut inflated) {
            Understood::Fault(fault) => self.fault(on, at, fault),
            Understood::Frame(frame) => self.offer(on, at, &frame, now),
        }
        self.inflated = inflated;
    }

    /// Checks a frame against the earlier frames of its message, and decompresses the message's last frame.
    fn understand<'a>(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        head: FrameHead,
        payload: &'a [u8],
        inflated: &'a mut Vec<u8>,
    ) -> Understood<'a> {
        let FrameHead { opcode, fin, size, .. } = head;
        let protocol = |text: &'static str| Understood::Fault(Fault::Protocol(text));
        let order = on.held[at].session.order().copied().unwrap_or_default();
        let kind = match order.kind(opcode) {
            Ok(kind) => kind,
            Err(Misplaced::Unknown(other)) => {
                let text = format!("java.lang.RuntimeException: unsupported frame type: {other}");
                return Understood::Fault(Fault::Beyond(text));
            }
            Err(_) => return protocol("no continuation frame expected"),
        };
        let compressed = order.compressed(head.frame_fields());
        let mut shown = payload;
        if compressed {
            if let Err(text) = self.inflate(on, at, payload, fin, inflated) {
                return Understood::Fault(Fault::Beyond(text.into()));
            }
            shown = inflated;
        }
        if let Some(order) = on.held[at].session.order()
            && order.take(head.frame_fields(), kind).is_err()
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

    /// Decompresses a compressed message when its last frame arrives. Earlier frames produce no output.
    pub(super) fn inflate(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        payload: &[u8],
        fin: bool,
        inflated: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        let rest = on.held.unfinished(at);
        let Some(deflate) = rest.and_then(|rest| rest.deflate.as_mut()) else {
            return Err(wording::NOT_INFLATED);
        };
        let most = on.cx.run.settings.bodies.max_response;
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

    /// Passes a frame through the filters, and completes the sampler with the frame if no filter discards it.
    fn offer(&mut self, on: &mut On<'_, '_>, at: u32, frame: &Frame<'_>, now: Nanos) {
        let Task::Work(work) = &self.tasks[at as usize] else { return };
        let Some(sampler) = sampler_on(on, at, work.sampler) else { return };
        if !sampler.filters.is_empty() && !self.passes_filters(on, at, &sampler.filters, frame, now)
        {
            return;
        }
        let fits = match &sampler.act {
            Act::RequestResponse(want) | Act::Read(want) => want.admits(frame),
            Act::PingPong => frame.kind == FrameKind::Pong,
            Act::Close => frame.kind == FrameKind::Close,
            Act::Exchange(_) => return self.on_message(on, at, frame, now),
            Act::Open | Act::Write | Act::Pong | Act::Hold(_) => true,
        };
        if fits {
            self.succeed(on, at, Some(frame), now);
        } else {
            self.fail_unexpected_frame(on, at, frame, now);
        }
    }

    /// Returns true if all filters accept a frame. The innermost filter reads from the connection, and passes accepted
    /// frames to the enclosing filter. The time limits of filters and sampler are counted as in the plug-in
    /// ([`plan::websocket::filter`]).
    fn passes_filters(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        filters: &[FilterId],
        frame: &Frame<'_>,
        now: Nanos,
    ) -> bool {
        let plan = on.cx.plan;
        let index = on.held[at].user;
        for level in (0..filters.len()).rev() {
            let filter = &plan.frame_filters[filters[level].0 as usize];
            let discards = filter.discards(frame, &mut on.cx.env(index, ""));
            if discards {
                self.discard(on, at, filter, level, frame, now);
            }
            let Task::Work(work) = &mut self.tasks[at as usize] else { return false };
            let Some(times) = work.levels.get_mut(level) else { return false };
            // The arrival time counts, however late this process reads the frame.
            let spent = (work.arrival.clamp(times.since, now.max(times.since)) - times.since) / MS;
            if spent >= times.left {
                self.fault(on, at, Fault::ReadTimeout);
                return false;
            }
            times.left -= spent;
            times.since = now;
            if discards {
                let left = times.left;
                work.levels.truncate(level + 1);
                work.levels.resize(filters.len(), Level { left, since: now });
                on.cx.arm(index, now + left * MS);
                return false;
            }
        }
        true
    }

    /// Discards a frame for a filter, which may answer the frame; the result shows the frame.
    fn discard(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        filter: &FrameFilter,
        level: usize,
        frame: &Frame<'_>,
        now: Nanos,
    ) {
        let index = on.held[at].user;
        let mut sent = 0;
        if frame.kind == FrameKind::Ping && filter.replies(&mut on.cx.env(index, "")) {
            sent =
                on.held.send_frame(&mut on.cx.around(), at, Opcode::PONG, frame.payload).0 as u64;
        }
        let Task::Work(work) = &self.tasks[at as usize] else { return };
        let since = work.levels.get(level).map_or(now, |times| times.since);
        if work.observed {
            let mut name = on.cx.texts.take();
            filter.name(&mut on.cx.env(index, ""), &mut name);
            let mut sub = plan::result::SampleResult::default();
            sub.clear();
            wording::discarded(&name, frame, &mut sub);
            sub.sent = sent;
            sub.start_ms = on.cx.clock.wall_ms(since);
            sub.elapsed = (now - since).max(0) as u64;
            on.cx.texts.give(name);
            if let Task::Work(work) = &mut self.tasks[at as usize] {
                work.discarded.push(sub);
            }
        }
        if on.cx.run.settings.websocket.count_discarded
            && let Task::Work(work) = &mut self.tasks[at as usize]
        {
            work.sizes.discarded(frame, sent);
        }
    }

    /// Sets the time limits of the filters and the sampler of a sample that reads through filters. If a filter is
    /// invalid, fails the sample and returns false.
    fn begin_levels(&mut self, on: &mut On<'_, '_>, at: u32, now: Nanos) -> bool {
        let Task::Work(work) = &self.tasks[at as usize] else { return false };
        let limit = work.read_limit / MS;
        let Some(sampler) = sampler_on(on, at, work.sampler) else { return false };
        let plan = on.cx.plan;
        let index = on.held[at].user;
        for id in &sampler.filters {
            let filter = &plan.frame_filters[id.0 as usize];
            if let Some(text) = filter.fault(&mut on.cx.env(index, "")) {
                self.fault(on, at, Fault::Beyond(text));
                return false;
            }
        }
        if let Task::Work(work) = &mut self.tasks[at as usize] {
            work.levels.clear();
            work.levels.resize(sampler.filters.len(), Level { left: limit, since: now });
        }
        true
    }

    /// Starts reading for a sample, first from the inbox.
    pub(super) fn read_frame(&mut self, on: &mut On<'_, '_>, at: u32, now: Nanos) {
        if !self.begin_levels(on, at, now) {
            return;
        }
        while let Some(frame) = on.held.take_from_inbox(&mut on.cx.around(), at) {
            if let Task::Work(work) = &mut self.tasks[at as usize] {
                work.arrival = work.start;
            }
            self.give_to_sample(on, at, frame.head, &frame.payload, now);
            if !self.is_reading(at) {
                return;
            }
        }
        if self.listen(on, at)
            && let Task::Work(work) = &self.tasks[at as usize]
        {
            let limit = work.read_limit;
            let (index, now) = (on.held[at].user, on.cx.clock.now());
            on.cx.around().limit(index, limit, now);
        }
    }

    /// Returns true if a sample waits for a frame.
    fn is_reading(&self, at: u32) -> bool {
        matches!(&self.tasks[at as usize], Task::Work(work) if work.step == Step::Reading)
    }

    /// Continues reading for a sample that the last frame did not complete; frames in the inbox come first.
    fn read_on(&mut self, on: &mut On<'_, '_>, at: u32, now: Nanos) {
        while let Some(frame) = on.held.take_from_inbox(&mut on.cx.around(), at) {
            if let Task::Work(work) = &mut self.tasks[at as usize] {
                work.arrival = frame.arrival;
            }
            self.give_to_sample(on, at, frame.head, &frame.payload, now);
            if !self.is_reading(at) {
                return;
            }
        }
        self.listen(on, at);
    }

    /// Makes a sample wait for the next frame. If the connection has ended, fails the sample and returns false.
    fn listen(&mut self, on: &mut On<'_, '_>, at: u32) -> bool {
        if let State::Ended(ending) = on.held[at].state {
            self.fault(on, at, Fault::ended(ending));
            return false;
        }
        on.held[at].listener = Listener::One;
        on.held.resume_reading(&mut on.cx.around(), at);
        true
    }
}

/// Converts the kind of a frame to the plan's type.
fn shown_kind(kind: Kind) -> FrameKind {
    match kind {
        Kind::Text => FrameKind::Text,
        Kind::Binary => FrameKind::Binary,
        Kind::Close => FrameKind::Close,
        Kind::Ping => FrameKind::Ping,
        Kind::Pong => FrameKind::Pong,
    }
}
