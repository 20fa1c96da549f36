//! The WebSocket samplers of one core: builds what they send, and handles received frames.
//!
//! Their connections are held connections of the module `session`, which opens, reads and keeps them. It reports
//! events as completions ([`HeldEvent`]). This module evaluates the samplers, and builds results from the events.
//!
//! | module | holds |
//! |---|---|
//! | `sample` | the samplers, from the evaluated call to the completed sample |
//! | `result` | the contents of results, and the messages of failures |
//! | `deliver` | frames to the sample that reads, or to the hold |
//! | `hold` | messages that are counted, matched and timed as they arrive |
//! | `heartbeat` | settings of heartbeats |
//! | `exchange` | Zaleski's sampler |
//! | `close` | connections of ending users, and the messages for their ends |

#![allow(clippy::vec_box)] // Boxes move between pools and connections without copying.

mod close;
mod deliver;
mod exchange;
mod heartbeat;
mod hold;
mod result;
mod sample;

use std::sync::Arc;

use plan::plan::{Needs, Plan, Sampler, SamplerId, SamplerKind};
use plan::websocket::wording::Sizes;
use stats::ClassId;
use wire::websocket::session::Heartbeat;

use crate::completions::HeldEvent;
use crate::context::Context;
use crate::ids::{NO_SOCKET, UserId};
use crate::session::held::open::Failed;
use crate::session::held::{Held, POOLED, State};
use crate::time::clock::Nanos;
use crate::time::milestones::Milestones;
use crate::time::timing::TraceId;
use crate::users::Wait;
use crate::websocket::exchange::Conversation;
use crate::websocket::hold::Holding;
use crate::websocket::sample::Fault;

/// The arguments of most methods: the core's context, and the held connections of all users.
pub(crate) struct On<'a, 'p> {
    pub(crate) cx: &'a mut Context<'p>,
    pub(crate) held: &'a mut Held,
}

/// State of the WebSocket samplers of a core.
pub(crate) struct WebSockets {
    /// The task on each connection.
    tasks: Vec<Task>,
    /// The URL of each connection, in plans that read URLs of connections.
    urls: Vec<String>,
    /// The state of connections that Zaleski's sampler uses.
    conversations: Vec<Option<Box<Conversation>>>,
    /// Unused [`Work`]s, kept for later samples so that their buffers are allocated only once.
    works: Vec<Box<Work>>,
    /// Settings of each heartbeat of the plan; `None` until a sampler first uses the heartbeat.
    heartbeats: Vec<Option<Arc<Heartbeat>>>,
    /// True if the plan reads the URL of WebSocket connections.
    shows_urls: bool,
    /// The current message after decompression.
    inflated: Vec<u8>,
    inflater: wire::websocket::deflate::Inflater,
    call: plan::websocket::Call,
    /// Buffer for the `Cookie` header of an upgrade request.
    cookie_line: Vec<u8>,
    /// Rendered calls of samplers whose calls cannot vary; `None` until the sampler's first use.
    calls: Vec<Option<Box<plan::websocket::Call>>>,
}

impl WebSockets {
    pub(crate) fn new(plan: &Plan) -> Self {
        let shows_url = |sampler: &Sampler| {
            matches!(sampler.kind, SamplerKind::WebSocket(_))
                && sampler.needs.contains(Needs::SAMPLER_DATA)
        };
        Self {
            tasks: Vec::new(),
            urls: Vec::new(),
            conversations: Vec::new(),
            works: Vec::new(),
            heartbeats: (0..plan.heartbeats.len()).map(|_| None).collect(),
            shows_urls: plan.samplers.iter().any(shows_url),
            inflated: Vec::new(),
            inflater: wire::websocket::deflate::Inflater::new(),
            call: plan::websocket::Call::default(),
            cookie_line: Vec::new(),
            calls: (0..plan.samplers.len()).map(|_| None).collect(),
        }
    }
}

/// The work that handles the events of a connection.
#[derive(Debug, Default)]
enum Task {
    /// No task: the user of the connection is between samples.
    #[default]
    None,
    Work(Box<Work>),
    Hold(Box<Holding>),
}

/// A sample in flight.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) sampler: SamplerId,
    pub(crate) step: Step,
    /// True if the connection was already open.
    pub(crate) existing: bool,
    /// True if the sampler has begun to send or read on the established connection.
    pub(crate) performed: bool,
    /// True if this sample opened the connection.
    pub(crate) opened: bool,
    /// True if a read timeout does not fail the sample.
    pub(crate) optional: bool,
    /// Opcode of the frame to send; 0 if there is no frame.
    pub(crate) opcode: u8,
    /// True if an element, a listener or a script reads the result, in addition to the statistics.
    pub(crate) observed: bool,
    /// Part of the opening's duration that was spent in this process, in nanoseconds.
    pub(crate) own: u64,
    pub(crate) intended: Nanos,
    pub(crate) start: Nanos,
    /// Time from the sample's start until the upgrade was accepted; 0 if the connection was open before.
    pub(crate) connect: Nanos,
    /// Time at which the last bytes that the sample read arrived at this host.
    pub(crate) arrival: Nanos,
    /// Times of the opening's steps: name resolution, TCP, TLS.
    pub(crate) steps: Milestones,
    /// Time at which the connection was ready for the upgrade; 0 if the connection was already open or was never ready.
    pub(crate) stood: Nanos,
    /// Class under which the statistics count the server address of the connection.
    pub(crate) class: ClassId,
    /// The trace id of the upgrade request; none if the connection was already open.
    pub(crate) trace: TraceId,
    /// Remaining time limits while frames pass through filters, the outermost filter first.
    pub(crate) levels: Vec<Level>,
    /// Time limit of reading in nanoseconds; 0 is unlimited.
    pub(crate) read_limit: Nanos,
    /// Bytes sent and received, as JMeter counts them.
    pub(crate) sizes: Sizes,
    /// The frame to send when the connection is established.
    pub(crate) frame: Vec<u8>,
    /// The response to the upgrade, as on the wire.
    pub(crate) answer: Vec<u8>,
    /// The request's URL, headers and data, as the result shows them.
    pub(crate) shown: Shown,
    /// The error in building the payload: code and message.
    pub(crate) problem: Option<(String, String)>,
    /// Sub-results for frames that filters discarded.
    pub(crate) discarded: Vec<plan::result::SampleResult>,
}

/// The strings that describe a request in a result.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) url: String,
    pub(crate) data: String,
    pub(crate) headers: String,
}

impl Shown {
    fn clear(&mut self) {
        self.url.clear();
        self.data.clear();
        self.headers.clear();
    }
}

/// Time limit of one reader of frames: a filter, or the sampler itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Remaining time of the reader's time limit in milliseconds.
    pub(crate) left: i64,
    /// Time at which the reader started to wait for the current frame.
    pub(crate) since: Nanos,
}

/// The event for which a sample in flight waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The opening of the connection, up to the accepted upgrade.
    Opening,
    /// The end of sending: the kernel has accepted all output.
    Sending,
    /// The arrival of a frame.
    Reading,
}

impl WebSockets {
    /// Handles an event on a user's connection.
    pub(crate) fn on_held_event(&mut self, on: &mut On<'_, '_>, index: UserId, heard: HeldEvent) {
        let push = if heard == HeldEvent::Push { on.held.take_push() } else { None };
        let at = on.cx.users[index].socket;
        if at == NO_SOCKET {
            return;
        }
        match heard {
            HeldEvent::Opened => self.on_opened(on, at),
            HeldEvent::Sent => {
                if matches!(&self.tasks[at as usize], Task::Work(work) if work.step == Step::Sending)
                {
                    let now = on.cx.clock.now();
                    self.succeed(on, at, None, now);
                }
            }
            HeldEvent::Push => {
                let Some(push) = push else { return };
                let payloads = on.held.lend_payloads();
                self.on_push(on, at, &push, push.payload(&payloads));
                on.held.return_payloads(payloads);
            }
            HeldEvent::Over => self.on_over(on, at),
            HeldEvent::Stopped => log_reading_stopped(on.cx),
        }
    }

    /// Continues the sample whose connection has been opened: performs the sampler's send or read.
    fn on_opened(&mut self, on: &mut On<'_, '_>, at: u32) {
        let opening = on.held.take_opening(at);
        if let (Task::Work(work), Some(opening)) = (&mut self.tasks[at as usize], &opening) {
            work.sizes.opened(opening.request.len() as u64, opening.answer.len() as u64);
            work.own = opening.net.own();
            (work.connect, work.arrival) = (opening.connect, opening.arrival);
            (work.steps, work.stood) = (opening.steps, opening.connected_at);
            work.steps.first = Milestones::micros(opening.connect);
            work.class = on.cx.net.routes[on.held[at].route].class;
            work.opened = true;
            if work.observed {
                work.answer.extend_from_slice(&opening.answer);
            }
        }
        on.held.give_opening(opening);
        self.conversation_opened(at);
        self.perform(on, at);
    }

    /// Fails the sample, or completes the hold sampler, of a connection that failed to open or has ended.
    fn on_over(&mut self, on: &mut On<'_, '_>, at: u32) {
        let failed = self.end_opening(on, at);
        match (&self.tasks[at as usize], on.held[at].state) {
            (Task::None, _) => {}
            (Task::Hold(_), State::Ended(ending)) => self.hold_ended(on, at, ending),
            (Task::Work(_), State::Ended(ending)) => {
                let failed = failed.unwrap_or(Failed::Ended(ending));
                self.fault(on, at, Fault::Failed(failed));
            }
            (_, _) => {
                if let Some(failed) = failed {
                    self.fault(on, at, Fault::Failed(failed));
                }
            }
        }
    }

    /// Releases the data of an opening that failed. Returns the reason of the failure, if it is known.
    fn end_opening(&mut self, on: &mut On<'_, '_>, at: u32) -> Option<Failed> {
        on.held.classify(&mut on.cx.around(), at);
        let mut opening = on.held.take_opening(at)?;
        if let Task::Work(work) = &mut self.tasks[at as usize] {
            work.own = opening.net.own();
            work.arrival = work.arrival.max(opening.arrival);
            (work.steps, work.stood) = (opening.steps, opening.connected_at);
            work.class = on.cx.net.routes[on.held[at].route].class;
        }
        let failed = opening.failed.take();
        on.held.give_opening(Some(opening));
        failed
    }

    /// Ends the sample or the hold sampler of a user whose time limit has passed. All frames that arrived in time were
    /// read before.
    pub(crate) fn on_late(&mut self, on: &mut On<'_, '_>, index: UserId, now: Nanos) {
        let user = &on.cx.users[index];
        let (at, limit) = (user.socket, user.limit);
        if !user.alive || at == NO_SOCKET || !matches!(user.wait, Wait::WebSocket(_)) {
            return;
        }
        if limit > now {
            if limit != Nanos::MAX {
                on.cx.arm(index, limit);
            }
            return;
        }
        match &self.tasks[at as usize] {
            Task::Hold(_) => self.finish_hold(on, at),
            Task::Work(_) => self.fault(on, at, Fault::ReadTimeout),
            Task::None => {}
        }
    }

    /// Stores the task of a new connection, and the connection's URL if the plan reads URLs.
    fn store_task(&mut self, at: u32, task: Task, call: &plan::websocket::Call) {
        if self.tasks.len() <= at as usize {
            self.tasks.resize_with(at as usize + 1, Task::default);
        }
        self.tasks[at as usize] = task;
        if let Some(talk) = self.conversations.get_mut(at as usize) {
            *talk = None;
        }
        if self.shows_urls {
            if self.urls.len() <= at as usize {
                self.urls.resize(at as usize + 1, String::new());
            }
            self.urls[at as usize].clone_from(&call.url);
        }
    }

    /// Returns an unused [`Work`], or a new one.
    fn take_work(&mut self) -> Box<Work> {
        self.works.pop().unwrap_or_else(|| Box::new(Work::NEW))
    }

    fn give_work(&mut self, mut work: Box<Work>) {
        if self.works.len() < POOLED {
            work.clear();
            self.works.push(work);
        }
    }
}

/// Logs that this core stopped reading a connection because the user's inbox is full.
fn log_reading_stopped(cx: &Context<'_>) {
    let bytes = cx.run.settings.websocket.inbox_bytes;
    cx.log(format!(
        "reading stopped on a WebSocket connection: {bytes} bytes are queued for a user that does not read; the server \
        cannot send more (throng.websocket.inbox.bytes, throng.websocket.inbox.full)"
    ));
}

impl Work {
    const NEW: Self = Self {
        sampler: SamplerId(0),
        step: Step::Opening,
        existing: false,
        performed: false,
        opened: false,
        optional: false,
        opcode: 0,
        observed: false,
        own: 0,
        intended: 0,
        start: 0,
        connect: 0,
        arrival: 0,
        steps: Milestones::NONE,
        stood: 0,
        class: ClassId::NONE,
        trace: TraceId::NONE,
        levels: Vec::new(),
        read_limit: 0,
        sizes: Sizes { headers: 0, body: 0, sent: 0 },
        frame: Vec::new(),
        answer: Vec::new(),
        shown: Shown { url: String::new(), data: String::new(), headers: String::new() },
        problem: None,
        discarded: Vec::new(),
    };

    fn clear(&mut self) {
        let (mut frame, mut answer) =
            (std::mem::take(&mut self.frame), std::mem::take(&mut self.answer));
        let mut shown = std::mem::take(&mut self.shown);
        let mut levels = std::mem::take(&mut self.levels);
        levels.clear();
        frame.clear();
        frame.shrink_to(4096);
        answer.clear();
        shown.clear();
        *self = Self { levels, frame, answer, shown, ..Self::NEW };
    }
}
