//! The part of the world that an expression may see and change while it is evaluated: one user's variables and identity, the state
//! that functions keep for a user, and what all users of the process share.
//!
//! Nothing here blocks: shared counters are atomics, properties are read from a snapshot that is renewed only
//! after somebody wrote one.

use lang::buffers::Buffers;
use lang::variables::Variables;

use crate::function::{Memory, Shared};
use crate::template::{Template, Thrown};
use crate::vars::{Names, Vars};

/// Everything an evaluation reads and writes. Built on the stack by the engine for each step of a user.
#[derive(Debug)]
pub struct Env<'a> {
    /// Names of the plan.
    pub names: &'a Names,
    /// Variables of the user.
    pub vars: &'a mut Vars,
    /// The user's identity.
    pub who: Who<'a>,
    /// The memory of functions for this user (per-user counters, file positions).
    pub memory: &'a mut Memory,
    /// The memory of elements for this user (its own counters, its place in CSV files, its row of User Parameters).
    pub notes: &'a mut crate::state::Memory,
    /// State that elements share between all users (CSV files, counters, throughput timers).
    pub run: &'a crate::state::RunState,
    /// State that functions share between all users (properties, counters, files, log).
    pub shared: &'a Shared,
    /// Reusable buffers and the random generator of the core.
    pub core: &'a mut Scratch,
    /// It is read where an expression asks for it: most do not, and a reading costs as much as a short one of them.
    pub clock: &'a dyn WallClock,
}

/// Tells the time of day.
pub trait WallClock: std::fmt::Debug {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// The same by a clock that nobody sets, for waits and schedules.
    fn run_ms(&self) -> i64 {
        self.now_ms()
    }
}

/// A moment at which time stands still, in milliseconds since 1970.
impl WallClock for i64 {
    fn now_ms(&self) -> i64 {
        *self
    }
}

impl Env<'_> {
    /// The time of day, milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Milliseconds since 1970 by the clock of the run, which nobody sets.
    pub fn run_ms(&self) -> i64 {
        self.clock.run_ms()
    }

    /// Reads the variable that a text names; `None` is an undefined one.
    pub(crate) fn read_named<R>(
        &mut self,
        name: &Template,
        read: impl FnOnce(Option<&str>) -> R,
    ) -> R {
        let mut text = self.core.take();
        name.eval(self, &mut text);
        let made = read(self.vars.get_named(self.names, &text));
        self.core.give(text);
        made
    }
}

impl Variables for Env<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.vars.get_named(self.names, name)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.vars.set_named(self.names, name, value);
    }

    fn remove_variable(&mut self, name: &str) {
        self.vars.remove_named(self.names, name);
    }

    fn property(&mut self, name: &str) -> Option<&str> {
        self.core.cache.property(self.shared, name)
    }

    fn set_property(&mut self, name: &str, value: &str) -> Option<String> {
        self.shared.set_property(name, value).map(Into::into)
    }

    fn thread_name(&self, out: &mut String) {
        self.who.thread_name(out);
    }
}

/// Identity of a user, as JMeter's thread context tells it.
#[derive(Clone, Copy, Debug)]
pub struct Who<'a> {
    /// Name of the test plan file (`__TestPlanName`).
    pub plan_file: &'a str,
    /// The text before that in the names of users: a host of several, each of which runs the whole plan.
    pub prefix: &'a str,
    /// Name of the thread group, evaluated.
    pub group: &'a str,
    /// The text behind that in the names of users.
    pub tail: &'static str,
    /// Number of the group within its phase, from 1.
    pub group_number: u32,
    /// Number of the user within its group, from 0. Names show it from 1.
    pub user: u32,
    /// Iteration of the group's main loop, from 1.
    pub iteration: u32,
    /// Name of the sampler being run, evaluated; empty outside a sampler.
    pub sampler: &'a str,
}

impl Who<'_> {
    /// Appends the thread name, `<prefix><group> <group number>-<user number>`.
    pub fn thread_name(&self, out: &mut String) {
        use std::fmt::Write;
        let Self { prefix, group, tail, group_number, user, .. } = self;
        let _ = write!(out, "{prefix}{group}{tail} {group_number}-{}", user + 1);
    }
}

/// Reusable buffers of a core.
#[derive(Debug)]
pub struct Scratch {
    /// Random numbers.
    pub random: crate::random::Random,
    /// The exception that evaluating threw, as JMeter would have; the first since somebody took it. Whoever runs a sampler takes
    /// it after rendering and fails the sample (or ends the user, see [`Thrown::stops_user`]).
    pub thrown: Option<Thrown>,
    /// A post-processor has thrown: the sample has no result, and this is what was asked of its user.
    pub lost: Option<crate::result::Request>,
    /// The name of the sampler, if functions in it count: it is evaluated for each who asks.
    pub sampler: Option<crate::template::Template>,
    /// A sampler's name is being evaluated: what asks for it there asks for ever.
    pub naming: bool,
    /// The messages about extractors that give up.
    pub(crate) told: std::collections::HashSet<Box<str>>,
    /// The cache of functions for the core.
    pub(crate) cache: crate::function::Cache,
    /// Files that requests send.
    pub(crate) files: crate::http::Contents,
    pub(crate) buffers: Buffers,
}

impl Scratch {
    /// Buffers with a random generator of the given seed.
    pub fn new(seed: u64) -> Self {
        let cache = crate::function::Cache::default();
        Self {
            random: crate::random::Random::new(seed),
            thrown: None,
            lost: None,
            sampler: None,
            naming: false,
            told: std::collections::HashSet::new(),
            cache,
            files: crate::http::Contents::default(),
            buffers: Buffers::default(),
        }
    }

    /// Lends an empty buffer; give it back with [`Scratch::give`].
    pub fn take(&mut self) -> String {
        self.buffers.take()
    }

    /// Takes a buffer back for reuse.
    pub fn give(&mut self, buffer: String) {
        self.buffers.give(buffer);
    }
}
