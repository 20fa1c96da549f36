//! Jobs: work for a user that only Java can do. The user waits for its job.
//!
//! A job is a message of bytes, carried by [`Offload`]. Its reply arrives in the core's inbox and contains the
//! changes. Until then the user's wait is [`Wait::Java`](crate::users::Wait::Java), and [`Then`] tells at which
//! point the user continues. The user's state for jobs is a part of its `extra` and is created with its first job.
//! A plan without Java-backed elements has no cost for jobs.
//!
//! Jobs use the context of their core and no other module. The next step of a user whose job is done is returned as
//! a value ([`Next`]), on which the core acts. Facts about the run are passed to jobs as [`session::RunFacts`].
//!
//! | module | holds |
//! |---|---|
//! | `message` | numbers and records of messages, generated from `crates/messages/messages.txt` |
//! | `writer`, `reader` | numbers, strings and lists in messages |
//! | `result`, `cookies`, `request`, `reply` | contents of messages |
//! | `submit`, `job` | sending a job, and its message |
//! | `arrive`, `amend`, `apply` | handling a reply; its changes of the result, and all its other changes |
//! | `next` | the next step of a user |
//! | `property_sync` | changed properties, for jobs that already run |
//! | `closing`, `ended` | processors, assertions and listeners of a result that are in Java; transactions |
//! | `listeners` | results for listeners in Java, in the plan's order |
//! | `condition` | expressions that controllers need before they can choose a child |
//! | `controller`, `controller_reply` | controllers that their own Java class runs; their replies |
//! | `end` | users that end or are cut, jobs that take long |
//! | `early`, `session` | evaluation and messages before the first user and after the last |

mod amend;
mod apply;
mod arrive;
mod closing;
pub(crate) mod condition;
pub(crate) mod controller;
pub(crate) mod controller_reply;
mod cookies;
mod early;
mod end;
mod ended;
mod job;
pub(crate) mod listeners;
pub mod message;
pub(crate) mod next;
mod property_sync;
mod reader;
mod reply;
mod request;
mod result;
pub(crate) mod session;
mod submit;
mod writer;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use plan::java_backed::{TextRange, shown};
use plan::plan::{ControllerId, ControllerKind, ListenerKind, Plan, SamplerId};
use plan::result::{Request, SampleResult};

pub(crate) use closing::Closing;
pub(crate) use condition::forget_texts;
use controller::Questions;
pub(crate) use early::EarlyEvaluation;
pub(crate) use end::PATIENCE;
pub(crate) use ended::Ended;
use listeners::UndeliveredSample;
pub(crate) use message::{Act, Tell};
pub(crate) use next::Next;
use property_sync::PropertyChanges;
pub(crate) use reply::Reply;
pub use reply::read_reply;
use session::Subscriptions;

pub(crate) use crate::ids::JobUser;
use crate::offload::Offload;
use crate::time::clock::Nanos;

/// The point at which a user continues when its job is done.
#[derive(Debug)]
pub(crate) enum Then {
    /// The user continues with the sampler's pre-processors from an index on.
    Before(SamplerId, usize),
    /// The user continues with the sampler's timers from an index on. The last number is the sum of the delays so far,
    /// in nanoseconds.
    Timers(SamplerId, usize, u64),
    /// The user continues with the sampler, whose expressions are now evaluated.
    Begin(SamplerId),
    /// The user continues with the sample that the Java sampler has returned.
    Sampled(SamplerId),
    /// The user continues with the remaining work on its sample's result: post-processors, assertions, listeners.
    Close(Closing),
    /// The user continues with the assertions of an ended transaction from an index on.
    Ended(Ended, usize),
    /// The user starts a sampler, after listeners have received the earlier samples.
    Start(SamplerId),
    /// The user starts its first iteration, after its objects in Java were notified of its start.
    Started,
    /// The user ends, after listeners have received the earlier samples.
    End,
    /// The user repeats its search for a sampler, now that the expressions of a controller are evaluated.
    Pull(Option<ControllerId>),
    /// The user repeats its search for a sampler, after a Java-backed controller has replied.
    Controller(ControllerId),
}

impl Then {
    /// Returns the result on which the job works, if it is a part of `self`.
    fn result(&self) -> Option<&SampleResult> {
        match self {
            Self::Close(closing) => closing.result.as_deref(),
            Self::Ended(ended, _) => Some(&ended.result),
            _ => None,
        }
    }

    /// Returns the sampler to which the job belongs.
    fn sampler(&self) -> Option<SamplerId> {
        match self {
            Self::Start(id)
            | Self::Before(id, _)
            | Self::Timers(id, ..)
            | Self::Begin(id)
            | Self::Sampled(id) => Some(*id),
            Self::Close(closing) => Some(closing.id),
            Self::Ended(..) | Self::Started | Self::Pull(_) | Self::Controller(_) | Self::End => {
                None
            }
        }
    }
}

/// State of a user for its jobs, created with the first job.
#[derive(Debug, Default)]
pub(crate) struct Java {
    /// The user's number in messages; 0 before its first job.
    number: u64,
    /// Number of the user's samples so far, which identifies the current sample in messages.
    pub(crate) sample: u32,
    /// Ticket of the job for which the user waits.
    ticket: u64,
    then: Option<Then>,
    /// Result of the previous sample, if an element may read it.
    previous: Option<Box<SampleResult>>,
    /// Samples of transactions that have not been delivered to all their listeners.
    untold: std::collections::VecDeque<UndeliveredSample>,
    /// The sampler that ran before the current sampler.
    before: Option<SamplerId>,
    /// The highest-ranking request of scripts (leave a loop, stop) since the end of the last sample.
    pub(crate) asked: Request,
    /// True if scripts have changed headers that samplers share.
    lasting: bool,
    /// True if the user's objects in Java were notified of its start.
    started: bool,
    /// Controllers whose expressions are evaluated for the current search for a sampler.
    fresh: Vec<ControllerId>,
    /// Open calls and unsent notices to controllers in Java.
    questions: Questions,
    /// Number of the iteration in the last notification of Java about an iteration of the group.
    iteration: u32,
}

impl crate::users::Part for Java {}

impl Java {
    /// Begins another sample. `before` is the sampler of the previous sample.
    pub(crate) fn begin_sample(&mut self, before: Option<SamplerId>) {
        self.before = before;
        self.sample = self.sample.wrapping_add(1);
    }

    /// Ends a sample. Returns the highest-ranking request that scripts have made during it.
    pub(crate) fn end_sample(&mut self) -> Request {
        std::mem::take(&mut self.asked)
    }
}

/// State of the JVM connection that all cores of a run share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// The carrier of jobs to Java; `None` if the plan needs no Java.
    pub(crate) offload: Option<Arc<dyn Offload>>,
    pub(crate) hearing: Subscriptions,
    /// Number for the next user that has its first job. The number identifies the user in messages.
    next_user: AtomicU64,
    news: PropertyChanges,
}

impl Shared {
    pub(crate) fn new(offload: Arc<dyn Offload>, hearing: Subscriptions) -> Self {
        // User number 0 stands for the test itself.
        Self {
            offload: Some(offload),
            hearing,
            next_user: 1.into(),
            news: PropertyChanges::default(),
        }
    }
}

/// The jobs of a core's users, and the core's state for sending them.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    shared: Arc<Shared>,
    /// Jobs in flight, by ticket.
    in_flight: HashMap<u64, InFlight>,
    /// Free buffers for the next messages.
    buffers: Vec<Vec<u8>>,
    ids: Vec<u32>,
    /// Version of the properties that this core has sent to Java last.
    properties: u64,
    /// Version of the properties up to which this core has looked for changes that running jobs must receive.
    looked: u64,
    /// Names of elements and of expressions, for log lines.
    elements: Vec<Arc<str>>,
    texts: Vec<Arc<str>>,
    /// For each sampler: true if Java has an object for it.
    owned: Box<[bool]>,
    /// For each sampler: true if its headers must be requested from Java after scripts have changed shared headers.
    asking: Box<[bool]>,
    /// True if the plan has Java-backed controllers.
    pub(crate) picks: bool,
    /// True if the plan has listeners in Java.
    pub(crate) listens: bool,
    /// True if an element or expression reads the previous sample's result.
    keeps_previous: bool,
    /// True if an element that processes a transaction's sample reads the previous sample's result.
    previous_of_transactions: bool,
    /// True if some Java-backed element reads the previous sampler.
    pub(crate) previous_sampler: bool,
    /// State of the warnings about jobs that take long.
    slow: Vec<end::Slow>,
}

/// A job to which Java has not replied yet.
#[derive(Debug)]
struct InFlight {
    /// The kind of work; `None` for a notice, such as the end of a user.
    act: Option<Act>,
    /// The expressions that the job evaluates.
    range: TextRange,
    user: u64,
    what: Arc<str>,
    since: Nanos,
    /// True if the end of the run has cut the job's user, so that no user waits for the job. Java is notified of
    /// the user's end after the reply.
    abandoned: bool,
}

impl Jobs {
    pub(crate) fn new(plan: &Plan, shared: Arc<Shared>) -> Self {
        if plan.java_backed.is_empty() {
            return Self::default();
        }
        let mut owned = vec![false; plan.samplers.len()].into_boxed_slice();
        let mut asking = owned.clone();
        for owner in &plan.java_backed.owners {
            let at = owner.sampler.0 as usize;
            if at < owned.len() {
                (owned[at], asking[at]) = (true, owner.asks_for_headers);
            }
        }
        let elements = plan.java_backed.elements.iter();
        let listeners = plan.listeners.iter();
        Self {
            shared,
            elements: elements.map(|element| element.path.as_str().into()).collect(),
            texts: plan.java_backed.texts.iter().map(|text| shown(text).into()).collect(),
            owned,
            asking,
            picks: plan
                .controllers
                .iter()
                .any(|one| matches!(one.kind, ControllerKind::JavaBacked(_))),
            listens: listeners
                .into_iter()
                .any(|one| matches!(one.kind, ListenerKind::JavaBacked(_))),
            keeps_previous: plan.java_backed.keeps_previous,
            previous_of_transactions: plan.java_backed.previous_of_transactions,
            previous_sampler: plan.java_backed.previous_sampler,
            ..Self::default()
        }
    }

    /// Returns true if Java reads the results of all samplers.
    pub(crate) fn observe(&self) -> bool {
        self.listens || self.keeps()
    }

    /// Returns an empty buffer for a message.
    fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Keeps a message's buffer for reuse, unless 64 are kept or the buffer exceeds 1 MiB.
    fn recycle(&mut self, buffer: Vec<u8>) {
        if self.buffers.len() < 64 && buffer.capacity() <= 1 << 20 {
            self.buffers.push(buffer);
        }
    }
}
