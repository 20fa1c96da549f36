//! Work that only Java can do for a user: jobs, which it waits for.
//!
//! A job is a message of bytes ([`Offload`] carries it); its reply comes back through the core's inbox and says what
//! changed. Meanwhile the user waits as [`Wait::Java`](crate::users::Wait::Java), and [`Then`] says where it goes on. What a user needs for that hangs off its
//! `extra` and is there from its first job on; a plan in which nothing is Java-backed pays for none of it.
//!
//! Jobs get the context of their core and reach no other room: what is to be done for a user whose job is done comes back as a value ([`Next`]), upon which
//! the core acts. Of the run they are told facts ([`session::RunFacts`]).
//!
//! | module | holds |
//! |---|---|
//! | `message` | numbers and records of messages, made from `crates/messages/messages.txt` |
//! | `writer`, `reader` | numbers, texts and lists in messages |
//! | `result`, `cookies`, `request`, `reply` | what messages hold |
//! | `submit`, `job` | a job goes out; its message |
//! | `arrive`, `amend`, `apply` | its reply comes in, what it changes of the result, and of all else |
//! | `next` | what the user does next |
//! | `property_sync` | changed properties, for jobs that already run |
//! | `closing`, `ended` | what is done with a result: processors, assertions, listeners; transactions |
//! | `listeners` | results for listeners in Java, each at its place |
//! | `condition` | texts that controllers need before they can be asked |
//! | `controller`, `said` | controllers that their own classes are; their answers |
//! | `end` | users that end or are cut, jobs that take long |
//! | `early`, `session` | what is evaluated and said before the first user, and after the last |

mod amend;
mod apply;
mod arrive;
mod closing;
pub(crate) mod condition;
pub(crate) mod controller;
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
pub(crate) mod said;
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
pub(crate) use early::Early;
pub(crate) use end::PATIENCE;
pub(crate) use ended::Ended;
use listeners::Untold;
pub(crate) use message::{Act, Tell};
pub(crate) use next::Next;
use property_sync::News;
pub(crate) use reply::Reply;
pub use reply::read_reply;
use session::Hearing;

pub(crate) use crate::ids::Addressee;
use crate::offload::Offload;
use crate::time::clock::Nanos;

/// Where a user goes on when its job is done.
#[derive(Debug)]
pub(crate) enum Then {
    /// With the pre-processors from a place on.
    Before(SamplerId, usize),
    /// With the timers from a place on, those before having taken so long.
    Timers(SamplerId, usize, u64),
    /// With the sampler, whose texts are known now.
    Begin(SamplerId),
    /// With the sampler's result.
    Sampled(SamplerId),
    /// With what is done with a result.
    Close(Closing),
    /// With the assertions of a transaction that has ended, from a place on.
    Ended(Ended, usize),
    /// With a sampler, before which listeners are told of what came before.
    Start(SamplerId),
    /// With its first iteration: its objects in Java have heard of its start.
    Started,
    /// It ends, once listeners are told of what came before.
    End,
    /// It looks for its next sampler again; a controller's texts may be known now.
    Pull(Option<ControllerId>),
    /// It looks for its next sampler again; a controller of a class of its own has said something.
    Controller(ControllerId),
}

impl Then {
    /// The sampler it is about.
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

/// State of a user that had jobs.
#[derive(Debug, Default)]
pub(crate) struct Java {
    /// Its number in messages.
    number: u64,
    /// Which of its samples runs.
    pub(crate) sample: u32,
    /// The job it waits for.
    ticket: u64,
    then: Option<Then>,
    /// The result that is being worked on.
    result: Option<Box<SampleResult>>,
    /// The result of the sample before, where somebody may look at it.
    previous: Option<Box<SampleResult>>,
    /// Transactions' samples that listeners are yet to be told of.
    untold: std::collections::VecDeque<Untold>,
    /// The sampler before that which runs.
    before: Option<SamplerId>,
    /// The requests of scripts since the last sample's end.
    pub(crate) asked: Request,
    /// Headers that samplers share are not the plan's any more.
    lasting: bool,
    /// Its objects in Java know that it has started.
    started: bool,
    /// Controllers whose texts have been evaluated for the current search for a sampler.
    fresh: Vec<ControllerId>,
    /// Questions and notices for controllers in Java.
    questions: Questions,
    /// The iteration that Java has been told of last.
    iteration: u32,
}

impl crate::users::Part for Java {}

impl Java {
    /// Another sample begins, of a sampler behind that `before` it.
    pub(crate) fn begin_sample(&mut self, before: Option<SamplerId>) {
        self.before = before;
        self.sample = self.sample.wrapping_add(1);
    }

    /// A sample has ended; gives what scripts asked for.
    pub(crate) fn end_sample(&mut self) -> Request {
        std::mem::take(&mut self.asked)
    }
}

/// State of their Java machine that all cores of a run share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Runs what only Java can, where the plan has such.
    pub(crate) offload: Option<Arc<dyn Offload>>,
    pub(crate) hearing: Hearing,
    /// The number of the next user that has a job.
    next_user: AtomicU64,
    news: News,
}

impl Shared {
    pub(crate) fn new(offload: Arc<dyn Offload>, hearing: Hearing) -> Self {
        // Number 0 is the test itself.
        Self { offload: Some(offload), hearing, next_user: 1.into(), news: News::default() }
    }
}

/// Jobs of a core's users.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    shared: Arc<Shared>,
    /// By ticket.
    in_flight: HashMap<u64, InFlight>,
    /// Messages, for the next ones.
    buffers: Vec<Vec<u8>>,
    ids: Vec<u32>,
    /// The last version of the properties that Java was told of by this core.
    properties: u64,
    /// The last version for which this core has seen to it that running jobs are told.
    looked: u64,
    /// Names of elements, and of texts, for people.
    elements: Vec<Arc<str>>,
    texts: Vec<Arc<str>>,
    /// Samplers that Java knows.
    owned: Box<[bool]>,
    /// Samplers of which Java is asked once headers that they send were changed.
    asking: Box<[bool]>,
    /// Controllers are their own classes.
    pub(crate) picks: bool,
    /// Listeners of the plan are told of results.
    pub(crate) listens: bool,
    /// The result of the sample before is kept.
    keeps_previous: bool,
    /// So it is for those that look at a transaction's sample.
    previous_of_transactions: bool,
    /// The sampler before is asked for.
    pub(crate) previous_sampler: bool,
    /// Complaints about jobs that take long.
    slow: Vec<end::Slow>,
}

/// A job in flight.
#[derive(Debug)]
struct InFlight {
    /// `None`: it tells of a user's end.
    act: Option<Act>,
    /// The texts that it evaluates.
    range: TextRange,
    user: u64,
    what: Arc<str>,
    since: Nanos,
    /// Nobody waits for it any more: its user was cut. The user's end is told to Java behind it.
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

    /// Somebody in Java looks at results of whatever samplers.
    pub(crate) fn observe(&self) -> bool {
        self.listens || self.keeps()
    }

    /// An empty message.
    fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Keeps a message's memory for the next, unless there is plenty.
    fn recycle(&mut self, buffer: Vec<u8>) {
        if self.buffers.len() < 64 && buffer.capacity() <= 1 << 20 {
            self.buffers.push(buffer);
        }
    }
}
