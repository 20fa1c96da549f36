//! The state of one virtual user: data in a slab, neither a future nor a thread.
//!
//! State that only some plans need (transactions, cookies, redirects) is in `extra`, which is absent until used.
//! The size of a user is checked at compile time.

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

/// The event for which a user waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// No event: the user runs.
    Ready,
    /// No event: the user is in the ready queue.
    Queued,
    /// No event: the sampler has finished its work, and the loop will handle the completion.
    Done,
    /// The end of the timers' delay; then the sampler starts.
    Delay(SamplerId),
    /// The end of a Flow Control Action's pause; then the user continues.
    Pause(SamplerId),
    /// The end of a sampler that only takes time. The sampler's result is in `extra`.
    Sleep(SamplerId),
    /// The arrival of other users at a Synchronizing Timer.
    Barrier(SamplerId),
    /// No event: the other users have arrived, and the user is queued to continue with its timers.
    Met(SamplerId),
    /// The lock of a Critical Section.
    Lock,
    /// The next arrival of the user's group.
    Arrival,
    /// The response of a session's exchange.
    Session(wire::session::Ticket),
    /// An event of the WebSocket connection: the end of its opening, a frame, or the end of a hold sampler.
    WebSocket(SamplerId),
    /// The resources of a page, which branches load.
    Page(SamplerId),
    /// The end of a program, which a separate thread runs.
    Job(SamplerId),
    /// The content of a file, which a separate thread reads.
    File(SamplerId),
    /// The end of the branches of a Parallel Controller.
    Branches(SamplerId),
    /// The reply of a JVM; the state in `extra` tells where the user continues.
    Java,
}

/// The point at which a user continues after it has left an iteration early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopControl {
    /// Continues with the next iteration of the user's group.
    NextIteration,
    /// Continues with the next iteration of the loop around the sampler.
    NextLoopIteration,
    /// Continues after the loop around the sampler.
    BreakLoop,
}

/// Stands for "no user".
pub(crate) const NO_USER: UserId = UserId::NONE;

#[derive(Debug)]
pub(crate) struct User {
    pub(crate) wait: Wait,
    /// Index of the group.
    pub(crate) group: GroupId,
    /// Number of the user within its group, from 0.
    pub(crate) number: u32,
    /// Iteration of the group's main loop, from 1 once running.
    pub(crate) iteration: u32,
    /// The user's WebSocket connection. A user has at most one.
    pub(crate) socket: u32,
    /// Intended start time of the user's current operation.
    pub(crate) intended: Nanos,
    /// Time limit of the exchange in flight. The timer in `links` may fire earlier and is then set once more.
    pub(crate) limit: Nanos,
    pub(crate) links: Links,
    /// State of the controllers ([`plan::plan::Controller::slot`]).
    pub(crate) state: Box<[u32]>,
    pub(crate) vars: Vars,
    pub(crate) memory: Memory,
    pub(crate) notes: plan::state::Memory,
    pub(crate) extra: Option<Box<Extra>>,
    /// True if the last sample was successful (`JMeterThread.last_sample_ok`).
    pub(crate) last_ok: bool,
    /// True if the user ends after its current sample.
    pub(crate) stopping: bool,
    /// True if a new iteration of the group has begun and no HTTP sample has run in it yet.
    pub(crate) fresh: bool,
    /// The last sampler, whose listeners receive the sample of a transaction.
    pub(crate) last_sampler: Option<SamplerId>,
    /// The user for which this slot works. If it is set, this slot is not a virtual user but a branch of that user:
    /// a download, or a parallel branch.
    pub(crate) branch_of: UserId,
    /// True if this is a parallel branch, which runs a child of a Parallel Controller as a user would.
    pub(crate) parallel: bool,
    /// Number of connections that failed or were lost since the last successful connection. The number determines the
    /// delay before the next connection.
    pub(crate) setbacks: u8,
    /// True if the user has already waited for the connect rate.
    pub(crate) paced: bool,
    /// True if the slot is in use.
    pub(crate) alive: bool,
}

const _: () = assert!(size_of::<User>() <= 320);

/// State that only some users have.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// The barrier at which the user waits.
    pub(crate) meeting: Option<BarrierWait>,
    /// Locks of Critical Sections that the user holds or waits for.
    pub(crate) locks: Vec<Held>,
    /// The handle of the user's wait, while the user waits for an arrival.
    pub(crate) free: Option<Waiter>,
    /// Open transactions, in the order of their start.
    pub(crate) transactions: Vec<Transaction>,
    /// Cookie jars, per Cookie Manager of the plan.
    pub(crate) jars: Vec<Option<Box<wire::cookie::Jar>>>,
    /// Caches, per Cache Manager of the plan.
    pub(crate) caches: Vec<Option<Box<wire::cache::Cache>>>,
    /// Resolved host names and the routes with their addresses, per DNS Cache Manager of the plan.
    pub(crate) names: Vec<Vec<(String, RouteId)>>,
    /// Number of queries to name servers, per DNS Cache Manager of the plan.
    pub(crate) lookups: Vec<u32>,
    /// State of this user that other modules define.
    pub(crate) parts: Parts,
    /// The user's own TLS configuration with its session cache.
    pub(crate) tls: Option<std::sync::Arc<wire::tls::rustls::ClientConfig>>,
    /// Name of the key that the user's TLS configuration presents, if a variable selects the key.
    pub(crate) alias: Option<Box<str>>,
    /// The redirect chain in flight.
    pub(crate) redirect: Option<Box<Redirect>>,
    /// The result of a sleeping sampler, reported when the user wakes.
    pub(crate) pending: Option<Box<SampleResult>>,
    /// The sampler's name as evaluated at its start, if it is not constant.
    pub(crate) sampler_name: String,
    /// The changes that scripts have made to the current sampler.
    pub(crate) given: SamplerChange,
    /// Parallel Controllers that start no more branches, because a Sample Timeout has interrupted them.
    pub(crate) closed: Vec<SamplerId>,
    /// In a parallel branch: the controller that it runs.
    pub(crate) main: Option<ControllerId>,
    /// True if branches have run. From then on, JMeter treats each iteration of the group as that of a new user.
    pub(crate) new_each_iteration: bool,
    /// True if the group's current iteration is not the first iteration.
    pub(crate) again: bool,
    /// Connection owner of new connections for HttpClient: the user itself (0), or the branches of a Parallel
    /// Controller.
    pub(crate) owner: u16,
    /// Parallel branches that have sent a request.
    pub(crate) ran: Vec<ControllerId>,
    /// In a download: the index of the resource's link in the page.
    pub(crate) link: usize,
    /// In a download: the number of enclosing pages.
    pub(crate) depth: u32,
}

/// The changes that scripts have made to a sampler for the current sample.
#[derive(Debug, Default)]
pub(crate) struct SamplerChange {
    pub(crate) sampler: Option<Arc<SamplerKind>>,
    pub(crate) label: Option<String>,
}

/// State of a redirect chain that a user follows.
#[derive(Debug)]
pub(crate) struct Redirect {
    /// The result of the whole chain; its sub-results are the hops.
    pub(crate) result: Box<SampleResult>,
    pub(crate) hops: u32,
    pub(crate) start: Nanos,
    pub(crate) lag: u64,
    pub(crate) wait: u64,
    /// Phases, summed over the hops.
    pub(crate) phases: Phases,
    /// Classes of the last hop: its address, and the value of the configured response header.
    pub(crate) classes: [ClassId; 2],
    /// The trace that all hops share.
    pub(crate) trace: TraceId,
    /// URL of the first hop.
    pub(crate) first_url: String,
    /// True if the HTTP client follows the chain itself, without sub-results.
    pub(crate) silent: bool,
    /// True if Java's own client follows the chain.
    pub(crate) java: bool,
    /// True if further requests do not have the headers and body of the sampler.
    pub(crate) stripped: bool,
    /// URLs to which HttpClient has followed a redirect. HttpClient follows no URL twice.
    pub(crate) visited: Vec<String>,
    /// Absolute URL of the last hop.
    pub(crate) url: String,
    pub(crate) method: String,
}

/// The wait of a user at a barrier.
#[derive(Debug)]
pub(crate) struct BarrierWait {
    pub(crate) barrier: BarrierId,
    pub(crate) waiter: Waiter,
    /// The index of the timer to continue with, and the summed delay of the earlier timers in nanoseconds.
    pub(crate) timer: usize,
    pub(crate) delay: u64,
}

/// A lock that a user holds or waits for.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) controller: ControllerId,
    pub(crate) name: Box<str>,
    pub(crate) waiter: Waiter,
    pub(crate) granted: bool,
    /// True if the section is inside another section with the same lock. Such a section does not release the lock.
    pub(crate) inner: bool,
}

/// An open transaction.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) controller: ControllerId,
    /// The transaction's name as evaluated at its start, if it is not constant.
    pub(crate) label: Option<String>,
    pub(crate) start: Nanos,
    pub(crate) start_ms: i64,
    /// End of the previous child. Used to compute the pauses between children.
    pub(crate) previous_end: Nanos,
    pub(crate) pause: Nanos,
    /// Number of samples in the transaction's message, as JMeter counts them.
    pub(crate) calls: u32,
    pub(crate) failing: u32,
    pub(crate) success: bool,
    /// True if a failure inside is counted by itself: that of a request, or of a transaction that is reported apart. A
    /// transaction that failed without one has failed by its own assertions.
    pub(crate) failure_counted: bool,
    pub(crate) bytes: u64,
    pub(crate) sent: u64,
    pub(crate) latency: u64,
    pub(crate) connect: u64,
    pub(crate) lag: u64,
    /// Phases, summed over the samples.
    pub(crate) phases: Phases,
    /// True if at least one sample was reported in the transaction.
    pub(crate) seen: bool,
    /// True if the end of the run or of its group has cut the transaction.
    pub(crate) cut: bool,
    /// True if the transaction's own sample was already reported when a loop inside was left. A transaction is reported
    /// only once.
    pub(crate) reported: bool,
    /// Summed time of the children in nanoseconds, for transactions with a parent sample.
    pub(crate) total: u64,
    /// The thread of the last sample, if it is not the user's thread.
    pub(crate) thread: Option<Box<plan::result::Thread>>,
    /// The parent sample, to which children are added as sub-results.
    pub(crate) parent: Option<Box<SampleResult>>,
}

/// All users of a core.
#[derive(Debug, Default)]
pub(crate) struct Users {
    pub(crate) all: Vec<User>,
    free: Vec<UserId>,
    /// Free slots of branches, for reuse.
    spare: Vec<UserId>,
    /// Number of tickets assigned so far to programs, file reads and jobs for which users wait.
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

    /// Returns a slot for a branch, which works for a user from `now` on.
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

    /// Keeps the slot of a branch that has ended, for reuse.
    pub(crate) fn free_branch(&mut self, branch: UserId) {
        self.spare.push(branch);
    }

    /// Returns true if the slot is a download of a page.
    pub(crate) fn is_download(&self, index: UserId) -> bool {
        self[index].branch_of != NO_USER && !self[index].parallel
    }

    /// Returns the user whose connections a download uses; a parallel branch has its own connections.
    #[inline]
    pub(crate) fn owner(&self, index: UserId) -> UserId {
        let mut index = index;
        while self[index].branch_of != NO_USER && !self[index].parallel {
            index = self[index].branch_of;
        }
        index
    }

    /// Returns the virtual user for which a branch works. This user has the variables, the cookies and the controller
    /// state.
    #[inline]
    pub(crate) fn root(&self, index: UserId) -> UserId {
        let mut index = index;
        while self[index].branch_of != NO_USER {
            index = self[index].branch_of;
        }
        index
    }

    /// Returns the virtual user itself, or the user of a branch, mutably.
    #[inline]
    pub(crate) fn of(&mut self, index: UserId) -> &mut User {
        let root = self.root(index);
        &mut self[root]
    }

    /// Ends a user and frees its memory.
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
    /// Returns a user in its initial state, without slots for controllers.
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
