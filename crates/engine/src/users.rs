//! Where one virtual user is: data in a slab, neither a future nor a thread.
//!
//! Parts that only some plans need (transactions, cookies, redirects) hang off `extra`, absent until
//! used. The compiler holds the size to its bound.

pub(crate) mod branches;
pub(crate) mod controllers;
pub(crate) mod parts;
pub(crate) mod timers;

use std::sync::Arc;

use plan::function::Memory;
use plan::plan::{BarrierId, ControllerId, GroupId, SamplerId, SamplerKind};
use plan::result::SampleResult;
use plan::vars::Vars;
use stats::{ClassId, Phases};

use crate::ids::{NO_SOCKET, RouteId, UserId, Waiter};
use crate::time::clock::Nanos;
use crate::time::timing::TraceId;
use crate::time::wheel::{Links, Waiting};
pub(crate) use parts::Part;
use parts::Parts;

/// The thing that a user waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing: it runs.
    Ready,
    /// Nothing: it is in the ready queue.
    Queued,
    /// Nothing: its sampler's work has ended, which the loop is about to hear.
    Done,
    /// The delay of its timers; then the sampler starts.
    Delay(SamplerId),
    /// A pause by Flow Control Action; then it goes on.
    Pause(SamplerId),
    /// A sampler that only takes time; its result is kept in `extra`.
    Sleep(SamplerId),
    /// Other users, at a Synchronizing Timer.
    Barrier(SamplerId),
    /// Nothing any more: the others are there, and it is queued to go on with its timers.
    Met(SamplerId),
    /// The lock of a Critical Section.
    Lock,
    /// The next arrival.
    Arrival,
    /// The exchange of a session.
    Session(wire::session::Ticket),
    /// The WebSocket connection: its opening, a frame, the end of a hold.
    WebSocket(SamplerId),
    /// The resources of a page; branches load them.
    Page(SamplerId),
    /// A program, which a thread of its own runs.
    Job(SamplerId),
    /// A file, which a thread of its own reads.
    File(SamplerId),
    /// The branches of a Parallel Controller.
    Branches(SamplerId),
    /// A Java machine; its `extra` says where it goes on.
    Java,
}

/// Where a user goes on that leaves the middle of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopControl {
    /// The next iteration of its group.
    NextIteration,
    /// The next iteration of the loop around the sampler.
    NextLoopIteration,
    /// Out of the loop around the sampler.
    BreakLoop,
}

/// No user.
pub(crate) const NO_USER: UserId = UserId::NONE;

#[derive(Debug)]
pub(crate) struct User {
    pub(crate) wait: Wait,
    /// Index of the group.
    pub(crate) group: GroupId,
    /// Number within the group, from 0.
    pub(crate) number: u32,
    /// Iteration of the group's main loop, from 1 once running.
    pub(crate) iteration: u32,
    /// The WebSocket connection; a user has one at most.
    pub(crate) socket: u32,
    /// When what runs now should have started.
    pub(crate) intended: Nanos,
    /// Time limit of the exchange in flight; the timer in `links` may fire earlier and is then set again.
    pub(crate) limit: Nanos,
    pub(crate) links: Links,
    /// State of the controllers ([`plan::plan::Controller::slot`]).
    pub(crate) state: Box<[u32]>,
    pub(crate) vars: Vars,
    pub(crate) memory: Memory,
    pub(crate) notes: plan::state::Memory,
    pub(crate) extra: Option<Box<Extra>>,
    /// Whether the last sample passed (`JMeterThread.last_sample_ok`).
    pub(crate) last_ok: bool,
    /// It ends after the sample in flight.
    pub(crate) stopping: bool,
    /// A new iteration of the group has begun and no HTTP sample has run in it yet.
    pub(crate) fresh: bool,
    /// The sampler whose listeners a transaction's sample goes to.
    pub(crate) last_sampler: Option<SamplerId>,
    /// The user that this one works for; it is no virtual user then, but a branch of that one: a download of a page, or a parallel branch.
    pub(crate) branch_of: UserId,
    /// It is a parallel branch: it runs a child of a Parallel Controller, as a user would.
    pub(crate) parallel: bool,
    /// Connections that failed or were lost since one stood; the next is opened later for it.
    pub(crate) setbacks: u8,
    /// It has waited for its turn to connect.
    pub(crate) paced: bool,
    /// The slot is in use.
    pub(crate) alive: bool,
}

const _: () = assert!(size_of::<User>() <= 320);

/// State that only some users have.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// The barrier that the user waits at.
    pub(crate) meeting: Option<Meeting>,
    /// Locks of Critical Sections.
    pub(crate) locks: Vec<Held>,
    /// It is free for an arrival.
    pub(crate) free: Option<Waiter>,
    /// Open transactions, in the order of their beginning.
    pub(crate) transactions: Vec<Transaction>,
    /// Cookies, per Cookie Manager of the plan.
    pub(crate) jars: Vec<Option<Box<wire::cookie::Jar>>>,
    /// Its caches, per Cache Manager of the plan.
    pub(crate) caches: Vec<Option<Box<wire::cache::Cache>>>,
    /// Names it has looked up, with the routes that have the addresses, per DNS Cache Manager of the plan.
    pub(crate) names: Vec<Vec<(String, RouteId)>>,
    /// How often it has asked name servers, per DNS Cache Manager of the plan.
    pub(crate) lookups: Vec<u32>,
    /// State that other rooms keep of the user, of types of their own.
    pub(crate) parts: Parts,
    /// The user's own TLS configuration with its sessions.
    pub(crate) tls: Option<std::sync::Arc<wire::tls::rustls::ClientConfig>>,
    /// The key that this configuration presents, where a variable names it.
    pub(crate) alias: Option<Box<str>>,
    /// Redirects in flight.
    pub(crate) redirect: Option<Box<Redirect>>,
    /// The result that a sleeping sampler will have.
    pub(crate) pending: Option<Box<SampleResult>>,
    /// The sampler's name as evaluated at its start, if it is not fixed.
    pub(crate) sampler_name: String,
    /// The sampler of its sample as scripts have left it.
    pub(crate) given: Given,
    /// Parallel Controllers that run nothing any more, because a Sample Timeout has interrupted them.
    pub(crate) closed: Vec<SamplerId>,
    /// Of a parallel branch: what it runs.
    pub(crate) main: Option<ControllerId>,
    /// Branches were in flight: to JMeter, each iteration of its group is a new user's from then on.
    pub(crate) new_each_iteration: bool,
    /// Its group's iteration is not the first.
    pub(crate) again: bool,
    /// To whom HttpClient counts the connections opened now: the user itself (0), or the branches of a Parallel Controller.
    pub(crate) owner: u16,
    /// Branches that have sent something.
    pub(crate) ran: Vec<ControllerId>,
    /// Of a branch: which link of the page it loads.
    pub(crate) link: usize,
    /// Of a branch: how many pages it is inside of.
    pub(crate) depth: u32,
}

/// A sampler as scripts have left it for the sample in flight.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) sampler: Option<Arc<SamplerKind>>,
    pub(crate) label: Option<String>,
}

/// A chain of redirects.
#[derive(Debug)]
pub(crate) struct Redirect {
    /// The result of the whole; its sub-results are the hops.
    pub(crate) result: Box<SampleResult>,
    pub(crate) hops: u32,
    pub(crate) start: Nanos,
    pub(crate) lag: u64,
    pub(crate) wait: u64,
    /// Sums over the hops.
    pub(crate) phases: Phases,
    /// Those of the last hop.
    pub(crate) classes: [ClassId; 2],
    /// The trace of all hops.
    pub(crate) trace: TraceId,
    /// URL of the first hop.
    pub(crate) first_url: String,
    /// Followed without sub-results.
    pub(crate) silent: bool,
    /// By Java's own client.
    pub(crate) java: bool,
    /// Which has lost what the sampler had set.
    pub(crate) stripped: bool,
    /// Where redirects led that HttpClient followed itself: it goes nowhere twice.
    pub(crate) visited: Vec<String>,
    /// Absolute URL of the last hop.
    pub(crate) url: String,
    pub(crate) method: String,
}

/// A user at a barrier.
#[derive(Debug)]
pub(crate) struct Meeting {
    pub(crate) barrier: BarrierId,
    pub(crate) waiter: Waiter,
    /// The timer to go on with, and the delay of those before it.
    pub(crate) timer: usize,
    pub(crate) delay: u64,
}

/// A lock that a user has or waits for.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) controller: ControllerId,
    pub(crate) name: Box<str>,
    pub(crate) waiter: Waiter,
    pub(crate) granted: bool,
    /// A section inside of another with the same lock: it has nothing to give back.
    pub(crate) inner: bool,
}

/// An open transaction.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) controller: ControllerId,
    /// Its name as evaluated at its start, if it is not fixed.
    pub(crate) label: Option<String>,
    pub(crate) start: Nanos,
    pub(crate) start_ms: i64,
    /// End of the child before, for the pauses between.
    pub(crate) previous_end: Nanos,
    pub(crate) pause: Nanos,
    /// Samples as JMeter counts them in its message.
    pub(crate) calls: u32,
    pub(crate) failing: u32,
    pub(crate) success: bool,
    pub(crate) bytes: u64,
    pub(crate) sent: u64,
    pub(crate) latency: u64,
    pub(crate) connect: u64,
    pub(crate) lag: u64,
    /// Sums over its samples.
    pub(crate) phases: Phases,
    /// A sample was reported in it.
    pub(crate) seen: bool,
    /// The end of the run or of its group has cut it.
    pub(crate) cut: bool,
    /// Its own sample has been reported as it was when a loop inside of it was left; files have one sample once.
    pub(crate) reported: bool,
    /// Time of the children, for transactions with a parent sample.
    pub(crate) total: u64,
    /// The thread of the last of its samples, where that is not said by its user.
    pub(crate) thread: Option<Box<plan::result::Thread>>,
    /// The result that children become sub-results of, in parent mode.
    pub(crate) parent: Option<Box<SampleResult>>,
}

/// All users of a core.
#[derive(Debug, Default)]
pub(crate) struct Users {
    pub(crate) all: Vec<User>,
    free: Vec<UserId>,
    /// Branches that have nothing to do.
    spare: Vec<UserId>,
    /// Numbers given so far to what users wait for: programs, files, exchanges, jobs.
    pub(crate) tickets: u64,
}

impl Waiting for Users {
    type Id = UserId;

    fn links(&mut self, index: UserId) -> &mut Links {
        &mut self.all[index.at()].links
    }
}

impl std::ops::Index<UserId> for Users {
    type Output = User;
    fn index(&self, index: UserId) -> &User {
        &self.all[index.at()]
    }
}

impl std::ops::IndexMut<UserId> for Users {
    fn index_mut(&mut self, index: UserId) -> &mut User {
        &mut self.all[index.at()]
    }
}

impl Users {
    pub(crate) fn insert(&mut self, user: User) -> UserId {
        if let Some(index) = self.free.pop() {
            self.all[index.at()] = user;
            return index;
        }
        self.all.push(user);
        UserId::from((self.all.len() - 1) as u32)
    }

    /// A slot for one that works for a user from `now` on.
    pub(crate) fn branch(&mut self, parent: UserId, now: Nanos) -> UserId {
        let owner = &self[parent];
        let (group, number, iteration) = (owner.group, owner.number, owner.iteration);
        let spare = match self.spare.pop() {
            Some(spare) => spare,
            None => self.insert(User { iteration, ..User::new(group, number) }),
        };
        let user = &mut self[spare];
        (user.group, user.number, user.iteration) = (group, number, iteration);
        (user.branch_of, user.intended, user.alive) = (parent, now, true);
        user.wait = Wait::Ready;
        spare
    }

    /// Keeps the slot of one that has done its work for another.
    pub(crate) fn put_away(&mut self, branch: UserId) {
        self.spare.push(branch);
    }

    /// Whether one loads a part of a page for another.
    pub(crate) fn is_download(&self, index: UserId) -> bool {
        self[index].branch_of != NO_USER && !self[index].parallel
    }

    /// The user whose connections a download uses; a parallel branch has its own.
    #[inline]
    pub(crate) fn owner(&self, index: UserId) -> UserId {
        let mut index = index;
        while self[index].branch_of != NO_USER && !self[index].parallel {
            index = self[index].branch_of;
        }
        index
    }

    /// The virtual user that a branch works for: it has the variables, the cookies and the state of the controllers.
    #[inline]
    pub(crate) fn root(&self, index: UserId) -> UserId {
        let mut index = index;
        while self[index].branch_of != NO_USER {
            index = self[index].branch_of;
        }
        index
    }

    /// The virtual user itself.
    #[inline]
    pub(crate) fn of(&mut self, index: UserId) -> &mut User {
        let root = self.root(index);
        &mut self[root]
    }

    /// Ends a user and frees what it held.
    pub(crate) fn remove(&mut self, index: UserId) {
        let user = &mut self.all[index.at()];
        user.alive = false;
        user.vars = Vars::default();
        user.memory = Memory::default();
        user.notes = plan::state::Memory::default();
        user.extra = None;
        user.state = Box::default();
        self.free.push(index);
    }
}

impl User {
    /// A user that has done nothing, without places for controllers.
    pub(crate) fn new(group: GroupId, number: u32) -> Self {
        Self {
            wait: Wait::Ready,
            group,
            number,
            iteration: 0,
            socket: NO_SOCKET,
            branch_of: NO_USER,
            parallel: false,
            setbacks: 0,
            paced: false,
            intended: 0,
            limit: 0,
            links: Links::default(),
            state: Box::default(),
            vars: plan::vars::Vars::default(),
            memory: plan::function::Memory::default(),
            notes: plan::state::Memory::default(),
            extra: None,
            last_ok: true,
            stopping: false,
            fresh: false,
            last_sampler: None,
            alive: true,
        }
    }

    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    pub(crate) fn transactions(&mut self) -> &mut [Transaction] {
        self.extra.as_deref_mut().map_or(&mut [], |extra| &mut extra.transactions)
    }
}
